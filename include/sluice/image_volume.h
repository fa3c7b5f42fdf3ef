/* SPDX-License-Identifier: Apache-2.0
 *
 * Connected components of volumes: images of three dimensions, as they come from tomographs and microscopes.
 * A component is a largest set of foreground voxels that are joined by steps to one of 6 (faces), 18 (faces
 * and edges) or 26 (faces, edges and corners) neighbours.
 *
 * Or components of equal values: of voxels that have the same value, not 0, as in label images that other
 * programs made.
 *
 * x counts columns, y rows, z slices, from 0. Labels are consecutive from 1, in the raster order of each
 * component's first voxel (first slice first, in a slice the top row, in a row from the left); 0 is
 * background. So every instruction set and number of threads gives the same labels, bit for bit.
 */
#ifndef SLUICE_IMAGE_VOLUME_H
#define SLUICE_IMAGE_VOLUME_H

#include <sluice/image_label.h>
#include <sluice/image_mask.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A volume of the caller's. Row y of slice z begins at (const char *)voxels + z · slice_stride + y · stride;
 * strides may be larger than what they step over, and negative. Width, height and depth are from 1 to
 * 2^32 - 2. Nothing beside the voxels of a row is ever read, but for the other bits of the byte that holds
 * the last one of a row of bits. */
typedef struct slc_volume {
    const void *voxels;
    size_t width, height, depth;
    ptrdiff_t stride, slice_stride; /* bytes; slice_stride is not used of a single slice */
    slc_image_type type;
} slc_volume;

/* ---- features ---------------------------------------------------------------------------------- */

enum {
    SLC_VOLUME_SIZE = 1 << 0,      /* volume */
    SLC_VOLUME_BOX = 1 << 1,       /* x_min, y_min, z_min, x_max, y_max, z_max */
    SLC_VOLUME_FIRST = 1 << 2,     /* first_x, first_y, first_z */
    SLC_VOLUME_SUMS = 1 << 3,      /* sum_x, sum_y, sum_z: first moments */
    SLC_VOLUME_SECOND = 1 << 4,    /* sum_xx, sum_xy, sum_xz, sum_yy, sum_yz, sum_zz: second moments */
    SLC_VOLUME_CENTROID = 1 << 5,  /* x, y, z */
    SLC_VOLUME_ALL = (1 << 6) - 1, /* these, which places of voxels alone tell */
    /* These are of grey values, as of images: image_analyse.h and image_measure.h tell what they are. */
    SLC_VOLUME_GREY = 1 << 6,          /* mass, weighted_x, weighted_y, weighted_z, grey_min, grey_max */
    SLC_VOLUME_SPREAD = 1 << 7,        /* grey_mean, grey_std */
    SLC_VOLUME_LABEL = 1 << 8,         /* label: of label volumes alone, slc_volume_measure */
    SLC_VOLUME_MEASURES = (1 << 9) - 1 /* all */
};

/* The name of a single feature, "volume", "box", … "grey", "spread", "label"; NULL for anything else. */
SLC_API const char *slc_volume_feature_name(uint32_t feature);

/* One row is one component, one event is one volume. A column that was not asked for is NULL. Sums are about
 * the volume's origin and exact: a volume is refused with SLC_ERR_UNSUPPORTED where they might not fit 64
 * bits (the number of voxels times the largest side, or its square for second moments). The centroid is
 * computed from exact sums, by one formula. Sums of integer grey values are exact and rounded once, of float
 * ones they are made in raster order in double precision; grey_std is the root of the mean squared distance
 * from the mean, of integers computed from exact sums, of floats summed in raster order. A value that is not
 * a number spoils the sums of its component alone, and is ignored for the extremes; the weighted centroid is
 * not a number where the mass is 0. */
typedef struct slc_volume_components {
    slc_columns head;
    uint64_t *volume;                                        /* voxels */
    uint32_t *x_min, *y_min, *z_min, *x_max, *y_max, *z_max; /* inclusive */
    uint32_t *first_x, *first_y, *first_z;                   /* the first voxel in raster order */
    uint64_t *sum_x, *sum_y, *sum_z;
    uint64_t *sum_xx, *sum_xy, *sum_xz, *sum_yy, *sum_yz, *sum_zz;
    double *x, *y, *z; /* centroid */
    double *mass, *weighted_x, *weighted_y, *weighted_z, *grey_min, *grey_max;
    double *grey_mean, *grey_std;
    uint32_t *label;
} slc_volume_components;

