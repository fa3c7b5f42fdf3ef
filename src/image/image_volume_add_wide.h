/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the loops over volumes, for vectors of eight words: features. What a segment has in one word of a
 * bundle's rows is a piece; eight pieces, of any segments, are summed at once, and then go to their
 * components' records.
 */
#ifndef SLUICE_IMAGE_VOLUME_ADD_WIDE_H
#define SLUICE_IMAGE_VOLUME_ADD_WIDE_H

#include "image/image_volume_kernels.h"

#include "simd/simd_bit_sums.h"

#include <string.h>

enum { PIECES = 8 };

/* What goes to a record, as its words are: sums, then the least x and y, the largest, and the largest z. Two
 * vectors for each of eight pieces, or, before they are transposed, for each kind of share. */
enum { VOLUME, X, Y, Z, XX, XY, XZ, YY, YZ = 0, ZZ, LEAST, LARGEST, LARGEST_Z, FIRST_YZ };
typedef bits_words shares[2][8];
_Static_assert(sizeof(slc_volume_sums) == sizeof(bits_words[2]) && offsetof(slc_volume_sums, yy) == 8 * YY &&
                   offsetof(slc_volume_sums, yz) == 64 &&
                   offsetof(slc_volume_sums, x_min) == 64 + 8 * LEAST &&
                   offsetof(slc_volume_sums, x_max) == 64 + 8 * LARGEST &&
                   offsetof(slc_volume_sums, z_max) == 64 + 8 * LARGEST_Z &&
                   offsetof(slc_volume_sums, first_x) == 68 + 8 * LARGEST_Z &&
                   offsetof(slc_volume_sums, first_y) == 64 + 8 * FIRST_YZ,
               "the order of shares");

typedef struct pieces {
    size_t n;
    uint64_t rows[SLC_VOLUME_ROWS][PIECES];   /* voxels */
    uint64_t base[PIECES], y[PIECES];         /* the column of bit 0, and the first row */
    uint64_t lowest[PIECES], highest[PIECES]; /* columns */
    uint32_t labels[PIECES];
    uint32_t held; /* whose shares those are, 0: of none */
    shares of_held;
} pieces;

/* `four`: of four rows, else of the first. */
static inline void sum_pieces(const pieces *p, uint64_t z, bool four, shares out)
{
    const bits_words none = {0}, base = BITS_WORDS(p->base), y = BITS_WORDS(p->y);
    bits_bytes all = bits_bytes_of(BITS_WORDS(p->rows[0]));
    bits_words n_down = none, n_back = none, n_both = none, x_down = none, x_back = none;
    if (four) { /* those of the rows of y + 1, of z + 1, and of both */
        const bits_bytes down = bits_bytes_of(BITS_WORDS(p->rows[1])),
                         back = bits_bytes_of(BITS_WORDS(p->rows[2])),
                         both = bits_bytes_of(BITS_WORDS(p->rows[3]));
        const bits_words n_1 = down.n + both.n, x_1 = down.x + both.x, n_2 = back.n + both.n,
                         x_2 = back.x + both.x;
        n_down = bits_sum_bytes(n_1);
        n_back = bits_sum_bytes(n_2);
        n_both = bits_sum_bytes(both.n);
        x_down = bits_sum_numbers(n_1, x_1) + base * n_down;
        x_back = bits_sum_numbers(n_2, x_2) + base * n_back;
        all.n += down.n + n_2;
        all.x += down.x + x_2;
        all.xx += down.xx + back.xx + both.xx;
    }
    const bits_words n = bits_sum_bytes(all.n), in = bits_sum_numbers(all.n, all.x), x = in + base * n,
                     y_n = y * n + n_down, z_n = z * n + n_back;
    /* Comparisons are -1 or 0. */
    const bits_words least_y = y - (bits_words)(n_down == n), largest_y = y - (bits_words)(n_down != 0);
    out[0][VOLUME] = n;
    out[0][X] = x;
    out[0][Y] = y_n;
    out[0][Z] = z_n;
    out[0][XX] = bits_sum_squares(&all) + base * (in + x);
    out[0][XY] = y * x + x_down;
    out[0][XZ] = z * x + x_back;
    out[0][YY] = y * (y_n + n_down) + n_down;
    out[1][YZ] = y * z_n + z * n_down + n_both;
    out[1][ZZ] = z * (z_n + n_back) + n_back;
    out[1][LEAST] = BITS_WORDS(p->lowest) | least_y << 32;
    out[1][LARGEST] = BITS_WORDS(p->highest) | largest_y << 32;
    out[1][LARGEST_Z] = z - (bits_words)(n_back != 0);
    for (size_t i = FIRST_YZ; i < 8; i++) {
        out[1][i] = none;
    }
}

