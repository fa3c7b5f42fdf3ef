/* SPDX-License-Identifier: Apache-2.0
 * UT and SciFi: the ten events' counts and bits, banks of versions that the events do not have, damage. */
#include "base/bytes.h"
#include "base/columns.h"
#include "base/splitmix.h"
#include "scifi/scifi_decode.h"
#include "ut/ut_decode.h"
#include <sluice/io.h>
#include <sluice/io_hlt1.h>

#include "oracle/hlt1_decode_oracle.h"
#include "support/hlt1_detectors.h"
#include "support/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 10, MAX_HITS = 20000, MAX_BANKS = 256 };

static oracle_hlt1_hit expected[MAX_HITS];
static slc_lhcb_bank banks[MAX_BANKS];
static slc_faults faults;

static size_t find_banks(slc_lhcb_bank_cursor cursor, uint8_t type)
{
    size_t n = 0;
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK && n < MAX_BANKS) {
        if (bank.type == type) {
            banks[n++] = bank;
        }
    }
    return n;
}

static void decode_ut(slc_ut_decoder *decoder, size_t n, slc_ut_hits *hits)
{
    size_t bound = 1;
    slc_columns_reset(hits);
    slc_faults_reset(&faults);
    for (size_t i = 0; i < n; i++) {
        bound += slc_ut_bank_bound(&banks[i]);
    }
    assert_int_equal(slc_ut_decoder_reserve(decoder, bound), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_ut_hits_schema, hits, bound, 1), SLC_OK);
    slc_ut_decode(decoder, banks, n, 7, hits, &faults);
}

static void decode_scifi(slc_scifi_decoder *decoder, size_t n, slc_scifi_hits *hits)
{
    size_t bound = 1;
    slc_columns_reset(hits);
    slc_faults_reset(&faults);
    for (size_t i = 0; i < n; i++) {
        bound += slc_scifi_bank_bound(&banks[i]);
    }
    assert_int_equal(slc_scifi_decoder_reserve(decoder, bound), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_scifi_hits_schema, hits, bound, 1), SLC_OK);
    slc_scifi_decode(decoder, banks, n, 7, hits, &faults);
}

/* Ten events of LHCb's, and what is decoded of them. */
typedef struct sample {
    slc_hlt1_geometry *geometry;
    slc_batch batch;
    slc_ut_decoder *to_ut;
    slc_scifi_decoder *to_scifi;
    slc_ut_hits ut;
    slc_scifi_hits scifi;
} sample;

static void sample_open(sample *s)
{
    slc_error error;
    slc_io_source *source;
    char folder[4096];
    *s = (sample){0};
    (void)snprintf(folder, sizeof folder, "%s", support_data("lhcb_hlt1"));
    assert_int_equal(slc_io_hlt1_geometry_open(folder, &s->geometry, &error), SLC_OK);
    assert_int_equal(slc_io_open(support_data("lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"), NULL,
                                 &source, &error),
                     SLC_OK);
    assert_int_equal(slc_io_read_batch(source, EVENTS, SIZE_MAX, &s->batch, &faults, &error), SLC_OK);
    slc_io_close(source);
}

static void sample_take(sample *s, slc_simd_target target)
{
    slc_ut_decoder_close(s->to_ut);
    slc_scifi_decoder_close(s->to_scifi);
    s->to_ut = slc_ut_decoder_open(s->geometry->ut, target);
    s->to_scifi = slc_scifi_decoder_open(s->geometry->scifi, target);
    assert_non_null(s->to_ut);
    assert_non_null(s->to_scifi);
}

static void sample_close(sample *s)
{
    slc_ut_decoder_close(s->to_ut);
    slc_scifi_decoder_close(s->to_scifi);
    slc_columns_clear(&slc_ut_hits_schema, &s->ut);
    slc_columns_clear(&slc_scifi_hits_schema, &s->scifi);
    slc_batch_clear(&s->batch);
    slc_io_hlt1_geometry_close(s->geometry);
}

/* The hits are those of the oracle, bit by bit, which has them in `expected`. */
static void assert_ut(const slc_ut_hits *ut, size_t n)
{
    assert_int_equal(ut->head.size, n);
    for (size_t i = 0; i < n; i++) {
        const oracle_hlt1_hit found = {
            ut->layer[i], ut->x_mm[i], ut->z_mm[i], ut->y_begin_mm[i], ut->y_end_mm[i], ut->channel[i], 0};
        assert_memory_equal(&found, &expected[i], sizeof found);
    }
}

