/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a cabling. Short inputs are laid over a good one, or a fuzzer would need long to make one of
 * the right size; the checksum is set right. */
#include "cms/cms_stages.h"
#include "fuzz_cms.h"
#include "io/cms/io_cms_payload.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 24, SIZE = HEADER + 8 * SLC_CMS_CABLES };

static void try_cabling(const uint8_t *bytes, size_t size)
{
    static slc_cms_cabling cabling;
    slc_error error = {0};
    if (slc_io_parse_cms_cabling(bytes, size, "fuzz", &cabling, &error) == SLC_OK) {
        fuzz_require(slc_cms_cabling_check(&cabling, &error) == SLC_OK, "what is read is possible");
        fuzz_require(memcmp(&cabling.cable[0], bytes + HEADER, 4) == 0, "the first entry is the first");
    } else {
        fuzz_require(error.text[0] != '\0', "a failure has a text");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t image[SIZE];
    try_cabling(bytes, size);
    if (size > 4 && size < SIZE) {
        memset(image, 0, sizeof image);
        memcpy(image, "SLCCMSCA\1", 9);
        for (unsigned i = 0; i < 4; i++) {
            image[16 + i] = (uint8_t)((uint32_t)SLC_CMS_CABLES >> 8 * i);
        }
        memcpy(image + HEADER, fuzz_cms_cabling(), SIZE - HEADER);
        const size_t at = (bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16) % SIZE;
        memcpy(image + at, bytes + 4, size - 4 < SIZE - at ? size - 4 : SIZE - at);
        if ((bytes[3] & 1) == 0) {
            fuzz_cms_mend(image, SIZE);
        }
        try_cabling(image, SIZE);
    }
    return 0;
}
