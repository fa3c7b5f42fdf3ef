/* SPDX-License-Identifier: Apache-2.0
 * Volumes: labels of arrays of three dimensions, (z, y, x). */
#include "py_image.h"

#include <sluice/image_volume.h>

static const char taken[] =
    "an array of three dimensions (z, y, x) of bool, uint8, uint16, uint32 or float32, "
    "C-contiguous along its rows";

bool core_is_volume(PyObject *object)
{
    Py_buffer view;
    if (!PyObject_CheckBuffer(object) ||
        PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    const bool is = view.ndim == 3;
    PyBuffer_Release(&view);
    return is;
}

/* Rows whose elements lie one after the other; strides of rows and slices are multiples of an element. */
static bool is_plain(const char *what, const Py_buffer *view)
{
    const Py_ssize_t size = view->itemsize, *strides = view->strides, *shape = view->shape;
    const bool is = view->suboffsets == NULL && (shape[2] <= 1 || strides[2] == size) &&
                    ((uintptr_t)view->buf | (shape[1] > 1 ? (uintptr_t)strides[1] : 0) |
                     (shape[0] > 1 ? (uintptr_t)strides[0] : 0)) %
                            (uintptr_t)size ==
                        0;
    if (!is) {
        PyErr_Format(PyExc_TypeError,
                     "%s has strides of %zd, %zd and %zd bytes for elements of %zd, or is not aligned; it is "
                     "to be %s (numpy.ascontiguousarray makes such a one)",
                     what, strides[0], strides[1], strides[2], size, taken);
    }
    return is;
}

/* A stride that is right of an axis of one element, too. */
static ptrdiff_t stride_of(const Py_buffer *view, int axis)
{
    if (view->shape[axis] > 1) {
        return view->strides[axis];
    }
    return axis == 1 ? view->shape[2] * view->itemsize : view->shape[1] * stride_of(view, 1);
}

static bool take_volume(core_state *state, PyObject *object, Py_buffer *view, slc_volume *to)
{
    if (!core_buffer_get(state, object, "image", PyBUF_STRIDES | PyBUF_FORMAT, taken, view)) {
        return false;
    }
    slc_image_type type = SLC_IMAGE_U8;
    const bool known = core_pixel_type(view, &type);
    if (!known) {
        PyErr_Format(PyExc_TypeError, "image has elements of the format '%s'; it is to be %s",
                     view->format != NULL ? view->format : "B", taken);
    }
    if (!known || !is_plain("image", view)) {
        PyBuffer_Release(view);
        return false;
    }
    *to = (slc_volume){.voxels = view->buf,
                       .width = (size_t)view->shape[2],
                       .height = (size_t)view->shape[1],
                       .depth = (size_t)view->shape[0],
                       .stride = stride_of(view, 1),
                       .slice_stride = stride_of(view, 0),
                       .type = type};
    return true;
}

/* The array of the caller, or a new one. */
static PyObject *take_labels(core_state *state, PyObject *out, const slc_volume *volume, Py_buffer *view,
                             slc_volume_labels *to)
{
    static const char wanted[] =
        "a writable array of the volume's shape, of int32 or uint32, C-contiguous along "
        "its rows";
    PyObject *array = out != NULL && out != Py_None ? Py_NewRef(out)
                      : core_numpy(state)
                          ? PyObject_CallFunction(state->empty, "(nnn)O", (Py_ssize_t)volume->depth,
                                                  (Py_ssize_t)volume->height, (Py_ssize_t)volume->width,
                                                  state->label_dtype)
                          : NULL;
    if (array == NULL ||
        !core_buffer_get(state, array, "out", PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE, wanted, view)) {
        Py_XDECREF(array);
        return NULL;
    }
    const bool is_32 = core_signed_or_not(view);
    bool good = view->ndim == 3 && is_32;
    if (!good) {
        PyErr_Format(PyExc_TypeError, "out has %d dimensions of the format '%s'; it is to be %s", view->ndim,
                     view->format != NULL ? view->format : "B", wanted);
    }
    good = good && is_plain("out", view);
    if (good && ((size_t)view->shape[0] != volume->depth || (size_t)view->shape[1] != volume->height ||
                 (size_t)view->shape[2] != volume->width)) {
        PyErr_Format(PyExc_TypeError, "out has the shape (%zd, %zd, %zd), the volume (%zu, %zu, %zu)",
                     view->shape[0], view->shape[1], view->shape[2], volume->depth, volume->height,
                     volume->width);
        good = false;
    }
    if (!good) {
        PyBuffer_Release(view);
        Py_CLEAR(array);
        return NULL;
    }
    to->labels = view->buf;
    to->stride = stride_of(view, 1);
    to->slice_stride = stride_of(view, 0);
    return array;
}

/* The status of labelling, without the interpreter's lock. */
static slc_status run(const slc_volume_config *config, const slc_volume *volume, slc_volume_labels *out,
                      slc_error *error)
{
    slc_volume_labeller *labeller = NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    slc_status status = slc_volume_open(config, &labeller, error);
    status = status == SLC_OK ? slc_volume_run(labeller, volume, out, error) : status;
    slc_volume_close(labeller);
    PyEval_RestoreThread(thread);
    return status;
}

/* What images have and volumes have not. */
static bool refuse_others(const core_state *state, PyObject *const *values, PyObject *dtype)
{
    static const struct {
        int value;
        const char *name;
    } others[] = {{SETUP_INVERSE, "inverse"}, {SETUP_MIN_AREA, "min_area"},   {SETUP_MAX_AREA, "max_area"},
                  {SETUP_BORDER, "border"},   {SETUP_ALGORITHM, "algorithm"}, {SETUP_DEVICE, "device"}};
    const char *name = dtype != NULL && dtype != Py_None ? "dtype" : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && name == NULL; i++) {
        PyObject *value = values[others[i].value];
        name = value != NULL && value != Py_None ? others[i].name : NULL;
    }
    if (name != NULL) {
        PyErr_Format(state->usage_error,
                     "%s is of images of two dimensions; a volume has connectivity, "
                     "threshold, threads and out",
                     name);
    }
    return name == NULL;
}

