/* SPDX-License-Identifier: Apache-2.0
 *
 * From the generator through the decoder and back: the decoder finds the digis and the faults that are true,
 * every kind of damage under its name, and what random bit flips make of events is what the slow decoder of
 * tests/oracle says. A flipped bit costs the word that it hits, or, in headers, trailers and sizes, at most
 * the fragment.
 */
#include "cms/cms_stages.h"
#include "oracle/cms_decode_oracle.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"
#include "support/pixel_lists.h"
#include "support/random.h"

#include <sluice/sim_cms.h>

#include <stdlib.h>
#include <string.h>

/* A decoder with all that it needs. */
typedef struct decoder {
    slc_cms_decode_config config;
    const slc_cms_cabling *cabling;
    slc_cms_fragments fragments;
    slc_cms_decode_scratch scratch;
    slc_cms_digis digis;
    slc_cms_word_counts counts;
    slc_faults faults;
} decoder;

static void decode(decoder *d, const slc_batch *batch)
{
    size_t fragments = 0, digis = 0;
    slc_cms_decode_bound(batch, &fragments, &digis);
    assert_int_equal(
        slc_columns_reserve(&slc_cms_fragments_schema, &d->fragments, fragments, batch->n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &d->digis, digis, batch->n_events), SLC_OK);
    assert_int_equal(slc_cms_decode_reserve(&d->scratch, digis), SLC_OK);
    slc_faults_reset(&d->faults);
    assert_int_equal(slc_cms_index_run(batch, &d->fragments, &d->faults), SLC_OK);
    assert_int_equal(slc_cms_decode_run(&d->config, SLC_SIMD_AUTO, d->cabling, batch, &d->fragments,
                                        &d->scratch, &d->digis, &d->counts, &d->faults),
                     SLC_OK);
}

static void decoder_clear(decoder *d)
{
    slc_columns_clear(&slc_cms_fragments_schema, &d->fragments);
    slc_columns_clear(&slc_cms_digis_schema, &d->digis);
    slc_cms_decode_clear(&d->scratch);
}

/* The generator, a batch of it, its truth, and the decoder. */
typedef struct round_trip {
    slc_sim_cms *sim;
    slc_batch batch;
    slc_sim_cms_truth truth;
    decoder of;
} round_trip;

static void open_trip(round_trip *trip, const slc_sim_cms_config *config)
{
    slc_error error = {.status = SLC_OK};
    memset(trip, 0, sizeof *trip);
    assert_int_equal(slc_sim_cms_open(config, &trip->sim, &error), SLC_OK);
    slc_cms_decode_config_default(&trip->of.config);
    trip->of.cabling = slc_sim_cms_cabling(trip->sim);
    assert_int_equal(slc_cms_cabling_check(trip->of.cabling, &error), SLC_OK);
}

static void close_trip(round_trip *trip)
{
    slc_sim_cms_close(trip->sim);
    slc_batch_clear(&trip->batch);
    slc_sim_cms_truth_clear(&trip->truth);
    decoder_clear(&trip->of);
}

/* Event number `event` alone, in batch and truth. */
static void generate(round_trip *trip, uint64_t event)
{
    slc_batch_reset(&trip->batch);
    slc_columns_reset(&trip->truth.digis);
    slc_columns_reset(&trip->truth.crossings);
    slc_faults_reset(&trip->truth.faults);
    assert_int_equal(slc_sim_cms_event(trip->sim, event, &trip->batch, &trip->truth, NULL), SLC_OK);
    trip->batch.first_event = event;
}

static void same(const slc_cms_digis *a, const slc_cms_digis *b, const slc_faults *fa, const slc_faults *fb)
{
    size_t row = 0;
    const char *column = cms_columns_differ(&slc_cms_digis_schema, a, b, &row);
    if (column != NULL) {
        fail_msg("digis differ: %s in row %zu", column, row);
    }
    const char *fault = cms_faults_differ(fa, fb);
    for (uint32_t i = 0; fault != NULL && i < fa->n_kept && i < fb->n_kept; i++) {
        const slc_fault *x = &fa->kept[i], *y = &fb->kept[i];
        if (x->code != y->code || x->offset != y->offset || x->module != y->module || x->event != y->event) {
            print_error("fault %u: %s, FED %d, byte %u; expected %s, FED %d, byte %u\n", i,
                        slc_fault_name(x->code), x->module, (unsigned)x->offset, slc_fault_name(y->code),
                        y->module, (unsigned)y->offset);
            break;
        }
    }
    if (fault != NULL) {
        fail_msg("faults differ: %s", fault);
    }
}

static slc_sim_cms_config usual(uint64_t seed)
{
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = seed;
    config.bad_rocs = 0.02f;
    return config;
}

/* ---- what was generated ---------------------------------------------------------------------------- */

