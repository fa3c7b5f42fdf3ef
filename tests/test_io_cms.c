/* SPDX-License-Identifier: Apache-2.0
 * Files of CMS's pixels: events through the reader and back, cut at every byte, with every bit flipped, with
 * rubbish in between; payloads of cabling and gains, what is wrong with them told by file, byte and reason.
 */
#include "cms/cms_stages.h"
#include "io/cms/io_cms_payload.h"
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/cms_raw.h"
#include "support/pipe.h"
#include "support/random.h"
#include "support/temporary_folder.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static slc_cms_cabling *cabling;
static const char absent[] = "/tmp/sluice-test-nobody-makes-this";

/* ---- events -------------------------------------------------------------------------------------- */

enum { EVENTS = 5 };

/* Events of 3, 1, 4, `fourth` and 2 fragments; begins: where each begins, and the end. */
static cms_raw make_some_events(size_t begins[EVENTS + 1], uint32_t fourth)
{
    const uint32_t fragments[EVENTS] = {3, 1, 4, fourth, 2};
    cms_raw raw = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        begins[e] = raw.size;
        cms_raw_event(&raw);
        for (uint32_t f = 0; f < fragments[e]; f++) {
            cms_raw_begin(&raw, 1210 + 17 * f + e);
            for (uint32_t i = 0; i < 2 + e + f; i++) {
                cms_raw_u32(&raw, cms_raw_pixel(1 + i, 1, 5 * i, 3 * i, 10 * e + f + 1));
            }
            cms_raw_end(&raw, 0);
        }
    }
    begins[EVENTS] = raw.size;
    return raw;
}

static cms_raw make_events(size_t begins[EVENTS + 1])
{
    return make_some_events(begins, 0);
}

/* All events of the source, one behind the other; closes it. */
typedef struct outcome {
    slc_status opened, ended;
    slc_batch batch;
    slc_faults faults;
    slc_io_totals totals;
    slc_error error;
    char damage[512];
} outcome;

static outcome read_source(slc_io_source *source, slc_status opened)
{
    outcome o = {.opened = opened};
    slc_batch part = {0};
    while (o.opened == SLC_OK &&
           (o.ended = slc_io_read_batch(source, 2, 1 << 20, &part, &o.faults, &o.error)) == SLC_OK) {
        for (uint32_t e = 0; e < part.n_events; e++) {
            assert_int_equal(
                slc_batch_append(&o.batch, part.bytes + part.offset[e], part.length[e], part.file_offset[e]),
                SLC_OK);
        }
    }
    if (o.opened == SLC_OK) {
        slc_io_totals_of(source, &o.totals);
        const char *damage = slc_io_damage(source);
        (void)snprintf(o.damage, sizeof o.damage, "%s", damage != NULL ? damage : "");
    }
    slc_batch_clear(&part);
    slc_io_close(source);
    return o;
}

static outcome read_memory(const void *bytes, size_t size, const slc_io_config *config)
{
    slc_io_source *source;
    slc_error error = {0};
    const slc_status opened = slc_io_open_memory(bytes, size, "m", config, &source, &error);
    outcome o = read_source(source, opened);
    if (opened != SLC_OK) {
        o.error = error;
    }
    return o;
}

static bool is_event(const outcome *o, uint32_t e, const cms_raw *raw, const size_t *begins, uint32_t of)
{
    return e < o->batch.n_events && o->batch.length[e] == begins[of + 1] - begins[of] &&
           memcmp(o->batch.bytes + o->batch.offset[e], raw->at + begins[of], o->batch.length[e]) == 0;
}

