/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of single pixels, and what becomes of those that are read: masked ones go, the others are
 * counted where hot ones are looked for, and their charges become energies. docs/formats/pixel-tables.md.
 */
#include "io/pixel/io_pixel_tables.h"

#include "io/io_stream.h"

#include <math.h>
#include <stdlib.h>

enum { MASK_BYTES = 64 << 20 };

/* ---- the tables --------------------------------------------------------------------------------- */

void slc_io_pixels_tables_close(slc_io_pixels_tables *tables)
{
    for (uint32_t i = 0; tables != NULL && i < SLC_PIXEL_TILE_ALL; i++) {
        free(tables->mask[i]);
        free(tables->calibration[i]);
        free(tables->hits[i]);
    }
    if (tables != NULL) {
        free(tables->timewalk.points);
    }
    free(tables);
}

static slc_status read_mask(const char *path, slc_io_pixels_tables *tables, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MASK_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_pixels_mask_parse(bytes, size, path, tables, error);
    }
    free(bytes);
    return status;
}

slc_status slc_io_pixels_tables_open(const slc_io_pixels_table_files *files, slc_io_pixels_tables **out,
                                     slc_error *error)
{
    *out = NULL;
    slc_io_pixels_tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for tables of pixels");
    }
    tables->finds_hot = files->finds_hot;
    slc_status status = files->mask != NULL ? read_mask(files->mask, tables, error) : SLC_OK;
    if (status == SLC_OK && files->calibration != NULL) {
        tables->calibrates = true;
        status = slc_io_pixels_calibration_read(files->calibration, tables, error);
    }
    tables->has_phases = files->column_phase;
    if (status == SLC_OK && files->timewalk != NULL) {
        status = slc_io_pixels_timewalk_read(files->timewalk, tables, error);
    }
    if (status != SLC_OK) {
        slc_io_pixels_tables_close(tables);
        return status;
    }
    *out = tables;
    return SLC_OK;
}

slc_status slc_io_pixels_mask_put(slc_io_pixels_tables *tables, uint32_t x, uint32_t y, slc_error *error)
{
    uint8_t **tile = &tables->mask[slc_pixel_tile_of(x, y)];
    const uint32_t at = slc_pixel_in_tile(x, y);
    if (*tile == NULL && (*tile = calloc(1, SLC_PIXEL_TILE_ALL / 8)) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a mask");
    }
    tables->n_masked += ((*tile)[at / 8] >> at % 8 & 1) == 0;
    (*tile)[at / 8] |= (uint8_t)(1U << at % 8);
    return SLC_OK;
}

/* The pixel's, of a tile that there is from now on; NULL without room for it, or if the chip has no such. */
static slc_pixel_calibration *need_place(slc_io_pixels_tables *tables, uint32_t x, uint32_t y,
                                         slc_status *status, slc_error *error)
{
    if (tables->of_chip != NULL && (x >= SLC_PIXEL_TILE || y >= SLC_PIXEL_TILE)) {
        *status = slc_fail(error, SLC_ERR_FORMAT,
                           "%s: calibrates a pixel at x %u, y %u, where a chip has %d x %d", tables->of_chip,
                           x, y, SLC_PIXEL_TILE, SLC_PIXEL_TILE);
        return NULL;
    }
    x += SLC_PIXEL_TILE * tables->chip;
    slc_pixel_calibration **tile = &tables->calibration[slc_pixel_tile_of(x, y)];
    if (*tile == NULL && tables->n_calibration_tiles == SLC_PIXEL_TILES) {
        *status = slc_fail(error, SLC_ERR_FORMAT, "calibrations of more than %d chips of %d x %d",
                           SLC_PIXEL_TILES, SLC_PIXEL_TILE, SLC_PIXEL_TILE);
        return NULL;
    }
    if (*tile == NULL) {
        *tile = calloc(SLC_PIXEL_TILE_ALL, sizeof **tile);
        if (*tile == NULL) {
            *status = slc_fail(error, SLC_ERR_MEMORY, "no memory for calibrations");
            return NULL;
        }
        tables->n_calibration_tiles++;
    }
    return *tile + slc_pixel_in_tile(x, y);
}

/* Where c is negative the curve has a pole above t, and a charge two energies or none. */
static bool is_good(const slc_pixel_calibration *of)
{
    return of->a > 0 && of->c >= 0 && isfinite(of->a) && isfinite(of->b) && isfinite(of->c) &&
           isfinite(of->t);
}

slc_status slc_io_pixels_calibration_put(slc_io_pixels_tables *tables, uint32_t x, uint32_t y,
                                         const slc_pixel_calibration *of, slc_error *error)
{
    if (!is_good(of)) {
        return SLC_OK;
    }
    slc_status status = SLC_OK;
    slc_pixel_calibration *here = need_place(tables, x, y, &status, error);
    if (here == NULL) {
        return status;
    }
    tables->n_calibrated += !(here->a > 0);
    *here = *of;
    return SLC_OK;
}

