/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: carving several arrays out of one allocation.
 */
#ifndef SLUICE_BASE_BLOCK_H
#define SLUICE_BASE_BLOCK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLC_BLOCK_ALIGN = 64 };

/* What an array of so many bytes takes of a block. */
static inline size_t slc_block_bound(size_t bytes)
{
    return (bytes + SLC_BLOCK_ALIGN - 1) / SLC_BLOCK_ALIGN * SLC_BLOCK_ALIGN;
}

/* The next array of the block; moves *at after it. */
static inline void *slc_block_take(char **at, size_t bytes)
{
    void *array = *at;
    *at += slc_block_bound(bytes);
    return array;
}

/* The first aligned place in a block of so many bytes and SLC_BLOCK_ALIGN more. */
static inline char *slc_block_begin(void *block)
{
    return (char *)block + (SLC_BLOCK_ALIGN - (uintptr_t)block % SLC_BLOCK_ALIGN) % SLC_BLOCK_ALIGN;
}

/* Memory from SLC_BLOCK_LARGE bytes on is in large pages if the system gives them: it is touched in many
 * places, and a fault for each small page costs as much as what fills it, or many times that in virtual
 * machines. */
enum { SLC_BLOCK_LARGE = 1 << 19, SLC_BLOCK_PAGE = 1 << 21 };
/* So many bytes, a multiple of SLC_BLOCK_PAGE, which begin with such a page; for free(). NULL without memory.
 */
void *slc_block_pages(size_t bytes);
/* Memory, and zeros, all of which will be used; for free(). NULL without memory. */
void *slc_block_alloc(size_t bytes);
void *slc_block_zeros(size_t bytes);
/* Zeros straight from the system, none of which is touched before it is used; large blocks begin with such a
 * page. NULL without memory. */
void *slc_block_map(size_t bytes);
void slc_block_unmap(void *block, size_t bytes);

/* The same as slc_block_take for layouts that are first measured and then made, by one function: without
 * memory (`at` is NULL) nothing is handed out, and `used` is what is needed; SIZE_MAX if that is more than
 * there can be. */
typedef struct slc_arena {
    char *at;
    size_t align; /* of every array, from `at` on */
    size_t used;
} slc_arena;

static inline void *slc_arena_take(slc_arena *arena, size_t n, size_t size)
{
    assert(arena->at == NULL || arena->used != SIZE_MAX); /* it was measured before */
    void *array = arena->at != NULL ? arena->at + arena->used : NULL;
    const size_t align = arena->align, most = SIZE_MAX / 2;
    const bool fits = arena->used <= most && (size == 0 || n <= (most - align) / size);
    arena->used = fits ? arena->used + (n * size + align - 1) / align * align : SIZE_MAX;
    return array;
}

#endif