/* All columns of slc_volume_components, in the order of the struct. */
SLC_API extern const slc_schema slc_volume_components_all;
enum { SLC_VOLUME_COLUMNS = 31 };

/* The schema of the columns that some features bring, written into an array of the caller's, which must live
 * as long as the schema is used. */
SLC_API slc_schema slc_volume_components_schema(uint32_t features, slc_column columns[SLC_VOLUME_COLUMNS]);

/* ---- labelling --------------------------------------------------------------------------------- */

/* Borders that are joined: voxels of the first and the last column, row or slice are neighbours, as if the
 * volume were repeated on and on. Coordinates stay those of the volume: the box of a component that goes over
 * such a border is mostly as wide as the volume, and its sums and centroid are those of its voxels where they
 * are stored. */
enum {
    SLC_VOLUME_PERIODIC_X = 1 << 0,
    SLC_VOLUME_PERIODIC_Y = 1 << 1,
    SLC_VOLUME_PERIODIC_Z = 1 << 2,
    SLC_VOLUME_PERIODIC_ALL = (1 << 3) - 1
};

typedef struct slc_volume_config {
    size_t size;           /* of this struct; set by _config_default */
    uint32_t connectivity; /* 6, 18 or 26 */
    double threshold;      /* voxels at or above it are foreground; not used for bits. 1 of 8 bits: not 0 */
    bool equal;            /* components of voxels of one value that is not 0, of every type but f32; there is
                              no threshold then */
    uint32_t features;     /* sum of SLC_VOLUME_SIZE …: the columns wanted of every component; 0 is none */
    slc_exec exec;         /* threads (default 1) and instruction set; the device is this processor */
    uint32_t periodic;     /* sum of SLC_VOLUME_PERIODIC_X …: borders that are joined; default 0 */
    /* Components that are kept; the others become background, and labels are numbered without them. Those
     * with so many voxels (from min_volume, not above max_volume) ... */
    uint64_t min_volume, max_volume;
    slc_image_border
        border; /* ... that have a voxel in the first or last column, row or slice, or none;
                   where borders are joined there is none, nor above and below a single slice ... */
    const char
        *filter;      /* ... for which this holds, "volume>=20 && z_max<40": columns of components, wanted or
                         not, up to 16 terms with commas or && between; NULL: all; not kept after _open ... */
    uint32_t largest; /* ... and of these so many with most voxels, of equal ones the first; 0: all; not of a
                         stream */
    bool inverse;     /* components of the background: of voxels below the threshold, of 6 neighbours where
                         connectivity is 18 or 26, and of 26 where it is 6, so that none crosses one of the
                         foreground; not `equal` */
} slc_volume_config;

/* 26-connected, threshold 1, no features, one thread, no border joined, all components kept. */
SLC_API void slc_volume_config_default(slc_volume_config *config, size_t size);
#define slc_volume_config_default(config) slc_volume_config_default(config, sizeof *(config))

/* Holds the configuration, working memory and threads. One thread at a time may use one labeller. */
typedef struct slc_volume_labeller slc_volume_labeller;

/* SLC_ERR_USAGE for a configuration that is not as told above (the text names the field), SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_open(const slc_volume_config *config, slc_volume_labeller **labeller,
                                   slc_error *error);
/* NULL is allowed. */
SLC_API void slc_volume_close(slc_volume_labeller *labeller);

/* What is wanted. Members up to `components` are set by the caller. */
typedef struct slc_volume_labels {
    /* Where labels go, rows and slices as those of a volume. They may not overlap the volume, nor each other.
     * NULL: none are made. */
    uint32_t *labels;
    ptrdiff_t stride, slice_stride; /* bytes, multiples of 4; may be negative */
    /* Where features go, one row for each component in the order of the labels, appended as one event. Made
     * for config.features with slc_volume_components_schema; it grows as is needed. NULL: none. */
    slc_volume_components *components;
    uint32_t n_labels; /* out: how many components there are, of those that are kept */
} slc_volume_labels;

/* Labels a volume. Working memory (about a bit and a half for every voxel, and 8 bytes for every run of
 * voxels that touches none before it) grows on demand and stays for the next volume.
 *
 * SLC_ERR_USAGE for a volume or output that is not as told above. SLC_ERR_UNSUPPORTED for a volume that may
 * have more runs than 32 bits can number (more than 2^33 voxels or so), and for sums that may not fit 64
 * bits. SLC_ERR_MEMORY. After an error outputs are as they were. */
