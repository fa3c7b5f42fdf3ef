/* SPDX-License-Identifier: Apache-2.0
 *
 * What measurements of labelling come to, on the processor and on a GPU: tables, rows for CSV and JSON,
 * figures.
 */
#include "bench/bench_gpu.h"

#include <sluice/cuda.h>

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct tale {
    const slc_bench_label_config *config;
    slc_cuda_device device;
    const slc_bench_gpu_speed *speed; /* NULL if it was not measured */
    const slc_bench_label_rows *rows;
    slc_bench_label_average *averages;
    size_t n;
    slc_bench_report *report;
} tale;

static bool on_gpu(const tale *t)
{
    return t->config->device != NULL;
}

static const char *name_of(const tale *t, size_t algorithm)
{
    return slc_bench_label_algorithm(t->config, algorithm);
}

static const char *target_of(const tale *t, size_t algorithm, slc_simd_target target)
{
    return !on_gpu(t) && slc_image_algorithm_simd(algorithm) ? slc_simd_name(target) : "-";
}

/* What part of the time the memory needs in any case; no number where that was not measured. */
static double of_bound(const tale *t, double pixels, double seconds)
{
    return t->speed != NULL ? slc_bench_gpu_label_bound(t->speed, pixels, t->config->labels) / seconds : NAN;
}

/* ---- measurements ------------------------------------------------------------------------------ */

enum {
    SIZE = 0,
    GRANULARITY,
    DENSITY,
    ALGORITHM,
    TARGET,
    DEVICE,
    CONNECTIVITY,
    THREADS,
    LABELS,
    FEATURES,
    RAW,
    COLD,
    STREAMS,
    IMAGES,
    COMPONENTS,
    LAUNCHES,
    REPETITIONS,
    MINIMUM,
    MEDIAN,
    SECONDS,
    HERTZ,
    CYCLES,
    GIGAPIXELS,
    OF_BOUND,
    MS,
    PERCENT,
    CURVE, /* "yes": of the figure */
    LEGEND,
    COLUMNS
};

