/* SPDX-License-Identifier: Apache-2.0
 *
 * For kernels: elements of two rows that are equal, as bits; and rows of equal values beside their
 * neighbours.
 */
#ifndef SLUICE_IMAGE_VOLUME_VALUES_H
#define SLUICE_IMAGE_VOLUME_VALUES_H

#include "image/image_volume_kernels.h"

#include "simd/simd.h"

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define OUT_OF_LINE __attribute__((noinline))
#define IN_LINE     inline __attribute__((always_inline)) /* what a constant size leaves of it is short */
#else
#define OUT_OF_LINE
#define IN_LINE inline
#endif

static IN_LINE void equal_u8(const uint8_t *a, const uint8_t *b, size_t n, uint64_t *bits)
{
    uint8_t *out = (uint8_t *)bits;
    size_t i = 0;
    bits[(n - 1) / 64] = 0; /* where a vector is shorter than a word */
    for (; i + SIMD_LANES8 <= n; i += SIMD_LANES8) {
        mask8_store(out + i / 8, u8v_eq(u8v_load(a + i), u8v_load(b + i)));
    }
    if (i < n) {
        mask8_store(out + i / 8, u8v_eq(u8v_load_first(a + i, n - i), u8v_load_first(b + i, n - i)));
    }
    if (n % 64 != 0) { /* zeros are equal to zeros */
        bits[n / 64] &= ~(uint64_t)0 >> (64 - n % 64);
    }
}

/* Sixty-four comparisons of 16 bits: compilers turn the inner loop into vectors of every instruction set. */
static IN_LINE void equal_u16(const uint16_t *a, const uint16_t *b, size_t n, uint64_t *bits)
{
    static const uint8_t zeros[64] = {0};
    uint8_t flags[64];
    for (size_t i = 0; i < n; i += 64) {
        const size_t rest = n - i < 64 ? n - i : 64;
        for (size_t k = 0; k < rest; k++) {
            flags[k] = a[i + k] == b[i + k] ? 0 : 1;
        }
        equal_u8(flags, zeros, rest, bits + i / 64);
    }
}

static IN_LINE void equal_u32(const uint32_t *a, const uint32_t *b, size_t n, uint64_t *bits)
{
    for (size_t word = 0; 64 * word < n; word++) {
        const size_t at = 64 * word, rest = n - at < 64 ? n - at : 64;
        uint64_t all = 0;
        for (size_t i = 0; rest == 64 && i < 64; i += SIMD_LANES) {
            all |= mask32_bits(u32v_eq(u32v_load(a + at + i), u32v_load(b + at + i))) << i;
        }
        for (size_t i = 0; rest < 64 && i < rest; i += SIMD_LANES) {
            const mask32 in = mask32_first(rest - i);
            const u32v own = u32v_load_masked(a + at + i, in), other = u32v_load_masked(b + at + i, in);
            all |= mask32_bits(mask32_and(in, u32v_eq(own, other))) << i;
        }
        bits[word] = all;
    }
}

/* Both halves are. */
static IN_LINE void equal_u64(const uint32_t *a, const uint32_t *b, size_t n, uint64_t *bits)
{
    const uint64_t low = 0x5555555555555555U;
    for (size_t i = 0; i < n; i += 32) {
        uint64_t halves = 0;
        equal_u32(a + 2 * i, b + 2 * i, n - i < 32 ? 2 * (n - i) : 64, &halves);
        const uint64_t word = bits_extract(halves & halves >> 1, low);
        bits[i / 64] = i % 64 == 0 ? word : bits[i / 64] | word << 32;
    }
}

static IN_LINE void equal(const void *a, const void *b, size_t n, size_t size, uint64_t *bits)
{
    if (size == 1) {
        equal_u8(a, b, n, bits);
    } else if (size == 2) {
        equal_u16(a, b, n, bits);
    } else if (size == 4) {
        equal_u32(a, b, n, bits);
    } else {
        equal_u64(a, b, n, bits);
    }
}

