/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as dumps of CMS's cabling, gains and positions: as they come, and laid over good ones of the
 * right size, which a fuzzer would need long to make. The first byte chooses the dump, three more the place.
 */
#include "base/bytes.h"
#include "cms/cms_stages.h"
#include "fuzz_cms.h"
#include "io/cms/io_cms_dump.h"

#include <string.h>

enum {
    CABLES = SLC_CMS_CABLES,
    CABLING = 25 * CABLES + 132 + CABLES,
    MODULES = SLC_CMS_MODULES_PHASE1,
    GAINS = 24052 + MODULES * 1664,
    PLACES = 3, /* modules of positions */
    POSITIONS = 3740 + 112 * PLACES
};

static void make_cabling(uint8_t *to)
{
    const slc_cms_cable *cables = fuzz_cms_cabling()->cable;
    for (size_t e = 1; e < CABLES; e++) {
        const slc_cms_cable *cable = &cables[e - 1];
        const uint32_t values[] = {1200,
                                   (uint32_t)((e - 1) % 384 / 8 + 1),
                                   (uint32_t)((e - 1) % 8 + 1),
                                   cable->raw_id,
                                   cable->roc,
                                   cable->module};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            slc_store_u32(to + 4 * (k * CABLES + e), values[k]);
        }
    }
    slc_store_u32(to + 25 * CABLES, CABLES - 1);
    slc_store_u32(to + 25 * CABLES + 128, CABLES);
}

static void make_gains(uint8_t *to)
{
    for (uint32_t m = 0; m < MODULES; m++) {
        slc_store_u32(to + 8 + 12 * m, m * 1664);
        slc_store_u32(to + 12 + 12 * m, (m + 1) * 1664);
        slc_store_u32(to + 16 + 12 * m, 416);
    }
    slc_store_u32(to + 24032, 80);
    slc_store_u32(to + 24040, 255);
    slc_store_u32(to + 24044, 254);
    slc_store_u32(to + 24048, MODULES * 1664);
}

static void make_positions(uint8_t *to)
{
    const float common[] = {0.0285f, 0.029f, 0.01f, 0.015f};
    for (size_t i = 0; i < 4; i++) {
        slc_store_f32(to + 4 * i, common[i]);
    }
    slc_store_u32(to + 16, PLACES);
    for (size_t m = 0; m < PLACES; m++) {
        uint8_t *at = to + 20 + 112 * m;
        at[0] = 1;
        at[4] = (uint8_t)m;
        slc_store_u32(at + 8, 0x12100000);
        for (size_t i = 0; i < 25; i++) { /* shifts, widths, origin, errors, position, rotation */
            slc_store_f32(at + 12 + 4 * i, i < 7        ? 0.001f
                                           : i < 13     ? 0.002f
                                           : i < 16     ? 3.0f
                                           : i % 4 == 0 ? 1.0f
                                                        : 0.0f);
        }
    }
}

static void try_all(const uint8_t *bytes, size_t size)
{
    static slc_cms_cabling cabling;
    slc_cms_gains gains = {0};
    slc_cms_geometry geometry = {0};
    slc_io_cms_note note = {""};
    slc_error error = {0}, other = {0};
    const slc_status status[] = {slc_io_parse_cms_cabling_dump(bytes, size, "fuzz", &cabling, &note, &error),
                                 slc_io_parse_cms_gains_dump(bytes, size, "fuzz", &gains, &note, &error),
                                 slc_io_parse_cms_geometry(bytes, size, "fuzz", &geometry, &note, &error)};
    fuzz_require(status[0] != SLC_OK || slc_cms_cabling_check(&cabling, &other) == SLC_OK,
                 "a cabling is possible");
    fuzz_require((status[1] == SLC_OK) == (gains.gain != NULL), "gains are there, or are not");
    fuzz_require((status[2] == SLC_OK) == (geometry.site != NULL), "a geometry is there, or is not");
    fuzz_require(status[2] != SLC_OK || slc_cms_geometry_check(&geometry, &other) == SLC_OK,
                 "a geometry is possible");
    for (size_t i = 0; i < 3; i++) {
        fuzz_require(status[i] == SLC_OK ? note.text[0] != '\0' : error.text[0] != '\0', "something is told");
    }
    slc_cms_gains_clear(&gains);
    slc_cms_geometry_clear(&geometry);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t image[GAINS > CABLING ? GAINS : CABLING];
    static const size_t sizes[] = {CABLING, GAINS, POSITIONS};
    static void (*const makes[])(uint8_t *) = {make_cabling, make_gains, make_positions};
    try_all(bytes, size);
    if (size > 4) {
        const size_t which = bytes[0] % 3, whole = sizes[which];
        memset(image, 0, sizeof image);
        makes[which](image);
        const size_t at = (bytes[1] | (size_t)bytes[2] << 8 | (size_t)bytes[3] << 16) % whole;
        memcpy(image + at, bytes + 4, size - 4 < whole - at ? size - 4 : whole - at);
        try_all(image, whole);
    }
    return 0;
}
