/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the stages that cms_chain.h runs in order, each with its working memory, for the chain
 * and its tests. `_bound` and `_reserve` make room, `_run` never allocates.
 */
#ifndef SLUICE_CMS_STAGES_H
#define SLUICE_CMS_STAGES_H

#include <sluice/cms_chain.h>

/* ---- the store of digis ------------------------------------------------------------------------ */

/* The seven columns in one store, as in CMS's SiPixelDigisCUDASOAView: column k begins slot(k) · rounded
 * 16-bit words into the store, where rounded is the number of digis rounded up to a multiple of 64 (128
 * bytes) and the slots are cluster 0, packed 2, raw_id 4, adc 6, x 7, y 8, module 9. So every column begins
 * on 128 bytes, a transaction of the GPU. It is the layout of digis on a GPU and of the copies to and from
 * it. */
size_t slc_cms_store_rounded(size_t digis);
/* Bytes of a store: 10 · 2 · rounded. */
size_t slc_cms_store_bound(size_t digis);
/* Points the columns into `store`, which may be device memory, and is aligned to 128 bytes. head.block stays
 * NULL: the store is the caller's, and slc_columns_reserve must not be used. */
void slc_cms_store_view(void *store, size_t digis, slc_cms_digis *view);

/* ---- 1: fragments to digis --------------------------------------------------------------------- */

/* Is every entry possible? SLC_ERR_FORMAT names the first that is not. */
slc_status slc_cms_cabling_check(const slc_cms_cabling *cabling, slc_error *error);

/* Facts in the bits of a detector id. */
bool slc_cms_is_barrel(uint32_t raw_id);
uint32_t slc_cms_layer(uint32_t raw_id); /* barrel: 1 … 4 */
/* From a pixel of a chip (row below 80, column below 52) to the module's. Chips are mounted in two ways. */
void slc_cms_to_module(uint32_t raw_id, uint32_t roc, uint32_t row, uint32_t column, uint32_t *x,
                       uint32_t *y);

/* The fragments of a batch, and where their data words are. Rows by event, in the order of the input. */
typedef struct slc_cms_fragments {
    slc_columns head;
    uint32_t *fed;     /* id */
    uint32_t *begin;   /* of its data words: byte of the event, a multiple of 4 */
    uint32_t *n_words; /* 32-bit data words */
} slc_cms_fragments;
extern const slc_schema slc_cms_fragments_schema;

void slc_cms_decode_config_default(slc_cms_decode_config *config);

/* Upper bounds for a batch: fragments, and digis (its data words). */
void slc_cms_decode_bound(const slc_batch *batch, size_t *fragments, size_t *digis);

/* Walks over the fragments of a batch and checks their headers and trailers, by the rules of
 * docs/formats/cms-raw.md: faults SLC_FAULT_CMS_EVENT (the event's own structure: a wrong size costs the
 * fragment at most, as the next one is looked for; at the end of an event that is cut the rest is dropped),
 * _CRC (the bit in the trailer; the fragment is kept), _HEADER (also a source outside 1200 … 1349; the
 * fragment is dropped), _TRAILER (dropped), _LENGTH (kept). `offset` is the byte in the event: of the
 * fragment (its id) for _EVENT, of its first 64 bits for _HEADER, of its last 64 bits for the others;
 * `module` is the FED id, -1 for _EVENT. `fragments` is reset first. SLC_ERR_CAPACITY where there is no room.
 */
slc_status slc_cms_index_run(const slc_batch *batch, slc_cms_fragments *fragments, slc_faults *faults);

/* Working memory; zero-initialise. */
typedef struct slc_cms_decode_scratch {
    void *block;
    size_t digis; /* of one event */
} slc_cms_decode_scratch;
slc_status slc_cms_decode_reserve(slc_cms_decode_scratch *scratch, size_t digis_of_event);
void slc_cms_decode_clear(slc_cms_decode_scratch *scratch);

/* The data words to digis, sorted by module, those of a module in the order of the words, whatever links they
 * came by. Only valid digis come out; adc is in counts, cluster is SLC_CMS_NO_CLUSTER. Every word that is no
 * digi and no padding is a fault with its code (base.h, SLC_FAULT_CMS_…), its byte in the event, and its FED
 * as module; a chip marked bad or a module left out is counted, and is no fault. A word costs itself and
 * nothing else. A digi is also a fault (SLC_FAULT_CMS_ORDER) where the data word directly before it in the
 * fragment is of the same link and of a higher chip (at most 8). `digis` is reset first; `counts` is set.
 * SLC_ERR_CAPACITY where the words of the batch are more than fit into `digis`, or those of an event more
 * than reserved; SLC_ERR_USAGE for a target that cannot run. Never allocates. */
slc_status slc_cms_decode_run(const slc_cms_decode_config *config, slc_simd_target target,
                              const slc_cms_cabling *cabling, const slc_batch *batch,
                              const slc_cms_fragments *fragments, slc_cms_decode_scratch *scratch,
                              slc_cms_digis *digis, slc_cms_word_counts *counts, slc_faults *faults);

/* ---- 2: ADC counts to electrons ---------------------------------------------------------------- */

