/* SPDX-License-Identifier: Apache-2.0
 * Nearly sorted pixels by counting: what slice of time a pixel belongs to says where it goes, but for those
 * of the same slice, of which there are few. All loops go along memory, but for steps as wide as pixels are
 * out of order in fact.
 */
#include "pixel/pixel_stream_order.h"

#include "base/block.h"

#include <string.h>

enum {
    FEW = 24,     /* up to so many pixels an insertion is the fastest sort */
    STEPS = 8192, /* in the disorder, and two more */
    MOST_SLICES = 1 << 17
};

size_t slc_pixel_order_lay_out(slc_pixel_stream_order *o, char *block, size_t pixels, uint32_t buffers)
{
    o->slices = 64;
    while (o->slices < MOST_SLICES && o->slices < 2 * pixels) {
        o->slices *= 2;
    }
    const size_t arrivals = slc_block_bound(pixels * sizeof *o->came);
    const size_t counts = slc_block_bound((o->slices + (size_t)1) * sizeof *o->counts);
    if (block != NULL) {
        o->came = slc_block_take(&block, arrivals);
        for (uint32_t i = 0; i < buffers; i++) {
            o->buffers[i] = slc_block_take(&block, arrivals);
            o->last_use[i] = 0;
        }
        o->n_buffers = buffers;
        o->buffer = 0;
        o->sorted = o->buffers[0];
        o->counts = slc_block_take(&block, counts);
    }
    return (1 + buffers) * arrivals + counts;
}

void slc_pixel_order_init(slc_pixel_stream_order *o, uint64_t disorder)
{
    o->disorder = disorder;
    o->shift = 0;
    while ((disorder >> o->shift) + 2 > STEPS) {
        o->shift++;
    }
    o->n_came = o->first = o->end = o->n_ready = 0;
    o->is_rough = false;
    slc_pixel_order_restart(o);
}

void slc_pixel_order_restart(slc_pixel_stream_order *o)
{
    o->latest = o->forced = 0;
    o->is_forced = o->any = false;
    o->earliest = UINT64_MAX;
}

/* ---- sorting ----------------------------------------------------------------------------------- */

static inline bool comes_before(const slc_pixel_arrival *a, const slc_pixel_arrival *b)
{
    return a->time != b->time ? a->time < b->time : a->yx < b->yx;
}

