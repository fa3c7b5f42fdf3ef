/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse pixels: lists of the pixels that were hit, of images that are nearly empty (the modules of a pixel
 * detector, the frames or the endless stream of a Timepix chip), and the clusters made of them: connected
 * components whose cost follows the pixels that were hit, not the area. SparseCCL of A. Hennequin's thesis
 * (2022), section 4.6: ordered (algorithm 24) and, for lists in any order, with a table of rows (section
 * 4.6.2), and `bitmap`, this library's own. pixel_stream.h is for pixels that never end; pixel_sparse.h is
 * the algorithm as a template, for pixels, neighbourhoods and features of one's own.
 */
#ifndef SLUICE_PIXEL_H
#define SLUICE_PIXEL_H

#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The columns that a list of pixels may have besides x and y. */
enum {
    SLC_PIXEL_Z = 1 << 0,      /* a third coordinate */
    SLC_PIXEL_CHARGE = 1 << 1, /* what the pixel measured: charge, ADC counts, time over threshold */
    SLC_PIXEL_TIME = 1 << 2,   /* in ticks of the caller's choice, which may be negative */
    SLC_PIXEL_COLUMNS_ALL = (1 << 3) - 1
};

/* One row is one pixel, one event is one image. A column that a list was not made for is NULL. */
typedef struct slc_pixels {
    slc_columns head;
    uint16_t *x, *y, *z;
    uint32_t *charge;
    int64_t *time;
} slc_pixels;

enum { SLC_PIXEL_COLUMNS = 5 };
/* The schema of a list with x, y and those columns; it points at `columns`, which the caller keeps. */
SLC_API slc_schema slc_pixels_schema(uint32_t with, slc_column columns[SLC_PIXEL_COLUMNS]);

/* What can be asked for of clusters; each brings the columns named. */
enum {
    SLC_PIXEL_SIZE = 1 << 0,     /* size: pixels */
    SLC_PIXEL_BOX = 1 << 1,      /* x_min, y_min, x_max, y_max (z_min, z_max where there is a z) */
    SLC_PIXEL_CENTROID = 1 << 2, /* centroid_x, centroid_y (centroid_z): means of the coordinates */
    SLC_PIXEL_MASS = 1 << 3,     /* mass: sum of the charges; without charges the size */
    SLC_PIXEL_WEIGHTED = 1 << 4, /* weighted_x, weighted_y (weighted_z): means weighted by charge; not a
                                    number where the mass is 0 */
    SLC_PIXEL_TIMES = 1 << 5,    /* first_time, last_time; 0 without times */
    SLC_PIXEL_LARGEST = 1 << 6,  /* largest: index, in its image's list, of the pixel with the largest charge;
                                    of several the first in the list */
    SLC_PIXEL_PEAK = 1 << 7,     /* peak: the largest charge; without charges 1 */
    SLC_PIXEL_SQUARED = 1 << 8,  /* squared_x, squared_y: means weighted by charge²; not a number where the
                                    mass  is 0 */
    SLC_PIXEL_SHAPE = 1 << 9,    /* length, width, linearity, roundness: see below */
    SLC_PIXEL_KIND = 1 << 10,    /* kind: a slc_pixel_kind */
    SLC_PIXEL_FEATURES_ALL = (1 << 11) - 1
};
/* The last three are of x and y alone: lists with a z have no columns of them. Of the covariance of the
 * pixels' coordinates, each pixel a square of side 1 (1/12 is added to both variances), let P >= Q be the
 * eigenvalues: length = sqrt(12 P) and width = sqrt(12 Q), as a rectangle of n x m pixels is n long and m
 * wide; linearity = 1 - Q / P; roundness = size / (4 pi P), 1 of a disc, less of what is long or hollow.
 * Charges do not count. A pixel that a stream or a time window has twice counts twice. */

/* The morphology of tracks in semiconductor pixels, as T. Holy et al. name it (Nucl. Instrum. Methods A 591
 * (2008) 287); the thresholds are this library's: docs/howto/cluster-pixels.md. */
typedef enum slc_pixel_kind {
    SLC_PIXEL_DOT = 0,
    SLC_PIXEL_SMALL_BLOB,
    SLC_PIXEL_CURLY_TRACK,
    SLC_PIXEL_HEAVY_BLOB,
    SLC_PIXEL_HEAVY_TRACK,
    SLC_PIXEL_STRAIGHT_TRACK,
    SLC_PIXEL_KINDS
} slc_pixel_kind;

/* One row is one cluster, one event is one image. Sums are exact in 64 bits and rounded once. */
typedef struct slc_pixel_clusters {
    slc_columns head;
    uint32_t *size;
    uint16_t *x_min, *y_min, *z_min, *x_max, *y_max, *z_max;
    double *centroid_x, *centroid_y, *centroid_z;
    uint64_t *mass;
    double *weighted_x, *weighted_y, *weighted_z;
    int64_t *first_time, *last_time;
    uint32_t *largest, *peak;
    double *squared_x, *squared_y;
    double *length, *width, *linearity, *roundness;
    uint16_t *kind;
} slc_pixel_clusters;

