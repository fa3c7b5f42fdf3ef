/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of CMS's decoder on every target of this machine: words of all kinds, which end where memory
 * ends, against slc_cms_judge_word one by one; runs and columns against loops written here.
 */
#include "cms/cms_decode_work.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 200, FRONT = 64, ROOM = FRONT + MOST + SLC_CMS_DECODE_SPARE, MODULES = 40, FIRST_ROW = 3 };

typedef struct tables {
    uint32_t packed[ROOM], module[ROOM], raw_id[ROOM], special[ROOM], begin[ROOM], order[ROOM];
    slc_cms_digis to; /* FIRST_ROW rows, then those of a call */
} tables;

static slc_cms_cable cables[SLC_CMS_FED_CABLES];
static uint8_t unpack[MODULES];

/* Cables of all kinds: absent, bad, of no module, of all three frames. */
static void make_cables(uint64_t *seed)
{
    for (uint32_t i = 0; i < SLC_CMS_FED_CABLES; i++) {
        const uint32_t module = i / 16, kind = random_below(seed, 16);
        const uint32_t forward = 5U << 26 | module << 2;
        const uint32_t barrel = 1U << 28 | 1U << 25 | (1 + module % 4) << 20 | random_below(seed, 9) << 2;
        cables[i] = (slc_cms_cable){kind == 0         ? 0
                                    : module % 3 == 0 ? forward
                                                      : barrel,
                                    (uint16_t)(kind == 1 ? SLC_CMS_NO_MODULE : module), (uint8_t)(i % 16),
                                    kind == 2};
    }
    for (uint32_t m = 0; m < MODULES; m++) {
        unpack[m] = random_below(seed, 8) != 0;
    }
}

/* Mostly as a link sends them; some rubbish. */
static void make_words(uint32_t *word, size_t n, uint64_t *seed)
{
    uint32_t chip = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t kind = random_below(seed, 24);
        chip = kind < 4 ? random_below(seed, SLC_CMS_FED_CABLES) : chip;
        const uint32_t pixel = random_below(seed, 26) << 16 | (2 + random_below(seed, 78)) << 8;
        word[i] = (chip / 8 + 1) << 26 | (chip % 8 + 1) << 21 | pixel | random_below(seed, 256);
        word[i] = kind == 4 ? (uint32_t)random_u64(seed) : kind == 5 ? 0 : word[i];
    }
}

/* ---- words ---------------------------------------------------------------------------------------- */

static void check_sift(const slc_cms_decode_kernels *kernels, const slc_cms_words *words, tables *t,
                       slc_cms_sifted *digis)
{
    slc_cms_remains remains = {.special = t->special};
    kernels->sift(words, digis, &remains);
    size_t n = 0, n_special = 0;
    uint64_t empty = 0, bad = 0;
    for (size_t i = 0; i < words->n; i++) {
        const slc_cms_word is = slc_cms_judge_word(words->word[i], i > 0 ? words->word[i - 1] : 0,
                                                   words->cables, words->modules, words->unpack);
        empty += is.kind == SLC_CMS_WORD_EMPTY;
        bad += is.kind == SLC_CMS_WORD_BAD;
        if (is.fault != SLC_FAULT_NONE && (n_special >= remains.n_special || t->special[n_special++] != i)) {
            slc_check_fail("word %zu of %zu, 0x%08x: its fault is not told", i, words->n, words->word[i]);
            return;
        }
        if (is.kind != SLC_CMS_WORD_DIGI) {
            continue;
        }
        if (n >= digis->n || digis->packed[n] != is.packed || digis->module[n] != is.module ||
            digis->raw_id[n] != is.raw_id) {
            slc_check_fail("word %zu of %zu, 0x%08x: packed 0x%08x, not 0x%08x, or in another module", i,
                           words->n, words->word[i], digis->packed[n], is.packed);
            return;
        }
        n++;
    }
    if (n != digis->n || n_special != remains.n_special || empty != remains.empty || bad != remains.bad) {
        slc_check_fail("%zu words: %zu digis, %zu faults, not %zu, %zu; or empty and bad ones", words->n,
                       digis->n, remains.n_special, n, n_special);
        return;
    }
    slc_check_values(words->n);
}

/* ---- runs and columns ----------------------------------------------------------------------------- */

static size_t check_runs(const slc_cms_decode_kernels *kernels, tables *t, const slc_cms_sifted *digis)
{
    const size_t runs = kernels->runs(digis, t->begin);
    size_t n = 0;
    for (size_t i = 0; i < digis->n; i++) {
        if (i == 0 || digis->module[i] != digis->module[i - 1] || digis->raw_id[i] != digis->raw_id[i - 1]) {
            if (n >= runs || t->begin[n++] != i) {
                slc_check_fail("%zu digis: no run begins at digi %zu", digis->n, i);
                return runs;
            }
        }
    }
    if (n != runs) {
        slc_check_fail("%zu digis: %zu runs, not %zu", digis->n, runs, n);
    }
    slc_check_values(digis->n + 1);
    return runs;
}

