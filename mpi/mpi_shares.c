/* SPDX-License-Identifier: Apache-2.0
 * How many shares; their checksums. */
#include "mpi_shares.h"

#include <sluice/base.h>

#include <stdbool.h>

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Pieces are alike: ranks that are, too, end together. */
static uint64_t whole_rounds(uint64_t shares, uint64_t ranks)
{
    return (shares + ranks - 1) / ranks * ranks;
}

uint32_t slc_mpi_shares_for(const uint64_t *bytes, size_t n, uint32_t ranks)
{
    const uint64_t n_ranks = most_of(ranks, 1);
    uint64_t total = 0, largest = 1;
    for (size_t i = 0; i < n; i++) {
        total += bytes[i];
        largest = most_of(largest, bytes[i]);
    }
    const uint64_t of_a_rank = total / n_ranks;
    const uint64_t most = total / SLC_MPI_SHARE_LEAST + 1;
    uint64_t each = most_of(1, least_of(of_a_rank / SLC_MPI_SHARE_BYTES, SLC_MPI_SHARES_PER_RANK));
    const bool uneven = largest > of_a_rank / 10;
    if (n >= least_of(n_ranks * each, most)) {
        const bool worth = total / (n + 1) >= SLC_MPI_SHARE_BYTES / 4 || largest > of_a_rank / 2;
        return (uint32_t)(uneven && worth && n < most ? least_of(whole_rounds(n + 1, n_ranks), most)
                                                      : least_of(n_ranks * each, most));
    }
    each = most_of(1, least_of(each, SLC_MPI_PIECES * total / largest / n_ranks));
    return (uint32_t)least_of(whole_rounds(most_of(n_ranks * each, n + 1), n_ranks), most);
}

uint64_t slc_mpi_checksum_after(uint64_t before, uint64_t checksum)
{
    uint64_t power = 1, factor = SLC_CHECKSUM_FACTOR;
    for (; before > 0; before >>= 1) {
        power *= (before & 1) != 0 ? factor : 1;
        factor *= factor;
    }
    return power * checksum;
}
