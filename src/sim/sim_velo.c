/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO generator: one event in order (collide, transport, sensors), and its raw banks and truth. The
 * physics is in the files beside this one; README.md tells what is modelled.
 */
#include "base/bytes.h"
#include "base/config.h"
#include "sim/sim_velo_event.h"
#include "velo/velo_geometry.h"
#include "velo/velo_truth.h"
#include <sluice/lhcb.h>

#include <stdlib.h>
#include <string.h>

enum { RUN_NUMBER = 1, ODIN_BYTES = 40, ODIN_VERSION = 6, VP_VERSION = 2 };

static void sim_velo_config_default(slc_sim_velo_config *config)
{
    *config = (slc_sim_velo_config){.size = sizeof *config,
                                    .seed = 1,
                                    .visible_vertices = 7.6f,
                                    .scattering = true,
                                    .noise_pixels = 2.0f,
                                    .dead_fraction = 1e-4f,
                                    .inefficiency = 0.005f,
                                    .b_fraction = 0.01f,
                                    .d_fraction = 0.18f,
                                    .s_fraction = 6.5f};
}
SLC_CONFIG_DEFAULT(slc_sim_velo_config, sim_velo_config_default)

/* ---- open and close -------------------------------------------------------------------------- */

static bool within(float value, double low, double high)
{
    return (double)value >= low && (double)value <= high; /* false for NaN */
}

static slc_status check(const slc_sim_velo_config *config, slc_error *error)
{
    const struct {
        const char *name;
        float value;
        double low, high;
    } limits[] = {{"visible_vertices", config->visible_vertices, 0, 200},
                  {"noise_pixels", config->noise_pixels, 0, 100000},
                  {"dead_fraction", config->dead_fraction, 0, 1},
                  {"inefficiency", config->inefficiency, 0, 1},
                  {"b_fraction", config->b_fraction, 0, 1},
                  {"d_fraction", config->d_fraction, 0, 1},
                  {"s_fraction", config->s_fraction, 0, 100},
                  {"beam_x_mm", config->beam_x_mm, -2, 2},
                  {"beam_y_mm", config->beam_y_mm, -2, 2},
                  {"gas_collisions", config->gas_collisions, 0, 200}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!within(limits[i].value, limits[i].low, limits[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "simulation of the VELO: %s is %g, allowed are %g to %g",
                            limits[i].name, (double)limits[i].value, limits[i].low, limits[i].high);
        }
    }
    return SLC_OK;
}

slc_status slc_sim_velo_open(const slc_sim_velo_config *given, const slc_velo_geometry *geometry,
                             slc_sim_velo **sim, slc_error *error)
{
    *sim = NULL;
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_sim_velo_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_sim_velo *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "simulation of the VELO: no memory");
    }
    opened->config = config;
    opened->charge = calloc(SIM_PIXELS, sizeof *opened->charge);
    opened->cluster = calloc(SIM_PIXELS, sizeof *opened->cluster);
    opened->pattern = calloc(SIM_SUPERPIXELS, sizeof *opened->pattern);
    if (opened->charge == NULL || opened->cluster == NULL || opened->pattern == NULL) {
        slc_sim_velo_close(opened);
        return slc_fail(error, SLC_ERR_MEMORY, "simulation of the VELO: no memory");
    }
    if (geometry != NULL) {
        opened->geometry = *geometry;
    } else {
        slc_velo_geometry_ideal(&opened->geometry);
    }
    if (!slc_sim_sensor_init(opened)) {
        slc_sim_velo_close(opened);
        return slc_fail(error, SLC_ERR_USAGE, "simulation of the VELO: the geometry's columns do not touch");
    }
    slc_sim_transport_init(opened);
    *sim = opened;
    return SLC_OK;
}

void slc_sim_velo_close(slc_sim_velo *sim)
{
    if (sim == NULL) {
        return;
    }
    sim_list *lists[] = {&sim->particles, &sim->collisions, &sim->crossings, &sim->links,
                         &sim->bytes,     &sim->deposits,   &sim->touches,   &sim->pixels,
                         &sim->words,     &sim->order,      &sim->ut_ids,    &sim->scifi_ids};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->rows);
    }
    free(sim->charge);
    free(sim->cluster);
    free(sim->pattern);
    slc_velo_truth_clear(&sim->truth);
    slc_velo_beyond_clear(&sim->beyond_truth);
    free(sim);
}

/* ---- raw banks ------------------------------------------------------------------------------- */

void slc_sim_bank(slc_sim_velo *sim, uint8_t type, uint8_t version, int16_t source, const void *payload,
                  size_t size)
{
    const size_t bytes = slc_lhcb_bank_bound(size);
    uint8_t *out = slc_sim_list_append(&sim->bytes, bytes, 1, &sim->failed);
    if (out != NULL && slc_lhcb_bank_write(out, bytes, type, version, source, payload, size) != bytes) {
        sim->failed = true;
    }
}

