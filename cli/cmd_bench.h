/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice bench …`: all of them measure what bench/ has, show how far it is, and write
 * its report.
 */
#ifndef SLUICE_CMD_BENCH_H
#define SLUICE_CMD_BENCH_H

#include "bench/bench.h"
#include "cli_options.h"

/* Runs a benchmark and writes its report; returns the exit status. Without a word if a signal ended it. */
int slc_cmd_bench_run(const slc_cli_command *command, bool quiet, slc_bench_function *bench,
                      const void *config, const slc_bench_output *output);

#endif
