/* SPDX-License-Identifier: Apache-2.0
 *
 * Fragments of CMS's pixels made word by word, and a cabling for them in which every case of the decoder
 * occurs: layer 1, both sides of the barrel, forward; links without a chip, and links that have four.
 */
#ifndef TESTS_SUPPORT_CMS_RAW_H
#define TESTS_SUPPORT_CMS_RAW_H

#include "base/bytes.h"
#include <sluice/cms_types.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct cms_raw {
    uint8_t *at;
    size_t size, capacity;
    size_t event;    /* where the event at hand begins */
    size_t fragment; /* where the fragment at hand begins */
} cms_raw;

static inline void cms_raw_u32(cms_raw *raw, uint32_t value)
{
    if (raw->size + 4 > raw->capacity) {
        raw->capacity = 2 * raw->capacity + 4096;
        raw->at = realloc(raw->at, raw->capacity);
        assert(raw->at != NULL);
    }
    slc_store_u32(raw->at + raw->size, value);
    raw->size += 4;
}

/* An event without fragments. */
static inline void cms_raw_event(cms_raw *raw)
{
    raw->event = raw->size;
    cms_raw_u32(raw, 0);
}

static inline void cms_raw_header(cms_raw *raw, uint32_t fed, bool more)
{
    cms_raw_u32(raw, 77U << 20 | fed << 8 | (more ? 8U : 0U));
    cms_raw_u32(raw, 5U << 28 | 1234U);
}

/* Begins a fragment of the event: id, size, header. */
static inline void cms_raw_begin(cms_raw *raw, uint32_t fed)
{
    slc_store_u32(raw->at + raw->event, slc_load_u32(raw->at + raw->event) + 1);
    raw->fragment = raw->size;
    cms_raw_u32(raw, fed);
    cms_raw_u32(raw, 0);
    cms_raw_header(raw, fed, false);
}

/* Ends it: padding, and a trailer with these bits in its low word. */
static inline void cms_raw_end(cms_raw *raw, uint32_t bits)
{
    if ((raw->size - raw->fragment) % 8 != 0) {
        cms_raw_u32(raw, 0);
    }
    const uint32_t size = (uint32_t)(raw->size - raw->fragment);
    cms_raw_u32(raw, bits);
    cms_raw_u32(raw, 10U << 28 | size / 8);
    slc_store_u32(raw->at + raw->fragment + 4, size);
}

static inline void cms_raw_clear(cms_raw *raw)
{
    free(raw->at);
    *raw = (cms_raw){0};
}

static inline uint32_t cms_raw_word(uint32_t link, uint32_t roc, uint32_t rest)
{
    return link << 26 | roc << 21 | rest;
}

/* A pixel of a chip, everywhere but in layer 1, and there. */
static inline uint32_t cms_raw_pixel(uint32_t link, uint32_t roc, uint32_t row, uint32_t column, uint32_t adc)
{
    return cms_raw_word(link, roc, column / 2 << 16 | (2 * (80 - row) + column % 2) << 8 | adc);
}

static inline uint32_t cms_raw_pixel1(uint32_t link, uint32_t roc, uint32_t row, uint32_t column,
                                      uint32_t adc)
{
    return cms_raw_word(link, roc, column << 15 | row << 8 | adc);
}

/* Twelve modules a FED, four links a module, four chips a link; links 45 … 48 of FED 1201 have none. Modules
 * 0 … 95 are layer 1, up to 1183 the other layers, then forward. */
static inline uint32_t cms_raw_id(uint32_t module)
{
    const uint32_t layer = module < 96 ? 1 : module < 320 ? 2 : module < 672 ? 3 : 4;
    return module < SLC_CMS_BARREL_END
               ? 1U << 28 | 1U << 25 | layer << 20 | module / 8 << 12 | (1 + module % 8) << 2
               : 1U << 28 | 2U << 25 | module / 4 << 12 | (1 + module % 2) << 10 | module / 2 % 2 << 2;
}

static inline slc_cms_cabling *cms_raw_cabling(void)
{
    slc_cms_cabling *cabling = calloc(1, sizeof *cabling);
    assert(cabling != NULL);
    for (uint32_t entry = 0; entry < SLC_CMS_CABLES; entry++) {
        const uint32_t fed = entry / 384, link = entry % 384 / 8, roc = entry % 8;
        if (roc < 4 && !(fed == 1 && link >= 44)) {
            const uint32_t module = 12 * fed + link / 4;
            cabling->cable[entry] = (slc_cms_cable){cms_raw_id(module), (uint16_t)module,
                                                    (uint8_t)(4 * (link % 4) + roc), 0};
        }
    }
    return cabling;
}

#endif
