/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice bench gpu`: what was measured, and how it is told.
 * cmd_bench_gpu.c         options and the run
 * cmd_bench_gpu_print.c   tables, JSON, CSV
 */
#ifndef SLUICE_CMD_BENCH_GPU_H
#define SLUICE_CMD_BENCH_GPU_H

#include "bench/bench_gpu.h"
#include "cmd_bench_label.h"

typedef struct slc_bench_gpu {
    slc_bench_label_gpu *label; /* device, lists, and the measurements of labelling */
    bool has_speed;
    slc_bench_gpu_speed speed;
    slc_bench_gpu_row *rows;
    size_t n, capacity;
    slc_bench_gpu_hockney *hockney;
    size_t n_hockney;
    bool failed; /* no memory for a row */
} slc_bench_gpu;

void slc_bench_gpu_print(const slc_bench_gpu *b);
bool slc_bench_gpu_print_json(const slc_bench_gpu *b);
slc_status slc_bench_gpu_csv(const char *path, const slc_bench_gpu *b, slc_error *error);

#endif
