/* SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms of labelling that are written in vectors, on every target of this machine, against labels
 * that are spread from pixel to pixel until nothing changes. test_image_algorithms.c looks at more images;
 * this program also runs on other processors, emulated.
 */
#include "image/image_algorithms.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include <string.h>

enum { WIDTH = 150, HEIGHT = 12 };

static slc_check_memory pixels, labels, scratch;
static uint32_t wanted[WIDTH * HEIGHT];

/* The smallest address of every component, as n sweeps that change nothing any more. */
static void spread(const uint8_t *pixel, size_t width, size_t height, bool diagonal)
{
    for (uint32_t i = 0; i < width * height; i++) {
        wanted[i] = pixel[i] != 0 ? i + 1 : 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < width * height; i++) {
            const size_t x = i % width, y = i / width;
            for (size_t v = y > 0 ? y - 1 : 0; wanted[i] != 0 && v <= y + 1 && v < height; v++) {
                for (size_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < width; u++) {
                    const uint32_t other = wanted[v * width + u];
                    if (other != 0 && other < wanted[i] && (diagonal || u == x || v == y)) {
                        wanted[i] = other;
                        changed = true;
                    }
                }
            }
        }
    }
}

/* Addresses to numbers, which pixels of a component meet in its first pixel. */
static uint32_t number(size_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (wanted[i] == i + 1) {
            count++;
            wanted[i] = count;
        } else if (wanted[i] != 0) {
            wanted[i] = wanted[wanted[i] - 1];
        }
    }
    return count;
}

static void check_image(const slc_image_algorithm *algorithm, const slc_image_strip *strip, uint32_t n_wanted)
{
    const size_t n = strip->width * strip->height;
    memset(strip->labels, 0xa5, n * sizeof *strip->labels);
    slc_check_doing(algorithm->name);
    const uint32_t n_labels = algorithm->label(strip);
    if (n_labels != n_wanted || memcmp(strip->labels, wanted, n * sizeof *wanted) != 0) {
        slc_check_fail("%s: %zu x %zu, %u-connected: %u labels of %u, or wrong ones", algorithm->name,
                       strip->width, strip->height, strip->connectivity, n_labels, n_wanted);
    }
    slc_check_values(n);
}

static void check_target(slc_simd_target target, uint64_t seed)
{
    for (size_t width = 1; width <= WIDTH; width++) {
        const size_t height = 1 + random_below(&seed, HEIGHT), n = width * height;
        const uint32_t percent = random_below(&seed, 101);
        uint8_t *pixel = pixels.end - n;
        slc_image_strip strip = {.pixels = pixel,
                                 .stride = (ptrdiff_t)width,
                                 .width = width,
                                 .height = height,
                                 .labels = (uint32_t *)(void *)(labels.end - n * sizeof(uint32_t)),
                                 .label_stride = (ptrdiff_t)(width * sizeof(uint32_t)),
                                 .target = target};
        for (size_t i = 0; i < n; i++) {
            pixel[i] = random_below(&seed, 100) < percent ? 1 : 0;
        }
        for (strip.connectivity = 4; strip.connectivity <= 8; strip.connectivity += 4) {
            spread(strip.pixels, width, height, strip.connectivity == 8);
            const uint32_t n_wanted = number(n);
            const slc_image_algorithm *a;
            for (size_t i = 0; (a = slc_image_algorithm_row(i)) != NULL; i++) {
                if (a->simd) {
                    strip.scratch = scratch.end -
                                    slc_image_part(a->scratch_bound(width, height, strip.connectivity));
                    check_image(a, &strip, n_wanted);
                }
            }
        }
    }
    slc_check_cases(slc_image_algorithm_kernel_rows, target);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    pixels = slc_check_map(WIDTH * HEIGHT);
    labels = slc_check_map(WIDTH * HEIGHT * sizeof(uint32_t));
    scratch = slc_check_map((size_t)64 * WIDTH * HEIGHT);
    slc_check_targets(check_target, "flsl, rosenfeld-v1, rosenfeld-v2");
    slc_check_unmap(&pixels);
    slc_check_unmap(&labels);
    slc_check_unmap(&scratch);
    return slc_check_end();
}
