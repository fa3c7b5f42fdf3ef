/* SPDX-License-Identifier: Apache-2.0
 * What `sluice pet acquire` tells: a line each second, a table or JSON at the end. */
#include "cli_faults.h"
#include "cli_sums.h"
#include "cmd_pet_acquire.h"

#include <inttypes.h>
#include <jansson.h>
#include <unistd.h>

void slc_pet_acquire_wipe(slc_pet_acquire_job *job)
{
    if (job->line_is_shown) {
        (void)fputs("\r\033[K", stderr);
        job->line_is_shown = false;
    }
}

static void show(slc_pet_acquire_job *job, const slc_daq_pet_counts *c)
{
    const double seconds = c->seconds - job->shown_seconds;
    const double share = seconds > 0 ? 1e-6 / seconds : 0;
    const bool in_place = isatty(STDERR_FILENO) == 1;
    (void)fprintf(stderr,
                  "%ssluice pet acquire: %.0f s, %" PRIu64 " frames, %.3f M/s, %.1f MB/s, %" PRIu64
                  " lost, %" PRIu64 " dropped, %" PRIu64 " malformed, ring %.0f %%",
                  in_place ? "\r\033[K" : "", c->seconds, c->frames,
                  (double)(c->frames - job->shown_frames) * share,
                  (double)(c->bytes - job->shown_bytes) * share, c->lost, c->kernel_drops + c->ring_drops,
                  c->malformed, 100 * c->ring_fill);
    if (job->config.chain != NULL) {
        (void)fprintf(stderr, "; live %" PRIu64 " prompts, %" PRIu64 " frames skipped", c->chain.prompt.pairs,
                      c->live_skipped);
    }
    (void)fputs(in_place ? "" : "\n", stderr);
    (void)fflush(stderr);
    job->line_is_shown = in_place;
    job->shown_frames = c->frames;
    job->shown_bytes = c->bytes;
    job->shown_seconds = c->seconds;
}

static void tell_waiting(slc_pet_acquire_job *job)
{
    const char *pipe = atomic_load(&job->run.waits_for);
    if (pipe != NULL && pipe != job->told_pipe && !job->options->quiet) {
        job->told_pipe = pipe;
        slc_pet_acquire_wipe(job);
        slc_cli_say("pet acquire", "the live chain waits for a reader of %s", pipe);
    }
}

/* An end that takes its time. Where no signal has come yet, the first does no more than those that end it. */
static void tell_ending(slc_pet_acquire_job *job, const slc_daq_pet_counts *c)
{
    const char *again = slc_cli_interrupted() ? "the same signal again ends" : "Ctrl-C twice ends";
    if (!c->ending || job->options->quiet) {
        return;
    }
    if (!c->written && !job->ending_is_told) {
        job->ending_is_told = true;
        slc_pet_acquire_wipe(job);
        slc_cli_say("pet acquire",
                    "ending: what was received is still being written; %s it at once, without that", again);
    } else if (c->written && !job->file_is_told) {
        job->file_is_told = true;
        slc_pet_acquire_wipe(job);
        slc_cli_say("pet acquire",
                    "ending: %sthe live chain is still at work; %s it at once, without its files",
                    job->options->output != NULL ? "the raw data are complete; " : "", again);
    }
}

bool slc_pet_acquire_tell(void *context, const slc_daq_pet_counts *counts)
{
    slc_pet_acquire_job *job = context;
    if (atomic_load(&job->failures) > job->told_failures) {
        slc_pet_acquire_wipe(job);
        slc_pet_acquire_tell_failures(job);
    }
    if (counts->ending) {
        atomic_store(&job->ending, true);
    }
    tell_waiting(job);
    tell_ending(job, counts);
    if (job->shows_line) {
        show(job, counts);
    }
    return true;
}

/* ---- losses ------------------------------------------------------------------------------------ */

