/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a file of LHCb's geometry of UT or SciFi, or as tables of HLT1. The first byte says which;
 * where files have one size, the bytes are drawn out to it. */
#include "fuzz.h"
#include "hlt1/hlt1_tables.h"
#include "scifi/scifi_geometry.h"
#include "ut/ut_geometry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const size_t sizes[] = {SLC_UT_BOARDS_BYTES, SLC_UT_GEOMETRY_BYTES, 81064, 15544};
    static slc_ut_geometry ut;
    static slc_scifi_geometry scifi;
    static slc_hlt1_deflection deflection;
    static slc_hlt1_forward_params forward;
    static uint8_t drawn[81064];
    slc_error error = {SLC_OK, ""};
    if (size < 1) {
        return 0;
    }
    const unsigned which = bytes[0] % 5, again = bytes[0] / 5 % 2;
    const uint8_t *from = bytes + 1;
    size--;
    if (which < 4 && again == 0) {
        memset(drawn, 0, sizeof drawn);
        memcpy(drawn, from, size < sizes[which] ? size : sizes[which]);
        from = drawn;
        size = sizes[which];
    }
    slc_status status = SLC_OK;
    switch (which) {
    case 0:
        status = slc_ut_boards_parse(from, size, &ut, &error);
        break;
    case 1:
        status = slc_ut_geometry_parse(from, size, &ut, &error);
        break;
    case 2:
        status = slc_scifi_geometry_parse(from, size, &scifi, &error);
        break;
    case 3:
        status = slc_hlt1_deflection_parse(from, size, &deflection, &error);
        break;
    default:
        status = slc_hlt1_forward_parse(from, size, &forward, &error);
        break;
    }
    fuzz_require(status == SLC_OK || (status == SLC_ERR_FORMAT && error.text[0] != '\0'),
                 "read, or refused with a reason");
    return 0;
}
