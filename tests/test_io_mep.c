/* SPDX-License-Identifier: Apache-2.0
 * Packets of events made here, of both layouts: what is read is what was written, however it is read, and
 * damage costs what it hits. */
#include "support/cmocka_all.h"
#include "support/support.h"

#include "base/bytes.h"
#include "io/io_source.h"
#include "io/lhcb/io_mep_write.h"
#include "lhcb/lhcb_packet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is written --------------------------------------------------------------------------- */

/* Tiny events; every third lacks its last bank, and every fifth has one more, of a version of its own. */
static support_bytes make_event(uint32_t index)
{
    support_bytes event = support_event(index);
    if (index % 3 == 2) {
        slc_lhcb_bank_cursor cursor = {.bytes = event.at, .size = event.size};
        slc_lhcb_bank bank = {.offset = 0};
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        }
        event.size = bank.offset;
    }
    if (index % 5 == 4) {
        uint8_t more[64];
        const size_t n = slc_lhcb_bank_write(more, sizeof more, 9, (uint8_t)index, 77, "abcdefg", index % 7);
        support_append(&event, more, n);
    }
    return event;
}

static support_bytes make_packets(uint32_t n_events, uint32_t packing, slc_io_packets layout)
{
    char path[] = "/tmp/test_io_mep_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    const slc_io_mdf_config config = {.packing = packing, .packets = layout};
    slc_io_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_mdf_create(path, &config, &writer, &error), SLC_OK);
    for (uint32_t i = 0; i < n_events; i++) {
        support_bytes event = make_event(i);
        assert_int_equal(slc_io_mdf_write(writer, event.at, event.size, &error), SLC_OK);
        support_clear(&event);
    }
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    support_bytes bytes = support_read(path);
    assert_int_equal(unlink(path), 0);
    return bytes;
}

/* ---- what is read ------------------------------------------------------------------------------ */

enum { EVENTS = 32, LOG = 1 << 18 };

typedef struct seen {
    bool opened;
    slc_io_totals totals;
    uint64_t faults, hash[EVENTS], n_banks[EVENTS]; /* banks with their order, and how many */
    uint32_t missing[EVENTS];
    uint64_t foreign; /* banks that the event as written does not have */
    char damage[512];
} seen;

/* Is there such a bank in the event as it was written? */
static bool is_written(const support_bytes *event, const slc_lhcb_bank *bank)
{
    slc_lhcb_bank_cursor cursor = {.bytes = event->at, .size = event->size};
    slc_lhcb_bank other;
    while (slc_lhcb_bank_next(&cursor, &other, NULL) == SLC_OK) {
        if (other.type == bank->type && other.source == bank->source && other.version == bank->version &&
            other.size == bank->size && memcmp(other.payload, bank->payload, bank->size) == 0) {
            return true;
        }
    }
    return false;
}

static void look_at_event(seen *s, const slc_batch *batch, uint32_t e)
{
    const uint64_t number = batch->first_event + e;
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
    slc_lhcb_bank bank;
    slc_status status;
    if (number >= EVENTS) {
        return;
    }
    support_bytes all = {0}, written = make_event((uint32_t)number);
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
        uint8_t one[65536 + 16];
        const size_t n = slc_lhcb_bank_write(one, sizeof one, bank.type, bank.version, bank.source,
                                             bank.payload, bank.size);
        assert_int_equal(bank.offset, all.size); /* as if they stood one after the other */
        support_append(&all, one, n);
        s->n_banks[number]++;
        s->foreign += !is_written(&written, &bank);
    }
    assert_int_equal(status, SLC_END);
    s->hash[number] = support_hash(all.at != NULL ? (const void *)all.at : "", all.size);
    s->missing[number] = batch->record[e].missing;
    support_clear(&all);
    support_clear(&written);
}

