/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of CMS's digis, slowly and obviously: every digi of a module is compared with every other one that
 * is not in a cluster yet. Written from include/sluice/cms_cluster.h alone, for every order of digis, policy
 * for duplicates, charge cut and truncation.
 */
#include "cms/cms_stages.h"
#ifndef TESTS_ORACLE_CMS_CLUSTER_ORACLE_H
#define TESTS_ORACLE_CMS_CLUSTER_ORACLE_H

/* What slc_cms_cluster_run must write: the column `cluster` of all digis; `modules` and `clusters`, which are
 * reset first and grow as needed, with an event for each event of the digis; faults, which are added to those
 * that are there: of an event first SLC_FAULT_CMS_PIXEL by rising digi, then SLC_FAULT_CMS_MODULE_CROWDED by
 * rising module, both with the index of the module as `module` and a digi in its event as `offset`.
 *
 * What the header leaves to be read between its lines, as it is read here:
 * - modules below SLC_CMS_LAYER1_END have the cut min_charge_layer1_e, in either phase;
 * - the cut looks at the charge after it has been saturated;
 * - n_digis of a module counts all of its valid digis, those that truncation leaves out as well;
 * - the first max_module_digis of a module are counted in the order of the event. */
void oracle_cms_cluster(const slc_cms_cluster_config *config, uint64_t first_event, slc_cms_digis *digis,
                        slc_cms_modules *modules, slc_cms_clusters *clusters, slc_faults *faults);

#endif
