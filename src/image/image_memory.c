/* SPDX-License-Identifier: Apache-2.0
 * Working memory straight from the system: the allocator's own big blocks would count against the limit on
 * memory as soon as they are reserved, whether they are used or not.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS and MAP_NORESERVE are no part of POSIX 2008 */
#include "image/image_memory.h"

#include <sys/mman.h>

enum { LARGE = 4 << 20 }; /* bytes: two pages of the large kind */

slc_status slc_image_memory_reserve(slc_image_memory *memory, size_t bytes)
{
    if (bytes <= memory->bytes) {
        return SLC_OK;
    }
    if (bytes > PTRDIFF_MAX) {
        return SLC_ERR_MEMORY;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return SLC_ERR_MEMORY;
    }
#if defined(MADV_HUGEPAGE)
    /* Labels jump through tables of megabytes: fewer pages are fewer misses of the address translation.
     * Refusal is no harm. Small images have no such tables, and a large page is zeroed as a whole. */
    if (bytes >= LARGE) {
        (void)madvise(at, bytes, MADV_HUGEPAGE);
    }
#endif
    slc_image_memory_clear(memory);
    memory->at = at;
    memory->bytes = bytes;
    return SLC_OK;
}

void slc_image_memory_clear(slc_image_memory *memory)
{
    if (memory->at != NULL) {
        (void)munmap(memory->at, memory->bytes);
    }
    *memory = (slc_image_memory){0};
}
