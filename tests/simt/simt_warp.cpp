/* SPDX-License-Identifier: Apache-2.0
 * How collectives end: when all have come, every lane's result is computed at once. And who waits for whom.
 */
#include "simt_block.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace simt
{

namespace
{

const char *const names[] = {
    "nothing",           "__syncthreads",     "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
    "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",      "__shfl_down_sync",  "__shfl_xor_sync",
    "__ballot_sync",     "__any_sync",        "__all_sync",          "__match_any_sync",  "__match_all_sync",
    "__reduce_add_sync", "__reduce_min_sync", "__reduce_max_sync",   "__reduce_min_sync", "__reduce_max_sync",
    "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync",
};

/* Lanes of a warp that exchange values. */
struct group {
    thread *lane[WARP];
    uint32_t members; /* those that are in it and have not ended */
};

/* What a lane gets that reads one which is not there. */
uint64_t nobody()
{
    return 0xBADC0FFEE0DDF00DULL ^ random_bits();
}

uint64_t shuffled(const group &all, uint32_t l)
{
    const thread *t = all.lane[l];
    const uint32_t width = static_cast<uint32_t>(t->width), first = l & ~(width - 1);
    const uint32_t argument = static_cast<uint32_t>(t->argument);
    uint32_t from = l;
    switch (t->what) {
    case SHFL:
        from = first + (argument & (width - 1));
        break;
    case SHFL_UP:
        from = argument > l - first ? l : l - argument;
        break;
    case SHFL_DOWN:
        from = argument >= width || l + argument >= first + width ? l : l + argument;
        break;
    default:
        from = (l ^ (argument & (WARP - 1))) >= first + width ? l : l ^ (argument & (WARP - 1));
        break;
    }
    return (all.members >> from & 1U) != 0 ? all.lane[from]->value : nobody();
}

uint64_t votes(const group &all, operation what)
{
    uint32_t ballot = 0;
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        const uint32_t l = static_cast<uint32_t>(__builtin_ctz(left));
        ballot |= static_cast<uint32_t>(all.lane[l]->value != 0) << l;
    }
    return what == BALLOT ? ballot : what == ANY ? ballot != 0 : ballot == all.members;
}

uint64_t matches(const group &all, uint64_t value)
{
    uint32_t equal = 0;
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        const uint32_t l = static_cast<uint32_t>(__builtin_ctz(left));
        equal |= static_cast<uint32_t>(all.lane[l]->value == value) << l;
    }
    return equal;
}

uint32_t reduced(operation what, uint32_t a, uint32_t b)
{
    const int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
    switch (what) {
    case REDUCE_ADD:
        return a + b;
    case REDUCE_MIN:
        return a < b ? a : b;
    case REDUCE_MAX:
        return a < b ? b : a;
    case REDUCE_MIN_SIGNED:
        return x < y ? a : b;
    case REDUCE_MAX_SIGNED:
        return x < y ? b : a;
    case REDUCE_AND:
        return a & b;
    case REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

uint64_t reduction(const group &all, operation what)
{
    const uint32_t first = static_cast<uint32_t>(__builtin_ctz(all.members));
    uint32_t value = static_cast<uint32_t>(all.lane[first]->value);
    for (uint32_t left = all.members & (all.members - 1); left != 0; left &= left - 1) {
        value = reduced(what, value, static_cast<uint32_t>(all.lane[__builtin_ctz(left)]->value));
    }
    return value;
}

void exchange(const group &all, operation what)
{
    uint64_t common = 0;
    if (what == BALLOT || what == ANY || what == ALL) {
        common = votes(all, what);
    } else if (what >= REDUCE_ADD) {
        common = reduction(all, what);
    }
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        const uint32_t l = static_cast<uint32_t>(__builtin_ctz(left));
        thread *t = all.lane[l];
        if (what >= SHFL && what <= SHFL_XOR) {
            t->result = shuffled(all, l);
        } else if (what == MATCH_ANY) {
            t->result = matches(all, t->value);
        } else if (what == MATCH_ALL) {
            const uint64_t equal = matches(all, t->value);
            t->result = equal == all.members ? equal : 0;
        } else {
            t->result = common;
        }
    }
}

/* Do all of them wait in the same call? Those that do not, with the same mask, never will. */
bool together(block *in, const group &all, uint32_t mask)
{
    const thread *one = all.lane[__builtin_ctz(all.members)];
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        const thread *other = all.lane[__builtin_ctz(left)];
        if (other->mask != mask) {
            return false;
        }
        const bool same_line = other->site.line == one->site.line || one->what == SYNCWARP;
        if (other->what != one->what || !same_line) {
            block_describe(in);
            fail("%s: lanes of one mask, %#x, are at %s in %s:%d and at %s in %s:%d", in->what->name, mask,
                 names[one->what], one->site.file, one->site.line, names[other->what], other->site.file,
                 other->site.line);
        }
    }
    return true;
}

} // namespace

