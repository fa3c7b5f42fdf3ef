/* SPDX-License-Identifier: Apache-2.0
 * CMS's data words to digis: fields, frames, every error code, order, grouping by module; random events
 * against the oracle. Fragments themselves are in test_cms_index.c. */
#include "cms/cms_stages.h"
#include "support/cms_raw.h"
#include "support/cms_run.h"
#include "support/fault_counts.h"
#include "support/guard_page.h"
#include "support/random.h"

#include "cms/cms_decode_core.h"
#include "oracle/cms_decode_oracle.h"

#include <stdio.h>

static slc_cms_cabling *cabling;

/* A FED's fragment with these words, as an event of its own. */
static void run_words(cms_run *run, uint32_t fed, const uint32_t *words, size_t n)
{
    cms_raw raw = {0};
    cms_raw_event(&raw);
    cms_raw_begin(&raw, fed);
    for (size_t i = 0; i < n; i++) {
        cms_raw_u32(&raw, words[i]);
    }
    cms_raw_end(&raw, 0);
    cms_run_event(run, cabling, raw.at, raw.size);
    cms_raw_clear(&raw);
}

/* ---- frames ------------------------------------------------------------------------------------- */

static void frames_are_the_table(void **state)
{
    (void)state;
    /* Layer 1 on both sides, layer 3 on both sides, forward on both panels. */
    static const uint32_t modules[] = {0, 4, 320, 324, 1184, 1185};
    for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
        static uint8_t seen[SLC_CMS_ROWS][SLC_CMS_COLUMNS];
        memset(seen, 0, sizeof seen);
        for (uint32_t pixel = 0; pixel < 16 * 80 * 52; pixel++) {
            const uint32_t roc = pixel / (80 * 52), row = pixel / 52 % 80, column = pixel % 52;
            uint32_t x, y, expected_x, expected_y;
            slc_cms_to_module(cms_raw_id(modules[m]), roc, row, column, &x, &y);
            oracle_cms_to_module(cms_raw_id(modules[m]), roc, row, column, &expected_x, &expected_y);
            assert_int_equal(x, expected_x);
            assert_int_equal(y, expected_y);
            assert_true(x < SLC_CMS_ROWS && y < SLC_CMS_COLUMNS);
            assert_int_equal(seen[x][y]++, 0);
        }
    }
}

static void frames_by_hand(void **state)
{
    (void)state;
    static const struct {
        uint32_t module, roc, row, column, x, y;
    } cases[] = {
        {320, 0, 3, 5, 3, 410},  {320, 8, 3, 5, 156, 5},  /* (id >> 2) is 1: minus side */
        {324, 0, 3, 5, 156, 5},  {324, 15, 3, 5, 3, 46},  /* 5: plus side */
        {0, 7, 79, 51, 80, 415}, {0, 8, 79, 51, 79, 364}, /* layer 1, minus side: as plus */
        {4, 1, 0, 0, 159, 52},   {1184, 7, 0, 0, 0, 51},  /* forward: as minus, on both panels */
        {1185, 7, 0, 0, 0, 51},  {1185, 9, 79, 1, 80, 53},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t x, y;
        slc_cms_to_module(cms_raw_id(cases[i].module), cases[i].roc, cases[i].row, cases[i].column, &x, &y);
        assert_int_equal(x, cases[i].x);
        assert_int_equal(y, cases[i].y);
    }
}

static void ids_tell_barrel_and_layer(void **state)
{
    (void)state;
    assert_true(slc_cms_is_barrel(cms_raw_id(0)));
    assert_false(slc_cms_is_barrel(cms_raw_id(1184)));
    assert_int_equal(slc_cms_layer(cms_raw_id(95)), 1);
    assert_int_equal(slc_cms_layer(cms_raw_id(96)), 2);
    assert_int_equal(slc_cms_layer(cms_raw_id(1183)), 4);
}

/* ---- words --------------------------------------------------------------------------------------- */

