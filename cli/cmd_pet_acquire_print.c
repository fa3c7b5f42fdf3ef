/* SPDX-License-Identifier: Apache-2.0
 * What `sluice pet acquire` tells: a line each second, a table or JSON at the end. */
#include "cli_sums.h"
#include "cmd_pet_acquire.h"
#include "cmd_pet_tell.h"

#include <inttypes.h>
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
                    job->config.output != NULL ? "the raw data are complete; " : "", again);
    }
}

slc_live_pet_state slc_pet_acquire_state(const slc_pet_acquire_job *job, const slc_daq_pet_counts *counts)
{
    return (slc_live_pet_state){.daq = counts,
                                .sequence = job->config.raw.payload.sequence_bytes > 0,
                                .chain = job->config.chain != NULL ? &counts->chain : NULL,
                                .output = job->config.output};
}

bool slc_pet_acquire_tell(void *context, const slc_daq_pet_counts *counts)
{
    slc_pet_acquire_job *job = context;
    const slc_live_pet_state now = slc_pet_acquire_state(job, counts);
    slc_pet_page_tick(&job->run, &now, counts->ending);
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
        const slc_daq_pet_module *m = &c->module[i];
        foreign += m->foreign > 0 ? (double)m->foreign * (double)m->frames / (double)m->datagrams : 0;
    }
    const bool too_many = slc_pet_loss_is_large(frames + (uint64_t)(foreign + 0.5), kept);
    if (c->unwritten > 0) {
        slc_cli_say("pet acquire",
                    "%" PRIu64 " datagrams with %" PRIu64
                    " frames were received, and are lost: they are not in %s",
                    c->unwritten, c->unwritten_frames, job->config.output);
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
    if (c->broken > 0) {
        slc_cli_say("pet acquire",
                    "%" PRIu64 " of %" PRIu64 " connections ended inside a message: %" PRIu64
                    " bytes of such messages are left out",
                    c->broken, c->connections, c->broken_bytes);
    }
    if (c->notes_left_out > 0) {
        slc_cli_say("pet acquire", "%" PRIu64 " lines on connections, too many at once, were not told",
                    c->notes_left_out);
    }
    if (c->malformed > 0) {
        slc_cli_say("pet acquire",
                    "%" PRIu64
                    " malformed datagrams: not a whole number of frames behind their header; whole "
                    "frames are used",
                    c->malformed);
    }
    const bool fit = slc_pet_records_tell("pet acquire", "all datagrams", &c->records,
                                          job->options->tolerate_loss);
    slc_pet_unused_tell("pet acquire", "", c->repeated, c->foreign, foreign > (double)kept);
    if (too_many && !job->options->tolerate_loss) {
        slc_cli_say("pet acquire", "more than 0.1 %% of the frames: exit status 1 (--tolerate-loss: 0)");
    }
    return !too_many && fit;
}

/* ---- the table and JSON ------------------------------------------------------------------------ */

#define LINES(array) (array), sizeof(array) / sizeof *(array)

static const slc_cli_line head_lines[] = {
    {NULL,
     "{seconds|.3f} s, {datagrams} datagrams, {frames} frames, {frames/.seconds*1e-6|.3f} M frames/s, "
     "{bytes/.seconds*1e-6|.1f} MB/s",
     NULL},
};
static const slc_cli_line lines[] = {
    {"lost", "{lost} datagrams, by the sequence counter", ".sequence"},
    {"lost", "not known: there is no sequence counter", "!.sequence"},
    {"dropped", "{kernel_drops} datagrams by the system, {ring_drops} more while the ring was full", NULL},
    {"not written", "{unwritten} datagrams, {unwritten_frames} frames, which are not counted above",
     "unwritten"},
    {"malformed", "{malformed} datagrams", NULL},
    {"left out", "{left_out} frames, of {repeated} repeated and {foreign} foreign datagrams", "left_out"},
    {"records",
     "{records.records} by the frames' format: {records.singles} singles, {records.marks} marks, "
     "{records.skipped} skipped; {records.unknown} of no kind, {.records_refused} that do not fit",
     "records"},
    {"ring", "{ring_fill*100|.1f} % at the fullest", NULL},
    {"written", "{written_bytes} bytes, {files} files", ".output"},
};
static const slc_cli_line live_lines[] = {
    {"clocks", "{convert.turns} turns of counters, {convert.backwards} frames back in their module's time",
     NULL},
    {"singles", "{convert.singles}, largest lag {sort.largest_lag_ps*1e-6|.9g} us", NULL},
    {"late", "{sort.late} behind the horizon of {sort.horizon_ps*1e-6|.9g} us", NULL},
    {"prompts", "{prompts}", NULL},
    {"delayeds", "{delayeds}", ".delayed"},
    {"no singles",
     "{convert.module} of unknown modules, {convert.unit} units, {convert.position} places, "
     "{convert.no_crystal} "
     "between crystals; {.energies} outside the energies",
     NULL},
    {"skipped", "{skipped} frames in {gaps} gap{gaps|s}, which are in the raw file alone", "skipped"},
};
static const slc_cli_line fault_lines[] = {{"faults", "{faults|list}", NULL}};
static const slc_cli_column columns[] = {
    {"module", -8, "{module}", NULL},       {"datagrams", 12, "{datagrams}", NULL},
    {"frames", 14, "{frames}", NULL},       {"lost", 10, "{lost}", NULL},
    {"malformed", 10, "{malformed}", NULL}, {"reordered", 10, "{reordered}", NULL},
    {"repeated", 10, "{repeated}", NULL},   {"foreign", 10, "{foreign}", NULL},
    {"restarts", 9, "{restarts}", NULL},
};

