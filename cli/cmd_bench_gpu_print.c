/* SPDX-License-Identifier: Apache-2.0
 * What `sluice bench gpu` has measured, as tables, as JSON and as CSV. */
#include "cmd_bench_gpu.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------- */

static const char *atomics_name(const slc_bench_gpu_row *row)
{
    return row->stride == 0  ? "one word"
           : row->stride > 1 ? "a word of every line of 128 bytes"
           : row->words > 64 ? "all words in order"
                             : "the words of one line of 128 bytes";
}

/* The side of a square image of n-half pixels. A fit may begin below nothing: then half of the throughput is
 * there from the first pixel on. */
static double side_of(const slc_bench_gpu_hockney *h)
{
    return h->n_half > 0 ? sqrt(h->n_half) : 0;
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void print_speed(const slc_bench_gpu *b)
{
    const slc_bench_gpu_speed *speed = &b->speed;
    const struct {
        const char *name;
        double value;
    } lines[] = {{"read", speed->read},
                 {"written (fill)", speed->write},
                 {"copied on the device, both counted", speed->copy},
                 {"to the device, page-locked", speed->to_device},
                 {"to the host, page-locked", speed->to_host}};
    (void)printf("\n%-40s%12s%14s\n", "memory", "GB/s", "% data sheet");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        (void)printf("%-40s%12.1f", lines[i].name, 1e-9 * lines[i].value);
        if (speed->data_sheet > 0 && i < 3) {
            (void)printf("%14.1f\n", 100 * lines[i].value / speed->data_sheet);
        } else {
            (void)printf("%14s\n", "-");
        }
    }
    (void)printf("a kernel that reads a byte of each pixel and writes four: %.1f Gpixel/s\n",
                 1e-9 * speed->widen);
}

/* The row of a test, element and stride; NULL where there is none. */
static const slc_bench_gpu_row *find(const slc_bench_gpu *b, slc_bench_gpu_test test, uint32_t element,
                                     uint32_t stride)
{
    for (size_t i = 0; i < b->n; i++) {
        const slc_bench_gpu_row *row = &b->rows[i];
        if (row->test == test && row->element_bytes == element && row->stride == stride) {
            return row;
        }
    }
    return NULL;
}

static void print_cell(const slc_bench_gpu_row *row)
{
    if (row != NULL) {
        (void)printf("%11.1f", 1e-9 * row->bytes / row->median_s);
    } else {
        (void)printf("%11s", "-");
    }
}

static void print_strides(const slc_bench_gpu *b)
{
    static const uint32_t global[] = {1, 4, 8, 16}, shared[] = {4, 8};
    if (find(b, SLC_BENCH_GPU_STRIDE_GLOBAL, 4, 1) == NULL) {
        return;
    }
    (void)printf(
        "\neffective GB/s    global memory, bytes of an element        copied to shared    shared alone\n"
        "%6s",
        "stride");
    for (size_t i = 0; i < 8; i++) {
        (void)printf("%11" PRIu32, i < 4 ? global[i] : shared[i % 2]);
    }
    (void)fputc('\n', stdout);
    for (size_t k = 0; k < b->n; k++) {
        const slc_bench_gpu_row *row = &b->rows[k];
        if (row->test != SLC_BENCH_GPU_STRIDE_GLOBAL || row->element_bytes != 4) {
            continue;
        }
        (void)printf("%6" PRIu32, row->stride);
        for (size_t i = 0; i < 4; i++) {
            print_cell(find(b, SLC_BENCH_GPU_STRIDE_GLOBAL, global[i], row->stride));
        }
        for (size_t i = 0; i < 2; i++) {
            print_cell(find(b, SLC_BENCH_GPU_STRIDE_COPIED, shared[i], row->stride));
        }
        for (size_t i = 0; i < 2; i++) {
            print_cell(find(b, SLC_BENCH_GPU_STRIDE_SHARED, shared[i], row->stride));
        }
        (void)fputc('\n', stdout);
    }
    (void)printf("bytes that are wanted, read and written (shared alone: read), over the median time\n");
}

static void print_atomics(const slc_bench_gpu *b)
{
    bool any = false;
    for (size_t i = 0; i < b->n; i++) {
        const slc_bench_gpu_row *row = &b->rows[i];
        if (row->test != SLC_BENCH_GPU_ATOMICS) {
            continue;
        }
        if (!any) {
            (void)printf("\n%-40s%8s%12s%14s\n", "atomic additions to", "bytes", "words", "G/s");
            any = true;
        }
        (void)printf("%-40s%8" PRIu32 "%12" PRIu32 "%14.3f\n", atomics_name(row), row->element_bytes,
                     row->words, 1e-9 * row->operations / row->median_s);
    }
}

static void print_hockney(const slc_bench_gpu *b)
{
    const slc_bench_label_cuda_config *config = &b->label->config;
    (void)printf("\nlabelling, %s, %" PRIu32 "-connected\n%-16s%6s%8s%14s%14s%12s%12s\n",
                 !config->labels         ? "features without label images"
                 : config->features != 0 ? "labels and features"
                                         : "labels",
                 config->connectivity, "algorithm", "g", "sizes", "r-inf Gpix/s", "n-half pixels", "its side",
                 "off by %");
    for (size_t i = 0; i < b->n_hockney; i++) {
        const slc_bench_gpu_hockney *h = &b->hockney[i];
        (void)printf("%-16s%6" PRIu32 "%8zu%14.4g%14.0f%12.0f%12.1f\n",
                     slc_image_cuda_algorithm_name(h->algorithm), h->granularity, h->sizes,
                     1e-9 * h->r_infinity, h->n_half, side_of(h), 100 * h->deviation);
    }
    (void)printf(
        "t(n) = (n + n-half) / r-inf for n pixels, t the mean of the densities' medians; least squares of "
        "the relative\ndeviations, of which the largest is told\n");
}

