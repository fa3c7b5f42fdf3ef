/* SPDX-License-Identifier: Apache-2.0
 * Working memory straight from the system: the allocator's own big blocks would count against the limit on
 * memory as soon as they are reserved, whether they are used or not.
 */
#include "image/image_memory.h"

#include "base/block.h"

slc_status slc_image_memory_reserve(slc_image_memory *memory, size_t bytes)
{
    if (bytes <= memory->bytes) {
        return SLC_OK;
    }
    void *at = slc_block_map(bytes);
    if (at == NULL) {
        return SLC_ERR_MEMORY;
    }
    slc_image_memory_clear(memory);
    memory->at = at;
    memory->bytes = bytes;
    return SLC_OK;
}

void slc_image_memory_clear(slc_image_memory *memory)
{
    if (memory->at != NULL) {
        slc_block_unmap(memory->at, memory->bytes);
    }
    *memory = (slc_image_memory){0};
}
