/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet sort`: nearly ordered singles to ordered ones, as they come, in the memory of a horizon.
 */
#include "cli_results.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_sort)

typedef struct sort_options {
    const char *output, *late;
    double horizon_ns;
    uint64_t batch, threads;
    bool json, quiet;
} sort_options;

#define O sort_options
static const slc_cli_option options_table[] = {
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT(O, output), "FILE",
     "them in order, as columns by .h5 .arrow .npy; - is standard output"},
    {"late", 0, OUTPUT(O, late), "FILE", "write singles that came later than the horizon allows"},
    {"horizon", 0, SLC_PET_HORIZON(O, horizon_ns), "TIME",
     "how far behind the latest time a single may come (default 1ms)"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 28), "N", "singles at a time; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "0: one for each processor; results do not depend on it"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object with the counts"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no summary and no progress on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(sort_options *)at = (sort_options){.horizon_ns = SLC_PET_HORIZON_NS, .batch = 1 << 18, .threads = 1};
}

typedef struct job {
    const sort_options *options;
    slc_pet_sort_config config;
    slc_io_pet_singles *input;
    slc_pet_sort *stage;
    slc_pet_singles singles, sorted, late;
    slc_pet_singles_file out, late_out;
    slc_pet_sort_counts counts;
    slc_cli_progress progress;
    double seconds;
    slc_error error;
} job;

static slc_status sort_some(job *j, bool last)
{
    const double began = slc_clock_seconds();
    slc_columns_reset(&j->sorted);
    slc_columns_reset(&j->late);
    slc_status status = slc_pet_sort_run(j->stage, &j->singles, last, &j->sorted,
                                         j->late_out.writer != NULL ? &j->late : NULL, &j->error);
    j->seconds += slc_clock_seconds() - began;
    status = status == SLC_OK ? slc_pet_singles_put(&j->out, &j->sorted, &j->error) : status;
    if (status == SLC_OK && j->late_out.writer != NULL) {
        status = slc_pet_singles_put(&j->late_out, &j->late, &j->error);
    }
    return status;
}

/* A pipe that a signal ended may have left a piece of a record, which is no damage. */
static slc_status sort_all(job *j, char *path)
{
    slc_status status = SLC_OK;
    uint64_t taken = 0;
    while (status == SLC_OK && !slc_cli_stop(NULL)) {
        slc_columns_reset(&j->singles);
        status = slc_io_pet_singles_read(j->input, (size_t)j->options->batch, &j->singles, &j->error);
        if (status == SLC_ERR_FORMAT && slc_cli_reads_once(&path, 1) && slc_cli_stop(NULL)) {
            status = SLC_OK;
        }
        if (status == SLC_OK) {
            taken += j->singles.head.size;
            status = sort_some(j, false);
            slc_cli_progress_show(&j->progress, taken, 0);
        }
    }
    if (status == SLC_END && !slc_cli_stop(NULL)) { /* else what waits may have others before it */
        slc_columns_reset(&j->singles);
        status = sort_some(j, true);
    }
    slc_pet_sort_counts_of(j->stage, &j->counts);
    return status == SLC_END ? SLC_OK : status;
}

static slc_status open_all(job *j, const char *path)
{
    slc_status status = slc_pet_sort_open(&j->config, &j->stage, &j->error);
    if (status == SLC_OK) {
        status = slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES, &j->input, &j->error);
    }
    if (status == SLC_OK) {
        status = slc_pet_singles_create(j->options->output, NULL, &j->out, &j->error);
    }
    if (status == SLC_OK && j->options->late != NULL) {
        status = slc_pet_singles_create(j->options->late, NULL, &j->late_out, &j->error);
    }
    return status;
}

static slc_status finish(job *j)
{
    const bool partial = slc_cli_cut();
    const slc_status status = slc_pet_singles_finish(&j->out, partial, &j->error);
    return j->late_out.writer != NULL && status == SLC_OK
               ? slc_pet_singles_finish(&j->late_out, partial, &j->error)
               : status;
}

static bool tell(const job *j)
{
    slc_cli_tree tree = slc_cli_tree_new("pet sort");
    slc_cli_put(&tree, "command", "pet sort");
    slc_cli_put(&tree, "partial", slc_cli_cut());
    slc_pet_put_sort(&tree, &j->counts, j->config.horizon_ps);
    slc_cli_put(&tree, "seconds", j->seconds);
    const bool printed = !j->options->json || slc_cli_tree_print_json(&tree);
    if (!j->options->json && !j->options->quiet) {
        slc_cli_tree_say(&tree, "{sort.taken} singles, {sort.given} in order, {sort.late} late; largest lag "
                                "{sort.largest_lag_ps*1e-6|.9g} us; {seconds|.3f} s");
    }
    slc_cli_tree_clear(&tree);
    return printed;
}

static int process(job *j, char *path)
{
    slc_cli_end_with_signals(&path, 1);
    slc_cli_catch_signals();
    slc_cli_progress_begin(&j->progress, "pet sort", j->options->quiet);
    j->progress.unit = "singles";
    slc_status status = open_all(j, path);
    status = status == SLC_OK ? sort_all(j, path) : status;
    slc_cli_progress_end(&j->progress);
    if (slc_cli_broken()) {
        return SLC_CLI_FAILED;
    }
    if (status == SLC_OK && j->counts.taken == 0) {
        status = slc_fail(&j->error, SLC_ERR_FORMAT, "%s: there are no singles in it", path);
    }
    status = status == SLC_OK ? finish(j) : status;
    if (status != SLC_OK) {
        slc_cli_say("pet sort", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    const bool kept = slc_pet_late_tell("pet sort", &j->counts, j->config.horizon_ps);
    if (slc_cli_cut()) {
        slc_cli_kept files = {.n = 0};
        slc_cli_kept_add(&files, j->options->output);
        slc_cli_kept_add(&files, j->options->late);
        slc_cli_tell_partial("pet sort", j->counts.given, "single", &files);
        slc_cli_accept_signal();
    }
    return tell(j) && kept && !slc_cli_cut() ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    const sort_options *o = call->options;
    job j = {.options = o};
    if (o->json && strcmp(o->output, "-") == 0) {
        return slc_cli_wrong(COMMAND, "--json and --output - both print: give --output a file");
    }
    int status = slc_pet_files_check(COMMAND, o, call->operands, 1);
    slc_pet_sort_config_default(&j.config);
    j.config.exec.threads = (uint32_t)o->threads;
    j.config.horizon_ps = SLC_PET_PS(o->horizon_ns);
    status = status == SLC_CLI_GO_ON ? process(&j, call->operands[0]) : status;
    if (j.input != NULL) {
        slc_pet_note_tell("pet sort", call->operands[0], slc_io_pet_singles_note(j.input));
    }
    slc_io_pet_singles_close(j.input);
    slc_pet_sort_close(j.stage);
    slc_pet_singles_abandon(&j.out);
    slc_pet_singles_abandon(&j.late_out);
    slc_columns_clear(&slc_pet_singles_schema, &j.singles);
    slc_columns_clear(&slc_pet_singles_schema, &j.sorted);
    slc_columns_clear(&slc_pet_singles_schema, &j.late);
    return status;
}

const slc_cli_command slc_cmd_pet_sort = {
    .name = "pet sort",
    .operands = "SINGLES",
    .summary = "sort nearly ordered PET singles by time",
    .description =
        "Puts singles, as they come from several modules, into the order of their times, stable, in "
        "the memory\n"
        "that singles of one horizon need. '-' is standard input.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = 1,
    .defaults = set_defaults,
    .act = act,
};
