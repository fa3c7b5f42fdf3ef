/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: an output file that appears under its final name only when it is complete. It is
 * written under
 * "<path>.tmp-<pid>" in the same folder, synced, and renamed. Devices and pipes are written to as they are,
 * and a symbolic link keeps pointing to the file that it names.
 */
#ifndef SLUICE_IO_OUTPUT_H
#define SLUICE_IO_OUTPUT_H

#include <sluice/io.h>

#include <stdio.h>

typedef struct slc_io_output {
    char *path;      /* the final name; NULL while closed */
    char *temporary; /* the name it is written under; NULL if nothing is renamed */
    FILE *stream;    /* NULL after _reserve_name */
} slc_io_output;

/* What is written to one output; first member of every writer. */
struct slc_io_writer {
    slc_io_output output;
    /* What comes before the output is committed or abandoned; then it cannot fail, and `commit` is false.
     * Gives back what the writer owns, but the writer itself. NULL: nothing. */
    slc_status (*end)(slc_io_writer *writer, bool commit, slc_error *error);
};
/* A writer of `size` bytes, zeroed, with its output open, or for a library that opens files by name. */
slc_status slc_io_writer_open(size_t size, const char *path, bool by_name, void *writer, slc_error *error);
/* Appends bytes to the output. */
slc_status slc_io_writer_put(void *writer, const void *bytes, size_t size, slc_error *error);

/* Creates the temporary file and opens it for writing; "-" is standard output. */
slc_status slc_io_output_open(slc_io_output *output, const char *path, slc_error *error);
/* The same for a library that opens files by name: checks that the file can be created, leaves stream NULL.
 */
slc_status slc_io_output_reserve_name(slc_io_output *output, const char *path, slc_error *error);
/* What a write that has just failed is told as: "PATH: cannot write: REASON". Returns SLC_ERR_IO. */
slc_status slc_io_output_failed(const char *path, slc_error *error);
/* Flushes, syncs, closes and renames. On failure (a full disk) the temporary file is removed; it stays where
 * raw data of PET stand under the final name by now, which no output replaces. */
slc_status slc_io_output_commit(slc_io_output *output, slc_error *error);
/* Closes and removes the temporary file. Harmless on a closed output. */
void slc_io_output_abandon(slc_io_output *output);

#endif
