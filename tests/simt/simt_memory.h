/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics, loads and stores with hints, and fences. All fibers share one thread of the processor, so that
 * plain operations are atomic; before an atomic, others may go on, as they may on a GPU.
 */
#ifndef TESTS_SIMT_MEMORY_H
#define TESTS_SIMT_MEMORY_H

#include "simt_warp.h"

namespace simt
{
template <class T, class F> inline T atomic(T *at, F change)
{
    pause(8);
    const T old = *at;
    *at = change(old);
    return old;
}
} // namespace simt

/* Each with the scopes that CUDA knows. The overloads are CUDA's: uint64_t is no type of its atomics. */
#define SIMT_ATOMIC_AS(function, type, expression)                                                           \
    inline type function(type *at, type value)                                                               \
    {                                                                                                        \
        return simt::atomic(at, [value](type old) -> type { return (expression); });                         \
    }
#define SIMT_ATOMIC(function, type, expression)                                                              \
    SIMT_ATOMIC_AS(function, type, expression)                                                               \
    SIMT_ATOMIC_AS(function##_block, type, expression)                                                       \
    SIMT_ATOMIC_AS(function##_system, type, expression)
#define SIMT_CAS_AS(function, type)                                                                          \
    inline type function(type *at, type expected, type value)                                                \
    {                                                                                                        \
        return simt::atomic(at, [=](type old) -> type { return old == expected ? value : old; });            \
    }
#define SIMT_CAS(type)                                                                                       \
    SIMT_CAS_AS(atomicCAS, type)                                                                             \
    SIMT_CAS_AS(atomicCAS_block, type)                                                                       \
    SIMT_CAS_AS(atomicCAS_system, type)
#define SIMT_ATOMIC_BITS(type)                                                                               \
    SIMT_ATOMIC(atomicMin, type, old < value ? old : value)                                                  \
    SIMT_ATOMIC(atomicMax, type, old < value ? value : old)                                                  \
    SIMT_ATOMIC(atomicAnd, type, old &value)                                                                 \
    SIMT_ATOMIC(atomicOr, type, old | value)                                                                 \
    SIMT_ATOMIC(atomicXor, type, old ^ value)
SIMT_ATOMIC_BITS(int)
SIMT_ATOMIC_BITS(unsigned)
SIMT_ATOMIC_BITS(long long)
SIMT_ATOMIC_BITS(unsigned long long)
SIMT_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
SIMT_ATOMIC(atomicAdd, unsigned, old + value)
SIMT_ATOMIC(atomicAdd, unsigned long long, old + value)
SIMT_ATOMIC(atomicAdd, float, old + value)
SIMT_ATOMIC(atomicAdd, double, old + value)
SIMT_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
SIMT_ATOMIC(atomicSub, unsigned, old - value)
SIMT_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
SIMT_ATOMIC(atomicExch, int, ((void)old, value))
SIMT_ATOMIC(atomicExch, unsigned, ((void)old, value))
SIMT_ATOMIC(atomicExch, unsigned long long, ((void)old, value))
SIMT_ATOMIC(atomicExch, float, ((void)old, value))
SIMT_CAS(int)
SIMT_CAS(unsigned)
SIMT_CAS(unsigned long long)
SIMT_CAS(unsigned short)

/* Loads that may be of what others write let them go on now and then, so that loops that wait end. */
#define SIMT_LOAD(name, chance)                                                                              \
    template <class T> inline T name(const T *at)                                                            \
    {                                                                                                        \
        if ((chance) != 0) {                                                                                 \
            simt::pause(chance);                                                                             \
        }                                                                                                    \
        return *at;                                                                                          \
    }
SIMT_LOAD(__ldg, 0)
SIMT_LOAD(__ldca, 0)
SIMT_LOAD(__ldcs, 0)
SIMT_LOAD(__ldlu, 0)
SIMT_LOAD(__ldcg, 8)
SIMT_LOAD(__ldcv, 4)
#define SIMT_STORE(name)                                                                                     \
    template <class T> inline void name(T *at, T value)                                                      \
    {                                                                                                        \
        *at = value;                                                                                         \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)

inline void __threadfence()
{
    simt::pause(4);
}
inline void __threadfence_block()
{
    simt::pause(4);
}
inline void __threadfence_system()
{
    simt::pause(4);
}
inline void __nanosleep(unsigned)
{
    simt::pause(1);
}
/* A clock that goes on with every look at it. */
long long clock64();

#endif
