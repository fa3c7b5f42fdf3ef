/* SPDX-License-Identifier: Apache-2.0
 * Cabling and gains from the memory dumps of CMS's stand-alone programs. */
#include "io/cms/io_cms_dump.h"

#include "base/bytes.h"
#include "cms/cms_stages.h"

#include <math.h>
#include <stdio.h>

/* ---- cabling ----------------------------------------------------------------------------------- */

enum {
    ELEMENTS = SLC_CMS_CABLES, /* of which 0 has no meaning: the others are a place further than ours */
    ARRAY = ELEMENTS * 4,
    LINK_AT = ARRAY,
    ROC_AT = 2 * ARRAY,
    ID_AT = 3 * ARRAY,
    PLACE_AT = 4 * ARRAY,
    MODULE_AT = 5 * ARRAY,
    BAD_AT = 6 * ARRAY,
    USED_AT = BAD_AT + ELEMENTS,
    SKIPS_AT = USED_AT + 128,
    SKIP_AT = SKIPS_AT + 4,
    NOT_CONNECTED = 9999, /* CMSSW's SiPixelFedCablingMapGPUWrapper writes it in the place of an id */
    FED_CHIPS = SLC_CMS_LINKS * SLC_CMS_LINK_ROCS
};

bool slc_io_is_cms_cabling_dump(const void *bytes, size_t size)
{
    (void)bytes;
    return size >= SKIP_AT && size <= SKIP_AT + ELEMENTS;
}

typedef struct seen {
    uint32_t connected, bad, skipped;
} seen;

static slc_status take_chip(const uint8_t *from, uint32_t skips, uint32_t element, const char *name,
                            slc_cms_cable *cable, seen *found, slc_error *error)
{
    const uint32_t id = slc_load_u32(from + ID_AT + (size_t)4 * element);
    const uint32_t module = slc_load_u32(from + MODULE_AT + (size_t)4 * element);
    const uint32_t link = slc_load_u32(from + LINK_AT + (size_t)4 * element);
    const uint32_t roc = slc_load_u32(from + ROC_AT + (size_t)4 * element);
    const uint32_t place = slc_load_u32(from + PLACE_AT + (size_t)4 * element);
    const uint32_t own = element - 1, is_link = own % FED_CHIPS / SLC_CMS_LINK_ROCS + 1,
                   is_roc = own % SLC_CMS_LINK_ROCS + 1;
    const uint8_t bad = from[BAD_AT + element], skip = element < skips ? from[SKIP_AT + element] : 0;
    *cable = (slc_cms_cable){.module = SLC_CMS_NO_MODULE};
    if (id == 0 || id == NOT_CONNECTED) {
        return SLC_OK;
    }
    if (link != is_link || roc != is_roc) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte %zu: element %u is of link %u, chip %u, its place is that of link %u, chip %u", name,
            LINK_AT + (size_t)4 * element, element, link, roc, is_link, is_roc);
    }
    if (module >= SLC_CMS_MODULES_PHASE1 || place >= SLC_CMS_ROCS || bad > 1 || skip > 1) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte %zu: element %u: module %u, chip %u of it, marks %u and %u of bad chips cannot be",
            name, MODULE_AT + (size_t)4 * element, element, module, place, bad, skip);
    }
    *cable = (slc_cms_cable){
        .raw_id = id, .module = (uint16_t)module, .roc = (uint8_t)place, .bad = (uint8_t)(bad | skip)};
    found->connected++;
    found->bad += bad;
    found->skipped += skip;
    return SLC_OK;
}

slc_status slc_io_parse_cms_cabling_dump(const void *bytes, size_t size, const char *name,
                                         slc_cms_cabling *cabling, slc_io_cms_note *note, slc_error *error)
{
    const uint8_t *from = bytes;
    if (size < SKIP_AT || size - SKIP_AT != slc_load_u32(from + SKIPS_AT)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: %zu bytes are not those of a cabling dump, %d and %u",
                        name, size, SKIP_AT, size < SKIP_AT ? 0 : slc_load_u32(from + SKIPS_AT));
    }
    const uint32_t used = slc_load_u32(from + USED_AT), skips = slc_load_u32(from + SKIPS_AT);
    if (used == 0 || used > ELEMENTS) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: has %u elements, from 1 to %d are possible",
                        name, USED_AT, used, ELEMENTS);
    }
    seen found = {0};
    for (uint32_t i = 0; i < SLC_CMS_CABLES; i++) {
        cabling->cable[i] = (slc_cms_cable){.module = SLC_CMS_NO_MODULE};
    }
    for (uint32_t element = 1; element <= used && element < ELEMENTS; element++) {
        const slc_status status = take_chip(from, skips, element, name, &cabling->cable[element - 1], &found,
                                            error);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (found.connected == 0) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: no chip is connected", name, ID_AT);
    }
    slc_error reason = {0};
    const slc_status status = slc_cms_cabling_check(cabling, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: a dump of CMS's cabling map: %.300s", name, reason.text);
    }
    (void)snprintf(
        note->text, sizeof note->text,
        "a dump of CMS's cabling map, without a checksum: %u chips are connected, %u bad, %u not to be "
        "unpacked; ids 0 and 9999 are taken for no chip",
        found.connected, found.bad, found.skipped);
    return SLC_OK;
}

/* ---- gains ------------------------------------------------------------------------------------- */

