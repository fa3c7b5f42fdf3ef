/* SPDX-License-Identifier: Apache-2.0
 *
 * A step of sim_pet: decays at the times of a Poisson process, two photons of each in opposite directions,
 * scatter in the object by the formula of O. Klein and Y. Nishina (1929), where they cross the middle of the
 * crystals, and what these see. Lutetium-176 in the crystals: a beta decay that ends at 593 keV, and gammas
 * of 307, 202 and 88 keV (94, 78 and 15 of a hundred decays), of which some stay in the crystal.
 */
#include "sim/sim_pet_photon.h"

#include <math.h>
#include <stdlib.h>

/* ---- distributions by tables ------------------------------------------------------------------- */

void slc_sim_pet_quantiles(const double *density, size_t n, double low, double high, double *quantile)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        total += density[i];
    }
    const double width = (high - low) / (double)n;
    size_t i = 0;
    for (size_t q = 0; q <= SIM_PET_QUANTILES; q++) {
        const double wanted = total * (double)q / SIM_PET_QUANTILES;
        while (i + 1 < n && sum + density[i] < wanted) {
            sum += density[i++];
        }
        const double part = density[i] > 0 ? (wanted - sum) / density[i] : 0;
        quantile[q] = low + width * ((double)i + (part < 1 ? part : 1));
    }
}

void slc_sim_pet_make_quantiles(slc_sim_pet *sim)
{
    enum { BINS = 4096 };
    static const double end_kev = 593;
    double density[BINS];
    for (size_t i = 0; i < BINS; i++) {
        const double cosine = -1 + 2 * ((double)i + 0.5) / BINS, p = 1 / (2 - cosine);
        density[i] = p * p * (p + 1 / p - (1 - cosine * cosine));
    }
    slc_sim_pet_quantiles(density, BINS, -1, 1, sim->cos_quantile);
    for (size_t i = 0; i < BINS; i++) { /* an allowed spectrum without the nucleus' charge */
        const double t = end_kev * ((double)i + 0.5) / BINS, left = end_kev - t;
        density[i] = sqrt(t * t + 2 * t * sim_pet_electron_kev) * (t + sim_pet_electron_kev) * left * left;
    }
    slc_sim_pet_quantiles(density, BINS, 0, end_kev, sim->beta_quantile);
}

/* ---- photons ----------------------------------------------------------------------------------- */

static void scatter(const slc_sim_pet *sim, uint64_t *random, sim_pet_photon *p)
{
    const double cosine = sim_pet_draw(sim->cos_quantile, random);
    sim_pet_turn(p->to, cosine, random);
    p->energy_kev = sim_pet_electron_kev / (2 - cosine);
    p->scattered = 1;
}

/* Does a photon from inside the scanner leave it through an end? Where it crosses the end's plane it is then
 * nearer to the axis than crystals are; all is multiplied by the part of `to` along the axis. */
static bool leaves(const slc_sim_pet *sim, const sim_pet_photon *p)
{
    const double z = p->to[2] < 0 ? -p->from[2] : p->from[2], along = fabs(p->to[2]);
    const double left = sim->half_length_mm - z;
    const double x = p->from[0] * along + p->to[0] * left, y = p->from[1] * along + p->to[1] * left;
    const double most = sim->radius_mm * along;
    return fabs(p->from[2]) < sim->half_length_mm && x * x + y * y < most * most;
}

/* The crystal that the photon meets, and how far that is; false: none. */
static bool meet(const slc_sim_pet *sim, const sim_pet_photon *p, uint32_t *crystal, double *length_mm)
{
    const double a = p->to[0] * p->to[0] + p->to[1] * p->to[1];
    const double b = p->from[0] * p->to[0] + p->from[1] * p->to[1];
    const double c = p->from[0] * p->from[0] + p->from[1] * p->from[1] - sim->radius_mm * sim->radius_mm;
    if (a < 1e-9) { /* along the axis */
        return false;
    }
    const double length = (sqrt(b * b - a * c) - b) / a;
    const double ring = (p->from[2] + length * p->to[2]) / sim->config.geometry.pitch_z_mm + 0.5 * sim->rings;
    if (!(ring >= 0 && ring < sim->rings)) {
        return false;
    }
    const double at = turn_of(p->from[0] + length * p->to[0], p->from[1] + length * p->to[1]);
    const uint32_t k = (uint32_t)(at * sim->per_ring + 0.5);
    *crystal = (k < sim->per_ring ? k : 0) + (uint32_t)ring * sim->per_ring;
    *length_mm = length;
    return true;
}

