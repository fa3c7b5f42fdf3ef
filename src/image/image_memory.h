/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: working memory for the worst image. It is address space; the system gives pages when
 * they are first written, so an image that has few components costs few pages, whatever was reserved.
 */
#ifndef SLUICE_IMAGE_MEMORY_H
#define SLUICE_IMAGE_MEMORY_H

#include <sluice/base.h>

/* Zero-initialise. The memory begins on a page and reads as zero until it is written. */
typedef struct slc_image_memory {
    void *at;
    size_t bytes;
} slc_image_memory;

/* Makes room for `bytes`; what was there is forgotten where the memory grows. SLC_ERR_MEMORY: as before. */
slc_status slc_image_memory_reserve(slc_image_memory *memory, size_t bytes);
void slc_image_memory_clear(slc_image_memory *memory);

/* a · b, and a + b, or SIZE_MAX where that is too much: no memory of that size can be had. */
static inline size_t slc_image_times(size_t a, size_t b)
{
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}
static inline size_t slc_image_plus(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

#endif
