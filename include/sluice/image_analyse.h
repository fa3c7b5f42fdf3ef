/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of connected components (CCA), and components of images that come row by row.
 *
 * Coordinates are those of pixel centres: x is the column and y the row, both from 0, y downwards.
 */
#ifndef SLUICE_IMAGE_ANALYSE_H
#define SLUICE_IMAGE_ANALYSE_H

#include <sluice/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- features ---------------------------------------------------------------------------------- */

/* What can be asked for; each brings the columns named. Area, box and first moments are summed together, so
 * that one of them costs as much as all of them; so does the first pixel, a little more. Second moments,
 * perimeter, Euler number and grey sums each cost work of their own, in one thread, and nothing where they
 * are not asked for. */
enum {
    SLC_IMAGE_AREA = 1 << 0,       /* area */
    SLC_IMAGE_BOX = 1 << 1,        /* x_min, y_min, x_max, y_max */
    SLC_IMAGE_FIRST = 1 << 2,      /* first_x, first_y */
    SLC_IMAGE_SUMS = 1 << 3,       /* sum_x, sum_y: first moments */
    SLC_IMAGE_SECOND = 1 << 4,     /* sum_xx, sum_xy, sum_yy: second moments */
    SLC_IMAGE_PERIMETER = 1 << 5,  /* perimeter */
    SLC_IMAGE_EULER = 1 << 6,      /* euler */
    SLC_IMAGE_CENTROID = 1 << 7,   /* x, y */
    SLC_IMAGE_SHAPE = 1 << 8,      /* orientation, eccentricity, major, minor */
    SLC_IMAGE_GREY = 1 << 9,       /* mass, weighted_x, weighted_y, grey_min, grey_max */
    SLC_IMAGE_ALL = (1 << 10) - 1, /* these, which are summed while an image is labelled */
    /* These need the label image: slc_image_measure (image_measure.h). */
    SLC_IMAGE_LABEL = 1 << 10,         /* label */
    SLC_IMAGE_FORM = 1 << 11,          /* extent, diameter, roundness */
    SLC_IMAGE_HULL = 1 << 12,          /* convex_area, solidity */
    SLC_IMAGE_FERET = 1 << 13,         /* feret_max, feret_min, feret_outline */
    SLC_IMAGE_CROFTON = 1 << 14,       /* crofton_2, crofton_4, circularity */
    SLC_IMAGE_SPREAD = 1 << 15,        /* grey_mean, grey_std */
    SLC_IMAGE_MEASURES = (1 << 16) - 1 /* all */
};

/* The name of a single feature, "area", "box" …, for the command line; NULL for anything else. */
SLC_API const char *slc_image_feature_name(uint32_t feature);

/* One row is one component, one event is one image. A column that was not asked for is NULL. Counts and sums
 * are exact; derived numbers are computed in double precision from exact sums, by one formula, so they too
 * are the same everywhere.
 *
 * Moments of order two are about the image's origin. They are exact while an image's largest side s and its
 * number of pixels n satisfy n · s² < 2^64; a larger image is refused with SLC_ERR_UNSUPPORTED if they (or
 * the shape) are asked for.
 *
 * Shape: that of the ellipse with the component's second central moments, a pixel being a unit square (1/12
 * is added to both variances). orientation is the angle from the x axis to the major axis, in (-pi/2, pi/2],
 * positive from x towards y (clockwise on a screen), 0 where the moments are isotropic; eccentricity is
 * sqrt(1 - minor²/major²); major and minor are the full axes, four standard deviations.
 *
 * The perimeter is the number of pixel edges between the component and what is not of it, the image's border
 * included: of a single pixel 4. The Euler number is 1 minus the number of holes, a hole being a background
 * component of the other connectivity that does not reach the image's border.
 *
 * Grey: mass is the sum of the values, the weighted centroid the mean of the coordinates weighted by them
 * (not a number where the mass is 0). Of integer images the sums are exact in 64 bits and rounded once; the
 * same limit as for second moments holds with s · (largest value of the type) in the place of s². Of float
 * images they are summed in raster order in double precision; a value that is not a number spoils the sums of
 * its component alone, and is ignored for the extremes. */
