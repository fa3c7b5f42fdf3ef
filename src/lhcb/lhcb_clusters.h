/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how many clusters an event has in each of three detectors, by the sizes of its banks
 * alone. Nothing is decoded, so that an event that is too large costs next to nothing.
 */
#ifndef SLUICE_LHCB_CLUSTERS_H
#define SLUICE_LHCB_CLUSTERS_H

#include <sluice/lhcb.h>

/* Words of banks. Of the SciFi one a bank may be padding, and a large cluster may be two. */
typedef struct slc_lhcb_clusters {
    uint32_t superpixels, retina; /* of the VELO: banks 63 and 8; 73 */
    uint32_t ut, scifi;
} slc_lhcb_clusters;

/* Whose damaged banks are told. The VELO's are, by who decodes them. */
enum { SLC_LHCB_TELL_UT = 1, SLC_LHCB_TELL_SCIFI = 2 };

/* Counts the clusters of every event of the batch into counts[0 … n_events - 1]. Banks that cannot be
 * counted count as nothing, and are faults where `tell` says so: a version that is unknown, a length that
 * disagrees with the count. An event of several bunch crossings has no clusters. */
void slc_lhcb_clusters_count(const slc_batch *batch, unsigned tell, slc_lhcb_clusters *counts,
                             slc_faults *faults);

#endif