static seen look(slc_io_source *source, uint32_t max_events)
{
    seen s = {.opened = source != NULL};
    slc_batch batch = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    slc_status status = SLC_END;
    while (source != NULL &&
           (status = slc_io_read_batch(source, max_events, 1 << 20, &batch, &faults, &error)) == SLC_OK) {
        assert_true(batch.n_events > 0 && batch.n_events <= max_events);
        for (uint32_t e = 0; e < batch.n_events; e++) {
            look_at_event(&s, &batch, e);
        }
    }
    assert_int_equal(status, SLC_END);
    if (source != NULL) {
        slc_io_totals_of(source, &s.totals);
        s.faults = slc_faults_total(&faults);
        (void)snprintf(s.damage, sizeof s.damage, "%s",
                       slc_io_damage(source) != NULL ? slc_io_damage(source) : "");
    }
    slc_batch_clear(&batch);
    slc_io_close(source);
    return s;
}

static seen look_at_memory(const void *bytes, size_t size, uint32_t max_events)
{
    slc_io_source *source = NULL;
    (void)slc_io_open_memory(bytes, size, "run.mep", NULL, &source, NULL);
    return look(source, max_events);
}

static seen look_at_file(const void *bytes, size_t size, uint32_t max_events)
{
    slc_io_source *source = NULL;
    const char *path = support_temporary(bytes, size);
    (void)slc_io_open(path, NULL, &source, NULL);
    const seen s = look(source, max_events);
    assert_int_equal(unlink(path), 0);
    return s;
}

/* But for the name of the file. */
static void assert_same(const seen *a, const seen *b)
{
    assert_int_equal(a->opened, b->opened);
    assert_int_equal(a->totals.events, b->totals.events);
    assert_int_equal(a->totals.lost_events, b->totals.lost_events);
    assert_int_equal(a->totals.incomplete_events, b->totals.incomplete_events);
    assert_int_equal(a->totals.bytes, b->totals.bytes);
    assert_int_equal(a->faults, b->faults);
    assert_memory_equal(a->hash, b->hash, sizeof a->hash);
    assert_memory_equal(a->missing, b->missing, sizeof a->missing);
    const char *x = strstr(a->damage, ": "), *y = strstr(b->damage, ": ");
    assert_string_equal(x != NULL ? x : "", y != NULL ? y : "");
}

static void events_come_back(void **state)
{
    (void)state;
    static const uint32_t packings[] = {1, 2, 3, 7, 13, 40}, batches[] = {1, 2, 5, 13, 64};
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        for (size_t p = 0; p < sizeof packings / sizeof *packings; p++) {
            support_bytes file = make_packets(13, packings[p], (slc_io_packets)layout);
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
                const seen s = look_at_memory(file.at, file.size, batches[b]);
                const seen f = look_at_file(file.at, file.size, batches[b]);
                assert_same(&s, &f);
                assert_int_equal(s.totals.events, 13);
                assert_int_equal(s.totals.bytes, file.size);
                assert_int_equal(s.faults, 0);
                assert_int_equal(s.foreign, 0);
                assert_string_equal(s.damage, "");
                for (uint32_t e = 0; e < 13; e++) {
                    support_bytes event = make_event(e);
                    if (layout == SLC_IO_PACKETS_2019) {
                        assert_int_equal(s.hash[e], support_hash(event.at, event.size));
                    }
                    assert_int_equal(s.missing[e], 0); /* an event without a source lacks nothing */
                    slc_lhcb_bank_cursor cursor = {.bytes = event.at, .size = event.size};
                    slc_lhcb_bank bank;
                    uint64_t n = 0;
                    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
                        n++;
                    }
                    assert_int_equal(s.n_banks[e], n);
                    support_clear(&event);
                }
            }
            support_clear(&file);
        }
    }
}

