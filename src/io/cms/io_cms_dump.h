/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the memory dumps that CMS's stand-alone programs read (docs/formats/cms-dumps.md), from
 * bytes in memory. They have no magic and no checksum: their size tells what they are, and every value that
 * can be judged is. `note` is set to what was assumed.
 */
#ifndef SLUICE_IO_CMS_DUMP_H
#define SLUICE_IO_CMS_DUMP_H

#include <sluice/io_cms.h>

enum { SLC_IO_CMS_DUMP_MOST = 6 << 20 /* bytes of a dump; more is none */ };

/* Is it as long as one? */
bool slc_io_is_cms_cabling_dump(const void *bytes, size_t size);
bool slc_io_is_cms_gains_dump(const void *bytes, size_t size);

slc_status slc_io_parse_cms_cabling_dump(const void *bytes, size_t size, const char *name,
                                         slc_cms_cabling *cabling, slc_io_cms_note *note, slc_error *error);
slc_status slc_io_parse_cms_gains_dump(const void *bytes, size_t size, const char *name, slc_cms_gains *gains,
                                       slc_io_cms_note *note, slc_error *error);
slc_status slc_io_parse_cms_geometry(const void *bytes, size_t size, const char *name,
                                     slc_cms_geometry *geometry, slc_io_cms_note *note, slc_error *error);

#endif
