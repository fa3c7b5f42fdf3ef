/* SPDX-License-Identifier: Apache-2.0
 * Damaged fragments of CMS's pixels side by side, whose sizes are sound: from two to all of an event, at its
 * begin, amid and at its end, in the first, a middle and the last event of an input. No other fragment may
 * be lost, each damaged one has its fault, and nothing is told of the input itself. */
#include "io/io_source.h"
#include "support/cms_raw.h"
#include "support/cms_run.h"

#include <sluice/io.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static slc_cms_cabling *cabling;

enum { EVENTS = 3, FRAGMENTS = 7, WORDS = 5, FRAGMENT_BYTES = 8 + 8 + 24 + 8 };

/* What is done to a fragment, from its id on. */
typedef struct damage {
    const char *name;
    slc_fault_code code;
    uint8_t byte, flip;
    bool kept;
} damage;

static const damage damages[] = {
    {"source", SLC_FAULT_CMS_HEADER, 9, 1, false},
    {"length", SLC_FAULT_CMS_LENGTH, FRAGMENT_BYTES - 4, 3, true},
    {"id", SLC_FAULT_CMS_HEADER, 1, 8, false},
    {"header", SLC_FAULT_CMS_HEADER, 15, 0x10, false},
    {"trailer", SLC_FAULT_CMS_TRAILER, FRAGMENT_BYTES - 1, 0x80, false},
    /* What is left of the trailer is a length, which before a fragment looks like the begin of an event. */
    {"marker", SLC_FAULT_CMS_TRAILER, FRAGMENT_BYTES - 1, 0xa0, false},
};
enum { KINDS = sizeof damages / sizeof *damages };

/* The events of an input; with empty fragments amid. */
typedef struct input {
    cms_raw raw;
    size_t fragment[EVENTS][FRAGMENTS + 1], event[EVENTS + 1];
} input;

static void add_empty(cms_raw *raw, uint32_t fed)
{
    slc_store_u32(raw->at + raw->event, slc_load_u32(raw->at + raw->event) + 1);
    cms_raw_u32(raw, fed);
    cms_raw_u32(raw, 0);
}

static input make_input(bool empties)
{
    input in = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        in.event[e] = in.raw.size;
        cms_raw_event(&in.raw);
        for (uint32_t f = 0; f < FRAGMENTS; f++) {
            if (empties && f == e + 1) {
                add_empty(&in.raw, 1300 + f);
            }
            in.fragment[e][f] = in.raw.size;
            cms_raw_begin(&in.raw, 1217 + 3 * f);
            for (uint32_t i = 0; i < WORDS; i++) {
                cms_raw_u32(&in.raw, cms_raw_pixel(1 + 3 * i, 1 + i % 4, 7 * i, 9 * i, 8 * f + i + e));
            }
            cms_raw_end(&in.raw, 0);
            assert_int_equal(in.raw.size, in.fragment[e][f] + FRAGMENT_BYTES);
        }
        in.fragment[e][FRAGMENTS] = in.raw.size;
    }
    in.event[EVENTS] = in.raw.size;
    return in;
}

