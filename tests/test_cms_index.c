/* SPDX-License-Identifier: Apache-2.0
 * CMS's fragments: headers, trailers, sizes, and what damage costs. Every bit of an event is flipped and the
 * event is cut at every byte: nothing may be lost but what was hit. */
#include "cms/cms_stages.h"
#include "io/io_source.h"
#include "support/cms_raw.h"
#include "support/cms_run.h"
#include "support/random.h"

#include "cms/cms_decode_core.h"
#include <sluice/io.h>

#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static slc_cms_cabling *cabling;

enum { WORDS = 5, FRAGMENTS = 4 };
static const uint32_t feds[FRAGMENTS] = {1217, 1230, 1345, 1231};

/* Fragments of 48 bytes with a size and an id in front: byte of fragment f's id. */
enum { FRAGMENT_BYTES = 8 + 8 + 24 + 8 };
static size_t place(uint32_t f)
{
    return 4 + (size_t)f * FRAGMENT_BYTES;
}

/* Word i of fragment f is the only one with the ADC count 8 f + i + 1. */
static cms_raw make_event(void)
{
    cms_raw raw = {0};
    cms_raw_event(&raw);
    for (uint32_t f = 0; f < FRAGMENTS; f++) {
        cms_raw_begin(&raw, feds[f]);
        for (uint32_t i = 0; i < WORDS; i++) {
            cms_raw_u32(&raw, cms_raw_pixel(1 + 3 * i, 1 + i % 4, 7 * i, 9 * i, 8 * f + i + 1));
        }
        cms_raw_end(&raw, 0);
    }
    assert_int_equal(raw.size, place(FRAGMENTS));
    return raw;
}

/* Which of the words' digis are there, unchanged, as bits of their ADC count. */
static uint64_t digis_of(const cms_run *run)
{
    uint64_t there = 0;
    for (size_t i = 0; i < run->digis.head.size; i++) {
        const uint32_t adc = run->digis.adc[i], f = (adc - 1) / 8, k = (adc - 1) % 8;
        if (adc == 0 || f >= FRAGMENTS || k >= WORDS) {
            continue;
        }
        const uint32_t entry = (feds[f] - SLC_CMS_FED_FIRST) * 384 + 3 * k * 8 + k % 4;
        const slc_cms_cable *cable = &cabling->cable[entry];
        uint32_t x, y;
        slc_cms_to_module(cable->raw_id, cable->roc, 7 * k, 9 * k, &x, &y);
        if (run->digis.module[i] == cable->module && run->digis.x[i] == x && run->digis.y[i] == y) {
            there |= 1ULL << adc;
        }
    }
    return there;
}

static uint64_t digis_of_fragment(uint32_t f)
{
    return ((1ULL << WORDS) - 1) << (8 * f + 1);
}

static uint64_t all_digis(void)
{
    uint64_t all = 0;
    for (uint32_t f = 0; f < FRAGMENTS; f++) {
        all |= digis_of_fragment(f);
    }
    return all;
}

static void add_empty(cms_raw *raw, uint32_t fed)
{
    slc_store_u32(raw->at + raw->event, slc_load_u32(raw->at + raw->event) + 1);
    cms_raw_u32(raw, fed);
    cms_raw_u32(raw, 0);
}

/* ---- sound events ------------------------------------------------------------------------------- */

