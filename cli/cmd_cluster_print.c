/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster`, what it tells: notes of what was left out and what an option could not do, the table,
 * JSON.
 */
#include "cmd_cluster.h"

#include <inttypes.h>
#include <string.h>

/* ---- notes --------------------------------------------------------------------------------------- */

static void note(const slc_cluster_job *job, int i, uint64_t n, const char *what)
{
    if (n > 0) {
        slc_cli_say("cluster", "%s: %" PRIu64 " %s", job->inputs[i], n, what);
    }
}

static void note_useless(const slc_cluster_job *job, int i, bool given, const char *option, const char *why)
{
    if (given) {
        slc_cli_say("cluster", "%s: %s means nothing %s", job->inputs[i], option, why);
    }
}

/* What was asked for and has no effect on this input. */
static void note_options(const slc_cluster_job *job, int i)
{
    const slc_cluster_options *options = job->options;
    const slc_cluster_input *done = &job->done[i];
    if (done->is_stream) {
        note_useless(job, i, options->duplicates != NULL, "--duplicates", "for a stream: every hit counts");
        note_useless(job, i, options->algorithm != NULL, "--algorithm", "for a stream");
        note_useless(job, i, options->threads != 1, "--threads", "for a stream");
    } else {
        note_useless(job, i, options->disorder != NULL, "--disorder", "for frames and images");
        note_useless(job, i, options->max_open != SLC_CLUSTER_MAX_OPEN, "--max-open",
                     "for frames and images");
        note_useless(job, i, options->time_unit != NULL && (done->about.with & SLC_PIXEL_TIME) == 0,
                     "--time-unit", "for pixels without times");
        note_useless(job, i, options->duplicates != NULL && done->window >= 0, "--duplicates",
                     "with --time-window: every entry counts");
    }
}

void slc_cluster_print_notes(const slc_cluster_job *job)
{
    for (int i = 0; i < job->n_inputs; i++) {
        const slc_cluster_input *done = &job->done[i];
        if (!done->read) {
            slc_cli_say("cluster", "%s: not read, as a signal came before", job->inputs[i]);
            continue;
        }
        if (done->counts.damaged > 0) {
            slc_cli_say("cluster", "%s: %" PRIu64 " damaged, left out; the first at byte %" PRIu64 ": %s",
                        job->inputs[i], done->counts.damaged, done->counts.damaged_offset,
                        done->counts.damaged_reason);
        }
        note(job, i, done->counts.skipped, "bytes were passed over where a chunk should begin");
        note(job, i, done->counts.untimed,
             "pixels have no time of arrival, as the chip counted events (packets 0xa), and were left out");
        note(job, i, done->counts.empty, "pixels have no charge; it is taken as 0");
        note(job, i, done->outside, "pixels outside of the sensor were left out");
        note(job, i, done->stream.late,
             done->stream.early > 0 ? "pixels came too late to be put in order and were left out; a larger "
                                      "--max-open or --disorder keeps them"
                                    : "pixels came too late to be put in order and were left out; a larger "
                                      "--disorder keeps them");
        note(job, i, done->stream.outliers,
             "pixels had times far from those of the others and were left out; a larger --disorder keeps "
             "them");
        note(job, i, done->stream.resets,
             "resets of the clock; no cluster reaches across one (chips that lie far apart in a file look "
             "like "
             "that: --disorder all)");
        note(job, i, done->stream.early,
             "clusters were closed early, as more pixels were waiting than --max-open allows");
        if (!job->options->quiet) {
            note_options(job, i);
        }
        if (done->cut) {
            slc_cli_say("cluster", "%s: a signal ended the reading; the clusters until then are %s",
                        job->inputs[i], job->options->output != NULL ? "written" : "counted");
        }
    }
}

/* ---- the table ----------------------------------------------------------------------------------- */

void slc_cluster_print_table(const slc_cluster_job *job)
{
    int wide = 5;
    for (int i = 0; i < job->n_inputs; i++) {
        const int length = (int)strnlen(job->inputs[i], 60);
        wide = length > wide ? length : wide;
    }
    (void)printf("%-*s %6s %9s %12s %12s %12s %10s\n", wide, "input", "format", "frames", "pixels",
                 "clusters", "pix/cluster", "time [ms]");
    for (int i = 0; i < job->n_inputs && job->done[i].read; i++) {
        const slc_cluster_input *done = &job->done[i];
        (void)printf("%-*s %6s %9" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12.3f %10.3f\n", wide,
                     job->inputs[i], done->about.format, done->frames, done->clustered, done->clusters,
                     done->clusters > 0 ? (double)done->clustered / (double)done->clusters : 0.0,
                     1e3 * done->seconds);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

/* Sets a member; the object is NULL after a failure, and stays so. */
static json_t *with(json_t *object, const char *name, json_t *value)
{
    if (object == NULL || json_object_set_new(object, name, value) != 0) {
        json_decref(object == NULL ? value : object);
        return NULL;
    }
    return object;
}

static json_t *with_count(json_t *object, const char *name, uint64_t value)
{
    return with(object, name, json_integer((json_int_t)value));
}

static json_t *ticks(int64_t value)
{
    return value >= 0 ? json_integer(value) : json_null();
}

static json_t *input_object(const slc_cluster_job *job, int i)
{
    const slc_cluster_input *done = &job->done[i];
    json_t *o = json_pack("{s:o, s:s, s:b}", "input", slc_cli_json_text(job->inputs[i]), "format",
                          done->about.format, "stream", (int)done->is_stream);
    o = with_count(o, "frames", done->frames);
    o = with_count(o, "pixels", done->counts.pixels);
    o = with_count(o, "clustered", done->clustered);
    o = with_count(o, "clusters", done->clusters);
    o = with(o, "tick_seconds",
             done->about.tick_seconds > 0 ? json_real(done->about.tick_seconds) : json_null());
    o = with(o, "time_window_ticks", ticks(done->window));
    o = with(o, "disorder_ticks", ticks(done->disorder));
    o = with_count(o, "bytes", done->counts.bytes);
    o = with_count(o, "damaged", done->counts.damaged);
    o = with_count(o, "skipped", done->counts.skipped);
    o = with_count(o, "empty", done->counts.empty);
    o = with_count(o, "chunks", done->counts.chunks);
    o = with_count(o, "heartbeats", done->counts.heartbeats);
    o = with_count(o, "tdc", done->counts.tdc);
    o = with_count(o, "other", done->counts.other);
    o = with_count(o, "untimed", done->counts.untimed);
    o = with_count(o, "outside", done->outside);
    o = with_count(o, "late", done->stream.late);
    o = with_count(o, "outliers", done->stream.outliers);
    o = with_count(o, "resets", done->stream.resets);
    o = with_count(o, "closed_early", done->stream.early);
    o = with(o, "cut", json_boolean(done->cut));
    return with(o, "seconds", json_real(done->seconds));
}

bool slc_cluster_print_json(const slc_cluster_job *job)
{
    json_t *inputs = json_array();
    int wrong = inputs == NULL;
    for (int i = 0; i < job->n_inputs && wrong == 0 && job->done[i].read; i++) {
        wrong = json_array_append_new(inputs, input_object(job, i));
    }
    if (wrong != 0) {
        json_decref(inputs);
        slc_cli_say("cluster", "no memory for the JSON output");
        return false;
    }
    return slc_cli_print_json("cluster",
                              json_pack("{s:s, s:I, s:I, s:o}", "version", slc_version(), "connectivity",
                                        (json_int_t)job->config.connectivity, "radius",
                                        (json_int_t)job->config.radius, "inputs", inputs));
}
