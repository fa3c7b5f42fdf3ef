/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps by which a team of threads, a warp or a block, finds the clusters of a module in shared memory.
 * Pixels become bits of words of 32 columns; a word that is hit belongs to one of its digis, whose number
 * stands in a table of words (`owner`). Runs of bits are the nodes of union-find, so its work follows runs,
 * not pixels; which runs of neighbouring rows touch follows from the words alone (as in A. Hennequin's
 * thesis, 2022, chapter 3, there for dense images). A digi finds its run again by counting the starts of runs
 * up to its bit. A thread holds eight consecutive digis in registers, adds up what belongs together, and only
 * then touches shared memory.
 */
#ifndef SLUICE_CMS_CLUSTER_STEPS_CUH
#define SLUICE_CMS_CLUSTER_STEPS_CUH

#include "cms/cuda/cms_cluster_device.cuh"

namespace
{

/* Numbers of digis, 1 … PLACES; 0 is nobody. */
template <int THREADS> struct number {
    typedef uint16_t type;
};
template <> struct number<WARP> {
    typedef uint8_t type;
};

/* The shared memory of a team. */
template <int THREADS> struct room {
    /* NOTHING: the run of digis that are none; there are fewer runs. */
    enum { NUMBERS = THREADS * PER_THREAD, NOTHING = NUMBERS - 1 };
    typedef typename number<THREADS>::type id;
    uint32_t bits[NUMBERS];   /* of a word, by its owner; 0 of others */
    uint32_t parent[NUMBERS]; /* of a run */
    uint32_t charge[NUMBERS]; /* of a set of runs */
    uint32_t first[NUMBERS];  /* number of the first digi of a set, then the number of the cluster */
    uint16_t list[NUMBERS];   /* words that are hit */
    id base[NUMBERS];         /* number of the first run in a word, by its owner */
    uint32_t partial[THREADS == WARP ? 1 : WARP];
};

/* What follows the room: tables whose size depends on the module's, and on the policy for duplicates. */
template <int THREADS> struct tables {
    typename room<THREADS>::id *owner;      /* of a word, from 1; 0: it is not hit */
    uint32_t *claimed;                      /* which words have an owner, as bits */
    typename room<THREADS>::id *pixel_base; /* as room.base, of pixels; with duplicates only */
};

__host__ __device__ inline uint32_t padded(size_t bytes)
{
    return (uint32_t)(bytes + 15) / 16 * 16;
}

/* Bytes of a room and its tables. */
template <int THREADS> size_t room_bound(uint32_t n_words, bool duplicates)
{
    const size_t id = sizeof(typename room<THREADS>::id);
    return padded(sizeof(room<THREADS>)) + padded(n_words * id) +
           padded((n_words + 31) / 32 * sizeof(uint32_t)) + (duplicates ? room<THREADS>::NUMBERS * id : 0);
}

template <int THREADS>
__device__ inline tables<THREADS> tables_of(const slc_cms_cuda_task &task, room<THREADS> &s)
{
    typedef typename room<THREADS>::id id;
    unsigned char *at = reinterpret_cast<unsigned char *>(&s) + padded(sizeof(room<THREADS>));
    tables<THREADS> t;
    t.owner = reinterpret_cast<id *>(at);
    at += padded(task.n_words * sizeof(id));
    t.claimed = reinterpret_cast<uint32_t *>(at);
    t.pixel_base = reinterpret_cast<id *>(at + padded((task.n_words + 31) / 32 * sizeof(uint32_t)));
    return t;
}

/* A module. */
struct module_at {
    uint32_t event, module, begin, first, end; /* begin: of the event */
};
struct found {
    uint32_t digis, first_digi, clusters;
};

/* What a thread holds of it. */
struct hand {
    uint32_t at;     /* row of this thread's first digi */
    uint32_t number; /* of it */
    uint4 x, y, adc;
    uint32_t ours, valid, owned, lost; /* bits: of the module; clustered; owners of words; not counted */
    uint32_t key[PER_THREAD];          /* the owner of the digi's word, then its set */
};

/* Word k / 2 of eight 16-bit values, with value k in its low bits, and others above. */
__device__ inline uint32_t sixteen_low(const uint4 &eight, int k)
{
    const uint32_t word = k < 2 ? eight.x : k < 4 ? eight.y : k < 6 ? eight.z : eight.w;
    return k % 2 == 0 ? word : word >> 16;
}

__device__ inline uint32_t bit_of(uint32_t column)
{
    return __funnelshift_l(0, 1, column); /* 1 << column % 32 */
}

/* How many of the bits 0 … column % 32 are set, less one. */
__device__ inline uint32_t rank_of(uint32_t bits, uint32_t column)
{
    return (uint32_t)__popc(bits & __funnelshift_r(~0U, 0, ~column)) - 1;
}

__device__ inline uint32_t starts_of(uint32_t bits)
{
    return bits & ~(bits << 1);
}

/* Claims a word where flag k is set; true for the first to do so. Like what follows it is predicated, where
 * the compiler would make a branch. */
__device__ inline bool claim_if(uint32_t flags, int k, uint32_t *claimed, uint32_t word)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(claimed + (word >> 5)), bit = bit_of(word);
    uint32_t was;
    asm volatile("{ .reg .pred p; .reg .u32 flag; and.b32 flag, %3, %4; setp.ne.u32 p, flag, 0;"
                 " mov.u32 %0, 0xFFFFFFFF; @p atom.shared.or.b32 %0, [%1], %2; }"
                 : "=&r"(was)
                 : "r"(at), "r"(bit), "r"(flags), "r"(1U << k)
                 : "memory");
    return (was & bit) == 0;
}

