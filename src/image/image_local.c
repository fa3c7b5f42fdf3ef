/* SPDX-License-Identifier: Apache-2.0
 * Local thresholds from running sums. All sums are of integers and exact, so that it does not matter where a
 * thread begins. Windows are clipped at the border: what is outside does not count. Sauvola, Pietikainen,
 * Pattern Recognition 33 (2000) 225. */
#include "image/image_local.h"

#include "image/image_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* n² variances of n pixels up to v are at most n² v² / 4, which is to fit 63 bits. */
    MOST_U8 = 4869,
    MOST_U16 = 303
};

slc_status slc_image_local_check(const slc_image_mask_config *config, const slc_image *image,
                                 slc_error *error)
{
    const uint32_t most = image->type == SLC_IMAGE_U8 ? MOST_U8 : MOST_U16;
    if (image->type != SLC_IMAGE_U8 && image->type != SLC_IMAGE_U16) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "threshold: local ones are of pixels of 8 or 16 bits, not %s",
                        slc_image_type_name(image->type));
    }
    return config->rule == SLC_IMAGE_RULE_SAUVOLA && config->window > most
               ? slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "window: %u, and at most %u can be had of Sauvola's threshold and pixels of %s",
                          config->window, most, slc_image_type_name(image->type))
               : SLC_OK;
}

slc_status slc_image_local_open(slc_image_local *local, const slc_image_mask_config *config,
                                const slc_image *image)
{
    const size_t half = config->window / 2, reach = half < image->width ? half : image->width;
    const size_t room = image->width + 2 * (reach + 1);
    const bool squares = config->rule == SLC_IMAGE_RULE_SAUVOLA;
    *local = (slc_image_local){.config = config, .image = image, .reach = reach};
    local->memory = calloc(room, sizeof *local->sums + (squares ? sizeof *local->squares : 0));
    if (local->memory == NULL) {
        return SLC_ERR_MEMORY;
    }
    local->squares = squares ? (uint64_t *)local->memory + reach + 1 : NULL;
    local->sums = (uint32_t *)((uint64_t *)local->memory + (squares ? room : 0)) + reach + 1;
    return SLC_OK;
}

void slc_image_local_close(slc_image_local *local)
{
    free(local->memory);
    local->memory = NULL;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static inline uint32_t pixel(const void *row, size_t x, bool wide)
{
    return wide ? ((const uint16_t *)row)[x] : ((const uint8_t *)row)[x];
}

/* Row `in` comes into the window, row `out` leaves it; either may be NULL. */
static inline void move_down(const slc_image_local *l, const void *in, const void *out, bool wide)
{
    const size_t width = l->image->width;
    for (size_t x = 0; x < width && in != NULL; x++) {
        l->sums[x] += pixel(in, x, wide);
    }
    for (size_t x = 0; x < width && out != NULL; x++) {
        l->sums[x] -= pixel(out, x, wide);
    }
    for (size_t x = 0; x < width && in != NULL && l->squares != NULL; x++) {
        l->squares[x] += (uint64_t)pixel(in, x, wide) * pixel(in, x, wide);
    }
    for (size_t x = 0; x < width && out != NULL && l->squares != NULL; x++) {
        l->squares[x] -= (uint64_t)pixel(out, x, wide) * pixel(out, x, wide);
    }
}

static void move(const slc_image_local *l, const void *in, const void *out)
{
    if (l->image->type == SLC_IMAGE_U16) {
        move_down(l, in, out, true);
    } else {
        move_down(l, in, out, false);
    }
}

void slc_image_local_begin(slc_image_local *local, size_t y)
{
    const size_t half = local->config->window / 2, height = local->image->height;
    const size_t begin = y > half ? y - half : 0, end = half < height - y ? y + half + 1 : height;
    for (size_t row = begin; row < end && row < height; row++) {
        move(local, slc_image_row(local->image, row), NULL);
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* What is the same for all windows of n pixels. */
typedef struct level {
    uint32_t columns;
    int64_t n, limit;     /* of the mean: foreground is sum - n · value < limit */
    double plain, spread; /* of Sauvola's */
} level;

static level level_of(const slc_image_mask_config *c, slc_image_type type, size_t rows, uint32_t columns)
{
    const double n = (double)rows * columns, range = c->range > 0           ? c->range
                                                     : type == SLC_IMAGE_U8 ? UINT8_MAX / 2.0
                                                                            : UINT16_MAX / 2.0;
    const double limit = ceil(c->offset * n), most = 0x1p62;
    return (level){.columns = columns,
                   .n = (int64_t)rows * columns,
                   .limit = (int64_t)(limit > most    ? most
                                      : limit < -most ? -most
                                                      : limit),
                   .plain = 1 - c->k,
                   .spread = c->k / (range * n)};
}

/* As many columns as the window of pixel x has. */
static inline uint32_t columns_at(const slc_image_local *l, size_t x)
{
    const size_t left = x < l->reach ? x : l->reach, right = l->image->width - 1 - x;
    return (uint32_t)(left + 1 + (right < l->reach ? right : l->reach));
}

static inline void mark_row(const slc_image_local *l, const void *row, size_t rows, bool wide, bool sauvola,
                            uint64_t *bits)
{
    const size_t width = l->image->width, reach = l->reach;
    int64_t sum = 0, square = 0;
    level at = {.columns = 0};
    uint64_t word = 0;
    for (size_t x = 0; x < reach; x++) { /* the window of the pixel before the first one */
        sum += l->sums[x];
        square += sauvola ? (int64_t)l->squares[x] : 0;
    }
    const uint32_t *in = l->sums + reach, *out = l->sums - 1 - (ptrdiff_t)reach;
    for (size_t x = 0; x < width; x++) {
        const uint32_t columns = columns_at(l, x);
        if (columns != at.columns) {
            at = level_of(l->config, l->image->type, rows, columns);
        }
        sum += (int64_t)in[x] - out[x];
        const int64_t value = pixel(row, x, wide) * at.n;
        bool on = sum - value < at.limit;
        if (sauvola) {
            square += (int64_t)(l->squares[x + reach] - l->squares[(ptrdiff_t)x - 1 - (ptrdiff_t)reach]);
            /* Of which the difference alone is below 2^63. */
            const uint64_t spread = (uint64_t)at.n * (uint64_t)square - (uint64_t)sum * (uint64_t)sum;
            on = (double)value > (double)sum * (at.plain + at.spread * sqrt((double)(int64_t)spread));
        }
        word |= (uint64_t)on << x % 64;
        if (x % 64 == 63 || x + 1 == width) {
            bits[x / 64] = word;
            word = 0;
        }
    }
}

void slc_image_local_row(slc_image_local *local, size_t y, uint64_t *bits)
{
    const slc_image *image = local->image;
    const size_t half = local->config->window / 2, below = image->height - 1 - y;
    const size_t rows = (y < half ? y : half) + 1 + (below < half ? below : half);
    const void *row = slc_image_row(image, y);
    const bool sauvola = local->squares != NULL;
    if (image->type == SLC_IMAGE_U16) {
        sauvola ? mark_row(local, row, rows, true, true, bits)
                : mark_row(local, row, rows, true, false, bits);
    } else {
        sauvola ? mark_row(local, row, rows, false, true, bits)
                : mark_row(local, row, rows, false, false, bits);
    }
    move(local, below > half ? slc_image_row(image, y + half + 1) : NULL,
         y >= half ? slc_image_row(image, y - half) : NULL);
}
