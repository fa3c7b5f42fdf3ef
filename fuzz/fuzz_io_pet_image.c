/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an attenuation image: an array of NumPy, or the header's text of an Interfile, a zero byte,
 * values. */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"

#include <sluice/io_pet_factors.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const double voxel_mm[3] = {1, 1, 2};
    const bool npy = size > 0 && bytes[0] == 0x93;
    const uint8_t *zero = npy ? NULL : memchr(bytes, 0, size);
    const size_t n = zero != NULL ? (size_t)(zero - bytes) : npy ? 0 : size, head = zero != NULL ? n + 1 : n;
    char *header = malloc(n + 1);
    if (header == NULL) {
        return 0;
    }
    memcpy(header, bytes, n);
    header[n] = '\0';
    slc_pet_image image;
    slc_error error = {0};
    const slc_status status = slc_io_pet_image_parse(npy ? NULL : header, bytes + head, size - head, "fuzz",
                                                     npy ? voxel_mm : NULL, &image, &error);
    fuzz_require((status == SLC_OK) == (image.value != NULL), "values are there exactly without a failure");
    fuzz_require(status == SLC_OK || strncmp(error.text, "fuzz: ", 6) == 0, "a failure names the file");
    fuzz_require(status != SLC_OK || (size_t)image.nx * image.ny * image.nz * 4 <= size,
                 "every value is read");
    slc_io_pet_image_clear(&image);
    free(header);
    return 0;
}
