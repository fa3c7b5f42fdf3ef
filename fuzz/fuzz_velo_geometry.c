/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a geometry. What is accepted must come back byte for byte. Short inputs are laid over a good
 * image, or a fuzzer would need long to make one of the right size. */
#include "fuzz.h"
#include "velo/velo_geometry.h"

#include <string.h>

static void try_image(const uint8_t *bytes, size_t size)
{
    slc_velo_geometry geometry;
    slc_error error = {0};
    uint8_t again[SLC_VELO_GEOMETRY_BYTES];
    if (slc_velo_geometry_parse(bytes, size, &geometry, &error) != SLC_OK) {
        fuzz_require(error.text[0] != '\0', "a failure has a text");
        return;
    }
    fuzz_require(size == sizeof again, "only the right size is accepted");
    slc_velo_geometry_store(&geometry, again);
    fuzz_require(memcmp(again, bytes, size) == 0, "an accepted geometry is stored as it came");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_image(bytes, size);
    if (size > 2 && size < SLC_VELO_GEOMETRY_BYTES) {
        slc_velo_geometry ideal;
        uint8_t image[SLC_VELO_GEOMETRY_BYTES];
        slc_velo_geometry_ideal(&ideal);
        slc_velo_geometry_store(&ideal, image);
        const size_t at = (bytes[0] | (size_t)bytes[1] << 8) % sizeof image;
        const size_t room = sizeof image - at;
        memcpy(image + at, bytes + 2, size - 2 < room ? size - 2 : room);
        try_image(image, sizeof image);
    }
    return 0;
}
