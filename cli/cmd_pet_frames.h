/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: raw frames as inputs, one file behind the other, and what must be known
 * to convert them.
 */
#ifndef SLUICE_CMD_PET_FRAMES_H
#define SLUICE_CMD_PET_FRAMES_H

#include "cmd_pet.h"

#include <sluice/io_pet.h>
#include <sluice/report_pet.h>

/* ---- words ------------------------------------------------------------------------------------- */

/* --tables, --scanner, --ticks N/D, --tick-bits; they begin as SLC_PET_FRAME_WORDS. */
typedef struct slc_pet_frame_words {
    const char *tables, *scanner;
    uint32_t ticks[2];
    uint64_t tick_bits;
} slc_pet_frame_words;
#define SLC_PET_FRAME_WORDS                                                                                  \
    {                                                                                                        \
        .ticks = {1, 1}, .tick_bits = 64                                                                     \
    }

/* Their rows for a table of options, as members of a struct that has them as `frames`. */
#define SLC_PET_FRAME_OPTIONS(o)                                                                             \
    {"tables", 0, INPUT_AS(o, frames.tables, "the tables"), "FILE", "the scanner and its tables (HDF5)"},    \
        {"scanner", 0, TEXT(o, frames.scanner), "NAME",                                                      \
         "in place of --tables: by name or in words; a wrong name lists all"},                               \
        {"ticks", 0, FRACTION(o, frames.ticks, "picoseconds as N or N/D"), "N/D",                            \
         "a tick of the frames' clock is N/D picoseconds (default 1)"},                                      \
    {                                                                                                        \
        "tick-bits", 0, COUNT(o, frames.tick_bits, 8, 64), "N",                                              \
            "bits of the clock, which begins again at 0 after them"                                          \
    }

/* Ticks and energies (low, high; 0, 0: all) of a conversion. */
void slc_pet_convert_config_of(const slc_pet_frame_words *words, const double kev[2],
                               slc_pet_convert_config *config);
/* --energies as `kev` and --horizon as `horizon_ns`, which begins as SLC_PET_HORIZON_NS. Two hours at most:
 * more would not be what anybody means, and 2^63 ps are 106 days. */
#define SLC_PET_ENERGIES(o, m) RANGE(o, m, "LOW:HIGH in keV")
#define SLC_PET_HORIZON(o, m)  TIME_UP_TO(o, m, 0, 7.2e12, "a time up to 7200s, as 1ms")
#define SLC_PET_HORIZON_NS     1e6
#define SLC_PET_PS(ns)         ((int64_t)((ns)*1000 + 0.5))
/* The scanner with its tables, of which *owned says whether slc_io_pet_tables_clear is due. */
int slc_pet_tables_of(const slc_cli_command *command, const slc_pet_frame_words *words,
                      slc_pet_tables *tables, bool *owned);

/* ---- inputs ------------------------------------------------------------------------------------ */

/* --series, a flag of that name in a struct of options. */
#define SLC_PET_SERIES_OPTION(o)                                                                             \
    {                                                                                                        \
        "series", 0, FLAG(o, series), NULL,                                                                  \
            "read the files, too, that follow each of FRAMES in its acquisition"                             \
    }
typedef struct slc_pet_paths {
    char **path; /* copies */
    int n;
} slc_pet_paths;
/* What is read of the files that are named: these; with --series (`series`) each followed by the rest of its
 * acquisition, files of one acquisition in its order whatever theirs is, and none twice. Of several names,
 * those of indexes are passed over. Without `quiet`, tells of that and of files that are not read.
 * SLC_CLI_GO_ON, or the exit status after a line; slc_pet_paths_clear in any case. */
int slc_pet_paths_of(const slc_cli_command *command, char **named, int n, bool series, bool quiet,
                     slc_pet_paths *paths);
void slc_pet_paths_clear(slc_pet_paths *paths);

/* Where it is kept when frames were received: NULL where nobody asks, as counters do not begin again. False:
 * there is no memory. */
bool slc_pet_received_room(const slc_pet_frame_words *words, size_t frames, uint64_t **received_ns);
/* Tells what was wrong with the inputs. False where there was an error, bytes were skipped, datagrams are
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
/* Tells where there were no frames, or where none is of the scanner or became a single; the exit status is
 * then 1, and no file is written. */
bool slc_pet_nothing_tell(const char *command, const slc_pet_convert_counts *counts);
/* Tells where more than nine tenths of the frames are of no place of the scanner, or of the datagrams are no
 * whole frames, even under --quiet: the exit status is then 1, and the files are written. */
bool slc_pet_most_lost_tell(const slc_io_pet_inputs *inputs, const char *command,
                            const slc_pet_convert_counts *counts);

/* The two parts of that: datagrams, and frames. */
bool slc_pet_malformed_tell(const char *command, uint64_t malformed, uint64_t datagrams);
bool slc_pet_places_tell(const char *command, const slc_pet_convert_counts *counts);

/* ---- cmd_pet_losses.c -------------------------------------------------------------------------- */

/* --tolerate-loss, a flag of that name in a struct of options. */
#define SLC_PET_TOLERATE_OPTION(o)                                                                           \
    {                                                                                                        \
        "tolerate-loss", 0, FLAG(o, tolerate_loss), NULL,                                                    \
            "exit status 0 also if more than 0.1 % of the frames are lost or foreign"                        \
    }
/* Are so many lost frames, beside those that are kept, more than 0.1 % of all? The exit status is then 1,
 * unless --tolerate-loss says otherwise. */
bool slc_pet_loss_is_large(uint64_t lost, uint64_t kept);
/* Tells them, under --quiet, too. False: the exit status is to be 1. */
bool slc_pet_losses_tell(const slc_io_pet_inputs *inputs, const char *command, bool tolerate);
/* Of a file, or of "". most: the foreign ones are so many that the counter is doubted. */
void slc_pet_unused_tell(const char *command, const char *path, uint64_t repeated, uint64_t foreign,
                         bool most);
/* Pairs that a sinogram has no bin for, under --quiet, too. */
void slc_pet_outside_tell(const char *command, const char *path, uint64_t outside);

/* ---- counts ------------------------------------------------------------------------------------ */

/* Tells where frames show another scanner than that of the tables, also to those who want it quiet. */
void slc_pet_doubts_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables);
/* A line that warns of late singles, under --quiet, too; nothing where there are none. False: they are more
 * than half of all, and the exit status is to be 1, as of other inputs that are lost. */
bool slc_pet_late_tell(const char *command, const slc_pet_sort_counts *counts, int64_t horizon_ps);

#endif
