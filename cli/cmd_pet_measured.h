/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: the resolutions of --tables (docs/formats/pet-tables.md) in place of
 * options that are not given. What was taken is told, under --quiet, too, and is "measured" in JSON.
 */
#ifndef SLUICE_CMD_PET_MEASURED_H
#define SLUICE_CMD_PET_MEASURED_H

#include "cli_tree.h"
#include "cmd_pet.h"

/* What was taken; begins as {0}, nothing. */
typedef struct slc_pet_measured {
    double energy_fwhm, kev[2]; /* 0: not the energies */
    double tof_ps;              /* 0: not the resolution of times */
} slc_pet_measured;
/* The window of energies, to `config`, if none was `given` (0, 0) and the tables have a resolution. */
void slc_pet_measured_energies(slc_pet_measured *measured, const slc_pet_tables *tables,
                               const double given[2], slc_pet_convert_config *config);
/* Their resolution of times, to *tof_ns, if they have one. */
void slc_pet_measured_tof(slc_pet_measured *measured, const slc_pet_tables *tables, double *tof_ns);
/* One line, if anything was taken; `file`: of the tables. */
void slc_pet_measured_tell(const slc_pet_measured *measured, const char *command, const char *file);
void slc_pet_measured_put(const slc_pet_measured *measured, slc_cli_tree *tree);

#endif
