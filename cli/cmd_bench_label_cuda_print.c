/* SPDX-License-Identifier: Apache-2.0
 * What `sluice bench label --device cuda` has measured, as tables, as JSON and as CSV. */
#include "cmd_bench_label.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static double pixels_of(const slc_bench_label_cuda_row *row)
{
    return (double)row->size * (double)row->size;
}

static double gigapixels(const slc_bench_label_cuda_average *a)
{
    return 1e-9 * a->pixels / a->seconds;
}

/* What part of the time the memory needs in any case; 0 where that was not measured. */
static double of_bound(const slc_bench_label_gpu *b, double pixels, double seconds)
{
    return b->has_speed ? slc_bench_gpu_label_bound(&b->speed, pixels, b->config.labels) / seconds : 0;
}

static const char *what_is_made(const slc_bench_label_cuda_config *config)
{
    return !config->labels         ? "features without label images"
           : config->features != 0 ? "labels and features"
                                   : "labels";
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void print_head(const slc_bench_label_gpu *b)
{
    const slc_bench_label_cuda_config *config = &b->config;
    (void)printf("%s, %" PRIu32 " multiprocessors: %s%s, %" PRIu32 "-connected", b->device.name,
                 b->device.multiprocessors, config->raw ? "raw " : "", what_is_made(config),
                 config->connectivity);
    if (b->n_streams == 0) {
        (void)printf(", %s\n", config->flush_bytes > 0 ? "cold caches" : "warm caches");
    } else {
        (void)printf(", host to host\n");
    }
    if (b->has_speed) {
        const slc_bench_gpu_speed *speed = &b->speed;
        (void)printf("memory, measured here: read %.0f GB/s, write %.0f, copy %.0f (both counted); a kernel "
                     "that reads a byte\nof each pixel and writes four: %.0f Gpixel/s\n",
                     1e-9 * speed->read, 1e-9 * speed->write, 1e-9 * speed->copy, 1e-9 * speed->widen);
    }
}

static const slc_bench_label_cuda_average *find(const slc_bench_label_gpu *b, size_t size, size_t algorithm,
                                                uint32_t granularity)
{
    for (size_t i = 0; i < b->n_averages; i++) {
        const slc_bench_label_cuda_average *a = &b->averages[i];
        if (a->size == size && a->algorithm == algorithm && a->granularity == granularity) {
            return a;
        }
    }
    return NULL;
}

/* The throughput at density 1, which is the same image for all granularities: the mean time of them. */
static double full_gigapixels(const slc_bench_label_gpu *b, size_t size, size_t algorithm)
{
    double seconds = 0, count = 0;
    for (size_t i = 0; i < b->n_averages; i++) {
        const slc_bench_label_cuda_average *a = &b->averages[i];
        if (a->size == size && a->algorithm == algorithm && a->full_seconds > 0) {
            seconds += a->full_seconds;
            count += 1;
        }
    }
    return count > 0 ? 1e-9 * (double)size * (double)size * count / seconds : 0;
}

static void print_number(bool there, double number)
{
    if (there) {
        (void)printf("%10.4g", number);
    } else {
        (void)printf("%10s", "-");
    }
}

static void print_columns(const slc_bench_label_gpu *b)
{
    const slc_bench_label_cuda_config *config = &b->config;
    (void)printf("%6s  %-16s", "size", "algorithm");
    for (size_t g = 0; g < config->n_granularities; g++) {
        char name[16];
        (void)snprintf(name, sizeof name, "g = %" PRIu32, config->granularities[g]);
        (void)printf("%10s", name);
    }
    (void)printf("%10s", "full");
    for (size_t g = 0; g < config->n_granularities; g++) {
        (void)printf("%15s", g == 0 ? "worst, % mean" : "");
    }
    for (size_t g = 0; g < config->n_granularities && b->has_speed; g++) {
        (void)printf("%10s", g == 0 ? "% bound" : "");
    }
    (void)printf("%10s\n", "launches");
}

static uint32_t launches_of(const slc_bench_label_gpu *b, size_t size, size_t algorithm)
{
    uint32_t most = 0;
    for (size_t i = 0; i < b->n; i++) {
        const slc_bench_label_cuda_row *row = &b->rows[i];
        if (row->size == size && row->algorithm == algorithm && row->launches > most) {
            most = row->launches;
        }
    }
    return most;
}

static void print_algorithm(const slc_bench_label_gpu *b, size_t size, size_t algorithm)
{
    const slc_bench_label_cuda_config *config = &b->config;
    const double full = full_gigapixels(b, size, algorithm);
    (void)printf("%6zu  %-16s", size, slc_image_cuda_algorithm_name(algorithm));
    for (size_t g = 0; g < config->n_granularities; g++) {
        const slc_bench_label_cuda_average *a = find(b, size, algorithm, config->granularities[g]);
        print_number(a != NULL, a != NULL ? gigapixels(a) : 0);
    }
    print_number(full > 0, full);
    for (size_t g = 0; g < config->n_granularities; g++) {
        const slc_bench_label_cuda_average *a = find(b, size, algorithm, config->granularities[g]);
        if (a != NULL) {
            (void)printf("%8.0f at %3.0f", 100 * a->seconds / a->pixels / a->worst_seconds,
                         100 * a->worst_density);
        } else {
            (void)printf("%15s", "-");
        }
    }
    for (size_t g = 0; g < config->n_granularities && b->has_speed; g++) {
        const slc_bench_label_cuda_average *a = find(b, size, algorithm, config->granularities[g]);
        print_number(a != NULL, a != NULL ? 100 * of_bound(b, a->pixels, a->seconds) : 0);
    }
    (void)printf("%10" PRIu32 "\n", launches_of(b, size, algorithm));
}

/* Averages are sorted by speed: an algorithm's line is where its first average of that size stands. */
static void print_size(const slc_bench_label_gpu *b, size_t size)
{
    for (size_t i = 0; i < b->n_averages; i++) {
        const slc_bench_label_cuda_average *a = &b->averages[i];
        bool first = a->size == size && a->granularity == b->config.granularities[0];
        for (size_t k = 0; k < i && first; k++) {
            first = b->averages[k].size != size || b->averages[k].algorithm != a->algorithm ||
                    b->averages[k].granularity != a->granularity;
        }
        if (first) {
            print_algorithm(b, size, a->algorithm);
        }
    }
}

static void print_streams(const slc_bench_label_gpu *b)
{
    (void)printf("%6s %4s  %-16s%8s%8s%12s%12s%10s\n", "size", "g", "algorithm", "streams", "images",
                 "ms/image", "Gpixel/s", "% bound");
    for (size_t i = 0; i < b->n_streams; i++) {
        const slc_bench_label_cuda_streams_row *row = &b->streams[i];
        const double pixels = (double)row->size * (double)row->size * row->images;
        (void)printf("%6zu %4" PRIu32 "  %-16s%8" PRIu32 "%8" PRIu32 "%12.3f%12.4g%10.3g\n", row->size,
                     row->granularity, slc_image_cuda_algorithm_name(row->algorithm), row->streams,
                     row->images, 1e3 * row->seconds / row->images, 1e-9 * pixels / row->seconds,
                     100 * row->bound_seconds / row->seconds);
    }
    (void)printf(
        "whole calls from page-locked memory and back, all densities in turn, a thread and a labeller "
        "a stream;\nthe bound is the copies alone of the slower direction\n");
}

void slc_bench_label_cuda_print(const slc_bench_label_gpu *b)
{
    print_head(b);
    if (b->n_streams > 0) {
        print_streams(b);
        return;
    }
    print_columns(b);
    for (size_t s = 0; s < b->config.n_sizes; s++) {
        print_size(b, b->config.sizes[s]);
    }
    (void)printf(
        "Gpixel/s are all pixels over all time (the harmonic mean over the densities), from medians, "
        "kernels alone;\nfull: the image of density 100 %%; worst: the slowest density's throughput, "
        "in %% of the mean, and which\ndensity [%%] it is%s\n",
        b->has_speed ? (b->config.labels ? "; bound: a byte of each pixel read, and four written"
                                         : "; bound: a byte of each pixel read")
                     : "");
}

/* ---- files ------------------------------------------------------------------------------------- */

static void csv_rows(FILE *out, const slc_bench_label_gpu *b)
{
    (void)fprintf(out,
                  "size,granularity,density_percent,algorithm,device,connectivity,labels,features,raw,cold,"
                  "components,launches,repetitions,minimum_s,median_s,gigapixels_per_s,of_bound\n");
    for (size_t i = 0; i < b->n; i++) {
        const slc_bench_label_cuda_row *row = &b->rows[i];
        (void)fprintf(out,
                      "%zu,%" PRIu32 ",%.10g,%s,\"%s\",%" PRIu32 ",%d,%" PRIu32 ",%d,%d,%" PRIu32 ",%" PRIu32
                      ",%" PRIu32 ",%.6g,%.6g,%.6g,",
                      row->size, row->granularity, 100 * row->density,
                      slc_image_cuda_algorithm_name(row->algorithm), b->device.name, b->config.connectivity,
                      b->config.labels ? 1 : 0, b->config.features, b->config.raw ? 1 : 0,
                      b->config.flush_bytes > 0 ? 1 : 0, row->components, row->launches, row->repetitions,
                      row->minimum_s, row->median_s, 1e-9 * pixels_of(row) / row->median_s);
        if (b->has_speed) {
            (void)fprintf(out, "%.4g", of_bound(b, pixels_of(row), row->median_s));
        }
        (void)fputc('\n', out);
    }
}

static void csv_streams(FILE *out, const slc_bench_label_gpu *b)
{
    (void)fprintf(out, "size,granularity,algorithm,device,connectivity,labels,features,streams,images,"
                       "components,seconds,gigapixels_per_s,of_bound\n");
    for (size_t i = 0; i < b->n_streams; i++) {
        const slc_bench_label_cuda_streams_row *row = &b->streams[i];
        const double pixels = (double)row->size * (double)row->size * row->images;
        (void)fprintf(out,
                      "%zu,%" PRIu32 ",%s,\"%s\",%" PRIu32 ",%d,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64
                      ",%.6g,%.6g,%.4g\n",
                      row->size, row->granularity, slc_image_cuda_algorithm_name(row->algorithm),
                      b->device.name, b->config.connectivity, b->config.labels ? 1 : 0, b->config.features,
                      row->streams, row->images, row->components, row->seconds, 1e-9 * pixels / row->seconds,
                      row->bound_seconds / row->seconds);
    }
}

slc_status slc_bench_label_cuda_csv(const char *path, const slc_bench_label_gpu *b, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    if (b->n_streams > 0) {
        csv_streams(slc_io_text_stream(writer), b);
    } else {
        csv_rows(slc_io_text_stream(writer), b);
    }
    return slc_io_text_finish(writer, error);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *row_object(const slc_bench_label_gpu *b, const slc_bench_label_cuda_row *row)
{
    json_t *object = json_pack("{s:I, s:I, s:f, s:s, s:I, s:I, s:I, s:f, s:f}", "size", (json_int_t)row->size,
                               "granularity", (json_int_t)row->granularity, "density_percent",
                               100 * row->density, "algorithm", slc_image_cuda_algorithm_name(row->algorithm),
                               "components", (json_int_t)row->components, "launches",
                               (json_int_t)row->launches, "repetitions", (json_int_t)row->repetitions,
                               "minimum_s", row->minimum_s, "median_s", row->median_s);
    if (object != NULL && b->has_speed) {
        (void)json_object_set_new(object, "of_bound", json_real(of_bound(b, pixels_of(row), row->median_s)));
    }
    return object;
}

static json_t *average_object(const slc_bench_label_gpu *b, const slc_bench_label_cuda_average *a)
{
    json_t *object = json_pack(
        "{s:I, s:I, s:s, s:f, s:f, s:f, s:f}", "size", (json_int_t)a->size, "granularity",
        (json_int_t)a->granularity, "algorithm", slc_image_cuda_algorithm_name(a->algorithm),
        "gigapixels_per_s", gigapixels(a), "gigapixels_per_s_minima", 1e-9 * a->pixels / a->least_seconds,
        "worst_gigapixels_per_s", 1e-9 / a->worst_seconds, "worst_density_percent", 100 * a->worst_density);
    const double full = full_gigapixels(b, a->size, a->algorithm);
    if (object != NULL && full > 0) {
        (void)json_object_set_new(object, "full_gigapixels_per_s", json_real(full));
    }
    if (object != NULL && b->has_speed) {
        (void)json_object_set_new(object, "of_bound", json_real(of_bound(b, a->pixels, a->seconds)));
    }
    return object;
}

static json_t *streams_object(const slc_bench_label_cuda_streams_row *row)
{
    const double pixels = (double)row->size * (double)row->size * row->images;
    return json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:f, s:f, s:f}", "size", (json_int_t)row->size,
                     "granularity", (json_int_t)row->granularity, "algorithm",
                     slc_image_cuda_algorithm_name(row->algorithm), "streams", (json_int_t)row->streams,
                     "images", (json_int_t)row->images, "components", (json_int_t)row->components, "seconds",
                     row->seconds, "gigapixels_per_s", 1e-9 * pixels / row->seconds, "of_bound",
                     row->bound_seconds / row->seconds);
}

