/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the data words of a batch to digis on a GPU, with the calibration
 * in the same pass; the calibration alone, for events that come as digis; positions. All are enqueued and
 * nothing is waited for, so that they can be recorded into a graph: what depends on the data (tiles, digis,
 * runs) is read from the device's memory, and only capacities are arguments.
 */
#include "cms/cms_stages.h"
#ifndef SLUICE_CMS_DECODE_CUDA_H
#define SLUICE_CMS_DECODE_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_CMS_CUDA_TILE = 256, SLC_CMS_CUDA_DECODE_MODULES = 4096 };

/* Data words of one fragment, at most SLC_CMS_CUDA_TILE, for one warp. Tiles of an event are one behind the
 * other, in the order of the words. */
typedef struct slc_cms_cuda_tile {
    uint32_t word;  /* the first, in the batch's bytes as words of 32 bits */
    uint32_t event; /* of the batch */
    uint32_t byte;  /* of the first word, in its event */
    uint16_t n_words;
    uint8_t fed;   /* - 1200 */
    uint8_t first; /* 1: no data word stands before it in its fragment */
} slc_cms_cuda_tile;

/* Room for counts by the last byte of a fault's code. */
enum { SLC_CMS_FAULTS = 32 };

/* A fault of a word; `code` is the last byte of its code. */
typedef struct slc_cms_cuda_place {
    uint32_t event, byte;
    uint16_t fed, code;
} slc_cms_cuda_place;

/* What words were, and what calibration found. Of the faults, the first are kept in the order of the words.
 */
typedef struct slc_cms_cuda_totals {
    uint64_t empty, errors, invalid, bad;
    uint64_t dead, noisy, outside, beyond;
    uint64_t faults[SLC_CMS_FAULTS]; /* by the last byte of their code */
    slc_cms_cuda_place kept[SLC_FAULTS_KEPT];
} slc_cms_cuda_totals;

/* How to calibrate; gains.gain is the device's memory. */
typedef struct slc_cms_cuda_calibration {
    bool wanted;
    slc_cms_calibrate_config config;
    slc_cms_gains gains;
} slc_cms_cuda_calibration;

/* All pointers are to the device's memory. */
typedef struct slc_cms_cuda_decode {
    uint32_t modules;            /* as in slc_cms_decode_config */
    const uint8_t *unpack;       /* `modules` entries, or NULL */
    const slc_cms_cable *cables; /* SLC_CMS_CABLES */
    slc_cms_cuda_calibration calibration;
    uint32_t events;               /* capacity; those at the end may be empty */
    uint32_t tiles;                /* capacity */
    size_t words;                  /* capacity: words of all tiles */
    const uint32_t *batch;         /* bytes of the batch */
    const uint32_t *tile_begin;    /* of each event, events + 1 */
    const slc_cms_cuda_tile *tile; /* tile_begin[events] of them */
    slc_cms_digis digis;           /* all columns but cluster are filled, and head.event_offset */
    slc_cms_cuda_totals *totals;   /* added to */
    void *work;                    /* slc_cms_cuda_decode_bound bytes, aligned to 256 */
} slc_cms_cuda_decode;

struct CUstream_st; /* cudaStream_t points to one */

size_t slc_cms_cuda_decode_bound(uint32_t events, uint32_t tiles, size_t words);
slc_status slc_cms_cuda_decode_run(const slc_cms_cuda_decode *job, uint32_t multiprocessors,
                                   struct CUstream_st *stream, slc_error *error);

/* Calibrates digis in place, head.event_offset[head.n_events] of them, as slc_cms_calibrate_run does; faults
 * are only counted (totals->outside). */
slc_status slc_cms_cuda_calibrate_run(const slc_cms_cuda_calibration *calibration, const slc_cms_digis *digis,
                                      slc_cms_cuda_totals *totals, uint32_t multiprocessors,
                                      struct CUstream_st *stream, slc_error *error);

/* slc_cms_position_run on clusters on the device, head.event_offset[head.n_events] of them; config->planes is
 * the device's memory. The sum of the clusters' n_pixels is added to *n_pixels. */
slc_status slc_cms_cuda_position_run(const slc_cms_position_config *config, const slc_cms_clusters *clusters,
                                     uint64_t *n_pixels, uint32_t multiprocessors, struct CUstream_st *stream,
                                     slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
