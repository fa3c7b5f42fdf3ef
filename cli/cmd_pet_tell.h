/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: what several of them tell: lines on what was lost or is in doubt, and
 * counts in their trees of results.
 */
#ifndef SLUICE_CMD_PET_TELL_H
#define SLUICE_CMD_PET_TELL_H

#include "cli_tree.h"
#include "cmd_pet.h"

#include <sluice/report_pet.h>

/* Tells what was wrong with the inputs. False if there was an error, bytes were skipped, datagrams are
 * missing between two files of an acquisition, or too many were lost: the exit status is then 1. This is told
 * even under --quiet. */
bool slc_pet_inputs_tell(const slc_io_pet_inputs *inputs, const char *command, bool quiet,
                         bool tolerate_loss);
/* Tells the faults of frames, which are counted through all inputs. */
void slc_pet_frame_faults_tell(const slc_io_pet_inputs *inputs, const char *command,
                               const slc_faults *faults);
/* Tells how many frames were refused by their times, if any were, and how many turns were added, also under
 * --quiet. False: more than a thousandth was refused, so that the exit status is 1, unless losses are
 * tolerated. */
bool slc_pet_clock_tell(const char *command, const slc_pet_convert_counts *counts);
/* Tells where the window of energies leaves next to nothing, with what energies there are, also under
 * --quiet. False: nothing is left, so that the exit status is 1. */
bool slc_pet_energies_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                           const slc_pet_convert_config *config, const slc_pet_convert_counts *counts);
/* The same of commands that write energies: also that units of the electronics are taken for keV, if they
 * seem to be others. */
bool slc_pet_singles_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                          const slc_pet_convert_config *config, const slc_pet_convert_counts *counts);
/* Tells where there were no frames, or where none is of the scanner or became a single; the exit status is
 * then 1, and no file is written. */
bool slc_pet_nothing_tell(const slc_io_pet_inputs *inputs, const char *command,
                          const slc_pet_convert_counts *counts);
/* Tells where more than a tenth of the frames are of no place of the scanner, or more than nine tenths of the
 * datagrams are no whole frames, even under --quiet: the exit status is then 1, and the files are written. */
bool slc_pet_most_lost_tell(const slc_io_pet_inputs *inputs, const char *command,
                            const slc_pet_convert_counts *counts);

/* The two parts of that: datagrams, and frames. */
bool slc_pet_malformed_tell(const char *command, uint64_t malformed, uint64_t datagrams);
bool slc_pet_places_tell(const char *command, const slc_pet_convert_counts *counts);

/* Are so many lost frames, beside those that are kept, more than 0.1 % of all? The exit status is then 1,
 * unless --tolerate-loss says otherwise. */
bool slc_pet_loss_is_large(uint64_t lost, uint64_t kept);
/* Of a file, or of "". most: the foreign ones are so many that the counter is doubted. */
void slc_pet_unused_tell(const char *command, const char *path, uint64_t repeated, uint64_t foreign,
                         bool most);
/* Records of a frame format that are left out, by what is wrong with them, under --quiet, too. False: more
 * than 0.1 % of all, and not tolerated: the exit status is to be 1. */
bool slc_pet_records_tell(const char *command, const char *path, const slc_io_pet_format_counts *counts,
                          bool tolerate);
uint64_t slc_pet_records_lost(const slc_io_pet_format_counts *counts);
/* Pairs that a sinogram has no bin for, under --quiet, too. */
void slc_pet_outside_tell(const char *command, const char *path, uint64_t outside);
/* Pairs or singles that a list-mode file has no number for. */
void slc_pet_left_out_tell(const char *command, const char *path, uint64_t left_out);
/* What a list-mode file holds that is not read. */
void slc_pet_not_read_tell(const char *command, const char *path, const char *what);
/* A list whose crystals are elsewhere than those of the scanner that is given, also under --quiet. */
void slc_pet_moved_tell(const char *command, const char *path, const slc_io_pet_list_about *about);
/* Pairs of a list that are no pairs of the scanner, also under --quiet; once all was read. True: they are
 * more than a tenth, and the exit status is to be 1. */
bool slc_pet_strangers_tell(const char *command, const char *path, const slc_io_pet_list_about *about);
/* That a file's elements are the scanner; nothing where it is a ring. */
void slc_pet_table_tell(const char *command, const char *path, const slc_pet_geometry *geometry);
/* Of slc_io_pet_singles_note. */
void slc_pet_note_tell(const char *command, const char *path, const char *note);

/* Tells where frames show another scanner than that of the tables, also to those who want it quiet. */
void slc_pet_doubts_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables);
/* A line that warns of late singles, under --quiet, too; nothing if there are none. False: they are more
 * than half of all, and the exit status is to be 1, as of other inputs that are lost. */
bool slc_pet_late_tell(const char *command, const slc_pet_sort_counts *counts, int64_t horizon_ps);

/* ---- counts ------------------------------------------------------------------------------------ */

void slc_pet_put_convert(slc_cli_tree *tree, const slc_pet_convert_counts *counts);
void slc_pet_put_sort(slc_cli_tree *tree, const slc_pet_sort_counts *counts, int64_t horizon_ps);
/* With `path.more`, hidden: windows of three singles or more. */
void slc_pet_put_pairs(slc_cli_tree *tree, const char *path, const slc_pet_coincidence_counts *counts);
/* "randoms" and "randoms_sigma", null if nothing can be told; hidden "randoms_known", "randoms_unknown". */
void slc_pet_put_randoms(slc_cli_tree *tree, double randoms, double sigma);
/* By the sequence counters: null without them. */
void slc_pet_put_losses(slc_cli_tree *tree, const slc_io_pet_inputs *inputs);
void slc_pet_put_doubts(slc_cli_tree *tree, const slc_io_pet_seen *seen, const slc_pet_tables *tables);
/* "records", where frames have a format; hidden "records_refused". */
void slc_pet_put_records(slc_cli_tree *tree, const slc_io_pet_format_counts *counts);
/* Of frames, and of all inputs' blocks. */
void slc_pet_put_faults(slc_cli_tree *tree, const slc_io_pet_inputs *inputs, const slc_faults *faults);

#endif