static json_t *speed_object(const slc_bench_gpu_speed *speed)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "read_bytes_per_s", speed->read, "write_bytes_per_s",
                     speed->write, "copy_bytes_per_s", speed->copy, "widen_pixels_per_s", speed->widen,
                     "to_device_bytes_per_s", speed->to_device, "to_host_bytes_per_s", speed->to_host);
}

/* Lists of objects; false without memory. */
static bool fill_lists(const slc_bench_label_gpu *b, json_t *averages, json_t *measurements, json_t *streams)
{
    int wrong = averages == NULL || measurements == NULL || streams == NULL;
    for (size_t i = 0; i < b->n_averages && wrong == 0; i++) {
        wrong = json_array_append_new(averages, average_object(b, &b->averages[i]));
    }
    for (size_t i = 0; i < b->n && wrong == 0; i++) {
        wrong = json_array_append_new(measurements, row_object(b, &b->rows[i]));
    }
    for (size_t i = 0; i < b->n_streams && wrong == 0; i++) {
        wrong = json_array_append_new(streams, streams_object(&b->streams[i]));
    }
    return wrong == 0;
}

bool slc_bench_label_cuda_print_json(const slc_bench_label_gpu *b)
{
    const slc_bench_label_cuda_config *config = &b->config;
    json_t *averages = json_array(), *measurements = json_array(), *streams = json_array();
    if (!fill_lists(b, averages, measurements, streams)) {
        json_decref(averages);
        json_decref(measurements);
        json_decref(streams);
        slc_cli_say("bench label", "no memory for the JSON output");
        return false;
    }
    json_t *speed = b->has_speed ? speed_object(&b->speed) : json_null();
    return slc_cli_print_json(
        "bench label",
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "version", slc_version(),
                  "device", config->device, "device_name", b->device.name, "connectivity",
                  (json_int_t)config->connectivity, "features", (json_int_t)config->features, "labels",
                  config->labels ? 1 : 0, "raw", config->raw ? 1 : 0, "cold", config->flush_bytes > 0 ? 1 : 0,
                  "memory", speed, "averages", averages, "measurements", measurements, "streams", streams));
}
