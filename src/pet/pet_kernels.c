/* SPDX-License-Identifier: Apache-2.0
 * Which table serves a target, what `auto` prefers, and the standard inputs of the kernels of PET singles. */
#include "pet/pet_kernels.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_pet_kernels_##target,
static const slc_pet_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_pet_kernels *slc_pet_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

/* ---- standard input ---------------------------------------------------------------------------- */

enum {
    SINGLES = 1024, /* all columns lie in the first-level cache */
    CRYSTALS = 1024,
    SPARE = SLC_COLUMN_ALIGN / 4
};

typedef struct singles_scratch {
    float amplitude[SINGLES + SPARE], energy[SINGLES + SPARE], kept[SINGLES + SPARE];
    float gain[CRYSTALS];
    uint32_t crystal[SINGLES + SPARE], index[SINGLES + SPARE];
    size_t n_kept;
} singles_scratch;

static const float low_kev = 350, high_kev = 650;

/* Every second single lies in the window, in no order: the worst case for a branch. */
static void prepare_singles(void *scratch, uint64_t seed)
{
    singles_scratch *singles = scratch;
    memset(singles, 0, sizeof *singles);
    for (size_t i = 0; i < CRYSTALS; i++) {
        singles->gain[i] = slc_random_between(&seed, 0.9f, 1.1f);
    }
    for (size_t i = 0; i < SINGLES; i++) {
        singles->crystal[i] = slc_random_below(&seed, CRYSTALS);
        singles->energy[i] = slc_random_below(&seed, 2) != 0 ? slc_random_between(&seed, 360, 640)
                                                             : slc_random_between(&seed, 0, 340);
        singles->amplitude[i] = singles->energy[i] / singles->gain[singles->crystal[i]];
    }
}

static void run_window(void *scratch, slc_simd_target target)
{
    singles_scratch *s = scratch;
    s->n_kept = slc_pet_kernels_of(target)->energy_window(s->amplitude, s->crystal, s->gain, low_kev,
                                                          high_kev, SINGLES, s->kept, s->index);
}

static void run_cut(void *scratch, slc_simd_target target)
{
    singles_scratch *s = scratch;
    s->n_kept = slc_pet_kernels_of(target)->energy_cut(s->energy, low_kev, high_kev, SINGLES, s->kept);
}

static uint64_t digest_cut(const void *scratch)
{
    const singles_scratch *s = scratch;
    return slc_simd_digest(s->n_kept, s->kept, s->n_kept * sizeof *s->kept);
}

static uint64_t digest_window(const void *scratch)
{
    const singles_scratch *s = scratch;
    return slc_simd_digest(digest_cut(scratch), s->index, s->n_kept * sizeof *s->index);
}

/* Times as they come at 20 million singles a second: one in twelve is followed within four nanoseconds. */
typedef struct times_scratch {
    int64_t time[SINGLES + SPARE];
    uint64_t near[SINGLES / 64];
} times_scratch;

static void prepare_times(void *scratch, uint64_t seed)
{
    times_scratch *s = scratch;
    int64_t time = (int64_t)slc_random_u64(&seed) / 2;
    for (size_t i = 0; i < SINGLES + SPARE; i++) {
        s->time[i] = time;
        time += slc_random_below(&seed, 96000);
    }
}

static void run_near(void *scratch, slc_simd_target target)
{
    times_scratch *s = scratch;
    slc_pet_kernels_of(target)->near_next(s->time, 4000, SINGLES, s->near);
}

static uint64_t digest_near(const void *scratch)
{
    const times_scratch *s = scratch;
    return slc_simd_digest(0, s->near, sizeof s->near);
}

/* The same for windows that begin 100 ns later. */
typedef struct later_scratch {
    int64_t time[2 * SINGLES + SPARE];
    size_t begin, end; /* of the windows of the first SINGLES */
    uint64_t near[SINGLES / 64];
} later_scratch;
enum { LATER = 100000, LATER_WIDTH = 4000 };

static void prepare_later(void *scratch, uint64_t seed)
{
    later_scratch *s = scratch;
    int64_t time = (int64_t)slc_random_u64(&seed) / 2;
    for (size_t i = 0; i < 2 * SINGLES + SPARE; i++) {
        s->time[i] = time;
        time += slc_random_below(&seed, 96000);
    }
    for (s->begin = 0; s->time[s->begin] - s->time[0] < LATER; s->begin++) {
    }
    for (s->end = SINGLES; s->time[s->end] - s->time[SINGLES - 1] <= LATER + LATER_WIDTH; s->end++) {
    }
}

static void run_later(void *scratch, slc_simd_target target)
{
    later_scratch *s = scratch;
    slc_pet_kernels_of(target)->near_later(s->time, SINGLES, s->time + s->begin, s->end - s->begin, LATER,
                                           LATER_WIDTH, s->near);
}

static uint64_t digest_later(const void *scratch)
{
    const later_scratch *s = scratch;
    return slc_simd_digest(0, s->near, sizeof s->near);
}

