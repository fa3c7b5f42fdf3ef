/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that end where a page begins which may not be touched: an over-read by a single byte ends the test.
 */
#ifndef TESTS_SUPPORT_GUARD_PAGE_H
#define TESTS_SUPPORT_GUARD_PAGE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct guard_page {
    uint8_t *mapping;
    size_t mapped; /* without the guard */
    size_t page;
} guard_page;

/* Room for up to `size` bytes before the guard; NULL mapping where the system refuses. */
static inline guard_page guard_page_open(size_t size)
{
    guard_page guard = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    guard.mapped = (size + guard.page - 1) / guard.page * guard.page;
    const int zero = open("/dev/zero", O_RDWR);
    void *mapping = mmap(NULL, guard.mapped + guard.page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    (void)close(zero);
    if (mapping != MAP_FAILED && mprotect((uint8_t *)mapping + guard.mapped, guard.page, PROT_NONE) == 0) {
        guard.mapping = mapping;
    }
    return guard;
}

/* A copy of the bytes that ends at the guard. */
static inline uint8_t *guard_page_copy(const guard_page *guard, const void *bytes, size_t size)
{
    uint8_t *at = guard->mapping + guard->mapped - size;
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    return at;
}

static inline void guard_page_close(guard_page *guard)
{
    (void)munmap(guard->mapping, guard->mapped + guard->page);
    guard->mapping = NULL;
}

#endif
