/* SPDX-License-Identifier: Apache-2.0
 *
 * FLSL for GPUs: section 4.4.1 of A. Hennequin's thesis (2022), algorithm 14. A warp reads a row and stores
 * where its segments begin and end, closely one behind the other; from then on there is a thread for each
 * segment, however long: for the merging with the row above, for the features. With them OTF (image_otf.cuh)
 * and CD (image_vote.cuh).
 *
 * Otherwise than in the thesis: ER, the number of edges up to a pixel, is not stored for every pixel but as
 * one mask of edges and one count for 32 of them, an eighth of a byte a pixel each instead of four. Segments
 * are found by it in both connectivities, as in LSL. Labels are numbers of segments, which are in raster
 * order, row behind row with room for the most that a row can have. A block takes a strip of eight rows and
 * merges them with one another, as HA4 does, borders of strips follow. A segment that is a root begins the
 * sums of its component by plain stores, so that only the others vote. Paths are halved when roots are looked
 * for. At last labels are numbered anew.
 */
#include "image/cuda/image_otf.cuh"
#include "image/cuda/image_vote.cuh"

#include "cuda/cuda_device.h"

namespace
{

enum { STRIP = 8, THREADS = 32 * STRIP };
enum { LOADS = 4 }; /* pixels that a lane has on the way at a time */
/* In a row of so many pixels the numbers of all columns add up to less than 2^32. */
enum { NARROW_WIDTH = 65536 };
constexpr uint32_t ALL = 0xFFFFFFFFU;

typedef struct flsl {
    slc_image_cuda_job job;
    uint32_t rows, units_x;
    uint32_t chunks_x, slots_x; /* chunks of 32 pixels, and most segments, of a row */
    /* Of a chunk: where pixels differ from their left neighbours, and how many do in the row before it. */
    uint2 *chunks;
    uint32_t *n;              /* segments of a row */
    uint32_t *begin, *behind; /* of a segment: keys of its first pixel, of the one behind its last */
    uint32_t *table;          /* of a segment: itself or an earlier one of its component */
    slc_image_cuda_sums sums; /* of a segment that is a root; of all with OTF */
    uint64_t *roots;
    uint32_t *prefix;
    void *scan;
} flsl;

/* ---- rows -------------------------------------------------------------------------------------- */

/* A row, counted over all images, and where it is. */
struct line {
    uint32_t row, image, y;
    uint32_t key, slot; /* of its first pixel, of its first segment */
};

__device__ __forceinline__ line line_of(const flsl &f, uint32_t row)
{
    const uint32_t image = row / f.job.height;
    return line{row, image, row - image * f.job.height, row * f.units_x * 64, row * f.slots_x};
}

/* The row of this warp where warps take one row each; f.rows or more behind the last. */
__device__ __forceinline__ uint32_t warp_row()
{
    return blockIdx.x * STRIP + threadIdx.x / 32;
}

__device__ __forceinline__ uint32_t lane_id()
{
    return threadIdx.x % 32;
}

template <bool BITS>
__device__ __forceinline__ bool foreground(const slc_image_cuda_job &job, const uint8_t *pixels, uint32_t x)
{
    if (x >= job.width) {
        return false;
    }
    const bool set = BITS ? (pixels[x / 8] >> x % 8 & 1U) != 0 : pixels[x] >= job.threshold;
    return set != job.inverse;
}

/* ---- segments ---------------------------------------------------------------------------------- */

/* One chunk of algorithm 14: `mask` are its pixels, `last` those of the chunk before, *edges the edges so
 * far. The lane at an edge stores it: every other one begins a segment. */
__device__ __forceinline__ void store_edges(const flsl &f, const line &l, uint32_t x0, uint32_t mask,
                                            uint32_t last, uint32_t *n_edges)
{
    const uint32_t lane = lane_id(), edges = mask ^ __funnelshift_l(last, mask, 1);
    if (lane == 0) {
        f.chunks[static_cast<size_t>(l.row) * f.chunks_x + x0 / 32] = make_uint2(edges, *n_edges);
    }
    if ((edges >> lane & 1U) != 0) {
        const uint32_t edge = *n_edges + static_cast<uint32_t>(__popc(edges & lanes_below(lane)));
        (edge % 2 == 0 ? f.begin : f.behind)[l.slot + edge / 2] = l.key + x0 + lane;
    }
    *n_edges += static_cast<uint32_t>(__popc(edges));
}

/* The segments of a row; returns how many there are. */
template <bool BITS> __device__ uint32_t find_segments(const flsl &f, const line &l)
{
    const slc_image_cuda_job &job = f.job;
    const uint8_t *pixels = static_cast<const uint8_t *>(job.pixels) +
                            static_cast<int64_t>(l.image) * static_cast<int64_t>(job.image_stride) +
                            static_cast<int64_t>(l.y) * static_cast<int64_t>(job.stride);
    uint32_t n_edges = 0, last = 0;
    for (uint32_t start = 0; start < job.width; start += 32 * LOADS) {
        bool pixel[LOADS];
#pragma unroll
        for (uint32_t i = 0; i < LOADS; i++) {
            pixel[i] = foreground<BITS>(job, pixels, start + 32 * i + lane_id());
        }
#pragma unroll
        for (uint32_t i = 0; i < LOADS; i++) {
            const uint32_t x0 = start + 32 * i, mask = __ballot_sync(ALL, pixel[i]);
            if (x0 < job.width) {
                store_edges(f, l, x0, mask, last, &n_edges);
                last = mask;
            }
        }
    }
    if (n_edges % 2 != 0) { /* the last segment ends with the row, and that with a chunk */
        if (lane_id() == 0) {
            f.behind[l.slot + n_edges / 2] = l.key + job.width;
        }
        n_edges++;
    }
    return n_edges / 2;
}

/* Edges of a row up to pixel x: odd on a segment, which then is number ER / 2; else that is the next. */
__device__ __forceinline__ uint32_t edges_up_to(const flsl &f, uint32_t row, uint32_t x)
{
    const uint2 chunk = f.chunks[static_cast<size_t>(row) * f.chunks_x + x / 32];
    return chunk.y + static_cast<uint32_t>(__popc(chunk.x & (ALL >> (31 - x % 32))));
}

__device__ __forceinline__ slc_image_part part_of(const flsl &f, const line &l, uint32_t slot)
{
    const uint32_t begin = f.begin[slot];
    return slc_image_part_of(begin - l.key, l.y, f.behind[slot] - begin);
}

/* ---- merging ----------------------------------------------------------------------------------- */

/* Merges the segments of a row, which is not the first of its image, with those above that they touch. */
template <bool OTF> __device__ void merge_row(const flsl &f, const line &l)
{
    const uint32_t reach = f.job.connectivity == 8 ? 1 : 0, above = l.slot - f.slots_x;
    for (uint32_t i = lane_id(); i < f.n[l.row]; i += 32) {
        const uint32_t slot = l.slot + i, x = f.begin[slot] - l.key;
        const uint32_t last = f.behind[slot] - l.key - 1 + reach;
        const uint32_t from = edges_up_to(f, l.row - 1, x > 0 ? x - reach : 0) / 2;
        const uint32_t to = (edges_up_to(f, l.row - 1, last < f.job.width ? last : f.job.width - 1) + 1) / 2;
        uint32_t label = slot;
        for (uint32_t k = from; k < to; k++) {
            if (OTF) {
                label = otf_unite(f.table, f.sums, label, above + k);
            } else {
                slc_image_unite(f.table, label, above + k);
            }
        }
    }
}

/* A block finds the segments of a strip, a warp those of a row, and merges its rows. */
template <bool BITS, bool OTF>
__global__ void __launch_bounds__(THREADS) find_and_merge(const __grid_constant__ flsl f)
{
    const line l = line_of(f, warp_row());
    if (l.row < f.rows) {
        const uint32_t n = find_segments<BITS>(f, l);
        for (uint32_t i = lane_id(); i < f.units_x; i += 32) {
            f.roots[static_cast<size_t>(l.row) * f.units_x + i] = 0;
        }
        if (lane_id() == 0) {
            f.n[l.row] = n;
        }
        __syncwarp(); /* other lanes have stored edges */
        for (uint32_t slot = l.slot + lane_id(); slot < l.slot + n; slot += 32) {
            f.table[slot] = slot;
            if (OTF) {
                otf_begin(f.sums, slot, part_of(f, l, slot));
            }
        }
    }
    __syncthreads();
    if (l.row < f.rows && threadIdx.x >= 32 && l.y > 0) {
        merge_row<OTF>(f, l);
    }
}

/* The first row of every strip with the last one of the strip above it, where that is in the same image. */
template <bool OTF> __global__ void __launch_bounds__(THREADS) merge_borders(const __grid_constant__ flsl f)
{
    const uint64_t row = (static_cast<uint64_t>(warp_row()) + 1) * STRIP;
    if (row < f.rows) {
        const line l = line_of(f, static_cast<uint32_t>(row));
        if (l.y > 0) {
            merge_row<OTF>(f, l);
        }
    }
}

/* ---- results ----------------------------------------------------------------------------------- */

/* Marks the first pixels of components; with `begin` the sums begin with the root's segment. */
__global__ void __launch_bounds__(THREADS) mark_roots(const __grid_constant__ flsl f, bool begin)
{
    const line l = line_of(f, warp_row());
    if (l.row >= f.rows) {
        return;
    }
    const uint32_t behind = l.slot + f.n[l.row];
    for (uint32_t slot = l.slot + lane_id(); slot < behind; slot += 32) {
        if (f.table[slot] == slot) {
            const uint32_t key = f.begin[slot];
            atomicOr(reinterpret_cast<wide *>(f.roots) + key / 64, 1ULL << key % 64);
            if (begin) {
                otf_begin(f.sums, slot, part_of(f, l, slot));
            }
        }
    }
}

/* The root of a segment, when all is merged. Where an image is one component, the roots of strips are a chain
 * from strip to strip, and every row of every strip goes along it: so each halves the path that it goes. */
__device__ __forceinline__ uint32_t root_of(uint32_t *table, uint32_t slot)
{
    for (;;) {
        const uint32_t parent = table[slot], next = table[parent];
        if (next == parent) {
            return parent;
        }
        table[slot] = next;
        slot = next;
    }
}

__device__ __forceinline__ bool fits(const slc_image_cuda_job &job)
{
    return job.first[job.images] <= job.limit;
}

/* Adds every segment that is not a root to the sums of its root. */
template <vote_kind KIND, bool NARROW>
__global__ void __launch_bounds__(THREADS) add_features(const __grid_constant__ flsl f)
{
    const line l = line_of(f, warp_row());
    const uint32_t n = l.row < f.rows ? f.n[l.row] : 0;
    for (uint32_t start = 0; start < n; start += 32) {
        const uint32_t slot = l.slot + start + lane_id();
        const bool there = start + lane_id() < n;
        const uint32_t root = there ? root_of(f.table, slot) : slot;
        const uint32_t mask = __ballot_sync(ALL, there && root != slot);
        if (there && root != slot) {
            vote<KIND, NARROW>(f.sums, mask, root, part_of(f, l, slot));
        }
    }
}

/* Rows of the columns, from the sums of roots. */
__global__ void __launch_bounds__(THREADS) write_features(const __grid_constant__ flsl f)
{
    const line l = line_of(f, warp_row());
    if (l.row >= f.rows || !fits(f.job)) {
        return;
    }
    const slc_image_cuda_columns &columns = f.job.columns;
    const uint32_t behind = l.slot + f.n[l.row];
    for (uint32_t slot = l.slot + lane_id(); slot < behind; slot += 32) {
        if (f.table[slot] == slot) {
            const uint32_t key = f.begin[slot], row = slc_image_cuda_rank(f.roots, f.prefix, key);
            columns.area[row] = f.sums.area[slot];
            columns.sum_x[row] = f.sums.sum_x[slot];
            columns.sum_y[row] = f.sums.sum_y[slot];
            columns.x_min[row] = f.sums.x_min[slot];
            columns.x_max[row] = f.sums.x_max[slot];
            columns.y_max[row] = f.sums.y_max[slot];
            columns.y_min[row] = columns.first_y[row] = l.y;
            columns.first_x[row] = key - l.key;
        }
    }
}

/* Label images: of each row first the labels of its segments, in the place of their ends, then all pixels. */
__global__ void __launch_bounds__(THREADS) write_labels(const __grid_constant__ flsl f)
{
    const slc_image_cuda_job &job = f.job;
    const line l = line_of(f, warp_row());
    if (l.row >= f.rows || (!job.raw && !fits(job))) {
        return;
    }
    const uint32_t behind = l.slot + f.n[l.row];
    for (uint32_t slot = l.slot + lane_id(); slot < behind; slot += 32) {
        const uint32_t key = f.begin[root_of(f.table, slot)];
        f.behind[slot] = job.raw ? key + 1
                                 : slc_image_cuda_rank(f.roots, f.prefix, key) - job.first[l.image] + 1;
    }
    __syncwarp(); /* other lanes have stored labels */
    uint32_t *labels = reinterpret_cast<uint32_t *>(
        reinterpret_cast<char *>(job.labels) +
        static_cast<int64_t>(l.image) * static_cast<int64_t>(job.label_image_stride) +
        static_cast<int64_t>(l.y) * static_cast<int64_t>(job.label_stride));
#pragma unroll 4
    for (uint32_t x = lane_id(); x < job.width; x += 32) {
        const uint32_t edges = edges_up_to(f, l.row, x);
        labels[x] = edges % 2 != 0 ? f.behind[l.slot + edges / 2] : 0;
    }
}

/* ---- launching --------------------------------------------------------------------------------- */

/* The next `bytes` of the working memory, aligned; counts alone where there is none. */
template <typename T> T *take(void *work, size_t *used, size_t n)
{
    char *at = static_cast<char *>(work);
    T *part = at != NULL ? reinterpret_cast<T *>(at + *used) : NULL;
    *used += (n * sizeof(T) + 255) / 256 * 256;
    return part;
}

/* The tables in job->work, which may be NULL; returns their bytes. */
size_t place(const slc_image_cuda_job *job, flsl *f)
{
    size_t used = 0;
    f->job = *job;
    f->rows = job->height * job->images;
    f->units_x = slc_image_cuda_units_x(job->width);
    f->chunks_x = (job->width + 31) / 32;
    f->slots_x = (job->width + 1) / 2;
    const uint32_t units = slc_image_cuda_units(job);
    const size_t slots = static_cast<size_t>(f->rows) * f->slots_x;
    f->chunks = take<uint2>(job->work, &used, static_cast<size_t>(f->rows) * f->chunks_x);
    f->n = take<uint32_t>(job->work, &used, f->rows);
    f->begin = take<uint32_t>(job->work, &used, slots);
    f->behind = take<uint32_t>(job->work, &used, slots);
    f->table = take<uint32_t>(job->work, &used, slots);
    f->roots = take<uint64_t>(job->work, &used, units);
    f->prefix = take<uint32_t>(job->work, &used, units);
    f->scan = take<char>(job->work, &used, slc_image_cuda_scan_bound(units));
    f->sums = slc_image_cuda_sums{};
    if (job->has_features) {
        f->sums.sum_x = take<wide>(job->work, &used, slots);
        f->sums.sum_y = take<wide>(job->work, &used, slots);
        f->sums.area = take<uint32_t>(job->work, &used, slots);
        f->sums.x_min = take<uint32_t>(job->work, &used, slots);
        f->sums.x_max = take<uint32_t>(job->work, &used, slots);
        f->sums.y_max = take<uint32_t>(job->work, &used, slots);
    }
    return used;
}

size_t bound(const slc_image_cuda_job *job)
{
    slc_image_cuda_job shape = *job;
    shape.work = NULL;
    flsl f;
    return place(&shape, &f);
}

uint32_t strips(const flsl &f)
{
    return (f.rows + STRIP - 1) / STRIP;
}

template <bool OTF> void launch_merging(const flsl &f)
{
    if (f.job.bits) {
        SLC_LAUNCH((find_and_merge<true, OTF>), strips(f), THREADS, 0, f.job.stream, f);
    } else {
        SLC_LAUNCH((find_and_merge<false, OTF>), strips(f), THREADS, 0, f.job.stream, f);
    }
    if (strips(f) > 1) {
        SLC_LAUNCH((merge_borders<OTF>), (strips(f) - 1 + STRIP - 1) / STRIP, THREADS, 0, f.job.stream, f);
    }
}

template <vote_kind KIND> void launch_votes(const flsl &f)
{
    if (f.job.width <= NARROW_WIDTH) {
        SLC_LAUNCH((add_features<KIND, true>), strips(f), THREADS, 0, f.job.stream, f);
    } else {
        SLC_LAUNCH((add_features<KIND, false>), strips(f), THREADS, 0, f.job.stream, f);
    }
}

/* The votes between the merging and the numbering; none with OTF, which are done then. */
typedef void votes(const flsl &f);

slc_status launch(const slc_image_cuda_job *job, votes *add, slc_error *error)
{
    flsl f;
    place(job, &f);
    const bool otf = job->has_features && add == NULL;
    if (otf) {
        launch_merging<true>(f);
    } else {
        launch_merging<false>(f);
    }
    slc_status status = slc_cuda_check(cudaGetLastError(), "launching FLSL's segments", error);
    if (status != SLC_OK) {
        return status;
    }
    if (!job->raw || job->has_features) {
        f.job.raw = false; /* features have rows, so they need numbers */
        SLC_LAUNCH(mark_roots, strips(f), THREADS, 0, job->stream, f, job->has_features && !otf);
        if (job->has_features && !otf) {
            add(f);
        }
        status = slc_image_cuda_scan(f.roots, f.prefix, slc_image_cuda_units(job), job->images, job->first,
                                     f.scan, job->stream, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (job->has_features) {
        SLC_LAUNCH(write_features, strips(f), THREADS, 0, job->stream, f);
    }
    if (job->labels != NULL) {
        SLC_LAUNCH(write_labels, strips(f), THREADS, 0, job->stream, f);
    }
    return slc_cuda_check(cudaGetLastError(), "launching FLSL's results", error);
}

} // namespace

#define FLSL(name, vote)                                                                                     \
    size_t slc_image_cuda_##name##_bound(const slc_image_cuda_job *job)                                      \
    {                                                                                                        \
        return bound(job);                                                                                   \
    }                                                                                                        \
    slc_status slc_image_cuda_##name##_launch(const slc_image_cuda_job *job, slc_error *error)               \
    {                                                                                                        \
        return launch(job, vote, error);                                                                     \
    }
FLSL(flsl, launch_votes<VOTE_EACH>)
FLSL(flsl_otf, NULL)
FLSL(flsl_cd, launch_votes<VOTE_DETECT>)
FLSL(flsl_cd_reduce, launch_votes<VOTE_REDUCE>)
