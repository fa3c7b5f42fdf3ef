/* SPDX-License-Identifier: Apache-2.0
 *
 * A pipe into which another process writes. Include it after <cmocka.h>.
 */
#ifndef SUPPORT_PIPE_H
#define SUPPORT_PIPE_H

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the parent, the end to read from; in the child −1, and *to is where it writes before it calls _exit. */
static inline int pipe_begin(pid_t *child, int *to)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    assert_true(*child >= 0);
    (void)close(ends[*child > 0 ? 1 : 0]);
    *to = ends[1];
    return *child > 0 ? ends[0] : -1;
}

/* Closes it; the child has written all. */
static inline void pipe_end(int end, pid_t child)
{
    int status = 1;
    (void)close(end);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#endif
