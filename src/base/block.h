/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: carving several arrays out of one allocation.
 */
#ifndef SLUICE_BASE_BLOCK_H
#define SLUICE_BASE_BLOCK_H

#include <stddef.h>

enum { SLC_BLOCK_ALIGN = 64 };

/* What an array of so many bytes takes of a block. */
static inline size_t slc_block_bound(size_t bytes)
{
    return (bytes + SLC_BLOCK_ALIGN - 1) / SLC_BLOCK_ALIGN * SLC_BLOCK_ALIGN;
}

/* The next array of the block; moves *at behind it. */
static inline void *slc_block_take(char **at, size_t bytes)
{
    void *array = *at;
    *at += slc_block_bound(bytes);
    return array;
}

#endif
