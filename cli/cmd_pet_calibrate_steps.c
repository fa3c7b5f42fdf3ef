/* SPDX-License-Identifier: Apache-2.0
 * Frames through the steps of a calibration: the inputs are read once for each. */
#include "cmd_pet_calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1 << 18 /* frames */, PAIRS_OF_CRYSTAL = 500, MOST_PAIRS = 1 << 25, ROUNDS = 500 };

typedef slc_pet_calibrate_job job;

/* What is done with some frames; `last` comes with none, after all of them. SLC_END: no more are needed. */
typedef slc_status (*step)(job *j, const slc_pet_frame *frames, size_t n, bool last, void *context);

/* Where it is kept when frames were received: nobody asks where counters do not begin again. */
static bool received_room(const slc_pet_frame_words *words, size_t frames, uint64_t **received_ns)
{
    *received_ns = words->tick_bits < 64 ? malloc(frames * sizeof **received_ns) : NULL;
    return words->tick_bits == 64 || *received_ns != NULL;
}

/* Reads all inputs from their beginning. What is wrong with them is told the first time. */
static slc_status read_through(job *j, step take, void *context)
{
    slc_io_pet_inputs inputs;
    slc_pet_frame *frames = malloc(AT_ONCE * sizeof *frames);
    if (slc_io_pet_inputs_open((const char *const *)j->paths, (size_t)j->n_paths, &inputs, &j->error) !=
            SLC_OK ||
        frames == NULL || !received_room(&j->options->frames, AT_ONCE, &j->received_ns)) {
        slc_io_pet_inputs_close(&inputs);
        free(frames);
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory to read frames");
    }
    inputs.format = j->options->frames.used;
    inputs.own_formats = j->options->frames.own;
    const bool first = j->frames == 0;
    size_t n = 0;
    slc_status status = SLC_OK;
    while (status == SLC_OK &&
           slc_io_pet_inputs_read(&inputs, frames, j->received_ns, AT_ONCE, &n) == SLC_OK) {
        status = slc_cli_interrupted() ? SLC_END : take(j, frames, n, false, context);
        slc_cli_progress_show(&j->progress, inputs.frames, first ? 0 : j->frames);
    }
    if (status == SLC_OK) {
        status = take(j, frames, 0, true, context);
    }
    if (first) {
        slc_cli_progress_end(&j->progress);
        j->frames = inputs.frames;
        j->seen = inputs.seen;
        j->damaged = !slc_pet_inputs_tell(&inputs, "pet calibrate", j->options->quiet, true);
    }
    slc_io_pet_inputs_close(&inputs);
    free(frames);
    free(j->received_ns);
    j->received_ns = NULL;
    if (status == SLC_OK && j->frames == 0) {
        return slc_fail(&j->error, SLC_ERR_FORMAT, "there are no frames in the inputs");
    }
    return status == SLC_END && !slc_cli_interrupted() ? SLC_OK : status;
}

/* ---- flood maps -------------------------------------------------------------------------------- */

static slc_status find_largest(job *j, const slc_pet_frame *frames, size_t n, bool last, void *context)
{
    uint32_t *largest = context;
    (void)j;
    (void)last;
    for (size_t i = 0; i < n; i++) {
        const uint32_t place = frames[i].x > frames[i].y ? frames[i].x : frames[i].y;
        *largest = place > *largest ? place : *largest;
    }
    return SLC_OK;
}

static slc_status add_flood(job *j, const slc_pet_frame *frames, size_t n, bool last, void *context)
{
    (void)last;
    (void)context;
    return slc_pet_calibrate_add_flood(j->calibrate, frames, n, &j->error);
}

/* The side of the maps: as it is told, as kept tables have it, or the smallest power of two that holds all
 * places. Where no place is beyond the crystals of a block, places are crystals. */
static slc_status find_side(job *j, uint32_t *side)
{
    const slc_pet_geometry *g = &j->tables.geometry;
    const uint32_t wide = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    uint32_t largest = 0;
    if (j->keep_position) {
        j->plain = j->old.position == NULL;
        *side = j->plain ? wide : j->old.position_side;
        return SLC_OK;
    }
    *side = (uint32_t)j->options->side;
    if (*side != 0) {
        j->plain = *side == wide;
        return SLC_OK;
    }
    const slc_status status = read_through(j, find_largest, &largest);
    j->plain = largest < wide;
    for (*side = j->plain ? wide : 1; *side <= largest; *side *= 2) {
    }
    return status;
}