enum { SLC_PIXEL_CLUSTER_COLUMNS = 25 };
/* `with` is that of the pixels: it decides about the columns of z. */
SLC_API slc_schema slc_pixel_clusters_schema(uint32_t features, uint32_t with,
                                             slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS]);
/* "size", "box" …; NULL for anything that is not one feature. */
SLC_API const char *slc_pixel_feature_name(uint32_t feature);

/* ---- clusters of images ------------------------------------------------------------------------ */

/* What becomes of two entries of a list with the same coordinates. Without a time window they are one pixel:
 * what it measured is the sum (saturated at 2^32 - 1), the first one's in the list, or the largest; its time
 * is the earliest with SUM and that of the entry taken otherwise. KEEP counts every entry, as does every
 * clustering with a time window, where the same pixel may be hit again. */
typedef enum slc_pixel_duplicates {
    SLC_PIXEL_DUPLICATES_SUM = 0,
    SLC_PIXEL_DUPLICATES_FIRST,
    SLC_PIXEL_DUPLICATES_LARGEST,
    SLC_PIXEL_DUPLICATES_KEEP,
    SLC_PIXEL_DUPLICATES
} slc_pixel_duplicates;

typedef enum slc_pixel_order {
    SLC_PIXEL_ORDER_ANY = 0, /* lists may come in any order */
    SLC_PIXEL_ORDER_RASTER /* by (z,) y, then x, not falling; found false, it is an error, not a wrong result
                            */
} slc_pixel_order;

typedef struct slc_pixel_cluster_config {
    size_t size;            /* of this struct; set by _config_default */
    uint16_t width, height; /* coordinates are below; 0 is 65536 */
    uint32_t with;          /* SLC_PIXEL_Z …: the columns of the lists */
    /* Who is adjacent. connectivity 4 or 8 (6, 18 or 26 with z); 0: |dx|, |dy| (and |dz|) <= radius. */
    uint32_t connectivity, radius;
    /* With SLC_PIXEL_TIME: adjacent pixels also have |dt| <= time_window; negative: time does not matter. */
    int64_t time_window;
    slc_pixel_duplicates duplicates;
    slc_pixel_order order;
    uint32_t features; /* sum of SLC_PIXEL_SIZE …; 0: labels alone */
    const char
        *algorithm; /* NULL or "auto": the fastest for the configuration; names: slc_pixel_algorithm_name */
    slc_exec exec;  /* images are dealt out to its threads, default 1; this processor alone */
} slc_pixel_cluster_config;
/* 8-connected, no time window, SUM, any order, SLC_PIXEL_SIZE | BOX | CENTROID | MASS, one thread. */
SLC_API void slc_pixel_cluster_config_default(slc_pixel_cluster_config *config, size_t size);
#define slc_pixel_cluster_config_default(config) slc_pixel_cluster_config_default(config, sizeof *(config))

/* Names of the algorithms from 0: "ordered", "row-table", "flood-map", "flood-rows", "union-find", "bitmap";
 * NULL after the last. All give the same clusters in the same order. "flood-map" and "bitmap" cannot do
 * every configuration (src/pixel/README.md); opening one that they cannot do is SLC_ERR_UNSUPPORTED. */
SLC_API const char *slc_pixel_algorithm_name(size_t algorithm);

typedef struct slc_pixel_clusterer slc_pixel_clusterer;
SLC_API slc_status slc_pixel_cluster_open(const slc_pixel_cluster_config *config,
                                          slc_pixel_clusterer **clusterer, slc_error *error);
SLC_API void slc_pixel_cluster_close(slc_pixel_clusterer *clusterer); /* NULL is allowed */

/* Makes room for images of up to so many pixels, and so many images in a call. */
SLC_API slc_status slc_pixel_cluster_reserve(slc_pixel_clusterer *clusterer, size_t pixels_of_image,
                                             size_t images, slc_error *error);

/* Clusters every image (event) of `pixels`. Clusters of an image come in the raster order of their first
 * pixel, (z,) y, x; with a time window in the order of their first pixel in the list; the same on every
 * target, with every algorithm and number of threads, and, but for `largest`, whatever the order of the list
 * (without a time window). `labels` (NULL: none) has room for all pixels and gets for each the number, from
 * 0, of its cluster in its image. `clusters` (NULL: none), made for the configuration's features, is reset
 * and gets one event for each image.
 *
 * SLC_ERR_USAGE for lists without the columns, or larger than reserved; SLC_ERR_FORMAT for a pixel outside of
 * width and height or a list that is not in the order promised: the text names the image and the pixel, and
 * nothing is written. SLC_ERR_CAPACITY if `clusters` has too few rows (one for each pixel always do).
 * Allocates nothing. One thread at a time for one clusterer. */
SLC_API slc_status slc_pixel_cluster_run(slc_pixel_clusterer *clusterer, const slc_pixels *pixels,
                                         uint32_t *labels, slc_pixel_clusters *clusters, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
