/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH3_64bits of xxHash (Y. Collet), compiled for every instruction set: Debian's libxxhash has SSE2 alone unless it is
 * asked for in another way. The header is the library; nothing is linked.
 */
#include "simd/simd_checksum.h"

#if defined(SIMD_C)
#define XXH_VECTOR XXH_SCALAR
#elif defined(SIMD_SSE4) || defined(SIMD_AVX512VL128)
#define XXH_VECTOR XXH_SSE2
#elif defined(SIMD_AVX2) || defined(SIMD_AVX512VL256)
#define XXH_VECTOR XXH_AVX2
#elif defined(SIMD_AVX512) || defined(SIMD_AVX512ICL)
#define XXH_VECTOR XXH_AVX512
#else
#define XXH_VECTOR XXH_NEON
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "simd/simd.h"

_Static_assert(sizeof(XXH3_state_t) <= sizeof(slc_checksum_state), "the state has room");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(slc_checksum_state), "and lies well");

static uint64_t hash(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

static void begin(slc_checksum_state *state)
{
    (void)XXH3_64bits_reset((XXH3_state_t *)(void *)state);
}

static void add(slc_checksum_state *state, const void *bytes, size_t size)
{
    (void)XXH3_64bits_update((XXH3_state_t *)(void *)state, bytes, size);
}

static uint64_t end(const slc_checksum_state *state)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)state);
}

const slc_checksum_kernels SIMD_TABLE(slc_checksum) = {SIMD_TARGET_NAME, hash, begin, add, end};