/* Run 3 has ODIN first and the others by source; a second conversion changes nothing. */
static void blocks_are_sorted(void **state)
{
    (void)state;
    support_bytes file = make_packets(4, 4, SLC_IO_PACKETS_MFP);
    slc_packet packet;
    const char *why;
    assert_true(slc_packet_read(file.at, file.size, 0, &packet, &why));
    assert_true(packet.mfp);
    assert_int_equal(packet.size, file.size);
    uint16_t last = 0;
    for (uint32_t i = 0; i < packet.n_blocks; i++) {
        const slc_packet_row row = slc_packet_row_of(&packet, file.at, i);
        slc_packet_block block;
        assert_true(
            slc_packet_block_read(&packet, &row, file.at + row.offset, file.size - row.offset, &block, &why));
        assert_true(slc_packet_block_sums(&block, file.at + block.sizes, &why));
        assert_int_equal(block.n, 4);
        assert_true(i != 0 || file.at[block.types] == SLC_LHCB_BANK_ODIN);
        assert_true(i < 2 || row.source >= last);
        last = row.source;
    }
    support_clear(&file);
}

/* The published block: docs/formats/mep.md. */
static void vector_is_read(void **state)
{
    (void)state;
    static const uint8_t head[] = {0xce, 0x40, 5, 0, 0x60, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,  0, 3, 1,
                                   0,    1,    2, 3, 4,    0, 0, 0, 4, 0, 5, 0, 8, 0, 9, 0, 12, 0, 0, 0};
    const slc_packet packet = {.mfp = true, .n_blocks = 1, .size = 112, .directory = 16};
    const slc_packet_row row = {.source = 1, .offset = 16};
    slc_packet_block block;
    const char *why;
    assert_true(slc_packet_block_read(&packet, &row, head, sizeof head, &block, &why));
    assert_int_equal(block.n, 5);
    assert_int_equal(block.event_id, 1);
    assert_int_equal(block.align, 3);
    assert_int_equal(block.version, 1);
    assert_int_equal(block.data, 16 + 40);
    assert_int_equal(block.end, 16 + 96);
    assert_true(slc_packet_block_sums(&block, head + 28, &why));
}

static void packing_that_fits_is_named(void **state)
{
    (void)state;
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        const slc_io_mdf_config config = {.packing = 100, .packets = (slc_io_packets)layout};
        slc_mep_packer *packer = slc_mep_packer_open(&config, 5000);
        slc_io_writer *writer = NULL;
        slc_error error = {0};
        assert_int_equal(slc_io_mdf_create("/dev/null", NULL, &writer, &error), SLC_OK);
        slc_status status = SLC_OK;
        uint32_t n = 0;
        while (status == SLC_OK) {
            support_bytes event = make_event(0);
            status = slc_mep_packer_add(packer, writer, event.at, event.size, &error);
            n += status == SLC_OK;
            support_clear(&event);
        }
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "fits these events is %u", n);
        assert_int_equal(status, SLC_ERR_USAGE);
        assert_true(n > 1 && n < 100);
        assert_non_null(strstr(error.text, wanted));
        slc_mep_packer_close(packer);
        /* That one does, and no larger one: the packet has no more bytes than it may. */
        support_bytes file = {0};
        for (uint32_t k = n; k <= n + 1; k++) {
            const slc_io_mdf_config fitting = {.packing = k, .packets = (slc_io_packets)layout};
            packer = slc_mep_packer_open(&fitting, 5000);
            for (uint32_t i = 0; i < n + 1; i++) {
                support_bytes event = make_event(0);
                status = slc_mep_packer_add(packer, writer, event.at, event.size, &error);
                support_clear(&event);
                assert_true(status == SLC_OK || (k == n + 1 && i == n));
            }
            assert_int_equal(status, k == n ? SLC_OK : SLC_ERR_USAGE);
            slc_mep_packer_close(packer);
        }
        slc_io_abandon(writer);
        support_clear(&file);
    }
}

