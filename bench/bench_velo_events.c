/* SPDX-License-Identifier: Apache-2.0
 *
 * The events of the VELO's benchmark: read once, kept in memory, so that measuring never waits for a file.
 * Damage ends the reading, because a benchmark of other events than those that were meant is worse than none.
 */
#include "bench/bench_velo_part.h"

#include "base/columns.h"
#include "base/splitmix.h"
#include "lhcb/lhcb_packet.h"
#include "velo/velo_truth.h"
#include <sluice/io.h>
#include <sluice/lhcb.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 64 << 20 };

static slc_bench_velo_held *next_held(slc_bench_velo_events *events)
{
    if (events->n_held == events->capacity) {
        const size_t capacity = events->capacity > 0 ? 2 * events->capacity : 16;
        assert(capacity > events->capacity);
        slc_bench_velo_held *held = realloc(events->held, capacity * sizeof *held);
        if (held == NULL) {
            return NULL;
        }
        events->held = held;
        events->capacity = capacity;
    }
    slc_bench_velo_held *next = &events->held[events->n_held++];
    memset(next, 0, sizeof *next);
    return next;
}

static void clear_held(slc_bench_velo_held *held)
{
    slc_batch_clear(&held->batch);
    slc_columns_clear(&slc_velo_hits_schema, &held->hits);
    slc_velo_truth_clear(&held->truth);
}

/* One batch; SLC_END after the last. */
static slc_status read_batch(slc_bench_velo_events *events, slc_io_source *source, const char *path,
                             uint32_t most, slc_error *error)
{
    slc_faults faults;
    slc_faults_reset(&faults);
    slc_bench_velo_held *held = next_held(events);
    if (held == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the events", path);
    }
    slc_status status = events->raw
                            ? slc_io_read_batch(source, most, BATCH_BYTES, &held->batch, &faults, error)
                            : slc_io_read_velo_hits(source, most, &held->hits, &held->truth, NULL, &faults,
                                                    error);
    if (status == SLC_OK && events->raw) {
        status = slc_velo_truth_read(&held->batch, &held->truth, &faults, error);
    }
    if (status >= 0 && slc_faults_total(&faults) > 0) {
        const char *damage = slc_io_damage(source);
        return damage != NULL
                   ? slc_fail(error, SLC_ERR_FORMAT, "%s", damage)
                   : slc_fail(error, SLC_ERR_FORMAT, "%s: event %llu: %s", path,
                              (unsigned long long)faults.kept[0].event, slc_fault_text(faults.kept[0].code));
    }
    if (status == SLC_OK) {
        events->n_events += events->raw ? held->batch.n_events : held->hits.head.n_events;
        events->has_truth = events->has_truth || held->truth.particles.head.size > 0;
    } else {
        events->n_held--; /* nothing came: what it allocated is given back here */
        clear_held(held);
    }
    return status;
}

static slc_status read_input(slc_bench_velo_events *events, const char *path, uint64_t most, uint32_t batch,
                             slc_error *error)
{
    slc_io_source *source = NULL;
    slc_status status = slc_io_open(path, NULL, &source, error);
    if (status != SLC_OK) {
        return status;
    }
    const bool raw = slc_io_content_of(source) == SLC_IO_RAW_EVENTS;
    if (events->n_events > 0 && raw != events->raw) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "%s: holds %s, the inputs before it %s: measure them apart", path,
                          raw ? "raw events" : "lists of hits", raw ? "lists of hits" : "raw events");
    }
    events->raw = raw;
    while (status == SLC_OK && events->n_events < most) {
        const uint64_t left = most - events->n_events;
        status = read_batch(events, source, path, left < batch ? (uint32_t)left : batch, error);
    }
    slc_io_close(source);
    return status == SLC_END ? SLC_OK : status;
}

slc_status slc_bench_velo_events_read(slc_bench_velo_events *events, const slc_bench_velo_config *config,
                                      uint32_t batch, slc_error *error)
{
    slc_status status = SLC_OK;
    slc_bench_velo_events_clear(events);
    for (size_t i = 0; i < config->n_paths && status == SLC_OK && events->n_events < config->most; i++) {
        status = read_input(events, config->paths[i], config->most, batch, error);
    }
    return status == SLC_OK && events->n_events == 0
               ? slc_fail(error, SLC_ERR_FORMAT, "%s: there is no event to measure with", config->paths[0])
               : status;
}

void slc_bench_velo_events_clear(slc_bench_velo_events *events)
{
    for (size_t i = 0; i < events->n_held; i++) {
        clear_held(&events->held[i]);
    }
    free(events->held);
    events->held = NULL;
    events->n_held = events->capacity = 0;
    events->n_events = 0;
    events->has_truth = false;
}

uint64_t slc_bench_velo_held_events(const slc_bench_velo_events *events, size_t batch)
{
    const slc_bench_velo_held *held = &events->held[batch];
    return events->raw ? held->batch.n_events : held->hits.head.n_events;
}

/* ---- distinct events --------------------------------------------------------------------------- */

enum { ONE_OF = 50 };

/* Copies words of so many bytes but for some; returns the bytes. */
static size_t thin(uint8_t *to, const uint8_t *from, size_t bytes, size_t word, uint64_t *random)
{
    size_t n = 0;
    for (size_t i = 0; i + word <= bytes; i += word) {
        if (slc_random_below(random, ONE_OF) > 0) {
            memcpy(to + n, from + i, word);
            n += word;
        }
    }
    return n;
}

/* Random numbers: those of the VELO do not depend on what others have. */
typedef struct draws {
    uint64_t velo, beyond;
} draws;

