/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 3: digis to clusters: 8-connected pixels of a module. What CMS's countModules and findClus do
 * (RecoLocalTracker/SiPixelClusterizer, "gpuClustering.h"), with a defined order and no limits.
 */
#ifndef SLUICE_CMS_CLUSTER_H
#define SLUICE_CMS_CLUSTER_H

#include <sluice/cms_types.h>
#include <sluice/pixel_cluster.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_cms_cluster_config {
    uint32_t modules;       /* digis of other indices are none; default SLC_CMS_MODULES_PHASE1, up to 4096 */
    uint32_t rows, columns; /* of a module, at most 2048 each; default 160, 416 */
    /* A cluster is kept where its charge is at least (or, with `above`, more than) this; layer 1: modules
     * below 96 when phase 1. Defaults 2000 and 4000 electrons, "at least"; 4000 for both in phase 2. */
    uint32_t min_charge_layer1_e, min_charge_e;
    bool above;
    /* Digis with the same coordinates in a module. All are in the cluster. KEEP (default) counts every one as
     * a pixel with its charge; SUM counts one pixel with the sum; FIRST and LARGEST one pixel with the charge
     * of the first, or the largest (of equals the first). */
    slc_pixel_duplicates duplicates;
    /* A module with more valid digis is processed whole, by a slower path on a GPU; or, with `truncate`, its
     * first max_module_digis alone are, the others are in no cluster, and SLC_FAULT_CMS_MODULE_CROWDED tells
     * (offset: the first digi left out). Default 6000, whole. */
    uint32_t max_module_digis;
    bool truncate;
    slc_simd_target target;
} slc_cms_cluster_config;
SLC_API void slc_cms_cluster_config_default(slc_cms_cluster_config *config);

/* Working memory; zero-initialise. */
typedef struct slc_cms_cluster_scratch {
    void *work;
} slc_cms_cluster_scratch;
/* For events of up to so many digis. SLC_ERR_USAGE for a configuration out of range, named in *error. */
SLC_API slc_status slc_cms_cluster_reserve(const slc_cms_cluster_config *config, size_t digis_of_event,
                                           slc_cms_cluster_scratch *scratch, slc_error *error);
SLC_API void slc_cms_cluster_clear(slc_cms_cluster_scratch *scratch);

/* Clusters all events. Digis may come in any order; modules may come in any order and repeatedly, with digis
 * that are none in between. Writes the column `cluster` of every digi, and fills `modules` and `clusters`
 * (all columns but the positions, which are 0). A cluster's number in its module counts the clusters that
 * pass the cut, in the order of their first digi, from 0; digis of those that do not pass, and digis that are
 * none, get SLC_CMS_NO_CLUSTER. A digi outside of rows and columns is none, with the fault
 * SLC_FAULT_CMS_PIXEL. Needs room for a module and a cluster for each digi at most (SLC_ERR_CAPACITY). Never
 * allocates. */
SLC_API slc_status slc_cms_cluster_run(const slc_cms_cluster_config *config, uint64_t first_event,
                                       slc_cms_cluster_scratch *scratch, slc_cms_digis *digis,
                                       slc_cms_modules *modules, slc_cms_clusters *clusters,
                                       slc_faults *faults);

/* The arrays of CMS's SiPixelClustersCUDA for one event: module_start[0] is the number of modules with digis,
 * module_start[1 …] their first digis; module_id[k] their indices; clus_in_module[m] and clus_module_start[m]
 * (0 … n_modules, the last entry is the total) by module index. Entries: n_modules + 1, n_modules, n_modules,
 * n_modules + 1. */
SLC_API void slc_cms_cluster_arrays(const slc_cms_modules *modules, uint32_t event, uint32_t n_modules,
                                    uint32_t *module_start, uint32_t *module_id, uint32_t *clus_in_module,
                                    uint32_t *clus_module_start);

#ifdef __cplusplus
}
#endif
#endif
