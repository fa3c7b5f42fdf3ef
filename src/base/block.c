/* SPDX-License-Identifier: Apache-2.0
 * Memory in large pages.
 */
#define _DEFAULT_SOURCE /* madvise */
#include "base/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *slc_block_pages(size_t bytes)
{
    void *memory = aligned_alloc(SLC_BLOCK_PAGE, bytes);
#if defined(MADV_HUGEPAGE)
    if (memory != NULL) { /* they must be asked for before memory is touched */
        (void)madvise(memory, bytes, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

void *slc_block_zeros(size_t bytes)
{
    if (bytes < SLC_BLOCK_LARGE) {
        return calloc(1, bytes);
    }
    if (bytes > SIZE_MAX - SLC_BLOCK_PAGE) {
        return NULL;
    }
    void *memory = slc_block_pages((bytes + SLC_BLOCK_PAGE - 1) / SLC_BLOCK_PAGE * SLC_BLOCK_PAGE);
    return memory != NULL ? memset(memory, 0, bytes) : NULL;
}
