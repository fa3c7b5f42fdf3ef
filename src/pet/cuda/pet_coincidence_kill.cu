/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU in one pass, for single prompt windows of which only those with two singles count:
 * the rule of the seed (J. Farthing, 2021), killAll and what is like it. A bit tells of each single whether
 * the next is within the window. Where a bit is set and the one before it is not, a run begins; no window
 * reaches from one run into another. Most are of one bit, and are a pair; longer ones are walked by a thread,
 * also beyond the end of the tile that they begin in. So crystals and energies are read of pairs alone. A run
 * that goes on further than a tile can see is told to the host, which then takes the way for any rule.
 */
#include "pet/cuda/pet_coincidence_rows.cuh"

namespace
{
enum {
    TILE = SLC_PET_CUDA_TILE,
    HALO = 128, /* places that are seen behind it */
    SEEN = TILE + HALO,
    SEEN_WORDS = SEEN / 32,
    EACH = TILE / THREADS,
    MOST_PAIRS = SEEN / 2,
    ROUNDS = (MOST_PAIRS + THREADS - 1) / THREADS,
    EARLY = 2 /* rounds, which mostly are all */
};
static_assert(static_cast<int>(ROUNDS) <= static_cast<int>(ROWS), "number_rows has room");

template <class T> struct kill_room {
    T time[SEEN + 1];
    uint32_t near[SEEN_WORDS + 1], pairs[SEEN_WORDS];
    uint32_t word_begins[SEEN_WORDS + 1];
    uint16_t list[MOST_PAIRS];
    uint32_t counts[ROWS * WARPS], sizes[SLC_PET_MULTIPLICITIES];
    number_room room;
};

__device__ __forceinline__ bool bit(const uint32_t *words, uint32_t k)
{
    return (words[k / 32] >> (k % 32) & 1U) != 0;
}

__device__ __forceinline__ void bits_of(int64_t t, u64 *bits)
{
    *bits = static_cast<u64>(t);
}
__device__ __forceinline__ void bits_of(double t, u64 *bits)
{
    *bits = static_cast<u64>(__double_as_longlong(t));
}
__device__ __forceinline__ void time_of(u64 bits, int64_t *t)
{
    *t = static_cast<int64_t>(bits);
}
__device__ __forceinline__ void time_of(u64 bits, double *t)
{
    *t = __longlong_as_double(static_cast<long long>(bits));
}

/* Is single k of the tile before the one that it follows? */
template <class T>
__device__ __forceinline__ bool disorder(const slc_pet_cuda_job &job, const kill_room<T> &s, T before_tile,
                                         uint32_t begin, uint32_t k)
{
    const T now = s.time[k];
    if (begin + k > 0) {
        return !((k > 0 ? s.time[k - 1] : before_tile) <= now);
    }
    T newest;
    time_of(job.newest, &newest);
    return job.behind ? !(newest <= now) : now != now;
}

/* Reads the times that the tile sees, and sets the bits of those that the next is near to. Returns how many
 * there are. */
template <class T>
__device__ __forceinline__ uint32_t look(const slc_pet_cuda_job &job, const times<T> &t, kill_room<T> *s,
                                         uint32_t begin, T before_tile)
{
    const uint32_t seen = t.n - begin < SEEN + 1 ? t.n - begin : SEEN + 1;
    T mine[EACH];
#pragma unroll
    for (uint32_t r = 0; r < EACH; r++) {
        const uint32_t k = r * THREADS + threadIdx.x;
        mine[r] = k < seen ? t[begin + k] : T(0);
    }
    const uint32_t behind = TILE + threadIdx.x;
    if (behind < seen) {
        s->time[behind] = t[begin + behind];
    }
#pragma unroll
    for (uint32_t r = 0; r < EACH; r++) {
        s->time[r * THREADS + threadIdx.x] = mine[r];
    }
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < SEEN; k += THREADS) {
        const bool near = k + 1 < seen && apart(s->time[k + 1], s->time[k]) <= t.high;
        const unsigned row = __ballot_sync(ALL, near);
        if (k % 32 == 0) {
            s->near[k / 32] = row;
        }
        if (job.looks_at_order && k < TILE && k < seen && begin + k >= t.split &&
            disorder(job, *s, before_tile, begin, k)) {
            atomicMin(&job.told->disorder, static_cast<u64>(begin + k - t.split));
        }
    }
    return seen;
}