static void a_word_becomes_a_digi(void **state)
{
    (void)state;
    cms_run run = {0};
    /* FED 1230 is index 30: modules 360 …, layer 3; links 5 … 8 are module 361, whose id has 2 (minus). */
    const uint32_t words[] = {cms_raw_pixel(6, 2, 7, 33, 199)};
    run_words(&run, 1230, words, 1);
    assert_int_equal(run.digis.head.size, 1);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_int_equal(run.digis.module[0], 361);
    assert_int_equal(run.digis.raw_id[0], cms_raw_id(361));
    assert_int_equal(run.digis.x[0], 7); /* chip 5 of the module */
    assert_int_equal(run.digis.y[0], (8 - 5) * 52 - 1 - 33);
    assert_int_equal(run.digis.adc[0], 199);
    assert_int_equal(run.digis.packed[0], 7U | (uint32_t)run.digis.y[0] << 11 | 199U << 22);
    assert_int_equal(run.digis.cluster[0], SLC_CMS_NO_CLUSTER);
    /* The first FED is layer 1, where row and column stand in the word. */
    const uint32_t layer1[] = {cms_raw_pixel1(1, 1, 79, 51, 255)};
    run_words(&run, 1200, layer1, 1);
    assert_int_equal(run.digis.head.size, 1);
    assert_int_equal(run.digis.module[0], 0);
    assert_int_equal(run.digis.x[0], 80);
    assert_int_equal(run.digis.y[0], 51);
    assert_int_equal(run.digis.adc[0], 255);
    cms_run_clear(&run);
}

static void pixels_are_judged_by_their_layout(void **state)
{
    (void)state;
    cms_run run = {0};
    for (uint32_t rest = 0; rest < 1U << 21; rest += 1U << 8) {
        const uint32_t words[] = {cms_raw_word(1, 1, rest | 9)};
        const uint32_t dcol = rest >> 16 & 31, pixel = rest >> 8 & 255;
        run_words(&run, 1230, words, 1);
        assert_int_equal(run.counts.digis, dcol < 26 && pixel >= 2 && pixel < 162);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_PIXEL), 1 - run.counts.digis);
        const uint32_t column = rest >> 15 & 63, row = rest >> 8 & 127;
        run_words(&run, 1200, words, 1);
        assert_int_equal(run.counts.digis, row < 80 && column < 52);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_PIXEL), 1 - run.counts.digis);
    }
    cms_run_clear(&run);
}

static void every_code_has_its_word(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        slc_fault_code code;
    } cases[] = {
        {25U << 21, SLC_FAULT_CMS_ROC_INVALID},
        {3U << 26 | 26U << 21 | 5, SLC_FAULT_CMS_GAP},
        {27U << 21, SLC_FAULT_CMS_DUMMY},
        {28U << 21, SLC_FAULT_CMS_FIFO},
        {29U << 21, SLC_FAULT_CMS_TIMEOUT},
        {30U << 21, SLC_FAULT_CMS_TBM_TRAILER},
        {30U << 21 | 8U << 8, SLC_FAULT_CMS_TBM_TRAILER},
        {30U << 21 | 1U << 8, SLC_FAULT_CMS_PKAM},
        {31U << 21, SLC_FAULT_CMS_EVENT_NUMBER},
        {0U << 26 | 1U << 21, SLC_FAULT_CMS_CHANNEL},   /* link 0 */
        {49U << 26 | 1U << 21, SLC_FAULT_CMS_CHANNEL},  /* link 49 */
        {63U << 26 | 1U << 21, SLC_FAULT_CMS_CHANNEL},  /* link 63 */
        {46U << 26 | 1U << 21, SLC_FAULT_CMS_CHANNEL},  /* of FED 1201: nothing is connected */
        {46U << 26 | 24U << 21, SLC_FAULT_CMS_CHANNEL}, /* nor is chip 24 */
        {1U << 26 | 5U << 21, SLC_FAULT_CMS_ROC_ID},    /* the link has four */
        {1U << 26 | 0U << 21 | 1, SLC_FAULT_CMS_ROC_ID},
        {1U << 26 | 9U << 21, SLC_FAULT_CMS_ROC_ID},
        {1U << 26 | 24U << 21, SLC_FAULT_CMS_ROC_ID},
        {1U << 26 | 1U << 21 | 255U << 8, SLC_FAULT_CMS_PIXEL},
    };
    cms_run run = {0};
    const uint32_t good = cms_raw_pixel1(1, 1, 4, 4, 50);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t words[] = {good, 0, cases[i].word, 0, good, good};
        run_words(&run, 1201, words, 6);
        assert_int_equal(slc_faults_of(&run.faults, cases[i].code), 1);
        assert_int_equal(slc_faults_total(&run.faults), 1);
        assert_int_equal(run.faults.kept[0].code, cases[i].code);
        assert_int_equal(run.faults.kept[0].offset, 4 + 8 + 8 + 8);
        assert_int_equal(run.faults.kept[0].module, 1201);
        assert_int_equal(run.counts.words, 6);
        assert_int_equal(run.counts.empty, 2);
        assert_int_equal(run.counts.digis, 3);
        assert_int_equal(run.counts.errors, (cases[i].word >> 21 & 31) >= 25);
        assert_int_equal(run.counts.invalid, (cases[i].word >> 21 & 31) < 25);
    }
    cms_run_clear(&run);
}