void slc_bench_gpu_print(const slc_bench_gpu *b)
{
    (void)printf("%s, %" PRIu32 " multiprocessors\n", b->label->device.name,
                 b->label->device.multiprocessors);
    if (b->has_speed) {
        print_speed(b);
    }
    print_strides(b);
    print_atomics(b);
    if (b->n_hockney > 0) {
        print_hockney(b);
    }
}

/* ---- CSV --------------------------------------------------------------------------------------- */

static void csv_memory(FILE *out, const slc_bench_gpu_speed *speed)
{
    const struct {
        const char *name;
        double value;
    } lines[] = {{"read", speed->read},
                 {"write", speed->write},
                 {"copy", speed->copy},
                 {"to-device", speed->to_device},
                 {"to-host", speed->to_host}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        (void)fprintf(out, "%s,,,,,%.6g,,,,,,,\n", lines[i].name, lines[i].value);
    }
    (void)fprintf(out, "widen,,,,%.6g,,,,,,,,\n", speed->widen);
}

slc_status slc_bench_gpu_csv(const char *path, const slc_bench_gpu *b, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    (void)fprintf(out, "test,element_bytes,stride,words,operations_per_s,bytes_per_s,algorithm,granularity,"
                       "size,density_percent,median_s,r_infinity,n_half\n");
    if (b->has_speed) {
        csv_memory(out, &b->speed);
    }
    for (size_t i = 0; i < b->n; i++) {
        const slc_bench_gpu_row *row = &b->rows[i];
        (void)fprintf(out, "%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.6g,%.6g,,,,,%.6g,,\n",
                      slc_bench_gpu_test_name(row->test), row->element_bytes, row->stride, row->words,
                      row->operations / row->median_s, row->bytes / row->median_s, row->median_s);
    }
    for (size_t i = 0; i < b->label->n; i++) {
        const slc_bench_label_cuda_row *row = &b->label->rows[i];
        (void)fprintf(out, "label,,,,%.6g,,%s,%" PRIu32 ",%zu,%.10g,%.6g,,\n",
                      (double)row->size * (double)row->size / row->median_s,
                      slc_image_cuda_algorithm_name(row->algorithm), row->granularity, row->size,
                      100 * row->density, row->median_s);
    }
    for (size_t i = 0; i < b->n_hockney; i++) {
        const slc_bench_gpu_hockney *h = &b->hockney[i];
        (void)fprintf(out, "hockney,,,,,,%s,%" PRIu32 ",,,,%.6g,%.6g\n",
                      slc_image_cuda_algorithm_name(h->algorithm), h->granularity, h->r_infinity, h->n_half);
    }
    return slc_io_text_finish(writer, error);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *row_object(const slc_bench_gpu_row *row)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "test", slc_bench_gpu_test_name(row->test),
                     "element_bytes", (json_int_t)row->element_bytes, "stride", (json_int_t)row->stride,
                     "words", (json_int_t)row->words, "median_s", row->median_s, "minimum_s", row->minimum_s,
                     "operations_per_s", row->operations / row->median_s, "bytes_per_s",
                     row->bytes / row->median_s);
}

static json_t *hockney_object(const slc_bench_gpu_hockney *h)
{
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "algorithm",
                     slc_image_cuda_algorithm_name(h->algorithm), "granularity", (json_int_t)h->granularity,
                     "sizes", (json_int_t)h->sizes, "r_infinity", h->r_infinity, "n_half", h->n_half,
                     "deviation", h->deviation);
}

bool slc_bench_gpu_print_json(const slc_bench_gpu *b)
{
    const slc_bench_gpu_speed *speed = &b->speed;
    json_t *rows = json_array(), *hockney = json_array(), *memory = json_null();
    int wrong = rows == NULL || hockney == NULL;
    for (size_t i = 0; i < b->n && wrong == 0; i++) {
        wrong = json_array_append_new(rows, row_object(&b->rows[i]));
    }
    for (size_t i = 0; i < b->n_hockney && wrong == 0; i++) {
        wrong = json_array_append_new(hockney, hockney_object(&b->hockney[i]));
    }
    if (wrong != 0) {
        json_decref(rows);
        json_decref(hockney);
        slc_cli_say("bench gpu", "no memory for the JSON output");
        return false;
    }
    if (b->has_speed) {
        memory = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "read_bytes_per_s", speed->read,
                           "write_bytes_per_s", speed->write, "copy_bytes_per_s", speed->copy,
                           "widen_pixels_per_s", speed->widen, "to_device_bytes_per_s", speed->to_device,
                           "to_host_bytes_per_s", speed->to_host);
    }
    return slc_cli_print_json("bench gpu",
                              json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "version", slc_version(), "device",
                                        b->label->config.device, "device_name", b->label->device.name,
                                        "memory", memory, "tests", rows, "labelling", hockney));
}
