/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the emulator: blocks of threads, each thread a fiber, and who goes on next.
 */
#ifndef TESTS_SIMT_BLOCK_H
#define TESTS_SIMT_BLOCK_H

#include "simt_fiber.h"
#include "simt_launch.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace simt
{

const uint32_t WARP = 32;

/* One launch: a kernel with its arguments, and its shape. */
struct launch_of {
    const char *name;
    body run;
    dim3 blocks, threads;
    size_t shared;
};

/* Runs it to its end. */
void launch_run(const launch_of &what);

enum state { READY, WAITING_WARP, WAITING_BLOCK, ENDED };

struct thread {
    place at;
    block *in;
    warp *of;
    uint32_t lane, index;
    state now;
    /* What it waits in. */
    operation what;
    uint32_t mask;
    int argument, width;
    uint64_t value, result;
    where site;
    fiber own;
    bool opened;
};

struct warp {
    uint32_t first; /* thread */
    uint32_t ready, waiting, alive;
};

/* A place for a block, with the fibers of its threads, which serve one block after the other. */
struct block {
    const launch_of *what;
    std::vector<std::unique_ptr<thread>> threads;
    std::vector<warp> warps;
    uint32_t n, n_alive, n_waiting; /* at the block's barrier */
    uint3 index;
    bool busy;
    /* The shared memory: of a size that launches tell, and static variables while others have their place. */
    void *dynamic;
    std::vector<unsigned char> kept;
};

/* ---- collectives (simt_warp.cpp) --------------------------------------------------------------- */

/* Ends what the lanes of `mask` wait in, if all of them do; true if it did. */
bool warp_complete(block *in, warp *of, uint32_t mask);
bool block_complete(block *in);

/* ---- static variables in shared memory (simt_shared.cpp) --------------------------------------- */

size_t shared_bytes();
bool shared_known(); /* could the program's symbols be read? */
void shared_poison(uint64_t seed);
void shared_save(unsigned char *to);
void shared_load(const unsigned char *from);

/* ---- chance (simt_options.cpp) ----------------------------------------------------------------- */

uint64_t random_bits();
uint32_t random_below(uint32_t n);
/* Begins a row of random numbers that depends on SLUICE_SIMT_SEED and on how many launches were before. */
void random_begin();
/* Numbers from the environment. */
uint64_t option(const char *name, uint64_t otherwise);

[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Which threads of a block wait for what. */
void block_describe(const block *in);

} // namespace simt

#endif
