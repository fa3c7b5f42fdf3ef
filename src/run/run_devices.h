/* SPDX-License-Identifier: Apache-2.0
 *
 * Which GPU each worker of a flow has: worker i gets device i mod n of those that a word names.
 */
#ifndef SLUICE_RUN_DEVICES_H
#define SLUICE_RUN_DEVICES_H

#include "cuda/cuda_choose.h"

/* n = 0: no GPU. */
typedef struct slc_run_devices {
    slc_cuda_list list;
} slc_run_devices;

enum { SLC_RUN_DEVICE_ROOM = 16 }; /* of "cuda:N" and its end */

/* NULL and "cpu" are no GPU; else as slc_cuda_list_read, each once. */
slc_status slc_run_devices_of(const char *word, slc_run_devices *devices, slc_error *error);
/* Workers of a chain that has so many on one device: as many on each. */
uint32_t slc_run_devices_workers(const slc_run_devices *devices, uint32_t of_one);
/* Threads where the caller leaves it to us (0): so that all devices together have the processors. */
uint32_t slc_run_devices_threads(const slc_run_devices *devices, uint32_t processors);
/* The word of one worker's device, in `text`; `whole` where there is no GPU. */
const char *slc_run_devices_word(const slc_run_devices *devices, uint32_t worker, const char *whole,
                                 char text[SLC_RUN_DEVICE_ROOM]);

#endif