/* The windows of a run that begins with single i of the tile. */
template <class T>
__device__ __forceinline__ void walk_run(const slc_pet_cuda_job &job, const times<T> &t, kill_room<T> *s,
                                         uint32_t begin, uint32_t seen, uint32_t i)
{
    for (;;) {
        const T opener = s->time[i];
        uint32_t b = i + 1;
        while (b < seen && apart(s->time[b], opener) <= t.high) {
            b++;
        }
        if (b == seen && begin + b < t.n) {
            job.told->long_runs = 1;
            return;
        }
        if (begin + b == t.n && !job.last) {
            job.told->carry = begin + i;
            return;
        }
        if (b - i == 2) {
            atomicOr(s->pairs + i / 32, 1U << (i % 32));
        } else if (b - i > 2) {
            atomicAdd(s->sizes + (b - i < SLC_PET_MULTIPLICITIES ? b - i : SLC_PET_MULTIPLICITIES - 1), 1U);
        }
        if (begin + b >= t.n || !bit(s->near, b - 1)) {
            return;
        }
        i = b;
    }
}

/* Runs that begin in the tile; each thread has some places that follow each other. */
template <class T>
__device__ __forceinline__ void find_pairs(const slc_pet_cuda_job &job, const times<T> &t, kill_room<T> *s,
                                           uint32_t begin, uint32_t seen, bool near_before)
{
    const uint32_t first = EACH * threadIdx.x;
    /* This thread's bits, with the one before them and the one behind. */
    const uint32_t word = s->near[first / 32], at = first % 32;
    const uint32_t before = at > 0      ? word >> (at - 1) & 1U
                            : first > 0 ? s->near[first / 32 - 1] >> 31
                                        : near_before;
    const uint32_t behind = at + EACH < 32 ? word >> (at + EACH) & 1U : s->near[first / 32 + 1] & 1U;
    const uint32_t near = word >> at & ((1U << EACH) - 1U);
    const uint32_t starts = near & ~(near << 1 | before);
    const uint32_t longer = near >> 1 | behind << (EACH - 1);
    uint32_t walks = starts & longer;
    uint32_t alone = starts & ~longer;
    /* The window of a pair that is the last may go on. */
    if (begin + first + EACH + 1 >= t.n) {
        walks = starts;
        alone = 0;
        const uint32_t last = t.n - 1 - begin;
        const bool is_here = begin + first <= t.n - 1 && last < first + EACH;
        const bool follows = is_here && (last > first ? (near >> (last - first - 1) & 1U) != 0 : before != 0);
        if (is_here && !follows && !job.last) {
            job.told->carry = t.n - 1;
        }
        if (is_here && job.looks_at_order) {
            bits_of(s->time[last], &job.told->newest);
        }
    }
    if (alone != 0) {
        atomicOr(s->pairs + first / 32, alone << at);
    }
    for (; walks != 0; walks &= walks - 1) {
        const uint32_t i = first + static_cast<uint32_t>(__ffs(static_cast<int>(walks))) - 1;
        walk_run(job, t, s, begin, seen, i);
    }
}

/* The places of pairs, in order; returns how many. */
template <class T> __device__ __forceinline__ uint32_t list_pairs(kill_room<T> *s)
{
    if (threadIdx.x < 32) {
        const unsigned lane = threadIdx.x;
        uint32_t all = 0;
        for (uint32_t row = 0; row < SEEN_WORDS; row += 32) {
            const uint32_t word = row + lane;
            const uint32_t n = word < SEEN_WORDS ? static_cast<uint32_t>(__popc(s->pairs[word])) : 0;
            const uint32_t running = static_cast<uint32_t>(warp_running(n, lane));
            if (word < SEEN_WORDS) {
                s->word_begins[word] = all + running - n;
            }
            all += __shfl_sync(ALL, running, 31);
        }
        if (lane == 0) {
            s->word_begins[SEEN_WORDS] = all;
        }
    }
    __syncthreads();
    for (uint32_t part = threadIdx.x; part < SEEN / EACH; part += THREADS) {
        const uint32_t first = EACH * part, word = s->pairs[first / 32];
        uint32_t at = s->word_begins[first / 32] +
                      static_cast<uint32_t>(__popc(word & ((1U << (first % 32)) - 1U)));
        for (uint32_t bits = word >> (first % 32) & ((1U << EACH) - 1U); bits != 0; bits &= bits - 1) {
            s->list[at++] = static_cast<uint16_t>(first +
                                                  static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1);
        }
    }
    __syncthreads();
    return s->word_begins[SEEN_WORDS];
}

/* What is known of a pair before its row is. */
struct loaded {
    uint32_t crystal1, crystal2;
    float energy1, energy2;
};

__device__ __forceinline__ loaded load(const slc_pet_terms &terms, uint32_t first)
{
    loaded l;
    l.crystal1 = slc_pet_crystal_of(&terms, first);
    l.crystal2 = slc_pet_crystal_of(&terms, first + 1);
    l.energy1 = slc_pet_energy_of(&terms, first);
    l.energy2 = slc_pet_energy_of(&terms, first + 1);
    return l;
}

