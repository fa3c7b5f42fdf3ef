/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures writers of list-mode files: pairs of crystals at random, which is the hardest order for their
 * tables of crystals, to /dev/null, so that no disk counts.
 */
#include "bench/bench_pet.h"

#include "base/columns.h"
#include <sluice/io_pet.h>

#include <stdlib.h>

enum { PAIR_BYTES = 33, FORMATS = 4, STEP_PS = 100000 };

typedef struct list_bench {
    slc_bench_pet_set *set;
    slc_pet_coincidences pairs;
    slc_io_pet_list_format format;
    slc_io_pet_list_config config;
} list_bench;

static slc_status make_pairs(list_bench *b)
{
    const size_t n = b->set->config->frames;
    const uint32_t crystals = slc_pet_crystals(&b->config.geometry);
    uint64_t state = b->set->config->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (slc_columns_reserve(&slc_pet_coincidences_schema, &b->pairs, n, 1) != SLC_OK) {
        return slc_fail(b->set->error, SLC_ERR_MEMORY, "no memory for %zu pairs", n);
    }
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13; /* G. Marsaglia, J. Stat. Softw. 8 (2003) 14 */
        state ^= state >> 7;
        state ^= state << 17;
        b->pairs.time_ps[i] = (int64_t)i * STEP_PS;
        b->pairs.dt_ps[i] = (int64_t)(state % 7001) - 3500;
        b->pairs.crystal1[i] = (uint32_t)((state >> 32) * crystals >> 32);
        b->pairs.crystal2[i] = (uint32_t)((state & UINT32_MAX) * crystals >> 32);
        b->pairs.energy1_kev[i] = b->pairs.energy2_kev[i] = 511;
        b->pairs.delayed[i] = 0;
    }
    b->pairs.head.size = n;
    return SLC_OK;
}

/* A whole file, with its header. */
static slc_status write_list(void *self, double *seconds, slc_error *error)
{
    list_bench *b = self;
    const size_t n = b->pairs.head.size, batch = b->set->config->batch;
    slc_io_pet_list_writer *writer = NULL;
    const double began = slc_clock_seconds();
    slc_status status = slc_io_pet_list_create("/dev/null", b->format, &b->config, &writer, error);
    for (size_t at = 0; at < n && status == SLC_OK; at += batch) {
        slc_pet_coincidences some = b->pairs;
        some.head.size = n - at < batch ? n - at : batch;
        some.time_ps += at;
        some.dt_ps += at;
        some.crystal1 += at;
        some.crystal2 += at;
        some.energy1_kev += at;
        some.energy2_kev += at;
        some.delayed += at;
        status = slc_io_pet_list_write(writer, &some, error);
    }
    if (status == SLC_OK) {
        status = slc_io_pet_list_finish(writer, error);
    } else {
        slc_io_pet_list_abandon(writer);
    }
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

slc_status slc_bench_pet_lists(slc_bench_pet_set *set)
{
    static const struct {
        const char *name;
        slc_io_pet_list_format format;
        bool tof;
    } cases[FORMATS] = {{"PETSIRD", SLC_IO_PET_PETSIRD, false},
                        {"PETSIRD, time of flight", SLC_IO_PET_PETSIRD, true},
                        {"YRT-PET", SLC_IO_PET_YRT, false},
                        {"YRT-PET, time of flight", SLC_IO_PET_YRT, true}};
    list_bench b = {.set = set};
    slc_io_pet_list_config_default(&b.config);
    slc_status status = slc_pet_scanner(set->scanner, &b.config.geometry, set->error);
    b.config.window_ps = set->config->window_ns * 1000;
    b.config.prompt_multiples = SLC_PET_MULTIPLES_REJECTED;
    status = status == SLC_OK ? make_pairs(&b) : status;
    for (size_t i = 0; i < FORMATS && status == SLC_OK; i++) {
        slc_bench_contestant c = {.self = &b, .run = write_list};
        b.format = cases[i].format;
        b.config.tof = cases[i].tof;
        b.config.tof_resolution_ps = cases[i].tof ? 300 : 0;
        status = slc_bench_measure(&set->plan, &c, 1, set->error);
        if (status == SLC_OK) {
            const size_t n = b.pairs.head.size;
            slc_bench_pet_add(set, cases[i].name, n, n, c.time[0], (double)n * PAIR_BYTES,
                              set->bytes_per_second);
        }
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &b.pairs);
    return status;
}
