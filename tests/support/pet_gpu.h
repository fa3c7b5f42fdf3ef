/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU, for tests: singles of the host to the device in batches, into memory that is no
 * larger than it needs to be, and the rows of all batches back.
 */
#ifndef TESTS_SUPPORT_PET_GPU_H
#define TESTS_SUPPORT_PET_GPU_H

#include "pet/cuda/pet_cuda.h"
#include "support/cmocka_all.h"
#include "support/pet_cases.h"

typedef struct pet_gpu_input {
    const int64_t *time_ps;
    const double *time_ns; /* in place of time_ps, for times in floating point */
    const uint32_t *crystal;
    const float *energy;
    size_t n;
} pet_gpu_input;

typedef enum pet_gpu_kind { PET_GPU_GROUPS = 0, PET_GPU_PAIRS, PET_GPU_F64, PET_GPU_KINDS } pet_gpu_kind;

/* Opens the first GPU. Where there is none, says so and returns false: the test exits with 77. */
bool pet_gpu_open(void);
int pet_gpu_close(void **state); /* a teardown of cmocka's */
slc_cuda_stream *pet_gpu_stream(void);

/* Runs singles at … at + n - 1, and appends the rows; pairs are marked as `delayed` says. */
slc_status pet_gpu_run(slc_pet_coincidence_cuda *stage, const pet_gpu_input *in, size_t at, size_t n,
                       pet_gpu_kind kind, bool last, bool delayed, pet_cases_rows *rows, slc_error *error);

#endif
