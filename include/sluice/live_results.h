/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of finished results (HDF5, Arrow): which groups and columns there are, how many rows and events,
 * what each column holds, as a table and a histogram, maps of columns that are places or go together, and the
 * attributes of the file. Of columns with more than 2^20 rows it looks at as many, in stretches spread evenly
 * over the file, and says so.
 */
#ifndef SLUICE_LIVE_RESULTS_H
#define SLUICE_LIVE_RESULTS_H

#include <sluice/live.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live_results slc_live_results;

/* Reads the file, which may be gone afterwards. SLC_ERR_IO, SLC_ERR_FORMAT with its name; SLC_ERR_MEMORY. */
SLC_API slc_status slc_live_results_open(slc_live *live, const char *path, slc_live_results **results,
                                         slc_error *error);
SLC_API void slc_live_results_close(slc_live_results *results); /* NULL is allowed */
/* Publishes what was read: the first time, then where a page wants a map that it has not. False without
 * memory. */
SLC_API bool slc_live_results_publish(slc_live_results *results);

#ifdef __cplusplus
}
#endif
#endif