enum {
    RANGES_AT = 8,
    RANGE = 12,
    RANGES = 2000,
    SCALES_AT = 24008, /* least and most pedestal, gain; steps of both */
    ROWS_AT = 24032,
    DEAD_AT = 24040,
    NOISY_AT = 24044,
    BYTES_AT = 24048,
    PAIRS_AT = 24052,
    PAIR = 2,
    BLOCK_ROWS = SLC_CMS_ROWS / SLC_CMS_GAIN_BLOCKS,
    MODULE_PAIRS = SLC_CMS_GAINS * PAIR
};

bool slc_io_is_cms_gains_dump(const void *bytes, size_t size)
{
    return size >= PAIRS_AT && size - PAIRS_AT == slc_load_u32((const uint8_t *)bytes + BYTES_AT);
}

static slc_status check_gains(const uint8_t *from, size_t size, const char *name, slc_error *error)
{
    if (size < PAIRS_AT || size - PAIRS_AT != slc_load_u32(from + BYTES_AT)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: %zu bytes are not those of a dump of gains, %d and %u",
                        name, size, PAIRS_AT, size < PAIRS_AT ? 0 : slc_load_u32(from + BYTES_AT));
    }
    for (size_t i = 0; i < 6; i++) {
        if (!isfinite(slc_load_f32(from + SCALES_AT + 4 * i))) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: byte %d: a limit or step of gains or pedestals is no number", name,
                            (int)(SCALES_AT + 4 * i));
        }
    }
    for (size_t i = 0; i < 2; i++) { /* of pedestals, of gains */
        const double least = (double)slc_load_f32(from + SCALES_AT + 8 * i);
        const double most = (double)slc_load_f32(from + SCALES_AT + 8 * i + 4);
        const double step = (double)slc_load_f32(from + SCALES_AT + 16 + 4 * i);
        if (most <= least || step <= 0) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %d: %s from %g to %g in steps of %g cannot be",
                            name, (int)(SCALES_AT + 8 * i), i == 0 ? "pedestals" : "gains", least, most,
                            step);
        }
    }
    const uint32_t dead = slc_load_u32(from + DEAD_AT), noisy = slc_load_u32(from + NOISY_AT);
    if (slc_load_u32(from + ROWS_AT) != BLOCK_ROWS || dead > 255 || noisy > 255 || dead == noisy) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte %d: averages over %u rows, marks of dead and noisy columns %u and %u; %d rows and "
            "two different bytes are wanted",
            name, ROWS_AT, slc_load_u32(from + ROWS_AT), dead, noisy, BLOCK_ROWS);
    }
    return SLC_OK;
}

/* The pairs of a module, column by column. */
static slc_status take_gains(const uint8_t *from, uint32_t module, const char *name, slc_cms_gain *to,
                             slc_error *error)
{
    const uint8_t *range = from + RANGES_AT + (size_t)RANGE * module;
    const uint32_t first = slc_load_u32(range), last = slc_load_u32(range + 4),
                   columns = slc_load_u32(range + 8), bytes = slc_load_u32(from + BYTES_AT);
    if (columns != SLC_CMS_COLUMNS || first > bytes || last > bytes || last < first ||
        last - first != MODULE_PAIRS) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte %zu: module %u has bytes %u to %u of %u for %u columns; %d bytes for %d are wanted",
            name, RANGES_AT + (size_t)RANGE * module, module, first, last, bytes, columns, MODULE_PAIRS,
            SLC_CMS_COLUMNS);
    }
    for (size_t i = 0; i < SLC_CMS_GAINS; i++) {
        const uint8_t *pair = from + PAIRS_AT + first + PAIR * i;
        to[i] = (slc_cms_gain){.gain = pair[0], .pedestal = pair[1]};
    }
    return SLC_OK;
}

slc_status slc_io_parse_cms_gains_dump(const void *bytes, size_t size, const char *name, slc_cms_gains *gains,
                                       slc_io_cms_note *note, slc_error *error)
{
    const uint8_t *from = bytes;
    slc_status status = check_gains(from, size, name, error);
    if (status != SLC_OK) {
        return status;
    }
    if (slc_cms_gains_reserve(gains, SLC_CMS_MODULES_PHASE1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %d modules", name, SLC_CMS_MODULES_PHASE1);
    }
    gains->pedestal_low = slc_load_f32(from + SCALES_AT);
    gains->gain_low = slc_load_f32(from + SCALES_AT + 8);
    gains->pedestal_step = slc_load_f32(from + SCALES_AT + 16);
    gains->gain_step = slc_load_f32(from + SCALES_AT + 20);
    gains->dead = (uint8_t)slc_load_u32(from + DEAD_AT);
    gains->noisy = (uint8_t)slc_load_u32(from + NOISY_AT);
    for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1 && status == SLC_OK; m++) {
        status = take_gains(from, m, name, gains->gain + (size_t)m * SLC_CMS_GAINS, error);
    }
    if (status != SLC_OK) {
        slc_cms_gains_clear(gains);
        return status;
    }
    (void)snprintf(
        note->text, sizeof note->text,
        "a dump of CMS's gains, without a checksum: %d modules; gains from %g by %g, pedestals from %g by "
        "%g, %u marks dead columns, %u noisy ones",
        SLC_CMS_MODULES_PHASE1, (double)gains->gain_low, (double)gains->gain_step,
        (double)gains->pedestal_low, (double)gains->pedestal_step, gains->dead, gains->noisy);
    return SLC_OK;
}
