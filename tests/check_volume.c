/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of volumes on every target of this machine: runs of a bundle and the labels that are written of
 * them against loops over single voxels, in rows that end at pages that may not be touched; and their
 * standard inputs against plain C. That labels are right is what test_image_volume asks of every target.
 */
#include "image/image_volume_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <string.h>

enum { WIDTH = 600, PITCH = WIDTH / 64 + 2, SPARE = SLC_VOLUME_SPARE };

static slc_check_memory rows_of_labels[SLC_VOLUME_ROWS];

/* Row r has a voxel at x. */
static bool has(const slc_volume_layer *layer, size_t r, size_t x)
{
    return (layer->rows[r][x / 64] >> x % 64 & 1) != 0;
}

/* A layer of one bundle; `missing`: a row that is not there, or SLC_VOLUME_ROWS. */
static void check_width(const slc_volume_kernels *kernels, size_t width, size_t n_rows, size_t missing,
                        uint64_t *seed)
{
    enum { ROOM = 8 }; /* words that are read and written at once */
    static uint64_t rows[SLC_VOLUME_ROWS][PITCH + 1 + ROOM], all[PITCH + 1], starts[PITCH];
    static uint64_t faces[SLC_VOLUME_FACES][PITCH + ROOM];
    static uint32_t ranks[PITCH + 1], labels[WIDTH + 2 * SPARE];
    const uint64_t *read[SLC_VOLUME_ROWS];
    uint32_t *out[SLC_VOLUME_ROWS], percent = random_below(seed, 101);
    slc_volume_layer layer = {.all = all + 1, .starts = starts, .ranks = ranks};
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < SLC_VOLUME_FACES; i++) {
        layer.faces[i] = faces[i];
    }
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        layer.rows[r] = rows[r] + 1;
        read[r] = rows[r] + 1;
        out[r] = r != missing ? (uint32_t *)(void *)rows_of_labels[r].end - width : NULL;
        for (size_t x = 0; x < width && r < n_rows; x++) {
            rows[r][1 + x / 64] |= (uint64_t)(random_below(seed, 100) < percent) << x % 64;
        }
    }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        labels[i] = (uint32_t)(i * i + 1);
    }
    slc_check_doing("image.volume_look");
    kernels->look(&layer, width / 64 + 2, n_rows);
    slc_check_doing("image.volume_write");
    const size_t written = kernels->write(read, n_rows, labels + SPARE, width, out,
                                          random_below(seed, 2) == 0);
    size_t run = 0;
    bool before = false;
    for (size_t x = 0; x < width; x++) {
        bool any = false;
        for (size_t r = 0; r < n_rows; r++) {
            any = any || has(&layer, r, x);
        }
        run += any && !before ? 1 : 0;
        before = any;
        for (size_t r = 0; r < n_rows; r++) {
            if (r != missing && out[r][x] != (has(&layer, r, x) ? labels[SPARE + run - 1] : 0)) {
                slc_check_fail("row %zu of %zu, %zu voxels: %u at %zu", r, n_rows, width, out[r][x], x);
                return;
            }
        }
    }
    if (layer.n_runs != run || written != run) {
        slc_check_fail("%zu and %zu runs in %zu voxels, not %zu", layer.n_runs, written, width, run);
    }
    slc_check_values(n_rows * width + 2);
}

static void check_target(slc_simd_target target, uint64_t random)
{
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    for (size_t width = 1; width <= WIDTH; width += width < 140 ? 1 : 23) {
        check_width(kernels, width, 1, SLC_VOLUME_ROWS, &random);
        check_width(kernels, width, SLC_VOLUME_ROWS, SLC_VOLUME_ROWS, &random);
        check_width(kernels, width, SLC_VOLUME_ROWS, width % SLC_VOLUME_ROWS, &random);
    }
    slc_check_cases(slc_volume_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        rows_of_labels[r] = slc_check_map(WIDTH * sizeof(uint32_t));
    }
    slc_check_targets(check_target, "look, join, begin, write");
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        slc_check_unmap(&rows_of_labels[r]);
    }
    return slc_check_end();
}
