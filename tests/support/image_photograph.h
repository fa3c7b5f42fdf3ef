/* SPDX-License-Identifier: Apache-2.0
 *
 * The photograph `ascent` (512 x 512, grey), which comes with Debian's python3-scipy as a pickle of lists of
 * numbers.
 */
#ifndef TESTS_SUPPORT_IMAGE_PHOTOGRAPH_H
#define TESTS_SUPPORT_IMAGE_PHOTOGRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum { IMAGE_PHOTOGRAPH_SIDE = 512 };

/* Where it is looked for: Debian's place, or the file that SLUICE_TEST_PHOTOGRAPH names. */
const char *image_photograph_path(void);
/* Fills in all pixels; false where it cannot be read. */
bool image_photograph(uint8_t pixels[IMAGE_PHOTOGRAPH_SIDE * IMAGE_PHOTOGRAPH_SIDE]);

#endif
