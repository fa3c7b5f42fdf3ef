/* SPDX-License-Identifier: Apache-2.0
 * Upstream and long tracks against the oracle, which looks at everything: the same tracks of the same hits
 * with the same bits, on LHCb's ten events and on generated ones, in all settings, where hits lie at the same
 * place, where windows and lists are full, and where banks are damaged. */
#include "support/cmocka_all.h"

#include "hlt1/hlt1_event.h"
#include "oracle/hlt1_search_oracle.h"
#include "support/assert_ok.h"
#include "support/random.h"
#include "support/support.h"

#include <sluice/io.h>
#include <sluice/io_hlt1.h>
#include <sluice/sim_hlt1.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRACKS = 4096, BANK_ROOM = 1 << 16 };

static slc_hlt1_geometry *geometry;
static slc_batch ten, few; /* LHCb's events; three of them, of few hits, of some, of many */
static slc_error error;

static int set_up(void **state)
{
    (void)state;
    slc_io_source *source = NULL;
    slc_faults faults = {0};
    ASSERT_OK(slc_io_hlt1_geometry_open(support_data("lhcb_hlt1"), &geometry, &error));
    ASSERT_OK(slc_io_open(support_data("lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"), NULL,
                          &source, &error));
    ASSERT_OK(slc_io_read_batch(source, 100, (size_t)1 << 30, &ten, &faults, &error));
    slc_io_close(source);
    assert_int_equal(ten.n_events, 10);
    static const uint32_t which[3] = {1, 3, 6};
    for (int i = 0; i < 3; i++) {
        ASSERT_OK(slc_batch_append(&few, ten.bytes + ten.offset[which[i]], ten.length[which[i]], 0));
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_batch_clear(&ten);
    slc_batch_clear(&few);
    slc_io_hlt1_geometry_close(geometry);
    return 0;
}

static void generate(uint64_t seed, float visible, uint32_t n, slc_batch *batch)
{
    slc_sim_hlt1_config config;
    slc_sim_hlt1 *sim = NULL;
    slc_sim_hlt1_config_default(&config);
    config.seed = seed;
    config.b_fraction = 0.2f;
    config.visible_vertices = visible;
    ASSERT_OK(slc_sim_hlt1_open(&config, geometry, &sim, &error));
    for (uint32_t i = 0; i < n; i++) {
        ASSERT_OK(slc_sim_hlt1_event(sim, i, batch, NULL, NULL, &error));
    }
    slc_sim_hlt1_close(sim);
}

/* ---- comparison --------------------------------------------------------------------------------- */

typedef struct counted {
    size_t upstream, long_tracks, rest, crowded, windows;
} counted;

static void assert_same_bits(float a, float b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

static void assert_upstream(const slc_hlt1_result *result, uint32_t e, const oracle_hlt1_track *want,
                            size_t n)
{
    const slc_hlt1_upstream *got = &result->upstream;
    const size_t first = got->head.event_offset[e], hits = result->upstream_hits.head.event_offset[e];
    assert_int_equal(got->head.event_offset[e + 1] - first, n);
    for (size_t i = 0; i < n; i++) {
        const size_t t = first + i;
        assert_int_equal(got->velo_track[t], want[i].velo_track);
        assert_int_equal(got->n_hits[t], want[i].n_hits);
        assert_memory_equal(result->upstream_hits.hit + hits + got->hit_begin[t], want[i].hit,
                            want[i].n_hits * sizeof *want[i].hit);
        assert_same_bits(got->x_mm[t], want[i].x);
        assert_same_bits(got->y_mm[t], want[i].y);
        assert_same_bits(got->z_mm[t], want[i].z);
        assert_same_bits(got->tx[t], want[i].tx);
        assert_same_bits(got->ty[t], want[i].ty);
        assert_same_bits(got->q_over_p[t], want[i].q_over_p);
        assert_same_bits(got->chi2[t], want[i].quality);
    }
}

/* The momentum of the oracle takes powers and squares in another order: it is not compared to the last bit.
 */
static void assert_long(const slc_hlt1_result *result, uint32_t e, const oracle_hlt1_track *want, size_t n)
{
    const slc_hlt1_long *got = &result->long_tracks;
    const size_t first = got->head.event_offset[e], hits = result->long_hits.head.event_offset[e];
    assert_int_equal(got->head.event_offset[e + 1] - first, n);
    for (size_t i = 0; i < n; i++) {
        const size_t t = first + i;
        assert_int_equal(got->velo_track[t], want[i].velo_track);
        assert_int_equal(got->upstream_track[t], want[i].from);
        assert_int_equal(got->n_hits[t], want[i].n_hits);
        assert_memory_equal(result->long_hits.hit + hits + got->hit_begin[t], want[i].hit,
                            want[i].n_hits * sizeof *want[i].hit);
        assert_same_bits(got->x_mm[t], want[i].x);
        assert_same_bits(got->y_mm[t], want[i].y);
        assert_same_bits(got->z_mm[t], want[i].z);
        assert_same_bits(got->tx[t], want[i].tx);
        assert_same_bits(got->ty[t], want[i].ty);
        assert_same_bits(got->quality[t], want[i].quality);
        assert_true(fabsf(got->q_over_p[t] - want[i].q_over_p) <= 2e-7f * fabsf(want[i].q_over_p));
    }
}

static bool has_fault(const slc_faults *faults, slc_fault_code code, uint64_t event)
{
    for (size_t i = 0; i < faults->n_kept; i++) {
        if (faults->kept[i].code == code && faults->kept[i].event == event) {
            return true;
        }
    }
    return false;
}

static counted compare(const slc_hlt1_config *config, const slc_batch *batch)
{
    static oracle_hlt1_track upstream[MOST_TRACKS], longs[MOST_TRACKS];
    slc_hlt1_chain *chain = NULL;
    slc_hlt1_result result = {0};
    counted sum = {0};
    ASSERT_OK(slc_hlt1_chain_open(config, geometry, &chain, &error));
    ASSERT_OK(slc_hlt1_chain_reserve(chain, batch, &result, &error));
    ASSERT_OK(slc_hlt1_chain_run(chain, batch, &result, &error));
    for (uint32_t e = 0; e < batch->n_events; e++) {
        slc_hlt1_event event;
        bool more = false;
        slc_hlt1_event_view(geometry, &result, e, &event);
        assert_true(event.n_velo <= MOST_TRACKS);
        const size_t n = oracle_hlt1_upstream(&config->upstream, &event, upstream, &more);
        assert_upstream(&result, e, upstream, n);
        assert_true(has_fault(&result.faults, SLC_FAULT_HLT1_UPSTREAM, batch->first_event + e) == more);
        const size_t n_long = oracle_hlt1_long(config, &event, upstream, n, longs);
        assert_long(&result, e, longs, n_long);
        sum.upstream += n;
        sum.long_tracks += n_long;
        sum.crowded += more;
        for (size_t i = 0; i < result.faults.n_kept; i++) {
            sum.windows += result.faults.kept[i].code == SLC_FAULT_HLT1_CROWDED &&
                           result.faults.kept[i].event == batch->first_event + e;
        }
        for (size_t i = 0; i < n_long; i++) {
            sum.rest += longs[i].from == SLC_HLT1_NONE;
        }
    }
    slc_hlt1_result_clear(&result);
    slc_hlt1_chain_close(chain);
    return sum;
}

static slc_hlt1_config settings(const char *name)
{
    slc_hlt1_config config;
    slc_hlt1_config_default(&config);
    ASSERT_OK(slc_hlt1_config_preset(&config, name, &error));
    return config;
}

/* ---- what is compared --------------------------------------------------------------------------- */

static void ten_events(void **state)
{
    (void)state;
    static const char *const names[] = {"standard", "loose", "full"};
    static const counted least[] = {{550, 350, 0, 0, 0}, {700, 450, 0, 0, 0}, {700, 500, 50, 0, 0}};
    for (int i = 0; i < 3; i++) {
        const slc_hlt1_config config = settings(names[i]);
        const counted n = compare(&config, &ten);
        print_message("%s: %zu upstream, %zu long, of these %zu without UT\n", names[i], n.upstream,
                      n.long_tracks, n.rest);
        assert_true(n.upstream >= least[i].upstream && n.long_tracks >= least[i].long_tracks &&
                    n.rest >= least[i].rest);
    }
}

static void every_instruction_set(void **state)
{
    (void)state;
    slc_hlt1_config config = settings("full");
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        config.exec.target = (slc_simd_target)target;
        if (slc_simd_runs(config.exec.target)) {
            assert_true(compare(&config, &few).long_tracks > 80);
        }
    }
}

static void generated_events(void **state)
{
    (void)state;
    slc_batch made = {0};
    generate(77, 4, 3, &made);
    const slc_hlt1_config standard = settings("standard"), full = settings("full");
    const counted n = compare(&standard, &made), all = compare(&full, &made);
    print_message("%zu, %zu with the rest\n", n.long_tracks, all.long_tracks);
    assert_true(n.long_tracks > 60 && all.long_tracks > n.long_tracks && all.rest > 5);
    slc_batch_clear(&made);
    generate(78, 12, 1, &made);
    assert_true(compare(&standard, &made).long_tracks > 60);
    assert_true(compare(&full, &made).long_tracks > 60); /* more pairs of a track than are judged at once */
    slc_batch_clear(&made);
    generate(80, 10, 1, &made);
    assert_true(compare(&full, &made).rest > 5); /* lists of more hits than are gone through at once */
    slc_batch_clear(&made);
}

/* Lists that are full after a few entries, and a number of hits that is not even. */
static void full_lists(void **state)
{
    (void)state;
    slc_hlt1_config config = settings("full");
    config.forward.max_hits = 7;
    config.forward.max_triplets = config.rest.max_triplets = 2;
    config.forward.enough_quality = 0; /* never */
    assert_true(compare(&config, &few).long_tracks > 60);
    config = settings("loose");
    config.forward.max_hits = 1;
    config.forward.max_triplets = 1;
    config.forward.max_shared = 0;
    config.upstream.max_tracks = 31;
    const counted n = compare(&config, &few);
    assert_true(n.crowded >= 1 && n.upstream <= 93);
    config = settings("full");
    config.forward.max_hits = 64;
    config.forward.max_triplets = config.rest.max_triplets = 32;
    config.forward.max_quality = config.forward.enough_quality = 10; /* always, if anything is found */
    config.forward.max_shared = 1;
    config.rest.max_quality = 10;
    config.rest.min_hits = 9;
    config.rest.min_ut_layers = 0;
    config.upstream.min_discriminant = -100;
    assert_true(compare(&config, &few).long_tracks > 100);
}

/* A copy of the events whose banks `change` has been at. */
static void change_banks(const slc_batch *from, slc_batch *to, uint64_t *seed,
                         uint32_t (*change)(const slc_lhcb_bank *bank, uint8_t *payload, uint64_t *seed))
{
    static uint8_t payload[BANK_ROOM];
    for (uint32_t e = 0; e < from->n_events; e++) {
        const size_t room = 4 * from->length[e] + BANK_ROOM;
        uint8_t *event = malloc(room);
        size_t used = 0;
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(from, e);
        slc_lhcb_bank bank;
        assert_non_null(event);
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            uint32_t size = bank.size;
            memcpy(payload, bank.payload, size);
            if (bank.type == SLC_LHCB_BANK_UT || bank.type == SLC_LHCB_BANK_SCIFI) {
                assert_true(2 * size + 8 <= sizeof payload);
                size = change(&bank, payload, seed);
            }
            used += slc_lhcb_bank_write(event + used, room - used, bank.type, bank.version, bank.source,
                                        payload, size);
        }
        ASSERT_OK(slc_batch_append(to, event, used, 0));
        free(event);
    }
}

