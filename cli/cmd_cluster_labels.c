/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --labels`: a line for each pixel, with the cluster that it is of.
 */
#include "cmd_cluster.h"

#include <inttypes.h>

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
} label_rows;

#define OWN(member, type)                                                                                    \
    {                                                                                                        \
#member, "index", offsetof(label_rows, member), type                                                 \
    }
static const slc_column own_columns[] = {OWN(input, SLC_TYPE_U32), OWN(frame, SLC_TYPE_I64),
                                         OWN(time, SLC_TYPE_F64), OWN(cluster, SLC_TYPE_U64)};
static const slc_schema own_schema = {"labels", own_columns, sizeof own_columns / sizeof *own_columns};
enum { COLUMNS = 8 };

/* What a line has: z if the first input has one; a column that an input does not have is empty. */
static slc_schema text_schema(const slc_cluster_job *job, slc_column columns[COLUMNS], char name[24])
{
    const bool scaled = job->unit_seconds > 0;
    size_t n = 0;
    (void)snprintf(name, 24, "time%s%s", scaled ? "_" : "", scaled ? job->unit : "");
    columns[n++] = own_columns[0];
    columns[n++] = own_columns[1];
    columns[n++] = (slc_column){"x", "index", offsetof(label_rows, x), SLC_TYPE_U16};
    columns[n++] = (slc_column){"y", "index", offsetof(label_rows, y), SLC_TYPE_U16};
    if ((job->with & SLC_PIXEL_Z) != 0) {
        columns[n++] = (slc_column){"z", "index", offsetof(label_rows, z), SLC_TYPE_U16};
    }
    columns[n++] = (slc_column){job->options->calibration != NULL ? "energy_ev" : "charge", "1",
                                offsetof(label_rows, charge), SLC_TYPE_U32};
    columns[n++] = scaled ? (slc_column){name, job->unit, offsetof(label_rows, time), SLC_TYPE_F64}
                          : (slc_column){name, "ticks", offsetof(label_rows, ticks), SLC_TYPE_I64};
    columns[n++] = own_columns[3];
    return (slc_schema){"labels", columns, n};
}

slc_status slc_cluster_labels_open(slc_cluster_job *job)
{
    slc_column columns[COLUMNS];
    char name[24];
    const slc_schema schema = text_schema(job, columns, name);
    const slc_io_text_form form = {.schema = &schema};
    const slc_status status = slc_io_text_create(job->options->labels, &job->labels, &job->error);
    return status == SLC_OK ? slc_io_text_rows(job->labels, &form, NULL, &job->error) : status;
}

slc_status slc_cluster_labels_write(slc_cluster_job *job, const slc_flow_item *item, double time_factor)
{
    const slc_flow_pixel_result *result = item->result;
    const slc_pixels *list = &result->pixels;
    const slc_columns *clusters = &result->clusters.head;
    slc_column columns[COLUMNS];
    char name[24];
    const slc_schema schema = text_schema(job, columns, name);
    const slc_io_text_form form = {.schema = &schema, .exec = &job->config.exec};
    label_rows rows = {.input = NULL};
    if (slc_columns_reserve(&own_schema, &rows, list->head.size, 1) != SLC_OK) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its labels", item->path);
    }
    for (uint32_t e = 0; e < list->head.n_events; e++) {
        const uint64_t first = job->written + clusters->event_offset[e];
        for (size_t i = list->head.event_offset[e]; i < list->head.event_offset[e + 1]; i++) {
            rows.input[i] = item->input + 1;
            rows.frame[i] = result->frames != NULL ? result->frames[e] : 0;
            rows.time[i] = list->time != NULL ? (double)list->time[i] * time_factor : 0;
            rows.cluster[i] = first + result->label[i];
        }
    }
    label_rows lines = rows;
    lines.head.size = list->head.n_events > 0 ? list->head.event_offset[list->head.n_events] : 0;
    lines.x = list->x;
    lines.y = list->y;
    lines.z = list->z;
    lines.charge = list->charge;
    lines.ticks = list->time;
    lines.time = list->time != NULL ? rows.time : NULL;
    const slc_status status = slc_io_text_rows(job->labels, &form, &lines, &job->error);
    slc_columns_clear(&own_schema, &rows);
    return status;
}
