/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_velo: what an event is made of while it is generated, and the steps that make it, in their
 * order:
 *
 *     collide -> transport (scatter, convert, interact, decay) -> crossings of sensors -> pixels -> clusters,
 * links
 *
 * Lengths are in mm, momenta and energies in MeV, charges of pixels in electrons.
 */
#ifndef SLUICE_SIM_VELO_EVENT_H
#define SLUICE_SIM_VELO_EVENT_H

#include "sim/sim_list.h"
#include "sim/sim_velo_random.h"
#include <sluice/sim.h>

enum {
    SIM_PIXELS = SLC_VELO_COLUMNS * SLC_VELO_ROWS,
    SIM_SUPERPIXELS = SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS,
    SIM_MAX_PARTICLES = 1 << 20, /* showers end here, should a configuration ever make one */
    SIM_MAX_CHILDREN = 6,
    SIM_DECAYS_BEFORE =
        2000 /* mm from the VELO's last sensor in which particles decay, with what is beyond: to the UT */
};

typedef struct sim_vector {
    double x, y, z;
} sim_vector;

typedef struct sim_particle {
    sim_vector origin, momentum; /* at the origin */
    double mass, flight;         /* path to its decay; infinite where it is stable */
    uint64_t modules;            /* bit m: it has a hit in module m */
    int32_t pid, charge, mother; /* mother: index, -1 for products of a collision */
    int32_t collision;           /* index where it comes from the vertex itself, otherwise -1 */
    uint32_t flags;
    uint32_t first_link, n_links;   /* its hits */
    uint32_t n_ut, n_scifi;         /* beyond the VELO: ids in sim->ut_ids and scifi_ids, */
    uint32_t first_ut, first_scifi; /* from there on */
    sim_vector end, end_momentum;   /* where and how it leaves the VELO, or its decay there */
    double end_left;                /* path to its decay from there */
    bool end_alive;
} sim_particle;

typedef struct sim_collision {
    sim_vector at;
    int32_t n_tracks;
} sim_collision;

/* A charged particle's way through a sensor, in the sensor's frame; w is along the normal, 0 in the middle.
 */
typedef struct sim_crossing {
    double u, v;         /* at w = 0 */
    double du_dw, dv_dw; /* slopes */
    double ionisation;   /* relative to a minimum-ionising particle */
    uint32_t particle, sensor;
} sim_crossing;

/* Particle and channel id of a cluster that it contributed to. */
typedef struct sim_link {
    uint32_t particle, channel;
} sim_link;

/* A sensor's frame: local = inverse · (global − corner). */
typedef struct sim_plane {
    sim_vector corner, normal;
    double inverse[2][3];
} sim_plane;

/* Charge of one crossing in one pixel, before it is added to its sensor. */
typedef struct sim_deposit {
    uint32_t pixel;
    float electrons;
} sim_deposit;

struct slc_sim_velo {
    slc_sim_velo_config config;
    slc_velo_geometry geometry;
    sim_plane planes[SLC_VELO_SENSORS];
    double column_edge[SLC_VELO_COLUMNS + 1];
    double face_z[2 * SLC_VELO_MODULES];          /* of a module's two faces, ascending … */
    uint8_t face_sensor[2 * SLC_VELO_MODULES][4]; /* … with the sensors on them, n of them */
    uint8_t face_sensors[2 * SLC_VELO_MODULES];
    uint32_t n_faces;
    bool apart[SLC_VELO_MODULES]; /* a neighbouring station is far away */
    float gauss[1024];            /* cumulative normal distribution, see sim_velo_sensor.c */
    sim_random random;
    bool failed;
    sim_list particles, collisions, crossings, links, bytes;
    sim_list deposits;                           /* of the crossing at hand */
    sim_list touches;                            /* of the sensor at hand: pixel and particle */
    sim_list pixels;                             /* of the sensor at hand: touched, then hit */
    sim_list words;                              /* of the sensor at hand: super-pixels */
    uint32_t sensor_begin[SLC_VELO_SENSORS + 1]; /* crossings by sensor, through order */
    sim_list order;
    float *charge;     /* maps over a sensor's pixels and super-pixels, clean between sensors */
    uint32_t *cluster; /* 0: no hit, HIT: not yet in a cluster, otherwise 1 + its number */
    uint8_t *pattern;
    slc_velo_truth truth;
    /* Of sim_hlt1, which carries particles on: */
    bool beyond;          /* it does */
    double jpsi_fraction; /* of visible collisions with a J/psi */
    sim_list ut_ids, scifi_ids;
    slc_velo_beyond beyond_truth;
};