static void fragments_are_found(void **state)
{
    (void)state;
    cms_raw raw = make_event();
    cms_run run = {0};
    cms_run_event(&run, cabling, raw.at, raw.size);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_int_equal(run.fragments.head.size, FRAGMENTS);
    for (uint32_t f = 0; f < FRAGMENTS; f++) {
        assert_int_equal(run.fragments.fed[f], feds[f]);
        assert_int_equal(run.fragments.begin[f], place(f) + 16);
        assert_int_equal(run.fragments.n_words[f], WORDS + 1);
    }
    assert_true(digis_of(&run) == all_digis());
    assert_int_equal(run.counts.empty, FRAGMENTS);
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

static void several_headers_and_trailers(void **state)
{
    (void)state;
    cms_raw raw = {0};
    cms_raw_event(&raw);
    cms_raw_begin(&raw, 1230);
    raw.at[raw.size - 8] |= 8;
    cms_raw_header(&raw, 1230, true);
    cms_raw_header(&raw, 1230, false);
    cms_raw_u32(&raw, cms_raw_pixel(1, 1, 1, 1, 1));
    cms_raw_u32(&raw, cms_raw_pixel(1, 1, 2, 1, 1));
    cms_raw_end(&raw, 0); /* and one more behind it */
    cms_raw_end(&raw, 8);
    cms_run run = {0};
    cms_run_event(&run, cabling, raw.at, raw.size);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_int_equal(run.fragments.head.size, 1);
    assert_int_equal(run.fragments.begin[0], 4 + 8 + 24);
    assert_int_equal(run.fragments.n_words[0], 2);
    assert_int_equal(run.counts.digis, 2);
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

static void events_may_be_empty(void **state)
{
    (void)state;
    cms_run run = {0};
    cms_raw raw = {0};
    cms_raw_event(&raw);
    cms_run_event(&run, cabling, raw.at, raw.size);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_int_equal(run.fragments.head.size, 0);
    cms_raw_begin(&raw, 1300); /* header and trailer alone */
    cms_raw_end(&raw, 0);
    cms_run_event(&run, cabling, raw.at, raw.size);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_int_equal(run.fragments.head.size, 1);
    assert_int_equal(run.fragments.n_words[0], 0);
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

/* FEDs without data: id and size 0, before, between and behind those that have some. */
static void a_fed_may_have_no_data(void **state)
{
    (void)state;
    for (unsigned where = 0; where < 16; where++) {
        cms_raw raw = {0}, whole = make_event();
        cms_run run = {0};
        cms_raw_event(&raw);
        for (uint32_t f = 0; f < FRAGMENTS; f++) {
            if ((where >> f & 1U) != 0) {
                add_empty(&raw, 1200 + f);
                add_empty(&raw, 1349 - f);
            }
            for (size_t at = place(f); f + 1 < FRAGMENTS && at < place(f + 1); at += 4) {
                cms_raw_u32(&raw, slc_load_u32(whole.at + at));
            }
        }
        slc_store_u32(raw.at, slc_load_u32(raw.at) + FRAGMENTS - 1);
        cms_run_event(&run, cabling, raw.at, raw.size);
        assert_int_equal(slc_faults_total(&run.faults), 0);
        assert_int_equal(run.fragments.head.size, FRAGMENTS - 1);
        assert_true(digis_of(&run) == (all_digis() & ~digis_of_fragment(FRAGMENTS - 1)));
        cms_run_clear(&run);
        cms_raw_clear(&whole);
        cms_raw_clear(&raw);
    }
}

/* A wrong size before them costs nothing, as without them. */
static void a_size_before_empty_fragments_may_be_wrong(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 32; bit++) {
        cms_raw raw = make_event();
        cms_run run = {0};
        add_empty(&raw, 1300);
        add_empty(&raw, 1301);
        raw.at[place(FRAGMENTS - 1) + 4 + bit / 8] ^= (uint8_t)(1U << bit % 8);
        cms_run_event(&run, cabling, raw.at, raw.size);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_EVENT), 1);
        assert_int_equal(slc_faults_total(&run.faults), 1);
        assert_true(digis_of(&run) == all_digis());
        cms_run_clear(&run);
        cms_raw_clear(&raw);
    }
}

/* ---- faults by name ----------------------------------------------------------------------------- */

/* One fault of fragment 1 at this byte behind its id, and these fragments left. */
static void assert_one_fault(const cms_raw *raw, slc_fault_code code, size_t offset, size_t left)
{
    cms_run run = {0};
    cms_run_event(&run, cabling, raw->at, raw->size);
    assert_int_equal(slc_faults_of(&run.faults, code), 1);
    assert_int_equal(slc_faults_total(&run.faults), 1);
    assert_int_equal(run.faults.kept[0].offset, place(1) + offset);
    const int32_t fed = (int32_t)slc_load_u32(raw->at + place(1));
    assert_int_equal(run.faults.kept[0].module, code == SLC_FAULT_CMS_EVENT ? -1 : fed);
    assert_int_equal(run.fragments.head.size, left);
    cms_run_clear(&run);
}

enum { HEADER = 8, TRAILER = FRAGMENT_BYTES - 8 };

