/* SPDX-License-Identifier: Apache-2.0
 *
 * Fibers: functions with stacks of their own that hand the processor to each other. On x86-64 a switch saves
 * six registers; elsewhere it is ucontext's. AddressSanitizer is told of every switch.
 */
#ifndef TESTS_SIMT_FIBER_H
#define TESTS_SIMT_FIBER_H

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace simt
{

struct fiber {
#if defined(__x86_64__)
    void *pointer; /* of the stack, while it does not run */
#else
    ucontext_t context;
#endif
    const void *bottom; /* of the stack */
    size_t size;
    void *fake; /* AddressSanitizer's own */
};

/* Makes a fiber that begins in `entry` (which never returns) when it is first switched to. */
void fiber_open(fiber *made, void (*entry)());
/* Leaves `from`, which is what runs, and goes on where `to` left. */
void fiber_switch(fiber *from, fiber *to);
/* The first thing that `entry` calls. `from`: who switched here. */
void fiber_begun(fiber *self, fiber *from);

} // namespace simt

#endif