static void assert_scifi(const slc_scifi_hits *scifi, size_t n)
{
    assert_int_equal(scifi->head.size, n);
    for (size_t i = 0; i < n; i++) {
        const oracle_hlt1_hit found = {scifi->zone[i],     scifi->x_mm[i],    scifi->z_mm[i], 0,
                                       scifi->y_end_mm[i], scifi->channel[i], scifi->size[i]};
        assert_memory_equal(&found, &expected[i], sizeof found);
    }
}

/* Counts by layer: LHCb's ten simulated events as its own decoder has them, on every instruction set. */
static void ten_events(void **state)
{
    static const size_t ut_of[EVENTS][SLC_UT_LAYERS] = {
        {488, 519, 542, 559}, {173, 169, 223, 215}, {221, 210, 208, 196}, {222, 243, 262, 242},
        {270, 268, 323, 309}, {92, 89, 117, 135},   {338, 331, 490, 548}, {239, 258, 316, 319},
        {461, 439, 472, 431}, {440, 456, 526, 509}};
    static const size_t scifi_of[EVENTS] = {7187, 2442, 2726, 3344, 4078, 2423, 4706, 4465, 5270, 5787};
    (void)state;
    sample s;
    sample_open(&s);
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        if (!slc_simd_runs((slc_simd_target)target)) {
            continue;
        }
        sample_take(&s, (slc_simd_target)target);
        for (uint32_t e = 0; e < EVENTS; e++) {
            const slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&s.batch, e);
            size_t layers[SLC_UT_LAYERS] = {0};
            decode_ut(s.to_ut, find_banks(cursor, SLC_LHCB_BANK_UT), &s.ut);
            assert_int_equal(slc_faults_total(&faults), 0);
            assert_ut(&s.ut, oracle_hlt1_ut(s.geometry->ut, cursor, expected, MAX_HITS));
            for (size_t i = 0; i < s.ut.head.size; i++) {
                layers[s.ut.layer[i]]++;
            }
            assert_memory_equal(layers, ut_of[e], sizeof layers);
            decode_scifi(s.to_scifi, find_banks(cursor, SLC_LHCB_BANK_SCIFI), &s.scifi);
            assert_int_equal(slc_faults_total(&faults), 0);
            assert_int_equal(s.scifi.head.size, scifi_of[e]);
            assert_scifi(&s.scifi, oracle_hlt1_scifi(s.geometry->scifi, cursor, expected, MAX_HITS));
        }
    }
    sample_close(&s);
}

/* Where one bank is wrong, hits of the others are as they were, and so they are in whatever order the words
 * of a bank come: then no bank is taken as sound. */
static void word_by_word(void **state)
{
    (void)state;
    sample s;
    sample_open(&s);
    sample_take(&s, SLC_SIMD_AUTO);
    for (uint32_t e = 0; e < EVENTS; e++) {
        static uint8_t turned[1024];
        const slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&s.batch, e);
        const slc_lhcb_bank nobody = {.payload = turned, .size = 4, .version = 99, .source = 3};
        size_t n = find_banks(cursor, SLC_LHCB_BANK_UT);
        banks[n] = nobody;
        decode_ut(s.to_ut, n + 1, &s.ut);
        assert_int_equal(slc_faults_total(&faults), 1);
        assert_ut(&s.ut, oracle_hlt1_ut(s.geometry->ut, cursor, expected, MAX_HITS));
        n = find_banks(cursor, SLC_LHCB_BANK_SCIFI);
        const size_t of_oracle = oracle_hlt1_scifi(s.geometry->scifi, cursor, expected, MAX_HITS);
        banks[n] = nobody;
        decode_scifi(s.to_scifi, n + 1, &s.scifi);
        assert_int_equal(slc_faults_total(&faults), 1);
        assert_scifi(&s.scifi, of_oracle);
        slc_lhcb_bank *bank = &banks[17 * e];
        while (bank->size < 16) { /* four words at least, and perhaps padding */
            bank++;
        }
        const size_t words = (bank->size - 4) / 2;
        assert_true(bank < banks + n && bank->size <= sizeof turned);
        for (size_t i = 1; i < words; i++) { /* the last one, which may be padding, stays */
            memcpy(turned + 4 + 2 * (i - 1), bank->payload + 4 + 2 * (words - 1 - i), 2);
        }
        memcpy(turned + 4 + 2 * (words - 1), bank->payload + 4 + 2 * (words - 1), 2);
        bank->payload = turned;
        decode_scifi(s.to_scifi, n, &s.scifi);
        assert_int_equal(slc_faults_total(&faults), 0);
        assert_scifi(&s.scifi, of_oracle);
    }
    sample_close(&s);
}

