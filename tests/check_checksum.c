/* SPDX-License-Identifier: Apache-2.0
 *
 * The hash of results' columns on every target of this machine: numbers that xxHash's own tool gives (`xxhsum
 * -H3`), and plain C's of any length, at once and in pieces, up to the last byte that may be read.
 */
#include "simd/simd_checksum.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <string.h>

enum { ROOM = 1 << 15 };

static slc_check_memory memory;

/* xxhsum -H3 of nothing, "hits/x_mm", the bytes 0 … 255, and these four times. */
static void check_known(const slc_checksum_kernels *kernels)
{
    uint8_t bytes[1024];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    const struct {
        const void *bytes;
        size_t size;
        uint64_t hash;
    } known[] = {{"", 0, UINT64_C(0x2d06800538d394c2)},
                 {"hits/x_mm", 9, UINT64_C(0xec05b56ece8b34b2)},
                 {bytes, 256, UINT64_C(0x9408a4433b952d71)},
                 {bytes, 1024, UINT64_C(0xa870f92984398d22)}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint64_t found = kernels->hash(known[i].bytes, known[i].size);
        if (found != known[i].hash) {
            slc_check_fail("%zu bytes give %016llx, not %016llx", known[i].size, (unsigned long long)found,
                           (unsigned long long)known[i].hash);
        }
    }
    slc_check_values(sizeof known / sizeof *known);
}

static void check_length(const slc_checksum_kernels *kernels, size_t size, uint64_t *random)
{
    const uint8_t *bytes = memory.end - size;
    const uint64_t wanted = slc_checksum_kernels_of(SLC_SIMD_C)->hash(bytes, size);
    const uint64_t found = kernels->hash(bytes, size);
    slc_checksum_state state;
    kernels->begin(&state);
    for (size_t at = 0; at < size;) {
        const size_t left = size - at, piece = 1 + random_below(random, left > 700 ? 700 : (uint32_t)left);
        kernels->add(&state, bytes + at, piece);
        at += piece;
    }
    const uint64_t pieces = kernels->end(&state);
    if (found != wanted || pieces != wanted) {
        slc_check_fail("%zu bytes give %016llx, in pieces %016llx, not %016llx", size,
                       (unsigned long long)found, (unsigned long long)pieces, (unsigned long long)wanted);
    }
    slc_check_values(2);
}

static void check_target(slc_simd_target target, uint64_t random)
{
    const slc_checksum_kernels *kernels = slc_checksum_kernels_of(target);
    for (uint32_t i = 0; memory.first + i < memory.end; i++) {
        memory.first[i] = (uint8_t)random_u64(&random);
    }
    slc_check_doing("base.checksum");
    check_known(kernels);
    for (size_t size = 0; size < 2100; size++) {
        check_length(kernels, size, &random);
    }
    for (int i = 0; i < 300; i++) {
        check_length(kernels, random_below(&random, ROOM), &random);
    }
    slc_check_cases(slc_checksum_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    memory = slc_check_map(ROOM);
    slc_check_targets(check_target, "hashes of columns");
    slc_check_unmap(&memory);
    return slc_check_end();
}