static void events_are_read(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    slc_io_source *source;
    assert_int_equal(slc_io_open_memory(raw.at, raw.size, "m", NULL, &source, NULL), SLC_OK);
    assert_string_equal(slc_io_format(source), "cms-raw");
    assert_int_equal(slc_io_content_of(source), SLC_IO_CMS_EVENTS);
    outcome o = read_source(source, SLC_OK);
    assert_int_equal(o.ended, SLC_END);
    assert_int_equal(o.batch.n_events, EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_true(is_event(&o, e, &raw, begins, e));
        assert_int_equal(o.batch.file_offset[e], begins[e]);
    }
    assert_int_equal(slc_faults_total(&o.faults), 0);
    assert_int_equal(o.totals.bytes, raw.size);
    assert_int_equal(o.totals.lost_events, 0);
    assert_string_equal(o.damage, "");
    slc_batch_clear(&o.batch);
    cms_raw_clear(&raw);
}

/* In two steps, as threads read: nothing is left for the second. */
static void deferred_events_are_the_same(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    slc_io_source *source;
    slc_io_deferred *deferred;
    slc_batch batch = {0};
    slc_faults faults = {0};
    assert_int_equal(slc_io_open_memory(raw.at, raw.size, "m", NULL, &source, NULL), SLC_OK);
    assert_int_equal(slc_io_deferred_open(&deferred, NULL), SLC_OK);
    assert_int_equal(slc_io_read_batch_deferred(source, EVENTS, SIZE_MAX, &batch, deferred, &faults, NULL),
                     SLC_OK);
    assert_int_equal(slc_io_finish_batch(&batch, deferred, &faults, NULL), SLC_OK);
    assert_int_equal(batch.n_events, EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(batch.length[e], begins[e + 1] - begins[e]);
        assert_memory_equal(batch.bytes + batch.offset[e], raw.at + begins[e], batch.length[e]);
    }
    assert_int_equal(slc_faults_total(&faults), 0);
    slc_batch_clear(&batch);
    slc_io_deferred_close(deferred);
    slc_io_close(source);
    cms_raw_clear(&raw);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    slc_io_writer *writer;
    slc_error error = {0};
    assert_int_equal(slc_io_cms_create(path, &writer, &error), SLC_OK);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(slc_io_cms_write(writer, raw.at + begins[e], begins[e + 1] - begins[e], &error),
                         SLC_OK);
    }
    assert_int_equal(access(path, F_OK), -1); /* not before it is complete */
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    slc_io_source *source;
    assert_int_equal(slc_io_open(path, NULL, &source, &error), SLC_OK);
    outcome o = read_source(source, SLC_OK);
    assert_int_equal(o.batch.n_events, EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_true(is_event(&o, e, &raw, begins, e));
    }
    slc_batch_clear(&o.batch);
    cms_raw_clear(&raw);
}

static void an_event_that_does_not_add_up_is_not_written(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    slc_io_writer *writer;
    slc_error error = {0};
    assert_int_equal(slc_io_cms_create(path, &writer, &error), SLC_OK);
    for (size_t size = 0; size < begins[1] + 8; size++) {
        const slc_status expected = size == begins[1] ? SLC_OK : SLC_ERR_USAGE;
        assert_int_equal(slc_io_cms_write(writer, raw.at, size, &error), expected);
    }
    assert_non_null(strstr(error.text, "result: byte"));
    assert_non_null(strstr(error.text, "do not add up"));
    slc_io_abandon(writer);
    slc_io_abandon(NULL);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(slc_io_cms_create("/nowhere/x.raw", &writer, &error), SLC_ERR_IO);
    assert_null(writer);
    cms_raw_clear(&raw);
}

static void a_pipe_is_read_in_small_pieces(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    pid_t child;
    int to;
    const int end = pipe_begin(&child, &to);
    if (child == 0) {
        for (size_t at = 0; at < raw.size; at += 7) {
            const size_t n = raw.size - at < 7 ? raw.size - at : 7;
            if (write(to, raw.at + at, n) != (ssize_t)n) {
                _exit(1);
            }
            (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        }
        _exit(0);
    }
    char name[32];
    (void)snprintf(name, sizeof name, "/dev/fd/%d", end);
    slc_io_source *source;
    slc_error error = {0};
    assert_int_equal(slc_io_open(name, NULL, &source, &error), SLC_OK);
    outcome o = read_source(source, SLC_OK);
    assert_int_equal(o.batch.n_events, EVENTS);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_true(is_event(&o, e, &raw, begins, e));
    }
    pipe_end(end, child);
    slc_batch_clear(&o.batch);
    cms_raw_clear(&raw);
}

