/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet convert`: raw frames to singles, in the order in which they arrived.
 */
#include "cli_results.h"
#include "cmd_pet_measured.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <string.h>

#define COMMAND (&slc_cmd_pet_convert)

typedef struct convert_options {
    slc_pet_frame_words frames;
    double kev[2];
    const char *output;
    uint64_t batch, threads;
    bool series, tolerate_loss, json, quiet;
} convert_options;

#define O convert_options
static const slc_cli_option options_table[] = {
    SLC_PET_FRAME_OPTIONS(convert_options),
    SLC_PET_SERIES_OPTION(convert_options),
    SLC_PET_TOLERATE_OPTION(convert_options),
    {"energies", 0, SLC_PET_ENERGIES(O, kev), "LOW:HIGH", "keV; singles outside are dropped"},
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT(O, output), "FILE",
     "the singles, as columns by .h5 .arrow .npy; - is standard output"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 28), "N", "frames at a time; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 64), "N", "0: one for each processor; results do not depend on it"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object with the counts"},
    {"quiet", 'q', FLAG(O, quiet), NULL,
     "no summary and no progress on standard error, only errors and what was lost"},
};
#undef O

static void set_defaults(void *at)
{
    *(convert_options *)at = (convert_options){.frames = SLC_PET_FRAME_WORDS, .batch = 1 << 18, .threads = 1};
}

typedef struct job {
    const convert_options *options;
    slc_pet_config config;
    slc_pet_tables tables;
    bool owned; /* the tables' memory */
    slc_pet_measured measured;
    slc_pet_paths paths;
    slc_io_pet_inputs inputs;
    slc_flow_pet_setup setup;
    slc_flow *flow;
    slc_pet_singles_file writer;
    slc_pet_convert_counts counts;
    slc_faults faults;
    slc_cli_progress progress;
    double seconds;
    slc_error error;
} job;

static slc_status convert_all(job *j)
{
    slc_flow_item *item = NULL;
    slc_status status;
    while ((status = slc_flow_next(j->flow, &item, &j->error)) == SLC_OK) {
        const slc_flow_pet_result *batch = item->result;
        j->counts = batch->totals->convert;
        j->seconds += batch->result->seconds[SLC_PET_STAGE_CONVERT];
        slc_faults_merge(&j->faults, &batch->result->faults);
        slc_cli_progress_show(&j->progress, j->counts.frames, 0);
        status = slc_pet_singles_put(&j->writer, &batch->result->singles, &j->error);
        slc_flow_release(j->flow, item);
        if (status != SLC_OK) {
            break;
        }
    }
    return status == SLC_END ? SLC_OK : status;
}

static bool tell(const job *j)
{
    slc_cli_tree tree = slc_cli_tree_new("pet convert");
    slc_cli_put(&tree, "command", "pet convert");
    slc_cli_put(&tree, "partial", slc_cli_cut());
    slc_pet_put_convert(&tree, &j->counts);
    slc_pet_put_records(&tree, &j->inputs.records);
    slc_pet_put_faults(&tree, &j->inputs, &j->faults);
    slc_cli_put_count(&tree, "missing_datagrams", j->inputs.missing);
    slc_cli_put(&tree, "seconds", j->seconds);
    slc_pet_measured_put(&j->measured, &tree);
    slc_pet_put_doubts(&tree, &j->inputs.seen, &j->tables);
    slc_pet_put_losses(&tree, &j->inputs);
    const bool printed = !j->options->json || slc_cli_tree_print_json(&tree);
    if (!j->options->json && !j->options->quiet) {
        slc_cli_tree_say(&tree,
                         "{convert.frames} frames, {convert.singles} singles; dropped: {convert.no_crystal} "
                         "between crystals, {convert.below} below and {convert.above} above the energies; "
                         "{convert.turns} turns of clocks, {convert.backwards} frames back in time; "
                         "{seconds|.3f} s");
    }
    slc_cli_tree_clear(&tree);
    return printed;
}

static int end(job *j, slc_status status)
{
    bool written = false;
    slc_pet_measured_tell(&j->measured, "pet convert", j->options->frames.tables);
    bool good = slc_pet_inputs_tell(&j->inputs, "pet convert", j->options->quiet, j->options->tolerate_loss);
    slc_pet_doubts_tell("pet convert", &j->inputs.seen, &j->tables);
    good = (slc_pet_clock_tell("pet convert", &j->counts) || j->options->tolerate_loss) && good;
    good = slc_pet_singles_tell("pet convert", &j->inputs.seen, &j->tables, &j->config.convert, &j->counts) &&
           good;
    if (status == SLC_OK && slc_pet_nothing_tell(&j->inputs, "pet convert", &j->counts)) {
        good = false;
    } else if (status == SLC_OK && !slc_cli_broken()) {
        good = !slc_pet_most_lost_tell(&j->inputs, "pet convert", &j->counts) && good;
        status = slc_pet_singles_finish(&j->writer, slc_cli_cut(), &j->error);
        written = status == SLC_OK;
    }
    if (status != SLC_OK) {
        slc_cli_say("pet convert", "%s", j->error.text);
        return SLC_CLI_FAILED;
    }
    if (slc_cli_broken()) {
        return SLC_CLI_FAILED;
    }
    if (slc_cli_cut()) {
        if (written) {
            slc_cli_kept kept = {.n = 0};
            slc_cli_kept_add(&kept, j->options->output);
            slc_cli_tell_partial("pet convert", j->counts.singles, "single", &kept);
        }
        slc_cli_accept_signal();
        good = false;
    }
    slc_pet_frame_faults_tell(&j->inputs, "pet convert", &j->faults);
    good = tell(j) && good;
    return good ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int process(job *j)
{
    const slc_pet_frame_words *words = &j->options->frames;
    j->setup = (slc_flow_pet_setup){.config = &j->config,
                                    .tables = &j->tables,
                                    .inputs = &j->inputs,
                                    .format = words->used,
                                    .own_formats = words->own};
    slc_status status = slc_pet_flow_open(&j->paths, j->options->batch, &j->setup, &j->flow, &j->error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", j->error.text);
    }
    slc_cli_end_with_signals(j->paths.path, j->paths.n);
    slc_cli_catch_signals();
    slc_cli_progress_begin(&j->progress, "pet convert", j->options->quiet);
    j->progress.unit = "frames";
    if (status == SLC_OK) {
        status = slc_pet_singles_create(j->options->output, NULL, &j->writer, &j->error);
    }
    status = status == SLC_OK ? convert_all(j) : status;
    slc_flow_close(j->flow); /* and with it the reading */
    slc_cli_progress_end(&j->progress);
    return end(j, status);
}

static int act(const slc_cli_call *call)
{
    convert_options *o = call->options;
    job j = {.options = o};
    int status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &j.paths);
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_files_check(COMMAND, o, j.paths.path, j.paths.n);
    }
    if (status == SLC_CLI_GO_ON && o->json && strcmp(o->output, "-") == 0) {
        status = slc_cli_wrong(COMMAND, "--json and --output - both print: give --output a file");
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_format_of(COMMAND, &o->frames, j.paths.path, j.paths.n);
    }
    slc_pet_config_default(&j.config);
    slc_pet_convert_config_of(&o->frames, o->kev, &j.config.convert);
    j.config.until = SLC_PET_STAGE_CONVERT;
    j.config.exec.threads = (uint32_t)o->threads;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_tables_of(COMMAND, &o->frames, &j.tables, &j.owned);
    }
    if (status == SLC_CLI_GO_ON) {
        slc_pet_measured_energies(&j.measured, &j.tables, o->kev, &j.config.convert);
        status = process(&j);
    }
    slc_io_pet_inputs_close(&j.inputs);
    slc_pet_paths_clear(&j.paths);
    slc_pet_format_clear(&o->frames);
    slc_pet_singles_abandon(&j.writer);
    if (j.owned) {
        slc_io_pet_tables_clear(&j.tables);
    }
    return status;
}

const slc_cli_command slc_cmd_pet_convert = {
    .name = "pet convert",
    .operands = "FRAMES...",
    .summary = "convert raw PET frames to singles",
    .description =
        "Reads raw frames, one input behind the other, and writes singles in their order: crystal, "
        "time and energy.\n"
        "'-' is standard input.\n" SLC_PET_REPLACES,
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