/* Sets bits of a word where flag k is set. */
__device__ inline void or_if(uint32_t flags, int k, uint32_t *to, uint32_t value)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
    asm volatile("{ .reg .pred p; .reg .u32 flag; and.b32 flag, %2, %3; setp.ne.u32 p, flag, 0;"
                 " @p red.shared.or.b32 [%0], %1; }" ::"r"(at),
                 "r"(value), "r"(flags), "r"(1U << k)
                 : "memory");
}

/* Adds to a set and tells it a first digi, unless `set` is `unless` or `nothing`. */
__device__ inline void put_unless(uint32_t set, uint32_t unless, uint32_t nothing, uint32_t *charge,
                                  uint32_t sum, uint32_t *first, uint32_t number)
{
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(charge + set);
    const uint32_t also = (uint32_t)__cvta_generic_to_shared(first + set);
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, %5; setp.ne.and.u32 p, %4, %6, p;"
                 " @p red.shared.add.u32 [%0], %1; @p red.shared.min.u32 [%2], %3; }" ::"r"(at),
                 "r"(sum), "r"(also), "r"(number), "r"(set), "r"(unless), "r"(nothing)
                 : "memory");
}

__device__ inline uint32_t word_of(const slc_cms_cuda_task &task, const hand &h, int k)
{
    return (sixteen(h.x, k) + 1) * task.pitch + 1 + (sixteen(h.y, k) >> 5);
}

/* Loads the digis and finds out which are of the module and inside of it, two at a time. */
template <int THREADS> __device__ inline void take(const slc_cms_cuda_task &task, const module_at &m, hand &h)
{
    const uint32_t rank = team_rank<THREADS>();
    h.at = (m.first & ~(uint32_t)(PER_THREAD - 1)) + rank * PER_THREAD;
    h.number = rank * PER_THREAD + 1;
    h.ours = h.valid = h.owned = h.lost = 0;
    h.x = h.y = h.adc = uint4{0, 0, 0, 0};
    if (h.at >= m.end) {
        return;
    }
    const uint4 module = load_eight(task.module, h.at);
    h.x = load_eight(task.x, h.at);
    h.y = load_eight(task.y, h.at);
    h.adc = load_eight(task.adc, h.at);
    const uint32_t both = m.module * 0x10001U, rows = task.rows * 0x10001U, columns = task.columns * 0x10001U;
    const uint32_t other = high_bits(unequal(module.x, both), unequal(module.y, both),
                                     unequal(module.z, both), unequal(module.w, both));
    const uint32_t outside = high_bits(not_below(h.x.x, rows) | not_below(h.y.x, columns),
                                       not_below(h.x.y, rows) | not_below(h.y.y, columns),
                                       not_below(h.x.z, rows) | not_below(h.y.z, columns),
                                       not_below(h.x.w, rows) | not_below(h.y.w, columns));
    h.ours = ~other & in_range(h.at, m.first, m.end);
    h.valid = h.ours & ~outside;
}

