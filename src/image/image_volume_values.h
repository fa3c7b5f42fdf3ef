/* SPDX-License-Identifier: Apache-2.0
 *
 * For kernels: elements of two rows that are equal, as bits; and a row of equal values beside its neighbours.
 */
#ifndef SLUICE_IMAGE_VOLUME_VALUES_H
#define SLUICE_IMAGE_VOLUME_VALUES_H

#include "image/image_volume_kernels.h"

#include "simd/simd.h"

#include <stdint.h>

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

/* ---- contacts of equal values ------------------------------------------------------------------ */

/* With the row of the slice before in the column itself: an edge where an interval of equal columns begins.
 * Returns whether any other contact may be needed. */
static IN_LINE bool compare_straight(const slc_volume_compared *c, size_t size, uint32_t *some)
{
    const char *own = c->own, *other = c->other[SLC_VOLUME_BEFORE];
    uint64_t *met = c->met[SLC_VOLUME_BEFORE], *marks = c->marks[SLC_VOLUME_BEFORE][SLC_VOLUME_COLUMN];
    uint64_t last = 0, need = 0, any = 0;
    for (size_t x = 0, k = 0; x < c->width; x += 64, k++) {
        const size_t n = columns_from(x, c->width);
        const uint64_t all = c->all[k];
        const uint64_t both = other != NULL ? equal_word(own + x * size, other + x * size, n, size) & all : 0;
        marks[k] = both & ~((both << 1 | last) & ~c->starts[k]);
        any |= marks[k];
        need |= c->connectivity == 6 ? all & c->all_above[k] & ~(both & c->met_above[k]) : all & ~both;
        met[k] = both;
        last = both >> 63;
    }
    *some |= any != 0 ? 1U << (SLC_VOLUME_SIDES * SLC_VOLUME_BEFORE + SLC_VOLUME_COLUMN) : 0;
    return need != 0;
}

/* Of the intervals of `both`, which end where a run begins, the last columns of those that have no column
 * that is known; an interval that goes on in the next word ends here, unless it is known: then *carry is set.
 */
static inline uint64_t unknown_intervals(uint64_t both, uint64_t starts, uint64_t known, uint64_t *carry)
{
    /* A carry comes from a known column, runs on in its interval and dies where a run begins. */
    const uint64_t from = known & both, on = both & (~starts | from), sum = from + on, all = sum + *carry;
    *carry = (sum < from ? 1U : 0U) | (all < sum ? 1U : 0U);
    return both & ~((both & ~starts) >> 1) & ~from & ~((all ^ from ^ on) & ~starts);
}

/* With any neighbour; what was found in compare_straight makes most of it known. A voxel that is equal to the
 * one straight before it needs none of its other contacts, as that one has them all: with 26 neighbours those
 * in the columns beside, too, and with 6 none in the slice, unless the row above has the same. By way of the
 * row above a voxel knows the contacts with the slice before that are still higher. */
static IN_LINE uint32_t compare_neighbour(const slc_volume_compared *c, int neighbour, size_t size)
{
    const bool six = c->connectivity == 6, wide = c->connectivity == 26,
               straight = neighbour == SLC_VOLUME_BEFORE;
    const bool side = wide || (!six && neighbour < SLC_VOLUME_BEFORE_DOWN), spares = straight || wide;
    const bool by_above = neighbour == SLC_VOLUME_BEFORE_UP && c->other[SLC_VOLUME_ABOVE] != NULL;
    const char *own = c->own, *other = c->other[neighbour];
    uint64_t *const *marks = c->marks[neighbour], any[SLC_VOLUME_SIDES] = {0};
    uint64_t all_before = 0, both_before = 0, known_before = 0, carry = 0;
    for (size_t x = 0, k = 0; x < c->width; x += 64, k++) {
        const size_t n = columns_from(x, c->width);
        const uint64_t all = c->all[k], all_left = all << 1 | all_before;
        const uint64_t known = (c->met[SLC_VOLUME_BEFORE][k] & (six ? c->met_above[k] : ~(uint64_t)0)) |
                               (by_above ? c->met[SLC_VOLUME_ABOVE][k] : 0);
        const uint64_t known_left = known << 1 | known_before;
        const uint64_t need = ((six ? all & c->all_above[k] : all) & ~known) | (all_before & ~known_before);
        uint64_t both = straight ? known : 0, column = 0, before = 0, behind = 0;
        if (need != 0 || (side && !spares)) {
            if (!straight) {
                both = equal_word(own + x * size, other + x * size, n, size) & all;
                column = unknown_intervals(both, c->starts[k], known, &carry);
            }
            if (side) {
                const uint64_t beside = both | both << 1 | both_before;
                before = equal_moved(other, own, x, c->width, size) & all & ~(beside | (spares ? known : 0));
                behind = equal_moved(own, other, x, c->width, size) & all_left &
                         ~(beside | (spares ? known_left : 0));
            }
        } else {
            carry = wide ? 1 : 0; /* the run that goes on into the next word is equal here */
        }
        if (!straight) {
            marks[SLC_VOLUME_COLUMN][k] = column;
            any[SLC_VOLUME_COLUMN] |= column;
        }
        if (side) {
            marks[SLC_VOLUME_BEFORE_IT][k] = before;
            marks[SLC_VOLUME_BEHIND_IT][k] = behind;
            any[SLC_VOLUME_BEFORE_IT] |= before;
            any[SLC_VOLUME_BEHIND_IT] |= behind;
        }
        if (neighbour == SLC_VOLUME_ABOVE) {
            c->met[SLC_VOLUME_ABOVE][k] = both;
        }
        all_before = all >> 63;
        both_before = both >> 63;
        known_before = known >> 63;
    }
    uint32_t some = 0;
    for (uint32_t i = 0; i < SLC_VOLUME_SIDES; i++) {
        some |= (any[i] != 0 ? 1U : 0U) << i;
    }
    return some << (SLC_VOLUME_SIDES * (uint32_t)neighbour);
}

static inline uint32_t compare_row(const slc_volume_compared *c, size_t size)
{
    uint32_t some = 0;
    if (compare_straight(c, size, &some) || c->connectivity == 18) {
        for (int i = 0; i < SLC_VOLUME_NEIGHBOURS;
             i++) { /* the row above comes before those that know by it */
            const bool wanted = c->connectivity != 6 || i == SLC_VOLUME_ABOVE;
            some |= wanted && c->other[i] != NULL ? compare_neighbour(c, i, size) : 0;
        }
    }
    return some;
}

static uint32_t compare(const slc_volume_compared *c)
{
    return c->size == 1   ? compare_row(c, 1)
           : c->size == 2 ? compare_row(c, 2)
           : c->size == 4 ? compare_row(c, 4)
                          : compare_row(c, 8);
}

#endif
