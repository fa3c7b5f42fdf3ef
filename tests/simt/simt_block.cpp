/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a launch, some in flight at a time, and the fibers of their threads. Which block, warp and lane
 * goes on is drawn at random; a thread runs until it waits, or until it pauses at an atomic or a fence.
 */
#include "simt_block.h"

#include <cstdlib>
#include <cstring>

namespace simt
{

const place *now;

namespace
{

enum { MOST_IN_FLIGHT = 4 };
/* So many pauses without anything else happening are a loop that nobody ends. */
const uint64_t most_idle = 100000000;

fiber scheduler;
thread *running;
uint64_t idle;
block places[MOST_IN_FLIGHT];
block *active; /* whose static shared variables are in place */

/* ---- fibers ------------------------------------------------------------------------------------- */

void thread_main()
{
    fiber_begun(&running->own, &scheduler);
    for (;;) {
        thread *const self = running;
        self->in->what->run();
        self->now = ENDED;
        fiber_switch(&self->own, &scheduler);
    }
}

void resume(thread *t)
{
    running = t;
    now = &t->at;
    fiber_switch(&scheduler, &t->own);
    now = nullptr;
    running = nullptr;
}

void leave()
{
    thread *const self = running;
    fiber_switch(&self->own, &scheduler);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

void activate(block *b)
{
    if (active == b || !shared_known()) {
        return;
    }
    if (active != nullptr && active->busy) {
        active->kept.resize(shared_bytes());
        shared_save(active->kept.data());
    }
    if (!b->kept.empty()) {
        shared_load(b->kept.data());
        b->kept.clear();
    }
    active = b;
}

/* Puts a block into a place. */
void block_begin(block *b, const launch_of *what, uint64_t index)
{
    activate(b);
    b->what = what;
    b->n = what->threads.x * what->threads.y * what->threads.z;
    b->index = {static_cast<unsigned>(index % what->blocks.x),
                static_cast<unsigned>(index / what->blocks.x % what->blocks.y),
                static_cast<unsigned>(index / what->blocks.x / what->blocks.y)};
    b->warps.resize((b->n + WARP - 1) / WARP);
    for (uint32_t w = 0; w < b->warps.size(); w++) {
        const uint32_t lanes = b->n - WARP * w < WARP ? b->n - WARP * w : WARP;
        const uint32_t all = lanes == WARP ? ~0U : (1U << lanes) - 1;
        b->warps[w] = {WARP * w, all, 0, all};
    }
    while (b->threads.size() < b->n) {
        b->threads.push_back(std::make_unique<thread>());
    }
    for (uint32_t i = 0; i < b->n; i++) {
        thread *t = b->threads[i].get();
        t->in = b;
        t->of = &b->warps[i / WARP];
        t->lane = i % WARP;
        t->index = i;
        t->now = READY;
        t->at = {{i % what->threads.x, i / what->threads.x % what->threads.y,
                  i / what->threads.x / what->threads.y},
                 b->index,
                 what->threads,
                 what->blocks};
        if (!t->opened) {
            fiber_open(&t->own, thread_main);
            t->opened = true;
        }
    }
    b->n_alive = b->n;
    b->n_waiting = 0;
    b->busy = true;
    shared_poison(random_bits());
    /* Of exactly that size, so that a sanitizer sees what is beyond it. */
    if (posix_memalign(&b->dynamic, 128, what->shared > 0 ? what->shared : 1) != 0) {
        fail("no memory for shared memory");
    }
    const uint64_t poison = random_bits();
    for (size_t i = 0; i < what->shared; i++) {
        static_cast<unsigned char *>(b->dynamic)[i] = static_cast<unsigned char>(poison >> 8 * (i % 8) | 1);
    }
}

void block_end(block *b)
{
    free(b->dynamic);
    b->dynamic = nullptr;
    b->busy = false;
}

/* A lane that has ended is waited for no more. */
void thread_ended(thread *t)
{
    block *b = t->in;
    t->of->alive &= ~(1U << t->lane);
    b->n_alive--;
    for (uint32_t left = t->of->waiting; left != 0; left &= left - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
        const thread *other = b->threads[t->of->first + lane].get();
        if ((other->mask >> t->lane & 1U) != 0 && other->now == WAITING_WARP &&
            warp_complete(b, t->of, other->mask)) {
            left &= t->of->waiting | (left & -left);
        }
    }
    (void)block_complete(b);
}

uint32_t random_bit(uint32_t mask)
{
    const uint32_t turn = random_below(WARP);
    const uint32_t turned = turn == 0 ? mask : mask >> turn | mask << (WARP - turn);
    return (static_cast<uint32_t>(__builtin_ctz(turned)) + turn) % WARP;
}

/* The next warp with a thread that is ready, from a random one on; the number of warps where there is none.
 */
uint32_t random_warp(const block *b)
{
    const uint32_t n = static_cast<uint32_t>(b->warps.size()), first = random_below(n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t w = first + i < n ? first + i : first + i - n;
        if (b->warps[w].ready != 0) {
            return w;
        }
    }
    return n;
}

/* Lets about so many threads of a block go on; false where none can. */
bool block_run(block *b, uint32_t turns)
{
    activate(b);
    while (turns > 0) {
        const uint32_t w = random_warp(b);
        if (w == b->warps.size()) {
            return b->n_alive == 0;
        }
        warp *of = &b->warps[w];
        for (uint32_t stay = 1 + random_below(64); stay > 0 && of->ready != 0 && turns > 0; stay--, turns--) {
            const uint32_t lane = random_bit(of->ready);
            thread *t = b->threads[of->first + lane].get();
            of->ready &= ~(1U << lane);
            resume(t);
            if (t->now == READY) {
                of->ready |= 1U << lane;
                if (++idle > most_idle) {
                    block_describe(b);
                    fail("%s: threads only wait for each other without a barrier", b->what->name);
                }
            } else {
                idle = 0;
                if (t->now == ENDED) {
                    thread_ended(t);
                }
            }
        }
    }
    return true;
}

/* A block's number, in order, or any order that visits all: a step that has no divisor with n in common. */
uint64_t block_at(uint64_t i, uint64_t n, uint64_t step, uint64_t start)
{
    __extension__ typedef unsigned __int128 wide;
    return static_cast<uint64_t>((static_cast<wide>(i) * step + start) % n);
}

uint64_t divisor(uint64_t a, uint64_t b)
{
    return b == 0 ? a : divisor(b, a % b);
}

} // namespace

void launch_run(const launch_of &what)
{
    const uint64_t n = static_cast<uint64_t>(what.blocks.x) * what.blocks.y * what.blocks.z;
    random_begin();
    uint64_t step = 1, start = 0;
    if (option("SLUICE_SIMT_ANY_ORDER", 0) != 0) {
        start = random_bits() % n;
        do {
            step = 1 + random_bits() % n;
        } while (divisor(step, n) != 1);
    }
    uint64_t in_flight = option("SLUICE_SIMT_BLOCKS", 1 + random_below(MOST_IN_FLIGHT));
    in_flight = in_flight < 1 || !shared_known() ? 1
                : in_flight > MOST_IN_FLIGHT     ? +MOST_IN_FLIGHT
                                                 : in_flight;
    uint64_t begun = 0, ended = 0;
    active = nullptr;
    idle = 0;
    while (ended < n) {
        block *b = &places[random_below(static_cast<uint32_t>(in_flight))];
        if (!b->busy) {
            if (begun == n) {
                continue;
            }
            b->kept.clear();
            block_begin(b, &what, block_at(begun++, n, step, start));
        }
        if (!block_run(b, 1 + random_below(in_flight > 1 ? 4000 : 100000))) {
            block_describe(b);
            fail("%s: deadlock", what.name);
        }
        if (b->n_alive == 0) {
            block_end(b);
            ended++;
        }
    }
}

/* ---- what threads call -------------------------------------------------------------------------- */

void *dynamic_shared()
{
    return running->in->dynamic;
}

void pause(unsigned chance)
{
    if (running != nullptr && random_below(chance) == 0) {
        leave();
    }
}

uint64_t warp_call(operation what, unsigned mask, uint64_t value, int argument, int width, where at)
{
    thread *const t = running;
    if (t == nullptr) {
        fail("%s:%d: a warp's function on the host", at.file, at.line);
    }
    t->what = what;
    t->mask = mask;
    t->value = value;
    t->argument = argument;
    t->width = width;
    t->site = at;
    t->now = WAITING_WARP;
    if ((mask >> t->lane & 1U) == 0) {
        block_describe(t->in);
        fail("%s:%d: %s: lane %u calls with the mask %#x, which does not name it", at.file, at.line,
             t->in->what->name, t->lane, mask);
    }
    if (width < 1 || width > static_cast<int>(WARP) || (width & (width - 1)) != 0) {
        fail("%s:%d: a width of %d lanes is no power of 2 up to 32", at.file, at.line, width);
    }
    t->of->waiting |= 1U << t->lane;
    if (!warp_complete(t->in, t->of, mask)) {
        leave();
    } else {
        t->of->ready &= ~(1U << t->lane);
        pause(2);
    }
    return t->result;
}

int block_call(operation what, int value, where at)
{
    thread *const t = running;
    if (t == nullptr) {
        fail("%s:%d: a block's function on the host", at.file, at.line);
    }
    t->what = what;
    t->value = value != 0;
    t->site = at;
    t->now = WAITING_BLOCK;
    t->in->n_waiting++;
    if (!block_complete(t->in)) {
        leave();
    } else {
        t->of->ready &= ~(1U << t->lane);
        pause(2);
    }
    return static_cast<int>(t->result);
}

void trap(where at)
{
    block_describe(running->in);
    fail("%s:%d: %s: trap", at.file, at.line, running->in->what->name);
}

} // namespace simt
