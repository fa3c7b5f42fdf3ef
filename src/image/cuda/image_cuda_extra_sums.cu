/* SPDX-License-Identifier: Apache-2.0
 * Sums over the pixels of a label image: second moments, outlines, grey values.
 *
 * A warp walks down 32 columns, each thread one of them, and every thread keeps what it has of two components
 * in registers: neighbours in a column are mostly of one component, and where small components lie in the
 * holes of a large one, they displace each other and not the large one. So memory is reached when a component
 * changes and at the end, where a component that many columns share is first added up across the warp.
 * Rows count from the top of the warp's tile while they are summed, so that 32 bits hold the sums.
 *
 * Outlines by pixels, from rows as bits: 2 edges for each first pixel of a run and for each pixel without one
 * above it; the Euler number is runs minus contacts with runs of the row above (image_features.c), and a
 * contact counts at the pixel where both have begun.
 */
#include "image/cuda/image_cuda_extra.cuh"

namespace
{

using namespace slc_image_extra;

enum {
    WARP = 32,
    THREADS = 256,
    BATCH = 8,         /* rows whose loads are under way at once */
    MOST_ROWS = 128,   /* of a tile: squares below 2^14, their sum below 2^21 */
    WARPS_WANTED = 32, /* for each multiprocessor, from when on tiles may be higher */
    SHARED_LABELS = 4  /* components of a tile that are added up across the warp */
};

/* What a thread has of a component. */
struct part {
    uint32_t label;        /* 0: nothing */
    uint32_t n, dy, dy_dy; /* pixels, and sums over them of rows from the tile's top */
    uint32_t edges;
    int32_t euler;
    uint32_t low, high;
    unsigned long long mass, mass_dy;
};

/* The same in the image's coordinates. */
struct total {
    unsigned long long xx, xy, yy, edges, euler, mass, moment_x, moment_y;
    uint32_t low, high;
};

__device__ inline part empty_part(uint32_t label)
{
    return part{label, 0, 0, 0, 0, 0, ~0U, 0, 0, 0};
}

template <uint32_t KIND> __device__ inline total total_of(const part &p, uint32_t x, uint32_t top)
{
    total t = {0, 0, 0, 0, 0, 0, 0, 0, p.low, p.high};
    const unsigned long long n = p.n, column = x, y = top, dy = p.dy;
    if ((KIND & SECOND) != 0) {
        t.xx = n * column * column;
        t.xy = column * (n * y + dy);
        t.yy = n * y * y + 2 * y * dy + p.dy_dy;
    }
    if ((KIND & OUTLINES) != 0) {
        t.edges = p.edges;
        t.euler = (unsigned long long)(long long)p.euler;
    }
    if ((KIND & GREY) != 0) {
        t.mass = p.mass;
        t.moment_x = p.mass * column;
        t.moment_y = p.mass * y + p.mass_dy;
    }
    return t;
}

__device__ inline void add_one(unsigned long long *column, uint32_t i, unsigned long long value)
{
    if (column != nullptr && value != 0) {
        atomicAdd(&column[i], value);
    }
}

/* Doubles from 0 up are ordered as their bits are. */
__device__ inline unsigned long long bits_of(uint32_t value)
{
    return (unsigned long long)__double_as_longlong((double)value);
}

template <uint32_t KIND> __device__ inline void add(const sums_task &task, uint32_t i, const total &t)
{
    if ((KIND & SECOND) != 0) {
        add_one(task.sum_xx, i, t.xx);
        add_one(task.sum_xy, i, t.xy);
        add_one(task.sum_yy, i, t.yy);
    }
    if ((KIND & OUTLINES) != 0) {
        add_one(task.perimeter, i, t.edges);
        add_one(task.euler, i, t.euler);
    }
    if ((KIND & GREY) != 0) {
        add_one(task.mass, i, t.mass);
        add_one(task.moment_x, i, t.moment_x);
        add_one(task.moment_y, i, t.moment_y);
        /* What is there only gets smaller (larger): most of the time there is nothing to change. */
        const unsigned long long low = bits_of(t.low), high = bits_of(t.high);
        if (task.low != nullptr && *(volatile unsigned long long *)&task.low[i] > low) {
            atomicMin(&task.low[i], low);
        }
        if (task.high != nullptr && *(volatile unsigned long long *)&task.high[i] < high) {
            atomicMax(&task.high[i], high);
        }
    }
}

/* ---- across the warp --------------------------------------------------------------------------- */

__device__ inline unsigned long long sum_of_warp(unsigned long long value)
{
    for (int step = WARP / 2; step > 0; step /= 2) {
        value += __shfl_xor_sync(~0U, value, step);
    }
    return value;
}

/* All lanes get the total of those that are `mine`. */
template <uint32_t KIND> __device__ inline total total_of_warp(const total &t, bool mine)
{
    total all = {0, 0, 0, 0, 0, 0, 0, 0, mine ? t.low : ~0U, mine ? t.high : 0};
    if ((KIND & SECOND) != 0) {
        all.xx = sum_of_warp(mine ? t.xx : 0);
        all.xy = sum_of_warp(mine ? t.xy : 0);
        all.yy = sum_of_warp(mine ? t.yy : 0);
    }
    if ((KIND & OUTLINES) != 0) {
        all.edges = sum_of_warp(mine ? t.edges : 0);
        all.euler = sum_of_warp(mine ? t.euler : 0);
    }
    if ((KIND & GREY) != 0) {
        all.mass = sum_of_warp(mine ? t.mass : 0);
        all.moment_x = sum_of_warp(mine ? t.moment_x : 0);
        all.moment_y = sum_of_warp(mine ? t.moment_y : 0);
        for (int step = WARP / 2; step > 0; step /= 2) {
            const uint32_t low = __shfl_xor_sync(~0U, all.low, step);
            const uint32_t high = __shfl_xor_sync(~0U, all.high, step);
            all.low = min(all.low, low);
            all.high = max(all.high, high);
        }
    }
    return all;
}

/* The end of a tile; all lanes. `row` is that of label 0. */
template <uint32_t KIND>
__device__ inline void add_tile(const sums_task &task, uint32_t row, part p, uint32_t x, uint32_t top)
{
    const total t = total_of<KIND>(p, x, top);
    for (int turn = 0; turn < SHARED_LABELS; turn++) {
        const uint32_t open = __ballot_sync(~0U, p.label != 0);
        if (open == 0) {
            return;
        }
        const int leader = __ffs((int)open) - 1;
        const uint32_t label = __shfl_sync(~0U, p.label, leader);
        const bool mine = p.label == label;
        if (__popc(__ballot_sync(~0U, mine)) > 2) {
            const total all = total_of_warp<KIND>(t, mine);
            if ((int)(threadIdx.x % WARP) == leader) {
                add<KIND>(task, row + label, all);
            }
        } else if (mine) {
            add<KIND>(task, row + label, t);
        }
        p.label = mine ? 0 : p.label;
    }
    if (p.label != 0) {
        add<KIND>(task, row + p.label, t);
    }
}

/* ---- pixels ------------------------------------------------------------------------------------ */

/* Which columns are foreground: bit i + 1 of column i of the tile, with a neighbour on either side. */
struct window {
    uint32_t low;  /* the neighbour to the left, and 31 columns */
    uint32_t high; /* the last one, and the neighbour to the right */
};

/* The bits of this thread's neighbour to the left (bit 0), its pixel, and its neighbour to the right. */
__device__ inline uint32_t three(const window &w)
{
    const unsigned long long all = (unsigned long long)w.high << 32 | w.low;
    return (uint32_t)(all >> threadIdx.x % WARP) & 7;
}

/* `beside` is the label beside the tile: left of it in the first lane, right of it in the last. */
__device__ inline window window_of(uint32_t label, uint32_t beside)
{
    const uint32_t inside = __ballot_sync(~0U, label != 0), outside = __ballot_sync(~0U, beside != 0);
    return window{inside << 1 | (outside & 1), inside >> 31 | outside >> 31 << 1};
}

__device__ inline void add_outlines(part &p, uint32_t here, uint32_t above, bool eight)
{
    const bool starts = (here & 1) == 0, u = (above & 2) != 0, left = (above & 1) != 0;
    p.edges += 2 * ((starts ? 1U : 0U) + (u ? 0U : 1U));
    int contacts = 0;
    if (starts) {
        contacts = u || (eight && left) ? 1 : 0;
    } else {
        contacts = u && !left ? 1 : 0; /* a run above begins here */
    }
    if (eight && (here & 4) == 0 && !u && (above & 4) != 0) {
        contacts++; /* one begins behind the last pixel */
    }
    p.euler += (starts ? 1 : 0) - contacts;
}

__device__ inline uint32_t grey_at(const sums_task &task, const char *row, uint32_t x)
{
    switch (task.grey_type) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row)[x];
    case SLC_IMAGE_U16:
        return ((const uint16_t *)row)[x];
    case SLC_IMAGE_U32:
        return ((const uint32_t *)row)[x];
    default:
        return ((const uint8_t *)row)[x / 8] >> x % 8 & 1U;
    }
}

