/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --labels`: a row for each pixel, with the cluster that it is of. Those of frames and images
 * come in the order of the input, those of a stream with their cluster.
 */
#include "cmd_cluster.h"

#include <string.h>

/* The input's own columns, and some of the command's. */
typedef struct label_rows {
    slc_columns head;
    uint32_t *input;
    int64_t *frame;
    uint16_t *x, *y, *z;
    uint32_t *charge;
    int64_t *ticks;
    double *time; /* instead of ticks, with --time-unit */
    uint64_t *cluster;
    const uint64_t *pixel; /* the flow's: of a stream */
    int64_t *shot;         /* with --trigger, as the next */
    const double *since_trigger_ns;
} label_rows;

#define OWN(member, type)                                                                                    \
    {                                                                                                        \
#member, "index", offsetof(label_rows, member), type                                                 \
    }
static const slc_column own_columns[] = {
    OWN(input, SLC_TYPE_U32),   OWN(frame, SLC_TYPE_I64),  OWN(x, SLC_TYPE_U16),     OWN(y, SLC_TYPE_U16),
    OWN(z, SLC_TYPE_U16),       OWN(charge, SLC_TYPE_U32), OWN(ticks, SLC_TYPE_I64), OWN(time, SLC_TYPE_F64),
    OWN(cluster, SLC_TYPE_U64), OWN(shot, SLC_TYPE_I64)};
static const slc_schema own_schema = {"labels", own_columns, sizeof own_columns / sizeof *own_columns};

static bool is_text(const slc_cluster_job *job)
{
    static const slc_cli_results by_name;
    return !slc_cli_results_are(job->options->labels, &by_name);
}

/* What a row has: z if the first input has one. In text a column that an input does not have is empty. */
static void make_schema(slc_cluster_job *job)
{
    const bool text = is_text(job), scaled = text && job->unit_seconds > 0;
    slc_column *next = job->label_columns;
    (void)snprintf(job->label_time, sizeof job->label_time, "time%s%s", scaled ? "_" : "",
                   scaled ? job->unit : "");
    memcpy(next, own_columns, 4 * sizeof *next);
    next += 4;
    if ((job->with & SLC_PIXEL_Z) != 0) {
        *next++ = own_columns[4];
    }
    if (text || (job->labels_with & SLC_PIXEL_CHARGE) != 0) {
        *next++ = (slc_column){job->options->calibration != NULL ? "energy_ev" : "charge", "1",
                               offsetof(label_rows, charge), SLC_TYPE_U32};
    }
    if (text || (job->labels_with & SLC_PIXEL_TIME) != 0) {
        *next++ = scaled ? (slc_column){job->label_time, job->unit, offsetof(label_rows, time), SLC_TYPE_F64}
                         : (slc_column){job->label_time, "ticks", offsetof(label_rows, ticks), SLC_TYPE_I64};
    }
    *next++ = (slc_column){"cluster", "index", offsetof(label_rows, cluster), SLC_TYPE_U64};
    if (job->labels_stream) {
        *next++ = (slc_column){"pixel", "index", offsetof(label_rows, pixel), SLC_TYPE_U64};
    }
    if (job->options->trigger != 0) {
        *next++ = (slc_column){"shot", "index", offsetof(label_rows, shot), SLC_TYPE_I64};
        *next++ = (slc_column){"since_trigger_ns", "ns", offsetof(label_rows, since_trigger_ns),
                               SLC_TYPE_F64};
    }
    job->label_schema = (slc_schema){"labels", job->label_columns, (size_t)(next - job->label_columns)};
}

slc_status slc_cluster_labels_flush(slc_cluster_job *job)
{
    const slc_cli_results *options = &job->options->results;
    if (job->labels == NULL) {
        return SLC_OK;
    }
    if (!is_text(job)) {
        return slc_cli_results_flush(job->labels, options, job->reads_once, &job->error);
    }
    const double now = slc_clock_seconds();
    if (now - job->labels_flushed >= slc_cli_results_flush_seconds(options, job->reads_once)) {
        (void)fflush(slc_io_text_stream(job->labels)); /* a write that fails is told at the end */
        job->labels_flushed = now;
    }
    return SLC_OK;
}

bool slc_cluster_labels_text(const slc_cluster_job *job)
{
    return job->options->labels != NULL && is_text(job);
}

int slc_cluster_choose_labels(slc_cluster_job *job, const slc_cli_command *command)
{
    const slc_cluster_options *options = job->options;
    if (options->labels != NULL && (options->results.rotate_bytes > 0 || options->results.rotate_ns > 0)) {
        return slc_cli_wrong(command, "--labels does not go with --rotate-size and --rotate-time: its rows "
                                      "name clusters of one file");
    }
    return SLC_CLI_GO_ON;
}

const char *slc_cluster_labels_reason(const slc_cluster_job *job, const slc_cluster_input *done)
{
    if (job->options->labels == NULL) {
        return NULL;
    }
    if (done->is_stream != job->labels_stream) {
        return "its pixels must be a stream if those of the first input are one, and none otherwise, for "
               "--labels";
    }
    return !is_text(job) && ((done->about.with ^ job->labels_with) & (SLC_PIXEL_CHARGE | SLC_PIXEL_TIME)) != 0
               ? "its pixels must have the columns of those of the first input, for --labels but in .csv"
               : NULL;
}

static slc_status put(slc_cluster_job *job, label_rows *rows)
{
    if (is_text(job)) {
        const slc_io_text_form form = {.schema = &job->label_schema, .exec = &job->config.exec};
        return slc_io_text_rows(job->labels, &form, rows, &job->error);
    }
    const slc_io_group group = {"labels", &job->label_schema, rows, SLC_IO_ROWS_ANY};
    return slc_io_results_put(job->labels, &group, 1, &job->error);
}

slc_status slc_cluster_labels_open(slc_cluster_job *job, const slc_io_pixels_info *about)
{
    static const slc_cli_results by_name;
    job->labels_with = about->with;
    job->labels_stream = !about->frames && (about->with & SLC_PIXEL_TIME) != 0;
    make_schema(job);
    const char *path = job->options->labels;
    slc_status status = is_text(job) ? slc_io_text_create(path, &job->labels, &job->error)
                                     : slc_cli_results_create(path, &by_name, job->options->threads,
                                                              job->command_line, &job->labels, &job->error);
    if (status == SLC_OK && !is_text(job) && (about->with & SLC_PIXEL_TIME) != 0 && about->tick_seconds > 0) {
        status = slc_io_results_number(job->labels, "tick_seconds", about->tick_seconds, &job->error);
    }
    label_rows none = {.input = NULL};
    const slc_io_text_form form = {.schema = &job->label_schema};
    return status != SLC_OK ? status
           : is_text(job)   ? slc_io_text_rows(job->labels, &form, NULL, &job->error)
                            : put(job, &none);
}

slc_status slc_cluster_labels_close(slc_cluster_job *job)
{
    slc_io_writer *const writer = job->labels;
    job->labels = NULL;
    return is_text(job) ? slc_io_finish(writer, &job->error) : slc_cli_results_end(writer, NULL, &job->error);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* Pixels of clusters that are kept, in the order of the input. */
static void take_frames(const slc_cluster_job *job, const slc_flow_item *item, double factor, label_rows *to)
{
    const slc_flow_pixel_result *result = item->result;
    const slc_pixels *list = &result->pixels;
    const slc_columns *clusters = &result->clusters.head;
    size_t n = 0;
    for (uint32_t e = 0; e < list->head.n_events; e++) {
        const uint64_t first = job->written + clusters->event_offset[e];
        for (size_t i = list->head.event_offset[e]; i < list->head.event_offset[e + 1]; i++) {
            if (result->label[i] == UINT32_MAX) {
                continue; /* --filter left it out */
            }
            to->frame[n] = result->frames != NULL ? result->frames[e] : 0;
            to->x[n] = list->x[i];
            to->y[n] = list->y[i];
            to->z[n] = list->z != NULL ? list->z[i] : 0;
            to->charge[n] = list->charge != NULL ? list->charge[i] : 0;
            to->ticks[n] = list->time != NULL ? list->time[i] : 0;
            to->time[n] = (double)to->ticks[n] * factor;
            to->cluster[n++] = first + result->label[i];
        }
    }
    to->head.size = n;
}

static void take_members(const slc_cluster_job *job, const slc_flow_item *item, double factor, label_rows *to)
{
    const slc_flow_pixel_result *result = item->result;
    const slc_pixel_members *members = &result->members;
    for (uint32_t row = 0; row < members->head.n_events; row++) {
        for (size_t i = members->head.event_offset[row]; i < members->head.event_offset[row + 1]; i++) {
            to->frame[i] = 0;
            to->x[i] = members->x[i];
            to->y[i] = members->y[i];
            to->charge[i] = members->charge[i];
            to->ticks[i] = members->time[i];
            to->time[i] = (double)members->time[i] * factor;
            to->cluster[i] = job->written + row;
            to->shot[i] = result->shot != NULL ? result->shot[row] : -1;
        }
    }
    to->head.size = members->head.size;
}

slc_status slc_cluster_labels_write(slc_cluster_job *job, const slc_flow_item *item, double time_factor)
{
    const slc_flow_pixel_result *result = item->result;
    const uint32_t with = result->about.with;
    const size_t n = result->is_stream ? result->members.head.size : result->pixels.head.size;
    label_rows rows = {.input = NULL};
    if (n == 0) {
        return SLC_OK;
    }
    if (slc_columns_reserve(&own_schema, &rows, n, 1) != SLC_OK) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its labels", item->path);
    }
    (result->is_stream ? take_members : take_frames)(job, item, time_factor, &rows);
    for (size_t i = 0; i < rows.head.size; i++) {
        rows.input[i] = item->input + 1;
    }
    label_rows lines = rows;
    lines.z = (with & SLC_PIXEL_Z) != 0 ? rows.z : NULL;
    lines.charge = (with & SLC_PIXEL_CHARGE) != 0 ? rows.charge : NULL;
    lines.ticks = (with & SLC_PIXEL_TIME) != 0 ? rows.ticks : NULL;
    lines.time = (with & SLC_PIXEL_TIME) != 0 ? rows.time : NULL;
    lines.pixel = result->members.pixel;
    lines.since_trigger_ns = result->member_since_trigger_ns;
    const slc_status status = put(job, &lines);
    slc_columns_clear(&own_schema, &rows);
    return status;
}