static void chips_of_a_link_do_not_fall(void **state)
{
    (void)state;
    enum { FED = 1230 };
    const uint32_t roc1 = cms_raw_pixel(2, 1, 0, 0, 1), roc3 = cms_raw_pixel(2, 3, 0, 0, 1),
                   other = cms_raw_pixel(1, 4, 0, 0, 1), gap = 26U << 21,
                   absent = cms_raw_pixel(2, 7, 0, 0, 1), impossible = cms_raw_pixel(2, 12, 0, 0, 1),
                   wrong1 = cms_raw_word(2, 1, 0xffff);
    const struct {
        uint32_t first, second;
        unsigned faults;
    } cases[] = {
        {roc1, roc3, 0},       {roc3, roc3, 0},   {roc3, roc1, 1}, {other, roc1, 0}, /* another link */
        {absent, roc1, 1}, /* chip 7 has no cable, and comes before chip 1 all the same */
        {impossible, roc1, 0}, {roc3, wrong1, 0}, /* one fault a word: its pixel */
    };
    cms_run run = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t words[] = {cases[i].first, cases[i].second};
        run_words(&run, FED, words, 2);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_ORDER), cases[i].faults);
        const bool first = cases[i].first != absent && cases[i].first != impossible;
        assert_int_equal(run.counts.digis, first + (cases[i].second != wrong1));
    }
    /* Only what stands directly before counts. */
    const uint32_t apart[][3] = {{roc3, 0, roc1}, {roc3, gap, roc1}, {roc3, wrong1, roc1}};
    for (size_t i = 0; i < 3; i++) {
        run_words(&run, FED, apart[i], 3);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_ORDER), 0);
    }
    const uint32_t twice[] = {roc3, roc1, roc1, roc3, roc1};
    run_words(&run, FED, twice, 5);
    assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_ORDER), 2);
    assert_int_equal(run.faults.kept[1].offset, 4 + 8 + 8 + 16);
    cms_run_clear(&run);
}

