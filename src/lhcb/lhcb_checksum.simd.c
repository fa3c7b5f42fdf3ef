/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum of MDF records, a record in each lane. A byte takes five operations, each of which waits for
 * the one before; four vectors side by side fill the time, and a step of sixteen bytes turns rows into
 * vectors. B. Jenkins, "Hash functions", Dr. Dobb's Journal, September 1997.
 */
#include "lhcb/lhcb_kernels.h"

#include "simd/simd.h"

enum { WORDS = SLC_MDF_LANE_BYTES / 4, TURNED = WORDS * SIMD_MAX_LANES, AHEAD = 512 };

/* With one byte more, its sign extended. */
static inline u32v mix(u32v h, i32v byte)
{
    const u32v sum = u32v_add(h, u32v_from_i32(byte));
    const u32v times = u32v_add(sum, u32v_shl(sum, 10));
    return u32v_xor(times, u32v_shr(times, 6));
}

/* The same in more operations, of which only four wait for each other: for vectors that are too few to fill
 * the time. */
static inline u32v mix_soon(u32v h, i32v byte)
{
    const u32v b = u32v_from_i32(byte);
    const u32v sum = simd_first(u32v_add(h, u32v_add(b, u32v_shl(b, 10))));
    const u32v times = u32v_add(sum, u32v_shl(h, 10));
    return u32v_xor(times, u32v_shr(times, 6));
}

/* The byte at place k of a little-endian word. */
static inline i32v byte_of(u32v word, unsigned k)
{
    return i32v_sar(i32v_from_u32(u32v_shl(word, 24 - 8 * k)), 24);
}

/* So many streams are more than a processor follows by itself. A quarter of the rows in every step, so that
 * each row's next cache line is asked for once. */
static inline void ask_for_next(const uint8_t *const *at, size_t rows, size_t step)
{
    for (size_t row = step % 4; row < rows; row += 4) {
        __builtin_prefetch(at[row] + SLC_MDF_LANE_BYTES * step + AHEAD);
    }
}

static void hash_one(uint32_t *hash, const uint8_t *const *at, size_t steps)
{
    uint32_t words[TURNED];
    u32v h = u32v_load(hash);
    for (size_t i = 0; i < steps; i++) {
        ask_for_next(at, SIMD_LANES, i);
        u32v_turn4(words, at, SLC_MDF_LANE_BYTES * i);
        for (size_t k = 0; k < WORDS; k++) {
            const u32v word = u32v_load(words + k * SIMD_LANES);
            for (unsigned byte = 0; byte < 4; byte++) {
                h = mix_soon(h, byte_of(word, byte));
            }
        }
    }
    u32v_store(hash, h);
}

static void hash_two(uint32_t *hash, const uint8_t *const *at, size_t steps)
{
    uint32_t words[2][TURNED];
    u32v h0 = u32v_load(hash), h1 = u32v_load(hash + SIMD_LANES);
    for (size_t i = 0; i < steps; i++) {
        ask_for_next(at, 2 * SIMD_LANES, i);
        u32v_turn4(words[0], at, SLC_MDF_LANE_BYTES * i);
        u32v_turn4(words[1], at + SIMD_LANES, SLC_MDF_LANE_BYTES * i);
        for (size_t k = 0; k < WORDS; k++) {
            const u32v word0 = u32v_load(words[0] + k * SIMD_LANES);
            const u32v word1 = u32v_load(words[1] + k * SIMD_LANES);
            for (unsigned byte = 0; byte < 4; byte++) {
                h0 = mix_soon(h0, byte_of(word0, byte));
                h1 = mix_soon(h1, byte_of(word1, byte));
            }
        }
    }
    u32v_store(hash, h0);
    u32v_store(hash + SIMD_LANES, h1);
}

static void hash_four(uint32_t *hash, const uint8_t *const *at, size_t steps)
{
    uint32_t words[4][TURNED];
    u32v h0 = u32v_load(hash), h1 = u32v_load(hash + SIMD_LANES);
    u32v h2 = u32v_load(hash + 2 * SIMD_LANES), h3 = u32v_load(hash + 3 * SIMD_LANES);
    for (size_t i = 0; i < steps; i++) {
        ask_for_next(at, 4 * SIMD_LANES, i);
        for (size_t v = 0; v < 4; v++) {
            u32v_turn4(words[v], at + v * SIMD_LANES, SLC_MDF_LANE_BYTES * i);
        }
        for (size_t k = 0; k < WORDS; k++) {
            const u32v word0 = u32v_load(words[0] + k * SIMD_LANES);
            const u32v word1 = u32v_load(words[1] + k * SIMD_LANES);
            const u32v word2 = u32v_load(words[2] + k * SIMD_LANES);
            const u32v word3 = u32v_load(words[3] + k * SIMD_LANES);
            for (unsigned byte = 0; byte < 4; byte++) {
                h0 = mix(h0, byte_of(word0, byte));
                h1 = mix(h1, byte_of(word1, byte));
                h2 = mix(h2, byte_of(word2, byte));
                h3 = mix(h3, byte_of(word3, byte));
            }
        }
    }
    u32v_store(hash, h0);
    u32v_store(hash + SIMD_LANES, h1);
    u32v_store(hash + 2 * SIMD_LANES, h2);
    u32v_store(hash + 3 * SIMD_LANES, h3);
}

/* Four vectors take hardly longer than three, so that lanes after the last record do the work of others. */
static void hash(uint32_t *hashes, const uint8_t *const *at, size_t n, size_t steps)
{
    size_t lane = 0;
    while (lane < n) {
        const size_t left = n - lane;
        if (left > 2 * SIMD_LANES && lane + 4 * SIMD_LANES <= SLC_MDF_LANES) {
            hash_four(hashes + lane, at + lane, steps);
            lane += 4 * SIMD_LANES;
        } else if (left > SIMD_LANES && lane + 2 * SIMD_LANES <= SLC_MDF_LANES) {
            hash_two(hashes + lane, at + lane, steps);
            lane += 2 * SIMD_LANES;
        } else {
            hash_one(hashes + lane, at + lane, steps);
            lane += SIMD_LANES;
        }
    }
}

static size_t lanes(void)
{
    return SIMD_LANES;
}

const slc_mdf_kernels SIMD_TABLE(slc_mdf) = {.target = SIMD_TARGET_NAME, .lanes = lanes, .hash = hash};
