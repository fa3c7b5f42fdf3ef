/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: where the super-pixel words of an event's sensors are. The decoder and the fused stage
 * (velo_cluster_banks.c) share this, so that both choose the same banks and record the same faults.
 */
#ifndef SLUICE_VELO_DECODE_EVENT_H
#define SLUICE_VELO_DECODE_EVENT_H

#include <sluice/velo_decode.h>

/* Where the words of one sensor are. Two sensors share a bank in version 4. */
typedef struct slc_velo_sensor_words {
    const uint8_t *words;
    uint32_t n;
    uint32_t select_mask, select; /* a word belongs to the sensor where (word & mask) == select */
    uint32_t version;             /* of the bank */
    size_t offset;                /* of the words inside the event */
} slc_velo_sensor_words;

/* Where the wanted banks of an event are, as far as all banks are sound. Places in the batch's bytes. */
enum { SLC_VELO_WALKS = 5, SLC_VELO_PLACES = 256 };
typedef struct slc_velo_walk {
    size_t begin, at, end;         /* of the event, and how far the walk came */
    size_t n;                      /* wanted banks, also those for which there is no room */
    size_t place[SLC_VELO_PLACES]; /* of their headers */
} slc_velo_walk;

/* Serves one batch: banks are found for a few events at once. */
typedef struct slc_velo_event {
    uint64_t event;
    slc_faults *faults;
    bool retina; /* banks of clusters, which LHCb's FPGAs have found, are wanted, and not those of
                    super-pixels */
    slc_velo_sensor_words sensors[SLC_VELO_SENSORS];
    uint32_t walked_from, walked_to; /* events whose banks stand in `walks` */
    slc_velo_walk walks[SLC_VELO_WALKS];
} slc_velo_event;

/* Finds the banks of an event of the batch that are wanted; those that are damaged become faults and no
 * words. `faults` and `retina` must be set. */
void slc_velo_event_collect(slc_velo_event *context, const slc_batch *batch, uint32_t event);

/* How many words of its bank belong to the sensor. */
size_t slc_velo_event_count(const slc_velo_sensor_words *source);

/* How many words the wanted banks of a batch have; *largest (may be NULL) gets those of the largest event. */
size_t slc_velo_event_bound(const slc_batch *batch, bool retina, size_t *largest);

/* Copies the sensor's sound words to `out` and sorts them; returns how many are left. The others, and
 * addresses that occur twice, become faults. */
size_t slc_velo_event_decode(slc_velo_event *context, uint32_t sensor, uint32_t *out);

#endif
