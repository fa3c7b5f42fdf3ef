/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO's chain: what it holds. velo_chain.c has the stages in order, velo_chain_device.c those
 * that a GPU does.
 */
#ifndef SLUICE_VELO_CHAIN_PART_H
#define SLUICE_VELO_CHAIN_PART_H

#include "velo/cuda/velo_chain_cuda.h"
#include "velo/velo_cluster.h"
#include "velo/velo_gec.h"
#include "velo/velo_select_quantity.h"
#include "velo/velo_track.h"
#include "velo/velo_vertex.h"

/* Events of a batch, and the engine that they go through. */
typedef struct slc_velo_part {
    slc_velo_cuda *engine; /* NULL: none yet */
    slc_velo_cuda_in in;
    slc_velo_cuda_out out;
    uint32_t first, n;
    size_t room; /* for words, in `in` */
    bool begun;  /* they are on their way: `in` stays as it is */
} slc_velo_part;
enum { SLC_VELO_DEVICE_PARTS = 2 };

/* A GPU, and what the processor does for it. */
typedef struct slc_velo_device {
    const struct slc_velo_cuda_calls *calls;
    const slc_velo_geometry *geometry;
    uint32_t number;
    slc_velo_part part[SLC_VELO_DEVICE_PARTS];
    uint32_t n_parts;            /* of the batch at hand */
    uint32_t most_parts, fewest; /* parts of a batch where there is no other chain; events of a part */
    uint32_t few_events;         /* slc_velo_cuda_config.few_events */
    bool has_run;                /* what is in `out` is of the batch at hand */
    /* The batch whose words are on their way already, as it was when room was made for it; NULL: none. */
    const slc_batch *packed;
    slc_batch packed_as;
    uint32_t n_in_blocks; /* events whose words went over in the blocks of their packet */
    double seconds_packing;
    bool any_own; /* events of the processor's */
    /* Of each event: is it the processor's, and what its stages leave out. */
    uint8_t *own, *skip;
    uint32_t *superpixels; /* of the processor's events */
    uint32_t *n_hits;      /* of each event */
    uint32_t events;
    slc_velo_hits hits; /* of the processor's events, and what it finds in them */
    slc_velo_tracks tracks;
    slc_velo_track_hits track_hits;
    slc_velo_states beam, end;
    slc_velo_primaries primaries;
    slc_velo_decisions decisions;
} slc_velo_device;

struct slc_velo_chain {
    slc_velo_config config;
    slc_velo_geometry geometry;
    slc_velo_cluster_scratch cluster;
    slc_velo_track_scratch track;
    slc_velo_vertex_scratch vertex;
    slc_faults told; /* of the list of super-pixels: what clustering tells as well */
    slc_velo_gec_scratch gec;
    slc_velo_device *device;            /* NULL: all on this core */
    struct slc_velo_deciding *deciding; /* NULL: without a selection */
};

/* The stage behind the vertices, by the selection of the configuration (NULL: there is none):
 * velo_chain_decide.c. _beam follows the chain's beam line. _open may be followed by _close, whatever came of
 * it. */
slc_status slc_velo_decide_open(slc_velo_chain *chain, const slc_velo_selection *selection, slc_error *error);
void slc_velo_decide_close(slc_velo_chain *chain);
void slc_velo_decide_beam(slc_velo_chain *chain);
slc_status slc_velo_decide_reserve(slc_velo_chain *chain, size_t tracks_of_event, uint32_t events,
                                   slc_velo_result *result);
slc_status slc_velo_decide(slc_velo_chain *chain, slc_velo_result *result);
/* What a device decides by; NULL: nothing. */
const slc_velo_sorted_selection *slc_velo_decide_lines(const slc_velo_chain *chain);

/* Opens the device that the configuration names, if it names one; SLC_ERR_USAGE for settings that it does not
 * take. Afterwards chain->device is set. */
slc_status slc_velo_device_open(slc_velo_chain *chain, const char *word, slc_error *error);
void slc_velo_device_close(slc_velo_device *device); /* NULL is allowed */

static inline const slc_velo_part *slc_velo_part_of(const slc_velo_device *d, uint32_t event)
{
    const slc_velo_part *part = &d->part[d->n_parts - 1];
    while (event < part->first) {
        part--;
    }
    return part;
}

/* Opens an engine; _close closes all that are open, also after it has failed. */
slc_status slc_velo_parts_open(slc_velo_device *d, const slc_velo_geometry *geometry, uint32_t number,
                               slc_error *error);
void slc_velo_parts_close(slc_velo_device *d);
/* Room for what is known of each of so many events. */
slc_status slc_velo_device_events(slc_velo_device *d, uint32_t events, slc_error *error);
/* Room for the part's events with so many words, or (words: false) hits, and for as many words as in the
 * banks of its events. What of the part was on its way is waited for, and lost. */
slc_status slc_velo_part_reserve(slc_velo_device *d, slc_velo_part *part, size_t rows, bool words,
                                 slc_error *error);
slc_status slc_velo_part_grow(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                              slc_velo_part *part, slc_error *error);
/* Sends the part on its way; waits for what comes back, if it was sent. */
slc_status slc_velo_part_begin(slc_velo_chain *chain, slc_velo_part *part, bool words, slc_error *error);
slc_status slc_velo_part_end(const slc_velo_device *d, slc_velo_part *part, slc_error *error);

/* What packing has come to. */
typedef struct slc_velo_packed {
    size_t words, largest; /* those of the processor's events too; of the largest event */
} slc_velo_packed;
/* Packs the words of the parts of a batch, and sends each on its way; own[] tells whose events are. */
slc_status slc_velo_pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                         slc_velo_packed *sum, slc_error *error);
/* Events with much work first, so that none is alone at the end: by rows, roughly. */
void slc_velo_order_events(uint32_t n, const uint32_t *offset, size_t step, uint32_t *order);

/* Packs the words of a batch for the device, which begins to work on them; that tells how many there are,
 * those of the processor's events too, and how many in the largest event: an event is gone through once. */
slc_status slc_velo_device_pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                                size_t *words, size_t *largest, slc_error *error);
/* Is it the batch that was packed last, and has not been run? */
bool slc_velo_device_is_packed(const slc_velo_device *device, const slc_batch *batch);
/* Room for a batch of so many events and rows: words, which have been packed, or (words: false) hits. */
slc_status slc_velo_device_reserve(slc_velo_chain *chain, uint32_t events, size_t rows, bool words,
                                   slc_error *error);
/* Seconds that packing took since this was asked; 0 without a device. */
double slc_velo_device_packing(slc_velo_device *device);
/* slc_velo_cluster_run_chosen: all by the device, clusters of the others by the processor. */
slc_status slc_velo_device_cluster(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                                   slc_velo_result *result, slc_velo_cluster_counts *counts,
                                   slc_error *error);
/* slc_velo_track_run: the tracks that were found with the clusters, or those of events that came as hits, and
 * the processor's. Counts its events: result->n_left_events. */
slc_status slc_velo_device_search(slc_velo_chain *chain, slc_velo_result *result, slc_error *error);
/* slc_velo_fit_run, slc_velo_vertex_run: what came with the tracks, and the processor's. */
slc_status slc_velo_device_fit(slc_velo_chain *chain, slc_velo_result *result);
slc_status slc_velo_device_vertices(slc_velo_chain *chain, slc_velo_result *result);

#endif
