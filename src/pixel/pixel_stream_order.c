/* SPDX-License-Identifier: Apache-2.0
 * Buckets of time for pixels that come nearly in order. Bits tell which buckets of the ring hold pixels, so
 * that empty time costs next to nothing.
 */
#include "pixel/pixel_stream_order.h"

#include "base/block.h"

#include <string.h>

enum {
    FEW = 24,   /* up to so many pixels an insertion is the fastest sort */
    CHUNK = 512 /* pixels that are made ready at once, or 64 buckets more: they stay in the first cache */
};

size_t slc_pixel_order_lay_out(slc_pixel_stream_order *o, char *block, size_t pixels)
{
    const size_t arrivals = slc_block_bound(pixels * sizeof *o->waiting);
    const size_t links = slc_block_bound(pixels * sizeof *o->following);
    if (block != NULL) {
        o->waiting = slc_block_take(&block, arrivals);
        o->ready = slc_block_take(&block, arrivals);
        o->following = slc_block_take(&block, links);
    }
    return 2 * arrivals + links;
}

void slc_pixel_order_init(slc_pixel_stream_order *o, uint64_t disorder)
{
    o->disorder = disorder;
    o->shift = 0;
    /* Half of the ring for pixels that may still be overtaken, where the first and the last bucket may be
     * there in part only; half for complete buckets. */
    while ((disorder >> o->shift) + 2 > SLC_PIXEL_ORDER_BUCKETS / 2) {
        o->shift++;
    }
    o->n_waiting = 0;
    memset(o->filled, 0, sizeof o->filled);
    memset(o->chain, 0xff, sizeof o->chain);
    o->unused = UINT32_MAX;
    o->n_used = 0;
    o->n_ready = 0;
    slc_pixel_order_restart(o);
}

void slc_pixel_order_restart(slc_pixel_stream_order *o)
{
    o->latest = o->begin = o->forced = 0;
    o->is_forced = o->any = false;
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

static inline void reverse(slc_pixel_arrival *pixels, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const slc_pixel_arrival other = pixels[i];
        pixels[i] = pixels[n - 1 - i];
        pixels[n - 1 - i] = other;
    }
}

/* ---- loading ----------------------------------------------------------------------------------- */

/* Appends the bucket to the n pixels that are ready; how many there are then. */
static inline size_t load(slc_pixel_stream_order *o, uint32_t bucket, size_t n)
{
    const uint32_t first = o->chain[bucket];
    slc_pixel_arrival *begin = o->ready + n;
    size_t size = 1;
    uint32_t last = first;
    begin[0] = o->waiting[first];
    while (o->following[last] != UINT32_MAX) {
        last = o->following[last];
        begin[size++] = o->waiting[last];
    }
    o->chain[bucket] = UINT32_MAX;
    o->following[last] = o->unused;
    o->unused = first;
    if (size > 1) { /* chains begin with the pixel that came last: turned round, they are nearly in order */
        reverse(begin, size);
        if (size <= FEW) {
            sort_few(begin, size);
        } else {
            sort_many(begin, size);
        }
    }
    return n + size;
}

/* The first filled bucket from `begin` on; pixels are waiting. */
static uint64_t first_filled(const slc_pixel_stream_order *o)
{
    uint64_t number = o->begin;
    for (;;) {
        const uint32_t bucket = (uint32_t)(number % SLC_PIXEL_ORDER_BUCKETS);
        const uint64_t word = o->filled[bucket / 64] >> bucket % 64;
        if (word != 0) {
            return number + (uint32_t)__builtin_ctzll(word);
        }
        number += 64 - bucket % 64;
    }
}

/* The filled ones of up to 64 buckets, which are in one word; moves *number behind them, up to the end. */
static inline uint64_t take_word(slc_pixel_stream_order *o, uint64_t *number, uint64_t end)
{
    const uint32_t bucket = (uint32_t)(*number % SLC_PIXEL_ORDER_BUCKETS), from = bucket % 64;
    const uint64_t left = end - *number, n = left < 64 - from ? left : 64 - from;
    const uint64_t word = o->filled[bucket / 64] & (UINT64_MAX >> (64 - n) << from);
    o->filled[bucket / 64] ^= word;
    *number += n;
    return word;
}

bool slc_pixel_order_load(slc_pixel_stream_order *o)
{
    const uint64_t bound = slc_pixel_order_bound(o);
    size_t n = 0;
    if (o->n_waiting > 0 && bound > o->begin) {
        uint64_t number = o->begin;
        const uint64_t end = bound - number < SLC_PIXEL_ORDER_BUCKETS ? bound
                                                                      : number + SLC_PIXEL_ORDER_BUCKETS;
        while (number < end && n < CHUNK) {
            const uint32_t first = (uint32_t)(number % SLC_PIXEL_ORDER_BUCKETS) / 64 * 64;
            for (uint64_t word = take_word(o, &number, end); word != 0; word &= word - 1) {
                n = load(o, first + (uint32_t)__builtin_ctzll(word), n);
            }
        }
        o->begin = number;
    }
    o->n_ready = n;
    o->n_waiting -= n;
    if (n == 0 && bound > o->begin) {
        o->begin = bound;
    }
    return n > 0;
}

bool slc_pixel_order_force(slc_pixel_stream_order *o)
{
    o->n_ready = 0;
    if (o->n_waiting == 0) {
        return false;
    }
    const uint64_t number = first_filled(o);
    const uint32_t bucket = (uint32_t)(number % SLC_PIXEL_ORDER_BUCKETS);
    o->filled[bucket / 64] &= ~(1ULL << bucket % 64);
    o->n_ready = load(o, bucket, 0);
    o->n_waiting -= o->n_ready;
    o->begin = number + 1;
    o->forced = (number << o->shift) + ((1ULL << o->shift) - 1);
    o->is_forced = true;
    return true;
}
