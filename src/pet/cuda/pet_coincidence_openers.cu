/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU: which singles open a window where only those do that fell into none.
 *
 * Prompts: the next opener is the first single behind the window, so openers are a chain. A single that is
 * farther from the one before it than windows reach opens one whatever came before; from each such the chain
 * is walked by a thread of its own. A tile that has none doubles steps until all its places know where they
 * leave it, and waits for the tile before it to say where it is entered.
 *
 * Delayed windows: a single opens one unless an opener is as far behind it as windows reach. So singles with
 * nobody there do, those that see an opener there do not, and others ask again once more is known: openers of
 * all tiles are found at once, and a tile waits for another only where it must. A window begins behind its
 * opener, so that the first single that is not known can always be decided.
 */
#include "pet/cuda/pet_coincidence_device.cuh"

namespace
{
/* ---- prompts -------------------------------------------------------------------------------------- */

enum { CHAIN = SLC_PET_CUDA_CHAIN, CHAIN_ROWS = CHAIN / THREADS };

/* Where the chain leaves a tile, once it is known. */
__device__ __forceinline__ uint32_t entered_at(const uint32_t *reached, uint32_t tile)
{
    uint32_t place = __ldcv(reached + tile);
    while (place == 0) {
        __nanosleep(20);
        place = __ldcv(reached + tile);
    }
    return place - 1;
}

/* Of each place, where the chain goes on behind it, which becomes where it leaves the tile. By all threads.
 * Steps are taken in any order, as all lead along the chain. */
__device__ __forceinline__ void double_steps(volatile uint32_t *next, uint32_t begin, uint32_t end)
{
    int moved = 1;
    while (moved != 0) {
        int more = 0;
        for (uint32_t k = threadIdx.x; k < CHAIN; k += THREADS) {
            const uint32_t at = next[k];
            if (at < end) {
                const uint32_t then = next[at - begin];
                next[k] = then;
                more |= then < end;
            }
        }
        moved = __syncthreads_or(more);
    }
}

/* Walks from an opener through the tile; ends behind it, or at one that is known to open a window. */
__device__ __forceinline__ uint32_t walk(const uint32_t *next, uint8_t *marks, const uint8_t *roots,
                                         uint32_t place, uint32_t begin, uint32_t end)
{
    do {
        marks[place - begin] = 1;
        place = next[place - begin];
    } while (place < end && roots[place - begin] == 0);
    return place;
}

struct chain_room {
    uint32_t next[CHAIN], doubled[CHAIN];
    uint8_t roots[CHAIN], marks[CHAIN];
    uint32_t entry, latest;
};

/* The chain through a tile in which no single surely opens a window. If it leaves the tile at one place
 * wherever it was entered, the next tile need not wait. */
template <class T>
__device__ __forceinline__ void pass_through(const slc_pet_cuda_job &job, const times<T> &t, chain_room *s,
                                             uint32_t tile, uint32_t begin, uint32_t end)
{
    for (uint32_t k = threadIdx.x; k < CHAIN; k += THREADS) {
        s->doubled[k] = s->next[k];
    }
    __syncthreads();
    double_steps(s->doubled, begin, end);
    if (threadIdx.x == 0) { /* it is not entered behind the window of the single before it */
        s->latest = first_beyond(t, begin, t[begin - 1]);
    }
    __syncthreads();
    const uint32_t out = s->doubled[0];
    int same = s->latest < end;
    for (uint32_t k = threadIdx.x; k < CHAIN && begin + k <= s->latest; k += THREADS) {
        same &= s->doubled[k] == out;
    }
    same = __syncthreads_and(same);
    if (threadIdx.x == 0) {
        if (same != 0) {
            __stcg(job.reached + tile, out + 1);
        }
        const uint32_t entry = entered_at(job.reached, tile - 1);
        if (same == 0) {
            __stcg(job.reached + tile, (entry < end ? s->doubled[entry - begin] : entry) + 1);
        }
        s->entry = entry;
    }
}

template <class T> __global__ void __launch_bounds__(THREADS) find_chain(const slc_pet_cuda_job job)
{
    __shared__ chain_room s;
    const times<T> t = times_of<T>(job);
    const uint32_t tile = blockIdx.x;
    const uint32_t begin = tile * CHAIN, end = t.n - begin > CHAIN ? begin + CHAIN : t.n;
    int roots = 0;
    for (uint32_t k = threadIdx.x; k < CHAIN; k += THREADS) {
        const uint32_t i = begin + k;
        const bool root = i < end && (i == 0 || !(apart(t[i], t[i - 1]) <= t.high));
        s.next[k] = i < end ? first_beyond(t, i + 1, t[i]) : i + 1;
        s.roots[k] = root;
        s.marks[k] = 0;
        roots |= root;
    }
    if (threadIdx.x == 0) {
        s.entry = end;
    }
    roots = __syncthreads_or(roots);
    if (roots == 0) {
        pass_through(job, t, &s, tile, begin, end);
    } else {
        for (uint32_t k = threadIdx.x; k < CHAIN; k += THREADS) {
            if (s.roots[k] != 0) {
                const uint32_t out = walk(s.next, s.marks, s.roots, begin + k, begin, end);
                if (out >= end) { /* of the last root alone */
                    __stcg(job.reached + tile, out + 1);
                }
            }
        }
        if (threadIdx.x == 0 && s.roots[0] == 0) {
            s.entry = entered_at(job.reached, tile - 1);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && s.entry < end && s.roots[s.entry - begin] == 0) {
        (void)walk(s.next, s.marks, s.roots, s.entry, begin, end);
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < CHAIN; k += THREADS) {
        const unsigned open = __ballot_sync(ALL, s.marks[k] != 0);
        if (threadIdx.x % 32 == 0 && begin + k < end) {
            job.openers[(begin + k) / 32] = 0xFFFFFFFF00000000ULL | open;
        }
    }
}

/* ---- delayed -------------------------------------------------------------------------------------- */

enum { DELAYED = SLC_PET_CUDA_DELAYED, WORDS = DELAYED / 32, MOST_WORDS = 64, CLOSE = 32 };
enum answer { UNKNOWN = 0, OPENS, OPENS_NOT };

/* Is there an opener among places a … b - 1? A tile that is complete tells of its last one; `own` are the
 * words of this one. */
__device__ __forceinline__ answer ask(const slc_pet_cuda_job &job, const u64 *own, uint32_t tile, uint32_t a,
                                      uint32_t b)
{
    bool all_known = true;
    uint32_t looks = 0;
    while (b > a) {
        if (b % DELAYED == 0 && b / DELAYED <= tile) {
            const uint32_t last = __ldcv(job.reached + (b / DELAYED - 1));
            if (last != 0) {
                const bool found = last >= 2 && last - 2 >= a;
                return found ? OPENS_NOT : all_known ? OPENS : UNKNOWN;
            }
        }
        if (looks++ == MOST_WORDS) { /* until more tiles are complete */
            return UNKNOWN;
        }
        const uint32_t word = (b - 1) / 32, begin = word * 32;
        const u64 bits = begin >= tile * DELAYED ? own[word % WORDS] : __ldcv(job.openers + word);
        unsigned mask = ~0U >> (31 - (b - 1) % 32);
        mask &= a > begin ? ~0U << (a - begin) : ~0U;
        if ((static_cast<unsigned>(bits) & mask) != 0) {
            return OPENS_NOT;
        }
        all_known = all_known && (~static_cast<unsigned>(bits >> 32) & mask) == 0;
        b = begin;
    }
    return all_known ? OPENS : UNKNOWN;
}

/* The singles whose windows would have place i inside: a … b - 1. */
struct behind {
    uint32_t a, b;
};

template <class T> __device__ __forceinline__ behind behind_of(const times<T> &t, uint32_t i, behind from)
{
    const T now = t[i];
    behind at;
    at.a = first_where(from.a, i, [&](uint32_t k) { return apart(now, t[k]) <= t.high; });
    at.b = first_where(from.b > at.a ? from.b : at.a, i,
                       [&](uint32_t k) { return apart(now, t[k]) < t.low; });
    return at;
}

/* The same where they are but a few places behind. */
template <class T> __device__ __forceinline__ behind closely_behind(const times<T> &t, uint32_t i)
{
    const T now = t[i];
    behind at;
    at.b = first_where_back(i, [&](uint32_t k) { return apart(now, t[k]) < t.low; });
    at.a = first_where_back(at.b, [&](uint32_t k) { return apart(now, t[k]) <= t.high; });
    return at;
}

/* The last opener up to the end of a tile, for all that ask behind it. */
__device__ __forceinline__ void tell_last(const slc_pet_cuda_job &job, uint32_t tile, const unsigned *open)
{
    uint32_t last = 0;
    for (uint32_t k = 0; k < WORDS; k++) {
        if (open[k] != 0) {
            last = tile * DELAYED + k * 32 + 31 - static_cast<uint32_t>(__clz(static_cast<int>(open[k]))) + 2;
        }
    }
    if (last == 0 && tile == 0) {
        last = 1;
    }
    while (last == 0) {
        last = __ldcv(job.reached + (tile - 1));
        if (last == 0) {
            __nanosleep(20);
        }
    }
    __stcg(job.reached + tile, last);
}

template <class T>
__device__ __forceinline__ void find_delayed_tile(const slc_pet_cuda_job &job, const times<T> &t,
                                                  uint32_t tile, u64 *own)
{
    const unsigned lane = threadIdx.x % 32;
    const uint32_t begin = tile * DELAYED;
    behind at[WORDS];
    unsigned known[WORDS], open[WORDS], exists[WORDS];
    const T first = t[begin];
    behind from;
    from.a = first_where_back(begin, [&](uint32_t k) { return apart(first, t[k]) <= t.high; });
    from.b = first_where_back(begin, [&](uint32_t k) { return apart(first, t[k]) < t.low; });
    const bool close = begin - from.b < CLOSE;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const uint32_t i = begin + 32 * static_cast<uint32_t>(k) + lane;
        at[k] = from;
        if (i < t.n) {
            at[k] = close ? closely_behind(t, i) : behind_of(t, i, from);
        }
        exists[k] = __ballot_sync(ALL, i < t.n);
        const bool was = i < t.split; /* decided by an earlier call */
        known[k] = __ballot_sync(ALL, was);
        open[k] = __ballot_sync(ALL, was && job.opener_before[was ? i : 0] != 0);
        if (!close) {
            from.a = __shfl_sync(ALL, at[k].a, 31);
            from.b = __shfl_sync(ALL, at[k].b, 31);
        }
    }
    if (lane < WORDS) {
        own[lane] = 0;
    }
    __syncwarp();
    bool more = true, told = false;
    while (more) {
        more = false;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const unsigned unknown = exists[k] & ~known[k];
            if (unknown == 0 && told) {
                continue;
            }
            const bool asks = (unknown >> lane & 1U) != 0;
            const answer now = asks ? ask(job, own, tile, at[k].a, at[k].b) : UNKNOWN;
            const unsigned decided = __ballot_sync(ALL, now != UNKNOWN);
            open[k] |= __ballot_sync(ALL, now == OPENS);
            known[k] |= decided;
            __syncwarp(); /* all have read the word */
            if (lane == 0 && exists[k] != 0 && (decided != 0 || !told)) {
                own[k] = static_cast<u64>(known[k]) << 32 | open[k];
                __stcg(job.openers + (begin / 32 + static_cast<uint32_t>(k)), own[k]);
            }
            __syncwarp();
            more = more || known[k] != exists[k];
        }
        told = true;
    }
    if (lane == 0) {
        tell_last(job, tile, open);
    }
}