static void every_fault_of_a_fragment_has_its_name(void **state)
{
    (void)state;
    static const struct {
        size_t byte; /* of the fragment, from its id on */
        uint8_t flip;
        slc_fault_code code;
        size_t offset;
        bool kept;
    } cases[] = {
        {TRAILER, 4, SLC_FAULT_CMS_CRC, TRAILER, true},
        {HEADER + 7, 0x10, SLC_FAULT_CMS_HEADER, HEADER, false},
        {HEADER + 1, 1, SLC_FAULT_CMS_HEADER, HEADER, false}, /* another source */
        {HEADER, 8, SLC_FAULT_CMS_HEADER, HEADER, false},     /* one more, which is none */
        {0, 1, SLC_FAULT_CMS_HEADER, HEADER, false},          /* another id */
        {1, 8, SLC_FAULT_CMS_HEADER, HEADER, false},          /* an id that no pixel FED has */
        {TRAILER + 7, 0x80, SLC_FAULT_CMS_TRAILER, TRAILER, false},
        {TRAILER, 8, SLC_FAULT_CMS_TRAILER, TRAILER, false}, /* one more, which is none */
        {TRAILER + 4, 1, SLC_FAULT_CMS_LENGTH, TRAILER, true},
        {4, 8, SLC_FAULT_CMS_EVENT, 0, true},    /* the size; the trailer is found all the same */
        {4, 1, SLC_FAULT_CMS_EVENT, 0, true},    /* no multiple of 8 */
        {7, 0x80, SLC_FAULT_CMS_EVENT, 0, true}, /* beyond the event */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cms_raw raw = make_event();
        raw.at[place(1) + cases[i].byte] ^= cases[i].flip;
        assert_one_fault(&raw, cases[i].code, cases[i].offset, cases[i].kept ? FRAGMENTS : FRAGMENTS - 1);
        cms_raw_clear(&raw);
    }
}

static void a_wrong_number_of_fragments_costs_nothing(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 32; bit++) {
        cms_raw raw = make_event();
        raw.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        cms_run run = {0};
        cms_run_event(&run, cabling, raw.at, raw.size);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_EVENT), 1);
        assert_int_equal(run.faults.kept[0].module, -1);
        assert_int_equal(run.faults.kept[0].offset, 0);
        assert_int_equal(slc_faults_total(&run.faults), 1);
        assert_true(digis_of(&run) == all_digis());
        cms_run_clear(&run);
        cms_raw_clear(&raw);
    }
}

