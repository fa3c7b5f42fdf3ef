/* SPDX-License-Identifier: Apache-2.0
 * Measures labelling of volumes, and tells it. Memory for voxels and labels is in large pages.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "bench/bench_volume.h"

#include "bench/bench_volume_cells.h"
#include "bench/bench_volume_tree.h"
#include "simd/simd_checksum.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 3, LARGE_PAGE = 1 << 21 };

/* A volume's labelling, on one target by so many threads, or in two passes with a decision tree. */
typedef struct subject {
    const slc_bench_volume_config *config;
    const slc_volume *volume;
    uint32_t *labels;
    bool by_tree;
    slc_bench_tree tree;
    slc_simd_target target;
    uint32_t threads;
    slc_volume_labeller *labeller;
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_schema schema;
    slc_volume_components components;
    uint32_t found;
    uint64_t checksum; /* of the labels */
} subject;

typedef struct bench {
    const slc_bench_volume_config *config;
    const slc_bench_watch *watch;
    slc_bench_report *report;
    slc_volume volume;
    void *voxels;
    uint32_t *labels;
    size_t n; /* subjects: all targets by each number of threads, then the baseline */
    subject *subjects;
    slc_bench_contestant *contestants;
    slc_error *error;
} bench;

/* ---- calls ------------------------------------------------------------------------------------- */

static slc_status prepare(void *self, slc_error *error)
{
    subject *s = self;
    slc_volume_config config;
    if (s->by_tree) {
        return slc_bench_tree_reserve(&s->tree, s->volume, error);
    }
    slc_volume_config_default(&config);
    config.connectivity = s->config->connectivity;
    config.equal = s->config->equal;
    config.features = s->config->features ? SLC_VOLUME_ALL : 0;
    config.exec.threads = s->threads;
    config.exec.target = s->target;
    s->schema = slc_volume_components_schema(config.features, s->columns);
    return slc_volume_open(&config, &s->labeller, error);
}

static void clear(void *self)
{
    subject *s = self;
    slc_bench_tree_clear(&s->tree);
    slc_columns_clear(&s->schema, &s->components);
    slc_volume_close(s->labeller);
    s->labeller = NULL;
}

/* Where there is one thread alone the processor's time counts, which others that share it do not lengthen as
 * much. */
