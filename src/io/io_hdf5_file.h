/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what all that reads or writes HDF5 has in common.
 *
 * How it reaches the disk: HDF5 does not recover from a write that fails: it cannot close its objects any
 * more and crashes later, at the latest when the process ends. So its bytes go through a driver of our own,
 * which remembers the first failure and from then on swallows writes. HDF5 closes in order, and the caller
 * looks at the remembered error and throws the file away.
 *
 * What a killed process leaves: HDF5 writes where it likes and when it likes, over chunks that have grown as
 * well, so that a file is whole only right after a flush. The driver keeps it so: what it has on the disk at
 * a flush stays as it was, new bytes go after it, and those that change older ones are held in memory, to be
 * written all at once, by pages, at the end of the next flush. That moment alone is not safe.
 *
 * Threads: a build of HDF5 that is safe for threads keeps the stack of errors and what prints it for each
 * thread, so that silence on one thread is not heard on others; any other build is for one thread at a time,
 * whose calls include those below.
 */
#ifndef SLUICE_IO_HDF5_FILE_H
#define SLUICE_IO_HDF5_FILE_H

#include <sluice/base.h>

#include <sluice/io.h>

#include <hdf5.h>

#include <stdbool.h>

/* A file access list for H5Fcreate whose files report the errno of the first failed write in *wrong (set to 0
 * here), which must live until the file is closed. The caller closes the list. Negative on failure. */
hid_t slc_io_hdf5_file_access(int *wrong);

/* Flushes such a file: from here on the disk has what HDF5 has written up to now, whatever ends the process.
 * False where HDF5 fails; a write that fails is told as always. */
bool slc_io_hdf5_file_settle(hid_t file);

/* A place in such a file for an unfiltered chunk of `size` bytes (at most 1 MiB), whose first row is `row`:
 * *at. Its bytes are written by _put, by and by, whatever was flushed: before a dataset's extent tells of its
 * rows nobody looks at them. What is never written is 0. False where HDF5 fails; a write that fails is told
 * as always. */
bool slc_io_hdf5_file_place(hid_t file, hid_t dataset, uint64_t row, size_t size, uint64_t *at);
bool slc_io_hdf5_file_put(hid_t file, uint64_t at, const void *bytes, size_t size);

/* HDF5 prints its errors; between these two calls, both made by one thread, it does not. What printed them
 * before, the caller's own included, is back afterwards, and the stack of errors is empty: its reasons are
 * looked at before _silence_end. Pairs may stand inside one another. */
typedef struct slc_io_hdf5_silence {
    H5E_auto2_t function;
    void *data;
} slc_io_hdf5_silence;
slc_io_hdf5_silence slc_io_hdf5_silence_begin(void);
void slc_io_hdf5_silence_end(slc_io_hdf5_silence before);
/* After reading. HDF5 1.10 does not let go of a file whose structures are damaged, and complains about that
 * in many words when the process ends, unless it is silent: after a file that is not whole it stays so. */
void slc_io_hdf5_silence_end_reading(slc_io_hdf5_silence before, bool whole);

/* Opens a file to read it; *file is negative on failure. HDF5 does not say why it cannot open one, so the
 * system is asked first. */
slc_status slc_io_hdf5_open(const char *path, hid_t *file, slc_error *error);

/* Gives back any object of HDF5; true, and nothing done, for one that was never had. */
bool slc_io_hdf5_close(hid_t id);

/* The type of HDF5 for a column's rows in memory. */
hid_t slc_io_hdf5_memory_type(slc_type type);

/* Rows at … at + n - 1 (n > 0) of a dataset of one dimension, from memory and to memory, as they are there
 * for this type; they must be in the dataset. False on failure, with the reason on the stack. */
bool slc_io_hdf5_write_rows(hid_t dataset, slc_type type, uint64_t at, size_t n, const void *rows);
bool slc_io_hdf5_read_rows(hid_t dataset, slc_type type, uint64_t at, size_t n, void *rows);

/* Can a dataset hold so many elements in the bytes that it has in the file (*stored)? Where it never was
 * written it promises any number without having one, and a file of a few bytes must not ask for all memory.
 */
bool slc_io_hdf5_can_hold(hid_t dataset, uint64_t elements, uint64_t *stored);

/* Writes an attribute of one value to an object. `in_file` and `in_memory` are its types, between which HDF5
 * converts. False on failure, with the reason on the stack. */
bool slc_io_hdf5_put_attribute(hid_t object, const char *name, hid_t in_file, hid_t in_memory,
                               const void *value);
/* The same for a text, of fixed length and in this set of characters. */
bool slc_io_hdf5_put_text(hid_t object, const char *name, const char *text, H5T_cset_t characters);
/* The same for an array of texts, in UTF-8, each of its own length. */
bool slc_io_hdf5_put_texts(hid_t object, const char *name, size_t n, const char *const *texts);

#endif
