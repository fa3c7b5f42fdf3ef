/* SPDX-License-Identifier: Apache-2.0
 * Coincidences on a GPU, for tests. */
#include "support/pet_gpu.h"

#include "base/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_stream *stream;
static slc_cuda_memory times, crystals, energies;

bool pet_gpu_open(void)
{
    slc_error error = {SLC_OK, ""};
    if (slc_cuda_devices(&error) == 0 || slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        printf("skipped: %s\n", error.text);
        return false;
    }
    return true;
}

int pet_gpu_close(void **state)
{
    (void)state;
    slc_cuda_memory_clear(&times);
    slc_cuda_memory_clear(&crystals);
    slc_cuda_memory_clear(&energies);
    slc_cuda_stream_close(stream);
    return 0;
}

slc_cuda_stream *pet_gpu_stream(void)
{
    return stream;
}

static void done(slc_status status, const slc_error *error)
{
    if (status != SLC_OK) {
        fail_msg("%s", error->text);
    }
}

static void *put(slc_cuda_memory *to, const void *from, size_t bytes)
{
    slc_error error = {SLC_OK, ""};
#ifdef SLUICE_SIMT
    slc_cuda_memory_clear(to); /* what is read behind it is found */
#endif
    done(slc_cuda_memory_reserve(stream, to, bytes, "a column", &error), &error);
    done(slc_cuda_to_device(stream, to->at, from, bytes, &error), &error);
    return to->at;
}

/* A column of so many rows behind those that are there. */
static void get(void *to, size_t rows, const void *device, size_t n, size_t bytes)
{
    slc_error error = {SLC_OK, ""};
    done(slc_cuda_to_host(stream, (char *)to + rows * bytes, device, n * bytes, &error), &error);
}

static void get_groups(const slc_pet_cuda_groups *from, slc_pet_groups *to)
{
    const size_t at = to->head.size, n = (size_t)from->n;
    assert_int_equal(slc_columns_reserve(&slc_pet_groups_schema, to, at + n, 1), SLC_OK);
    get(to->first, at, from->first, n, sizeof *to->first);
    get(to->second, at, from->second, n, sizeof *to->second);
    get(to->size, at, from->size, n, sizeof *to->size);
    to->head.size += n;
}

static void get_pairs(const slc_pet_cuda_pairs *from, bool delayed, slc_pet_coincidences *to)
{
    const size_t at = to->head.size, n = (size_t)from->n;
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, to, at + n, 1), SLC_OK);
    get(to->time_ps, at, from->time_ps, n, sizeof *to->time_ps);
    get(to->dt_ps, at, from->dt_ps, n, sizeof *to->dt_ps);
    get(to->crystal1, at, from->crystal1, n, sizeof *to->crystal1);
    get(to->crystal2, at, from->crystal2, n, sizeof *to->crystal2);
    get(to->energy1_kev, at, from->energy1_kev, n, sizeof *to->energy1_kev);
    get(to->energy2_kev, at, from->energy2_kev, n, sizeof *to->energy2_kev);
    for (size_t i = 0; i < n; i++) {
        to->delayed[at + i] = delayed;
    }
    to->head.size += n;
}

slc_status pet_gpu_run(slc_pet_coincidence_cuda *stage, const pet_gpu_input *in, size_t at, size_t n,
                       pet_gpu_kind kind, bool last, bool delayed, pet_cases_rows *rows, slc_error *error)
{
    const void *host = kind == PET_GPU_F64 ? (const void *)(in->time_ns + at) : in->time_ps + at;
    void *time = put(&times, host, n * sizeof(int64_t));
    const slc_pet_cuda_singles singles = {
        .n = n,
        .time_ps = time,
        .crystal = put(&crystals, in->crystal + at, n * sizeof *in->crystal),
        .energy_kev = put(&energies, in->energy + at, n * sizeof *in->energy)};
    slc_pet_cuda_groups groups = {0};
    slc_pet_cuda_pairs pairs = {0};
    slc_status status;
    if (kind == PET_GPU_PAIRS) {
        status = slc_pet_coincidence_cuda_run_pairs(stage, &singles, last, &pairs, error);
    } else if (kind == PET_GPU_F64) {
        status = slc_pet_coincidence_cuda_run_f64(stage, &singles, time, last, &groups, error);
    } else {
        status = slc_pet_coincidence_cuda_run(stage, &singles, last, &groups, error);
    }
    if (status == SLC_OK && groups.n > 0) {
        get_groups(&groups, &rows->groups);
    }
    if (status == SLC_OK && pairs.n > 0) {
        get_pairs(&pairs, delayed, &rows->pairs);
    }
    slc_pet_coincidence_cuda_counts_of(stage, &rows->counts);
    slc_error waited = {SLC_OK, ""};
    done(slc_cuda_stream_wait(stream, &waited), &waited);
    return status;
}
