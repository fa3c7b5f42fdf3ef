/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads of a block do together: CUDA's barriers, votes, shuffles, matches and reductions. A lane that
 * calls one waits until every lane of its mask that has not ended has come to the same one with the same
 * mask; where values are exchanged, on the same line of the source. Where it is called is kept for reports.
 */
#ifndef TESTS_SIMT_WARP_H
#define TESTS_SIMT_WARP_H

#include "simt_types.h"

#include <cstring>

namespace simt
{

struct block;
struct warp;

/* What a lane waits in. */
enum operation {
    NOTHING,
    SYNCTHREADS,
    SYNCTHREADS_COUNT,
    SYNCTHREADS_AND,
    SYNCTHREADS_OR,
    SYNCWARP,
    SHFL,
    SHFL_UP,
    SHFL_DOWN,
    SHFL_XOR,
    BALLOT,
    ANY,
    ALL,
    MATCH_ANY,
    MATCH_ALL,
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_MIN_SIGNED,
    REDUCE_MAX_SIGNED,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR
};

/* What a kernel sees of the thread that runs. */
struct place {
    uint3 thread, block;
    dim3 threads, blocks;
};
extern const place *now; /* nullptr on the host */

struct where {
    const char *file;
    int line;
};

/* Waits for the others, and gives this lane's result; `argument` is a lane or distance, `width` a shuffle's.
 */
uint64_t warp_call(operation what, unsigned mask, uint64_t value, int argument, int width, where at);
int block_call(operation what, int value, where at);
/* Lets others go on, once in about `chance` calls. */
void pause(unsigned chance);
[[noreturn]] void trap(where at);

template <class T> inline T shuffle(operation what, unsigned mask, T value, int argument, int width, where at)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_call(what, mask, bits, argument, width, at);
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace simt

#define SIMT_AT const char *simt_file = __builtin_FILE(), int simt_line = __builtin_LINE()
#define SIMT_HERE                                                                                            \
    simt::where                                                                                              \
    {                                                                                                        \
        simt_file, simt_line                                                                                 \
    }

inline void __syncthreads(SIMT_AT)
{
    (void)simt::block_call(simt::SYNCTHREADS, 0, SIMT_HERE);
}
inline int __syncthreads_count(int predicate, SIMT_AT)
{
    return simt::block_call(simt::SYNCTHREADS_COUNT, predicate, SIMT_HERE);
}
inline int __syncthreads_and(int predicate, SIMT_AT)
{
    return simt::block_call(simt::SYNCTHREADS_AND, predicate, SIMT_HERE);
}
inline int __syncthreads_or(int predicate, SIMT_AT)
{
    return simt::block_call(simt::SYNCTHREADS_OR, predicate, SIMT_HERE);
}
inline void __syncwarp(unsigned mask = ~0U, SIMT_AT)
{
    (void)simt::warp_call(simt::SYNCWARP, mask, 0, 0, 32, SIMT_HERE);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_AT)
{
    return static_cast<unsigned>(simt::warp_call(simt::BALLOT, mask, predicate != 0, 0, 32, SIMT_HERE));
}
inline int __any_sync(unsigned mask, int predicate, SIMT_AT)
{
    return static_cast<int>(simt::warp_call(simt::ANY, mask, predicate != 0, 0, 32, SIMT_HERE));
}
inline int __all_sync(unsigned mask, int predicate, SIMT_AT)
{
    return static_cast<int>(simt::warp_call(simt::ALL, mask, predicate != 0, 0, 32, SIMT_HERE));
}
/* The caller alone: what a GPU may say, too, as it promises nothing on which lanes go together. */
inline unsigned __activemask()
{
    return 1U << ((simt::now->thread.x +
                   simt::now->threads.x *
                       (simt::now->thread.y + simt::now->threads.y * simt::now->thread.z)) %
                  32);
}

/* CUDA's overloads, so that what is ambiguous there is ambiguous here. */
#define SIMT_EXCHANGE(type)                                                                                  \
    inline type __shfl_sync(unsigned mask, type value, int lane, int width = 32, SIMT_AT)                    \
    {                                                                                                        \
        return simt::shuffle(simt::SHFL, mask, value, lane, width, SIMT_HERE);                               \
    }                                                                                                        \
    inline type __shfl_up_sync(unsigned mask, type value, unsigned distance, int width = 32, SIMT_AT)        \
    {                                                                                                        \
        return simt::shuffle(simt::SHFL_UP, mask, value, static_cast<int>(distance), width, SIMT_HERE);      \
    }                                                                                                        \
    inline type __shfl_down_sync(unsigned mask, type value, unsigned distance, int width = 32, SIMT_AT)      \
    {                                                                                                        \
        return simt::shuffle(simt::SHFL_DOWN, mask, value, static_cast<int>(distance), width, SIMT_HERE);    \
    }                                                                                                        \
    inline type __shfl_xor_sync(unsigned mask, type value, int lanes, int width = 32, SIMT_AT)               \
    {                                                                                                        \
        return simt::shuffle(simt::SHFL_XOR, mask, value, lanes, width, SIMT_HERE);                          \
    }                                                                                                        \
    inline unsigned __match_any_sync(unsigned mask, type value, SIMT_AT)                                     \
    {                                                                                                        \
        uint64_t bits = 0;                                                                                   \
        memcpy(&bits, &value, sizeof value);                                                                 \
        return static_cast<unsigned>(simt::warp_call(simt::MATCH_ANY, mask, bits, 0, 32, SIMT_HERE));        \
    }                                                                                                        \
    inline unsigned __match_all_sync(unsigned mask, type value, int *equal, SIMT_AT)                         \
    {                                                                                                        \
        uint64_t bits = 0;                                                                                   \
        memcpy(&bits, &value, sizeof value);                                                                 \
        const unsigned result = static_cast<unsigned>(                                                       \
            simt::warp_call(simt::MATCH_ALL, mask, bits, 0, 32, SIMT_HERE));                                 \
        *equal = result != 0;                                                                                \
        return result;                                                                                       \
    }
SIMT_EXCHANGE(int)
SIMT_EXCHANGE(unsigned)
SIMT_EXCHANGE(long)
SIMT_EXCHANGE(unsigned long)
SIMT_EXCHANGE(long long)
SIMT_EXCHANGE(unsigned long long)
SIMT_EXCHANGE(float)
SIMT_EXCHANGE(double)

#define SIMT_REDUCE(name, type, what)                                                                        \
    inline type __reduce_##name##_sync(unsigned mask, type value, SIMT_AT)                                   \
    {                                                                                                        \
        return static_cast<type>(                                                                            \
            simt::warp_call(simt::what, mask, static_cast<unsigned>(value), 0, 32, SIMT_HERE));              \
    }
SIMT_REDUCE(add, unsigned, REDUCE_ADD)
SIMT_REDUCE(add, int, REDUCE_ADD)
SIMT_REDUCE(min, unsigned, REDUCE_MIN)
SIMT_REDUCE(min, int, REDUCE_MIN_SIGNED)
SIMT_REDUCE(max, unsigned, REDUCE_MAX)
SIMT_REDUCE(max, int, REDUCE_MAX_SIGNED)
SIMT_REDUCE(and, unsigned, REDUCE_AND)
SIMT_REDUCE(or, unsigned, REDUCE_OR)
SIMT_REDUCE(xor, unsigned, REDUCE_XOR)

inline void __trap(SIMT_AT)
{
    simt::trap(SIMT_HERE);
}

#endif
