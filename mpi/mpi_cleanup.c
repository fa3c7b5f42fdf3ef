/* SPDX-License-Identifier: Apache-2.0
 * A folder that does not outlive the process. */
#include "mpi_cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 4 + 1 }; /* and one that comes */

static int to_child = -1;
static pid_t child;

static void empty(const char *folder)
{
    DIR *open = opendir(folder);
    for (struct dirent *e; open != NULL && (e = readdir(open)) != NULL;) {
        char path[2 * PATH_MAX];
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path) {
            (void)unlink(path);
        }
    }
    if (open != NULL) {
        (void)closedir(open);
    }
}

/* Others may still write into it, for a moment. */
void slc_mpi_cleanup_now(const char *folder)
{
    const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
    if (unlink(folder) == 0) { /* a file */
        return;
    }
    for (int tries = 0; tries < 200; tries++) {
        empty(folder);
        if (rmdir(folder) == 0 || errno != ENOTEMPTY) {
            return;
        }
        (void)nanosleep(&moment, NULL);
    }
}

/* Names come with their ending zero, the empty one for none. */
static void wait_for_end(int from)
{
    static char names[MANY][PATH_MAX];
    size_t n = 0, many = 0;
    char byte;
    ssize_t got;
    while ((got = read(from, &byte, 1)) != 0) {
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return;
        }
        names[many][n < PATH_MAX - 1 ? n++ : n] = byte;
        if (byte == '\0') {
            many = n == 1 ? 0 : many + (many + 1 < MANY);
            n = 0;
        }
    }
    for (size_t i = 0; i < many; i++) {
        slc_mpi_cleanup_now(names[i]);
    }
}

void slc_mpi_cleanup_begin(void)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return;
    }
    child = fork();
    if (child == 0) {
        /* A session of its own: a launcher kills the group of the process. And none of its pipes is held. */
        const int none = open("/dev/null", O_RDWR);
        (void)setsid();
        for (int i = 0; i < 3 && none >= 0; i++) {
            (void)dup2(none, i);
        }
        for (int file = STDERR_FILENO + 1; file < 256; file++) {
            (void)(file == ends[0] || close(file) == 0);
        }
        wait_for_end(ends[0]);
        _exit(0);
    }
    (void)close(ends[0]);
    to_child = ends[1];
    (void)fcntl(to_child, F_SETFD, FD_CLOEXEC);
    if (child < 0) {
        (void)close(to_child);
        to_child = -1;
    }
}

void slc_mpi_cleanup_of(const char *folder)
{
    const char *name = folder != NULL ? folder : "";
    const size_t size = strlen(name) + 1;
    if (to_child >= 0) {
        (void)!write(to_child, name, size);
    }
}

void slc_mpi_cleanup_end(void)
{
    if (to_child >= 0) {
        (void)close(to_child);
        (void)waitpid(child, NULL, 0);
        to_child = -1;
    }
}
