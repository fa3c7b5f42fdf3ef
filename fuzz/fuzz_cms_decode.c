/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an event of CMS's fragments; and as the data words of a fragment, to get past its header. */
#include "fuzz_cms.h"

#include <stdlib.h>
#include <string.h>

static void store(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Two fragments with these words, the first byte choosing the FEDs. */
static void try_words(const uint8_t *bytes, size_t size, slc_batch *batch)
{
    const size_t words = (size - 1) / 8 * 8, fragment = 8 + 8 + words + 8;
    uint8_t *event = calloc(1, 4 + 2 * fragment);
    fuzz_require(event != NULL, "memory");
    store(event, 2);
    for (uint32_t f = 0; f < 2; f++) {
        uint8_t *at = event + 4 + f * fragment;
        const uint32_t fed = SLC_CMS_FED_FIRST + (bytes[0] + 75 * f) % SLC_CMS_FEDS;
        store(at, fed);
        store(at + 4, (uint32_t)fragment - 8);
        store(at + 8, fed << 8);
        store(at + 12, 5U << 28);
        memcpy(at + 16, bytes + 1, words);
        store(at + fragment - 4, 10U << 28 | (uint32_t)(fragment - 8) / 8);
    }
    fuzz_require(slc_batch_append(batch, event, 4 + 2 * fragment, 0) == SLC_OK, "memory");
    free(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_batch batch = {0};
    fuzz_require(slc_batch_append(&batch, bytes, size, 0) == SLC_OK, "memory");
    if (size > 0) {
        try_words(bytes, size, &batch);
    }
    fuzz_cms_events(&batch);
    slc_batch_clear(&batch);
    return 0;
}