/* ---- banks made here ---------------------------------------------------------------------------- */

static uint8_t payload[4][1024];

static void put_words(size_t k, uint8_t type, uint8_t version, int16_t source, const uint16_t *words,
                      size_t n)
{
    memset(payload[k], 0, 4);
    if (type == SLC_LHCB_BANK_UT) {
        slc_store_u16(payload[k], (uint16_t)n);
    }
    for (size_t i = 0; i < n; i++) {
        slc_store_u16(payload[k] + 4 + 2 * i, words[i]);
    }
    banks[k] = (slc_lhcb_bank){.payload = payload[k],
                               .size = (uint32_t)(4 + 2 * n),
                               .type = type,
                               .version = version,
                               .source = source,
                               .offset = 100 * k};
}

/* A damaged bank costs itself; a word of no strip itself; the others stay. */
static void damage_of_ut(void **state)
{
    static slc_ut_geometry geometry;
    (void)state;
    hlt1_detectors_ut(&geometry);
    slc_ut_decoder *decoder = slc_ut_decoder_open(&geometry, SLC_SIMD_AUTO);
    slc_ut_hits hits = {0};
    const uint16_t words[] = {40, 80, (uint16_t)(6 * 512 << 2)};
    put_words(0, SLC_LHCB_BANK_UT, 3, 5, words, 2);
    put_words(1, SLC_LHCB_BANK_UT, 3, 6, words, 3);
    put_words(2, SLC_LHCB_BANK_UT, 3, 5, words, 2);
    put_words(3, SLC_LHCB_BANK_UT, 3, 7, words, 2);
    slc_store_u16(payload[3], 3); /* one word more than there is */
    decode_ut(decoder, 4, &hits);
    assert_int_equal(hits.head.size, 4);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_UT_CHANNEL), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_DUPLICATE), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_LENGTH), 1);
    assert_int_equal(slc_faults_total(&faults), 3);
    assert_int_equal(faults.kept[0].event, 7);
    put_words(0, SLC_LHCB_BANK_UT, 2, 5, words, 2);
    put_words(1, SLC_LHCB_BANK_UT, 3, 240, words, 2);
    put_words(2, SLC_LHCB_BANK_UT, 3, 200, words, 2); /* a board with nothing connected */
    decode_ut(decoder, 3, &hits);
    assert_int_equal(hits.head.size, 0);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_VERSION), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_SOURCE), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_UT_CHANNEL), 2);
    slc_ut_decoder_close(decoder);
    slc_columns_clear(&slc_ut_hits_schema, &hits);
}

/* Buckets with from few hits to more than vectors put in order, some of the same x; of banks that lie one
 * after the other, the last one at the end of what may be read. */
static void crowded_ut(void **state)
{
    static slc_ut_geometry geometry;
    static uint8_t event[1 << 15];
    const slc_simd_target targets[] = {SLC_SIMD_C, SLC_SIMD_AUTO};
    uint64_t random = 71;
    (void)state;
    hlt1_detectors_ut(&geometry);
    slc_ut_hits hits = {0};
    for (uint32_t words = 4; words <= 6 * 512 * 4; words *= 8) {
        uint8_t *end = event + sizeof event;
        for (int16_t board = 60; board >= 0; board = (int16_t)(board - 3)) { /* the last one first */
            uint8_t bank[4 + 2 * 60] = {0};
            const uint32_t n = slc_random_below(&random, 60);
            slc_store_u16(bank, (uint16_t)n);
            for (uint32_t i = 0; i < n; i++) {
                slc_store_u16(bank + 4 + 2 * (size_t)i, (uint16_t)slc_random_below(&random, words));
            }
            end -= slc_lhcb_bank_bound(4 + 2 * (size_t)n);
            assert_true(slc_lhcb_bank_write(end, (size_t)(event + sizeof event - end), SLC_LHCB_BANK_UT, 3,
                                            board, bank, 4 + 2 * (size_t)n) > 0);
        }
        const slc_lhcb_bank_cursor cursor = {.bytes = end, .size = (size_t)(event + sizeof event - end)};
        const size_t n = oracle_hlt1_ut(&geometry, cursor, expected, MAX_HITS);
        for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
            slc_ut_decoder *decoder = slc_ut_decoder_open(&geometry, targets[t]);
            decode_ut(decoder, find_banks(cursor, SLC_LHCB_BANK_UT), &hits);
            assert_int_equal(slc_faults_total(&faults), 0);
            assert_ut(&hits, n);
            slc_ut_decoder_close(decoder);
        }
    }
    slc_columns_clear(&slc_ut_hits_schema, &hits);
}

