/* SPDX-License-Identifier: Apache-2.0
 *
 * A PET scanner of one's own from frames to a list-mode file: a generated measurement of a point source,
 * frames in batches as an acquisition gives them, the chain, prompts and delayeds in one order of time, and
 * what was lost. Fails where the pairs are not as many as the truth has them.
 *
 *     example_frames_to_pairs FILE.csv
 */
#include <sluice/io_pet.h>
#include <sluice/report_pet.h>
#include <sluice/sim_pet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 10000 };

typedef struct measurement {
    slc_sim_pet *sim;
    slc_pet_frame *frames;
    size_t n, capacity;
    uint64_t trues; /* annihilations of which both photons were seen */
} measurement;

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A tenth of a second at 2 M singles/s. */
static slc_status measure(measurement *m, slc_error *error)
{
    slc_sim_pet_config config;
    slc_sim_pet_truth truth = {.time_ps = NULL};
    slc_sim_pet_config_default(&config);
    config.singles_hz = 2e6;
    slc_status status = slc_pet_scanner(
        "channels=10,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm", &config.geometry, error);
    status = status == SLC_OK ? slc_sim_pet_open(&config, &m->sim, error) : status;
    if (status == SLC_OK) {
        status = slc_sim_pet_next(m->sim, 0.1, &m->frames, &m->n, &m->capacity, &truth, error);
    }
    /* Photons of one annihilation are two rows of one event, some packets apart. */
    if (status == SLC_OK) {
        qsort(truth.event, truth.head.size, sizeof *truth.event, by_number);
    }
    for (size_t i = 1; i < truth.head.size; i++) {
        m->trues += truth.event[i] != UINT64_MAX && truth.event[i] == truth.event[i - 1];
    }
    slc_columns_clear(&slc_sim_pet_truth_schema, &truth);
    return status;
}

/* One batch through the chain and into the file; `last` behind all frames. */
static slc_status pass(slc_pet_chain *chain, slc_pet_pairs *order, slc_io_pet_list_writer *list,
                       const slc_pet_frame *frames, size_t n, bool last, slc_error *error)
{
    static slc_pet_result result; /* keeps its memory from batch to batch */
    static slc_pet_coincidences due;
    slc_columns_reset(&due);
    slc_status status = slc_pet_chain_run(chain, frames, NULL, n, last, &result, error);
    if (status == SLC_OK) {
        status = slc_pet_pairs_add(order, &result, last, &due, error);
    }
    if (status == SLC_OK) {
        status = slc_io_pet_list_write(list, &due, error);
    }
    if (last || status != SLC_OK) {
        slc_pet_result_clear(&result);
        slc_columns_clear(&slc_pet_coincidences_schema, &due);
    }
    return status;
}

static slc_status reconstruct(const measurement *m, const char *path, slc_pet_totals *totals,
                              slc_error *error)
{
    const slc_pet_tables *tables = slc_sim_pet_tables(m->sim);
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.prompt.window_ns = 4;
    config.prompt.all_open = true; /* every pair less than 4 ns apart */
    config.prompt.policy = SLC_PET_TAKE_ALL_GOODS;
    config.delayed = true; /* pairs of windows that begin 100 ns late estimate the randoms */
    config.keep_singles = true;
    slc_io_pet_list_config list_config;
    slc_io_pet_list_config_default(&list_config);
    list_config.geometry = tables->geometry;
    list_config.window_ps = 4000;
    list_config.start_ps = -1000000000;
    slc_pet_chain *chain = NULL;
    slc_pet_pairs *order = NULL;
    slc_io_pet_list_writer *list = NULL;
    slc_status status = slc_pet_chain_open(&config, tables, &chain, error);
    status = status == SLC_OK ? slc_pet_pairs_open(&config, &order, error) : status;
    status = status == SLC_OK ? slc_io_pet_list_create(path, SLC_IO_PET_GATE, &list_config, &list, error)
                              : status;
    for (size_t at = 0, n = 0; at < m->n && status == SLC_OK; at += n) {
        n = m->n - at < BATCH ? m->n - at : BATCH;
        status = pass(chain, order, list, m->frames + at, n, at + n == m->n, error);
    }
    if (status == SLC_OK) {
        slc_pet_chain_totals(chain, totals);
        status = slc_io_pet_list_finish(list, error);
    } else {
        slc_io_pet_list_abandon(list);
    }
    slc_pet_pairs_close(order);
    slc_pet_chain_close(chain);
    return status;
}

int main(int argc, char **argv)
{
    measurement m = {.sim = NULL};
    slc_pet_totals totals = {.checksum = 0};
    slc_error error = {.text = "no memory"};
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s FILE.csv\n", argv[0]);
        return EXIT_FAILURE;
    }
    slc_status status = measure(&m, &error);
    status = status == SLC_OK ? reconstruct(&m, argv[1], &totals, &error) : status;
    slc_sim_pet_close(m.sim);
    free(m.frames);
    if (status != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    const double prompts = (double)totals.prompt.pairs, delayeds = (double)totals.delayed.pairs;
    (void)printf("%llu frames, %llu singles, %llu late; %.0f prompts, %.0f delayeds, %llu true pairs\n",
                 (unsigned long long)totals.convert.frames, (unsigned long long)totals.convert.singles,
                 (unsigned long long)totals.sort.late, prompts, delayeds, (unsigned long long)m.trues);
    const bool good = totals.sort.late == 0 && totals.convert.singles == m.n &&
                      fabs(prompts - delayeds - (double)m.trues) < 0.01 * (double)m.trues;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