/* The input through memory, or a pipe of few bytes at a time. */
static slc_batch read_input(const input *in, bool piped)
{
    slc_io_source *source;
    slc_batch batch = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    int ends[2] = {-1, -1};
    if (piped) {
        char name[32];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (size_t at = 0; at < in->raw.size; at += 53) {
                const size_t n = in->raw.size - at < 53 ? in->raw.size - at : 53;
                if (write(ends[1], in->raw.at + at, n) != (ssize_t)n) {
                    _exit(1);
                }
            }
            _exit(0);
        }
        (void)close(ends[1]);
        (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        assert_int_equal(slc_io_open(name, NULL, &source, &error), SLC_OK);
    } else {
        assert_int_equal(slc_io_open_memory(in->raw.at, in->raw.size, "m", NULL, &source, &error), SLC_OK);
    }
    assert_int_equal(slc_io_read_batch(source, 100, SIZE_MAX, &batch, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    slc_io_totals totals;
    slc_io_totals_of(source, &totals);
    assert_int_equal(totals.bytes, in->raw.size);
    assert_int_equal(totals.lost_events, 0);
    slc_io_close(source);
    if (piped) {
        (void)close(ends[0]);
        (void)wait(NULL);
    }
    return batch;
}

/* Fragments `first` … of event e have these damages, as many as there are. */
static void assert_they_cost_themselves(const input *in, uint32_t e, uint32_t first, const damage *const *of,
                                        uint32_t n, bool piped)
{
    for (uint32_t i = 0; i < n; i++) {
        in->raw.at[in->fragment[e][first + i] + of[i]->byte] ^= of[i]->flip;
    }
    slc_batch batch = read_input(in, piped);
    assert_int_equal(batch.n_events, EVENTS);
    cms_run run = {0};
    for (uint32_t k = 0; k < EVENTS; k++) {
        assert_int_equal(batch.file_offset[k], in->event[k]);
        assert_int_equal(batch.length[k], in->event[k + 1] - in->event[k]);
        cms_run_event(&run, cabling, batch.bytes + batch.offset[k], batch.length[k]);
        slc_faults expected = {.n_kinds = 0};
        size_t row = 0;
        for (uint32_t f = 0; f < FRAGMENTS; f++) {
            const damage *hit = k == e && f >= first && f < first + n ? of[f - first] : NULL;
            if (hit != NULL) {
                slc_faults_count(&expected, hit->code, 1);
            }
            if (hit == NULL || hit->kept) {
                assert_true(row < run.fragments.head.size);
                assert_int_equal(run.fragments.fed[row], 1217 + 3 * f);
                assert_int_equal(run.fragments.begin[row], in->fragment[k][f] - in->event[k] + 16);
                assert_int_equal(run.fragments.n_words[row], WORDS + 1);
                row++;
            }
        }
        assert_int_equal(run.fragments.head.size, row);
        assert_int_equal(run.digis.head.size, row * WORDS);
        assert_int_equal(run.faults.n_kinds, expected.n_kinds);
        for (uint32_t i = 0; i < expected.n_kinds; i++) {
            assert_int_equal(run.faults.kind[i].code, expected.kind[i].code);
            assert_int_equal(run.faults.kind[i].n, expected.kind[i].n);
        }
    }
    cms_run_clear(&run);
    slc_batch_clear(&batch);
    for (uint32_t i = 0; i < n; i++) {
        in->raw.at[in->fragment[e][first + i] + of[i]->byte] ^= of[i]->flip;
    }
}

static void two_neighbours_cost_themselves(void **state)
{
    (void)state;
    for (unsigned empties = 0; empties < 2; empties++) {
        input in = make_input(empties != 0);
        for (unsigned kinds = 0; kinds < KINDS * KINDS; kinds++) {
            const damage *const of[2] = {&damages[kinds / KINDS], &damages[kinds % KINDS]};
            for (uint32_t e = 0; e < EVENTS; e++) {
                for (uint32_t first = 0; first + 2 <= FRAGMENTS; first++) {
                    assert_they_cost_themselves(&in, e, first, of, 2, false);
                }
                assert_they_cost_themselves(&in, e, (3 * e) % (FRAGMENTS - 1), of, 2, true);
            }
        }
        cms_raw_clear(&in.raw);
    }
}

/* Up to all of an event; then it has no sound fragment, and only its number shows that it is one: so the
 * first of an input may not be such an event. */
static void runs_of_neighbours_cost_themselves(void **state)
{
    (void)state;
    input in = make_input(false);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const damage *of[FRAGMENTS];
        for (uint32_t i = 0; i < FRAGMENTS; i++) {
            of[i] = &damages[(kind + i * (kind % 2)) % KINDS];
        }
        for (uint32_t n = 3; n <= FRAGMENTS; n++) {
            for (uint32_t e = n == FRAGMENTS ? 1 : 0; e < EVENTS; e++) {
                for (uint32_t first = 0; first + n <= FRAGMENTS; first++) {
                    assert_they_cost_themselves(&in, e, first, of, n, n == 5);
                }
            }
        }
    }
    cms_raw_clear(&in.raw);
}

/* The last fragment of an event and the first of the next. */
static void neighbours_of_two_events_cost_themselves(void **state)
{
    (void)state;
    for (unsigned kinds = 0; kinds < KINDS * KINDS; kinds++) {
        input in = make_input(false);
        const damage *last = &damages[kinds / KINDS], *first = &damages[kinds % KINDS];
        in.raw.at[in.fragment[0][FRAGMENTS - 1] + last->byte] ^= last->flip;
        const damage *const of[1] = {first};
        slc_batch batch = read_input(&in, false);
        assert_int_equal(batch.n_events, EVENTS);
        slc_batch_clear(&batch);
        in.raw.at[in.fragment[1][0] + of[0]->byte] ^= of[0]->flip;
        for (unsigned piped = 0; piped < 2; piped++) {
            batch = read_input(&in, piped != 0);
            assert_int_equal(batch.n_events, EVENTS);
            for (uint32_t k = 0; k < EVENTS; k++) {
                assert_int_equal(batch.file_offset[k], in.event[k]);
            }
            slc_batch_clear(&batch);
        }
        cms_raw_clear(&in.raw);
    }
}

/* A damaged last fragment before events without fragments: these are events still. */
static void a_damaged_end_before_empty_events(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned empty = 1; empty < 4; empty++) {
            input in = make_input(false);
            cms_raw raw = {0};
            for (size_t at = 0; at < in.raw.size; at += 4) {
                for (unsigned i = 0; i < empty && at == in.event[1]; i++) {
                    cms_raw_event(&raw);
                }
                cms_raw_u32(&raw, slc_load_u32(in.raw.at + at));
            }
            cms_raw_event(&raw); /* and at the end */
            raw.at[in.fragment[0][FRAGMENTS - 1] + damages[kind].byte] ^= damages[kind].flip;
            const size_t last = in.fragment[EVENTS - 1][FRAGMENTS - 1] + 4 * (size_t)empty;
            raw.at[last + damages[kind].byte] ^= damages[kind].flip;
            const input with = {.raw = raw};
            slc_batch batch = read_input(&with, kind == 0);
            assert_int_equal(batch.n_events, EVENTS + empty + 1);
            assert_int_equal(batch.length[0], in.event[1]);
            assert_int_equal(batch.length[EVENTS + empty], 4);
            slc_batch_clear(&batch);
            cms_raw_clear(&raw);
            cms_raw_clear(&in.raw);
        }
    }
}

