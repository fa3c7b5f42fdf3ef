/* SPDX-License-Identifier: Apache-2.0
 *
 * The event that the report of `sluice velo` draws, copied out of the batch that it came in: the one asked
 * for, or else the first with a primary vertex, or else the first of all.
 */
#include "cmd_velo.h"

#include <inttypes.h>

static slc_status copy_all(slc_velo_drawing *drawing, const slc_velo_job *job,
                           const slc_flow_velo_result *from, uint32_t event)
{
    const slc_velo_result *result = &from->found;
    const slc_velo_truth *truth = &from->truth;
    const struct {
        const slc_schema *schema;
        const void *from;
        void *to;
    } parts[] = {
        {&slc_velo_hits_schema, &result->hits, &drawing->result.hits},
        {&slc_velo_tracks_schema, &result->tracks, &drawing->result.tracks},
        {&slc_velo_track_hits_schema, &result->track_hits, &drawing->result.track_hits},
        {&slc_velo_states_schema, &result->beam, &drawing->result.beam},
        {&slc_velo_primaries_schema, &result->primaries, &drawing->result.primaries},
        {&slc_velo_particles_schema, &truth->particles, &drawing->truth.particles},
        {&slc_velo_particle_ids_schema, &truth->ids, &drawing->truth.ids},
        {&slc_velo_vertices_schema, &truth->vertices, &drawing->truth.vertices},
        {&slc_velo_matches_schema, &job->matches, &drawing->matches},
    };
    slc_status status = SLC_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == SLC_OK; i++) {
        status = slc_cli_copy_event(parts[i].schema, parts[i].from, event, parts[i].to);
    }
    return status;
}

bool slc_velo_drawing_take(slc_velo_job *job, const slc_flow_velo_result *from)
{
    slc_velo_drawing *drawing = &job->drawing;
    bool final = false;
    if (drawing->final) {
        return true;
    }
    const uint32_t event = slc_cli_display_choose(&from->found.primaries.head, job->options->display,
                                                  job->options->display_event, job->totals.events,
                                                  drawing->filled, &final);
    if (event >= from->found.hits.head.n_events) {
        return true;
    }
    const slc_status status = copy_all(drawing, job, from, event);
    if (status != SLC_OK) {
        slc_cli_say("velo", "no copy of event %" PRIu64 " for the report: %s", job->totals.events + event,
                    slc_status_name(status));
        return false;
    }
    drawing->filled = true;
    drawing->final = final;
    drawing->number = job->totals.events + event;
    return true;
}

void slc_velo_drawing_clear(slc_velo_drawing *drawing)
{
    slc_velo_result_clear(&drawing->result);
    slc_velo_truth_clear(&drawing->truth);
    slc_columns_clear(&slc_velo_matches_schema, &drawing->matches);
}

bool slc_velo_write_report(slc_velo_job *job, const char *title, const char *command_line)
{
    const slc_velo_totals *totals = &job->totals;
    const slc_velo_drawing *drawing = &job->drawing;
    char config[256], beam[256], heading[320];
    slc_report_velo_stage stages[SLC_VELO_TIMES];
    slc_velo_config_text(&job->config.track, config, sizeof config);
    slc_velo_beam_text(job, beam, sizeof beam);
    (void)snprintf(heading, sizeof heading, "%s%s", title, job->partial ? " (partial: interrupted)" : "");
    for (int i = 0; i < SLC_VELO_TIMES; i++) {
        stages[i] = (slc_report_velo_stage){slc_velo_time_name((slc_velo_time)i), job->timing.spent[i]};
    }
    const slc_report_velo_display display = {.number = drawing->number,
                                             .result = &drawing->result,
                                             .truth = &drawing->truth,
                                             .matches = &drawing->matches};
    const slc_report_velo_summary summary = {
        .title = heading,
        .command = command_line,
        .events = totals->events,
        .lost_events = totals->lost_events,
        .superpixels = totals->superpixels,
        .isolated = totals->isolated,
        .pixels = totals->pixels,
        .hits = totals->hits,
        .tracks = totals->tracks,
        .primaries = totals->primaries,
        .seconds = totals->seconds,
        .has_truth = job->options->truth && job->check.events > 0,
        .faults = totals->faults,
        .configuration = config,
        .beam = beam,
        .stages = stages,
        .n_stages = SLC_VELO_TIMES,
        .staged_events = job->timing.events,
        .display = drawing->filled ? &display : NULL,
        .monitor = job->monitor,
    };
    if (slc_report_velo_html(job->options->report, &summary, &job->check, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    if (!drawing->filled) {
        slc_cli_say("velo", "--display %s: there are %" PRIu64 " events; %s has no picture of one",
                    job->options->display, totals->events, job->options->report);
    }
    return drawing->filled;
}
