/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time of `sluice velo` goes, and going through the events again for measuring (--repeat): they are
 * held in memory, so that neither reading nor writing is in the way, and every repetition must come to the
 * counts of the first time. The rate is that of the middle 80 % of the batches, so that neither the start nor
 * the threads that are through first count: the rule of A. Hennequin's thesis (2022), chapter 5.
 */
#include "cli_sums.h"
#include "cmd_velo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks ------------------------------------------------------------------------------------- */

void slc_velo_timing_mark(slc_velo_timing *timing, uint64_t events, uint64_t bytes, const double *spent)
{
    timing->events += events;
    timing->bytes += bytes;
    timing->batches++;
    for (int i = 0; i < SLC_VELO_TIMES; i++) {
        timing->spent[i] += spent[i];
    }
    if (timing->n_marks == SLC_VELO_MARKS) { /* every second one is enough from here on */
        for (uint32_t i = 0; i < SLC_VELO_MARKS / 2; i++) {
            timing->marks[i] = timing->marks[2 * i + 1];
        }
        timing->n_marks = SLC_VELO_MARKS / 2;
        timing->every *= 2;
    }
    timing->every = timing->every > 0 ? timing->every : 1;
    if (timing->batches % timing->every == 0) {
        timing->marks[timing->n_marks++] = (slc_velo_mark){
            .seconds = slc_clock_seconds(), .events = timing->events, .bytes = timing->bytes};
    }
}

/* Events and bytes a second between the marks at 10 % and 90 %; over all where there are too few. */
static void rates(const slc_velo_timing *timing, double *events, double *bytes)
{
    const uint32_t cut = timing->n_marks / 10;
    double seconds = timing->flow.seconds;
    uint64_t n_events = timing->events, n_bytes = timing->bytes;
    if (cut > 0) {
        const slc_velo_mark *from = &timing->marks[cut - 1], *to = &timing->marks[timing->n_marks - 1 - cut];
        seconds = to->seconds - from->seconds;
        n_events = to->events - from->events;
        n_bytes = to->bytes - from->bytes;
    }
    *events = seconds > 0 ? (double)n_events / seconds : 0;
    *bytes = seconds > 0 ? (double)n_bytes / seconds : 0;
}

/* ---- printing ---------------------------------------------------------------------------------- */

static const char *const time_names[SLC_VELO_TIMES] = {
    [SLC_VELO_STAGE_CLUSTER] = "cluster",  [SLC_VELO_STAGE_TRACK] = "track",
    [SLC_VELO_STAGE_FIT] = "fit",          [SLC_VELO_STAGE_VERTEX] = "vertices",
    [SLC_VELO_TIME_READ] = "read",         [SLC_VELO_TIME_FINISH] = "verify",
    [SLC_VELO_TIME_CHECKSUM] = "checksum", [SLC_VELO_TIME_TRUTH] = "truth",
    [SLC_VELO_TIME_CHECK] = "check",       [SLC_VELO_TIME_WRITE] = "write",
};

const char *slc_velo_time_name(slc_velo_time part)
{
    return time_names[part];
}

void slc_velo_timing_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    static const char *const binds[] = {"none", "core", "numa"};
    const slc_velo_timing *timing = &job->timing;
    double events, bytes;
    const double sum = slc_cli_sum(timing->spent, SLC_VELO_TIMES);
    rates(timing, &events, &bytes);
    slc_cli_put(tree, "timing.threads", timing->flow.workers);
    slc_cli_put(tree, "timing.bind", binds[job->options->bind]);
    slc_cli_put(tree, "timing.events", timing->events);
    slc_cli_put(tree, "timing.bytes", timing->bytes);
    slc_cli_put(tree, "timing.batches", timing->batches);
    slc_cli_put(tree, "timing.events_per_second", events);
    slc_cli_put(tree, "timing.bytes_per_second", bytes);
    slc_cli_put(tree, "timing.seconds", timing->flow.seconds);
    slc_cli_put(tree, "timing.starving_seconds", timing->flow.starving);
    slc_cli_put(tree, "timing..where",
                timing->n_marks >= 10 ? "in the middle 80 %" : "in all, too few batches for a part of them");
    for (int i = 0; i < SLC_VELO_TIMES; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "timing.stages.%s", time_names[i]);
        slc_cli_put(tree, path, timing->spent[i]);
        if (timing->spent[i] > 0 && timing->events > 0) {
            slc_cli_tree part = slc_cli_append(tree, "timing..parts");
            slc_cli_put(&part, "name", time_names[i]);
            slc_cli_put(&part, "us", 1e6 * timing->spent[i] / (double)timing->events);
            slc_cli_put(&part, "share", timing->spent[i] / sum);
        }
    }
}

void slc_velo_print_timing(slc_cli_tree *tree)
{
    static const slc_cli_line lines[] = {
        {NULL, "\nthreads        {threads} (bind {bind})", NULL},
        {"timed", "{events} events, {batches} batches, {seconds|.3f} s", NULL},
        {"throughput", "{events_per_second|.0f} events/s, {bytes_per_second*1e-9|.3f} GB/s {.where}", NULL},
    };
    static const slc_cli_line part[] = {{NULL, "{name|-14} {us|.2f} µs/event, {share*100|.1f} %", NULL}};
    const slc_cli_tree timing = slc_cli_inner(tree, "timing");
    slc_cli_print_lines(&timing, "", lines, 3);
    slc_cli_write_members(&timing, ".parts", stdout, part, 1);
}

