/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA's functions on bits, bytes and numbers that need no other thread, as the CUDA C++ programming guide
 * and the math API's reference define them. They may be called on the host, too.
 */
#ifndef TESTS_SIMT_BITS_H
#define TESTS_SIMT_BITS_H

#include "simt_types.h"

#include <cstring>

/* ---- bits -------------------------------------------------------------------------------------- */

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
inline int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x)
{
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
inline int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x)
{
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++) {
        reversed |= (x >> i & 1U) << (31 - i);
    }
    return reversed;
}
inline unsigned long long __brevll(unsigned long long x)
{
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
/* The place of the n-th set bit from `base` up (n > 0) or down (n < 0), 32 bits set where there is none. */
inline unsigned __fns(unsigned mask, unsigned base, int n)
{
    if (n == 0) {
        return mask >> base & 1U ? base : ~0U;
    }
    const int step = n > 0 ? 1 : -1;
    int left = n > 0 ? n : -n;
    for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
        left -= static_cast<int>(mask >> i & 1U);
        if (left == 0) {
            return static_cast<unsigned>(i);
        }
    }
    return ~0U;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

/* A selector's fourth bit repeats the sign of its byte, as the instruction does. */
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors)
{
    const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned selector = selectors >> 4 * i & 0xFU;
        unsigned byte = static_cast<unsigned>(both >> 8 * (selector & 7U)) & 0xFFU;
        if (selector & 8U) {
            byte = byte & 0x80U ? 0xFFU : 0;
        }
        result |= byte << 8 * i;
    }
    return result;
}

/* ---- integers ---------------------------------------------------------------------------------- */

inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __mulhi(int a, int b)
{
    return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
inline unsigned __umul24(unsigned a, unsigned b)
{
    return (a & 0xFFFFFFU) * (b & 0xFFFFFFU);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return (a > b ? a - b : b - a) + c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 32; i += 8) {
        c += (a >> i & 0xFFU) * (b >> i & 0xFFU);
    }
    return c;
}

/* ---- four bytes or two halves of a word -------------------------------------------------------- */

namespace simt
{
template <class T, class F> unsigned parts(unsigned a, unsigned b, F function)
{
    const int width = 8 * sizeof(T);
    const unsigned mask = (1U << width) - 1;
    unsigned result = 0;
    for (int i = 0; i < 32; i += width) {
        const T x = static_cast<T>(a >> i & mask), y = static_cast<T>(b >> i & mask);
        result |= (static_cast<unsigned>(function(x, y)) & mask) << i;
    }
    return result;
}
} // namespace simt

#define SIMT_COMPARE(name, type, op, n)                                                                      \
    inline unsigned __vcmp##name##n(unsigned a, unsigned b)                                                  \
    {                                                                                                        \
        return simt::parts<type>(a, b, [](type x, type y) { return x op y ? ~0U : 0U; });                    \
    }                                                                                                        \
    inline unsigned __vset##name##n(unsigned a, unsigned b)                                                  \
    {                                                                                                        \
        return simt::parts<type>(a, b, [](type x, type y) { return x op y ? 1U : 0U; });                     \
    }
#define SIMT_PARTS(name, type, expression, n)                                                                \
    inline unsigned __v##name##n(unsigned a, unsigned b)                                                     \
    {                                                                                                        \
        return simt::parts<type>(a, b, [](type x, type y) { return (expression); });                         \
    }
#define SIMT_BYTES(sign, unsign, n)                                                                          \
    SIMT_COMPARE(eq, unsign, ==, n)                                                                          \
    SIMT_COMPARE(ne, unsign, !=, n)                                                                          \
    SIMT_COMPARE(geu, unsign, >=, n)                                                                         \
    SIMT_COMPARE(gtu, unsign, >, n)                                                                          \
    SIMT_COMPARE(leu, unsign, <=, n)                                                                         \
    SIMT_COMPARE(ltu, unsign, <, n)                                                                          \
    SIMT_COMPARE(ges, sign, >=, n)                                                                           \
    SIMT_COMPARE(gts, sign, >, n)                                                                            \
    SIMT_COMPARE(les, sign, <=, n)                                                                           \
    SIMT_COMPARE(lts, sign, <, n)                                                                            \
    SIMT_PARTS(add, unsign, x + y, n)                                                                        \
    SIMT_PARTS(sub, unsign, x - y, n)                                                                        \
    SIMT_PARTS(minu, unsign, x < y ? x : y, n)                                                               \
    SIMT_PARTS(maxu, unsign, x < y ? y : x, n)                                                               \
    SIMT_PARTS(mins, sign, x < y ? x : y, n)                                                                 \
    SIMT_PARTS(maxs, sign, x < y ? y : x, n)                                                                 \
    SIMT_PARTS(absdiffu, unsign, x < y ? y - x : x - y, n)                                                   \
    SIMT_PARTS(avgu, unsign, (x + y + 1) / 2, n)
SIMT_BYTES(int8_t, uint8_t, 4)
SIMT_BYTES(int16_t, uint16_t, 2)

inline unsigned __vsadu4(unsigned a, unsigned b)
{
    const unsigned d = __vabsdiffu4(a, b);
    return (d & 0xFFU) + (d >> 8 & 0xFFU) + (d >> 16 & 0xFFU) + (d >> 24);
}

/* ---- the same bits as another type; arithmetic with a rounding that is the processor's anyhow ---- */

#define SIMT_BITS_AS(name, to, from)                                                                         \
    inline to name(from value)                                                                               \
    {                                                                                                        \
        to result;                                                                                           \
        static_assert(sizeof result == sizeof value, "the same bits");                                       \
        memcpy(&result, &value, sizeof result);                                                              \
        return result;                                                                                       \
    }
SIMT_BITS_AS(__float_as_uint, unsigned, float)
SIMT_BITS_AS(__float_as_int, int, float)
SIMT_BITS_AS(__uint_as_float, float, unsigned)
SIMT_BITS_AS(__int_as_float, float, int)
SIMT_BITS_AS(__double_as_longlong, long long, double)
SIMT_BITS_AS(__longlong_as_double, double, long long)

inline double __dadd_rn(double a, double b)
{
    return a + b;
}
inline double __dsub_rn(double a, double b)
{
    return a - b;
}
inline double __dmul_rn(double a, double b)
{
    return a * b;
}
inline double __ddiv_rn(double a, double b)
{
    return a / b;
}
inline double __dsqrt_rn(double a)
{
    return std::sqrt(a);
}
inline double __fma_rn(double a, double b, double c)
{
    return std::fma(a, b, c);
}
inline double __ull2double_rn(unsigned long long a)
{
    return static_cast<double>(a);
}
inline double __ll2double_rn(long long a)
{
    return static_cast<double>(a);
}
inline double __uint2double_rn(unsigned a)
{
    return a;
}
inline float __uint2float_rn(unsigned a)
{
    return static_cast<float>(a);
}
inline int __float2int_rn(float a)
{
    return static_cast<int>(rintf(a));
}
inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
inline float __fsqrt_rn(float a)
{
    return std::sqrt(a);
}

#endif
