/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how HDF5 reaches the disk. HDF5 does not recover from a write that fails: it cannot
 * close its objects any more and crashes later, at the latest when the process ends. So its bytes go through
 * a driver of our own, which remembers the first failure and from then on swallows writes. HDF5 closes in
 * order, and the caller looks at the remembered error and throws the file away.
 */
#ifndef SLUICE_IO_HDF5_FILE_H
#define SLUICE_IO_HDF5_FILE_H

#include <hdf5.h>

/* A file access list for H5Fcreate whose files report the errno of the first failed write in *wrong (set to 0
 * here), which must live until the file is closed. The caller closes the list. Negative on failure. */
hid_t slc_io_hdf5_file_access(int *wrong);

#endif
