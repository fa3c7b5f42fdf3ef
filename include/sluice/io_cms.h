/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of CMS's pixel detector: events of raw fragments (docs/formats/cms-raw.md), which are also read by
 * slc_io_open (io.h) as "cms-raw", and the payloads of cabling and gains (docs/formats/cms-payloads.md). All
 * are written under a temporary name and renamed when complete.
 */
#ifndef SLUICE_IO_CMS_H
#define SLUICE_IO_CMS_H

#include <sluice/cms_types.h>
#include <sluice/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event: bytes of a batch's event (number of fragments, then each with id and size). SLC_ERR_USAGE for
 * bytes that are not. "-" writes to standard output, where nothing is renamed. */
SLC_API slc_status slc_io_cms_create(const char *path, slc_io_writer **writer, slc_error *error);
SLC_API slc_status slc_io_cms_write(slc_io_writer *writer, const void *event, size_t size, slc_error *error);

/* What was read that is no file of Sluice's own, and what was assumed of it: a line for the user. Empty
 * otherwise. */
typedef struct slc_io_cms_note {
    char text[400];
} slc_io_cms_note;

/* Files of our own, or the dumps of CMS's stand-alone programs (cablingMap.bin, gain.bin, cpefast.bin;
 * docs/formats/cms-dumps.md). SLC_ERR_FORMAT names the file, the byte and the reason: wrong magic, version,
 * size, checksum, or an entry that cannot be. `note` may be NULL. What is read is the caller's. */
SLC_API slc_status slc_io_read_cms_cabling(const char *path, slc_cms_cabling *cabling, slc_io_cms_note *note,
                                           slc_error *error);
SLC_API slc_status slc_io_write_cms_cabling(const char *path, const slc_cms_cabling *cabling,
                                            slc_error *error);
SLC_API slc_status slc_io_read_cms_gains(const char *path, slc_cms_gains *gains, slc_io_cms_note *note,
                                         slc_error *error);
SLC_API slc_status slc_io_write_cms_gains(const char *path, const slc_cms_gains *gains, slc_error *error);
/* Dumps alone. slc_cms_geometry_clear frees it. */
SLC_API slc_status slc_io_read_cms_geometry(const char *path, slc_cms_geometry *geometry,
                                            slc_io_cms_note *note, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
