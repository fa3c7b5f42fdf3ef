/* SPDX-License-Identifier: Apache-2.0
 *
 * Which events are kept. Each line is asked about each event, the cheapest of its cuts first; a quantity of a
 * track is worked out when the first line asks for it and remembered for the others. A line stops as soon as
 * it has as many tracks or pairs as it wants.
 */
#include "base/block.h"
#include "base/columns.h"
#include "velo/velo_select_quantity.h"

#include <stdlib.h>
#include <string.h>

static const slc_column decisions_columns[] = {
    SOA_COLUMN(slc_velo_decisions, lines, "bits"),
    SOA_COLUMN(slc_velo_decisions, limited, "bits"),
};
SOA_SCHEMA(slc_velo_decisions, slc_velo_decisions_schema, "decisions", decisions_columns);

static const slc_column fired_columns[] = {
    SOA_COLUMN(slc_velo_fired, lines, "bits"),
};
SOA_SCHEMA(slc_velo_fired, slc_velo_fired_schema, "fired", fired_columns);

enum { TRACK_QUANTITIES = SLC_VELO_TRACK_QUANTITIES };
typedef slc_velo_sorted_line sorted_line;

/* Quantities from the cheapest to the dearest: the order in which cuts are asked. */
static const slc_velo_quantity by_cost[SLC_VELO_QUANTITIES] = {
    SLC_VELO_Q_EVENT_HITS,
    SLC_VELO_Q_EVENT_TRACKS,
    SLC_VELO_Q_EVENT_VERTICES,
    SLC_VELO_Q_HITS,
    SLC_VELO_Q_BACKWARD,
    SLC_VELO_Q_CHI2_NDOF,
    SLC_VELO_Q_BEAM_DOCA_MM,
    SLC_VELO_Q_IP_MM,
    SLC_VELO_Q_ETA,
    SLC_VELO_Q_PHI,
    SLC_VELO_Q_IP_CHI2,
    SLC_VELO_Q_PAIR_DOCA_MM,
    SLC_VELO_Q_PAIR_VERTEX_Z_MM,
    SLC_VELO_Q_PAIR_FLIGHT_RHO_MM,
    SLC_VELO_Q_PAIR_FLIGHT_MM,
    SLC_VELO_Q_PAIR_POINTING,
    SLC_VELO_Q_PAIR_OPENING_RAD,
};

/* One event with what is remembered of its tracks. */
typedef struct asked {
    slc_velo_select_event event;
    size_t n_hits;
    float *value[TRACK_QUANTITIES];
    uint32_t *known;  /* of a track: bit q is set where value[q] holds quantity q */
    uint32_t *passed; /* tracks that passed a line's cuts */
} asked;

/* ---- room ------------------------------------------------------------------------------------- */

static size_t scratch_bytes(size_t tracks)
{
    return (TRACK_QUANTITIES + 2) * slc_block_bound(tracks * sizeof(float));
}

slc_status slc_velo_select_reserve(slc_velo_select_scratch *scratch, size_t tracks, slc_error *error)
{
    if (scratch->block != NULL && tracks <= scratch->tracks) {
        return SLC_OK;
    }
    if (tracks > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE, "selection: %zu tracks in one event", tracks);
    }
    const size_t bytes = scratch_bytes(tracks);
    void *block = aligned_alloc(SLC_BLOCK_ALIGN, bytes > 0 ? bytes : SLC_BLOCK_ALIGN);
    if (block == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "selection: no memory for %zu tracks", tracks);
    }
    free(scratch->block);
    *scratch = (slc_velo_select_scratch){.block = block, .tracks = tracks};
    return SLC_OK;
}

void slc_velo_select_clear(slc_velo_select_scratch *scratch)
{
    free(scratch->block);
    *scratch = (slc_velo_select_scratch){.block = NULL};
}

static void share_out(const slc_velo_select_scratch *scratch, asked *a)
{
    char *at = scratch->block;
    for (size_t q = 0; q < TRACK_QUANTITIES; q++) {
        a->value[q] = slc_block_take(&at, scratch->tracks * sizeof(float));
    }
    a->known = slc_block_take(&at, scratch->tracks * sizeof(uint32_t));
    a->passed = slc_block_take(&at, scratch->tracks * sizeof(uint32_t));
}

/* ---- one line --------------------------------------------------------------------------------- */

static bool event_passes(const asked *a, const sorted_line *line)
{
    for (uint32_t c = 0; c < line->end[0]; c++) {
        const slc_velo_quantity q = line->cuts[c].quantity;
        const size_t n = q == SLC_VELO_Q_EVENT_HITS     ? a->n_hits
                         : q == SLC_VELO_Q_EVENT_TRACKS ? a->event.n_tracks
                                                        : a->event.n_vertices;
        if (!slc_velo_cut_holds(&line->cuts[c], (float)n)) {
            return false;
        }
    }
    return true;
}

