/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of bits in words of 64: the same code on every target. Bit 0 of word 0 is the leftmost pixel.
 */
#ifndef SLUICE_SIMD_BITS_H
#define SLUICE_SIMD_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Bits that begin a run: set, and the one before it is not. `before` is the previous word (0 at the row's start). */
static inline uint64_t bits_starts(uint64_t word, uint64_t before) { return word & ~(word << 1 | before >> 63); }
/* Bits after the end of a run: not set, and the one before it is. */
static inline uint64_t bits_ends(uint64_t word, uint64_t before) { return ~word & (word << 1 | before >> 63); }
/* Both: where a bit differs from the one before it. */
static inline uint64_t bits_edges(uint64_t word, uint64_t before) { return word ^ (word << 1 | before >> 63); }
static inline size_t bits_count(uint64_t word) { return (size_t)__builtin_popcountll(word); }
/* Positions of the lowest and the highest set bit, 64 where there is none. */
static inline size_t bits_lowest(uint64_t word) { return word != 0 ? (size_t)__builtin_ctzll(word) : 64; }
static inline size_t bits_highest(uint64_t word) { return word != 0 ? 63 - (size_t)__builtin_clzll(word) : 64; }

#endif
