/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a large file that is replaced takes its file system long to free, 0.15 ms a megabyte in
 * memory, and whoever closes it last waits for that, be it by rename. Held before it is replaced and let go
 * after, it is freed by a thread of the kernel, and nobody waits. Where the kernel has no io_uring, or
 * forbids it, it is an ordinary close.
 */
#ifndef SLUICE_IO_LET_GO_H
#define SLUICE_IO_LET_GO_H

/* A descriptor that keeps the file of this name; -1 if there is none, if it cannot be read or is too small to
 * be worth it. */
int slc_io_hold(const char *path);
/* Closes it; -1 is nothing. */
void slc_io_let_go(int file);

#endif