static bool track_passes(const asked *a, const sorted_line *line, size_t track)
{
    for (uint32_t c = line->end[0]; c < line->end[1]; c++) {
        const slc_velo_quantity q = line->cuts[c].quantity;
        const uint32_t bit = UINT32_C(1) << q;
        if ((a->known[track] & bit) == 0) {
            a->value[q][track] = slc_velo_select_track(&a->event, q, track);
            a->known[track] |= bit;
        }
        if (!slc_velo_cut_holds(&line->cuts[c], a->value[q][track])) {
            return false;
        }
    }
    return true;
}

static bool pair_passes(const asked *a, const sorted_line *line, size_t first, size_t second)
{
    slc_velo_select_pair pair;
    slc_velo_select_begin_pair(&a->event, first, second, &pair);
    for (uint32_t c = line->end[1]; c < line->end[2]; c++) {
        const slc_velo_cut *cut = &line->cuts[c];
        if (!slc_velo_cut_holds(cut, slc_velo_select_pair_of(&a->event, cut->quantity, &pair))) {
            return false;
        }
    }
    return true;
}

/* Are there min_count pairs among the n tracks in a->passed? *limited where there were more to look at. */
static bool enough_pairs(const asked *a, const sorted_line *line, size_t n, bool *limited)
{
    uint32_t count = 0, looked = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            if (looked++ == SLC_VELO_MAX_PAIRS) {
                *limited = true;
                return false;
            }
            count += pair_passes(a, line, a->passed[i], a->passed[k]);
            if (count >= line->min_count) {
                return true;
            }
        }
    }
    return false;
}

static bool line_passes(const asked *a, const sorted_line *line, bool *limited)
{
    if (!event_passes(a, line)) {
        return false;
    }
    if (line->min_count == 0) {
        return true;
    }
    const bool pairs = line->end[2] > line->end[1];
    size_t n = 0;
    for (size_t t = 0; t < a->event.n_tracks; t++) {
        if (track_passes(a, line, t)) {
            a->passed[n++] = (uint32_t)t;
            if (!pairs && n >= line->min_count) {
                return true;
            }
        }
    }
    return pairs && enough_pairs(a, line, n, limited);
}

/* Marks, in rows of the event's tracks, those that have part in a line that has accepted. */
static void mark_tracks(const asked *a, const sorted_line *line, uint64_t bit, uint64_t *fired)
{
    const bool pairs = line->end[2] > line->end[1];
    size_t n = 0;
    for (size_t t = 0; t < a->event.n_tracks && line->min_count > 0; t++) {
        if (track_passes(a, line, t)) {
            a->passed[n++] = (uint32_t)t;
            fired[t] |= pairs ? 0 : bit;
        }
    }
    uint32_t looked = 0;
    for (size_t i = 0; i < n && pairs; i++) {
        uint64_t *first = &fired[a->passed[i]];
        for (size_t k = i + 1; k < n; k++) {
            uint64_t *second = &fired[a->passed[k]];
            if (looked++ == SLC_VELO_MAX_PAIRS) {
                return;
            }
            if ((*first & *second & bit) == 0 && pair_passes(a, line, a->passed[i], a->passed[k])) {
                *first |= bit;
                *second |= bit;
            }
        }
    }
}

/* Sorts the cuts: event, tracks, pairs, in by_cost's order. False where it is no line. */
static bool sort_line(const slc_velo_line *line, sorted_line *sorted)
{
    if (line->n_cuts > SLC_VELO_MAX_CUTS || line->prescale == 0) {
        return false;
    }
    for (uint32_t c = 0; c < line->n_cuts; c++) {
        if ((unsigned)line->cuts[c].quantity >= SLC_VELO_QUANTITIES) {
            return false;
        }
    }
    uint32_t n = 0;
    for (uint32_t kind = 0; kind < 3; kind++) { /* slc_velo_quantity_of's numbers */
        for (size_t q = 0; q < SLC_VELO_QUANTITIES; q++) {
            for (uint32_t c = 0; c < line->n_cuts && slc_velo_quantity_of(by_cost[q]) == kind; c++) {
                if (line->cuts[c].quantity == by_cost[q]) {
                    sorted->cuts[n++] = line->cuts[c];
                }
            }
        }
        sorted->end[kind] = n;
    }
    sorted->min_count = line->min_count;
    return true;
}

slc_status slc_velo_select_sort(const slc_velo_selection *selection, slc_velo_sorted_selection *sorted,
                                slc_error *error)
{
    memset(sorted, 0, sizeof *sorted); /* compared with another one */
    if (selection->n_lines > SLC_VELO_MAX_LINES) {
        return slc_fail(error, SLC_ERR_USAGE, "selection: %u lines", selection->n_lines);
    }
    sorted->beam_x = (double)selection->beam_x_mm;
    sorted->beam_y = (double)selection->beam_y_mm;
    sorted->n_lines = selection->n_lines;
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        sorted_line *line = &sorted->lines[k];
        if (!sort_line(&selection->lines[k], line)) {
            return slc_fail(error, SLC_ERR_USAGE, "selection: line %u cannot be", k);
        }
        for (uint32_t c = line->end[0]; c < line->end[1]; c++) {
            sorted->asked |= UINT32_C(1) << line->cuts[c].quantity;
        }
    }
    return SLC_OK;
}

