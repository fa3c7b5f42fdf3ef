/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice info`: what is in a file of each kind, which the library's registry of formats tells.
 * cmd_info.c             events, and which function tells of which kind
 * cmd_info_events.c      --events: which events those are
 * cmd_info_decisions.c   decisions of Sluice's that are in events of LHCb's
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

/* The same of raw frames of another layout. */
bool slc_info_pet_records(const char *path, const slc_io_pet_format *frames, slc_cli_tree *to);

/* Prints a line, or an object, for each event of the inputs as it is read. An exit status. */
int slc_info_list_events(char **inputs, int n, bool json);

/* Decisions in an input, by the selection that made them. */
enum { SLC_INFO_SELECTIONS = 16 };
typedef struct slc_info_selection {
    uint64_t names, banks;
    uint64_t events; /* that have such banks: one may have several */
    uint32_t n_lines;
    uint64_t accepted[SLC_VELO_MAX_LINES]; /* events */
    uint64_t event, lines;                 /* the last one's number, and the lines that accepted it */
} slc_info_selection;
typedef struct slc_info_decisions {
    uint64_t banks, damaged, unknown; /* damaged; of a version that is not known */
    uint64_t others;                  /* of more selections than are listed */
    uint32_t n;
    slc_info_selection of[SLC_INFO_SELECTIONS];
} slc_info_decisions;
/* Counts the bank of an event, by the event's number in its file, if it is one of these. */
void slc_info_decisions_take(slc_info_decisions *found, uint64_t event, const slc_lhcb_bank *bank);
/* False if one is damaged, which is told. */
bool slc_info_decisions_put(const slc_info_decisions *found, const char *path, slc_cli_tree *to);
void slc_info_decisions_print(slc_cli_tree *of);

#endif