/* ---- holding ----------------------------------------------------------------------------------- */

static slc_status copy_batch(slc_batch *to, const slc_batch *from)
{
    const uint32_t n = from->n_events;
    const slc_status status = slc_batch_reserve(to, from->size + 1, n > 0 ? n : 1);
    if (status == SLC_OK && n > 0) {
        memcpy(to->bytes, from->bytes, from->size);
        memcpy(to->offset, from->offset, n * sizeof *to->offset);
        memcpy(to->length, from->length, n * sizeof *to->length);
        memcpy(to->file_offset, from->file_offset, n * sizeof *to->file_offset);
        memcpy(to->record, from->record, n * sizeof *to->record);
    }
    to->size = from->size;
    to->n_events = n;
    to->scattered = from->scattered;
    to->first_event = from->first_event;
    to->sequence = from->sequence;
    return status;
}

static slc_status copy_hits(slc_velo_hits *to, const slc_velo_hits *from)
{
    const slc_columns *head = &from->head;
    slc_columns_reset(to);
    const slc_status status = slc_columns_reserve(&slc_velo_hits_schema, to, head->size, head->n_events);
    return status == SLC_OK ? slc_columns_append_events(&slc_velo_hits_schema, from, 0, head->n_events, to)
                            : status;
}

bool slc_velo_hold(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    if (job->n_held == job->held_capacity) {
        const size_t capacity = job->held_capacity > 0 ? 2 * job->held_capacity : 64;
        slc_velo_held *larger = realloc(job->held, capacity * sizeof *larger);
        if (larger == NULL) {
            slc_cli_say("velo", "no memory to hold the events for --repeat");
            return false;
        }
        job->held = larger;
        job->held_capacity = capacity;
    }
    slc_velo_held *held = &job->held[job->n_held++];
    *held = (slc_velo_held){.raw = result->raw,
                            .n_hits = result->found.hits.head.size,
                            .n_tracks = result->found.tracks.head.size,
                            .n_primaries = result->found.primaries.head.size};
    const slc_status status = held->raw ? copy_batch(&held->batch, &item->batch)
                                        : copy_hits(&held->hits, &result->found.hits);
    if (status != SLC_OK) {
        slc_cli_say("velo", "no memory to hold the events for --repeat");
    }
    return status == SLC_OK;
}

void slc_velo_held_clear(slc_velo_job *job)
{
    for (size_t i = 0; i < job->n_held; i++) {
        slc_batch_clear(&job->held[i].batch);
        slc_columns_clear(&slc_velo_hits_schema, &job->held[i].hits);
    }
    free(job->held);
}

/* ---- again ------------------------------------------------------------------------------------- */

static slc_status read_again(void *context, slc_flow_item *item, slc_error *error)
{
    const slc_velo_job *job = context;
    (void)error;
    return item->number < (job->options->warmup + job->options->repeat) * job->n_held ? SLC_OK : SLC_END;
}

/* The chain over what is held, in place of what the item has. */
static slc_status run_again(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_velo_job *job = setup;
    const slc_velo_held *held = &job->held[item->number % job->n_held];
    slc_flow_velo_result *result = item->result;
    slc_flow_item view = *item;
    view.batch = held->batch;
    result->raw = held->raw;
    if (!held->raw) {
        const double began = slc_clock_seconds();
        if (copy_hits(&result->found.hits, &held->hits) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for hits");
        }
        item->seconds_reading = slc_clock_seconds() - began;
    }
    return slc_flow_velo.run(chain, setup, &view, error);
}

static bool take_again(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_velo_result *result = &((const slc_flow_velo_result *)item->result)->found;
    const slc_velo_held *held = &job->held[item->number % job->n_held];
    double spent[SLC_VELO_TIMES] = {[SLC_VELO_TIME_READ] = held->raw ? 0 : item->seconds_reading};
    const bool same = result->hits.head.size == held->n_hits && result->tracks.head.size == held->n_tracks &&
                      result->primaries.head.size == held->n_primaries;
    if (item->status != SLC_OK || !same) {
        slc_cli_say("velo", "%s",
                    item->status != SLC_OK ? item->error.text
                                           : "a repetition gave other results: this is a fault of sluice");
        return false;
    }
    if (item->number >= job->options->warmup * job->n_held) {
        memcpy(spent, result->seconds, sizeof result->seconds);
        spent[SLC_VELO_TIME_CHECKSUM] = ((const slc_flow_velo_result *)item->result)->seconds_checksum;
        slc_velo_timing_mark(&job->timing, result->hits.head.n_events, held->raw ? held->batch.size : 0,
                             spent);
        slc_cli_progress_show(&job->progress, job->timing.events, 0);
    }
    return true;
}

bool slc_velo_measure(slc_velo_job *job)
{
    slc_flow_chain chain = slc_flow_velo;
    chain.run = run_again;
    memset(&job->timing, 0, sizeof job->timing);
    if (slc_velo_job_open(job, &chain, read_again) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    return slc_velo_job_run(job, take_again);
}
