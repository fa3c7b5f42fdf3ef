/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic behind `sluice bench label --device cuda` and `sluice bench gpu`, on measurements that are
 * made up: averages are all pixels over all time, r-infinity and n-half are those that times were made from,
 * bounds count the bytes, pictures have a panel and a curve for each that they should have.
 */
#include "support/cmocka_all.h"

#include "bench/bench_gpu.h"
#include <sluice/image_label.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance)) {
        fail_msg("%.17g is not %.17g within %g", value, wanted, tolerance);
    }
}

static slc_bench_label_row row_of(size_t size, size_t algorithm, uint32_t granularity, double density,
                                  double seconds)
{
    return (slc_bench_label_row){.size = size,
                                 .algorithm = algorithm,
                                 .granularity = granularity,
                                 .density = density,
                                 .repetitions = 1,
                                 .minimum_s = 0.5 * seconds,
                                 .median_s = seconds};
}

static void averages_are_pixels_over_time(void **state)
{
    (void)state;
    const slc_bench_label_row rows[] = {
        row_of(100, 0, 1, 0.0, 1e-3), row_of(100, 2, 1, 0.0, 7e-3), row_of(100, 0, 1, 0.5, 4e-3),
        row_of(100, 0, 1, 1.0, 3e-3), row_of(100, 0, 4, 0.5, 5e-3), row_of(200, 0, 1, 0.5, 6e-3),
    };
    slc_bench_label_average a[6];
    assert_int_equal(slc_bench_label_averages(rows, 6, a, 6), 4);
    assert_int_equal(a[0].densities, 3);
    assert_near(a[0].pixels, 3e4, 0);
    assert_near(a[0].seconds, 8e-3, 1e-12);
    assert_near(a[0].least_seconds, 4e-3, 1e-12);
    assert_near(a[0].worst, 4e-7, 1e-15);
    assert_near(a[0].worst_density, 0.5, 0);
    assert_near(a[0].full_seconds, 3e-3, 1e-12);
    assert_int_equal(a[1].algorithm, 2);
    assert_int_equal(a[2].granularity, 4);
    assert_near(a[2].full_seconds, 0, 0);
    assert_int_equal(a[3].size, 200);
    assert_int_equal(slc_bench_label_averages(rows, 6, a, 2), 2); /* no more room */
}

/* Times that are on a line give back its numbers; what is above and below it by a tenth, nearly. */
static void hockney_finds_the_line(void **state)
{
    (void)state;
    const double r_infinity = 3e11, n_half = 2.5e6;
    const size_t sides[] = {256, 512, 1024, 2048, 4096, 8192, 16384};
    slc_bench_label_row rows[32];
    size_t n = 0;
    for (size_t i = 0; i < 7; i++) {
        const double pixels = (double)(sides[i] * sides[i]), t = (pixels + n_half) / r_infinity;
        rows[n++] = row_of(sides[i], 1, 1, 0.2, 0.5 * t); /* two densities, whose mean is on the line */
        rows[n++] = row_of(sides[i], 1, 1, 0.4, 1.5 * t);
        rows[n++] = row_of(sides[i], 1, 4, 0.4, t * (i % 2 == 0 ? 1.1 : 0.9));
    }
    rows[n++] = row_of(256, 3, 1, 0.5, 1e-3); /* one size alone is no line */
    rows[n++] = row_of(256, 4, 1, 0.5, 2e-3); /* and one that falls has no numbers */
    rows[n++] = row_of(512, 4, 1, 0.5, 1e-3);
    slc_bench_gpu_hockney h[32];
    assert_int_equal(slc_bench_gpu_hockney_of(rows, n, h, 32), 3);
    assert_int_equal(h[0].sizes, 7);
    assert_int_equal(h[0].algorithm, 1);
    assert_near(h[0].r_infinity / r_infinity, 1, 1e-9);
    assert_near(h[0].n_half / n_half, 1, 1e-6);
    assert_true(h[0].deviation < 1e-9);
    assert_int_equal(h[1].granularity, 4);
    assert_near(h[1].r_infinity / r_infinity, 1, 0.12);
    assert_near(h[1].n_half / n_half, 1, 0.25);
    assert_true(h[1].deviation > 0.05 && h[1].deviation < 0.2);
    assert_int_equal(h[2].algorithm, 4);
    assert_near(h[2].r_infinity, 0, 0);
    assert_int_equal(slc_bench_gpu_hockney_of(rows, n, h, 1), 1);
}

static void bounds_count_bytes(void **state)
{
    (void)state;
    const slc_bench_gpu_speed speed = {.read = 2e12, .write = 1e12};
    assert_near(slc_bench_gpu_label_bound(&speed, 4e6, false), 2e-6, 1e-15);
    assert_near(slc_bench_gpu_label_bound(&speed, 4e6, true), 18e-6, 1e-15);
    assert_string_equal(slc_bench_gpu_test_name(SLC_BENCH_GPU_ATOMICS), "atomics");
    assert_null(slc_bench_gpu_test_name(SLC_BENCH_GPU_TESTS));
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text++) {
        n++;
    }
    return n;
}

