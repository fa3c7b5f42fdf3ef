/* SPDX-License-Identifier: Apache-2.0
 * Letting go of a file that was replaced, by the kernel, after us (io_let_go.h). */
#if defined(__linux__)
#define _GNU_SOURCE /* syscall */
#endif
#include "io/io_let_go.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#include <sys/syscall.h>
#define HAS_RING 1
#endif
#endif

enum {
    WORTH = 1 << 23 /* bytes, below which a file is freed faster than a ring is made */
};

int slc_io_hold(const char *path)
{
    struct stat there;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file >= 0 && (fstat(file, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size < WORTH)) {
        (void)close(file);
        return -1;
    }
    return file;
}

void slc_io_let_go(int file)
{
    if (file < 0) {
        return;
    }
#if defined(HAS_RING)
    /* A ring's files are closed by a thread of the kernel's own after the ring is. */
    struct io_uring_params none = {0};
    const int ring = (int)syscall(__NR_io_uring_setup, 1, &none);
    if (ring >= 0) {
        (void)syscall(__NR_io_uring_register, ring, IORING_REGISTER_FILES, &file, 1);
    }
#endif
    (void)close(file);
#if defined(HAS_RING)
    if (ring >= 0) {
        (void)close(ring);
    }
#endif
}
