/* SPDX-License-Identifier: Apache-2.0
 *
 * The event that the report of `sluice hlt1` draws, copied out of the batch that it came in: the one asked
 * for, or else the first with a long track, or else the first of all; and the report.
 */
#include "cmd_hlt1.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static slc_status copy_columns(slc_hlt1_drawing *drawing, const slc_hlt1_result *from, uint32_t event)
{
    const struct {
        const slc_schema *schema;
        const void *from;
        void *to;
    } parts[] = {
        {&slc_velo_hits_schema, &from->velo.hits, &drawing->result.velo.hits},
        {&slc_velo_states_schema, &from->velo.beam, &drawing->result.velo.beam},
        {&slc_ut_hits_schema, &from->ut, &drawing->result.ut},
        {&slc_scifi_hits_schema, &from->scifi, &drawing->result.scifi},
        {&slc_muon_hits_schema, &from->muon, &drawing->result.muon},
        {&slc_hlt1_upstream_schema, &from->upstream, &drawing->result.upstream},
        {&slc_hlt1_long_schema, &from->long_tracks, &drawing->result.long_tracks},
        {&slc_muon_ids_schema, &from->muons, &drawing->result.muons},
    };
    slc_status status = SLC_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == SLC_OK; i++) {
        status = slc_cli_copy_event(parts[i].schema, parts[i].from, event, parts[i].to);
    }
    return status;
}

/* Whose the event's long tracks are, which the check has of the batch that came last. */
static slc_status copy_particles(slc_hlt1_drawing *drawing, const slc_hlt1_job *job,
                                 const slc_hlt1_result *from, uint32_t event)
{
    const uint32_t begin = from->long_tracks.head.event_offset[event],
                   n = from->long_tracks.head.event_offset[event + 1] - begin;
    free(drawing->particle);
    drawing->particle = NULL;
    if (!job->options->truth || n == 0) {
        return SLC_OK;
    }
    drawing->particle = malloc(n * sizeof *drawing->particle);
    if (drawing->particle == NULL) {
        return SLC_ERR_MEMORY;
    }
    memcpy(drawing->particle, job->check.long_particle + begin, n * sizeof *drawing->particle);
    return SLC_OK;
}

bool slc_hlt1_drawing_take(slc_hlt1_job *job, const slc_hlt1_result *from)
{
    slc_hlt1_drawing *drawing = &job->drawing;
    bool final = false;
    if (job->options->report == NULL || drawing->final) {
        return true;
    }
    const uint32_t event = slc_cli_display_choose(&from->long_tracks.head, job->options->display,
                                                  job->options->display_event, job->totals.events,
                                                  drawing->filled, &final);
    if (event >= from->long_tracks.head.n_events) {
        return true;
    }
    slc_status status = copy_columns(drawing, from, event);
    status = status == SLC_OK ? copy_particles(drawing, job, from, event) : status;
    if (status != SLC_OK) {
        slc_cli_say("hlt1", "no copy of event %" PRIu64 " for the report: %s", job->totals.events + event,
                    slc_status_name(status));
        return false;
    }
    drawing->filled = true;
    drawing->final = final;
    drawing->number = job->totals.events + event;
    return true;
}

void slc_hlt1_drawing_clear(slc_hlt1_drawing *drawing)
{
    slc_hlt1_result_clear(&drawing->result);
    free(drawing->particle);
    drawing->particle = NULL;
}

/* ---- the report --------------------------------------------------------------------------------- */

enum { NOTES = 16, NOTE = 512 };

static bool write_html(slc_hlt1_job *job, const slc_report_hlt1_summary *summary)
{
    if (slc_report_hlt1_html(job->options->report, summary, &job->error) != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
        return false;
    }
    if (summary->display == NULL) {
        slc_cli_say("hlt1", "--display %s: there are %" PRIu64 " events; %s has no picture of one",
                    job->options->display, job->totals.events, job->options->report);
    }
    return summary->display != NULL;
}

