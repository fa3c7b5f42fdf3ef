/* SPDX-License-Identifier: Apache-2.0
 * What waits from one call to the next, and a stage on another GPU that goes on with it. */
#include "pet/cuda/pet_coincidence_cuda_part.h"

slc_status slc_pet_cuda_reserve_wait(slc_pet_coincidence_cuda *stage, int which, size_t n,
                                     slc_pet_cuda_store *store, slc_error *error)
{
    if (n > stage->wait_capacity[which]) {
        const size_t room = n + n / 4 + 1024;
        const slc_status status = slc_cuda_memory_reserve(stage->stream, &stage->wait[which],
                                                          slc_pet_cuda_lay_store(NULL, room, store),
                                                          "singles that wait", error);
        stage->wait_capacity[which] = status == SLC_OK ? room : 0;
        if (status != SLC_OK) {
            return status;
        }
    }
    (void)slc_pet_cuda_lay_store(stage->wait[which].at, stage->wait_capacity[which], store);
    return SLC_OK;
}

static slc_status copy_waiting(slc_pet_coincidence_cuda *stage, const slc_pet_coincidence_cuda *other,
                               slc_error *error)
{
    const size_t n = other->n_wait;
    const slc_cuda_stream *there = other->stream;
    slc_pet_cuda_store to, from;
    slc_status status = slc_pet_cuda_reserve_wait(stage, stage->waiting, n, &to, error);
    if (status != SLC_OK) {
        return status;
    }
    (void)slc_pet_cuda_lay_store(other->wait[other->waiting].at, other->wait_capacity[other->waiting], &from);
    status = slc_cuda_move_across(stage->stream, to.time, there, from.time, n * sizeof(int64_t), error);
    if (status == SLC_OK) {
        status = slc_cuda_move_across(stage->stream, to.crystal, there, from.crystal, n * sizeof(uint32_t),
                                      error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_move_across(stage->stream, to.energy, there, from.energy, n * sizeof(float), error);
    }
    return status == SLC_OK ? slc_cuda_move_across(stage->stream, to.opener, there, from.opener, n, error)
                            : status;
}

slc_status slc_pet_coincidence_cuda_take(slc_pet_coincidence_cuda *stage,
                                         const slc_pet_coincidence_cuda *other, slc_error *error)
{
    const slc_status status = other->n_wait > 0 ? copy_waiting(stage, other, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    stage->n_wait = other->n_wait;
    stage->general = other->general;
    stage->began = other->began;
    stage->is_f64 = other->is_f64;
    stage->taken = other->taken;
    stage->took_part = other->took_part;
    stage->newest = other->newest;
    stage->counts = other->counts;
    return SLC_OK;
}
