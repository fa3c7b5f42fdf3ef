/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: events into packets (docs/formats/mep.md), for slc_io_mdf_create. The banks of a
 * packet's events are in memory until it is full.
 */
#ifndef SLUICE_IO_MEP_WRITE_H
#define SLUICE_IO_MEP_WRITE_H

#include <sluice/io.h>

typedef struct slc_mep_packer slc_mep_packer;
/* `most`: bytes that a packet may have; 0: as many as its layout can. NULL: no memory. */
slc_mep_packer *slc_mep_packer_open(const slc_io_mdf_config *config, uint64_t most);
void slc_mep_packer_close(slc_mep_packer *packer);
/* One more event; a packet that is full is written. SLC_ERR_USAGE if the packet cannot have as many events,
 * SLC_ERR_FORMAT for what is no bank or cannot be told from none. */
slc_status slc_mep_packer_add(slc_mep_packer *packer, slc_io_writer *to, const void *banks, size_t size,
                              slc_error *error);
/* Writes what is left. */
slc_status slc_mep_packer_flush(slc_mep_packer *packer, slc_io_writer *to, slc_error *error);

#endif
