/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as raw Timepix3. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pixels(bytes, size, "tpx3");
    return 0;
}