/* Reads and removes it. */
static void read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(text, 1, room - 1, file);
    text[size] = '\0';
    assert_true(size < room - 1);
    (void)fclose(file);
    (void)unlink(path);
}

static slc_status draw_gpu(const char *path, const slc_bench_gpu_found *found)
{
    const slc_bench_gpu_config config = {.label = {.device = "cuda", .connectivity = 8, .labels = true}};
    const slc_cuda_device device = {.multiprocessors = 1};
    const slc_bench_output output = {.svg = path};
    slc_bench_report report;
    slc_error error;
    assert_int_equal(slc_bench_report_open(&report, &error), SLC_OK);
    slc_bench_gpu_tell(&config, &device, found, &report);
    const slc_status status = slc_bench_report_write(&report, &output, &error);
    slc_bench_report_clear(&report);
    return status;
}

static void pictures_have_their_panels(void **state)
{
    static char text[1 << 18];
    char folder[] = "/tmp/test_bench_gpu_XXXXXX", path[64];
    slc_error error;
    slc_bench_label_row rows[64];
    slc_bench_label_rows all = {.rows = rows};
    const slc_bench_label_config config = {.device = "cuda", .connectivity = 8, .labels = true};
    slc_bench_report report;
    size_t n = 0;
    (void)state;
    for (size_t size = 64; size <= 128; size *= 2) {
        for (uint32_t g = 1; g <= 2; g++) {
            for (size_t algorithm = 0; algorithm < 3; algorithm++) {
                rows[n++] = row_of(size, algorithm, g, 0, 1e-5 * (double)(algorithm + 1));
                rows[n++] = row_of(size, algorithm, g, 1, 3e-5 * (double)(algorithm + 1));
            }
        }
    }
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.svg", folder);
    all.n = n;
    const slc_bench_output output = {.svg = path};
    assert_int_equal(slc_bench_report_open(&report, &error), SLC_OK);
    assert_int_equal(slc_bench_label_tell(&config, &all, &report, &error), SLC_OK);
    assert_int_equal(slc_bench_report_write(&report, &output, &error), SLC_OK);
    slc_bench_report_clear(&report);
    read_file(path, text, sizeof text);
    /* One for each size and granularity, and one for each granularity with all sizes; a curve and a line of
     * the legend for each algorithm in each. */
    assert_int_equal(count(text, "class=\"title\""), 4 + 2);
    assert_int_equal(count(text, "<path class=\"curve c"), 2 * 3 * (4 + 2));
    assert_int_equal(count(text, slc_image_cuda_algorithm_name(2)), 4 + 2);
    assert_null(strstr(text, "nan"));
    all.n = 0;
    assert_int_equal(slc_bench_report_open(&report, &error), SLC_OK);
    assert_int_equal(slc_bench_label_tell(&config, &all, &report, &error), SLC_OK);
    assert_int_equal(slc_bench_report_write(&report, &output, &error), SLC_ERR_USAGE);
    slc_bench_report_clear(&report);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(rmdir(folder), 0); /* nothing is left */
}

static void gpu_pictures_have_their_panels(void **state)
{
    static char text[1 << 18];
    char folder[] = "/tmp/test_bench_gpu_XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/a.svg", folder);
    slc_bench_gpu_row tests[] = {
        {.test = SLC_BENCH_GPU_STRIDE_GLOBAL,
         .element_bytes = 4,
         .stride = 1,
         .bytes = 8e9,
         .median_s = 2e-3},
        {.test = SLC_BENCH_GPU_STRIDE_GLOBAL,
         .element_bytes = 4,
         .stride = 2,
         .bytes = 8e9,
         .median_s = 4e-3},
        {.test = SLC_BENCH_GPU_STRIDE_SHARED,
         .element_bytes = 8,
         .stride = 1,
         .bytes = 8e9,
         .median_s = 1e-3},
        {.test = SLC_BENCH_GPU_ATOMICS, .element_bytes = 8, .operations = 1e9, .median_s = 1e-3},
    };
    slc_bench_gpu_hockney hockney[] = {
        {.algorithm = 0, .granularity = 1, .sizes = 2, .r_infinity = 1e11, .n_half = 1e6},
        {.algorithm = 1, .granularity = 1, .sizes = 2}};
    assert_int_equal(
        draw_gpu(path, &(slc_bench_gpu_found){.rows = tests, .n = 4, .hockney = hockney, .n_hockney = 2}),
        SLC_OK);
    read_file(path, text, sizeof text);
    assert_int_equal(count(text, "class=\"title\""), 3);
    assert_int_equal(count(text, "<circle"), 1);
    assert_int_equal(draw_gpu(path, &(slc_bench_gpu_found){.rows = tests + 3, .n = 1}), SLC_ERR_USAGE);
    assert_int_equal(rmdir(folder), 0); /* nothing is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_pixels_over_time),
        cmocka_unit_test(hockney_finds_the_line),
        cmocka_unit_test(bounds_count_bytes),
        cmocka_unit_test(pictures_have_their_panels),
        cmocka_unit_test(gpu_pictures_have_their_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
