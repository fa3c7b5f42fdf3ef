/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision about an event as a raw bank of our own, so that it travels with the event. It is short and of
 * a fixed size: names of lines are not in it but their hash, by which whoever has the selection knows that
 * the bits are its lines. docs/formats/decision-bank.md.
 */
#include "velo/velo_decision.h"

#include "base/bytes.h"
#include "velo/velo_checksum.h"

#include <assert.h>

/* Where each number stands in the payload. */
enum {
    AT_MAGIC = 0,
    AT_N_LINES = 4,
    AT_NAMES = 8,
    AT_LINES = 16,
    AT_LIMITED = 24,
    AT_CHECKSUM = 32,
    AT_HITS = 40,
    AT_TRACKS = 44,
    AT_PRIMARIES = 48
};

/* FNV-1a of 64 bits over the names in their order, each with the zero byte that ends it. */
static uint64_t hash_names(const char *name, size_t stride, uint32_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t k = 0; k < n; k++, name += stride) {
        size_t i = 0;
        do {
            hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
        } while (name[i++] != '\0');
    }
    return hash;
}

static uint32_t rows_of(const slc_columns *head, uint32_t event)
{
    return head->event_offset[event + 1] - head->event_offset[event];
}

void slc_velo_decision_make(const char *names, size_t stride, uint32_t n_lines,
                            const slc_velo_decisions *decisions, const slc_velo_result *result,
                            uint32_t event, slc_velo_decision *decision)
{
    assert(event < decisions->head.n_events && event < result->hits.head.n_events);
    *decision = (slc_velo_decision){.version = SLC_VELO_DECISION_VERSION,
                                    .n_lines = n_lines,
                                    .names = hash_names(names, stride, n_lines),
                                    .lines = decisions->lines[event],
                                    .limited = decisions->limited[event],
                                    .checksum = slc_velo_event_checksum(result, event),
                                    .hits = rows_of(&result->hits.head, event),
                                    .tracks = rows_of(&result->tracks.head, event),
                                    .primaries = rows_of(&result->primaries.head, event)};
}

void slc_velo_decision_of(const slc_velo_selection *selection, const slc_velo_decisions *decisions,
                          const slc_velo_result *result, uint32_t event, slc_velo_decision *decision)
{
    slc_velo_decision_make(selection->lines[0].name, sizeof selection->lines[0], selection->n_lines,
                           decisions, result, event, decision);
}

void slc_velo_decision_write(const slc_velo_decision *decision, uint8_t out[SLC_VELO_DECISION_BANK])
{
    uint8_t payload[SLC_VELO_DECISION_PAYLOAD];
    slc_store_u32(payload + AT_MAGIC, SLC_VELO_DECISION_MAGIC);
    slc_store_u32(payload + AT_N_LINES, decision->n_lines);
    slc_store_u64(payload + AT_NAMES, decision->names);
    slc_store_u64(payload + AT_LINES, decision->lines);
    slc_store_u64(payload + AT_LIMITED, decision->limited);
    slc_store_u64(payload + AT_CHECKSUM, decision->checksum);
    slc_store_u32(payload + AT_HITS, decision->hits);
    slc_store_u32(payload + AT_TRACKS, decision->tracks);
    slc_store_u32(payload + AT_PRIMARIES, decision->primaries);
    const size_t n = slc_lhcb_bank_write(out, SLC_VELO_DECISION_BANK, SLC_LHCB_BANK_SLUICE, decision->version,
                                         decision->source, payload, sizeof payload);
    assert(n == SLC_VELO_DECISION_BANK);
    (void)n;
}

slc_status slc_velo_decision_read(const slc_lhcb_bank *bank, slc_velo_decision *decision)
{
    const uint8_t *payload = bank->payload;
    if (bank->type != SLC_LHCB_BANK_SLUICE || bank->size < 4 ||
        slc_load_u32(payload + AT_MAGIC) != SLC_VELO_DECISION_MAGIC) {
        return SLC_END;
    }
    if (bank->version != SLC_VELO_DECISION_VERSION) {
        return SLC_ERR_UNSUPPORTED;
    }
    if (bank->size != SLC_VELO_DECISION_PAYLOAD) {
        return SLC_ERR_FORMAT;
    }
    const slc_velo_decision read = {.version = bank->version,
                                    .source = bank->source,
                                    .n_lines = slc_load_u32(payload + AT_N_LINES),
                                    .names = slc_load_u64(payload + AT_NAMES),
                                    .lines = slc_load_u64(payload + AT_LINES),
                                    .limited = slc_load_u64(payload + AT_LIMITED),
                                    .checksum = slc_load_u64(payload + AT_CHECKSUM),
                                    .hits = slc_load_u32(payload + AT_HITS),
                                    .tracks = slc_load_u32(payload + AT_TRACKS),
                                    .primaries = slc_load_u32(payload + AT_PRIMARIES)};
    const uint64_t beyond = read.n_lines < SLC_VELO_MAX_LINES ? ~UINT64_C(0) << read.n_lines : 0;
    if (read.n_lines == 0 || read.n_lines > SLC_VELO_MAX_LINES ||
        ((read.lines | read.limited) & beyond) != 0 || (read.lines & read.limited) != 0) {
        return SLC_ERR_FORMAT;
    }
    *decision = read;
    return SLC_OK;
}
