/* SPDX-License-Identifier: Apache-2.0
 * Memory in large pages.
 */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS and MAP_NORESERVE */
#include "base/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* They must be asked for before memory is touched. Refusal is no harm. */
static void ask_for_pages(void *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

void *slc_block_pages(size_t bytes)
{
    void *memory = aligned_alloc(SLC_BLOCK_PAGE, bytes);
    if (memory != NULL) {
        ask_for_pages(memory, bytes);
    }
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

void *slc_block_map(size_t bytes)
{
    if (bytes > PTRDIFF_MAX) {
        return NULL;
    }
    const bool large = bytes >= SLC_BLOCK_LARGE;
    char *all = mmap(NULL, bytes + (large ? SLC_BLOCK_PAGE : 0), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || !large) {
        return all != MAP_FAILED ? all : NULL;
    }
    const size_t before = (SLC_BLOCK_PAGE - (uintptr_t)all % SLC_BLOCK_PAGE) % SLC_BLOCK_PAGE;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), kept = (before + bytes + page - 1) / page * page;
    if (before > 0) {
        (void)munmap(all, before);
    }
    if (kept < bytes + SLC_BLOCK_PAGE) {
        (void)munmap(all + kept, bytes + SLC_BLOCK_PAGE - kept);
    }
    ask_for_pages(all + before, bytes);
    return all + before;
}

void slc_block_unmap(void *block, size_t bytes)
{
    (void)munmap(block, bytes);
}
