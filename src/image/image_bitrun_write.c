/* SPDX-License-Identifier: Apache-2.0
 * The second pass of bitrun: labels of pixels, and features that need a look at the pixels or at the row
 * above.
 */
#include "image/image_bitrun_part.h"

static const uint32_t *final_row(const slc_image_bitrun *bitrun, slc_bitrun_part *part, size_t y)
{
    const size_t first = part->row_runs[y];
    bitrun->kernels.relabel(bitrun->final, part->runs + first, part->row_runs[y + 1] - first,
                            part->final_runs);
    return part->final_runs;
}

/* Label images of more bytes are written past the caches: they would leave them again before anybody reads
 * them, and a line that is to be written in the cache is read first. Measured with bench/image_vs_opencv,
 * section large. */
enum { FAR_BYTES = 1 << 24 };

/* One row. Pixel by pixel, it costs the same for all rows; run by run it costs something for each run, and
 * few stores. */
static void write_row(const slc_image_bitrun *bitrun, slc_bitrun_part *part, size_t y, uint32_t *row,
                      bool far)
{
    const slc_bitrun_strip *strip = &part->strip;
    const uint64_t *bits = part->bits + y * strip->pitch;
    const size_t n_runs = part->row_runs[y + 1] - part->row_runs[y];
    const uint32_t *labels = final_row(bitrun, part, y);
    if (!far && n_runs <= strip->width / bitrun->run_pixels) {
        bitrun->image_kernels.edges(bits, strip->width, strip->edges);
        bitrun->bench_kernels.expand(strip->edges, labels, n_runs, strip->width, row);
    } else {
        bitrun->kernels.write(bits, labels, strip->width, row, far);
    }
}

void slc_bitrun_write(slc_image_bitrun *bitrun, slc_bitrun_part *part)
{
    const slc_image_labels *out = bitrun->job->out;
    const size_t width = part->strip.width;
    const bool far = width * bitrun->job->image->height > FAR_BYTES / sizeof(uint32_t);
    for (size_t y = 0; y < part->n_rows; y++) {
        void *row = (char *)out->labels + (ptrdiff_t)(part->first_row + y) * out->stride;
        if (out->type == SLC_TYPE_U32) {
            write_row(bitrun, part, y, row, far);
            continue;
        }
        write_row(bitrun, part, y, part->wide_row, false);
        uint16_t *narrow = row;
        for (size_t x = 0; x < width; x++) {
            narrow[x] = (uint16_t)part->wide_row[x];
        }
    }
}

/* Sums of floats are to be in raster order, and components cross parts: one row after the other. */
void slc_bitrun_sum(slc_image_bitrun *bitrun, uint32_t features)
{
    const slc_image_job *job = bitrun->job;
    const slc_image *grey = job->grey;
    const uint32_t n = (uint32_t)bitrun->n_components;
    const slc_image_type grey_type = grey != NULL ? grey->type : SLC_IMAGE_U8;
    slc_image_features_begin(features, &bitrun->window, 0, n, grey_type);
    const uint64_t *upper = NULL;
    for (uint32_t p = 0; p < bitrun->n_parts; p++) {
        slc_bitrun_part *part = &bitrun->parts[p];
        for (size_t y = 0; y < part->n_rows; y++) {
            const uint64_t *bits = part->bits + y * part->strip.pitch;
            const size_t row = part->first_row + y;
            const size_t n_runs = part->row_runs[y + 1] - part->row_runs[y];
            bitrun->kernels.positions(&part->strip, bits, n_runs);
            const slc_image_run_row runs = {
                .y = row,
                .width = part->strip.width,
                .n_runs = n_runs,
                .first = part->strip.first,
                .behind = part->strip.behind,
                .label = final_row(bitrun, part, y),
                .bits = bits,
                .upper = upper,
                .connectivity = job->connectivity,
                .grey = grey != NULL ? (const char *)grey->pixels + (ptrdiff_t)row * grey->stride : NULL,
                .grey_type = grey_type,
            };
            slc_image_features_row(features, &bitrun->window, 0, &runs);
            upper = bits;
        }
    }
}
