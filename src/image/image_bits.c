/* SPDX-License-Identifier: Apache-2.0
 * Rows of pixels of any type to bit rows.
 */
#include "image/image_bits.h"

#include <math.h>
#include <string.h>

slc_image_level slc_image_level_of(slc_image_type type, double threshold)
{
    static const double largest[SLC_IMAGE_TYPES] = {
        [SLC_IMAGE_U8] = UINT8_MAX, [SLC_IMAGE_U16] = UINT16_MAX, [SLC_IMAGE_U32] = UINT32_MAX};
    slc_image_level level = {.type = type};
    if (type == SLC_IMAGE_F32) {
        /* The smallest float that is not below the threshold: pixels are compared as floats. */
        level.real = (float)threshold;
        if ((double)level.real < threshold) {
            level.real = nextafterf(level.real, INFINITY);
        }
    } else if (type != SLC_IMAGE_BITS) {
        level.none = threshold > largest[type];
        level.level = level.none || threshold <= 0 ? 0 : (uint32_t)ceil(threshold);
    }
    return level;
}

size_t slc_image_bits_words(size_t width)
{
    return (width + 63) / 64 + SLC_COLUMN_ALIGN / sizeof(uint64_t);
}

/* The rows of bits of the caller's may begin at any byte; only the bytes that hold pixels are read. */
static void copy_bits(const void *row, size_t width, uint64_t *bits)
{
    const size_t bytes = (width + 7) / 8;
    bits[(width - 1) / 64] = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < bytes; i++) {
        bits[i / 8] = (i % 8 == 0 ? 0 : bits[i / 8]) | (uint64_t)((const uint8_t *)row)[i] << 8 * (i % 8);
    }
#else
    memcpy(bits, row, bytes);
#endif
    if (width % 64 != 0) {
        bits[width / 64] &= ~(uint64_t)0 >> (64 - width % 64);
    }
}

static void invert(size_t width, uint64_t *bits)
{
    for (size_t i = 0; 64 * i < width; i++) {
        bits[i] = ~bits[i];
    }
    if (width % 64 != 0) {
        bits[width / 64] &= ~(uint64_t)0 >> (64 - width % 64);
    }
}

void slc_image_bits_row(const slc_image_kernels *kernels, const slc_image_level *level, const void *row,
                        size_t width, bool inverse, uint64_t *bits)
{
    if (level->none) {
        memset(bits, 0, (width + 63) / 64 * sizeof *bits);
    } else if (level->type == SLC_IMAGE_U8) {
        kernels->threshold(row, width, (uint8_t)level->level, bits);
    } else if (level->type == SLC_IMAGE_U16) {
        kernels->threshold_u16(row, width, (uint16_t)level->level, bits);
    } else if (level->type == SLC_IMAGE_U32) {
        kernels->threshold_u32(row, width, level->level, bits);
    } else if (level->type == SLC_IMAGE_F32) {
        kernels->threshold_f32(row, width, level->real, bits);
    } else {
        copy_bits(row, width, bits);
    }
    if (inverse) {
        invert(width, bits);
    }
}

void slc_image_bits_copy(const uint64_t *bits, size_t width, void *row)
{
    const size_t bytes = (width + 7) / 8;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)row)[i] = (uint8_t)(bits[i / 8] >> 8 * (i % 8));
    }
#else
    memcpy(row, bits, bytes);
#endif
}
