/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as BMP images. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_images(bytes, size, "bmp");
    return 0;
}
