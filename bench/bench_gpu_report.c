/* SPDX-License-Identifier: Apache-2.0
 *
 * What measurements of a GPU come to: Hockney's two numbers for each algorithm of labelling, and tables, rows
 * for CSV and JSON, and figures. Arithmetic alone, in every build.
 */
#include "bench/bench_gpu.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 1024 };

/* ---- r-infinity and n-half --------------------------------------------------------------------- */

static double pixels_of(const slc_bench_label_row *row)
{
    return (double)row->size * (double)row->size;
}

static bool same_curve(const slc_bench_label_row *a, const slc_bench_label_row *b)
{
    return a->algorithm == b->algorithm && a->granularity == b->granularity;
}

/* Is no row before it of its curve (and size)? */
static bool is_first(const slc_bench_label_row *rows, size_t i, bool of_size)
{
    for (size_t k = 0; k < i; k++) {
        if (same_curve(&rows[k], &rows[i]) && (!of_size || rows[k].size == rows[i].size)) {
            return false;
        }
    }
    return true;
}

/* The mean time of an image of that row's size, algorithm and granularity, over the densities. */
static double mean_time(const slc_bench_label_row *rows, size_t n, const slc_bench_label_row *of)
{
    double seconds = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        if (same_curve(&rows[i], of) && rows[i].size == of->size) {
            seconds += rows[i].median_s;
            count += 1;
        }
    }
    return seconds / count;
}

/* Sums of a least-squares line a + b · n through t with weights w = 1 / t². */
typedef struct sums {
    double w, n, nn, t, nt;
} sums;

static sums add_up(const slc_bench_label_row *rows, size_t n_rows, size_t first, size_t *sizes)
{
    sums s = {0};
    *sizes = 0;
    for (size_t i = first; i < n_rows; i++) {
        if (!same_curve(&rows[i], &rows[first]) || !is_first(rows, i, true)) {
            continue;
        }
        const double n = pixels_of(&rows[i]), t = mean_time(rows, n_rows, &rows[i]), w = 1 / (t * t);
        s.w += w;
        s.n += w * n;
        s.nn += w * n * n;
        s.t += w * t;
        s.nt += w * n * t;
        (*sizes)++;
    }
    return s;
}

static double largest_deviation(const slc_bench_label_row *rows, size_t n_rows, size_t first, double a,
                                double b)
{
    double largest = 0;
    for (size_t i = first; i < n_rows; i++) {
        if (same_curve(&rows[i], &rows[first])) {
            const double t = mean_time(rows, n_rows, &rows[i]);
            largest = fmax(largest, fabs(a + b * pixels_of(&rows[i]) - t) / t);
        }
    }
    return largest;
}

size_t slc_bench_gpu_hockney_of(const slc_bench_label_row *rows, size_t n, slc_bench_gpu_hockney *results,
                                size_t room)
{
    size_t found = 0;
    for (size_t i = 0; i < n && found < room; i++) {
        if (!is_first(rows, i, false)) {
            continue;
        }
        slc_bench_gpu_hockney *h = &results[found];
        *h = (slc_bench_gpu_hockney){.algorithm = rows[i].algorithm, .granularity = rows[i].granularity};
        const sums s = add_up(rows, n, i, &h->sizes);
        if (h->sizes < 2) {
            continue;
        }
        const double b = (s.w * s.nt - s.n * s.t) / (s.w * s.nn - s.n * s.n);
        const double a = (s.t - b * s.n) / s.w;
        if (b > 0) {
            h->r_infinity = 1 / b;
            h->n_half = a / b;
        }
        h->deviation = largest_deviation(rows, n, i, a, b);
        found++;
    }
    return found;
}

double slc_bench_gpu_label_bound(const slc_bench_gpu_speed *speed, double pixels, bool labels)
{
    return pixels / speed->read + (labels ? 4 * pixels / speed->write : 0);
}

const char *slc_bench_gpu_test_name(slc_bench_gpu_test test)
{
    static const char *const names[SLC_BENCH_GPU_TESTS] = {"stride-global", "stride-copied", "stride-shared",
                                                           "atomics"};
    return test < SLC_BENCH_GPU_TESTS ? names[test] : NULL;
}

const char *slc_bench_gpu_made(const slc_bench_label_config *config)
{
    return !config->labels         ? "features without label images"
           : config->features != 0 ? "labels and features"
                                   : "labels";
}

