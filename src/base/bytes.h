/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: numbers in byte strings, at any alignment; little-endian, but for those that say so.
 */
#ifndef SLUICE_BASE_BYTES_H
#define SLUICE_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t slc_load_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t slc_load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t slc_load_u64(const uint8_t *at)
{
    return (uint64_t)slc_load_u32(at) | (uint64_t)slc_load_u32(at + 4) << 32;
}

static inline float slc_load_f32(const uint8_t *at)
{
    const uint32_t bits = slc_load_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double slc_load_f64(const uint8_t *at)
{
    const uint64_t bits = slc_load_u64(at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void slc_store_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void slc_store_u32(uint8_t *at, uint32_t value)
{
    slc_store_u16(at, (uint16_t)value);
    slc_store_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void slc_store_u64(uint8_t *at, uint64_t value)
{
    slc_store_u32(at, (uint32_t)value);
    slc_store_u32(at + 4, (uint32_t)(value >> 32));
}

/* A word that lies in memory as slc_store_u64 would put it: for loops that are to be vectors, which stores of
 * bytes are not. */
static inline uint64_t slc_little_u64(uint64_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(value);
#else
    return value;
#endif
}

static inline void slc_store_f32(uint8_t *at, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    slc_store_u32(at, bits);
}

static inline void slc_store_f64(uint8_t *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    slc_store_u64(at, bits);
}

static inline uint64_t slc_load_big_u64(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

static inline void slc_store_big_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> (56 - 8 * i));
    }
}

#endif