/* Every third cluster twice, so that hits lie at the same place. */
static uint32_t twice(const slc_lhcb_bank *bank, uint8_t *payload, uint64_t *seed)
{
    const uint32_t words = bank->type == SLC_LHCB_BANK_UT ? bank->payload[0] | (uint32_t)bank->payload[1] << 8
                                                          : (bank->size - 4) / 2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < words; i++) {
        const uint8_t *word = bank->payload + 4 + (size_t)2 * i;
        const uint32_t times = (word[0] != 0 || word[1] != 0) && random_below(seed, 3) == 0 ? 2 : 1;
        for (uint32_t k = 0; k < times; k++, n++) {
            memcpy(payload + 4 + (size_t)2 * n, word, 2);
        }
    }
    if (bank->type == SLC_LHCB_BANK_UT) {
        payload[0] = (uint8_t)n;
        payload[1] = (uint8_t)(n >> 8);
    }
    return 4 + 2 * n;
}

static uint32_t damaged(const slc_lhcb_bank *bank, uint8_t *payload, uint64_t *seed)
{
    for (uint32_t i = 0; i < bank->size; i++) {
        if (random_below(seed, 200) == 0) {
            payload[i] ^= (uint8_t)(1U << random_below(seed, 8));
        }
    }
    return random_below(seed, 40) == 0 ? random_below(seed, bank->size) : bank->size;
}

