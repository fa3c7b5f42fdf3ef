/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: where the workers of a pipeline may run. A plan holds one set of processors for each
 * worker, made once from the machine's topology (hwloc, where the build has it) and from what the process may
 * use, so that a container or `taskset` is respected.
 */
#ifndef SLUICE_RUN_BIND_H
#define SLUICE_RUN_BIND_H

#include <sluice/simd.h>

typedef struct slc_run_places slc_run_places;

/* *places is NULL for SLC_BIND_NONE. SLC_ERR_UNSUPPORTED with the reason in *error where the system or
 * the build cannot bind in this way. */
slc_status slc_run_places_open(slc_bind bind, slc_run_places **places, slc_error *error);
void slc_run_places_close(slc_run_places *places);

/* Binds the calling thread to the place of worker k; nothing happens where places is NULL. */
slc_status slc_run_places_bind(const slc_run_places *places, uint32_t worker, slc_error *error);
/* Lets the calling thread run where it might when the plan was made. */
void slc_run_places_unbind(const slc_run_places *places);

#endif
