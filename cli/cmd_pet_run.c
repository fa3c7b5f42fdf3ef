/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice pet run`: raw frames to coincidences, streaming; options, and how a run begins and ends.
 */
#include "cmd_pet_run.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_pet_run)

#define O slc_pet_run_options
static const slc_cli_option table[] = {
    SLC_PET_FRAME_OPTIONS(slc_pet_run_options),
    SLC_PET_SERIES_OPTION(slc_pet_run_options),
    SLC_PET_TOLERATE_OPTION(slc_pet_run_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_run_options),
    SLC_PET_RUN_TIME_OPTIONS,
    {"output", 'o', STDOUT_TOO | OUTPUTS(O, output, slc_pet_run_list_files), "NAME",
     "write the coincidences; - is standard output, for formats of one file"},
    SLC_PET_RUN_RESULT_OPTIONS(STDOUT_TOO),
    {"device", 0, DEVICE(slc_pet_run_options, device), "WHICH",
     "cpu (the default), or a GPU: cuda or cuda:N"},
    {"batch", 0, COUNT(slc_pet_run_options, batch, 0, 1 << 28), "N",
     "frames at a time; 0: 2^16, on a GPU 2^22"},
    {"threads", 0, COUNT(slc_pet_run_options, threads, 0, 64), "N",
     "0: one for each processor; results do not depend on it"},
    {"json", 0, FLAG(slc_pet_run_options, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors and what was lost"},
};
#undef O

static void set_defaults(void *at)
{
    *(slc_pet_run_options *)at = (slc_pet_run_options){.frames = SLC_PET_FRAME_WORDS,
                                                       .horizon_ns = SLC_PET_HORIZON_NS,
                                                       .bin_ns = 1e9,
                                                       .ring_difference = 65536,
                                                       .threads = 1};
}

/* ---- options ----------------------------------------------------------------------------------- */

/* Standard output takes one thing; no output destroys an input. */
static int check_files(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const int prints = slc_cli_prints(COMMAND, o);
    if (prints > 1) {
        return slc_cli_wrong(COMMAND, "standard output takes one of the outputs alone");
    }
    if (prints == 1 && (!o->quiet || o->json)) {
        return slc_cli_wrong(COMMAND, "an output to '-' and what is told both print: %s",
                             o->json ? "leave out --json" : "add --quiet");
    }
    return slc_pet_files_check(COMMAND, o, job->paths.path, job->paths.n);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static int fail(const slc_pet_run_job *job, slc_status status)
{
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", job->error.text);
    }
    slc_cli_say("pet run", "%s", job->error.text);
    return SLC_CLI_FAILED;
}

static int end(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    job->failed = !slc_pet_inputs_tell(&job->inputs, "pet run", o->quiet, o->tolerate_loss) || job->failed;
    slc_pet_doubts_tell("pet run", &job->inputs.seen, &job->tables);
    job->failed = !(slc_pet_clock_tell("pet run", &job->totals.convert) || o->tolerate_loss) || job->failed;
    const bool left = slc_pet_energies_tell("pet run", &job->inputs.seen, &job->tables, &job->config.convert,
                                            &job->totals.convert);
    job->failed = !left || job->failed;
    job->writes_nothing = slc_pet_nothing_tell("pet run", &job->totals.convert);
    if (job->writes_nothing) {
        job->failed = true;
    } else {
        job->failed = slc_pet_most_lost_tell(&job->inputs, "pet run", &job->totals.convert) || job->failed;
        slc_pet_run_outputs_finish(job);
    }
    slc_pet_frame_faults_tell(&job->inputs, "pet run", &job->faults);
    if (!slc_pet_late_tell("pet run", &job->totals.sort, job->config.sort.horizon_ps)) {
        job->failed = true;
    }
    job->failed = !slc_pet_run_print(job) || job->failed;
    return job->failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int process(slc_pet_run_job *job, char **inputs, int n)
{
    if (slc_io_pet_inputs_open((const char *const *)inputs, (size_t)n, &job->inputs, &job->error) != SLC_OK) {
        slc_cli_say("pet run", "no memory for %d inputs", n);
        return SLC_CLI_FAILED;
    }
    slc_status status = slc_pet_chain_open(&job->config, &job->tables, &job->chain, &job->error);
    status = status == SLC_OK ? slc_pet_run_outputs_open(job) : status;
    if (status != SLC_OK) {
        return fail(job, status);
    }
    job->reads_once = slc_cli_reads_once(inputs, n);
    slc_cli_catch_signals();
    slc_cli_progress_begin(&job->progress, "pet run", job->options->quiet);
    job->progress.unit = "frames";
    const double began = slc_clock_seconds();
    status = slc_pet_run_flow(job);
    job->seconds_total = slc_clock_seconds() - began;
    slc_cli_progress_end(&job->progress);
    if (status == SLC_END) {
        return SLC_CLI_FAILED; /* the process ends as the signal would have ended it */
    }
    if (status != SLC_OK) {
        (void)slc_pet_inputs_tell(&job->inputs, "pet run", job->options->quiet, job->options->tolerate_loss);
        slc_cli_say("pet run", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return end(job);
}

static void clear(slc_pet_run_job *job)
{
    slc_pet_run_outputs_abandon(job);
    slc_pet_chain_close(job->chain);
    for (int i = 0; i < SLC_PET_RUN_SLOTS; i++) {
        slc_pet_result_clear(&job->slot[i].result);
        free(job->slot[i].frames);
        free(job->slot[i].received_ns);
    }
    slc_io_pet_inputs_close(&job->inputs);
    slc_pet_paths_clear(&job->paths);
    if (job->owned) {
        slc_io_pet_tables_clear(&job->tables);
    }
    free(job);
}

static int act(const slc_cli_call *call)
{
    slc_pet_run_options *o = call->options;
    slc_pet_run_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("pet run", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = o;
    int status = slc_pet_run_config_of(COMMAND, "--output", job);
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &job->paths);
    }
    status = status == SLC_CLI_GO_ON ? check_files(job) : status;
    if (status == SLC_CLI_GO_ON) {
        const bool gpu = o->device != NULL && strcmp(o->device, "cpu") != 0;
        o->batch = o->batch > 0 ? o->batch : gpu ? 1 << 22 : 1 << 16;
        status = slc_pet_tables_of(COMMAND, &o->frames, &job->tables, &job->owned);
    }
    if (status == SLC_CLI_GO_ON) {
        status = process(job, job->paths.path, job->paths.n);
    }
    clear(job);
    return status;
}

const slc_cli_command slc_cmd_pet_run = {
    .name = "pet run",
    .operands = "FRAMES...",
    .summary = "turn raw PET frames into coincidences",
    .description =
        "Reads raw frames, one input behind the other, converts them to singles, sorts these by time "
        "and finds\n"
        "coincidences, in bounded memory, on a processor or a GPU. '-' is standard input.\n" SLC_PET_REPLACES,
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