template <class T>
__device__ __forceinline__ void put(const slc_pet_cuda_job &job, const kill_room<T> &s, u64 row,
                                    uint32_t begin, uint32_t k, const loaded &l)
{
    if (!job.as_pairs) {
        write_group(job, row, begin + k, begin + k + 1, 2);
        return;
    }
    const slc_pet_cuda_pairs &to = job.pairs;
    to.time_ps[row] = static_cast<int64_t>(s.time[k]);
    to.dt_ps[row] = static_cast<int64_t>(apart(s.time[k + 1], s.time[k]));
    to.crystal1[row] = l.crystal1;
    to.crystal2[row] = l.crystal2;
    to.energy1_kev[row] = l.energy1;
    to.energy2_kev[row] = l.energy2;
}

/* Crystals and energies of the first rounds are read before the tile knows where its rows begin. */
template <class T>
__device__ __forceinline__ void write_pairs(const slc_pet_cuda_job &job, kill_room<T> *s, uint32_t begin,
                                            uint32_t tile, uint32_t n)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned good[ROUNDS];
    loaded early[EARLY];
#pragma unroll
    for (uint32_t r = 0; r < EARLY; r++) {
        const uint32_t k = r * THREADS + threadIdx.x;
        early[r] = {0, 0, 0, 0};
        if (k < n) {
            early[r] = load(job.terms, begin + s->list[k]);
        }
    }
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; r++) {
        const uint32_t k = r * THREADS + threadIdx.x;
        bool is = false;
        if (k < n && r < EARLY) {
            is = slc_pet_is_good(&job.terms.good, early[r < EARLY ? r : 0].crystal1,
                                 early[r < EARLY ? r : 0].crystal2);
        } else if (k < n) {
            const uint32_t first = begin + s->list[k];
            is = slc_pet_good_pair(&job.terms, first, first + 1);
        }
        good[r] = __ballot_sync(ALL, is);
        if (lane == 0) {
            s->counts[r * WARPS + warp] = static_cast<uint32_t>(__popc(good[r]));
        }
    }
    u64 base;
    const uint32_t sum = number_rows(s->counts, job.states, tile, &s->room, &base);
#pragma unroll
    for (uint32_t r = 0; r < ROUNDS; r++) {
        if ((good[r] >> lane & 1U) != 0) {
            const uint32_t k = s->list[r * THREADS + threadIdx.x];
            const u64 row = base + s->counts[r * WARPS + warp] + lanes_before(good[r], lane);
            put(job, *s, row, begin, k, r < EARLY ? early[r < EARLY ? r : 0] : load(job.terms, begin + k));
        }
    }
    if (threadIdx.x == 0 && tile == gridDim.x - 1) {
        job.told->rows = base + sum;
    }
}

template <class T> __global__ void __launch_bounds__(THREADS) kill(const slc_pet_cuda_job job)
{
    __shared__ kill_room<T> s;
    const times<T> t = times_of<T>(job);
    for (uint32_t k = threadIdx.x; k < SEEN_WORDS; k += THREADS) {
        s.pairs[k] = 0;
    }
    if (threadIdx.x < SLC_PET_MULTIPLICITIES) {
        s.sizes[threadIdx.x] = 0;
    }
    if (threadIdx.x < ROWS * WARPS) {
        s.counts[threadIdx.x] = 0;
    }
    const uint32_t tile = blockIdx.x, begin = tile * TILE;
    const T before_tile = begin > 0 ? t[begin - 1] : T(0);
    const uint32_t seen = look(job, t, &s, begin, before_tile);
    __syncthreads();
    const bool near_before = begin > 0 && apart(s.time[0], before_tile) <= t.high;
    find_pairs(job, t, &s, begin, seen, near_before);
    __syncthreads();
    const uint32_t n = list_pairs(&s);
    write_pairs(job, &s, begin, tile, n);
    if (threadIdx.x < SLC_PET_MULTIPLICITIES) {
        const uint32_t size = threadIdx.x == 2 ? n : s.sizes[threadIdx.x];
        if (size != 0) {
            atomicAdd(&sums_of(job)->multiplicity[threadIdx.x], static_cast<u64>(size));
        }
    }
}
} // namespace

extern "C" int slc_pet_cuda_kill(const slc_pet_cuda_job *job, void *stream)
{
    const uint32_t tiles = job->n / TILE + (job->n % TILE != 0 ? 1 : 0);
    if (job->is_f64) {
        SLC_LAUNCH(kill<double>, tiles, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    } else {
        SLC_LAUNCH(kill<int64_t>, tiles, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    }
    return static_cast<int>(cudaGetLastError());
}