/* A size that is damaged between sound fragments is not believed, wherever it leads. */
static void a_damaged_size_is_not_believed(void **state)
{
    (void)state;
    input in = make_input(false);
    cms_run run = {0};
    for (uint32_t f = 0; f < FRAGMENTS; f++) {
        uint8_t *size = in.raw.at + in.fragment[0][f] + 4;
        const uint32_t right = slc_load_u32(size);
        for (uint32_t wrong = 0; wrong < 600; wrong++) {
            slc_store_u32(size, wrong);
            slc_batch batch = read_input(&in, false);
            assert_int_equal(batch.n_events, EVENTS);
            assert_int_equal(batch.length[0], in.event[1]);
            cms_run_event(&run, cabling, batch.bytes, batch.length[0]);
            assert_int_equal(run.digis.head.size, FRAGMENTS * WORDS);
            assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_CMS_EVENT), wrong != right);
            assert_int_equal(slc_faults_total(&run.faults), wrong != right);
            slc_batch_clear(&batch);
        }
        slc_store_u32(size, right);
    }
    cms_run_clear(&run);
    cms_raw_clear(&in.raw);
}

int main(void)
{
    cabling = cms_raw_cabling();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_neighbours_cost_themselves),
        cmocka_unit_test(runs_of_neighbours_cost_themselves),
        cmocka_unit_test(neighbours_of_two_events_cost_themselves),
        cmocka_unit_test(a_damaged_end_before_empty_events),
        cmocka_unit_test(a_damaged_size_is_not_believed),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cabling);
    return failed;
}