static void write_odin(slc_sim_velo *sim, uint64_t index)
{
    uint8_t payload[ODIN_BYTES] = {0};
    slc_store_u32(payload, RUN_NUMBER);
    slc_store_u32(payload + 12, (uint32_t)(index >> 32));
    slc_store_u32(payload + 16, (uint32_t)index);
    slc_sim_bank(sim, SLC_LHCB_BANK_ODIN, ODIN_VERSION, 0, payload, sizeof payload);
}

static void write_superpixels(slc_sim_velo *sim, uint32_t sensor)
{
    const size_t n = sim->words.size;
    /* The words become the payload in place: bytes in the file's order, after their count. */
    uint32_t *word = slc_sim_list_append(&sim->words, 1, sizeof *word, &sim->failed);
    if (word == NULL) {
        return;
    }
    uint32_t *words = sim->words.rows;
    memmove(words + 1, words, n * sizeof *words);
    words[0] = (uint32_t)n;
    uint8_t *payload = (uint8_t *)words;
    for (size_t i = 0; i <= n; i++) {
        slc_store_u32(payload + 4 * i, words[i]);
    }
    slc_sim_bank(sim, SLC_LHCB_BANK_VP, VP_VERSION, (int16_t)sensor, payload, 4 * (n + 1));
}

/* ---- sensors --------------------------------------------------------------------------------- */

/* Orders the crossings by sensor, keeping their order in each. */
static void order_crossings(slc_sim_velo *sim)
{
    const sim_crossing *crossings = sim->crossings.rows;
    const size_t n = sim->crossings.size;
    uint32_t *order, at[SLC_VELO_SENSORS] = {0};
    memset(sim->sensor_begin, 0, sizeof sim->sensor_begin);
    for (size_t i = 0; i < n; i++) {
        sim->sensor_begin[crossings[i].sensor + 1]++;
    }
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        at[s] = sim->sensor_begin[s];
        sim->sensor_begin[s + 1] += sim->sensor_begin[s];
    }
    sim->order.size = 0;
    order = slc_sim_list_append(&sim->order, n, sizeof *order, &sim->failed);
    for (size_t i = 0; i < n && order != NULL; i++) {
        order[at[crossings[i].sensor]++] = (uint32_t)i;
    }
}

static void read_out(slc_sim_velo *sim)
{
    uint32_t noise[SLC_VELO_SENSORS] = {0};
    const uint32_t n = random_poisson(&sim->random, (double)sim->config.noise_pixels);
    for (uint32_t i = 0; i < n; i++) {
        noise[(uint32_t)(random_uniform(&sim->random) * SLC_VELO_SENSORS)]++;
    }
    order_crossings(sim);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS && !sim->failed; s++) {
        slc_sim_sensor(sim, s, noise[s]);
        write_superpixels(sim, s);
    }
}

/* ---- truth ----------------------------------------------------------------------------------- */

static int by_particle(const void *a, const void *b)
{
    const sim_link *x = a, *y = b;
    if (x->particle != y->particle) {
        return x->particle < y->particle ? -1 : 1;
    }
    return (x->channel > y->channel) - (x->channel < y->channel);
}

/* Three different modules make a particle reconstructible. */
static bool has_three(uint64_t modules)
{
    int n = 0;
    for (; modules != 0 && n < 3; n++) {
        modules &= modules - 1;
    }
    return n == 3;
}

/* Puts links in the order of particles and hands every particle its own, each once: their number and the
 * first of them, which lie at `n_at` and `first_at` in a particle. */
static void hand_out(slc_sim_velo *sim, sim_list *list, size_t n_at, size_t first_at)
{
    sim_link *links = list->rows;
    uint8_t *particles = sim->particles.rows;
    size_t kept = 0;
    if (list->size > 1) {
        qsort(links, list->size, sizeof *links, by_particle);
    }
    for (size_t i = 0; i < list->size; i++) {
        if (kept > 0 && by_particle(&links[kept - 1], &links[i]) == 0) {
            continue;
        }
        uint8_t *particle = particles + links[i].particle * sizeof(sim_particle);
        uint32_t n;
        memcpy(&n, particle + n_at, sizeof n);
        if (n++ == 0) {
            memcpy(particle + first_at, &(uint32_t){(uint32_t)kept}, sizeof(uint32_t));
        }
        memcpy(particle + n_at, &n, sizeof n);
        links[kept++] = links[i];
    }
    list->size = kept;
}

