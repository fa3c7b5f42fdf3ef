/* SPDX-License-Identifier: Apache-2.0
 *
 * What sim_pet can be asked for, and the scanner that it makes of it: gains, time offsets and places of the
 * crystals, drawn from the seed, as tables with which the frames convert.
 */
#include "base/config.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "sim/sim_pet_event.h"
#include "sim/sim_pet_random.h"

#include <math.h>
#include <stdlib.h>

static const double mean_gain = 0.1; /* keV a unit of a frame's energy */

static void sim_pet_config_default(slc_sim_pet_config *config)
{
    *config = (slc_sim_pet_config){
        .size = sizeof *config,
        .seed = 1,
        .source = {{.activity_bq = 1e6}},
        .n_sources = 1,
        .efficiency = 0.5,
        .scatter_fraction = 0.2,
        .time_sigma_ps = 200,
        .energy_resolution = 0.12,
        .dead_time_ns = 200,
        .threshold_kev = 150,
        .frames_per_packet = 92,
        .packet_delay_us = 20,
        .packet_wait_us = 500,
        .flood_sigma = 0.15,
        .gain_spread = 0.05,
        .noncollinearity_deg = -1,
    };
    slc_pet_convert_config_default(&config->clock);
    (void)slc_pet_scanner("mouse20", &config->geometry, NULL);
}
SLC_CONFIG_DEFAULT(slc_sim_pet_config, sim_pet_config_default)

/* ---- checks ------------------------------------------------------------------------------------ */

typedef struct limit {
    const char *name;
    double value, low, high;
} limit;

static slc_status check_numbers(const slc_sim_pet_config *c, slc_error *error)
{
    const limit limits[] = {
        {"singles_hz", c->singles_hz, 0, 1e12},
        {"efficiency", c->efficiency, 0, 1},
        {"scatter_fraction", c->scatter_fraction, 0, 1},
        {"time_sigma_ps", c->time_sigma_ps, 0, 1e9},
        {"energy_resolution", c->energy_resolution, 0, 1},
        {"dead_time_ns", c->dead_time_ns, 0, 1e9},
        {"lso_hz", c->lso_hz, 0, 1e9},
        {"threshold_kev", c->threshold_kev, 0, 1e6},
        {"frames_per_packet", c->frames_per_packet, 1, 4095},
        {"packet_delay_us", c->packet_delay_us, 0, 1e9},
        {"packet_wait_us", c->packet_wait_us, 0, 1e9},
        {"flood_side", c->flood_side, 0, 256},
        {"flood_sigma", c->flood_sigma, 0, 10},
        {"gain_spread", c->gain_spread, 0, 0.3},
        {"time_offset_sigma_ps", c->time_offset_sigma_ps, 0, 1e8},
        {"efficiency_spread", c->efficiency_spread, 0, 0.3},
        {"pair_share", c->pair_share, 0, 1},
        {"clock.tick_numerator", c->clock.tick_numerator, 1, UINT32_MAX},
        {"clock.tick_denominator", c->clock.tick_denominator, 1, UINT32_MAX},
        {"clock.tick_bits", c->clock.tick_bits, 8, 64},
        {"n_sources", c->n_sources, 0, SLC_SIM_PET_SOURCES},
        {"noncollinearity_deg", c->noncollinearity_deg, -HUGE_VAL, 5},
        {"n_phantoms", c->n_phantoms, 0, SLC_SIM_PET_PHANTOMS},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!(limits[i].value >= limits[i].low && limits[i].value <= limits[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "%s is %g, not from %g to %g", limits[i].name,
                            limits[i].value, limits[i].low, limits[i].high);
        }
    }
    return SLC_OK;
}