static void bad_and_unwanted_chips_are_counted(void **state)
{
    (void)state;
    slc_cms_cabling *marked = cms_raw_cabling();
    const uint32_t first = 30 * 384; /* FED 1230 */
    marked->cable[first + 1].bad = 1;
    marked->cable[first + 2].module = SLC_CMS_NO_MODULE;
    uint8_t unpack[SLC_CMS_MODULES_PHASE1];
    memset(unpack, 1, sizeof unpack);
    unpack[361] = 0;
    cms_raw raw = {0};
    cms_raw_event(&raw);
    cms_raw_begin(&raw, 1230);
    cms_raw_u32(&raw, cms_raw_pixel(1, 1, 1, 1, 1));
    cms_raw_u32(&raw, cms_raw_pixel(1, 2, 1, 1, 1));
    cms_raw_u32(&raw, cms_raw_word(1, 2, 0xffff)); /* of a bad chip not even the pixel is looked at */
    cms_raw_u32(&raw, cms_raw_pixel(1, 3, 1, 1, 1));
    cms_raw_u32(&raw, cms_raw_pixel(5, 1, 1, 1, 1)); /* module 361 */
    cms_raw_u32(&raw, cms_raw_pixel(9, 1, 1, 1, 1)); /* module 362 */
    cms_raw_end(&raw, 0);
    slc_batch batch = {0};
    assert_int_equal(slc_batch_append(&batch, raw.at, raw.size, 0), SLC_OK);
    const slc_cms_decode_config config = {.modules = 362, .unpack = unpack};
    cms_run run = {0};
    cms_run_batch(&run, &config, SLC_SIMD_AUTO, marked, &batch);
    assert_int_equal(run.counts.bad_roc, 5);
    assert_int_equal(run.counts.digis, 1);
    assert_int_equal(run.digis.module[0], 360);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    cms_run_clear(&run);
    slc_batch_clear(&batch);
    cms_raw_clear(&raw);
    free(marked);
}

/* ---- grouping ------------------------------------------------------------------------------------ */

static void modules_are_put_together_in_the_order_of_words(void **state)
{
    (void)state;
    /* Module 361 comes by links 5 … 8, module 360 by 1 … 4, of one FED. */
    const uint32_t words[] = {
        cms_raw_pixel(6, 2, 1, 1, 1), cms_raw_pixel(1, 1, 1, 1, 2), cms_raw_pixel(5, 1, 1, 1, 3),
        cms_raw_pixel(8, 1, 1, 1, 4), cms_raw_pixel(4, 1, 1, 1, 5), cms_raw_pixel(6, 2, 1, 1, 6),
    };
    static const uint16_t modules[] = {360, 360, 361, 361, 361, 361}, adc[] = {2, 5, 1, 3, 4, 6};
    cms_run run = {0};
    run_words(&run, 1230, words, 6);
    assert_int_equal(run.digis.head.size, 6);
    assert_memory_equal(run.digis.module, modules, sizeof modules);
    assert_memory_equal(run.digis.adc, adc, sizeof adc);
    cms_run_clear(&run);
}

/* ---- against the oracle ------------------------------------------------------------------------- */

/* Words of all kinds: mostly stretches of good ones, in any order of links. */
static uint32_t random_word(uint64_t *seed, uint32_t fed, uint32_t before)
{
    const uint32_t kind = random_below(seed, 40);
    const uint32_t row = random_below(seed, 80), column = random_below(seed, 52),
                   adc = random_below(seed, 256);
    if (kind == 0) {
        return (uint32_t)random_u64(seed);
    }
    if (kind == 1) {
        return 0;
    }
    if (kind == 2) {
        return before ^ 1U << random_below(seed, 32);
    }
    const bool on = kind < 32 && before != 0;
    const uint32_t link = on ? before >> 26 : 1 + random_below(seed, 48);
    const uint32_t roc = on ? before >> 21 & 31 : 1 + random_below(seed, 4);
    return fed < 1208 ? cms_raw_pixel1(link, roc, row, column, adc)
                      : cms_raw_pixel(link, roc, row, column, adc);
}

static void random_event(uint64_t *seed, cms_raw *raw)
{
    cms_raw_event(raw);
    const uint32_t fragments = random_below(seed, 12);
    for (uint32_t f = 0; f < fragments; f++) {
        const uint32_t fed = SLC_CMS_FED_FIRST + random_below(seed, SLC_CMS_FEDS);
        cms_raw_begin(raw, fed);
        const uint32_t n = random_below(seed, 4) == 0 ? random_below(seed, 600) : random_below(seed, 60);
        for (uint32_t i = 0, word = 0; i < n; i++) {
            word = random_word(seed, fed, word);
            cms_raw_u32(raw, word);
        }
        cms_raw_end(raw, random_below(seed, 30) == 0 ? 4U : 0U);
    }
}