static void sink(slc_pixel_arrival *heap, size_t at, size_t n)
{
    const slc_pixel_arrival moved = heap[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && comes_before(&heap[child], &heap[child + 1]);
        if (!comes_before(&moved, &heap[child])) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* A heap in place: qsort may allocate, and may take quadratic time. */
static void sort_many(slc_pixel_arrival *pixels, size_t n)
{
    size_t sorted = 1;
    while (sorted < n && !comes_before(&pixels[sorted], &pixels[sorted - 1])) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    for (size_t i = n / 2; i-- > 0;) {
        sink(pixels, i, n);
    }
    for (size_t i = n; i-- > 1;) {
        const slc_pixel_arrival last = pixels[i];
        pixels[i] = pixels[0];
        pixels[0] = last;
        sink(pixels, 0, i);
    }
}

static void sort_few(slc_pixel_arrival *pixels, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const slc_pixel_arrival moved = pixels[i];
        size_t at = i;
        for (; at > 0 && comes_before(&moved, &pixels[at - 1]); at--) {
            pixels[at] = pixels[at - 1];
        }
        pixels[at] = moved;
    }
}

/* Where each slice begins; how many pixels the fullest has. */
static uint32_t sum_up(uint32_t *counts, size_t slices)
{
    uint32_t sum = 0, most = 0;
    for (size_t i = 0; i < slices; i++) {
        const uint32_t n = counts[i];
        most = n > most ? n : most;
        counts[i] = sum;
        sum += n;
    }
    return most;
}

/* Each slice by itself, where one has many. */
static void sort_slices(slc_pixel_arrival *pixels, const uint32_t *ends, size_t slices)
{
    uint32_t begin = 0;
    for (size_t i = 0; i < slices; i++) {
        if (ends[i] - begin > FEW) {
            sort_many(pixels + begin, ends[i] - begin);
        } else {
            sort_few(pixels + begin, ends[i] - begin);
        }
        begin = ends[i];
    }
}

/* What came, and what is sorted and was not loaded, of which there is little unless pixels are as late as
 * they may be: into `sorted`. */
static void put_in_order(slc_pixel_stream_order *o)
{
    const size_t left = o->end - o->first, n = o->n_came + left;
    memcpy(o->came + o->n_came, o->sorted + o->first, left * sizeof *o->came);
    /* From the begin of a step, so that slices that are no longer lie in one each. */
    const uint64_t kept = left > 0 ? o->sorted[o->first].time : o->earliest;
    const uint64_t least = (kept < o->earliest ? kept : o->earliest) >> o->shift << o->shift;
    o->sorted = o->buffers[o->buffer];
    uint32_t shift = 0, *counts = o->counts;
    const uint64_t span = o->latest - least;
    while (span >> shift >= o->slices || (span >> shift) / 4 > n) {
        shift++;
    }
    const size_t slices = (size_t)(span >> shift) + 1;
    memset(counts, 0, slices * sizeof *counts);
    for (size_t i = 0; i < n; i++) {
        counts[(o->came[i].time - least) >> shift]++;
    }
    const uint32_t most = sum_up(counts, slices);
    for (size_t i = 0; i < n; i++) {
        o->sorted[counts[(o->came[i].time - least) >> shift]++] = o->came[i];
    }
    o->is_rough = most <= FEW && shift <= o->shift; /* pixels stay in their slice, whoever sorts them */
    if (most > FEW) {
        sort_slices(o->sorted, counts, slices);
    } else if (!o->is_rough) {
        sort_few(o->sorted, n);
    }
    o->first = o->n_came = 0;
    o->end = n;
    o->earliest = UINT64_MAX;
}

/* ---- loading ----------------------------------------------------------------------------------- */

/* The sorted ones up to this step are ready. */
static void load_up_to(slc_pixel_stream_order *o, uint64_t step)
{
    size_t low = o->first, high = o->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (o->sorted[middle].time >> o->shift <= step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    o->ready = o->sorted + o->first;
    o->n_ready = low - o->first;
    o->first = low;
}

void slc_pixel_order_smooth(slc_pixel_arrival *pixels, size_t n)
{
    sort_few(pixels, n);
}

bool slc_pixel_order_load_rough(slc_pixel_stream_order *o)
{
    const uint64_t bound = slc_pixel_order_bound(o);
    if (slc_pixel_order_is_due(o)) {
        put_in_order(o);
    }
    o->n_ready = 0;
    if (bound > 0) {
        load_up_to(o, bound - 1);
    }
    return o->n_ready > 0;
}

bool slc_pixel_order_load(slc_pixel_stream_order *o)
{
    const bool any = slc_pixel_order_load_rough(o);
    if (o->is_rough) {
        sort_few(o->ready, o->n_ready);
    }
    return any;
}

bool slc_pixel_order_force(slc_pixel_stream_order *o)
{
    o->n_ready = 0;
    if (o->n_came > 0 &&
        (o->first == o->end || o->earliest >> o->shift <= o->sorted[o->first].time >> o->shift)) {
        put_in_order(o);
    }
    if (o->first == o->end) {
        return false;
    }
    const uint64_t step = o->sorted[o->first].time >> o->shift;
    load_up_to(o, step);
    if (o->is_rough) {
        sort_few(o->ready, o->n_ready);
    }
    o->forced = (step << o->shift) + ((1ULL << o->shift) - 1);
    o->is_forced = true;
    return true;
}
