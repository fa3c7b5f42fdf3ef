/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary images on which labelling goes wrong first: full, empty, single pixels, chessboards, stripes, combs,
 * spirals, rings, stairs, shapes that merge late, zig-zags, macro-pixels, blobs, text; and a grey scene made
 * of gradients, discs, fine lines and noise for thresholds.
 */
#ifndef TESTS_SUPPORT_IMAGE_PATTERNS_H
#define TESTS_SUPPORT_IMAGE_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

/* Writes 0 or 1 to every pixel of an image of one byte a pixel, row behind row, of any width and height from
 * 1. `seed` is used and moved on by those that are random; the others leave it. */
typedef struct image_pattern {
    const char *name;
    void (*draw)(uint8_t *on, size_t width, size_t height, uint64_t *seed);
} image_pattern;

/* Ends with a row whose name is NULL. */
extern const image_pattern image_patterns[];

/* Macro-pixels of g x g pixels, each on with probability `percent` / 100. */
void image_macro_pixels(uint8_t *on, size_t width, size_t height, uint32_t g, uint32_t percent,
                        uint64_t *seed);

/* One of the patterns or random macro-pixels of any granularity (1 to 16) and density; a short text on which
 * one, in a static buffer. */
const char *image_pattern_any(uint8_t *on, size_t width, size_t height, uint64_t *seed);

/* A grey scene of values 0 to 255. */
void image_scene(uint8_t *grey, size_t width, size_t height, uint64_t *seed);

#endif
