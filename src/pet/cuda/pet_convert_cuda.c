/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's side of the conversion on a GPU: tables, memory, one wait for the counts, and faults, whose
 * frames are looked for only where there are any.
 */
#include "pet/cuda/pet_convert_cuda.h"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"

#include <stdlib.h>
#include <string.h>

enum { MODULES = SLC_PET_MAX_MODULES, WORDS = MODULES / 32, ALIGN = 256 };

struct slc_pet_convert_cuda {
    slc_cuda_stream *stream;
    slc_pet_cuda_conversion job; /* its tables and configuration; the rest is set by each call */
    slc_cuda_memory tables, rows, work, clock;
    slc_cuda_memory host; /* slc_pet_cuda_converted and slc_pet_cuda_bad, page-locked */
    slc_pet_convert_counts counts;
};

/* ---- tables ------------------------------------------------------------------------------------ */

/* Memory that is given out piece by piece; with `at` NULL sizes only are added up. */
typedef struct room {
    char *at;
    size_t used;
} room;

static void *take(room *r, size_t bytes)
{
    char *piece = r->at != NULL ? r->at + r->used : NULL;
    r->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return piece;
}

/* The tables in the host's memory, laid out as they will lie in the device's. */
typedef struct laid_out {
    slc_pet_cuda_slot *slot;
    uint32_t *places;
    uint16_t *map;
    uint32_t *add;
    slc_pet_cuda_cell *cell;
    float *energy;
} laid_out;

static size_t lay_out(const slc_pet_cuda_conversion *job, const slc_pet_tables *t, void *memory, laid_out *l)
{
    room r = {.at = memory};
    const bool maps = t->position != NULL || job->add_stride != 0;
    const size_t adds = job->add_stride != 0 ? (size_t)job->modules * job->units * job->locals : job->locals;
    const bool changes = t->gain != NULL || t->time_offset_ps != NULL;
    l->slot = take(&r, (size_t)MODULES * SLC_PET_MAX_UNITS * sizeof *l->slot);
    l->places = maps ? NULL : take(&r, (size_t)job->side * job->side * sizeof *l->places);
    l->map = maps ? take(&r, (t->position != NULL ? slc_pet_position_elements(t)
                                                  : (size_t)job->side * job->side) *
                                 sizeof *l->map)
                  : NULL;
    l->add = take(&r, adds * sizeof *l->add);
    l->cell = changes ? take(&r, slc_pet_crystals(&t->geometry) * sizeof *l->cell) : NULL;
    l->energy = t->energy != NULL ? take(&r, slc_pet_energy_elements(t) * sizeof *l->energy) : NULL;
    return r.used;
}

/* Without a table of positions x is z and y is y of the crystal. */
static void fill_places(const slc_pet_cuda_conversion *job, const slc_pet_tables *t, const laid_out *l)
{
    const slc_pet_geometry *g = &t->geometry;
    if (t->position != NULL) {
        memcpy(l->map, t->position, slc_pet_position_elements(t) * sizeof *l->map);
        return;
    }
    for (uint32_t y = 0; y < job->side; y++) {
        for (uint32_t x = 0; x < job->side; x++) {
            const bool there = y < g->crystals_y && x < g->crystals_z;
            const uint32_t local = y * g->crystals_z + x, at = y * job->side + x;
            if (l->map != NULL) {
                l->map[at] = there ? (uint16_t)local : SLC_PET_NO_CRYSTAL;
            } else {
                l->places[at] = there ? l->add[local] : UINT32_MAX;
            }
        }
    }
}

