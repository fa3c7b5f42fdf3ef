/* SPDX-License-Identifier: Apache-2.0
 * A loop for each width, which compilers turn into vectors; one for any other.
 */
#include "io/io_shuffle.h"

#include <string.h>

/* The byte at `shift` of every value, 16 values a turn, so that the compiler packs vectors. */
#define SHUFFLE(type)                                                                                        \
    for (size_t byte = 0; byte < sizeof(type); byte++) {                                                     \
        uint8_t *plane = to + byte * n;                                                                      \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type value;                                                                                      \
            memcpy(&value, from + i * sizeof value, sizeof value);                                           \
            plane[i] = (uint8_t)(value >> 8 * byte);                                                         \
        }                                                                                                    \
    }

void slc_io_shuffle(const uint8_t *restrict from, size_t size, size_t width, uint8_t *restrict to)
{
    const size_t n = width > 0 ? size / width : 0;
    if (width == 2) {
        SHUFFLE(uint16_t)
    } else if (width == 4) {
        SHUFFLE(uint32_t)
    } else if (width == 8) {
        SHUFFLE(uint64_t)
    } else {
        for (size_t byte = 0; byte < width; byte++) {
            for (size_t i = 0; i < n; i++) {
                to[byte * n + i] = from[i * width + byte];
            }
        }
    }
    memcpy(to + n * width, from + n * width, size - n * width);
}
