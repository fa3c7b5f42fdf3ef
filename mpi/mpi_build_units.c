/* SPDX-License-Identifier: Apache-2.0
 * Which units there are, who serves them, and what they have for a pack. */
#include "mpi_build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { GENERATED_FRAGMENT = 1000, HEAD = 20, ALIGN = 3 };

static uint64_t up(uint64_t n, uint64_t step)
{
    return (n + step - 1) / step * step;
}

uint32_t slc_build_events_of(const slc_build_packs *packs, uint64_t pack)
{
    const uint64_t left = packs->n_events - pack * packs->packing;
    return left < packs->packing ? (uint32_t)left : packs->packing;
}

/* ---- sharing out ------------------------------------------------------------------------------- */

typedef struct weight {
    uint64_t bytes;
    uint32_t of;
} weight;

static int heavier(const void *a, const void *b)
{
    const weight *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->of < y->of ? -1 : x->of > y->of;
}

slc_status slc_build_balance(const uint64_t *bytes, uint32_t n, int bins, int *bin)
{
    weight *order = calloc((size_t)n + 1, sizeof *order);
    uint64_t *sum = calloc((size_t)bins, sizeof *sum);
    if (order == NULL || sum == NULL) {
        free(order);
        free(sum);
        return SLC_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (weight){bytes[i], i};
    }
    qsort(order, n, sizeof *order, heavier);
    for (uint32_t i = 0; i < n; i++) {
        int lightest = 0;
        for (int b = 1; b < bins; b++) {
            lightest = sum[b] < sum[lightest] ? b : lightest;
        }
        bin[order[i].of] = lightest;
        sum[lightest] += order[i].bytes;
    }
    free(order);
    free(sum);
    return SLC_OK;
}

/* ---- what all know ----------------------------------------------------------------------------- */

static slc_status no_memory(slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for units");
}

static slc_status make_units(slc_build_units *units, uint32_t n, slc_error *error)
{
    units->all = calloc((size_t)n + 1, sizeof *units->all);
    units->mine = calloc((size_t)n + 1, sizeof *units->mine);
    units->files = calloc((size_t)n + 1, sizeof *units->files);
    units->n_all = n;
    return units->all != NULL && units->mine != NULL && units->files != NULL ? SLC_OK : no_memory(error);
}

/* Everybody gets what the one who serves a unit says of its sources. */
static slc_status share_sources(slc_build_units *units, const slc_mpi_world *world, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < units->n_all; i++) {
        slc_build_unit *unit = &units->all[i];
        (void)MPI_Bcast(&unit->n_sources, 1, MPI_UINT32_T, unit->rank, MPI_COMM_WORLD);
        if (unit->rank != world->rank) {
            unit->sources = calloc((size_t)unit->n_sources + 1, sizeof *unit->sources);
        }
        status = slc_mpi_agree(world, unit->sources != NULL ? SLC_OK : no_memory(error), error);
        if (status != SLC_OK) {
            return status;
        }
        (void)MPI_Bcast(unit->sources, (int)(unit->n_sources * sizeof *unit->sources), MPI_BYTE, unit->rank,
                        MPI_COMM_WORLD);
    }
    return status;
}

/* ---- files of packets -------------------------------------------------------------------------- */

/* Packs of the run: as most files have them, from the first event that any has to the last. */
static slc_status agree_on_packs(slc_build_units *units, slc_error *error)
{
    uint64_t packing = 0, first = UINT64_MAX, end = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < units->n_mine; i++) {
        const slc_build_packs packs = slc_build_file_packs(units->files[i]);
        packing = packs.packing > packing ? packs.packing : packing;
        least = packs.packing < least ? packs.packing : least;
        first = packs.event_id < first ? packs.event_id : first;
        end = packs.event_id + packs.n_events > end ? packs.event_id + packs.n_events : end;
    }
    uint64_t low[2] = {first, least}, high[2] = {end, packing};
    (void)MPI_Allreduce(MPI_IN_PLACE, low, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    (void)MPI_Allreduce(MPI_IN_PLACE, high, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (low[1] != high[1]) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "units have packs of %llu and of %llu events: they are not of one run",
                        (unsigned long long)low[1], (unsigned long long)high[1]);
    }
    units->packs.packing = (uint32_t)high[1];
    units->packs.event_id = low[0];
    units->packs.n_events = high[0] - low[0];
    units->packs.n_packs = (units->packs.n_events + high[1] - 1) / high[1];
    return SLC_OK;
}

static slc_status open_mine(slc_build_units *units, const slc_mpi_world *world, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < units->n_all && status == SLC_OK; i++) {
        if (units->all[i].rank == world->rank) {
            units->mine[units->n_mine] = i;
            status = slc_build_file_open(&units->files[units->n_mine], units->all[i].name, error);
            units->n_mine += status == SLC_OK;
        }
    }
    return status;
}