/* ---- damage --------------------------------------------------------------------------------------- */

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    for (size_t size = 0; size < raw.size; size++) {
        outcome o = read_memory(raw.at, size, NULL);
        if (size < 20) { /* no fragment has begun: no format */
            assert_int_equal(o.opened, SLC_ERR_FORMAT);
            continue;
        }
        assert_int_equal(o.ended, SLC_END);
        assert_int_equal(o.totals.bytes, size);
        uint32_t whole = 0;
        while (begins[whole + 1] <= size) {
            assert_true(is_event(&o, whole, &raw, begins, whole));
            whole++;
        }
        const size_t rest = size - begins[whole];
        assert_int_equal(o.batch.n_events, whole + (rest >= 4));
        assert_int_equal(o.totals.lost_events, rest > 0 && rest < 4);
        assert_int_equal(slc_faults_of(&o.faults, SLC_FAULT_RECORD_TRUNCATED), rest > 0);
        assert_int_equal(slc_faults_total(&o.faults), rest > 0);
        assert_int_equal(o.damage[0] != '\0', rest > 0);
        if (rest > 0) {
            char expected[64];
            (void)snprintf(expected, sizeof expected, "m: byte %zu: ", begins[whole]);
            assert_memory_equal(o.damage, expected, strlen(expected));
        }
        slc_batch_clear(&o.batch);
    }
    cms_raw_clear(&raw);
}

/* Which event a byte is in. */
static uint32_t event_of(const size_t *begins, size_t byte)
{
    uint32_t e = 0;
    while (begins[e + 1] <= byte) {
        e++;
    }
    return e;
}

