/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain on a GPU: what it holds on the device and how that is laid out. Files: cms_chain_cuda.c
 * opens, makes room and records the graphs; cms_chain_cuda_run.c moves batches through them;
 * cms_chain_cuda_time.c takes the time of parts.
 */
#ifndef SLUICE_CMS_CHAIN_CUDA_JOB_H
#define SLUICE_CMS_CHAIN_CUDA_JOB_H

#include "cms/cuda/cms_chain_cuda.h"
#include "cms/cuda/cms_cluster_cuda.h"
#include "cms/cuda/cms_decode_cuda.h"
#include "cuda/cuda_checksum.h"
#include "cuda/cuda_rows.h"

enum { SLC_CMS_CUDA_FAULTS = 1 << 14 }; /* of the clustering, that are told one by one */

/* Begins the block that comes back from every run; behind it what each of `events` events adds to the
 * checksum, and the event offsets of digis, modules and clusters, `events` + 1 each. */
typedef struct slc_cms_cuda_head {
    slc_cms_cuda_totals totals;
    slc_cms_cuda_counts counts;
    uint64_t n_pixels; /* of all clusters */
} slc_cms_cuda_head;

/* How much there is room for. */
typedef struct slc_cms_cuda_room {
    uint32_t events, tiles;
    size_t words, digis, bytes; /* of a batch; bytes 0: no raw events */
} slc_cms_cuda_room;

struct slc_cms_cuda_chain {
    slc_cms_config config; /* unpack and planes: on the device */
    bool cabled, calibrates;
    bool locks_results;                     /* as long as the system does */
    bool makes_room;                        /* for them */
    uint64_t factors[SLC_CMS_CUDA_COLUMNS]; /* with config.checksum */
    uint32_t device, multiprocessors;
    slc_cuda_stream *stream;
    slc_cuda_rows *copies;
    slc_cuda_event *began, *ended;
    slc_cuda_memory cables, unpack, planes, gains; /* constant */
    slc_cuda_memory batch;                         /* the bytes */
    slc_cuda_memory tables, tables_host;           /* first tile of each event, and the tiles */
    slc_cuda_memory digis, modules;
    /* The decoder's between its kernels; then the clusters, and behind them the clustering's. */
    slc_cuda_memory work;
    slc_cuda_memory head, head_host;
    slc_cuda_memory faults, faults_host;
    slc_cms_cuda_room room;
    slc_cms_cuda_decode decode;
    slc_cms_cuda_cluster cluster;
    slc_cuda_checksum sum_raw, sum_digis; /* of all columns; of those of modules and clusters */
    slc_cuda_graph graph_raw, graph_digis;
    /* The last run, for measurements. */
    bool ran_raw, ran_digis;
    size_t last_bytes, last_tables;
    size_t last_digis, last_modules, last_clusters;
    slc_cuda_memory timed; /* page-locked copies */
    slc_cuda_graph graph_part[SLC_CMS_CUDA_PARTS];
};

/* Where the tiles begin in the tables, behind the first tile of each event; aligned for loads of a whole
 * tile. */
static inline size_t slc_cms_cuda_tiles_at(uint32_t events)
{
    return (((size_t)events + 1) * sizeof(uint32_t) + 15) / 16 * 16;
}

static inline uint64_t *slc_cms_cuda_sums_of(slc_cms_cuda_head *head)
{
    return (uint64_t *)(void *)(head + 1);
}

/* Of all three collections. */
static inline uint32_t *slc_cms_cuda_offsets_of(slc_cms_cuda_head *head, uint32_t events)
{
    return (uint32_t *)(void *)(slc_cms_cuda_sums_of(head) + events);
}

static inline size_t slc_cms_cuda_head_size(uint32_t events)
{
    return sizeof(slc_cms_cuda_head) + events * sizeof(uint64_t) +
           3 * ((size_t)events + 1) * sizeof(uint32_t);
}

/* The kernels of a run, from raw words or from digis, enqueued. */
slc_status slc_cms_cuda_enqueue(slc_cms_cuda_chain *chain, bool raw, slc_error *error);
/* Makes room for more, and records the graphs anew if that was needed. */
slc_status slc_cms_cuda_grow(slc_cms_cuda_chain *chain, const slc_cms_cuda_room *wanted, slc_error *error);

#endif
