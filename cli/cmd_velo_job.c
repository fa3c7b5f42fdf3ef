/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of `sluice velo` over inputs and batches: read, run the chain, compare with truth, append to the
 * output, add to the totals. Memory is bounded by one batch.
 */
#include "cmd_velo.h"

#include <inttypes.h>
#include <string.h>

/* Functions that return bool return true to go on; on false the reason has been told. */

/* ---- what is told about an input ------------------------------------------------------------- */

static void print_place(char *to, size_t size, const slc_fault *fault)
{
    const int n = fault->module < 0
                      ? snprintf(to, size, "event %" PRIu64, fault->event)
                      : snprintf(to, size, "event %" PRIu64 ", source %" PRId32, fault->event, fault->module);
    char *rest = to + n;
    const size_t left = size - (size_t)n;
    switch (fault->code) {
    case SLC_FAULT_SUPERPIXEL_HINT:
        (void)snprintf(rest, left, ", super-pixel column %" PRIu64 ", row %" PRIu64,
                       fault->offset / SLC_VELO_SUPERPIXEL_ROWS, fault->offset % SLC_VELO_SUPERPIXEL_ROWS);
        break;
    case SLC_FAULT_EVENT_NO_VP:
    case SLC_FAULT_EVENT_CROWDED:
        break; /* the whole event */
    default:
        (void)snprintf(rest, left, ", byte %" PRIu64 " of the event", fault->offset);
    }
}

/* A fault of this kind means an event that is lost, and the reader has a line of its own on it. */
static bool loses_event(slc_fault_code code)
{
    switch (code) {
    case SLC_FAULT_RECORD_HEADER:
    case SLC_FAULT_RECORD_TRUNCATED:
    case SLC_FAULT_RECORD_CHECKSUM:
    case SLC_FAULT_RECORD_COMPRESSION:
    case SLC_FAULT_RECORD_TYPE:
    case SLC_FAULT_EVENT_SHAPE:
        return true;
    case SLC_FAULT_EVENT_CROSSINGS: /* found by the chain, which has no line of its own: told with the others
                                     */
    default:
        return false;
    }
}

static const slc_fault *first_of(const slc_faults *faults, slc_fault_code code)
{
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        if (faults->kept[i].code == code) {
            return &faults->kept[i];
        }
    }
    return NULL;
}

static void tell_faults(const char *path, const slc_faults *faults)
{
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        const slc_fault_code code = (slc_fault_code)i;
        if (faults->count[i] == 0 || loses_event(code)) {
            continue;
        }
        char place[96];
        const slc_fault *first = first_of(faults, code);
        if (first != NULL) {
            print_place(place, sizeof place, first);
        }
        slc_cli_say("velo", "%s: %" PRIu64 " × %s (%s)%s%s", path, faults->count[i], slc_fault_name(code),
                    slc_fault_text(code), first != NULL ? ", first at " : "", first != NULL ? place : "");
    }
}

static void tell_input(slc_velo_job *job, const char *path, slc_io_source *source, const slc_faults *faults,
                       bool has_truth)
{
    slc_io_totals read;
    slc_io_totals_of(source, &read);
    job->totals.lost_events += read.lost_events + faults->count[SLC_FAULT_EVENT_CROSSINGS];
    const char *damage = slc_io_damage(source);
    if (read.lost_events > 0) {
        /* Bytes that make no event may have held several: the reader counts stretches. */
        slc_cli_say("velo", "%s; %" PRIu64 " event%s lost, %" PRIu64 " read", damage != NULL ? damage : path,
                    read.lost_events, read.lost_events == 1 ? "" : "s", read.events);
        job->failed = true;
    }
    if (job->options->quiet) {
        return;
    }
    tell_faults(path, faults);
    if (job->options->truth && !has_truth && read.events > 0) {
        slc_cli_say("velo", "%s: no simulation truth in it: counts of the comparison do not include it",
                    path);
    }
}

/* ---- one batch ------------------------------------------------------------------------------- */

