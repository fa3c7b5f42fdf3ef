/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulates events, reconstructs them and compares with the truth: efficiency, ghosts and clones in a few
 * lines, without a file in between.
 *
 *     simulate_and_check [EVENTS]
 */
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>

/* Everything that one event after the other passes through. */
typedef struct pipeline {
    slc_sim_velo *sim;
    slc_velo_chain *chain;
    slc_batch batch;
    slc_velo_result result;
    slc_velo_truth truth;
    slc_velo_matches matches;
    slc_velo_check check;
} pipeline;

static slc_status open_pipeline(pipeline *p, slc_error *error)
{
    slc_sim_velo_config sim_config;
    slc_velo_config config;
    slc_velo_check_config check_config;
    slc_sim_velo_config_default(&sim_config);
    slc_velo_config_default(&config);
    slc_velo_check_config_default(&check_config);
    slc_velo_check_init(&p->check, &check_config);
    const slc_status status = slc_sim_velo_open(&sim_config, NULL, &p->sim, error);
    return status == SLC_OK ? slc_velo_chain_open(&config, NULL, &p->chain, error) : status;
}

static slc_status one_event(pipeline *p, uint64_t index, slc_error *error)
{
    slc_batch_reset(&p->batch);
    slc_velo_truth_reset(&p->truth);
    slc_status status = slc_sim_velo_event(p->sim, index, &p->batch, &p->truth, error);
    if (status == SLC_OK) {
        status = slc_velo_chain_reserve(p->chain, &p->batch, &p->result, error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_run(p->chain, &p->batch, &p->result, error);
    }
    return status == SLC_OK ? slc_velo_check_run(&p->check, &p->result, &p->truth, &p->matches, error)
                            : status;
}

static void close_pipeline(pipeline *p)
{
    slc_velo_check_clear(&p->check);
    slc_columns_clear(&slc_velo_matches_schema, &p->matches);
    slc_velo_truth_clear(&p->truth);
    slc_velo_result_clear(&p->result);
    slc_batch_clear(&p->batch);
    slc_velo_chain_close(p->chain);
    slc_sim_velo_close(p->sim);
}

static void print_percent(const char *what, uint64_t part, uint64_t whole)
{
    const slc_fraction fraction = slc_fraction_of(part, whole);
    printf("%-28s %6.2f +- %.2f %%\n", what, 100 * fraction.value, 100 * fraction.sigma);
}

int main(int argc, char **argv)
{
    const uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    pipeline p = {0};
    slc_error error = {SLC_OK, ""};
    slc_status status = open_pipeline(&p, &error);
    for (uint64_t i = 0; status == SLC_OK && i < events; i++) {
        status = one_event(&p, i, &error);
    }
    if (status != SLC_OK) {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    const slc_velo_category_counts velo = p.check.counts[SLC_VELO_CATEGORY_VELO][1];
    printf("%llu events, %llu tracks\n", (unsigned long long)p.check.events,
           (unsigned long long)p.check.tracks);
    print_percent("efficiency, 2 < eta < 5", velo.found, velo.reconstructible);
    print_percent("clones of these", velo.clones, velo.matched);
    print_percent("ghosts", p.check.ghosts, p.check.tracks);
    /* Far below what it reaches, far above what chance would give. */
    const bool good = status == SLC_OK && velo.found * 10 > velo.reconstructible * 9;
    close_pipeline(&p);
    return good ? 0 : 1;
}
