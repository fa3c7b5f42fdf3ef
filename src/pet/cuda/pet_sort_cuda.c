/* SPDX-License-Identifier: Apache-2.0
 *
 * The streaming sort on a GPU. What is held lies in time order; what arrives is looked at for late ones,
 * which are parted from the others, and both are sorted together into a second buffer. Those before the
 * horizon are given as they lie there, and the rest is held.
 *
 *     held ───────────────────────────────┬─sort─► given │ held
 *     arriving ─look─► (late │ not late) ─┘
 *
 * Where few arrive beside what is held they wait, unsorted, until they are more, so that many small batches
 * do not sort the same singles over and over.
 */
#include "pet/cuda/pet_sort_cuda.h"

#include <stdlib.h>

/* Room for singles on the device, one column behind the other. */
typedef struct slc_pet_sort_columns {
    slc_cuda_memory memory;
    size_t capacity;
} slc_pet_sort_columns;

struct slc_pet_sort_cuda {
    slc_pet_sort_config config;
    slc_pet_sort_method method;
    slc_cuda_stream *stream;
    slc_cuda_memory head, head_host; /* slc_pet_sort_head */
    /* For sorting. */
    slc_cuda_memory records, cells, map, refined, buckets, sums, more, grouped;
    /* For streams: what is held is in `held`, from row `begin` on, `sorted` singles in order and then
     * `waiting` ones as they arrived; `spare` is where the next ones are sorted to. */
    slc_pet_sort_columns held, spare, kept, late;
    size_t begin, sorted, waiting;
    slc_cuda_memory tiles, tile_counts;
    bool began;
    int64_t latest;
    uint64_t largest_lag;
    slc_pet_sort_counts counts;
};

enum { FEW = 8 }; /* fewer than one in so many of those held wait */

static const char *const method_names[] = {"near", "merge-seed", "radix"};
_Static_assert(sizeof method_names / sizeof *method_names == SLC_PET_SORT_METHODS, "a name for each method");

const char *slc_pet_sort_method_name(slc_pet_sort_method method)
{
    return (unsigned)method < SLC_PET_SORT_METHODS ? method_names[method] : NULL;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

slc_status slc_pet_sort_cuda_open(const slc_pet_sort_config *config, slc_pet_sort_method method,
                                  slc_cuda_stream *stream, slc_pet_sort_cuda **out, slc_error *error)
{
    *out = NULL;
    if (config->horizon_ps < 0) {
        return slc_fail(error, SLC_ERR_USAGE, "horizon: %lld ps is below 0", (long long)config->horizon_ps);
    }
    if ((unsigned)method >= SLC_PET_SORT_METHODS) {
        return slc_fail(error, SLC_ERR_USAGE, "there is no method %d of sorting on a GPU", (int)method);
    }
    slc_pet_sort_cuda *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sort of singles");
    }
    stage->config = *config;
    stage->method = method;
    stage->stream = stream;
    const size_t size = sizeof(slc_pet_sort_head);
    slc_status status = slc_cuda_memory_reserve(stream, &stage->head, size, "a sort of singles", error);
    if (status == SLC_OK) {
        status = slc_cuda_pinned_reserve(stream, &stage->head_host, size, "a sort of singles", error);
    }
    if (status != SLC_OK) {
        slc_pet_sort_cuda_close(stage);
        return status;
    }
    *out = stage;
    return SLC_OK;
}

void slc_pet_sort_cuda_close(slc_pet_sort_cuda *stage)
{
    if (stage == NULL) {
        return;
    }
    (void)slc_cuda_stream_use(stage->stream, NULL);
    (void)slc_cuda_stream_wait(stage->stream, NULL);
    slc_cuda_memory *const all[] = {
        &stage->head,        &stage->head_host,    &stage->records,     &stage->cells,
        &stage->map,         &stage->refined,      &stage->buckets,     &stage->sums,
        &stage->more,        &stage->grouped,      &stage->tiles,       &stage->tile_counts,
        &stage->held.memory, &stage->spare.memory, &stage->kept.memory, &stage->late.memory};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    free(stage);
}

/* ---- all at once ------------------------------------------------------------------------------------ */