/* A thread's place. */
struct column {
    const char *labels, *grey; /* of the image */
    uint32_t x, beside; /* `beside`: the column that this lane looks at for its neighbours, or `width` */
    uint32_t top, end;  /* rows of the tile */
};

__device__ inline uint32_t label_at(const sums_task &task, const column &c, uint32_t y, uint32_t x)
{
    const uint32_t *row = (const uint32_t *)(c.labels + (ptrdiff_t)y * task.label_stride);
    return x < task.width ? row[x] : 0;
}

/* Makes the component the current one, `a`; of what the thread had, the smaller of two makes room. */
template <uint32_t KIND>
__device__ inline void change(const sums_task &task, uint32_t row, part &a, part &b, uint32_t label,
                              const column &c)
{
    const part old = a;
    if (label == b.label) {
        a = b;
        b = old;
        return;
    }
    const bool larger = old.n > b.n;
    const part out = larger ? b : old;
    b = larger ? old : b;
    a = empty_part(label);
    if (out.label != 0) {
        add<KIND>(task, row + out.label, total_of<KIND>(out, c.x, c.top));
    }
}

__device__ inline void add_pixel(part &p, uint32_t dy, uint32_t value)
{
    p.n++;
    p.dy += dy;
    p.dy_dy += dy * dy;
    p.mass += value;
    p.mass_dy += (unsigned long long)value * dy;
    p.low = min(p.low, value);
    p.high = max(p.high, value);
}

