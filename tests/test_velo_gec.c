/* SPDX-License-Identifier: Apache-2.0
 *
 * The global event cut. The oracle goes over the bytes of an event one bank at a time with its own reading of
 * the formats; an event that is cut leaves the others as they are without it.
 */
#include "lhcb/lhcb_clusters.h"
#include "lhcb/lhcb_walk.h"
#include <sluice/sluice.h>

#include "support/cmocka_all.h"
#include "support/fault_counts.h"
#include "support/guard_page.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "support/velo_banks.h"

#include <string.h>

enum { EVENTS = 23 };

static uint8_t bytes[2 * SUPPORT_VELO_EVENT];

/* ---- events ------------------------------------------------------------------------------------ */

static size_t write_bank(size_t at, uint8_t type, uint8_t version, int16_t source, const uint8_t *payload,
                         size_t size)
{
    return at + slc_lhcb_bank_write(bytes + at, sizeof bytes - at, type, version, source, payload, size);
}

/* Banks of the UT and the SciFi, and clusters of the VELO's read-out; some of them damaged. */
static size_t others(uint64_t *random, bool damaged, size_t at)
{
    uint8_t payload[600];
    for (uint32_t k = random_below(random, 60); k > 0; k--) {
        const uint32_t size = random_below(random, sizeof payload);
        for (uint32_t i = 0; i < size; i++) {
            payload[i] = (uint8_t)random_u64(random);
        }
        switch (random_below(random, 4)) {
        case 0: { /* UT version 3: a count, words, and bytes that nobody looks at */
            const uint32_t n = size < 4 ? 0 : random_below(random, (size - 4) / 2 + 1);
            payload[0] = (uint8_t)n;
            payload[1] = (uint8_t)(n >> 8);
            if (damaged && random_below(random, 4) == 0) {
                payload[1] = 200;
            }
            at = write_bank(at, 66, 3, (int16_t)k, payload, size < 4 && !damaged ? 4 : size);
            break;
        }
        case 1:
            at = write_bank(at, 66, damaged && random_below(random, 4) == 0 ? 9 : 4, (int16_t)k, payload,
                            size);
            break;
        case 2:
            at = write_bank(at, 64,
                            (uint8_t)(damaged ? random_below(random, 12) : 4 + random_below(random, 5)),
                            (int16_t)k, payload, size < 4 && !damaged ? 4 : size);
            break;
        default:
            at = write_bank(at, 73, 4, (int16_t)(k % 104), payload, size / 4 * 4);
            break;
        }
    }
    return at;
}

static size_t make_event(uint64_t *random, bool damaged)
{
    uint64_t sensors = 0;
    const uint8_t version = (uint8_t)(2 + random_below(random, 3));
    size_t at = 0;
    if (random_below(random, 5) > 0) {
        at = support_velo_event(random, version, random_below(random, 40),
                                damaged ? SUPPORT_VELO_BAD_BANKS | SUPPORT_VELO_FLIPPED : 0, bytes, &sensors);
        at = (at + 3) / 4 * 4;
    }
    at = others(random, damaged, at);
    if (damaged && random_below(random, 4) == 0 && at > 0) {
        bytes[random_below(random, (uint32_t)at)] ^= 0x40;
    }
    if (damaged && random_below(random, 12) == 0) {
        at = write_bank(at, SLC_LHCB_BANK_TAE, 1, 0, bytes, 4);
    }
    return at;
}

/* ---- the oracle -------------------------------------------------------------------------------- */

typedef struct counted {
    uint64_t superpixels, retina, ut, scifi, bad_ut, bad_scifi;
} counted;

static void count_ut(const uint8_t *payload, uint32_t size, uint8_t version, counted *c)
{
    if (version == 4) {
        static const int lanes[] = {0, 1, 4, 5, 6, 7};
        uint32_t n = 0;
        bool good = size >= 24;
        for (int i = 0; good && i < 6; i++) {
            good = payload[lanes[i]] != 255;
        }
        for (int i = 0; good && i < 6; i++) {
            n += payload[lanes[i]];
        }
        c->ut += n;
    } else if (version == 3 && size >= 4 && 4 + 2 * (payload[0] + 256U * payload[1]) <= size) {
        c->ut += payload[0] + 256U * payload[1];
    } else {
        c->bad_ut++;
    }
}