static void check_truth(const slc_sim_cms_config *config, uint64_t events, slc_faults *all)
{
    round_trip trip;
    open_trip(&trip, config);
    for (uint64_t e = 0; e < events; e++) {
        generate(&trip, e);
        decode(&trip.of, &trip.batch);
        same(&trip.of.digis, &trip.truth.digis, &trip.of.faults, &trip.truth.faults);
        assert_true(trip.of.digis.head.size > 0);
        slc_faults_merge(all, &trip.truth.faults);
    }
    close_trip(&trip);
}

static void test_sound(void **state)
{
    (void)state;
    slc_faults faults = {.n_kept = 0};
    slc_sim_cms_config config = usual(1);
    check_truth(&config, 4, &faults);
    config.shuffled = true;
    config.duplicates = 0.05f;
    check_truth(&config, 4, &faults);
    assert_int_equal(slc_faults_total(&faults), 0);
}

/* All kinds of damage that there are in CMS's data, each under its name. */
static void test_corrupt(void **state)
{
    (void)state;
    slc_faults faults = {.n_kept = 0};
    slc_sim_cms_config config = usual(2);
    config.corrupt = 0.05f;
    config.duplicates = 0.01f;
    check_truth(&config, 60, &faults);
    config.shuffled = true;
    config.corrupt = 0.3f;
    check_truth(&config, 20, &faults);
    for (slc_fault_code code = SLC_FAULT_CMS_ROC_INVALID; code <= SLC_FAULT_CMS_EVENT; code++) {
        if (slc_faults_of(&faults, code) == 0) {
            fail_msg("no %s among all faults", slc_fault_name(code));
        }
    }
}

/* The slow decoder sees the same, and counts the same. */
static void test_oracle(void **state)
{
    (void)state;
    round_trip trip;
    slc_cms_digis digis = {.head = {.size = 0}};
    slc_sim_cms_config config = usual(3);
    config.corrupt = 0.1f;
    config.shuffled = true;
    open_trip(&trip, &config);
    for (uint64_t e = 0; e < 8; e++) { /* a batch of several events */
        assert_int_equal(slc_sim_cms_event(trip.sim, e, &trip.batch, NULL, NULL), SLC_OK);
    }
    trip.batch.first_event = 1000;
    for (int part = 0; part < 3; part++) {
        uint8_t unpack[SLC_CMS_MODULES_PHASE1];
        slc_faults faults = {.n_kept = 0};
        slc_cms_word_counts counts;
        for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1; m++) {
            unpack[m] = m % 3 != 0;
        }
        trip.of.config.unpack = part == 1 ? unpack : NULL;
        trip.of.config.modules = part == 2 ? 1000 : SLC_CMS_MODULES_PHASE1;
        decode(&trip.of, &trip.batch);
        oracle_cms_decode(&trip.of.config, trip.of.cabling, &trip.batch, &digis, &counts, &faults);
        same(&trip.of.digis, &digis, &trip.of.faults, &faults);
        assert_memory_equal(&trip.of.counts, &counts, sizeof counts);
        assert_int_equal(counts.words,
                         counts.empty + counts.errors + counts.invalid + counts.bad_roc + counts.digis);
    }
    cms_digis_clear(&digis);
    close_trip(&trip);
}

/* ---- bit flips --------------------------------------------------------------------------------------- */

/* What a byte of an event belongs to. */
typedef struct place {
    bool word;      /* a data word; otherwise what holds the fragment together */
    uint32_t digis; /* at most so many are lost where it is hit: one, or those of the fragment */
} place;

/* Of a sound event: fragments have one or two headers and trailers. */
static place place_of(const decoder *sound, const slc_batch *batch, size_t byte)
{
    const slc_cms_fragments *f = &sound->fragments;
    place found = {.digis = 0}; /* the number of fragments in front, of which nothing hangs */
    for (size_t i = 0; i < f->head.size; i++) {
        const size_t begin = f->begin[i], end = begin + 4 * (size_t)f->n_words[i];
        const size_t next = i + 1 < f->head.size ? f->begin[i + 1] : batch->length[0];
        if (byte >= begin && byte < end) {
            return (place){.word = true, .digis = 1};
        }
        /* Between two fragments' words stand the trailers of one, and id, size and headers of the other. */
        if (byte >= end && byte < next) {
            found.digis = f->n_words[i] + (i + 1 < f->head.size ? f->n_words[i + 1] : 0);
        }
    }
    if (byte >= 4 && f->head.size > 0 && byte < f->begin[0]) {
        found.digis = f->n_words[0];
    }
    return found;
}

static int by_value(const void *first, const void *second)
{
    const uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;
    return (a > b) - (a < b);
}

