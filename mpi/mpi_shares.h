/* SPDX-License-Identifier: Apache-2.0
 *
 * Into how many shares inputs are cut (slc_flow_config.n_parts), so that ranks that take one after the other
 * end nearly together, however uneven the inputs are; and what shares' checksums come to. No MPI.
 */
#ifndef SLUICE_MPI_SHARES_H
#define SLUICE_MPI_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* Shares for each rank, of which a rank that is late has half a one more, on average. As each costs some 20
 * ms to begin, they have so many bytes, though there is one for each rank, and at least so few. */
enum { SLC_MPI_SHARES_PER_RANK = 16, SLC_MPI_SHARE_BYTES = 1 << 24, SLC_MPI_SHARE_LEAST = 1 << 18 };
/* Pieces that an input is cut into, if ranks are not more: each begins with a walk over the headers before.
 */
enum { SLC_MPI_PIECES = 8 };

/* Of as many inputs as shares, or more, inputs stay whole. If one of them would then be a large part of a
 * rank's work there are more shares than inputs, and all are cut. */
uint32_t slc_mpi_shares_for(const uint64_t *bytes, size_t n, uint32_t ranks);

/* The checksum of events that `before` others come before (docs/formats/checksum.md). */
uint64_t slc_mpi_checksum_after(uint64_t before, uint64_t checksum);

#endif