template <uint32_t KIND> __device__ inline void add_rows(const sums_task &task, uint32_t row, const column &c)
{
    part a = empty_part(0), b = empty_part(0);
    window above = {0, 0};
    if ((KIND & OUTLINES) != 0 && c.top > 0) {
        above = window_of(label_at(task, c, c.top - 1, c.x), label_at(task, c, c.top - 1, c.beside));
    }
    for (uint32_t y = c.top; y < c.end; y += BATCH) {
        uint32_t label[BATCH], beside[BATCH], value[BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++) {
            const bool in = y + k < c.end;
            label[k] = in ? label_at(task, c, y + k, c.x) : 0;
            beside[k] = (KIND & OUTLINES) != 0 && in ? label_at(task, c, y + k, c.beside) : 0;
            value[k] = (KIND & GREY) != 0 && in && c.x < task.width
                           ? grey_at(task, c.grey + (ptrdiff_t)(y + k) * task.grey_stride, c.x)
                           : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++) {
            const window here = (KIND & OUTLINES) != 0 ? window_of(label[k], beside[k]) : above;
            if (label[k] != 0) {
                if (label[k] != a.label) {
                    change<KIND>(task, row, a, b, label[k], c);
                }
                add_pixel(a, y + k - c.top, value[k]);
                if ((KIND & OUTLINES) != 0) {
                    add_outlines(a, three(here), three(above), task.eight);
                }
            }
            above = here;
        }
    }
    add_tile<KIND>(task, row, a, c.x, c.top);
    add_tile<KIND>(task, row, b, c.x, c.top);
}

template <uint32_t KIND> __global__ void __launch_bounds__(THREADS) add_labels(const sums_task task)
{
    const uint32_t across = (task.width + WARP - 1) / WARP, lane = threadIdx.x % WARP;
    const uint32_t down = (task.height + task.tile_height - 1) / task.tile_height;
    const uint32_t tile = blockIdx.x * (uint32_t)(THREADS / WARP) + threadIdx.x / WARP;
    const uint32_t line = tile / across, image = line / down, left = (tile - line * across) * WARP;
    if (image >= task.images || task.first[task.images] > task.limit) { /* the warp as a whole */
        return;
    }
    column c;
    c.labels = task.labels + (size_t)image * task.label_image_stride;
    c.grey = task.grey + (size_t)image * task.grey_image_stride;
    c.x = left + lane;
    c.beside = task.width;
    if (lane == 0 && left > 0) {
        c.beside = left - 1;
    } else if (lane == WARP - 1) {
        c.beside = c.x + 1;
    }
    c.top = (line - image * down) * task.tile_height;
    c.end = min(c.top + task.tile_height, task.height);
    add_rows<KIND>(task, task.first[image] - 1, c);
}

uint32_t tiles_of(const sums_task &task, uint32_t tile_height)
{
    const uint32_t down = (task.height + tile_height - 1) / tile_height;
    return (task.width + WARP - 1) / WARP * down * task.images;
}

} // namespace

void slc_image_extra::launch_sums(const sums_task &task, uint32_t kinds, uint32_t multiprocessors,
                                  cudaStream_t stream)
{
    static void (*const kernels[KINDS])(const sums_task) = {nullptr,       add_labels<1>, add_labels<2>,
                                                            add_labels<3>, add_labels<4>, add_labels<5>,
                                                            add_labels<6>, add_labels<7>};
    sums_task t = task;
    t.tile_height = MOST_ROWS;
    while (t.tile_height > BATCH && tiles_of(t, t.tile_height) < multiprocessors * (uint32_t)WARPS_WANTED) {
        t.tile_height /= 2;
    }
    const uint32_t warps = THREADS / WARP, blocks = (tiles_of(t, t.tile_height) + warps - 1) / warps;
    SLC_LAUNCH((kernels[kinds]), blocks, THREADS, 0, stream, t);
}
