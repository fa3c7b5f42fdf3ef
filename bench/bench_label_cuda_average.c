/* SPDX-License-Identifier: Apache-2.0
 *
 * What measurements of labelling on a GPU come to: averages as total pixels over total time, and Hockney's
 * two numbers for each algorithm. Arithmetic alone, in every build.
 */
#include "bench/bench_gpu.h"

#include <math.h>

/* ---- averages ---------------------------------------------------------------------------------- */

static double pixels_of(const slc_bench_label_cuda_row *row)
{
    return (double)row->size * (double)row->size;
}

/* The average that a row belongs to, made if there is none yet; NULL where there is no room for it. */
static slc_bench_label_cuda_average *average_of(const slc_bench_label_cuda_row *row,
                                                slc_bench_label_cuda_average *averages, size_t *n,
                                                size_t room)
{
    for (size_t i = 0; i < *n; i++) {
        if (averages[i].size == row->size && averages[i].algorithm == row->algorithm &&
            averages[i].granularity == row->granularity) {
            return &averages[i];
        }
    }
    if (*n == room) {
        return NULL;
    }
    averages[*n] = (slc_bench_label_cuda_average){
        .size = row->size, .algorithm = row->algorithm, .granularity = row->granularity};
    return &averages[(*n)++];
}

size_t slc_bench_label_cuda_averages(const slc_bench_label_cuda_row *rows, size_t n,
                                     slc_bench_label_cuda_average *averages, size_t room)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const slc_bench_label_cuda_row *row = &rows[i];
        slc_bench_label_cuda_average *a = average_of(row, averages, &found, room);
        if (a == NULL) {
            continue;
        }
        const double each = row->median_s / pixels_of(row);
        a->densities++;
        a->pixels += pixels_of(row);
        a->seconds += row->median_s;
        a->least_seconds += row->minimum_s;
        if (each > a->worst_seconds) {
            a->worst_seconds = each;
            a->worst_density = row->density;
        }
        if (row->density == 1) {
            a->full_seconds = row->median_s;
        }
    }
    return found;
}

/* ---- r-infinity and n-half --------------------------------------------------------------------- */

static bool same_curve(const slc_bench_label_cuda_row *a, const slc_bench_label_cuda_row *b)
{
    return a->algorithm == b->algorithm && a->granularity == b->granularity;
}

/* Is no row before it of its curve (and size)? */
static bool is_first(const slc_bench_label_cuda_row *rows, size_t i, bool of_size)
{
    for (size_t k = 0; k < i; k++) {
        if (same_curve(&rows[k], &rows[i]) && (!of_size || rows[k].size == rows[i].size)) {
            return false;
        }
    }
    return true;
}

/* The mean time of an image of that row's size, algorithm and granularity, over the densities. */
static double mean_time(const slc_bench_label_cuda_row *rows, size_t n, const slc_bench_label_cuda_row *of)
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

static sums add_up(const slc_bench_label_cuda_row *rows, size_t n_rows, size_t first, size_t *sizes)
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

static double largest_deviation(const slc_bench_label_cuda_row *rows, size_t n_rows, size_t first, double a,
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

size_t slc_bench_gpu_hockney_of(const slc_bench_label_cuda_row *rows, size_t n,
                                slc_bench_gpu_hockney *results, size_t room)
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
