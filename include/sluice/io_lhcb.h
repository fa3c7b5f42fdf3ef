/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of LHCb: selections as JSON files (docs/formats/selection.md), files of the events that they accept,
 * and settings of the VELO's chain (docs/formats/velo-config.md).
 */
#ifndef SLUICE_IO_LHCB_H
#define SLUICE_IO_LHCB_H

#include <sluice/io.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_select.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a selection. *error names file, line, column and what is wrong: no JSON, an unknown word, a wrong
 * type, a predicate that names itself by way of others, too many lines or cuts. */
SLC_API slc_status slc_io_select_read(const char *path, slc_velo_selection *selection, slc_error *error);

/* Reads a mask: text, a line "sensor column row" for each pixel, or JSON, a list or what `sluice velo
 * --monitor-pixels` writes, of which the hot pixels count. *error names file, line and what is wrong.
 * docs/formats/velo-mask.md */
SLC_API slc_status slc_io_velo_mask_read(const char *path, slc_velo_mask *mask, slc_error *error);

/* Writes accepted events as MDF: like slc_io_mdf_create and its companions, but that events are written as
 * they came. */
SLC_API slc_status slc_io_select_create(const char *path, slc_io_writer **writer, slc_error *error);
/* Event `event` of a batch that was read from the file `input`. Its record is
 * written byte for byte, with its header, compressed if it was: that of a regular file is read again, that of
 * a pipe or standard input ("-") must have been kept (slc_io_config.keep_records); if it was not, or if the
 * event came in a packet (MEP), the banks are written unchanged in a new record, with run, orbit and bunch
 * crossing of ODIN. SLC_ERR_FORMAT where `input` has no record there (any longer).
 *
 * `decision` NULL: nothing else. Otherwise it is appended as a raw bank, in a block of its own to a record
 * that is compressed; the record's sizes, and its checksum if it has one, are those of the longer record, all
 * other bytes are as they were. Its source is the number of such banks that the event has already. */
SLC_API slc_status slc_io_select_write(slc_io_writer *writer, const char *input, const slc_batch *batch,
                                       uint32_t event, const slc_velo_decision *decision, slc_error *error);

/* Settings of the VELO's chain from a JSON file: those that it names are put into *config, all others stay.
 * *error names file, line, column and what is wrong (SLC_ERR_FORMAT): no JSON, an unknown setting, a wrong
 * type, a value out of its limits, which are told; *config is then as it was. */
SLC_API slc_status slc_io_velo_config_read(const char *path, slc_velo_config *config, slc_error *error);
/* All settings as such a text, which the caller frees; read back, they are the same bits. SLC_ERR_USAGE, and
 * *text NULL, for a configuration out of range. */
SLC_API slc_status slc_io_velo_config_write(const slc_velo_config *config, char **text, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
