/* SPDX-License-Identifier: Apache-2.0
 *
 * The events of the VELO's benchmark: read once, kept in memory, so that measuring never waits for a file.
 * Damage ends the reading, because a benchmark of other events than those that were meant is worse than none.
 */
#include "bench/bench_velo_events.h"

#include "velo/velo_truth.h"
#include <sluice/io.h>

#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 64 << 20 };

static slc_bench_velo_held *next_held(slc_bench_velo_events *events)
{
    if (events->n_held == events->capacity) {
        const size_t capacity = events->capacity > 0 ? 2 * events->capacity : 16;
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

/* One batch; SLC_END behind the last. */
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
        slc_batch_clear(&held->batch);
        slc_columns_clear(&slc_velo_hits_schema, &held->hits);
        slc_velo_truth_clear(&held->truth);
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

slc_status slc_bench_velo_events_read(char *const *paths, size_t n_paths, uint64_t most, uint32_t batch,
                                      slc_bench_velo_events **events, slc_error *error)
{
    slc_status status = SLC_OK;
    *events = calloc(1, sizeof **events);
    if (*events == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the events");
    }
    for (size_t i = 0; i < n_paths && status == SLC_OK && (*events)->n_events < most; i++) {
        status = read_input(*events, paths[i], most, batch, error);
    }
    if (status == SLC_OK && (*events)->n_events == 0) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: there is no event to measure with",
                          n_paths > 0 ? paths[0] : "");
    }
    if (status != SLC_OK) {
        slc_bench_velo_events_close(*events);
        *events = NULL;
    }
    return status;
}

void slc_bench_velo_events_close(slc_bench_velo_events *events)
{
    for (size_t i = 0; events != NULL && i < events->n_held; i++) {
        slc_batch_clear(&events->held[i].batch);
        slc_columns_clear(&slc_velo_hits_schema, &events->held[i].hits);
        slc_velo_truth_clear(&events->held[i].truth);
    }
    if (events != NULL) {
        free(events->held);
    }
    free(events);
}

uint64_t slc_bench_velo_events_count(const slc_bench_velo_events *events)
{
    return events->n_events;
}

bool slc_bench_velo_events_have_truth(const slc_bench_velo_events *events)
{
    return events->has_truth;
}
