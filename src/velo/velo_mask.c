/* SPDX-License-Identifier: Apache-2.0
 * Words of an event without masked pixels. A sensor from which nothing goes keeps its words where they are.
 */
#include "velo/velo_mask.h"

#include "base/bytes.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_superpixel.h"

#include <assert.h>
#include <stdlib.h>

/* Kernels may read so many bytes beyond the words. */
enum { SPARE = 256 };

slc_status slc_velo_masking_reserve(slc_velo_masking *masking, size_t words)
{
    if (masking->mask == NULL || (masking->room != NULL && words <= masking->words)) {
        return SLC_OK;
    }
    free(masking->room);
    masking->room = calloc(words + SPARE / 4, 4);
    masking->words = masking->room != NULL ? words : 0;
    return masking->room != NULL ? SLC_OK : SLC_ERR_MEMORY;
}

void slc_velo_masking_clear(slc_velo_masking *masking)
{
    free(masking->room);
    *masking = (slc_velo_masking){.mask = masking->mask};
}

/* The word without what is masked; false if nothing is left of it. What is damaged stays, to be told. */
static bool mask_pixels(const uint8_t *keep, uint32_t *word, uint64_t *n)
{
    const uint32_t pattern = *word & SLC_SUPERPIXEL_PATTERN;
    if (slc_superpixel_column(*word) >= SLC_VELO_SUPERPIXEL_COLUMNS || pattern == 0) {
        return true;
    }
    const uint32_t gone = pattern & ~(uint32_t)keep[slc_superpixel_address(*word)];
    *n += (uint64_t)__builtin_popcount(gone);
    *word &= ~gone;
    return gone != pattern;
}

/* The same of a cluster, by the pixel of its centroid. */
static bool mask_cluster(const uint8_t *keep, uint32_t word, uint32_t version, uint64_t *n)
{
    const uint32_t bits = version == 2 ? 3 : 2;
    const uint32_t row = word >> bits & 0xffU, column = word >> (2 * bits + 8) & 0x3ffU;
    if (column >= SLC_VELO_COLUMNS || slc_velo_mask_keeps(keep, column, row)) {
        return true;
    }
    ++*n;
    return false;
}

/* Copies the sensor's words that are left to `to`; returns how many. */
static size_t mask_sensor(const slc_velo_event *context, const slc_velo_sensor_words *source,
                          const uint8_t *keep, uint8_t *to, uint64_t *gone)
{
    size_t n = 0;
    for (uint32_t i = 0; i < source->n; i++) {
        uint32_t word = slc_load_u32(source->words + 4 * (size_t)i);
        if ((word & source->select_mask) != source->select) {
            continue;
        }
        if (context->retina ? mask_cluster(keep, word, source->version, gone)
                            : mask_pixels(keep, &word, gone)) {
            slc_store_u32(to + 4 * n++, word);
        }
    }
    return n;
}

void slc_velo_event_mask(slc_velo_event *context)
{
    slc_velo_masking *masking = context->masking;
    size_t used = 0;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        slc_velo_sensor_words *source = &context->sensors[s];
        if (masking->mask->masked[s] == 0 || source->n == 0) {
            continue;
        }
        assert(used + slc_velo_event_count(source) <= masking->words);
        uint64_t gone = 0;
        const size_t n = mask_sensor(context, source, masking->mask->keep[s], masking->room + 4 * used,
                                     &gone);
        if (gone > 0) {
            source->words = masking->room + 4 * used;
            source->n = (uint32_t)n;
            used += n;
            masking->n += gone;
        }
    }
}
