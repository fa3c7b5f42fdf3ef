/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a record batch. They are written from where they lie, in one call for all; compressed, each buffer
 * is a frame of LZ4 or zstd with its length in front, encoded by several threads (io_encode.h) while the
 * caller, which lends the memory, waits and helps.
 */
#include "io/io_arrow.h"

#include <lz4frame.h>
#include <zstd.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they are");

enum { ZSTD_LEVEL = 1, WORTH = 64 /* bytes: fewer are stored */ };

/* ---- buffers ----------------------------------------------------------------------------------- */

/* Room for one more of `n` items of `size` bytes each. */
static bool grow(void *list, size_t n, size_t size, size_t *room)
{
    void *items;
    memcpy(&items, list, sizeof items);
    if (n < *room) {
        return true;
    }
    void *larger = realloc(items, (2 * n + 32) * size);
    if (larger == NULL) {
        return false;
    }
    memset((char *)larger + n * size, 0, (n + 32) * size);
    memcpy(list, &larger, sizeof larger);
    *room = 2 * n + 32;
    return true;
}

void slc_io_arrow_node(slc_io_arrow_body *body, size_t rows)
{
    if (!grow(&body->nodes, body->n_nodes, sizeof *body->nodes, &body->nodes_room)) {
        body->failed = true;
        return;
    }
    body->nodes[body->n_nodes++] = (slc_io_arrow_pair){(int64_t)rows, 0};
}

void slc_io_arrow_buffer_add(slc_io_arrow_body *body, const void *bytes, size_t size)
{
    if (!grow(&body->buffers, body->n_buffers, sizeof *body->buffers, &body->room)) {
        body->failed = true;
        return;
    }
    slc_io_arrow_buffer *b = &body->buffers[body->n_buffers++]; /* what it has encoded once is used again */
    b->bytes = bytes;
    b->size = size;
    b->before = SLC_IO_ARROW_STORED;
    b->encoded_size = 0;
}

void slc_io_arrow_body_clear(slc_io_arrow_body *body)
{
    for (size_t i = 0; i < body->room; i++) {
        free(body->buffers[i].encoded);
    }
    free(body->buffers);
    free(body->nodes);
    free(body->pairs);
    *body = (slc_io_arrow_body){.buffers = NULL};
}

/* ---- compression ------------------------------------------------------------------------------- */

void slc_io_arrow_scratch_close(void *scratch)
{
    (void)ZSTD_freeCCtx(scratch);
}

static LZ4F_preferences_t lz4_preferences(const slc_io_arrow_buffer *from)
{
    return (LZ4F_preferences_t){.frameInfo = {.blockSizeID = LZ4F_max4MB,
                                              .blockMode = LZ4F_blockIndependent,
                                              .contentSize = from->size}};
}

/* 0: it cannot be. */
static size_t lz4(slc_io_block *block, const slc_io_arrow_buffer *from)
{
    const LZ4F_preferences_t how = lz4_preferences(from);
    const size_t size = LZ4F_compressFrame(block->encoded, block->encoded_room, from->bytes, from->size,
                                           &how);
    return LZ4F_isError(size) ? 0 : size;
}

static size_t zstd(slc_io_block *block, const slc_io_arrow_buffer *from, ZSTD_CCtx *context)
{
    const size_t size = ZSTD_compressCCtx(context, block->encoded, block->encoded_room, from->bytes,
                                          from->size, ZSTD_LEVEL);
    return ZSTD_isError(size) ? 0 : size;
}

