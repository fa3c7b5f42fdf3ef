/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: words that several of them take.
 * cmd_pet_words.c          what options mean: coincidences, frames, tables, names of files; inputs as a flow
 * cmd_pet_series.c         the files of an acquisition as inputs
 * cmd_pet_tell.c           what several commands tell (cmd_pet_tell.h)
 * cmd_pet_format.c         frames of other layouts, and their marks
 * cmd_pet_singles.c        files of singles
 * cmd_pet_convert.c        raw frames to singles
 * cmd_pet_sort.c           nearly ordered singles to ordered ones
 * cmd_pet_coincidences.c   singles to coincidences
 * cmd_pet_run*.c           raw frames to coincidences (cmd_pet_run.h)
 * cmd_pet_acquire*.c       raw frames from the network (cmd_pet_acquire.h)
 * cmd_pet_calibrate*.c     raw frames to tables (cmd_pet_calibrate.h)
 * cmd_pet_factors.c        factors of pairs in words (cmd_pet_factors.h)
 * cmd_pet_list*.c          list-mode files, told and converted (cmd_pet_list.h)
 * cmd_pet_measured.c       resolutions of tables in place of options (cmd_pet_measured.h)
 * cmd_pet_normalise.c      pairs of a known source to efficiencies, and factors of pairs
 */
#ifndef SLUICE_CMD_PET_H
#define SLUICE_CMD_PET_H

#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/io_pet.h>
#include <sluice/pet_rates.h>
#include <sluice/run_flow.h>

/* What a scanner is called in headers: its name, NULL if it was told in words or of a file, or not at all. */
const char *slc_pet_scanner_word_name(const char *scanner);

/* "different-crystal"; "sectors=24,min=2,crystals-per-ring=312";
 * "distance=59mm,axial=39mm,crystals-per-ring=312,radius=60mm,pitch=2mm". */
int slc_pet_good_word(const slc_cli_command *command, const char *word, slc_pet_good *good);

/* Takes the delayeds out of pairs, whose order stays. */
void slc_pet_keep_prompts(slc_pet_coincidences *pairs);

/* --window, --offset, --windows, --edge, --compat, --energies, --policy, --good: the words that say what a
 * coincidence is. All 0: the defaults. */
typedef struct slc_pet_coincidence_words {
    double window_ns, offset_ns, kev[2];
    int all_open, edge, gate9, policy; /* edge and policy from 1 */
    const char *good;
} slc_pet_coincidence_words;
enum { SLC_PET_EDGE_CLOSED = 1, SLC_PET_EDGE_OPEN };
int slc_pet_coincidence_config_of(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                                  slc_pet_coincidence_config *config);
/* The names of policies, for their choice; NULL after the last. */
const char *slc_pet_policy_at(size_t i);

/* Of the descriptions: the one rule for what is there already (slc_pet_files_check). */
#define SLC_PET_REPLACES "Outputs replace files that are there, but not raw data.\n"

/* Their rows for a table of options, as members of a struct that has them as `words`. */
#define SLC_PET_WINDOW(o, m) TIME_FROM(o, m, "1ps", "shorter", "a time, as 4ns or 250ps")
#define SLC_PET_COINCIDENCE_OPTIONS(o)                                                                       \
    SLC_PET_PROMPT_OPTIONS(o),                                                                               \
    {                                                                                                        \
        "offset", 0, TIME(o, words.offset_ns, 0, "a time, as 100ns"), "TIME",                                \
            "the window begins so late: delayed pairs"                                                       \
    }
