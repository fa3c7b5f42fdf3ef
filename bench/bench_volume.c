/* SPDX-License-Identifier: Apache-2.0
 * Measures labelling of volumes, and tells it. Memory for voxels and labels is in large pages.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "bench/bench_volume.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 3, LARGE_PAGE = 1 << 21 };

/* A volume's labelling on one target. */
typedef struct subject {
    const slc_bench_volume_config *config;
    const slc_volume *volume;
    uint32_t *labels;
    slc_simd_target target;
    slc_volume_labeller *labeller;
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_schema schema;
    slc_volume_components components;
    uint32_t found;
} subject;

typedef struct bench {
    const slc_bench_volume_config *config;
    const slc_bench_watch *watch;
    slc_bench_report *report;
    slc_volume volume;
    uint8_t *voxels;
    uint32_t *labels;
    subject *subjects;
    slc_bench_contestant *contestants;
    slc_error *error;
} bench;

/* ---- calls ------------------------------------------------------------------------------------- */

static slc_status prepare(void *self, slc_error *error)
{
    subject *s = self;
    slc_volume_config config;
    slc_volume_config_default(&config);
    config.connectivity = s->config->connectivity;
    config.equal = s->config->equal;
    config.features = s->config->features ? SLC_VOLUME_ALL : 0;
    config.exec.threads = s->config->threads;
    config.exec.target = s->target;
    s->schema = slc_volume_components_schema(config.features, s->columns);
    return slc_volume_open(&config, &s->labeller, error);
}

static void clear(void *self)
{
    subject *s = self;
    slc_columns_clear(&s->schema, &s->components);
    slc_volume_close(s->labeller);
    s->labeller = NULL;
}

/* Of one thread the processor's time counts, which others that share it do not lengthen as much. */
static double seconds_now(uint32_t threads)
{
    struct timespec now;
    (void)clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
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
    slc_columns_reset(&s->components);
    const double begin = seconds_now(s->config->threads);
    const slc_status status = slc_volume_run(s->labeller, s->volume, &out, error);
    seconds[0] = seconds_now(s->config->threads) - begin;
    s->found = out.n_labels;
    return status;
}

/* ---- volumes ----------------------------------------------------------------------------------- */

/* Numbers of a generator's (splitmix64) that can be asked for in any order. */
static uint64_t number(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed << 40) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Cubes of values from 1 to 200, or 0. */
static void fill(uint8_t *voxels, size_t side, size_t grain, double density, uint32_t seed)
{
    const size_t n = (side + grain - 1) / grain, slice = side * side;
    for (size_t z = 0; z < side; z++) {
        for (size_t y = 0; y < side; y++) {
            uint8_t *row = voxels + z * slice + y * side;
            for (size_t x = 0; x < side && z % grain == 0 && y % grain == 0; x++) {
                const uint64_t random = number(seed, x / grain + n * (y / grain + n * (z / grain)));
                const bool is = (double)(random >> 11) * 0x1p-53 < density;
                row[x] = (uint8_t)(is ? 1 + random % 200 : 0);
            }
            if (z % grain == 0 && y % grain != 0) {
                memcpy(row, row - side, side);
            }
        }
        if (z % grain != 0) {
            memcpy(voxels + z * slice, voxels + (z - 1) * slice, slice);
        }
    }
}

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