/* ---- particles: sim_velo_decay.c ------------------------------------------------------------- */

/* Mass, charge and mean proper decay length of a PDG id; false for one that is not in the table. */
bool slc_sim_species(int32_t pid, double *mass, int32_t *charge, double *ctau);
/* Adds a particle, with a drawn decay length; returns its index, -1 where the list is full. A child carries
 * on the flags of its mother and those that its mother's species means. */
int32_t slc_sim_add(slc_sim_velo *sim, int32_t pid, sim_vector origin, sim_vector momentum, int32_t mother);
/* Adds the products of the decay of particle `index` at `at`, moving with `momentum`. */
void slc_sim_decay(slc_sim_velo *sim, int32_t index, sim_vector at, sim_vector momentum);
/* A pair of electron and positron out of a photon. */
void slc_sim_convert(slc_sim_velo *sim, int32_t index, sim_vector at, sim_vector momentum);

/* ---- sim_velo_collide.c, sim_velo_transport.c, sim_velo_sensor.c ----------------------------- */

/* The collisions of an event and the particles that come out of them. */
void slc_sim_collide(slc_sim_velo *sim);
/* Carries every particle, and all that it makes on its way, through the detector; collects crossings. */
void slc_sim_transport(slc_sim_velo *sim);
/* A sensor's pixels (super-pixel words, sorted) and links out of the crossings in it. */
void slc_sim_sensor(slc_sim_velo *sim, uint32_t sensor, uint32_t n_noise);
/* Tables of the two above, made once. False if the geometry's columns make no sense. */
void slc_sim_transport_init(slc_sim_velo *sim);
bool slc_sim_sensor_init(slc_sim_velo *sim);

/* ---- an event in steps: sim_velo.c ------------------------------------------------------------ */

/* Begins event `index` and makes its collisions, particles and crossings of sensors. */
void slc_sim_begin(slc_sim_velo *sim, uint64_t index);
/* Appends a raw bank to the event. */
void slc_sim_bank(slc_sim_velo *sim, uint8_t type, uint8_t version, int16_t source, const void *payload,
                  size_t size);
/* ODIN's bank and those of the VELO. */
void slc_sim_read_out(slc_sim_velo *sim, uint64_t index);
/* Truth, and the event to the batch, all or nothing; `beyond` may be NULL, as `truth`. */
slc_status slc_sim_finish(slc_sim_velo *sim, uint64_t index, slc_batch *batch, slc_velo_truth *truth,
                          slc_velo_beyond *beyond, slc_error *error);

/* ---- vectors --------------------------------------------------------------------------------- */

static inline double vector_dot(sim_vector a, sim_vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline double vector_length(sim_vector a)
{
    return sqrt(vector_dot(a, a));
}

static inline sim_vector vector_along(sim_vector a, sim_vector direction, double length)
{
    return (sim_vector){a.x + direction.x * length, a.y + direction.y * length, a.z + direction.z * length};
}

static inline sim_vector vector_scale(sim_vector a, double factor)
{
    return (sim_vector){a.x * factor, a.y * factor, a.z * factor};
}

static inline sim_vector vector_cross(sim_vector a, sim_vector b)
{
    return (sim_vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* The unit vector at the angles (theta, phi) about a unit vector. */
static inline sim_vector vector_turn(sim_vector axis, double sine, double cosine, double phi)
{
    const sim_vector aside = fabs(axis.z) < 0.9 ? (sim_vector){0, 0, 1} : (sim_vector){1, 0, 0};
    sim_vector e = vector_cross(aside, axis);
    e = vector_scale(e, 1 / vector_length(e));
    const sim_vector f = vector_cross(axis, e);
    const double a = sine * cos(phi), b = sine * sin(phi);
    const sim_vector turned = {cosine * axis.x + a * e.x + b * f.x, cosine * axis.y + a * e.y + b * f.y,
                               cosine * axis.z + a * e.z + b * f.z};
    return vector_scale(turned, 1 / vector_length(turned));
}

#endif