/* Under --strict: tells the first fault of `faults` and stops. */
static bool judge(const slc_velo_job *job, const char *path, const slc_io_source *source,
                  const slc_faults *faults)
{
    if (!job->options->strict || slc_faults_total(faults) == 0) {
        return true;
    }
    const slc_fault *first = &faults->kept[0];
    if (loses_event(first->code) && slc_io_damage(source) != NULL) {
        slc_cli_say("velo", "%s", slc_io_damage(source));
        return false;
    }
    char place[96];
    print_place(place, sizeof place, first);
    slc_cli_say("velo", "%s: %s: %s (%s)", path, place, slc_fault_name(first->code),
                slc_fault_text(first->code));
    return false;
}

static bool append_all(slc_velo_job *job)
{
    const struct {
        const char *name;
        const slc_schema *schema;
        const void *collection;
        bool wanted;
    } groups[] = {
        {"hits", &slc_velo_hits_schema, &job->result.hits, true},
        {"tracks", &slc_velo_tracks_schema, &job->result.tracks, true},
        {"track_hits", &slc_velo_track_hits_schema, &job->result.track_hits, true},
        {"states_beam", &slc_velo_states_schema, &job->result.beam, true},
        {"states_end", &slc_velo_states_schema, &job->result.end, true},
        {"particles", &slc_velo_particles_schema, &job->truth.particles, job->options->truth},
        {"particle_ids", &slc_velo_particle_ids_schema, &job->truth.ids, job->options->truth},
        {"vertices", &slc_velo_vertices_schema, &job->truth.vertices, job->options->truth},
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
    return append_all(job);
}

/* Truth that holds nothing, for the spectra of a report on events that came without. */
static slc_status no_truth(slc_velo_job *job)
{
    const uint32_t n_events = job->result.hits.head.n_events;
    slc_status status = slc_columns_reserve(&slc_velo_particles_schema, &job->truth.particles, 0, n_events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &job->truth.ids, 0, n_events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_vertices_schema, &job->truth.vertices, 0, n_events);
    }
    slc_velo_truth_reset(&job->truth);
    for (uint32_t i = 0; i < n_events && status == SLC_OK; i++) {
        slc_velo_truth_end_event(&job->truth);
    }
    return status;
}

static bool read_truth(slc_velo_job *job, const char *path, const slc_io_source *source, slc_faults *faults)
{
    slc_faults found = {.n_kept = 0};
    const slc_status status = slc_velo_truth_read(&job->batch, &job->truth, &found, &job->error);
    slc_faults_merge(faults, &found);
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s: %s", path, job->error.text);
        return false;
    }
    return judge(job, path, source, &found);
}

static bool compare(slc_velo_job *job)
{
    slc_status status = job->options->truth ? SLC_OK : no_truth(job);
    if (status == SLC_OK) {
        status = slc_velo_check_run(&job->check, &job->result, &job->truth, &job->matches);
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "comparison with truth: %s", slc_status_name(status));
    }
    return status == SLC_OK;
}

static bool add_to_totals(slc_velo_job *job)
{
    slc_velo_totals *totals = &job->totals;
    const slc_velo_result *result = &job->result;
    const slc_columns *hits = &result->hits.head;
    totals->events += hits->n_events;
    totals->superpixels += result->n_superpixels;
    totals->isolated += result->n_isolated;
    totals->pixels += result->n_pixels;
    totals->hits += hits->size;
    totals->tracks += result->tracks.head.size;
    totals->checksum = slc_velo_result_checksum(result, totals->checksum);
    for (uint32_t i = 0; i < hits->n_events && totals->hits_per_event != NULL; i++) {
        const uint32_t n = hits->event_offset[i + 1] - hits->event_offset[i];
        if (json_array_append_new(totals->hits_per_event, json_integer((json_int_t)n)) != 0) {
            slc_cli_say("velo", "no memory for clusters_per_event");
            return false;
        }
    }
    return true;
}

