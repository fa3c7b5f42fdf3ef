/* SPDX-License-Identifier: Apache-2.0
 *
 * SANITIZED: 1 where a sanitizer makes everything slower by several times, else 0. What tests try at random,
 * or again and again, they try less often there: the sanitizer is to see every kind of access, and results
 * are compared without it.
 *
 * test_small(): SLUICE_TEST_SMALL is set, as by `make check`: fewer repetitions of every kind of case. All of
 * them are `make check-long`.
 */
#ifndef SUPPORT_SANITIZED_H
#define SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* GCC's thread sanitizer has no threads in a child of a program with threads. */
#if defined(__SANITIZE_THREAD__)
#define THREADS_AFTER_FORK 0
#else
#define THREADS_AFTER_FORK 1
#endif

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_small(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL;
}

/* Of cases that are numbered: all, or every n-th. */
static inline int test_step(int n)
{
    return test_small() ? n : 1;
}

/* How many percent of its random cases a test tries: SLUICE_TEST_PERCENT, or what there is time for. */
static inline size_t test_percent(void)
{
    const char *percent = getenv("SLUICE_TEST_PERCENT");
    const size_t usual = SANITIZED ? 10 : 100;
    return percent != NULL ? strtoul(percent, NULL, 10) : test_small() ? usual / 5 : usual;
}

#endif