static void assert_same_digis(const slc_cms_digis *a, const slc_cms_digis *b)
{
    assert_int_equal(a->head.n_events, b->head.n_events);
    assert_int_equal(a->head.size, b->head.size);
    for (uint32_t e = 0; e < a->head.n_events; e++) {
        assert_int_equal(a->head.event_offset[e + 1], b->head.event_offset[e + 1]);
        assert_int_equal(slc_columns_checksum(&slc_cms_digis_schema, a, e, SLC_CHECKSUM_START),
                         slc_columns_checksum(&slc_cms_digis_schema, b, e, SLC_CHECKSUM_START));
    }
}

static void assert_same_faults(const slc_faults *a, const slc_faults *b)
{
    assert_true(fault_counts_equal(a, b));
    assert_int_equal(a->n_kept, b->n_kept);
    for (uint32_t i = 0; i < a->n_kept; i++) {
        assert_int_equal(a->kept[i].code, b->kept[i].code);
        assert_int_equal(a->kept[i].event, b->kept[i].event);
        assert_int_equal(a->kept[i].module, b->kept[i].module);
        assert_int_equal(a->kept[i].offset, b->kept[i].offset);
    }
}

/* Flips some bits of the event, or cuts it. */
static size_t damage(uint64_t *seed, uint8_t *event, size_t size)
{
    for (uint32_t n = random_below(seed, 4); n > 0; n--) {
        /* Half of them in the number of fragments or what is behind it, the first fragment's begin. */
        const size_t bytes = random_below(seed, 2) == 0 && size > 20 ? 20 : size;
        event[random_below(seed, (uint32_t)bytes)] ^= (uint8_t)(1U << random_below(seed, 8));
    }
    return random_below(seed, 10) == 0 ? random_below(seed, (uint32_t)size + 1) : size;
}

/* Every target in turn. */
static slc_simd_target target_of(uint32_t batch)
{
    uint32_t n = 0;
    for (int round = 0; round < 2; round++) {
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            n += slc_simd_runs((slc_simd_target)t);
            if (slc_simd_runs((slc_simd_target)t) && round == 1 && batch-- == 0) {
                return (slc_simd_target)t;
            }
        }
        batch %= n;
    }
    return SLC_SIMD_AUTO;
}

