/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet calibrate`: its options, its job, and the parts of the work.
 * cmd_pet_calibrate.c         options; how it begins and ends
 * cmd_pet_calibrate_steps.c   frames through the steps of pet_calibrate.h
 */
#ifndef SLUICE_CMD_PET_CALIBRATE_H
#define SLUICE_CMD_PET_CALIBRATE_H

#include "cmd_pet_tell.h"
#include <sluice/sluice.h>

typedef struct slc_pet_calibrate_options {
    slc_pet_frame_words frames;
    const char *output, *flood, *spectra, *source;
    uint32_t keep; /* bits of SLC_PET_KEEP_… */
    uint64_t side, threads;
    double peak_kev, kev[2], window_ns, horizon_ns;
    bool series, time, json, quiet;
} slc_pet_calibrate_options;

typedef struct slc_pet_calibrate_job {
    const slc_pet_calibrate_options *options;
    slc_pet_paths read;
    char **paths; /* of `read` */
    int n_paths;
    slc_pet_tables old; /* of --tables, whose memory is `owned` */
    bool owned;
    bool keep_position, keep_gain, keep_time;
    slc_pet_tables tables; /* what is written; its memory is that of `old` or of the following */
    uint16_t *position;
    float *gain, *resolution;
    int32_t *time_offset_ps;
    slc_pet_calibrate *calibrate;
    slc_pet_config chain; /* of the pairs for times */
    slc_pet_coincidences pairs;
    uint64_t *received_ns; /* of the frames at hand; NULL: nobody asks */
    /* what is told */
    uint64_t frames;
    slc_io_pet_seen seen;
    char doubt[SLC_REPORT_PET_DOUBT]; /* the last one */
    struct json_t *doubts;            /* all of them; NULL: none */
    bool plain;                       /* places are crystals: there is no position table */
    uint32_t unsure_blocks, unsure_crystals;
    double peak_fwhm; /* of the crystals' peaks, their median over the peak */
    slc_pet_calibrate_counts counts;
    slc_pet_time_fit fit;
    slc_pet_cylinder source; /* of pairs, if it is told; radius 0: a point */
    slc_pet_time_width width;
    bool damaged; /* an input: told already */
    slc_cli_progress progress;
    slc_error error;
} slc_pet_calibrate_job;

enum { SLC_PET_KEEP_POSITION = 1, SLC_PET_KEEP_GAIN = 2, SLC_PET_KEEP_TIME = 4, SLC_PET_KEEP_EFFICIENCY = 8 };

/* All steps that are wanted, to job->tables. SLC_END if a signal ended them. */
slc_status slc_pet_calibrate_steps(slc_pet_calibrate_job *job);

/* Tells job->doubt, and keeps it for JSON. */
void slc_pet_calibrate_doubts_add(slc_pet_calibrate_job *job);

#endif
