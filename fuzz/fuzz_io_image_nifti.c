/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as NIfTI volumes.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_images(bytes, size, "nifti");
    return 0;
}
