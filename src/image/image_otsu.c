/* SPDX-License-Identifier: Apache-2.0
 * Otsu's threshold (IEEE Trans. SMC 9, 1979, 62), from a histogram. With N pixels whose bins sum to S, and n
 * of them with sum s below a threshold, the variance between the classes is (N s - n S)² / (N² n (N - n)).
 * The difference is taken exactly, so that thresholds with the same classes, or with mirrored ones, give the
 * same double, and the middle of the best can be told.
 */
#include "base/wide.h"
#include "image/image_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = SLC_IMAGE_OTSU_BINS };

/* What bins mean: bin k is values from low + k · span / BINS on; of narrow types the value itself. */
typedef struct bins {
    const uint64_t *count;
    size_t n;
} bins;

/* ---- histograms -------------------------------------------------------------------------------- */

static void count_u8(const slc_image *image, uint64_t *count)
{
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *row = slc_image_row(image, y);
        for (size_t x = 0; x < image->width; x++) {
            count[row[x]]++;
        }
    }
}

static void count_u16(const slc_image *image, uint64_t *count)
{
    for (size_t y = 0; y < image->height; y++) {
        const uint16_t *row = slc_image_row(image, y);
        for (size_t x = 0; x < image->width; x++) {
            count[row[x]]++;
        }
    }
}

/* A pixel of 32 bits; doubles hold both types exactly. */
static inline double wide_value(const slc_image *image, const void *row, size_t x)
{
    return image->type == SLC_IMAGE_U32 ? (double)((const uint32_t *)row)[x]
                                        : (double)((const float *)row)[x];
}

/* Of the finite pixels. */
static void find_extremes(const slc_image *image, double *low, double *high)
{
    for (size_t y = 0; y < image->height; y++) {
        const void *row = slc_image_row(image, y);
        for (size_t x = 0; x < image->width; x++) {
            const double value = wide_value(image, row, x);
            if (isfinite(value)) {
                *low = value < *low ? value : *low;
                *high = value > *high ? value : *high;
            }
        }
    }
}

static void count_wide(const slc_image *image, slc_image_otsu_sums *sums)
{
    const double span = sums->high - sums->low;
    for (size_t y = 0; y < image->height && span > 0; y++) {
        const void *row = slc_image_row(image, y);
        for (size_t x = 0; x < image->width; x++) {
            const double value = wide_value(image, row, x);
            if (isfinite(value)) {
                const double bin = (value - sums->low) * BINS / span;
                sums->count[bin < BINS - 1 ? (size_t)bin : BINS - 1]++;
            }
        }
    }
}

/* ---- the threshold ----------------------------------------------------------------------------- */

/* The variance between the classes for every threshold from 1 on, up to a factor. */
static double variance(uint64_t n, uint64_t sum, uint64_t all, uint64_t all_sum)
{
    if (n == 0 || n == all) {
        return 0;
    }
    const double apart = slc_wide_difference(slc_wide_product(all, sum), slc_wide_product(n, all_sum));
    return apart / (double)n * (apart / (double)(all - n));
}

/* Thresholds with the largest variance: how many there are, and number `wanted` of them, from 0. */
static size_t find_best(const bins *b, size_t wanted, size_t *found)
{
    uint64_t all = 0, all_sum = 0, n = 0, sum = 0;
    for (size_t k = 0; k < b->n; k++) {
        all += b->count[k];
        all_sum += k * b->count[k];
    }
    double best = 0;
    size_t ties = 0;
    *found = 0;
    for (size_t k = 1; k < b->n; k++) {
        n += b->count[k - 1];
        sum += (k - 1) * b->count[k - 1];
        const double here = variance(n, sum, all, all_sum);
        if (here > best) {
            best = here;
            ties = 0;
        }
        if (here > 0 && here >= best) {
            *found = ties <= wanted ? k : *found;
            ties++;
        }
    }
    return ties;
}

/* The bin at which the upper class begins; 0 where all pixels are in one bin. */
static size_t best_bin(const bins *b)
{
    size_t bin;
    const size_t ties = find_best(b, 0, &bin);
    if (ties > 1) {
        (void)find_best(b, (ties - 1) / 2, &bin);
    }
    return bin;
}

/* Bins of single values. */
static double narrow_threshold(const bins *b)
{
    const size_t bin = best_bin(b);
    size_t only = 0;
    if (bin > 0) {
        return (double)bin;
    }
    while (only < b->n - 1 && b->count[only] == 0) {
        only++;
    }
    return (double)only + 1;
}

static double wide_threshold(slc_image_type type, const slc_image_otsu_sums *sums)
{
    const bins b = {sums->count, BINS};
    const double span = sums->high - sums->low;
    if (span <= 0) {
        return type == SLC_IMAGE_U32 ? sums->low + 1 : (double)nextafterf((float)sums->low, INFINITY);
    }
    return sums->low + (double)best_bin(&b) * (span / BINS);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static size_t bins_of(slc_image_type type)
{
    return type == SLC_IMAGE_U8 ? 256 : BINS;
}

static void count(const slc_image *part, slc_image_otsu_sums *sums)
{
    memset(sums->count, 0, bins_of(part->type) * sizeof *sums->count);
    if (part->type == SLC_IMAGE_U8) {
        count_u8(part, sums->count);
    } else if (part->type == SLC_IMAGE_U16) {
        count_u16(part, sums->count);
    } else {
        count_wide(part, sums);
    }
}

slc_status slc_image_otsu_parts(slc_image_otsu_step step, const slc_image *part, slc_image_otsu_sums *sums,
                                double *threshold, slc_error *error)
{
    const bool looks = step != SLC_IMAGE_OTSU_THRESHOLD && part->height > 0;
    const slc_status status = looks ? slc_image_check("image", part, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    if (part->type == SLC_IMAGE_BITS) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: rows of bits need none");
    }
    const bool wide = part->type != SLC_IMAGE_U8 && part->type != SLC_IMAGE_U16;
    if (step == SLC_IMAGE_OTSU_EXTREMES) {
        sums->low = (double)INFINITY;
        sums->high = -(double)INFINITY;
        if (wide) {
            find_extremes(part, &sums->low, &sums->high);
        }
        return SLC_OK;
    }
    if (wide && !(sums->low <= sums->high)) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: the image has no finite pixel");
    }
    if (step == SLC_IMAGE_OTSU_COUNT) {
        count(part, sums);
        return SLC_OK;
    }
    const bins narrow = {sums->count, bins_of(part->type)};
    *threshold = wide ? wide_threshold(part->type, sums) : narrow_threshold(&narrow);
    return SLC_OK;
}

slc_status slc_image_otsu(const slc_image *image, double *threshold, slc_error *error)
{
    slc_status status = slc_image_check("image", image, error);
    slc_image_otsu_sums *sums = status == SLC_OK ? malloc(sizeof *sums) : NULL;
    if (status == SLC_OK && sums == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "threshold: no memory for a histogram");
    }
    for (int step = 0; step <= SLC_IMAGE_OTSU_THRESHOLD && status == SLC_OK; step++) {
        status = slc_image_otsu_parts((slc_image_otsu_step)step, image, sums, threshold, error);
    }
    free(sums);
    return status;
}
