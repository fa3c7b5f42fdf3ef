/* SPDX-License-Identifier: Apache-2.0
 * What `sluice bench label` has measured, as a table, as JSON and as CSV. */
#include "cmd_bench_label.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char *target_of(size_t algorithm, slc_simd_target target)
{
    return slc_image_algorithm_simd(algorithm) ? slc_simd_name(target) : "-";
}

static double gigapixels(const slc_bench_label_average *a, bool by_median)
{
    return 1e-9 * a->pixels / (by_median ? a->median_seconds : a->seconds);
}

/* ---- table ------------------------------------------------------------------------------------- */

/* Table 4.2 of the thesis: average cycles per pixel at granularity 1, 2 and 4, 2048 x 2048 pixels, one thread
 * of a Xeon Gold 6126 at 2.6 GHz. Its widths are the targets of the same width here. */
static const struct thesis_row {
    const char *algorithm;
    slc_simd_target target;
    double cycles[3];
} thesis[] = {
    {"lsl-std", SLC_SIMD_C, {10.47, 6.98, 5.91}},
    {"lsl-rle", SLC_SIMD_C, {16.96, 9.31, 6.05}},
    {"rosenfeld", SLC_SIMD_C, {30.61, 19.01, 12.49}},
    {"rosenfeld-dt", SLC_SIMD_C, {20.01, 11.81, 8.30}},
    {"rosenfeld-v1", SLC_SIMD_AVX512, {7.61, 6.07, 5.06}},
    {"rosenfeld-v1", SLC_SIMD_AVX512VL256, {10.65, 8.64, 7.08}},
    {"rosenfeld-v1", SLC_SIMD_AVX512VL128, {16.40, 13.23, 11.33}},
    {"rosenfeld-v2", SLC_SIMD_AVX512, {7.97, 6.54, 5.26}},
    {"rosenfeld-v2", SLC_SIMD_AVX512VL256, {11.54, 9.22, 7.35}},
    {"rosenfeld-v2", SLC_SIMD_AVX512VL128, {17.89, 14.15, 11.89}},
};

/* 0 where the thesis has no such figure. */
static double thesis_cycles(const slc_bench_label_config *config, const slc_bench_label_average *a)
{
    const bool same = config->connectivity == 8 && config->threads == 1 && config->labels &&
                      config->features == 0 && a->size == 2048;
    const int column = a->granularity == 1 ? 0 : a->granularity == 2 ? 1 : a->granularity == 4 ? 2 : -1;
    for (size_t i = 0; i < sizeof thesis / sizeof *thesis && same && column >= 0; i++) {
        if (thesis[i].target == a->target &&
            strcmp(thesis[i].algorithm, slc_image_algorithm_name(a->algorithm)) == 0) {
            return thesis[i].cycles[column];
        }
    }
    return 0;
}

static void print_average(const slc_bench_label_config *config, const slc_bench_label_average *a)
{
    const double mean = a->cycles / a->pixels, published = thesis_cycles(config, a);
    char other[16] = "";
    if (published > 0) {
        (void)snprintf(other, sizeof other, "%.2f", published);
    }
    (void)printf("%6zu %4" PRIu32 "  %-16s %-12s %9.3f %9.3f %9.3f %9.3f %6.4g %8.0f %8s\n", a->size,
                 a->granularity, slc_image_algorithm_name(a->algorithm), target_of(a->algorithm, a->target),
                 mean, gigapixels(a, false), gigapixels(a, true), a->worst_cycles, 100 * a->worst_density,
                 100 * mean / a->worst_cycles, other);
}

void slc_bench_label_print(const slc_bench_label_config *config, const slc_bench_label_rows *rows)
{
    (void)printf("%6s %4s  %-16s %-12s %9s %9s %9s %9s %6s %8s %8s\n", "size", "g", "algorithm", "target",
                 "cycles/px", "Gpixel/s", "median", "worst", "at %", "% mean", "thesis");
    for (size_t i = 0; i < rows->n_averages; i++) {
        print_average(config, &rows->averages[i]);
    }
    (void)printf(
        "averages over the densities are total time over total pixels; cycles and Gpixel/s from the "
        "fastest\ncalls, then Gpixel/s from the medians; worst: cycles per pixel at the worst density, and "
        "how fast that\nis, of the mean; thesis: table 4.2 (Hennequin 2022, Xeon Gold 6126)\n");
}