static void fill_tables(const slc_pet_cuda_conversion *job, const slc_pet_tables *t, const laid_out *l)
{
    const slc_pet_geometry *g = &t->geometry;
    for (uint32_t block = 0; block < (job->add_stride != 0 ? job->modules * job->units : 1); block++) {
        const uint32_t module = block / job->units, unit = block % job->units;
        const uint32_t first = job->add_stride != 0 ? 0 : slc_pet_crystal(g, module, unit, 0);
        for (uint32_t local = 0; local < job->locals; local++) {
            l->add[block * job->add_stride + local] = slc_pet_crystal(g, module, unit, local) - first;
        }
    }
    for (uint32_t i = 0; i < MODULES * SLC_PET_MAX_UNITS; i++) {
        const uint32_t module = i / SLC_PET_MAX_UNITS, unit = i % SLC_PET_MAX_UNITS;
        const uint32_t block = module * job->units + unit;
        if (module >= job->modules || unit >= job->units) {
            l->slot[i] = (slc_pet_cuda_slot){UINT32_MAX, UINT32_MAX};
            continue;
        }
        l->slot[i] = (slc_pet_cuda_slot){job->add_stride != 0 ? 0 : slc_pet_crystal(g, module, unit, 0),
                                         block};
    }
    fill_places(job, t, l);
    const size_t crystals = l->cell != NULL ? slc_pet_crystals(g) : 0;
    for (size_t i = 0; i < crystals; i++) {
        l->cell[i] = (slc_pet_cuda_cell){
            .gain = t->gain != NULL ? t->gain[i] : 1,
            .offset_ps = t->time_offset_ps != NULL ? t->time_offset_ps[i] : 0,
        };
    }
    if (l->energy != NULL) {
        memcpy(l->energy, t->energy, slc_pet_energy_elements(t) * sizeof *l->energy);
    }
}

