/* SPDX-License-Identifier: Apache-2.0
 * The first pass of bitrun over one part, and the borders between parts.
 */
#include "image/image_bitrun_part.h"

#include <string.h>

static const void *row_of(const slc_image *image, size_t y)
{
    return (const char *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* Tells the processor that the next row will be wanted: while a row is compared and summed for a microsecond,
 * its own guesses about the pixels come to a stop. */
static void expect_row(const slc_image *image, size_t y)
{
#if defined(__GNUC__)
    enum { LINE = 64, FAR = 16384 };
    const size_t bytes = slc_image_row_bytes(image->type, image->width);
    const char *row = y < image->height ? row_of(image, y) : NULL;
    for (size_t i = 0; row != NULL && i < bytes && i < FAR; i += LINE) {
        __builtin_prefetch(row + i);
    }
#else
    (void)image;
    (void)y;
#endif
}

/* Images 65536 pixels wide and wider: run by run, with x of 32 bits in the last number. */
static void add_wide(slc_image_bitrun *bitrun, slc_bitrun_part *part, const uint64_t *bits, uint32_t y)
{
    slc_bitrun_strip *strip = &part->strip;
    bitrun->kernels.positions(strip, bits, strip->n_runs);
    uint32_t fresh = strip->row_fresh;
    memset(strip->record + SLC_BITRUN_RECORD * (size_t)fresh, 0,
           SLC_BITRUN_RECORD * sizeof *strip->record * (size_t)(strip->fresh - fresh));
    for (size_t i = 0; i < strip->n_runs; i++) {
        const uint64_t first = strip->first[i], behind = strip->behind[i], pixels = behind - first;
        const uint32_t label = strip->runs[i];
        uint64_t *record = strip->record + SLC_BITRUN_RECORD * (size_t)label;
        if (label == fresh) {
            if (strip->first_x != NULL) {
                strip->first_x[fresh] = (uint32_t)first;
            }
            fresh++;
        }
        record[SLC_BITRUN_SUM_X] += (behind * (behind - 1) - first * (first - 1)) / 2;
        record[SLC_BITRUN_SUM_Y] += pixels * y;
        record[SLC_BITRUN_AREA] += pixels;
        const uint32_t low = UINT32_MAX - (uint32_t)first, high = (uint32_t)behind - 1;
        const uint32_t old_low = (uint32_t)record[SLC_BITRUN_BOX],
                       old_high = (uint32_t)(record[SLC_BITRUN_BOX] >> 32);
        record[SLC_BITRUN_BOX] = (low > old_low ? low : old_low) |
                                 (uint64_t)(high > old_high ? high : old_high) << 32;
        bitrun->last_row[label] = y;
    }
    strip->row_fresh = strip->fresh;
}

/* Memory of row y: where its bits go, and where its runs. */
static uint64_t *begin_row(const slc_image_bitrun *bitrun, slc_bitrun_part *part, size_t y)
{
    slc_bitrun_strip *strip = &part->strip;
    strip->upper = strip->runs;
    strip->n_upper = strip->n_runs;
    strip->runs = bitrun->keep ? part->runs + part->row_runs[y] : part->ring_runs[y % 2];
    uint32_t *same = strip->same;
    strip->same = strip->upper_same;
    strip->upper_same = same;
    return bitrun->keep ? part->bits + y * strip->pitch : part->ring_bits[y % 2];
}

static void keep_first(const slc_image_bitrun *bitrun, slc_bitrun_part *part, const uint64_t *bits)
{
    const slc_bitrun_strip *strip = &part->strip;
    part->n_first = strip->n_runs;
    part->first_bits = bits;
    part->first_runs = strip->runs;
    if (!bitrun->keep && bitrun->n_parts > 1) {
        memcpy(part->first_bits_copy, bits - 1, (strip->words + 2) * sizeof *bits);
        memcpy(part->first_runs_copy, strip->runs, strip->n_runs * sizeof *strip->runs);
        part->first_bits = part->first_bits_copy + 1;
        part->first_runs = part->first_runs_copy;
    }
}

void slc_bitrun_scan(slc_image_bitrun *bitrun, slc_bitrun_part *part)
{
    slc_bitrun_strip *strip = &part->strip;
    const slc_image *image = bitrun->job->image;
    const uint64_t *upper = bitrun->zeros;
    strip->runs = bitrun->keep ? part->runs : part->ring_runs[1];
    strip->n_runs = 0;
    strip->fresh = strip->row_fresh = part->base;
    part->row_runs[0] = 0;
    for (size_t y = 0; y < part->n_rows; y++) {
        uint64_t *bits = begin_row(bitrun, part, y);
        part->row_fresh[y] = strip->fresh;
        slc_image_bits_row(&bitrun->image_kernels, &bitrun->level, row_of(image, part->first_row + y),
                           image->width, bitrun->job->inverse, bits);
        bits[-1] = bits[strip->words] = 0;
        expect_row(image, part->first_row + y + 1);
        bitrun->kernels.row(strip, bits, upper);
        if (bitrun->records && !bitrun->wide) {
            bitrun->kernels.add(strip, bits, (uint32_t)y);
        } else if (bitrun->records) {
            add_wide(bitrun, part, bits, (uint32_t)y);
        }
        if (bitrun->keep) {
            part->row_runs[y + 1] = part->row_runs[y] + strip->n_runs;
        }
        if (y == 0) {
            keep_first(bitrun, part, bits);
        }
        upper = bits;
    }
    part->row_fresh[part->n_rows] = strip->fresh;
    part->last_bits = upper;
    part->last_runs = strip->runs;
    part->n_last = strip->n_runs;
}

/* ---- borders ------------------------------------------------------------------------------------- */

static uint32_t root(const uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        label = parent[label];
    }
    return label;
}

/* In which part a label was made. */
static uint32_t part_of(const slc_image_bitrun *bitrun, uint32_t label)
{
    uint32_t low = 0, high = bitrun->n_parts;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (bitrun->parts[middle].base <= label) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void unite(slc_image_bitrun *bitrun, slc_bitrun_part *below, uint32_t a, uint32_t b)
{
    a = root(bitrun->parent, a);
    b = root(bitrun->parent, b);
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low == high) {
        return;
    }
    bitrun->parent[high] = low;
    if (part_of(bitrun, low) != part_of(bitrun, high)) {
        below->tops[below->n_tops++] = high;
    }
}

void slc_bitrun_border(slc_image_bitrun *bitrun, uint32_t number)
{
    slc_bitrun_part *below = &bitrun->parts[number], *above = &bitrun->parts[number - 1];
    const uint32_t reach = bitrun->job->connectivity == 8 ? 1 : 0;
    bitrun->kernels.positions(&above->strip, above->last_bits, above->n_last);
    bitrun->kernels.positions(&below->strip, below->first_bits, below->n_first);
    below->n_tops = 0;
    const uint32_t *first = below->strip.first, *behind = below->strip.behind;
    const uint32_t *upper_first = above->strip.first, *upper_behind = above->strip.behind;
    size_t j = 0;
    for (size_t i = 0; i < below->n_first; i++) {
        while (j < above->n_last && upper_behind[j] + reach <= first[i]) {
            j++;
        }
        for (size_t k = j; k < above->n_last && upper_first[k] < behind[i] + reach; k++) {
            unite(bitrun, below, above->last_runs[k], below->first_runs[i]);
        }
    }
}