void slc_cms_calibrate_config_default(slc_cms_calibrate_config *config, slc_cms_phase phase);

/* Replaces adc by electrons (saturating at 65535) in all digis. Digis of dead and noisy columns, and of
 * modules beyond the gains, get the module SLC_CMS_NO_MODULE and 0 electrons (they then stand between the
 * others). All arithmetic is in float, rounded after each operation, so that every target and the GPU give
 * the same bits. `gains` is not used in phase 2. Digis that are none already stay as they are. Coordinates
 * outside of a phase-1 module: as dead, and the fault SLC_FAULT_CMS_PIXEL (offset: the digi in its event). */
slc_status slc_cms_calibrate_run(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                                 uint64_t first_event, slc_cms_digis *digis, slc_cms_calibrate_counts *counts,
                                 slc_faults *faults);

/* ---- 3: digis to clusters ---------------------------------------------------------------------- */

void slc_cms_cluster_config_default(slc_cms_cluster_config *config);

/* Working memory; zero-initialise. */
typedef struct slc_cms_cluster_scratch {
    void *work;
} slc_cms_cluster_scratch;
/* For events of up to so many digis. SLC_ERR_USAGE for a configuration out of range, named in *error. */
slc_status slc_cms_cluster_reserve(const slc_cms_cluster_config *config, slc_simd_target target,
                                   size_t digis_of_event, slc_cms_cluster_scratch *scratch, slc_error *error);
void slc_cms_cluster_clear(slc_cms_cluster_scratch *scratch);

/* Clusters all events. Digis may come in any order; modules may come in any order and repeatedly, with digis
 * that are none in between. Writes the column `cluster` of every digi, and fills `modules` and `clusters`
 * (all columns but the positions, which are 0). A cluster's number in its module counts the clusters that
 * pass the cut, in the order of their first digi, from 0; digis of those that do not pass, and digis that are
 * none, get SLC_CMS_NO_CLUSTER. A digi outside of rows and columns is none, with the fault
 * SLC_FAULT_CMS_PIXEL. Needs room for a module and a cluster for each digi at most (SLC_ERR_CAPACITY). Never
 * allocates. */
slc_status slc_cms_cluster_run(const slc_cms_cluster_config *config, uint64_t first_event,
                               slc_cms_cluster_scratch *scratch, slc_cms_digis *digis,
                               slc_cms_modules *modules, slc_cms_clusters *clusters, slc_faults *faults);

/* The arrays of CMS's SiPixelClustersCUDA for one event: module_start[0] is the number of modules with digis,
 * module_start[1 …] their first digis; module_id[k] their indices; clus_in_module[m] and clus_module_start[m]
 * (0 … n_modules, the last entry is the total) by module index. Entries: n_modules + 1, n_modules, n_modules,
 * n_modules + 1. */
void slc_cms_cluster_arrays(const slc_cms_modules *modules, uint32_t event, uint32_t n_modules,
                            uint32_t *module_start, uint32_t *module_id, uint32_t *clus_in_module,
                            uint32_t *clus_module_start);

/* ---- 4: clusters to positions ------------------------------------------------------------------ */

void slc_cms_position_config_default(slc_cms_position_config *config);

/* Fills x_um, y_um and their errors. Arithmetic in float, rounded after each operation: the same bits on
 * every target and the GPU.
 *
 * With pixels that are longer at chip borders (rows 79 and 80, and first and last columns of chips have twice
 * the pitch): p' (row) = row + (row > 79) + (row > 80), p' (column) = column + 2 · (column / 52) +
 * (column % 52 > 0). x = shift + pitch · ((p'(min + 1) + p'(max)) / 2 - 81), y likewise with 216. For sizes
 * above 1, + (last - first) / (last + first) · W / 2, where W is, for a size of 2, |thickness · cot - width|
 * - pitch · (inner length) if that is in [0, pitch], and in all other cases pitch · (2 + long first + long
 * last) / 2; cot = -(x - x0) / z0. */
void slc_cms_position_run(const slc_cms_position_config *config, slc_cms_clusters *clusters);

/* ---- 5: positions to places -------------------------------------------------------------------- */

/* Is every module of a geometry possible? SLC_ERR_FORMAT names the first that is not: "module 5: reason". */
slc_status slc_cms_geometry_check(const slc_cms_geometry *geometry, slc_error *error);
/* Appends a place for each cluster, by the plane of its module, all of which the geometry has, and replaces
 * errors by the module's: of clusters at its first or last row the geometry's own, else by how many rows they
 * have. Places are reset first. Arithmetic in float, rounded after each operation, in the order x, y, then
 * the module's position. Never allocates; SLC_ERR_CAPACITY. */
slc_status slc_cms_place_run(const slc_cms_geometry *geometry, slc_cms_clusters *clusters,
                             slc_cms_places *places);

/* Room for so many modules, all bytes 0. Zero-initialise before. */
slc_status slc_cms_gains_reserve(slc_cms_gains *gains, uint32_t modules);
slc_status slc_cms_geometry_reserve(slc_cms_geometry *geometry, uint32_t modules);

#endif