static double seconds_now(const slc_bench_volume_config *config)
{
    struct timespec now;
    bool one = true;
    for (size_t i = 0; i < config->n_threads; i++) {
        one = one && config->threads[i] == 1;
    }
    (void)clock_gettime(one ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    subject *s = self;
    const ptrdiff_t row = (ptrdiff_t)(s->volume->width * sizeof *s->labels);
    slc_volume_labels out = {.labels = s->labels,
                             .stride = row,
                             .slice_stride = row * (ptrdiff_t)s->volume->height,
                             .components = s->config->features ? &s->components : NULL};
    slc_status status = SLC_OK;
    slc_columns_reset(&s->components);
    const double begin = seconds_now(s->config);
    if (s->by_tree) {
        out.n_labels = slc_bench_tree_run(&s->tree, s->volume, s->config->equal, s->labels);
    } else {
        status = slc_volume_run(s->labeller, s->volume, &out, error);
    }
    seconds[0] = seconds_now(s->config) - begin;
    s->found = out.n_labels;
    return status;
}

static slc_status take_checksum(void *self, slc_error *error)
{
    subject *s = self;
    const slc_volume *v = s->volume;
    const slc_simd_target best = slc_simd_kernel_choice(&slc_checksum_kernel_rows[0], SLC_SIMD_AUTO);
    (void)error;
    s->checksum = slc_checksum_kernels_of(best)->hash(s->labels,
                                                      v->width * v->height * v->depth * sizeof *s->labels);
    return SLC_OK;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void *alloc_large(size_t bytes)
{
    void *memory = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
#if defined(MADV_HUGEPAGE)
    if (memory != NULL) {
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* refusal is no harm */
    }
#endif
    return memory;
}

/* ---- rows -------------------------------------------------------------------------------------- */

enum {
    SIZE = 0,
    GRANULARITY,
    DENSITY,
    TARGET,
    THREADS,
    COMPONENTS,
    REPETITIONS,
    MINIMUM,
    MEDIAN,
    SPEED,
    COLUMNS
};
static const slc_bench_column columns[COLUMNS] = {
    {"size", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"density_percent", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0},
    {"threads", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"components", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"repetitions", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
};

enum {
    A_SIZE = 0,
    A_GRANULARITY,
    A_TARGET,
    A_THREADS,
    A_SPEED,
    A_MEDIAN,
    A_WORST,
    A_DENSITY,
    A_TIMES_FEWEST,
    A_TIMES_BASELINE,
    A_COLUMNS
};
static const slc_bench_column average_columns[A_COLUMNS] = {
    {"size", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"threads", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"megavoxels_per_s_median", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_density_percent", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"times_fewest_threads", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"times_baseline", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
};

static const char *name_of(const subject *s)
{
    return s->by_tree ? "baseline" : slc_simd_name(s->target);
}

static void add_row(bench *b, const subject *s, const slc_bench_contestant *c, size_t granularity,
                    double density)
{
    slc_bench_cell *row = slc_bench_add(&b->report->sets[0]);
    row[SIZE] = slc_bench_count(b->volume.width);
    row[GRANULARITY] = slc_bench_count(granularity);
    row[DENSITY] = slc_bench_number(100 * density);
    row[TARGET] = slc_bench_text(name_of(s));
    row[THREADS] = slc_bench_count(s->threads);
    row[COMPONENTS] = slc_bench_count(s->found);
    row[REPETITIONS] = slc_bench_count(c->done);
    row[MINIMUM] = slc_bench_number(c->time[0].minimum);
    row[MEDIAN] = slc_bench_number(c->time[0].median);
    row[SPEED] = slc_bench_number(1e-6 * pow((double)b->volume.width, 3) / c->time[0].minimum);
}

static slc_status measure_one(bench *b, uint32_t size, uint32_t granularity, double density)
{
    const slc_bench_volume_config *config = b->config;
    const slc_bench_plan plan = {.repetitions = config->repetitions,
                                 .rounds = ROUNDS,
                                 .afresh = true,
                                 .warm = true,
                                 .seconds = config->seconds,
                                 .least = 2}; /* the first run has pages of the system's in its time */
    const ptrdiff_t row = (ptrdiff_t)size * (config->type == SLC_IMAGE_U8 ? 1 : 4);
    b->volume = (slc_volume){b->voxels, size, size, size, row, row * (ptrdiff_t)size, config->type};
    if (!slc_bench_volume_fill(b->voxels, config->type, size, granularity, config->voronoi, density,
                               config->seed)) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory to make a volume");
    }
    const slc_status status = slc_bench_measure(&plan, b->contestants, b->n, b->error);
    for (size_t i = 0; i < b->n && status == SLC_OK; i++) {
        const subject *s = &b->subjects[i], *first = &b->subjects[0];
        if (s->found != first->found || s->checksum != first->checksum) {
            return slc_fail(
                b->error, SLC_ERR_FORMAT,
                "%u^3 voxels, granularity %u, density %g: %s with %u threads finds %u components, %s "
                "with %u %u, and their labels are not the same",
                size, granularity, density, name_of(s), s->threads, s->found, name_of(first), first->threads,
                first->found);
        }
        add_row(b, s, &b->contestants[i], granularity, density);
    }
    return status;
}

/* Of all densities of one size and granularity, whose rows are the last ones. */
static void add_average(bench *b, size_t number)
{
    const slc_bench_rows *rows = &b->report->sets[0];
    const size_t n = b->config->n_densities, step = b->n;
    const slc_bench_cell *first = slc_bench_row(rows, rows->n - n * step + number), *worst = first;
    double least = 0, median = 0;
    for (size_t i = 0; i < n; i++) {
        const slc_bench_cell *row = first + i * step * COLUMNS;
        least += row[MINIMUM].number;
        median += row[MEDIAN].number;
        worst = row[SPEED].number < worst[SPEED].number ? row : worst;
    }
    const double voxels = 1e-6 * (double)n * pow(first[SIZE].number, 3);
    slc_bench_cell *row = slc_bench_add(&b->report->sets[1]);
    row[A_SIZE] = first[SIZE];
    row[A_GRANULARITY] = first[GRANULARITY];
    row[A_TARGET] = first[TARGET];
    row[A_THREADS] = first[THREADS];
    row[A_SPEED] = slc_bench_number(voxels / least);
    row[A_MEDIAN] = slc_bench_number(voxels / median);
    row[A_WORST] = worst[SPEED];
    row[A_DENSITY] = worst[DENSITY];
}

/* Averages of all subjects, the last rows, beside that of the first number of threads and the baseline's. */
static void add_averages(bench *b)
{
    slc_bench_rows *rows = &b->report->sets[1];
    for (size_t i = 0; i < b->n; i++) {
        add_average(b, i);
    }
    for (size_t i = 0; i < b->n && !rows->failed; i++) {
        slc_bench_cell *row = slc_bench_row(rows, rows->n - b->n + i);
        const slc_bench_cell *last = slc_bench_row(rows, rows->n - 1),
                             *fewest = slc_bench_row(rows, rows->n - b->n + i % b->config->n_targets);
        if (b->config->n_threads > 1 && !b->subjects[i].by_tree) {
            row[A_TIMES_FEWEST] = slc_bench_number(row[A_SPEED].number / fewest[A_SPEED].number);
        }
        if (b->config->baseline && i + 1 < b->n) {
            row[A_TIMES_BASELINE] = slc_bench_number(row[A_SPEED].number / last[A_SPEED].number);
        }
    }
}

static slc_status measure_all(bench *b)
{
    const slc_bench_volume_config *c = b->config;
    const size_t sets = c->n_sizes * c->n_granularities, all = sets * c->n_densities;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < all && status == SLC_OK; i++) {
        const size_t set = i / c->n_densities;
        status = measure_one(b, c->sizes[set / c->n_granularities],
                             c->granularities[set % c->n_granularities], c->densities[i % c->n_densities]);
        if (status == SLC_OK && !b->report->sets[0].failed && (i + 1) % c->n_densities == 0) {
            add_averages(b);
        }
        status = status == SLC_OK && !slc_bench_goes_on(b->watch, i + 1, all) ? SLC_END : status;
    }
    return status;
}

static slc_status open_bench(bench *b)
{
    const slc_bench_volume_config *config = b->config;
    size_t largest = 1;
    for (size_t i = 0; i < config->n_sizes; i++) {
        largest = config->sizes[i] > largest ? config->sizes[i] : largest;
    }
    const size_t voxels = largest * largest * largest;
    b->n = config->n_targets * config->n_threads + (config->baseline ? 1 : 0);
    b->voxels = alloc_large(voxels * (config->type == SLC_IMAGE_U8 ? 1 : 4));
    b->labels = alloc_large(voxels * sizeof *b->labels);
    b->subjects = calloc(b->n, sizeof *b->subjects);
    b->contestants = calloc(b->n, sizeof *b->contestants);
    if (b->voxels == NULL || b->labels == NULL || b->subjects == NULL || b->contestants == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for a volume of %zu^3 voxels and its labels",
                        largest);
    }
    memset(b->labels, 1, voxels * sizeof *b->labels); /* pages of the system's are not part of the time */
    for (size_t i = 0; i < b->n; i++) {
        const bool by_tree = i == config->n_targets * config->n_threads;
        b->subjects[i] = (subject){.config = config,
                                   .volume = &b->volume,
                                   .labels = b->labels,
                                   .by_tree = by_tree,
                                   .target = config->targets[i % config->n_targets],
                                   .threads = by_tree ? 1 : config->threads[i / config->n_targets]};
        b->contestants[i] = (slc_bench_contestant){
            .self = &b->subjects[i], .prepare = prepare, .run = run, .verify = take_checksum, .clear = clear};
    }
    return SLC_OK;
}

static void tell(const bench *b)
{
    const slc_bench_volume_config *config = b->config;
    slc_bench_report *report = b->report;
    const slc_bench_rows *averages = &report->sets[1];
    const bool several = config->n_threads > 1;
    (void)fprintf(report->table, "%6s %4s  %-12s %7s %10s %10s %10s %6s%s%s\n", "size", "g", "target",
                  "threads", "Mvoxel/s", "median", "worst", "at %", several ? "  threads x" : "",
                  config->baseline ? "  baseline x" : "");
    for (size_t i = 0; i < averages->n; i++) {
        slc_bench_print(report->table, averages, i,
                        "{size:6} {granularity:4}  {target:-12} {threads:7} {megavoxels_per_s:10.0f} "
                        "{megavoxels_per_s_median:10.0f} {worst_megavoxels_per_s:10.0f} "
                        "{worst_density_percent:6.4g}");
        slc_bench_print(report->table, averages, i, several ? "{times_fewest_threads:11.2f}" : "");
        slc_bench_print(report->table, averages, i, config->baseline ? "{times_baseline:12.2f}\n" : "\n");
    }
    (void)fprintf(
        report->table,
        "averages over the densities are total voxels over total time, from the fastest calls and from "
        "the medians;\nworst: the slowest density, from its fastest call\n%s%s",
        several ? "threads x: times the speed of the first number of threads\n" : "",
        config->baseline ? "baseline x: times the speed of two passes over voxels with a decision tree\n"
                         : "");
    report->json = json_pack("{s:s, s:I, s:b, s:s, s:s, s:b, s:o, s:o}", "version", slc_version(),
                             "connectivity", (json_int_t)config->connectivity, "equal", config->equal, "type",
                             slc_image_type_name(config->type), "cells",
                             config->voronoi ? "voronoi" : "cubes", "features", config->features,
                             "measurements", slc_bench_json(&report->sets[0], 0, report->sets[0].n),
                             "averages", slc_bench_json(averages, 0, averages->n));
}

slc_status slc_bench_volume(const void *config, const slc_bench_watch *watch, slc_bench_report *report,
                            slc_error *error)
{
    bench b = {.config = config, .watch = watch, .report = report, .error = error};
    report->sets[0] = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    report->sets[1] = (slc_bench_rows){.columns = average_columns, .n_columns = A_COLUMNS};
    slc_status status = open_bench(&b);
    status = status == SLC_OK ? measure_all(&b) : status;
    if (status == SLC_OK) {
        tell(&b);
    }
    free(b.voxels);
    free(b.labels);
    free(b.subjects);
    free(b.contestants);
    return status;
}
