/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a crystal map. */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_io_pet_map map;
    slc_error error = {0};
    if (slc_io_pet_map_parse(bytes, size, "fuzz", &map, &error) != SLC_OK) {
        fuzz_require(map.position_mm == NULL && error.text[0] != '\0', "a failure has a text and no map");
        return 0;
    }
    fuzz_require((uint64_t)map.rings * map.crystals_per_ring * map.layers == map.crystals,
                 "a map has all crystals");
    float sum = 0;
    for (size_t i = 0; i < 3 * map.crystals; i++) {
        sum += map.position_mm[i] - map.position_mm[i];
    }
    fuzz_require(sum == 0, "positions are numbers");
    slc_io_pet_map_clear(&map);
    return 0;
}
