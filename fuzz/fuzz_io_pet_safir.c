/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a SAFIR list-mode file. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pet_list(bytes, size, SLC_IO_PET_SAFIR, false);
    return 0;
}
