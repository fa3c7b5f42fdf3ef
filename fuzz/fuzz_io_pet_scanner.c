/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a table of crystals in CSV. */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_pet_geometry g = {.channels = 0};
    slc_error error = {0};
    if (slc_io_pet_scanner_parse(bytes, size, "fuzz", &g, &error) != SLC_OK) {
        fuzz_require(g.layout == NULL && error.text[0] != '\0', "a failure has a text and no scanner");
        return 0;
    }
    fuzz_require(slc_pet_geometry_check(&g, &error) == SLC_OK, "a scanner that was read is good");
    for (uint32_t i = 0; i < slc_pet_crystals(&g); i++) {
        uint32_t module, unit, local;
        double position[3], normal[3];
        slc_pet_crystal_place(&g, i, &module, &unit, &local);
        fuzz_require(module < slc_pet_module_count(&g) && unit < g.blocks_y * g.blocks_z &&
                         local < g.crystals_y * g.crystals_z,
                     "a crystal is of a unit");
        fuzz_require(slc_pet_crystal(&g, module, unit, local) == i, "a place has its crystal");
        slc_pet_crystal_position(&g, i, position, normal);
        const double length = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
        fuzz_require(fabs(length - 1) < 1e-9 && isfinite(position[0] + position[1] + position[2]),
                     "a crystal is somewhere and looks somewhere");
    }
    slc_pet_geometry_clear(&g);
    return 0;
}