static void count_words(uint64_t *words, uint32_t size, uint8_t version, bool counts)
{
    if (version == 4) {
        *words += size / 4;
    } else if (counts && (version == 2 || version == 3) && size >= 8) {
        *words += (size - 4) / 4;
    }
}

static counted count(const uint8_t *event, size_t size)
{
    counted c = {0};
    slc_lhcb_bank_cursor cursor = {.bytes = event, .size = size};
    slc_lhcb_bank bank;
    slc_status status;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) != SLC_END) {
        if (status != SLC_OK) {
            slc_lhcb_bank_resume(&cursor);
        } else if (bank.type == 48) {
            return (counted){.bad_ut = c.bad_ut, .bad_scifi = c.bad_scifi};
        } else if (bank.type == 66) {
            count_ut(bank.payload, bank.size, bank.version, &c);
        } else if (bank.type == 64 && bank.version >= 4 && bank.version <= 8 && bank.size >= 4) {
            c.scifi += (bank.size - 4) / 2;
        } else if (bank.type == 64) {
            c.bad_scifi++;
        } else if (bank.type == 63 || bank.type == 8) {
            count_words(&c.superpixels, bank.size, bank.version, bank.type == 63);
        } else if (bank.type == 73) {
            count_words(&c.retina, bank.size, bank.version, true);
        }
    }
    return c;
}

static uint8_t cut_of(const counted *c, uint64_t velo, const slc_velo_gec_config *gec)
{
    const uint64_t n[] = {velo, c->ut, c->scifi, c->ut + c->scifi};
    const uint32_t limit[] = {gec->max_velo, gec->max_ut, gec->max_scifi, gec->max_ut_scifi};
    uint8_t cut = 0;
    for (unsigned k = 0; k < 4; k++) {
        if (limit[k] != 0 && n[k] > limit[k]) {
            cut |= (uint8_t)(1U << k);
        }
    }
    return cut;
}

/* ---- the chain --------------------------------------------------------------------------------- */

static void run_chain(const slc_velo_config *config, const slc_batch *batch, slc_velo_result *result)
{
    slc_velo_chain *chain;
    assert_int_equal(slc_velo_chain_open(config, NULL, &chain, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, batch, result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, batch, result, NULL), SLC_OK);
    slc_velo_chain_close(chain);
}

/* Hits, tracks and vertices of event `e` are those of the only event of `alone`, or none. */
static void assert_event(const slc_velo_result *result, uint32_t e, const slc_velo_result *alone)
{
    const struct {
        const slc_schema *schema;
        const void *all, *one;
    } parts[] = {{&slc_velo_hits_schema, &result->hits, &alone->hits},
                 {&slc_velo_tracks_schema, &result->tracks, &alone->tracks},
                 {&slc_velo_track_hits_schema, &result->track_hits, &alone->track_hits},
                 {&slc_velo_states_schema, &result->beam, &alone->beam},
                 {&slc_velo_primaries_schema, &result->primaries, &alone->primaries}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_true(slc_columns_checksum(parts[i].schema, parts[i].all, e, 0) ==
                    slc_columns_checksum(parts[i].schema, parts[i].one, 0, 0));
    }
}

static uint32_t limit(uint64_t *random, uint32_t most)
{
    return random_below(random, 3) == 0 ? 0 : 1 + random_below(random, most);
}

/* One event of a result against the oracle, and against itself alone without a cut. Returns whether it is
 * cut; adds the faults of counting to *bad. */