static void hits_at_the_same_place(void **state)
{
    (void)state;
    slc_batch doubled = {0};
    uint64_t seed = 5;
    change_banks(&few, &doubled, &seed, twice);
    const slc_hlt1_config standard = settings("standard"), full = settings("full");
    assert_true(compare(&standard, &doubled).long_tracks > 50);
    assert_true(compare(&full, &doubled).long_tracks > 80);
    slc_batch_clear(&doubled);
}

static void damaged_banks(void **state)
{
    (void)state;
    const slc_hlt1_config full = settings("full");
    for (uint64_t seed = 1; seed < 4; seed++) {
        slc_batch broken = {0};
        uint64_t random = seed;
        change_banks(&few, &broken, &random, damaged);
        assert_true(compare(&full, &broken).long_tracks > 20);
        slc_batch_clear(&broken);
    }
}

/* Each cluster of the UT seventy times. */
static uint32_t seventy(const slc_lhcb_bank *bank, uint8_t *payload, uint64_t *seed)
{
    const uint32_t words = bank->payload[0] | (uint32_t)bank->payload[1] << 8;
    uint32_t n = 0;
    (void)seed;
    if (bank->type != SLC_LHCB_BANK_UT) {
        return bank->size;
    }
    for (uint32_t i = 0; i < words; i++) {
        for (uint32_t k = 0; k < 70; k++, n++) {
            memcpy(payload + 4 + (size_t)2 * n, bank->payload + 4 + (size_t)2 * i, 2);
        }
    }
    payload[0] = (uint8_t)n;
    payload[1] = (uint8_t)(n >> 8);
    return 4 + 2 * n;
}

