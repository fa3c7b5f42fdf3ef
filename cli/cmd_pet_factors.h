/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: factors of pairs in words, --normalise and --attenuation.
 */
#ifndef SLUICE_CMD_PET_FACTORS_H
#define SLUICE_CMD_PET_FACTORS_H

#include "cmd_pet.h"

#include <sluice/pet_normalise.h>

typedef struct slc_pet_factor_words {
    bool normalise;
    slc_cli_texts attenuation;
    const char *image, *voxel;
} slc_pet_factor_words;

/* Their rows for a table of options, as members of a struct that has them as `m`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members. */
#define SLC_PET_ATTENUATION_OPTIONS(o, m)                                                                    \
    {"attenuation", 0, TEXTS(o, m.attenuation), "WORDS",                                                     \
     "a cylinder: radius=20mm,length=100mm,x=,y=,z=,mu=0.096; again for more"},                              \
        {"attenuation-image", 0, INPUT(o, m.image), "FILE",                                                  \
         "attenuation in voxels, 1/cm: NAME.npy, or Interfile (NAME.hv)"},                                   \
    {                                                                                                        \
        "voxel", 0, TEXT(o, m.voxel), "XxYxZ", "of NAME.npy: how large its voxels are, 1x1x2mm"              \
    }
#define SLC_PET_FACTOR_OPTIONS(o, m)                                                                         \
    {"normalise", 0, FLAG(o, m.normalise), NULL,                                                             \
     "of castor: write the factor of each pair by the efficiencies of --tables"},                            \
        SLC_PET_ATTENUATION_OPTIONS(o, m)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Is there any such word? */
bool slc_pet_factors_wanted(const slc_pet_factor_words *words);
/* Opens them; *factors is NULL where there are none. SLC_CLI_GO_ON, or the exit status after a line. The
 * tables may go afterwards. */
int slc_pet_factors_of_words(const slc_cli_command *command, const slc_pet_factor_words *words,
                             const slc_pet_tables *tables, slc_pet_factors **factors);

/* Pairs that were written with a factor of 0, also under --quiet; nothing if there are none. */
void slc_pet_dead_tell(const char *command, const char *path, uint64_t dead);

#endif