/* Records digis outside of the module. */
__device__ void blame(const slc_cms_cuda_task &task, const module_at &m, const hand &h)
{
    for (uint32_t bad = h.ours & ~h.valid; bad != 0; bad &= bad - 1) {
        add_fault(task, SLC_FAULT_CMS_PIXEL, m.event, m.module,
                  h.at + (uint32_t)__ffs((int)bad) - 1 - m.begin);
    }
}

/* Leaves out the digis beyond the most that are allowed; `before` are in the threads before. */
__device__ void leave_out(const slc_cms_cuda_task &task, const module_at &m, hand &h, uint32_t before)
{
    if (before + (uint32_t)__popc(h.valid) > task.most) {
        uint32_t rest = h.valid;
        for (uint32_t left = before < task.most ? task.most - before : 0; left > 0; left--) {
            rest &= rest - 1;
        }
        if (before <= task.most) {
            add_fault(task, SLC_FAULT_CMS_MODULE_CROWDED, m.event, m.module,
                      h.at + (uint32_t)__ffs((int)rest) - 1 - m.begin);
        }
        h.valid &= ~rest;
    }
}

/* The number of valid digis and the first of them, in its event. */
template <int THREADS>
__device__ inline found count(const slc_cms_cuda_task &task, const module_at &m, room<THREADS> &s, hand &h)
{
    const uint32_t here = h.at + (uint32_t)__ffs((int)h.valid) - 1 - m.begin;
    found f = {0, 0, 0};
    uint32_t before = 0;
    if (THREADS == WARP) {
        f.digis = warp_sum((uint32_t)__popc(h.valid));
        f.first_digi = __shfl_sync(~0U, here, __ffs((int)__ballot_sync(~0U, h.valid != 0)) - 1);
        if (f.digis > task.most) {
            before = warp_sum_up_to((uint32_t)__popc(h.valid)) - (uint32_t)__popc(h.valid);
        }
    } else {
        before = team_sum_before<THREADS>((uint32_t)__popc(h.valid), s.partial, &f.digis);
        team_sync<THREADS>();
        if (h.valid != 0 && before == 0) {
            s.partial[0] = here;
        }
        team_sync<THREADS>();
        f.first_digi = s.partial[0];
        team_sync<THREADS>();
    }
    if (f.digis > task.most) {
        leave_out(task, m, h, before);
    }
    return f;
}

/* Gives every word that is hit an owner, one of its digis, and sets its bits. `key` becomes the owner.
 * Returns whether a pixel was there already (with DUPLICATES; false otherwise). */
template <int THREADS, bool DUPLICATES>
__device__ inline bool mark(const slc_cms_cuda_task &task, room<THREADS> &s, const tables<THREADS> &t,
                            hand &h)
{
    bool again = false;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        const uint32_t word = word_of(task, h, k);
        if (claim_if(h.valid, k, t.claimed, word)) {
            h.owned |= 1U << k;
            t.owner[word] = (typename room<THREADS>::id)(h.number + k);
        }
    }
    team_sync<THREADS>();
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        h.key[k] = (h.valid >> k & 1) != 0 ? t.owner[word_of(task, h, k)] : 0;
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        const uint32_t bit = bit_of(sixteen_low(h.y, k));
        if (!DUPLICATES) {
            or_if(h.valid, k, &s.bits[h.key[k]], bit);
        } else if ((h.valid >> k & 1) != 0) {
            again |= (atomicOr(&s.bits[h.key[k]], bit) & bit) != 0;
        }
    }
    return again;
}

/* Lists the words that are hit; returns how many there are. */
template <int THREADS>
__device__ inline uint32_t list_words(const slc_cms_cuda_task &task, room<THREADS> &s, const hand &h)
{
    uint32_t n;
    uint32_t at = team_sum_before<THREADS>((uint32_t)__popc(h.owned), s.partial, &n);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        if (h.owned >> k & 1) {
            s.list[at++] = (uint16_t)word_of(task, h, k);
        }
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; k += 4) { /* 16 bytes a thread, and no conflict of banks */
        const uint32_t i = team_rank<THREADS>() * 4 + (uint32_t)k * THREADS;
        *reinterpret_cast<uint4 *>(s.parent + i) = uint4{i, i + 1, i + 2, i + 3};
        *reinterpret_cast<uint4 *>(s.first + i) = uint4{~0U, ~0U, ~0U, ~0U};
        *reinterpret_cast<uint4 *>(s.charge + i) = uint4{0, 0, 0, 0};
    }
    team_sync<THREADS>();
    return n;
}

