/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixel detector since 2017 as the generator has it (CMS Tracker Group, "The CMS Phase-1 Pixel Detector
 * Upgrade", JINST 16, 2021, P02027): 1184 modules in four barrel layers, 672 in six disks of two rings. Their
 * ids, where they are, how they are cabled, and gains.
 */
#include "sim/sim_cms_event.h"

#include <assert.h>

enum { PER_LADDER = 8, DISKS = 6, PER_DISK = 112, INNER_PER_DISK = 44, CHIPS = SLC_CMS_ROCS };

typedef struct layer {
    uint32_t begin, ladders;
} layer;
static const layer layers[4] = {{0, 12}, {96, 28}, {320, 44}, {672, 64}};

static const layer *layer_of(uint32_t module)
{
    int l = 3;
    while (module < layers[l].begin) {
        l--;
    }
    return &layers[l];
}

/* Barrel: subdetector 1, layer, ladder, module along the beam. Forward: subdetector 2, side, disk, blade,
 * panel. */
uint32_t slc_sim_cms_raw_id(uint32_t module)
{
    const uint32_t pixel = 1U << 28;
    if (module >= SLC_CMS_MODULES_PHASE1) {
        return 0;
    }
    if (module < SLC_CMS_BARREL_END) {
        const layer *l = layer_of(module);
        const uint32_t in = module - l->begin;
        return pixel | 1U << 25 | (uint32_t)(l - layers + 1) << 20 | (in / PER_LADDER + 1) << 12 |
               (in % PER_LADDER + 1) << 2;
    }
    const uint32_t disk = (module - SLC_CMS_BARREL_END) / PER_DISK,
                   in = (module - SLC_CMS_BARREL_END) % PER_DISK;
    return pixel | 2U << 25 | (disk / 3 + 1) << 23 | (disk % 3 + 1) << 18 | (in / 2 + 1) << 12 |
           (in % 2 + 1) << 10 | 1U << 2;
}

/* ---- planes ------------------------------------------------------------------------------------- */

/* Ladders of a layer touch each other, so that no track passes between them. */
static float ladder_radius_um(uint32_t ladders)
{
    return (float)(SIM_CMS_HALF_X_UM / tan(SIM_PI / ladders));
}

sim_cms_barrel slc_sim_cms_layer(uint32_t number)
{
    return (sim_cms_barrel){.begin = layers[number].begin,
                            .ladders = layers[number].ladders,
                            .radius_um = (double)ladder_radius_um(layers[number].ladders)};
}

sim_cms_disk slc_sim_cms_disk(uint32_t number)
{
    static const double z_um[3] = {291000, 396000, 516000};
    return (sim_cms_disk){.begin = SLC_CMS_BARREL_END + number * PER_DISK,
                          .z_um = number < 3 ? -z_um[number] : z_um[number - 3]};
}

sim_cms_ring slc_sim_cms_ring(uint32_t number)
{
    return number == 0 ? (sim_cms_ring){.first = 0, .modules = INNER_PER_DISK, .middle_um = 77400}
                       : (sim_cms_ring){.first = INNER_PER_DISK,
                                        .modules = PER_DISK - INNER_PER_DISK,
                                        .middle_um = 128600};
}

void slc_sim_cms_make_planes(slc_cms_plane *planes)
{
    for (uint32_t m = 0; m < SLC_CMS_BARREL_END; m++) {
        const layer *l = layer_of(m);
        /* Tracks come from below, so that their slope is how far they are from the middle over the radius. */
        planes[m] = (slc_cms_plane){.y0_um = (float)-slc_sim_cms_module_z(m),
                                    .z0_um = -ladder_radius_um(l->ladders),
                                    .shift_x_um = -0.5f * SIM_CMS_DRIFT_UM,
                                    .width_x_um = SIM_CMS_DRIFT_UM};
    }
    for (uint32_t m = SLC_CMS_BARREL_END; m < SLC_CMS_MODULES_PHASE1; m++) {
        const uint32_t in = (m - SLC_CMS_BARREL_END) % PER_DISK;
        const sim_cms_disk disk = slc_sim_cms_disk((m - SLC_CMS_BARREL_END) / PER_DISK);
        const sim_cms_ring ring = slc_sim_cms_ring(in < INNER_PER_DISK ? 0 : 1);
        const double distance = fabs(disk.z_um);
        /* Blades are turned like those of a turbine, panels to either side: as if x0 were elsewhere. */
        planes[m] = (slc_cms_plane){.x0_um = (float)(slc_sim_cms_turn(m) * -distance),
                                    .y0_um = (float)-ring.middle_um,
                                    .z0_um = (float)-distance};
    }
}

double slc_sim_cms_module_z(uint32_t module)
{
    const uint32_t along = (module - layer_of(module)->begin) % PER_LADDER;
    return (2.0 * along + 1 - PER_LADDER) * SIM_CMS_HALF_Y_UM;
}

/* tan 20°. */
double slc_sim_cms_turn(uint32_t module)
{
    return module % 2 != 0 ? 0.364 : -0.364;
}

/* ---- chips --------------------------------------------------------------------------------------- */

/* Chips 0 … 7 are one row of eight, 8 … 15 the other, in the other direction, turned by half a turn. Which of
 * the two is at low x depends on how the module is mounted. */
uint32_t slc_sim_cms_to_chip(uint32_t module, uint32_t x, uint32_t y, uint32_t *row, uint32_t *column)
{
    const bool barrel = module < SLC_CMS_BARREL_END, inner = module < SLC_CMS_LAYER1_END;
    const bool minus = barrel && (module - layer_of(module)->begin) % PER_LADDER < PER_LADDER / 2;
    const bool low_first = !barrel || (minus && !inner);
    const uint32_t chip_rows = SLC_CMS_ROWS / 2, chip_columns = SLC_CMS_COLUMNS / 8, along = y / chip_columns;
    if (x < chip_rows) { /* chips stand head to head: y runs against their columns */
        *row = x;
        *column = chip_columns - 1 - y % chip_columns;
        return (low_first ? 7U : 15U) - along;
    }
    *row = SLC_CMS_ROWS - 1 - x;
    *column = y % chip_columns;
    return (low_first ? 8U : 0U) + along;
}

/* ---- cabling ------------------------------------------------------------------------------------- */

/* How many links a module has: 2 chips a link in layer 1, 4 in layer 2, 8 elsewhere. */
static uint32_t links_of(uint32_t module)
{
    return module < SLC_CMS_LAYER1_END ? 8 : module < layers[2].begin ? 4 : 2;
}

static void connect(slc_sim_cms *sim, uint32_t fed, uint32_t module, uint32_t part)
{
    uint8_t *chips = sim->link_chips + fed * SLC_CMS_LINKS;
    const uint32_t n = CHIPS / links_of(module);
    uint32_t link = 0;
    while (chips[link] > 0) {
        link++;
        assert(link < SLC_CMS_LINKS); /* the dealing below sees to it */
    }
    chips[link] = (uint8_t)n;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t roc = part * n + k;
        const bool bad = random_uniform(&sim->random) < (double)sim->config.bad_rocs;
        sim->places[module * CHIPS + roc] = (sim_cms_place){
            .fed = (uint8_t)fed, .link = (uint8_t)(link + 1), .chip = (uint8_t)(k + 1), .bad = bad};
        sim->cabling->cable[(fed * SLC_CMS_LINKS + link) * SLC_CMS_LINK_ROCS + k] = (slc_cms_cable){
            .raw_id = slc_sim_cms_raw_id(module),
            .module = (uint16_t)module,
            .roc = (uint8_t)roc,
            .bad = bad};
    }
}

