/* SPDX-License-Identifier: Apache-2.0
 * Which banks the chain makes hits of: super-pixels, clusters of FPGAs, or of each event the first of these
 * that it has. The oracle takes each event alone, through the stage of its kind, and puts them together. */
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_geometry.h"
#include "velo/velo_retina.h"
#include <sluice/lhcb.h>
#include <sluice/velo_chain.h>

#include "support/fault_counts.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "support/velo_banks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 9 };
enum kind { NONE, SUPERPIXELS, CLUSTERS, BOTH, EMPTY_AND_CLUSTERS, KINDS };

static uint8_t bytes[2 * SUPPORT_VELO_EVENT];
static slc_velo_geometry geometry;

/* Banks of clusters of a few sensors, some of them damaged; returns their size. With `turned` the same words
 * come in the opposite order. */
static size_t clusters(uint64_t *random, uint8_t version, bool damaged, bool turned, uint8_t *to)
{
    uint32_t payload[41];
    size_t size = 0;
    for (uint32_t source = random_below(random, 9); source < 104; source += 1 + random_below(random, 9)) {
        const uint32_t n = 1 + random_below(random, 40), counted = version != 4;
        payload[0] = n;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t column = random_below(random, damaged ? 800 : 768), at = version == 2 ? 14 : 12;
            const uint32_t flags = (uint32_t)random_u64(random) & (version == 2 ? 0xff000000U : 0xffc00000U);
            payload[1 + (turned ? n - 1 - i : i)] = column << at | random_below(random, 1U << at) | flags;
        }
        const uint8_t told = damaged && random_below(random, 10) == 0 ? 7 : version;
        payload[0] += damaged && random_below(random, 10) == 0;
        size += slc_lhcb_bank_write(to + size, SUPPORT_VELO_EVENT - size, SLC_LHCB_BANK_VP_RETINA, told,
                                    (int16_t)source, payload + (1 - counted), 4 * (size_t)(n + counted));
    }
    return size;
}

/* An event of this kind; what `clusters` needs is drawn whether it is used or not. */
static size_t make_event(uint64_t *random, enum kind kind, bool damaged, bool turned)
{
    static uint8_t of_clusters[SUPPORT_VELO_EVENT], of_pixels[SUPPORT_VELO_EVENT];
    static const uint32_t zero;
    uint64_t n = 0;
    const uint8_t version = (uint8_t)(2 + random_below(random, 3));
    const size_t c = clusters(random, version, damaged, turned, of_clusters);
    size_t size = slc_lhcb_bank_write(bytes, sizeof bytes, SLC_LHCB_BANK_ODIN, 7, 0, "abcd", 4);
    if (kind == SUPERPIXELS || kind == BOTH) {
        /* Other banks, which this writes as well, may be of clusters that are none. */
        const size_t p = support_velo_event(random, 2, 12, 0, of_pixels, &n);
        slc_lhcb_bank_cursor cursor = {.bytes = of_pixels, .size = p};
        for (slc_lhcb_bank bank; slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK;) {
            if (bank.type == SLC_LHCB_BANK_VP) {
                size += slc_lhcb_bank_write(bytes + size, sizeof bytes - size, bank.type, bank.version,
                                            bank.source, bank.payload, bank.size);
            }
        }
    } else if (kind == EMPTY_AND_CLUSTERS) {
        size += slc_lhcb_bank_write(bytes + size, sizeof bytes - size, SLC_LHCB_BANK_VP, 2, 5, &zero,
                                    sizeof zero);
    }
    if (kind >= CLUSTERS) {
        memcpy(bytes + size, of_clusters, c);
        size += c;
    }
    return size;
}

static void run_chain(slc_velo_banks banks, bool keep, slc_simd_target target, const slc_batch *batch,
                      slc_velo_result *result)
{
    slc_velo_chain *chain;
    slc_velo_config config;
    slc_velo_config_default(&config);
    config.banks = banks;
    config.keep_superpixels = keep;
    config.exec.target = target;
    assert_int_equal(slc_velo_chain_open(&config, &geometry, &chain, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, batch, result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, batch, result, NULL), SLC_OK);
    slc_velo_chain_close(chain);
}

