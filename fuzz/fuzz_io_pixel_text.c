/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as pixels as text, .t3pa or CSV. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pixels(bytes, size, "t3pa csv matrix");
    return 0;
}