static slc_status settle_mine(slc_build_units *units, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < units->n_mine && status == SLC_OK; i++) {
        slc_build_unit *unit = &units->all[units->mine[i]];
        status = slc_build_file_settle(units->files[i], &units->packs, &unit->sources, &unit->n_sources,
                                       error);
        units->capacity += 8 + up(slc_build_file_capacity(units->files[i]), 8);
    }
    return status;
}

/* Who serves which: what process 0 sees of sizes counts, so that all share out alike. */
static slc_status deal_files(slc_build_units *units, const slc_mpi_world *world, char **inputs, int n_inputs,
                             uint64_t *bytes, int *rank)
{
    for (int i = 0; i < n_inputs; i++) {
        struct stat about = {.st_size = 0};
        (void)stat(inputs[i], &about); /* who opens it tells why it cannot be */
        bytes[i] = (uint64_t)about.st_size;
    }
    (void)MPI_Bcast(bytes, n_inputs, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const slc_status status = slc_build_balance(bytes, (uint32_t)n_inputs, world->size, rank);
    for (int i = 0; i < n_inputs && status == SLC_OK; i++) {
        units->all[i].name = inputs[i];
        units->all[i].rank = rank[i];
        units->all[i].bytes = bytes[i];
    }
    return status;
}

static slc_status open_files(slc_build_units *units, const slc_mpi_world *world, char **inputs, int n_inputs,
                             slc_error *error)
{
    uint64_t *bytes = calloc((size_t)n_inputs, sizeof *bytes);
    int *rank = calloc((size_t)n_inputs, sizeof *rank);
    slc_status status = bytes != NULL && rank != NULL ? make_units(units, (uint32_t)n_inputs, error)
                                                      : no_memory(error);
    status = slc_mpi_agree(world, status, error);
    if (status == SLC_OK && bytes != NULL && rank != NULL) {
        status = deal_files(units, world, inputs, n_inputs, bytes, rank) == SLC_OK ? SLC_OK
                                                                                   : no_memory(error);
    }
    free(bytes);
    free(rank);
    status = status == SLC_OK ? open_mine(units, world, error) : status;
    status = slc_mpi_agree(world, status, error);
    status = status == SLC_OK ? agree_on_packs(units, error) : status;
    status = status == SLC_OK ? slc_mpi_agree(world, settle_mine(units, error), error) : status;
    return status == SLC_OK ? share_sources(units, world, error) : status;
}

/* ---- a file of events -------------------------------------------------------------------------- */

static slc_status open_split(slc_build_units *units, const slc_mpi_world *world,
                             const slc_build_options *options, char **inputs, int n_inputs, slc_error *error)
{
    slc_status status = make_units(units, (uint32_t)world->size, error);
    if (status == SLC_OK) {
        status = slc_build_split_open(&units->split, units, world, (uint32_t)options->packing, inputs,
                                      n_inputs, error);
    }
    for (int r = 0; r < world->size && status == SLC_OK; r++) {
        slc_build_unit *unit = &units->all[r];
        unit->rank = r;
        status = slc_build_split_sources(units->split, r, &unit->sources, &unit->n_sources, &unit->bytes,
                                         error);
    }
    if (status == SLC_OK) {
        units->mine[0] = (uint32_t)world->rank;
        units->n_mine = 1;
        units->capacity = 8 + slc_build_split_capacity(units->split);
    }
    return slc_mpi_agree(world, status, error);
}

/* ---- generated --------------------------------------------------------------------------------- */

static void put(uint8_t *to, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

/* A unit's generated sources are numbered from `first` on; each has fragments of one size. */
typedef struct generated {
    uint32_t n_sources, n_events, fragment;
    uint64_t packet; /* bytes */
} generated;

static generated generated_as(const slc_build_units *units)
{
    const uint32_t n = units->packs.packing;
    const uint64_t sources = units->generate / ((uint64_t)n * GENERATED_FRAGMENT);
    generated g = {.n_sources = sources > 0 ? (uint32_t)sources : 1, .n_events = n};
    g.n_sources = g.n_sources < 4096 ? g.n_sources : 4096;
    const uint64_t tables = HEAD + up(n, 4) + up(2 * (uint64_t)n, 4);
    const uint64_t each = units->generate / g.n_sources;
    const uint64_t room = each > tables ? (each - tables) / n / 8 * 8 : 0;
    g.fragment = room < 8 ? 8 : room > 65520 ? 65520 : (uint32_t)room;
    g.packet = up(tables + (uint64_t)n * g.fragment, 8);
    return g;
}

static slc_status open_generated(slc_build_units *units, const slc_mpi_world *world,
                                 const slc_build_options *options, slc_error *error)
{
    slc_status status = make_units(units, (uint32_t)world->size, error);
    units->packs = (slc_build_packs){.packing = (uint32_t)options->packing,
                                     .n_packs = options->packs * (uint64_t)world->size,
                                     .n_events = options->packing * options->packs * (uint64_t)world->size};
    units->generate = options->generate;
    units->rate = (double)options->rate;
    const generated g = generated_as(units);
    for (int r = 0; r < world->size && status == SLC_OK; r++) {
        slc_build_unit *unit = &units->all[r];
        unit->rank = r;
        unit->n_sources = g.n_sources;
        unit->bytes = g.packet * g.n_sources;
        unit->sources = calloc(g.n_sources, sizeof *unit->sources);
        for (uint32_t s = 0; s < g.n_sources && unit->sources != NULL; s++) {
            const uint16_t source = (uint16_t)((uint32_t)r * g.n_sources + s);
            unit->sources[s] = (slc_io_mfp_source){source, 1, 1};
        }
        status = unit->sources != NULL ? SLC_OK : no_memory(error);
    }
    if (status == SLC_OK && (uint64_t)world->size * g.n_sources > 65536) {
        status = slc_fail(error, SLC_ERR_USAGE, "--generate: more than 65536 sources: give larger --packing");
    }
    if (status == SLC_OK) {
        units->mine[0] = (uint32_t)world->rank;
        units->n_mine = 1;
        units->capacity = 8 + g.packet * g.n_sources;
    }
    return slc_mpi_agree(world, status, error);
}

/* Its packets are written once, and get their events' number each time. */
static void generate(slc_build_units *units, uint64_t pack, bool used, uint8_t *to, uint64_t *size)
{
    const generated g = generated_as(units);
    for (uint32_t s = 0; s < g.n_sources; s++) {
        uint8_t *at = to + 8 + s * g.packet, *sizes = at + HEAD + up(g.n_events, 4);
        if (!used) {
            memset(at, (int)(s & 255), g.packet);
            put(at, 0x40CE, 2);
            put(at + 2, g.n_events, 2);
            put(at + 4,
                HEAD + up(g.n_events, 4) + up(2 * (uint64_t)g.n_events, 4) +
                    (uint64_t)g.n_events * g.fragment,
                4);
            put(at + 16, units->all[units->mine[0]].sources[s].source, 2);
            at[18] = ALIGN;
            at[19] = 1;
            memset(at + HEAD, 1, g.n_events);
            for (uint32_t k = 0; k < g.n_events; k++) {
                put(sizes + 2 * (size_t)k, g.fragment, 2);
            }
            memset(sizes + 2 * (size_t)g.n_events, 0, up(2 * (uint64_t)g.n_events, 4) - 2 * g.n_events);
        }
        put(at + 8, pack * g.n_events, 8);
    }
    *size = 8 + g.packet * g.n_sources;
    put(to, *size - 8, 8);
}

/* At a rate, a pack is there when its bytes would have come. */
static void keep_rate(const slc_build_units *units, uint64_t size)
{
    if (units->rate > 0) {
        const double seconds = (double)size / units->rate;
        const struct timespec wait = {.tv_sec = (time_t)seconds,
                                      .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
        (void)nanosleep(&wait, NULL);
    }
}

/* ---- packs ------------------------------------------------------------------------------------- */

slc_status slc_build_units_open(slc_build_units *units, const slc_mpi_world *world,
                                const slc_build_options *options, char **inputs, int n_inputs,
                                slc_error *error)
{
    slc_status status;
    if (options->generate > 0) {
        status = open_generated(units, world, options, error);
    } else if (options->split) {
        status = open_split(units, world, options, inputs, n_inputs, error);
    } else {
        status = open_files(units, world, inputs, n_inputs, error);
    }
    return status;
}

void slc_build_units_close(slc_build_units *units)
{
    for (uint32_t i = 0; i < units->n_all && units->all != NULL; i++) {
        free(units->all[i].sources);
    }
    for (uint32_t i = 0; i < units->n_mine && units->files != NULL; i++) {
        slc_build_file_close(units->files[i]);
    }
    slc_build_split_close(units->split);
    free(units->all);
    free(units->mine);
    free(units->files);
}

slc_status slc_build_units_fill(slc_build_units *units, uint64_t pack, bool given_up, bool used, uint8_t *to,
                                uint64_t *size, slc_error *error)
{
    const uint32_t n_events = slc_build_events_of(&units->packs, pack);
    if (units->generate > 0) {
        generate(units, pack, used, to, size);
        keep_rate(units, *size);
        return SLC_OK;
    }
    if (units->split != NULL) { /* which is read on, wanted or not */
        const slc_status status = slc_build_split_fill(units->split, pack, n_events, to + 8, size, error);
        memcpy(to, size, 8);
        *size += 8;
        return status;
    }
    uint64_t at = 8 * (uint64_t)units->n_mine;
    for (uint32_t i = 0; i < units->n_mine && !given_up; i++) {
        const uint64_t bytes = slc_build_file_size(units->files[i], pack);
        memcpy(to + 8 * (size_t)i, &bytes, 8);
        slc_build_file_fill(units->files[i], pack, to + at);
        at += up(bytes, 8);
    }
    *size = at;
    return SLC_OK;
}
