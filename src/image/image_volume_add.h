/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the loops over volumes: features. What is summed up is a segment: neighbouring runs of a bundle that
 * have one label, which in crowded volumes is most of a row. Voxels are summed up by bytes of their words,
 * from a table: how many there are, their columns and the squares of these.
 */
#ifndef SLUICE_IMAGE_VOLUME_ADD_H
#define SLUICE_IMAGE_VOLUME_ADD_H

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

/* Of the set bits of a word: how many, their numbers and the squares of these. */
typedef struct word_sums {
    uint64_t n, x, xx;
} word_sums;

static inline word_sums sums_of_word(uint64_t word)
{
    uint64_t all = 0, by_byte = 0, by_squares = 0;
    if (word == ~(uint64_t)0) {
        return (word_sums){64, 2016, 85344};
    }
    /* From the highest byte: each is added i times to the second sum, i (i + 1) / 2 times to the third. */
    for (unsigned i = 8; i-- > 1;) {
        all += bit_sums[word >> 8 * i & 0xff];
        by_byte += all;
        by_squares += by_byte;
    }
    all += bit_sums[word & 0xff];
    const uint64_t n = all & 0xffff, x = all >> 16 & 0xffff, xx = all >> 32, n_1 = by_byte & 0xffff,
                   x_1 = by_byte >> 16 & 0xffff, n_2 = by_squares & 0xffff;
    /* A bit of byte i has the number 8 i + b, and i² is twice i (i + 1) / 2 without i. */
    return (word_sums){n, x + 8 * n_1, xx + 16 * x_1 + 64 * (2 * n_2 - n_1)};
}

/* Of the rows of a bundle: voxels, their columns, and the first column; of all, the squares. */
typedef struct segment {
    uint64_t n[SLC_VOLUME_ROWS], x[SLC_VOLUME_ROWS], first[SLC_VOLUME_ROWS], xx, last;
} segment;

static inline void add_piece(segment *s, size_t r, uint64_t word, uint64_t base, word_sums w)
{
    s->first[r] = s->n[r] == 0 && word != 0 ? base + bits_lowest(word) : s->first[r];
    s->n[r] += w.n;
    s->x[r] += w.x + base * w.n;
    s->xx += w.xx + base * (2 * w.x + base * w.n);
}

/* Columns [begin, end) of the rows. */
static inline void add_columns(const slc_volume_sum_bundle *bundle, segment *s, size_t begin, size_t end)
{
    const slc_volume_layer *layer = bundle->layer;
    const size_t n_rows = bundle->n_rows;
    for (size_t k = begin / 64; 64 * k < end; k++) {
        const uint64_t from = 64 * k < begin ? ~(uint64_t)0 << begin % 64 : ~(uint64_t)0;
        const uint64_t in = 64 * k + 64 > end ? from & ~(uint64_t)0 >> (64 - end % 64) : from;
        const uint64_t all = layer->all[bundle->at + k] & in;
        uint64_t word[SLC_VOLUME_ROWS] = {0};
        bool alike = true;
        if (all == 0) {
            continue;
        }
        s->last = 64 * k + bits_highest(all);
        for (size_t r = 0; r < n_rows; r++) {
            word[r] = layer->rows[r][bundle->at + k] & in;
            alike = alike && word[r] == word[0];
        }
        word_sums w = sums_of_word(word[0]);
        for (size_t r = 0; r < n_rows; r++) {
            w = alike || r == 0 ? w : sums_of_word(word[r]);
            add_piece(s, r, word[r], 64 * k, w);
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

/* The first voxel of all, of which bundles come in another order than rows. */
static inline void take_first(const slc_volume_sum_bundle *bundle, const segment *s, slc_volume_sums *r)
{
    size_t row = 0;
    while (s->n[row] == 0) {
        row++;
    }
    const uint64_t y = bundle->y + (row & 1), z = bundle->z + (row >> 1), x = s->first[row];
    const uint64_t at = z << 32 | y, before = (uint64_t)r->first_z << 32 | r->first_y;
    if (r->volume == 0 || at < before || (at == before && x < r->first_x)) {
        r->first_x = (uint32_t)x;
        r->first_y = (uint32_t)y;
        r->first_z = (uint32_t)z;
    }
}

static inline void add_segment(const slc_volume_sum_bundle *bundle, const segment *s, uint64_t first,
                               slc_volume_sums *r)
{
    const uint64_t y = bundle->y, z = bundle->z;
    const uint64_t down = s->n[1] + s->n[3], back = s->n[2] + s->n[3], n = s->n[0] + s->n[1] + back;
    const uint64_t x_down = s->x[1] + s->x[3], x_back = s->x[2] + s->x[3], x = s->x[0] + s->x[1] + x_back;
    const uint64_t y_min = y + (down == n ? 1 : 0), y_max = y + (down > 0 ? 1 : 0);
    take_first(bundle, s, r);
    r->x_min = r->volume == 0 ? (uint32_t)first : lower_of(r->x_min, first);
    r->y_min = r->volume == 0 ? (uint32_t)y_min : lower_of(r->y_min, y_min);
    r->x_max = higher_of(r->x_max, s->last);
    r->y_max = higher_of(r->y_max, y_max);
    r->z_max = higher_of(r->z_max, z + (back > 0 ? 1 : 0));
    r->volume += n;
    r->x += x;
    r->y += n * y + down;
    r->z += n * z + back;
    if (bundle->second) {
        r->xx += s->xx;
        r->xy += x * y + x_down;
        r->xz += x * z + x_back;
        r->yy += y * (n * y + 2 * down) + down;
        r->yz += y * (n * z + back) + z * down + s->n[3];
        r->zz += z * (n * z + 2 * back) + back;
    }
}

static void sum(const slc_volume_sum_bundle *bundle, slc_volume_sums *records)
{
    const slc_volume_layer *layer = bundle->layer;
    const size_t at = bundle->at, words = bundle->words, base = layer->ranks[at],
                 end = layer->ranks[at + words];
    const uint32_t *labels = layer->labels + base;
    uint32_t *columns = bundle->columns, *begins = bundle->begins, *of = bundle->labels;
    size_t listed = 0, n = 0;
    for (size_t k = 0; k < words; k++) {
        listed += bits_positions_u32(columns + listed, layer->starts[at + k], (uint32_t)(64 * k));
    }
    for (size_t i = 0; i < end - base;
         i += SIMD_LANES) { /* there is an element in front of a layer's labels */
        const u32v label = u32v_load(labels + i);
        const mask32 in = mask32_first(end - base - i), changes = u32v_ne(label, u32v_load(labels + i - 1));
        const mask32 begin = mask32_and(in, i == 0 ? mask32_or(mask32_first(1), changes) : changes);
        (void)u32v_pack(begins + n, u32v_load(columns + i), begin);
        n += u32v_pack(of + n, label, begin);
    }
    begins[n] = (uint32_t)(64 * words);
    for (size_t i = 0; i < n; i++) {
        segment s = {.xx = 0};
        add_columns(bundle, &s, begins[i], begins[i + 1]);
        add_segment(bundle, &s, begins[i], &records[of[i]]);
    }
}

#endif