bool slc_pet_acquire_tell_losses(const slc_pet_acquire_job *job)
{
    const slc_daq_pet_counts *c = &job->counts;
    const uint64_t drops = c->kernel_drops + c->ring_drops, lost = c->lost > drops ? c->lost : drops;
    const uint64_t frames = c->lost_frames + c->unwritten_frames;
    const uint64_t kept = c->frames - c->left_out;
    double foreign = 0; /* as lost as the others: copies are no loss */
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        foreign += slc_pet_frames_of(&c->module[i], c->module[i].foreign);
    }
    const bool too_many = slc_pet_loss_is_large(frames + (uint64_t)(foreign + 0.5), kept);
    if (c->unwritten > 0) {
        slc_cli_say("pet acquire",
                    "%" PRIu64 " datagrams with %" PRIu64
                    " frames were received, and are lost: they are not in %s",
                    c->unwritten, c->unwritten_frames, job->options->output);
    }
    if (lost > 0) {
        char counters[64] = "no sequence counter tells of others";
        if (job->config.raw.payload.sequence_bytes > 0) {
            (void)snprintf(counters, sizeof counters, "%" PRIu64 " by the sequence counters", c->lost);
        }
        slc_cli_say("pet acquire",
                    "lost %" PRIu64 " datagrams, about %" PRIu64
                    " frames (%.3g %%): %s; the system dropped %" PRIu64 ", and %" PRIu64
                    " more while the ring was full",
                    lost, c->lost_frames,
                    100 * slc_cli_ratio((double)c->lost_frames, (double)c->lost_frames + (double)kept),
                    counters, c->kernel_drops, c->ring_drops);
    }
    if (c->malformed > 0) {
        slc_cli_say("pet acquire",
                    "%" PRIu64
                    " malformed datagrams: not a whole number of frames behind their header; whole "
                    "frames are used",
                    c->malformed);
    }
    slc_pet_unused_tell("pet acquire", "", c->repeated, c->foreign, foreign > (double)kept);
    if (too_many && !job->options->tolerate_loss) {
        slc_cli_say("pet acquire", "more than 0.1 %% of the frames: exit status 1 (--tolerate-loss: 0)");
    }
    return !too_many;
}

/* ---- the table --------------------------------------------------------------------------------- */

static void print_modules(const slc_daq_pet_counts *c)
{
    (void)printf("%-8s %12s %14s %10s %10s %10s %10s %10s %9s\n", "module", "datagrams", "frames", "lost",
                 "malformed", "reordered", "repeated", "foreign", "restarts");
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        const slc_daq_pet_module *m = &c->module[i];
        if (m->datagrams > 0) {
            (void)printf("%-8d %12" PRIu64 " %14" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
                         " %10" PRIu64 " %10" PRIu64 " %9" PRIu64 "\n",
                         i, m->datagrams, m->frames, m->lost, m->malformed, m->reordered, m->repeated,
                         m->foreign, m->restarts);
        }
    }
}

/* With the tails that were left out, as pet run finds them in the file. */
static slc_faults faults_of(const slc_pet_acquire_job *job)
{
    slc_faults faults = job->run.faults;
    slc_faults_count(&faults, SLC_FAULT_PET_DATAGRAM, job->counts.malformed - job->counts.empty);
    return faults;
}

static void print_live(const slc_pet_acquire_job *job)
{
    const slc_pet_totals *t = &job->counts.chain;
    const slc_pet_convert_counts *v = &t->convert;
    const slc_faults faults = faults_of(job);
    (void)printf("  %-14s %" PRIu64 " turns of counters, %" PRIu64 " frames back in their module's time\n",
                 "clocks", v->turns, v->backwards);
    (void)printf("  %-14s %" PRIu64 ", largest lag %.9g us\n", "singles", v->singles,
                 (double)t->sort.largest_lag_ps * 1e-6);
    (void)printf("  %-14s %" PRIu64 " behind the horizon of %.9g us\n", "late", t->sort.late,
                 (double)job->run.config.sort.horizon_ps * 1e-6);
    (void)printf("  %-14s %" PRIu64 "\n", "prompts", t->prompt.pairs);
    if (job->run.config.delayed) {
        (void)printf("  %-14s %" PRIu64 "\n", "delayeds", t->delayed.pairs);
    }
    (void)printf("  %-14s %" PRIu64 " of unknown modules, %" PRIu64 " units, %" PRIu64 " places, %" PRIu64
                 " between crystals; %" PRIu64 " outside the energies\n",
                 "no singles", v->module, v->unit, v->position, v->no_crystal, v->below + v->above);
    if (job->counts.live_skipped > 0) {
        (void)printf("  %-14s %" PRIu64 " frames in %" PRIu64 " gap%s, which are in the raw file alone\n",
                     "skipped", job->counts.live_skipped, job->counts.live_gaps,
                     job->counts.live_gaps == 1 ? "" : "s");
    }
    slc_pet_run_print_outputs(&job->run, "  ");
    slc_cli_print_faults(&faults);
}