/* ---- hits -------------------------------------------------------------------------------------- */

static slc_status make_room(sim_pet_hits *hits, size_t more)
{
    if (hits->n + more <= hits->capacity) {
        return SLC_OK;
    }
    const size_t capacity = 2 * (hits->n + more) + 1024;
    sim_pet_hit *hit = realloc(hits->hit, capacity * sizeof *hit);
    if (hit == NULL) {
        return SLC_ERR_MEMORY;
    }
    hits->hit = hit;
    hits->capacity = capacity;
    return SLC_OK;
}

/* Puts the hit at its place by time, after those of the same time. Decays are in order, so that it is one of
 * the last. */
static void insert(sim_pet_hits *hits, const sim_pet_hit *hit)
{
    size_t i = hits->n++;
    for (; i > 0 && hits->hit[i - 1].time_ps > hit->time_ps; i--) {
        hits->hit[i] = hits->hit[i - 1];
    }
    hits->hit[i] = *hit;
}

static int64_t rounded(double x)
{
    /* Without a function of the C library; |x| < 2^41. */
    return (int64_t)(x + 0x1p41 + 0.5) - (INT64_C(1) << 41);
}

void slc_sim_pet_see(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p, const sim_pet_light *light)
{
    double for_energy, for_time;
    random_normals(random, &for_energy, &for_time);
    const double energy = light->energy_kev + sim->energy_sigma * sqrt(light->energy_kev) * for_energy;
    sim->counts.photons++;
    if (energy < sim->config.threshold_kev) {
        sim->counts.below++;
        return;
    }
    const int64_t begin = (int64_t)sim->steps * sim->step_ps;
    const double shift = sim->offset_ps != NULL ? sim->offset_ps[light->crystal] : 0;
    const sim_pet_hit hit = {
        .time_ps = begin + rounded(light->after_ps + for_time * sim->config.time_sigma_ps - shift),
        .true_ps = begin + rounded(light->after_ps),
        .event = p->event,
        .crystal = light->crystal,
        .met = light->met,
        .energy_kev = (float)energy,
        .left_kev = (float)light->energy_kev,
        .began_mm = {p->began_mm[0], p->began_mm[1], p->began_mm[2]},
        .scattered = p->scattered,
        .shared = light->shared,
        .photon = p->photon,
        .shift_x = light->shift_x,
        .shift_y = light->shift_y,
    };
    insert(&sim->pending, &hit);
}

static void see_background(slc_sim_pet *sim, uint64_t *random, double after_ps)
{
    static const double gamma_kev[] = {307, 202, 88};
    static const double seen[] = {0.94 * 0.5, 0.78 * 0.6, 0.15 * 0.9}; /* intensity, and share that stays */
    const uint32_t crystal = slc_random_below(random, sim->crystals);
    double energy = sim_pet_draw(sim->beta_quantile, random);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        energy += random_open(random) < seen[i] ? gamma_kev[i] : 0;
    }
    const sim_pet_photon none = {.event = UINT64_MAX, .began_mm = {NAN, NAN, NAN}};
    const sim_pet_light light = {crystal, crystal, energy, after_ps, false, 0, 0};
    slc_sim_pet_see(sim, random, &none, &light);
}

/* ---- annihilations ----------------------------------------------------------------------------- */

