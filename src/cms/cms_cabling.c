/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts in the bits of a detector id, and whether a cabling is possible: what would otherwise be found out by
 * digis in wrong places.
 */
#include "cms/cms_decode_core.h"
#include "cms/cms_stages.h"

bool slc_cms_is_barrel(uint32_t raw_id)
{
    return slc_cms_id_barrel(raw_id);
}

uint32_t slc_cms_layer(uint32_t raw_id)
{
    return raw_id >> 20 & 15U;
}

void slc_cms_to_module(uint32_t raw_id, uint32_t roc, uint32_t row, uint32_t column, uint32_t *x, uint32_t *y)
{
    const slc_cms_frame frame = slc_cms_frame_of(raw_id, roc);
    *x = slc_cms_frame_x(frame, row);
    *y = slc_cms_frame_y(frame, column);
}

/* "entry 385 (FED 1201, link 1, chip 2): reason". */
static slc_status refuse(slc_error *error, uint32_t entry, const char *reason, uint32_t value)
{
    return slc_fail(error, SLC_ERR_FORMAT, "entry %u (FED %u, link %u, chip %u): %s %u", entry,
                    SLC_CMS_FED_FIRST + entry / SLC_CMS_FED_CABLES,
                    entry % SLC_CMS_FED_CABLES / SLC_CMS_LINK_ROCS + 1, entry % SLC_CMS_LINK_ROCS + 1, reason,
                    value);
}

/* By itself. */
static slc_status check_entry(const slc_cms_cable *cable, uint32_t entry, slc_error *error)
{
    const uint32_t detector = cable->raw_id >> 25 & 7U;
    if (detector != 1 && detector != 2) {
        return refuse(error, entry,
                      "the detector id is neither of the barrel nor of the forward pixels:", cable->raw_id);
    }
    if (detector == 1 && (slc_cms_layer(cable->raw_id) < 1 || slc_cms_layer(cable->raw_id) > 4)) {
        return refuse(error, entry, "the barrel has layers 1 … 4, not", slc_cms_layer(cable->raw_id));
    }
    if (cable->roc >= SLC_CMS_ROCS) {
        return refuse(error, entry, "a module has chips 0 … 15, not", cable->roc);
    }
    if (cable->bad > 1) {
        return refuse(error, entry, "the mark of a bad chip is 0 or 1, not", cable->bad);
    }
    if (cable->module >= SLC_CMS_MODULES_PHASE2 && cable->module != SLC_CMS_NO_MODULE) {
        return refuse(error, entry, "no detector has module", cable->module);
    }
    return SLC_OK;
}

slc_status slc_cms_cabling_check(const slc_cms_cabling *cabling, slc_error *error)
{
    /* Of each module: its id, and its chips that were seen. */
    uint32_t id[SLC_CMS_MODULES_PHASE2] = {0};
    uint16_t seen[SLC_CMS_MODULES_PHASE2] = {0};
    for (uint32_t entry = 0; entry < SLC_CMS_CABLES; entry++) {
        const slc_cms_cable *cable = &cabling->cable[entry];
        if (cable->raw_id == 0) {
            continue;
        }
        const slc_status status = check_entry(cable, entry, error);
        if (status != SLC_OK) {
            return status;
        }
        if (cable->module == SLC_CMS_NO_MODULE) {
            continue;
        }
        const uint32_t module = cable->module;
        if (id[module] != 0 && id[module] != cable->raw_id) {
            return refuse(error, entry, "another entry has another detector id for module", module);
        }
        if (((uint32_t)seen[module] >> cable->roc & 1U) != 0) {
            return refuse(error, entry, "another entry has the same chip of module", module);
        }
        id[module] = cable->raw_id;
        seen[module] = (uint16_t)(seen[module] | 1U << cable->roc);
    }
    return SLC_OK;
}
