/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator of PET data (sluice/sim_pet.h), in order: steps of decays ahead of what is asked for, hits in
 * the order of their clocks, dead time, packets, frames.
 *
 *     step k ──► pending hits, by time ──► dead time ──► packets of modules ──► frames, by arrival
 *                (the last ones wait for the next step, whose hits may come before them)
 */
#include "base/columns.h"
#include "base/config.h"
#include "sim/sim_pet_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column truth_columns[] = {
    SOA_COLUMN(slc_sim_pet_truth, time_ps, "ps"),    SOA_COLUMN(slc_sim_pet_truth, event, "index"),
    SOA_COLUMN(slc_sim_pet_truth, crystal, "index"), SOA_COLUMN(slc_sim_pet_truth, scattered, "1"),
    SOA_COLUMN(slc_sim_pet_truth, shared, "1"),      SOA_COLUMN(slc_sim_pet_truth, photon, "1"),
    SOA_COLUMN(slc_sim_pet_truth, x_mm, "mm"),       SOA_COLUMN(slc_sim_pet_truth, y_mm, "mm"),
    SOA_COLUMN(slc_sim_pet_truth, z_mm, "mm"),       SOA_COLUMN(slc_sim_pet_truth, left_kev, "keV"),
};
SOA_SCHEMA(slc_sim_pet_truth, slc_sim_pet_truth_schema, "truth", truth_columns);

/* ---- open, close ------------------------------------------------------------------------------- */

static const int64_t longest_ps = INT64_C(1) << 61; /* 26 days */
/* A full width at half maximum is 2.3548 of a normal distribution's widths. */
static const double fwhm_of_sigma = 2.35482004503094938;

static void set_rates(slc_sim_pet *sim)
{
    const slc_sim_pet_config *c = &sim->config;
    sim->activity_hz = 0;
    for (uint32_t i = 0; !c->fast && i < c->n_sources; i++) {
        sim->activity_hz += c->source[i].activity_bq;
        sim->source_below[i] = sim->activity_hz;
    }
    sim->background_hz = c->fast ? 0 : c->lso_hz * sim->crystals;
}

/* Directions: the steepest is that of the slopes from all places of the sources to the ends of the scanner.
 * Annihilations whose photons neither scatter nor go less steeply are most of them, and not followed. */
static void set_shares(slc_sim_pet *sim)
{
    const slc_sim_pet_config *c = &sim->config;
    double slope = 0;
    for (uint32_t i = 0; i < c->n_sources; i++) {
        const slc_sim_pet_source *s = &c->source[i];
        const double along = fabs(s->z_mm) + 0.5 * s->length_mm + 0.5 * sim->rings * c->geometry.pitch_z_mm;
        const double across = sim->radius_mm - sqrt(s->x_mm * s->x_mm + s->y_mm * s->y_mm) - s->radius_mm;
        slope = along / across > slope ? along / across : slope;
    }
    sim->steepest = slope / sqrt(1 + slope * slope) + 1e-9;
    sim->steepest = sim->steepest < 1 ? sim->steepest : 1;
    const double f = c->fast ? 0 : c->scatter_fraction;
    const double none = (1 - f) * (1 - f) * (c->fast ? 1 : sim->steepest), one = 2 * f * (1 - f);
    if (sim->physics) {
        sim->share_followed = 1;
        return;
    }
    sim->share_followed = none + one + f * f;
    sim->share_of_none = none / sim->share_followed;
    sim->share_of_one = (none + one) / sim->share_followed;
}

/* Steps of some ten thousand decays, of at most a second; how far a hit may be from its decay. */
static void set_steps(slc_sim_pet *sim)
{
    const slc_sim_pet_config *c = &sim->config;
    const double step = 16384e12 / (sim->activity_hz * sim->share_followed + sim->background_hz);
    sim->step_ps = step > 1e12 ? INT64_C(1000000000000) : step < 1 ? 1 : (int64_t)step;
    /* Resolution, offsets, and the flight: no path inside the scanner is as long as its length and its
     * diameter together. A source may be in front of it. */
    const double inside_mm = 2 * (sim->radius_mm + sim->half_length_mm);
    double outside_mm = 0;
    for (uint32_t i = 0; i < c->n_sources; i++) {
        const double out = fabs(c->source[i].z_mm) + c->source[i].length_mm;
        outside_mm = out > outside_mm ? out : outside_mm;
    }
    const int paths = sim->physics ? 20 : 1; /* a photon's, which scatters 16 times at most */
    sim->guard_ps = (int64_t)(10 * c->time_sigma_ps + 5 * c->time_offset_sigma_ps +
                              paths * (inside_mm + outside_mm) / 0.299 + 2);
}