/* ---- files ------------------------------------------------------------------------------------- */

slc_status slc_bench_label_csv(const char *path, const slc_bench_label_config *config,
                               const slc_bench_label_rows *rows, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    (void)fprintf(out, "size,granularity,density_percent,algorithm,target,connectivity,threads,components,"
                       "repetitions,minimum_s,median_s,core_hz,cycles_per_pixel,gigapixels_per_s\n");
    for (size_t i = 0; i < rows->n; i++) {
        const slc_bench_label_row *row = &rows->rows[i];
        const double pixels = (double)row->size * (double)row->size;
        (void)fprintf(out,
                      "%zu,%" PRIu32 ",%.10g,%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
                      ",%.6g,%.6g,%.6g,%.6g,%.6g\n",
                      row->size, row->granularity, 100 * row->density,
                      slc_image_algorithm_name(row->algorithm), target_of(row->algorithm, row->target),
                      config->connectivity, config->threads, row->components, row->repetitions,
                      row->minimum_s, row->median_s, row->hertz, row->minimum_s * row->hertz / pixels,
                      1e-9 * pixels / row->minimum_s);
    }
    return slc_io_text_finish(writer, error);
}

static json_t *row_object(const slc_bench_label_row *row)
{
    const double pixels = (double)row->size * (double)row->size;
    return json_pack("{s:I, s:I, s:f, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "size", (json_int_t)row->size,
                     "granularity", (json_int_t)row->granularity, "density_percent", 100 * row->density,
                     "algorithm", slc_image_algorithm_name(row->algorithm), "target",
                     target_of(row->algorithm, row->target), "components", (json_int_t)row->components,
                     "repetitions", (json_int_t)row->repetitions, "minimum_s", row->minimum_s, "median_s",
                     row->median_s, "core_hz", row->hertz, "cycles_per_pixel",
                     row->minimum_s * row->hertz / pixels);
}

static json_t *average_object(const slc_bench_label_average *a)
{
    return json_pack("{s:I, s:I, s:s, s:s, s:f, s:f, s:f, s:f, s:f}", "size", (json_int_t)a->size,
                     "granularity", (json_int_t)a->granularity, "algorithm",
                     slc_image_algorithm_name(a->algorithm), "target", target_of(a->algorithm, a->target),
                     "cycles_per_pixel", a->cycles / a->pixels, "gigapixels_per_s", gigapixels(a, false),
                     "gigapixels_per_s_median", gigapixels(a, true), "worst_cycles_per_pixel",
                     a->worst_cycles, "worst_density_percent", 100 * a->worst_density);
}

bool slc_bench_label_print_json(const slc_bench_label_config *config, const slc_bench_label_rows *rows)
{
    json_t *averages = json_array(), *measurements = json_array();
    int wrong = averages == NULL || measurements == NULL;
    for (size_t i = 0; i < rows->n_averages && wrong == 0; i++) {
        wrong = json_array_append_new(averages, average_object(&rows->averages[i]));
    }
    for (size_t i = 0; i < rows->n && wrong == 0; i++) {
        wrong = json_array_append_new(measurements, row_object(&rows->rows[i]));
    }
    if (wrong != 0) {
        json_decref(averages);
        json_decref(measurements);
        slc_cli_say("bench label", "no memory for the JSON output");
        return false;
    }
    return slc_cli_print_json(
        "bench label",
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "version", slc_version(), "compiler",
                  slc_compiler(), "connectivity", (json_int_t)config->connectivity, "threads",
                  (json_int_t)config->threads, "features", (json_int_t)config->features, "labels",
                  config->labels ? 1 : 0, "averages", averages, "measurements", measurements));
}
