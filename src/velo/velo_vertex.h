/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 5: states to primary vertices. A histogram of the tracks' z at the beam line, its peaks, and an
 * adaptive fit of all peaks at once: the method of LHCb's "beamline" finder (as in Allen), section 1 of the
 * thesis of A. Hennequin (2022). docs/howto/velo-physics.md.
 */
#ifndef SLUICE_VELO_VERTEX_H
#define SLUICE_VELO_VERTEX_H

#include <sluice/velo_chain.h>

void slc_velo_vertex_config_default(slc_velo_vertex_config *config);

/* Working memory, enough for `tracks` tracks in one event; zero-initialise. */
typedef struct slc_velo_vertex_scratch {
    void *block;
    size_t tracks;
} slc_velo_vertex_scratch;
slc_status slc_velo_vertex_reserve(slc_velo_vertex_scratch *scratch, size_t tracks);
void slc_velo_vertex_clear(slc_velo_vertex_scratch *scratch);

/* Finds the vertices of all events from the states at the beam line. Same bits on every target. Never
 * allocates. SLC_ERR_CAPACITY where scratch or output (SLC_VELO_MAX_PRIMARIES rows an event always do) is too
 * small, SLC_ERR_USAGE for a configuration that cannot be. A state that is not finite, without a positive
 * variance or outside the histogram takes no part. */
slc_status slc_velo_vertex_run(const slc_velo_vertex_config *config, const slc_velo_states *beam,
                               slc_velo_vertex_scratch *scratch, slc_velo_primaries *primaries);

#endif
