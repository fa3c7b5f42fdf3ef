/* SPDX-License-Identifier: Apache-2.0
 *
 * What the chain has on one GPU: streams, stages, room for two pieces on their way in and two on their way
 * out; and how it goes on on another.
 */
#include "pet/cuda/pet_chain_cuda_part.h"

#include <string.h>

enum { SLOTS = SLC_PET_CUDA_SLOTS, COPY_THREADS = 4 };

static slc_status open_slots(slc_pet_cuda_lane *lane, slc_error *error)
{
    slc_status status = SLC_OK;
    for (int i = 0; i < SLOTS && status == SLC_OK; i++) {
        status = slc_cuda_event_open(lane->up, &lane->input[i].arrived, error);
        if (status == SLC_OK) {
            status = slc_cuda_event_open(lane->compute, &lane->output[i].packed, error);
        }
        if (status == SLC_OK) {
            status = slc_cuda_event_open(lane->down, &lane->output[i].landed, error);
        }
    }
    return status;
}

static slc_status open_streams(slc_pet_cuda_lane *lane, uint32_t device, slc_error *error)
{
    slc_status status = slc_cuda_stream_open(device, &lane->up, error);
    status = status == SLC_OK ? slc_cuda_stream_open(device, &lane->compute, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_open(device, &lane->down, error) : status;
    status = status == SLC_OK ? slc_cuda_rows_open(lane->up, COPY_THREADS, &lane->copies, error) : status;
    status = status == SLC_OK ? open_slots(lane, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(lane->compute, &lane->sum, sizeof(unsigned long long), "a checksum",
                                         error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_fill(lane->compute, lane->sum.at, 0, sizeof(unsigned long long), error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_pinned_reserve(lane->compute, &lane->sum_host, sizeof(unsigned long long),
                                         "a checksum", error);
    }
    if (status == SLC_OK) {
        *(unsigned long long *)lane->sum_host.at = 0;
    }
    return status;
}

static slc_status open_stages(slc_pet_cuda_lane *lane, const slc_pet_config *c, const slc_pet_tables *tables,
                              slc_error *error)
{
    slc_status status = slc_pet_convert_cuda_open(&c->convert, tables, lane->compute, &lane->convert, error);
    if (status == SLC_OK) {
        status = slc_pet_sort_cuda_open(&c->sort, SLC_PET_SORT_NEAR, lane->compute, &lane->sort, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_open(&c->prompt, lane->compute, &lane->prompt, error);
    }
    if (status == SLC_OK && c->delayed) {
        slc_pet_coincidence_config delayed = c->prompt;
        delayed.offset_ns = c->delay_ns;
        status = slc_pet_coincidence_cuda_open(&delayed, lane->compute, &lane->delayed, error);
    }
    return status;
}

slc_status slc_pet_cuda_lane_open(const slc_pet_config *config, const slc_pet_tables *tables, uint32_t device,
                                  slc_pet_cuda_lane *lane, slc_error *error)
{
    *lane = (slc_pet_cuda_lane){.up = NULL};
    const slc_status status = open_streams(lane, device, error);
    return status == SLC_OK ? open_stages(lane, config, tables, error) : status;
}

void slc_pet_cuda_lane_close(slc_pet_cuda_lane *lane)
{
    if (lane->up != NULL) {
        (void)slc_cuda_stream_use(lane->up, NULL);
    }
    slc_cuda_rows_close(lane->copies);
    slc_pet_convert_cuda_close(lane->convert);
    slc_pet_sort_cuda_close(lane->sort);
    slc_pet_coincidence_cuda_close(lane->prompt);
    slc_pet_coincidence_cuda_close(lane->delayed);
    for (int i = 0; i < SLOTS; i++) {
        slc_cuda_event_close(lane->input[i].arrived);
        slc_cuda_event_close(lane->output[i].packed);
        slc_cuda_event_close(lane->output[i].landed);
        slc_cuda_memory_clear(&lane->input[i].memory);
        slc_cuda_memory_clear(&lane->output[i].device);
        slc_cuda_memory_clear(&lane->output[i].host);
    }
    slc_cuda_memory_clear(&lane->sum);
    slc_cuda_memory_clear(&lane->sum_host);
    slc_cuda_stream_close(lane->up);
    slc_cuda_stream_close(lane->compute);
    slc_cuda_stream_close(lane->down);
}

slc_status slc_pet_cuda_lane_take(slc_pet_cuda_lane *to, slc_pet_cuda_lane *from, slc_error *error)
{
    slc_status status = slc_cuda_stream_wait(from->compute, error);
    status = status == SLC_OK ? slc_cuda_stream_use(to->compute, error) : status;
    status = status == SLC_OK ? slc_pet_convert_cuda_take(to->convert, from->convert, error) : status;
    status = status == SLC_OK ? slc_pet_sort_cuda_take(to->sort, from->sort, error) : status;
    status = status == SLC_OK ? slc_pet_coincidence_cuda_take(to->prompt, from->prompt, error) : status;
    if (status == SLC_OK && to->delayed != NULL) {
        status = slc_pet_coincidence_cuda_take(to->delayed, from->delayed, error);
    }
    /* What was copied may be written to as soon as the other goes on. */
    const slc_status waited = slc_cuda_stream_wait(to->compute, status == SLC_OK ? error : NULL);
    return status == SLC_OK ? waited : status;
}

void slc_pet_cuda_lane_wait(const slc_pet_cuda_lane *lane)
{
    (void)slc_cuda_stream_wait(lane->up, NULL);
    (void)slc_cuda_stream_wait(lane->compute, NULL);
    (void)slc_cuda_stream_wait(lane->down, NULL);
}
