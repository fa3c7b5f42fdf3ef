/* SPDX-License-Identifier: Apache-2.0
 * Scouts that look ahead in files of CMS's events: they know every event of a sound file but its last, and
 * with them batches are what they are without, whatever is damaged, lost, added or cut, and whatever the size
 * of their pieces and the number of threads. */
#include "io/cms/io_cms_scout.h"
#include "io/io_deferred.h"
#include "io/io_source.h"
#include "support/assert_ok.h"
#include "support/random.h"

#include <sluice/sim_cms.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 24 };
static const char path[] = "test_io_cms_scout.raw";
static slc_batch events;
static slc_error error; /* of the last call */

/* Bytes of events first … EVENTS - 1, of which every `every`th (0: none) is damaged in some way. */
static void write_events(uint32_t first, uint32_t every, uint64_t *seed)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (uint32_t e = first; e < EVENTS; e++) {
        size_t size = events.length[e];
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        memcpy(bytes, events.bytes + events.offset[e], size);
        if (every > 0 && e % every == 0) {
            switch (random_u64(seed) % 4) {
            case 0: /* bits */
                for (int i = 0; i < 20; i++) {
                    bytes[random_u64(seed) % size] ^= (uint8_t)(1U << random_u64(seed) % 8);
                }
                break;
            case 1: /* the head */
                bytes[random_u64(seed) % 20] ^= 0xFF;
                break;
            case 2: /* bytes are lost */
                size -= 1 + random_u64(seed) % (size / 2);
                break;
            default: /* bytes are added */
                assert_int_equal(fwrite("beyond", 1, 1 + random_u64(seed) % 6, out) > 0, 1);
            }
        }
        assert_int_equal(fwrite(bytes, 1, size, out), size);
        free(bytes);
    }
    assert_int_equal(fclose(out), 0);
}

/* All of a file through batches of some events: where each event was and what its bytes are, and what was
 * told. */
typedef struct told {
    uint64_t sum, n_events;
    slc_faults faults;
    slc_io_totals totals;
    char damage[512];
} told;

static void add_batch(const slc_batch *batch, const uint8_t *bytes, told *t)
{
    for (uint32_t e = 0; e < batch->n_events; e++) {
        t->sum = t->sum * 31 + batch->file_offset[e] + batch->record[e].number;
        for (size_t i = 0; i < batch->length[e]; i++) {
            t->sum = t->sum * 31 + bytes[batch->offset[e] + i];
        }
    }
    t->n_events += batch->n_events;
}

/* In the place of page-locked memory, of which there is none now and then. */
static atomic_uint n_asked, n_given;

static void *give(size_t bytes)
{
    atomic_fetch_add(&n_given, 1);
    return malloc(bytes);
}

static void *give_at_times(size_t bytes)
{
    return atomic_fetch_add(&n_asked, 1) % 5 == 3 ? NULL : give(bytes);
}

static void take(void *at)
{
    atomic_fetch_sub(&n_given, 1);
    free(at);
}

/* Of the batches: how many lay in pieces. */
static uint32_t read_all(const slc_cms_looking *how, uint32_t most, told *t)
{
    slc_io_source *source = NULL;
    slc_io_deferred *deferred[2] = {NULL, NULL}; /* one after the other, so that a batch outlives the next */
    slc_batch batch[2] = {{.n_events = 0}, {.n_events = 0}};
    slc_status status = SLC_OK;
    uint32_t i = 0, in_pieces = 0;
    memset(t, 0, sizeof *t);
    ASSERT_OK(slc_io_open(path, NULL, &source, &error));
    ASSERT_OK(slc_io_deferred_open(&deferred[0], &error));
    ASSERT_OK(slc_io_deferred_open(&deferred[1], &error));
    if (how != NULL) {
        ASSERT_OK(slc_io_cms_look_ahead(source, how, &error));
    }
    for (;; i++) {
        slc_io_deferred *now = deferred[i % 2];
        slc_batch *b = &batch[i % 2];
        if (i >= 2 && slc_io_deferred_shared(now) != NULL) {
            size_t capacity;
            const uint8_t *bytes = slc_io_deferred_bytes(now, &capacity);
            assert_true(b->size <= capacity);
            add_batch(b, bytes, t);
            in_pieces++;
        } else {
            add_batch(b, b->bytes, t);
        }
        b->n_events = 0;
        if (status == SLC_OK) {
            status = how != NULL
                         ? slc_io_read_batch_deferred(source, most, 1 << 22, b, now, &t->faults, &error)
                         : slc_io_read_batch(source, most, 1 << 22, b, &t->faults, &error);
        } else {
            break;
        }
        if (status == SLC_OK && how != NULL) {
            ASSERT_OK(slc_io_finish_batch(b, now, &t->faults, &error));
        }
    }
    assert_int_equal(status, SLC_END);
    slc_io_totals_of(source, &t->totals);
    (void)snprintf(t->damage, sizeof t->damage, "%s",
                   slc_io_damage(source) != NULL ? slc_io_damage(source) : "");
    slc_io_close(source);
    for (i = 0; i < 2; i++) {
        slc_io_deferred_close(deferred[i]);
        slc_batch_clear(&batch[i]);
    }
    assert_int_equal(atomic_load(&n_given), 0);
    return in_pieces;
}

