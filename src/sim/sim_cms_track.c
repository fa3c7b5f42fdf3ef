/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracks through CMS's pixel detector: from collisions spread along the beam, flat in pseudo-rapidity,
 * straight but for a small slope that stands for the bend in the magnetic field. Each that is counted crosses
 * the first layer; it then crosses the others and the disks as far as these reach.
 */
#include "sim/sim_cms_event.h"

/* Width of the collisions along the beam, largest pseudo-rapidity, width of the slopes from the bend. */
#define BEAM_UM  40000.0
#define MOST_ETA 3.0
#define BEND     0.04

typedef struct track {
    double phi, z_um, slope; /* slope: dz / dr */
    double bend;             /* of an average track a few per cent */
} track;

static void cross(slc_sim_cms *sim, uint32_t module, double x, double y, double cot_x, double cot_y)
{
    if (fabs(x) >= SIM_CMS_HALF_X_UM || fabs(y) >= SIM_CMS_HALF_Y_UM) {
        return;
    }
    sim_cms_crossing *row = slc_sim_list_append(&sim->crossings, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = (sim_cms_crossing){.module = (uint16_t)module,
                                  .x_um = (float)x,
                                  .y_um = (float)y,
                                  .cot_x = (float)cot_x,
                                  .cot_y = (float)cot_y};
    }
}

/* Where the track is along the beam at a radius. */
static double z_at(const track *t, double radius)
{
    return t->z_um + t->slope * radius;
}

/* A ladder is a plane: off its middle the track goes further out before it is there. */
static void cross_layer(slc_sim_cms *sim, const track *t, uint32_t number)
{
    const sim_cms_barrel layer = slc_sim_cms_layer(number);
    const double step = 2 * SIM_PI / layer.ladders;
    uint32_t ladder = (uint32_t)(t->phi / step);
    ladder = ladder < layer.ladders ? ladder : layer.ladders - 1;
    const double angle = t->phi - (ladder + 0.5) * step;
    const double z = z_at(t, layer.radius_um / cos(angle));
    const double along = (z + 8 * SIM_CMS_HALF_Y_UM) / (2 * SIM_CMS_HALF_Y_UM);
    if (along < 0 || along >= 8) {
        return;
    }
    const uint32_t module = layer.begin + 8 * ladder + (uint32_t)along;
    cross(sim, module, layer.radius_um * tan(angle), z - slc_sim_cms_module_z(module), tan(angle) + t->bend,
          t->slope / cos(angle));
}

/* Modules of a ring overlap near the beam: a track may cross two. */
static void cross_disk(slc_sim_cms *sim, const track *t, uint32_t number)
{
    const sim_cms_disk disk = slc_sim_cms_disk(number);
    const double radius = (disk.z_um - t->z_um) / t->slope;
    if (!(radius > 0 && radius < 200000)) {
        return;
    }
    for (uint32_t r = 0; r < 2; r++) {
        const sim_cms_ring ring = slc_sim_cms_ring(r);
        const double step = 2 * SIM_PI / ring.modules;
        const long nearest = lround(t->phi / step);
        for (long k = nearest - 1; k <= nearest + 1; k++) {
            const double angle = t->phi - (double)k * step;
            const uint32_t place = (uint32_t)(k + (long)ring.modules) % ring.modules;
            const uint32_t module = disk.begin + ring.first + place;
            const double x = radius * sin(angle), y = radius * cos(angle) - ring.middle_um;
            const double outwards = 1 / fabs(t->slope);
            cross(sim, module, x, y, outwards * sin(angle) + slc_sim_cms_turn(module) + t->bend,
                  outwards * cos(angle));
        }
    }
}

/* Drawn until it crosses the first layer. */
static track draw_track(sim_random *random)
{
    const double radius = slc_sim_cms_layer(0).radius_um;
    track t = {.phi = 2 * SIM_PI * random_uniform(random)};
    do {
        t.z_um = BEAM_UM * random_normal(random);
        t.slope = sinh(random_between(random, -MOST_ETA, MOST_ETA));
    } while (fabs(z_at(&t, radius)) >= 8 * SIM_CMS_HALF_Y_UM);
    t.bend = BEND * random_normal(random);
    return t;
}

void slc_sim_cms_tracks(slc_sim_cms *sim)
{
    const uint32_t n = random_poisson(&sim->random, (double)sim->config.tracks);
    sim->crossings.size = 0;
    for (uint32_t i = 0; i < n && !sim->failed; i++) {
        const track t = draw_track(&sim->random);
        for (uint32_t layer = 0; layer < 4; layer++) {
            cross_layer(sim, &t, layer);
        }
        for (uint32_t disk = 0; disk < 6; disk++) {
            cross_disk(sim, &t, disk);
        }
    }
}
