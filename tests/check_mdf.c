/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum of MDF records on every target of this machine, against the definition, byte after byte: any
 * number of records of any lengths, each of which ends at a byte that may not be read by the next one's lane.
 */
#include "lhcb/lhcb_checksum.h"
#include "lhcb/lhcb_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <string.h>

enum { MOST = 200, ROOM = 1 << 18 };

static slc_check_memory memory;

/* Jenkins' hash in arithmetic alone: bytes are signed, the sum is taken modulo 2^32. */
static uint32_t oracle(uint32_t hash, const uint8_t *bytes, size_t size)
{
    uint64_t h = hash;
    for (size_t i = 0; i < size; i++) {
        const int64_t byte = bytes[i] < 128 ? bytes[i] : (int64_t)bytes[i] - 256;
        h = (h + (uint64_t)byte) % (1ULL << 32) * 1025 % (1ULL << 32);
        h ^= h / 64;
    }
    return (uint32_t)h;
}

/* So many records of up to `longest` bytes, the last of which ends where memory does. */
static void check_all(slc_simd_target target, uint32_t n, uint32_t longest, uint64_t *random)
{
    slc_mdf_stretch stretches[MOST];
    uint32_t wanted[MOST];
    bool seen[MOST] = {false};
    for (uint32_t i = 0; i < n; i++) {
        const size_t size = random_below(random, longest + 1);
        const size_t from = i + 1 == n ? ROOM - size : random_below(random, (uint32_t)(ROOM - size));
        const uint32_t hash = (uint32_t)random_u64(random);
        stretches[i] = (slc_mdf_stretch){memory.end - ROOM + from, size, hash, i};
        wanted[i] = oracle(hash, stretches[i].bytes, size);
    }
    slc_mdf_hash_all(target, stretches, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t index = stretches[i].index;
        if (index >= n || seen[index] || stretches[i].hash != wanted[index]) {
            slc_check_fail("%u records of up to %u bytes: record %u of %zu bytes gives %08x, not %08x", n,
                           longest, index, stretches[i].size, stretches[i].hash, wanted[index]);
            return;
        }
        seen[index] = true;
    }
    slc_check_values(n);
}

/* The kernel itself: any number of lanes, and the lanes behind may hold anything. */
static void check_lanes(slc_simd_target target, size_t n, size_t steps, uint64_t *random)
{
    uint32_t hash[SLC_MDF_LANES], wanted[SLC_MDF_LANES];
    const uint8_t *at[SLC_MDF_LANES];
    const size_t size = steps * SLC_MDF_LANE_BYTES;
    for (size_t i = 0; i < SLC_MDF_LANES; i++) {
        at[i] = i == n - 1 ? memory.end - size : memory.first + random_below(random, (uint32_t)(ROOM - size));
        hash[i] = (uint32_t)random_u64(random);
        wanted[i] = oracle(hash[i], at[i], size);
    }
    slc_mdf_kernels_of(target)->hash(hash, at, n, steps);
    for (size_t i = 0; i < n; i++) {
        if (hash[i] != wanted[i]) {
            slc_check_fail("%zu lanes, %zu steps: lane %zu gives %08x, not %08x", n, steps, i, hash[i],
                           wanted[i]);
            return;
        }
    }
    slc_check_values(n);
}

static void check_target(slc_simd_target target, uint64_t random)
{
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 8, 16, 17, 31, 33, 48, 63, 64, 65, 100, MOST};
    for (uint32_t i = 0; memory.first + i < memory.end; i++) {
        memory.first[i] = (uint8_t)random_u64(&random);
    }
    slc_check_doing("mdf.checksum");
    for (size_t n = 1; n <= SLC_MDF_LANES; n++) {
        for (size_t steps = 1; steps <= 3; steps++) {
            check_lanes(target, n, steps, &random);
        }
    }
    slc_check_doing("slc_mdf_hash_all");
    check_all(target, 0, 0, &random);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_all(target, counts[i], 0, &random);
        check_all(target, counts[i], 15, &random);
        check_all(target, counts[i], 100, &random);
        check_all(target, counts[i], 3000, &random);
    }
    slc_check_cases(slc_mdf_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    memory = slc_check_map(ROOM);
    slc_check_targets(check_target, "checksums of records");
    slc_check_unmap(&memory);
    return slc_check_end();
}
