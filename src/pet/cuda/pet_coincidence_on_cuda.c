/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU for singles and rows of the host: a stream of its own, the singles of a call to the
 * device, the rows behind those that the caller has.
 */
#include "pet/cuda/pet_chain_cuda.h"

#include "base/columns.h"
#include "cuda/cuda_rows.h"
#include "pet/cuda/pet_cuda.h"

#include <stdlib.h>
#include <string.h>

struct slc_pet_on {
    slc_cuda_stream *stream;
    slc_cuda_rows *copies;
    slc_pet_coincidence_cuda *stage;
    slc_cuda_memory time, crystal, energy;
    bool delayed;
};

slc_status slc_pet_on_open(const slc_pet_coincidence_config *config, uint32_t device, slc_pet_on **out,
                           slc_error *error)
{
    *out = NULL;
    slc_pet_on *on = calloc(1, sizeof *on);
    if (on == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a stage of coincidences");
    }
    on->delayed = config->offset_ns > 0;
    slc_status status = slc_cuda_stream_open(device, &on->stream, error);
    if (status == SLC_OK) {
        status = slc_cuda_rows_open(on->stream, 4, &on->copies, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_open(config, on->stream, &on->stage, error);
    }
    if (status != SLC_OK) {
        slc_pet_on_close(on);
        return status;
    }
    *out = on;
    return SLC_OK;
}

void slc_pet_on_close(slc_pet_on *on)
{
    if (on == NULL) {
        return;
    }
    slc_pet_coincidence_cuda_close(on->stage);
    slc_cuda_memory_clear(&on->time);
    slc_cuda_memory_clear(&on->crystal);
    slc_cuda_memory_clear(&on->energy);
    slc_cuda_rows_close(on->copies);
    slc_cuda_stream_close(on->stream);
    free(on);
}

void slc_pet_on_counts_of(const slc_pet_on *on, slc_pet_coincidence_counts *counts)
{
    slc_pet_coincidence_cuda_counts_of(on->stage, counts);
}

/* ---- singles to the device --------------------------------------------------------------------- */

static slc_status put(slc_pet_on *on, slc_cuda_memory *to, const void *from, size_t bytes, slc_error *error)
{
    const slc_status status = slc_cuda_memory_reserve(on->stream, to, bytes, "singles", error);
    return status == SLC_OK && bytes > 0 ? slc_cuda_send(on->copies, to->at, from, bytes, error) : status;
}

static slc_status put_singles(slc_pet_on *on, const slc_pet_on_input *in, slc_pet_cuda_singles *singles,
                              slc_error *error)
{
    slc_status status = put(on, &on->time, in->time, in->n * sizeof(int64_t), error);
    if (status == SLC_OK) {
        status = put(on, &on->crystal, in->crystal, in->n * sizeof *in->crystal, error);
    }
    if (status == SLC_OK) {
        status = put(on, &on->energy, in->energy, in->n * sizeof *in->energy, error);
    }
    *singles = (slc_pet_cuda_singles){
        .n = in->n, .time_ps = on->time.at, .crystal = on->crystal.at, .energy_kev = on->energy.at};
    return status;
}

/* ---- rows from it ------------------------------------------------------------------------------ */

/* n elements behind `rows` that are there. */
static slc_status get(slc_pet_on *on, void *column, size_t rows, const void *from, size_t n, size_t bytes,
                      slc_error *error)
{
    return slc_cuda_fetch(on->copies, (char *)column + rows * bytes, from, n * bytes, error);
}

static slc_status no_room(slc_error *error, uint64_t n)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for %llu coincidences", (unsigned long long)n);
}

/* Room for so many rows more; it grows by more than that, as calls are many. */
static slc_status grow(const slc_schema *schema, void *columns, uint64_t n, slc_error *error)
{
    const slc_columns *head = columns;
    const uint64_t most = UINT32_MAX, wanted = head->size + n, more = wanted + wanted / 2;
    if (wanted <= head->capacity && head->capacity > 0) {
        return SLC_OK;
    }
    return wanted <= most &&
                   slc_columns_reserve(schema, columns, (size_t)(more < most ? more : most), 1) == SLC_OK
               ? SLC_OK
               : no_room(error, n);
}