/* ---- words of a row ---------------------------------------------------------------------------- */

/* At a row's ends, where a word has not all of its voxels. */
OUT_OF_LINE static uint64_t equal_few(const char *a, const char *b, size_t n, size_t size)
{
    uint64_t word = 0;
    equal(a, b, n, size, &word);
    return word;
}

static IN_LINE uint64_t equal_word(const char *a, const char *b, size_t n, size_t size)
{
    uint64_t word = 0;
    if (n < 64) {
        return equal_few(a, b, n, size);
    }
    equal(a, b, 64, size, &word);
    return word;
}

static inline size_t columns_from(size_t x, size_t width)
{
    return width - x < 64 ? width - x : 64;
}

/* a's voxel in the column before, b's in the column, of a word from column x on. */
static IN_LINE uint64_t equal_moved(const char *a, const char *b, size_t x, size_t width, size_t size)
{
    const size_t n = columns_from(x, width);
    if (x > 0) {
        return equal_word(a + (x - 1) * size, b + x * size, n, size);
    }
    if (width > 64) {
        return equal_word(a, b + size, 64, size) << 1;
    }
    return n > 1 ? equal_few(a, b + size, n - 1, size) << 1 : 0;
}

static inline void find_values_of(const char *row, size_t width, size_t size, uint64_t *all, uint64_t *starts)
{
    static const char zeros[64 * sizeof(uint64_t)];
    for (size_t x = 0; x < width; x += 64) {
        const size_t n = columns_from(x, width);
        const uint64_t here = ~equal_word(row + x * size, zeros, n, size) & ~(uint64_t)0 >> (64 - n);
        all[x / 64] = here;
        starts[x / 64] = here & ~equal_moved(row, row, x, width, size);
    }
}

static void find_values(const void *row, size_t width, size_t size, uint64_t *all, uint64_t *starts)
{
    if (size == 1) {
        find_values_of(row, width, 1, all, starts);
    } else if (size == 2) {
        find_values_of(row, width, 2, all, starts);
    } else if (size == 4) {
        find_values_of(row, width, 4, all, starts);
    } else {
        find_values_of(row, width, 8, all, starts);
    }
}

/* ---- rows of equal values and their neighbours -------------------------------------------------- */

/* A row of a layer at work: its voxels, and those of its neighbours that it has and that are asked for. */
typedef struct row_of_values {
    const char *own, *other[SLC_VOLUME_NEIGHBOURS];
    const uint64_t *all, *all_above, *met_above;
    uint64_t *both[SLC_VOLUME_NEIGHBOURS];
    size_t width;
} row_of_values;

static inline void set_row(const slc_volume_strip *strip, const slc_volume_layer *layer,
                           const slc_volume_values *values, size_t y, row_of_values *row)
{
    const ptrdiff_t at = (ptrdiff_t)y * values->stride;
    const size_t words = y * strip->pitch;
    const bool before = values->before != NULL, wide = before && strip->connectivity != 6;
    row->own = values->own + at;
    row->width = values->width;
    row->other[SLC_VOLUME_ABOVE] = y > 0 && values->above ? row->own - values->stride : NULL;
    row->other[SLC_VOLUME_BEFORE] = before ? values->before + at : NULL;
    row->other[SLC_VOLUME_BEFORE_DOWN] = wide && y + 1 < strip->bundles ? values->before + at + values->stride
                                                                        : NULL;
    row->other[SLC_VOLUME_BEFORE_UP] = wide && y > 0 ? values->before + at - values->stride : NULL;
    row->all = layer->all + words;
    row->all_above = row->all - strip->pitch;
    for (int i = 0; i < SLC_VOLUME_NEIGHBOURS; i++) {
        row->both[i] = (i < SLC_VOLUME_KEPT ? layer->meets[i] : strip->touch) + words;
    }
    row->met_above = row->both[SLC_VOLUME_BEFORE] - strip->pitch;
}

