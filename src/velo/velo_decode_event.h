/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: where the words of an event's sensors are. The decoders and the fused stage
 * (velo_cluster_banks.c) share this, so that both choose the same banks and record the same faults.
 */
#ifndef SLUICE_VELO_DECODE_EVENT_H
#define SLUICE_VELO_DECODE_EVENT_H

#include "lhcb/lhcb_places.h"
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_mask.h"

/* Where the words of one sensor are. Two sensors share a bank in version 4. */
typedef struct slc_velo_sensor_words {
    const uint8_t *words;
    uint32_t n;
    uint32_t select_mask, select; /* a word belongs to the sensor where (word & mask) == select */
    uint32_t version;             /* of the bank */
    size_t offset;                /* of the words inside the event */
} slc_velo_sensor_words;

/* Where the wanted banks of an event are, as far as all banks are sound. Places in the batch's bytes. */
enum { SLC_VELO_WALKS = 4, SLC_VELO_PLACES = 256 };
typedef struct slc_velo_walk {
    size_t begin, at, end;         /* of the event, and how far the walk came */
    size_t n;                      /* wanted banks, also those for which there is no room */
    size_t place[SLC_VELO_PLACES]; /* of their headers */
    size_t n_noted;                /* as `n`, of banks that are noted for others */
    uint32_t *noted;               /* in the event */
} slc_velo_walk;

typedef struct slc_velo_walks {
    uint32_t n;
    uint32_t event[SLC_VELO_WALKS]; /* whose banks stand in `walk` */
    slc_velo_walk walk[SLC_VELO_WALKS];
} slc_velo_walks;

/* Serves one batch: banks are found for a few events at once. */
typedef struct slc_velo_event {
    uint64_t event;
    slc_faults *faults;
    slc_velo_banks banks;      /* which are wanted */
    const uint8_t *cut;        /* events that are left out, of which nobody asks; NULL: none */
    slc_velo_masking *masking; /* NULL: no pixel is left out */
    slc_lhcb_places *places;   /* where to note other detectors' banks; NULL: nowhere */
    bool retina;               /* the words of this event are clusters that LHCb's FPGAs have found */
    size_t n_words;            /* of this event, with those of both sensors where they share a bank */
    slc_velo_sensor_words sensors[SLC_VELO_SENSORS];
    slc_velo_walks walks[2]; /* to super-pixels, and to clusters */
    uint8_t kind_of[2][256]; /* what to do with a bank, by its type, on each of these walks */
    bool has_kinds;
} slc_velo_event;

/* Finds the banks of an event of the batch that are wanted; those that are damaged become faults and no
 * words. `faults` and `banks` must be set. */
void slc_velo_event_collect(slc_velo_event *context, const slc_batch *batch, uint32_t event);

/* How many words of its bank belong to the sensor. */
size_t slc_velo_event_count(const slc_velo_sensor_words *source);

/* How many words the wanted banks of a batch have; *largest (may be NULL) gets those of the largest event,
 * and `places` (may be NULL) where banks of its types are. Here and below `cut` (may be NULL) has a byte for
 * each event: one that is not 0 is left out, as if the event had no banks, which is no fault then. */
size_t slc_velo_event_bound(const slc_batch *batch, slc_velo_banks banks, const uint8_t *cut,
                            slc_lhcb_places *places, size_t *largest);

/* Sorts words by the bits of `mask`, in place. */
void slc_velo_event_sort(uint32_t *words, size_t n, uint32_t mask);

/* Copies the sensor's sound words to `out` and sorts them; returns how many are left. The others, and
 * addresses that occur twice, become faults. */
size_t slc_velo_event_decode(slc_velo_event *context, uint32_t sensor, uint32_t *out);

/* Bits of the fractions in the words of a sensor, if these are clusters. */
static inline unsigned slc_velo_event_fraction(const slc_velo_sensor_words *source)
{
    return source->version == 2 ? 3 : 2;
}

/* Appends the hits of a sensor whose words are clusters, one by one; there is room for them. */
void slc_velo_event_retina(const slc_velo_geometry *geometry, slc_velo_event *context, uint32_t sensor,
                           slc_velo_hits *hits);

/* slc_velo_cluster_run_banks of the banks that are chosen. Hits need room for
 * slc_velo_cluster_bound(slc_velo_event_bound()) rows. */
slc_status slc_velo_cluster_run_chosen(const slc_velo_geometry *geometry, const slc_batch *batch,
                                       slc_velo_banks banks, const uint8_t *cut,
                                       slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                       slc_velo_cluster_counts *counts, slc_faults *faults);

/* slc_velo_decode_run of the events and pixels that are left; `masking` may be NULL. */
slc_status slc_velo_decode_uncut(const slc_batch *batch, const uint8_t *cut, slc_velo_masking *masking,
                                 slc_velo_superpixels *superpixels, slc_faults *faults);

#endif
