/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as words of Timepix3 without heads of chunks. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pixels(bytes, size, "tpx3 words");
    return 0;
}
