/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of PET singles on every target of this machine, against one single at a time. Gains end at
 * pages that may not be touched, and crystal numbers behind the last single are none.
 */
#include "pet/pet_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SINGLES = 3000, CRYSTALS = 97, SPARE = 64 };

static slc_check_memory amplitude, crystal, gain, energy, index_out, time_in, later_in, near_out;

static void *at_end(const slc_check_memory *memory, size_t elements)
{
    return memory->end - 4 * elements;
}

static float random_amplitude(uint64_t *seed)
{
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 350.0f, 650.0f, 1e-42f, 3e38f};
    return random_below(seed, 10) == 0 ? special[random_below(seed, 9)] : (float)(1000 * random_unit(seed));
}

/* Keeps the indices of what should be kept; returns how many. */
static size_t oracle_window(const float *a, const uint32_t *c, const float *g, float low, float high,
                            size_t n, uint32_t *kept)
{
    size_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        const float e = c != NULL ? a[i] * g[c[i]] : a[i];
        if (e >= low && e < high) {
            kept[k++] = i;
        }
    }
    return k;
}

static void check_window(const slc_pet_kernels *kernels, size_t n, float low, float high, uint64_t *seed)
{
    static uint32_t expected[MAX_SINGLES];
    float *a = at_end(&amplitude, n + SPARE), *g = at_end(&gain, CRYSTALS), *e = at_end(&energy, n + SPARE);
    uint32_t *c = at_end(&crystal, n + SPARE), *k = at_end(&index_out, n + SPARE);
    memset(c, 0xff, 4 * (n + SPARE));
    for (size_t i = 0; i < CRYSTALS; i++) {
        g[i] = (float)(0.5 + random_unit(seed));
    }
    for (size_t i = 0; i < n + SPARE; i++) {
        a[i] = random_amplitude(seed);
        c[i] = i < n ? random_below(seed, CRYSTALS) : UINT32_MAX;
    }
    slc_check_doing("pet.energy_window");
    size_t wanted = oracle_window(a, c, g, low, high, n, expected);
    size_t found = kernels->energy_window(a, c, g, low, high, n, e, k);
    if (found != wanted || memcmp(k, expected, 4 * wanted) != 0) {
        slc_check_fail("energy_window of %zu singles keeps %zu, not %zu, or others", n, found, wanted);
        return;
    }
    for (size_t i = 0; i < wanted; i++) {
        if (e[i] != a[expected[i]] * g[c[expected[i]]]) {
            slc_check_fail("energy_window of %zu singles: energy %zu is %g", n, i, (double)e[i]);
            return;
        }
    }
    slc_check_doing("pet.energy_cut");
    wanted = oracle_window(a, NULL, NULL, low, high, n, expected);
    found = kernels->energy_cut(a, low, high, n, e);
    if (found != wanted) {
        slc_check_fail("energy_cut of %zu singles keeps %zu, not %zu", n, found, wanted);
        return;
    }
    for (size_t i = 0; i < wanted; i++) {
        if (e[i] != a[expected[i]]) {
            slc_check_fail("energy_cut of %zu singles: energy %zu is %g", n, i, (double)e[i]);
            return;
        }
    }
    slc_check_values(2 * n + 1);
}

/* Times and bits end exactly at pages that may not be touched, and each bit of the last word is as it has to
 * be. */
static void check_near(const slc_pet_kernels *kernels, size_t n, uint32_t limit, uint64_t *seed)
{
    const size_t words = (n + 63) / 64;
    int64_t *t = (void *)(time_in.end - 8 * (n + 1));
    uint64_t *near = (void *)(near_out.end - 8 * words);
    const uint64_t room = UINT32_MAX - (uint64_t)n,
                   most = n == 0 || 3 * (uint64_t)limit < room / n ? 3 * (uint64_t)limit : room / n;
    t[0] = (int64_t)random_u64(seed) >> random_below(seed, 40);
    t[0] = t[0] > INT64_MAX - UINT32_MAX ? INT64_MAX - UINT32_MAX : t[0];
    for (size_t i = 0; i < n; i++) {
        const uint64_t step = random_u64(seed) % (most + 2);
        /* The edge, one beyond, and at once, often. */
        t[i + 1] = t[i] + (int64_t)(random_below(seed, 3) != 0 ? step
                                    : (uint64_t)limit <= most  ? limit + step % 2
                                                               : 0);
    }
    memset(near, 0xa5, 8 * words);
    slc_check_doing("pet.near_next");
    kernels->near_next(t, limit, n, near);
    for (size_t i = 0; i < 64 * words; i++) {
        const bool wanted = i < n && (uint64_t)t[i + 1] - (uint64_t)t[i] <= limit;
        if ((near[i / 64] >> (i % 64) & 1) != wanted) {
            slc_check_fail("near_next of %zu singles, limit %u: bit %zu is not %d", n, limit, i, wanted);
            return;
        }
    }
    slc_check_values(n + 1);
}

static void check_all_near(const slc_pet_kernels *kernels, uint64_t *seed)
{
    static const uint32_t limits[] = {0, 1, 4000, 1000000, 0x7fffffff, 0x80000000, UINT32_MAX};
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        for (size_t n = 0; n <= 300; n++) {
            check_near(kernels, n, limits[l], seed);
        }
        check_near(kernels, MAX_SINGLES, limits[l], seed);
    }
}