/* Numbers the runs (and with DUPLICATES the pixels) of all words; returns how many runs there are. */
template <int THREADS, bool DUPLICATES>
__device__ inline uint32_t number_runs(room<THREADS> &s, const tables<THREADS> &t, uint32_t n)
{
    typedef typename room<THREADS>::id id;
    uint32_t runs = 0;
    for (uint32_t j = team_rank<THREADS>(); j - team_rank<THREADS>() < n; j += THREADS) {
        const uint32_t me = j < n ? t.owner[s.list[j]] : 0;
        const uint32_t bits = j < n ? s.bits[me] : 0;
        uint32_t all, here = (uint32_t)__popc(starts_of(bits));
        if (DUPLICATES) {
            here |= (uint32_t)__popc(bits) << 16;
        }
        const uint32_t before = team_sum_before<THREADS>(here, s.partial, &all) + runs;
        if (j < n) {
            s.base[me] = (id)before;
            if (DUPLICATES) {
                t.pixel_base[me] = (id)(before >> 16);
            }
        }
        runs += all;
    }
    team_sync<THREADS>();
    return DUPLICATES ? runs & 0xFFFFU : runs;
}

/* The pairs of runs that a word gives: its runs with those that they touch in the row above, and with the one
 * that ends at its left edge. Of the three pixels above a pixel only those need be looked at that its left
 * neighbour has not seen, or that the pixel between does not join anyhow. */
struct pairs {
    uint32_t starts, above_starts, straight; /* of the word's runs, of those above, of those with one above */
    uint32_t base, above_base, left_run, corner_run, right_run;
    uint32_t back, ahead; /* to do: bits whose partner is straight above or before that, or behind that */
    bool beside;
};

template <int THREADS>
__device__ inline pairs pairs_of(const slc_cms_cuda_task &task, const room<THREADS> &s,
                                 const typename room<THREADS>::id *owner, uint32_t word)
{
    const uint32_t me = owner[word], left = owner[word - 1], up = owner[word - task.pitch];
    const uint32_t corner = owner[word - task.pitch - 1], right = owner[word - task.pitch + 1];
    const uint32_t bits = s.bits[me], above = s.bits[up], left_bits = s.bits[left],
                   corner_bits = s.bits[corner];
    pairs p;
    p.starts = starts_of(bits);
    p.above_starts = starts_of(above);
    p.straight = p.starts & above;
    p.base = s.base[me];
    p.above_base = s.base[up];
    p.left_run = s.base[left] + (uint32_t)__popc(starts_of(left_bits)) - 1;
    p.corner_run = s.base[corner] + (uint32_t)__popc(starts_of(corner_bits)) - 1;
    p.right_run = s.base[right];
    p.beside = (bits & left_bits >> 31) != 0;
    p.back = p.straight | (p.starts & ~above & __funnelshift_l(corner_bits, above, 1));
    p.ahead = bits & ~above & __funnelshift_r(above, s.bits[right], 1);
    return p;
}

__device__ inline bool more(const pairs &p)
{
    return p.beside || (p.back | p.ahead) != 0;
}

/* Takes one pair out. */
__device__ inline uint2 next(pairs &p)
{
    if (p.beside) {
        p.beside = false;
        return uint2{p.base, p.left_run};
    }
    const bool back = p.back != 0;
    const uint32_t bit = (uint32_t)__ffs((int)(back ? p.back : p.ahead)) - 1;
    const uint32_t target = !back ? bit + 1 : p.straight >> bit & 1 ? bit : bit - 1;
    p.ahead = back ? p.ahead : p.ahead & (p.ahead - 1);
    p.back &= p.back - 1;
    uint32_t other = p.above_base + rank_of(p.above_starts, target);
    other = target < 32 ? other : target == 32 ? p.right_run : p.corner_run;
    return uint2{p.base + rank_of(p.starts, bit), other};
}

/* A pair for each lane, in step: where lanes went through loops of their own, the warp would fall apart and
 * stay so. Equal members are nothing to do. */