static void a_flipped_bit_harms_its_event_alone(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_some_events(begins, 1);
    cms_raw intact = make_some_events(begins, 1);
    for (size_t bit = 0; bit < 8 * raw.size; bit++) {
        raw.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        outcome o = read_memory(raw.at, raw.size, NULL);
        assert_int_equal(o.opened, SLC_OK);
        assert_int_equal(o.ended, SLC_END);
        assert_int_equal(o.totals.bytes, raw.size);
        assert_int_equal(o.batch.n_events, EVENTS);
        const uint32_t hit = event_of(begins, bit / 8);
        for (uint32_t e = 0; e < EVENTS; e++) {
            assert_true(is_event(&o, e, e == hit ? &raw : &intact, begins, e));
        }
        slc_batch_clear(&o.batch);
        raw.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    cms_raw_clear(&intact);
    cms_raw_clear(&raw);
}

static void rubbish_between_events_is_skipped(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw events = make_events(begins);
    for (size_t rubbish = 4; rubbish < 200; rubbish += 3) {
        cms_raw raw = {0};
        for (size_t at = 0; at < begins[1]; at += 4) {
            cms_raw_u32(&raw, slc_load_u32(events.at + at));
        }
        for (size_t i = 0; i < rubbish / 4 + 1; i++) {
            cms_raw_u32(&raw, 0xfedcba98U);
        }
        raw.size = begins[1] + rubbish;
        const size_t second = raw.size;
        for (size_t at = begins[1]; at < begins[3]; at += 4) {
            cms_raw_u32(&raw, slc_load_u32(events.at + at));
        }
        outcome o = read_memory(raw.at, raw.size, NULL);
        assert_int_equal(o.batch.n_events, 3);
        for (uint32_t e = 0; e < 3; e++) {
            assert_true(is_event(&o, e, &events, begins, e));
        }
        assert_int_equal(o.batch.file_offset[1], second);
        assert_int_equal(o.totals.lost_events, 1);
        assert_int_equal(slc_faults_of(&o.faults, SLC_FAULT_RECORD_HEADER), 1);
        assert_int_equal(o.totals.bytes, raw.size);
        assert_non_null(strstr(o.damage, "no event begins here"));
        slc_batch_clear(&o.batch);
        cms_raw_clear(&raw);
    }
    cms_raw_clear(&events);
}

static void a_hole_of_zeros_is_one_loss(void **state)
{
    (void)state;
    enum { HOLE = 300 };
    size_t begins[EVENTS + 1];
    cms_raw events = make_events(begins);
    uint8_t *bytes = calloc(1, events.size + HOLE);
    memcpy(bytes, events.at, begins[1]);
    memcpy(bytes + begins[1] + HOLE, events.at + begins[1], events.size - begins[1]);
    outcome o = read_memory(bytes, events.size + HOLE, NULL);
    assert_int_equal(o.batch.n_events, EVENTS);
    assert_int_equal(o.totals.lost_events, 1);
    assert_true(is_event(&o, 0, &events, begins, 0));
    assert_true(is_event(&o, 1, &events, begins, 1));
    assert_int_equal(o.batch.file_offset[1], begins[1] + HOLE);
    slc_batch_clear(&o.batch);
    free(bytes);
    cms_raw_clear(&events);
}

static void an_event_beyond_the_limit_is_lost(void **state)
{
    (void)state;
    size_t begins[EVENTS + 1];
    cms_raw raw = make_events(begins);
    slc_io_config config;
    slc_io_config_default(&config);
    config.max_event_bytes = begins[3] - begins[2] - 1; /* event 2 is the largest */
    outcome o = read_memory(raw.at, raw.size, &config);
    assert_int_equal(o.totals.lost_events, 1);
    assert_non_null(strstr(o.damage, "does not end within"));
    /* Event 3 is without fragments, which nobody finds behind damage. */
    assert_int_equal(o.batch.n_events, 3);
    assert_true(is_event(&o, 0, &raw, begins, 0));
    assert_true(is_event(&o, 1, &raw, begins, 1));
    assert_true(is_event(&o, 2, &raw, begins, 4));
    assert_int_equal(o.totals.bytes, raw.size);
    slc_batch_clear(&o.batch);
    cms_raw_clear(&raw);
}

static void other_bytes_are_not_this_format(void **state)
{
    (void)state;
    static const uint8_t zeros[4096];
    assert_int_equal(read_memory(zeros, sizeof zeros, NULL).opened, SLC_ERR_FORMAT);
    uint8_t noise[1 << 16];
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)random_u64(&seed);
    }
    outcome o = read_memory(noise, sizeof noise, NULL);
    assert_int_equal(o.opened, SLC_ERR_FORMAT);
    assert_non_null(strstr(o.error.text, "cms-raw"));
}

/* ---- payloads ------------------------------------------------------------------------------------- */

typedef struct file_bytes {
    void *at;
    size_t size;
} file_bytes;

static file_bytes written(void)
{
    file_bytes file = {0};
    assert_int_equal(slc_io_read_file(path, 1 << 24, &file.at, &file.size, NULL), SLC_OK);
    return file;
}

static slc_cms_gains make_gains(uint32_t modules)
{
    slc_cms_gains gains = {0};
    assert_int_equal(slc_cms_gains_reserve(&gains, modules), SLC_OK);
    gains.gain_low = 0.5f;
    gains.gain_step = 0x1p-7f;
    gains.pedestal_low = -3.25f;
    gains.pedestal_step = 0.125f;
    gains.dead = 255;
    gains.noisy = 254;
    for (size_t i = 0; i < (size_t)modules * SLC_CMS_GAINS; i++) {
        gains.gain[i] = (slc_cms_gain){(uint8_t)(i * 7), (uint8_t)(i / 3)};
    }
    return gains;
}

