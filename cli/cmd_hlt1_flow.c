/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice hlt1` does with what comes out of the flow: results are compared with truth, written and added
 * up, inputs judged.
 */
#include "cli_faults.h"
#include "cmd_hlt1.h"

#include <string.h>

bool slc_hlt1_job_append(slc_hlt1_job *job, const slc_flow_hlt1_result *result)
{
    const slc_hlt1_result *found = &result->found;
    const slc_velo_result *velo = &found->velo;
    const bool fits = job->geometry->transport != NULL;
    /* What is not made has no group: an empty one would look as if there were none of it. */
    const struct {
        bool made;
        slc_io_group group;
    } all[] = {
        {true, {"hits", &slc_velo_hits_schema, &velo->hits, SLC_IO_ROWS_ANY}},
        {true, {"tracks", &slc_velo_tracks_schema, &velo->tracks, SLC_IO_ROWS_ANY}},
        {true, {"track_hits", &slc_velo_track_hits_schema, &velo->track_hits, SLC_IO_ROWS_ANY}},
        {true, {"states_beam", &slc_velo_states_schema, &velo->beam, SLC_IO_ROWS_ANY}},
        {true, {"states_end", &slc_velo_states_schema, &velo->end, SLC_IO_ROWS_ANY}},
        {true, {"primaries", &slc_velo_primaries_schema, &velo->primaries, SLC_IO_ROWS_ANY}},
        {true, {"ut_hits", &slc_ut_hits_schema, &found->ut, SLC_IO_ROWS_ANY}},
        {true, {"scifi_hits", &slc_scifi_hits_schema, &found->scifi, SLC_IO_ROWS_ANY}},
        {true, {"muon_hits", &slc_muon_hits_schema, &found->muon, SLC_IO_ROWS_ANY}},
        {true, {"upstream_tracks", &slc_hlt1_upstream_schema, &found->upstream, SLC_IO_ROWS_ANY}},
        {true, {"upstream_hits", &slc_hlt1_track_hits_schema, &found->upstream_hits, SLC_IO_ROWS_ANY}},
        {true, {"long_tracks", &slc_hlt1_long_schema, &found->long_tracks, SLC_IO_ROWS_ANY}},
        {true, {"long_hits", &slc_hlt1_track_hits_schema, &found->long_hits, SLC_IO_ROWS_ANY}},
        {job->geometry->finds_muons, {"muons", &slc_muon_ids_schema, &found->muons, SLC_IO_ROWS_ANY}},
        {fits, {"fitted_tracks", &slc_hlt1_fitted_schema, &found->fitted, SLC_IO_ROWS_ANY}},
        {fits, {"particles", &slc_hlt1_particles_schema, &found->particles, SLC_IO_ROWS_ANY}},
        {fits, {"secondaries", &slc_hlt1_secondaries_schema, &found->secondaries, SLC_IO_ROWS_ANY}},
        {job->config.lines != NULL,
         {"decisions", &slc_velo_decisions_schema, &found->decisions, SLC_IO_ROWS_ANY}},
        {true, {"events", &slc_lhcb_events_schema, &result->events, SLC_IO_ROWS_ONE}},
    };
    slc_io_group groups[sizeof all / sizeof *all];
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].made) {
            groups[n++] = all[i].group;
        }
    }
    slc_status status = SLC_OK;
    if (job->results != NULL) {
        status = slc_io_results_put(job->results, groups, n, &job->error);
        status = status == SLC_OK
                     ? slc_cli_results_flush(job->results, &job->options->results, job->live, &job->error)
                     : status;
    }
    if (status != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
    }
    return status == SLC_OK;
}

/* The records of events that any line accepted. */
static bool write_accepted(slc_hlt1_job *job, const slc_flow_item *item)
{
    const slc_flow_hlt1_result *result = item->result;
    const slc_velo_decisions *decisions = &result->found.decisions;
    for (uint32_t e = 0; e < decisions->head.size && job->accepted != NULL; e++) {
        if (decisions->lines[e] == 0) {
            continue;
        }
        slc_velo_decision bank;
        if (job->options->decision_bank) {
            slc_hlt1_decision_of(&job->lines, &result->found, e, &bank);
        }
        if (slc_io_select_write(job->accepted, item->path, &item->batch, e,
                                job->options->decision_bank ? &bank : NULL, &job->error) != SLC_OK) {
            slc_cli_say("hlt1", "%s", job->error.text);
            return false;
        }
        job->totals.written++;
    }
    return true;
}

static bool add_to_totals(slc_hlt1_job *job, const slc_hlt1_result *result)
{
    const slc_columns *const heads[SLC_HLT1_ROWS] = {
        &result->velo.hits.head, &result->velo.tracks.head, &result->velo.primaries.head,
        &result->ut.head,        &result->scifi.head,       &result->muon.head,
        &result->upstream.head,  &result->long_tracks.head, &result->secondaries.head};
    slc_hlt1_totals *totals = &job->totals;
    totals->events += result->ut.head.n_events;
    totals->cut_events += result->velo.n_gec_events;
    totals->retina_events += result->velo.n_retina_events;
    job->input_cut += result->velo.n_gec_events;
    job->input_retina += result->velo.n_retina_events;
    for (int i = 0; i < SLC_HLT1_ROWS; i++) {
        totals->rows[i] += heads[i]->size;
        for (uint32_t e = 0; e < heads[i]->n_events && totals->of_event[i] != NULL; e++) {
            const uint32_t n = heads[i]->event_offset[e + 1] - heads[i]->event_offset[e];
            if (json_array_append_new(totals->of_event[i], json_integer((json_int_t)n)) != 0) {
                slc_cli_say("hlt1", "no memory for the JSON output");
                return false;
            }
        }
    }
    const slc_velo_decisions *decisions = &result->decisions;
    for (size_t i = 0; i < decisions->head.size; i++) {
        totals->accepted += decisions->lines[i] != 0;
        totals->limited += decisions->limited[i] != 0;
        for (uint32_t k = 0; k < job->lines.n_lines; k++) {
            totals->of_line[k] += decisions->lines[i] >> k & 1;
        }
    }
    for (int i = 0; i < 3; i++) {
        job->input_hits[i] += heads[SLC_HLT1_ROWS_UT + i]->size;
    }
    for (size_t i = 0; i < SLC_HLT1_STAGES; i++) {
        totals->seconds[i] += result->seconds[i];
    }
    return true;
}

/* Under --strict the first fault ends the run. */
static bool judge(slc_hlt1_job *job, const char *path, const slc_faults *faults)
{
    slc_faults_merge(&job->input_faults, faults);
    if (!job->options->strict || slc_faults_total(faults) == 0) {
        return true;
    }
    slc_cli_tell_first_fault("hlt1", path, "source", faults);
    return false;
}

static bool take_batch(slc_hlt1_job *job, const slc_flow_item *item)
{
    const slc_flow_hlt1_result *result = item->result;
    if (!judge(job, item->path, &item->reading) || !judge(job, item->path, &result->found.velo.faults) ||
        !judge(job, item->path, &result->found.faults)) {
        return false;
    }
    if (item->status != SLC_OK) {
        slc_cli_say("hlt1", "%s: %s", item->path, item->error.text);
        return false;
    }
    if (!judge(job, item->path, &result->truth_faults)) {
        return false;
    }
    if (job->options->truth && slc_hlt1_check_run(&job->check, &result->found, &result->truth,
                                                  &result->beyond, &job->error) != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
        return false;
    }
    if (slc_hlt1_watch_add(&job->watch, &result->found, &job->error) != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
        return false;
    }
    job->input_particles += result->truth.particles.head.size;
    if (!slc_hlt1_drawing_take(job, &result->found) || !slc_hlt1_job_append(job, result) ||
        !write_accepted(job, item) || !add_to_totals(job, &result->found) ||
        !slc_cli_identity_take(&job->identity, job->input_identity, "hlt1", &result->events)) {
        return false;
    }
    slc_cli_progress_show(&job->progress, job->totals.events, 0);
    return true;
}

/* ---- the end of an input ------------------------------------------------------------------------ */

/* A detector without a hit in all events of an input is not in it: that is told, as its tracks are missing.
 */
static void judge_input(slc_hlt1_job *job, const char *path, uint64_t events)
{
    static const char *const names[3] = {"the UT", "the SciFi", "the muon stations"};
    bool any = false;
    for (int i = 0; i < 3; i++) {
        any = any || job->input_hits[i] > 0;
    }
    for (int i = 0; i < 3 && events > job->input_cut; i++) {
        if (job->input_hits[i] == 0) {
            slc_cli_say("hlt1", "%s: none of its %llu events has a hit of %s", path,
                        (unsigned long long)events, names[i]);
            job->failed = job->failed || i < 2;
        }
    }
    if (job->input_retina > 0) {
        slc_cli_say("hlt1",
                    "%s: %llu of %llu events have no super-pixels: their hits of the VELO are the clusters "
                    "of the read-out (bank 73)",
                    path, (unsigned long long)job->input_retina, (unsigned long long)events);
    }
    if (job->options->truth && job->input_particles == 0 && events > 0) {
        slc_cli_say("hlt1", "%s: no event has truth to compare with", path);
        job->failed = true;
    }
    /* That the cut leaves out every event is a result, as of sluice velo. */
    job->useful = job->useful || ((any || job->input_cut > 0) && events > 0);
}

/* All comes out, and is wrong: told with --quiet, too. */
static void tell_doubts(slc_hlt1_job *job, const char *path)
{
    slc_hlt1_doubt doubts[SLC_HLT1_DOUBTS];
    for (size_t i = 0, n = slc_hlt1_watch_judge(&job->watch, job->geometry, doubts); i < n; i++) {
        slc_cli_tree row = slc_cli_append(&job->doubts, "doubts");
        slc_cli_put(&row, "input", path);
        slc_cli_put(&row, "of", doubts[i].what);
        slc_cli_put(&row, "text", (const char *)doubts[i].text);
        slc_cli_say("hlt1", "%s: %s", path, doubts[i].text);
    }
}

/* `cut` events are counted as lost and are not, as a signal ended their reading. */
static void tell_input(slc_hlt1_job *job, const slc_flow_item *end, uint64_t cut)
{
    const slc_io_totals *read = &end->totals;
    const uint64_t lost = read->lost_events - cut;
    const bool damaged = end->damage[0] != '\0' && (lost > 0 || cut == 0);
    job->totals.lost_events += lost + slc_faults_of(&job->input_faults, SLC_FAULT_EVENT_CROSSINGS);
    job->totals.incomplete_events += read->incomplete_events;
    if (lost > 0 || (damaged && read->incomplete_events == 0)) {
        slc_cli_say("hlt1", "%s; %llu event%s lost, %llu read", damaged ? end->damage : end->path,
                    (unsigned long long)lost, lost == 1 ? "" : "s", (unsigned long long)read->events);
        job->failed = true;
    }
    if (read->incomplete_events > 0) {
        slc_cli_say("hlt1", "%s; %llu of %llu events lack a source",
                    lost == 0 && damaged ? end->damage : end->path,
                    (unsigned long long)read->incomplete_events, (unsigned long long)read->events);
        job->failed = true;
    }
    judge_input(job, end->path, read->events);
    tell_doubts(job, end->path);
    slc_cli_identity_tell(job->input_identity, "hlt1", end->path);
    slc_cli_tell_faults("hlt1", end->path, "source", &job->input_faults); /* with --quiet, too */
}

static bool take_end(slc_hlt1_job *job, const slc_flow_item *end)
{
    bool go_on = true;
    if (slc_cli_interrupted() && !end->opened) {
        return !slc_cli_broken(); /* its opening waited for bytes that do not come any more */
    }
    if (end->status < 0) {
        slc_cli_say("hlt1", "%s", end->error.text);
        job->failed = true;
        go_on = !job->options->strict && end->status != SLC_ERR_MEMORY;
    } else {
        go_on = judge(job, end->path, &end->reading);
    }
    const uint64_t cut = slc_cli_take_back_cut(end->path, &job->input_faults);
    slc_faults_merge(&job->totals.faults, &job->input_faults);
    if (go_on && end->opened) {
        tell_input(job, end, cut);
    }
    memset(job->input_hits, 0, sizeof job->input_hits);
    memset(job->input_identity, 0, sizeof job->input_identity);
    job->input_particles = job->input_cut = job->input_retina = 0;
    slc_faults_reset(&job->input_faults);
    return go_on;
}

bool slc_hlt1_job_run(slc_hlt1_job *job)
{
    slc_flow_item *item = NULL;
    slc_status status;
    while ((status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        if (item != NULL && item->ended && slc_cli_broken()) {
            return false;
        }
        if (item != NULL) {
            slc_live_flow_add(job->page.flow, item);
            if (!(item->ended ? take_end(job, item) : take_batch(job, item))) {
                return false;
            }
        }
        slc_cli_page_tick(&job->page, job->flow, item != NULL ? item->path : NULL, NULL);
        slc_flow_release(job->flow, item);
    }
    if (status != SLC_END) {
        slc_cli_say("hlt1", "%s", job->error.text);
    }
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    job->totals.checksum = totals.checksum;
    job->partial = slc_cli_cut();
    return status == SLC_END && !slc_cli_broken();
}
