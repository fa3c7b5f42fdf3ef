/* SPDX-License-Identifier: Apache-2.0
 * Stacks and switches. */
#include "simt_fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
/* Everything that a called function must keep is on the stack, so the stack's pointer is the whole fiber. */
asm(".text\n"
    ".globl simt_switch_stacks\n"
    ".type simt_switch_stacks,@function\n"
    "simt_switch_stacks:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size simt_switch_stacks,.-simt_switch_stacks\n");
extern "C" void simt_switch_stacks(void **save, void *load);
#endif

namespace simt
{

namespace
{
#ifdef WITH_ASAN
const size_t stack_bytes = 256 << 10;
#else
const size_t stack_bytes = 128 << 10;
#endif
const size_t guard_bytes = 64 << 10;

void started(fiber *from, fiber *to)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#else
    (void)from, (void)to;
#endif
}

/* `from` is who was left; of the first one, the thread itself, this tells where its stack is. */
void finished(fiber *self, fiber *from)
{
#ifdef WITH_ASAN
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(self->fake, &bottom, &size);
    from->bottom = bottom;
    from->size = size;
#else
    (void)self, (void)from;
#endif
}

fiber *left; /* who switched last */
} // namespace

void fiber_open(fiber *made, void (*entry)())
{
    const size_t size = stack_bytes + guard_bytes;
    char *memory = static_cast<char *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) {
        perror("simt: no memory for a stack");
        abort();
    }
    made->bottom = memory + guard_bytes;
    made->size = stack_bytes;
    made->fake = nullptr;
#if defined(__x86_64__)
    /* As if `entry` had been called by nobody: its return address lies where it would after a call. */
    void **top = reinterpret_cast<void **>(memory + size);
    top[-1] = nullptr;
    top[-2] = reinterpret_cast<void *>(entry);
    for (int i = 3; i <= 8; i++) {
        top[-i] = nullptr;
    }
    made->pointer = top - 8;
#else
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = memory + guard_bytes;
    made->context.uc_stack.ss_size = stack_bytes;
    made->context.uc_link = nullptr;
    makecontext(&made->context, entry, 0);
#endif
}

void fiber_switch(fiber *from, fiber *to)
{
    left = from;
    started(from, to);
#if defined(__x86_64__)
    simt_switch_stacks(&from->pointer, to->pointer);
#else
    swapcontext(&from->context, &to->context);
#endif
    finished(from, left);
}

void fiber_begun(fiber *self, fiber *from)
{
    finished(self, from);
}

} // namespace simt
