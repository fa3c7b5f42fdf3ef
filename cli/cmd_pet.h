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
#include <sluice/pet_randoms.h>

/* The word of --window, 1 ps or more; SLC_CLI_GO_ON, or the status after a line. NULL: *ns stays. */
int slc_pet_window_word(const slc_cli_command *command, const char *word, double *ns);
/* "350:650": keV, the lower one below the upper one. */
bool slc_pet_energies_word(const char *text, double *low, double *high);
/* What a scanner is called in headers: its name, NULL where it was told in words, or not at all. */
const char *slc_pet_scanner_word_name(const char *scanner);

/* "killAll", "opengate:RemoveMultiples" …; SLC_CLI_GO_ON, or the status after a line that lists them. */
int slc_pet_policy_word(const slc_cli_command *command, const char *word, slc_pet_policy *policy);

/* "different-crystal"; "sectors=24,min=2,crystals-per-ring=312";
 * "distance=59mm,axial=39mm,crystals-per-ring=312,radius=60mm,pitch=2mm". */
int slc_pet_good_word(const slc_cli_command *command, const char *word, slc_pet_good *good);

/* Takes the delayeds out of pairs, whose order stays. In cmd_pet_list.c. */
void slc_pet_keep_prompts(slc_pet_coincidences *pairs);

/* --window, --offset, --windows single|all-open, --edge closed|open, --compat gate9, --energies LOW:HIGH
 * (keV), --policy, --good: the words that say what a coincidence is. NULL: the default. */
typedef struct slc_pet_coincidence_words {
    const char *window, *offset, *windows, *edge, *compat, *energies, *policy, *good;
} slc_pet_coincidence_words;
int slc_pet_coincidence_config_of(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                                  slc_pet_coincidence_config *config);

/* "randoms" and "randoms_sigma", null where nothing can be told. */
struct json_t;
void slc_pet_randoms_json(struct json_t *object, const slc_pet_randoms_counts *counts);

/* Of the descriptions: the one rule for what is there already (slc_pet_files_check). */
#define SLC_PET_REPLACES "Outputs replace files that are there, but not raw data.\n"

/* Their rows for a table of options, as members of a struct that has them as `words`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a table's row, of a member's name and of literals. */
#define SLC_PET_COINCIDENCE_OPTION(options, name_, value_, help_)                                            \
    {                                                                                                        \
        .name = #name_, .value = value_, .kind = SLC_CLI_TEXT, .member = offsetof(options, words.name_),     \
        .help = help_                                                                                        \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
#define SLC_PET_COINCIDENCE_OPTIONS(options)                                                                 \
    SLC_PET_PROMPT_OPTIONS(options),                                                                         \
        SLC_PET_COINCIDENCE_OPTION(options, offset, "TIME", "the window begins so late: delayed pairs")
/* Without --offset, where prompts and delayeds are found together. */
#define SLC_PET_PROMPT_OPTIONS(options)                                                                      \
    SLC_PET_COINCIDENCE_OPTION(options, window, "TIME", "length of the window: 4ns, 250ps (default 10ns)"),  \
        SLC_PET_COINCIDENCE_OPTION(options, windows, "WHICH",                                                \
                                   "single (the default): singles in none open one; all-open: each does"),   \
        SLC_PET_COINCIDENCE_OPTION(options, edge, "HOW",                                                     \
                                   "the window's end is closed (the default) or open, not in it"),           \
        SLC_PET_COINCIDENCE_OPTION(options, policy, "NAME",                                                  \
                                   "three singles or more; a wrong name lists all (default killAll)"),       \
        SLC_PET_COINCIDENCE_OPTION(options, good, "RULE",                                                    \
                                   "different-crystal, or sectors=..., or distance=...: see the manual"),    \
        SLC_PET_COINCIDENCE_OPTION(options, energies, "LOW:HIGH", "keV; singles outside take no part"),      \
        SLC_PET_COINCIDENCE_OPTION(options, compat, "gate9", "GATE 9's edges and oddities")

#endif