/* Singles on a GPU into time order, all at once, by one of three methods. `near` looks at the times first,
 * and waits for what was found: whether there is an order to make use of, whether cells are so full that they
 * must be divided again, and whether times of a bucket need more than 32 bits. Where even divided cells are
 * too full, as for a million equal times, the digits of the times are sorted by instead.
 */

static const char what[] = "a sort of singles";

static slc_status reserve(slc_pet_sort_cuda *stage, slc_cuda_memory *memory, size_t bytes, slc_error *error)
{
    const bool more = memory->at != NULL && bytes > memory->size;
    return slc_cuda_memory_reserve(stage->stream, memory, more ? bytes + bytes / 8 : bytes, what, error);
}

static slc_status read_head(slc_pet_sort_cuda *stage, slc_pet_sort_head *head, slc_error *error)
{
    slc_status status = slc_cuda_to_host(stage->stream, stage->head_host.at, stage->head.at, sizeof *head,
                                         error);
    status = status == SLC_OK ? slc_cuda_stream_wait(stage->stream, error) : status;
    if (status == SLC_OK) {
        *head = *(const slc_pet_sort_head *)stage->head_host.at;
    }
    return status;
}

/* ---- radix --------------------------------------------------------------------------------------------- */

static slc_pet_cuda_singles columns_in(void *memory, uint32_t n)
{
    int64_t *time = memory;
    uint32_t *crystal = memory == NULL ? NULL : (uint32_t *)(void *)(time + n);
    return (slc_pet_cuda_singles){.n = n,
                                  .time_ps = time,
                                  .crystal = crystal,
                                  .energy_kev = memory == NULL ? NULL : (float *)(void *)(crystal + n)};
}

/* With `work` for the columns in between. */
static slc_status radix_room(slc_pet_sort_cuda *stage, slc_cuda_memory *work, slc_pet_sort_radix *job,
                             slc_error *error)
{
    const uint32_t n_counts = slc_pet_sort_radix_counts(job->n);
    const size_t counts = ((size_t)n_counts + 1) * sizeof(uint32_t);
    const size_t sums = (size_t)slc_pet_sort_scan_sums(n_counts) * sizeof(uint32_t);
    slc_status status = reserve(stage, work, 16 * (size_t)job->n, error);
    status = status == SLC_OK ? reserve(stage, &stage->more, counts, error) : status;
    status = status == SLC_OK ? reserve(stage, &stage->sums, sums, error) : status;
    job->work = columns_in(work->at, job->n);
    job->counts = stage->more.at;
    job->sums = stage->sums.at;
    job->stream = slc_cuda_stream_native(stage->stream);
    return status;
}

static slc_status sort_radix(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                             const slc_pet_cuda_singles *to, const slc_pet_sort_head *head, slc_error *error)
{
    slc_pet_sort_radix job = {.from = *from,
                              .to = *to,
                              .n = (uint32_t)(from->part[0].n + from->part[1].n),
                              .differing = head->ones & head->zeros};
    const slc_status status = radix_room(stage, &stage->records, &job, error);
    return status == SLC_OK ? slc_pet_sort_radix_run(&job, error) : status;
}

/* ---- near ---------------------------------------------------------------------------------------------- */

static uint32_t cell_bits_for(uint32_t n)
{
    uint32_t bits = 4;
    while (bits < 26 && (UINT32_C(1) << bits) < n / SLC_PET_SORT_CELL) {
        bits++;
    }
    return bits;
}

static slc_status near_room(slc_pet_sort_cuda *stage, slc_pet_sort_near *job, slc_error *error)
{
    const size_t cells = ((size_t)job->n_cells + 1) * sizeof(uint32_t);
    const size_t buckets = (size_t)job->n / SLC_PET_SORT_BUCKET + 1;
    /* A refined map has up to three times as many cells. */
    const size_t sums = (size_t)slc_pet_sort_scan_sums(4 * job->n_cells) * sizeof(uint32_t);
    slc_status status = reserve(stage, &stage->records, 16 * (size_t)job->n, error);
    status = status == SLC_OK ? reserve(stage, &stage->cells, cells, error) : status;
    status = status == SLC_OK ? reserve(stage, &stage->sums, sums, error) : status;
    status = status == SLC_OK
                 ? reserve(stage, &stage->buckets, buckets * (sizeof(uint64_t) + sizeof(uint32_t)), error)
                 : status;
    job->records = stage->records.at;
    job->cells = stage->cells.at;
    job->sums = stage->sums.at;
    job->low = stage->buckets.at;
    job->cursor = status == SLC_OK ? (uint32_t *)(void *)(job->low + buckets) : NULL;
    return status;
}

