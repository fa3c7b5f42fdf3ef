/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a file of PETSIRD: schema, header and blocks. The first byte chooses: behind an even one a
 * whole file, behind an odd one what comes after the schema, which a fuzzer would hardly find. */
#include "fuzz.h"
#include "io/pet/io_pet_petsird.h"

#include <stdlib.h>
#include <string.h>

/* Magic bytes and our schema. */
static size_t head_of(uint8_t *head)
{
    size_t size = 0, at = SLC_PETSIRD_MAGIC;
    for (const char *const *s = slc_petsird_schema; *s != NULL; s++) {
        size += strlen(*s);
    }
    if (head == NULL) {
        return size + SLC_PETSIRD_MAGIC + 2;
    }
    memcpy(head, slc_petsird_magic, SLC_PETSIRD_MAGIC);
    head[at++] = (uint8_t)(size & 127) | 128;
    head[at++] = (uint8_t)(size >> 7);
    for (const char *const *s = slc_petsird_schema; *s != NULL; s++) {
        for (const char *c = *s; *c != '\0'; c++) {
            head[at++] = *c == '\'' ? '"' : (uint8_t)*c;
        }
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const bool whole = size == 0 || bytes[0] % 2 == 0;
    const size_t skip = size > 0, before = whole ? 0 : head_of(NULL);
    uint8_t *all = malloc(before + size + 1);
    if (all == NULL) {
        return 0;
    }
    if (!whole) {
        fuzz_require(head_of(all) == before, "two bytes tell the schema's length");
    }
    memcpy(all + before, bytes + skip, size - skip);
    fuzz_pet_list(all, before + size - skip, SLC_IO_PET_PETSIRD, false);
    free(all);
    return 0;
}