static void what_is_no_bank_is_refused(void **state)
{
    (void)state;
    const slc_io_mdf_config config = {.packing = 2}, many = {.packing = 65536};
    slc_io_writer *writer = NULL;
    slc_error error = {0};
    uint8_t bank[16];
    assert_int_equal(slc_io_mdf_create("/dev/null", &many, &writer, &error), SLC_ERR_USAGE);
    assert_null(writer);
    assert_int_equal(slc_io_mdf_create("/dev/null", &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_mdf_write(writer, "no bank ", 8, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "no raw bank"));
    const size_t n = slc_lhcb_bank_write(bank, sizeof bank, 0, 1, 5, NULL, 0);
    assert_int_equal(slc_io_mdf_write(writer, bank, n, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "cannot be told from none"));
    slc_io_abandon(writer);
}

/* ---- damage ------------------------------------------------------------------------------------ */

/* Whatever is cut off: all that is there comes, in its event, and what is not is told. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        support_bytes file = make_packets(5, 3, (slc_io_packets)layout);
        support_bytes first = make_packets(3, 3, (slc_io_packets)layout);
        uint64_t banks_before = 0;
        for (size_t size = 0; size <= file.size; size++) {
            uint8_t *copy = malloc(size + 1); /* so that a sanitizer sees where it ends */
            memcpy(copy, file.at, size);
            const seen s = look_at_memory(copy, size, 64), one = look_at_memory(copy, size, 1);
            assert_same(&s, &one);
            if (size % 37 == 0) {
                const seen f = look_at_file(copy, size, 64), g = look_at_file(copy, size, 2);
                assert_same(&s, &f);
                assert_same(&s, &g);
            }
            free(copy);
            uint64_t banks = 0;
            for (size_t e = 0; e < EVENTS; e++) {
                banks += s.n_banks[e];
            }
            assert_int_equal(s.foreign, 0);
            assert_true(banks >= banks_before);
            banks_before = banks;
            const bool whole = size == file.size || size == first.size;
            assert_true(!s.opened || s.totals.bytes == size);
            assert_true(!s.opened || (s.damage[0] == '\0') == whole);
            /* But for the very last bytes, which only fill up, something is lost. */
            const bool lost = s.totals.lost_events + s.totals.incomplete_events > 0;
            const size_t end = size > first.size ? file.size : first.size;
            assert_true(!s.opened || (whole ? !lost : lost || end - size < 8));
            assert_true(s.opened || size < 64);
        }
        support_clear(&file);
        support_clear(&first);
    }
}

/* Any byte wrong: reading comes to the end, the same in one go and event by event. */
static void any_byte_wrong(void **state)
{
    (void)state;
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        support_bytes file = make_packets(5, 3, (slc_io_packets)layout);
        for (size_t at = 0; at < file.size; at++) {
            static const uint8_t flips[] = {0xff, 0x01, 0x80};
            const uint8_t flip = flips[at % 3];
            file.at[at] ^= flip;
            const seen s = look_at_memory(file.at, file.size, 64),
                       one = look_at_memory(file.at, file.size, 1);
            assert_same(&s, &one);
            assert_true(!s.opened || s.totals.bytes == file.size);
            assert_true(!s.opened || s.totals.events + s.totals.lost_events > 0);
            file.at[at] ^= flip;
        }
        support_clear(&file);
    }
}

/* A block that says nonsense costs its source in the events of its packet, and nothing else. */
static void block_costs_its_source(void **state)
{
    (void)state;
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        support_bytes file = make_packets(6, 3, (slc_io_packets)layout);
        const seen good = look_at_memory(file.at, file.size, 64);
        slc_packet packet;
        const char *why;
        const size_t head = layout == SLC_IO_PACKETS_2019 ? 48 : 0;
        const uint64_t within = head > 0 ? slc_load_u32(file.at) - head : 0;
        assert_true(slc_packet_read(file.at + head, file.size - head, within, &packet, &why));
        const slc_packet_row row = slc_packet_row_of(&packet, file.at + head, 2);
        file.at[head + row.offset + (layout == SLC_IO_PACKETS_2019 ? 12 : 4)] ^= 4; /* its size */
        const seen s = look_at_memory(file.at, file.size, 64);
        assert_int_equal(s.totals.events, 6);
        assert_int_equal(s.totals.lost_events, 0);
        assert_int_equal(s.totals.incomplete_events, 3);
        assert_int_equal(s.faults, 1);
        assert_int_equal(s.foreign, 0);
        char wanted[96];
        (void)snprintf(wanted, sizeof wanted, "run.mep: byte %zu: source %u: ", head + (size_t)row.offset,
                       row.source);
        assert_int_equal(strncmp(s.damage, wanted, strlen(wanted)), 0);
        assert_non_null(strstr(s.damage, "3 events lack it (packet at byte"));
        for (uint32_t e = 0; e < 6; e++) {
            assert_int_equal(s.missing[e], e < 3);
            /* Event 2 may never have had it. */
            assert_true(s.n_banks[e] == good.n_banks[e] - (e < 3) ||
                        (e == 2 && s.n_banks[e] == good.n_banks[e]));
        }
        support_clear(&file);
    }
}