/* Banks of super-pixels and clusters have a count before the words but in version 4. */
static size_t vary_velo(uint8_t *payload, const slc_lhcb_bank *bank, draws *random)
{
    const size_t front = bank->version == 4 ? 0 : 4;
    if (bank->size <= front) {
        return bank->size;
    }
    const size_t n = thin(payload + front, bank->payload + front, bank->size - front, 4, &random->velo);
    for (size_t i = 0; i < front; i++) {
        payload[i] = (uint8_t)(n / 4 >> 8 * i);
    }
    return front + n;
}

/* A count of clusters, which other bytes follow (UT, version 3), or clusters to the end (SciFi, 4 and 5), of
 * which one of 0 behind the others fills up. */
static size_t vary_words(uint8_t *payload, const slc_lhcb_bank *bank, draws *random)
{
    const bool ut = bank->type == SLC_LHCB_BANK_UT;
    const size_t words = bank->size < 4 ? 0
                         : ut           ? 2 * (size_t)(bank->payload[0] | bank->payload[1] << 8)
                                        : bank->size - 4;
    if ((ut ? bank->version != 3 : bank->version > 5) || words + 4 > bank->size || words % 2 != 0) {
        return bank->size;
    }
    const size_t n = thin(payload + 4, bank->payload + 4, words, 2, &random->beyond);
    const size_t rest = bank->size - 4 - words;
    memcpy(payload + 4 + n, bank->payload + 4 + words, rest);
    if (ut) {
        payload[0] = (uint8_t)(n / 2);
        payload[1] = (uint8_t)(n / 2 >> 8);
    }
    return 4 + n + rest;
}

/* An event anew. */
static size_t vary_banks(uint8_t *to, const slc_batch *from, uint32_t e, draws *random)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(from, e);
    const size_t room = slc_packet_event_size(from, e);
    slc_lhcb_bank bank;
    size_t n = 0;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        static uint8_t payload[SLC_LHCB_BANK_MAX_PAYLOAD];
        size_t size = bank.size;
        memcpy(payload, bank.payload, size);
        if (bank.type == SLC_LHCB_BANK_VP || bank.type == SLC_LHCB_BANK_VELO ||
            bank.type == SLC_LHCB_BANK_VP_RETINA) {
            size = vary_velo(payload, &bank, random);
        } else if (bank.type == SLC_LHCB_BANK_UT || bank.type == SLC_LHCB_BANK_SCIFI) {
            size = vary_words(payload, &bank, random);
        }
        n += slc_lhcb_bank_write(to + n, room - n, bank.type, bank.version, bank.source, payload, size);
    }
    return n;
}

slc_bench_velo_held *slc_bench_velo_events_room(slc_bench_velo_events *events, uint32_t batch)
{
    return events->n_events % batch == 0 ? next_held(events) : &events->held[events->n_held - 1];
}

slc_status slc_bench_velo_append(slc_batch *to, const slc_batch *from, uint32_t e)
{
    if (!from->scattered) {
        return slc_batch_append(to, from->bytes + from->offset[e], from->length[e], from->file_offset[e]);
    }
    const size_t size = slc_packet_event_size(from, e);
    uint8_t *bytes = malloc(size + 1);
    const slc_status status = bytes == NULL
                                  ? SLC_ERR_MEMORY
                                  : slc_batch_append(to, bytes, slc_packet_event_gather(from, e, bytes, size),
                                                     from->file_offset[e]);
    free(bytes);
    return status;
}

static slc_status vary_raw(slc_batch *to, const slc_batch *from, uint32_t e, draws *random)
{
    uint8_t *bytes = malloc(slc_packet_event_size(from, e) + 1);
    const slc_status status = bytes == NULL ? SLC_ERR_MEMORY
                                            : slc_batch_append(to, bytes, vary_banks(bytes, from, e, random),
                                                               from->file_offset[e]);
    free(bytes);
    return status;
}

static slc_status vary_hits(slc_velo_hits *to, const slc_velo_hits *from, uint32_t e, uint64_t *random)
{
    slc_velo_hits event;
    uint32_t offsets[2];
    slc_status status = slc_columns_view(&slc_velo_hits_schema, from, e, 1, offsets, &event);
    uint8_t *keep = malloc(event.head.size + 1);
    status = keep == NULL ? SLC_ERR_MEMORY : status;
    for (size_t i = 0; i < event.head.size && status == SLC_OK; i++) {
        keep[i] = slc_random_below(random, ONE_OF) > 0;
    }
    status = status == SLC_OK ? slc_columns_reserve(&slc_velo_hits_schema, to,
                                                    to->head.size + event.head.size, to->head.n_events + 1)
                              : status;
    status = status == SLC_OK ? slc_columns_copy_if(&slc_velo_hits_schema, &event, keep, to) : status;
    free(keep);
    return status;
}

slc_status slc_bench_velo_events_vary(slc_bench_velo_events *events, const slc_bench_velo_events *from,
                                      uint64_t n, uint32_t batch, slc_error *error)
{
    draws random = {1, 2};
    uint32_t event = 0; /* of the batch at hand of the given ones */
    size_t at = 0;
    slc_status status = SLC_OK;
    events->raw = from->raw;
    for (; events->n_events < n && status == SLC_OK; events->n_events++, event++) {
        slc_bench_velo_held *held = slc_bench_velo_events_room(events, batch);
        if (event == slc_bench_velo_held_events(from, at)) {
            at = (at + 1) % from->n_held;
            event = 0;
        }
        status = held == NULL ? SLC_ERR_MEMORY
                 : from->raw  ? vary_raw(&held->batch, &from->held[at].batch, event, &random)
                              : vary_hits(&held->hits, &from->held[at].hits, event, &random.velo);
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for the distinct events");
}