SLC_API slc_status slc_volume_run(slc_volume_labeller *labeller, const slc_volume *volume,
                                  slc_volume_labels *out, slc_error *error);

/* The same, with grey values for SLC_VOLUME_GREY and SLC_VOLUME_SPREAD, and for what the filter says of their
 * columns: `grey` has the volume's sides, and voxels of up to 32 bits, floats or bits, in any layout. With
 * NULL, and with slc_volume_run, they are the volume's own. They are not looked at where nothing asks for
 * them. One thread sums them. SLC_ERR_USAGE for others. */
SLC_API slc_status slc_volume_run_grey(slc_volume_labeller *labeller, const slc_volume *volume,
                                       const slc_volume *grey, slc_volume_labels *out, slc_error *error);

/* Labels of slices [first, first + n) of the volume that was run last, as that run makes them, of which
 * out->labels was mostly NULL: so that they can go on slice by slice and are never in memory as a whole. Only
 * labels and strides of `out` are used, components are NULL. The volume's voxels are not looked at, they may
 * be gone. As fast as in one go where `first` and n are even. SLC_ERR_USAGE: no such slices, no volume yet or
 * one that was refused, a layout as is not right of a volume's labels. */
SLC_API slc_status slc_volume_slices(slc_volume_labeller *labeller, size_t first, size_t n,
                                     const slc_volume_labels *out, slc_error *error);

/* How many components of the volume that was run last were not kept. */
SLC_API uint32_t slc_volume_filtered(const slc_volume_labeller *labeller);

/* ---- label volumes ----------------------------------------------------------------------------- */

typedef struct slc_volume_measure_config {
    size_t size;       /* of this struct; set by _config_default */
    uint32_t features; /* sum of SLC_VOLUME_SIZE … SLC_VOLUME_LABEL */
    const char
        *filter; /* rows for which this holds, as in slc_volume_config, also with `label`; NULL: all ... */
    uint32_t largest; /* ... and of these so many with most voxels, of equal ones those of the smaller
                         labels; 0: all */
} slc_volume_measure_config;

/* SLC_VOLUME_LABEL alone, all rows. */
SLC_API void slc_volume_measure_config_default(slc_volume_measure_config *config, size_t size);
#define slc_volume_measure_config_default(config) slc_volume_measure_config_default(config, sizeof *(config))

/* Features of the regions of a label volume, whoever made it, as slc_image_measure has them of images:
 * appends an event with a row for each value of `labels` that is not 0, rising, whether its voxels are
 * connected or not, to `components`, which is made for config->features and grows as is needed. `labels` is
 * of u8, u16, u32, bits or u64; `grey`, of the same sides, is as for slc_volume_run_grey, and may be NULL
 * where nothing asks for its values. `filtered` (may be NULL): how many rows were not kept.
 *
 * Takes memory for the runs of equal labels (12 bytes each). SLC_ERR_USAGE for what is not as told,
 * SLC_ERR_UNSUPPORTED for a label beyond 32 bits, for labels that are floats, for sums that may not fit 64
 * bits; SLC_ERR_MEMORY. The collection is as it was then. Several threads may measure at once, into
 * collections of their own. */
SLC_API slc_status slc_volume_measure(const slc_volume_measure_config *config, const slc_volume *labels,
                                      const slc_volume *grey, slc_volume_components *components,
                                      uint32_t *filtered, slc_error *error);

/* ---- slices as they come ----------------------------------------------------------------------- */

/* Components of a volume that is pushed slice by slice, and may be larger than the memory: what is kept are
 * the runs of two slices (of three with a periodic z) and the sums of components that are open. One thread at
 * a time. */
typedef struct slc_volume_stream slc_volume_stream;

/* Of slices that have the width, height and type of `shape`, whose other members are not looked at. The
 * config is that of a labeller, with one thread. `checksum`: NULL, or what _finish sets: H of
 * slc_columns_checksum for an event that has all components of the volume. SLC_ERR_USAGE, SLC_ERR_MEMORY,
 * SLC_ERR_UNSUPPORTED for slices of more than 2^30 voxels. */
