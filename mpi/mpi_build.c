/* SPDX-License-Identifier: Apache-2.0
 * `sluice-mpi build`: events of what readout units have, on as many builders as there are processes. */
#include "mpi_build.h"

#include "cli_talk.h"
#include "cli_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define O slc_build_options

enum { PACKING_MAX = 65535 };

static const slc_cli_option table[] = {
    {"split", 0, FLAG(O, split), NULL,
     "inputs are files of events: their sources are shared out over the ranks by bytes"},
    {"packing", 0, COUNT(O, packing, 1, PACKING_MAX), "N", "events in a pack, with --split and --generate"},
    {"generate", 0, BYTES_FROM(O, generate, "1k", "a number of bytes, as 9M"), "BYTES",
     "no inputs: each unit has packs of so many bytes, and their exchange is measured"},
    {"packs", 0, COUNT(O, packs, 1, 1 << 20), "N", "with --generate: packs of each builder in a round"},
    {"rate", 0, BYTES(O, rate, "bytes in a second, as 500M"), "BYTES",
     "with --generate: a unit has so many bytes a second; 0: as fast as they are taken"},
    {"repeat", 0, COUNT(O, repeat, 1, 1000), "N", "with --generate: rounds, of which the median counts"},
    {"in-flight", 0, COUNT(O, in_flight, 1, 16), "N", "packs on their way to a builder at once"},
    {"timeout", 0, NUMBER(O, timeout, 0, 1e6), "SECONDS",
     "wait so long for a unit that has nothing ready; its packs are then late, and lost"},
    {"piece", 0, BYTES_FROM(O, piece, "1", "a number of bytes, as 64M"), "BYTES",
     "the largest transfer: larger packs come in pieces, at most 1G"},
    {"stall", 0, NUMBERS(O, stall, 0, 1e9, "RANK,PACK,SECONDS"), "R,P,S",
     "rehearsal of a slow unit: that of rank R waits S seconds before its pack P"},
    {"geometry", 0, INPUTS(O, geometry, slc_cli_geometry_files), "FILE",
     "LHCb's velo_geometry.bin, or moves as JSON; without it the ideal geometry"},
    {"config", 0, INPUT(O, config), "FILE", "settings of the VELO's chain (JSON)"},
    {"output", 'o', RAW | OUTPUT(O, output), "FILE",
     "write events as MDF, or packets (.mep); %p in the name is the builder's rank"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of lines"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "only errors and what was lost on standard error"},
};

static void defaults(void *options)
{
    slc_build_options *o = options;
    *o = (slc_build_options){
        .packing = 100, .packs = 8, .repeat = 5, .in_flight = 2, .piece = 1 << 30, .timeout = 10};
}

/* ---- the run ----------------------------------------------------------------------------------- */

/* All packs of this builder. After a failure it takes the rest without wanting it, so that nobody waits. */
static slc_status build_all(slc_build_job *job, slc_error *error)
{
    const uint64_t n = (uint64_t)job->world.size, rank = (uint64_t)job->world.rank;
    slc_status status = SLC_OK;
    for (uint64_t k = 0; k * n + rank < job->units.packs.n_packs; k++) {
        slc_build_pull *pull;
        slc_error why;
        slc_status one = slc_build_exchange_pull(&job->exchange, k, status != SLC_OK, &pull, &why);
        if (one == SLC_OK && pull != NULL) {
            one = slc_build_work(job, pull, &why);
        }
        if (one == SLC_OK && slc_cli_interrupted()) {
            one = slc_fail(&why, SLC_ERR_IO, "interrupted");
        }
        if (one != SLC_OK && status == SLC_OK) {
            status = one;
            *error = why;
        }
    }
    return status;
}

/* Files of all builders, or none. */
static slc_status finish_output(slc_build_job *job, slc_error *error)
{
    slc_status status = SLC_OK;
    bool finished = false;
    if (job->writer != NULL && job->totals.events > 0) {
        status = slc_io_finish(job->writer, error);
        job->writer = NULL;
        finished = status == SLC_OK;
    }
    status = slc_mpi_agree(&job->world, status, error);
    if (status != SLC_OK && finished) {
        (void)remove(job->output);
    }
    return status;
}

static slc_status exchange_and_build(slc_build_job *job, slc_error *error)
{
    slc_status status = slc_build_exchange_begin(&job->exchange, error);
    if (status != SLC_OK) {
        return status;
    }
    status = build_all(job, error);
    slc_error ended;
    const slc_status end = slc_build_exchange_end(&job->exchange, &ended);
    if (status == SLC_OK && end != SLC_OK) {
        status = end;
        *error = ended;
    }
    job->totals.exchange = job->exchange.seconds;
    job->totals.cpu_exchange = job->exchange.processor;
    job->totals.waiting = job->exchange.seconds_waiting;
    job->totals.bytes = job->exchange.bytes;
    return slc_mpi_agree(&job->world, status, error);
}

static int run(slc_build_job *job, char **inputs, int n_inputs)
{
    slc_error *error = &job->error;
    const double began = slc_clock_seconds();
    slc_cli_catch_signals();
    slc_status status = slc_build_units_open(&job->units, &job->world, job->options, inputs, n_inputs, error);
    status = status == SLC_OK ? slc_mpi_agree(&job->world, slc_build_work_open(job, error), error) : status;
    if (status == SLC_OK) {
        status = slc_build_exchange_open(&job->exchange, &job->world, &job->units, job->options, error);
    }
    if (status == SLC_OK && job->options->generate > 0) {
        return slc_build_bench(job);
    }
    status = status == SLC_OK ? exchange_and_build(job, error) : status;
    status = status == SLC_OK ? finish_output(job, error) : status;
    status = status == SLC_OK ? slc_build_gather(job, error) : status;
    if (status != SLC_OK) {
        if (job->world.rank == 0) {
            slc_cli_say("build", "%s", error->text);
        }
        return SLC_CLI_FAILED;
    }
    job->totals.seconds = slc_clock_seconds() - began;
    bool fine = true;
    if (job->world.rank == 0 && !slc_build_print(job, &fine)) {
        fine = false;
    }
    return fine ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    const slc_build_options *o = call->options;
    const slc_mpi_world world = slc_mpi_here();
    if (!slc_mpi_begin()) {
        return SLC_CLI_USAGE;
    }
    if (o->generate == 0 && call->n == 0) {
        return slc_cli_wrong(&slc_mpi_cmd_build, "%s is missing", slc_mpi_cmd_build.operands);
    }
    if (o->generate > 0 && (call->n > 0 || o->split || o->output != NULL)) {
        return slc_cli_wrong(&slc_mpi_cmd_build, "--generate has no inputs and no output");
    }
    if (o->output != NULL && world.size > 1 && strstr(o->output, "%p") == NULL) {
        return slc_cli_wrong(&slc_mpi_cmd_build,
                             "--output %s: %d builders write a file each: %%p in its name is the rank",
                             o->output, world.size);
    }
    if (o->stall.n != 0 && o->stall.n != 3) {
        return slc_cli_wrong(&slc_mpi_cmd_build, "--stall takes RANK,PACK,SECONDS");
    }
    if (o->piece > 1 << 30) {
        return slc_cli_wrong(&slc_mpi_cmd_build, "--piece is at most 1G");
    }
    slc_build_job *job = calloc(1, sizeof *job);
    slc_error error = {.status = SLC_OK};
    slc_status status = job != NULL ? SLC_OK : slc_fail(&error, SLC_ERR_MEMORY, "no memory to begin with");
    status = slc_mpi_agree(&world, status, &error);
    if (status != SLC_OK || job == NULL) {
        free(job);
        slc_cli_say("build", "%s", error.text);
        return SLC_CLI_FAILED;
    }
    job->options = o;
    job->world = world;
    const int code = run(job, call->operands, call->n);
    slc_build_exchange_close(&job->exchange);
    slc_build_work_close(job);
    slc_build_units_close(&job->units);
    free(job);
    return code;
}

const slc_cli_command slc_mpi_cmd_build = {
    .name = "build",
    .operands = "FILE...",
    .summary = "build events of what readout units have, and reconstruct the VELO",
    .description =
        "Every rank is a readout unit and a builder. Units have the fragments of their sources for packs of\n"
        "events: files of packets (MFP, MEP of Run 3), a unit each, shared out over the ranks, or with\n"
        "--split the sources of files of events. Builder B takes packs B, B + N, ... of all units, makes\n"
        "events of them, and runs sluice velo's chain over these. Packs that are lost, late, doubled,\n"
        "truncated or of others are counted; their events are reconstructed from what is there.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = defaults,
    .act = act,
};
