/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the two halves of the truth check share.
 */
#ifndef SLUICE_VELO_CHECK_RESOLUTION_H
#define SLUICE_VELO_CHECK_RESOLUTION_H

#include <sluice/velo_check.h>

/* A track and a particle that it is matched to, as rows of their collections. */
typedef struct slc_velo_match {
    const slc_velo_result *result;
    const slc_velo_truth *truth;
    uint32_t event;
    size_t track;    /* row */
    size_t particle; /* row */
} slc_velo_match;

void slc_velo_check_init_resolution(slc_velo_check *check);

/* Adds the residuals of those of the track's hits that belong to the particle: hit_rows, n rows of the hits.
 */
void slc_velo_check_residuals(slc_velo_check *check, const slc_velo_match *match, const size_t *hit_rows,
                              size_t n);

/* Adds the pulls of the state at the beam line. */
void slc_velo_check_pulls(slc_velo_check *check, const slc_velo_match *match);

#endif