static slc_status send_tables(slc_pet_convert_cuda *s, const slc_pet_tables *t, slc_error *error)
{
    slc_pet_cuda_conversion *job = &s->job;
    laid_out l;
    const size_t bytes = lay_out(job, t, NULL, &l);
    void *host = calloc(1, bytes);
    if (host == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the tables of a conversion of frames");
    }
    (void)lay_out(job, t, host, &l);
    fill_tables(job, t, &l);
    slc_status status = slc_cuda_memory_reserve(s->stream, &s->tables, bytes, "tables of PET frames", error);
    if (status == SLC_OK) {
        status = slc_cuda_to_device(s->stream, s->tables.at, host, bytes, error);
    }
    if (status == SLC_OK) {
        (void)lay_out(job, t, s->tables.at, &l);
        job->slot = l.slot;
        job->places = l.places;
        job->map = l.map;
        job->add = l.add;
        job->cell = l.cell;
        job->energy = l.energy;
        status = slc_cuda_stream_wait(s->stream, error);
    }
    free(host);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static void set_numbers(slc_pet_cuda_conversion *job, const slc_pet_convert_config *c,
                        const slc_pet_tables *t)
{
    const slc_pet_geometry *g = &t->geometry;
    const uint32_t longer = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    job->modules = slc_pet_module_count(g);
    job->units = g->blocks_y * g->blocks_z;
    job->locals = g->crystals_y * g->crystals_z;
    job->side = t->position != NULL ? t->position_side : longer;
    job->add_stride = slc_pet_numbers_repeat(g) ? 0 : job->locals;
    job->map_stride = t->position != NULL ? job->side * job->side : 0;
    job->energy_bins = t->energy != NULL ? t->energy_bins : 1;
    job->bins_per_kev = t->energy != NULL ? 1 / t->energy_bin_kev : 0;
    job->tick_numerator = c->tick_numerator;
    job->tick_denominator = c->tick_denominator;
    job->tick_bits = c->tick_bits;
    job->low_kev = (float)c->low_kev;
    job->high_kev = (float)c->high_kev;
}

/* The clocks that go on from call to call: nothing has begun. */
static slc_status open_clock(slc_pet_convert_cuda *s, slc_error *error)
{
    slc_pet_cuda_clocks *c = &s->job.clock;
    for (int pass = 0; pass < 2; pass++) {
        room r = {.at = s->clock.at};
        c->first = take(&r, MODULES * sizeof *c->first);
        c->last = take(&r, MODULES * sizeof *c->last);
        c->began = take(&r, WORDS * sizeof *c->began);
        if (pass == 0) {
            slc_status status = slc_cuda_memory_reserve(s->stream, &s->clock, r.used, "clocks of PET modules",
                                                        error);
            status = status == SLC_OK ? slc_cuda_fill(s->stream, s->clock.at, 0, r.used, error) : status;
            if (status != SLC_OK) {
                return status;
            }
        }
    }
    return SLC_OK;
}

/* The twin on the processor knows what cannot be, and says it. */
static slc_status check(const slc_pet_convert_config *config, const slc_pet_tables *tables, slc_error *error)
{
    slc_pet_convert_config one = *config;
    slc_pet_convert *twin = NULL;
    one.exec.threads = 1;
    const slc_status status = slc_pet_convert_open(&one, tables, &twin, error);
    slc_pet_convert_close(twin);
    return status;
}

slc_status slc_pet_convert_cuda_open(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                                     slc_cuda_stream *stream, slc_pet_convert_cuda **out, slc_error *error)
{
    *out = NULL;
    slc_status status = check(config, tables, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_convert_cuda *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a conversion of frames");
    }
    s->stream = stream;
    set_numbers(&s->job, config, tables);
    status = slc_cuda_pinned_reserve(stream, &s->host,
                                     sizeof(slc_pet_cuda_converted) + sizeof(slc_pet_cuda_bad),
                                     "counts of PET frames", error);
    status = status == SLC_OK ? send_tables(s, tables, error) : status;
    status = status == SLC_OK ? open_clock(s, error) : status;
    if (status != SLC_OK) {
        slc_pet_convert_cuda_close(s);
        return status;
    }
    *out = s;
    return SLC_OK;
}

void slc_pet_convert_cuda_close(slc_pet_convert_cuda *s)
{
    if (s == NULL) {
        return;
    }
    (void)slc_cuda_stream_wait(s->stream, NULL);
    slc_cuda_memory_clear(&s->tables);
    slc_cuda_memory_clear(&s->rows);
    slc_cuda_memory_clear(&s->work);
    slc_cuda_memory_clear(&s->clock);
    slc_cuda_memory_clear(&s->host);
    free(s);
}

/* ---- running ----------------------------------------------------------------------------------- */

static void take_clocks(room *r, slc_pet_cuda_clocks *c, size_t rows, uint32_t modules)
{
    c->first = take(r, rows * modules * sizeof *c->first);
    c->last = take(r, rows * modules * sizeof *c->last);
    c->began = take(r, rows * WORDS * sizeof *c->began);
}

/* What is between the kernels; *zero: bytes that must be 0, at its beginning. */
static size_t lay_work(slc_pet_cuda_conversion *job, void *memory, size_t *zero)
{
    room r = {.at = memory};
    job->totals = take(&r, sizeof *job->totals);
    job->next_tile = take(&r, sizeof *job->next_tile);
    job->states = take(&r, job->tiles * sizeof *job->states);
    *zero = r.used;
    job->bad = take(&r, sizeof *job->bad);
    job->bad_of_tile = take(&r, job->tiles * sizeof *job->bad_of_tile);
    take_clocks(&r, &job->tile, job->tiles, job->modules);
    take_clocks(&r, &job->chunk, job->chunks, job->modules);
    return r.used;
}

static size_t lay_rows(slc_pet_cuda_conversion *job, void *memory)
{
    room r = {.at = memory};
    job->time_ps = take(&r, job->n * sizeof *job->time_ps);
    job->crystal = take(&r, job->n * sizeof *job->crystal);
    job->energy_kev = take(&r, job->n * sizeof *job->energy_kev);
    return r.used;
}

/* Memory for n frames. A quarter more than asked for, so that batches that grow little by little do not
 * allocate each time. */
static slc_status reserve(slc_pet_convert_cuda *s, size_t n, size_t *zero, slc_error *error)
{
    slc_pet_cuda_conversion *job = &s->job;
    job->n = n;
    job->tiles = (uint32_t)((n + SLC_PET_CUDA_FRAMES - 1) / SLC_PET_CUDA_FRAMES);
    job->chunks = (job->tiles + SLC_PET_CUDA_CHUNK - 1) / SLC_PET_CUDA_CHUNK;
    const size_t rows = lay_rows(job, NULL), work = lay_work(job, NULL, zero);
    slc_status status = SLC_OK;
    if (rows > s->rows.size) {
        status = slc_cuda_memory_reserve(s->stream, &s->rows, s->rows.size > 0 ? rows + rows / 4 : rows,
                                         "PET singles", error);
    }
    if (status == SLC_OK && work > s->work.size) {
        status = slc_cuda_memory_reserve(s->stream, &s->work, s->work.size > 0 ? work + work / 4 : work,
                                         "the conversion of PET frames", error);
        /* Clocks of modules without a frame are moved whole, though nobody asks what they are. */
        status = status == SLC_OK ? slc_cuda_fill(s->stream, s->work.at, 0, s->work.size, error) : status;
    }
    (void)lay_rows(job, s->rows.at);
    (void)lay_work(job, s->work.at, zero);
    return status;
}

static slc_status add_faults(slc_pet_convert_cuda *s, slc_faults *faults, slc_error *error)
{
    const slc_pet_cuda_converted *got = s->host.at;
    slc_pet_cuda_bad *bad = (slc_pet_cuda_bad *)(void *)((char *)s->host.at + sizeof *got);
    slc_status status = slc_pet_cuda_find_bad(&s->job, slc_cuda_stream_native(s->stream), error);
    status = status == SLC_OK ? slc_cuda_to_host(s->stream, bad, s->job.bad, sizeof *bad, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_wait(s->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    uint64_t left[5] = {0, got->module, got->unit, got->position,
                        got->clock}; /* by the last byte of the code */
    for (uint32_t i = 0; i < bad->n; i++) {
        const uint64_t frame = s->counts.frames + bad->frame[i];
        slc_faults_add(faults, (slc_fault_code)bad->code[i], frame, (int32_t)bad->module[i],
                       frame * SLC_PET_FRAME_BYTES);
        left[bad->code[i] & 0xff]--;
    }
    for (uint32_t k = 1; k < sizeof left / sizeof *left; k++) {
        slc_faults_count(faults, SLC_FAULT_OF_PET(k), left[k]);
    }
    return SLC_OK;
}

static void add_counts(slc_pet_convert_counts *counts, const slc_pet_cuda_converted *got, size_t n)
{
    counts->frames += n;
    counts->singles += got->singles;
    counts->module += got->module;
    counts->unit += got->unit;
    counts->position += got->position;
    counts->no_crystal += got->no_crystal;
    counts->below += got->below;
    counts->above += got->above;
    counts->clock += got->clock;
    counts->backwards += got->backwards;
}

slc_status slc_pet_convert_cuda_run(slc_pet_convert_cuda *s, const slc_pet_frame *frames, size_t n,
                                    slc_pet_cuda_singles *singles, slc_faults *faults, slc_error *error)
{
    *singles = (slc_pet_cuda_singles){0};
    if (n == 0) {
        return SLC_OK;
    }
    if (n / SLC_PET_CUDA_FRAMES >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%zu PET frames are too many for one call", n);
    }
    size_t zero = 0;
    slc_pet_cuda_conversion *job = &s->job;
    const slc_pet_cuda_converted *got = s->host.at;
    slc_status status = slc_cuda_stream_use(s->stream, error);
    status = status == SLC_OK ? reserve(s, n, &zero, error) : status;
    if (status == SLC_OK) {
        job->frames = frames;
        status = slc_cuda_fill(s->stream, s->work.at, 0, zero, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_cuda_convert(job, slc_cuda_stream_native(s->stream), error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_to_host(s->stream, s->host.at, job->totals, sizeof *got, error);
    }
    status = status == SLC_OK ? slc_cuda_stream_wait(s->stream, error) : status;
    if (status == SLC_OK && faults != NULL && got->module + got->unit + got->position + got->clock > 0) {
        status = add_faults(s, faults, error);
    }
    if (status == SLC_OK) {
        add_counts(&s->counts, got, n);
        *singles = (slc_pet_cuda_singles){got->singles, job->time_ps, job->crystal, job->energy_kev};
    }
    return status;
}

slc_status slc_pet_convert_cuda_take(slc_pet_convert_cuda *s, const slc_pet_convert_cuda *other,
                                     slc_error *error)
{
    s->counts = other->counts;
    return slc_cuda_move_across(s->stream, s->clock.at, other->stream, other->clock.at, s->clock.size, error);
}

void slc_pet_convert_cuda_counts_of(const slc_pet_convert_cuda *stage, slc_pet_convert_counts *counts)
{
    *counts = stage->counts;
}
