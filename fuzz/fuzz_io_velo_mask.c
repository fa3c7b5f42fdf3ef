/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a mask, text or JSON: what is read has as many pixels as bits that are gone, in sensors that
 * say so; what is refused has a line. */
#include "fuzz.h"
#include "io/lhcb/io_velo_mask.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static slc_velo_mask mask;
    slc_error error = {SLC_OK, ""};
    char *text = malloc(size + 1); /* of its size, so that a read beyond it is seen */
    fuzz_require(text != NULL, "memory");
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    const slc_status status = slc_io_velo_mask_read_memory(text, size, "fuzz", &mask, &error);
    free(text);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && strncmp(error.text, "fuzz: line ", 11) == 0,
                     "what is refused has a line");
        return 0;
    }
    uint64_t gone = 0;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        uint64_t of_sensor = 0;
        for (size_t i = 0; i < sizeof mask.keep[s]; i++) {
            of_sensor += (uint64_t)(8 - __builtin_popcount(mask.keep[s][i]));
        }
        fuzz_require((of_sensor > 0) == (mask.masked[s] != 0), "sensors say that they have masked pixels");
        gone += of_sensor;
    }
    fuzz_require(gone == mask.n_pixels, "as many bits as pixels");
    return 0;
}