/* Version 4: word k of lane L is word 16 · (k / 2) + 2 · (5 - L) + k % 2 behind the counters. */
static void lanes_of_ut(void **state)
{
    static slc_ut_geometry geometry;
    (void)state;
    hlt1_detectors_ut(&geometry);
    slc_ut_decoder *decoder = slc_ut_decoder_open(&geometry, SLC_SIMD_AUTO);
    slc_ut_hits hits = {0};
    put_words(0, SLC_LHCB_BANK_UT, 4, (int16_t)(1 << 11 | 1 << 10 | 3), NULL, 0); /* board 2 · (3 - 1) + 1 */
    memset(payload[0], 0, sizeof payload[0]);
    payload[0][0] = 3; /* lane 4 */
    payload[0][4] = 1; /* lane 0 */
    banks[0].size = 8 + 64;
    slc_store_u16(payload[0] + 8 + 2 * 2, 100 << 5);        /* lane 4, first */
    slc_store_u16(payload[0] + 8 + 2 * 3, 200 << 5);        /* second */
    slc_store_u16(payload[0] + 8 + 2 * (16 + 2), 300 << 5); /* third, in the next row */
    slc_store_u16(payload[0] + 8 + 2 * 10, 7 << 5 | 31);    /* lane 0 */
    decode_ut(decoder, 1, &hits);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(hits.head.size, 4);
    const uint32_t board = 5, strips[4] = {7, 100, 200, 300}, lanes[4] = {0, 4, 4, 4};
    for (size_t i = 0; i < 4; i++) {
        const uint32_t s = 6 * board + lanes[i];
        const uint32_t strip = geometry.z0_mm[s] < 0 ? 511 - strips[i] : strips[i];
        bool there = false;
        for (size_t k = 0; k < hits.head.size; k++) {
            there = there || hits.channel[k] == geometry.channel[s] + strip;
        }
        assert_true(there);
    }
    payload[0][1] = 255;
    decode_ut(decoder, 1, &hits);
    assert_int_equal(hits.head.size, 0);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_UT_COUNTERS), 1);
    slc_ut_decoder_close(decoder);
    slc_columns_clear(&slc_ut_hits_schema, &hits);
}

/* Cells of hits by rising channel, from the bank's first. */
static void assert_cells(const slc_scifi_hits *hits, uint32_t first, const uint32_t (*cells)[3], size_t n)
{
    assert_int_equal(hits->head.size, n);
    for (size_t i = 0; i < n; i++) { /* plain mats have rising x */
        assert_int_equal(hits->channel[i], first + cells[i][0]);
        assert_int_equal(hits->size[i], cells[i][2]);
        const float u = (float)(2 * cells[i][0] + 1 + cells[i][1]) * 0.125f +
                        (cells[i][0] >= 64 ? 0.22f : 0.0f);
        assert_true(fabsf(hits->x_mm[i] - hits->x_mm[0] -
                          (u - (float)(2 * cells[0][0] + 1 + cells[0][1]) * 0.125f)) < 0.01f);
    }
}