void slc_velo_select_prescale(const slc_velo_selection *selection, uint64_t first_event,
                              slc_velo_decisions *decisions)
{
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        const uint64_t prescale = selection->lines[k].prescale;
        for (size_t e = 0; e < decisions->head.size && prescale > 1; e++) {
            const uint64_t keep = ~((uint64_t)((first_event + e) % prescale != 0) << k);
            decisions->lines[e] &= keep;
            decisions->limited[e] &= keep;
        }
    }
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Before anything is decided, so that a wrong call leaves no half of the decisions. */
static slc_status check_call(const slc_velo_hits *hits, const slc_velo_tracks *tracks,
                             const slc_velo_states *beam, const slc_velo_primaries *primaries,
                             const slc_velo_select_scratch *scratch, const slc_velo_decisions *decisions,
                             const slc_velo_fired *fired)
{
    const uint32_t n_events = tracks->head.n_events;
    if (hits->head.n_events != n_events || primaries->head.n_events != n_events ||
        !slc_columns_zip(tracks, beam, NULL)) {
        return SLC_ERR_USAGE;
    }
    if (n_events > 0 && (decisions->head.block == NULL || decisions->head.capacity < n_events ||
                         decisions->head.event_capacity < n_events)) {
        return SLC_ERR_CAPACITY;
    }
    if (n_events > 0 && fired != NULL &&
        (fired->head.block == NULL || fired->head.capacity < tracks->head.size ||
         fired->head.event_capacity < n_events)) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < n_events; e++) {
        const size_t n = tracks->head.event_offset[e + 1] - tracks->head.event_offset[e];
        if (n > 0 && (scratch->block == NULL || n > scratch->tracks)) {
            return SLC_ERR_CAPACITY;
        }
    }
    return SLC_OK;
}

static size_t rows(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

static void look_at(asked *a, const slc_velo_hits *hits, uint32_t e)
{
    slc_velo_select_event *event = &a->event;
    a->n_hits = rows(&hits->head, e);
    event->first_track = event->tracks->head.event_offset[e];
    event->n_tracks = rows(&event->tracks->head, e);
    event->first_vertex = event->primaries->head.event_offset[e];
    event->n_vertices = rows(&event->primaries->head, e);
    for (size_t t = 0; t < event->n_tracks; t++) {
        a->known[t] = 0;
    }
}

static void decide(const asked *a, const slc_velo_selection *selection, const sorted_line *lines,
                   uint64_t event, slc_velo_decisions *decisions)
{
    uint64_t accepted = 0, limited = 0;
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        bool cut_short = false;
        if (event % selection->lines[k].prescale == 0) {
            accepted |= (uint64_t)line_passes(a, &lines[k], &cut_short) << k;
            limited |= (uint64_t)cut_short << k;
        }
    }
    const size_t row = decisions->head.size++;
    decisions->lines[row] = accepted;
    decisions->limited[row] = limited;
    slc_columns_end_event(decisions);
}

/* After decide(), of the same event. */
static void mark(const asked *a, const slc_velo_selection *selection, const sorted_line *lines,
                 uint64_t accepted, slc_velo_fired *fired)
{
    uint64_t *rows_of = fired->lines + fired->head.size;
    for (size_t t = 0; t < a->event.n_tracks; t++) {
        rows_of[t] = 0;
    }
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        if (accepted >> k & 1) {
            mark_tracks(a, &lines[k], UINT64_C(1) << k, rows_of);
        }
    }
    fired->head.size += a->event.n_tracks;
    slc_columns_end_event(fired);
}

slc_status slc_velo_select_run(const slc_velo_selection *selection, const slc_velo_hits *hits,
                               const slc_velo_tracks *tracks, const slc_velo_states *beam,
                               const slc_velo_primaries *primaries, uint64_t first_event,
                               slc_velo_select_scratch *scratch, slc_velo_decisions *decisions,
                               slc_velo_fired *fired, slc_error *error)
{
    slc_columns_reset(decisions);
    if (fired != NULL) {
        slc_columns_reset(fired);
    }
    slc_velo_sorted_selection sorted;
    slc_status status = slc_velo_select_sort(selection, &sorted, error);
    if (status != SLC_OK) {
        return status;
    }
    status = check_call(hits, tracks, beam, primaries, scratch, decisions, fired);
    if (status != SLC_OK) {
        return slc_fail(error, status, "selection: %s",
                        status == SLC_ERR_USAGE ? "collections differ in their events" : "no room");
    }
    asked a = {.event = {.tracks = tracks,
                         .states = beam,
                         .primaries = primaries,
                         .beam_x = sorted.beam_x,
                         .beam_y = sorted.beam_y}};
    if (scratch->block != NULL) {
        share_out(scratch, &a);
    }
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        look_at(&a, hits, e);
        decide(&a, selection, sorted.lines, first_event + e, decisions);
        if (fired != NULL) {
            mark(&a, selection, sorted.lines, decisions->lines[e], fired);
        }
    }
    return SLC_OK;
}