static bool row_is(const slc_cms_digis *to, size_t row, const slc_cms_sifted *digis, size_t i)
{
    const uint32_t packed = digis->packed[i];
    return to->packed[row] == packed && to->raw_id[row] == digis->raw_id[i] &&
           to->module[row] == digis->module[i] && to->x[row] == (packed & 2047) &&
           to->y[row] == (packed >> 11 & 2047) && to->adc[row] == packed >> 22 &&
           to->cluster[row] == SLC_CMS_NO_CLUSTER;
}

static void check_put(const slc_cms_decode_kernels *kernels, tables *t, const slc_cms_sifted *digis,
                      size_t runs, uint64_t *seed)
{
    t->begin[runs] = (uint32_t)digis->n;
    for (uint32_t r = 0; r < runs; r++) {
        const uint32_t s = random_below(seed, r + 1);
        t->order[r] = t->order[s];
        t->order[s] = r;
    }
    for (size_t row = 0; row < FIRST_ROW; row++) {
        t->to.x[row] = t->to.module[row] = 777;
        t->to.packed[row] = 777;
    }
    kernels->put(digis, t->begin, t->order, runs, &t->to, FIRST_ROW);
    size_t row = FIRST_ROW;
    for (size_t r = 0; r < runs; r++) {
        for (uint32_t i = t->begin[t->order[r]]; i < t->begin[t->order[r] + 1]; i++, row++) {
            if (!row_is(&t->to, row, digis, i)) {
                slc_check_fail("%zu digis in %zu runs: row %zu is not digi %u", digis->n, runs,
                               row - FIRST_ROW, i);
                return;
            }
        }
    }
    for (size_t k = 0; k < FIRST_ROW; k++) {
        if (t->to.x[k] != 777 || t->to.module[k] != 777 || t->to.packed[k] != 777) {
            slc_check_fail("%zu digis: a row in front is overwritten", digis->n);
        }
    }
    slc_check_values(digis->n + 1);
}

/* Runs that are longer than what the kernel does at a time. */
static void check_long_runs(const slc_cms_decode_kernels *kernels, uint64_t *seed)
{
    enum { LONG = 5000, ALL = FRONT + LONG + SLC_CMS_DECODE_SPARE };
    static uint32_t column[3][ALL], begin[ALL], order[ALL];
    slc_cms_digis to = {0};
    if (slc_columns_reserve(&slc_cms_digis_schema, &to, LONG, 1) != SLC_OK) {
        slc_check_fail("no memory");
        return;
    }
    slc_cms_sifted digis = {column[0] + FRONT, column[1] + FRONT, column[2] + FRONT, LONG};
    digis.module[-1] = UINT32_MAX;
    for (uint32_t i = 0, module = 0; i < LONG; i++) {
        module += random_below(seed, 700) == 0;
        digis.module[i] = module;
        digis.raw_id[i] = 3 * module;
        digis.packed[i] = (uint32_t)random_u64(seed);
    }
    const size_t runs = kernels->runs(&digis, begin);
    begin[runs] = LONG;
    for (uint32_t r = 0; r < runs; r++) {
        order[r] = (uint32_t)runs - 1 - r;
    }
    kernels->put(&digis, begin, order, runs, &to, 0);
    size_t row = 0;
    for (size_t r = runs; r-- > 0;) {
        for (uint32_t i = begin[r]; i < begin[r + 1]; i++, row++) {
            if (!row_is(&to, row, &digis, i)) {
                slc_check_fail("%zu long runs: row %zu is not digi %u", runs, row, i);
                r = 0;
                break;
            }
        }
    }
    slc_check_values(row);
    slc_columns_clear(&slc_cms_digis_schema, &to);
}

static void check_target(slc_simd_target target, const slc_check_memory *memory, tables *t)
{
    const slc_cms_decode_kernels *kernels = slc_cms_decode_kernels_of(target);
    uint64_t seed = slc_check_seed();
    slc_check_doing("cms.decode");
    t->module[FRONT - 1] = UINT32_MAX;
    for (size_t n = 0; n <= MOST; n++) {
        for (uint32_t again = 0; again < 20; again++) {
            make_cables(&seed);
            uint32_t *word = (uint32_t *)(void *)memory->end - n;
            make_words(word, n, &seed);
            const slc_cms_words words = {word, n, cables, again % 4 == 0 ? 9 : MODULES,
                                         again % 3 == 0 ? unpack : NULL};
            slc_cms_sifted digis = {t->packed + FRONT, t->module + FRONT, t->raw_id + FRONT, 0};
            check_sift(kernels, &words, t, &digis);
            check_put(kernels, t, &digis, check_runs(kernels, t, &digis), &seed);
        }
    }
    check_long_runs(kernels, &seed);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    slc_check_memory memory = slc_check_map(4 * MOST);
    tables *t = calloc(1, sizeof *t);
    if (t == NULL || slc_columns_reserve(&slc_cms_digis_schema, &t->to, FIRST_ROW + MOST, 1) != SLC_OK) {
        return EXIT_FAILURE;
    }
    for (int target = 0; target < SLC_SIMD_TARGETS; target++) {
        if (slc_check_target((slc_simd_target)target)) {
            check_target((slc_simd_target)target, &memory, t);
            slc_check_cases(slc_cms_decode_kernel_rows, (slc_simd_target)target);
            slc_check_passed("sift, runs, put");
        }
    }
    slc_columns_clear(&slc_cms_digis_schema, &t->to);
    free(t);
    slc_check_unmap(&memory);
    return slc_check_end();
}