/* The second half of a record, or of a share: sums, least and largest values, each in its place. */
static inline bits_words join_halves(bits_words a, bits_words b)
{
    const uint64_t all = ~UINT64_C(0);
    const bits_words sums = {all, all}, least = {0, 0, all}; /* YZ and ZZ, LEAST */
    return ((a + b) & sums) | (bits_least_halves(a, b) & least) |
           (bits_largest_halves(a, b) & ~(sums | least));
}

static inline void add_share(bits_words one, bits_words other, slc_volume_sums *record)
{
    uint64_t *r = &record->volume;
    BITS_WORDS_STORE(r, BITS_WORDS(r) + one);
    BITS_WORDS_STORE(r + 8, join_halves(BITS_WORDS(r + 8), other));
}

/* Adds what is held to its record. */
static inline void let_go(pieces *p, slc_volume_sums *records)
{
    if (p->held != 0) {
        bits_transpose(p->of_held[0]);
        bits_transpose(p->of_held[1]);
        for (size_t i = 1; i < PIECES; i++) {
            p->of_held[0][0] += p->of_held[0][i];
            p->of_held[1][0] = join_halves(p->of_held[1][0], p->of_held[1][i]);
        }
        add_share(p->of_held[0][0], p->of_held[1][0], &records[p->held]);
    }
    p->held = 0;
}

/* In crowded volumes pieces are of one component again and again: their shares are put together first. */
static inline void hold(pieces *p, shares of, slc_volume_sums *records)
{
    if (p->held != p->labels[0]) {
        let_go(p, records);
        memcpy(p->of_held, of, sizeof p->of_held);
        p->held = p->labels[0];
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        p->of_held[0][i] += of[0][i];
    }
    p->of_held[1][YZ] += of[1][YZ];
    p->of_held[1][ZZ] += of[1][ZZ];
    p->of_held[1][LEAST] = bits_least_halves(p->of_held[1][LEAST], of[1][LEAST]);
    p->of_held[1][LARGEST] = bits_largest_halves(p->of_held[1][LARGEST], of[1][LARGEST]);
    p->of_held[1][LARGEST_Z] = bits_largest_halves(p->of_held[1][LARGEST_Z], of[1][LARGEST_Z]);
}

/* Adds the first n. */
static inline void add_pieces(pieces *p, uint64_t z, bool four, slc_volume_sums *records)
{
    const size_t n = p->n;
    shares of;
    bool same = n == PIECES;
    for (size_t i = 1; i < PIECES; i++) {
        same = same && p->labels[i] == p->labels[0];
    }
    p->n = 0;
    sum_pieces(p, z, four, of);
    if (same) {
        hold(p, of, records);
        return;
    }
    bits_transpose(of[0]);
    bits_transpose(of[1]);
    for (size_t i = 0; i < n; i++) {
        add_share(of[0][i], of[1][i], &records[p->labels[i]]);
    }
}

/* Adds what is left. */
static inline void end_pieces(pieces *p, uint64_t z, bool four, slc_volume_sums *records)
{
    add_pieces(p, z, four, records);
    let_go(p, records);
}