/* Without --offset, where prompts and delayeds are found together. */
#define SLC_PET_PROMPT_OPTIONS(o)                                                                            \
    {"window", 0, SLC_PET_WINDOW(o, words.window_ns), "TIME",                                                \
     "length of the window: 4ns, 250ps (default 10ns)"},                                                     \
        {"windows", 0, CHOICE(o, words.all_open, WORDS("single", "all-open")), "WHICH",                      \
         "single (the default): singles in none open one; all-open: each does"},                             \
        {"edge", 0, CHOICE(o, words.edge, WORDS_FROM_1("closed", "open")), "HOW",                            \
         "the window's end is closed (the default) or open, not in it"},                                     \
        {"policy", 0, CHOICE(o, words.policy, NAMES_FROM_1("policy", slc_pet_policy_at)), "NAME",            \
         "three singles or more; a wrong name lists all (default killAll)"},                                 \
        {"good", 0, TEXT(o, words.good), "RULE",                                                             \
         "different-crystal, or sectors=..., or distance=...: see the manual"},                              \
        {"energies", 0, SLC_PET_ENERGIES(o, words.kev), "LOW:HIGH", "keV; singles outside take no part"},    \
    {                                                                                                        \
        "compat", 0, CHOICE(o, words.gate9, WORDS_FROM_1("gate9")), "gate9", "GATE 9's edges and oddities"   \
    }

/* ---- words of frames --------------------------------------------------------------------------- */

/* --tables, --scanner, --ticks N/D, --tick-bits, --frame-format; they begin as SLC_PET_FRAME_WORDS. */
typedef struct slc_pet_frame_words {
    const char *tables, *scanner, *format;
    uint32_t ticks[2];
    uint64_t tick_bits;
    /* Of slc_pet_format_of: the format that is used, and the words' own, NULL for none; or the inputs have
     * formats of their own. */
    const slc_io_pet_format *used;
    slc_io_pet_format *opened;
    bool own;
} slc_pet_frame_words;
#define SLC_PET_FRAME_WORDS                                                                                  \
    {                                                                                                        \
        .ticks = {1, 1}, .tick_bits = 64                                                                     \
    }

/* Their rows for a table of options, as members of a struct that has them as `frames`. */
#define SLC_PET_FRAME_OPTIONS(o)                                                                             \
    {"tables", 0, INPUT_AS(o, frames.tables, "the tables"), "FILE", "the scanner and its tables (HDF5)"},    \
        {"scanner", 0, INPUTS(o, frames.scanner, slc_pet_scanner_files), "NAME",                             \
         "in place of --tables: by name, in words, or FILE.csv; a wrong name lists all"},                    \
        {"ticks", 0, FRACTION(o, frames.ticks, "picoseconds as N or N/D"), "N/D",                            \
         "a tick of the frames' clock is N/D picoseconds (default 1)"},                                      \
        {"tick-bits", 0, COUNT(o, frames.tick_bits, 8, 64), "N",                                             \
         "bits of the clock, which begins again at 0 after them"},                                           \
    {                                                                                                        \
        "frame-format", 0, INPUT_AS(o, frames.format, "a format of frames"), "FILE",                         \
            "layout of frames that are not sluice's own (JSON)"                                              \
    }

/* Opens --frame-format, or looks whether the first input tells a format of its own, and takes its clock for
 * --ticks and --tick-bits: before slc_pet_convert_config_of. SLC_CLI_GO_ON, or the exit status after a line;
 * slc_pet_format_clear in any case. */
int slc_pet_format_of(const slc_cli_command *command, slc_pet_frame_words *words, char **paths, int n);
/* The same with a format that somebody else has, for as long as it is used. */
int slc_pet_format_take(const slc_cli_command *command, slc_pet_frame_words *words,
                        const slc_io_pet_format *format);
void slc_pet_format_clear(slc_pet_frame_words *words);
/* What --marks needs. */
int slc_pet_marks_check(const slc_cli_command *command, const slc_pet_frame_words *words, const char *marks);

/* Ticks and energies (low, high; 0, 0: all) of a conversion. */
void slc_pet_convert_config_of(const slc_pet_frame_words *words, const double kev[2],
                               slc_pet_convert_config *config);
/* --energies as `kev` and --horizon as `horizon_ns`, which begins as SLC_PET_HORIZON_NS. Two hours at most:
 * more would not be what anybody means, and 2^63 ps are 106 days. */