void slc_sim_pet_choose_place(const slc_sim_pet *sim, uint64_t *random, double from[3])
{
    uint32_t i = 0;
    if (sim->config.n_sources > 1) {
        const double at = random_open(random) * sim->source_below[sim->config.n_sources - 1];
        while (i + 1 < sim->config.n_sources && at >= sim->source_below[i]) {
            i++;
        }
    }
    const slc_sim_pet_source *source = &sim->config.source[i];
    from[0] = source->x_mm;
    from[1] = source->y_mm;
    from[2] = source->z_mm;
    if (source->radius_mm > 0) {
        double x, y;
        random_disc(random, &x, &y);
        from[0] += source->radius_mm * x;
        from[1] += source->radius_mm * y;
    }
    if (source->length_mm > 0) {
        from[2] += source->length_mm * (random_open(random) - 0.5);
    }
}

void slc_sim_pet_see_photon(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p)
{
    uint32_t crystal;
    double length;
    if (leaves(sim, p)) {
        return;
    }
    /* One number decides, whatever the crystals' efficiencies are. */
    const double chance = random_open(random), most = sim->config.efficiency;
    const double highest = sim->share != NULL ? most * (1 + 4 * sim->config.efficiency_spread) : most;
    if (chance < highest && meet(sim, p, &crystal, &length) &&
        (sim->share == NULL || chance < most * (double)sim->share[crystal])) {
        const sim_pet_light light = {
            crystal, crystal, p->energy_kev, p->after_ps + length / sim_pet_light_mm_ps, false, 0, 0};
        slc_sim_pet_see(sim, random, p, &light);
    }
}

/* Three kinds of annihilations are followed: no photon scatters, and their direction is one in which a
 * crystal may be; one photon, any of the two, scatters; both do. */
static void annihilate(slc_sim_pet *sim, uint64_t *random, double after_ps, uint64_t event)
{
    const double kind = random_open(random);
    const bool none = kind < sim->share_of_none, both = kind >= sim->share_of_one;
    sim_pet_photon p = {.energy_kev = sim_pet_electron_kev, .after_ps = after_ps, .event = event};
    slc_sim_pet_choose_place(sim, random, p.from);
    sim_pet_direction(random, none ? sim->steepest : 1, p.to);
    for (int i = 0; i < 3; i++) {
        p.began_mm[i] = (float)p.from[i];
    }
    p.photon = SLC_SIM_PET_FIRST;
    sim_pet_photon q = p;
    q.photon = SLC_SIM_PET_SECOND;
    for (int i = 0; i < 3; i++) {
        q.to[i] = -p.to[i];
    }
    if (!none) {
        scatter(sim, random, &q);
    }
    if (both) {
        scatter(sim, random, &p);
    }
    slc_sim_pet_see_photon(sim, random, &p);
    slc_sim_pet_see_photon(sim, random, &q);
}

/* ---- the fast way ------------------------------------------------------------------------------ */

static void put(slc_sim_pet *sim, uint64_t *random, uint32_t crystal, double after_ps, uint64_t event,
                uint8_t photon)
{
    const double energy = sim_pet_electron_kev +
                          sim->energy_sigma * sqrt(sim_pet_electron_kev) * random_rough(random);
    const int64_t begin = (int64_t)sim->steps * sim->step_ps;
    const double shift = sim->offset_ps != NULL ? sim->offset_ps[crystal] : 0;
    const sim_pet_hit hit = {
        .time_ps = begin + rounded(after_ps + random_rough(random) * sim->config.time_sigma_ps - shift),
        .true_ps = begin + rounded(after_ps),
        .event = event,
        .crystal = crystal,
        .met = crystal,
        .energy_kev = (float)energy,
        .left_kev = (float)sim_pet_electron_kev,
        .began_mm = {NAN, NAN, NAN},
        .photon = photon,
    };
    sim->counts.photons++;
    insert(&sim->pending, &hit);
}

