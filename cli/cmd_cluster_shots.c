/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --trigger`: the time since the last edge at an input of the readout, windows of it, and the
 * triggers as a group of their own.
 */
#include "cli_words.h"
#include "cmd_cluster.h"

#include <string.h>

const char *const slc_cluster_triggers[] = {"none", "tdc1-rise", "tdc1-fall", "tdc2-rise", "tdc2-fall", NULL};

/* ---- options ------------------------------------------------------------------------------------ */

/* In seconds; "0" alone is 0, and ticks are those of Timepix3. */
static bool read_bound(const char *text, double *seconds)
{
    slc_cluster_time time = {.given = true};
    if (strcmp(text, "0") != 0 && slc_cluster_choose_time("accept", text, &time) != SLC_CLI_GO_ON) {
        return false;
    }
    *seconds = time.in_ticks ? time.value * 25e-9 / 16 : time.value;
    return true;
}

int slc_cluster_choose_trigger(slc_cluster_job *job, const slc_cli_command *command)
{
    const slc_cluster_options *options = job->options;
    slc_flow_pixel_setup *setup = &job->setup;
    setup->trigger = (slc_io_pixels_edge)options->trigger;
    if (options->trigger == 0) {
        return options->accept == NULL
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--accept is a time since --trigger, which is not given");
    }
    if (options->part.n > 0) {
        return slc_cli_wrong(command,
                             "--trigger does not go with --part: shots count from the first part on");
    }
    if ((options->features & SLC_PIXEL_TIMES) == 0) {
        return slc_cli_wrong(command, "--trigger needs the feature times, which --features leaves out");
    }
    if (options->accept == NULL) {
        return SLC_CLI_GO_ON;
    }
    char begin[64];
    const char *colon = strchr(options->accept, ':');
    const size_t n = colon != NULL ? (size_t)(colon - options->accept) : sizeof begin;
    if (n >= sizeof begin) {
        return slc_cli_wrong(command, "--accept takes two times, as in 0:30us, not '%s'", options->accept);
    }
    memcpy(begin, options->accept, n);
    begin[n] = 0;
    setup->accepting = true;
    if (!read_bound(begin, &setup->accept_begin) || !read_bound(colon + 1, &setup->accept_end)) {
        return SLC_CLI_USAGE;
    }
    return setup->accept_begin < setup->accept_end
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(command, "--accept takes a time and a later one, as in 0:30us, not '%s'",
                               options->accept);
}

/* ---- columns ------------------------------------------------------------------------------------ */

void slc_cluster_shots_columns(slc_cluster_job *job)
{
    const slc_cluster_options *options = job->options;
    slc_column *next = job->columns + job->schema.n_columns;
    if (options->trigger == 0) {
        return;
    }
    next[0] = (slc_column){"shot", "index", offsetof(slc_cluster_rows, shot), SLC_TYPE_I64};
    next[1] = (slc_column){"since_trigger_ns", "ns", offsetof(slc_cluster_rows, since_trigger_ns),
                           SLC_TYPE_F64};
    job->schema.n_columns += 2;
    const char *path = options->output;
    const int form = options->results.form;
    if (path == NULL || (form > 1 && !options->nexus) ||
        (form == 0 && !slc_cli_ends_with(path, ".h5") && !slc_cli_ends_with(path, ".hdf5"))) {
        return;
    }
    job->shot_columns[0] = (slc_column){"input", "index", offsetof(slc_cluster_shots, input), SLC_TYPE_U32};
    memcpy(job->shot_columns + 1, slc_flow_pixel_shots_schema.columns,
           slc_flow_pixel_shots_schema.n_columns * sizeof *job->shot_columns);
    for (size_t i = 1; i < 1 + slc_flow_pixel_shots_schema.n_columns; i++) {
        if (job->shot_columns[i].member == offsetof(slc_flow_pixel_shots, first)) {
            job->shot_columns[i].member = offsetof(slc_cluster_shots, first);
        }
    }
    job->shot_schema = (slc_schema){"shots", job->shot_columns, 1 + slc_flow_pixel_shots_schema.n_columns};
}

/* Those of the command, the others are the flow's. */
static slc_schema own_columns(slc_cluster_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->shot_schema.n_columns; i++) {
        if (job->shot_columns[i].member >= sizeof(slc_flow_pixel_shots)) {
            job->own_shot_columns[n++] = job->shot_columns[i];
        }
    }
    return (slc_schema){"shots", job->own_shot_columns, n};
}

bool slc_cluster_shots_group(slc_cluster_job *job, const slc_flow_item *item, slc_io_group *group)
{
    const slc_flow_pixel_result *result = item->result;
    const slc_schema own = own_columns(job);
    const bool is_triggered = job->options->trigger != 0;
    const size_t n = is_triggered ? result->shots.head.size : job->appended ? 0 : 1; /* a pulse for all */
    if (slc_columns_reserve(&own, &job->shots, n, 1) != SLC_OK) {
        return false;
    }
    for (size_t i = 0; i < n && is_triggered; i++) {
        job->shots.input[i] = item->input + 1;
        job->shots.first[i] = result->shots.first[i] + job->done[item->input].rows_before;
    }
    job->shot_rows = job->shots;
    job->shot_rows.shots = result->shots;
    job->shot_rows.shots.head.size = n;
    slc_cluster_nexus_pulses(job, n);
    *group = (slc_io_group){job->shot_schema.name, &job->shot_schema, &job->shot_rows, SLC_IO_ROWS_ANY};
    return true;
}

void slc_cluster_shots_clear(slc_cluster_job *job)
{
    const slc_schema own = own_columns(job);
    if (job->shot_schema.n_columns > 0) {
        slc_columns_clear(&own, &job->shots);
    }
}
