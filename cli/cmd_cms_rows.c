/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cms`, rows of its outputs that are not the chain's: which events they are, with the run and
 * luminosity section that the user knows, and clusters as text, with their module and their place.
 */
#include "cmd_cms.h"

#include <string.h>

#define EVENT(member, unit)                                                                                  \
    {                                                                                                        \
#member, unit, offsetof(slc_cms_event_rows, member), SLC_TYPE_U32                                    \
    }
#define ROW(member, unit, type)                                                                              \
    {                                                                                                        \
#member, unit, offsetof(slc_cms_table_rows, member), type                                            \
    }

static void add(slc_schema *schema, slc_column *columns, const slc_column *more, size_t n)
{
    memcpy(columns + schema->n_columns, more, n * sizeof *more);
    schema->n_columns += n;
}

/* Modules are those of the cabling; 0: one that it does not have. */
static void take_ids(slc_cms_job *job)
{
    for (size_t i = 0; i < SLC_CMS_CABLES; i++) {
        const slc_cms_cable *cable = &job->cabling->cable[i];
        if (cable->raw_id != 0 && cable->module < SLC_CMS_MODULES_PHASE2) {
            job->raw_id[cable->module] = cable->raw_id;
        }
    }
}

void slc_cms_rows_init(slc_cms_job *job)
{
    static const slc_column of_events[] = {EVENT(run, "id"), EVENT(luminosity_section, "id")};
    static const slc_column of_rows[] = {ROW(raw_id, "id", SLC_TYPE_U32), ROW(level1_id, "id", SLC_TYPE_U32),
                                         ROW(run, "id", SLC_TYPE_U32),
                                         ROW(luminosity_section, "id", SLC_TYPE_U32)};
    static const slc_column of_places[] = {ROW(x_mm, "mm", SLC_TYPE_F32), ROW(y_mm, "mm", SLC_TYPE_F32),
                                           ROW(z_mm, "mm", SLC_TYPE_F32)};
    const bool run = job->options->run >= 0, section = job->options->luminosity_section >= 0;
    job->event_schema = (slc_schema){"events", job->event_columns, 0};
    job->table_schema = (slc_schema){"clusters", job->table_columns, 0};
    job->own_events = (slc_schema){"events", job->own_event_columns, 0};
    job->own_table = (slc_schema){"clusters", job->own_table_columns, 0};
    add(&job->own_events, job->own_event_columns, &of_events[0], run ? 1 : 0);
    add(&job->own_events, job->own_event_columns, &of_events[1], section ? 1 : 0);
    add(&job->own_table, job->own_table_columns, of_rows, 2);
    add(&job->own_table, job->own_table_columns, &of_rows[2], run ? 1 : 0);
    add(&job->own_table, job->own_table_columns, &of_rows[3], section ? 1 : 0);
    add(&job->event_schema, job->event_columns, slc_cms_events_schema.columns,
        slc_cms_events_schema.n_columns);
    add(&job->event_schema, job->event_columns, job->own_event_columns, job->own_events.n_columns);
    add(&job->table_schema, job->table_columns, slc_cms_clusters_schema.columns,
        slc_cms_clusters_schema.n_columns);
    add(&job->table_schema, job->table_columns, job->own_table_columns, job->own_table.n_columns);
    add(&job->table_schema, job->table_columns, of_places, job->options->geometry != NULL ? 3 : 0);
    take_ids(job);
}

void slc_cms_rows_clear(slc_cms_job *job)
{
    slc_columns_clear(&job->own_events, &job->event_rows);
    slc_columns_clear(&job->own_table, &job->table_rows);
}

static void fill(uint32_t *column, size_t n, double value)
{
    for (size_t i = 0; i < n && column != NULL; i++) {
        column[i] = (uint32_t)value;
    }
}

const slc_cms_event_rows *slc_cms_rows_of_events(slc_cms_job *job, const slc_flow_cms_result *result)
{
    slc_cms_event_rows *rows = &job->event_view;
    const size_t n = result->events.head.size;
    if (slc_columns_reserve(&job->own_events, &job->event_rows, n, 1) != SLC_OK) {
        return NULL;
    }
    *rows = job->event_rows;
    rows->of = result->events;
    fill(rows->run, n, job->options->run);
    fill(rows->luminosity_section, n, job->options->luminosity_section);
    return rows;
}

const slc_cms_table_rows *slc_cms_rows_of_table(slc_cms_job *job, const slc_flow_cms_result *result)
{
    slc_cms_table_rows *rows = &job->table_view;
    const slc_cms_clusters *clusters = &result->found.clusters;
    const slc_columns *head = &clusters->head;
    if (slc_columns_reserve(&job->own_table, &job->table_rows, head->size, 1) != SLC_OK) {
        return NULL;
    }
    *rows = job->table_rows;
    rows->of = *clusters;
    rows->x_mm = result->found.places.x_mm;
    rows->y_mm = result->found.places.y_mm;
    rows->z_mm = result->found.places.z_mm;
    for (uint32_t e = 0; e < head->n_events; e++) {
        for (size_t i = head->event_offset[e]; i < head->event_offset[e + 1]; i++) {
            rows->level1_id[i] = result->events.level1_id[e];
            rows->raw_id[i] = clusters->module[i] < SLC_CMS_MODULES_PHASE2 ? job->raw_id[clusters->module[i]]
                                                                           : 0;
        }
    }
    fill(rows->run, head->size, job->options->run);
    fill(rows->luminosity_section, head->size, job->options->luminosity_section);
    return rows;
}
