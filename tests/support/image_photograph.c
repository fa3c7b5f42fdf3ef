/* SPDX-License-Identifier: Apache-2.0
 *
 * A photograph out of a pickle.
 */
#include "support/image_photograph.h"

#include <stdio.h>
#include <stdlib.h>

const char *image_photograph_path(void)
{
    const char *path = getenv("SLUICE_TEST_PHOTOGRAPH");
    return path != NULL ? path : "/usr/lib/python3/dist-packages/scipy/misc/ascent.dat";
}

/* The numbers of a pickle (protocol 2) of lists of numbers below 256. Returns how many, 0 for anything else.
 */
static size_t unpickle(FILE *file, uint8_t *out, size_t most)
{
    size_t n = 0;
    for (int code; (code = fgetc(file)) != EOF;) {
        int skip = 0;
        switch (code) {
        case 0x80: /* protocol */
        case 'q':  /* store under a number of one byte, or of four */
            skip = 1;
            break;
        case 'r':
            skip = 4;
            break;
        case 'K': /* a number */
            if (n == most) {
                return 0;
            }
            out[n++] = (uint8_t)fgetc(file);
            break;
        case ']': /* list, begin and end of its items */
        case '(':
        case 'e':
            break;
        case '.':
            return n;
        default:
            return 0;
        }
        for (; skip > 0; skip--) {
            (void)fgetc(file);
        }
    }
    return 0;
}

bool image_photograph(uint8_t pixels[IMAGE_PHOTOGRAPH_SIDE * IMAGE_PHOTOGRAPH_SIDE])
{
    const size_t size = IMAGE_PHOTOGRAPH_SIDE * IMAGE_PHOTOGRAPH_SIDE;
    FILE *file = fopen(image_photograph_path(), "rb");
    if (file == NULL) {
        return false;
    }
    const size_t n = unpickle(file, pixels, size);
    (void)fclose(file);
    return n == size;
}
