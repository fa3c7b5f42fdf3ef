/* SPDX-License-Identifier: Apache-2.0
 *
 * HA4 (image_ha4.cuh): labels and features in the three layouts of section 4.3.5. The last step of labelling
 * is algorithm 10: the start of a segment finds its root and tells the segment's other pixels by a shuffle.
 * There the thesis writes the root's address into the table, which is the label image; here the label goes
 * into the job's label image, which nothing reads before (image_cuda_number.h).
 */
#include "image/cuda/image_ha4.cuh"

namespace
{

template <int LAYOUT>
__global__ void __launch_bounds__(SLC_HA4_WARP *SLC_HA4_ROWS)
    relabel(const slc_image_picture p, const uint32_t *table, const slc_image_labels_out out)
{
    enum { PIXELS = slc_ha4<LAYOUT>::PIXELS };
    const uint32_t x0 = blockIdx.x * slc_ha4<LAYOUT>::WIDE, lane = threadIdx.x;
    if (!slc_image_labels_fit(out)) {
        return;
    }
    for (uint32_t image = blockIdx.z; image < p.images; image += gridDim.z) {
        for (uint32_t y = blockIdx.y * SLC_HA4_ROWS + threadIdx.y; y < p.height;
             y += gridDim.y * SLC_HA4_ROWS) {
            const auto mask = mask_of<LAYOUT>(p, slc_image_row(p, image, y), x0);
            const uint32_t at = column<LAYOUT>(mask), key = slc_image_key(p, image, y) + x0 + at;
            uint32_t *labels = slc_image_label_row(out, image, y), label = 0, mine[PIXELS];
            if (slc_image_bit(mask, at) && slc_image_start_distance(mask, at) == 0) {
                label = slc_image_label_of(out, image, slc_image_find(table, key));
            }
            for (uint32_t i = 0; i < PIXELS; i++) {
                const uint32_t pixel = LAYOUT == SLC_HA4_SHIFTS ? 2 * lane + i : lane + SLC_HA4_WARP * i;
                const uint32_t start = pixel - slc_image_start_distance(mask, pixel);
                const uint32_t told = __shfl_sync(~0U, label, static_cast<int>(start / PIXELS));
                mine[i] = slc_image_bit(mask, pixel) ? told : 0;
                if (LAYOUT != SLC_HA4_SHIFTS && x0 + pixel < p.width) {
                    labels[x0 + pixel] = mine[i];
                }
            }
            const uint32_t x = x0 + 2 * lane;
            if (LAYOUT != SLC_HA4_SHIFTS || x >= p.width) {
                continue;
            }
            if (x + 1 < p.width && (reinterpret_cast<uintptr_t>(labels) & 7U) == 0) {
                *reinterpret_cast<uint2 *>(labels + x) = make_uint2(mine[0], mine[PIXELS - 1]);
            } else {
                labels[x] = mine[0];
                if (x + 1 < p.width) {
                    labels[x + 1] = mine[PIXELS - 1];
                }
            }
        }
    }
}

template <int LAYOUT> slc_status run(const slc_image_cuda_job *job, slc_error *error)
{
    const slc_image_cuda_numbers numbers = slc_image_cuda_numbers_place(job);
    const slc_ha4_forest forest = {numbers.table};
    slc_status status = launch_forest<LAYOUT>(job, forest, error);
    if (status == SLC_OK) {
        status = slc_image_cuda_numbers_run(job, &numbers, true, error);
    }
    if (status == SLC_OK && job->labels != nullptr) {
        SLC_LAUNCH((relabel<LAYOUT>), slc_image_cover(job, slc_ha4<LAYOUT>::WIDE, SLC_HA4_ROWS),
                   dim3(SLC_HA4_WARP, SLC_HA4_ROWS), 0, job->stream, slc_image_picture_of(job), numbers.table,
                   slc_image_labels_out_of(job, &numbers));
        status = slc_cuda_check(cudaGetLastError(), "launching HA4's relabelling", error);
    }
    if (status == SLC_OK && job->has_features) {
        const slc_ha4_vote vote = {numbers.sums};
        status = launch_features<LAYOUT>(job, numbers.table, vote, error);
    }
    return status == SLC_OK && job->has_features ? slc_image_cuda_numbers_gather(job, &numbers, error)
                                                 : status;
}

} // namespace

extern "C" size_t slc_image_cuda_ha4_32_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}
extern "C" slc_status slc_image_cuda_ha4_32_launch(const slc_image_cuda_job *job, slc_error *error)
{
    return run<SLC_HA4_32>(job, error);
}

extern "C" size_t slc_image_cuda_ha4_64_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}
extern "C" slc_status slc_image_cuda_ha4_64_launch(const slc_image_cuda_job *job, slc_error *error)
{
    return run<SLC_HA4_SHIFTS>(job, error);
}

extern "C" size_t slc_image_cuda_ha4_64_load_bound(const slc_image_cuda_job *job)
{
    return slc_image_cuda_numbers_bound(job);
}
extern "C" slc_status slc_image_cuda_ha4_64_load_launch(const slc_image_cuda_job *job, slc_error *error)
{
    return run<SLC_HA4_LOADS>(job, error);
}
