/* SPDX-License-Identifier: Apache-2.0
 * ROOT's compressed blocks of every kind. */
#include "support/support_blocks.h"

#include "support/cmocka_all.h"

#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static size_t pack_zl(uint8_t *to, size_t room, const uint8_t *from, size_t n)
{
    uLongf used = (uLongf)room;
    assert_int_equal(compress(to, &used, from, (uLong)n), Z_OK);
    return used;
}

/* In front stands the hash of what follows, high byte first. */
static size_t pack_l4(uint8_t *to, size_t room, const uint8_t *from, size_t n)
{
    const int used = LZ4_compress_default((const char *)from, (char *)to + 8, (int)n, (int)room - 8);
    assert_true(used > 0);
    const uint64_t hash = XXH64(to + 8, (size_t)used, 0);
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(hash >> (56 - 8 * i));
    }
    return (size_t)used + 8;
}

static size_t pack_zs(uint8_t *to, size_t room, const uint8_t *from, size_t n)
{
    const size_t used = ZSTD_compress(to, room, from, n, 5);
    assert_false(ZSTD_isError(used));
    return used;
}

static size_t pack_xz(uint8_t *to, size_t room, const uint8_t *from, size_t n)
{
    size_t used = 0;
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, from, n, to, &used, room), LZMA_OK);
    return used;
}

static const struct {
    uint8_t head[3];
    size_t (*pack)(uint8_t *to, size_t room, const uint8_t *from, size_t n);
} kinds[SUPPORT_KINDS] = {
    {{'Z', 'L', 8}, pack_zl}, {{'L', '4', 1}, pack_l4}, {{'Z', 'S', 1}, pack_zs}, {{'X', 'Z', 0}, pack_xz}};

support_bytes support_blocks_of(int kind, const void *bytes, size_t size, size_t block)
{
    support_bytes blocks = {0};
    const size_t room = block + block / 2 + 1024;
    uint8_t *packed = malloc(room);
    assert_non_null(packed);
    for (size_t at = 0, i = 0; at < size; at += block, i++) {
        const size_t k = kind == SUPPORT_KINDS ? i % SUPPORT_KINDS : (size_t)kind;
        const size_t part = size - at < block ? size - at : block;
        const size_t n = kinds[k].pack(packed, room, (const uint8_t *)bytes + at, part);
        uint8_t header[9];
        memcpy(header, kinds[k].head, 3);
        for (int b = 0; b < 3; b++) {
            header[3 + b] = (uint8_t)(n >> 8 * b);
            header[6 + b] = (uint8_t)(part >> 8 * b);
        }
        support_append(&blocks, header, sizeof header);
        support_append(&blocks, packed, n);
    }
    free(packed);
    return blocks;
}

support_bytes support_file_of(int kind, uint32_t n_events, size_t block, bool hashed)
{
    support_bytes file = {0};
    for (uint32_t e = 0; e < n_events; e++) {
        support_bytes event = support_event(e), blocks = support_blocks_of(kind, event.at, event.size, block);
        const size_t begin = file.size;
        support_record(&file, 3, 1, blocks.at, blocks.size);
        if (!hashed) {
            memset(file.at + begin + 12, 0, 4);
        }
        support_clear(&event);
        support_clear(&blocks);
    }
    return file;
}
