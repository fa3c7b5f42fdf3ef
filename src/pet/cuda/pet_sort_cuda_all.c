/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles on a GPU into time order, all at once, by one of three methods. `near` looks at the times first,
 * and waits for what was found: whether there is an order to make use of, whether cells are so full that they
 * must be divided again, and whether times of a bucket need more than 32 bits. Where even divided cells are
 * too full, as for a million equal times, the digits of the times are sorted by instead.
 */
#include "pet/cuda/pet_sort_cuda_job.h"

static const char what[] = "a sort of singles";

slc_status slc_pet_sort_cuda_reserve(slc_pet_sort_cuda *stage, slc_cuda_memory *memory, size_t bytes,
                                     slc_error *error)
{
    const bool more = memory->at != NULL && bytes > memory->size;
    return slc_cuda_memory_reserve(stage->stream, memory, more ? bytes + bytes / 8 : bytes, what, error);
}

slc_status slc_pet_sort_cuda_head(slc_pet_sort_cuda *stage, slc_pet_sort_head *head, slc_error *error)
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
    slc_status status = slc_pet_sort_cuda_reserve(stage, work, 16 * (size_t)job->n, error);
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->more, counts, error) : status;
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->sums, sums, error) : status;
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
    slc_status status = slc_pet_sort_cuda_reserve(stage, &stage->records, 16 * (size_t)job->n, error);
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->cells, cells, error) : status;
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->sums, sums, error) : status;
    status = status == SLC_OK
                 ? slc_pet_sort_cuda_reserve(stage, &stage->buckets,
                                             buckets * (sizeof(uint64_t) + sizeof(uint32_t)), error)
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
    return status == SLC_OK ? slc_pet_sort_cuda_head(stage, head, error) : status;
}

/* Divides cells that are too full, and counts again. */
static slc_status refine(slc_pet_sort_cuda *stage, slc_pet_sort_near *job, slc_pet_sort_head *head,
                         slc_error *error)
{
    slc_status status = slc_pet_sort_cuda_reserve(stage, &stage->map,
                                                  ((size_t)job->n_cells + 1) * sizeof(uint32_t), error);
    status = status == SLC_OK ? slc_pet_sort_near_refine(job, stage->map.at, error) : status;
    /* What was found about buckets is to be found again. */
    status = status == SLC_OK
                 ? slc_cuda_fill(stage->stream, (char *)stage->head.at + offsetof(slc_pet_sort_head, fullest),
                                 0, 2 * sizeof(uint32_t), error)
                 : status;
    status = status == SLC_OK ? slc_pet_sort_cuda_head(stage, head, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    status = slc_pet_sort_cuda_reserve(stage, &stage->refined, ((size_t)head->cells + 1) * sizeof(uint32_t),
                                       error);
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
    status = status == SLC_OK ? slc_pet_sort_cuda_head(stage, &head, error) : status;
    return status == SLC_OK ? sort_radix(stage, from, to, &head, error) : status;
}

static slc_status sort_merge(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                             const slc_pet_cuda_singles *to, slc_error *error)
{
    const uint32_t n = (uint32_t)(from->part[0].n + from->part[1].n);
    const size_t limits = slc_pet_sort_merge_limits(n) * sizeof(uint32_t);
    slc_status status = slc_pet_sort_cuda_reserve(stage, &stage->records, 16 * (size_t)n, error);
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->more, 16 * (size_t)n, error)
                              : status;
    status = status == SLC_OK ? slc_pet_sort_cuda_reserve(stage, &stage->sums, limits, error) : status;
    const slc_pet_sort_merge job = {.from = *from,
                                    .to = *to,
                                    .n = n,
                                    .records = {stage->records.at, stage->more.at},
                                    .limits = stage->sums.at,
                                    .stream = slc_cuda_stream_native(stage->stream)};
    return status == SLC_OK ? slc_pet_sort_merge_run(&job, error) : status;
}

slc_status slc_pet_sort_cuda_sort(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
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
    return status == SLC_OK ? slc_pet_sort_cuda_sort(stage, &from, sorted, error) : status;
}