/* The hits of one event by the stage of its kind, after those of the events before it. */
static void append_alone(const slc_batch *batch, uint32_t e, bool retina, slc_velo_hits *hits,
                         slc_faults *faults)
{
    slc_batch one = {.first_event = batch->first_event + e};
    slc_velo_hits own = {.x_mm = NULL};
    slc_velo_superpixels words = {.word = NULL};
    slc_velo_cluster_scratch scratch = {.block = NULL};
    assert_int_equal(slc_batch_append(&one, batch->bytes + batch->offset[e], batch->length[e], 0), SLC_OK);
    const size_t bound = retina ? slc_velo_retina_bound(&one, NULL) : slc_velo_decode_bound(&one, NULL);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &own, slc_velo_cluster_bound(bound), 1),
                     SLC_OK);
    if (retina) {
        assert_int_equal(slc_velo_retina_run(&geometry, &one, &own, faults), SLC_OK);
    } else {
        assert_int_equal(slc_columns_reserve(&slc_velo_superpixels_schema, &words, bound, 1), SLC_OK);
        assert_int_equal(slc_velo_cluster_reserve(&scratch), SLC_OK);
        assert_int_equal(slc_velo_decode_run(&one, &words, faults), SLC_OK);
        assert_int_equal(
            slc_velo_cluster_run(&geometry, &words, one.first_event, &scratch, &own, NULL, faults), SLC_OK);
    }
    assert_int_equal(
        slc_columns_reserve(&slc_velo_hits_schema, hits, hits->head.size + own.head.size, EVENTS), SLC_OK);
    assert_int_equal(slc_columns_append_events(&slc_velo_hits_schema, &own, 0, 1, hits), SLC_OK);
    slc_columns_clear(&slc_velo_hits_schema, &own);
    slc_columns_clear(&slc_velo_superpixels_schema, &words);
    slc_velo_cluster_clear(&scratch);
    slc_batch_clear(&one);
}

static uint64_t hits_checksum(const slc_velo_hits *hits)
{
    uint64_t sum = SLC_CHECKSUM_START;
    for (uint32_t e = 0; e < hits->head.n_events; e++) {
        sum = slc_columns_checksum(&slc_velo_hits_schema, hits, e, sum);
    }
    return sum;
}

typedef struct wanted {
    uint64_t checksum, superpixel_events, retina_events;
    slc_faults faults;
} wanted;

static bool takes_clusters(slc_velo_banks banks, enum kind kind)
{
    return banks == SLC_VELO_BANKS_RETINA ||
           (banks == SLC_VELO_BANKS_AUTO && (kind == CLUSTERS || kind == EMPTY_AND_CLUSTERS));
}

static void want(slc_velo_banks banks, const slc_batch *batch, const enum kind *kinds, wanted *want)
{
    slc_velo_hits hits = {.x_mm = NULL};
    *want = (wanted){.checksum = 0};
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const bool retina = takes_clusters(banks, kinds[e]);
        append_alone(batch, e, retina, &hits, &want->faults);
        want->retina_events += retina && kinds[e] >= CLUSTERS;
        want->superpixel_events += !retina && (kinds[e] == SUPERPIXELS || kinds[e] == BOTH);
    }
    want->checksum = hits_checksum(&hits);
    slc_columns_clear(&slc_velo_hits_schema, &hits);
}

/* Every kind of event, in every place of the five that are walked over together, sound and damaged, on every
 * target, with and without the list of super-pixels, in batches and alone. */
