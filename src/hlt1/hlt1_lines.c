/* SPDX-License-Identifier: Apache-2.0
 * Lines: cuts on columns of particles and pairs. A quantity is a column of theirs, by its name. */
#include "base/columns.h"
#include "hlt1/hlt1_secondaries.h"

#include <math.h>
#include <string.h>

static const char *const of_event[] = {"event_tracks", "event_pairs", "event_vertices"};
enum { EVENT_QUANTITIES = sizeof of_event / sizeof *of_event };

static const slc_schema *schema_of(slc_hlt1_object of)
{
    return of == SLC_HLT1_OF_TRACK ? &slc_hlt1_particles_schema : &slc_hlt1_secondaries_schema;
}

const char *slc_hlt1_quantity_name(slc_hlt1_object of, uint32_t quantity)
{
    if (of == SLC_HLT1_OF_EVENT) {
        return quantity < EVENT_QUANTITIES ? of_event[quantity] : NULL;
    }
    const slc_schema *schema = schema_of(of);
    return quantity < schema->n_columns ? schema->columns[quantity].name : NULL;
}

static float value_of(const void *collection, const slc_column *column, size_t row)
{
    const void *values;
    memcpy(&values, (const char *)collection + column->member, sizeof values);
    switch (column->type) {
    case SLC_TYPE_F32:
        return ((const float *)values)[row];
    case SLC_TYPE_U32:
        return (float)((const uint32_t *)values)[row];
    default:
        return (float)((const uint8_t *)values)[row];
    }
}

static bool holds(const slc_hlt1_cut *cut, float value)
{
    return cut->low <= value && value <= cut->high; /* false for NaN */
}

/* ---- prescales ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64's */
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t slc_hlt1_event_key(uint32_t run, uint64_t event)
{
    return mix(mix(run + UINT64_C(0x9e3779b97f4a7c15)) + event);
}

static bool is_taken(const slc_hlt1_select_line *line, uint64_t key)
{
    uint64_t hash = key;
    for (const char *c = line->name; *c != '\0'; c++) {
        hash = mix(hash + (uint64_t)(unsigned char)*c + UINT64_C(0x9e3779b97f4a7c15));
    }
    return (double)(hash >> 11) * 0x1p-53 < line->prescale;
}

/* ---- one line -------------------------------------------------------------------------------------- */

static bool row_passes(const slc_hlt1_select_line *line, slc_hlt1_object of, const void *collection,
                       size_t row)
{
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        const slc_hlt1_cut *cut = &line->cuts[c];
        if (cut->of == of && !holds(cut, value_of(collection, &schema_of(of)->columns[cut->quantity], row))) {
            return false;
        }
    }
    return true;
}

static bool line_passes(const slc_hlt1_select_line *line, const float event[EVENT_QUANTITIES],
                        const void *collection, size_t first, size_t end)
{
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        if (line->cuts[c].of == SLC_HLT1_OF_EVENT && !holds(&line->cuts[c], event[line->cuts[c].quantity])) {
            return false;
        }
    }
    uint32_t n = 0;
    for (size_t row = first; row < end && n < line->min_count; row++) {
        n += row_passes(line, line->of, collection, row) ? 1 : 0;
    }
    return n >= line->min_count;
}

void slc_hlt1_lines_run(const slc_hlt1_lines *lines, const slc_hlt1_found *found,
                        const slc_hlt1_particles *particles, const slc_hlt1_secondaries *secondaries,
                        uint64_t key, bool limited, slc_velo_decisions *decisions)
{
    const uint32_t *tracks = particles->head.event_offset + found->event;
    const uint32_t *pairs = secondaries->head.event_offset + found->event;
    const uint32_t *vertices = found->primaries->head.event_offset + found->event;
    const float event[EVENT_QUANTITIES] = {(float)(tracks[1] - tracks[0]), (float)(pairs[1] - pairs[0]),
                                           (float)(vertices[1] - vertices[0])};
    uint64_t accepted = 0, cut_short = 0;
    for (uint32_t k = 0; k < lines->n_lines; k++) {
        const slc_hlt1_select_line *line = &lines->lines[k];
        const bool of_pairs = line->of == SLC_HLT1_OF_PAIR;
        const uint32_t *rows = of_pairs ? pairs : tracks;
        const void *collection = of_pairs ? (const void *)secondaries : particles;
        const bool passes = line_passes(line, event, collection, rows[0],
                                        line->of == SLC_HLT1_OF_EVENT ? rows[0] : rows[1]);
        accepted |= passes && is_taken(line, key) ? UINT64_C(1) << k : 0;
        cut_short |= !passes && limited && of_pairs ? UINT64_C(1) << k : 0;
    }
    decisions->lines[decisions->head.size] = accepted;
    decisions->limited[decisions->head.size] = cut_short;
    decisions->head.size++;
    slc_columns_end_event(decisions);
}