/* Hands every particle its hits, and works out what follows from them. */
static void link_particles(slc_sim_velo *sim)
{
    sim_particle *particles = sim->particles.rows;
    sim_collision *collisions = sim->collisions.rows;
    hand_out(sim, &sim->links, offsetof(sim_particle, n_links), offsetof(sim_particle, first_link));
    hand_out(sim, &sim->ut_ids, offsetof(sim_particle, n_ut), offsetof(sim_particle, first_ut));
    hand_out(sim, &sim->scifi_ids, offsetof(sim_particle, n_scifi), offsetof(sim_particle, first_scifi));
    for (size_t i = 0; i < sim->particles.size; i++) {
        sim_particle *particle = &particles[i];
        if (has_three(particle->modules)) {
            particle->flags |= SLC_VELO_HAS_VELO;
            particle->flags |= particle->flags & SLC_VELO_HAS_SCIFI ? SLC_VELO_IS_LONG : 0;
            if (particle->collision >= 0 && vector_length(particle->momentum) > 100) {
                collisions[particle->collision].n_tracks++;
            }
        }
        const uint32_t down = SLC_VELO_HAS_UT | SLC_VELO_HAS_SCIFI;
        particle->flags |= (particle->flags & down) == down ? SLC_VELO_IS_DOWN : 0;
    }
}

static void fill_particle(const slc_sim_velo *sim, uint32_t index, uint32_t id_begin, slc_velo_particles *out)
{
    const sim_particle *particle = (const sim_particle *)sim->particles.rows + index;
    const sim_vector m = particle->momentum;
    const double pt = sqrt(m.x * m.x + m.y * m.y);
    const size_t row = out->head.size++;
    out->key[row] = index;
    out->pid[row] = particle->pid;
    out->p_mev[row] = (float)vector_length(m);
    out->pt_mev[row] = (float)pt;
    out->eta[row] = (float)asinh(m.z / fmax(pt, 1e-9));
    out->phi_rad[row] = (float)atan2(m.y, m.x);
    out->origin_x_mm[row] = (float)particle->origin.x;
    out->origin_y_mm[row] = (float)particle->origin.y;
    out->origin_z_mm[row] = (float)particle->origin.z;
    out->flags[row] = particle->flags;
    out->charge[row] = (float)particle->charge;
    out->mother_key[row] = particle->mother;
    out->mother_pid[row] = particle->mother < 0
                               ? 0
                               : ((const sim_particle *)sim->particles.rows)[particle->mother].pid;
    out->id_begin[row] = id_begin;
    out->n_ids[row] = particle->n_links;
}

/* Room for one more event of so many rows. Events grow by half, as rows do, so that appending stays linear.
 */
static slc_status make_room(const slc_schema *schema, void *collection, size_t rows)
{
    const slc_columns *head = collection;
    const bool full = head->n_events >= head->event_capacity;
    const uint32_t events = full ? head->n_events + head->n_events / 2 + 1 : head->event_capacity;
    return slc_columns_reserve(schema, collection, head->size + rows, events);
}

/* Room in the caller's or our own columns for this event's truth. */
static slc_status reserve_truth(const slc_sim_velo *sim, slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    slc_status status = make_room(&slc_velo_particles_schema, &truth->particles, sim->particles.size);
    if (status == SLC_OK) {
        status = make_room(&slc_velo_particle_ids_schema, &truth->ids, sim->links.size);
    }
    if (status == SLC_OK) {
        status = make_room(&slc_velo_vertices_schema, &truth->vertices, sim->collisions.size);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = make_room(&slc_velo_particle_lists_schema, &beyond->lists, sim->particles.size);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = make_room(&slc_velo_particle_ids_schema, &beyond->ut, sim->ut_ids.size);
    }
    if (status == SLC_OK && beyond != NULL) {
        status = make_room(&slc_velo_particle_ids_schema, &beyond->scifi, sim->scifi_ids.size);
    }
    return status;
}

/* Appends a particle's ids; returns where, from the event's `begin` on, they are. */
static uint32_t fill_ids(const sim_list *links, uint32_t first, uint32_t n, size_t begin,
                         slc_velo_particle_ids *ids)
{
    const uint32_t at = (uint32_t)(ids->head.size - begin);
    for (uint32_t k = 0; k < n; k++) {
        ids->id[ids->head.size++] = ((const sim_link *)links->rows)[first + k].channel;
    }
    return at;
}

