/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of a labeller under every condition that its header allows, and all that it left compared with the
 * oracle: inputs of any type, stride and alignment with rubbish between the rows, poisoned outputs, label
 * images, components, both sides. A difference fails the test with a text that tells the case.
 */
#ifndef TESTS_SUPPORT_IMAGE_RUN_H
#define TESTS_SUPPORT_IMAGE_RUN_H

#include "oracle/image_oracle.h"

#include <sluice/image_label.h>

/* ---- inputs ------------------------------------------------------------------------------------ */

/* An image in memory of its own, and what is in it: one byte and one number for each pixel. */
typedef struct image_input {
    slc_image image;
    double threshold;
    uint8_t *on;
    double *value;
    uint8_t *block, *copy;
    size_t size;
} image_input;

/* Pixels of a type with values on both sides of the threshold so that the image `on` comes out as far as the
 * threshold allows (input->on tells what did), floats with NaN and infinities. Gaps, alignment and direction
 * of the rows are drawn from the seed. */
void image_input_make(image_input *input, const uint8_t *on, size_t width, size_t height, slc_image_type type,
                      double threshold, uint64_t *seed);
/* Random grey values; floats with NaN and infinities where `wild`. */
void image_input_grey(image_input *input, size_t width, size_t height, slc_image_type type, bool wild,
                      uint64_t *seed);
/* Is every byte still as it was? */
bool image_input_unchanged(const image_input *input);
void image_input_clear(image_input *input);

/* ---- outputs ----------------------------------------------------------------------------------- */

/* A label image in poisoned memory, with random gaps, alignment and direction of the rows. */
typedef struct image_output {
    slc_image_labels labels;
    size_t width, height;
    uint8_t *block;
    size_t size;
} image_output;

void image_output_make(image_output *output, size_t width, size_t height, slc_type type, uint64_t *seed);
/* Fails unless the labels are those, and nothing else was written. */
void image_output_expect(const image_output *output, const uint32_t *labels, const char *what);
/* Fails if anything was written. */
void image_output_expect_untouched(const image_output *output, const char *what);
void image_output_clear(image_output *output);

/* ---- what must come out ------------------------------------------------------------------------ */

typedef struct image_expected {
    uint32_t *labels, n;
    oracle_component *components; /* NULL without features */
} image_expected;

/* The side's labels after the filters of the configuration, and its features where there are any. */
void image_expect(image_expected *expected, const image_input *input, const image_input *grey,
                  const slc_image_label_config *config, bool inverse);
void image_expected_clear(image_expected *expected);

/* Fails unless rows base … base + n - 1 hold these features, and what was not asked for is NULL; the second
 * also unless the collection keeps its contract, which is for components in the order of labels. */
/* Contract of a collection made for some features: within each image labels have growing first pixels, boxes
 * hold first pixels and centroids, areas fit their boxes. On false, *why (may be NULL) says what is wrong. */
bool image_components_check(uint32_t features, const slc_image_components *components, const char **why);

void image_compare_rows(const slc_image_components *found, size_t base, const image_expected *expected,
                        uint32_t features, const char *what);
void image_compare_components(const slc_image_components *found, size_t base, const image_expected *expected,
                              uint32_t features, const char *what);

/* ---- runs -------------------------------------------------------------------------------------- */

/* What is wanted of a run besides the configuration. */
typedef struct image_wish {
    bool foreground, background, labels, components;
    slc_type type;
} image_wish;

/* Runs and compares everything. `labeller` was opened with `config` and has room. */
void image_run_expect(slc_image_labeller *labeller, const slc_image_label_config *config,
                      const image_input *input, const image_input *grey, image_wish wish, uint64_t *seed,
                      const char *what);

/* Opens and reserves; fails the test where that fails. */
slc_image_labeller *image_labeller_open(const slc_image_label_config *config, size_t width, size_t height);

/* "bitrun, avx2, 8-connected, 3 threads …", in a static buffer. */
const char *image_config_text(const slc_image_label_config *config);

/* ---- how much ---------------------------------------------------------------------------------- */

/* So many of `n` as the build can afford: fewer with sanitizers, and n · percent / 100 where the environment
 * variable SLUICE_TEST_PERCENT is set. At least 1. */
size_t image_test_count(size_t n);
/* The same as a step: every how manieth is taken, where n says it without sanitizers. */
size_t image_test_step(size_t n);

#endif
