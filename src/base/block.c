/* SPDX-License-Identifier: Apache-2.0
 * Memory in large pages.
 */
#define _DEFAULT_SOURCE /* madvise, MAP_ANONYMOUS and MAP_NORESERVE */
#include "base/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* They must be asked for before memory is touched. Refusal is no harm. */
static void ask_for_pages(void *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

/* What is taken for so many: the end of a large block lies in a large page, too. */
static size_t mapped(size_t bytes)
{
    return bytes < SLC_BLOCK_LARGE ? bytes : (bytes + SLC_BLOCK_PAGE - 1) / SLC_BLOCK_PAGE * SLC_BLOCK_PAGE;
}

void *slc_block_pages(size_t bytes)
{
    void *memory = aligned_alloc(SLC_BLOCK_PAGE, bytes);
    if (memory != NULL) {
        ask_for_pages(memory, bytes);
    }
    return memory;
}

void *slc_block_alloc(size_t bytes)
{
    return bytes < SLC_BLOCK_LARGE              ? malloc(bytes)
           : bytes <= SIZE_MAX - SLC_BLOCK_PAGE ? slc_block_pages(mapped(bytes))
                                                : NULL;
}

void *slc_block_zeros(size_t bytes)
{
    void *memory = bytes < SLC_BLOCK_LARGE ? calloc(1, bytes) : slc_block_alloc(bytes);
    return memory != NULL && bytes >= SLC_BLOCK_LARGE ? memset(memory, 0, bytes) : memory;
}

void *slc_block_map(size_t bytes)
{
    if (bytes > PTRDIFF_MAX) {
        return NULL;
    }
    const size_t size = mapped(bytes), more = size < SLC_BLOCK_LARGE ? 0 : SLC_BLOCK_PAGE;
    char *all = mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
    if (all == MAP_FAILED || more == 0) {
        return all != MAP_FAILED ? all : NULL;
    }
    const size_t before = (SLC_BLOCK_PAGE - (uintptr_t)all % SLC_BLOCK_PAGE) % SLC_BLOCK_PAGE;
    if (before > 0) {
        (void)munmap(all, before);
    }
    if (before < more) {
        (void)munmap(all + before + size, more - before);
    }
    ask_for_pages(all + before, size);
    return all + before;
}

void slc_block_unmap(void *block, size_t bytes)
{
    (void)munmap(block, mapped(bytes));
}
