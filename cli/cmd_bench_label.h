/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice bench label`: what was measured, and how it is told.
 * cmd_bench_label.c              options, and the run on a processor
 * cmd_bench_label_print.c        its table, JSON, CSV
 * cmd_bench_label_cuda.c         the run on a GPU
 * cmd_bench_label_cuda_print.c   its tables, JSON, CSV
 */
#ifndef SLUICE_CMD_BENCH_LABEL_H
#define SLUICE_CMD_BENCH_LABEL_H

#include "bench/bench_gpu.h"
#include "bench/bench_label.h"
#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

enum { SLC_BENCH_LABEL_DENSITIES = 256, SLC_BENCH_LABEL_LIST = 32, SLC_BENCH_LABEL_ALGORITHMS = 64 };

typedef struct slc_bench_label_options {
    /* NULL: the device's own defaults */
    const char *sizes, *granularities, *densities;
    const char *algorithms, *simd, *features, *device, *csv, *svg;
    uint64_t connectivity, threads, repetitions, seed, streams;
    bool labels_off, bound, warm, raw, json, quiet;
} slc_bench_label_options;

/* ---- on a processor ---------------------------------------------------------------------------- */

typedef struct slc_bench_label_rows {
    slc_bench_label_row *rows;
    size_t n, capacity;
    bool failed; /* no memory for a row */
    slc_bench_label_average *averages;
    size_t n_averages;
} slc_bench_label_rows;

void slc_bench_label_print(const slc_bench_label_config *config, const slc_bench_label_rows *rows);
bool slc_bench_label_print_json(const slc_bench_label_config *config, const slc_bench_label_rows *rows);
slc_status slc_bench_label_csv(const char *path, const slc_bench_label_config *config,
                               const slc_bench_label_rows *rows, slc_error *error);

/* ---- on a GPU ---------------------------------------------------------------------------------- */

/* The lists of a configuration, and what was measured by them. */
typedef struct slc_bench_label_gpu {
    slc_bench_label_cuda_config config;
    size_t sizes[SLC_BENCH_LABEL_LIST];
    uint32_t granularities[SLC_BENCH_LABEL_LIST];
    double densities[SLC_BENCH_LABEL_DENSITIES];
    size_t algorithms[SLC_BENCH_LABEL_ALGORITHMS];
    slc_cuda_device device;
    bool has_speed;
    slc_bench_gpu_speed speed;
    slc_bench_label_cuda_row *rows;
    size_t n, capacity;
    slc_bench_label_cuda_average *averages;
    size_t n_averages;
    slc_bench_label_cuda_streams_row streams[512];
    size_t n_streams;
    slc_cli_progress progress;
    bool failed; /* no memory for a row */
} slc_bench_label_gpu;

/* Chooses lists for a GPU from the options of `command`: of `sluice bench label`, or of others that have the
 * same. Returns SLC_CLI_GO_ON, or SLC_CLI_USAGE after a line. */
int slc_bench_label_gpu_choose(const slc_cli_command *command, const slc_bench_label_options *options,
                               slc_bench_label_gpu *b);
/* Measures all rows; false after a complaint, or where a signal came. */
bool slc_bench_label_gpu_measure(const slc_cli_command *command, slc_bench_label_gpu *b, bool quiet);
/* `sluice bench label --device cuda`; returns the exit status. */
int slc_bench_label_cuda(const slc_cli_command *command, const slc_bench_label_options *options);

void slc_bench_label_cuda_print(const slc_bench_label_gpu *b);
bool slc_bench_label_cuda_print_json(const slc_bench_label_gpu *b);
slc_status slc_bench_label_cuda_csv(const char *path, const slc_bench_label_gpu *b, slc_error *error);

#endif
