/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an alignment. What is refused is told with its place; what is accepted moves the ideal
 * geometry to finite places. */
#include "fuzz.h"
#include "io/lhcb/io_velo_alignment.h"
#include "velo/velo_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_velo_alignment alignment;
    slc_error error = {0};
    char *name = NULL;
    (void)slc_io_velo_alignment_is(bytes, size);
    const slc_status status = slc_io_velo_alignment_read_memory((const char *)bytes, size, "fuzz", &alignment,
                                                                &name, &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && name == NULL, "nothing is left of a refused text");
        fuzz_require(strncmp(error.text, "fuzz: line ", 11) == 0, "a failure has a place");
        return 0;
    }
    slc_velo_geometry geometry;
    slc_velo_geometry_ideal(&geometry);
    slc_velo_geometry_align(&geometry, &alignment);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (int i = 0; i < 12; i++) {
            fuzz_require(fabsf(geometry.to_global[s][i]) < 2000, "near where it was");
        }
    }
    free(name);
    return 0;
}
