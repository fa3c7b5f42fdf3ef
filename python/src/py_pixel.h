/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse pixels: what functions over arrays and flows over files share.
 */
#ifndef SLUICE_PYTHON_PIXEL_H
#define SLUICE_PYTHON_PIXEL_H

#include "py_flow.h"

/* Whole numbers of any width, with or without a sign, in an object with a 1-D buffer, converted to uint16,
 * uint32 or int64. `n` SIZE_MAX: as many as there are, which it becomes. The memory is the caller's, free();
 * NULL with a TypeError or UsageError that names the argument. */
void *pixel_take(core_state *state, PyObject *object, const char *name, slc_type type, size_t *n);

/* Who is adjacent, and what clusters have: connectivity, radius, features and duplicates of arguments. */
enum {
    PIXEL_CONNECTIVITY,
    PIXEL_RADIUS,
    PIXEL_DUPLICATES,
    PIXEL_FEATURES,
    PIXEL_ALGORITHM,
    PIXEL_SHAPE,
    PIXEL_CHOICES
};
/* `values` in that order. *sized: a shape was given. */
bool pixel_choose(core_state *state, PyObject *const *values, slc_pixel_cluster_config *config, bool *sized);

/* A time as it was given. */
typedef struct duration {
    bool given, in_ticks;
    double seconds;
    int64_t ticks;
} duration;

typedef struct pixel_setup {
    slc_pixel_cluster_config config;
    slc_flow_pixel_setup flow;
    slc_io_pixels_options options; /* of reading alone */
    slc_io_pixels_layout layout;
    uint8_t chips[SLC_IO_PIXELS_CHIPS / 8];
    slc_io_pixels_tables *tables; /* or NULL */
    duration window, disorder;
    bool sorted, times_asked, has_mask;
    bool decided, has_times; /* by the first input: without times no features of them */
    /* Of the input at hand. */
    slc_io_pixels_counts counts;
    slc_flow_pixel_totals totals;
    /* Of all. */
    uint64_t pixels, clusters, damaged, outside, late, outliers, resets, early, untimed, skipped, empty,
        rounded, unread;
    uint64_t triggers, lost_triggers, repeated, unordered, before, not_accepted, no_edges, other_chips,
        filtered, masked, uncalibrated, uncorrected;
    char filter[512];
} pixel_setup;

typedef struct pixel_labels {
    slc_columns head; /* the pixels' */
    const uint32_t *label;
} pixel_labels;

typedef struct pixel_since {
    slc_columns head; /* the clusters' */
    const int64_t *shot;
    const double *since_trigger_ns;
} pixel_since;

typedef struct pixel_member_since {
    slc_columns head; /* the members' */
    const double *since_trigger_ns;
} pixel_member_since;

typedef struct pixel_energies {
    slc_columns head; /* the clusters' */
    const double *energy_kev;
} pixel_energies;

/* What an item's columns are, in its own memory. */
typedef struct pixel_user {
    uint32_t features, with;
    slc_schema pixels, clusters;
    pixel_labels labels;
    pixel_since since;
    pixel_member_since member_since;
    pixel_energies energies;
    slc_column pixel_columns[SLC_PIXEL_COLUMNS], cluster_columns[SLC_PIXEL_CLUSTER_COLUMNS];
} pixel_user;

void pixel_know_columns(pixel_user *user, uint32_t features, uint32_t with);

/* Of core_chain, for both flows. */
void pixel_faults(const slc_flow_item *item, slc_faults *into);
/* What of a file was not read, and what was assumed. */
void pixel_tell_reading(const slc_io_pixels_counts *counts, bool has_mask, const char *path,
                        core_lines *lines);
void pixel_end(running *r, const slc_flow_item *end, core_lines *lines);
bool pixel_totals(const running *r, PyObject *dict);
slc_status pixel_judge(const running *r, const pixel_setup *s, const slc_flow_item *item, slc_error *error);
void pixel_free(void *setup);
/* Arguments layout, chips, mask, calibration, timewalk, column_phase, in that order, into the setup of both
 * flows. */
enum { PIXEL_LAYOUT, PIXEL_CHIPS, PIXEL_MASK, PIXEL_CALIBRATION, PIXEL_TIMEWALK, PIXEL_PHASE, PIXEL_PLACES };
bool pixel_take_places(core_state *state, PyObject *const *values, pixel_setup *s);
PyObject *pixel_about(const slc_io_pixels_info *about);

/* py_pixel_flow.c, py_pixel_mask.c, py_pixel_read.c */
PyObject *pixel_write_mask(PyObject *module, PyObject *arguments);
PyObject *pixel_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *pixel_open_clusters(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
/* py_pixel_stream.c */
PyObject *pixel_stream_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *pixel_stream_push(PyObject *module, PyObject *const *arguments, Py_ssize_t n);
PyObject *pixel_stream_finish(PyObject *module, PyObject *stream);
PyObject *pixel_stream_counts(PyObject *module, PyObject *stream);

#endif