typedef struct slc_image_components {
    slc_columns head;
    uint64_t *area;                          /* pixels */
    uint32_t *x_min, *y_min, *x_max, *y_max; /* inclusive */
    uint32_t *first_x, *first_y;             /* the first pixel in raster order */
    uint64_t *sum_x, *sum_y;
    uint64_t *sum_xx, *sum_xy, *sum_yy;
    uint64_t *perimeter;
    int64_t *euler;
    double *x, *y; /* centroid */
    double *orientation, *eccentricity, *major, *minor;
    double *mass, *weighted_x, *weighted_y, *grey_min, *grey_max;
    uint32_t *label; /* this and those below as image_measure.h tells */
    double *extent, *diameter, *roundness;
    uint64_t *convex_area; /* pixels */
    double *solidity;
    double *feret_max, *feret_min, *feret_outline;
    double *crofton_2, *crofton_4, *circularity;
    double *grey_mean, *grey_std;
} slc_image_components;

/* All columns of slc_image_components, in the order of the struct. */
SLC_API extern const slc_schema slc_image_components_all;
enum { SLC_IMAGE_COLUMNS = 39 };

/* The schema of the columns that some features bring, written into an array of the caller's, which must live
 * as long as the schema is used. The functions of base.h on collections then reach these columns alone. */
SLC_API slc_schema slc_image_components_schema(uint32_t features, slc_column columns[SLC_IMAGE_COLUMNS]);

/* ---- rows as they come ------------------------------------------------------------------------- */

typedef struct slc_image_stream_config {
    size_t size; /* of this struct; set by _config_default */
    size_t width;
    slc_image_type type;
    slc_image_type grey_type; /* of the rows for SLC_IMAGE_GREY */
    uint32_t connectivity;    /* 4 or 8 */
    double threshold;         /* as in slc_image_label_config */
    uint32_t features;
    uint64_t min_area, max_area; /* as in slc_image_label_config */
    bool inverse;                /* components of the background; connectivity is then theirs */
    uint64_t *checksum; /* NULL, or what _finish sets: H of slc_columns_checksum for an event that has all
                           components of the image, in however many pieces they came */
} slc_image_stream_config;

/* 8-connected, threshold 1, no features, nothing dropped, u8; the width is left to set. */
SLC_API void slc_image_stream_config_default(slc_image_stream_config *config, size_t size);
#define slc_image_stream_config_default(config) slc_image_stream_config_default(config, sizeof *(config))

/* Components of an image that is pushed row by row and may be endless: memory is bounded by the width. One
 * thread at a time. */
typedef struct slc_image_stream slc_image_stream;

SLC_API slc_status slc_image_stream_open(const slc_image_stream_config *config, slc_image_stream **stream,
                                         slc_error *error);
SLC_API void slc_image_stream_close(slc_image_stream *stream);

/* Takes up to n_rows rows. `closed`, made for config.features (SLC_ERR_USAGE if it has other columns),
 * gets, appended to its current event, the components that have ended: those that have no pixel in the last
 * row taken. They come in the order of the row that ended them, and of those that one row ended, in the order
 * of their first pixels. `grey` (NULL: the rows themselves) and its stride are as in slc_image_label_run. A
 * row is taken only while `closed` has room for (width + 1) / 2 components; where it has not,
 * SLC_ERR_CAPACITY, and *taken tells how many rows were (may be NULL). No rows are lost: push the others
 * again. Rows are counted in 32 bits; sums wrap at 64 bits where an endless component reaches them. Of float
 * grey images, sums of parts of a component that meet later are added to each other, so the last digits may
 * differ from those of slc_image_label_run. Allocates nothing. */
SLC_API slc_status slc_image_stream_push(slc_image_stream *stream, const void *rows, ptrdiff_t stride,
                                         const void *grey, ptrdiff_t grey_stride, size_t n_rows,
                                         slc_image_components *closed, size_t *taken, slc_error *error);

/* The image has ended: the components that are still open, in the order of their first pixels. The stream may
 * then take another image, whose rows count from 0. */
SLC_API slc_status slc_image_stream_finish(slc_image_stream *stream, slc_image_components *closed,
                                           slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
