/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice info`: what is in a file of each kind, which the library's registry of formats tells.
 * cmd_info.c             events, and which function tells of which kind
 * cmd_info_events.c      --events: which events those are
 * cmd_info_pixels.c      images and lists of pixels
 * cmd_info_pet.c         tables, singles, pairs, sinograms, maps
 * cmd_info_pet_raw.c     raw frames
 */
#ifndef SLUICE_CMD_INFO_H
#define SLUICE_CMD_INFO_H

#include "cli_tree.h"

#include <sluice/sluice.h>

/* Each reads a file to the end and puts what it found, in the order in which it is printed; without a member
 * "format" there is nothing to tell. False if it is damaged or cannot be read, which is then told. */
typedef bool slc_info_teller(const char *path, const slc_io_format_row *format, slc_cli_tree *to);
slc_info_teller slc_info_images, slc_info_pixels, slc_info_pet_raw, slc_info_pet_raw_index,
    slc_info_pet_singles, slc_info_pet_tables, slc_info_pet_csv, slc_info_pet_sinogram, slc_info_pet_map,
    slc_info_pet_pairs;

/* Prints a line, or an object, for each event of the inputs as it is read. An exit status. */
int slc_info_list_events(char **inputs, int n, bool json);

#endif
