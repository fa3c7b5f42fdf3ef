/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a CASToR file: the header's text, a zero byte, records. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pet_list(bytes, size, SLC_IO_PET_CASTOR, true);
    return 0;
}
