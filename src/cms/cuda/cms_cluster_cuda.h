/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the clustering of cms_stages.h on a GPU, bit for bit what slc_cms_cluster_run gives.
 * All events of a batch in a fixed, small number of launches; nothing is waited for and nothing allocated, so
 * that the launches can be captured into a graph. What depends on the data (digis, modules, clusters) stays
 * on the device. Present in builds with CUDA alone.
 */
#include "cms/cms_stages.h"
#ifndef SLUICE_CMS_CLUSTER_CUDA_H
#define SLUICE_CMS_CLUSTER_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t points to one */

/* WARP is this library's: a warp for each module. SEED is the structure of CMS's findClus, kept as the
 * baseline `findclus-seed`: a block for each module, a histogram by column, nearest neighbours in nn[16][10],
 * and a loop of propagating minima. What it cannot hold (more than 4096 places in a module's stretch, more
 * than ten neighbours of a digi) goes to the path for large modules, so that its results are the same. */
typedef enum slc_cms_cuda_algorithm { SLC_CMS_CUDA_WARP = 0, SLC_CMS_CUDA_SEED } slc_cms_cuda_algorithm;

/* A fault as the GPU records it, in no order. */
typedef struct slc_cms_cuda_fault {
    uint32_t event; /* of the batch */
    uint32_t digi;  /* in its event */
    uint16_t module;
    uint16_t code; /* n of SLC_FAULT_OF_CMS(n) */
} slc_cms_cuda_fault;

/* Totals of a run, on the device. */
typedef struct slc_cms_cuda_counts {
    uint32_t n_modules, n_clusters; /* rows needed; more than fit: the rows beyond were not written */
    uint32_t n_faults;              /* recorded or not: only those that fit into the list are there */
    uint32_t n_pixel, n_crowded;    /* faults by their code: SLC_FAULT_CMS_PIXEL, _MODULE_CROWDED */
    uint32_t n_large;               /* modules that took the path for large ones */
    uint32_t reserved[2];
} slc_cms_cuda_counts;

/* All pointers but `config` are to device memory. In the collections head.capacity is how many rows fit,
 * head.event_offset n_events + 1 entries on the device, and head.n_events the events; other members of the
 * heads are not used. */
typedef struct slc_cms_cuda_cluster {
    const slc_cms_cluster_config *config;
    slc_cms_cuda_algorithm algorithm;
    /* Columns x, y, adc and module are read (adc in electrons), cluster is written for every digi. The
     * number of digis is event_offset[n_events], at most head.capacity. Columns begin on 16 bytes, and are
     * read up to the next multiple of 8 rows, as the store of cms_types.h allows. Events at the end may be
     * empty, so that one graph serves smaller batches. */
    slc_cms_digis digis;
    slc_cms_modules modules;   /* filled, with event_offset */
    slc_cms_clusters clusters; /* filled, with event_offset, but for positions and their errors */
    bool labels_only;          /* no row of clusters is written, only event_offset */
    slc_cms_cuda_counts *counts;
    slc_cms_cuda_fault *faults; /* may be NULL with 0 */
    uint32_t fault_capacity;
    void *work; /* slc_cms_cuda_cluster_bound bytes, aligned to 256 */
    size_t work_bytes;
} slc_cms_cuda_cluster;

/* Bytes of working memory for so many events and digis in them all, on the current device. SLC_ERR_USAGE for
 * a configuration out of range. */
slc_status slc_cms_cuda_cluster_bound(const slc_cms_cluster_config *config, uint32_t events, size_t digis,
                                      size_t *bytes, slc_error *error);

/* Enqueues the clustering. The first call on a device must not be inside of a capture, as the runtime then
 * loads the kernels. SLC_ERR_USAGE for a configuration out of range, or one that findclus-seed does not have,
 * SLC_ERR_CAPACITY for too little working memory; what CUDA refuses as slc_cuda_check tells it. */
slc_status slc_cms_cuda_cluster_run(const slc_cms_cuda_cluster *job, struct CUstream_st *stream,
                                    slc_error *error);

/* Only the first steps, for measurements: finding the modules. */
slc_status slc_cms_cuda_count_modules(const slc_cms_cuda_cluster *job, struct CUstream_st *stream,
                                      slc_error *error);

/* On the host: sorts the first min(counts->n_faults, capacity) faults, which have been copied from the
 * device, into the CPU's order (by event: pixels by digi, then crowded modules by module) and adds all to
 * `into`. */
void slc_cms_cuda_cluster_faults(slc_cms_cuda_fault *faults, uint32_t capacity,
                                 const slc_cms_cuda_counts *counts, uint64_t first_event, slc_faults *into);

#ifdef __cplusplus
}
#endif
#endif
