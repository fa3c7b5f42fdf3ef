/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a layout of chips: what is read has chips that fit and lie beside each other; what is refused
 * says where. */
#include "fuzz.h"
#include "io/pixel/io_pixel_layout.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static slc_io_pixels_layout layout;
    slc_error error = {SLC_OK, ""};
    const slc_status status = slc_io_pixels_layout_parse((const char *)bytes, size, "fuzz", &layout, &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && strncmp(error.text, "fuzz: ", 6) == 0,
                     "what is refused says where");
        return 0;
    }
    for (uint32_t i = 0; i < SLC_IO_PIXELS_CHIPS; i++) {
        const slc_io_pixels_chip *a = &layout.chip[i];
        fuzz_require(!a->is_there ||
                         (a->x + 256U <= layout.width && a->y + 256U <= layout.height && a->turns < 4),
                     "chips are inside");
        for (uint32_t k = 0; k < i; k++) {
            const slc_io_pixels_chip *b = &layout.chip[k];
            fuzz_require(!a->is_there || !b->is_there || a->x >= b->x + 256 || b->x >= a->x + 256 ||
                             a->y >= b->y + 256 || b->y >= a->y + 256,
                         "chips lie beside each other");
        }
    }
    return 0;
}
