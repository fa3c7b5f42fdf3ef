/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs for measurements of PET on a GPU. Ordered channels that are mixed by packets are the form in which
 * acquisitions deliver singles; 128 of them in packets of 216 are the benchmark's.
 */
#include "base/splitmix.h"
#include "bench/bench_pet_cuda.h"

#include <stdlib.h>

enum { CHANNELS = 128, PACKET = 216, MEAN_STEP_PS = 5000 };
static const double PAIR_SHARE = 0.2; /* as in bench_pet.c */

slc_status slc_bench_pet_frames(const slc_bench_pet_config *config, slc_sim_pet **sim, slc_pet_frame **frames,
                                size_t *n, slc_pet_config *chain, slc_error *error)
{
    slc_sim_pet_config c;
    slc_sim_pet_config_default(&c);
    size_t capacity = 0;
    *sim = NULL;
    *frames = NULL;
    *n = 0;
    slc_status status = slc_pet_scanner(config->scanner, &c.geometry, error);
    c.seed = config->seed;
    c.singles_hz = config->singles_hz;
    c.fast = true;
    c.pair_share = PAIR_SHARE;
    if (status == SLC_OK) {
        status = slc_sim_pet_open(&c, sim, error);
    }
    const double seconds = (double)config->frames / config->singles_hz;
    if (status == SLC_OK) {
        status = slc_sim_pet_next(*sim, seconds, frames, n, &capacity, NULL, error);
    }
    if (status == SLC_OK && *n == 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "no single in %g s at %g a second", seconds,
                          config->singles_hz);
    }
    slc_pet_config_default(chain);
    chain->convert.tick_numerator = c.clock.tick_numerator;
    chain->convert.tick_denominator = c.clock.tick_denominator;
    chain->convert.tick_bits = c.clock.tick_bits;
    chain->prompt.window_ns = config->window_ns;
    return status;
}

/* A packet that is being filled, with the numbers of its records in time order. */
typedef struct packet {
    int64_t time[PACKET];
    uint64_t number[PACKET];
    uint32_t n;
} packet;

/* Gives a packet out; returns how far its records are from their places. */
static uint64_t give(packet *p, int64_t *time_ps, size_t *made, size_t n)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->n && *made < n; i++) {
        const uint64_t number = p->number[i], at = *made;
        const uint64_t away = number > at ? number - at : at - number;
        most = away > most ? away : most;
        time_ps[(*made)++] = p->time[i];
    }
    p->n = 0;
    return most;
}

uint64_t slc_bench_pet_channels(int64_t *time_ps, size_t n, uint64_t seed)
{
    packet *channels = calloc(CHANNELS, sizeof *channels);
    uint64_t most = 0;
    int64_t time = 0;
    size_t made = 0;
    if (channels == NULL) {
        return 0;
    }
    for (uint64_t number = 0; number < n; number++) {
        packet *p = &channels[slc_random_below(&seed, CHANNELS)];
        time += slc_random_below(&seed, 2 * MEAN_STEP_PS + 1);
        p->time[p->n] = time;
        p->number[p->n++] = number;
        if (p->n == PACKET) {
            const uint64_t away = give(p, time_ps, &made, n);
            most = away > most ? away : most;
        }
    }
    for (uint32_t c = 0; c < CHANNELS; c++) { /* what is left */
        const uint64_t away = give(&channels[c], time_ps, &made, n);
        most = away > most ? away : most;
    }
    free(channels);
    return most;
}

void slc_bench_pet_shuffled(int64_t *time_ps, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = slc_random_u64(&seed) >> 11;
        time_ps[i] = (int64_t)((double)word * 0x1p-53 * (double)n * MEAN_STEP_PS);
    }
}