static uint64_t *sorted_digis(const slc_cms_digis *digis)
{
    uint64_t *values = calloc(digis->head.size + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < digis->head.size; i++) {
        values[i] = (uint64_t)digis->module[i] << 32 | digis->packed[i];
    }
    qsort(values, digis->head.size, sizeof *values, by_value);
    return values;
}

/* How many digis of `before` are not in `after`. */
static size_t lost(const slc_cms_digis *before, const slc_cms_digis *after)
{
    uint64_t *a = sorted_digis(before), *b = sorted_digis(after);
    size_t n = 0;
    for (size_t i = 0, j = 0; i < before->head.size; i++) {
        while (j < after->head.size && b[j] < a[i]) {
            j++;
        }
        const bool there = j < after->head.size && b[j] == a[i];
        j += there;
        n += !there;
    }
    free(a);
    free(b);
    return n;
}

static void flip(slc_batch *batch, size_t byte, uint64_t *seed)
{
    batch->bytes[batch->offset[0] + byte] ^= (uint8_t)(1U << random_below(seed, 8));
}

static void check_oracle(decoder *d, const slc_batch *batch, slc_cms_digis *digis)
{
    slc_faults faults = {.n_kept = 0};
    slc_cms_word_counts counts;
    oracle_cms_decode(&d->config, d->cabling, batch, digis, &counts, &faults);
    same(&d->digis, digis, &d->faults, &faults);
    assert_memory_equal(&d->counts, &counts, sizeof counts);
}

/* One flip an event: a word costs itself; anything else costs a fragment at most. */
static void test_one_flip(void **state)
{
    (void)state;
    round_trip trip;
    decoder flipped = {.faults = {.n_kept = 0}};
    slc_cms_digis digis = {.head = {.size = 0}};
    uint64_t seed = 11;
    size_t words = 0, others = 0, cost = 0;
    slc_sim_cms_config config = usual(4);
    config.tracks = 20;
    config.noise_digis = 20;
    config.noisy_columns = 0;
    open_trip(&trip, &config);
    flipped.config = trip.of.config;
    flipped.cabling = trip.of.cabling;
    for (uint64_t e = 0; e < pixel_test_count(10000); e++) {
        generate(&trip, e / 8);
        decode(&trip.of, &trip.batch);
        const size_t byte = random_below(&seed, (uint32_t)trip.batch.length[0]);
        const place hit = place_of(&trip.of, &trip.batch, byte);
        flip(&trip.batch, byte, &seed);
        decode(&flipped, &trip.batch);
        check_oracle(&flipped, &trip.batch, &digis);
        const size_t gone = lost(&trip.truth.digis, &flipped.digis);
        if (gone > hit.digis) {
            fail_msg("event %u: a flip in byte %zu costs %zu digis, %u are allowed", (unsigned)e, byte, gone,
                     hit.digis);
        }
        words += hit.word;
        others += !hit.word;
        cost += gone;
    }
    assert_true(words > 0 && others > 0 && cost > 0);
    cms_digis_clear(&digis);
    decoder_clear(&flipped);
    close_trip(&trip);
}

/* Up to a hundred flips in words, and anywhere; and events cut anywhere. */
static void test_many_flips(void **state)
{
    (void)state;
    round_trip trip;
    decoder flipped = {.faults = {.n_kept = 0}};
    slc_cms_digis digis = {.head = {.size = 0}};
    uint64_t seed = 12;
    slc_sim_cms_config config = usual(5);
    config.tracks = 10;
    config.noise_digis = 10;
    config.noisy_columns = 0;
    config.corrupt = 0.01f;
    open_trip(&trip, &config);
    flipped.config = trip.of.config;
    flipped.cabling = trip.of.cabling;
    for (uint64_t e = 0; e < pixel_test_count(10000); e++) {
        generate(&trip, e / 8);
        decode(&trip.of, &trip.batch);
        const uint32_t flips = 1 + random_below(&seed, 100);
        const bool in_words = random_below(&seed, 2) != 0;
        size_t allowed = 0;
        for (uint32_t i = 0; i < flips; i++) {
            const size_t byte = random_below(&seed, (uint32_t)trip.batch.length[0]);
            if (!in_words || place_of(&trip.of, &trip.batch, byte).word) {
                flip(&trip.batch, byte, &seed);
                allowed++;
            }
        }
        if (!in_words && random_below(&seed, 3) == 0) {
            trip.batch.length[0] = random_below(&seed, (uint32_t)trip.batch.length[0]);
        }
        decode(&flipped, &trip.batch);
        check_oracle(&flipped, &trip.batch, &digis);
        if (in_words) {
            assert_true(lost(&trip.truth.digis, &flipped.digis) <= allowed);
        }
    }
    cms_digis_clear(&digis);
    decoder_clear(&flipped);
    close_trip(&trip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),    cmocka_unit_test(test_corrupt),    cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_one_flip), cmocka_unit_test(test_many_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
