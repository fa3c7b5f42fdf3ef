/* SPDX-License-Identifier: Apache-2.0
 * Super-pixels to clusters: SparseCCL (thesis, algorithm 24) whose elements are the connected parts of
 * super-pixels. A super-pixel is two columns wide, so two pixels of it touch unless an empty row lies between
 * them: it has one part, or two that an empty row separates. A table of the sensor's super-pixel addresses
 * finds neighbours at once; only the entries in use are cleared between sensors, so that the cost follows the
 * hits and not the area. */
#include "velo/velo_cluster.h"

#include "velo/velo_superpixel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* The table has a border of empty entries, which spares all tests at the sensor's edges. */
    TABLE_COLUMNS = SLC_VELO_SUPERPIXEL_COLUMNS + 2,
    TABLE_ROWS = SLC_VELO_SUPERPIXEL_ROWS + 2,
    TABLE_SIZE = TABLE_COLUMNS * TABLE_ROWS,
    MAX_NODES = 2 * SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS
};

/* A connected part of a super-pixel, and, in the root of a cluster, the cluster's sums. */
typedef struct node {
    uint32_t parent; /* an earlier node, or itself */
    uint32_t n, sum_column, sum_row;
    uint16_t cell; /* of its super-pixel in the table */
    uint8_t pattern;
    uint8_t last; /* 1 in the last part of its super-pixel */
} node;

typedef struct workspace {
    uint16_t table[TABLE_SIZE]; /* 1 + index of the super-pixel's first node, 0 where no pixel is hit */
    node nodes[MAX_NODES];
} workspace;

slc_status slc_velo_cluster_reserve(slc_velo_cluster_scratch *scratch)
{
    if (scratch->block == NULL) {
        scratch->block = calloc(1, sizeof(workspace));
        scratch->nodes = scratch->block != NULL ? MAX_NODES : 0;
    }
    return scratch->block != NULL ? SLC_OK : SLC_ERR_MEMORY;
}

void slc_velo_cluster_clear(slc_velo_cluster_scratch *scratch)
{
    free(scratch->block);
    free(scratch->work);
    slc_velo_masking_clear(&scratch->masking);
    *scratch = (slc_velo_cluster_scratch){0};
}

size_t slc_velo_cluster_bound(size_t n_superpixels)
{
    return 2 * n_superpixels;
}

static uint32_t cell_of(uint32_t word)
{
    return (slc_superpixel_column(word) + 1) * TABLE_ROWS + slc_superpixel_row(word) + 1;
}

/* The part of the pattern that holds its lowest hit row, up to the first empty row. */
static uint32_t lower_part(uint32_t pattern)
{
    uint32_t rows = (pattern | pattern >> 4) & 0xfU;
    rows &= ~(rows +
              (rows & (0U - rows))); /* the lowest run of ones: adding its lowest one carries through it */
    return pattern & (rows | rows << 4);
}

/* Sums of column and row over the pixels of a part. */
static void init_features(node *part, uint32_t word)
{
    part->n = part->sum_column = part->sum_row = 0;
    for (uint32_t k = 0; k < 8; k++) {
        if ((uint32_t)part->pattern >> k & 1U) {
            part->n++;
            part->sum_column += 2 * slc_superpixel_column(word) + (k >> 2);
            part->sum_row += 4 * slc_superpixel_row(word) + (k & 3U);
        }
    }
}

/* Splits the sensor's super-pixels into nodes and enters them in the table. Returns the number of nodes. */
static uint32_t place(workspace *work, const uint32_t *words, size_t n)
{
    uint32_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t pattern = words[i] & SLC_SUPERPIXEL_PATTERN;
        const uint32_t cell = cell_of(words[i]), lower = lower_part(pattern);
        work->table[cell] = (uint16_t)(used + 1);
        for (uint32_t part = lower; part != 0; part = part == lower ? pattern & ~lower : 0) {
            node *added = &work->nodes[used];
            *added = (node){.parent = used, .cell = (uint16_t)cell, .pattern = (uint8_t)part};
            added->last = part != lower || lower == pattern;
            init_features(added, words[i]);
            used++;
        }
    }
    return used;
}

/* Halves the path on its way, so that no pattern of pixels can make the trees deep. */
static uint32_t find_root(node *nodes, uint32_t i)
{
    while (nodes[i].parent != i) {
        nodes[i].parent = nodes[nodes[i].parent].parent;
        i = nodes[i].parent;
    }
    return i;
}

/* The smaller index becomes the root, so that a root is its cluster's first node. */
static void unite(node *nodes, uint32_t a, uint32_t b)
{
    a = find_root(nodes, a);
    b = find_root(nodes, b);
    if (a < b) {
        nodes[b].parent = a;
    } else {
        nodes[a].parent = b;
    }
}

/* Where a super-pixel's earlier neighbours lie (the other four are the mirror images), and whether two
 * patterns touch: `here` the pattern of the super-pixel, `there` that of the neighbour. Figure 4.32. */
enum { BELOW, LEFT_BELOW, LEFT, LEFT_ABOVE, NEIGHBOURS };
static const int neighbour_step[NEIGHBOURS] = {-1, -TABLE_ROWS - 1, -TABLE_ROWS, -TABLE_ROWS + 1};