static slc_status check_source(const slc_sim_pet_config *c, uint32_t i, slc_error *error)
{
    const slc_sim_pet_source *s = &c->source[i];
    if (!(s->radius_mm >= 0 && s->length_mm >= 0 && s->length_mm < 1e6 && fabs(s->z_mm) < 1e6)) {
        return slc_fail(error, SLC_ERR_USAGE, "source %u: at z = %g mm, radius %g mm, length %g mm", i,
                        s->z_mm, s->radius_mm, s->length_mm);
    }
    const double reach = sqrt(s->x_mm * s->x_mm + s->y_mm * s->y_mm) + s->radius_mm;
    if (!(reach < c->geometry.radius_mm)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "source %u: reaches %g mm from the axis, and the scanner's radius is %g mm", i, reach,
                        c->geometry.radius_mm);
    }
    if (!(s->activity_bq >= 0 && s->activity_bq <= 1e12)) {
        return slc_fail(error, SLC_ERR_USAGE, "source %u: activity_bq is %g, not from 0 to 1e12", i,
                        s->activity_bq);
    }
    return SLC_OK;
}

static slc_status check_phantom(const slc_sim_pet_config *c, uint32_t i, slc_error *error)
{
    const slc_sim_pet_phantom *p = &c->phantom[i];
    const double reach = sqrt(p->x_mm * p->x_mm + p->y_mm * p->y_mm) + p->radius_mm;
    if (!(p->radius_mm > 0 && p->length_mm > 0 && p->length_mm < 1e6 && fabs(p->z_mm) < 1e6)) {
        return slc_fail(error, SLC_ERR_USAGE, "phantom %u: at z = %g mm, radius %g mm, length %g mm", i,
                        p->z_mm, p->radius_mm, p->length_mm);
    }
    if (!(reach < c->geometry.radius_mm)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "phantom %u: reaches %g mm from the axis, and the scanner's radius is %g mm", i,
                        reach, c->geometry.radius_mm);
    }
    if (!(p->mu_per_mm >= 0 && p->mu_per_mm <= 10)) {
        return slc_fail(error, SLC_ERR_USAGE, "phantom %u: mu_per_mm is %g, not from 0 to 10", i,
                        p->mu_per_mm);
    }
    return SLC_OK;
}

