/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as JPEG images. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_images(bytes, size, "jpeg");
    return 0;
}
