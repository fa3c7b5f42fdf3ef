/* SPDX-License-Identifier: Apache-2.0
 *
 * Flood maps of all blocks on one sheet. A map is a tile; tiles of a module lie in a box with its name, boxes
 * in rows. Colours are numbers of a palette: counts first, then those of lines, letters and paper.
 */
#include "io/image/io_image_write.h"
#include "pet/pet_calibrate_parts.h"
#include "report/report_pet_sheet.h"

#include <sluice/report_pet.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHADES = SLC_REPORT_SHADES,
    LINE = SLC_REPORT_LINE,
    FAR_LINE = SLC_REPORT_FAR_LINE,
    CROSS = SLC_REPORT_CROSS,
    PAPER = SLC_REPORT_PAPER,
    INK = SLC_REPORT_INK,
    FAINT = SLC_REPORT_FAINT,
    WARNING = SLC_REPORT_WARNING
};
enum { GAP = 6, TILE = 256, PIXELS = 4200 /* that the longer side of a sheet should not be above */ };

typedef struct sheet {
    const slc_pet_calibrate *calibrate;
    const slc_pet_calibrate_config *config;
    const uint16_t *position;
    uint32_t modules, units, locals, side;
    size_t enlarge, reduce; /* pixels of a place, places of a pixel; one of them is 1 */
    size_t tile, letter;    /* pixels */
    size_t caption, title;  /* heights */
    size_t box_width, box_height, boxes_across;
    slc_report_canvas canvas;
    uint64_t *of_crystal; /* counts of a block's crystals */
    uint32_t *sorted;     /* counts of a map's places */
    float *tall;          /* a tile's counts before they are colours */
} sheet;

/* ---- one map ----------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sums of `reduce` x `reduce` places, or places as they are. */
static void tile_counts(const sheet *s, const uint32_t *flood, size_t across)
{
    for (size_t j = 0; j < across; j++) {
        for (size_t i = 0; i < across; i++) {
            double sum = 0;
            for (size_t y = j * s->reduce; y < (j + 1) * s->reduce && y < s->side; y++) {
                for (size_t x = i * s->reduce; x < (i + 1) * s->reduce && x < s->side; x++) {
                    sum += flood[y * s->side + x];
                }
            }
            s->tall[j * across + i] = (float)sum;
        }
    }
}

/* What is white: all but the brightest of a thousand places are below. */
static double brightest(const sheet *s, size_t across)
{
    const size_t n = across * across;
    for (size_t i = 0; i < n; i++) {
        s->sorted[i] = (uint32_t)fminf(s->tall[i], 4e9F);
    }
    qsort(s->sorted, n, sizeof *s->sorted, by_count);
    const size_t above = n / 1000;
    return fmax(s->sorted[n - 1 - above], 1);
}

static void draw_counts(const sheet *s, const uint32_t *flood, size_t left, size_t top)
{
    const size_t across = (s->side + s->reduce - 1) / s->reduce;
    tile_counts(s, flood, across);
    const double white = brightest(s, across);
    for (size_t j = 0; j < across; j++) {
        for (size_t i = 0; i < across; i++) {
            const double share = sqrt(fmin((double)s->tall[j * across + i] / white, 1));
            slc_report_canvas_box(&s->canvas, left + i * s->enlarge, top + j * s->enlarge, s->enlarge,
                                  s->enlarge, (uint8_t)(share * (SHADES - 1)));
        }
    }
}

/* The crystal at a pixel of a tile. */
static uint16_t crystal_at(const sheet *s, const uint16_t *map, size_t i, size_t j)
{
    const size_t x = i / s->enlarge * s->reduce, y = j / s->enlarge * s->reduce;
    return map[(y < s->side ? y : s->side - 1U) * s->side + (x < s->side ? x : s->side - 1U)];
}

/* Is a pixel farther from the crystal's peak than a neighbour's would be? There lines only go on. */
static bool is_far(const sheet *s, const slc_pet_grid *grid, uint16_t crystal, size_t i, size_t j)
{
    const slc_pet_geometry *g = &s->config->geometry;
    const double scale = (double)s->enlarge / (double)s->reduce, pitch = (double)s->tile;
    const double x = ((double)i + 0.5 - (double)grid->x[crystal] * scale) * g->crystals_z / pitch,
                 y = ((double)j + 0.5 - (double)grid->y[crystal] * scale) * g->crystals_y / pitch;
    return x * x + y * y > 0.7 * 0.7;
}