__device__ inline void unite_in_step(uint32_t *parent, uint2 pair)
{
    volatile uint32_t *now = parent;
    while (__any_sync(~0U, pair.x != pair.y)) {
        const uint2 up = {now[pair.x], now[pair.y]};
        const bool roots = up.x == pair.x && up.y == pair.y && pair.x != pair.y;
        const uint32_t high = max(pair.x, pair.y), low = min(pair.x, pair.y);
        pair = up;
        if (roots) {
            const uint32_t was = atomicMin(parent + high, low);
            pair = uint2{was == high ? low : was, low};
        }
    }
}

/* Unites touching runs; afterwards every run's parent is the lowest of its set. */
template <int THREADS>
__device__ inline void unite(const slc_cms_cuda_task &task, room<THREADS> &s,
                             const typename room<THREADS>::id *owner, uint32_t n, uint32_t runs)
{
    for (uint32_t start = 0; start < n; start += THREADS) {
        const uint32_t j = start + team_rank<THREADS>();
        pairs p = pairs_of<THREADS>(task, s, owner, s.list[j < n ? j : 0]);
        p.beside = j < n && p.beside;
        p.back = j < n ? p.back : 0;
        p.ahead = j < n ? p.ahead : 0;
        while (__any_sync(~0U, more(p))) {
            unite_in_step(s.parent, more(p) ? next(p) : uint2{0, 0});
        }
    }
    team_sync<THREADS>();
    for (uint32_t start = 0; start < runs; start += THREADS) {
        const uint32_t r = start + team_rank<THREADS>();
        volatile uint32_t *parent = s.parent;
        uint32_t root = r < runs ? r : 0, up = parent[root];
        while (__any_sync(~0U, up != root)) {
            root = up;
            up = parent[root];
        }
        team_sync<THREADS>(); /* others have read it */
        if (r < runs) {
            parent[r] = root;
        }
        team_sync<THREADS>();
    }
}

/* With duplicates: marks the digis that do not count for their pixel. The best of a pixel has the largest
 * key: the first digi, or the one of the largest charge and of equals the first. `charge` is all 0 before and
 * after. */
template <int THREADS>
__device__ void drop_duplicates(const slc_cms_cuda_task &task, room<THREADS> &s, const tables<THREADS> &t,
                                hand &h)
{
    const bool largest = task.duplicates == SLC_PIXEL_DUPLICATES_LARGEST;
    for (int pass = 0; pass < 3; pass++) {
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            if ((h.valid >> k & 1) == 0) {
                continue;
            }
            uint32_t *best = s.charge + t.pixel_base[h.key[k]] +
                             rank_of(s.bits[h.key[k]], sixteen_low(h.y, k));
            const uint32_t mine = (largest ? sixteen(h.adc, k) << 16 : 0) | (0xFFFFU - (h.number + k));
            if (pass == 0) {
                atomicMax(best, mine);
            } else if (pass == 1) {
                h.lost |= *best != mine ? 1U << k : 0;
            } else {
                *best = 0;
            }
        }
        team_sync<THREADS>();
    }
}

/* `key` becomes the set of the digi; sets get their charge and their first digi. Consecutive digis of a set
 * are added up before. */
template <int THREADS, bool DUPLICATES>
__device__ inline void add_up(const slc_cms_cuda_task &task, room<THREADS> &s, hand &h)
{
    const bool all = task.duplicates == SLC_PIXEL_DUPLICATES_SUM;
    const uint32_t nothing = room<THREADS>::NOTHING;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        const uint32_t run = s.base[h.key[k]] + rank_of(starts_of(s.bits[h.key[k]]), sixteen_low(h.y, k));
        h.key[k] = (h.valid >> k & 1) != 0 ? s.parent[run] : nothing;
    }
    uint32_t set = nothing, sum = 0, since = 0;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        const bool change = h.key[k] != set;
        put_unless(set, h.key[k], nothing, s.charge, sum, s.first, since);
        set = h.key[k];
        since = change ? h.number + k : since;
        const bool counts = !DUPLICATES || all || (h.lost >> k & 1) == 0;
        sum = (change ? 0 : sum) + (counts ? sixteen(h.adc, k) : 0);
    }
    put_unless(set, nothing, nothing, s.charge, sum, s.first, since);
    team_sync<THREADS>();
}

