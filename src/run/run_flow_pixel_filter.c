/* SPDX-License-Identifier: Apache-2.0
 * Cuts on clusters in the chain of sparse pixels. */
#include "base/columns.h"
#include "run/run_flow_pixel_part.h"

#include <stddef.h>
#include <string.h>

enum { MORE = 4 }; /* columns that are not of clusters themselves */

static const slc_column chip_column = {"chip", "index", offsetof(slc_pixel_on_chips, chip), SLC_TYPE_I32};
static const slc_column shot_columns[] = {
    {"shot", "index", offsetof(slc_pixel_since, shot), SLC_TYPE_I64},
    {"since_trigger_ns", "ns", offsetof(slc_pixel_since, since_trigger_ns), SLC_TYPE_F64}};

/* Each term goes to those of its collection. */
static void deal_out(const slc_columns_filter *all, slc_pixel_filters *filter)
{
    *filter = (slc_pixel_filters){.clusters = {.n = 0}};
    for (uint32_t i = 0; i < all->n; i++) {
        const char *name = all->term[i].column.name;
        slc_columns_filter *to = name == chip_column.name ? &filter->chips
                                 : name == shot_columns[0].name || name == shot_columns[1].name
                                     ? &filter->shots
                                     : &filter->clusters;
        to->term[to->n] = all->term[i];
        to->term[to->n++].divisor = strcmp(name, "energy_kev") == 0 ? 1000 : 1; /* it is in eV */
    }
}

slc_status slc_pixel_filter_parse(const slc_flow_pixel_setup *setup, const slc_schema *schema, bool energies,
                                  slc_pixel_filters *filter, slc_error *error)
{
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS + MORE];
    slc_schema all = {schema->name, columns, schema->n_columns};
    memcpy(columns, schema->columns, schema->n_columns * sizeof *columns);
    for (size_t i = 0; i < schema->n_columns; i++) {
        if (strcmp(columns[i].name, "mass") == 0) {
            slc_column *to = energies ? &columns[i] : &columns[all.n_columns++];
            *to = columns[i];
            to->name = energies ? "energy_kev" : "tot";
        }
    }
    if (setup->trigger != SLC_IO_PIXELS_NO_EDGE) {
        columns[all.n_columns++] = shot_columns[0];
        columns[all.n_columns++] = shot_columns[1];
    }
    if (setup->chip_column) {
        columns[all.n_columns++] = chip_column;
    }
    slc_columns_filter terms;
    const slc_status status = slc_columns_filter_parse(setup->filter, &all, NULL, "clusters", &terms, error);
    if (status == SLC_OK) {
        deal_out(&terms, filter);
    }
    return status;
}

/* Members are of a stream, whose item has all of a cluster's. */
static void keep_members(slc_pixel_members *members, size_t row, size_t kept)
{
    uint32_t *offset = members->head.event_offset;
    const uint32_t first = offset[row], n = offset[row + 1] - first, to = offset[kept];
    for (size_t i = 0; i < slc_pixel_members_schema.n_columns; i++) {
        const slc_column *column = &slc_pixel_members_schema.columns[i];
        char *data = *slc_column_pointer(members, column);
        const size_t width = slc_type_size(column->type);
        memmove(data + to * width, data + first * width, n * width);
    }
    offset[kept + 1] = to + n;
}

void slc_pixel_keep_row(slc_pixel_piece *p, size_t row, size_t kept)
{
    for (size_t i = 0; i < p->clusters.n_columns && kept != row; i++) {
        char *data = *slc_column_pointer(&p->result.clusters, &p->clusters.columns[i]);
        const size_t width = slc_type_size(p->clusters.columns[i].type);
        memcpy(data + kept * width, data + row * width, width);
    }
    if (p->result.chip != NULL) {
        p->on_chips.chip[kept] = p->on_chips.chip[row];
    }
    if (kept != row && p->result.members.head.n_events > 0) {
        keep_members(&p->result.members, row, kept);
    }
}

void slc_pixel_keep_end(slc_pixel_piece *p, size_t kept)
{
    slc_columns *members = &p->result.members.head;
    p->result.clusters.head.size = kept;
    if (members->n_events > 0) {
        members->n_events = (uint32_t)kept;
        members->size = members->event_offset[kept];
    }
}

/* Clusters of frame e were rows from `first` on, whose new numbers are in numbers.kept. */
static void keep_labels(slc_pixel_piece *p, uint32_t e, size_t first)
{
    const uint32_t *offset = p->result.pixels.head.event_offset;
    for (size_t i = offset[e]; i < offset[e + 1]; i++) {
        p->numbers.label[i] = p->numbers.kept[first + p->numbers.label[i]];
    }
}

void slc_pixel_filter_run(slc_pixel_input *in, slc_pixel_piece *p)
{
    slc_columns *head = &p->result.clusters.head;
    const size_t n = head->size;
    const bool labels = p->result.label != NULL;
    size_t kept = 0, row = 0;
    for (uint32_t e = 0; row < n || e < head->n_events; e++) { /* of a stream there is none */
        const size_t first = row, end = e < head->n_events ? head->event_offset[e + 1] : n, begin = kept;
        for (; row < end; row++) {
            const bool holds = slc_columns_filter_holds(&in->filter.clusters, &p->result.clusters, row) &&
                               slc_columns_filter_holds(&in->filter.chips, &p->on_chips, row);
            in->cut += holds ? 0 : p->result.clusters.size[row];
            if (labels) {
                p->numbers.kept[row] = holds ? (uint32_t)(kept - begin) : UINT32_MAX;
            }
            if (holds) {
                slc_pixel_keep_row(p, row, kept++);
            }
        }
        if (e < head->n_events) {
            head->event_offset[e + 1] = (uint32_t)kept;
        }
        if (labels) {
            keep_labels(p, e, first);
        }
    }
    slc_pixel_keep_end(p, kept);
    in->totals.filtered += n - kept;
}