SLC_API slc_status slc_volume_stream_open(const slc_volume_config *config, const slc_volume *shape,
                                          uint64_t *checksum, slc_volume_stream **stream, slc_error *error);
/* NULL is allowed. */
SLC_API void slc_volume_stream_close(slc_volume_stream *stream);

/* Takes one or more slices. `closed`, made for config.features, gets, appended to its current event, the
 * components that have ended: those that have no voxel in the last slice taken, nor, with a periodic z, in
 * the first one. They come in the order of the slice that ended them, and of those that one slice ended, in
 * the order of their first voxels; it grows as is needed. SLC_ERR_USAGE for slices that are not as told
 * above, SLC_ERR_UNSUPPORTED where sums over all slices so far may not fit 64 bits: nothing was taken. After
 * SLC_ERR_MEMORY the stream is of no use. */
SLC_API slc_status slc_volume_stream_push(slc_volume_stream *stream, const slc_volume *slices,
                                          slc_volume_components *closed, slc_error *error);

/* The same with the grey values of these slices, of their sides, as for slc_volume_run_grey: those of a
 * volume have one type. What is computed of integers is what a labeller computes. Of floats the parts of a
 * component that are joined by a later slice are summed apart and then added, with a spread about the mean of
 * each (Chan and others): the same whatever number of slices is pushed at once, and mostly not that of a
 * labeller in the last bits. SLC_ERR_USAGE for others. */
SLC_API slc_status slc_volume_stream_push_grey(slc_volume_stream *stream, const slc_volume *slices,
                                               const slc_volume *grey, slc_volume_components *closed,
                                               slc_error *error);

/* The volume has ended: the components that are still open, in the order of their first voxels. The stream
 * may then take another volume, whose slices count from 0. A component in the last slice touches the border.
 */
SLC_API slc_status slc_volume_stream_finish(slc_volume_stream *stream, slc_volume_components *closed,
                                            slc_error *error);

/* How many components of the volume at hand, or of the one that ended last, were not kept so far. */
SLC_API uint64_t slc_volume_stream_filtered(const slc_volume_stream *stream);

/* ---- slices that are with several -------------------------------------------------------------- */

/* A volume whose slices are with several (processes, machines), as slabs: number 0 first, those without
 * slices at the end. As of images (image_label.h, "an image whose rows are with several"): each labels its
 * slab as a volume of its own, with the features SLC_VOLUME_ALL and nothing left out, and where borders of x
 * or y are joined also with these (with those of z the last slice of all is above the first slab's); then
 *
 *     slc_volume_join_slices(last slice above, first slice, ...)    gives joins of its upper border; all get
 * all slc_image_join_pieces(joins, of slabs with slices)            the same pieces everywhere; all get rows
 *     slc_volume_join_number(...)                                   map and n_labels of the slab, and numbers
 *     slc_volume_join_largest, slc_volume_join_sift                 where so many with most voxels are kept
 *
 * and the rest as there. mpi/mpi_label_slab.c does it. */

/* Two slices, one straight before the other, without gaps between rows. */
typedef struct slc_volume_join_border {
    const uint32_t *above, *below; /* their labels, each of its slab */
    size_t width, height;
    /* That of the labels: of a background 6 where the foreground has 18 or 26, and 26 where it has 6. */
    uint32_t connectivity;
    uint32_t periodic; /* borders of x and y that are joined; z is not looked at */
    /* Of components of equal values: their voxels, in rows of slc_image_row_bytes. Else NULL. */
    const void *values_above, *values_below;
    slc_image_type type;
} slc_volume_join_border;

/* The joins of a border; each once, rising. *joins is the caller's to free. SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_join_slices(const slc_volume_join_border *border, slc_image_join **joins,
                                          uint64_t *n, slc_error *error);

/* What the grey values of one component in one slab add up to, to be sent as bytes. */
typedef struct slc_volume_grey_part {
    uint64_t words[18];
} slc_volume_grey_part;

/* Those of labels 1 to n_labels of a slab, into parts[0] to parts[n_labels - 1]. `labels` are of u32, `grey`
 * has their sides; slices count from first_slice. SLC_ERR_USAGE for others, SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_grey_parts(const slc_volume *labels, uint32_t n_labels, const slc_volume *grey,
                                         uint64_t first_slice, slc_volume_grey_part *parts, slc_error *error);

/* The features that a configuration's columns and filters are of, so that one knows whether there are such of
 * grey values. SLC_ERR_USAGE for a filter that is none. */