/* Adds a bundle's segments, but for the last pieces. */
static inline void add_bundle(pieces *p, const slc_volume_sum_layer *s, size_t at, uint64_t y, size_t n,
                              bool four, slc_volume_sums *records)
{
    const slc_volume_layer *layer = s->layer;
    for (size_t i = 0; i < n; i++) {
        const size_t begin = s->begins[i], end = s->begins[i + 1];
        uint64_t in = ~UINT64_C(0) << begin % 64;
        __builtin_prefetch(&records[s->labels[i]], 1);
        __builtin_prefetch(&records[s->labels[i]].yz, 1);
        for (size_t k = begin / 64; 64 * k < end; k++) {
            in &= end - 64 * k < 64 ? ~(~UINT64_C(0) << (end - 64 * k)) : ~UINT64_C(0);
            const uint64_t any = layer->all[at + k] & in;
            for (size_t r = 0; r < (four ? SLC_VOLUME_ROWS : 1); r++) {
                p->rows[r][p->n] = layer->rows[r][at + k] & in;
            }
            in = ~UINT64_C(0);
            if (any == 0) {
                continue;
            }
            p->base[p->n] = 64 * k;
            p->y[p->n] = y;
            p->lowest[p->n] = 64 * k + bits_lowest(any);
            p->highest[p->n] = 64 * k + bits_highest(any);
            p->labels[p->n++] = s->labels[i];
            if (p->n == PIECES) {
                add_pieces(p, s->z, four, records);
            }
        }
    }
}

#define PUT(store, column, ...)                                                                              \
    if (to->column != NULL) {                                                                                \
        store(to->column + row, __VA_ARGS__);                                                                \
    }
#define STORE_WORDS(p, v) BITS_WORDS_STORE(p, v)

/* Rows of eight records. */
static inline void put_eight(const slc_volume_sums *sums, slc_volume_components *to, size_t row)
{
    bits_words a[8], b[8];
    for (size_t i = 0; i < 8; i++) {
        a[i] = BITS_WORDS(&sums[i].volume);
        b[i] = BITS_WORDS(&sums[i].yz);
    }
    bits_transpose(a);
    bits_transpose(b);
    PUT(STORE_WORDS, volume, a[VOLUME])
    PUT(bits_store_low, x_min, b[LEAST])
    PUT(bits_store_high, y_min, b[LEAST])
    PUT(bits_store_high, z_min, b[FIRST_YZ])
    PUT(bits_store_low, x_max, b[LARGEST])
    PUT(bits_store_high, y_max, b[LARGEST])
    PUT(bits_store_low, z_max, b[LARGEST_Z])
    PUT(bits_store_high, first_x, b[LARGEST_Z])
    PUT(bits_store_low, first_y, b[FIRST_YZ])
    PUT(bits_store_high, first_z, b[FIRST_YZ])
    PUT(STORE_WORDS, sum_x, a[X])
    PUT(STORE_WORDS, sum_y, a[Y])
    PUT(STORE_WORDS, sum_z, a[Z])
    PUT(STORE_WORDS, sum_xx, a[XX])
    PUT(STORE_WORDS, sum_xy, a[XY])
    PUT(STORE_WORDS, sum_xz, a[XZ])
    PUT(STORE_WORDS, sum_yy, a[YY])
    PUT(STORE_WORDS, sum_yz, b[YZ])
    PUT(STORE_WORDS, sum_zz, b[ZZ])
    PUT(bits_store_quotient, x, a[X], a[VOLUME])
    PUT(bits_store_quotient, y, a[Y], a[VOLUME])
    PUT(bits_store_quotient, z, a[Z], a[VOLUME])
}
#undef PUT
#undef STORE_WORDS

static size_t put(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        put_eight(sums + i, to, row + i);
    }
    return i;
}

#endif
