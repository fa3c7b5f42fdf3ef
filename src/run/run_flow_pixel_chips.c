/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters within chips: pixels are read with their chips so far apart that none is adjacent to one of
 * another chip, and clusters are put back to where the layout has their chip.
 */
#include "base/columns.h"
#include "io/pixel/io_pixel_layout.h"
#include "run/run_flow_pixel_part.h"

#include <stdlib.h>

enum {
    SIDE = SLC_PIXEL_CHIP_SIDE,
    APART = SIDE + 16, /* more than the largest radius between two */
    ACROSS = 16        /* chips in a row */
};

slc_status slc_pixel_chips_open(slc_pixel_input *in, slc_error *error)
{
    in->chips = calloc(1, sizeof *in->chips);
    if (in->chips == NULL) {
        return slc_pixel_no_memory(error, "the places of chips");
    }
    slc_io_pixels_layout *base = &in->chips->base, *spread = &in->chips->spread;
    if (in->setup->layout != NULL) {
        *base = *in->setup->layout;
    } else {
        const slc_status status = slc_io_pixels_layout_read("row", base, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    uint32_t n = 0;
    for (uint32_t chip = 0; chip < SLC_IO_PIXELS_CHIPS; chip++) {
        if (base->chip[chip].is_there) {
            const uint32_t x = n % ACROSS * APART, y = n / ACROSS * APART;
            spread->chip[chip] = base->chip[chip];
            spread->chip[chip].x = (uint16_t)x;
            spread->chip[chip].y = (uint16_t)y;
            in->chips->at[n++] = (uint8_t)chip;
            spread->width = x + SIDE > spread->width ? x + SIDE : spread->width;
            spread->height = y + SIDE > spread->height ? y + SIDE : spread->height;
        }
    }
    return SLC_OK;
}

/* How far a chip was moved. */
typedef struct step {
    int32_t x, y;
} step;

static step step_of(const slc_pixel_chips *chips, uint32_t x, uint32_t y)
{
    const uint8_t chip = chips->at[y / APART * ACROSS + x / APART];
    const slc_io_pixels_chip *from = &chips->spread.chip[chip], *to = &chips->base.chip[chip];
    return (step){from->x - to->x, from->y - to->y};
}

static void move_place(const slc_pixel_chips *chips, uint16_t *x, uint16_t *y)
{
    const step by = step_of(chips, *x, *y);
    *x = (uint16_t)(*x - by.x);
    *y = (uint16_t)(*y - by.y);
}

/* A mean lies on the chip, too; one that is no number stays. */
static void move_mean(const slc_pixel_chips *chips, double *x, double *y)
{
    if (*x >= 0 && *y >= 0) {
        const step by = step_of(chips, (uint32_t)*x, (uint32_t)*y);
        *x -= by.x;
        *y -= by.y;
    }
}

void slc_pixel_chips_run(const slc_pixel_input *in, slc_pixel_piece *p)
{
    const slc_pixel_clusters *c = &p->result.clusters;
    const slc_pixel_members *m = &p->result.members;
    double *const means[][2] = {
        {c->centroid_x, c->centroid_y}, {c->weighted_x, c->weighted_y}, {c->squared_x, c->squared_y}};
    for (size_t i = 0; i < c->head.size && c->x_min != NULL; i++) {
        move_place(in->chips, &c->x_min[i], &c->y_min[i]);
        move_place(in->chips, &c->x_max[i], &c->y_max[i]);
    }
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        for (size_t i = 0; i < c->head.size && means[k][0] != NULL; i++) {
            move_mean(in->chips, &means[k][0][i], &means[k][1][i]);
        }
    }
    for (size_t i = 0; i < m->head.size; i++) {
        move_place(in->chips, &m->x[i], &m->y[i]);
    }
}

/* ---- which chip a cluster is on --------------------------------------------------------------------- */

static const slc_column on_columns[] = {SOA_COLUMN(slc_pixel_on_chips, chip, "index")};
SOA_SCHEMA(slc_pixel_on_chips, on_schema, "chips", on_columns);

void slc_pixel_chips_clear(slc_pixel_piece *p)
{
    slc_columns_clear(&on_schema, &p->on_chips);
}

/* The chip that the box lies on: chips do not lie over each other, so that all pixels are on it, or they are
 * on several. */
static int32_t chip_of(const slc_io_pixels_layout *layout, const slc_pixel_clusters *clusters, size_t i)
{
    const uint32_t x = clusters->x_min[i], y = clusters->y_min[i];
    const uint32_t to_x = clusters->x_max[i], to_y = clusters->y_max[i];
    if (layout == NULL) {
        return x / SIDE == to_x / SIDE ? (int32_t)(x / SIDE) : -1;
    }
    for (int32_t chip = 0; chip < SLC_IO_PIXELS_CHIPS; chip++) {
        const slc_io_pixels_chip *at = &layout->chip[chip];
        if (at->is_there && x >= at->x && to_x < at->x + (uint32_t)SIDE && y >= at->y &&
            to_y < at->y + (uint32_t)SIDE) {
            return chip;
        }
    }
    return -1;
}

slc_status slc_pixel_chips_tell(const slc_pixel_input *in, slc_pixel_piece *p, slc_error *error)
{
    const slc_pixel_clusters *clusters = &p->result.clusters;
    if (slc_columns_reserve(&on_schema, &p->on_chips, clusters->head.size, 1) != SLC_OK) {
        return slc_pixel_no_memory(error, "the chips of clusters");
    }
    for (size_t i = 0; i < clusters->head.size; i++) {
        p->on_chips.chip[i] = chip_of(in->setup->layout, clusters, i);
    }
    p->result.chip = p->on_chips.chip;
    return SLC_OK;
}