/* What was asked for beyond ideal decays in an ideal ring. */
static slc_status add_physics(slc_sim_pet *sim, slc_error *error)
{
    const slc_sim_pet_config *c = &sim->config;
    slc_status status = slc_sim_pet_isotope(sim, error);
    status = status == SLC_OK ? slc_sim_pet_crystal(sim, error) : status;
    const double degrees = c->noncollinearity_deg >= 0 ? c->noncollinearity_deg
                           : sim->isotope != NULL      ? 0.5
                                                       : 0;
    sim->noncollinearity = degrees / fwhm_of_sigma / 57.2957795130823;
    sim->physics = sim->isotope != NULL || sim->noncollinearity > 0 || c->n_phantoms > 0 ||
                   sim->crystal_mu > 0;
    if (status == SLC_OK && c->geometry.layout != NULL) {
        status = slc_sim_pet_take_boxes(sim, error);
    }
    if (status == SLC_OK && sim->physics && c->fast) {
        return slc_fail(error, SLC_ERR_USAGE, "fast: it has no physics, and some is asked for");
    }
    return status;
}

/* Crystals of a table: the farthest from the axis, and along it. */
static void reach_of(const slc_pet_geometry *g, double *radius_mm, double *half_length_mm)
{
    for (uint32_t i = 0; i < slc_pet_crystals(g); i++) {
        double p[3], normal[3];
        slc_pet_crystal_position(g, i, p, normal);
        *radius_mm = fmax(*radius_mm, hypot(p[0], p[1]));
        *half_length_mm = fmax(*half_length_mm, fabs(p[2]) + g->pitch_z_mm);
    }
}

static slc_status prepare(slc_sim_pet *sim, slc_error *error)
{
    const slc_pet_geometry *g = &sim->config.geometry;
    sim->crystals = slc_pet_crystals(g);
    sim->per_ring = slc_pet_crystals_per_ring(g);
    sim->rings = slc_pet_rings(g);
    sim->modules = slc_pet_module_count(g);
    sim->units = g->blocks_y * g->blocks_z;
    sim->radius_mm = g->radius_mm + 0.5 * g->depth_mm;
    sim->half_length_mm = 0.5 * sim->rings * g->pitch_z_mm;
    if (g->layout != NULL) { /* how far crystals reach */
        reach_of(g, &sim->radius_mm, &sim->half_length_mm);
    }
    sim->energy_sigma = sim->config.energy_resolution * sqrt(511) / fwhm_of_sigma;
    const size_t alive = sim->config.each_crystal ? sim->crystals : (size_t)sim->modules * sim->units;
    sim->alive_ps = calloc(alive, sizeof *sim->alive_ps);
    sim->module = calloc(sim->modules, sizeof *sim->module);
    if (sim->alive_ps == NULL || sim->module == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u modules", sim->modules);
    }
    for (uint32_t i = 0; i < sim->modules; i++) {
        sim->module[i].open = SIM_PET_NONE;
    }
    slc_sim_pet_make_quantiles(sim);
    slc_status status = add_physics(sim, error);
    set_rates(sim);
    set_shares(sim);
    status = status == SLC_OK ? slc_sim_pet_make_tables(sim, error) : status;
    status = status == SLC_OK ? slc_sim_pet_scale(sim, error) : status;
    if (status == SLC_OK) {
        set_steps(sim);
    }
    return status;
}

slc_status slc_sim_pet_open(const slc_sim_pet_config *given, slc_sim_pet **sim, slc_error *error)
{
    *sim = NULL;
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_sim_pet_config", error);
    status = status == SLC_OK ? slc_sim_pet_check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_sim_pet *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the generator");
    }
    made->config = config;
    status = prepare(made, error);
    if (status != SLC_OK) {
        slc_sim_pet_close(made);
        return status;
    }
    *sim = made;
    return SLC_OK;
}

