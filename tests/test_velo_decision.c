/* SPDX-License-Identifier: Apache-2.0
 * The bank in which accepted events keep their decision: its bytes, what it says of an event, and that it is
 * refused at every length but its own and with every bit that cannot be. */
#include "support/cmocka_all.h"
#include "support/guard_page.h"

#include "base/bytes.h"
#include "velo/velo_checksum.h"
#include "velo/velo_decision.h"
#include <sluice/sluice.h>

#include <string.h>

static const slc_velo_decision example = {.version = 1,
                                          .source = 2,
                                          .n_lines = 5,
                                          .names = UINT64_C(0x1122334455667788),
                                          .lines = 0x13,
                                          .limited = 0x04,
                                          .checksum = UINT64_C(0xfedcba9876543210),
                                          .hits = 1000,
                                          .tracks = 200,
                                          .primaries = 7};

/* The bank in `bytes`, as if it had only `size` bytes of payload. */
static slc_status read_of(const uint8_t *payload, size_t size, uint8_t type, uint8_t version,
                          slc_velo_decision *decision)
{
    const slc_lhcb_bank bank = {
        .payload = payload, .size = (uint32_t)size, .type = type, .version = version, .source = 2};
    return slc_velo_decision_read(&bank, decision);
}

static void has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t wanted[SLC_VELO_DECISION_BANK] = {
        0xcb, 0xcb, 60,   0,    240,  1,    2,    0,    'S',  'L',  'C',  'D',  5,    0,    0,
        0,    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x13, 0,    0,    0,    0,    0,
        0,    0,    0x04, 0,    0,    0,    0,    0,    0,    0,    0x10, 0x32, 0x54, 0x76, 0x98,
        0xba, 0xdc, 0xfe, 0xe8, 0x03, 0,    0,    200,  0,    0,    0,    7,    0,    0,    0};
    uint8_t out[SLC_VELO_DECISION_BANK];
    slc_velo_decision_write(&example, out);
    assert_memory_equal(out, wanted, sizeof wanted);
    slc_lhcb_bank_cursor cursor = {.bytes = out, .size = sizeof out};
    slc_lhcb_bank bank;
    slc_velo_decision read;
    assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_OK);
    assert_string_equal(slc_lhcb_bank_type_name(bank.type), "SluiceDecision");
    assert_int_equal(slc_velo_decision_read(&bank, &read), SLC_OK);
    assert_true(read.version == 1 && read.source == 2 && read.n_lines == 5 && read.names == example.names &&
                read.lines == 0x13 && read.limited == 0x04 && read.checksum == example.checksum);
    assert_true(read.hits == 1000 && read.tracks == 200 && read.primaries == 7);
}

/* At the end of memory: nothing beyond the payload is read. */
static void is_refused_at_every_other_length(void **state)
{
    (void)state;
    uint8_t out[SLC_VELO_DECISION_BANK];
    slc_velo_decision_write(&example, out);
    guard_page page = guard_page_open(SLC_VELO_DECISION_PAYLOAD);
    assert_non_null(page.mapping);
    for (size_t size = 0; size <= SLC_VELO_DECISION_PAYLOAD; size++) {
        const uint8_t *payload = guard_page_copy(&page, out + SLC_LHCB_BANK_HEADER, size);
        slc_velo_decision read = {.hits = 77};
        const slc_status wanted = size < 4                           ? SLC_END
                                  : size < SLC_VELO_DECISION_PAYLOAD ? SLC_ERR_FORMAT
                                                                     : SLC_OK;
        assert_int_equal(read_of(payload, size, SLC_LHCB_BANK_SLUICE, 1, &read), wanted);
        assert_int_equal(read.hits, wanted == SLC_OK ? 1000 : 77);
    }
    guard_page_close(&page);
}

