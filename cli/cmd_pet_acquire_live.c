/* SPDX-License-Identifier: Apache-2.0
 *
 * The outputs of `sluice pet acquire`'s live chain. They are those of `sluice pet run` and written by its
 * code; here is what is different: a failure leaves the acquisition alone, and outputs may lack what the
 * chain had no time for. Nothing in a list of pairs shows that, so a file beside each of them says it.
 */
#include "cmd_pet_acquire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const command = "pet acquire";

/* Errors of the outputs are kept, and told by the thread that shows the line. */
static void take(slc_pet_acquire_job *job, const slc_pet_batch *batch)
{
    job->run.totals = *batch->totals;
    slc_io_pet_seen_add(&job->run.inputs.seen, batch->frames, batch->n);
    job->has_last = batch->last;
    if (slc_pet_run_outputs_take(&job->run, batch) != SLC_OK) {
        atomic_store(&job->live_failed, true);
    }
    atomic_store(&job->failures, job->run.n_failures);
}

bool slc_pet_acquire_live(void *context, const slc_pet_batch *batch)
{
    slc_pet_acquire_job *job = context;
    slc_faults_merge(&job->run.faults, &batch->result->faults);
    slc_pet_page_take(&job->run, batch);
    if (!atomic_load(&job->live_failed)) {
        take(job, batch);
    }
    return !atomic_load(&job->live_failed) || job->config.output != NULL;
}

void slc_pet_acquire_tell_failures(slc_pet_acquire_job *job)
{
    const uint32_t n = atomic_load(&job->failures);
    const bool raw = job->config.output != NULL;
    for (; job->told_failures < n; job->told_failures++) {
        const bool none_left = job->told_failures + 1 == n && atomic_load(&job->live_failed);
        slc_cli_say(command, "%s; %s", job->run.failure[job->told_failures].text,
                    none_left && !raw ? "the acquisition ends"
                    : none_left       ? "raw data are written further on"
                    : raw             ? "raw data and the other outputs are written further on"
                                      : "the other outputs are written further on");
    }
}

bool slc_pet_acquire_is_complete(const slc_pet_acquire_job *job)
{
    return job->counts.live_skipped == 0 && job->error.status == SLC_OK;
}

/* ---- marks ------------------------------------------------------------------------------------- */

static char *mark_of(const char *output)
{
    static const char end[] = ".incomplete";
    char *name = malloc(strlen(output) + sizeof end);
    if (name != NULL) {
        memcpy(name, output, strlen(output));
        memcpy(name + strlen(output), end, sizeof end);
    }
    return name;
}

static slc_status write_mark(const slc_pet_acquire_job *job, const char *name, slc_error *error)
{
    const slc_daq_pet_counts *c = &job->counts;
    slc_io_writer *writer = NULL;
    slc_status status = slc_io_text_create(name, &writer, error);
    if (status == SLC_OK) {
        FILE *stream = slc_io_text_stream(writer);
        if (c->live_skipped > 0) {
            (void)fprintf(stream,
                          "%" PRIu64 " of %" PRIu64 " frames did not go through the live chain, in %" PRIu64
                          " gap%s.\nThey are in %s: sluice pet run finds everything.\n",
                          c->live_skipped, c->frames, c->live_gaps, c->live_gaps == 1 ? "" : "s",
                          job->config.output);
        }
        if (job->error.status != SLC_OK) {
            (void)fprintf(stream, "The acquisition failed: %s\n", job->error.text);
        }
        status = slc_io_finish(writer, error);
    }
    return status;
}

/* NAME.incomplete beside an output, or none: also not one of an acquisition before. */
static void mark(slc_pet_acquire_job *job, const char *output, bool lost)
{
    struct stat there;
    slc_error error = {.status = SLC_OK};
    if (output == NULL || lost || (stat(output, &there) == 0 && !S_ISREG(there.st_mode))) {
        return; /* not there, or a pipe */
    }
    char *name = mark_of(output);
    slc_status status = SLC_OK;
    if (name == NULL) {
        status = slc_fail(&error, SLC_ERR_MEMORY, "%s: no memory to mark it as incomplete", output);
    } else if (!slc_pet_acquire_is_complete(job)) {
        status = write_mark(job, name, &error);
    } else if (unlink(name) != 0 && errno != ENOENT) {
        status = slc_fail(&error, SLC_ERR_IO, "%s: cannot remove: %s", name, strerror(errno));
    }
    if (status != SLC_OK) {
        slc_cli_say(command, "%s", error.text);
        job->run.failed = true;
    }
    free(name);
}

/* ---- the end ----------------------------------------------------------------------------------- */

bool slc_pet_acquire_finish(slc_pet_acquire_job *job)
{
    const slc_pet_run_options *o = &job->options->run;
    const char *const outputs[] = {[SLC_PET_RUN_SINGLES] = o->singles,
                                   [SLC_PET_RUN_LATE] = o->late,
                                   [SLC_PET_RUN_PAIRS] = o->output,
                                   [SLC_PET_RUN_SINOGRAM] = o->sinogram,
                                   [SLC_PET_RUN_MARKS] = o->marks,
                                   [SLC_PET_RUN_PARTS] = o->rates,
                                   o->rate_plot};
    atomic_store(&job->ending, true);
    if (!atomic_load(&job->live_failed) && !job->has_last) { /* the chain failed: what waits is written yet */
        const slc_pet_result nothing = {.seconds = {0}};
        const slc_pet_totals totals = job->run.totals;
        take(job, &(slc_pet_batch){.result = &nothing, .totals = &totals, .last = true});
    }
    slc_pet_acquire_tell_failures(job);
    slc_pet_doubts_tell(command, &job->run.inputs.seen, &job->run.tables);
    if (!slc_pet_singles_tell(command, &job->run.inputs.seen, &job->run.tables, &job->run.config.convert,
                              &job->counts.chain.convert)) {
        job->run.failed = true;
    }
    if (slc_pet_places_tell(command, &job->counts.chain.convert)) {
        job->run.failed = true;
    }
    slc_pet_run_outputs_finish(&job->run);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        mark(job, outputs[i], i < SLC_PET_RUN_PARTS && job->run.lost[i]);
    }
    if (!atomic_load(&job->live_failed) && job->counts.live_skipped > 0) {
        slc_cli_say(
            command,
            "the live chain went without %" PRIu64 " of %" PRIu64
            " frames: what it wrote is incomplete, and marked by files NAME.incomplete; sluice pet run "
            "finds everything in %s",
            job->counts.live_skipped, job->counts.frames, job->config.output);
    }
    return !job->run.failed;
}
