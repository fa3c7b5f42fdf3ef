/* SPDX-License-Identifier: Apache-2.0
 *
 * HA4 (image_ha4.cuh) with the two ways of section 4.4 of A. Hennequin's thesis (2022) against conflicts:
 * features that move while labels are merged (HA+OTF, image_otf.cuh), and conflict detection among the
 * segments that a warp sees, which are those of 64 pixels of a row (HA+CD, image_vote.cuh). Two loads a
 * thread make the mask, which section 4.3.5 found to be the faster form in most steps.
 *
 * Otherwise than in the thesis: HA4 takes a run over more than 64 pixels for one tree. Its later segments are
 * below another label from the beginning, so they add what they have to the root of that instead of having a
 * slot of their own.
 */
#include "image/cuda/image_ha4.cuh"
#include "image/cuda/image_otf.cuh"
#include "image/cuda/image_vote.cuh"

namespace
{

/* Segments of 64 pixels: where columns are below this, those of a warp's pixels add up to less than 2^32. */
enum { NARROW_WIDTH = 1U << 26 };

/* A forest whose labels have sums. */
struct otf_forest {
    uint32_t *table;
    slc_image_cuda_sums sums;
    __device__ __forceinline__ void node(uint32_t key, uint32_t parent, uint32_t x, uint32_t y,
                                         uint32_t count) const
    {
        const slc_image_part part = slc_image_part_of(x, y, count);
        table[key] = parent;
        if (parent == key) {
            otf_begin(sums, key, part);
        } else {
            otf_add(table, sums, parent, part);
        }
    }
    __device__ __forceinline__ void alias(uint32_t key, uint32_t parent) const
    {
        table[key] = parent;
    }
    __device__ __forceinline__ void unite(uint32_t a, uint32_t b) const
    {
        otf_unite(table, sums, a, b);
    }
};

template <bool NARROW> struct detecting_vote {
    slc_image_cuda_sums sums;
    __device__ __forceinline__ void operator()(bool here, uint32_t root, const slc_image_part &part) const
    {
        const uint32_t mask = __ballot_sync(~0U, here);
        if (here) {
            vote<VOTE_DETECT, NARROW>(sums, mask, root, part);
        }
    }
};

slc_status add_detecting(const slc_image_cuda_job *job, const slc_image_cuda_numbers &numbers,
                         slc_error *error)
{
    if (job->width <= NARROW_WIDTH) {
        const detecting_vote<true> add = {numbers.sums};
        return launch_features<SLC_HA4_LOADS>(job, numbers.table, add, error);
    }
    const detecting_vote<false> add = {numbers.sums};
    return launch_features<SLC_HA4_LOADS>(job, numbers.table, add, error);
}

/* Features alone; where there are none to be made, components are counted. */
slc_status run(const slc_image_cuda_job *job, bool otf, slc_error *error)
{
    const slc_image_cuda_numbers numbers = slc_image_cuda_numbers_place(job);
    slc_status status = SLC_OK;
    if (otf && job->has_features) {
        const otf_forest forest = {numbers.table, numbers.sums};
        status = launch_forest<SLC_HA4_LOADS>(job, forest, error);
    } else {
        const slc_ha4_forest forest = {numbers.table};
        status = launch_forest<SLC_HA4_LOADS>(job, forest, error);
    }
    if (status == SLC_OK) {
        status = slc_image_cuda_numbers_run(job, &numbers, !otf, error);
    }
    if (status == SLC_OK && job->has_features && !otf) {
        status = add_detecting(job, numbers, error);
    }
    return status == SLC_OK && job->has_features ? slc_image_cuda_numbers_gather(job, &numbers, error)
                                                 : status;
}

} // namespace

extern "C" size_t slc_image_cuda_ha_otf_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}
extern "C" slc_status slc_image_cuda_ha_otf_launch(const slc_image_cuda_job *job, slc_error *error)
{
    return run(job, true, error);
}

extern "C" size_t slc_image_cuda_ha_cd_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}
extern "C" slc_status slc_image_cuda_ha_cd_launch(const slc_image_cuda_job *job, slc_error *error)
{
    return run(job, false, error);
}
