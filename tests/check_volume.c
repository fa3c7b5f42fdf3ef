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

enum { WIDTH = 600, WORDS = 16, SPARE = SLC_VOLUME_SPARE };

static slc_check_memory rows_of_labels[SLC_VOLUME_ROWS];

static void check_width(const slc_volume_kernels *kernels, size_t width, size_t n_rows, uint64_t *seed)
{
    static uint64_t rows[SLC_VOLUME_ROWS][WORDS + 2], all[WORDS + 2], starts[WORDS];
    static uint32_t ranks[WORDS + 1], labels[WIDTH + 2 * SPARE];
    const uint64_t *read[SLC_VOLUME_ROWS];
    uint32_t *out[SLC_VOLUME_ROWS], percent = random_below(seed, 101);
    slc_volume_bundle bundle = {.all = all + 1, .starts = starts, .ranks = ranks};
    memset(rows, 0, sizeof rows);
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        bundle.rows[r] = read[r] = rows[r] + 1;
        out[r] = (uint32_t *)(void *)rows_of_labels[r].end - width;
        for (size_t x = 0; x < width && r < n_rows; x++) {
            rows[r][1 + x / 64] |= (uint64_t)(random_below(seed, 100) < percent) << x % 64;
        }
    }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        labels[i] = (uint32_t)(i * i + 1);
    }
    const size_t words = width <= 512 ? 8 : 16;
    slc_check_doing("image.volume_look");
    kernels->look(&bundle, words, n_rows);
    slc_check_doing("image.volume_write");
    kernels->write(&bundle, read, n_rows, labels + SPARE, width, out, random_below(seed, 2) == 0);
    size_t run = 0;
    bool before = false;
    for (size_t x = 0; x < width; x++) {
        bool any = false;
        for (size_t r = 0; r < n_rows; r++) {
            any = any || (rows[r][1 + x / 64] >> x % 64 & 1) != 0;
        }
        run += any && !before ? 1 : 0;
        before = any;
        for (size_t r = 0; r < n_rows; r++) {
            const bool set = (rows[r][1 + x / 64] >> x % 64 & 1) != 0;
            if (out[r][x] != (set ? labels[SPARE + run - 1] : 0)) {
                slc_check_fail("row %zu of %zu, %zu voxels: %u at %zu", r, n_rows, width, out[r][x], x);
                return;
            }
        }
    }
    if (bundle.n_runs != run) {
        slc_check_fail("%zu runs in %zu voxels, not %zu", bundle.n_runs, width, run);
    }
    slc_check_values(n_rows * width + 1);
}

static void check_target(slc_simd_target target, uint64_t random)
{
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    for (size_t width = 1; width <= WIDTH; width += width < 140 ? 1 : 23) {
        check_width(kernels, width, 1, &random);
        check_width(kernels, width, SLC_VOLUME_ROWS, &random);
    }
    slc_check_cases(slc_volume_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        rows_of_labels[r] = slc_check_map(WIDTH * sizeof(uint32_t));
    }
    slc_check_targets(check_target, "look, join, number, write");
    for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
        slc_check_unmap(&rows_of_labels[r]);
    }
    return slc_check_end();
}
