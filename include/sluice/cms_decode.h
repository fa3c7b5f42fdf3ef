/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 1: the fragments of the front-end drivers (FED) to digis. An event of a batch is a 32-bit number of
 * fragments, and for each its FED id and its size in bytes (32 bits each) before its bytes: one or more
 * 64-bit headers, 32-bit data words, one or more 64-bit trailers (docs/formats/cms-raw.md). All
 * little-endian.
 */
#ifndef SLUICE_CMS_DECODE_H
#define SLUICE_CMS_DECODE_H

#include <sluice/cms_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where each read-out chip is: entry (fed - 1200) · 384 + (link - 1) · 8 + roc - 1, with link 1 … 48 and roc
 * 1 … 8 as the words have them. */
enum { SLC_CMS_CABLES = SLC_CMS_FEDS * SLC_CMS_LINKS * SLC_CMS_LINK_ROCS };
typedef struct slc_cms_cable {
    uint32_t raw_id; /* detector id of the module; 0: nothing is connected */
    uint16_t module; /* index; SLC_CMS_NO_MODULE: not used */
    uint8_t roc;     /* in the module, 0 … 15 */
    uint8_t bad;     /* 1: its digis are dropped */
} slc_cms_cable;
typedef struct slc_cms_cabling {
    slc_cms_cable cable[SLC_CMS_CABLES];
} slc_cms_cabling;
/* Is every entry possible? SLC_ERR_FORMAT names the first that is not. */
SLC_API slc_status slc_cms_cabling_check(const slc_cms_cabling *cabling, slc_error *error);

/* Facts in the bits of a detector id. */
SLC_API bool slc_cms_is_barrel(uint32_t raw_id);
SLC_API uint32_t slc_cms_layer(uint32_t raw_id); /* barrel: 1 … 4 */
/* From a pixel of a chip (row below 80, column below 52) to the module's. Chips are mounted in two ways. */
SLC_API void slc_cms_to_module(uint32_t raw_id, uint32_t roc, uint32_t row, uint32_t column, uint32_t *x,
                               uint32_t *y);

/* The fragments of a batch, and where their data words are. Rows by event, in the order of the input. */
typedef struct slc_cms_fragments {
    slc_columns head;
    uint32_t *fed;     /* id */
    uint32_t *begin;   /* of its data words: byte of the event, a multiple of 4 */
    uint32_t *n_words; /* 32-bit data words */
} slc_cms_fragments;
SLC_API extern const slc_schema slc_cms_fragments_schema;

typedef struct slc_cms_decode_config {
    uint32_t modules;       /* indices below are unpacked; default SLC_CMS_MODULES_PHASE1 */
    const uint8_t *unpack;  /* of each module: 0 leaves it out; NULL (default): all. The caller's. */
    slc_simd_target target; /* default SLC_SIMD_AUTO */
} slc_cms_decode_config;
SLC_API void slc_cms_decode_config_default(slc_cms_decode_config *config);

/* What the words were. */
typedef struct slc_cms_word_counts {
    uint64_t words;   /* data words, all below included */
    uint64_t empty;   /* 0: padding */
    uint64_t errors;  /* error words of the hardware (roc 25 … 31) */
    uint64_t invalid; /* link, chip or pixel that cannot be */
    uint64_t bad_roc; /* of chips marked bad, or modules that are not unpacked */
    uint64_t digis;
} slc_cms_word_counts;

/* Upper bounds for a batch: fragments, and digis (its data words). */
SLC_API void slc_cms_decode_bound(const slc_batch *batch, size_t *fragments, size_t *digis);

/* Walks over the fragments of a batch and checks their headers and trailers, by the rules of
 * docs/formats/cms-raw.md: faults SLC_FAULT_CMS_EVENT (the event's own structure: a wrong size costs the
 * fragment at most, as the next one is looked for; at the end of an event that is cut the rest is dropped),
 * _CRC (the bit in the trailer; the fragment is kept), _HEADER (also a source outside 1200 … 1349; the
 * fragment is dropped), _TRAILER (dropped), _LENGTH (kept). `offset` is the byte in the event: of the
 * fragment (its id) for _EVENT, of its first 64 bits for _HEADER, of its last 64 bits for the others;
 * `module` is the FED id, -1 for _EVENT. `fragments` is reset first. SLC_ERR_CAPACITY where there is no room.
 */
SLC_API slc_status slc_cms_index_run(const slc_batch *batch, slc_cms_fragments *fragments,
                                     slc_faults *faults);

/* Working memory; zero-initialise. */
typedef struct slc_cms_decode_scratch {
    void *block;
    size_t digis; /* of one event */
} slc_cms_decode_scratch;
SLC_API slc_status slc_cms_decode_reserve(slc_cms_decode_scratch *scratch, size_t digis_of_event);
SLC_API void slc_cms_decode_clear(slc_cms_decode_scratch *scratch);

/* The data words to digis, sorted by module, those of a module in the order of the words, whatever links they
 * came by. Only valid digis come out; adc is in counts, cluster is SLC_CMS_NO_CLUSTER. Every word that is no
 * digi and no padding is a fault with its code (base.h, SLC_FAULT_CMS_…), its byte in the event, and its FED
 * as module; a chip marked bad or a module left out is counted, and is no fault. A word costs itself and
 * nothing else. A digi is also a fault (SLC_FAULT_CMS_ORDER) where the data word directly before it in the
 * fragment is of the same link and of a higher chip (at most 8). `digis` is reset first; `counts` is set.
 * SLC_ERR_CAPACITY where the words of the batch are more than fit into `digis`, or those of an event more
 * than reserved; SLC_ERR_USAGE for a target that cannot run. Never allocates. */
SLC_API slc_status slc_cms_decode_run(const slc_cms_decode_config *config, const slc_cms_cabling *cabling,
                                      const slc_batch *batch, const slc_cms_fragments *fragments,
                                      slc_cms_decode_scratch *scratch, slc_cms_digis *digis,
                                      slc_cms_word_counts *counts, slc_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