static void is_refused_if_it_cannot_be(void **state)
{
    (void)state;
    uint8_t bank[SLC_VELO_DECISION_BANK + 4] = {0};
    uint8_t *payload = bank + SLC_LHCB_BANK_HEADER;
    slc_velo_decision read, wrong;
    slc_velo_decision_write(&example, bank);
    assert_int_equal(read_of(payload, 52, SLC_LHCB_BANK_VP, 1, &read), SLC_END);
    assert_int_equal(read_of(payload, 52, SLC_LHCB_BANK_SLUICE, 0, &read), SLC_ERR_UNSUPPORTED);
    assert_int_equal(read_of(payload, 52, SLC_LHCB_BANK_SLUICE, 2, &read), SLC_ERR_UNSUPPORTED);
    assert_int_equal(read_of(payload, 56, SLC_LHCB_BANK_SLUICE, 1, &read), SLC_ERR_FORMAT);
    payload[0] ^= 1;
    assert_int_equal(read_of(payload, 52, SLC_LHCB_BANK_SLUICE, 1, &read), SLC_END);
    const struct {
        uint32_t n_lines;
        uint64_t lines, limited;
        slc_status status;
    } cases[] = {{0, 0, 0, SLC_ERR_FORMAT},       {65, 1, 0, SLC_ERR_FORMAT},
                 {5, 0x20, 0, SLC_ERR_FORMAT},    {5, 1, 0x20, SLC_ERR_FORMAT},
                 {5, 3, 2, SLC_ERR_FORMAT},       {1, 0, 0, SLC_OK},
                 {64, UINT64_MAX - 1, 1, SLC_OK}, {63, UINT64_C(1) << 63, 0, SLC_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wrong = example;
        wrong.n_lines = cases[i].n_lines;
        wrong.lines = cases[i].lines;
        wrong.limited = cases[i].limited;
        slc_velo_decision_write(&wrong, bank);
        assert_int_equal(read_of(payload, 52, SLC_LHCB_BANK_SLUICE, 1, &read), cases[i].status);
    }
}

/* The checksum of an event is that of a run over it alone; names and their order make the hash. */
static void tells_of_its_event(void **state)
{
    (void)state;
    slc_sim_velo_config sim;
    slc_sim_velo *generator = NULL;
    slc_velo_config config;
    slc_velo_chain *chain = NULL;
    slc_batch batch = {0}, one = {0};
    slc_velo_result all = {.n_pixels = 0}, alone = {.n_pixels = 0};
    slc_sim_velo_config_default(&sim);
    sim.seed = 5;
    sim.visible_vertices = 2;
    assert_int_equal(slc_sim_velo_open(&sim, NULL, &generator, NULL), SLC_OK);
    for (uint64_t e = 0; e < 6; e++) {
        assert_int_equal(slc_sim_velo_event(generator, e, &batch, NULL, NULL), SLC_OK);
    }
    slc_velo_config_default(&config);
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, &batch, &all, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, &batch, &all, NULL), SLC_OK);
    slc_velo_selection selection = {.n_lines = 2, .lines = {{.name = "ab"}, {.name = "c"}}};
    uint64_t lines[6] = {1, 2, 3, 1, 2, 3}, limited[6] = {0};
    const slc_velo_decisions decisions = {
        .head = {.size = 6, .n_events = 6}, .lines = lines, .limited = limited};
    slc_velo_decision decision, other;
    uint64_t hits = 0;
    for (uint32_t e = 0; e < 6; e++) {
        slc_batch_reset(&one);
        assert_int_equal(slc_batch_append(&one, batch.bytes + batch.offset[e], batch.length[e], 0), SLC_OK);
        assert_int_equal(slc_velo_chain_reserve(chain, &one, &alone, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run(chain, &one, &alone, NULL), SLC_OK);
        slc_velo_decision_of(&selection, &decisions, &all, e, &decision);
        assert_true(decision.checksum == slc_velo_result_checksum(&alone, 0));
        assert_true(decision.lines == lines[e] && decision.n_lines == 2 && decision.version == 1);
        assert_true(decision.hits == alone.hits.head.size && decision.tracks == alone.tracks.head.size &&
                    decision.primaries == alone.primaries.head.size);
        hits += decision.hits;
    }
    assert_true(hits > 500);
    assert_true(decision.names == UINT64_C(0xad22872f536e4705)); /* FNV-1a of "ab\0c\0", by another program */
    memcpy(selection.lines[0].name, "a", 2);
    memcpy(selection.lines[1].name, "bc", 3);
    slc_velo_decision_of(&selection, &decisions, &all, 0, &other);
    assert_true(other.names != decision.names);
    slc_velo_result_clear(&all);
    slc_velo_result_clear(&alone);
    slc_batch_clear(&batch);
    slc_batch_clear(&one);
    slc_velo_chain_close(chain);
    slc_sim_velo_close(generator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_these_bytes),
        cmocka_unit_test(is_refused_at_every_other_length),
        cmocka_unit_test(is_refused_if_it_cannot_be),
        cmocka_unit_test(tells_of_its_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