/* Both rows of times end at pages that may not be touched. */
static void check_later(const slc_pet_kernels *kernels, size_t n, size_t m, uint32_t width, uint64_t *seed)
{
    const size_t words = (n + 63) / 64;
    int64_t *t = (void *)(time_in.end - 8 * n), *u = (void *)(later_in.end - 8 * m);
    uint64_t *near = (void *)(near_out.end - 8 * words);
    const uint64_t low = random_u64(seed) >> random_below(seed, 64), mean = width / 2 + 1;
    const uint64_t longest = ((UINT64_C(1) << 30) - 1) / (n > m ? n + 1 : m + 1); /* of steps */
    const uint64_t most = 2 * mean < longest ? 2 * mean : longest;
    uint64_t at = random_u64(seed), later = at + low - random_below(seed, 2) * most;
    for (size_t i = 0; i < n; i++) {
        t[i] = (int64_t)(at += random_u64(seed) % (most + 1));
    }
    for (size_t k = 0; k < m; k++) {
        /* The edges, and one beyond them, often. */
        const uint64_t edge = n > 0 ? (uint64_t)t[random_below(seed, (uint32_t)n)] + low +
                                          (random_below(seed, 2) != 0 ? width : 0) + random_below(seed, 3) - 1
                                    : later;
        const uint64_t step = edge - later;
        later += random_below(seed, 2) != 0 && step <= 2 * most ? step : random_u64(seed) % (most + 1);
        u[k] = (int64_t)later;
    }
    memset(near, 0xa5, 8 * words);
    slc_check_doing("pet.near_later");
    kernels->near_later(t, n, u, m, low, width, near);
    for (size_t i = 0; i < 64 * words; i++) {
        bool wanted = false;
        for (size_t k = 0; k < m && i < n; k++) {
            wanted = wanted || (uint64_t)u[k] - (uint64_t)t[i] - low <= width;
        }
        if ((near[i / 64] >> (i % 64) & 1) != wanted) {
            slc_check_fail("near_later of %zu singles and %zu, width %u: bit %zu is not %d", n, m, width, i,
                           wanted);
            return;
        }
    }
    slc_check_values(n + 1);
}

static void check_all_later(const slc_pet_kernels *kernels, uint64_t *seed)
{
    static const uint32_t widths[] = {0, 1, 4000, 1000000, (1U << 30) - 1};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t n = 0; n <= 200; n++) {
            check_later(kernels, n, random_below(seed, 2 * (uint32_t)n + 2), widths[w], seed);
        }
        check_later(kernels, 1000, 900, widths[w], seed);
    }
}

/* The sum by the definition (docs/formats/checksum.md), one pair at a time. */
static void check_pairs(const slc_pet_kernels *kernels, size_t n, uint32_t delayed, uint64_t *seed)
{
    enum { MOST = 300 };
    static int64_t time[MOST], dt[MOST];
    static uint32_t cry[2][MOST], bits[2][MOST];
    static float kev[2][MOST];
    static uint64_t power[MOST];
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t wanted = 0;
    for (size_t i = 0; i < n; i++) {
        time[i] = (int64_t)random_u64(seed);
        dt[i] = (int64_t)random_u64(seed) >> 20;
        power[i] = random_u64(seed) | 1;
        for (size_t k = 0; k < 2; k++) {
            cry[k][i] = (uint32_t)random_u64(seed);
            bits[k][i] = (uint32_t)random_u64(seed);
            memcpy(&kev[k][i], &bits[k][i], 4);
        }
        const uint64_t words[4] = {(uint64_t)time[i], (uint64_t)dt[i],
                                   cry[0][i] + ((uint64_t)cry[1][i] << 32),
                                   bits[0][i] + ((uint64_t)bits[1][i] << 32)};
        uint64_t h = delayed != 0 ? UINT64_C(0xc2b2ae3d27d4eb4f) : 0;
        for (size_t w = 0; w < 4; w++) {
            h = (h ^ words[w]) * factor;
            h ^= h >> 32;
        }
        wanted += h * power[i];
    }
    const slc_pet_pair_columns pairs = {time, dt, cry[0], cry[1], kev[0], kev[1]};
    const uint64_t found = kernels->pair_sum(&pairs, n, delayed, power);
    if (found != wanted) {
        slc_check_fail("pair_sum of %zu pairs: %016llx, not %016llx", n, (unsigned long long)found,
                       (unsigned long long)wanted);
    }
    slc_check_values(1);
}

static void check_target(slc_simd_target target, uint64_t seed)
{
    static const float windows[][2] = {{350, 650}, {0, 1e30f}, {-1e30f, INFINITY}, {650, 350}, {NAN, 650}};
    const slc_pet_kernels *kernels = slc_pet_kernels_of(target);
    for (size_t n = 0; n <= 200; n++) {
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            check_window(kernels, n, windows[w][0], windows[w][1], &seed);
        }
    }
    for (size_t n = 250; n <= MAX_SINGLES; n += 250) {
        check_window(kernels, n, 350, 650, &seed);
    }
    check_all_near(kernels, &seed);
    check_all_later(kernels, &seed);
    slc_check_doing("pet.pair_sum");
    for (uint32_t n = 0; n < 300; n++) {
        check_pairs(kernels, n, n % 2, &seed);
    }
    slc_check_cases(slc_pet_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    slc_check_memory *const all[] = {&amplitude, &crystal, &gain,     &energy,
                                     &index_out, &time_in, &later_in, &near_out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = slc_check_map(8 * (MAX_SINGLES + SPARE));
    }
    slc_check_targets(check_target, "energy_window, energy_cut, near_next, near_later, pair_sum");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_check_unmap(all[i]);
    }
    return slc_check_end();
}