static void random_events_are_as_the_oracle_says(void **state)
{
    (void)state;
    enum { BATCHES = 210, EVENTS = 50 };
    uint64_t seed = 20261121;
    slc_cms_decode_config config;
    slc_cms_decode_config_default(&config);
    cms_run run = {0};
    slc_cms_digis expected = {0};
    slc_batch batch = {0};
    uint64_t digis = 0;
    for (uint32_t b = 0; b < BATCHES; b++) {
        slc_batch_reset(&batch);
        batch.first_event = (uint64_t)b * EVENTS;
        for (uint32_t e = 0; e < EVENTS; e++) {
            cms_raw raw = {0};
            random_event(&seed, &raw);
            const size_t size = b % 2 == 0 ? raw.size : damage(&seed, raw.at, raw.size);
            assert_int_equal(slc_batch_append(&batch, raw.at, size, 0), SLC_OK);
            cms_raw_clear(&raw);
        }
        config.modules = b % 3 == 0 ? 700 : SLC_CMS_MODULES_PHASE1;
        cms_run_batch(&run, &config, target_of(b), cabling, &batch);
        slc_faults faults = {0};
        slc_cms_word_counts counts;
        oracle_cms_decode(&config, cabling, &batch, &expected, &counts, &faults);
        assert_same_digis(&run.digis, &expected);
        assert_memory_equal(&run.counts, &counts, sizeof counts);
        assert_same_faults(&run.faults, &faults);
        digis += run.counts.digis;
    }
    assert_true(digis > 3000000);
    slc_batch_clear(&batch);
    slc_columns_clear(&slc_cms_digis_schema, &expected);
    cms_run_clear(&run);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

/* Module, pixel and count of all digis, sorted. */
static size_t sorted_digis(const slc_cms_digis *digis, uint64_t *value)
{
    for (size_t i = 0; i < digis->head.size; i++) {
        value[i] = (uint64_t)digis->module[i] << 32 | digis->packed[i];
    }
    qsort(value, digis->head.size, sizeof *value, by_value);
    return digis->head.size;
}

static void flipped_bits_lose_the_words_they_hit(void **state)
{
    (void)state;
    enum { EVENTS = 10000, MOST = 1 << 14 };
    static uint64_t before[MOST], after[MOST];
    uint64_t seed = 99, hit_words = 0, lost_words = 0;
    cms_run run = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        cms_raw raw = {0};
        random_event(&seed, &raw);
        cms_run_event(&run, cabling, raw.at, raw.size);
        const size_t fragments = run.fragments.head.size;
        const size_t n = sorted_digis(&run.digis, before);
        uint32_t hits = 0;
        for (uint32_t k = fragments > 0 ? random_below(&seed, 20) : 0; k > 0; k--) {
            const uint32_t f = random_below(&seed, (uint32_t)fragments);
            if (run.fragments.n_words[f] > 0) {
                const size_t at = run.fragments.begin[f] + random_below(&seed, 4 * run.fragments.n_words[f]);
                raw.at[at] ^= (uint8_t)(1U << random_below(&seed, 8));
                hits++;
            }
        }
        cms_run_event(&run, cabling, raw.at, raw.size);
        assert_int_equal(run.fragments.head.size, fragments);
        const size_t left = sorted_digis(&run.digis, after);
        size_t missing = 0;
        for (size_t i = 0, k = 0; i < n; i++) {
            while (k < left && after[k] < before[i]) {
                k++;
            }
            const bool same = k < left && after[k] == before[i];
            missing += !same;
            k += same;
        }
        assert_true(missing <= hits);
        hit_words += hits;
        lost_words += missing;
        cms_raw_clear(&raw);
    }
    assert_true(lost_words > hit_words / 2 && hit_words > 50000);
    cms_run_clear(&run);
}

/* ---- room ---------------------------------------------------------------------------------------- */

static void too_little_room_is_told(void **state)
{
    (void)state;
    cms_raw raw = {0};
    cms_raw_event(&raw);
    cms_raw_begin(&raw, 1230);
    for (uint32_t i = 0; i < 400; i++) {
        cms_raw_u32(&raw, cms_raw_pixel(1, 1, i % 80, i / 80, 1));
    }
    cms_raw_end(&raw, 0);
    slc_batch batch = {0};
    assert_int_equal(slc_batch_append(&batch, raw.at, raw.size, 0), SLC_OK);
    cms_run run = {0};
    slc_cms_decode_config config;
    slc_cms_decode_config_default(&config);
    assert_int_equal(slc_cms_index_run(&batch, &run.fragments, &run.faults), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_cms_fragments_schema, &run.fragments, 1, 1), SLC_OK);
    assert_int_equal(slc_cms_index_run(&batch, &run.fragments, &run.faults), SLC_OK);
    assert_int_equal(slc_cms_decode_reserve(&run.scratch, 400), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &run.digis, 399, 1), SLC_OK);
    assert_int_equal(slc_cms_decode_run(&config, SLC_SIMD_AUTO, cabling, &batch, &run.fragments, &run.scratch,
                                        &run.digis, &run.counts, &run.faults),
                     SLC_ERR_CAPACITY);
    slc_columns_clear(&slc_cms_digis_schema, &run.digis);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &run.digis, 400, 1), SLC_OK);
    assert_int_equal(slc_cms_decode_run(&config, SLC_SIMD_AUTO, cabling, &batch, &run.fragments, &run.scratch,
                                        &run.digis, &run.counts, &run.faults),
                     SLC_OK);
    slc_cms_decode_clear(&run.scratch);
    assert_int_equal(slc_cms_decode_reserve(&run.scratch, 399), SLC_OK);
    assert_int_equal(slc_cms_decode_run(&config, SLC_SIMD_AUTO, cabling, &batch, &run.fragments, &run.scratch,
                                        &run.digis, &run.counts, &run.faults),
                     SLC_ERR_CAPACITY);
    cms_run_clear(&run);
    slc_batch_clear(&batch);
    cms_raw_clear(&raw);
}