static void a_cabling_comes_back(void **state)
{
    (void)state;
    slc_cms_cabling *again = calloc(1, sizeof *again);
    slc_error error = {0};
    assert_int_equal(slc_io_write_cms_cabling(path, cabling, &error), SLC_OK);
    assert_int_equal(slc_io_read_cms_cabling(path, again, NULL, &error), SLC_OK);
    assert_memory_equal(again, cabling, sizeof *again);
    again->cable[3].raw_id = 5;
    assert_int_equal(slc_io_write_cms_cabling(absent, again, &error), SLC_ERR_USAGE);
    assert_int_equal(access(absent, F_OK), -1);
    assert_int_equal(slc_io_read_cms_cabling(absent, again, NULL, &error), SLC_ERR_IO);
    free(again);
}

static void gains_come_back(void **state)
{
    (void)state;
    slc_error error = {0};
    for (uint32_t modules = 0; modules <= 400; modules += 200) { /* up to more bytes than a cabling has */
        slc_cms_gains gains = make_gains(modules), again = {0};
        assert_int_equal(slc_io_write_cms_gains(path, &gains, &error), SLC_OK);
        assert_int_equal(slc_io_read_cms_gains(path, &again, NULL, &error), SLC_OK);
        assert_int_equal(again.n_modules, modules);
        assert_true(again.gain_low == gains.gain_low && again.gain_step == gains.gain_step);
        assert_true(again.pedestal_low == gains.pedestal_low && again.pedestal_step == gains.pedestal_step);
        assert_true(again.dead == 255 && again.noisy == 254);
        assert_int_equal(slc_io_read_cms_cabling(path, cabling, NULL, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "these are gains"));
        assert_memory_equal(again.gain, gains.gain, (size_t)modules * SLC_CMS_GAINS * sizeof *gains.gain);
        gains.noisy = gains.dead;
        assert_int_equal(slc_io_write_cms_gains(absent, &gains, &error), SLC_ERR_USAGE);
        slc_cms_gains_clear(&gains);
        slc_cms_gains_clear(&again);
    }
}

/* With the checksum that belongs to it; the text must name the file and this byte. */
static void assert_refused(bool gains_file, file_bytes file, bool mend, size_t byte, const char *reason)
{
    uint8_t *bytes = file.at;
    slc_error error = {0};
    char place[64];
    slc_cms_gains gains = {0};
    if (mend) {
        uint32_t crc = 0xffffffffU;
        for (size_t i = 16; i < file.size; i++) {
            crc ^= bytes[i];
            for (unsigned bit = 0; bit < 8; bit++) {
                crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
            }
        }
        slc_store_u32(bytes + 12, ~crc);
    }
    slc_cms_cabling *read = calloc(1, sizeof *read);
    const slc_status status = gains_file ? slc_io_parse_cms_gains(bytes, file.size, "f", &gains, &error)
                                         : slc_io_parse_cms_cabling(bytes, file.size, "f", read, &error);
    assert_int_equal(status, SLC_ERR_FORMAT);
    (void)snprintf(place, sizeof place, "f: byte %zu: ", byte);
    assert_memory_equal(error.text, place, strlen(place));
    assert_non_null(strstr(error.text, reason));
    assert_null(gains.gain);
    free(read);
}

typedef struct change {
    size_t at;
    uint8_t value; /* exclusive-or */
    bool mend;
    size_t byte;
    const char *reason;
} change;

static void changes_are_refused(bool gains_file, file_bytes file, const change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)file.at)[changes[i].at] ^= changes[i].value;
        assert_refused(gains_file, file, changes[i].mend, changes[i].byte, changes[i].reason);
        ((uint8_t *)file.at)[changes[i].at] ^= changes[i].value;
    }
}

