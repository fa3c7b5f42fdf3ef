/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters by the sizes of banks. Where a bank begins stands in the one before it, so that an event is a
 * chain of loads that wait for each other: a few events are walked over side by side. Damage is for a walk
 * of its own. The formats: docs/formats/lhcb-raw-banks.md.
 */
#include "lhcb/lhcb_clusters.h"

#include "base/bytes.h"
#include "lhcb/lhcb_walk.h"

enum { TOGETHER = 5, UT_LANES = 8, UT_LEAST = 24, UT_BAD_LANE = 255 };

/* Words after a count (versions 2 and 3), or without one. Other versions are told when they are decoded. */
static uint32_t velo_words(uint8_t version, uint32_t size, bool counted)
{
    return version == 4                                             ? size / 4
           : counted && (version == 2 || version == 3) && size >= 4 ? size / 4 - 1
                                                                    : 0;
}

/* Version 3 has the number in front, version 4 those of six lanes in its first eight bytes. */
static slc_fault_code count_ut(const slc_lhcb_bank *bank, uint32_t *count)
{
    if (bank->version == 3) {
        const uint32_t n = bank->size >= 4 ? slc_load_u16(bank->payload) : 0;
        if (bank->size < 4 || n > (bank->size - 4) / 2) {
            return SLC_FAULT_BANK_LENGTH;
        }
        *count += n;
        return SLC_FAULT_NONE;
    }
    if (bank->version != 4) {
        return SLC_FAULT_BANK_VERSION;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < UT_LANES && bank->size >= UT_LEAST; i++) {
        const uint32_t of_lane = i == 2 || i == 3 ? 0 : bank->payload[i];
        if (of_lane == UT_BAD_LANE) {
            return SLC_FAULT_NONE; /* the detector says itself that the bank is none */
        }
        n += of_lane;
    }
    *count += n;
    return SLC_FAULT_NONE;
}

/* Two bytes a cluster after a head of four. */
static slc_fault_code count_scifi(const slc_lhcb_bank *bank, uint32_t *count)
{
    if (bank->version < 4 || bank->version > 8) {
        return SLC_FAULT_BANK_VERSION;
    }
    if (bank->size < 4) {
        return SLC_FAULT_BANK_LENGTH;
    }
    *count += (bank->size - 4) / 2;
    return SLC_FAULT_NONE;
}

static slc_fault_code count_bank(const slc_lhcb_bank *bank, slc_lhcb_clusters *to)
{
    switch (bank->type) {
    case SLC_LHCB_BANK_VP:
    case SLC_LHCB_BANK_VELO:
        to->superpixels += velo_words(bank->version, bank->size, bank->type == SLC_LHCB_BANK_VP);
        return SLC_FAULT_NONE;
    case SLC_LHCB_BANK_VP_RETINA:
        to->retina += velo_words(bank->version, bank->size, true);
        return SLC_FAULT_NONE;
    case SLC_LHCB_BANK_UT:
        return count_ut(bank, &to->ut);
    case SLC_LHCB_BANK_SCIFI:
        return count_scifi(bank, &to->scifi);
    default:
        return SLC_FAULT_NONE;
    }
}

/* ---- side by side ------------------------------------------------------------------------------ */

static const bool counts_types[256] = {
    [SLC_LHCB_BANK_VP] = true, [SLC_LHCB_BANK_VELO] = true,  [SLC_LHCB_BANK_VP_RETINA] = true,
    [SLC_LHCB_BANK_UT] = true, [SLC_LHCB_BANK_SCIFI] = true, [SLC_LHCB_BANK_TAE] = true};

typedef struct walk {
    size_t at, end; /* in the batch's bytes */
    slc_lhcb_clusters *to;
} walk;

/* Goes over one bank. False at the event's end, and where the rest is for the slow walk. */
static inline bool step(walk *w, const uint8_t *bytes)
{
    if (w->at + SLC_LHCB_BANK_HEADER > w->end) {
        return false;
    }
    const uint64_t fields = slc_load_u64(bytes + w->at);
    const size_t length = fields >> 16 & 0xffff;
    if ((fields & 0xffff) != SLC_LHCB_BANK_MAGIC || length < SLC_LHCB_BANK_HEADER ||
        length > w->end - w->at) {
        return false;
    }
    const slc_lhcb_bank bank = {.payload = bytes + w->at + SLC_LHCB_BANK_HEADER,
                                .size = (uint32_t)length - SLC_LHCB_BANK_HEADER,
                                .type = (uint8_t)(fields >> 32),
                                .version = (uint8_t)(fields >> 40)};
    if (counts_types[bank.type] &&
        (bank.type == SLC_LHCB_BANK_TAE || count_bank(&bank, w->to) != SLC_FAULT_NONE)) {
        return false;
    }
    w->at += (length + 3) & ~(size_t)3;
    return true;
}

static void walk_together(walk *walks, uint32_t n, const uint8_t *bytes)
{
    for (bool all = n > 0; all;) {
        for (uint32_t k = 0; k < n; k++) {
            all = step(&walks[k], bytes) && all;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        while (step(&walks[k], bytes)) {
        }
    }
}

/* ---- damage ------------------------------------------------------------------------------------ */

static void walk_slowly(const slc_batch *batch, uint32_t e, unsigned tell, slc_lhcb_clusters *to,
                        slc_faults *faults)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
    slc_lhcb_bank bank;
    *to = (slc_lhcb_clusters){.ut = 0};
    while (slc_lhcb_bank_next_readable(&cursor, &bank)) {
        if (bank.type == SLC_LHCB_BANK_TAE) {
            *to = (slc_lhcb_clusters){.ut = 0};
            return;
        }
        const slc_fault_code code = count_bank(&bank, to);
        const unsigned of = bank.type == SLC_LHCB_BANK_UT ? SLC_LHCB_TELL_UT : SLC_LHCB_TELL_SCIFI;
        if (code != SLC_FAULT_NONE && (tell & of) != 0) {
            slc_faults_add(faults, code, batch->first_event + e, bank.source, bank.offset);
        }
    }
}

void slc_lhcb_clusters_count(const slc_batch *batch, unsigned tell, slc_lhcb_clusters *counts,
                             slc_faults *faults)
{
    for (uint32_t e = 0; e < batch->n_events && batch->scattered; e++) { /* nothing waits there */
        walk_slowly(batch, e, tell, &counts[e], faults);
    }
    for (uint32_t from = 0; from < batch->n_events && !batch->scattered; from += TOGETHER) {
        walk walks[TOGETHER];
        const uint32_t left = batch->n_events - from, n = left < TOGETHER ? left : TOGETHER;
        for (uint32_t k = 0; k < n; k++) {
            const size_t begin = batch->offset[from + k];
            counts[from + k] = (slc_lhcb_clusters){.ut = 0};
            walks[k] = (walk){begin, begin + batch->length[from + k], &counts[from + k]};
        }
        walk_together(walks, n, batch->bytes);
        for (uint32_t k = 0; k < n; k++) {
            if (walks[k].at < walks[k].end) {
                walk_slowly(batch, from + k, tell, &counts[from + k], faults);
            }
        }
    }
}