/* As far as the places of the frames tell: before a map without a grid ends it all. */
static void doubt_places(job *j, uint32_t side)
{
    const uint32_t map = j->plain ? 0 : side;
    for (size_t i = 0; slc_report_pet_scanner_doubt(&j->seen, &j->tables.geometry, map, i, j->doubt); i++) {
        slc_pet_calibrate_doubts_add(j);
    }
}

static slc_status find_positions(job *j)
{
    slc_pet_calibrate_config config;
    slc_pet_calibrate_config_default(&config);
    config.geometry = j->tables.geometry;
    config.peak_kev = j->options->peak_kev;
    slc_status status = find_side(j, &config.position_side);
    status = status == SLC_OK ? slc_pet_calibrate_open(&config, &j->calibrate, &j->error) : status;
    /* Kept positions and places that are crystals need maps for their picture, and for the energies' reach.
     */
    status = status == SLC_OK ? read_through(j, add_flood, NULL) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_cli_progress_end(&j->progress);
    doubt_places(j, config.position_side);
    j->tables.position_side = config.position_side;
    j->position = malloc(slc_pet_position_elements(&j->tables) * sizeof *j->position);
    if (j->position == NULL) {
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for the position table");
    }
    status = slc_pet_calibrate_position(j->calibrate, j->position, &j->unsure_blocks, &j->error);
    const slc_pet_geometry *g = &j->tables.geometry;
    const uint32_t blocks = slc_pet_module_count(g) * g->blocks_y * g->blocks_z;
    if (status == SLC_OK && !j->plain && !j->keep_position && j->unsure_blocks == blocks) {
        return slc_fail(&j->error, SLC_ERR_FORMAT,
                        "no grid of crystals is found in any of %u blocks: are these frames of this scanner?",
                        blocks);
    }
    if (j->keep_position && j->old.position != NULL) {
        memcpy(j->position, j->old.position, slc_pet_position_elements(&j->tables) * sizeof *j->position);
    }
    j->tables.position = j->plain ? NULL : j->position;
    j->unsure_blocks = j->plain || j->keep_position ? 0 : j->unsure_blocks;
    return status;
}

/* ---- gains ------------------------------------------------------------------------------------- */

static slc_status add_spectrum(job *j, const slc_pet_frame *frames, size_t n, bool last, void *context)
{
    (void)last;
    (void)context;
    return slc_pet_calibrate_add_spectrum(j->calibrate, &j->tables, frames, n, &j->error);
}

static slc_status find_gains(job *j)
{
    const size_t crystals = slc_pet_crystals(&j->tables.geometry);
    slc_status status = read_through(j, add_spectrum, NULL);
    if (status != SLC_OK) {
        return status;
    }
    for (size_t i = 0; !j->plain && slc_report_pet_rows_doubt(j->calibrate, i, j->doubt); i++) {
        slc_pet_calibrate_doubts_add(j);
    }
    j->gain = malloc(crystals * sizeof *j->gain);
    j->resolution = malloc(crystals * sizeof *j->resolution);
    if (j->gain == NULL || j->resolution == NULL) {
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for gains of %zu crystals", crystals);
    }
    status = slc_pet_calibrate_gain(j->calibrate, j->gain, j->resolution, &j->unsure_crystals, &j->error);
    slc_pet_calibrate_counts_of(j->calibrate, &j->counts);
    j->tables.gain = j->gain;
    status = status == SLC_OK ? slc_pet_calibrate_energy_fwhm(j->calibrate, &j->tables.energy_fwhm, &j->error)
                              : status;
    j->peak_fwhm = j->tables.energy_fwhm / sqrt(j->options->peak_kev / 511);
    return status;
}

/* ---- times ------------------------------------------------------------------------------------- */

typedef struct finder {
    slc_pet_chain *chain;
    slc_pet_result result;
    size_t most;
} finder;