/* Modules are dealt to FEDs like cards, so that each FED has some of every layer, about 32 links. First all
 * first links of its modules, then all second ones: the links of a module are not neighbours. Of every
 * eleventh module the last link goes to the next FED. */
void slc_sim_cms_make_cabling(slc_sim_cms *sim)
{
    for (size_t i = 0; i < SLC_CMS_CABLES; i++) {
        sim->cabling->cable[i] = (slc_cms_cable){.module = SLC_CMS_NO_MODULE};
    }
    for (uint32_t part = 0; part < 8; part++) {
        for (uint32_t module = 0; module < SLC_CMS_MODULES_PHASE1; module++) {
            const uint32_t n = links_of(module);
            const bool elsewhere = module % 11 == 3 && part == n - 1;
            if (part < n) {
                connect(sim, (module + elsewhere) % SLC_CMS_FEDS, module, part);
            }
        }
    }
}

/* ---- gains --------------------------------------------------------------------------------------- */

static uint8_t to_byte(double value, float low, float step, int most)
{
    const double byte = floor((value - (double)low) / (double)step + 0.5);
    return (uint8_t)(byte < 0 ? 0 : byte > most ? most : byte);
}

/* About 3.1 units of the calibration pulse for a count, pedestals about 30 counts. The two blocks of a column
 * are alike. The two largest pedestal bytes are the marks. */
void slc_sim_cms_make_gains(slc_sim_cms *sim)
{
    enum { DEAD = 255, NOISY = 254, MOST = 253 };
    slc_cms_gains *gains = &sim->gains;
    gains->gain_low = 2.0f;
    gains->gain_step = 0.01f;
    gains->pedestal_low = 0;
    gains->pedestal_step = 0.25f;
    gains->dead = DEAD;
    gains->noisy = NOISY;
    for (uint32_t c = 0; c < SLC_CMS_MODULES_PHASE1 * SLC_CMS_COLUMNS; c++) {
        const double gain = 3.1 + 0.25 * random_normal(&sim->random);
        const double pedestal = 30 + 6 * random_normal(&sim->random);
        const double mark = random_uniform(&sim->random);
        const bool dead = mark < (double)sim->config.dead_columns;
        const bool noisy = !dead &&
                           mark < (double)sim->config.dead_columns + (double)sim->config.noisy_columns;
        for (uint32_t block = 0; block < SLC_CMS_GAIN_BLOCKS; block++) {
            slc_cms_gain *g = &gains->gain[c * SLC_CMS_GAIN_BLOCKS + block];
            const double shift = 0.02 * random_normal(&sim->random);
            g->gain = to_byte(gain + shift, gains->gain_low, gains->gain_step, UINT8_MAX);
            g->pedestal = dead    ? DEAD
                          : noisy ? NOISY
                                  : to_byte(pedestal + 10 * shift, gains->pedestal_low, gains->pedestal_step,
                                            MOST);
        }
        if (noisy) {
            uint32_t *row = slc_sim_list_append(&sim->noisy, 1, sizeof *row, &sim->failed);
            if (row != NULL) {
                *row = c;
            }
        }
    }
}