/* One single, or two about opposite each other. */
static void put_any(slc_sim_pet *sim, uint64_t *random, double after_ps, uint64_t event)
{
    const uint64_t bits = slc_random_u64(random);
    const uint32_t crystal = (uint32_t)((bits >> 32) * sim->crystals >> 32);
    put(sim, random, crystal, after_ps, event, SLC_SIM_PET_FIRST);
    const double pair = sim->config.pair_share / (2 - sim->config.pair_share); /* of events */
    if ((double)(uint32_t)bits < pair * 0x1p32) {
        const uint32_t n = sim->per_ring, eighth = n / 8, ring = slc_random_below(random, sim->rings);
        const uint32_t k = crystal + n / 2 - eighth + slc_random_below(random, 2 * eighth + 1);
        put(sim, random, k % n + ring * n, after_ps, event, SLC_SIM_PET_SECOND);
    }
}

/* ---- a step ------------------------------------------------------------------------------------ */

static double rate_hz(const slc_sim_pet *sim)
{
    return sim->activity_hz * sim->share_followed + sim->background_hz;
}

slc_status slc_sim_pet_step(slc_sim_pet *sim, slc_error *error)
{
    uint64_t random = random_stream(sim->config.seed, RANDOM_STEP, sim->steps);
    const double mean_ps = 1e12 / rate_hz(sim), background = sim->background_hz / rate_hz(sim);
    double after_ps = mean_ps * random_exponential(&random);
    for (uint64_t i = 0; after_ps < (double)sim->step_ps; i++) {
        if (make_room(&sim->pending, SIM_PET_MOST_HITS) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for generated hits");
        }
        if (background > 0 && random_open(&random) < background) {
            sim->counts.background++;
            see_background(sim, &random, after_ps);
        } else {
            sim->counts.decays++;
            const uint64_t event = sim->steps << 32 | i;
            if (sim->config.fast) {
                put_any(sim, &random, after_ps, event);
            } else if (sim->physics) {
                slc_sim_pet_decay(sim, &random, after_ps, event);
            } else {
                annihilate(sim, &random, after_ps, event);
            }
        }
        after_ps += mean_ps * random_exponential(&random);
    }
    sim->steps++;
    return SLC_OK;
}

/* ---- the rate that was asked for --------------------------------------------------------------- */

/* Singles above threshold of so many decays of one kind, from 2^18 of them or as many decays as are allowed.
 */
static slc_status sample(slc_sim_pet *sim, bool background, double *singles, slc_error *error)
{
    enum { WANTED = 1 << 18, MOST = 1 << 24 };
    uint64_t random = random_stream(sim->config.seed, RANDOM_SAMPLE, background), decays = 0, seen = 0;
    const slc_sim_pet_counts before = sim->counts;
    while (seen < WANTED && decays < MOST) {
        sim->pending.n = 0;
        if (make_room(&sim->pending, SIM_PET_MOST_HITS) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for generated hits");
        }
        if (background) {
            see_background(sim, &random, 0);
        } else if (sim->physics) {
            slc_sim_pet_decay(sim, &random, 0, 0);
        } else {
            annihilate(sim, &random, 0, 0);
        }
        seen += sim->pending.n;
        decays++;
    }
    sim->pending.n = 0;
    sim->counts = before;
    *singles = (double)seen / (double)decays * (background ? 1 : sim->share_followed);
    return SLC_OK;
}

slc_status slc_sim_pet_scale(slc_sim_pet *sim, slc_error *error)
{
    const slc_sim_pet_config *config = &sim->config;
    if (config->fast) {
        sim->activity_hz = config->singles_hz * (1 - 0.5 * config->pair_share);
        return SLC_OK;
    }
    if (!(config->singles_hz > 0)) {
        return SLC_OK;
    }
    double of_decay = 0, of_background = 0;
    slc_status status = sample(sim, false, &of_decay, error);
    if (status == SLC_OK && sim->background_hz > 0) {
        status = sample(sim, true, &of_background, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    const double left = config->singles_hz - of_background * sim->background_hz;
    if (!(left > 0) || !(of_decay > 0)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "singles_hz: %g a second cannot be had: the background alone has %g, and a decay of "
                        "the sources %g",
                        config->singles_hz, of_background * sim->background_hz, of_decay);
    }
    sim->activity_hz = left / of_decay;
    return SLC_OK;
}