slc_status slc_sim_pet_check(const slc_sim_pet_config *c, slc_error *error)
{
    slc_status status = slc_pet_geometry_check(&c->geometry, error);
    status = status == SLC_OK ? check_numbers(c, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (c->geometry.layout != NULL && (c->fast || !c->geometry.layout->grid)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s",
                        c->fast
                            ? "fast: it is for ideal rings"
                            : "crystals of a unit are not numbered y * n + x: no frames are made of them");
    }
    const uint32_t wide = c->geometry.crystals_y > c->geometry.crystals_z ? c->geometry.crystals_y
                                                                          : c->geometry.crystals_z;
    if (wide > (c->flood_side > 0 ? c->flood_side : 256)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "flood_side: blocks are %u crystals wide, and a frame tells of %u places", wide,
                        c->flood_side > 0 ? c->flood_side : 256);
    }
    if (c->efficiency_spread > 0 && (c->fast || c->efficiency * (1 + 4 * c->efficiency_spread) > 1)) {
        return slc_fail(error, SLC_ERR_USAGE, "efficiency_spread: %s",
                        c->fast ? "the fast way has no efficiencies"
                                : "efficiency * (1 + 4 * efficiency_spread) is more than 1");
    }
    if (c->fast) {
        return c->singles_hz > 0 ? SLC_OK
                                 : slc_fail(error, SLC_ERR_USAGE, "singles_hz: the fast way needs a rate");
    }
    double activity = 0;
    for (uint32_t i = 0; i < c->n_sources; i++) {
        status = check_source(c, i, error);
        if (status != SLC_OK) {
            return status;
        }
        activity += c->source[i].activity_bq;
    }
    for (uint32_t i = 0; i < c->n_phantoms; i++) {
        status = check_phantom(c, i, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (activity <= 0 && (c->lso_hz <= 0 || c->singles_hz > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "there is no source with an activity%s",
                        c->singles_hz > 0 ? " to be scaled to singles_hz" : ", and no background");
    }
    return SLC_OK;
}

/* ---- tables ------------------------------------------------------------------------------------ */

static double within(double x, double most)
{
    return x < -most ? -most : x > most ? most : x;
}

/* Gains and offsets: normal, but not beyond 3 and 4 widths. The mean offset is 0, as of what a calibration
 * finds. */
static void draw_crystals(slc_sim_pet *sim)
{
    const slc_sim_pet_config *c = &sim->config;
    uint64_t random = random_stream(c->seed, RANDOM_CRYSTALS, 0);
    int64_t sum = 0;
    for (uint32_t i = 0; i < sim->crystals; i++) {
        double for_gain, for_offset;
        random_normals(&random, &for_gain, &for_offset);
        sim->gain[i] = (float)(mean_gain * (1 + c->gain_spread * within(for_gain, 3)));
        if (sim->offset_ps != NULL) {
            sim->offset_ps[i] = (int32_t)(c->time_offset_sigma_ps * within(for_offset, 4));
            sum += sim->offset_ps[i];
        }
    }
    for (uint32_t i = 0; sim->offset_ps != NULL && i < sim->crystals; i++) {
        sim->offset_ps[i] -= (int32_t)(sum / (int64_t)sim->crystals);
    }
}

/* Normal, within 3 widths, of mean 1: a stream of their own, so that nothing else depends on them. */
static void draw_efficiencies(slc_sim_pet *sim)
{
    uint64_t random = random_stream(sim->config.seed, RANDOM_CRYSTALS, 1);
    double sum = 0;
    for (uint32_t i = 0; i < sim->crystals; i++) {
        double first, second;
        random_normals(&random, &first, &second);
        sim->share[i] = (float)(1 + sim->config.efficiency_spread * within(first, 3));
        sum += (double)sim->share[i];
    }
    for (uint32_t i = 0; i < sim->crystals; i++) {
        sim->share[i] = (float)((double)sim->share[i] * sim->crystals / sum);
    }
}

static void place_crystals(slc_sim_pet *sim)
{
    const slc_pet_geometry *g = &sim->config.geometry;
    for (uint32_t i = 0; i < sim->crystals; i++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(g, i, &module, &unit, &local);
        sim->place[i] = (sim_pet_place){(uint8_t)module, (uint8_t)unit, (uint8_t)(local % g->crystals_z),
                                        (uint8_t)(local / g->crystals_z)};
    }
}

/* Each place of a flood map belongs to the crystal whose part of the map it is in. */
static void fill_position(slc_sim_pet *sim)
{
    const slc_pet_geometry *g = &sim->config.geometry;
    const uint32_t side = sim->config.flood_side;
    uint16_t *next = sim->position;
    for (uint32_t block = 0; block < sim->modules * sim->units; block++) {
        for (uint32_t y = 0; y < side; y++) {
            for (uint32_t x = 0; x < side; x++) {
                *next++ = (uint16_t)(y * g->crystals_y / side * g->crystals_z + x * g->crystals_z / side);
            }
        }
    }
}

slc_status slc_sim_pet_make_tables(slc_sim_pet *sim, slc_error *error)
{
    const slc_sim_pet_config *c = &sim->config;
    const slc_pet_geometry *g = &c->geometry;
    const uint32_t wide = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    sim->tables = (slc_pet_tables){
        .geometry = *g,
        .position_side = c->flood_side > 0 ? c->flood_side : wide,
    };
    const size_t places = (size_t)sim->modules * sim->units * c->flood_side * c->flood_side;
    sim->gain = malloc(sim->crystals * sizeof *sim->gain);
    sim->place = malloc(sim->crystals * sizeof *sim->place);
    sim->offset_ps = c->time_offset_sigma_ps > 0 ? malloc(sim->crystals * sizeof *sim->offset_ps) : NULL;
    sim->position = places > 0 ? malloc(places * sizeof *sim->position) : NULL;
    sim->share = c->efficiency_spread > 0 ? malloc(sim->crystals * sizeof *sim->share) : NULL;
    if (sim->gain == NULL || sim->place == NULL || (places > 0 && sim->position == NULL) ||
        (c->efficiency_spread > 0 && sim->share == NULL) ||
        (c->time_offset_sigma_ps > 0 && sim->offset_ps == NULL)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the tables of %u crystals", sim->crystals);
    }
    draw_crystals(sim);
    if (sim->share != NULL) {
        draw_efficiencies(sim);
    }
    place_crystals(sim);
    if (sim->position != NULL) {
        fill_position(sim);
    }
    sim->tables.gain = sim->gain;
    sim->tables.time_offset_ps = sim->offset_ps;
    sim->tables.efficiency = sim->share;
    sim->tables.position = sim->position;
    return SLC_OK;
}