static slc_status add_pairs(job *j, const slc_pet_frame *frames, size_t n, bool last, void *context)
{
    finder *f = context;
    slc_status status = slc_pet_chain_run(f->chain, frames, j->received_ns, n, last, &f->result, &j->error);
    const size_t more = f->result.pairs.head.size, have = j->pairs.head.size;
    if (status == SLC_OK && have + more > j->pairs.head.capacity) {
        status = slc_columns_reserve(&slc_pet_coincidences_schema, &j->pairs, have + have / 2 + more, 1);
    }
    if (status == SLC_OK) {
        status = slc_columns_append(&slc_pet_coincidences_schema, &f->result.pairs, 0, more, &j->pairs);
    }
    if (status != SLC_OK) {
        return j->error.text[0] != '\0' ? status
                                        : slc_fail(&j->error, status, "no memory for %zu pairs", have + more);
    }
    return j->pairs.head.size < f->most ? SLC_OK : SLC_END;
}

/* With the tables so far. */
static slc_status find_pairs(job *j)
{
    const size_t crystals = slc_pet_crystals(&j->tables.geometry);
    finder f = {.most = crystals < MOST_PAIRS / PAIRS_OF_CRYSTAL ? crystals * PAIRS_OF_CRYSTAL : MOST_PAIRS};
    slc_pet_totals totals;
    slc_status status = slc_pet_chain_open(&j->chain, &j->tables, &f.chain, &j->error);
    status = status == SLC_OK ? read_through(j, add_pairs, &f) : status;
    if (status == SLC_OK) {
        slc_pet_chain_totals(f.chain, &totals);
        slc_cli_progress_end(&j->progress);
        (void)slc_pet_clock_tell("pet calibrate", &totals.convert);
        if (!slc_pet_energies_tell("pet calibrate", &j->seen, &j->tables, &j->chain.convert,
                                   &totals.convert)) {
            status = slc_fail(&j->error, SLC_ERR_FORMAT, "no single is left to find pairs with");
        }
        (void)slc_pet_late_tell("pet calibrate", &totals.sort, j->chain.sort.horizon_ps);
    }
    slc_pet_chain_close(f.chain);
    slc_pet_result_clear(&f.result);
    return status;
}

static slc_status find_times(job *j)
{
    const size_t crystals = slc_pet_crystals(&j->tables.geometry);
    j->time_offset_ps = malloc(crystals * sizeof *j->time_offset_ps);
    if (j->time_offset_ps == NULL) {
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for time offsets of %zu crystals", crystals);
    }
    const slc_status status = slc_pet_calibrate_time(&j->tables.geometry, &j->pairs, ROUNDS,
                                                     j->time_offset_ps, &j->fit, &j->error);
    j->tables.time_offset_ps = j->time_offset_ps;
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

slc_status slc_pet_calibrate_steps(slc_pet_calibrate_job *j)
{
    slc_cli_progress_begin(&j->progress, "pet calibrate", j->options->quiet);
    j->progress.unit = "frames";
    slc_status status = find_positions(j);
    if (j->keep_gain) {
        j->tables.gain = j->old.gain;
        j->tables.energy = j->old.energy;
        j->tables.energy_bins = j->old.energy_bins;
        j->tables.energy_bin_kev = j->old.energy_bin_kev;
        j->tables.energy_fwhm = j->old.energy_fwhm;
    } else if (status == SLC_OK) {
        status = find_gains(j);
    }
    if (j->keep_time) {
        j->tables.time_offset_ps = j->old.time_offset_ps;
        j->tables.time_fwhm_ps = j->old.time_fwhm_ps;
    }
    if ((j->options->keep & SLC_PET_KEEP_EFFICIENCY) != 0) {
        j->tables.efficiency = j->old.efficiency;
        j->tables.geometric = j->old.geometric;
    }
    if (status == SLC_OK && (j->options->time || j->options->source != NULL)) {
        status = find_pairs(j);
    }
    if (status == SLC_OK && j->options->time) {
        status = find_times(j);
    }
    if (status == SLC_OK && j->options->source != NULL) { /* kept offsets are in the pairs already */
        status = slc_pet_calibrate_time_fwhm(&j->tables.geometry, &j->pairs, j->time_offset_ps,
                                             j->options->time ? &j->fit : NULL, &j->source, &j->width,
                                             &j->error);
        j->tables.time_fwhm_ps = j->width.fwhm_ps;
    }
    slc_cli_progress_end(&j->progress);
    return status;
}