static bool touch(int direction, uint32_t here, uint32_t there)
{
    switch (direction) {
    case BELOW: /* two columns wide: any pixel of the lowest row touches any of the highest row below */
        return (here & 0x11U) != 0 && (there & 0x88U) != 0;
    case LEFT_BELOW:
        return (here & 0x01U) != 0 && (there & 0x80U) != 0;
    case LEFT_ABOVE:
        return (here & 0x08U) != 0 && (there & 0x10U) != 0;
    default: {
        const uint32_t left = there >> 4, right = here & 0xfU;
        return ((left | left << 1 | left >> 1) & right) != 0;
    }
    }
}

/* True if no super-pixel around this cell is hit. */
static bool is_alone(const workspace *work, uint32_t cell)
{
    uint32_t around = 0;
    for (int i = 0; i < NEIGHBOURS; i++) {
        around |= work->table[(int)cell + neighbour_step[i]];
        around |= work->table[(int)cell - neighbour_step[i]];
    }
    return around == 0;
}

/* Joins node i with the parts of its four earlier neighbours that it touches. */
static void join_neighbours(workspace *work, uint32_t i)
{
    for (int direction = 0; direction < NEIGHBOURS; direction++) {
        const uint32_t first = work->table[work->nodes[i].cell + neighbour_step[direction]];
        if (first == 0) {
            continue;
        }
        for (uint32_t j = first - 1;; j++) {
            if (touch(direction, work->nodes[i].pattern, work->nodes[j].pattern)) {
                unite(work->nodes, i, j);
            }
            if (work->nodes[j].last) {
                break;
            }
        }
    }
}

static void emit(const slc_velo_geometry *geometry, uint32_t sensor, const node *root, slc_velo_hits *hits)
{
    const uint32_t column = root->sum_column / root->n, row = root->sum_row / root->n;
    const float column_fraction = (float)(root->sum_column % root->n) / (float)root->n;
    const float row_fraction = (float)(root->sum_row % root->n) / (float)root->n;
    const size_t i = hits->head.size++;
    slc_velo_geometry_position(geometry, sensor, column, column_fraction, row, row_fraction, &hits->x_mm[i],
                               &hits->y_mm[i], &hits->z_mm[i]);
    hits->channel[i] = 2U << 28 | sensor << 18 | column << 8 | row;
    hits->n_pixels[i] = root->n;
    hits->module[i] = (uint8_t)(sensor / 4);
}

typedef struct sensor_input {
    const uint32_t *words;
    size_t n;
    uint32_t sensor;
    uint64_t event;
} sensor_input;

/* Labels one sensor; returns its number of pixels. */
static uint64_t cluster_sensor(const slc_velo_geometry *geometry, const sensor_input *input, workspace *work,
                               slc_velo_hits *hits, slc_faults *faults)
{
    const uint32_t n_nodes = place(work, input->words, input->n);
    uint32_t i = 0;
    for (size_t s = 0; s < input->n; s++) {
        bool hinted = (input->words[s] & SLC_SUPERPIXEL_ISOLATED) != 0;
        if (hinted && !is_alone(work, work->nodes[i].cell)) {
            slc_faults_add(faults, SLC_FAULT_SUPERPIXEL_HINT, input->event, (int32_t)input->sensor,
                           slc_superpixel_address(input->words[s]));
            hinted = false;
        }
        do {
            if (!hinted) {
                join_neighbours(work, i);
            }
        } while (!work->nodes[i++].last);
    }
    uint64_t pixels = 0;
    for (i = 0; i < n_nodes; i++) {
        node *part = &work->nodes[i];
        pixels += part->n;
        work->table[part->cell] = 0;
        const uint32_t root = find_root(work->nodes, i);
        if (root != i) {
            part->parent = root;
            work->nodes[root].n += part->n;
            work->nodes[root].sum_column += part->sum_column;
            work->nodes[root].sum_row += part->sum_row;
        }
    }
    for (i = 0; i < n_nodes; i++) {
        if (work->nodes[i].parent == i) {
            emit(geometry, input->sensor, &work->nodes[i], hits);
        }
    }
    return pixels;
}

slc_status slc_velo_cluster_run(const slc_velo_geometry *geometry, const slc_velo_superpixels *superpixels,
                                uint64_t first_event, slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                uint64_t *n_pixels, slc_faults *faults)
{
    slc_columns_reset(hits);
    if (scratch->block == NULL || hits->head.block == NULL ||
        hits->head.event_capacity < superpixels->head.n_events ||
        hits->head.capacity < slc_velo_cluster_bound(superpixels->head.size)) {
        return SLC_ERR_CAPACITY;
    }
    uint64_t pixels = 0;
    for (uint32_t e = 0; e < superpixels->head.n_events; e++) {
        const uint32_t end = superpixels->head.event_offset[e + 1];
        for (uint32_t i = superpixels->head.event_offset[e], next; i < end; i = next) {
            for (next = i + 1; next < end && superpixels->sensor[next] == superpixels->sensor[i];) {
                next++;
            }
            const sensor_input input = {.words = superpixels->word + i,
                                        .n = next - i,
                                        .sensor = superpixels->sensor[i],
                                        .event = first_event + e};
            pixels += cluster_sensor(geometry, &input, scratch->block, hits, faults);
        }
        slc_columns_end_event(hits);
    }
    if (n_pixels != NULL) {
        *n_pixels = pixels;
    }
    return SLC_OK;
}
