/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice bench label`: what was measured, and how it is told.
 * cmd_bench_label.c         options and the run
 * cmd_bench_label_print.c   table, JSON, CSV
 */
#ifndef SLUICE_CMD_BENCH_LABEL_H
#define SLUICE_CMD_BENCH_LABEL_H

#include "cli_talk.h"

#include <sluice/sluice.h>

typedef struct slc_bench_label_rows {
    slc_run_label_row *rows;
    size_t n, capacity;
    bool failed; /* no memory for a row */
    slc_run_label_average *averages;
    size_t n_averages;
} slc_bench_label_rows;

void slc_bench_label_print(const slc_run_label_config *config, const slc_bench_label_rows *rows);
bool slc_bench_label_print_json(const slc_run_label_config *config, const slc_bench_label_rows *rows);
slc_status slc_bench_label_csv(const char *path, const slc_run_label_config *config,
                               const slc_bench_label_rows *rows, slc_error *error);

#endif