/* The chain over the batch that was read. Its time is what `seconds` means. */
static slc_status run_chain(slc_velo_job *job, bool raw)
{
    const double began = slc_clock_seconds();
    slc_status status;
    status = raw ? slc_velo_chain_reserve(job->chain, &job->batch, &job->result)
                 : slc_velo_chain_reserve_hits(job->chain, &job->result);
    if (status != SLC_OK) {
        return slc_fail(&job->error, status, "no room for a batch: %s", slc_status_name(status));
    }
    status = raw ? slc_velo_chain_run(job->chain, &job->batch, &job->result, &job->error)
                 : slc_velo_chain_run_hits(job->chain, &job->result, &job->error);
    job->totals.seconds += slc_clock_seconds() - began;
    return status;
}

static bool use_batch(slc_velo_job *job, const char *path, slc_io_source *source, bool raw,
                      slc_faults *faults)
{
    const slc_status status = run_chain(job, raw);
    slc_faults_merge(faults, &job->result.faults);
    if (!judge(job, path, source, &job->result.faults)) {
        return false;
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s: %s", path, job->error.text);
        return false;
    }
    if (raw && job->options->truth && !read_truth(job, path, source, faults)) {
        return false;
    }
    if ((job->options->truth || job->options->report != NULL) && !compare(job)) {
        return false;
    }
    return (job->hdf5 == NULL || append_all(job)) && add_to_totals(job);
}

/* ---- one input ------------------------------------------------------------------------------- */

static slc_status read_batch(slc_velo_job *job, slc_io_source *source, bool raw, slc_faults *faults)
{
    /* Under --strict event by event: the first fault is then the first in the input, whatever the batch. */
    const uint32_t most = job->options->strict ? 1 : (uint32_t)job->options->batch;
    if (raw) {
        return slc_io_read_batch(source, most, SLC_VELO_BATCH_BYTES, &job->batch, faults, &job->error);
    }
    slc_io_totals before;
    slc_io_totals_of(source, &before);
    job->result.first_event = before.events;
    return slc_io_read_velo_hits(source, most, &job->result.hits, job->options->truth ? &job->truth : NULL,
                                 faults, &job->error);
}

static bool run_input(slc_velo_job *job, const char *path, slc_io_source *source, slc_faults *faults,
                      bool *has_truth)
{
    const bool raw = slc_io_content_of(source) == SLC_IO_RAW_EVENTS;
    for (;;) {
        slc_faults reading = {.n_kept = 0};
        const slc_status status = read_batch(job, source, raw, &reading);
        slc_faults_merge(faults, &reading);
        if (slc_cli_interrupted()) {
            return false;
        }
        if (status < 0) {
            /* The input cannot be read on; what was read of it counts, and other inputs may be better. */
            slc_cli_say("velo", "%s", job->error.text);
            job->failed = true;
            return !job->options->strict && status != SLC_ERR_MEMORY;
        }
        if (!judge(job, path, source, &reading)) {
            return false;
        }
        if (status == SLC_END) {
            return true;
        }
        if (!use_batch(job, path, source, raw, faults)) {
            return false;
        }
        *has_truth = *has_truth || job->truth.particles.head.size > 0;
        slc_cli_progress_show(&job->progress, job->totals.events, 0);
    }
}

bool slc_velo_job_input(slc_velo_job *job, const char *path)
{
    slc_io_source *source = NULL;
    slc_faults faults = {.n_kept = 0};
    bool has_truth = false;
    if (slc_io_open(path, NULL, &source, &job->error) != SLC_OK) {
        if (slc_cli_interrupted()) {
            return false;
        }
        slc_cli_say("velo", "%s", job->error.text);
        job->failed = true;
        return !job->options->strict;
    }
    const bool go_on = run_input(job, path, source, &faults, &has_truth);
    slc_faults_merge(&job->totals.faults, &faults);
    if (go_on) {
        tell_input(job, path, source, &faults, has_truth);
    }
    slc_io_close(source);
    return go_on;
}
