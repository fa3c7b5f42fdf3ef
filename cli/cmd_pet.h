/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: words that several of them take.
 * cmd_pet_words.c          quantities with units, policies, what is good
 * cmd_pet_acquire*.c       raw frames from the network (cmd_pet_acquire.h)
 * cmd_pet_convert.c        raw frames to singles
 * cmd_pet_sort.c           nearly ordered singles to ordered ones
 * cmd_pet_coincidences.c   singles to coincidences
 * cmd_pet_run*.c           raw frames to coincidences (cmd_pet_run.h)
 * cmd_pet_list.c           list-mode files, told and converted
 * cmd_pet_calibrate*.c     raw frames to tables (cmd_pet_calibrate.h)
 * cmd_pet_files.c          names of files that are read and written (cmd_pet_files.h)
 * cmd_pet_frames.c         raw inputs and what is known of their frames (cmd_pet_frames.h)
 * cmd_pet_series.c         the files of an acquisition as inputs
 */
#ifndef SLUICE_CMD_PET_H
#define SLUICE_CMD_PET_H

#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/pet_chain.h>
#include <sluice/pet_rates.h>

/* What a scanner is called in headers: its name, NULL where it was told in words, or not at all. */
const char *slc_pet_scanner_word_name(const char *scanner);

/* "different-crystal"; "sectors=24,min=2,crystals-per-ring=312";
 * "distance=59mm,axial=39mm,crystals-per-ring=312,radius=60mm,pitch=2mm". */
int slc_pet_good_word(const slc_cli_command *command, const char *word, slc_pet_good *good);

/* Takes the delayeds out of pairs, whose order stays. In cmd_pet_list.c. */
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
/* The names of policies, for their choice; NULL behind the last. */
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
        {"energies", 0, RANGE(o, words.kev, "LOW:HIGH in keV"), "LOW:HIGH",                                  \
         "keV; singles outside take no part"},                                                               \
    {                                                                                                        \
        "compat", 0, CHOICE(o, words.gate9, WORDS_FROM_1("gate9")), "gate9", "GATE 9's edges and oddities"   \
    }

#endif
