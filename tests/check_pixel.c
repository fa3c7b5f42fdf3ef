/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of sparse pixels on every target of this machine: the standard input, which every target must
 * leave the same as plain C does; and the look at a list beforehand, against a loop, with lists that end at
 * pages that may not be touched.
 */
#include "pixel/pixel_kernels.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

enum { MOST = 400 };

static slc_check_memory columns, rows;

static void check_list(const slc_pixel_kernels *kernels, size_t n, uint32_t faults, uint64_t *seed)
{
    slc_check_doing("pixel.check");
    uint16_t *x = (void *)(columns.end - n * sizeof *x), *y = (void *)(rows.end - n * sizeof *y);
    uint32_t key = random_below(seed, 70000);
    for (size_t i = 0; i < n; i++) {
        x[i] = (uint16_t)key;
        y[i] = (uint16_t)(key >> 16);
        key += random_below(seed, 3) * random_below(seed, 6000000);
    }
    for (uint32_t f = 0; f < faults; f++) {
        x[random_below(seed, (uint32_t)n)] = (uint16_t)random_u64(seed);
    }
    bool rises = true;
    uint16_t right = 0, bottom = 0, x_max = 1, y_max = 1;
    for (size_t i = 0; i < n; i++) {
        rises = rises && (i == 0 || y[i] > y[i - 1] || (y[i] == y[i - 1] && x[i] >= x[i - 1]));
        right = x[i] > right ? x[i] : right;
        bottom = y[i] > bottom ? y[i] : bottom;
    }
    const bool found = kernels->check(x, y, n, &x_max, &y_max);
    if (found != rises || x_max != right || y_max != bottom) {
        slc_check_fail("%zu pixels: %d, %u and %u, not %d, %u and %u", n, found, x_max, y_max, rises, right,
                       bottom);
    }
    slc_check_values(n);
}

static void check_target(slc_simd_target target, uint64_t seed)
{
    for (size_t n = 1; n <= MOST; n++) {
        for (uint32_t k = 0; k < 6; k++) {
            check_list(slc_pixel_kernels_of(target), n, k / 2, &seed);
        }
    }
    slc_check_cases(slc_pixel_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    columns = slc_check_map(MOST * sizeof(uint16_t));
    rows = slc_check_map(MOST * sizeof(uint16_t));
    slc_check_targets(check_target, "check, cluster");
    slc_check_unmap(&columns);
    slc_check_unmap(&rows);
    return slc_check_end();
}
