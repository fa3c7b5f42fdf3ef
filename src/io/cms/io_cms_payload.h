/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: cabling and gains from bytes in memory, as slc_io_read_cms_cabling and _gains do it
 * with those of a file; `name` stands in messages.
 */
#ifndef SLUICE_IO_CMS_PAYLOAD_H
#define SLUICE_IO_CMS_PAYLOAD_H

#include <sluice/io_cms.h>

slc_status slc_io_parse_cms_cabling(const void *bytes, size_t size, const char *name,
                                    slc_cms_cabling *cabling, slc_error *error);
slc_status slc_io_parse_cms_gains(const void *bytes, size_t size, const char *name, slc_cms_gains *gains,
                                  slc_error *error);

#endif
