/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms that exist only to be compared with, under the names that `--algorithm` and `sluice bench` know:
 * flood and iterative (image), flood-map, flood-rows and union-find (pixel). They are no part of libsluice.
 */
#ifndef SLUICE_BASELINES_H
#define SLUICE_BASELINES_H

/* Adds them to the library's tables of algorithms. Once, before anything is opened and before threads begin.
 */
void slc_baselines_add(void);

#endif