PyObject *core_volume_label(core_state *state, const image_setup *setup, bool equal, PyObject *image,
                            PyObject *const *values, PyObject *out, PyObject *dtype)
{
    slc_volume_config config;
    slc_volume volume;
    slc_volume_labels to = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    Py_buffer view, out_view;
    if (equal && !core_is_volume(image)) {
        PyErr_SetString(PyExc_TypeError,
                        "equal is of arrays of three dimensions (z, y, x): image[None] is one of "
                        "a single slice");
        return NULL;
    }
    if (equal && !setup->no_threshold) {
        PyErr_SetString(state->usage_error, "equal and threshold exclude each other");
        return NULL;
    }
    if (!refuse_others(state, values, dtype) || !take_volume(state, image, &view, &volume)) {
        return NULL;
    }
    slc_volume_config_default(&config);
    if (values[SETUP_CONNECTIVITY] != NULL && values[SETUP_CONNECTIVITY] != Py_None) {
        config.connectivity = setup->config.connectivity;
    }
    config.threshold = core_setup_config(setup, volume.type).threshold;
    config.equal = equal;
    config.exec.threads = setup->config.exec.threads;
    config.exec.target = setup->config.exec.target;
    PyObject *array = take_labels(state, out, &volume, &out_view, &to), *result = NULL;
    if (array != NULL) {
        const bool empty = volume.width == 0 || volume.height == 0 || volume.depth == 0;
        const slc_status status = empty ? SLC_OK : run(&config, &volume, &to, &error);
        PyBuffer_Release(&out_view);
        result = status < 0 ? core_raise(state, status, &error)
                            : Py_BuildValue("(OI)", array, (unsigned)to.n_labels);
        Py_DECREF(array);
    }
    PyBuffer_Release(&view);
    return result;
}
