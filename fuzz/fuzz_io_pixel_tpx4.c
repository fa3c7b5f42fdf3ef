/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as raw Timepix4. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pixels(bytes, size, "tpx4");
    return 0;
}