enum { SIZE = 0, GRANULARITY, DENSITY, TARGET, COMPONENTS, REPETITIONS, MINIMUM, MEDIAN, SPEED, COLUMNS };
static const slc_bench_column columns[COLUMNS] = {
    {"size", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"density_percent", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0},
    {"components", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"repetitions", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
};

enum { A_SIZE = 0, A_GRANULARITY, A_TARGET, A_SPEED, A_MEDIAN, A_WORST, A_DENSITY, A_COLUMNS };
static const slc_bench_column average_columns[A_COLUMNS] = {
    {"size", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"megavoxels_per_s_median", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_megavoxels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_density_percent", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
};

static slc_status measure_one(bench *b, uint32_t size, uint32_t granularity, double density)
{
    const slc_bench_volume_config *config = b->config;
    const slc_bench_plan plan = {.repetitions = config->repetitions,
                                 .rounds = ROUNDS,
                                 .afresh = true,
                                 .warm = true,
                                 .seconds = config->seconds,
                                 .least = 2}; /* the first run has pages of the system's in its time */
    b->volume = (slc_volume){b->voxels, size, size, size, size, (ptrdiff_t)size * size, SLC_IMAGE_U8};
    fill(b->voxels, size, granularity, density, config->seed);
    const slc_status status = slc_bench_measure(&plan, b->contestants, config->n_targets, b->error);
    for (size_t i = 0; i < config->n_targets && status == SLC_OK; i++) {
        const slc_bench_contestant *c = &b->contestants[i];
        const subject *s = &b->subjects[i], *first = &b->subjects[0];
        if (s->found != first->found) {
            return slc_fail(b->error, SLC_ERR_FORMAT,
                            "%u^3 voxels, granularity %u, density %g: %s finds %u components, %s %u", size,
                            granularity, density, slc_simd_name(s->target), s->found,
                            slc_simd_name(first->target), first->found);
        }
        slc_bench_cell *row = slc_bench_add(&b->report->sets[0]);
        row[SIZE] = slc_bench_count(size);
        row[GRANULARITY] = slc_bench_count(granularity);
        row[DENSITY] = slc_bench_number(100 * density);
        row[TARGET] = slc_bench_text(slc_simd_name(s->target));
        row[COMPONENTS] = slc_bench_count(s->found);
        row[REPETITIONS] = slc_bench_count(c->done);
        row[MINIMUM] = slc_bench_number(c->time[0].minimum);
        row[MEDIAN] = slc_bench_number(c->time[0].median);
        row[SPEED] = slc_bench_number(1e-6 * pow(size, 3) / c->time[0].minimum);
    }
    return status;
}

/* Of all densities of one size and granularity, whose rows are the last ones. */
static void add_average(bench *b, size_t target)
{
    const slc_bench_rows *rows = &b->report->sets[0];
    const size_t n = b->config->n_densities, step = b->config->n_targets;
    const slc_bench_cell *first = slc_bench_row(rows, rows->n - n * step + target), *worst = first;
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
    row[A_SPEED] = slc_bench_number(voxels / least);
    row[A_MEDIAN] = slc_bench_number(voxels / median);
    row[A_WORST] = worst[SPEED];
    row[A_DENSITY] = worst[DENSITY];
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
        for (size_t t = 0; t < c->n_targets && status == SLC_OK && !b->report->sets[0].failed &&
                           (i + 1) % c->n_densities == 0;
             t++) {
            add_average(b, t);
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
    b->voxels = alloc_large(voxels);
    b->labels = alloc_large(voxels * sizeof *b->labels);
    b->subjects = calloc(config->n_targets, sizeof *b->subjects);
    b->contestants = calloc(config->n_targets, sizeof *b->contestants);
    if (b->voxels == NULL || b->labels == NULL || b->subjects == NULL || b->contestants == NULL) {
        return slc_fail(b->error, SLC_ERR_MEMORY, "no memory for a volume of %zu^3 voxels and its labels",
                        largest);
    }
    memset(b->labels, 1, voxels * sizeof *b->labels); /* pages of the system's are not part of the time */
    for (size_t i = 0; i < config->n_targets; i++) {
        b->subjects[i] = (subject){
            .config = config, .volume = &b->volume, .labels = b->labels, .target = config->targets[i]};
        b->contestants[i] = (slc_bench_contestant){
            .self = &b->subjects[i], .prepare = prepare, .run = run, .clear = clear};
    }
    return SLC_OK;
}

static void tell(const bench *b)
{
    const slc_bench_volume_config *config = b->config;
    slc_bench_report *report = b->report;
    const slc_bench_rows *averages = &report->sets[1];
    (void)fprintf(report->table, "%6s %4s  %-12s %10s %10s %10s %6s\n", "size", "g", "target", "Mvoxel/s",
                  "median", "worst", "at %");
    for (size_t i = 0; i < averages->n; i++) {
        slc_bench_print(report->table, averages, i,
                        "{size:6} {granularity:4}  {target:-12} {megavoxels_per_s:10.0f} "
                        "{megavoxels_per_s_median:10.0f} {worst_megavoxels_per_s:10.0f} "
                        "{worst_density_percent:6.4g}\n");
    }
    (void)fputs(
        "averages over the densities are total voxels over total time, from the fastest calls and from "
        "the medians;\nworst: the slowest density, from its fastest call\n",
        report->table);
    report->json = json_pack("{s:s, s:I, s:b, s:I, s:b, s:o, s:o}", "version", slc_version(), "connectivity",
                             (json_int_t)config->connectivity, "equal", config->equal, "threads",
                             (json_int_t)config->threads, "features", config->features, "measurements",
                             slc_bench_json(&report->sets[0], 0, report->sets[0].n), "averages",
                             slc_bench_json(averages, 0, averages->n));
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
