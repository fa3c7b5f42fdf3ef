/* SPDX-License-Identifier: Apache-2.0
 * Features that the algorithms of labelling do not make: columns are set to zero, the label image is added up
 * (image_cuda_extra_sums.cu), and derived columns are made from the sums by the formulas of the processor.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_extra.cuh"
#include "image/image_features_core.h"

namespace
{

using namespace slc_image_extra;

enum { THREADS = 256, PER_PROCESSOR = 8 };

struct columns_task {
    sums_task sums;
    const uint64_t *area, *sum_x, *sum_y;
    double *x, *y;                          /* centroid */
    double *mass, *weighted_x, *weighted_y; /* with the integers of sums.mass … in the same places */
};

__device__ inline uint32_t rows_of(const sums_task &t)
{
    const uint32_t n = t.first[t.images];
    return n > t.limit ? 0 : n;
}

__device__ inline void set(unsigned long long *column, uint32_t i, unsigned long long value)
{
    if (column != nullptr) {
        column[i] = value;
    }
}

__global__ void __launch_bounds__(THREADS) begin(const sums_task t)
{
    const uint32_t n = rows_of(t);
    for (uint32_t i = blockIdx.x * (uint32_t)THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        set(t.sum_xx, i, 0);
        set(t.sum_xy, i, 0);
        set(t.sum_yy, i, 0);
        set(t.perimeter, i, 0);
        set(t.euler, i, 0);
        set(t.mass, i, 0);
        set(t.moment_x, i, 0);
        set(t.moment_y, i, 0);
        set(t.low, i, 0x7ff0000000000000ULL); /* infinity */
        set(t.high, i, 0);                    /* values are not negative, and each component has some */
    }
}

/* The integer in the place of a double. */
__device__ inline double integer_in(const double *at)
{
    unsigned long long bits;
    memcpy(&bits, at, sizeof bits);
    return slc_image_rounded(bits);
}

__global__ void __launch_bounds__(THREADS) end(const columns_task t)
{
    const uint32_t n = rows_of(t.sums);
    for (uint32_t i = blockIdx.x * (uint32_t)THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        if (t.x != nullptr) {
            t.x[i] = slc_image_mean_of(t.sum_x[i], t.area[i]);
            t.y[i] = slc_image_mean_of(t.sum_y[i], t.area[i]);
        }
        if (t.mass != nullptr) {
            const double mass = integer_in(&t.mass[i]);
            t.weighted_x[i] = slc_image_weighted_of(integer_in(&t.weighted_x[i]), mass);
            t.weighted_y[i] = slc_image_weighted_of(integer_in(&t.weighted_y[i]), mass);
            t.mass[i] = mass;
        }
    }
}

unsigned long long *as_integers(void *column)
{
    return (unsigned long long *)column;
}

sums_task sums_of(const slc_image_cuda_job *job, uint32_t features, const slc_image_cuda_task *grey,
                  const slc_image_components *c)
{
    sums_task t = {};
    t.labels = (const char *)job->labels;
    t.label_stride = job->label_stride;
    t.label_image_stride = job->label_image_stride;
    t.width = job->width;
    t.height = job->height;
    t.images = job->images;
    t.eight = job->connectivity == 8;
    t.first = job->first;
    t.limit = job->limit;
    if ((features & SLC_IMAGE_SECOND) != 0) {
        t.sum_xx = as_integers(c->sum_xx);
        t.sum_xy = as_integers(c->sum_xy);
        t.sum_yy = as_integers(c->sum_yy);
    }
    t.perimeter = as_integers((features & SLC_IMAGE_PERIMETER) != 0 ? c->perimeter : nullptr);
    t.euler = as_integers((features & SLC_IMAGE_EULER) != 0 ? c->euler : nullptr);
    if ((features & SLC_IMAGE_GREY) != 0) {
        t.grey = (const char *)grey->pixels;
        t.grey_stride = grey->stride;
        t.grey_image_stride = grey->image_stride;
        t.grey_type = grey->type;
        t.mass = as_integers(c->mass);
        t.moment_x = as_integers(c->weighted_x);
        t.moment_y = as_integers(c->weighted_y);
        t.low = as_integers(c->grey_min);
        t.high = as_integers(c->grey_max);
    }
    return t;
}

uint32_t kinds_of(const sums_task &t)
{
    return (t.sum_xx != nullptr ? (uint32_t)SECOND : 0) |
           (t.perimeter != nullptr || t.euler != nullptr ? (uint32_t)OUTLINES : 0) |
           (t.mass != nullptr ? (uint32_t)GREY : 0);
}

slc_status check(const slc_image_cuda_job *job, uint32_t features, const slc_image_cuda_task *grey,
                 slc_error *error)
{
    if ((features & SLC_IMAGE_GREY) != 0 && grey->type == SLC_IMAGE_F32) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "grey sums of float images are added in raster order, which a GPU does not do");
    }
    const uint32_t over_labels = SLC_IMAGE_SECOND | SLC_IMAGE_PERIMETER | SLC_IMAGE_EULER | SLC_IMAGE_GREY;
    if ((features & over_labels) != 0 && job->labels == nullptr) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "second moments, perimeter, Euler number and grey sums are made from a label image");
    }
    return SLC_OK;
}

} // namespace

size_t slc_image_cuda_extra_bound(const slc_image_cuda_job *job, uint32_t features, size_t rows)
{
    (void)job;
    (void)features;
    (void)rows;
    return 0; /* sums are made in the columns */
}

slc_status slc_image_cuda_extra(const slc_image_cuda_job *job, uint32_t features,
                                const slc_image_cuda_task *grey, const slc_image_components *components,
                                void *work, slc_error *error)
{
    (void)work;
    const slc_status status = check(job, features, grey, error);
    if (status != SLC_OK) {
        return status;
    }
    columns_task t = {};
    t.sums = sums_of(job, features, grey, components);
    const uint32_t kinds = kinds_of(t.sums), blocks = job->multiprocessors * (uint32_t)PER_PROCESSOR;
    if ((features & SLC_IMAGE_CENTROID) != 0) {
        t.area = job->columns.area;
        t.sum_x = job->columns.sum_x;
        t.sum_y = job->columns.sum_y;
        t.x = components->x;
        t.y = components->y;
    }
    if ((features & SLC_IMAGE_GREY) != 0) {
        t.mass = components->mass;
        t.weighted_x = components->weighted_x;
        t.weighted_y = components->weighted_y;
    }
    if (kinds != 0) {
        SLC_LAUNCH((begin), blocks, THREADS, 0, job->stream, t.sums);
        launch_sums(t.sums, kinds, job->multiprocessors, job->stream);
    }
    if (t.x != nullptr || t.mass != nullptr) {
        SLC_LAUNCH((end), blocks, THREADS, 0, job->stream, t);
    }
    return slc_cuda_check(cudaGetLastError(), "launching further features", error);
}
