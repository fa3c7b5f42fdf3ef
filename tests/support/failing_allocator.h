/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocator that runs dry on command, for programs linked with ld's --wrap (sluice_core_test in
 * tests/base.cmake). Include it in one file of the program.
 */
#ifndef TESTS_SUPPORT_FAILING_ALLOCATOR_H
#define TESTS_SUPPORT_FAILING_ALLOCATOR_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

/* How many more allocations succeed, and how many calls to the allocator there were. */
static atomic_long allocations_left = LONG_MAX;
static atomic_ulong allocator_calls;

static int allocation_allowed(void)
{
    long left = atomic_load(&allocations_left);
    allocator_calls++;
    while (left > 0 && !atomic_compare_exchange_weak(&allocations_left, &left, left - 1)) {
    }
    return left > 0;
}

/* The linker sends calls of X to __wrap_X, and __real_X to the allocator itself. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *old);

void *__wrap_malloc(size_t size)
{
    return allocation_allowed() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_allowed() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    return allocation_allowed() ? __real_realloc(old, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return allocation_allowed() ? __real_aligned_alloc(alignment, size) : NULL;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    return allocation_allowed() ? __real_posix_memalign(out, alignment, size) : 12; /* ENOMEM */
}

void __wrap_free(void *old)
{
    allocator_calls++;
    __real_free(old);
}

#endif