/* With the row straight before. Returns whether any other contact may be needed. */
static IN_LINE bool equal_straight(const row_of_values *row, size_t size, bool six)
{
    const char *other = row->other[SLC_VOLUME_BEFORE];
    uint64_t *met = row->both[SLC_VOLUME_BEFORE], need = 0;
    size_t k = 0;
    for (size_t x = 0; x < row->width; x += 64, k++) {
        const size_t n = columns_from(x, row->width);
        const uint64_t all = row->all[k];
        const uint64_t both = other != NULL ? equal_word(row->own + x * size, other + x * size, n, size) & all
                                            : 0;
        met[k] = both;
        need |= six ? all & row->all_above[k] & ~(both & row->met_above[k]) : all & ~both;
    }
    met[k] = 0;
    return need != 0;
}

/* With the other rows, in words that may need it: those with a voxel whose contacts are not all known by the
 * one straight before it, or after such a voxel. */
static IN_LINE void equal_others(const row_of_values *row, size_t size, bool six, bool always)
{
    static const uint8_t others[] = {SLC_VOLUME_ABOVE, SLC_VOLUME_BEFORE_DOWN, SLC_VOLUME_BEFORE_UP};
    uint64_t last = 0;
    size_t k = 0;
    for (size_t x = 0; x < row->width; x += 64, k++) {
        const size_t n = columns_from(x, row->width);
        const uint64_t all = row->all[k], met = row->both[SLC_VOLUME_BEFORE][k];
        const uint64_t here = six ? all & row->all_above[k] & ~(met & row->met_above[k]) : all & ~met;
        const bool need = (here | last) != 0 || always;
        for (size_t i = 0; i < sizeof others; i++) {
            const char *other = row->other[others[i]];
            row->both[others[i]][k] = need && other != NULL
                                          ? equal_word(row->own + x * size, other + x * size, n, size) & all
                                          : 0;
        }
        last = here >> 63;
    }
    for (size_t i = 0; i < sizeof others; i++) {
        row->both[others[i]][k] = 0;
    }
}

static IN_LINE bool equal_layer(const slc_volume_strip *strip, const slc_volume_layer *layer,
                                const slc_volume_values *values, size_t size)
{
    const bool six = strip->connectivity == 6, always = strip->connectivity == 18;
    bool any = false;
    for (size_t y = 0; y < strip->bundles; y++) {
        row_of_values row;
        set_row(strip, layer, values, y, &row);
        if (equal_straight(&row, size, six) || always) {
            equal_others(&row, size, six, always);
            any = true;
        } else {
            for (int i = 0; i < SLC_VOLUME_NEIGHBOURS; i++) {
                if (i != SLC_VOLUME_BEFORE) {
                    memset(row.both[i], 0, strip->pitch * sizeof(uint64_t));
                }
            }
        }
    }
    return any;
}

/* Sets the columns in which rows of a layer are equal to their neighbours. Returns whether a contact but
 * those straight before may be needed; if not, there is none. */
static bool equal_columns(const slc_volume_strip *strip, const slc_volume_layer *layer,
                          const slc_volume_values *values)
{
    return values->size == 1   ? equal_layer(strip, layer, values, 1)
           : values->size == 2 ? equal_layer(strip, layer, values, 2)
           : values->size == 4 ? equal_layer(strip, layer, values, 4)
                               : equal_layer(strip, layer, values, 8);
}

/* Of marks between columns side by side, those whose voxels are equal: in words from column x on. */
static uint64_t equal_beside(const char *own, const char *other, size_t x, const slc_volume_values *values,
                             int side)
{
    const char *a = side == SLC_VOLUME_BEFORE_IT ? other : own,
               *b = side == SLC_VOLUME_BEFORE_IT ? own : other;
    const size_t size = values->size, width = values->width;
    return size == 1   ? equal_moved(a, b, x, width, 1)
           : size == 2 ? equal_moved(a, b, x, width, 2)
           : size == 4 ? equal_moved(a, b, x, width, 4)
                       : equal_moved(a, b, x, width, 8);
}

#endif