static void two_faults_in_one_fragment_are_two(void **state)
{
    (void)state;
    cms_raw raw = make_event();
    raw.at[place(1) + TRAILER] |= 4;
    raw.at[place(1) + TRAILER + 4] ^= 1;
    cms_run run = {0};
    cms_run_event(&run, cabling, raw.at, raw.size);
    assert_int_equal(run.faults.n_kept, 2);
    assert_int_equal(run.faults.kept[0].code, SLC_FAULT_CMS_CRC);
    assert_int_equal(run.faults.kept[1].code, SLC_FAULT_CMS_LENGTH);
    assert_true(digis_of(&run) == all_digis());
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

/* ---- damage -------------------------------------------------------------------------------------- */

/* What one flipped bit at this byte may cost. */
static uint64_t may_cost(size_t byte)
{
    if (byte < place(0)) {
        return 0;
    }
    const uint32_t f = (uint32_t)((byte - 4) / FRAGMENT_BYTES);
    const size_t in = (byte - 4) % FRAGMENT_BYTES;
    const bool word = in >= 16 && in < 16 + 4 * WORDS;
    if (word) {
        return 1ULL << (8 * f + 1 + (in - 16) / 4);
    }
    const bool padding = in >= 16 + 4 * WORDS && in < TRAILER, size = in >= 4 && in < 8;
    return padding || size ? 0 : digis_of_fragment(f);
}

static void a_flipped_bit_costs_what_it_hits(void **state)
{
    (void)state;
    cms_raw raw = make_event();
    cms_run run = {0};
    size_t lost = 0, silent = 0;
    for (size_t bit = 0; bit < 8 * raw.size; bit++) {
        raw.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        cms_run_event(&run, cabling, raw.at, raw.size);
        const uint64_t missing = all_digis() & ~digis_of(&run);
        assert_true((missing & ~may_cost(bit / 8)) == 0);
        lost += missing != 0;
        silent += slc_faults_total(&run.faults) == 0;
        raw.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    /* A flip may turn a word into another good one, or hit what nobody reads; else it is told. */
    assert_true(lost > 0 && silent < 8 * raw.size * 3 / 5);
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

static void an_event_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    cms_raw raw = make_event();
    cms_run run = {0};
    for (size_t size = 0; size < raw.size; size++) {
        cms_run_event(&run, cabling, raw.at, size);
        uint64_t expected = 0;
        for (uint32_t f = 0; place(f + 1) <= size; f++) {
            expected |= digis_of_fragment(f);
        }
        assert_true(digis_of(&run) == expected);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_EVENT), 1);
        assert_int_equal(slc_faults_total(&run.faults), 1);
    }
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

static void bytes_may_be_lost_or_added(void **state)
{
    (void)state;
    /* In words of 4 bytes, anywhere: the fragment that was hit is lost, no other. */
    cms_run run = {0};
    for (size_t at = 4; at < place(FRAGMENTS); at += 4) {
        for (unsigned change = 0; change < 2; change++) {
            cms_raw raw = make_event();
            if (change == 0) {
                memmove(raw.at + at, raw.at + at + 4, raw.size - at - 4);
                raw.size -= 4;
            } else {
                cms_raw_u32(&raw, 0);
                memmove(raw.at + at + 4, raw.at + at, raw.size - at - 4);
                slc_store_u32(raw.at + at, 0xdeadbeefU);
            }
            cms_run_event(&run, cabling, raw.at, raw.size);
            const uint64_t missing = all_digis() & ~digis_of(&run);
            assert_true((missing & ~digis_of_fragment((uint32_t)((at - 4) / FRAGMENT_BYTES))) == 0);
            assert_true(slc_faults_of(&run.faults, SLC_FAULT_CMS_EVENT) >= 1);
            cms_raw_clear(&raw);
        }
    }
    cms_run_clear(&run);
}

static void random_bytes_do_not_crash(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    cms_run run = {0};
    cms_raw raw = make_event();
    uint8_t bytes[512];
    for (unsigned i = 0; i < 20000; i++) {
        const size_t size = random_below(&seed, 4) == 0 ? random_below(&seed, sizeof bytes) : raw.size;
        memcpy(bytes, raw.at, raw.size);
        for (uint32_t n = random_below(&seed, 40); n > 0; n--) {
            bytes[random_below(&seed, sizeof bytes)] = (uint8_t)random_u64(&seed);
        }
        cms_run_event(&run, cabling, bytes, size < sizeof bytes ? size : sizeof bytes);
        assert_true(run.counts.words <= sizeof bytes / 4);
    }
    cms_run_clear(&run);
    cms_raw_clear(&raw);
}

/* ---- files ----------------------------------------------------------------------------------------- */

enum { EVENTS = 6 };

/* Events as above, every second with empty fragments at its ends. */
static cms_raw make_file(size_t begins[EVENTS + 1])
{
    cms_raw raw = {0}, event = make_event();
    for (uint32_t e = 0; e < EVENTS; e++) {
        begins[e] = raw.size;
        cms_raw_event(&raw);
        slc_store_u32(raw.at + raw.event, FRAGMENTS);
        for (uint32_t i = 0; i < 2 * (e % 2); i++) {
            add_empty(&raw, 1210 + i);
        }
        for (size_t at = 4; at < event.size; at += 4) {
            cms_raw_u32(&raw, slc_load_u32(event.at + at));
        }
        raw.at[begins[e] + 4 + (e % 2 != 0 ? 16 : 0) + 12] = (uint8_t)e; /* level-1 id: no two are the same */
        for (uint32_t i = 0; i < e % 2; i++) {
            add_empty(&raw, 1349);
        }
    }
    begins[EVENTS] = raw.size;
    cms_raw_clear(&event);
    return raw;
}

/* Bytes as a pipe that brings a few at a time, to be read from the descriptor. */
static int pipe_of(const uint8_t *bytes, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        for (size_t at = 0; at < size; at += 37) {
            const size_t n = size - at < 37 ? size - at : 37;
            if (write(ends[1], bytes + at, n) != (ssize_t)n) {
                _exit(1);
            }
            (void)sched_yield();
        }
        _exit(0);
    }
    (void)close(ends[1]);
    return ends[0];
}

/* Reads all events of memory, or of a pipe; returns how many faults the reader told, and lost events. */
static uint64_t read_file(const cms_raw *raw, bool piped, slc_batch *batch, uint64_t *lost)
{
    slc_io_source *source;
    slc_faults faults = {0};
    slc_error error = {0};
    char name[32];
    int end = -1;
    if (piped) {
        end = pipe_of(raw->at, raw->size);
        (void)snprintf(name, sizeof name, "/dev/fd/%d", end);
        assert_int_equal(slc_io_open(name, NULL, &source, &error), SLC_OK);
    } else {
        assert_int_equal(slc_io_open_memory(raw->at, raw->size, "m", NULL, &source, &error), SLC_OK);
    }
    assert_int_equal(slc_io_read_batch(source, 100, SIZE_MAX, batch, &faults, &error), SLC_OK);
    slc_io_totals totals;
    slc_io_totals_of(source, &totals);
    assert_int_equal(totals.bytes, raw->size);
    *lost = totals.lost_events;
    slc_io_close(source);
    if (end >= 0) {
        (void)close(end);
        (void)wait(NULL);
    }
    return slc_faults_total(&faults);
}