/* An offset that leads to another source's block, which is sound: its data are nobody else's. */
static void wrong_offset_takes_nothing(void **state)
{
    (void)state;
    support_bytes file = make_packets(3, 3, SLC_IO_PACKETS_2019);
    slc_packet packet;
    const char *why;
    assert_true(slc_packet_read(file.at + 48, file.size - 48, slc_load_u32(file.at) - 48, &packet, &why));
    const size_t offsets = 48 + (size_t)packet.directory - 4 * packet.n_blocks;
    memcpy(file.at + offsets + 4 * 2, file.at + offsets + 4 * 5, 4);
    const seen s = look_at_memory(file.at, file.size, 64), one = look_at_memory(file.at, file.size, 1);
    assert_same(&s, &one);
    assert_int_equal(s.foreign, 0);
    assert_int_equal(s.faults, 1);
    assert_int_equal(s.missing[0], 1);
    assert_non_null(strstr(s.damage, "not where the table of its packet has it"));
    support_clear(&file);
}

/* What an event builder puts in place of data is told, and kept. */
static void errors_are_told(void **state)
{
    (void)state;
    support_bytes file = make_packets(3, 3, SLC_IO_PACKETS_MFP);
    slc_packet packet;
    slc_packet_block block;
    const char *why;
    assert_true(slc_packet_read(file.at, file.size, 0, &packet, &why));
    const slc_packet_row row = slc_packet_row_of(&packet, file.at, 1);
    assert_true(
        slc_packet_block_read(&packet, &row, file.at + row.offset, file.size - row.offset, &block, &why));
    file.at[block.types + 1] = 91;
    const seen s = look_at_memory(file.at, file.size, 64), one = look_at_memory(file.at, file.size, 1);
    assert_same(&s, &one);
    assert_int_equal(s.totals.incomplete_events, 1);
    assert_int_equal(s.missing[1], 1);
    assert_int_equal(s.foreign, 1);
    assert_int_equal(s.faults, 1);
    assert_non_null(strstr(s.damage, "an error of the event builder stands in its place; 1 event lacks it"));
    support_clear(&file);
}

/* Bytes between packets, and a packet without its beginning: the next one is found. */
static void next_packet_is_found(void **state)
{
    (void)state;
    for (int layout = SLC_IO_PACKETS_2019; layout <= SLC_IO_PACKETS_MFP; layout++) {
        support_bytes file = {0}, packets = make_packets(3, 3, (slc_io_packets)layout);
        support_append(&file, packets.at, packets.size);
        support_append(&file, "what is this doing here?", 24);
        support_append(&file, packets.at, packets.size);
        support_append(&file, packets.at + 100, packets.size - 100);
        support_append(&file, packets.at, packets.size);
        const seen s = look_at_memory(file.at, file.size, 64), one = look_at_memory(file.at, file.size, 1);
        assert_same(&s, &one);
        assert_int_equal(s.totals.events, 9);
        assert_int_equal(s.totals.lost_events, 2);
        assert_int_equal(s.totals.bytes, file.size);
        support_clear(&file);
        support_clear(&packets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_back),
        cmocka_unit_test(blocks_are_sorted),
        cmocka_unit_test(vector_is_read),
        cmocka_unit_test(packing_that_fits_is_named),
        cmocka_unit_test(what_is_no_bank_is_refused),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(block_costs_its_source),
        cmocka_unit_test(wrong_offset_takes_nothing),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(next_packet_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
