/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice-mpi pet`: raw frames to coincidences over the processes of a run:
 *
 *     shares of the inputs ─convert, sort─► singles in order ─exchange─► ranges of time ─coincidences─► pairs
 *
 * What it finds is what `sluice pet run` finds, to the bit: singles of one time stay in the order of the
 * inputs and of arrival, those that come behind the horizon of all before them are late, and a coincidence is
 * of the range that its opener is in (pet_coincidence.h: ranges).
 */
#include "mpi_pet.h"
#include "mpi_commands.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_mpi_cmd_pet)

#define O       slc_pet_run_options
#define REFUSED "of 'sluice pet run' alone: it needs all singles in one process"
static const slc_cli_option table[] = {
    SLC_PET_FRAME_OPTIONS(slc_pet_run_options),
    SLC_PET_SERIES_OPTION(slc_pet_run_options),
    SLC_PET_TOLERATE_OPTION(slc_pet_run_options),
    SLC_PET_PROMPT_OPTIONS(slc_pet_run_options),
    SLC_PET_RUN_TIME_OPTIONS,
    {"output", 'o', STDOUT_TOO | OUTPUTS(O, output, slc_pet_run_list_files), "NAME",
     "write the coincidences; - is standard output, for formats of one file"},
    SLC_PET_RUN_FORMAT_OPTIONS,
    SLC_PET_RUN_PROMPTS_OPTION,
    SLC_PET_RUN_SINOGRAM_OPTIONS(STDOUT_TOO),
    {"singles", 0, TEXT(slc_pet_run_options, singles), "FILE", REFUSED},
    {"late", 0, TEXT(slc_pet_run_options, late), "FILE", REFUSED},
    {"subtract", 0, FLAG(slc_pet_run_options, subtract), NULL, REFUSED},
    {"rates", 0, TEXT(slc_pet_run_options, rates), "FILE", REFUSED},
    {"rate-plot", 0, TEXT(slc_pet_run_options, rate_plot), "FILE", REFUSED},
    {"dead-time", 0, TEXT(slc_pet_run_options, device), "TIME", REFUSED},
    {"batch", 0, COUNT(slc_pet_run_options, batch, 0, 1 << 28), "N", "frames at a time; 0: 2^16"},
    {"threads", 0, COUNT(slc_pet_run_options, threads, 0, 64), "N",
     "of each process; 0: one for each processor"},
    {"json", 0, FLAG(slc_pet_run_options, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "print nothing but errors and what was lost"},
};
#undef O
#undef REFUSED

static void set_defaults(void *at)
{
    *(slc_pet_run_options *)at = (slc_pet_run_options)SLC_PET_RUN_DEFAULTS;
}

static int refuse(void)
{
    static const char *const alone[] = {"singles", "late", "subtract", "rates", "rate-plot", "dead-time"};
    if (slc_cli_word(COMMAND, "frame-format") != NULL) {
        return slc_cli_wrong(COMMAND, "--frame-format is of 'sluice pet run' alone");
    }
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        if (slc_cli_word(COMMAND, alone[i]) != NULL) {
            return slc_cli_wrong(COMMAND, "--%s needs all singles in one process: 'sluice pet run' has it",
                                 alone[i]);
        }
    }
    return SLC_CLI_GO_ON;
}

/* ---- a run ------------------------------------------------------------------------------------- */

static slc_status open_outputs(slc_mpi_pet *pet)
{
    slc_pet_run_job *job = pet->job;
    slc_status status = pet->world.rank == 0 ? slc_pet_run_outputs_open(job) : SLC_OK;
    slc_pet_pair_randoms_close(job->randoms); /* it would need all singles */
    job->randoms = NULL;
    return slc_mpi_agree(&pet->world, status, &job->error);
}

static slc_status run(slc_mpi_pet *pet)
{
    slc_pet_run_job *job = pet->job;
    const double began = slc_clock_seconds();
    const bool writes = job->options->output != NULL || job->options->sinogram != NULL;
    slc_status status = open_outputs(pet);
    status = status == SLC_OK ? slc_mpi_pet_read(pet) : status;
    status = status == SLC_OK ? slc_mpi_pet_gather(pet) : status;
    status = status == SLC_OK ? slc_mpi_pet_share(pet) : status;
    status = status == SLC_OK ? slc_mpi_pet_find(pet, writes) : status;
    status = status == SLC_OK && writes ? slc_mpi_pet_write(pet) : status;
    (void)MPI_Reduce(pet->seconds, job->seconds, SLC_PET_STAGES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    job->seconds_total = slc_clock_seconds() - began;
    return status;
}

static int process(slc_pet_run_job *job)
{
    slc_mpi_pet pet = {.world = slc_mpi_here(), .job = job};
    const slc_status status = run(&pet);
    int exit_status = SLC_CLI_DONE;
    if (status == SLC_ERR_USAGE) {
        exit_status = slc_cli_wrong(COMMAND, "%s", job->error.text);
    } else if (status != SLC_OK) {
        slc_cli_say("pet", "%s", job->error.text);
        exit_status = SLC_CLI_FAILED;
    } else if (pet.world.rank == 0) {
        exit_status = slc_pet_run_end(job);
    }
    slc_io_pet_inputs_close(&pet.inputs);
    slc_columns_clear(&slc_pet_singles_schema, &pet.singles);
    slc_columns_clear(&slc_pet_coincidences_schema, &pet.prompts);
    slc_columns_clear(&slc_pet_coincidences_schema, &pet.delayeds);
    free(pet.place);
    return exit_status;
}

static void clear(slc_pet_run_job *job)
{
    slc_pet_run_outputs_abandon(job);
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
        slc_cli_say("pet", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->command = "pet";
    job->options = o;
    o->batch = o->batch > 0 ? o->batch : 1 << 16;
    int status = refuse();
    status = status == SLC_CLI_GO_ON ? slc_pet_run_config_of(COMMAND, "--output", job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_paths_of(COMMAND, call->operands, call->n, o->series, o->quiet, &job->paths);
    }
    status = status == SLC_CLI_GO_ON ? slc_pet_run_check_files(COMMAND, job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_pet_run_tables(COMMAND, job);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_mpi_begin() ? process(job) : SLC_CLI_USAGE;
    }
    clear(job);
    return status;
}

const slc_cli_command slc_mpi_cmd_pet = {
    .name = "pet",
    .operands = "FRAMES...",
    .summary = "turn raw PET frames into coincidences",
    .description =
        "Reads raw frames as 'sluice pet run' does, each process a share, and finds the same coincidences: "
        "each\n"
        "process those of a range of time. All singles are in memory. Process 0 writes and "
        "prints.\n" SLC_PET_REPLACES,
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