void slc_sim_pet_close(slc_sim_pet *sim)
{
    if (sim == NULL) {
        return;
    }
    slc_sim_pet_boxes_free(sim->boxes);
    free(sim->positron);
    free(sim->position);
    free(sim->gain);
    free(sim->offset_ps);
    free(sim->share);
    free(sim->place);
    free(sim->pending.hit);
    free(sim->alive_ps);
    free(sim->module);
    free(sim->packets.packet);
    free(sim->packets.hit);
    free(sim->packets.vacant);
    free(sim->packets.way);
    free(sim);
}

const slc_pet_tables *slc_sim_pet_tables(const slc_sim_pet *sim)
{
    return &sim->tables;
}

double slc_sim_pet_activity(const slc_sim_pet *sim)
{
    return sim->config.fast ? 0 : sim->activity_hz;
}

void slc_sim_pet_counts_of(const slc_sim_pet *sim, slc_sim_pet_counts *counts)
{
    *counts = sim->counts;
}

/* ---- the measurement --------------------------------------------------------------------------- */

/* Is the block of the crystal alive? If so it is dead from now on for a while. */
static bool is_seen(slc_sim_pet *sim, const sim_pet_hit *hit, int64_t dead_ps)
{
    const sim_pet_place place = sim->place[hit->crystal];
    int64_t *alive =
        &sim->alive_ps[sim->config.each_crystal ? hit->crystal : place.module * sim->units + place.unit];
    if (hit->time_ps < *alive) {
        sim->counts.dead++;
        return false;
    }
    *alive = hit->time_ps + dead_ps;
    return true;
}

/* Moves hits before that time into packets; those before the beginning of the measurement are forgotten. */
static slc_status release(slc_sim_pet *sim, int64_t before_ps)
{
    const int64_t dead_ps = sim->config.fast ? 0 : (int64_t)(sim->config.dead_time_ns * 1e3);
    sim_pet_hits *pending = &sim->pending;
    size_t i = 0;
    for (; i < pending->n && pending->hit[i].time_ps < before_ps; i++) {
        const sim_pet_hit *hit = &pending->hit[i];
        if (hit->time_ps < 0 || (dead_ps > 0 && !is_seen(sim, hit, dead_ps))) {
            continue;
        }
        if (slc_sim_pet_pack(sim, hit) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
    }
    if (i > 0) {
        pending->n -= i;
        memmove(pending->hit, pending->hit + i, pending->n * sizeof *pending->hit);
    }
    return SLC_OK;
}

static slc_status measure(slc_sim_pet *sim, double seconds, const sim_pet_output *out)
{
    const double end = (double)sim->done_ps + seconds * 1e12;
    if (!(seconds > 0 && end < (double)longest_ps)) {
        return slc_fail(out->error, SLC_ERR_USAGE,
                        "%g seconds: a measurement has more than none and less than 26 days in all", seconds);
    }
    const int64_t end_ps = sim->done_ps + (int64_t)(seconds * 1e12 + 0.5);
    for (;;) {
        const int64_t made_ps = (int64_t)sim->steps * sim->step_ps - sim->guard_ps;
        const int64_t ready_ps = made_ps < end_ps ? made_ps : end_ps;
        if (release(sim, ready_ps) != SLC_OK) {
            return slc_fail(out->error, SLC_ERR_MEMORY, "no memory for packets");
        }
        const bool last = made_ps >= end_ps;
        slc_sim_pet_send_waiting(sim, ready_ps, last);
        slc_status status = slc_sim_pet_deliver(sim, last ? INT64_MAX : ready_ps, out);
        if (status == SLC_OK && !last) {
            status = slc_sim_pet_step(sim, out->error);
        }
        if (status != SLC_OK || last) {
            sim->done_ps = end_ps;
            return status;
        }
    }
}

slc_status slc_sim_pet_next(slc_sim_pet *sim, double seconds, slc_pet_frame **frames, size_t *n,
                            size_t *capacity, slc_sim_pet_truth *truth, slc_error *error)
{
    const sim_pet_output out = {
        .frames = frames, .n = n, .capacity = capacity, .truth = truth, .error = error};
    return measure(sim, seconds, &out);
}

slc_status slc_sim_pet_next_singles(slc_sim_pet *sim, double seconds, slc_pet_singles *singles,
                                    slc_sim_pet_truth *truth, slc_error *error)
{
    const sim_pet_output out = {.singles = singles, .truth = truth, .error = error};
    return measure(sim, seconds, &out);
}