#define SLC_PET_ENERGIES(o, m) RANGE_OR(o, m, "all", "LOW:HIGH in keV, or all")
#define SLC_PET_HORIZON(o, m)  TIME_UP_TO(o, m, 0, 7.2e12, "a time up to 7200s, as 1ms")
#define SLC_PET_HORIZON_NS     1e6
#define SLC_PET_PS(ns)         ((int64_t)((ns)*1000 + 0.5))
/* For rows of --scanner: the file that it names, if it names one. */
char *slc_pet_scanner_files(const void *options, const char *name, size_t i);
/* --scanner: by name, in words, or of a file. SLC_CLI_GO_ON, or the exit status after a line;
 * slc_pet_geometry_clear is due. */
int slc_pet_scanner_of(const slc_cli_command *command, const char *name, slc_pet_geometry *geometry);
/* --ring-difference of a sinogram, 65536 where it was not given; and where lines go to the bins of another
 * ring than the scanner's, that this is so. */
uint32_t slc_pet_ring_difference_of(const slc_pet_geometry *geometry, uint64_t given);
void slc_pet_tell_sinogram(const char *command, const slc_io_pet_sinogram *sinogram);
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

/* --tolerate-loss, a flag of that name in a struct of options. */
#define SLC_PET_TOLERATE_OPTION(o)                                                                           \
    {                                                                                                        \
        "tolerate-loss", 0, FLAG(o, tolerate_loss), NULL,                                                    \
            "exit status 0 also if more than 0.1 % of the frames are lost or foreign"                        \
    }

/* Inputs through a chain; `batch` frames at a time. */
slc_status slc_pet_flow_open(const slc_pet_paths *paths, uint64_t batch, const slc_flow_pet_setup *setup,
                             slc_flow **flow, slc_error *error);

/* ---- singles ----------------------------------------------------------------------------------- */

/* A file of singles: records (docs/formats/pet-singles.md), or the columns of a result by the end of its
 * name. */
typedef struct slc_pet_singles_file {
    slc_io_writer *writer; /* NULL: none is open, or it is PETSIRD */
    slc_io_pet_list_writer *list;
    bool columns;
    uint64_t left_out; /* PETSIRD: of energies outside of the window; known at the end */
} slc_pet_singles_file;
bool slc_pet_singles_are_open(const slc_pet_singles_file *file);
/* By its name. */
bool slc_pet_singles_are_petsird(const char *path);
/* On failure _abandon is due, as at the end. */
/* PETSIRD's need a scanner, an energy window, and singles in order: `list` has the first two, NULL where
 * singles are not those of a scanner in order. */
slc_status slc_pet_singles_create(const char *path, const slc_io_pet_list_config *list,
                                  slc_pet_singles_file *file, slc_error *error);
slc_status slc_pet_singles_put(slc_pet_singles_file *file, const slc_pet_singles *singles, slc_error *error);
/* Completes it; `partial`: a signal ended the run, which columns tell. */
slc_status slc_pet_singles_finish(slc_pet_singles_file *file, bool partial, slc_error *error);
void slc_pet_singles_abandon(slc_pet_singles_file *file); /* where none is open, too */

/* The same of marks: columns by the end of the name, else CSV. _finish and _abandon are those of singles. */
slc_status slc_pet_marks_create(const char *path, slc_pet_singles_file *file, slc_error *error);
/* None, where `marks` is NULL. */
slc_status slc_pet_marks_put(slc_pet_singles_file *file, const slc_pet_marks *marks, slc_error *error);

/* ---- names of files ---------------------------------------------------------------------------- */

/* For rows of outputs: the two files of a sinogram. */
char *slc_pet_sinogram_files(const void *options, const char *name, size_t i);
/* The same of a list-mode format of io_pet.h; beyond these it is the file of that name. */
char *slc_pet_list_files(int format, const char *name, size_t i);
/* Forms of columns that are written alone, "arrow" … "npz", NULL beyond; and what that one is under a name:
 * the stream of Arrow for "-" and NAME.arrows. */
const char *slc_pet_columns_name(size_t i);
const char *slc_pet_columns_form(size_t i, const char *name);

/* What slc_cli_check says of the options' outputs and of `inputs`; and no other output may have a name that
 * an output of raw frames goes on in, run.0001.raw. Results replace what is there, as those of all commands
 * do; but not raw data, which cannot be made again: that is wrong usage. */
int slc_pet_files_check(const slc_cli_command *command, const void *options, char **inputs, int n);

#endif
