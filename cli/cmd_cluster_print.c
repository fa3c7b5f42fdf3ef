/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster`, what it tells: notes of what was left out and what an option could not do, the table,
 * JSON.
 */
#include "cli_tree.h"
#include "cmd_cluster.h"

#include <inttypes.h>
#include <math.h>

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
        note_useless(job, i, slc_cluster_given("duplicates"), "--duplicates",
                     "for a stream: every hit counts");
        note_useless(job, i, slc_cluster_given("algorithm"), "--algorithm", "for a stream");
    } else {
        note_useless(job, i, options->disorder != NULL, "--disorder", "for frames and images");
        note_useless(job, i, options->max_open != SLC_CLUSTER_MAX_OPEN, "--max-open",
                     "for frames and images");
        note_useless(job, i, slc_cluster_given("time-unit") && (done->about.with & SLC_PIXEL_TIME) == 0,
                     "--time-unit", "for pixels without times");
        note_useless(job, i, slc_cluster_given("duplicates") && done->choice.time_window >= 0, "--duplicates",
                     "with --time-window: every entry counts");
    }
}

static void note_shots(const slc_cluster_job *job, int i)
{
    const slc_flow_pixel_totals *totals = &job->done[i].totals;
    const slc_io_pixels_counts *counts = &job->done[i].counts;
    if (totals->triggers == 0) {
        slc_cli_say("cluster",
                    "%s: no trigger %s came; there are %" PRIu64 " tdc1-rise, %" PRIu64 " tdc1-fall, %" PRIu64
                    " tdc2-rise, %" PRIu64 " tdc2-fall",
                    job->inputs[i], slc_cluster_triggers[job->options->trigger], counts->edges[0],
                    counts->edges[1], counts->edges[2], counts->edges[3]);
    }
    note(job, i, totals->lost_triggers, "triggers were lost, as their counter tells");
    note(job, i, totals->repeated, "triggers came again in the stream of another chip, and count once");
    note(job, i, totals->unordered,
         "triggers came after later ones; those whose hits had gone were left out");
    if (totals->before > 0) {
        slc_cli_say("cluster",
                    "%s: %" PRIu64 " clusters with %" PRIu64 " pixels came before the first trigger%s",
                    job->inputs[i], totals->before, totals->pixels_before,
                    job->setup.accepting ? " and were left out" : ": their shot is -1");
    }
    note(job, i, job->options->accept != NULL ? totals->not_accepted : 0,
         "clusters were left out by --accept");
}

/* Columns whose names are not known, and what is made of pixels without what such columns may have had. */
static void note_unread(const slc_cluster_job *job, int i)
{
    const slc_cluster_input *done = &job->done[i];
    const slc_io_pixels_counts *counts = &done->counts;
    const uint32_t with = done->about.with;
    if (counts->unread == 0) {
        return;
    }
    const bool image = (with & SLC_PIXEL_TIME) == 0 && !done->about.frames;
    slc_cli_say("cluster", "%s: %" PRIu64 " column%s not read: %s%s%s", job->inputs[i], counts->unread,
                counts->unread == 1 ? " is" : "s are", counts->unread_names,
                image ? "; there are no times and no frames, all pixels are one image" : "",
                (with & SLC_PIXEL_CHARGE) == 0 ? "; there are no charges, the mass is the size" : "");
}

/* What text leaves open. */
static void note_text(const slc_cluster_job *job, int i)
{
    const slc_io_pixels_counts *counts = &job->done[i].counts;
    if (counts->unended > 0) {
        slc_cli_say("cluster", "%s: the last line has no end: its last number may lack digits",
                    job->inputs[i]);
    }
    if (counts->assumed_lines > 0) {
        slc_cli_say("cluster",
                    "%s: nothing ends a frame: each is taken to have %" PRIu64 " lines, as many as columns; "
                    "--size says others",
                    job->inputs[i], counts->assumed_lines);
    }
    note(job, i, counts->absent_columns,
         "columns of the first line are not in the rows: taken as missing are the row's number, if it is "
         "named, "
         "and the last ones");
    if (counts->assumed_width > 0) {
        slc_cli_say("cluster",
                    "%s: nothing tells how wide the sensor is: %" PRIu64
                    " columns are taken, as there are indices of more than a chip; --size says others",
                    job->inputs[i], counts->assumed_width);
    }
}

void slc_cluster_print_notes(const slc_cluster_job *job)
{
    for (int i = job->first; i < job->end; i++) {
        const slc_cluster_input *done = &job->done[i];
        if (!done->read) {
            slc_cli_say("cluster", "%s: not read, as a signal came before", job->inputs[i]);
            continue;
        }
        note_unread(job, i);
        if (done->counts.damaged > 0) {
            slc_cli_say("cluster", "%s: %" PRIu64 " damaged, left out; the first at byte %" PRIu64 ": %s",
                        job->inputs[i], done->counts.damaged, done->counts.damaged_offset,
                        done->counts.damaged_reason);
        }
        note_text(job, i);
        note(job, i, done->counts.skipped, "bytes were passed over where a chunk should begin");
        note(job, i, done->counts.untimed,
             "pixels have no time of arrival, as the chip counted events (packets 0xa), and were left out");
        note(job, i, done->counts.empty, "pixels have no charge; it is taken as 0");
        note(job, i, done->counts.rounded, "times have fractions that are no whole ticks, and were rounded");
        note(job, i, done->totals.outside, "pixels outside of the sensor were left out");
        note(job, i, done->totals.stream.late,
             done->totals.stream.early > 0
                 ? "pixels came too late to be put in order and were left out; a larger "
                   "--max-open or --disorder keeps them"
                 : "pixels came too late to be put in order and were left out; a larger "
                   "--disorder keeps them");
        note(job, i, done->totals.stream.outliers,
             "pixels had times far from those of the others and were left out; a larger --disorder keeps "
             "them");
        note(job, i, done->totals.stream.resets,
             "resets of the clock; no cluster reaches across one (chips that lie far apart in a file look "
             "like "
             "that: --disorder all)");
        note(job, i, done->totals.stream.early,
             "clusters were closed early, as more pixels were waiting than --max-open allows");
        note(job, i, done->counts.other_chips,
             job->setup.layout != NULL
                 ? "pixels are of chips that --layout or --chip does not have, and were left out"
                 : "pixels are of other chips than --chip, and were left out");
        slc_cluster_live_notes(job, i);
        slc_cluster_tables_notes(job, i);
        note(job, i, done->totals.filtered, "clusters were left out by --filter");
        note(job, i, done->counts.no_edges,
             "TDC packets are of no known edge or have an invalid time, and were left out");
        if (job->setup.trigger != SLC_IO_PIXELS_NO_EDGE) {
            note_shots(job, i);
        }
        if (!job->options->quiet) {
            note_options(job, i);
        }
    }
    slc_cluster_mask_note(job);
}

/* ---- the table and JSON -------------------------------------------------------------------------- */

#define DONE(member) FIELD(slc_cluster_input, member)
static const slc_cli_field before[] = {
    {"stream", DONE(is_stream)},         {"frames", DONE(totals.frames)},
    {"pixels", DONE(counts.pixels)},     {"clustered", DONE(totals.clustered)},
    {"clusters", DONE(totals.clusters)},
};
static const slc_cli_field behind[] = {
    {"bytes", DONE(counts.bytes)},
    {"damaged", DONE(counts.damaged)},
    {"skipped", DONE(counts.skipped)},
    {"empty", DONE(counts.empty)},
    {"rounded", DONE(counts.rounded)},
    {"unread", DONE(counts.unread)},
    {"unended", DONE(counts.unended)},
    {"chunks", DONE(counts.chunks)},
    {"heartbeats", DONE(counts.heartbeats)},
    {"tdc", DONE(counts.tdc)},
    {"other", DONE(counts.other)},
    {"untimed", DONE(counts.untimed)},
    {"outside", DONE(totals.outside)},
    {"late", DONE(totals.stream.late)},
    {"outliers", DONE(totals.stream.outliers)},
    {"resets", DONE(totals.stream.resets)},
    {"closed_early", DONE(totals.stream.early)},
    {"filtered", DONE(totals.filtered)},
    {"other_chips", DONE(counts.other_chips)},
    {"masked", DONE(counts.masked)},
    {"uncalibrated", DONE(counts.uncalibrated)},
    {"uncorrected", DONE(counts.uncorrected)},
    {"tdc1_rise", DONE(counts.edges[0])},
    {"tdc1_fall", DONE(counts.edges[1])},
    {"tdc2_rise", DONE(counts.edges[2])},
    {"tdc2_fall", DONE(counts.edges[3])},
    {"tdc_invalid", DONE(counts.no_edges)},
    {"cut", DONE(cut)},
    {"connections", DONE(counts.connections)},
    {"datagrams", DONE(counts.datagrams)},
    {"broken_bytes", DONE(counts.broken_bytes)},
    {"dropped", DONE(counts.dropped)},
    {"seconds", DONE(totals.seconds)},
};
static const slc_cli_field of_trigger[] = {
    {"triggers", DONE(totals.triggers)},
    {"triggers_lost", DONE(totals.lost_triggers)},
    {"triggers_repeated", DONE(totals.repeated)},
    {"triggers_unordered", DONE(totals.unordered)},
    {"clusters_before", DONE(totals.before)},
    {"pixels_before", DONE(totals.pixels_before)},
    {"clusters_not_accepted", DONE(totals.not_accepted)},
};
static const slc_cli_column columns[] = {
    {"input", 0, "{input}", NULL},        {"format", 6, "{format}", NULL},
    {"frames", 9, "{frames}", NULL},      {"pixels", 12, "{clustered}", NULL},
    {"clusters", 12, "{clusters}", NULL}, {"pix/cluster", 12, "{clustered/clusters|.3f}", NULL},
    {"time [ms]", 10, "{.ms|.3f}", NULL},
};

static const slc_cli_line checksum_line = {"checksum", "{checksum}", NULL};

/* Null if it is negative: there are none. */
static void put_ticks(slc_cli_tree *row, const char *path, int64_t value)
{
    if (value >= 0) {
        slc_cli_put(row, path, value);
    } else {
        slc_cli_put_null(row, path);
    }
}

static void put_input(slc_cli_tree *tree, const slc_cluster_job *job, int i)
{
    const slc_cluster_input *done = &job->done[i];
    const double tick = done->about.tick_seconds;
    slc_cli_tree row = slc_cli_append(tree, "inputs");
    slc_cli_put(&row, "input", job->inputs[i]);
    slc_cli_put(&row, "format", done->about.format);
    slc_cli_put_fields(&row, "", before, sizeof before / sizeof *before, done);
    slc_cli_put_real(&row, "tick_seconds", tick > 0 ? tick : (double)NAN);
    put_ticks(&row, "time_window_ticks", done->choice.time_window);
    put_ticks(&row, "disorder_ticks", done->choice.disorder);
    slc_cli_put_fields(&row, "", behind, sizeof behind / sizeof *behind, done);
    if (job->setup.trigger != SLC_IO_PIXELS_NO_EDGE) {
        slc_cli_put_fields(&row, "", of_trigger, sizeof of_trigger / sizeof *of_trigger, done);
    }
    slc_cli_put(&row, ".ms", 1e3 * done->totals.seconds);
}

bool slc_cluster_print(const slc_cluster_job *job)
{
    if (job->options->quiet && !job->options->json) {
        return true;
    }
    slc_cli_tree tree = slc_cli_tree_new("cluster");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "partial", job->partial);
    slc_cli_put(&tree, "connectivity", job->config.connectivity);
    slc_cli_put(&tree, "radius", job->config.radius);
    slc_cli_put_hex(&tree, "checksum", job->checksum);
    slc_cli_put_array(&tree, "inputs");
    for (int i = job->first; i < job->end && job->done[i].read; i++) {
        put_input(&tree, job, i);
    }
    if (job->has_mask_written) {
        slc_cli_put(&tree, "hot.file", job->options->write_mask);
        slc_cli_put(&tree, "hot.pixels", job->hot.pixels);
        slc_cli_put(&tree, "hot.hits", job->hot.hits);
        slc_cli_put(&tree, "hot.judged", job->hot.judged);
        slc_cli_put(&tree, "hot.masked", job->hot.masked);
    }
    if (job->options->json) {
        return slc_cli_tree_print_json(&tree);
    }
    slc_cli_print_table(&tree, "inputs", " ", columns, sizeof columns / sizeof *columns);
    slc_cli_print_lines(&tree, "", &checksum_line, 1);
    slc_cli_tree_clear(&tree);
    return true;
}