static void draw_borders(const sheet *s, const slc_pet_grid *grid, const uint16_t *map, size_t left,
                         size_t top)
{
    for (size_t j = 0; j < s->tile; j++) {
        for (size_t i = 0; i < s->tile; i++) {
            const uint16_t here = crystal_at(s, map, i, j);
            if (here < s->locals && ((i + 1 < s->tile && crystal_at(s, map, i + 1, j) != here) ||
                                     (j + 1 < s->tile && crystal_at(s, map, i, j + 1) != here))) {
                slc_report_canvas_box(&s->canvas, left + i, top + j, 1, 1,
                                      is_far(s, grid, here, i, j) ? FAR_LINE : LINE);
            }
        }
    }
}

static void cross(const sheet *s, size_t x, size_t y)
{
    const size_t arm = s->tile > 3 * s->locals / 2 ? 3 : 1;
    for (size_t k = 0; k <= 2 * arm; k++) {
        if (x + k >= arm && y + k >= arm) {
            slc_report_canvas_box(&s->canvas, x + k - arm, y + k - arm, 1, 1, CROSS);
            slc_report_canvas_box(&s->canvas, x + k - arm, y + arm - k, 1, 1, CROSS);
        }
    }
}

/* Crosses at crystals with next to no counts. */
static void draw_dead(const sheet *s, const slc_pet_grid *grid, const uint32_t *flood, const uint16_t *map,
                      size_t left, size_t top)
{
    memset(s->of_crystal, 0, s->locals * sizeof *s->of_crystal);
    for (size_t i = 0; i < (size_t)s->side * s->side; i++) {
        if (map[i] < s->locals) {
            s->of_crystal[map[i]] += flood[i];
        }
    }
    for (uint32_t local = 0; local < s->locals && grid->sure; local++) {
        if (s->of_crystal[local] * 20 * s->locals < grid->counts) {
            const double scale = (double)s->enlarge / (double)s->reduce;
            cross(s, left + (size_t)fmax((double)grid->x[local] * scale, 4),
                  top + (size_t)fmax((double)grid->y[local] * scale, 4));
        }
    }
}

/* "98.2k", "1.24M". */
static void short_number(char *text, size_t room, uint64_t n)
{
    if (n >= 1000000) {
        (void)snprintf(text, room, "%.3gM", (double)n * 1e-6);
    } else if (n >= 10000) {
        (void)snprintf(text, room, "%.3gk", (double)n * 1e-3);
    } else {
        (void)snprintf(text, room, "%" PRIu64, n);
    }
}

static void draw_tile(const sheet *s, uint32_t module, uint32_t unit, size_t left, size_t top)
{
    slc_pet_grid grid;
    const uint32_t *flood = slc_pet_calibrate_flood(s->calibrate, module, unit);
    const size_t places = (size_t)s->side * s->side;
    const uint16_t *map = s->position + ((size_t)module * s->units + unit) * places;
    char counts[32], text[64];
    if (!slc_pet_calibrate_grid(s->calibrate, module, unit, &grid)) {
        return;
    }
    draw_counts(s, flood, left, top);
    if (grid.sure) {
        draw_borders(s, &grid, map, left, top);
        draw_dead(s, &grid, flood, map, left, top);
    } else {
        const size_t wide = s->tile;
        slc_report_canvas_box(&s->canvas, left, top, wide, 2, WARNING);
        slc_report_canvas_box(&s->canvas, left, top + wide - 2, wide, 2, WARNING);
        slc_report_canvas_box(&s->canvas, left, top, 2, wide, WARNING);
        slc_report_canvas_box(&s->canvas, left + wide - 2, top, 2, wide, WARNING);
    }
    short_number(counts, sizeof counts, grid.counts);
    if (s->caption > 0) {
        (void)snprintf(text, sizeof text, grid.sure ? "unit %u  %s" : "unit %u  %s  no grid", unit, counts);
        slc_report_canvas_text(&s->canvas, left, top + s->tile + 4, s->letter - 1,
                               grid.sure ? FAINT : WARNING, text);
    }
}

/* ---- the sheet --------------------------------------------------------------------------------- */

/* So many boxes in a row that the sheet is not much wider or higher than a screen, and little of it is empty.
 */
static size_t across_of(const sheet *s)
{
    size_t best = 1;
    double least = INFINITY;
    for (size_t across = 1; across <= s->modules; across++) {
        const size_t down = (s->modules + across - 1) / across;
        const double shape = (double)(across * s->box_width) / (double)(down * s->box_height) / 1.4;
        const double empty = 1 - (double)s->modules / (double)(across * down);
        const double cost = log(shape) * log(shape) + 2 * empty;
        if (cost < least) {
            least = cost;
            best = across;
        }
    }
    return best;
}

