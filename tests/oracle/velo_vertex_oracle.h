/* SPDX-License-Identifier: Apache-2.0
 *
 * The vertex finder once more, in double precision and without any order of tracks, windows in memory or
 * vectors: what velo_vertex.c has to find.
 */
#ifndef SLUICE_VELO_VERTEX_ORACLE_H
#define SLUICE_VELO_VERTEX_ORACLE_H

#include "velo/velo_vertex.h"

typedef struct oracle_vertex {
    double x, y, z, weight, chi2;
    double xx, xy, yy, xz, yz, zz; /* covariance */
} oracle_vertex;

/* The vertices of one event by rising z; returns how many, at most SLC_VELO_MAX_PRIMARIES. Peaks must not be
 * more than that. */
size_t oracle_vertices(const slc_velo_vertex_config *config, const slc_velo_states *states, uint32_t event,
                       oracle_vertex *vertices);

#endif
