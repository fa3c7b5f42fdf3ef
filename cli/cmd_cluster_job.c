/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster`, as its inputs come out of the flow: what was asked for in each one's own ticks, whether
 * it goes with the others, and its clusters written.
 */
#include "cmd_cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const slc_cluster_job *job, const slc_cluster_input *done)
{
    return job->inputs[done - job->done];
}

__attribute__((format(printf, 3, 4))) static bool
complain(slc_cluster_job *job, const slc_cluster_input *done, const char *format, ...)
{
    char text[sizeof job->error.text];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    slc_cli_say("cluster", "%s: %s", path_of(job, done), text);
    return false;
}

/* ---- what is written --------------------------------------------------------------------------- */

/* What a tick of the input is in --time-unit; 1 without. To 15 digits, so that 25 ns / 16 is 1.5625 ns: the
 * ticks of a file then have few digits in decimal, too. */
static double time_factor(const slc_cluster_job *job, const slc_io_pixels_info *about)
{
    char digits[32];
    if (!(job->unit_seconds > 0)) {
        return 1;
    }
    (void)snprintf(digits, sizeof digits, "%.15g", about->tick_seconds / job->unit_seconds);
    return strtod(digits, NULL);
}

/* As slc_io_results_flush does it. A write that fails is told when the file is completed. */
static void flush_text(slc_cluster_job *job)
{
    const double now = slc_clock_seconds();
    if (now - job->flushed >= slc_cli_results_flush_seconds(&job->options->results, job->reads_once)) {
        (void)fflush(slc_io_text_stream(job->text));
        job->flushed = now;
    }
}

slc_status slc_cluster_put_inputs(slc_cluster_job *job)
{
    return slc_io_results_names(job->results, "clusters", "inputs", (size_t)job->n_inputs,
                                (const char *const *)job->inputs, &job->error);
}

/* Says where the clusters are from: the flow's columns, after some of the command's. */
static bool place_rows(slc_cluster_job *job, const slc_flow_item *item, slc_cluster_rows *rows)
{
    const slc_flow_pixel_result *result = item->result;
    const slc_columns *head = &result->clusters.head;
    const double factor = time_factor(job, &result->about);
    if (slc_columns_reserve(&job->place, &job->rows, head->size, 1) != SLC_OK) {
        slc_cli_say("cluster", "%s: no memory for the clusters", item->path);
        return false;
    }
    *rows = job->rows;
    rows->clusters = result->clusters;
    rows->shot = result->shot;
    rows->since_trigger_ns = result->since_trigger_ns;
    rows->energy_kev = result->energy_kev;
    uint32_t event = 0;
    for (size_t i = 0; i < head->size; i++) {
        while (event < head->n_events && head->event_offset[event + 1] <= i) {
            event++;
        }
        rows->input[i] = item->input + 1;
        rows->frame[i] = result->frames != NULL ? result->frames[event] : 0;
        if (rows->first_time != NULL) {
            rows->first_time[i] = (double)rows->clusters.first_time[i] * factor;
            rows->last_time[i] = (double)rows->clusters.last_time[i] * factor;
        }
    }
    slc_cluster_nexus_rows(job, result, rows);
    slc_cluster_chips_rows(job, result, rows);
    return true;
}

static bool write_rows(slc_cluster_job *job, const slc_flow_item *item)
{
    slc_cluster_rows rows;
    if (!place_rows(job, item, &rows)) {
        return false;
    }
    if (!job->done[item->input].has_rows) {
        job->done[item->input].has_rows = true;
        job->done[item->input].rows_before = job->written;
    }
    job->written += rows.clusters.head.size;
    if (job->results != NULL) {
        slc_io_group groups[2] = {{"clusters", &job->schema, &rows, SLC_IO_ROWS_ANY}};
        const bool shots = job->shot_schema.n_columns > 0;
        if (shots && !slc_cluster_shots_group(job, item, &groups[1])) {
            slc_cli_say("cluster", "%s: no memory for the triggers", item->path);
            return false;
        }
        slc_status status = slc_io_results_put(job->results, groups, shots ? 2 : 1, &job->error);
        if (status == SLC_OK && !job->appended) {
            status = slc_cluster_put_inputs(job);
        }
        job->appended = true; /* or the file will be given up */
        if (status == SLC_OK) {
            status = slc_cli_results_flush(job->results, &job->options->results, job->reads_once,
                                           &job->error);
        }
        if (status != SLC_OK) {
            slc_cli_say("cluster", "%s", job->error.text);
        }
        return status == SLC_OK;
    }
    const slc_io_text_form form = {.schema = &job->text_schema,
                                   .name = job->n_inputs > 1 ? item->path : NULL,
                                   .exec = &job->config.exec};
    if (job->text != NULL && slc_io_text_rows(job->text, &form, &rows, &job->error) != SLC_OK) {
        job->appended = true; /* the file will be given up */
        slc_cli_say("cluster", "%s", job->error.text);
        return false;
    }
    if (job->text != NULL && job->written > 0) {
        flush_text(job);
    }
    return true;
}

/* ---- the beginning of an input ------------------------------------------------------------------ */

/* In whole ticks; negative after a complaint. */
static int64_t in_ticks(slc_cluster_job *job, const slc_cluster_input *done, const char *option,
                        const slc_cluster_time *time)
{
    const double tick = done->about.tick_seconds;
    if (!time->in_ticks && !(tick > 0)) {
        (void)complain(
            job, done,
            "the file does not tell how long a tick is: give --%s in ticks, as in 64ticks, or --tick",
            option);
        return -1;
    }
    const double ticks = time->in_ticks ? time->value : time->value / tick;
    return ticks < 0x1p61 ? (int64_t)floor(ticks + 1e-9) : INT64_C(1) << 61;
}

/* Where nothing is asked for and the file is a stream, 100 ns, the drift time of a usual sensor; and 1 ms
 * of disorder for what a chip sent, and any disorder for lists. */
static bool choose_times(slc_cluster_job *job, slc_cluster_input *done)
{
    const slc_cluster_time usual = {.value = 100e-9}, late = {.value = 1e-3};
    const slc_cluster_time *window = &job->window, *disorder = &job->disorder;
    const slc_io_pixels_info *about = &done->about;
    done->choice = (slc_flow_pixel_choice){.time_window = -1, .disorder = -1};
    if (window->given && (about->with & SLC_PIXEL_TIME) == 0) {
        return complain(job, done, "its pixels have no times, and --time-window needs them");
    }
    if (window->given || done->is_stream) {
        done->choice.time_window = in_ticks(job, done, "time-window", window->given ? window : &usual);
        if (done->choice.time_window < 0) {
            return false;
        }
    }
    if (done->is_stream && !job->sorted && (disorder->given || strcmp(about->format, "tpx3") == 0)) {
        done->choice.disorder = in_ticks(job, done, "disorder", disorder->given ? disorder : &late);
        return done->choice.disorder >= 0;
    }
    return true;
}

/* What this input is, and what was asked for of it, must go together. */
static bool suits(slc_cluster_job *job, const slc_cluster_input *done)
{
    const char *reason = NULL;
    const uint32_t other = done->about.with ^ job->with;
    const bool has_z = (done->about.with & SLC_PIXEL_Z) != 0;
    const bool has_time = (done->about.with & SLC_PIXEL_TIME) != 0;
    if (done->is_stream && has_z) {
        reason = "its pixels are a stream, which cannot have a z: a column 'frame' makes frames of them";
    } else if ((other & SLC_PIXEL_Z) != 0) {
        reason = "its pixels must have a z if those of the first input have one, and none otherwise";
    } else if (has_z && job->options->features != SLC_PIXEL_FEATURES_ALL &&
               (job->options->features & (SLC_PIXEL_SQUARED | SLC_PIXEL_SHAPE | SLC_PIXEL_KIND)) != 0) {
        reason = "its pixels have a z, and the features squared, shape and kind are of flat lists";
    } else if (job->times_asked && !has_time) {
        reason = "its pixels have no times, and --features times needs them";
    } else if (job->has_times && (other & SLC_PIXEL_TIME) != 0) {
        reason =
            "its pixels must have times if those of the first input have some, and none otherwise, unless "
            "--features leaves times out";
    } else if (job->unit_seconds > 0 && has_time && !(done->about.tick_seconds > 0)) {
        reason = "the file does not tell how long a tick is, which --time-unit needs: give --tick";
    } else if (job->has_times && has_time && !(job->unit_seconds > 0) && job->options->output != NULL &&
               done->about.tick_seconds != job->tick_seconds) {
        reason =
            done->about.tick_seconds > 0 && job->tick_seconds > 0
                ? "its ticks must be as long as those of the first input: --time-unit and .csv, or "
                  "--features without times"
                : "its ticks must be as long as those of the first input, and one of the two does not tell: "
                  "a unit in the name of its column, as in 'time [ns]', with --time-unit and .csv, or "
                  "--features without times";
    }
    reason = reason != NULL ? reason : slc_cluster_nexus_reason(job, done);
    reason = reason != NULL ? reason : slc_cluster_chips_reason(job, done);
    reason = reason != NULL ? reason : slc_cluster_labels_reason(job, done);
    if (reason != NULL) {
        return complain(job, done, "%s", reason);
    }
    return true;
}

slc_status slc_cluster_choose(void *context, const slc_io_pixels_info *about, slc_flow_pixel_choice *choice,
                              slc_error *error)
{
    slc_cluster_job *job = context;
    slc_cluster_input *done = &job->done[job->n_begun++];
    done->read = true;
    done->about = *about;
    done->is_stream = !about->frames && (about->with & SLC_PIXEL_TIME) != 0;
    if (!slc_cluster_job_begin(job, about) || !suits(job, done) || !choose_times(job, done)) {
        job->told = true;
        return slc_fail(error, SLC_ERR_USAGE, "told");
    }
    if (job->is_live && done->is_stream && done->choice.disorder < 0) {
        slc_cli_say(
            "cluster",
            "%s: without --disorder pixels of a %s stream wait for its end to be sorted, and nothing is "
            "written before: --disorder 200ms, say, writes as they come",
            path_of(job, done), about->format);
    }
    *choice = done->choice;
    return SLC_OK;
}

/* ---- its end ------------------------------------------------------------------------------------ */

/* A file of nothing but damage is not what it was taken for. */
static bool has_pixels(slc_cluster_job *job, const slc_cluster_input *done)
{
    const slc_io_pixels_counts *counts = &done->counts;
    if (counts->damaged == 0 ||
        counts->pixels + counts->heartbeats + counts->tdc + counts->other + counts->untimed > 0) {
        return true;
    }
    return complain(job, done,
                    "no pixel could be read, and %" PRIu64 " were damaged; the first at byte %" PRIu64 ": %s",
                    counts->damaged, counts->damaged_offset, counts->damaged_reason);
}

/* An input without a pixel to cluster is an error, but other inputs count. A stream from standard input may
 * be live: that nothing came before its end or a signal is told, and is no error. */
static void tell_nothing(slc_cluster_job *job, const slc_cluster_input *done)
{
    const char *path = path_of(job, done);
    const bool live = job->is_live || done->cut ||
                      (done->is_stream && done->choice.disorder >= 0 && strcmp(path, "-") == 0);
    if (done->counts.pixels == 0) {
        const uint64_t left_out = done->counts.other_chips + done->counts.masked + done->counts.untimed;
        slc_cli_say("cluster", "%s: %s", path,
                    left_out > 0 ? "no pixel is left to cluster" : "there are no pixels in it");
    } else if (done->totals.outside == done->counts.pixels) {
        slc_cli_say("cluster",
                    "%s: all of its %" PRIu64 " pixels are outside of the sensor: is --size right?", path,
                    done->totals.outside);
    } else if (slc_cluster_tables_miss(job, done)) {
        slc_cli_say("cluster",
                    "%s: no pixel has a calibration or an energy by it: is --calibration of other chips?",
                    path);
    } else {
        /* What is left out for want of a trigger is told with the other notes. */
        job->failed = job->failed || (!live && job->setup.accepting && done->totals.triggers == 0);
        job->useful = true;
        return;
    }
    job->useful = job->useful || live;
    job->failed = job->failed || !live;
}

/* What was read in pieces is as good as all of a shorter stream; a part of a list is not. */
static bool take_last(slc_cluster_job *job, slc_cluster_input *done)
{
    char *const path = job->inputs[done - job->done];
    if (slc_cli_interrupted() && (!job->is_live || slc_cli_broken())) {
        done->cut = done->is_stream && done->choice.disorder >= 0;
        if (slc_cli_broken() || (!done->cut && slc_cli_reads_once(&path, 1))) {
            return false;
        }
    }
    done->whole = !done->cut;
    if (!has_pixels(job, done)) {
        return false;
    }
    tell_nothing(job, done);
    return true;
}

static bool take(slc_cluster_job *job, const slc_flow_item *item)
{
    const slc_flow_pixel_result *result = item->result;
    slc_cluster_input *done = &job->done[item->input];
    job->pixels += result->counts.pixels - done->counts.pixels;
    slc_cli_progress_show(&job->progress, job->pixels, 0);
    if (item->status != SLC_OK) {
        return complain(job, done, "%s", item->error.text);
    }
    done->counts = result->counts;
    done->totals = result->totals;
    slc_live_flow_add(job->page.flow, item);
    if (job->labels != NULL &&
        (slc_cluster_labels_write(job, item, time_factor(job, &result->about)) != SLC_OK ||
         slc_cluster_labels_flush(job) != SLC_OK)) {
        slc_cli_say("cluster", "%s", job->error.text);
        return false;
    }
    if ((result->clusters.head.size > 0 || result->clusters.head.n_events > 0) && !write_rows(job, item)) {
        return false;
    }
    return !result->last || take_last(job, done);
}

/* Ended before its last piece, it could not be read, or a signal came: then frames until there are kept, and
 * inputs before it. */
static bool take_end(slc_cluster_job *job, const slc_flow_item *item)
{
    slc_cluster_input *done = &job->done[item->input];
    const bool opened = job->n_begun > (int)item->input, interrupted = slc_cli_interrupted();
    if (item->status < 0 && !job->told && (opened || !interrupted)) {
        slc_cli_say("cluster", "%s", item->error.text);
    }
    if (!interrupted || slc_cli_broken() || (item->status < 0 && opened)) {
        return item->status >= 0 && !interrupted;
    }
    if (opened && !done->whole) {
        done->cut = true;
        job->useful = job->useful || done->totals.frames > 0;
    }
    return job->useful;
}

/* Nothing comes: what was written before goes to the disk when it is time. */
static bool wait_more(slc_cluster_job *job)
{
    if (job->text != NULL && job->written > 0) {
        flush_text(job);
    }
    slc_status status = slc_cluster_labels_flush(job);
    if (status == SLC_OK && job->results != NULL && job->appended) {
        status = slc_cli_results_flush(job->results, &job->options->results, job->reads_once, &job->error);
    }
    if (status == SLC_OK) {
        return true;
    }
    slc_cli_say("cluster", "%s", job->error.text);
    return false;
}

bool slc_cluster_job_run(slc_cluster_job *job)
{
    slc_flow_item *item = NULL;
    slc_status status;
    bool ended = false; /* a signal came, and what was read is good */
    while (!ended && (status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        slc_cli_page_tick(&job->page, job->flow, item != NULL ? item->path : NULL, NULL);
        if (item == NULL) {
            if (job->is_live && !wait_more(job)) {
                return false;
            }
            continue;
        }
        if (!(item->ended ? take_end(job, item) : take(job, item))) {
            return false;
        }
        ended = slc_cli_interrupted() && (item->ended || ((const slc_flow_pixel_result *)item->result)->last);
        slc_flow_release(job->flow, item);
    }
    if (!ended && status != SLC_END) {
        slc_cli_say("cluster", "%s", job->error.text);
    }
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    job->checksum = totals.checksum;
    return ended || status == SLC_END;
}