void slc_pet_acquire_print_text(const slc_pet_acquire_job *job)
{
    const slc_daq_pet_counts *c = &job->counts;
    const double seconds = c->seconds > 0 ? c->seconds : 1;
    const bool sequence = job->config.raw.payload.sequence_bytes > 0;
    (void)printf("%.3f s, %" PRIu64 " datagrams, %" PRIu64 " frames, %.3f M frames/s, %.1f MB/s\n",
                 c->seconds, c->datagrams, c->frames, (double)c->frames / seconds * 1e-6,
                 (double)c->bytes / seconds * 1e-6);
    if (sequence) {
        (void)printf("  %-14s %" PRIu64 " datagrams, by the sequence counter\n", "lost", c->lost);
    } else {
        (void)printf("  %-14s not known: there is no sequence counter\n", "lost");
    }
    (void)printf("  %-14s %" PRIu64 " datagrams by the system, %" PRIu64 " more while the ring was full\n",
                 "dropped", c->kernel_drops, c->ring_drops);
    if (c->unwritten > 0) {
        (void)printf("  %-14s %" PRIu64 " datagrams, %" PRIu64 " frames, which are not counted above\n",
                     "not written", c->unwritten, c->unwritten_frames);
    }
    (void)printf("  %-14s %" PRIu64 " datagrams\n", "malformed", c->malformed);
    if (c->left_out > 0) {
        (void)printf("  %-14s %" PRIu64 " frames, of %" PRIu64 " repeated and %" PRIu64
                     " foreign datagrams\n",
                     "left out", c->left_out, c->repeated, c->foreign);
    }
    (void)printf("  %-14s %.1f %% at the fullest\n", "ring", 100 * c->ring_fill);
    if (job->options->output != NULL) {
        (void)printf("  %-14s %" PRIu64 " bytes, %" PRIu64 " files\n", "written", c->written_bytes, c->files);
    }
    if (job->config.chain != NULL) {
        print_live(job);
    }
    print_modules(c);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *modules_json(const slc_daq_pet_counts *c)
{
    json_t *array = json_array();
    for (int i = 0; i < SLC_PET_MAX_MODULES && array != NULL; i++) {
        const slc_daq_pet_module *m = &c->module[i];
        if (m->datagrams > 0) {
            (void)json_array_append_new(
                array, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "module", i, "datagrams",
                                 (json_int_t)m->datagrams, "frames", (json_int_t)m->frames, "lost",
                                 (json_int_t)m->lost, "malformed", (json_int_t)m->malformed, "reordered",
                                 (json_int_t)m->reordered, "repeated", (json_int_t)m->repeated, "foreign",
                                 (json_int_t)m->foreign, "restarts", (json_int_t)m->restarts));
        }
    }
    return array;
}

static json_t *addresses_json(const slc_pet_acquire_job *job)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < job->config.n_listen && array != NULL; i++) {
        (void)json_array_append_new(array, json_string(job->address[i]));
    }
    return array;
}

static json_t *live_json(const slc_pet_acquire_job *job)
{
    const slc_daq_pet_counts *c = &job->counts;
    const slc_pet_totals *t = &c->chain;
    const slc_faults faults = faults_of(job);
    json_t *live = json_pack(
        "{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "complete",
        (int)(slc_pet_acquire_is_complete(job) && !job->live_failed && !job->run.failed), "skipped",
        (json_int_t)c->live_skipped, "gaps", (json_int_t)c->live_gaps, "prompts", (json_int_t)t->prompt.pairs,
        "delayeds", (json_int_t)t->delayed.pairs, "written", (json_int_t)job->run.written, "left_out",
        (json_int_t)job->run.left_out, "convert", slc_pet_convert_json(&t->convert), "sort",
        slc_pet_sort_json(&t->sort, job->run.config.sort.horizon_ps), "faults", slc_cli_faults_json(&faults));
    if (live != NULL) {
        slc_pet_run_add_outputs(&job->run, live);
    }
    return live;
}

bool slc_pet_acquire_print_json(const slc_pet_acquire_job *job)
{
    const slc_daq_pet_counts *c = &job->counts;
    json_t *object = json_pack(
        "{s:s, s:o, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "command", "pet acquire",
        "addresses", addresses_json(job), "seconds", c->seconds, "datagrams", (json_int_t)c->datagrams,
        "frames", (json_int_t)c->frames, "bytes", (json_int_t)c->bytes, "kernel_drops",
        (json_int_t)c->kernel_drops, "ring_drops", (json_int_t)c->ring_drops, "malformed",
        (json_int_t)c->malformed, "ring_fill", c->ring_fill, "socket_bytes", (json_int_t)c->socket_bytes,
        "written_bytes", (json_int_t)c->written_bytes, "files", (json_int_t)c->files, "modules",
        modules_json(c));
    if (object != NULL) {
        /* Without a counter nothing is known of loss: no number is better than a 0. */
        (void)json_object_set_new(
            object, "lost",
            job->config.raw.payload.sequence_bytes > 0 ? json_integer((json_int_t)c->lost) : json_null());
        (void)json_object_set_new(object, "repeated", json_integer((json_int_t)c->repeated));
        (void)json_object_set_new(object, "foreign", json_integer((json_int_t)c->foreign));
        (void)json_object_set_new(object, "left_out", json_integer((json_int_t)c->left_out));
        (void)json_object_set_new(object, "lost_frames", json_integer((json_int_t)c->lost_frames));
        (void)json_object_set_new(object, "unwritten", json_integer((json_int_t)c->unwritten));
        (void)json_object_set_new(object, "unwritten_frames", json_integer((json_int_t)c->unwritten_frames));
        if (job->config.chain != NULL) {
            (void)json_object_set_new(object, "live", live_json(job));
        }
    }
    return slc_cli_print_json("pet acquire", object);
}
