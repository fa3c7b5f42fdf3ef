/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters in space and time of pixels that never end (Timepix): pixels come nearly in the order of time, and
 * clusters leave when nothing can join them any more. Memory is bounded by the pixels in a time window.
 *
 * Times are not trusted blindly, as one flipped bit would make all good pixels late:
 *
 * A pixel that lies more than `disorder` after the latest one, and the first one of a stream, is held back
 * until the next pixel comes. If that one is not older than the held one's time less the disorder, there was
 * a pause, which is normal, and the held one is taken; if it is older, the held one is an outlier and left
 * out. At the end of the stream a held one is taken.
 *
 * Where 64 pixels in a row are late for the latest one, but none of them is late for another of them that
 * came before it, the clock was set back (a reset at the begin of a run, or outliers that came one after the
 * other). Then everything open is closed as by finish, and the stream begins anew with
 * these 64. Clusters come out in the order of time within each such stretch, and none spans two. Pixels left
 * out as outliers or as outside do not interrupt the row; one that is taken does.
 */
#ifndef SLUICE_PIXEL_STREAM_H
#define SLUICE_PIXEL_STREAM_H

#include <sluice/pixel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pixel_stream_config {
    size_t size;            /* of this struct; set by _config_default */
    uint16_t width, height; /* coordinates are below; 0 is 65536, which costs nothing that is not hit */
    uint32_t radius;        /* adjacent: |dx|, |dy| <= radius, 1 to 8; connectivity 4 where it is 0 */
    int64_t time_window;    /* … and |dt| <= this many ticks; 0 or more */
    int64_t disorder;       /* a pixel's time may lie so many ticks before the latest one's; older pixels are
                               counted and left out, if the clock was not set back (see above) */
    uint32_t features;      /* sum of SLC_PIXEL_SIZE …; `largest` counts pixels from the stream's begin,
                               mod 2^32, also where the clock was set back */
    uint32_t max_open;      /* pixels that can be waiting, 1 to 2^28: memory is reserved for them, some 200
                               bytes each. Where more are, the oldest clusters are closed early, and counted. */
    slc_exec exec;          /* its target and threads: results do not depend on them. With 2 or more (0: one
                               for each processor) pixels are joined in a thread of its own, while the caller's
                               puts the next ones in order: clusters come out some pixels later, and all with
                               finish. A child of fork() does not have that thread. */
    bool members;           /* the pixels of clusters come out, too (slc_pixel_stream_members); 40 more bytes
                               for each that is waiting, and one thread */
} slc_pixel_stream_config;
/* Radius 1, window 64 ticks, disorder 4096 ticks, 256 x 256, size, box, centroid, mass, weighted and times,
 * 2^20 pixels, the fastest target, no members. */
SLC_API void slc_pixel_stream_config_default(slc_pixel_stream_config *config, size_t size);
#define slc_pixel_stream_config_default(config) slc_pixel_stream_config_default(config, sizeof *(config))

typedef struct slc_pixel_stream slc_pixel_stream;
SLC_API slc_status slc_pixel_stream_open(const slc_pixel_stream_config *config, slc_pixel_stream **stream,
                                         slc_error *error);
SLC_API void slc_pixel_stream_close(slc_pixel_stream *stream); /* NULL is allowed */

/* What was left out or done early, since the stream was opened. */
typedef struct slc_pixel_stream_counts {
    uint64_t pixels, clusters;
    uint64_t outside;  /* pixels outside of width and height */
    uint64_t late;     /* pixels older than disorder allows; those that show that the clock was set back are
                          taken after all, and taken off again here */
    uint64_t early;    /* clusters closed because max_open pixels were waiting */
    uint64_t outliers; /* pixels whose time lay in the future, as the next pixel told */
    uint64_t resets;   /* how often the clock was set back */
} slc_pixel_stream_counts;
SLC_API slc_pixel_stream_counts slc_pixel_stream_count(const slc_pixel_stream *stream);

/* Takes pixels first … first + n - 1 of the list (columns x, y, time, and charge where there is one).
 * Clusters that nothing can join any more are appended to `closed` (made for the features), in the order of
 * their first pixel's time, then y, x, within each stretch of the clock. `closed` is filled only as far as it
 * has room: then SLC_ERR_CAPACITY, and *taken tells how many pixels were taken (may be NULL); go on with the
 * others. Clusters do not depend on how the stream is cut into pushes. Allocates nothing, but for a sensor
 * of more than 2^20 pixels, whose table grows with the chips that pixels come from: SLC_ERR_MEMORY where
 * there is none, and *taken is as above. */
SLC_API slc_status slc_pixel_stream_push(slc_pixel_stream *stream, const slc_pixels *pixels, size_t first,
                                         size_t n, slc_pixel_clusters *closed, size_t *taken,
                                         slc_error *error);
/* The end: the clusters that are still open. SLC_ERR_CAPACITY: empty `closed` and call again (a push before
 * that is SLC_ERR_USAGE). Afterwards the stream is as it was opened, but for its counts. */
SLC_API slc_status slc_pixel_stream_finish(slc_pixel_stream *stream, slc_pixel_clusters *closed,
                                           slc_error *error);

/* Pixels of clusters: an event is a cluster, and event e has the pixels of row e of the clusters that came
 * out with it, in the order of time, y, x. */
typedef struct slc_pixel_members {
    slc_columns head;
    uint16_t *x, *y;
    uint32_t *charge; /* 1 where the list has none */
    int64_t *time;
    uint64_t *pixel; /* number in the stream, from 0; those left out count */
} slc_pixel_members;
SLC_API extern const slc_schema slc_pixel_members_schema;
/* With config.members, before the first push: where pixels go. They are the caller's, who reserves rows and
 * events: each push and finish appends an event for each row that it appends to `closed`, and where the
 * pixels of the next cluster do not fit is SLC_ERR_CAPACITY, with room left in `closed`: then make more, at
 * last for max_open + 1. */
SLC_API void slc_pixel_stream_members(slc_pixel_stream *stream, slc_pixel_members *members);

#ifdef __cplusplus
}
#endif
#endif
