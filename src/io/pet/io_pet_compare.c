/* SPDX-License-Identifier: Apache-2.0
 * The scanner that a list says, beside the one that is given to read it with. */
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"

slc_status slc_io_pet_list_compare(const slc_io_pet_list *in, uint32_t rings, uint32_t crystals_per_ring,
                                   slc_error *error)
{
    if (!in->has_geometry) {
        return SLC_OK;
    }
    const uint32_t given_rings = slc_pet_rings(&in->geometry),
                   given_crystals = slc_pet_crystals_per_ring(&in->geometry);
    if (rings != 0 && rings != given_rings) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: it is of a scanner of %u rings; the one that is given has %u", in->name, rings,
                        given_rings);
    }
    if (crystals_per_ring != 0 && crystals_per_ring != given_crystals) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: it is of a scanner of %u crystals in a ring; the one that is given has %u",
                        in->name, crystals_per_ring, given_crystals);
    }
    return SLC_OK;
}
