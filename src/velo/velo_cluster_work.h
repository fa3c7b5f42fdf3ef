/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that turns the words of one sensor into hits, its scratch and its input for
 * the benchmark. How it works stands in velo_cluster.simd.c.
 */
#ifndef SLUICE_VELO_CLUSTER_WORK_H
#define SLUICE_VELO_CLUSTER_WORK_H

#include "simd/simd_kernel.h"

#include "velo/velo_geometry.h"

/* The scratch of a group of sensors. Nodes are the connected parts of super-pixels. Arrays are as long as the
 * largest bank demands; what is used of them is a few kilobytes, in the first-level cache. Their lengths
 * differ from multiples of a page, so that equal places do not fall into the same cache set. */
enum {
    SLC_VELO_WORDS = 16384, /* at least SLC_LHCB_BANK_MAX_PAYLOAD / 4 */
    SLC_VELO_RANKED = 128,  /* words that `sort` takes: it compares all with all */
    SLC_VELO_AHEAD = 8,     /* sensors whose words are sorted before they are placed */
    SLC_VELO_GROUP = 1024,  /* nodes after which a group is closed */
    SLC_VELO_FRONT = 256,   /* more nodes than lie within three columns of rows */
    SLC_VELO_SPARE = 176,   /* more than a vector */
    SLC_VELO_NODES = 2 * SLC_VELO_WORDS + SLC_VELO_GROUP,
    SLC_VELO_LINKS = 5 * SLC_VELO_NODES /* to the left two parts of a super-pixel may touch, elsewhere one */
};
typedef struct slc_velo_cluster_work {
    uint32_t picked[SLC_VELO_WORDS + SLC_VELO_SPARE]; /* a sensor's words from its pair's bank */
    uint32_t sorted[SLC_VELO_WORDS + SLC_VELO_SPARE]; /* words that had to be repaired */
    uint32_t ahead[SLC_VELO_AHEAD]
                  [SLC_VELO_RANKED + SLC_VELO_SPARE]; /* words that are sorted before their turn */
    uint32_t word[SLC_VELO_FRONT + SLC_VELO_NODES + SLC_VELO_SPARE]; /* with the part's pattern */
    uint32_t key[SLC_VELO_FRONT + SLC_VELO_NODES + SLC_VELO_SPARE];  /* see velo_cluster.simd.c */
    uint32_t n[SLC_VELO_NODES + SLC_VELO_SPARE]; /* sums of the part, then of the cluster */
    uint32_t sum_column[SLC_VELO_NODES + SLC_VELO_SPARE];
    uint32_t sum_row[SLC_VELO_NODES + SLC_VELO_SPARE];
    uint32_t parent[SLC_VELO_NODES + SLC_VELO_SPARE];
    /* Pairs of nodes that touch: the later one, and how many places before it the other one is. */
    uint32_t links, link[SLC_VELO_LINKS + SLC_VELO_SPARE];
    uint32_t child[SLC_VELO_NODES + SLC_VELO_SPARE]; /* nodes that are no roots */
    /* Hits of the group, in the sensors' frames. */
    uint32_t column[SLC_VELO_NODES + SLC_VELO_SPARE];
    float column_fraction[SLC_VELO_NODES + SLC_VELO_SPARE];
    float y[SLC_VELO_NODES + SLC_VELO_SPARE];
    uint64_t place[SLC_VELO_NODES + SLC_VELO_SPARE]; /* of `places` */
    /* Bits of local_x_mm and x_pitch_mm of each column, side by side. */
    uint64_t places[SLC_VELO_COLUMNS];
    uint64_t rows[SLC_VELO_SUPERPIXEL_COLUMNS]; /* hit rows of each column; all zero between uses */
    /* The group: its sensors, and how many nodes and hits there are up to the end of each. */
    uint32_t n_sensors, nodes;
    uint32_t sensor[SLC_VELO_SENSORS], node_end[SLC_VELO_SENSORS], hit_end[SLC_VELO_SENSORS];
    bool false_hint; /* a super-pixel with the "isolated" hint has a neighbour; the hits are right */
    uint64_t superpixels, isolated; /* so far, over groups */
} slc_velo_cluster_work;

typedef struct slc_velo_sensor_in {
    const uint8_t *bytes;         /* little-endian words */
    size_t n_words;               /* at most SLC_VELO_WORDS */
    uint32_t select_mask, select; /* words that count: (word & mask) == select */
    uint32_t sensor;              /* larger than those before it in the group */
} slc_velo_sensor_in;

/* Columns have room for a hit a node, and a spare vector. */
typedef struct slc_velo_hits_out {
    float *x_mm, *y_mm, *z_mm;
    uint32_t *channel, *n_pixels;
    uint8_t *module;
} slc_velo_hits_out;

typedef struct slc_velo_cluster_kernels {
    const char *target;
    /* Adds a sensor's words, sorted by address, to the group. False, and nothing is done, where they are
     * damaged, doubled or not sorted. */
    bool (*place)(const slc_velo_sensor_in *in, slc_velo_cluster_work *work);
    /* Sorts up to SLC_VELO_RANKED words and returns how many belong to the sensor; where an
     * address occurs twice, 0 or what `place` does not take. */
    size_t (*sort)(const slc_velo_sensor_in *in, slc_velo_cluster_work *work, uint32_t *sorted);
    /* The group's hits; returns how many. The group stays as it is. */
    size_t (*locate)(const slc_velo_geometry *geometry, slc_velo_cluster_work *work,
                     const slc_velo_hits_out *out);
    /* The hits of up to SLC_VELO_RANKED clusters that the read-out has found, whose fractions have `bits`;
     * returns how many belong to the sensor; 0 also if one lies outside of it. The group must be empty. */
    size_t (*centroids)(const slc_velo_geometry *geometry, const slc_velo_sensor_in *in, unsigned bits,
                        slc_velo_cluster_work *work, const slc_velo_hits_out *out);
} slc_velo_cluster_kernels;

/* The table of a target that is compiled in. */
const slc_velo_cluster_kernels *slc_velo_cluster_kernels_of(slc_simd_target target);

/* Makes an empty scratch ready; then for a geometry; then for the next group. */
void slc_velo_cluster_work_init(slc_velo_cluster_work *work);
void slc_velo_cluster_work_begin(slc_velo_cluster_work *work, const slc_velo_geometry *geometry);
void slc_velo_cluster_work_next(slc_velo_cluster_work *work);

/* The standard input of the benchmark. */
extern const slc_simd_case slc_velo_cluster_case;

#endif