bool warp_complete(block *in, warp *of, uint32_t mask)
{
    group all;
    all.members = mask & of->alive;
    if ((of->waiting & all.members) != all.members || all.members == 0) {
        return false;
    }
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        const uint32_t l = static_cast<uint32_t>(__builtin_ctz(left));
        all.lane[l] = in->threads[of->first + l].get();
    }
    if (!together(in, all, mask)) {
        return false;
    }
    exchange(all, all.lane[__builtin_ctz(all.members)]->what);
    for (uint32_t left = all.members; left != 0; left &= left - 1) {
        all.lane[__builtin_ctz(left)]->now = READY;
    }
    of->waiting &= ~all.members;
    of->ready |= all.members;
    return true;
}

bool block_complete(block *in)
{
    if (in->n_waiting == 0 || in->n_waiting != in->n_alive) {
        return false;
    }
    uint64_t count = 0;
    const thread *one = nullptr;
    for (uint32_t i = 0; i < in->n; i++) {
        const thread *t = in->threads[i].get();
        if (t->now == WAITING_BLOCK) {
            one = one == nullptr ? t : one;
            count += t->value;
            if (t->what != one->what) {
                block_describe(in);
                fail("%s: threads of a block are at %s in line %d and at %s in line %d", in->what->name,
                     names[one->what], one->site.line, names[t->what], t->site.line);
            }
        }
    }
    const uint64_t result = one->what == SYNCTHREADS_COUNT ? count
                            : one->what == SYNCTHREADS_AND ? count == in->n_alive
                                                           : count != 0;
    for (uint32_t i = 0; i < in->n; i++) {
        thread *t = in->threads[i].get();
        if (t->now == WAITING_BLOCK) {
            t->now = READY;
            t->result = result;
            t->of->ready |= 1U << t->lane;
        }
    }
    in->n_waiting = 0;
    return true;
}

/* ---- reports ------------------------------------------------------------------------------------ */

namespace
{
/* What lanes that wait in the same place have in common. */
bool alike(const thread *a, const thread *b)
{
    return a->now == b->now && (a->now == READY || a->now == ENDED ||
                                (a->what == b->what && a->site.line == b->site.line &&
                                 (a->now == WAITING_BLOCK || a->mask == b->mask)));
}

void describe(const block *in, const warp *of, uint32_t lanes, const thread *one)
{
    fprintf(stderr, "simt:   warp %u, lanes %08x: ", of->first / WARP, lanes);
    switch (one->now) {
    case WAITING_WARP:
        fprintf(stderr, "wait in %s, mask %08x, at %s:%d; lanes %08x are missing\n", names[one->what],
                one->mask, one->site.file, one->site.line, one->mask & of->alive & ~of->waiting);
        break;
    case WAITING_BLOCK:
        fprintf(stderr, "wait in %s at %s:%d with %u of %u threads\n", names[one->what], one->site.file,
                one->site.line, in->n_waiting, in->n_alive);
        break;
    default:
        fprintf(stderr, one->now == READY ? "go on\n" : "have ended\n");
        break;
    }
}
} // namespace

void block_describe(const block *in)
{
    fprintf(stderr, "simt: %s, block (%u, %u, %u) of %u threads\n", in->what->name, in->index.x, in->index.y,
            in->index.z, in->n);
    for (const warp &of : in->warps) {
        const uint32_t n = in->n - of.first < WARP ? in->n - of.first : WARP;
        uint32_t told = 0;
        for (uint32_t l = 0; l < n; l++) {
            const thread *one = in->threads[of.first + l].get();
            uint32_t lanes = 0;
            for (uint32_t k = l; k < n; k++) {
                lanes |= static_cast<uint32_t>(alike(one, in->threads[of.first + k].get())) << k;
            }
            if ((told >> l & 1U) == 0) {
                describe(in, &of, lanes, one);
            }
            told |= lanes;
        }
    }
}

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "simt: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

} // namespace simt
