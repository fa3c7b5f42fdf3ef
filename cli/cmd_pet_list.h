/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet list`: its options, its job, and the parts of the work.
 * cmd_pet_list.c           options; what is read, told and written
 * cmd_pet_list_scanner.c   the scanner, by whichever of four ways
 * cmd_pet_list_corrections.c   what the list has of each pair beside its columns
 */
#ifndef SLUICE_CMD_PET_LIST_H
#define SLUICE_CMD_PET_LIST_H

#include "cmd_pet_factors.h"
#include "cmd_pet_measured.h"

#include <sluice/io_pet_factors.h>
#include <sluice/sluice.h>

typedef struct slc_pet_list_options {
    slc_pet_factor_words factors;
    const char *tables, *scanner, *map, *output, *tof;
    int format, to; /* from 1; 0: not told, nowhere */
    double window_ns, radius_mm, pitch_mm;
    uint64_t crystals_per_ring, rings, ring_difference, tangential;
    bool rebin, subtract, prompts, json, quiet;
} slc_pet_list_options;

typedef struct slc_pet_list_job {
    const slc_pet_list_options *options;
    slc_io_pet_list_format from, to;
    bool sinogram, has_geometry;
    const char *to_name; /* of the format that is written; NULL: none is */
    slc_pet_geometry geometry;
    slc_pet_factors *factors;
    double tof_ns, window_ns; /* as given; 0: not given */
    double tables_fwhm_ps;    /* of --tables; 0: not told */
    slc_pet_measured measured;
    slc_io_pet_list_about about;
    uint32_t kept, lost; /* corrections of the pairs, a bit for each: written, with no place */
    slc_io_pet_list_corrections corrections;
    slc_io_pet_list *input;
    slc_io_pet_list_writer *writer;
    slc_io_pet_sinogram *image;
    slc_pet_coincidences pairs;
    slc_io_pet_list_totals totals;
    uint64_t written, left_out;
    bool partial; /* a signal ended the reading */
    slc_error error;
} slc_pet_list_job;

/* The scanner that the options tell, if they tell one, with the factors of --tables. SLC_CLI_GO_ON, or the
 * exit status after a line. */
int slc_pet_list_scanner(const slc_cli_command *command, slc_pet_list_job *job);

/* ---- cmd_pet_list_corrections.c ---------------------------------------------------------------- */

/* Those that the file has, a bit for each. */
uint32_t slc_pet_list_corrections_of(const slc_io_pet_list_about *about);
/* Which of them are written, which are not is told; crystals' efficiencies become factors. SLC_CLI_GO_ON, or
 * the exit status after a line. */
int slc_pet_list_corrections_settle(const slc_cli_command *command, slc_pet_list_job *job, const char *path);
/* Those of the pairs that were read last, for the writer. */
void slc_pet_list_corrections_take(slc_pet_list_job *job);
/* Before slc_pet_keep_prompts. */
void slc_pet_list_corrections_keep_prompts(slc_pet_list_job *job);
void slc_pet_list_corrections_put(const slc_pet_list_job *job, slc_cli_tree *tree);

#endif
