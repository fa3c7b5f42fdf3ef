/* SPDX-License-Identifier: Apache-2.0
 * What `sluice pet acquire` tells: a line each second, a table or JSON at the end. */
#include "cli_faults.h"
#include "cmd_pet_acquire.h"

#include <inttypes.h>
#include <jansson.h>
#include <unistd.h>

void slc_pet_acquire_show(slc_pet_acquire_job *job, const slc_run_pet_counts *c)
{
    if (!job->shows_line) {
        return;
    }
    const double seconds = c->seconds - job->shown_seconds;
    const double share = seconds > 0 ? 1e-6 / seconds : 0;
    const bool in_place = isatty(STDERR_FILENO) == 1;
    (void)fprintf(stderr,
                  "%ssluice pet acquire: %.0f s, %" PRIu64 " frames, %.3f M/s, %.1f MB/s, %" PRIu64
                  " lost, %" PRIu64 " dropped, %" PRIu64 " malformed, ring %.0f %%%s",
                  in_place ? "\r\033[K" : "", c->seconds, c->frames,
                  (double)(c->frames - job->shown_frames) * share,
                  (double)(c->bytes - job->shown_bytes) * share, c->lost, c->kernel_drops + c->ring_drops,
                  c->malformed, 100 * c->ring_fill, in_place ? "" : "\n");
    (void)fflush(stderr);
    job->line_is_shown = in_place;
    job->shown_frames = c->frames;
    job->shown_bytes = c->bytes;
    job->shown_seconds = c->seconds;
}

void slc_pet_acquire_wipe(slc_pet_acquire_job *job)
{
    if (job->line_is_shown) {
        (void)fputs("\r\033[K", stderr);
        job->line_is_shown = false;
    }
}

/* ---- the table --------------------------------------------------------------------------------- */

static void print_modules(const slc_run_pet_counts *c)
{
    (void)printf("%-8s %12s %14s %10s %10s %10s %10s %9s\n", "module", "datagrams", "frames", "lost",
                 "malformed", "reordered", "repeated", "restarts");
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        const slc_run_pet_module *m = &c->module[i];
        if (m->datagrams > 0) {
            (void)printf("%-8d %12" PRIu64 " %14" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
                         " %10" PRIu64 " %9" PRIu64 "\n",
                         i, m->datagrams, m->frames, m->lost, m->malformed, m->reordered, m->repeated,
                         m->restarts);
        }
    }
}

static void print_live(const slc_pet_acquire_job *job)
{
    const slc_pet_totals *t = &job->counts.chain;
    const slc_pet_convert_counts *v = &t->convert;
    (void)printf("  %-14s %" PRIu64 "\n  %-14s %" PRIu64 "\n", "singles", t->sort.given, "prompts",
                 t->prompt.pairs);
    if (job->run.config.delayed) {
        (void)printf("  %-14s %" PRIu64 "\n", "delayeds", t->delayed.pairs);
    }
    (void)printf("  %-14s %" PRIu64 " of unknown modules, %" PRIu64 " units, %" PRIu64 " places, %" PRIu64
                 " between crystals; %" PRIu64 " outside the energies\n",
                 "no singles", v->module, v->unit, v->position, v->no_crystal, v->below + v->above);
    (void)printf("  %-14s %" PRIu64 " frames, in the raw file alone\n", "skipped", job->counts.live_skipped);
    slc_cli_print_faults(&job->run.faults);
}

void slc_pet_acquire_print_text(const slc_pet_acquire_job *job)
{
    const slc_run_pet_counts *c = &job->counts;
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
    (void)printf("  %-14s %" PRIu64 " datagrams\n", "malformed", c->malformed);
    (void)printf("  %-14s %.1f %% at the fullest\n", "ring", 100 * c->ring_fill);
    if (job->options->output != NULL) {
        (void)printf("  %-14s %" PRIu64 " bytes, %" PRIu64 " files\n", "written", c->written_bytes, c->files);
    }
    if (job->config.chain != NULL) {
        print_live(job);
    }
    print_modules(c);
    slc_pet_late_tell("pet acquire", &c->chain.sort, job->run.config.sort.horizon_ps);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *modules_json(const slc_run_pet_counts *c)
{
    json_t *array = json_array();
    for (int i = 0; i < SLC_PET_MAX_MODULES && array != NULL; i++) {
        const slc_run_pet_module *m = &c->module[i];
        if (m->datagrams > 0) {
            (void)json_array_append_new(
                array, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "module", i, "datagrams",
                                 (json_int_t)m->datagrams, "frames", (json_int_t)m->frames, "lost",
                                 (json_int_t)m->lost, "malformed", (json_int_t)m->malformed, "reordered",
                                 (json_int_t)m->reordered, "repeated", (json_int_t)m->repeated, "restarts",
                                 (json_int_t)m->restarts));
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
    const slc_pet_totals *t = &job->counts.chain;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "skipped",
                     (json_int_t)job->counts.live_skipped, "prompts", (json_int_t)t->prompt.pairs, "delayeds",
                     (json_int_t)t->delayed.pairs, "written", (json_int_t)job->run.written, "left_out",
                     (json_int_t)job->run.left_out, "convert", slc_pet_convert_json(&t->convert), "sort",
                     slc_pet_sort_json(&t->sort, job->run.config.sort.horizon_ps), "faults",
                     slc_cli_faults_json(&job->run.faults));
}

bool slc_pet_acquire_print_json(const slc_pet_acquire_job *job)
{
    const slc_run_pet_counts *c = &job->counts;
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
        if (job->config.chain != NULL) {
            (void)json_object_set_new(object, "live", live_json(job));
        }
    }
    return slc_cli_print_json("pet acquire", object);
}