/* Batch and event end at a page that may not be touched. */
static void nothing_behind_the_batch_is_read(void **state)
{
    (void)state;
    guard_page guard = guard_page_open(1 << 16);
    assert_non_null(guard.mapping);
    uint64_t seed = 7;
    cms_run run = {0};
    for (unsigned i = 0; i < 200; i++) {
        cms_raw raw = {0};
        random_event(&seed, &raw);
        size_t offset = 0, length = raw.size;
        const slc_batch batch = {.bytes = guard_page_copy(&guard, raw.at, raw.size),
                                 .size = raw.size,
                                 .n_events = 1,
                                 .offset = &offset,
                                 .length = &length};
        cms_run_batch(&run, NULL, SLC_SIMD_AUTO, cabling, &batch);
        assert_true(run.counts.words * 4 <= raw.size);
        cms_raw_clear(&raw);
    }
    cms_run_clear(&run);
    guard_page_close(&guard);
}

/* ---- cabling ------------------------------------------------------------------------------------- */

static void impossible_cablings_are_refused(void **state)
{
    (void)state;
    slc_cms_cabling *wrong = cms_raw_cabling();
    slc_error error = {0};
    assert_int_equal(slc_cms_cabling_check(wrong, &error), SLC_OK);
    const uint32_t entry = 384 + 9; /* FED 1201, link 2, chip 2 */
    slc_cms_cable *cable = &wrong->cable[entry];
    const slc_cms_cable good = *cable;
    static const struct {
        slc_cms_cable cable;
        const char *text;
    } cases[] = {
        {{3U << 25, 12, 5, 0}, "neither of the barrel nor of the forward"},
        {{1U << 25 | 5U << 20, 12, 5, 0}, "layers 1 … 4, not 5"},
        {{1U << 25 | 1U << 20, 12, 16, 0}, "chips 0 … 15, not 16"},
        {{1U << 25 | 1U << 20, 12, 5, 2}, "0 or 1, not 2"},
        {{1U << 25 | 1U << 20, 4000, 5, 0}, "no detector has module 4000"},
        {{1U << 25 | 1U << 20, 12, 5, 0}, "another detector id for module 12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *cable = cases[i].cable;
        assert_int_equal(slc_cms_cabling_check(wrong, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, cases[i].text));
        assert_non_null(strstr(error.text, "entry 393 (FED 1201, link 2, chip 2): "));
    }
    *cable = good;
    cable->roc = 4;
    assert_int_equal(slc_cms_cabling_check(wrong, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "the same chip of module 12"));
    *cable = (slc_cms_cable){0, 9999, 99, 9}; /* where nothing is connected, nothing is looked at */
    assert_int_equal(slc_cms_cabling_check(wrong, &error), SLC_OK);
    free(wrong);
}

int main(void)
{
    cabling = cms_raw_cabling();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_the_table),
        cmocka_unit_test(frames_by_hand),
        cmocka_unit_test(ids_tell_barrel_and_layer),
        cmocka_unit_test(a_word_becomes_a_digi),
        cmocka_unit_test(pixels_are_judged_by_their_layout),
        cmocka_unit_test(every_code_has_its_word),
        cmocka_unit_test(chips_of_a_link_do_not_fall),
        cmocka_unit_test(bad_and_unwanted_chips_are_counted),
        cmocka_unit_test(modules_are_put_together_in_the_order_of_words),
        cmocka_unit_test(random_events_are_as_the_oracle_says),
        cmocka_unit_test(flipped_bits_lose_the_words_they_hit),
        cmocka_unit_test(too_little_room_is_told),
        cmocka_unit_test(nothing_behind_the_batch_is_read),
        cmocka_unit_test(impossible_cablings_are_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cabling);
    return failed;
}