/* Versions 6 to 8: large clusters are two words. */
static void edges_of_scifi(void **state)
{
    static slc_scifi_geometry geometry, mapped;
    (void)state;
    hlt1_detectors_scifi(&geometry, 0);
    hlt1_detectors_scifi(&mapped, 1);
    slc_scifi_decoder *decoder = slc_scifi_decoder_open(&geometry, SLC_SIMD_AUTO),
                      *other = slc_scifi_decoder_open(&mapped, SLC_SIMD_AUTO);
    slc_scifi_hits hits = {0};
#define WORD(cell, half, flag) (uint16_t)((cell) << 2 | (half) << 1 | (flag))
    /* 5 to 9: width 6, one hit; 20 to 40: width 22, hits each four cells and an edge; a plain one; the last
     * of its link is small. */
    const uint16_t words[] = {WORD(5, 1, 1),  WORD(9, 0, 1),  WORD(20, 1, 1),
                              WORD(40, 0, 1), WORD(50, 1, 0), WORD(60, 0, 1)};
    const uint32_t cells[][3] = {{6, 1, 6},  {20, 1, 0}, {24, 1, 0}, {28, 1, 0}, {32, 1, 0},
                                 {36, 1, 0}, {39, 1, 0}, {50, 1, 4}, {60, 0, 0}};
    put_words(0, SLC_LHCB_BANK_SCIFI, 6, 0, words, 6);
    decode_scifi(decoder, 1, &hits);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_cells(&hits, geometry.first_channel[0], cells, sizeof cells / sizeof *cells);
    const uint16_t turned[] = {WORD(5, 0, 1), WORD(9, 0, 1), WORD(50, 1, 0), WORD(60, 0, 1)};
    const uint32_t of_seven[][3] = {{6, 1, 6}, {50, 1, 4}, {60, 0, 0}};
    put_words(0, SLC_LHCB_BANK_SCIFI, 7, 0x1000, turned, 4);
    decode_scifi(other, 1, &hits);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_cells(&hits, mapped.sipm[0][0], of_seven, 3);
    const uint16_t wrong[] = {WORD(5, 1, 1), WORD(9, 1, 1), WORD(50, 1, 0)};
    put_words(0, SLC_LHCB_BANK_SCIFI, 8, 0x1000, wrong, 3);
    decode_scifi(other, 1, &hits);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_SCIFI_EDGES), 2);
    assert_int_equal(hits.head.size, 1);
    slc_scifi_decoder_close(decoder);
    slc_scifi_decoder_close(other);
    slc_columns_clear(&slc_scifi_hits_schema, &hits);
}

static void damage_of_scifi(void **state)
{
    static slc_scifi_geometry geometry;
    (void)state;
    hlt1_detectors_scifi(&geometry, 0);
    slc_scifi_decoder *decoder = slc_scifi_decoder_open(&geometry, SLC_SIMD_AUTO);
    slc_scifi_hits hits = {0};
    const uint16_t words[] = {WORD(5, 0, 0), WORD(3, 1, 0), WORD(128 * 127, 0, 0), 0};
    put_words(0, SLC_LHCB_BANK_SCIFI, 5, 0, words, 4); /* words that fall, one outside, padding */
    put_words(1, SLC_LHCB_BANK_SCIFI, 5, 0, words, 1);
    put_words(2, SLC_LHCB_BANK_SCIFI, 7, 1, words, 1);
    put_words(3, SLC_LHCB_BANK_SCIFI, 5, 240, words, 1);
    decode_scifi(decoder, 4, &hits);
    assert_int_equal(hits.head.size, 2);
    assert_true(hits.x_mm[0] < hits.x_mm[1]);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_SCIFI_CHANNEL), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_DUPLICATE), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_VERSION), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_SOURCE), 1);
    put_words(0, SLC_LHCB_BANK_SCIFI, 5, 0, words, 2);
    banks[0].size--;
    decode_scifi(decoder, 1, &hits);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_LENGTH), 1);
    assert_int_equal(hits.head.size, 0);
    slc_scifi_decoder_close(decoder);
    slc_columns_clear(&slc_scifi_hits_schema, &hits);
}

int main(void)
{
    const struct CMUnitTest made[] = {cmocka_unit_test(damage_of_ut), cmocka_unit_test(crowded_ut),
                                      cmocka_unit_test(lanes_of_ut), cmocka_unit_test(edges_of_scifi),
                                      cmocka_unit_test(damage_of_scifi)};
    const struct CMUnitTest real[] = {cmocka_unit_test(ten_events), cmocka_unit_test(word_by_word)};
    const int failed = cmocka_run_group_tests(made, NULL, NULL);
    const int skip = support_skip_without("lhcb_hlt1/ut_boards.bin");
    return failed != 0 ? failed : skip != 0 ? skip : cmocka_run_group_tests(real, NULL, NULL);
}
