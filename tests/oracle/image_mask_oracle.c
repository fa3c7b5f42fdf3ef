/* SPDX-License-Identifier: Apache-2.0
 * The foreground of an image, a pixel at a time. */
#include "oracle/image_mask_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct plane {
    size_t width, height;
    uint32_t connectivity;
    const uint8_t *on; /* pixels that are walked on */
} plane;

/* The pixels that can be reached from `start`, into `list`, and marks them in `seen`. */
static size_t flood(const plane *p, size_t start, uint8_t *seen, size_t *list)
{
    size_t n = 0;
    list[n++] = start;
    seen[start] = 1;
    for (size_t i = 0; i < n; i++) {
        const ptrdiff_t x = (ptrdiff_t)(list[i] % p->width), y = (ptrdiff_t)(list[i] / p->width);
        for (ptrdiff_t dy = -1; dy <= 1; dy++) {
            for (ptrdiff_t dx = -1; dx <= 1; dx++) {
                const bool beside = p->connectivity == 8 || dx == 0 || dy == 0;
                const bool inside = x + dx >= 0 && y + dy >= 0 && x + dx < (ptrdiff_t)p->width &&
                                    y + dy < (ptrdiff_t)p->height;
                const size_t at = (size_t)(y + dy) * p->width + (size_t)(x + dx);
                if (beside && inside && p->on[at] != 0 && seen[at] == 0) {
                    seen[at] = 1;
                    list[n++] = at;
                }
            }
        }
    }
    return n;
}

static void keep_seeded(const plane *p, const double *values, double high, uint8_t *on)
{
    const size_t pixels = p->width * p->height;
    uint8_t *seen = calloc(pixels, 1);
    size_t *list = calloc(pixels, sizeof *list);
    for (size_t start = 0; start < pixels; start++) {
        if (p->on[start] == 0 || seen[start] != 0) {
            continue;
        }
        const size_t n = flood(p, start, seen, list);
        bool seeded = false;
        for (size_t i = 0; i < n; i++) {
            seeded = seeded || values[list[i]] >= high;
        }
        for (size_t i = 0; i < n; i++) {
            on[list[i]] = seeded;
        }
    }
    free(seen);
    free(list);
}

static void fill_holes(const plane *p, uint64_t most, uint8_t *on)
{
    const size_t pixels = p->width * p->height;
    uint8_t *seen = calloc(pixels, 1);
    size_t *list = calloc(pixels, sizeof *list);
    for (size_t start = 0; start < pixels; start++) {
        if (p->on[start] == 0 || seen[start] != 0) {
            continue;
        }
        const size_t n = flood(p, start, seen, list);
        bool open = false;
        for (size_t i = 0; i < n; i++) {
            const size_t x = list[i] % p->width, y = list[i] / p->width;
            open = open || x == 0 || y == 0 || x + 1 == p->width || y + 1 == p->height;
        }
        for (size_t i = 0; i < n && !open && n <= most; i++) {
            on[list[i]] = 1;
        }
    }
    free(seen);
    free(list);
}

void image_mask_oracle(const slc_image_mask_config *config, bool bits, const double *values,
                       const double *within, size_t width, size_t height, uint8_t *on)
{
    const size_t pixels = width * height;
    uint8_t *others = malloc(pixels);
    for (size_t i = 0; i < pixels; i++) {
        const bool band = config->rule == SLC_IMAGE_RULE_BAND;
        on[i] = config->rule >= SLC_IMAGE_RULE_MEAN
                    ? on[i] != 0 && (within == NULL || within[i] > 0)
                    : values[i] >= (bits ? 1 : config->low) && (!band || values[i] <= config->high) &&
                          (within == NULL || within[i] > 0);
        others[i] = on[i];
    }
    plane p = {width, height, config->connectivity, others};
    if (config->rule == SLC_IMAGE_RULE_HYSTERESIS) {
        keep_seeded(&p, values, config->high, on);
    }
    if (config->max_hole_area > 0) {
        for (size_t i = 0; i < pixels; i++) {
            others[i] = on[i] == 0;
        }
        p.connectivity = 12 - config->connectivity;
        fill_holes(&p, config->max_hole_area, on);
    }
    free(others);
}

bool image_mask_local_oracle(const slc_image_mask_config *config, const slc_image *image, size_t x, size_t y)
{
    const ptrdiff_t half = config->window / 2;
    const double largest = image->type == SLC_IMAGE_U8 ? 255 : 65535;
    const double range = config->range > 0 ? config->range : largest / 2;
    const int64_t value = (int64_t)image_pixel(image, x, y);
    int64_t n = 0, sum = 0, square = 0;
    for (ptrdiff_t dy = -half; dy <= half; dy++) {
        for (ptrdiff_t dx = -half; dx <= half; dx++) {
            const ptrdiff_t u = (ptrdiff_t)x + dx, v = (ptrdiff_t)y + dy;
            if (u >= 0 && v >= 0 && u < (ptrdiff_t)image->width && v < (ptrdiff_t)image->height) {
                const int64_t here = (int64_t)image_pixel(image, (size_t)u, (size_t)v);
                n++;
                sum += here;
                square += here * here;
            }
        }
    }
    if (config->rule == SLC_IMAGE_RULE_MEAN) {
        return (double)(sum - n * value) < config->offset * (double)n;
    }
    __extension__ typedef __int128 wide;
    const double root = sqrt((double)((wide)n * square - (wide)sum * sum));
    return (double)(n * value) > (double)sum * ((1 - config->k) + config->k / (range * (double)n) * root);
}

double image_pixel(const slc_image *image, size_t x, size_t y)
{
    const char *row = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
    switch (image->type) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row)[x];
    case SLC_IMAGE_U16:
        return ((const uint16_t *)(const void *)row)[x];
    case SLC_IMAGE_U32:
        return ((const uint32_t *)(const void *)row)[x];
    case SLC_IMAGE_F32:
        return (double)((const float *)(const void *)row)[x];
    default:
        return ((const uint8_t *)row)[x / 8] >> x % 8 & 1;
    }
}