/* A warp has a tile. */
template <class T> __global__ void __launch_bounds__(THREADS) find_delayed(const slc_pet_cuda_job job)
{
    __shared__ u64 words[WARPS][WORDS];
    const times<T> t = times_of<T>(job);
    const uint32_t warp = threadIdx.x / 32, tile = blockIdx.x * WARPS + warp;
    if (tile < (t.n + DELAYED - 1) / DELAYED) {
        find_delayed_tile(job, t, tile, words[warp]);
    }
}

template <class T> void launch(const slc_pet_cuda_job &job, cudaStream_t stream)
{
    if (job.terms.delayed) {
        const uint32_t tiles = (job.n + DELAYED - 1) / DELAYED;
        SLC_LAUNCH(find_delayed<T>, (tiles + WARPS - 1) / WARPS, THREADS, 0, stream, job);
    } else {
        SLC_LAUNCH(find_chain<T>, (job.n + CHAIN - 1) / CHAIN, THREADS, 0, stream, job);
    }
}
} // namespace

extern "C" int slc_pet_cuda_openers(const slc_pet_cuda_job *job, void *stream)
{
    if (job->is_f64) {
        launch<double>(*job, static_cast<cudaStream_t>(stream));
    } else {
        launch<int64_t>(*job, static_cast<cudaStream_t>(stream));
    }
    return static_cast<int>(cudaGetLastError());
}