/* Appends this event's truth, for which there is room: the particles that left a hit, and all collisions. */
static void fill_truth(const slc_sim_velo *sim, slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    const sim_particle *particles = sim->particles.rows;
    const sim_collision *collisions = sim->collisions.rows;
    slc_velo_vertices *vertices = &truth->vertices;
    const size_t begin = truth->ids.head.size;
    const size_t begin_ut = beyond != NULL ? beyond->ut.head.size : 0;
    const size_t begin_scifi = beyond != NULL ? beyond->scifi.head.size : 0;
    for (size_t i = 0; i < sim->particles.size; i++) {
        const sim_particle *p = &particles[i];
        if (p->n_links + p->n_ut + p->n_scifi == 0) {
            continue;
        }
        const uint32_t at = fill_ids(&sim->links, p->first_link, p->n_links, begin, &truth->ids);
        fill_particle(sim, (uint32_t)i, at, &truth->particles);
        if (beyond != NULL) {
            const size_t row = beyond->lists.head.size++;
            beyond->lists.ut_begin[row] = fill_ids(&sim->ut_ids, p->first_ut, p->n_ut, begin_ut, &beyond->ut);
            beyond->lists.n_ut[row] = p->n_ut;
            beyond->lists.scifi_begin[row] = fill_ids(&sim->scifi_ids, p->first_scifi, p->n_scifi,
                                                      begin_scifi, &beyond->scifi);
            beyond->lists.n_scifi[row] = p->n_scifi;
        }
    }
    for (size_t i = 0; i < sim->collisions.size; i++) {
        const size_t row = vertices->head.size++;
        vertices->n_tracks[row] = collisions[i].n_tracks;
        vertices->x_mm[row] = collisions[i].at.x;
        vertices->y_mm[row] = collisions[i].at.y;
        vertices->z_mm[row] = collisions[i].at.z;
    }
    slc_velo_truth_end_event(truth);
    if (beyond != NULL) {
        slc_columns_end_event(&beyond->lists);
        slc_columns_end_event(&beyond->ut);
        slc_columns_end_event(&beyond->scifi);
    }
}

static slc_status write_truth(slc_sim_velo *sim)
{
    slc_velo_beyond *beyond = sim->beyond ? &sim->beyond_truth : NULL;
    slc_velo_truth_reset(&sim->truth);
    slc_columns_reset(&sim->beyond_truth.lists);
    slc_columns_reset(&sim->beyond_truth.ut);
    slc_columns_reset(&sim->beyond_truth.scifi);
    const slc_status status = reserve_truth(sim, &sim->truth, beyond);
    if (status != SLC_OK) {
        return status;
    }
    fill_truth(sim, &sim->truth, beyond);
    const size_t bytes = slc_velo_truth_bound(&sim->truth, beyond, 0);
    uint8_t *out = slc_sim_list_append(&sim->bytes, bytes, 1, &sim->failed);
    if (out == NULL) {
        return SLC_ERR_MEMORY;
    }
    const size_t written = slc_velo_truth_write(&sim->truth, beyond, 0, out, bytes);
    sim->bytes.size -= bytes - written;
    return written > 0 ? SLC_OK : SLC_ERR_CAPACITY;
}

/* ---- an event -------------------------------------------------------------------------------- */

void slc_sim_begin(slc_sim_velo *sim, uint64_t index)
{
    sim->particles.size = sim->collisions.size = sim->crossings.size = sim->links.size = sim->bytes.size = 0;
    sim->ut_ids.size = sim->scifi_ids.size = 0;
    if (sim->failed) { /* the last event stopped half-way: its marks may still be on the maps */
        memset(sim->charge, 0, SIM_PIXELS * sizeof *sim->charge);
        memset(sim->cluster, 0, SIM_PIXELS * sizeof *sim->cluster);
        memset(sim->pattern, 0, SIM_SUPERPIXELS * sizeof *sim->pattern);
        sim->failed = false;
    }
    random_seed(&sim->random, sim->config.seed, index);
    slc_sim_collide(sim);
    slc_sim_transport(sim);
}

void slc_sim_read_out(slc_sim_velo *sim, uint64_t index)
{
    write_odin(sim, index);
    read_out(sim);
}

slc_status slc_sim_finish(slc_sim_velo *sim, uint64_t index, slc_batch *batch, slc_velo_truth *truth,
                          slc_velo_beyond *beyond, slc_error *error)
{
    slc_status status = SLC_ERR_MEMORY;
    if (!sim->failed) {
        link_particles(sim);
        status = write_truth(sim);
    }
    /* All or nothing: the last step that may fail is the batch's. */
    if (status == SLC_OK && truth != NULL) {
        status = reserve_truth(sim, truth, beyond);
    }
    if (status == SLC_OK) {
        status = slc_batch_append(batch, sim->bytes.rows, sim->bytes.size, 0);
    }
    if (status == SLC_OK && truth != NULL) {
        fill_truth(sim, truth, beyond);
    }
    if (status != SLC_OK) {
        return slc_fail(error, status, "simulation: event %llu: %s", (unsigned long long)index,
                        slc_status_name(status));
    }
    return SLC_OK;
}

slc_status slc_sim_velo_event(slc_sim_velo *sim, uint64_t index, slc_batch *batch, slc_velo_truth *truth,
                              slc_error *error)
{
    slc_sim_begin(sim, index);
    slc_sim_read_out(sim, index);
    return slc_sim_finish(sim, index, batch, truth, NULL, error);
}