SLC_API slc_status slc_volume_config_needs(const slc_volume_config *config, uint32_t *features,
                                           slc_error *error);

typedef struct slc_volume_join_slab {
    size_t width, height, depth; /* of the whole volume */
    uint32_t n_slabs, slab;
    const uint64_t *first_slice; /* of each slab, in the volume */
    uint32_t n_found;            /* labels of this slab */
    const slc_image_piece *pieces;
    uint64_t n_pieces;
    /* The slab's components as they were found, and a row for each piece as it was found in its slab: columns
     * of SLC_VOLUME_ALL, which are changed. */
    slc_volume_components *found, *of_pieces;
    /* The same of their grey values; NULL where neither features nor the filter are of such. Of floats those
     * of pieces are what slc_volume_grey_carry made. */
    const slc_volume_grey_part *grey_found, *grey_of_pieces;
    bool grey_floats;
} slc_volume_join_slab;

/* Sums of floats hang on their order, which is that of the whole's voxels. So those of components that are in
 * several slabs go from slab to slab: each adds its own voxels to `sums`, which has an entry for each piece,
 * set by slab 0, and hands it on; what the last one with slices has is the whole's, in the entries of roots.
 * Then once more with `spread`, from those, for SLC_VOLUME_SPREAD. Labels and grey values are as for
 * slc_volume_grey_parts; of `slab` what pieces are, and no rows. SLC_ERR_USAGE, SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_grey_carry(const slc_volume_join_slab *slab, const slc_volume *labels,
                                         const slc_volume *grey, bool spread, slc_volume_grey_part *sums,
                                         slc_error *error);

/* As slc_image_join_number: adds up what pieces have, leaves out what the filters of `config` (not `largest`)
 * do, and numbers the components whose first voxel is in this slab from 1 on. Rows of those that are kept are
 * appended to the current event of `components`, with the columns of config->features, not SLC_VOLUME_LABEL;
 * it grows as is needed. SLC_ERR_UNSUPPORTED also for sums that may not fit 64 bits. */
SLC_API slc_status slc_volume_join_number(const slc_volume_config *config, const slc_volume_join_slab *slab,
                                          uint32_t *map, uint32_t *numbers, uint32_t *n_labels,
                                          slc_volume_components *components, uint32_t *filtered,
                                          slc_error *error);

/* Of n components, in the order of their slabs and numbers, with so many voxels each: which are the `largest`
 * with most, of equal ones the first; 1 or 0 into `keeps`. What is among the largest of all is among those of
 * its slab, so that only these need to be sent. SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_join_largest(const uint64_t *volumes, size_t n, uint32_t largest,
                                           uint8_t *keeps, slc_error *error);

/* After slc_volume_join_number, with what it set: of the slab's components those stay whose byte in `keeps`
 * is not 0, one for each number from 1 to *n_labels, and are numbered anew. `components`, made for
 * `features`, has their rows and no others; it may be NULL. SLC_ERR_MEMORY. */
SLC_API slc_status slc_volume_join_sift(const slc_volume_join_slab *slab, const uint8_t *keeps, uint32_t *map,
                                        uint32_t *numbers, uint32_t *n_labels, uint32_t features,
                                        slc_volume_components *components, slc_error *error);

/* ---- foreground -------------------------------------------------------------------------------- */

/* Makes the foreground of a volume as rows of bits, as slc_image_mask_make does of an image: row y of slice z
 * begins at (char *)mask + z · slice_stride + y · stride. Connectivity, borders that are joined, threads and
 * instruction set are those of `config`, and all else is that of `rule`; `within` has the sides of the
 * volume. Hysteresis and holes are those of the volume: holes are background of 6 neighbours, or of 26 where
 * the foreground has 6, without a voxel in the first or last column, row or slice (where that is not joined);
 * max_hole_area counts voxels; `inverse` is not looked at. Local thresholds are those of each slice. Memory,
 * with hysteresis or holes, is that of a labeller. SLC_ERR_USAGE for `equal`; else as slc_image_mask_make. */
SLC_API slc_status slc_volume_mask_make(const slc_volume_config *config, const slc_image_mask_config *rule,
                                        const slc_volume *volume, const slc_volume *within, void *mask,
                                        ptrdiff_t stride, ptrdiff_t slice_stride, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
