/* SPDX-License-Identifier: Apache-2.0
 *
 * Page-locked memory that goes from hand to hand. To lock memory that nobody has touched takes longer than to
 * fill it, and cudaHostAlloc is slower yet: so blocks are large pages of the system, locked when they have
 * been filled for the first time, and kept for who asks next.
 */
#include "base/block.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_stream.h"

#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 1024 };

typedef struct block {
    void *at;
    size_t bytes;
    uint32_t times; /* it was handed out */
    bool used, locked, refused;
} block;

static struct {
    pthread_mutex_t mutex; /* over all that follows */
    block block[BLOCKS];
    uint32_t n, streams;
    int device;             /* of the last stream; -1: none yet */
    uint64_t refused_bytes; /* since the program began */
} blocks = {.mutex = PTHREAD_MUTEX_INITIALIZER, .device = -1};
static pthread_mutex_t locking = PTHREAD_MUTEX_INITIALIZER; /* one block at a time; taken before the other */

/* Under the mutex. */
static block *find(const void *at)
{
    for (uint32_t i = 0; i < blocks.n; i++) {
        if (blocks.block[i].at == at) {
            return &blocks.block[i];
        }
    }
    return NULL;
}

/* Under the mutex. */
static void free_unused(void)
{
    for (uint32_t i = blocks.n; i-- > 0;) {
        block *b = &blocks.block[i];
        if (!b->used) {
            if (b->locked) {
                slc_cuda_unpin(b->at);
            }
            free(b->at);
            *b = blocks.block[--blocks.n];
        }
    }
}

void slc_cuda_blocks_count(bool opened, uint32_t device)
{
    (void)pthread_mutex_lock(&blocks.mutex);
    blocks.streams = opened ? blocks.streams + 1 : blocks.streams - 1;
    blocks.device = opened ? (int)device : blocks.device;
    if (blocks.streams == 0) {
        free_unused();
    }
    (void)pthread_mutex_unlock(&blocks.mutex);
}

/* The smallest that is free and large enough; NULL: none. Under the mutex. */
static block *find_free(size_t bytes)
{
    block *best = NULL;
    for (uint32_t i = 0; i < blocks.n; i++) {
        block *b = &blocks.block[i];
        if (!b->used && b->bytes >= bytes && (best == NULL || b->bytes < best->bytes)) {
            best = b;
        }
    }
    return best;
}

void *slc_cuda_block_allocate(size_t bytes)
{
    const size_t whole = (bytes / SLC_BLOCK_PAGE + 1) * SLC_BLOCK_PAGE;
    void *at = NULL;
    (void)pthread_mutex_lock(&blocks.mutex);
    block *b = find_free(bytes);
    if (b == NULL && blocks.n < BLOCKS && (at = slc_block_pages(whole)) != NULL) {
        b = &blocks.block[blocks.n++];
        *b = (block){.at = at, .bytes = whole};
    }
    if (b != NULL) {
        b->used = true;
        b->times++;
        at = b->at;
    }
    (void)pthread_mutex_unlock(&blocks.mutex);
    return at;
}

void slc_cuda_block_release(void *at)
{
    (void)pthread_mutex_lock(&blocks.mutex);
    find(at)->used = false;
    if (blocks.streams == 0) {
        free_unused();
    }
    (void)pthread_mutex_unlock(&blocks.mutex);
}

uint64_t slc_cuda_blocks_refused(uint64_t bytes)
{
    (void)pthread_mutex_lock(&blocks.mutex);
    const uint64_t sum = blocks.refused_bytes += bytes;
    (void)pthread_mutex_unlock(&blocks.mutex);
    return sum;
}

bool slc_cuda_block_lock(void *at, uint32_t times)
{
    (void)pthread_mutex_lock(&blocks.mutex);
    block b = *find(at);
    (void)pthread_mutex_unlock(&blocks.mutex);
    if (b.locked || b.refused || b.times < times) {
        return b.locked;
    }
    (void)pthread_mutex_lock(&locking);
    (void)pthread_mutex_lock(&blocks.mutex);
    b = *find(at); /* another batch in it may have been quicker */
    const int device = blocks.device;
    (void)pthread_mutex_unlock(&blocks.mutex);
    if (!b.locked && !b.refused) {
        b.locked = device >= 0 && slc_cuda_use((uint32_t)device, NULL) == SLC_OK &&
                   slc_cuda_pin(at, b.bytes, NULL) == SLC_OK;
        (void)pthread_mutex_lock(&blocks.mutex);
        block *own = find(at);
        own->locked = b.locked;
        own->refused = !b.locked;
        blocks.refused_bytes += b.locked ? 0 : b.bytes;
        (void)pthread_mutex_unlock(&blocks.mutex);
    }
    (void)pthread_mutex_unlock(&locking);
    return b.locked;
}
