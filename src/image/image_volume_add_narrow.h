/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the loops over volumes, for narrow vectors: features. Voxels of a segment are summed up by bytes of
 * their words, from a table: how many there are, their columns and the squares of these.
 */
#ifndef SLUICE_IMAGE_VOLUME_ADD_NARROW_H
#define SLUICE_IMAGE_VOLUME_ADD_NARROW_H

#include "image/image_volume_kernels.h"

#include "simd/simd.h"

/* Of a byte: how many bits are set, the sum of their numbers, and of the squares: 16 bits each. */
#define BIT_SUMS(i)   (UINT64_C(1) | UINT64_C(i) << 16 | UINT64_C(i) * UINT64_C(i) << 32)
#define BIT_SUMS_1(v) (v), (v) + BIT_SUMS(0)
#define BIT_SUMS_2(v) BIT_SUMS_1(v), BIT_SUMS_1((v) + BIT_SUMS(1))
#define BIT_SUMS_3(v) BIT_SUMS_2(v), BIT_SUMS_2((v) + BIT_SUMS(2))
#define BIT_SUMS_4(v) BIT_SUMS_3(v), BIT_SUMS_3((v) + BIT_SUMS(3))
#define BIT_SUMS_5(v) BIT_SUMS_4(v), BIT_SUMS_4((v) + BIT_SUMS(4))
#define BIT_SUMS_6(v) BIT_SUMS_5(v), BIT_SUMS_5((v) + BIT_SUMS(5))
#define BIT_SUMS_7(v) BIT_SUMS_6(v), BIT_SUMS_6((v) + BIT_SUMS(6))
#define BIT_SUMS_8(v) BIT_SUMS_7(v), BIT_SUMS_7((v) + BIT_SUMS(7))
static const uint64_t bit_sums[256] = {BIT_SUMS_8(UINT64_C(0))};

/* What is added to a record: voxels of a segment, those of the rows of y + 1, of z + 1 and of both; their
 * columns, without those of both; the squares of all; and the last column. */
typedef struct segment {
    uint64_t n, n_down, n_back, n_both, x, x_down, x_back, xx, last;
} segment;

/* Adds set bits whose numbers count from `base`: how many, their numbers and the squares of these. */
static inline void add_bits(segment *s, uint64_t base, uint64_t n, uint64_t x, uint64_t xx)
{
    s->n += n;
    s->x += x + base * n;
    s->xx += xx + base * (2 * x + base * n);
}

/* 64 columns of the rows from `base` on, in which there is a voxel. */
typedef struct window {
    uint64_t base, row[SLC_VOLUME_ROWS], any;
    size_t bytes; /* behind them is none */
} window;

/* By bytes, from the highest: each is added i times to the second sum and i (i + 1) / 2 times to the third.
 */
typedef struct byte_sums {
    uint64_t all, by_byte, by_squares;
} byte_sums;

static inline void add_byte(byte_sums *s, uint64_t sums, bool last)
{
    s->all += sums;
    s->by_byte += last ? 0 : s->all;
    s->by_squares += last ? 0 : s->by_byte;
}

/* A bit of byte i has the number 8 i + b. */
static inline uint64_t bits_in(const byte_sums *s)
{
    return s->all & 0xffff;
}

static inline uint64_t numbers_in(const byte_sums *s)
{
    return (s->all >> 16 & 0xffff) + 8 * (s->by_byte & 0xffff);
}

static inline uint64_t squares_in(const byte_sums *s)
{
    const uint64_t n_1 = s->by_byte & 0xffff, x_1 = s->by_byte >> 16 & 0xffff, n_2 = s->by_squares & 0xffff;
    return (s->all >> 32) + 16 * x_1 + 64 * (2 * n_2 - n_1); /* i² is twice i (i + 1) / 2 without i */
}

/* Rows that are alike: `times` of them. */
static inline void add_alike(segment *s, const window *w, uint64_t times)
{
    const uint64_t row = w->row[0];
    uint64_t n = bits_count(row), x = n * (n - 1) / 2, xx = x * (2 * n - 1) / 3;
    if ((row & (row + 1)) != 0) { /* not the first n */
        byte_sums sums = {0};
        for (size_t i = w->bytes; i-- > 0;) {
            add_byte(&sums, bit_sums[row >> 8 * i & 0xff], i == 0);
        }
        x = numbers_in(&sums);
        xx = squares_in(&sums);
    }
    const uint64_t column = x + w->base * n;
    add_bits(s, w->base, times * n, times * x, times * xx);
    s->n_down += times / 2 * n;
    s->n_back += times / 2 * n;
    s->n_both += times / 4 * n;
    s->x_down += times / 2 * column;
    s->x_back += times / 2 * column;
}

/* The sums of one byte of four rows are below 2^16, and so are those of all bytes. */
static inline void add_four(segment *s, const window *w)
{
    byte_sums all = {0}, down = {0}, back = {0};
    for (size_t i = w->bytes; i-- > 0;) {
        const uint64_t t0 = bit_sums[w->row[0] >> 8 * i & 0xff], t1 = bit_sums[w->row[1] >> 8 * i & 0xff],
                       t2 = bit_sums[w->row[2] >> 8 * i & 0xff], t3 = bit_sums[w->row[3] >> 8 * i & 0xff];
        add_byte(&all, t0 + t1 + t2 + t3, i == 0);
        add_byte(&down, t1 + t3, i == 0);
        add_byte(&back, t2 + t3, i == 0);
    }
    const uint64_t n_down = bits_in(&down), n_back = bits_in(&back);
    add_bits(s, w->base, bits_in(&all), numbers_in(&all), squares_in(&all));
    s->n_down += n_down;
    s->n_back += n_back;
    s->n_both += bits_count(w->row[3]);
    s->x_down += numbers_in(&down) + w->base * n_down;
    s->x_back += numbers_in(&back) + w->base * n_back;
}

