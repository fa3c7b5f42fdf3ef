/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what runs on GPUs is a library of its own, libsluice-cuda, which is loaded when it is
 * first asked for, and this table is all that is known of it. Each module has its calls in a struct of its
 * own, declared beside the functions that it names (image_cuda_engine.h, cms_chain_cuda.h, pet_chain_cuda.h
 * …), so that this folder knows no module. A static library, and the tests, have the table linked.
 */
#ifndef SLUICE_CUDA_ENGINES_H
#define SLUICE_CUDA_ENGINES_H

#include <sluice/cuda.h>

enum {
    SLC_CUDA_ENGINES_ABI = 12
}; /* raised whenever a table of calls, or a struct that they pass on, changes */

/* Of <sluice/cuda.h> (cuda_device.c). */
struct slc_cuda_device_calls {
    const char *built;
    int (*driver)(void);
    uint32_t (*devices)(slc_error *error);
    slc_status (*device_of)(uint32_t device, slc_cuda_device *found, slc_error *error); /* device: there is */
};

typedef struct slc_cuda_engines {
    uint32_t abi;        /* these two stay where they are, so that any other version can be told */
    const char *version; /* slc_version() of its build, which must be ours */
    const struct slc_cuda_device_calls *device;
    const struct slc_image_cuda_calls *image;
    const struct slc_cms_cuda_calls *cms; /* NULL in the emulator (tests/simt) */
    const struct slc_pet_cuda_calls *pet;
    const struct slc_pet_on_calls *pet_on;
    const struct slc_pet_look_calls *pet_look;
    const struct slc_velo_cuda_calls *velo;
    const struct slc_cuda_stream_calls *stream; /* for measurements, too (bench/), as those that follow */
    const struct slc_cuda_measure_calls *measure;
    const struct slc_pet_stage_calls *pet_stage;
} slc_cuda_engines;

/* The table; NULL where there is none, and *error (may be NULL) says why: "built without CUDA", or that
 * libsluice-cuda cannot be loaded. What was found once, library or reason, stays. Any thread may call it. */
const slc_cuda_engines *slc_cuda_engines_of(slc_error *error);

#endif