/* Boxes about as wide as high in all; tiles as large as the sheet's limit allows. */
static void lay_out(sheet *s)
{
    const slc_pet_geometry *g = &s->config->geometry;
    s->enlarge = s->side < TILE ? TILE / s->side : 1;
    s->reduce = 1;
    for (;;) {
        s->tile = (s->side + s->reduce - 1) / s->reduce * s->enlarge;
        s->letter = s->tile >= 200 ? 3 : s->tile >= 100 ? 2 : 1;
        s->caption = s->tile >= 100 ? (s->letter - 1) * SLC_REPORT_TEXT_HEIGHT + 8 : 0;
        s->title = s->letter * SLC_REPORT_TEXT_HEIGHT + 6;
        s->box_width = g->blocks_z * (s->tile + GAP) + 2 * GAP;
        s->box_height = g->blocks_y * (s->tile + s->caption + GAP) + s->title + 2 * GAP;
        s->boxes_across = across_of(s);
        const size_t down = (s->modules + s->boxes_across - 1) / s->boxes_across;
        s->canvas.width = s->boxes_across * s->box_width + 2 * GAP;
        s->canvas.height = down * s->box_height + 2 * GAP;
        if ((s->canvas.width <= PIXELS && s->canvas.height <= PIXELS) || s->tile <= 24) {
            return;
        }
        if (s->enlarge > 1) {
            s->enlarge--;
        } else {
            s->reduce++;
        }
    }
}

static void draw(const sheet *s)
{
    const slc_pet_geometry *g = &s->config->geometry;
    memset(s->canvas.pixels, PAPER, s->canvas.width * s->canvas.height);
    for (uint32_t module = 0; module < s->modules; module++) {
        const size_t left = 2 * GAP + module % s->boxes_across * s->box_width,
                     top = 2 * GAP + module / s->boxes_across * s->box_height;
        char text[32];
        (void)snprintf(text, sizeof text, "module %u", module);
        slc_report_canvas_text(&s->canvas, left, top, s->letter, INK, text);
        for (uint32_t unit = 0; unit < s->units; unit++) {
            draw_tile(s, module, unit, left + unit % g->blocks_z * (s->tile + GAP),
                      top + s->title + unit / g->blocks_z * (s->tile + s->caption + GAP));
        }
    }
}

slc_status slc_report_pet_flood_png(const char *path, const slc_pet_calibrate *calibrate,
                                    const uint16_t *position, slc_error *error)
{
    slc_pet_grid grid;
    if (slc_pet_calibrate_flood(calibrate, 0, 0) == NULL || !slc_pet_calibrate_grid(calibrate, 0, 0, &grid)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there are no flood maps to draw", path);
    }
    sheet s = {
        .calibrate = calibrate, .config = slc_pet_calibrate_config_of(calibrate), .position = position};
    const slc_pet_geometry *g = &s.config->geometry;
    s.modules = slc_pet_module_count(g);
    s.units = g->blocks_y * g->blocks_z;
    s.locals = g->crystals_y * g->crystals_z;
    s.side = s.config->position_side;
    lay_out(&s);
    uint8_t palette[768];
    slc_report_palette(palette);
    s.canvas.pixels = malloc(s.canvas.width * s.canvas.height);
    s.of_crystal = malloc(s.locals * sizeof *s.of_crystal);
    s.sorted = malloc((size_t)s.side * s.side * sizeof *s.sorted);
    s.tall = malloc((size_t)s.side * s.side * sizeof *s.tall);
    slc_status status = SLC_OK;
    if (s.canvas.pixels == NULL || s.of_crystal == NULL || s.sorted == NULL || s.tall == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %zu x %zu pixels", path, s.canvas.width,
                          s.canvas.height);
    } else {
        draw(&s);
        const slc_image image = {.pixels = s.canvas.pixels,
                                 .width = s.canvas.width,
                                 .height = s.canvas.height,
                                 .stride = (ptrdiff_t)s.canvas.width,
                                 .type = SLC_IMAGE_U8};
        status = slc_io_image_write_palette(path, &image, palette, error);
    }
    free(s.canvas.pixels);
    free(s.of_crystal);
    free(s.sorted);
    free(s.tall);
    return status;
}