/* 64 bits from `column` on. */
static inline uint64_t bits_from(const uint64_t *row, size_t column)
{
    const uint64_t *word = row + column / 64;
    return word[0] >> column % 64 | word[1] << 1 << (63 - column % 64);
}

/* Columns [begin, end) of the rows. `alike`: all rows have the same. */
static inline void add_columns(const slc_volume_layer *layer, size_t at, segment *s, size_t begin, size_t end,
                               bool four, bool alike)
{
    for (size_t base = begin; base < end; base += 64) {
        const uint64_t in = end - base < 64 ? ~(~(uint64_t)0 << (end - base)) : ~(uint64_t)0;
        window w = {.base = base, .any = bits_from(layer->all + at, base) & in};
        if (w.any == 0) {
            continue;
        }
        const size_t highest = bits_highest(w.any);
        w.bytes = highest / 8 + 1;
        s->last = base + highest;
        uint64_t unlike = 0;
        w.row[0] = w.any;
        for (size_t r = 0; r < SLC_VOLUME_ROWS && four && !alike; r++) {
            w.row[r] = bits_from(layer->rows[r] + at, base) & in;
            unlike |= w.row[r] ^ w.any;
        }
        if (unlike == 0) {
            add_alike(s, &w, four ? 4 : 1);
        } else {
            add_four(s, &w);
        }
    }
}

static inline uint32_t lower_of(uint32_t a, uint64_t b)
{
    return b < a ? (uint32_t)b : a;
}

static inline uint32_t higher_of(uint32_t a, uint64_t b)
{
    return b > a ? (uint32_t)b : a;
}

static inline void add_segment(uint64_t y, uint64_t z, const segment *s, uint64_t first, slc_volume_sums *r)
{
    r->x_min = lower_of(r->x_min, first);
    r->y_min = lower_of(r->y_min, y + (s->n_down == s->n ? 1 : 0));
    r->x_max = higher_of(r->x_max, s->last);
    r->y_max = higher_of(r->y_max, y + (s->n_down > 0 ? 1 : 0));
    r->z_max = higher_of(r->z_max, z + (s->n_back > 0 ? 1 : 0));
    r->volume += s->n;
    r->x += s->x;
    r->y += s->n * y + s->n_down;
    r->z += s->n * z + s->n_back;
    r->xx += s->xx;
    r->xy += s->x * y + s->x_down;
    r->xz += s->x * z + s->x_back;
    r->yy += y * (s->n * y + 2 * s->n_down) + s->n_down;
    r->yz += y * (s->n * z + s->n_back) + z * s->n_down + s->n_both;
    r->zz += z * (s->n * z + 2 * s->n_back) + s->n_back;
}

static inline void add_segments(const slc_volume_sum_layer *l, size_t at, uint64_t y, size_t n, bool four,
                                bool alike, slc_volume_sums *records)
{
    enum { AHEAD = 8 };
    for (size_t i = 0; i < n; i++) {
        const size_t begin = l->begins[i], end = l->begins[i + 1];
        segment s = {0};
        if (i + AHEAD < n) {
            __builtin_prefetch(&records[l->labels[i + AHEAD]], 1);
            __builtin_prefetch(&records[l->labels[i + AHEAD]].yz, 1);
        }
        add_columns(l->layer, at, &s, begin, end, four, alike);
        add_segment(y, l->z, &s, begin, &records[l->labels[i]]);
    }
}

/* Have the four rows of a bundle the same voxels? Those of coarse volumes have. */
static inline bool are_alike(const slc_volume_sum_layer *l, size_t at)
{
    uint64_t unlike = 0;
    for (size_t k = at; k < at + l->pitch; k++) {
        const uint64_t all = l->layer->all[k];
        unlike |= (l->layer->rows[0][k] ^ all) | (l->layer->rows[1][k] ^ all) | (l->layer->rows[2][k] ^ all) |
                  (l->layer->rows[3][k] ^ all);
    }
    return unlike == 0;
}

/* Nothing is left for later. */
typedef struct pieces {
    size_t n;
} pieces;

static inline void end_pieces(pieces *none, uint64_t z, bool four, slc_volume_sums *records)
{
    (void)none, (void)z, (void)four, (void)records;
}

/* Adds a bundle's segments. */
static inline void add_bundle(pieces *none, const slc_volume_sum_layer *l, size_t at, uint64_t y, size_t n,
                              bool four, slc_volume_sums *records)
{
    (void)none;
    if (!four) {
        add_segments(l, at, y, n, false, true, records);
    } else if (are_alike(l, at)) {
        add_segments(l, at, y, n, true, true, records);
    } else {
        add_segments(l, at, y, n, true, false, records);
    }
}

/* None: all are left to the caller. */
static size_t put(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row)
{
    (void)sums, (void)n, (void)to, (void)row;
    return 0;
}

#endif