static bool check_event(const slc_batch *batch, uint32_t e, const slc_velo_config *config,
                        const slc_velo_result *result, uint64_t *bad)
{
    static slc_velo_result alone;
    const slc_velo_gec_config *gec = &config->gec;
    const counted c = count(batch->bytes + batch->offset[e], batch->length[e]);
    const bool retina = config->banks == SLC_VELO_BANKS_RETINA ||
                        (config->banks == SLC_VELO_BANKS_AUTO && c.superpixels == 0);
    const uint8_t wanted = cut_of(&c, retina ? c.retina : c.superpixels, gec);
    const uint64_t faults = (gec->max_ut + gec->max_ut_scifi > 0 ? c.bad_ut : 0) +
                            (gec->max_scifi + gec->max_ut_scifi > 0 ? c.bad_scifi : 0);
    slc_velo_config plain = *config;
    slc_batch one = {.first_event = 50};
    plain.gec = (slc_velo_gec_config){0};
    assert_int_equal(
        slc_batch_append(&one, batch->bytes + batch->offset[e], wanted == 0 ? batch->length[e] : 0, 0),
        SLC_OK);
    run_chain(&plain, &one, &alone);
    /* That it has no banks is asked of nothing that is cut. */
    alone.counts.faults[0] -= wanted != 0;
    assert_event(result, e, &alone);
    assert_int_equal(result->counts.superpixels[e], alone.counts.superpixels[0]);
    assert_int_equal(result->counts.faults[e], alone.counts.faults[0] + faults);
    if (gec->max_velo + gec->max_ut + gec->max_scifi + gec->max_ut_scifi > 0) {
        assert_int_equal(result->cuts.ut_clusters[e], c.ut);
        assert_int_equal(result->cuts.scifi_clusters[e], c.scifi);
        assert_int_equal(result->cuts.velo_clusters[e], retina ? c.retina : c.superpixels);
        assert_int_equal(result->cuts.cut[e], wanted);
        assert_int_equal(result->cuts.head.event_offset[e + 1], e + 1);
    }
    *bad += faults;
    slc_batch_clear(&one);
    slc_velo_result_clear(&alone);
    return wanted != 0;
}

/* Sound and damaged events, every choice of banks, every combination of limits. */
static void cuts_as_counted(void **state)
{
    (void)state;
    static slc_velo_result result;
    uint64_t random = 77, seen[2] = {0, 0}, told = 0;
    for (int round = 0; round < 60; round++) {
        slc_batch batch = {.first_event = 50};
        slc_velo_config config;
        slc_velo_config_default(&config);
        config.banks = (slc_velo_banks)random_below(&random, 3);
        config.keep_superpixels = random_below(&random, 2) == 0;
        config.gec.max_velo = limit(&random, 1500);
        config.gec.max_ut = limit(&random, 3000);
        config.gec.max_scifi = limit(&random, 4000);
        config.gec.max_ut_scifi = limit(&random, 6000);
        for (uint32_t e = 0; e < EVENTS; e++) {
            const size_t size = make_event(&random, round % 2 == 1);
            assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
        }
        run_chain(&config, &batch, &result);
        uint64_t cut = 0;
        for (uint32_t e = 0; e < EVENTS; e++) {
            cut += check_event(&batch, e, &config, &result, &told);
        }
        assert_int_equal(result.n_gec_events, cut);
        assert_int_equal(result.superpixels.head.n_events, EVENTS);
        seen[0] += cut;
        seen[1] += EVENTS - cut;
        slc_batch_clear(&batch);
    }
    assert_true(seen[0] > 200 && seen[1] > 200 && told > 100);
    slc_velo_result_clear(&result);
}

