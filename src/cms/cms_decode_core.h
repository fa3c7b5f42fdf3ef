/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what one data word is, as formulas that C and CUDA share. The fields and error codes
 * are those of CMS's phase-1 pixel read-out, as its unpacker has them (EventFilter/SiPixelRawToDigi); the
 * conversion from a chip to its module is that of its SiPixelRawToClusterGPUKernel.
 *
 * Order (fault SLC_FAULT_CMS_ORDER, CMS's 38) is defined here: a digi's word is out of order where the data
 * word directly before it in its fragment is a data word (not 0, chip 1 … 8) of the same link with a higher
 * chip number. So two neighbouring words decide, on every device.
 */
#ifndef SLUICE_CMS_DECODE_CORE_H
#define SLUICE_CMS_DECODE_CORE_H

#include "cms/cms_core.h"
#include <sluice/cms_chain.h>

enum {
    SLC_CMS_ROC_ROWS = 80,
    SLC_CMS_ROC_COLUMNS = 52,
    SLC_CMS_ROC_HALF = 8,          /* chips 0 … 7 of a module are one row of chips, 8 … 15 the other */
    SLC_CMS_ERROR_FIRST = 25,      /* chip numbers from here on are error words */
    SLC_CMS_WORD_PLACE_SHIFT = 21, /* link and chip stand above */
    SLC_CMS_FED_CABLES = SLC_CMS_LINKS * SLC_CMS_LINK_ROCS
};

/* ---- fields of a data word -------------------------------------------------------------------- */

SLC_CMS_CORE uint32_t slc_cms_word_link(uint32_t word)
{
    return word >> 26;
}

SLC_CMS_CORE uint32_t slc_cms_word_roc(uint32_t word)
{
    return word >> SLC_CMS_WORD_PLACE_SHIFT & 31U;
}

SLC_CMS_CORE uint32_t slc_cms_word_adc(uint32_t word)
{
    return word & 255U;
}

/* Pixel of a chip: of layer 1 row and column stand in the word; elsewhere double column and pixel, which goes
 * up one column and down the other. Row and column wrap around where the pixel cannot be. */
SLC_CMS_CORE uint32_t slc_cms_word_row(uint32_t word, bool layer1)
{
    return layer1 ? word >> 8 & 127U : (uint32_t)SLC_CMS_ROC_ROWS - (word >> 9 & 127U);
}

SLC_CMS_CORE uint32_t slc_cms_word_column(uint32_t word, bool layer1)
{
    return layer1 ? word >> 15 & 63U : 2 * (word >> 16 & 31U) + (word >> 8 & 1U);
}

/* Whether the chip has such a pixel. In both layouts that is the same question on row and column: pixel 2 …
 * 161 is row 79 … 0, and double column 0 … 25 is column 0 … 51. */
SLC_CMS_CORE bool slc_cms_word_pixel_ok(uint32_t word, bool layer1)
{
    return slc_cms_word_row(word, layer1) < SLC_CMS_ROC_ROWS &&
           slc_cms_word_column(word, layer1) < SLC_CMS_ROC_COLUMNS;
}

/* ---- detector ids and frames ------------------------------------------------------------------ */

SLC_CMS_CORE bool slc_cms_id_barrel(uint32_t raw_id)
{
    return (raw_id >> 25 & 7U) == 1;
}

SLC_CMS_CORE bool slc_cms_id_layer1(uint32_t raw_id)
{
    return slc_cms_id_barrel(raw_id) && (raw_id >> 20 & 15U) == 1;
}

/* Module row x = x0 ± row, module column y = y0 ± column: either both rise, or ... exactly one does. */
typedef struct slc_cms_frame {
    uint32_t x0, y0;
    bool x_rises; /* x = x0 + row and y = y0 - column; else x = x0 - row and y = y0 + column */
} slc_cms_frame;

/* Chips are mounted in two ways: on the barrel's far side but for layer 1, and in all of the forward part,
 * chips 0 … 7 have their rows along the module's; elsewhere chips 8 … 15 do. */
SLC_CMS_CORE slc_cms_frame slc_cms_frame_of(uint32_t raw_id, uint32_t roc)
{
    const bool minus = (raw_id >> 2 & 0x3ffU) < 5;
    const bool far_side = !slc_cms_id_barrel(raw_id) || (minus && !slc_cms_id_layer1(raw_id));
    const bool first_half = roc < SLC_CMS_ROC_HALF;
    const uint32_t along = roc % SLC_CMS_ROC_HALF;
    slc_cms_frame frame;
    frame.x_rises = far_side == first_half;
    frame.x0 = frame.x_rises ? 0U : (uint32_t)SLC_CMS_ROWS - 1;
    frame.y0 = frame.x_rises ? (SLC_CMS_ROC_HALF - along) * SLC_CMS_ROC_COLUMNS - 1
                             : along * SLC_CMS_ROC_COLUMNS;
    return frame;
}

SLC_CMS_CORE uint32_t slc_cms_frame_x(slc_cms_frame frame, uint32_t row)
{
    return frame.x_rises ? frame.x0 + row : frame.x0 - row;
}

SLC_CMS_CORE uint32_t slc_cms_frame_y(slc_cms_frame frame, uint32_t column)
{
    return frame.x_rises ? frame.y0 - column : frame.y0 + column;
}

SLC_CMS_CORE uint32_t slc_cms_pack(uint32_t x, uint32_t y, uint32_t adc)
{
    return x | y << 11 | adc << 22;
}

/* ---- judging a word --------------------------------------------------------------------------- */

typedef enum slc_cms_word_kind {
    SLC_CMS_WORD_DIGI = 0, /* its fault, if any, is SLC_FAULT_CMS_ORDER */
    SLC_CMS_WORD_EMPTY,    /* padding */
    SLC_CMS_WORD_ERROR,    /* an error word of the hardware; has a fault */
    SLC_CMS_WORD_INVALID,  /* link, chip or pixel that cannot be; has a fault */
    SLC_CMS_WORD_BAD       /* of a bad chip, or of a module that is not unpacked */
} slc_cms_word_kind;

/* The fault of an error word (chip number 25 … 31). */
SLC_CMS_CORE slc_fault_code slc_cms_error_fault(uint32_t word)
{
    switch (slc_cms_word_roc(word)) {
    case 25:
        return SLC_FAULT_CMS_ROC_INVALID;
    case 26:
        return SLC_FAULT_CMS_GAP;
    case 27:
        return SLC_FAULT_CMS_DUMMY;
    case 28:
        return SLC_FAULT_CMS_FIFO;
    case 29:
        return SLC_FAULT_CMS_TIMEOUT;
    case 30:
        return (word >> 8 & 15U) == 1 ? SLC_FAULT_CMS_PKAM : SLC_FAULT_CMS_TBM_TRAILER;
    default:
        return SLC_FAULT_CMS_EVENT_NUMBER;
    }
}

/* The fault of a word whose link and chip have no cable: the link is none or has no chip at all
 * (SLC_FAULT_CMS_CHANNEL), or it has others (SLC_FAULT_CMS_ROC_ID). `fed_cables`: the 384 of the FED. */
SLC_CMS_CORE slc_fault_code slc_cms_cable_fault(uint32_t word, const slc_cms_cable *fed_cables)
{
    const uint32_t link = slc_cms_word_link(word);
    if (link - 1 < SLC_CMS_LINKS) {
        for (uint32_t roc = 0; roc < SLC_CMS_LINK_ROCS; roc++) {
            if (fed_cables[(link - 1) * SLC_CMS_LINK_ROCS + roc].raw_id != 0) {
                return SLC_FAULT_CMS_ROC_ID;
            }
        }
    }
    return SLC_FAULT_CMS_CHANNEL;
}

/* Whether a cable's module is wanted. `unpack` (of each module; NULL: all) as in the configuration. */
SLC_CMS_CORE bool slc_cms_cable_wanted(slc_cms_cable cable, uint32_t modules, const uint8_t *unpack)
{
    return cable.bad == 0 && cable.module < modules && (unpack == NULL || unpack[cable.module] != 0);
}

/* Out of order, as defined above. `before`: the data word directly before; 0 for the first of a fragment. */
SLC_CMS_CORE bool slc_cms_word_out_of_order(uint32_t word, uint32_t before)
{
    const uint32_t roc = slc_cms_word_roc(before);
    return before != 0 && slc_cms_word_link(before) == slc_cms_word_link(word) &&
           roc - 1 < SLC_CMS_LINK_ROCS && roc > slc_cms_word_roc(word);
}

/* Everything about one word. x, y, adc, packed, raw_id and module are set for digis alone. */
typedef struct slc_cms_word {
    slc_cms_word_kind kind;
    slc_fault_code fault; /* SLC_FAULT_NONE: none */
    uint32_t x, y, adc, packed, raw_id, module;
} slc_cms_word;

/* `fed_cables`: the 384 cables of the word's FED; modules and unpack as in slc_cms_decode_config. The checks
 * and their order define the decoder: a word has the first fault that applies. */
SLC_CMS_CORE slc_cms_word slc_cms_judge_word(uint32_t word, uint32_t before, const slc_cms_cable *fed_cables,
                                             uint32_t modules, const uint8_t *unpack)
{
    slc_cms_word judged = {SLC_CMS_WORD_EMPTY, SLC_FAULT_NONE, 0, 0, 0, 0, 0, 0};
    if (word == 0) {
        return judged;
    }
    const uint32_t link = slc_cms_word_link(word), roc = slc_cms_word_roc(word);
    if (roc >= SLC_CMS_ERROR_FIRST) {
        judged.kind = SLC_CMS_WORD_ERROR;
        judged.fault = slc_cms_error_fault(word);
        return judged;
    }
    judged.kind = SLC_CMS_WORD_INVALID;
    slc_cms_cable cable = {0, 0, 0, 0};
    if (link - 1 < SLC_CMS_LINKS && roc - 1 < SLC_CMS_LINK_ROCS) {
        cable = fed_cables[(link - 1) * SLC_CMS_LINK_ROCS + roc - 1];
    }
    if (cable.raw_id == 0) {
        judged.fault = slc_cms_cable_fault(word, fed_cables);
        return judged;
    }
    if (!slc_cms_cable_wanted(cable, modules, unpack)) {
        judged.kind = SLC_CMS_WORD_BAD;
        return judged;
    }
    const bool layer1 = slc_cms_id_layer1(cable.raw_id);
    if (!slc_cms_word_pixel_ok(word, layer1)) {
        judged.fault = SLC_FAULT_CMS_PIXEL;
        return judged;
    }
    const slc_cms_frame frame = slc_cms_frame_of(cable.raw_id, cable.roc);
    judged.kind = SLC_CMS_WORD_DIGI;
    if (slc_cms_word_out_of_order(word, before)) {
        judged.fault = SLC_FAULT_CMS_ORDER;
    }
    judged.x = slc_cms_frame_x(frame, slc_cms_word_row(word, layer1));
    judged.y = slc_cms_frame_y(frame, slc_cms_word_column(word, layer1));
    judged.adc = slc_cms_word_adc(word);
    judged.packed = slc_cms_pack(judged.x, judged.y, judged.adc);
    judged.raw_id = cable.raw_id;
    judged.module = cable.module;
    return judged;
}

#endif
