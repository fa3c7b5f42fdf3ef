/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_cms: what an event of CMS's pixel detector is made of, and the steps that make it. Tracks cross
 * modules (sim_cms_track.c), charge becomes pixels (sim_cms_charge.c), pixels become words and words
 * fragments (sim_cms_words.c); where things are is in sim_cms_detector.c.
 */
#ifndef SLUICE_SIM_CMS_EVENT_H
#define SLUICE_SIM_CMS_EVENT_H

#include "sim/sim_list.h"
#include "sim/sim_velo_random.h"
#include <sluice/sim_cms.h>

/* Where a chip of a module is read out; fed from 0, link and chip from 1. */
typedef struct sim_cms_place {
    uint8_t fed, link, chip, bad;
} sim_cms_place;

/* A track in a module: where it is half way through the silicon, and its slopes. */
typedef struct sim_cms_crossing {
    uint16_t module;
    float x_um, y_um, cot_x, cot_y;
    float charge_e;
    uint32_t n_digis;
    uint32_t touched, touched_end; /* entries of sim->touched, while its module is made */
} sim_cms_crossing;

typedef struct sim_cms_noise {
    uint16_t module;
    uint32_t pixel; /* row · 416 + column */
    float charge_e;
} sim_cms_noise;

/* A pixel above threshold. */
typedef struct sim_cms_pixel {
    uint16_t module;
    uint8_t x, adc;
    uint16_t y;
} sim_cms_pixel;

/* What a word in a fragment is to a right decoder. */
typedef enum sim_cms_kind {
    SIM_CMS_DIGI = 0,
    SIM_CMS_BAD,   /* of a chip that is marked bad: dropped and counted */
    SIM_CMS_EMPTY, /* padding */
    SIM_CMS_FAULT  /* dropped, with a fault */
} sim_cms_kind;

typedef struct sim_cms_word {
    uint64_t order; /* words of an event are sorted by it */
    uint32_t bits;
    uint32_t offset;     /* byte of the event */
    sim_cms_pixel pixel; /* of a digi, or of a bad chip */
    uint8_t fed, kind;
    uint16_t code; /* of a fault: the last byte of its number */
} sim_cms_word;

struct slc_sim_cms {
    slc_sim_cms_config config;
    slc_cms_cabling *cabling;
    slc_cms_gains gains;
    slc_cms_plane *planes;
    sim_cms_place *places;      /* of each module, 16 chips */
    uint8_t *link_chips;        /* of each FED, 48 links: how many chips are connected */
    sim_list noisy;             /* columns: module · 416 + column */
    float *charge;              /* of each pixel of the module at hand; 0 between modules */
    uint32_t *stamp;            /* of each pixel: the last crossing that has counted it */
    sim_random random;          /* of the event at hand */
    bool failed;                /* there was no memory */
    bool dropped[SLC_CMS_FEDS]; /* fragments of the event at hand that are damaged too much */
    slc_faults faults;          /* of its fragments */
    sim_list crossings, noise, sorted, touched, pixels, words, ordered, bytes;
};

/* ---- the detector ------------------------------------------------------------------------------ */

/* Half a module, with its long pixels; how far Lorentz drift carries charge through the barrel's silicon. */
#define SIM_CMS_HALF_X_UM    8100.0
#define SIM_CMS_HALF_Y_UM    32400.0
#define SIM_CMS_THICKNESS_UM 285.0
#define SIM_CMS_DRIFT_UM     100.0f

/* Layer 0 … 3: ladders side by side, each of eight modules from -z to +z. */
typedef struct sim_cms_barrel {
    uint32_t begin, ladders;
    double radius_um;
} sim_cms_barrel;
sim_cms_barrel slc_sim_cms_layer(uint32_t number);
double slc_sim_cms_module_z(uint32_t module); /* of the middle of a barrel module, um */

/* Disk 0 … 5, and the two rings of a disk: module k of the ring has its middle at the angle 2 π k / modules.
 */
typedef struct sim_cms_disk {
    uint32_t begin;
    double z_um;
} sim_cms_disk;
sim_cms_disk slc_sim_cms_disk(uint32_t number);
typedef struct sim_cms_ring {
    uint32_t first, modules; /* first: in the disk */
    double middle_um;        /* radius of the modules' middle */
} sim_cms_ring;
sim_cms_ring slc_sim_cms_ring(uint32_t number);
double slc_sim_cms_turn(uint32_t module); /* slope in x of a track along z in a forward module */

/* The detector id of a module as CMS numbers them; 0 for an index that is none. */
uint32_t slc_sim_cms_raw_id(uint32_t module);
/* Where tracks from the middle of CMS cross a module, what drift does there. */
void slc_sim_cms_make_planes(slc_cms_plane *planes);
/* Fills places, links and the cabling, and marks bad chips. */
void slc_sim_cms_make_cabling(slc_sim_cms *sim);
/* Fills the gains, and the list of noisy columns. */
void slc_sim_cms_make_gains(slc_sim_cms *sim);
/* The chip of a pixel of a module, and the pixel's row and column on it. */
uint32_t slc_sim_cms_to_chip(uint32_t module, uint32_t x, uint32_t y, uint32_t *row, uint32_t *column);

/* ---- the event --------------------------------------------------------------------------------- */

/* Fills sim->crossings. */
void slc_sim_cms_tracks(slc_sim_cms *sim);
/* Charge of the crossings, noise and thresholds: fills sim->pixels, by rising module, and the crossings'
 * charge_e and n_digis. */
void slc_sim_cms_pixels(slc_sim_cms *sim);
/* The pixels as words into sim->words, as fragments into sim->bytes; faults of fragments. */
void slc_sim_cms_words(slc_sim_cms *sim, uint64_t event);
/* What a right decoder makes of these, appended to the truth, which has room for a digi for each word. */
void slc_sim_cms_fill_digis(slc_sim_cms *sim, uint64_t event, slc_sim_cms_truth *truth);

#endif