/* Numbers the sets that pass by their first digis; returns how many there are. */
template <int THREADS>
__device__ inline uint32_t number_sets(const slc_cms_cuda_task &task, const module_at &m, room<THREADS> &s,
                                       const hand &h, uint32_t runs)
{
    for (uint32_t r = team_rank<THREADS>(); r < runs; r += THREADS) {
        if (!passes(task, m.module, s.charge[r])) {
            s.first[r] = (uint32_t)SLC_CMS_NO_CLUSTER;
        }
    }
    if (team_rank<THREADS>() == 0) {
        s.first[room<THREADS>::NOTHING] = (uint32_t)SLC_CMS_NO_CLUSTER;
    }
    team_sync<THREADS>();
    uint32_t firsts = 0, n;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        firsts |= s.first[h.key[k]] == h.number + k ? 1U << k : 0;
    }
    uint32_t at = team_sum_before<THREADS>((uint32_t)__popc(firsts), s.partial, &n);
    team_sync<THREADS>();
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        if (firsts >> k & 1) {
            s.first[h.key[k]] = at++;
        }
    }
    team_sync<THREADS>();
    return n;
}

/* Writes the numbers of the clusters. */
template <int THREADS>
__device__ inline void write(const slc_cms_cuda_task &task, const room<THREADS> &s, const hand &h)
{
    int32_t cluster[PER_THREAD];
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        cluster[k] = (int32_t)s.first[h.key[k]];
    }
    if (h.ours == 0xFFU) {
        int4 *to = reinterpret_cast<int4 *>(task.cluster + h.at);
        to[0] = int4{cluster[0], cluster[1], cluster[2], cluster[3]};
        to[1] = int4{cluster[4], cluster[5], cluster[6], cluster[7]};
    } else if (h.ours != 0) {
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++) {
            if (h.ours >> k & 1) {
                task.cluster[h.at + k] = cluster[k];
            }
        }
    }
}

__device__ void write_counts(const slc_cms_cuda_task &task, const hand &h)
{
    for (int k = 0; k < PER_THREAD; k++) {
        if (h.valid >> k & 1) {
            task.counts[h.at + k] = (uint8_t)((h.lost >> k & 1) == 0);
        }
    }
}

/* Makes bits and tables empty again: the words of the list. */
template <int THREADS>
__device__ inline void clean(const slc_cms_cuda_task &task, room<THREADS> &s, const tables<THREADS> &t,
                             uint32_t words)
{
    for (uint32_t j = team_rank<THREADS>(); j < words; j += THREADS) {
        t.owner[s.list[j]] = 0;
    }
    for (uint32_t i = team_rank<THREADS>(); i < (task.n_words + 31) / 32; i += THREADS) {
        t.claimed[i] = 0;
    }
#pragma unroll
    for (int k = 0; k < PER_THREAD; k += 4) {
        *reinterpret_cast<uint4 *>(s.bits + team_rank<THREADS>() * 4 + k * THREADS) = uint4{0, 0, 0, 0};
    }
    team_sync<THREADS>();
}

/* All of the above. */
template <int THREADS, bool DUPLICATES>
__device__ inline found find(const slc_cms_cuda_task &task, room<THREADS> &s, const tables<THREADS> &t,
                             const module_at &m)
{
    hand h;
    take<THREADS>(task, m, h);
    if (h.ours != h.valid) {
        blame(task, m, h);
    }
    found f = count<THREADS>(task, m, s, h);
    const bool again = mark<THREADS, DUPLICATES>(task, s, t, h);
    const uint32_t words = list_words<THREADS>(task, s, h);
    const uint32_t runs = number_runs<THREADS, DUPLICATES>(s, t, words);
    unite<THREADS>(task, s, t.owner, words, runs);
    if (DUPLICATES) {
        uint32_t any;
        team_sum_before<THREADS>(again ? 1 : 0, s.partial, &any);
        if (any != 0) {
            drop_duplicates<THREADS>(task, s, t, h);
        }
        write_counts(task, h);
    }
    add_up<THREADS, DUPLICATES>(task, s, h);
    f.clusters = number_sets<THREADS>(task, m, s, h, runs);
    write<THREADS>(task, s, h);
    clean<THREADS>(task, s, t, words);
    return f;
}

template <int THREADS>
__device__ inline void clear(const slc_cms_cuda_task &task, room<THREADS> &s, const tables<THREADS> &t)
{
    for (uint32_t i = team_rank<THREADS>(); i < task.n_words; i += THREADS) {
        t.owner[i] = 0;
    }
    if (team_rank<THREADS>() == 0) {
        s.base[0] = 0;
    }
    clean<THREADS>(task, s, t, 0);
}

} // namespace

#endif
