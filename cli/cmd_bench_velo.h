/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice bench velo`: its rows as tables and as CSV, and the table of memory.
 */
#ifndef SLUICE_CMD_BENCH_VELO_H
#define SLUICE_CMD_BENCH_VELO_H

#include "bench/bench_velo.h"

#include <sluice/sluice.h>

typedef struct slc_bench_velo_rows {
    slc_bench_velo_row *rows;
    size_t n, capacity;
    bool failed; /* no memory for more */
    uint32_t repetitions;
} slc_bench_velo_rows;

void slc_bench_velo_print(const slc_bench_velo_rows *rows);
slc_status slc_bench_velo_csv(const char *path, const slc_bench_velo_rows *rows, slc_error *error);

/* Measures the memory of each event and prints it as it goes. */
slc_status slc_cmd_bench_velo_memory(const slc_bench_velo_config *config, const slc_bench_velo_events *events,
                                     slc_error *error);

#endif
