/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the readers of pixels: what is known of single pixels. The plane of 65536 x 65536 is cut into tiles
 * of 256 x 256, the size of a chip, and there is memory for those of which anything is known.
 */
#ifndef SLUICE_IO_PIXEL_TABLES_H
#define SLUICE_IO_PIXEL_TABLES_H

#include <sluice/io_pixel.h>

enum {
    SLC_PIXEL_TILE = 256,
    SLC_PIXEL_TILE_ALL = 256 * 256, /* pixels of a tile, and tiles of the plane */
    SLC_PIXEL_TILES = 256           /* with calibrations, and with counts: as many as a readout has chips */
};

/* ToT = a E + b - c / (E - t), E in keV. a is not above 0 where there is none. */
typedef struct slc_pixel_calibration {
    double a, b, c, t;
} slc_pixel_calibration;

/* A delay for a ToT, in ns. */
typedef struct slc_pixel_delay {
    double tot, ns;
} slc_pixel_delay;

#define SLC_PIXEL_LONGEST_NS 1e6
#define SLC_PIXEL_NO_DELAY   INT64_MIN
enum { SLC_PIXEL_USUAL_TOT = 1 << 12 };

typedef struct slc_pixel_timewalk {
    bool is_there, is_fit;
    double c, d; /* of a fit: c / (ToT - d) */
    slc_pixel_delay *points;
    size_t n;
    double tick_ns; /* of the file at hand, and delays in its ticks */
    int64_t usual[SLC_PIXEL_USUAL_TOT];
} slc_pixel_timewalk;

struct slc_io_pixels_tables {
    bool calibrates, finds_hot, has_phases;
    slc_pixel_timewalk timewalk;
    uint64_t n_masked, n_calibrated;
    uint64_t n_settled;  /* of n_calibrated: of files that are read */
    const char *of_chip; /* the file at hand, of that chip alone; NULL: of all */
    uint32_t chip;
    uint32_t n_calibration_tiles, n_hit_tiles;
    uint8_t *mask[SLC_PIXEL_TILE_ALL]; /* of a tile: a bit a pixel */
    slc_pixel_calibration *calibration[SLC_PIXEL_TILE_ALL];
    uint32_t *hits[SLC_PIXEL_TILE_ALL];
};

static inline uint32_t slc_pixel_tile_of(uint32_t x, uint32_t y)
{
    return y / SLC_PIXEL_TILE * SLC_PIXEL_TILE + x / SLC_PIXEL_TILE;
}

static inline uint32_t slc_pixel_in_tile(uint32_t x, uint32_t y)
{
    return y % SLC_PIXEL_TILE * SLC_PIXEL_TILE + x % SLC_PIXEL_TILE;
}

/* One more pixel. */
slc_status slc_io_pixels_mask_put(slc_io_pixels_tables *tables, uint32_t x, uint32_t y, slc_error *error);
slc_status slc_io_pixels_calibration_put(slc_io_pixels_tables *tables, uint32_t x, uint32_t y,
                                         const slc_pixel_calibration *of, slc_error *error);
/* SLC_END if the pixel was put by this before. */
slc_status slc_io_pixels_calibration_put_once(slc_io_pixels_tables *tables, uint32_t x, uint32_t y,
                                              const slc_pixel_calibration *of, slc_error *error);

/* Files; of memory, `name` stands in messages, and a zero follows the text. */
slc_status slc_io_pixels_mask_parse(const char *text, size_t size, const char *name,
                                    slc_io_pixels_tables *tables, slc_error *error);
/* Of a list, or of 1 array. */
slc_status slc_io_pixels_calibration_parse(const char *text, size_t size, const char *name,
                                           slc_io_pixels_tables *tables, slc_error *error);
/* Of four matrices, a, b, c and t. */
slc_status slc_io_pixels_calibration_parse_four(const char *const text[4], const size_t size[4],
                                                const char *const name[4], slc_io_pixels_tables *tables,
                                                slc_error *error);
slc_status slc_io_pixels_calibration_read(const char *path, slc_io_pixels_tables *tables, slc_error *error);

/* The energy of a ToT in eV, rounded; false where there is none, or none from 0 to 2^32 - 1 eV. */
bool slc_pixel_energy(const slc_pixel_calibration *calibration, uint32_t tot, uint32_t *ev);

/* Of a fit or a file; of memory. */
slc_status slc_io_pixels_timewalk_read(const char *text, slc_io_pixels_tables *tables, slc_error *error);
slc_status slc_io_pixels_timewalk_parse(const char *text, size_t size, const char *name,
                                        slc_io_pixels_tables *tables, slc_error *error);
/* Once for each file; then of each of its pixels, in place. `uncorrected` counts those without a delay. */
void slc_io_pixels_timewalk_begin(slc_io_pixels_tables *tables, double tick_seconds);
void slc_io_pixels_correct_time(const slc_io_pixels_tables *tables, uint32_t x, uint32_t tot, int64_t *time,
                                uint64_t *uncorrected);
/* The delay of a ToT; false where a fit has none: up to d. */
bool slc_pixel_delay_of(const slc_pixel_timewalk *walk, uint32_t tot, double *ns);

/* What is known, to pixels and events from `first` and `event` on. */
slc_status slc_io_pixels_tables_run(slc_io_pixels_tables *tables, slc_pixels *pixels, size_t first,
                                    uint32_t event, slc_io_pixels_counts *counts, slc_error *error);

#endif