/* What does not fit into a window is told, once of each event; nothing is told where all do. */
static void full_windows(void **state)
{
    (void)state;
    slc_batch crowded = {0}, first = {0};
    uint64_t seed = 7;
    const slc_hlt1_config standard = settings("standard");
    ASSERT_OK(slc_batch_append(&first, few.bytes + few.offset[0], few.length[0], 0));
    change_banks(&first, &crowded, &seed, seventy);
    assert_int_equal(compare(&standard, &few).windows, 0);
    const counted n = compare(&standard, &crowded);
    assert_true(n.windows == 1 && n.upstream > 10);
    slc_batch_clear(&crowded);
    slc_batch_clear(&first);
}

/* Flips the counts of the banks of a type in an event, so that they cannot be read. */
static void break_banks(slc_batch *batch, uint32_t e, uint8_t type)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
    slc_lhcb_bank bank;
    uint32_t broken = 0;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        if (bank.type == type && bank.size > 40) {
            memset(batch->bytes + (bank.payload - batch->bytes), 0xee, 4);
            broken++;
        }
    }
    assert_true(broken > 0);
}

/* What the first error of events first … 9 is, in batches of `most`; "" for none. */
static const char *strict_error(const slc_batch *events, uint32_t first, uint32_t most)
{
    slc_hlt1_config config = settings("standard");
    slc_hlt1_chain *chain;
    slc_hlt1_result result = {0};
    slc_status status = SLC_OK;
    config.strict = true;
    error.text[0] = '\0';
    ASSERT_OK(slc_hlt1_chain_open(&config, geometry, &chain, &error));
    for (uint32_t e = first; e < events->n_events && status == SLC_OK; e += most) {
        slc_batch some = {.first_event = e};
        for (uint32_t k = e; k < e + most && k < events->n_events; k++) {
            ASSERT_OK(slc_batch_append(&some, events->bytes + events->offset[k], events->length[k], 0));
        }
        ASSERT_OK(slc_hlt1_chain_reserve(chain, &some, &result, &error));
        status = slc_hlt1_chain_run(chain, &some, &result, &error);
        assert_true(status == SLC_OK || status == SLC_ERR_STRICT);
        slc_batch_clear(&some);
    }
    slc_hlt1_result_clear(&result);
    slc_hlt1_chain_close(chain);
    return error.text;
}

/* Beyond the VELO in event 3, in the VELO in event 5 and, by the hundred, in 8: the batch does not say which
 * is told. */
static void strict_tells_the_earliest(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 2, 3, 4, 10};
    static const char *const of[] = {[0] = "event 3, ", [4] = "event 5, ", [6] = "event 8, "};
    slc_batch broken = {0};
    for (uint32_t e = 0; e < ten.n_events; e++) {
        ASSERT_OK(slc_batch_append(&broken, ten.bytes + ten.offset[e], ten.length[e], 0));
    }
    break_banks(&broken, 3, SLC_LHCB_BANK_UT);
    break_banks(&broken, 5, SLC_LHCB_BANK_VP);
    break_banks(&broken, 8, SLC_LHCB_BANK_VP);
    for (uint32_t first = 0; first < 10; first += first == 0 ? 4 : 2) {
        char alone[sizeof error.text];
        (void)snprintf(alone, sizeof alone, "%s", strict_error(&broken, first, 1));
        assert_true(first == 8 || strncmp(alone, of[first], strlen(of[first])) == 0);
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
            assert_string_equal(strict_error(&broken, first, batches[i]), alone);
        }
    }
    assert_string_equal(strict_error(&ten, 0, 4), "");
    slc_batch_clear(&broken);
}

int main(void)
{
    const int skip = support_skip_without("lhcb_hlt1/muon_tables.bin");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_events),
        cmocka_unit_test(every_instruction_set),
        cmocka_unit_test(generated_events),
        cmocka_unit_test(full_lists),
        cmocka_unit_test(hits_at_the_same_place),
        cmocka_unit_test(damaged_banks),
        cmocka_unit_test(full_windows),
        cmocka_unit_test(strict_tells_the_earliest),
    };
    return skip != 0 ? skip : cmocka_run_group_tests(tests, set_up, tear_down);
}
