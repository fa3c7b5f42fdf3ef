/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks of pixels: text with a pixel a line, read, and written with the hot ones that were found.
 * docs/formats/pixel-tables.md.
 */
#include "io/io_output.h"
#include "io/pixel/io_pixel_tables.h"
#include "pixel/pixel_hot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------ */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r')) {
        at++;
    }
    return at;
}

/* Numbers of a line: 0 of an empty one, 2; else -1. */
static int take_line(const char *at, const char *end, uint32_t number[2])
{
    int n = 0;
    for (at = skip_blanks(at, end); at < end && *at != '#'; at = skip_blanks(at, end)) {
        uint32_t value = 0;
        if (n == 2 || *at < '0' || *at > '9') {
            return -1;
        }
        for (; at < end && *at >= '0' && *at <= '9' && value <= UINT16_MAX; at++) {
            value = 10 * value + (uint32_t)(*at - '0');
        }
        if (value > UINT16_MAX || (at < end && strchr(" \t,\r#", *at) == NULL)) {
            return -1;
        }
        number[n++] = value;
    }
    return n == 1 ? -1 : n;
}

slc_status slc_io_pixels_mask_parse(const char *text, size_t size, const char *name,
                                    slc_io_pixels_tables *tables, slc_error *error)
{
    const char *at = text, *end = text + size;
    slc_status status = SLC_OK;
    if (size == 0) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: line 1: the file is empty: a mask has a line for each pixel", name);
    }
    for (size_t line = 1; at < end && status == SLC_OK; line++) {
        uint32_t number[2];
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) { /* "12 34" may have been "12 345" */
            return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: the last line has no end: the file is cut",
                            name, line);
        }
        const int n = take_line(at, newline, number);
        if (n < 0) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: line %zu: a masked pixel is two whole numbers from 0 to 65535, x and y",
                            name, line);
        }
        status = n == 2 ? slc_io_pixels_mask_put(tables, number[0], number[1], error) : SLC_OK;
        at = newline + 1;
    }
    return status;
}

/* ---- hot pixels --------------------------------------------------------------------------------- */

typedef struct judging {
    uint8_t hot[SLC_PIXEL_HOT_ALL];
    float expected[SLC_PIXEL_HOT_ALL];
    uint32_t most;
} judging;

static void write_tile(const slc_io_pixels_tables *tables, uint32_t tile, judging *j, FILE *stream,
                       slc_io_pixels_hot *told)
{
    for (uint32_t i = 0; i < SLC_PIXEL_TILE_ALL; i++) {
        const uint32_t x = tile % SLC_PIXEL_TILE * SLC_PIXEL_TILE + i % SLC_PIXEL_TILE,
                       y = tile / SLC_PIXEL_TILE * SLC_PIXEL_TILE + i / SLC_PIXEL_TILE;
        const uint32_t hits = tables->hits[tile] != NULL ? tables->hits[tile][i] : 0;
        told->judged += hits;
        if (j->hot[i] == 1) {
            (void)fprintf(stream, "%" PRIu32 " %" PRIu32 "\n", x, y);
            told->masked++;
        } else if (j->hot[i] == 2) {
            (void)fprintf(stream, "%" PRIu32 " %" PRIu32 " # %" PRIu32 " hits, %.3g expected\n", x, y, hits,
                          (double)j->expected[i]);
            told->masked++;
            told->pixels++;
            told->hits += hits;
            if (hits > j->most) {
                j->most = hits;
                told->x = (uint16_t)x;
                told->y = (uint16_t)y;
            }
        }
    }
}

static slc_status write_tiles(const slc_io_pixels_tables *tables, FILE *stream, slc_io_pixels_hot *told)
{
    judging *j = calloc(1, sizeof *j);
    slc_status status = j != NULL ? SLC_OK : SLC_ERR_MEMORY;
    for (uint32_t tile = 0; tile < SLC_PIXEL_TILE_ALL && status == SLC_OK; tile++) {
        const uint8_t *mask = tables->mask[tile];
        if (mask == NULL && tables->hits[tile] == NULL) {
            continue;
        }
        for (uint32_t i = 0; i < SLC_PIXEL_TILE_ALL; i++) {
            j->hot[i] = mask != NULL ? (uint8_t)(mask[i / 8] >> i % 8 & 1) : 0;
        }
        status = tables->hits[tile] != NULL ? slc_pixel_hot_find(tables->hits[tile], j->hot, j->expected)
                                            : SLC_OK;
        if (status == SLC_OK) {
            write_tile(tables, tile, j, stream, told);
        }
    }
    free(j);
    return status;
}

slc_status slc_io_pixels_tables_write_mask(slc_io_pixels_tables *tables, const char *path,
                                           slc_io_pixels_hot *told, slc_error *error)
{
    slc_io_output output;
    slc_status status = slc_io_output_open(&output, path, error);
    *told = (slc_io_pixels_hot){.pixels = 0};
    if (status != SLC_OK) {
        return status;
    }
    (void)fprintf(output.stream, "# masked pixels: x y, chip k of a .tpx3 file from x = 256 k\n");
    status = write_tiles(tables, output.stream, told);
    if (status != SLC_OK) {
        slc_io_output_abandon(&output);
        return slc_fail(error, status, "%s: no memory to look for hot pixels", path);
    }
    return slc_io_output_commit(&output, error);
}