/* What was not done, and what is doubtful in the first inputs; returns how many. */
static size_t list_notes(const slc_hlt1_job *job, char (*notes)[NOTE], const char **list)
{
    slc_hlt1_undone undone[SLC_HLT1_UNDONE];
    size_t n = 0, i;
    json_t *doubt;
    for (const size_t all = slc_hlt1_not_done(job, undone); n < all; n++) {
        (void)snprintf(notes[n], NOTE, "%s has %s", job->options->geometry, undone[n].why);
    }
    json_array_foreach(json_object_get(job->doubts.root, "doubts"), i, doubt)
    {
        if (n < NOTES) {
            (void)snprintf(notes[n++], NOTE, "%s: %s", json_string_value(json_object_get(doubt, "input")),
                           json_string_value(json_object_get(doubt, "text")));
        }
    }
    for (i = 0; i < n; i++) {
        list[i] = notes[i];
    }
    return n;
}

bool slc_hlt1_write_report(slc_hlt1_job *job, const char *title, const char *command_line)
{
    static const char *const names[SLC_HLT1_STAGES] = {"VELO",          "hits of UT, SciFi, muon stations",
                                                       "upstream",      "forward",
                                                       "VELO's others", "isMuon",
                                                       "fit",           "pairs and lines"};
    const slc_hlt1_totals *totals = &job->totals;
    const slc_hlt1_drawing *drawing = &job->drawing;
    char heading[320];
    slc_report_velo_stage stages[SLC_HLT1_STAGES];
    slc_report_hlt1_line lines[SLC_VELO_MAX_LINES];
    char notes[NOTES][NOTE];
    const char *list[NOTES];
    (void)snprintf(heading, sizeof heading, "%s%s", title, job->partial ? " (partial: interrupted)" : "");
    double seconds = 0;
    for (int i = 0; i < SLC_HLT1_STAGES; i++) {
        stages[i] = (slc_report_velo_stage){names[i], totals->seconds[i]};
        seconds += totals->seconds[i];
    }
    for (uint32_t k = 0; k < job->lines.n_lines; k++) {
        lines[k] = (slc_report_hlt1_line){job->lines.lines[k].name, totals->of_line[k]};
    }
    const slc_report_hlt1_display display = {
        .number = drawing->number, .result = &drawing->result, .long_particle = drawing->particle};
    const slc_report_hlt1_summary summary = {
        .title = heading,
        .command = command_line,
        .settings = slc_hlt1_settings_name(job->options->settings),
        .events = totals->events,
        .lost_events = totals->lost_events,
        .cut_events = totals->cut_events,
        .clusters = totals->rows[SLC_HLT1_ROWS_CLUSTERS],
        .velo_tracks = totals->rows[SLC_HLT1_ROWS_TRACKS],
        .vertices = totals->rows[SLC_HLT1_ROWS_PRIMARIES],
        .ut_hits = totals->rows[SLC_HLT1_ROWS_UT],
        .scifi_hits = totals->rows[SLC_HLT1_ROWS_SCIFI],
        .muon_hits = totals->rows[SLC_HLT1_ROWS_MUON],
        .upstream_tracks = totals->rows[SLC_HLT1_ROWS_UPSTREAM],
        .long_tracks = totals->rows[SLC_HLT1_ROWS_LONG],
        .pairs = totals->rows[SLC_HLT1_ROWS_PAIRS],
        .seconds = seconds,
        .faults = totals->faults,
        .stages = stages,
        .n_stages = SLC_HLT1_STAGES,
        .lines = lines,
        .n_lines = job->options->lines != NULL ? job->lines.n_lines : 0,
        .accepted = totals->accepted,
        .check = job->options->truth && job->check.events > 0 ? &job->check : NULL,
        .display = drawing->filled ? &display : NULL,
        .notes = list,
        .n_notes = list_notes(job, notes, list),
    };
    return write_html(job, &summary);
}