/* An event that ends anywhere, at a page that may not be touched, alone and beside others. */
static void ends_anywhere(void **state)
{
    (void)state;
    enum { LONGEST = 6000, BESIDE = 4 };
    uint64_t random = 3, ut = 0, scifi = 0;
    guard_page guard = guard_page_open(LONGEST);
    assert_non_null(guard.mapping);
    for (int round = 0; round < 8; round += test_step(SANITIZED ? 3 : 1)) {
        size_t whole = others(&random, round % 2 == 1, 0);
        whole = whole < LONGEST ? whole : LONGEST;
        for (size_t size = 0; size <= whole; size++) {
            const uint8_t *copy = guard_page_copy(&guard, bytes, size);
            size_t offset[BESIDE], length[BESIDE];
            slc_lhcb_clusters n[BESIDE];
            slc_faults faults = {0};
            for (size_t k = 0; k < BESIDE; k++) {
                offset[k] = 0;
                length[k] = size;
            }
            const slc_batch batch = {.bytes = (uint8_t *)(uintptr_t)copy,
                                     .size = size,
                                     .n_events = 1 + (uint32_t)(size % BESIDE),
                                     .offset = offset,
                                     .length = length};
            slc_lhcb_clusters_count(&batch, SLC_LHCB_TELL_UT | SLC_LHCB_TELL_SCIFI, n, &faults);
            const counted c = count(copy, size);
            for (uint32_t e = 0; e < batch.n_events; e++) {
                assert_int_equal(n[e].ut, c.ut);
                assert_int_equal(n[e].scifi, c.scifi);
                assert_int_equal(n[e].retina, c.retina);
            }
            assert_int_equal(slc_faults_total(&faults), batch.n_events * (c.bad_ut + c.bad_scifi));
            ut += c.ut;
            scifi += c.scifi;
        }
    }
    assert_true(ut > 0 && scifi > 0);
    guard_page_close(&guard);
}

/* The limit itself passes, one more does not; reserving anew and batches of other sizes change nothing. */
static void limits_are_inclusive(void **state)
{
    (void)state;
    static slc_velo_result result;
    static const uint8_t payload[4 + 2 * 10 + 2] = {10};
    const size_t ten = sizeof payload - 2; /* clusters */
    slc_velo_config config;
    slc_velo_chain *chain;
    slc_velo_config_default(&config);
    config.gec.max_ut_scifi = 20;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    for (int more = 0; more < 4; more++) {
        slc_batch batch = {0};
        for (int e = 0; e <= more; e++) {
            size_t size = write_bank(0, 66, 3, 1, payload, ten);
            size = write_bank(size, 64, 5, 1, payload, ten + (e == more ? 2 : 0));
            assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
        }
        assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(slc_velo_chain_run(chain, &batch, &result, NULL), SLC_OK);
            assert_int_equal(result.n_gec_events, 1);
            assert_int_equal(result.cuts.cut[more], SLC_VELO_CUT_BY_UT_SCIFI);
            assert_int_equal(result.cuts.ut_clusters[more] + result.cuts.scifi_clusters[more], 21);
            assert_int_equal(slc_faults_of(&result.faults, SLC_FAULT_EVENT_NO_VP), more);
        }
        slc_batch_clear(&batch);
    }
    slc_velo_chain_close(chain);
    slc_velo_result_clear(&result);
}

/* Events that came as hits have no banks, and pass. */
static void hits_pass(void **state)
{
    (void)state;
    static slc_velo_result result;
    slc_velo_config config;
    slc_velo_chain *chain;
    slc_velo_config_default(&config);
    config.gec.max_velo = 1;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &result.hits, 30, 3), SLC_OK);
    for (int e = 0; e < 3; e++) {
        result.hits.head.size += 10;
        slc_columns_end_event(&result.hits);
    }
    assert_int_equal(slc_velo_chain_reserve_hits(chain, &result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run_hits(chain, &result, NULL), SLC_OK);
    assert_int_equal(result.cuts.head.n_events, 3);
    assert_int_equal(result.cuts.cut[0] + result.cuts.cut[1] + result.cuts.cut[2], 0);
    assert_int_equal(result.n_gec_events, 0);
    slc_velo_chain_close(chain);
    slc_velo_result_clear(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_as_counted),
        cmocka_unit_test(ends_anywhere),
        cmocka_unit_test(limits_are_inclusive),
        cmocka_unit_test(hits_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