typedef struct pairs_scratch {
    int64_t time[SINGLES + SPARE], dt[SINGLES + SPARE];
    uint32_t crystal[2][SINGLES + SPARE];
    float energy[2][SINGLES + SPARE];
    uint64_t power[SINGLES + SPARE], sum;
} pairs_scratch;

static void prepare_pairs(void *scratch, uint64_t seed)
{
    pairs_scratch *s = scratch;
    for (size_t i = 0; i < SINGLES; i++) {
        s->time[i] = (int64_t)slc_random_u64(&seed);
        s->dt[i] = (int64_t)slc_random_below(&seed, 8000) - 4000;
        s->power[i] = i > 0 ? s->power[i - 1] * SLC_CHECKSUM_FACTOR : 1;
        for (size_t k = 0; k < 2; k++) {
            s->crystal[k][i] = slc_random_below(&seed, CRYSTALS);
            s->energy[k][i] = slc_random_between(&seed, 350, 650);
        }
    }
}

static void run_pairs(void *scratch, slc_simd_target target)
{
    pairs_scratch *s = scratch;
    const slc_pet_pair_columns pairs = {s->time,       s->dt,        s->crystal[0],
                                        s->crystal[1], s->energy[0], s->energy[1]};
    s->sum = slc_pet_kernels_of(target)->pair_sum(&pairs, SINGLES, 0, s->power);
}

static uint64_t digest_pairs(const void *scratch)
{
    return ((const pairs_scratch *)scratch)->sum;
}

static const slc_simd_case cases[] = {
    {SINGLES, 12 + 4, sizeof(singles_scratch), prepare_singles, run_window, digest_window},
    {SINGLES, 4 + 2, sizeof(singles_scratch), prepare_singles, run_cut, digest_cut},
    {SINGLES, 8, sizeof(times_scratch), prepare_times, run_near, digest_near},
    {SINGLES, 16, sizeof(later_scratch), prepare_later, run_later, digest_later},
    {SINGLES, 40, sizeof(pairs_scratch), prepare_pairs, run_pairs, digest_pairs},
};

/* Measured on an AMD EPYC with AVX-512 by `sluice bench --kernels`. */
const slc_simd_kernel slc_pet_kernel_rows[] = {
    {.name = "pet.energy_window",
     .preference = {{SLC_SIMD_AVX512, 0.272},
                    {SLC_SIMD_AVX2, 0.349},
                    {SLC_SIMD_AVX512VL256, 0.351},
                    {SLC_SIMD_SSE4, 0.382},
                    {SLC_SIMD_AVX512VL128, 0.423}},
     .bench = &cases[0]},
    {.name = "pet.energy_cut",
     .preference = {{SLC_SIMD_AVX512, 0.0760},
                    {SLC_SIMD_AVX2, 0.0904},
                    {SLC_SIMD_AVX512VL256, 0.119},
                    {SLC_SIMD_SSE4, 0.133},
                    {SLC_SIMD_AVX512VL128, 0.182}},
     .bench = &cases[1]},
    {.name = "pet.near_next",
     .preference = {{SLC_SIMD_AVX512, 0.0613},
                    {SLC_SIMD_AVX512VL256, 0.0814},
                    {SLC_SIMD_AVX2, 0.0953},
                    {SLC_SIMD_AVX512VL128, 0.153},
                    {SLC_SIMD_SSE4, 0.162}},
     .bench = &cases[2]},
    {.name = "pet.near_later",
     .preference = {{SLC_SIMD_AVX512VL256, 0.864},
                    {SLC_SIMD_AVX2, 0.879},
                    {SLC_SIMD_AVX512, 0.906},
                    {SLC_SIMD_AVX512VL128, 1.02},
                    {SLC_SIMD_SSE4, 1.21}},
     .bench = &cases[3]},
    {.name = "pet.pair_sum",
     .preference = {{SLC_SIMD_AVX512, 0.487},
                    {SLC_SIMD_AVX512VL256, 0.566},
                    {SLC_SIMD_AVX512VL128, 1.09},
                    {SLC_SIMD_AVX2, 1.40},
                    {SLC_SIMD_C, 2.63}},
     .bench = &cases[4]},
    {.name = NULL},
};

void slc_pet_kernels_select(slc_simd_target choice, slc_pet_kernels *kernels)
{
    const slc_simd_kernel *rows = slc_pet_kernel_rows;
    *kernels = (slc_pet_kernels){
        .target = slc_simd_name(choice),
        .energy_window = slc_pet_kernels_of(slc_simd_kernel_choice(&rows[0], choice))->energy_window,
        .energy_cut = slc_pet_kernels_of(slc_simd_kernel_choice(&rows[1], choice))->energy_cut,
        .near_next = slc_pet_kernels_of(slc_simd_kernel_choice(&rows[2], choice))->near_next,
        .near_later = slc_pet_kernels_of(slc_simd_kernel_choice(&rows[3], choice))->near_later,
        .pair_sum = slc_pet_kernels_of(slc_simd_kernel_choice(&rows[4], choice))->pair_sum,
    };
}
