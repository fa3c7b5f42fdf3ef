/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice velo` does with results: compare with truth, append to the output, add to the totals. Batches
 * come here in the order of the input and in one thread, whatever threads made them, so that nothing depends
 * on how many there were.
 */
#include "cmd_velo.h"

#include <inttypes.h>

/* Functions that return bool return true to go on; on false the reason has been told. */

static bool append_all(slc_velo_job *job, const slc_velo_slot *slot)
{
    const struct {
        const char *name;
        const slc_schema *schema;
        const void *collection;
        bool wanted;
    } groups[] = {
        {"events", &slc_lhcb_events_schema, &slot->events, true},
        {"hits", &slc_velo_hits_schema, &slot->result.hits, true},
        {"tracks", &slc_velo_tracks_schema, &slot->result.tracks, true},
        {"track_hits", &slc_velo_track_hits_schema, &slot->result.track_hits, true},
        {"states_beam", &slc_velo_states_schema, &slot->result.beam, true},
        {"states_end", &slc_velo_states_schema, &slot->result.end, true},
        {"primaries", &slc_velo_primaries_schema, &slot->result.primaries, true},
        {"decisions", &slc_velo_decisions_schema, job->selecting != NULL ? &job->selecting->decisions : NULL,
         job->selecting != NULL},
        {"particles", &slc_velo_particles_schema, &slot->truth.particles, job->options->truth},
        {"particle_ids", &slc_velo_particle_ids_schema, &slot->truth.ids, job->options->truth},
        {"vertices", &slc_velo_vertices_schema, &slot->truth.vertices, job->options->truth},
        {"matches", &slc_velo_matches_schema, &job->matches, job->options->truth},
    };
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i].wanted && slc_io_hdf5_append(job->hdf5, groups[i].name, groups[i].schema,
                                                   groups[i].collection, &job->error) != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            return false;
        }
    }
    return true;
}

/* The names to which numbers in the file refer. */
static bool put_names(slc_velo_job *job)
{
    slc_status status = slc_io_hdf5_names(job->hdf5, "events", "inputs", (size_t)job->n_inputs,
                                          (const char *const *)job->inputs, &job->error);
    if (status == SLC_OK && job->selecting != NULL) {
        const slc_velo_selection *selection = &job->selecting->selection;
        const char *lines[SLC_VELO_MAX_LINES];
        for (uint32_t k = 0; k < selection->n_lines; k++) {
            lines[k] = selection->lines[k].name;
        }
        status = slc_io_hdf5_names(job->hdf5, "decisions", "lines", selection->n_lines, lines, &job->error);
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return status == SLC_OK;
}

bool slc_velo_job_open_output(slc_velo_job *job, const char *command_line)
{
    slc_error *error = &job->error;
    const char *geometry = job->options->geometry != NULL ? job->options->geometry : "ideal";
    if (slc_io_hdf5_create(job->options->output, &job->hdf5, error) != SLC_OK ||
        slc_io_hdf5_text(job->hdf5, "sluice_version", slc_version(), error) != SLC_OK ||
        slc_io_hdf5_text(job->hdf5, "command", command_line, error) != SLC_OK ||
        slc_io_hdf5_text(job->hdf5, "geometry", geometry, error) != SLC_OK) {
        slc_cli_say("velo", "%s", error->text);
        return false;
    }
    return append_all(job, &job->slots[0]) && put_names(job);
}

/* Truth that holds nothing, for the spectra of a report on events that came without. */
static slc_status no_truth(slc_velo_slot *slot)
{
    const uint32_t n_events = slot->result.hits.head.n_events;
    slc_velo_truth *truth = &slot->truth;
    slc_status status = slc_columns_reserve(&slc_velo_particles_schema, &truth->particles, 0, n_events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &truth->ids, 0, n_events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_vertices_schema, &truth->vertices, 0, n_events);
    }
    slc_velo_truth_reset(truth);
    for (uint32_t i = 0; i < n_events && status == SLC_OK; i++) {
        slc_velo_truth_end_event(truth);
    }
    return status;
}

/* One thread compares, event after event: sums of fractions are then the same for any threads and batches. */
static bool compare(slc_velo_job *job, slc_velo_slot *slot)
{
    slc_status status = SLC_OK;
    if (!job->options->truth && no_truth(slot) != SLC_OK) {
        status = slc_fail(&job->error, SLC_ERR_MEMORY, "no memory to compare with");
    }
    if (status == SLC_OK) {
        status = slc_velo_check_run(&job->check, &slot->result, &slot->truth, &job->matches, &job->error);
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return status == SLC_OK;
}

static bool add_to_totals(slc_velo_job *job, const slc_velo_slot *slot)
{
    slc_velo_totals *totals = &job->totals;
    const slc_velo_result *result = &slot->result;
    const slc_columns *hits = &result->hits.head;
    totals->events += hits->n_events;
    totals->superpixels += result->n_superpixels;
    totals->isolated += result->n_isolated;
    totals->pixels += result->n_pixels;
    totals->hits += hits->size;
    totals->tracks += result->tracks.head.size;
    totals->primaries += result->primaries.head.size;
    totals->cut_events += result->n_cut_events;
    totals->superpixel_events += result->n_superpixel_events;
    totals->retina_events += result->n_retina_events;
    if (job->options->json) { /* the one place where it is shown, and it is no small work */
        totals->checksum = slc_velo_result_checksum(result, totals->checksum);
    }
    for (uint32_t i = 0; i < hits->n_events && totals->hits_per_event != NULL; i++) {
        const uint32_t n = hits->event_offset[i + 1] - hits->event_offset[i];
        if (json_array_append_new(totals->hits_per_event, json_integer((json_int_t)n)) != 0) {
            slc_cli_say("velo", "no memory for clusters_per_event");
            return false;
        }
    }
    return true;
}

/* Numbers of events as if those that were lost in earlier batches had never been counted. */
static void renumber(slc_faults *faults, uint64_t lost)
{
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        faults->kept[i].event -= lost;
    }
}

/* Faults and failures of the batch, in the order in which one thread alone would meet them. */
static bool judge_all(slc_velo_job *job, slc_velo_slot *slot)
{
    slc_velo_input *input = &job->input;
    const bool has_truth = input->raw && job->options->truth;
    slc_faults *all[] = {&slot->reading, &slot->result.faults, &slot->truth_faults};
    for (size_t i = 0; i < 3; i++) {
        renumber(all[i], input->losses.events);
    }
    slot->result.first_event -= input->losses.events;
    slc_faults_merge(&input->faults, &slot->reading);
    if (!slc_velo_judge(job, input->path, slot->damage, &slot->reading)) {
        return false;
    }
    slc_faults_merge(&input->faults, &slot->result.faults);
    if (!slc_velo_judge(job, input->path, slot->damage, &slot->result.faults)) {
        return false;
    }
    if (slot->status != SLC_OK) {
        slc_cli_say("velo", "%s: %s", input->path, slot->error.text);
        return false;
    }
    if (has_truth) {
        slc_faults_merge(&input->faults, &slot->truth_faults);
    }
    return !has_truth || slc_velo_judge(job, input->path, slot->damage, &slot->truth_faults);
}

static bool use_result(slc_velo_job *job, slc_velo_slot *slot)
{
    const slc_velo_options *options = job->options;
    double time = slc_clock_seconds();
    slc_velo_beam_look(job, slot);
    if ((options->truth || options->report != NULL) && !compare(job, slot)) {
        return false;
    }
    if (options->report != NULL && !slc_velo_drawing_take(job, slot)) {
        return false;
    }
    slot->spent[SLC_VELO_TIME_CHECK] = slc_clock_seconds() - time;
    time = slc_clock_seconds();
    if (job->selecting != NULL && !slc_velo_selecting_take(job->selecting, job->input.path, &slot->result,
                                                           job->input.raw ? &slot->batch : NULL)) {
        return false;
    }
    if ((job->hdf5 != NULL && !append_all(job, slot)) || !add_to_totals(job, slot) ||
        !slc_velo_identity_take(job, slot) || (options->repeat > 0 && !slc_velo_hold(job, slot))) {
        return false;
    }
    slot->spent[SLC_VELO_TIME_WRITE] = slc_clock_seconds() - time;
    return true;
}

bool slc_velo_job_take(slc_velo_job *job, slc_velo_slot *slot)
{
    slc_velo_input *input = &job->input;
    if (!judge_all(job, slot) || !use_result(job, slot)) {
        return false;
    }
    for (int stage = 0; stage < SLC_VELO_STAGES; stage++) {
        slot->spent[stage] = slot->result.seconds[stage];
        job->totals.seconds += slot->result.seconds[stage];
    }
    if (input->raw) {
        slc_io_losses_add(&input->losses, slot->deferred);
    }
    input->retina_events += slot->result.n_retina_events;
    input->has_truth = input->has_truth || slot->truth.particles.head.size > 0;
    slc_velo_timing_mark(&job->timing, slot->result.hits.head.n_events, slot->batch.size, slot->spent);
    slc_cli_progress_show(&job->progress, job->totals.events, 0);
    return true;
}
