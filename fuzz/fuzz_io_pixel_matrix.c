/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as dense frames of pixels. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pixels(bytes, size, "matrix csv t3pa");
    return 0;
}
