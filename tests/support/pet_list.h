/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of crystals for tests of list-mode files, and what is in a folder of outputs. Include behind
 * cmocka_all.h.
 */
#ifndef SUPPORT_PET_LIST_H
#define SUPPORT_PET_LIST_H

#include <sluice/io.h>
#include <sluice/io_pet.h>

#include <string.h>

#include "io/io_stream.h"
#include "support/random.h"
#include "support/temporary_folder.h"

/* A small ring whose blocks are different around and along: 5 · 2 · 4 = 40 crystals, 2 · 3 · 2 = 12 rings. */
static const slc_pet_geometry pet_small = {.channels = 5,
                                           .modules = 1,
                                           .module_rings = 2,
                                           .blocks_y = 2,
                                           .blocks_z = 3,
                                           .crystals_y = 4,
                                           .crystals_z = 2,
                                           .radius_mm = 50,
                                           .pitch_z_mm = 2,
                                           .depth_mm = 10};

/* n prompts, then n_delayed, each in the order of time, as the chain gives them. Some share a millisecond,
 * some do not; no pair is of two crystals at one angle. */
static inline slc_pet_coincidences pet_pairs(size_t n, size_t n_delayed, uint64_t seed)
{
    slc_pet_coincidences pairs = {0};
    const uint32_t per_ring = slc_pet_crystals_per_ring(&pet_small), all = slc_pet_crystals(&pet_small);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, n + n_delayed + 1, 1), SLC_OK);
    int64_t time = 0;
    for (size_t i = 0; i < n + n_delayed; i++) {
        time = (i == n ? 0 : time) + random_below(&seed, 700000000);
        pairs.time_ps[i] = time;
        pairs.dt_ps[i] = (int64_t)random_below(&seed, 8000) - 4000;
        pairs.crystal1[i] = random_below(&seed, all);
        do {
            pairs.crystal2[i] = random_below(&seed, all);
        } while (pairs.crystal1[i] % per_ring == pairs.crystal2[i] % per_ring);
        pairs.energy1_kev[i] = (float)(400 + 200 * random_unit(&seed));
        pairs.energy2_kev[i] = (float)(400 + 200 * random_unit(&seed));
        pairs.delayed[i] = i >= n;
    }
    pairs.head.size = n + n_delayed;
    return pairs;
}

static inline void pet_clear(slc_pet_coincidences *pairs)
{
    slc_columns_clear(&slc_pet_coincidences_schema, pairs);
}

static inline slc_io_pet_list_config pet_config(bool tof)
{
    return (slc_io_pet_list_config){.size = sizeof(slc_io_pet_list_config),
                                    .geometry = pet_small,
                                    .scanner = "small",
                                    .tof = tof,
                                    .tof_resolution_ps = tof ? 250 : 0,
                                    .window_ps = 4000};
}

/* Writes them to folder/NAME. */
static inline void pet_write(const char *name, slc_io_pet_list_format format, bool tof,
                             const slc_pet_coincidences *pairs)
{
    const slc_io_pet_list_config config = pet_config(tof);
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(name, format, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, pairs, &error), SLC_OK);
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
}

/* All pairs, `most` at a time; the status is that of the end. Closes the input. */
static inline slc_status pet_read_all(slc_io_pet_list *input, size_t most, slc_pet_coincidences *pairs,
                                      slc_io_pet_list_totals *totals, slc_error *error)
{
    slc_status status;
    do {
        status = slc_io_pet_list_read(input, most, pairs, error);
    } while (status == SLC_OK);
    slc_io_pet_list_about about;
    slc_io_pet_list_about_of(input, &about);
    *totals = about.totals;
    slc_io_pet_list_close(input);
    return status;
}

/* The bytes of a file, behind them a zero. */
static inline char *pet_bytes(const char *name, size_t *size)
{
    void *bytes = NULL;
    assert_int_equal(slc_io_read_file(name, (size_t)1 << 26, &bytes, size, NULL), SLC_OK);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    memcpy(text, bytes, *size);
    text[*size] = '\0';
    free(bytes);
    return text;
}

/* folder/NAME, in one of four static buffers. */
static inline const char *pet_in_folder(const char *name)
{
    static char names[4][512];
    static unsigned next;
    char *at = names[next++ % 4];
    (void)snprintf(at, sizeof names[0], "%s/%s", folder, name);
    return at;
}

/* Tear-down: whatever is in the folder goes with it. */
static inline int remove_all(void **state)
{
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL) {
        return -1;
    }
    for (const struct dirent *entry = readdir(open_folder); entry != NULL; entry = readdir(open_folder)) {
        if (entry->d_name[0] != '.') {
            (void)remove(pet_in_folder(entry->d_name));
        }
    }
    (void)closedir(open_folder);
    return remove_folder(state);
}

#endif
