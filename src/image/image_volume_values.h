/* SPDX-License-Identifier: Apache-2.0
 *
 * For kernels: elements of two rows that are equal, as bits.
 */
#ifndef SLUICE_IMAGE_VOLUME_VALUES_H
#define SLUICE_IMAGE_VOLUME_VALUES_H

#include "simd/simd.h"

#include <stdint.h>

static inline void equal_u8(const uint8_t *a, const uint8_t *b, size_t n, uint64_t *bits)
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
static inline void equal_u16(const uint16_t *a, const uint16_t *b, size_t n, uint64_t *bits)
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

static inline void equal_u32(const uint32_t *a, const uint32_t *b, size_t n, uint64_t *bits)
{
    for (size_t word = 0; 64 * word < n; word++) {
        const size_t at = 64 * word, rest = n - at < 64 ? n - at : 64;
        uint64_t all = 0;
        for (size_t i = 0; i < rest; i += SIMD_LANES) {
            const mask32 in = mask32_first(rest - i);
            const u32v own = u32v_load_masked(a + at + i, in), other = u32v_load_masked(b + at + i, in);
            all |= mask32_bits(mask32_and(in, u32v_eq(own, other))) << i;
        }
        bits[word] = all;
    }
}

/* Both halves are. */
static inline void equal_u64(const uint32_t *a, const uint32_t *b, size_t n, uint64_t *bits)
{
    static const uint32_t zeros[64];
    const uint64_t low = 0x5555555555555555U;
    for (size_t i = 0; i < n; i += 32) {
        uint64_t halves = 0;
        equal_u32(a + 2 * i, b != NULL ? b + 2 * i : zeros, n - i < 32 ? 2 * (n - i) : 64, &halves);
        const uint64_t word = bits_extract(halves & halves >> 1, low);
        bits[i / 64] = i % 64 == 0 ? word : bits[i / 64] | word << 32;
    }
}

static inline void equal(const void *a, const void *b, size_t n, size_t size, uint64_t *bits)
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

#endif