static void a_wrong_cabling_is_refused(void **state)
{
    (void)state;
    static const change changes[] = {
        {0, 1, false, 0, "does not begin with \"SLCCMSCA\""},
        {8, 2, false, 8, "version 3 is not known"},
        {12, 1, false, 12, "checksum"},
        {16, 1, true, 16, "entries"},
        {20, 1, true, 20, "must be 0"},
        {24 + 8 * 385 + 6, 0x80, true, 24 + 8 * 385, "FED 1201, link 1, chip 2): a module has chips"},
        {24 + 8 * 385 + 3, 0x06, true, 24 + 8 * 385, "detector id"},
    };
    assert_int_equal(slc_io_write_cms_cabling(path, cabling, NULL), SLC_OK);
    file_bytes file = written();
    changes_are_refused(false, file, changes, sizeof changes / sizeof *changes);
    file.size -= 1;
    assert_refused(false, file, true, file.size, "its header tells of 460824");
    memcpy(file.at, "SLCCMSGA", 8);
    assert_refused(false, file, false, 0, "these are gains");
    free(file.at);
}

static void wrong_gains_are_refused(void **state)
{
    (void)state;
    static const change changes[] = {
        {7, 0x20, false, 0, "does not begin with \"SLCCMSGA\""},
        {9, 1, false, 8, "version 257 is not known"},
        {15, 1, false, 12, "checksum"},
        {17, 0x20, true, 16, "has 8195 modules, at most 4096"},
        {16, 1, true, 48 + 2 * 1664, "its header tells of"},
        {20, 1, true, 20, "gains for a module"},
        {31, 0xff, true, 28, "step of gains"},
        {41, 1, true, 41, "noisy columns"},
        {47, 1, true, 47, "must be 0"},
    };
    slc_cms_gains gains = make_gains(3);
    gains.gain_step = -0x1p-127f; /* its bytes flipped are no number */
    assert_int_equal(slc_io_write_cms_gains(path, &gains, NULL), SLC_OK);
    file_bytes file = written();
    ((uint8_t *)file.at)[30] = 0x80;
    changes_are_refused(true, file, changes, sizeof changes / sizeof *changes);
    free(file.at);
    slc_cms_gains_clear(&gains);
}

/* No flipped bit of a payload goes unseen, and no end before its own. */
static void every_bit_of_the_gains_counts(void **state)
{
    (void)state;
    slc_cms_gains gains = make_gains(1), read = {0};
    assert_int_equal(slc_io_write_cms_gains(path, &gains, NULL), SLC_OK);
    file_bytes file = written();
    uint8_t *bytes = file.at;
    slc_error error = {0};
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(slc_io_parse_cms_gains(bytes, file.size, "g", &read, &error), SLC_ERR_FORMAT);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    for (size_t size = 0; size < file.size; size++) {
        assert_int_equal(slc_io_parse_cms_gains(bytes, size, "g", &read, &error), SLC_ERR_FORMAT);
    }
    assert_int_equal(slc_io_parse_cms_gains(bytes, file.size, "g", &read, &error), SLC_OK);
    slc_cms_gains_clear(&read);
    slc_cms_gains_clear(&gains);
    free(file.at);
}

int main(void)
{
    cabling = cms_raw_cabling();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read),
        cmocka_unit_test(deferred_events_are_the_same),
        cmocka_unit_test_setup_teardown(what_is_written_is_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_event_that_does_not_add_up_is_not_written, make_folder,
                                        remove_folder),
        cmocka_unit_test(a_pipe_is_read_in_small_pieces),
        cmocka_unit_test(a_file_may_be_cut_at_every_byte),
        cmocka_unit_test(a_flipped_bit_harms_its_event_alone),
        cmocka_unit_test(rubbish_between_events_is_skipped),
        cmocka_unit_test(a_hole_of_zeros_is_one_loss),
        cmocka_unit_test(an_event_beyond_the_limit_is_lost),
        cmocka_unit_test(other_bytes_are_not_this_format),
        cmocka_unit_test_setup_teardown(a_cabling_comes_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(gains_come_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_wrong_cabling_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(wrong_gains_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(every_bit_of_the_gains_counts, make_folder, remove_folder),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(cabling);
    return failed;
}