slc_status slc_io_pixels_calibration_put_once(slc_io_pixels_tables *tables, uint32_t x, uint32_t y,
                                              const slc_pixel_calibration *of, slc_error *error)
{
    static const slc_pixel_calibration none = {.a = -1};
    slc_status status = SLC_OK;
    slc_pixel_calibration *here = need_place(tables, x, y, &status, error);
    if (here == NULL) {
        return status;
    }
    if (here->a > 0 || here->a < 0) {
        return SLC_END;
    }
    *here = is_good(of) ? *of : none;
    tables->n_calibrated += is_good(of);
    return SLC_OK;
}

/* ---- pixels ------------------------------------------------------------------------------------- */

/* The root above t of a E^2 - (ToT + a t - b) E + t (ToT - b) - c = 0: J. Jakubek, Nucl. Instrum. Methods A
 * 633 (2011) S262. */
bool slc_pixel_energy(const slc_pixel_calibration *of, uint32_t tot, uint32_t *ev)
{
    if (!(of->a > 0)) {
        return false;
    }
    const double at = of->a * of->t, rest = of->b + at - tot;
    const double kev = (at + tot - of->b + sqrt(rest * rest + 4 * of->a * of->c)) / (2 * of->a);
    const double rounded = floor(1000 * kev + 0.5);
    if (!(rounded >= 0 && rounded <= UINT32_MAX)) {
        return false;
    }
    *ev = (uint32_t)rounded;
    return true;
}

static void calibrate(const slc_pixel_calibration *tile, uint32_t at, uint32_t *charge, uint64_t *unknown)
{
    if (tile == NULL || !slc_pixel_energy(&tile[at], *charge, charge)) {
        *charge = 0;
        ++*unknown;
    }
}

static slc_status count_hit(slc_io_pixels_tables *tables, uint32_t tile, uint32_t at, slc_error *error)
{
    uint32_t **hits = &tables->hits[tile];
    if (*hits == NULL) {
        if (tables->n_hit_tiles == SLC_PIXEL_TILES) {
            return slc_fail(error, SLC_ERR_UNSUPPORTED,
                            "hot pixels are looked for on up to %d chips of %d x %d, and there are more",
                            SLC_PIXEL_TILES, SLC_PIXEL_TILE, SLC_PIXEL_TILE);
        }
        *hits = calloc(SLC_PIXEL_TILE_ALL, sizeof **hits);
        if (*hits == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory to count hits");
        }
        tables->n_hit_tiles++;
    }
    (*hits)[at] += (*hits)[at] < UINT32_MAX;
    return SLC_OK;
}

static void keep(slc_pixels *pixels, size_t row, size_t to)
{
    pixels->x[to] = pixels->x[row];
    pixels->y[to] = pixels->y[row];
    if (pixels->z != NULL) {
        pixels->z[to] = pixels->z[row];
    }
    if (pixels->charge != NULL) {
        pixels->charge[to] = pixels->charge[row];
    }
    if (pixels->time != NULL) {
        pixels->time[to] = pixels->time[row];
    }
}

slc_status slc_io_pixels_tables_run(slc_io_pixels_tables *tables, slc_pixels *pixels, size_t first,
                                    uint32_t event, slc_io_pixels_counts *counts, slc_error *error)
{
    slc_columns *head = &pixels->head;
    size_t to = first;
    slc_status status = SLC_OK;
    for (size_t row = first; row < head->size && status == SLC_OK; row++) {
        const uint32_t tile = slc_pixel_tile_of(pixels->x[row], pixels->y[row]);
        const uint32_t at = slc_pixel_in_tile(pixels->x[row], pixels->y[row]);
        for (; event < head->n_events && head->event_offset[event + 1] <= row; event++) {
            head->event_offset[event + 1] = (uint32_t)to;
        }
        if (tables->mask[tile] != NULL && (tables->mask[tile][at / 8] >> at % 8 & 1) != 0) {
            counts->masked++;
            continue;
        }
        keep(pixels, row, to);
        if (tables->finds_hot) {
            status = count_hit(tables, tile, at, error);
        }
        if (tables->timewalk.is_there || tables->has_phases) {
            slc_io_pixels_correct_time(tables, pixels->x[to], pixels->charge[to], &pixels->time[to],
                                       &counts->uncorrected);
        }
        if (tables->calibrates) {
            calibrate(tables->calibration[tile], at, &pixels->charge[to], &counts->uncalibrated);
        }
        to++;
    }
    for (; event < head->n_events; event++) {
        head->event_offset[event + 1] = (uint32_t)to;
    }
    head->size = to;
    return status;
}
