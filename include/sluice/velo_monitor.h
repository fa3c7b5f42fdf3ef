/* SPDX-License-Identifier: Apache-2.0
 *
 * What a shifter looks at: how often sensors, chips, columns and pixels are hit, how large clusters are,
 * where collisions are minute by minute, and how many tracks and vertices each bunch crossing has. Beside the
 * chain: results are added in the order of the input, by one thread, so that nothing depends on threads and
 * batches.
 */
#ifndef SLUICE_VELO_MONITOR_H
#define SLUICE_VELO_MONITOR_H

#include <sluice/lhcb.h>
#include <sluice/velo_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_VELO_SENSOR_CHIPS = 3,   /* of a sensor, 256 columns each */
    SLC_VELO_MONITOR_SIZES = 33, /* clusters of 0 (unknown), 1 … 31 pixels, and more */
    SLC_VELO_BUNCHES = 3564,     /* places for bunches in LHC's ring */
    SLC_VELO_MINUTES = 1 << 14,  /* that are kept apart: the earliest */
};
/* A collision must have so many tracks to tell where the beams meet. */
#define SLC_VELO_MONITOR_TRACKS 10.0f

/* Where collisions are, by the vertices of a minute: means, root mean squares about them, and the straight
 * line through them: x = x_mm + slope_x (z - z_mm). Not a number where there are too few (1 for means, 2 for
 * the rest) or all are at one z. */
typedef struct slc_velo_luminous {
    double x_mm, y_mm, z_mm, x_rms_mm, y_rms_mm, z_rms_mm;
    double slope_x, slope_y, slope_x_sigma, slope_y_sigma;
} slc_velo_luminous;

typedef struct slc_velo_minute {
    uint64_t minute; /* GPS time in minutes; 0: nobody tells the time */
    uint64_t events, tracks, primaries;
    uint64_t cut, crowded; /* of the events, as below */
    /* Of vertices with SLC_VELO_MONITOR_TRACKS tracks: how many, and sums over them, mm and mm². */
    uint64_t n;
    double x, y, z, xx, yy, zz, xz, yz;
    slc_velo_luminous region; /* after slc_velo_monitor_judge */
} slc_velo_minute;

typedef struct slc_velo_bunch {
    uint64_t events, tracks, primaries, cut, crowded;
} slc_velo_bunch;

/* A pixel that stands out, and the count that its neighbours make one expect. */
typedef struct slc_velo_odd_pixel {
    uint16_t sensor, column, row;
    uint32_t count;
    float expected;
} slc_velo_odd_pixel;

typedef struct slc_velo_monitor {
    uint64_t events, tracks, primaries;
    /* Of the events those in which no tracks were looked for: a mean is by events - cut - crowded. */
    uint64_t cut, crowded;  /* SLC_VELO_SEARCH_CUT, SLC_VELO_SEARCH_CROWDED */
    uint64_t placed_events; /* whose hits are in a sensor and a column: not those that came as hits, nor
                               those that the global event cut left out before they were decoded */
    uint64_t hits[SLC_VELO_SENSORS][SLC_VELO_SENSOR_CHIPS]; /* clusters */
    uint64_t columns[SLC_VELO_SENSORS][SLC_VELO_COLUMNS];
    uint64_t sizes[SLC_VELO_SENSORS][SLC_VELO_MONITOR_SIZES];
    slc_velo_minute *minutes; /* by rising time */
    uint32_t n_minutes;
    uint64_t later_events;    /* of more minutes than are kept */
    uint64_t no_bunch_events; /* of no bunch crossing: nobody tells it, or there is none of that number */
    slc_velo_bunch bunch[SLC_VELO_BUNCHES];
    /* With `pixels`: pixels of super-pixels, and those that hold the centroid of a read-out's cluster; from
     * sensor, column and row by SLC_VELO_MONITOR_PIXEL. */
    uint32_t *pixel;
    uint64_t pixel_events;
    /* After slc_velo_monitor_judge: by sensor, column, row. `judged` pixels have an expectation at which 0 is
     * too few. */
    slc_velo_odd_pixel *hot, *dead;
    uint64_t n_hot, n_dead, judged;
    uint32_t minute_capacity;
} slc_velo_monitor;

/* With `pixels` every pixel is counted, which takes 164 MB and the time to look at the banks once more. */
SLC_API slc_status slc_velo_monitor_open(bool pixels, slc_velo_monitor **monitor, slc_error *error);
SLC_API void slc_velo_monitor_close(slc_velo_monitor *monitor); /* NULL is allowed */

/* Adds the events of a result. `events` says which they are (NULL, or without rows: no times and bunches).
 * `batch` and `config` are those that the result is of; NULL for events that came as hits. SLC_ERR_USAGE if
 * pixels are counted and the batch does not have the events (slc_flow_config.results_alone). */
SLC_API slc_status slc_velo_monitor_add(slc_velo_monitor *monitor, const slc_velo_config *config,
                                        const slc_batch *batch, const slc_velo_result *result,
                                        const slc_lhcb_events *events, slc_error *error);

/* What is counted so far comes to: the region of each minute, hot and dead pixels. The expectation of a pixel
 * is the mean of the others in the 17 × 17 around it, by their widths, hot ones left out. Hot: more than
 * SLC_VELO_HOT_FACTOR times that, and by chance with a probability below SLC_VELO_HOT_CHANCE (Poisson). Dead:
 * none, where SLC_VELO_DEAD_EXPECTED or more are expected. */
#define SLC_VELO_HOT_FACTOR    3.0
#define SLC_VELO_HOT_CHANCE    1e-10
#define SLC_VELO_DEAD_EXPECTED 20.0
enum { SLC_VELO_MONITOR_AROUND = 8 }; /* pixels to each side */
SLC_API slc_status slc_velo_monitor_judge(slc_velo_monitor *monitor, slc_error *error);

/* The index of a pixel in the counts: the eight of a super-pixel, which are hit together, side by side. */
#define SLC_VELO_MONITOR_PIXEL(sensor, column, row)                                                          \
    ((((size_t)(sensor)*SLC_VELO_SUPERPIXEL_COLUMNS + (column) / 2) * SLC_VELO_SUPERPIXEL_ROWS +             \
      (row) / 4) *                                                                                           \
         8 +                                                                                                 \
     (column) % 2 * 4 + (row) % 4)

#ifdef __cplusplus
}
#endif
#endif
