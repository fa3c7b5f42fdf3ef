/* SPDX-License-Identifier: Apache-2.0
 * Features of label images and volumes: sluice.image.measure. */
#include "py_image.h"

#include <sluice/image_measure.h>
#include <sluice/image_volume.h>

static bool given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

static const char no_grey[] = "grey is of the features 'grey' and 'spread', which are not among features";

/* Of an array without pixels an event without rows. */
static slc_status measure(const slc_image_measure_config *config, const slc_image *labels,
                          const slc_image *grey, image_found *f, slc_error *error)
{
    if (labels->width > 0 && labels->height > 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        const slc_status status = slc_image_measure(config, labels, grey, &f->components, error);
        PyEval_RestoreThread(thread);
        return status;
    }
    const slc_status status = slc_columns_reserve(&f->schema, &f->components, 0, 1);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for the components");
    }
    slc_columns_end_event(&f->components);
    return SLC_OK;
}

static PyObject *measure_all(core_state *state, const slc_image_measure_config *config,
                             const slc_image *labels, const slc_image *grey)
{
    image_found *f = NULL;
    slc_error error = {SLC_OK, ""};
    PyObject *owner = core_found_new(state, config->features, &f);
    if (owner == NULL) {
        return NULL;
    }
    const slc_status status = measure(config, labels, grey, f, &error);
    PyObject *columns = status == SLC_OK ? core_components_new(state, owner, f)
                                         : core_raise(state, status, &error);
    Py_DECREF(owner);
    return columns;
}

/* Of a volume, whose array is not without voxels. */
static PyObject *measure_volume(core_state *state, const slc_volume_measure_config *config,
                                const slc_volume *labels, const slc_volume *grey)
{
    volume_found *f = NULL;
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    PyObject *owner = core_volume_found_new(state, config->features, &f);
    if (owner == NULL) {
        return NULL;
    }
    if (labels->width > 0 && labels->height > 0 && labels->depth > 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_volume_measure(config, labels, grey, &f->components, NULL, &error);
        PyEval_RestoreThread(thread);
    } else if (slc_columns_reserve(&f->schema, &f->components, 0, 1) == SLC_OK) {
        slc_columns_end_event(&f->components);
    } else {
        status = slc_fail(&error, SLC_ERR_MEMORY, "no memory for the components");
    }
    PyObject *columns = status == SLC_OK ? core_columns_new(state, owner, &f->schema, &f->components)
                                         : core_raise(state, status, &error);
    Py_DECREF(owner);
    return columns;
}

static PyObject *volume_of(core_state *state, const slc_volume *labels, PyObject *grey, PyObject *features,
                           unsigned int connectivity)
{
    slc_volume_measure_config config;
    slc_volume values;
    Py_buffer view;
    slc_volume_measure_config_default(&config);
    if (!core_volume_features_take(state, features, SLC_VOLUME_MEASURES, &config.features)) {
        return NULL;
    }
    if (connectivity != 8) {
        PyErr_SetString(state->usage_error,
                        "connectivity is of the feature 'euler', which volumes do not have");
        return NULL;
    }
    if (given(grey) && (config.features & (SLC_VOLUME_GREY | SLC_VOLUME_SPREAD)) == 0) {
        PyErr_SetString(PyExc_TypeError, no_grey);
        return NULL;
    }
    if (!given(grey)) {
        return measure_volume(state, &config, labels, NULL);
    }
    if (!core_volume_get(state, grey, "grey", &view, &values, false)) {
        return NULL;
    }
    PyObject *columns = measure_volume(state, &config, labels, &values);
    PyBuffer_Release(&view);
    return columns;
}

/* image_measure(labels, grey, features, connectivity): see sluice.image.measure. */
static PyObject *image_measure(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *labels, *grey, *features, *columns = NULL;
    unsigned int connectivity;
    slc_image_measure_config config;
    slc_volume volume;
    Py_buffer view;
    core_image values;
    slc_image_measure_config_default(&config);
    if (PyArg_ParseTuple(arguments, "OOOI:measure", &labels, &grey, &features, &connectivity) == 0 ||
        !core_volume_get(state, labels, "labels", &view, &volume, true)) {
        return NULL;
    }
    if (view.ndim == 3) {
        columns = volume_of(state, &volume, grey, features, connectivity);
        PyBuffer_Release(&view);
        return columns;
    }
    if (!core_features_take(state, features, SLC_IMAGE_MEASURES, &config.features)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    config.connectivity = connectivity;
    if (given(grey) && (config.features & (SLC_IMAGE_GREY | SLC_IMAGE_SPREAD)) == 0) {
        PyErr_SetString(PyExc_TypeError, no_grey);
        PyBuffer_Release(&view);
        return NULL;
    }
    const slc_image image = {volume.voxels, volume.width, volume.height, volume.stride, volume.type};
    if (!given(grey)) {
        columns = measure_all(state, &config, &image, NULL);
    } else if (core_image_get(state, grey, "grey", &values)) {
        columns = measure_all(state, &config, &image, &values.image);
        PyBuffer_Release(&values.view);
    }
    PyBuffer_Release(&view);
    return columns;
}

PyMethodDef core_measure_functions[] = {
    {"image_measure", image_measure, METH_VARARGS, "features of label images"}, {NULL, NULL, 0, NULL}};
