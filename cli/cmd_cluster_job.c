/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster`, an input at a time: opened, its lengths of time in its own ticks, its clusters written.
 */
#include "cli_rows.h"
#include "cmd_cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool slc_cluster_complain(slc_cluster_reading *r)
{
    slc_cli_say("cluster", "%s: %s", r->job->inputs[r->input - 1], r->job->error.text);
    return false;
}

/* Readers name the file themselves. */
bool slc_cluster_complain_file(slc_cluster_reading *r)
{
    slc_cli_say("cluster", "%s", r->job->error.text);
    return false;
}

bool slc_cluster_no_memory(slc_cluster_reading *r, const char *what)
{
    (void)slc_fail(&r->job->error, SLC_ERR_MEMORY, "no memory for %s", what);
    return slc_cluster_complain(r);
}

bool slc_cluster_reserve_pixels(slc_cluster_reading *r, size_t pixels, size_t frames)
{
    return slc_columns_reserve(&r->schema, &r->pixels, pixels, (uint32_t)frames) == SLC_OK ||
           slc_cluster_no_memory(r, "the pixels");
}

bool slc_cluster_reserve_rows(slc_cluster_reading *r, size_t rows, size_t frames)
{
    return slc_columns_reserve(&r->job->schema, &r->job->rows, rows, (uint32_t)frames) == SLC_OK ||
           slc_cluster_no_memory(r, "the clusters");
}

bool slc_cluster_reserve_numbers(slc_cluster_reading *r, uint32_t **numbers, size_t *room, size_t n)
{
    if (n > *room) {
        uint32_t *more = realloc(*numbers, n * sizeof *more);
        if (more == NULL) {
            return slc_cluster_no_memory(r, "a number for each pixel");
        }
        *numbers = more;
        *room = n;
    }
    return true;
}

void slc_cluster_progress(slc_cluster_reading *r, size_t pixels)
{
    r->job->pixels += pixels;
    slc_cli_progress_show(&r->job->progress, r->job->pixels, 0);
}

/* ---- what is written --------------------------------------------------------------------------- */

/* To 15 digits, so that 25 ns / 16 is 1.5625 ns: the ticks of a file then have few digits in decimal, too. */
double slc_cluster_time_factor(const slc_cluster_reading *r)
{
    char digits[32];
    if (!(r->job->unit_seconds > 0)) {
        return 1;
    }
    (void)snprintf(digits, sizeof digits, "%.15g", r->done->about.tick_seconds / r->job->unit_seconds);
    return strtod(digits, NULL);
}

/* As slc_io_hdf5_flush does it. A write that fails is told when the file is completed. */
static void flush_text(slc_cluster_job *job)
{
    const double now = slc_clock_seconds();
    if (now - job->flushed >= SLC_CLI_FLUSH_SECONDS) {
        (void)fflush(slc_io_text_stream(job->text));
        job->flushed = now;
    }
}

bool slc_cluster_write_rows(slc_cluster_reading *r)
{
    slc_cluster_job *job = r->job;
    slc_cluster_rows *rows = &job->rows;
    const slc_columns *head = &rows->clusters.head;
    const double factor = slc_cluster_time_factor(r);
    uint32_t event = 0;
    for (size_t i = 0; i < head->size; i++) {
        while (event < head->n_events && head->event_offset[event + 1] <= i) {
            event++;
        }
        rows->input[i] = r->input;
        rows->frame[i] = r->frames != NULL ? r->frames[event] : 0;
        if (rows->first_time != NULL) {
            rows->first_time[i] = (double)rows->clusters.first_time[i] * factor;
            rows->last_time[i] = (double)rows->clusters.last_time[i] * factor;
        }
    }
    r->done->clusters += head->size;
    job->written += head->size;
    if (job->hdf5 != NULL) {
        job->appended = true; /* or the file will be given up */
        slc_status status = slc_io_hdf5_append(job->hdf5, "clusters", &job->schema, rows, &job->error);
        if (status == SLC_OK && job->reads_once) {
            status = slc_io_hdf5_flush(job->hdf5, SLC_CLI_FLUSH_SECONDS, &job->error);
        }
        return status == SLC_OK || slc_cluster_complain_file(r);
    }
    if (job->text != NULL && job->n_inputs > 1) {
        slc_cli_csv_named_rows(slc_io_text_stream(job->text), &job->text_schema, rows,
                               job->inputs[r->input - 1]);
    } else if (job->text != NULL) {
        slc_cli_csv_rows(slc_io_text_stream(job->text), &job->text_schema, rows);
    }
    if (job->text != NULL && job->reads_once && job->written > 0) {
        flush_text(job);
    }
    return true;
}

/* All pixels of the input, as one event. */
bool slc_cluster_read_all(slc_cluster_reading *r)
{
    slc_columns_reset(&r->pixels);
    for (slc_status status = SLC_OK; status != SLC_END && !slc_cli_interrupted();) {
        const size_t size = r->pixels.head.size;
        if (size + SLC_CLUSTER_PIECE > r->pixels.head.capacity &&
            !slc_cluster_reserve_pixels(r, 2 * size + SLC_CLUSTER_PIECE, 1)) {
            return false;
        }
        status = slc_io_pixels_read(r->file, &r->pixels, SLC_CLUSTER_PIECE, &r->job->error);
        if (status != SLC_OK && status != SLC_END) {
            return slc_cluster_complain_file(r);
        }
        slc_cluster_progress(r, r->pixels.head.size - size);
    }
    slc_columns_end_event(&r->pixels);
    return true;
}

/* ---- an input ---------------------------------------------------------------------------------- */

/* In whole ticks; negative after a complaint. */
static int64_t in_ticks(slc_cluster_reading *r, const char *option, const slc_cluster_time *time)
{
    const double tick = r->done->about.tick_seconds;
    if (!time->in_ticks && !(tick > 0)) {
        (void)slc_fail(
            &r->job->error, SLC_ERR_USAGE,
            "the file does not tell how long a tick is: give --%s in ticks, as in 64ticks, or --tick",
            option);
        (void)slc_cluster_complain(r);
        return -1;
    }
    const double ticks = time->in_ticks ? time->value : time->value / tick;
    return ticks < 0x1p61 ? (int64_t)floor(ticks + 1e-9) : INT64_C(1) << 61;
}

/* Where nothing is asked for and the file is a stream, 100 ns, the drift time of a usual sensor; and 1 ms
 * of disorder for what a chip sent, and any disorder for lists. */
static bool choose_times(slc_cluster_reading *r, bool stream)
{
    const slc_cluster_time usual = {.value = 100e-9}, late = {.value = 1e-3};
    const slc_cluster_time *window = &r->job->window, *disorder = &r->job->disorder;
    const slc_io_pixels_info *about = &r->done->about;
    r->done->window = r->done->disorder = -1;
    if (window->given && (about->with & SLC_PIXEL_TIME) == 0) {
        (void)slc_fail(&r->job->error, SLC_ERR_USAGE,
                       "its pixels have no times, and --time-window needs them");
        return slc_cluster_complain(r);
    }
    if (window->given || stream) {
        r->done->window = in_ticks(r, "time-window", window->given ? window : &usual);
        if (r->done->window < 0) {
            return false;
        }
    }
    if (stream && !r->job->sorted && (disorder->given || strcmp(about->format, "tpx3") == 0)) {
        r->done->disorder = in_ticks(r, "disorder", disorder->given ? disorder : &late);
        return r->done->disorder >= 0;
    }
    return true;
}

/* A file of nothing but damage is not what it was taken for. */
static bool has_pixels(slc_cluster_reading *r)
{
    const slc_io_pixels_counts *counts = &r->done->counts;
    if (counts->damaged == 0 ||
        counts->pixels + counts->heartbeats + counts->tdc + counts->other + counts->untimed > 0) {
        return true;
    }
    (void)slc_fail(&r->job->error, SLC_ERR_FORMAT,
                   "no pixel could be read, and %" PRIu64 " were damaged; the first at byte %" PRIu64 ": %s",
                   counts->damaged, counts->damaged_offset, counts->damaged_reason);
    return slc_cluster_complain(r);
}

/* An input without a pixel to cluster is an error, but other inputs count. A stream from standard input may
 * be live: that nothing came before its end or a signal is told, and is no error. */
static void tell_nothing(slc_cluster_reading *r)
{
    const slc_cluster_input *done = r->done;
    const char *path = r->job->inputs[r->input - 1];
    const bool live = done->cut || (done->is_stream && done->disorder >= 0 && strcmp(path, "-") == 0);
    if (done->counts.pixels == 0) {
        slc_cli_say("cluster", "%s: there are no pixels in it", path);
    } else if (done->outside == done->counts.pixels) {
        slc_cli_say("cluster",
                    "%s: all of its %" PRIu64 " pixels are outside of the sensor: is --size right?", path,
                    done->outside);
    } else {
        r->job->useful = true;
        return;
    }
    r->job->useful = r->job->useful || live;
    r->job->failed = r->job->failed || !live;
}

/* What this input is, and what was asked for of it, must go together. */
static bool suits(slc_cluster_reading *r)
{
    const char *reason = NULL;
    const slc_cluster_job *job = r->job;
    const uint32_t other = r->done->about.with ^ job->with;
    const bool has_z = (r->done->about.with & SLC_PIXEL_Z) != 0;
    const bool has_time = (r->done->about.with & SLC_PIXEL_TIME) != 0;
    if (r->done->is_stream && job->labels != NULL) {
        reason = "its pixels are a stream, and --labels is for frames and images";
    } else if (r->done->is_stream && has_z) {
        reason = "its pixels are a stream, which cannot have a z: a column 'frame' makes frames of them";
    } else if ((other & SLC_PIXEL_Z) != 0) {
        reason = "its pixels must have a z if those of the first input have one, and none otherwise";
    } else if (job->times_asked && !has_time) {
        reason = "its pixels have no times, and --features times needs them";
    } else if (job->has_times && (other & SLC_PIXEL_TIME) != 0) {
        reason =
            "its pixels must have times if those of the first input have some, and none otherwise, unless "
            "--features leaves times out";
    } else if (job->unit_seconds > 0 && has_time && !(r->done->about.tick_seconds > 0)) {
        reason = "the file does not tell how long a tick is, which --time-unit needs: give --tick";
    } else if (job->has_times && has_time && !(job->unit_seconds > 0) && job->options->output != NULL &&
               r->done->about.tick_seconds != job->tick_seconds) {
        reason =
            r->done->about.tick_seconds > 0 && job->tick_seconds > 0
                ? "its ticks must be as long as those of the first input: --time-unit and .csv, or "
                  "--features without times"
                : "its ticks must be as long as those of the first input, and one of the two does not tell: "
                  "a unit in the name of its column, as in 'time [ns]', with --time-unit and .csv, or "
                  "--features without times";
    }
    if (reason != NULL) {
        (void)slc_fail(&r->job->error, SLC_ERR_USAGE, "%s", reason);
        return slc_cluster_complain(r);
    }
    return true;
}

static bool read_input(slc_cluster_reading *r)
{
    slc_cluster_input *done = r->done;
    if (!slc_cluster_job_begin(r->job, &done->about) || !suits(r)) {
        return false;
    }
    bool good = choose_times(r, done->is_stream) &&
                (done->is_stream ? slc_cluster_stream(r) : slc_cluster_images(r));
    done->counts = slc_io_pixels_count(r->file);
    if (good && slc_cli_interrupted()) {
        /* What was read in pieces is as good as all of a shorter stream; a part of a list is not. */
        done->cut = done->is_stream && done->disorder >= 0;
        good = done->cut;
    }
    good = good && has_pixels(r);
    if (good) {
        tell_nothing(r);
    }
    return good;
}

bool slc_cluster_job_input(slc_cluster_job *job, int input)
{
    slc_cluster_reading r = {.job = job, .done = &job->done[input], .input = (uint32_t)input + 1};
    slc_io_pixels_options known = {.tick_seconds = job->tick.value};
    if (job->sized) {
        known.width = job->config.width > 0 ? job->config.width : UINT16_MAX + 1;
        known.height = job->config.height > 0 ? job->config.height : UINT16_MAX + 1;
    }
    if (slc_io_pixels_open(job->inputs[input], &known, &r.file, &job->error) != SLC_OK) {
        return !slc_cli_interrupted() && slc_cluster_complain_file(&r);
    }
    r.done->read = true;
    r.done->about = slc_io_pixels_about(r.file);
    r.done->is_stream = !r.done->about.frames && (r.done->about.with & SLC_PIXEL_TIME) != 0;
    r.schema = slc_pixels_schema(r.done->about.with, r.columns);
    const bool good = read_input(&r);
    free(r.origin);
    free(r.label);
    slc_columns_clear(&r.schema, &r.pixels);
    slc_io_pixels_close(r.file);
    return good;
}