json_t *slc_bench_gpu_speed_json(const slc_bench_gpu_speed *speed)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "read_bytes_per_s", speed->read, "write_bytes_per_s",
                     speed->write, "copy_bytes_per_s", speed->copy, "widen_pixels_per_s", speed->widen,
                     "to_device_bytes_per_s", speed->to_device, "to_host_bytes_per_s", speed->to_host);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Two columns of a name: CSV and JSON have them at different places. */
enum {
    TEST = 0,
    J_TEST,
    ELEMENT,
    STRIDE,
    WORDS,
    J_MEDIAN,
    J_MINIMUM,
    OPERATIONS,
    BYTES,
    ALGORITHM,
    GRANULARITY,
    SIZES,
    SIZE,
    DENSITY,
    MEDIAN,
    R_INFINITY,
    N_HALF,
    DEVIATION,
    GIGABYTES,
    GIGAPIXELS,
    SIDE,
    RADIUS,
    LEGEND,
    GIGA_OPERATIONS,
    ADDED_TO,
    OFF_BY,
    COLUMNS
};

static const slc_bench_column columns[COLUMNS] = {
    {"test", SLC_BENCH_TEXT, SLC_BENCH_CSV, 0},
    {"test", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    {"element_bytes", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"stride", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"words", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"operations_per_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"bytes_per_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"algorithm", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0},
    {"granularity", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
    {"sizes", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    {"size", SLC_BENCH_COUNT, SLC_BENCH_CSV, 0},
    {"density_percent", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 10},
    {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_CSV, 0},
    {"r_infinity", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"n_half", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
    {"deviation", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    {"gigabytes_per_s", SLC_BENCH_NUMBER, 0, 0},
    {"gigapixels_per_s", SLC_BENCH_NUMBER, 0, 0},
    {"side", SLC_BENCH_NUMBER, 0, 0},
    {"radius", SLC_BENCH_NUMBER, 0, 0},
    {"legend", SLC_BENCH_TEXT, 0, 0},
    {"giga_operations_per_s", SLC_BENCH_NUMBER, 0, 0},
    {"added_to", SLC_BENCH_TEXT, 0, 0},
    {"off_by_percent", SLC_BENCH_NUMBER, 0, 0},
};

typedef struct tale {
    const slc_bench_gpu_config *config;
    const slc_bench_gpu_found *found;
    slc_bench_report *report;
    slc_bench_rows *rows;
} tale;

static void add_speed(const tale *t)
{
    const slc_bench_gpu_speed *speed = t->found->speed;
    const struct {
        const char *name;
        double bytes, operations;
    } lines[] = {{"read", speed->read, NAN},       {"write", speed->write, NAN},
                 {"copy", speed->copy, NAN},       {"to-device", speed->to_device, NAN},
                 {"to-host", speed->to_host, NAN}, {"widen", NAN, speed->widen}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        slc_bench_cell *row = slc_bench_add(t->rows);
        row[TEST] = slc_bench_text(lines[i].name);
        row[BYTES] = slc_bench_number(lines[i].bytes);
        row[OPERATIONS] = slc_bench_number(lines[i].operations);
    }
}

static const char *atomics_name(const slc_bench_gpu_row *row)
{
    return row->stride == 0  ? "one word"
           : row->stride > 1 ? "a word of every line of 128 bytes"
           : row->words > 64 ? "all words in order"
                             : "the words of one line of 128 bytes";
}

static void add_test(const tale *t, const slc_bench_gpu_row *of)
{
    slc_bench_cell *row = slc_bench_add(t->rows);
    row[TEST] = row[J_TEST] = slc_bench_text(slc_bench_gpu_test_name(of->test));
    row[ELEMENT] = slc_bench_count(of->element_bytes);
    row[STRIDE] = slc_bench_count(of->stride);
    row[WORDS] = slc_bench_count(of->words);
    row[MEDIAN] = row[J_MEDIAN] = slc_bench_number(of->median_s);
    row[J_MINIMUM] = slc_bench_number(of->minimum_s);
    row[OPERATIONS] = slc_bench_number(of->operations / of->median_s);
    row[BYTES] = slc_bench_number(of->bytes / of->median_s);
    row[GIGABYTES] = slc_bench_number(1e-9 * of->bytes / of->median_s);
    row[GIGA_OPERATIONS] = slc_bench_number(1e-9 * of->operations / of->median_s);
    row[ADDED_TO] = slc_bench_text(atomics_name(of));
}

static void add_label(const tale *t, const slc_bench_label_row *of)
{
    slc_bench_cell *row = slc_bench_add(t->rows);
    row[TEST] = slc_bench_text("label");
    row[OPERATIONS] = slc_bench_number(pixels_of(of) / of->median_s);
    row[ALGORITHM] = slc_bench_text(slc_image_cuda_algorithm_name(of->algorithm));
    row[GRANULARITY] = slc_bench_count(of->granularity);
    row[SIZE] = slc_bench_count(of->size);
    row[DENSITY] = slc_bench_number(100 * of->density);
    row[MEDIAN] = slc_bench_number(of->median_s);
}

/* The side is that of a square image of n-half pixels. A fit may begin below nothing: then half of the
 * throughput is there from the first pixel on. The legend has r-infinity at each granularity. */
static void add_hockney(const tale *t, const slc_bench_gpu_hockney *h)
{
    char legend[128];
    size_t size = (size_t)snprintf(legend, sizeof legend, "%s:", slc_image_cuda_algorithm_name(h->algorithm));
    for (size_t i = 0; i < t->found->n_hockney && size < sizeof legend; i++) {
        if (t->found->hockney[i].algorithm == h->algorithm) {
            size += (size_t)snprintf(legend + size, sizeof legend - size, " %.3g",
                                     1e-9 * t->found->hockney[i].r_infinity);
        }
    }
    slc_bench_cell *row = slc_bench_add(t->rows);
    row[TEST] = slc_bench_text("hockney");
    row[ALGORITHM] = slc_bench_text(slc_image_cuda_algorithm_name(h->algorithm));
    row[GRANULARITY] = slc_bench_count(h->granularity);
    row[SIZES] = slc_bench_count(h->sizes);
    row[R_INFINITY] = slc_bench_number(h->r_infinity);
    row[N_HALF] = slc_bench_number(h->n_half);
    row[DEVIATION] = slc_bench_number(h->deviation);
    row[OFF_BY] = slc_bench_number(100 * h->deviation);
    row[GIGAPIXELS] = slc_bench_number(1e-9 * h->r_infinity);
    row[SIDE] = slc_bench_number(h->n_half > 0 ? sqrt(h->n_half) : 0);
    row[RADIUS] = slc_bench_number(2.5 + 6.0 / h->granularity);
    row[LEGEND] = slc_bench_textf(t->rows, "%s", legend);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void print_speed(const tale *t)
{
    const slc_bench_gpu_speed *speed = t->found->speed;
    FILE *out = t->report->table;
    const struct {
        const char *name;
        double value;
    } lines[] = {{"read", speed->read},
                 {"written (fill)", speed->write},
                 {"copied on the device, both counted", speed->copy},
                 {"to the device, page-locked", speed->to_device},
                 {"to the host, page-locked", speed->to_host}};
    (void)fprintf(out, "\n%-40s%12s%14s\n", "memory", "GB/s", "% data sheet");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        (void)fprintf(out, "%-40s%12.1f", lines[i].name, 1e-9 * lines[i].value);
        if (speed->data_sheet > 0 && i < 3) {
            (void)fprintf(out, "%14.1f\n", 100 * lines[i].value / speed->data_sheet);
        } else {
            (void)fprintf(out, "%14s\n", "-");
        }
    }
    (void)fprintf(out, "a kernel that reads a byte of each pixel and writes four: %.1f Gpixel/s\n",
                  1e-9 * speed->widen);
}

/* The row of a test, element and stride; NULL if there is none. */
static const slc_bench_gpu_row *find(const tale *t, slc_bench_gpu_test test, uint32_t element,
                                     uint32_t stride)
{
    for (size_t i = 0; i < t->found->n; i++) {
        const slc_bench_gpu_row *row = &t->found->rows[i];
        if (row->test == test && row->element_bytes == element && row->stride == stride) {
            return row;
        }
    }
    return NULL;
}

static void print_strides(const tale *t)
{
    static const struct {
        slc_bench_gpu_test test;
        uint32_t element;
    } across[] = {{SLC_BENCH_GPU_STRIDE_GLOBAL, 1}, {SLC_BENCH_GPU_STRIDE_GLOBAL, 4},
                  {SLC_BENCH_GPU_STRIDE_GLOBAL, 8}, {SLC_BENCH_GPU_STRIDE_GLOBAL, 16},
                  {SLC_BENCH_GPU_STRIDE_COPIED, 4}, {SLC_BENCH_GPU_STRIDE_COPIED, 8},
                  {SLC_BENCH_GPU_STRIDE_SHARED, 4}, {SLC_BENCH_GPU_STRIDE_SHARED, 8}};
    FILE *out = t->report->table;
    if (find(t, SLC_BENCH_GPU_STRIDE_GLOBAL, 4, 1) == NULL) {
        return;
    }
    (void)fprintf(
        out,
        "\neffective GB/s    global memory, bytes of an element        copied to shared    shared alone\n%6s",
        "stride");
    for (size_t i = 0; i < sizeof across / sizeof *across; i++) {
        (void)fprintf(out, "%11" PRIu32, across[i].element);
    }
    (void)fputc('\n', out);
    for (size_t k = 0; k < t->found->n; k++) {
        const slc_bench_gpu_row *row = &t->found->rows[k];
        if (row->test != SLC_BENCH_GPU_STRIDE_GLOBAL || row->element_bytes != 4) {
            continue;
        }
        (void)fprintf(out, "%6" PRIu32, row->stride);
        for (size_t i = 0; i < sizeof across / sizeof *across; i++) {
            const slc_bench_gpu_row *cell = find(t, across[i].test, across[i].element, row->stride);
            if (cell != NULL) {
                (void)fprintf(out, "%11.1f", 1e-9 * cell->bytes / cell->median_s);
            } else {
                (void)fprintf(out, "%11s", "-");
            }
        }
        (void)fputc('\n', out);
    }
    (void)fputs("bytes that are wanted, read and written (shared alone: read), over the median time\n", out);
}

static void print_atomics(const tale *t, size_t first)
{
    FILE *out = t->report->table;
    bool any = false;
    for (size_t i = 0; i < t->found->n; i++) {
        if (t->found->rows[i].test == SLC_BENCH_GPU_ATOMICS) {
            if (!any) {
                (void)fprintf(out, "\n%-40s%8s%12s%14s\n", "atomic additions to", "bytes", "words", "G/s");
            }
            any = true;
            slc_bench_print(out, t->rows, first + i,
                            "{added_to:-40}{element_bytes:8}{words:12}{giga_operations_per_s:14.3f}\n");
        }
    }
}

static void print_hockney(const tale *t, size_t first)
{
    const slc_bench_label_config *config = &t->config->label;
    FILE *out = t->report->table;
    (void)fprintf(out, "\nlabelling, %s, %" PRIu32 "-connected\n%-16s%6s%8s%14s%14s%12s%12s\n",
                  slc_bench_gpu_made(config), config->connectivity, "algorithm", "g", "sizes", "r-inf Gpix/s",
                  "n-half pixels", "its side", "off by %");
    for (size_t i = first; i < t->rows->n; i++) {
        slc_bench_print(
            out, t->rows, i,
            "{algorithm:-16}{granularity:6}{sizes:8}{gigapixels_per_s:14.4g}{n_half:14.0f}{side:12.0f}"
            "{off_by_percent:12.1f}\n");
    }
    (void)fputs("t(n) = (n + n-half) / r-infinity for n pixels, t the mean of the densities' medians; least "
                "squares of "
                "the relative\ndeviations, of which the largest is told\n",
                out);
}

/* ---- all --------------------------------------------------------------------------------------- */

static void make_figures(const tale *t)
{
    static const char *const titles[] = {"Global memory", "Shared memory, copied from global memory",
                                         "Shared memory alone"};
    slc_bench_report *report = t->report;
    for (int test = SLC_BENCH_GPU_STRIDE_GLOBAL; test <= SLC_BENCH_GPU_STRIDE_SHARED; test++) {
        report->figures[report->n_figures++] = (slc_bench_figure){
            .rows = t->rows,
            .only = "test",
            .is = slc_bench_gpu_test_name((slc_bench_gpu_test)test),
            .curve = "element_bytes",
            .title = titles[test],
            .legend = "{element_bytes}: {gigabytes_per_s:.0f} GB/s at stride {stride}",
            .note = "bytes of an element",
            .x = {"stride", "stride [elements]", SLC_BENCH_FROM_ZERO},
            .y = {"gigabytes_per_s", "effective GB/s", SLC_BENCH_FROM_ZERO}};
    }
    report->figures[report->n_figures++] = (slc_bench_figure){
        .rows = t->rows,
        .only = "test",
        .is = "hockney",
        .curve = "algorithm",
        .title = "Labelling: half of the largest throughput",
        .legend = "{legend}",
        .note = "r-infinity by granularity, 1 the largest ring",
        .x = {"gigapixels_per_s", "r-infinity [Gpixel/s]", SLC_BENCH_DECADES},
        .y = {"side", "side of n-half [pixels]", SLC_BENCH_DECADES},
        .rings = "radius"};
}

void slc_bench_gpu_tell(const slc_bench_gpu_config *config, const slc_cuda_device *device,
                        const slc_bench_gpu_found *found, slc_bench_report *report)
{
    const tale t = {.config = config, .found = found, .report = report, .rows = &report->sets[0]};
    *t.rows = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    if (found->speed != NULL) {
        add_speed(&t);
    }
    const size_t tests = t.rows->n;
    for (size_t i = 0; i < found->n; i++) {
        add_test(&t, &found->rows[i]);
    }
    for (size_t i = 0; i < found->label.n; i++) {
        add_label(&t, &found->label.rows[i]);
    }
    const size_t hockney = t.rows->n;
    for (size_t i = 0; i < found->n_hockney; i++) {
        add_hockney(&t, &found->hockney[i]);
    }
    if (t.rows->failed) {
        return;
    }
    (void)fprintf(report->table, "%s, %" PRIu32 " multiprocessors\n", device->name, device->multiprocessors);
    if (found->speed != NULL) {
        print_speed(&t);
    }
    print_strides(&t);
    print_atomics(&t, tests);
    if (found->n_hockney > 0) {
        print_hockney(&t, hockney);
    }
    make_figures(&t);
    report->json = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "version", slc_version(), "device",
                             config->label.device, "device_name", device->name, "memory",
                             found->speed != NULL ? slc_bench_gpu_speed_json(found->speed) : json_null(),
                             "tests", slc_bench_json(t.rows, tests, found->n), "labelling",
                             slc_bench_json(t.rows, hockney, found->n_hockney));
}

typedef struct collector {
    slc_bench_gpu_found *found;
    const slc_bench_watch *watch;
} collector;

static bool keep(void *context, const slc_bench_gpu_row *row)
{
    const collector *c = context;
    c->found->rows[c->found->n++] = *row;
    return c->found->n < MOST_ROWS && slc_bench_goes_on(c->watch, c->found->n, 0);
}

static slc_status measure_labels(const slc_bench_gpu_config *config, const slc_bench_watch *watch,
                                 slc_bench_gpu_found *found, slc_error *error)
{
    const slc_status status = slc_bench_label_collect(&config->label, watch, &found->label, error);
    if (status != SLC_OK) {
        return status;
    }
    found->hockney = malloc(found->label.n * sizeof *found->hockney);
    if (found->hockney == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the results");
    }
    found->n_hockney = slc_bench_gpu_hockney_of(found->label.rows, found->label.n, found->hockney,
                                                found->label.n);
    return SLC_OK;
}

slc_status slc_bench_gpu(const void *configuration, const slc_bench_watch *watch, slc_bench_report *report,
                         slc_error *error)
{
    const slc_bench_gpu_config *config = configuration;
    slc_bench_gpu_found found = {.rows = calloc(MOST_ROWS, sizeof *found.rows)};
    slc_bench_gpu_speed speed;
    slc_cuda_device device;
    uint32_t number = 0, tests = 0;
    slc_status status = found.rows != NULL ? slc_cuda_choose(config->label.device, &number, error)
                                           : slc_fail(error, SLC_ERR_MEMORY, "no memory to begin with");
    status = status == SLC_OK ? slc_cuda_device_of(number, &device, error) : status;
    if (status == SLC_OK && (config->parts & SLC_BENCH_GPU_MEMORY) != 0) {
        status = slc_bench_gpu_speed_of(config->label.device, config->label.repetitions, &speed, error);
        found.speed = &speed;
    }
    if ((config->parts & SLC_BENCH_GPU_STRIDES) != 0) {
        tests |= 1U << SLC_BENCH_GPU_STRIDE_GLOBAL | 1U << SLC_BENCH_GPU_STRIDE_COPIED |
                 1U << SLC_BENCH_GPU_STRIDE_SHARED;
    }
    if ((config->parts & SLC_BENCH_GPU_ATOMIC) != 0) {
        tests |= 1U << SLC_BENCH_GPU_ATOMICS;
    }
    if (status == SLC_OK && tests != 0) {
        collector c = {&found, watch};
        status = slc_bench_gpu_measure(config->label.device, tests, config->label.repetitions, keep, &c,
                                       error);
    }
    if (status == SLC_OK && (config->parts & SLC_BENCH_GPU_LABELS) != 0) {
        status = measure_labels(config, watch, &found, error);
    }
    if (status == SLC_OK) {
        slc_bench_gpu_tell(config, &device, &found, report);
    }
    free(found.rows);
    free(found.label.rows);
    free(found.hockney);
    return status;
}
