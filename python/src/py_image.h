/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions on images share: what may be asked of labelling, labellers that are kept, and the
 * results.
 */
#ifndef SLUICE_PYTHON_IMAGE_H
#define SLUICE_PYTHON_IMAGE_H

#include "py_core.h"

#include <sluice/image_volume.h>

/* What is asked of labelling, besides the image. */
typedef struct image_setup {
    slc_image_label_config
        config;               /* its names are constants of the library; of the device: core_setup_config */
    char device[CORE_DEVICE]; /* "": the processor */
    bool inverse;
    bool no_threshold; /* none is given: what is above zero is foreground */
} image_setup;

enum {
    SETUP_CONNECTIVITY,
    SETUP_THRESHOLD,
    SETUP_INVERSE,
    SETUP_MIN_AREA,
    SETUP_MAX_AREA,
    SETUP_BORDER,
    SETUP_THREADS,
    SETUP_ALGORITHM,
    SETUP_DEVICE,
    SETUP_ARGUMENTS
};
#define SETUP_NAMES                                                                                          \
    "connectivity", "threshold", "inverse", "min_area", "max_area", "border", "threads", "algorithm", "device"

/* Of values in the order above, each of which may be NULL or None. False with an error set. */
bool core_setup_take(core_state *state, PyObject *const *values, image_setup *to);
/* Names among image.FEATURES (`most` is SLC_IMAGE_ALL) or image.MEASURES (SLC_IMAGE_MEASURES); NULL or None:
 * area, box and centroid. */
bool core_features_take(core_state *state, PyObject *value, uint32_t most, uint32_t *features);
/* A threshold as pixels of this type are compared with it: floats with a float, as NumPy and the command do.
 */
double core_level(slc_image_type type, double threshold);
/* For an image of a type, with pointers that hold as long as the setup. */
slc_image_label_config core_setup_config(const image_setup *setup, slc_image_type type);

/* ---- labellers ----------------------------------------------------------------------------------- */

/* One that is free, with room for the image, for the configuration: `own` (may be NULL), or one of those that
 * the module keeps, or, if so many threads label at once, one that _give closes. NULL with an error set. All
 * under the interpreter's lock. */
core_labeller *core_labeller_take(core_state *state, core_labeller *own, const slc_image_label_config *config,
                                  size_t width, size_t height);
void core_labeller_give(core_labeller *one);
void core_labeller_close(core_labeller *one);

/* ---- results ------------------------------------------------------------------------------------- */

/* A collection of components and its schema, which depends on the features. */
typedef struct image_found {
    slc_image_components components;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
} image_found;
/* An Owner of an empty one. */
PyObject *core_found_new(core_state *state, uint32_t features, image_found **found);
/* Components of it. */
PyObject *core_components_new(core_state *state, PyObject *owner, const image_found *found);
/* The array of the caller, or a new one; a new reference. `view` is to be released if it is not NULL. */
PyObject *core_label_array(core_state *state, PyObject *out, PyObject *dtype, const slc_image *image,
                           Py_buffer *view, slc_image_labels *side);
/* How many rows to begin with: a few of what there may be. */
size_t core_first_rows(const slc_image *image);

/* (labels, n). `out` and `dtype` may be NULL or None. */
PyObject *core_label(core_state *state, const image_setup *setup, core_labeller *own, PyObject *image,
                     PyObject *out, PyObject *dtype);

/* What is asked of components. */
typedef struct image_wish {
    PyObject *image, *grey, *out, *dtype; /* all but the first may be NULL or None */
    bool labels;
} image_wish;
/* Is it an array of three dimensions? No error is set. */
bool core_is_volume(PyObject *object);
/* What is asked of a volume alone. */
typedef struct volume_wish {
    bool equal;
    uint32_t periodic, largest;
    const char *filter;
} volume_wish;
/* A filter's text, which is the object's, or NULL of None. */
bool core_filter_take(core_state *state, PyObject *value, const char **filter);
/* (labels, n) of a volume; `values` are what the setup was made of. */
PyObject *core_volume_label(core_state *state, const image_setup *setup, const volume_wish *wish,
                            PyObject *image, PyObject *const *values, PyObject *out, PyObject *dtype);
/* Columns of features, or with wish->labels (labels, Columns). */
PyObject *core_volume_components(core_state *state, const image_setup *setup, const volume_wish *wish,
                                 const image_wish *image, PyObject *const *values, uint32_t features);
/* Of names: SLC_VOLUME_SIZE …, among `most`. */
bool core_volume_features_take(core_state *state, PyObject *value, uint32_t most, uint32_t *features);
typedef struct volume_found {
    slc_volume_components components;
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_schema schema;
} volume_found;
/* An Owner of an empty collection. */
PyObject *core_volume_found_new(core_state *state, uint32_t features, volume_found **found);
/* The voxels of an array (z, y, x), or of a slice (y, x); `view` is to be released. False with an error set.
 */
bool core_volume_get(core_state *state, PyObject *object, const char *what, Py_buffer *view, slc_volume *to,
                     bool equal);
/* SLC_VOLUME_PERIODIC_X … of a sequence of axes, "x", "y", "z"; NULL or None: none. */
bool core_periodic_take(core_state *state, PyObject *value, uint32_t *periodic);

/* Columns of setup->config.features, or with `labels` (labels, Columns). */
PyObject *core_components(core_state *state, const image_setup *setup, core_labeller *own,
                          const image_wish *wish);

int core_components_add(PyObject *module, core_state *state);
int core_labeller_add(PyObject *module, core_state *state);
int core_pages_add(PyObject *module, core_state *state);
int core_rows_add(PyObject *module, core_state *state);
int core_slices_add(PyObject *module, core_state *state);
/* A copy of a page, bits as bool. */
PyObject *core_page_array(core_state *state, const slc_image *image);
extern PyMethodDef core_pages_functions[], core_image_run_functions[], core_compat_functions[],
    core_measure_functions[];

#endif