static slc_status compress(slc_io_block *block, void **scratch)
{
    const slc_io_arrow_buffer *from = block->owner;
    const bool is_zstd = *(const int *)block->how == SLC_IO_ARROW_ZSTD;
    const LZ4F_preferences_t how = lz4_preferences(from);
    const size_t room = is_zstd ? ZSTD_compressBound(from->size) : LZ4F_compressFrameBound(from->size, &how);
    if (is_zstd && *scratch == NULL) {
        *scratch = ZSTD_createCCtx();
    }
    if ((is_zstd && *scratch == NULL) || slc_io_block_reserve(block, room) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    block->encoded_size = is_zstd ? zstd(block, from, *scratch) : lz4(block, from);
    return SLC_OK;
}

/* The block gets the memory of the last batch for what it encodes next. */
slc_status slc_io_arrow_place_block(void *context, slc_io_block *block, slc_error *error)
{
    slc_io_arrow_buffer *to = block->owner;
    (void)context;
    (void)error;
    if (block->encoded_size > 0 && block->encoded_size < to->size) {
        uint8_t *bytes = to->encoded;
        const size_t room = to->encoded_room;
        to->encoded = block->encoded;
        to->encoded_room = block->encoded_room;
        to->encoded_size = block->encoded_size;
        to->before = (int64_t)to->size;
        block->encoded = bytes;
        block->encoded_room = room;
    }
    return SLC_OK;
}

static slc_status compress_all(slc_io_arrow_body *body, slc_io_encoders *encoders)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < body->n_buffers && status == SLC_OK; i++) {
        if (body->buffers[i].size < WORTH) {
            continue;
        }
        slc_io_block *block = slc_io_encoders_take(encoders, 0);
        if (block == NULL) {
            return SLC_ERR_MEMORY;
        }
        block->owner = &body->buffers[i];
        block->how = &body->codec;
        status = slc_io_encoders_give(encoders, block, compress, NULL);
    }
    return status == SLC_OK ? slc_io_encoders_drain(encoders, NULL) : status;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Of a buffer in the file, without the padding. Of no bytes there is nothing, not even a length. */
static size_t written_size(const slc_io_arrow_body *body, const slc_io_arrow_buffer *b)
{
    if (body->codec == SLC_IO_ARROW_STORED || b->size == 0) {
        return b->size;
    }
    return sizeof b->before + (b->before == SLC_IO_ARROW_STORED ? b->size : b->encoded_size);
}

static size_t padding(size_t size)
{
    return (SLC_IO_ARROW_ALIGN - size % SLC_IO_ARROW_ALIGN) % SLC_IO_ARROW_ALIGN;
}

slc_status slc_io_arrow_body_lay(slc_io_arrow_body *body, slc_io_encoders *encoders, int64_t *size)
{
    slc_status status = SLC_OK;
    slc_io_arrow_pair *pairs = realloc(body->pairs, (body->n_buffers + 1) * sizeof *pairs);
    body->pairs = pairs != NULL ? pairs : body->pairs;
    if (body->failed || pairs == NULL) {
        return SLC_ERR_MEMORY;
    }
    if (body->codec != SLC_IO_ARROW_STORED) {
        status = compress_all(body, encoders);
    }
    *size = 0;
    for (size_t i = 0; i < body->n_buffers; i++) {
        const size_t bytes = written_size(body, &body->buffers[i]);
        body->pairs[i] = (slc_io_arrow_pair){*size, (int64_t)bytes};
        *size += (int64_t)(bytes + padding(bytes));
    }
    return status;
}

/* All of them, whatever the system takes at once. */
static bool write_all(int file, struct iovec *parts, size_t n)
{
    while (n > 0) {
        const ssize_t put = writev(file, parts, n < IOV_MAX ? (int)n : IOV_MAX);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        size_t done = put > 0 ? (size_t)put : 0;
        while (n > 0 && done >= parts->iov_len) {
            done -= parts->iov_len;
            parts++;
            n--;
        }
        if (n > 0) {
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= done;
        }
    }
    return true;
}

static void add_part(struct iovec *parts, size_t *n, const void *bytes, size_t size)
{
    if (size > 0) {
        void *base;
        memcpy(&base, &bytes, sizeof base); /* which writev does not write to */
        parts[(*n)++] = (struct iovec){base, size};
    }
}

bool slc_io_arrow_body_write(const slc_io_arrow_body *body, int file, const void *head, size_t size)
{
    static const uint8_t zeros[SLC_IO_ARROW_ALIGN];
    struct iovec *parts = malloc((3 * body->n_buffers + 1) * sizeof *parts);
    size_t n = 0;
    if (parts == NULL) {
        errno = ENOMEM;
        return false;
    }
    add_part(parts, &n, head, size);
    for (size_t i = 0; i < body->n_buffers; i++) {
        const slc_io_arrow_buffer *b = &body->buffers[i];
        const bool stored = b->before == SLC_IO_ARROW_STORED;
        if (body->codec != SLC_IO_ARROW_STORED && b->size > 0) {
            add_part(parts, &n, &b->before, sizeof b->before);
        }
        add_part(parts, &n, stored ? b->bytes : b->encoded, stored ? b->size : b->encoded_size);
        add_part(parts, &n, zeros, padding(written_size(body, b)));
    }
    const bool good = write_all(file, parts, n);
    const int wrong = errno;
    free(parts);
    errno = wrong;
    return good;
}