static slc_status get_groups(slc_pet_on *on, const slc_pet_cuda_groups *from, slc_pet_groups *to,
                             slc_error *error)
{
    const size_t at = to->head.size, n = (size_t)from->n;
    slc_status status = grow(&slc_pet_groups_schema, to, n, error);
    if (status == SLC_OK) {
        status = get(on, to->first, at, from->first, n, sizeof *to->first, error);
    }
    if (status == SLC_OK) {
        status = get(on, to->second, at, from->second, n, sizeof *to->second, error);
    }
    return status == SLC_OK ? get(on, to->size, at, from->size, n, sizeof *to->size, error) : status;
}

static slc_status get_pairs(slc_pet_on *on, const slc_pet_cuda_pairs *from, slc_pet_coincidences *to,
                            slc_error *error)
{
    const size_t at = to->head.size, n = (size_t)from->n;
    slc_status status = grow(&slc_pet_coincidences_schema, to, n, error);
    if (status != SLC_OK) {
        return status;
    }
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } columns[] = {{to->time_ps, from->time_ps, sizeof *to->time_ps},
                   {to->dt_ps, from->dt_ps, sizeof *to->dt_ps},
                   {to->crystal1, from->crystal1, sizeof *to->crystal1},
                   {to->crystal2, from->crystal2, sizeof *to->crystal2},
                   {to->energy1_kev, from->energy1_kev, sizeof *to->energy1_kev},
                   {to->energy2_kev, from->energy2_kev, sizeof *to->energy2_kev}};
    for (size_t c = 0; c < sizeof columns / sizeof *columns && status == SLC_OK; c++) {
        status = get(on, columns[c].to, at, columns[c].from, n, columns[c].bytes, error);
    }
    memset(to->delayed + at, on->delayed, n);
    return status;
}

/* ---- a call ------------------------------------------------------------------------------------ */

static slc_status fetch(slc_pet_on *on, const slc_pet_cuda_groups *found, slc_pet_groups *groups,
                        const slc_pet_cuda_pairs *found_pairs, slc_pet_coincidences *pairs, slc_error *error)
{
    const uint64_t n = groups != NULL ? found->n : found_pairs->n;
    if (n == 0) {
        return SLC_OK;
    }
    const slc_status status = groups != NULL ? get_groups(on, found, groups, error)
                                             : get_pairs(on, found_pairs, pairs, error);
    slc_error waited = {SLC_OK, ""};
    const slc_status finished = slc_cuda_rows_finish(on->copies, status == SLC_OK ? error : &waited);
    if (status == SLC_OK && finished == SLC_OK) {
        slc_columns *head = groups != NULL ? &groups->head : &pairs->head;
        head->size += (size_t)n;
    }
    return status == SLC_OK ? finished : status;
}

slc_status slc_pet_on_run(slc_pet_on *on, const slc_pet_on_input *in, bool last, slc_pet_groups *groups,
                          slc_pet_coincidences *pairs, slc_error *error)
{
    slc_pet_cuda_singles singles;
    slc_pet_cuda_groups found = {0};
    slc_pet_cuda_pairs found_pairs = {0};
    slc_status status = slc_cuda_stream_use(on->stream, error);
    status = status == SLC_OK ? put_singles(on, in, &singles, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (groups == NULL) {
        status = slc_pet_coincidence_cuda_run_pairs(on->stage, &singles, last, &found_pairs, error);
    } else if (in->is_f64) {
        status = slc_pet_coincidence_cuda_run_f64(on->stage, &singles, on->time.at, last, &found, error);
    } else {
        status = slc_pet_coincidence_cuda_run(on->stage, &singles, last, &found, error);
    }
    return status == SLC_OK ? fetch(on, &found, groups, &found_pairs, pairs, error) : status;
}

const struct slc_pet_on_calls slc_pet_on_calls = {slc_pet_on_open, slc_pet_on_close, slc_pet_on_run,
                                                  slc_pet_on_counts_of};