static void chooses_as_asked(void **state)
{
    (void)state;
    static wanted w;
    static slc_velo_result result;
    uint64_t random = 11, used[2] = {0, 0};
    for (int round = 0; round < 24; round += test_step(SANITIZED ? 3 : 1)) {
        slc_batch batch = {.first_event = 100};
        enum kind kinds[EVENTS];
        for (uint32_t e = 0; e < EVENTS; e++) {
            kinds[e] = (enum kind)random_below(&random, KINDS);
            const size_t size = make_event(&random, kinds[e], round % 2 == 1, false);
            assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
        }
        for (int b = SLC_VELO_BANKS_AUTO; b <= SLC_VELO_BANKS_RETINA; b++) {
            want((slc_velo_banks)b, &batch, kinds, &w);
            for (int t = 0; t < 2 * SLC_SIMD_TARGETS; t++) {
                if (!slc_simd_runs((slc_simd_target)(t / 2))) {
                    continue;
                }
                run_chain((slc_velo_banks)b, t % 2 == 0, (slc_simd_target)(t / 2), &batch, &result);
                assert_true(hits_checksum(&result.hits) == w.checksum);
                slc_faults_count(
                    &w.faults, SLC_FAULT_EVENT_CROWDED,
                    slc_faults_of(&result.faults, SLC_FAULT_EVENT_CROWDED) -
                        slc_faults_of(&w.faults, SLC_FAULT_EVENT_CROWDED)); /* of the search for tracks */
                assert_true(fault_counts_equal(&result.faults, &w.faults));
                assert_int_equal(result.n_retina_events, w.retina_events);
                assert_int_equal(result.n_superpixel_events, w.superpixel_events);
            }
            used[0] += w.superpixel_events;
            used[1] += w.retina_events;
        }
        slc_batch_clear(&batch);
    }
    assert_true(used[0] > 50 && used[1] > 50);
    slc_velo_result_clear(&result);
}

/* How many faults each event has: as many as when it is alone in its batch, also of more than are kept. */
static void counts_faults_of_events(void **state)
{
    (void)state;
    static slc_velo_result result, alone;
    static uint8_t damaged[SUPPORT_VELO_EVENT];
    uint64_t random = 5, most = 0, sound = 0;
    for (uint64_t round = 0; round < 6; round++) {
        slc_batch batch = {.first_event = 1000 * round};
        for (uint32_t e = 0; e < EVENTS; e++) {
            uint64_t sensors = 0;
            const unsigned damage = random_below(&random, 3) == 0
                                        ? 0
                                        : (unsigned)random_below(&random, SUPPORT_VELO_DAMAGE);
            const size_t size = support_velo_event(&random, (uint8_t)(2 + random_below(&random, 3)), 60,
                                                   damage, damaged, &sensors);
            assert_int_equal(slc_batch_append(&batch, damaged, size, 0), SLC_OK);
        }
        run_chain(SLC_VELO_BANKS_AUTO, round % 2 == 0, SLC_SIMD_AUTO, &batch, &result);
        assert_int_equal(result.counts.head.size, EVENTS);
        uint64_t sum = 0;
        for (uint32_t e = 0; e < EVENTS; e++) {
            slc_batch one = {.first_event = 7};
            assert_int_equal(slc_batch_append(&one, batch.bytes + batch.offset[e], batch.length[e], 0),
                             SLC_OK);
            run_chain(SLC_VELO_BANKS_AUTO, false, SLC_SIMD_AUTO, &one, &alone);
            assert_int_equal(result.counts.faults[e], slc_faults_total(&alone.faults));
            assert_int_equal(alone.counts.faults[0], slc_faults_total(&alone.faults));
            sum += result.counts.faults[e];
            sound += result.counts.faults[e] == 0;
            slc_batch_clear(&one);
        }
        assert_int_equal(sum, slc_faults_total(&result.faults));
        assert_null(result.faults.of_event);
        most = sum > most ? sum : most;
        slc_batch_clear(&batch);
    }
    assert_true(most > SLC_FAULTS_KEPT && sound > 3);
    slc_velo_result_clear(&result);
    slc_velo_result_clear(&alone);
}

static void order_of_words_makes_no_difference(void **state)
{
    (void)state;
    static slc_velo_result results[2];
    for (uint64_t seed = 1; seed < 20; seed++) {
        for (int turned = 0; turned < 2; turned++) {
            uint64_t random = seed;
            slc_batch batch = {.first_event = 0};
            const size_t size = make_event(&random, CLUSTERS, false, turned == 1);
            assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
            run_chain(SLC_VELO_BANKS_AUTO, true, SLC_SIMD_AUTO, &batch, &results[turned]);
            slc_batch_clear(&batch);
        }
        assert_true(results[0].hits.head.size > 20);
        assert_true(slc_velo_result_checksum(&results[0], 1) == slc_velo_result_checksum(&results[1], 1));
    }
    slc_velo_result_clear(&results[0]);
    slc_velo_result_clear(&results[1]);
}

