/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as Siemens' 32-bit words behind a header and a zero byte. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_pet_list(bytes, size, SLC_IO_PET_SIEMENS, true);
    return 0;
}