static void files_may_have_empty_fragments(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw all = make_file(begins);
    for (unsigned i = 0; i < 4; i++) {
        const size_t first = begins[i / 2]; /* the second event begins with empty fragments */
        const cms_raw raw = {.at = all.at + first, .size = all.size - first};
        slc_batch batch = {0};
        uint64_t lost;
        assert_int_equal(read_file(&raw, i % 2 == 1, &batch, &lost), 0);
        assert_int_equal(lost, 0);
        assert_int_equal(batch.n_events, EVENTS - i / 2);
        for (uint32_t e = 0; e < batch.n_events; e++) {
            assert_int_equal(batch.file_offset[e] + first, begins[e + i / 2]);
        }
        slc_batch_clear(&batch);
    }
    cms_raw_clear(&all);
}

/* One, two or three bytes more or less at a byte: all events but the one that was hit are read, and what is
 * wrong is told by the reader, or by the decoder. */
static void assert_shift(size_t at, int change, bool piped)
{
    size_t begins[EVENTS + 1];
    cms_raw raw = make_file(begins), intact = make_file(begins);
    const size_t less = change < 0 ? (size_t)-change : 0, more = change > 0 ? (size_t)change : 0;
    cms_raw_u32(&raw, 0);
    memmove(raw.at + at + more, raw.at + at + less, intact.size - at - less);
    memset(raw.at + at, 0x5a, more);
    raw.size = intact.size - less + more;
    slc_batch batch = {0};
    uint64_t lost;
    uint64_t told = read_file(&raw, piped, &batch, &lost);
    uint32_t hit = 0, next = 0;
    while (begins[hit + 1] <= at) {
        hit++;
    }
    for (uint32_t e = 0; e < EVENTS; e++) {
        const bool may_be_hit = e == hit || (e == hit + 1 && at + less > begins[e]);
        const size_t length = begins[e + 1] - begins[e];
        uint32_t i = next;
        while (i < batch.n_events &&
               (batch.length[i] != length ||
                memcmp(batch.bytes + batch.offset[i], intact.at + begins[e], length) != 0)) {
            i++;
        }
        next = i < batch.n_events ? i + 1 : next;
        if (i == batch.n_events && !may_be_hit) {
            fail_msg("%d bytes at byte %zu: event %u is lost", change, at, e);
        }
    }
    /* What is left of an id, before an empty fragment, may look like a number of fragments. */
    const bool among_empty = hit % 2 == 1 && at < begins[hit] + 20;
    assert_true(batch.n_events <= EVENTS + (among_empty ? 1U : 0U));
    cms_run run = {0};
    for (uint32_t e = 0; e < batch.n_events; e++) {
        cms_run_event(&run, cabling, batch.bytes + batch.offset[e], batch.length[e]);
        told += slc_faults_total(&run.faults);
    }
    assert_true(told > 0);
    assert_true(batch.n_events + lost >= EVENTS - 1);
    cms_run_clear(&run);
    slc_batch_clear(&batch);
    cms_raw_clear(&intact);
    cms_raw_clear(&raw);
}

static void bytes_of_a_file_may_be_lost_or_added(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_file(begins);
    for (size_t at = 24; at + 4 < begins[4]; at++) {
        for (int change = -3; change <= 3; change++) {
            if (change != 0) {
                assert_shift(at, change, false);
            }
        }
        if (at % 31 == 0) {
            assert_shift(at, -1, true);
            assert_shift(at, 1, true);
        }
    }
    cms_raw_clear(&raw);
}

int main(void)
{
    cabling = cms_raw_cabling();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_are_found),
        cmocka_unit_test(several_headers_and_trailers),
        cmocka_unit_test(events_may_be_empty),
        cmocka_unit_test(every_fault_of_a_fragment_has_its_name),
        cmocka_unit_test(a_wrong_number_of_fragments_costs_nothing),
        cmocka_unit_test(two_faults_in_one_fragment_are_two),
        cmocka_unit_test(a_flipped_bit_costs_what_it_hits),
        cmocka_unit_test(an_event_may_be_cut_at_every_byte),
        cmocka_unit_test(bytes_may_be_lost_or_added),
        cmocka_unit_test(random_bytes_do_not_crash),
        cmocka_unit_test(a_fed_may_have_no_data),
        cmocka_unit_test(a_size_before_empty_fragments_may_be_wrong),
        cmocka_unit_test(files_may_have_empty_fragments),
        cmocka_unit_test(bytes_of_a_file_may_be_lost_or_added),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cabling);
    return failed;
}
