/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --nexus`: clusters as events of NeXus's NXevent_data, and triggers as its pulses. Without a
 * trigger there is one pulse, at the zero of the clock.
 */
#include "cli_words.h"
#include "cmd_cluster.h"

#include <math.h>

enum { NEXUS_FORM = 6 /* behind those of --form */, CHIP = 256 };

int slc_cluster_choose_nexus(slc_cluster_job *job, const slc_cli_command *command)
{
    slc_cluster_options *options = job->options;
    slc_cli_results *results = &options->results;
    const uint32_t needs = SLC_PIXEL_CENTROID | SLC_PIXEL_TIMES;
    if (!options->nexus) {
        return SLC_CLI_GO_ON;
    }
    const bool is_hdf5 = options->output != NULL &&
                         (results->form == 1 ||
                          (results->form == 0 && (slc_cli_ends_with(options->output, ".h5") ||
                                                  slc_cli_ends_with(options->output, ".hdf5"))));
    if (!is_hdf5) {
        return slc_cli_wrong(command, "--nexus is of --output FILE.h5");
    }
    if (job->n_inputs > 1) {
        return slc_cli_wrong(command, "--nexus takes one input, as its pulses are of one clock");
    }
    if (options->part.n > 0 || results->rotate_bytes > 0 || results->rotate_ns > 0) {
        return slc_cli_wrong(command, "--nexus does not go with --part, --rotate-size and --rotate-time: its "
                                      "indices are of one file");
    }
    if (results->columns != NULL) {
        return slc_cli_wrong(command, "--nexus needs columns that --columns may leave out");
    }
    if ((options->features & needs) != needs) {
        return slc_cli_wrong(command, "--nexus needs the features centroid and times, of which --features "
                                      "leaves one out");
    }
    if (options->trigger != 0 && !job->setup.accepting) { /* what is of no pulse has no place */
        job->setup.accepting = true;
        job->setup.accept_begin = (double)-INFINITY;
        job->setup.accept_end = (double)INFINITY;
    }
    results->form = NEXUS_FORM;
    return SLC_CLI_GO_ON;
}

const char *slc_cluster_nexus_reason(const slc_cluster_job *job, const slc_cluster_input *done)
{
    return !job->options->nexus ? NULL
           : !done->is_stream   ? "--nexus is for a stream of pixels with times"
           : done->about.tick_seconds > 0
               ? NULL
               : "the file does not tell how long a tick is, which --nexus needs: give --tick";
}

/* ---- columns ------------------------------------------------------------------------------------- */

void slc_cluster_nexus_columns(slc_cluster_job *job)
{
    static const slc_column of_events[] = {
        {"event_id", "1", offsetof(slc_cluster_rows, event_id), SLC_TYPE_U32},
        {"event_time_offset", "ns", offsetof(slc_cluster_rows, event_time_offset), SLC_TYPE_F64}};
    if (!job->options->nexus) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        job->columns[job->schema.n_columns++] = of_events[i];
        job->place_columns[job->place.n_columns++] = of_events[i];
    }
    if (job->shot_schema.n_columns == 0) {
        job->shot_schema = (slc_schema){"pulses", job->shot_columns, 0};
    }
    job->shot_columns[job->shot_schema.n_columns++] = (slc_column){
        "event_time_zero", "ns", offsetof(slc_cluster_shots, event_time_zero), SLC_TYPE_F64};
    job->shot_columns[job->shot_schema.n_columns++] = (slc_column){
        "event_index", "index", offsetof(slc_cluster_shots, event_index), SLC_TYPE_U64};
}

/* Of the pixel nearest to the centroid: y * width + x; of chips that lie side by side (and whose number the
 * file does not tell), chip by chip. */
static uint32_t id_of(const slc_pixel_clusters *clusters, size_t i, uint32_t width)
{
    const uint32_t x = (uint32_t)floor(clusters->centroid_x[i] + 0.5),
                   y = (uint32_t)floor(clusters->centroid_y[i] + 0.5);
    return width > 0 ? y * width + x : x / CHIP * (CHIP * CHIP) + y * CHIP + x % CHIP;
}

void slc_cluster_nexus_rows(const slc_cluster_job *job, const slc_flow_pixel_result *result,
                            const slc_cluster_rows *rows)
{
    const slc_pixel_clusters *clusters = &result->clusters;
    if (!job->options->nexus) {
        return;
    }
    for (size_t i = 0; i < clusters->head.size; i++) {
        rows->event_id[i] = id_of(clusters, i, result->about.width);
        rows->event_time_offset[i] = result->since_trigger_ns != NULL
                                         ? result->since_trigger_ns[i]
                                         : (double)clusters->first_time[i] * result->about.tick_seconds * 1e9;
    }
}

void slc_cluster_nexus_pulses(slc_cluster_job *job, size_t n)
{
    slc_cluster_shots *to = &job->shot_rows;
    if (!job->options->nexus) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        to->event_time_zero[i] = job->options->trigger != 0 ? (double)to->shots.trigger_time[i] * (25.0 / 96)
                                                            : 0;
        to->event_index[i] = job->options->trigger != 0 ? to->shots.first[i] : 0;
    }
}