/* Where they are written: C of a processor, G of a GPU's kernels, S of its streams. */
#define COLUMNS_OF(C, G, S)                                                                                  \
    {                                                                                                        \
        {"size", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0}, {"granularity", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0}, \
            {"density_percent", SLC_BENCH_NUMBER, (C) | (G), 10},                                            \
            {"algorithm", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0}, {"target", SLC_BENCH_TEXT, (C), 0},           \
            {"device", SLC_BENCH_QUOTED, SLC_BENCH_CSV & ((G) | (S)), 0},                                    \
            {"connectivity", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},                                             \
            {"threads", SLC_BENCH_COUNT, SLC_BENCH_CSV & (C), 0},                                            \
            {"labels", SLC_BENCH_FLAG, SLC_BENCH_CSV & ((G) | (S)), 0},                                      \
            {"features", SLC_BENCH_COUNT, SLC_BENCH_CSV & ((G) | (S)), 0},                                   \
            {"raw", SLC_BENCH_FLAG, SLC_BENCH_CSV & (G), 0},                                                 \
            {"cold", SLC_BENCH_FLAG, SLC_BENCH_CSV & (G), 0}, {"streams", SLC_BENCH_COUNT, (S), 0},          \
            {"images", SLC_BENCH_COUNT, (S), 0}, {"components", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},        \
            {"launches", SLC_BENCH_COUNT, (G), 0}, {"repetitions", SLC_BENCH_COUNT, (C) | (G), 0},           \
            {"minimum_s", SLC_BENCH_NUMBER, (C) | (G), 0}, {"median_s", SLC_BENCH_NUMBER, (C) | (G), 0},     \
            {"seconds", SLC_BENCH_NUMBER, (S), 0}, {"core_hz", SLC_BENCH_NUMBER, (C), 0},                    \
            {"cycles_per_pixel", SLC_BENCH_NUMBER, (C), 0},                                                  \
            {"gigapixels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV | (S), 0},                                  \
            {"of_bound", SLC_BENCH_NUMBER, (G) | (S), 4}, {"ms", SLC_BENCH_NUMBER, 0, 0},                    \
            {"of_bound_percent", SLC_BENCH_NUMBER, 0, 0}, {"curve", SLC_BENCH_TEXT, 0, 0},                   \
        {                                                                                                    \
            "legend", SLC_BENCH_TEXT, 0, 0                                                                   \
        }                                                                                                    \
    }
static const slc_bench_column columns[3][COLUMNS] = {
    COLUMNS_OF(SLC_BENCH_FILES, 0, 0), COLUMNS_OF(0, SLC_BENCH_FILES, 0), COLUMNS_OF(0, 0, SLC_BENCH_FILES)};

static bool same_curve(const slc_bench_label_average *a, const slc_bench_label_row *row)
{
    return a->size == row->size && a->granularity == row->granularity && a->algorithm == row->algorithm;
}

/* Cycles of a pixel, or seconds on a GPU. */
static double cost_of(const slc_bench_label_average *a)
{
    return (a->cycles > 0 ? a->cycles : a->seconds) / a->pixels;
}

/* The average on the target on which an algorithm is the fastest: that one is drawn. */
static const slc_bench_label_average *fastest_of(const tale *t, const slc_bench_label_row *row)
{
    const slc_bench_label_average *best = NULL;
    for (size_t i = 0; i < t->n; i++) {
        const slc_bench_label_average *a = &t->averages[i];
        if (same_curve(a, row) && (best == NULL || cost_of(a) < cost_of(best))) {
            best = a;
        }
    }
    return best;
}

static void add_row(const tale *t, const slc_bench_label_row *of)
{
    slc_bench_rows *rows = &t->report->sets[0];
    slc_bench_cell *row = slc_bench_add(rows);
    const slc_bench_label_average *best = fastest_of(t, of);
    const bool gpu = on_gpu(t);
    const double pixels = (double)of->size * (double)of->size;
    row[SIZE] = slc_bench_count(of->size);
    row[GRANULARITY] = slc_bench_count(of->granularity);
    row[DENSITY] = slc_bench_number(100 * of->density);
    row[ALGORITHM] = slc_bench_text(name_of(t, of->algorithm));
    row[CONNECTIVITY] = slc_bench_count(t->config->connectivity);
    row[COMPONENTS] = slc_bench_count(of->components);
    row[REPETITIONS] = slc_bench_count(of->repetitions);
    row[MINIMUM] = slc_bench_number(of->minimum_s);
    row[MEDIAN] = slc_bench_number(of->median_s);
    row[MS] = slc_bench_number(1e3 * of->median_s);
    row[GIGAPIXELS] = slc_bench_number(1e-9 * pixels / (gpu ? of->median_s : of->minimum_s));
    row[CURVE] = slc_bench_text(best->target == of->target ? "yes" : "no");
    if (gpu) {
        row[DEVICE] = slc_bench_textf(rows, "%s", t->device.name);
        row[LABELS] = slc_bench_flag(t->config->labels);
        row[FEATURES] = slc_bench_count(t->config->features);
        row[RAW] = slc_bench_flag(t->config->raw);
        row[COLD] = slc_bench_flag(t->config->flush_bytes > 0);
        row[LAUNCHES] = slc_bench_count(of->launches);
        row[OF_BOUND] = slc_bench_number(of_bound(t, pixels, of->median_s));
        row[LEGEND] = slc_bench_textf(rows, "%s: %.3g", name_of(t, of->algorithm), 1e-9 / cost_of(best));
    } else {
        row[TARGET] = slc_bench_text(target_of(t, of->algorithm, of->target));
        row[THREADS] = slc_bench_count(t->config->threads);
        row[HERTZ] = slc_bench_number(of->hertz);
        row[CYCLES] = slc_bench_number(of->minimum_s * of->hertz / pixels);
        row[LEGEND] = slc_image_algorithm_simd(of->algorithm)
                          ? slc_bench_textf(rows, "%s, %s: %.3g", name_of(t, of->algorithm),
                                            slc_simd_name(of->target), cost_of(best))
                          : slc_bench_textf(rows, "%s: %.3g", name_of(t, of->algorithm), cost_of(best));
    }
}

/* ---- averages ---------------------------------------------------------------------------------- */

enum {
    A_SIZE = 0,
    A_GRANULARITY,
    A_ALGORITHM,
    A_TARGET,
    A_CYCLES,
    A_GIGAPIXELS,
    A_MEDIAN,
    A_MINIMA,
    A_WORST_CYCLES,
    A_WORST_GIGAPIXELS,
    A_WORST_DENSITY,
    A_FULL,
    A_OF_BOUND,
    A_OF_MEAN,
    A_THESIS,
    A_LEGEND,
    A_COLUMNS
};

static const slc_bench_column average_columns[A_COLUMNS] = {
    {"size", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"algorithm", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"target", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"cycles_per_pixel", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"gigapixels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"gigapixels_per_s_median", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"gigapixels_per_s_minima", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_cycles_per_pixel", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_gigapixels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"worst_density_percent", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"full_gigapixels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"of_bound", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"of_mean_percent", SLC_BENCH_NUMBER, 0, 0},
    {"thesis", SLC_BENCH_TEXT, 0, 0},
    {"legend", SLC_BENCH_TEXT, 0, 0},
};

/* The throughput at density 1, which is the same image for all granularities: the mean time of them. */
static double full_gigapixels(const tale *t, size_t size, size_t algorithm)
{
    double seconds = 0, count = 0;
    for (size_t i = 0; i < t->n; i++) {
        const slc_bench_label_average *a = &t->averages[i];
        if (a->size == size && a->algorithm == algorithm && a->full_seconds > 0) {
            seconds += a->full_seconds;
            count += 1;
        }
    }
    return 1e-9 * (double)size * (double)size * count / seconds;
}

/* The largest throughput of an algorithm at that granularity, of all sizes. */
static double largest_gigapixels(const tale *t, const slc_bench_label_average *of)
{
    double best = 0;
    for (size_t i = 0; i < t->n; i++) {
        const slc_bench_label_average *a = &t->averages[i];
        if (a->algorithm == of->algorithm && a->granularity == of->granularity) {
            best = fmax(best, 1e-9 * a->pixels / a->seconds);
        }
    }
    return best;
}

static void add_average(const tale *t, const slc_bench_label_average *a)
{
    slc_bench_rows *rows = &t->report->sets[1];
    slc_bench_cell *row = slc_bench_add(rows);
    row[A_SIZE] = slc_bench_count(a->size);
    row[A_GRANULARITY] = slc_bench_count(a->granularity);
    row[A_ALGORITHM] = slc_bench_text(name_of(t, a->algorithm));
    row[A_WORST_DENSITY] = slc_bench_number(100 * a->worst_density);
    row[A_OF_MEAN] = slc_bench_number(100 * cost_of(a) / a->worst);
    if (on_gpu(t)) {
        row[A_GIGAPIXELS] = slc_bench_number(1e-9 * a->pixels / a->seconds);
        row[A_MINIMA] = slc_bench_number(1e-9 * a->pixels / a->least_seconds);
        row[A_WORST_GIGAPIXELS] = slc_bench_number(1e-9 / a->worst);
        row[A_FULL] = slc_bench_number(full_gigapixels(t, a->size, a->algorithm));
        row[A_OF_BOUND] = slc_bench_number(of_bound(t, a->pixels, a->seconds));
        row[A_LEGEND] = slc_bench_textf(rows, "%s: %.3g", name_of(t, a->algorithm), largest_gigapixels(t, a));
        return;
    }
    const double published = slc_bench_label_thesis(t->config, a);
    row[A_TARGET] = slc_bench_text(target_of(t, a->algorithm, a->target));
    row[A_CYCLES] = slc_bench_number(a->cycles / a->pixels);
    row[A_GIGAPIXELS] = slc_bench_number(1e-9 * a->pixels / a->least_seconds);
    row[A_MEDIAN] = slc_bench_number(1e-9 * a->pixels / a->seconds);
    row[A_WORST_CYCLES] = slc_bench_number(a->worst);
    row[A_THESIS] = published > 0 ? slc_bench_textf(rows, "%.2f", published) : slc_bench_text("");
}

/* By size and granularity, then the fastest first; of a GPU the fastest of all first. */
static int by_speed(const void *a, const void *b)
{
    const slc_bench_label_average *x = a, *y = b;
    if (x->cycles > 0 && x->size != y->size) {
        return x->size < y->size ? -1 : 1;
    }
    if (x->cycles > 0 && x->granularity != y->granularity) {
        return x->granularity < y->granularity ? -1 : 1;
    }
    return (cost_of(x) > cost_of(y)) - (cost_of(x) < cost_of(y));
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void print_processor(const tale *t)
{
    FILE *out = t->report->table;
    (void)fprintf(out, "%6s %4s  %-16s %-12s %9s %9s %9s %9s %6s %8s %8s\n", "size", "g", "algorithm",
                  "target", "cycles/px", "Gpixel/s", "median", "worst", "at %", "% mean", "thesis");
    for (size_t i = 0; i < t->n; i++) {
        slc_bench_print(
            out, &t->report->sets[1], i,
            "{size:6} {granularity:4}  {algorithm:-16} {target:-12} {cycles_per_pixel:9.3f} "
            "{gigapixels_per_s:9.3f} {gigapixels_per_s_median:9.3f} {worst_cycles_per_pixel:9.3f} "
            "{worst_density_percent:6.4g} {of_mean_percent:8.0f} {thesis:8}\n");
    }
    (void)fputs(
        "averages over the densities are total time over total pixels; cycles and Gpixel/s from the "
        "fastest\ncalls, then Gpixel/s from the medians; worst: cycles per pixel at the worst density, and "
        "how fast that\nis, of the mean; thesis: table 4.2 (Hennequin 2022, Xeon Gold 6126)\n",
        out);
}

static void print_device(const tale *t, bool streams)
{
    const slc_bench_label_config *config = t->config;
    FILE *out = t->report->table;
    (void)fprintf(out, "%s, %" PRIu32 " multiprocessors: %s%s, %" PRIu32 "-connected, %s\n", t->device.name,
                  t->device.multiprocessors, config->raw ? "raw " : "", slc_bench_gpu_made(config),
                  config->connectivity,
                  streams                   ? "host to host"
                  : config->flush_bytes > 0 ? "cold caches"
                                            : "warm caches");
    if (t->speed != NULL) {
        (void)fprintf(out,
                      "memory, measured here: read %.0f GB/s, write %.0f, copy %.0f (both counted); a kernel "
                      "that reads a byte\nof each pixel and writes four: %.0f Gpixel/s\n",
                      1e-9 * t->speed->read, 1e-9 * t->speed->write, 1e-9 * t->speed->copy,
                      1e-9 * t->speed->widen);
    }
}

static void print_columns(const tale *t)
{
    const slc_bench_label_config *config = t->config;
    FILE *out = t->report->table;
    (void)fprintf(out, "%6s  %-16s", "size", "algorithm");
    for (size_t g = 0; g < config->n_granularities; g++) {
        char name[16];
        (void)snprintf(name, sizeof name, "g = %" PRIu32, config->granularities[g]);
        (void)fprintf(out, "%10s", name);
    }
    (void)fprintf(out, "%10s", "full");
    for (size_t g = 0; g < config->n_granularities; g++) {
        (void)fprintf(out, "%15s", g == 0 ? "worst, % mean" : "");
    }
    for (size_t g = 0; g < config->n_granularities && t->speed != NULL; g++) {
        (void)fprintf(out, "%10s", g == 0 ? "% bound" : "");
    }
    (void)fprintf(out, "%10s\n", "launches");
}

static void print_number(FILE *out, double number)
{
    if (isfinite(number)) {
        (void)fprintf(out, "%10.4g", number);
    } else {
        (void)fprintf(out, "%10s", "-");
    }
}

static const slc_bench_label_average *find(const tale *t, size_t size, size_t algorithm, uint32_t granularity)
{
    for (size_t i = 0; i < t->n; i++) {
        const slc_bench_label_average *a = &t->averages[i];
        if (a->size == size && a->algorithm == algorithm && a->granularity == granularity) {
            return a;
        }
    }
    return NULL;
}

/* A line: an algorithm at all granularities. */
static void print_algorithm(const tale *t, size_t size, size_t algorithm)
{
    const slc_bench_label_config *config = t->config;
    FILE *out = t->report->table;
    uint32_t launches = 0;
    (void)fprintf(out, "%6zu  %-16s", size, name_of(t, algorithm));
    for (size_t g = 0; g < config->n_granularities; g++) {
        const slc_bench_label_average *a = find(t, size, algorithm, config->granularities[g]);
        print_number(out, a != NULL ? 1e-9 * a->pixels / a->seconds : NAN);
    }
    print_number(out, full_gigapixels(t, size, algorithm));
    for (size_t g = 0; g < config->n_granularities; g++) {
        const slc_bench_label_average *a = find(t, size, algorithm, config->granularities[g]);
        if (a != NULL) {
            (void)fprintf(out, "%8.0f at %3.0f", 100 * cost_of(a) / a->worst, 100 * a->worst_density);
        } else {
            (void)fprintf(out, "%15s", "-");
        }
    }
    for (size_t g = 0; g < config->n_granularities && t->speed != NULL; g++) {
        const slc_bench_label_average *a = find(t, size, algorithm, config->granularities[g]);
        print_number(out, a != NULL ? 100 * of_bound(t, a->pixels, a->seconds) : NAN);
    }
    for (size_t i = 0; i < t->rows->n; i++) {
        const slc_bench_label_row *row = &t->rows->rows[i];
        launches = row->size == size && row->algorithm == algorithm && row->launches > launches
                       ? row->launches
                       : launches;
    }
    (void)fprintf(out, "%10" PRIu32 "\n", launches);
}

static void print_gpu(const tale *t)
{
    print_device(t, false);
    print_columns(t);
    for (size_t s = 0; s < t->config->n_sizes; s++) {
        for (size_t i = 0; i < t->n; i++) { /* the fastest at the first granularity first */
            const slc_bench_label_average *a = &t->averages[i];
            if (a->size == t->config->sizes[s] && a->granularity == t->config->granularities[0]) {
                print_algorithm(t, a->size, a->algorithm);
            }
        }
    }
    (void)fprintf(
        t->report->table,
        "Gpixel/s are all pixels over all time (the harmonic mean over the densities), from medians, "
        "kernels alone;\nfull: the image of density 100 %%; worst: the slowest density's throughput, "
        "in %% of the mean, and which\ndensity [%%] it is%s\n",
        t->speed == NULL    ? ""
        : t->config->labels ? "; bound: a byte of each pixel read, and four written"
                            : "; bound: a byte of each pixel read");
}

/* ---- the report -------------------------------------------------------------------------------- */

static json_t *speed_object(const slc_bench_gpu_speed *speed)
{
    return speed != NULL ? slc_bench_gpu_speed_json(speed) : json_null();
}

static void make_json(const tale *t, bool streams)
{
    const slc_bench_label_config *config = t->config;
    const slc_bench_rows *sets = t->report->sets;
    json_t *rows = slc_bench_json(&sets[0], 0, streams ? 0 : sets[0].n);
    json_t *averages = slc_bench_json(&sets[1], 0, sets[1].n);
    if (on_gpu(t)) {
        t->report->json = json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "version",
                                    slc_version(), "device", config->device, "device_name", t->device.name,
                                    "connectivity", (json_int_t)config->connectivity, "features",
                                    (json_int_t)config->features, "labels", config->labels ? 1 : 0, "raw",
                                    config->raw ? 1 : 0, "cold", config->flush_bytes > 0 ? 1 : 0, "memory",
                                    speed_object(t->speed), "averages", averages, "measurements", rows,
                                    "streams", slc_bench_json(&sets[0], 0, streams ? sets[0].n : 0));
    } else {
        t->report->json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "version", slc_version(),
                                    "compiler", slc_compiler(), "connectivity",
                                    (json_int_t)config->connectivity, "threads", (json_int_t)config->threads,
                                    "features", (json_int_t)config->features, "labels",
                                    config->labels ? 1 : 0, "averages", averages, "measurements", rows);
    }
}

static void make_figures(const tale *t)
{
    slc_bench_report *report = t->report;
    const bool gpu = on_gpu(t);
    report->figures[report->n_figures++] = (slc_bench_figure){
        .rows = &report->sets[0],
        .only = "curve",
        .is = "yes",
        .panel = "size,granularity",
        .curve = "algorithm",
        .title = "{size} x {size} pixels, granularity {granularity}",
        .legend = "{legend}",
        .note = gpu ? "Gpixel/s, all pixels / all time" : "average over the densities",
        .x = {"density_percent", "density [%]", SLC_BENCH_PERCENT},
        .y = {gpu ? "ms" : "cycles_per_pixel", gpu ? "time of an image [ms]" : "cycles per pixel",
              SLC_BENCH_DECADES}};
    bool sizes = false;
    for (size_t i = 1; i < t->n; i++) {
        sizes = sizes || t->averages[i].size != t->averages[0].size;
    }
    if (gpu && sizes) {
        report->figures[report->n_figures++] = (slc_bench_figure){
            .rows = &report->sets[1],
            .panel = "granularity",
            .curve = "algorithm",
            .title = "all sizes, granularity {granularity}",
            .legend = "{legend}",
            .note = "largest Gpixel/s",
            .x = {"size", "side [pixels]", SLC_BENCH_DECADES},
            .y = {"gigapixels_per_s", "Gpixel/s, all pixels / all time", SLC_BENCH_DECADES}};
    }
}

static slc_status tell(tale *t, slc_error *error)
{
    slc_bench_report *report = t->report;
    report->sets[0] = (slc_bench_rows){.columns = columns[on_gpu(t)], .n_columns = COLUMNS};
    report->sets[1] = (slc_bench_rows){.columns = average_columns, .n_columns = A_COLUMNS};
    t->averages = calloc(t->rows->n + 1, sizeof *t->averages);
    if (t->averages == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the averages");
    }
    t->n = slc_bench_label_averages(t->rows->rows, t->rows->n, t->averages, t->rows->n);
    qsort(t->averages, t->n, sizeof *t->averages, by_speed);
    for (size_t i = 0; i < t->rows->n; i++) {
        add_row(t, &t->rows->rows[i]);
    }
    for (size_t i = 0; i < t->n; i++) {
        add_average(t, &t->averages[i]);
    }
    if (!report->sets[0].failed && !report->sets[1].failed) {
        if (on_gpu(t)) {
            print_gpu(t);
        } else {
            print_processor(t);
        }
    }
    make_json(t, false);
    make_figures(t);
    free(t->averages);
    return SLC_OK;
}

slc_status slc_bench_label_tell(const slc_bench_label_config *config, const slc_bench_label_rows *rows,
                                slc_bench_report *report, slc_error *error)
{
    tale t = {.config = config, .rows = rows, .report = report};
    return tell(&t, error);
}

/* ---- streams ----------------------------------------------------------------------------------- */

typedef struct stream_collector {
    const tale *t;
    const slc_bench_watch *watch;
} stream_collector;

static bool add_streams(void *context, const slc_bench_label_streams_row *of)
{
    const stream_collector *c = context;
    const tale *t = c->t;
    slc_bench_rows *rows = &t->report->sets[0];
    slc_bench_cell *row = slc_bench_add(rows);
    const double pixels = (double)of->size * (double)of->size * of->images;
    row[SIZE] = slc_bench_count(of->size);
    row[GRANULARITY] = slc_bench_count(of->granularity);
    row[ALGORITHM] = slc_bench_text(name_of(t, of->algorithm));
    row[DEVICE] = slc_bench_textf(rows, "%s", t->device.name);
    row[CONNECTIVITY] = slc_bench_count(t->config->connectivity);
    row[LABELS] = slc_bench_flag(t->config->labels);
    row[FEATURES] = slc_bench_count(t->config->features);
    row[STREAMS] = slc_bench_count(of->streams);
    row[IMAGES] = slc_bench_count(of->images);
    row[COMPONENTS] = slc_bench_count(of->components);
    row[SECONDS] = slc_bench_number(of->seconds);
    row[GIGAPIXELS] = slc_bench_number(1e-9 * pixels / of->seconds);
    row[OF_BOUND] = slc_bench_number(of->bound_seconds / of->seconds);
    row[MS] = slc_bench_number(1e3 * of->seconds / of->images);
    row[PERCENT] = slc_bench_number(100 * of->bound_seconds / of->seconds);
    return slc_bench_goes_on(c->watch, rows->n, 0);
}

static slc_status measure_streams(const tale *t, const slc_bench_watch *watch, slc_error *error)
{
    slc_bench_rows *rows = &t->report->sets[0];
    FILE *out = t->report->table;
    *rows = (slc_bench_rows){.columns = columns[2], .n_columns = COLUMNS};
    stream_collector c = {t, watch};
    const slc_status status = slc_bench_label_streams(t->config, t->config->streams, add_streams, &c, error);
    if (status != SLC_OK) {
        return status;
    }
    print_device(t, true);
    (void)fprintf(out, "%6s %4s  %-16s%8s%8s%12s%12s%10s\n", "size", "g", "algorithm", "streams", "images",
                  "ms/image", "Gpixel/s", "% bound");
    for (size_t i = 0; i < rows->n; i++) {
        slc_bench_print(out, rows, i,
                        "{size:6} {granularity:4}  {algorithm:-16}{streams:8}{images:8}{ms:12.3f}"
                        "{gigapixels_per_s:12.4g}{of_bound_percent:10.3g}\n");
    }
    (void)fputs(
        "whole calls from page-locked memory and back, all densities in turn, a thread and a labeller "
        "a stream;\nthe bound is the copies alone of the slower direction\n",
        out);
    make_json(t, true);
    return SLC_OK;
}

/* ---- all --------------------------------------------------------------------------------------- */

slc_status slc_bench_label(const void *configuration, const slc_bench_watch *watch, slc_bench_report *report,
                           slc_error *error)
{
    const slc_bench_label_config *config = configuration;
    slc_bench_label_rows rows = {.n = 0};
    slc_bench_gpu_speed speed;
    tale t = {.config = config, .rows = &rows, .report = report};
    uint32_t number;
    slc_status status = SLC_OK;
    if (config->device != NULL) {
        status = slc_cuda_choose(config->device, &number, error);
        status = status == SLC_OK ? slc_cuda_device_of(number, &t.device, error) : status;
    }
    if (status == SLC_OK && config->bound) {
        status = slc_bench_gpu_speed_of(config->device, 11, &speed, error);
        t.speed = &speed;
    }
    if (status == SLC_OK && config->streams > 0) {
        return measure_streams(&t, watch, error);
    }
    status = status == SLC_OK ? slc_bench_label_collect(config, watch, &rows, error) : status;
    status = status == SLC_OK ? tell(&t, error) : status;
    free(rows.rows);
    return status;
}