static slc_status count_near(slc_pet_sort_cuda *stage, const slc_pet_sort_near *job, slc_pet_sort_head *head,
                             slc_error *error)
{
    slc_status status = slc_cuda_fill(stage->stream, job->cells, 0,
                                      ((size_t)job->n_cells + 1) * sizeof(uint32_t), error);
    status = status == SLC_OK ? slc_pet_sort_near_count(job, error) : status;
    return status == SLC_OK ? read_head(stage, head, error) : status;
}

/* Divides cells that are too full, and counts again. */
static slc_status refine(slc_pet_sort_cuda *stage, slc_pet_sort_near *job, slc_pet_sort_head *head,
                         slc_error *error)
{
    slc_status status = reserve(stage, &stage->map, ((size_t)job->n_cells + 1) * sizeof(uint32_t), error);
    status = status == SLC_OK ? slc_pet_sort_near_refine(job, stage->map.at, error) : status;
    /* What was found about buckets is to be found again. */
    status = status == SLC_OK
                 ? slc_cuda_fill(stage->stream, (char *)stage->head.at + offsetof(slc_pet_sort_head, fullest),
                                 0, 2 * sizeof(uint32_t), error)
                 : status;
    status = status == SLC_OK ? read_head(stage, head, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = reserve(stage, &stage->refined, ((size_t)head->cells + 1) * sizeof(uint32_t), error);
    job->map = stage->map.at;
    job->cells = stage->refined.at;
    job->n_cells = head->cells;
    return status == SLC_OK ? count_near(stage, job, head, error) : status;
}

/* Singles in no order: first into groups, which takes the place of their order of arrival, as it is stable.
 */
static slc_status group(slc_pet_sort_cuda *stage, slc_pet_sort_near *job, slc_pet_sort_head *head,
                        slc_error *error)
{
    slc_pet_sort_radix pass = {.from = job->from, .n = job->n};
    slc_status status = radix_room(stage, &stage->grouped, &pass, error);
    status = status == SLC_OK ? slc_pet_sort_radix_group(&pass, ~head->not_least, head->most, error) : status;
    job->from = (slc_pet_sort_source){.part = {pass.work}};
    job->sums = stage->sums.at;
    job->grouped = true;
    return status == SLC_OK ? count_near(stage, job, head, error) : status;
}

static slc_status sort_near(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                            const slc_pet_cuda_singles *to, slc_error *error)
{
    const uint32_t n = (uint32_t)(from->part[0].n + from->part[1].n);
    slc_pet_sort_near job = {.from = *from,
                             .to = *to,
                             .head = stage->head.at,
                             .n = n,
                             .cell_bits = cell_bits_for(n),
                             .n_cells = UINT32_C(1) << cell_bits_for(n),
                             .multiprocessors = slc_cuda_stream_multiprocessors(stage->stream),
                             .stream = slc_cuda_stream_native(stage->stream)};
    slc_pet_sort_head head;
    slc_status status = near_room(stage, &job, error);
    status = status == SLC_OK ? slc_pet_sort_range(from, job.head, job.multiprocessors, job.stream, error)
                              : status;
    status = status == SLC_OK ? count_near(stage, &job, &head, error) : status;
    if (status == SLC_OK && head.far > SLC_PET_SORT_FAR) {
        status = group(stage, &job, &head, error);
    }
    if (status == SLC_OK && head.fullest > SLC_PET_SORT_MOST) {
        status = refine(stage, &job, &head, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    if (head.fullest > SLC_PET_SORT_MOST) {
        return sort_radix(stage, from, to, &head, error);
    }
    status = slc_pet_sort_near_move(&job, error);
    return status == SLC_OK ? slc_pet_sort_near_finish(&job, head.wide != 0, error) : status;
}

/* ---- the others ---------------------------------------------------------------------------------------- */

static slc_status sort_digits(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                              const slc_pet_cuda_singles *to, slc_error *error)
{
    slc_pet_sort_head head;
    slc_status status = slc_pet_sort_range(from, stage->head.at,
                                           slc_cuda_stream_multiprocessors(stage->stream),
                                           slc_cuda_stream_native(stage->stream), error);
    status = status == SLC_OK ? read_head(stage, &head, error) : status;
    return status == SLC_OK ? sort_radix(stage, from, to, &head, error) : status;
}

static slc_status sort_merge(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                             const slc_pet_cuda_singles *to, slc_error *error)
{
    const uint32_t n = (uint32_t)(from->part[0].n + from->part[1].n);
    const size_t limits = slc_pet_sort_merge_limits(n) * sizeof(uint32_t);
    slc_status status = reserve(stage, &stage->records, 16 * (size_t)n, error);
    status = status == SLC_OK ? reserve(stage, &stage->more, 16 * (size_t)n, error) : status;
    status = status == SLC_OK ? reserve(stage, &stage->sums, limits, error) : status;
    const slc_pet_sort_merge job = {.from = *from,
                                    .to = *to,
                                    .n = n,
                                    .records = {stage->records.at, stage->more.at},
                                    .limits = stage->sums.at,
                                    .stream = slc_cuda_stream_native(stage->stream)};
    return status == SLC_OK ? slc_pet_sort_merge_run(&job, error) : status;
}

static slc_status sort(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                       const slc_pet_cuda_singles *to, slc_error *error)
{
    const slc_status status = slc_cuda_fill(stage->stream, stage->head.at, 0, sizeof(slc_pet_sort_head),
                                            error);
    if (status != SLC_OK) {
        return status;
    }
    switch (stage->method) {
    case SLC_PET_SORT_MERGE_SEED:
        return sort_merge(stage, from, to, error);
    case SLC_PET_SORT_RADIX:
        return sort_digits(stage, from, to, error);
    default:
        return sort_near(stage, from, to, error);
    }
}

slc_status slc_pet_sort_cuda_all(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles,
                                 slc_pet_cuda_singles *sorted, slc_error *error)
{
    if (singles->n >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE, "%llu singles are too many for one sort on a GPU",
                        (unsigned long long)singles->n);
    }
    sorted->n = singles->n;
    if (singles->n == 0) {
        return SLC_OK;
    }
    const slc_status status = slc_cuda_stream_use(stage->stream, error);
    const slc_pet_sort_source from = {.part = {*singles}};
    return status == SLC_OK ? sort(stage, &from, sorted, error) : status;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

static slc_status reserve_rows(slc_pet_sort_cuda *stage, slc_pet_sort_columns *columns, size_t rows,
                               slc_error *error)
{
    if (columns->memory.at != NULL && rows <= columns->capacity) {
        return SLC_OK;
    }
    const size_t capacity = rows + rows / 8 + 1;
    columns->capacity = 0;
    const slc_status status = reserve(stage, &columns->memory, 16 * capacity, error);
    columns->capacity = status == SLC_OK ? capacity : 0;
    return status;
}

static slc_pet_cuda_singles view(const slc_pet_sort_columns *columns, size_t first, size_t n)
{
    if (columns->memory.at == NULL) {
        return (slc_pet_cuda_singles){.n = 0};
    }
    int64_t *time = columns->memory.at;
    uint32_t *crystal = (uint32_t *)(void *)(time + columns->capacity);
    float *energy = (float *)(void *)(crystal + columns->capacity);
    return (slc_pet_cuda_singles){
        .n = n, .time_ps = time + first, .crystal = crystal + first, .energy_kev = energy + first};
}

/* Copies all rows of `from`, where that stream is, to the first ones of `to`. */
static slc_status copy_rows(slc_pet_sort_cuda *stage, const slc_cuda_stream *there,
                            const slc_pet_cuda_singles *from, const slc_pet_cuda_singles *to,
                            slc_error *error)
{
    slc_cuda_stream *stream = stage->stream;
    const size_t n = (size_t)from->n;
    slc_status status = slc_cuda_move_across(stream, to->time_ps, there, from->time_ps,
                                             n * sizeof *to->time_ps, error);
    if (status == SLC_OK) {
        status = slc_cuda_move_across(stream, to->crystal, there, from->crystal, n * sizeof *to->crystal,
                                      error);
    }
    return status == SLC_OK ? slc_cuda_move_across(stream, to->energy_kev, there, from->energy_kev,
                                                   n * sizeof *to->energy_kev, error)
                            : status;
}

/* ---- late ones ----------------------------------------------------------------------------------------- */

/* What is found about the singles of a run. */
typedef struct arrival {
    slc_pet_cuda_singles kept, late;
    int64_t latest;
    uint64_t largest_lag;
} arrival;

/* Finds late ones, and parts them from the others if there are any. */
static slc_status look(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, arrival *found,
                       slc_error *error)
{
    *found = (arrival){.kept = *singles, .latest = stage->latest};
    if (singles->n == 0) {
        return SLC_OK;
    }
    const uint32_t tiles = slc_pet_sort_late_tiles((uint32_t)singles->n);
    const size_t sums = (size_t)slc_pet_sort_scan_sums(tiles) * sizeof(uint32_t);
    slc_status status = reserve(stage, &stage->tiles, tiles * sizeof(int64_t), error);
    status = status == SLC_OK
                 ? reserve(stage, &stage->tile_counts, ((size_t)tiles + 1) * sizeof(uint32_t), error)
                 : status;
    status = status == SLC_OK ? reserve(stage, &stage->sums, sums, error) : status;
    status = status == SLC_OK
                 ? slc_cuda_fill(stage->stream, stage->head.at, 0, sizeof(slc_pet_sort_head), error)
                 : status;
    const slc_pet_sort_late job = {.from = *singles,
                                   .latest = stage->began ? stage->latest : INT64_MIN,
                                   .horizon = (uint64_t)stage->config.horizon_ps,
                                   .head = stage->head.at,
                                   .before = stage->tiles.at,
                                   .counts = stage->tile_counts.at,
                                   .sums = stage->sums.at,
                                   .stream = slc_cuda_stream_native(stage->stream)};
    slc_pet_sort_head head;
    status = status == SLC_OK ? slc_pet_sort_late_find(&job, error) : status;
    status = status == SLC_OK ? read_head(stage, &head, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    found->latest = head.latest;
    found->largest_lag = head.largest_lag;
    if (head.late == 0) {
        return SLC_OK;
    }
    status = reserve_rows(stage, &stage->kept, (size_t)singles->n, error);
    status = status == SLC_OK ? reserve_rows(stage, &stage->late, head.late, error) : status;
    found->kept = view(&stage->kept, 0, (size_t)singles->n - head.late);
    found->late = view(&stage->late, 0, head.late);
    return status == SLC_OK ? slc_pet_sort_late_part(&job, &found->kept, &found->late, error) : status;
}

/* ---- a run --------------------------------------------------------------------------------------------- */

/* The two buffers change places; what is held is in the first rows then. */
static void swap_held(slc_pet_sort_cuda *stage)
{
    const slc_pet_sort_columns held = stage->held;
    stage->held = stage->spare;
    stage->spare = held;
    stage->begin = 0;
}

/* Puts singles behind those held. */
static slc_status append(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, slc_error *error)
{
    const size_t rest = stage->sorted + stage->waiting, all = rest + (size_t)singles->n;
    slc_status status = SLC_OK;
    if (stage->begin + all > stage->held.capacity) {
        status = reserve_rows(stage, &stage->spare, all + all / 2, error);
        const slc_pet_cuda_singles from = view(&stage->held, stage->begin, rest);
        const slc_pet_cuda_singles to = view(&stage->spare, 0, rest);
        status = status == SLC_OK ? copy_rows(stage, stage->stream, &from, &to, error) : status;
        if (status != SLC_OK) {
            return status;
        }
        swap_held(stage);
    }
    const slc_pet_cuda_singles to = view(&stage->held, stage->begin + rest, (size_t)singles->n);
    status = copy_rows(stage, stage->stream, singles, &to, error);
    if (status == SLC_OK) {
        stage->waiting += (size_t)singles->n;
    }
    return status;
}

/* Sorts what is held together with what is new. */
static slc_status merge(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, slc_error *error)
{
    const size_t rest = stage->sorted + stage->waiting, all = rest + (size_t)singles->n;
    if (stage->waiting == 0 && singles->n == 0) {
        return SLC_OK;
    }
    const slc_pet_sort_source from = {.part = {view(&stage->held, stage->begin, rest), *singles}};
    slc_status status = reserve_rows(stage, &stage->spare, all, error);
    const slc_pet_cuda_singles to = view(&stage->spare, 0, all);
    status = status == SLC_OK ? sort(stage, &from, &to, error) : status;
    if (status == SLC_OK) {
        swap_held(stage);
        stage->sorted = all;
        stage->waiting = 0;
    }
    return status;
}

/* How many of those held, all in order, nothing can come before any more. */
static slc_status count_ready(slc_pet_sort_cuda *stage, int64_t latest, bool last, size_t *n,
                              slc_error *error)
{
    const uint64_t horizon = (uint64_t)stage->config.horizon_ps;
    *n = last ? stage->sorted : 0;
    if (last || stage->sorted == 0 || (uint64_t)latest - (uint64_t)INT64_MIN < horizon) {
        return SLC_OK;
    }
    const slc_pet_cuda_singles held = view(&stage->held, stage->begin, stage->sorted);
    slc_pet_sort_head head;
    slc_status status = slc_pet_sort_below(held.time_ps, (uint32_t)held.n,
                                           (int64_t)((uint64_t)latest - horizon), stage->head.at,
                                           slc_cuda_stream_native(stage->stream), error);
    status = status == SLC_OK ? read_head(stage, &head, error) : status;
    if (status == SLC_OK) {
        *n = head.below;
    }
    return status;
}

/* After all has gone well. */
static void count(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, const arrival *found,
                  size_t given, bool last)
{
    stage->began = !last && (stage->began || singles->n > 0);
    stage->latest = found->latest;
    stage->largest_lag = found->largest_lag > stage->largest_lag ? found->largest_lag : stage->largest_lag;
    stage->begin += given;
    stage->sorted -= given;
    stage->counts.taken += singles->n;
    stage->counts.given += given;
    stage->counts.late += found->late.n;
    stage->counts.held = stage->sorted + stage->waiting;
    stage->counts.largest_lag_ps = stage->largest_lag > INT64_MAX ? INT64_MAX : (int64_t)stage->largest_lag;
}

slc_status slc_pet_sort_cuda_run(slc_pet_sort_cuda *stage, const slc_pet_cuda_singles *singles, bool last,
                                 slc_pet_cuda_singles *sorted, slc_pet_cuda_singles *late, slc_error *error)
{
    *sorted = (slc_pet_cuda_singles){.n = 0};
    if (!stage->began) {
        stage->counts = (slc_pet_sort_counts){0};
        stage->largest_lag = 0;
        stage->begin = stage->sorted = stage->waiting = 0;
    }
    const size_t rest = stage->sorted + stage->waiting;
    if (singles->n >= UINT32_MAX || rest + singles->n >= UINT32_MAX) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %llu singles to be sorted",
                        (unsigned long long)(rest + singles->n));
    }
    arrival found;
    size_t given = 0;
    slc_status status = slc_cuda_stream_use(stage->stream, error);
    status = status == SLC_OK ? look(stage, singles, &found, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (last || (stage->waiting + found.kept.n) * FEW >= stage->sorted) {
        status = merge(stage, &found.kept, error);
        status = status == SLC_OK ? count_ready(stage, found.latest, last, &given, error) : status;
    } else {
        status = append(stage, &found.kept, error);
    }
    /* What was given may be changed by the caller when this returns. */
    status = status == SLC_OK ? slc_cuda_stream_wait(stage->stream, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    *sorted = view(&stage->held, stage->begin, given);
    if (late != NULL) {
        *late = found.late;
    }
    count(stage, singles, &found, given, last);
    return SLC_OK;
}

slc_status slc_pet_sort_cuda_take(slc_pet_sort_cuda *stage, const slc_pet_sort_cuda *other, slc_error *error)
{
    const size_t n = other->began ? other->sorted + other->waiting : 0;
    const slc_status status = reserve_rows(stage, &stage->held, n, error);
    if (status != SLC_OK) {
        return status;
    }
    const slc_pet_cuda_singles from = view(&other->held, other->begin, n), to = view(&stage->held, 0, n);
    stage->begin = 0;
    stage->sorted = other->sorted;
    stage->waiting = other->waiting;
    stage->began = other->began;
    stage->latest = other->latest;
    stage->largest_lag = other->largest_lag;
    stage->counts = other->counts;
    return copy_rows(stage, other->stream, &from, &to, error);
}

void slc_pet_sort_cuda_counts_of(const slc_pet_sort_cuda *stage, slc_pet_sort_counts *counts)
{
    *counts = stage->counts;
}
