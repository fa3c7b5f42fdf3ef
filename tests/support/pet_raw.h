/* SPDX-License-Identifier: Apache-2.0
 *
 * Datagrams of frames for tests of raw files and of the acquisition. Include behind cmocka_all.h.
 */
#ifndef SUPPORT_PET_RAW_H
#define SUPPORT_PET_RAW_H

#include "support/pet_list.h"
#include "support/random.h"

/* Frames whose bytes tell their number, of module number % modules. */
static inline slc_pet_frame *raw_frames(size_t n, uint32_t modules)
{
    slc_pet_frame *frames = calloc(n + 1, sizeof *frames);
    assert_non_null(frames);
    for (size_t i = 0; i < n; i++) {
        frames[i].module = (uint8_t)(i % modules);
        for (int k = 0; k < 8; k++) {
            frames[i].time[k] = (uint8_t)((uint64_t)i >> (56 - 8 * k));
        }
        frames[i].energy[1] = (uint8_t)(i * 7);
    }
    return frames;
}

/* All frames of an open file, `most` at a time; closes it. Ends with the status of the last read. */
static inline slc_pet_frame *raw_read_all(slc_io_pet_raw *raw, size_t most, size_t *n, slc_faults *faults,
                                          slc_status *status)
{
    size_t capacity = 4096;
    slc_pet_frame *frames = malloc(capacity * sizeof *frames);
    slc_error error = {0};
    *n = 0;
    for (;;) {
        if (*n + most > capacity) {
            capacity = 2 * capacity + most;
            frames = realloc(frames, capacity * sizeof *frames);
        }
        assert_non_null(frames);
        size_t got = 0;
        *status = slc_io_pet_raw_read(raw, frames + *n, NULL, most, &got, faults, &error);
        if (*status != SLC_OK) {
            assert_int_equal(got, 0);
            break;
        }
        assert_in_range(got, 1, most);
        *n += got;
    }
    slc_io_pet_raw_close(raw);
    return frames;
}

static inline slc_pet_frame *raw_read_file(const char *name, size_t *n, slc_faults *faults)
{
    slc_io_pet_raw *raw = NULL;
    slc_error error = {0};
    slc_status status;
    assert_int_equal(slc_io_pet_raw_open(name, &raw, &error), SLC_OK);
    slc_pet_frame *frames = raw_read_all(raw, 1000, n, faults, &status);
    assert_int_equal(status, SLC_END);
    return frames;
}

#endif