/* What is wrong between banks is one fault, though the event is searched for both kinds. */
static void damage_is_told_once(void **state)
{
    (void)state;
    static slc_velo_result result;
    const uint32_t payload[] = {1, 5U << 12};
    const uint8_t rubbish[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int crossings = 0; crossings < 2; crossings++) {
        slc_batch batch = {.first_event = 7};
        size_t size = 0;
        if (crossings == 1) {
            size = slc_lhcb_bank_write(bytes, sizeof bytes, SLC_LHCB_BANK_TAE, 1, 0, "abcd", 4);
        } else {
            memcpy(bytes, rubbish, size = sizeof rubbish);
        }
        size += slc_lhcb_bank_write(bytes + size, sizeof bytes - size, SLC_LHCB_BANK_VP_RETINA, 3, 9, payload,
                                    sizeof payload);
        assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
        run_chain(SLC_VELO_BANKS_AUTO, false, SLC_SIMD_AUTO, &batch, &result);
        assert_int_equal(slc_faults_total(&result.faults), 1);
        assert_int_equal(result.faults.kept[0].code,
                         crossings == 1 ? SLC_FAULT_EVENT_CROSSINGS : SLC_FAULT_BANK_MAGIC);
        assert_int_equal(result.hits.head.size, 1 - crossings);
        assert_int_equal(result.n_retina_events, 1 - crossings);
        slc_batch_clear(&batch);
    }
    slc_velo_result_clear(&result);
}

static void refuses_what_is_no_choice(void **state)
{
    (void)state;
    slc_velo_chain *chain;
    slc_velo_config config;
    slc_error error = {SLC_OK, ""};
    slc_velo_config_default(&config);
    assert_int_equal(config.banks, SLC_VELO_BANKS_AUTO);
    config.banks = (slc_velo_banks)3;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "banks is 3, must be from 0 to 2");
    config.banks = SLC_VELO_BANKS_AUTO;
    config.fit.size_sigma_mm[4] = 0;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "fit.size_sigma_mm[4] is 0, must be from 1e-06 to 1000");
    slc_velo_config_default(&config);
    config.vertex.error_scale = 0;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "vertex.error_scale is 0, must be from 0.001 to 1000");
}

/* Event 2 has too many hits in a layer, which the search finds; event 5 has no bank, which the stage before
 * it finds: the batch does not say which of the two is told, and no byte is blamed. */
static void strict_tells_the_earliest(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 3, 5, EVENTS}, zero;
    slc_velo_config config;
    slc_velo_config_default(&config);
    config.strict = true;
    config.track.max_layer_hits = 1;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        for (uint32_t first = 0; first < EVENTS; first += 3) {
            slc_velo_chain *chain;
            slc_velo_result result = {.n_hits = 0};
            slc_error error = {SLC_OK, ""};
            slc_status status = SLC_OK;
            uint64_t random = 5;
            assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), SLC_OK);
            for (uint32_t e = first; e < EVENTS && status == SLC_OK; e += batches[i]) {
                slc_batch batch = {.first_event = e};
                for (uint32_t k = e; k < e + batches[i] && k < EVENTS; k++) {
                    const size_t size = k == 2 || k == 5
                                            ? make_event(&random, k == 2 ? CLUSTERS : NONE, false, false)
                                            : slc_lhcb_bank_write(bytes, sizeof bytes, SLC_LHCB_BANK_VP, 2, 5,
                                                                  &zero, sizeof zero);
                    assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
                }
                assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, &error), SLC_OK);
                status = slc_velo_chain_run(chain, &batch, &result, &error);
                slc_batch_clear(&batch);
            }
            assert_int_equal(status, first < 6 ? SLC_ERR_STRICT : SLC_OK);
            assert_string_equal(error.text,
                                first == 0   ? "event 2: too many hits in a layer; tracks not searched"
                                : first == 3 ? "event 5: no VELO bank of a wanted type (63, 8 or 73) "
                                               "in the event"
                                             : "");
            slc_velo_result_clear(&result);
            slc_velo_chain_close(chain);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    slc_velo_geometry_ideal(&geometry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_as_asked),
        cmocka_unit_test(counts_faults_of_events),
        cmocka_unit_test(order_of_words_makes_no_difference),
        cmocka_unit_test(damage_is_told_once),
        cmocka_unit_test(refuses_what_is_no_choice),
        cmocka_unit_test(strict_tells_the_earliest),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