static void compare(void)
{
    static const size_t pieces[] = {4096, 70001, 1 << 20};
    uint32_t in_pieces = 0;
    told alone, t;
    (void)read_all(NULL, 5, &alone);
    assert_true(alone.n_events > 0);
    for (uint32_t i = 0; i < 12; i++) {
        slc_cms_looking how = {.threads = 1 + 2 * (i % 2), .piece_bytes = pieces[i / 2 % 3]};
        if (i >= 6) {
            how.allocate = give_at_times;
            how.release = take;
        }
        in_pieces += read_all(&how, i % 3 == 0 ? 1 : 7, &t);
        assert_true(i >= 6 || in_pieces == 0);
        assert_int_equal(t.n_events, alone.n_events);
        assert_true(t.sum == alone.sum);
        assert_int_equal(t.totals.events, alone.totals.events);
        assert_int_equal(t.totals.lost_events, alone.totals.lost_events);
        assert_int_equal(slc_faults_total(&t.faults), slc_faults_total(&alone.faults));
        assert_string_equal(t.damage, alone.damage);
    }
    assert_true(in_pieces > 0);
}

static void sound_events_are_known(void **state)
{
    (void)state;
    static const size_t pieces[] = {4096, 70000, 1 << 20};
    uint64_t seed = 1;
    write_events(0, 0, &seed);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        slc_io_source *source = NULL;
        slc_cms_scouts *scouts = NULL;
        uint64_t at = 0;
        ASSERT_OK(slc_io_open(path, NULL, &source, &error));
        const slc_cms_looking how = {2, pieces[i], give, take};
        ASSERT_OK(
            slc_cms_scouts_open(&source->stream, source->config.max_event_bytes, &how, &scouts, &error));
        for (uint32_t e = 0; e < EVENTS; e++) {
            slc_io_shared *shared = NULL;
            size_t there = 0;
            const size_t size = slc_cms_scouts_ask(scouts, at, &shared, &there);
            assert_int_equal(size, e < EVENTS - 1 ? events.length[e] : 0);
            assert_int_equal(shared != NULL, size > 0);
            if (size > 0) {
                assert_true(there + size <= shared->capacity);
                assert_memory_equal(shared->bytes + there, events.bytes + events.offset[e], size);
            }
            at += events.length[e];
        }
        slc_cms_scouts_close(scouts);
        slc_io_close(source);
    }
    compare();
}

static void nobody_knows_what_no_event_begins_with(void **state)
{
    (void)state;
    uint64_t seed = 2;
    write_events(0, 0, &seed);
    slc_io_source *source = NULL;
    slc_cms_scouts *scouts = NULL;
    ASSERT_OK(slc_io_open(path, NULL, &source, &error));
    const slc_cms_looking how = {.threads = 1, .piece_bytes = 8192};
    slc_io_shared *shared = NULL;
    size_t there;
    ASSERT_OK(slc_cms_scouts_open(&source->stream, source->config.max_event_bytes, &how, &scouts, &error));
    assert_int_equal(slc_cms_scouts_ask(scouts, 4, &shared, &there), 0);
    assert_int_equal(slc_cms_scouts_ask(scouts, events.length[0], &shared, &there), events.length[1]);
    assert_null(shared); /* and goes on; behind the end: */
    assert_int_equal(slc_cms_scouts_ask(scouts, (uint64_t)1 << 40, &shared, &there), 0);
    slc_cms_scouts_close(scouts);
    slc_io_close(source);
}

static void damage_is_told_as_without(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (uint32_t every = 1; every < 6; every++) {
        write_events(every, every, &seed);
        compare();
    }
}

int main(void)
{
    slc_sim_cms_config config;
    slc_sim_cms *sim = NULL;
    slc_sim_cms_config_default(&config);
    config.seed = 9;
    config.tracks = config.tracks / 8 > 0 ? config.tracks / 8 : config.tracks;
    slc_status status = slc_sim_cms_open(&config, &sim, &error);
    for (uint32_t e = 0; e < EVENTS && status == SLC_OK; e++) {
        status = slc_sim_cms_event(sim, e, &events, NULL, &error);
    }
    slc_sim_cms_close(sim);
    if (status != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_events_are_known),
        cmocka_unit_test(nobody_knows_what_no_event_begins_with),
        cmocka_unit_test(damage_is_told_as_without),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_batch_clear(&events);
    (void)remove(path);
    return failed;
}
