/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's vector types with their alignment (a wide load from an address that is not aligned is then found by
 * the undefined-behaviour sanitizer), and min and max as CUDA overloads them.
 */
#ifndef TESTS_SIMT_TYPES_H
#define TESTS_SIMT_TYPES_H

#include <cmath>
#include <cstddef>
#include <cstdint>

#define SIMT_VECTOR1(type, name)                                                                             \
    struct name##1                                                                                           \
    {                                                                                                        \
        type x;                                                                                              \
    };                                                                                                       \
    inline name##1 make_##name##1(type x)                                                                    \
    {                                                                                                        \
        return {x};                                                                                          \
    }
#define SIMT_VECTOR2(type, name)                                                                             \
    struct alignas(2 * sizeof(type)) name##2                                                                 \
    {                                                                                                        \
        type x, y;                                                                                           \
    };                                                                                                       \
    inline name##2 make_##name##2(type x, type y)                                                            \
    {                                                                                                        \
        return {x, y};                                                                                       \
    }
#define SIMT_VECTOR3(type, name)                                                                             \
    struct name##3                                                                                           \
    {                                                                                                        \
        type x, y, z;                                                                                        \
    };                                                                                                       \
    inline name##3 make_##name##3(type x, type y, type z)                                                    \
    {                                                                                                        \
        return {x, y, z};                                                                                    \
    }
#define SIMT_VECTOR4(type, name)                                                                             \
    struct alignas(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16) name##4                                    \
    {                                                                                                        \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    inline name##4 make_##name##4(type x, type y, type z, type w)                                            \
    {                                                                                                        \
        return {x, y, z, w};                                                                                 \
    }
#define SIMT_VECTORS(type, name)                                                                             \
    SIMT_VECTOR1(type, name)                                                                                 \
    SIMT_VECTOR2(type, name)                                                                                 \
    SIMT_VECTOR3(type, name)                                                                                 \
    SIMT_VECTOR4(type, name)
SIMT_VECTORS(signed char, char)
SIMT_VECTORS(unsigned char, uchar)
SIMT_VECTORS(short, short)
SIMT_VECTORS(unsigned short, ushort)
SIMT_VECTORS(int, int)
SIMT_VECTORS(unsigned, uint)
SIMT_VECTORS(long, long)
SIMT_VECTORS(unsigned long, ulong)
SIMT_VECTORS(long long, longlong)
SIMT_VECTORS(unsigned long long, ulonglong)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

/* As in CUDA, where one operand is unsigned, both are. */
#define SIMT_MIN_MAX(result, first, second)                                                                  \
    constexpr result min(first a, second b)                                                                  \
    {                                                                                                        \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)                      \
                                                               : static_cast<result>(b);                     \
    }                                                                                                        \
    constexpr result max(first a, second b)                                                                  \
    {                                                                                                        \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)                      \
                                                               : static_cast<result>(a);                     \
    }
#define SIMT_MIN_MAX_INTEGERS(type)                                                                          \
    SIMT_MIN_MAX(type, type, type)                                                                           \
    SIMT_MIN_MAX(unsigned type, unsigned type, unsigned type)                                                \
    SIMT_MIN_MAX(unsigned type, type, unsigned type)                                                         \
    SIMT_MIN_MAX(unsigned type, unsigned type, type)
SIMT_MIN_MAX_INTEGERS(int)
SIMT_MIN_MAX_INTEGERS(long)
SIMT_MIN_MAX_INTEGERS(long long)
SIMT_MIN_MAX(float, float, float)
SIMT_MIN_MAX(double, double, double)
SIMT_MIN_MAX(double, float, double)
SIMT_MIN_MAX(double, double, float)

#endif
