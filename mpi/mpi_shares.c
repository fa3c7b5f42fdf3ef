/* SPDX-License-Identifier: Apache-2.0
 * How many shares; their checksums. */
#include "mpi_shares.h"

#include <sluice/base.h>

uint32_t slc_mpi_shares_for(const uint64_t *bytes, size_t n, uint32_t ranks)
{
    uint64_t total = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        total += bytes[i];
        largest = bytes[i] > largest ? bytes[i] : largest;
    }
    const uint64_t wanted = (uint64_t)ranks * SLC_MPI_SHARES_PER_RANK;
    if (wanted == 0) {
        return 1;
    }
    const uint64_t most = total / SLC_MPI_SHARE_BYTES + 1;
    const uint64_t shares = wanted < most ? wanted : most;
    const bool uneven = largest / 2 > total / wanted;
    return (uint32_t)(n >= shares && uneven && n < most ? n + 1 : shares);
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