#define M slc_daq_pet_module
static void put_modules(slc_cli_tree *tree, const slc_daq_pet_counts *c)
{
    static const slc_cli_field fields[] = {
        {"datagrams", FIELD(M, datagrams)}, {"frames", FIELD(M, frames)},
        {"lost", FIELD(M, lost)},           {"malformed", FIELD(M, malformed)},
        {"reordered", FIELD(M, reordered)}, {"repeated", FIELD(M, repeated)},
        {"foreign", FIELD(M, foreign)},     {"restarts", FIELD(M, restarts)}};
    slc_cli_put_array(tree, "modules");
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        if (c->module[i].datagrams > 0) {
            slc_cli_tree row = slc_cli_append(tree, "modules");
            slc_cli_put(&row, "module", i);
            slc_cli_put_fields(&row, "", LINES(fields), &c->module[i]);
        }
    }
}
#undef M

static void put_live(const slc_pet_acquire_job *job, slc_cli_tree *live)
{
    const slc_daq_pet_counts *c = &job->counts;
    const slc_pet_totals *t = &c->chain;
    slc_faults faults =
        job->run.faults; /* with the tails that were left out, as pet run finds them in the file */
    slc_faults_count(&faults, SLC_FAULT_PET_DATAGRAM, c->malformed - c->empty);
    slc_cli_put_bool(live, "complete",
                     slc_pet_acquire_is_complete(job) && !job->live_failed && !job->run.failed);
    slc_cli_put(live, "skipped", c->live_skipped);
    slc_cli_put(live, "gaps", c->live_gaps);
    slc_cli_put(live, "prompts", t->prompt.pairs);
    slc_cli_put(live, "delayeds", t->delayed.pairs);
    slc_cli_put_hex(live, "checksum", t->checksum);
    slc_cli_put(live, "written", job->run.written);
    slc_cli_put(live, "left_out", job->run.left_out);
    slc_pet_put_convert(live, &t->convert);
    slc_pet_put_sort(live, &t->sort, job->run.config.sort.horizon_ps);
    slc_cli_put_faults(live, "faults", &faults);
    slc_cli_put(live, ".energies", t->convert.below + t->convert.above);
    slc_cli_put(live, ".delayed", job->run.config.delayed);
    slc_pet_run_put_outputs(&job->run, live);
}

#define C slc_daq_pet_counts
static void put(const slc_pet_acquire_job *job, slc_cli_tree *tree)
{
    static const slc_cli_field first[] = {{"seconds", FIELD(C, seconds)},
                                          {"datagrams", FIELD(C, datagrams)},
                                          {"frames", FIELD(C, frames)},
                                          {"bytes", FIELD(C, bytes)},
                                          {"kernel_drops", FIELD(C, kernel_drops)},
                                          {"ring_drops", FIELD(C, ring_drops)},
                                          {"malformed", FIELD(C, malformed)},
                                          {"ring_fill", FIELD(C, ring_fill)},
                                          {"socket_bytes", FIELD(C, socket_bytes)},
                                          {"written_bytes", FIELD(C, written_bytes)},
                                          {"files", FIELD(C, files)}};
    static const slc_cli_field second[] = {{"repeated", FIELD(C, repeated)},
                                           {"foreign", FIELD(C, foreign)},
                                           {"left_out", FIELD(C, left_out)},
                                           {"lost_frames", FIELD(C, lost_frames)},
                                           {"connections", FIELD(C, connections)},
                                           {"broken_connections", FIELD(C, broken)},
                                           {"broken_bytes", FIELD(C, broken_bytes)},
                                           {"unwritten", FIELD(C, unwritten)},
                                           {"unwritten_frames", FIELD(C, unwritten_frames)}};
    const slc_daq_pet_counts *c = &job->counts;
    slc_cli_put(tree, "command", "pet acquire");
    slc_cli_put_array(tree, "addresses");
    for (uint32_t i = 0; i < job->config.n_listen; i++) {
        slc_cli_append_text(tree, "addresses", job->address[i]);
    }
    slc_cli_put_fields(tree, "", LINES(first), c);
    slc_pet_put_records(tree, &c->records);
    put_modules(tree, c);
    slc_cli_put_bool(tree, ".sequence", job->config.raw.payload.sequence_bytes > 0);
    slc_cli_put_null(tree, "lost"); /* without a counter nothing is known: no number is better than a 0 */
    if (job->config.raw.payload.sequence_bytes > 0) {
        slc_cli_put(tree, "lost", c->lost);
    }
    slc_cli_put_fields(tree, "", LINES(second), c);
    slc_cli_put(tree, ".seconds", c->seconds > 0 ? c->seconds : 1);
    slc_cli_put(tree, ".output", job->config.output);
    if (job->config.chain != NULL) {
        slc_cli_put_object(tree, "live");
        slc_cli_tree live = slc_cli_tree_in(tree, "live");
        put_live(job, &live);
    }
}
#undef C

bool slc_pet_acquire_print(const slc_pet_acquire_job *job)
{
    slc_cli_tree tree = slc_cli_tree_new("pet acquire");
    put(job, &tree);
    if (!job->options->json && !job->options->quiet) {
        slc_cli_print_lines(&tree, "", LINES(head_lines));
        slc_cli_print_lines(&tree, "  ", LINES(lines));
        const slc_cli_tree live = slc_cli_tree_in(&tree, "live");
        if (live.root != NULL) {
            slc_cli_print_lines(&live, "  ", LINES(live_lines));
            slc_pet_run_print_outputs(&live, "  ");
            slc_cli_print_lines(&live, "", LINES(fault_lines));
        }
        slc_cli_print_table(&tree, "modules", " ", LINES(columns));
    }
    const bool printed = !job->options->json || slc_cli_tree_print_json(&tree);
    slc_cli_tree_clear(&tree);
    return printed;
}
