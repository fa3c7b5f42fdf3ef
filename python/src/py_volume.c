/* SPDX-License-Identifier: Apache-2.0
 * Volumes: labels of arrays of three dimensions, (z, y, x). */
#include "py_image.h"

#include <sluice/image_volume.h>

#include <string.h>

static const char taken[] =
    "an array of three dimensions (z, y, x) of bool, uint8, uint16, uint32 or float32, "
    "C-contiguous along its rows";
static const char taken_equal[] =
    "an array of two or three dimensions, (z, y, x), of bool or integers, C-contiguous along its rows";

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

/* The last axes are rows and columns; an array of two has one slice. */
static Py_ssize_t shape_of(const Py_buffer *view, int axis)
{
    return view->ndim == 3 ? view->shape[axis] : axis == 0 ? 1 : view->shape[axis - 1];
}

/* Rows whose elements lie one after the other; strides of rows and slices are multiples of an element. */
static bool is_plain(const char *what, const Py_buffer *view, const char *wanted)
{
    const Py_ssize_t size = view->itemsize;
    const int last = view->ndim - 1;
    bool is = view->suboffsets == NULL && (uintptr_t)view->buf % (uintptr_t)size == 0 &&
              (view->shape[last] <= 1 || view->strides[last] == size);
    for (int axis = 0; axis < last; axis++) {
        is = is && (view->shape[axis] <= 1 || view->strides[axis] % size == 0);
    }
    if (!is) {
        PyErr_Format(
            PyExc_TypeError,
            "%s has strides of rows that are not contiguous (the last is %zd bytes for elements of %zd), "
            "or is not aligned; it is to be %s (numpy.ascontiguousarray makes such a one)",
            what, view->strides[last], size, wanted);
    }
    return is;
}

/* A stride that is right of an axis of one element, too. */
static ptrdiff_t stride_of(const Py_buffer *view, int axis)
{
    if (shape_of(view, axis) > 1) {
        return view->strides[axis + view->ndim - 3];
    }
    return axis == 1 ? shape_of(view, 2) * view->itemsize : shape_of(view, 1) * stride_of(view, 1);
}

/* What is in the buffer, which is released where it is none. `flat`: of two dimensions, too. */
static bool describe(Py_buffer *view, const char *what, bool equal, bool flat, const char *wanted,
                     slc_volume *to)
{
    slc_image_type type = SLC_IMAGE_U8;
    const bool shaped = view->ndim == 3 || (flat && view->ndim == 2);
    const bool known = shaped && (equal ? core_value_type(view, &type) : core_pixel_type(view, &type));
    if (!known) {
        PyErr_Format(PyExc_TypeError, "%s has %d dimensions and elements of the format '%s'; it is to be %s",
                     what, view->ndim, view->format != NULL ? view->format : "B", wanted);
    }
    if (!known || !is_plain(what, view, wanted)) {
        PyBuffer_Release(view);
        return false;
    }
    *to = (slc_volume){.voxels = view->buf,
                       .width = (size_t)shape_of(view, 2),
                       .height = (size_t)shape_of(view, 1),
                       .depth = (size_t)shape_of(view, 0),
                       .stride = stride_of(view, 1),
                       .slice_stride = stride_of(view, 0),
                       .type = type};
    return true;
}

static bool take_volume(core_state *state, PyObject *object, bool equal, Py_buffer *view, slc_volume *to)
{
    const char *wanted = equal ? taken_equal : taken;
    return core_buffer_get(state, object, "image", PyBUF_STRIDES | PyBUF_FORMAT, wanted, view) &&
           describe(view, "image", equal, equal, wanted, to);
}

/* As a volume is taken, of its slices one, or several. */
bool core_volume_get(core_state *state, PyObject *object, const char *what, Py_buffer *view, slc_volume *to,
                     bool equal)
{
    static const char wanted[] = "a slice (y, x) or slices (z, y, x) of bool, uint8, uint16, uint32 or "
                                 "float32 (with equal: of bool or "
                                 "integers), C-contiguous along the rows";
    if (!core_buffer_get(state, object, what, PyBUF_STRIDES | PyBUF_FORMAT, wanted, view)) {
        return false;
    }
    return describe(view, what, equal, true, wanted, to);
}

bool core_periodic_take(core_state *state, PyObject *value, uint32_t *periodic)
{
    static const char *const axes[] = {"x", "y", "z"};
    PyObject *list = value != NULL && value != Py_None ? PySequence_List(value) : PyList_New(0);
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : -1;
    *periodic = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyList_GetItem(list, i);
        uint32_t axis = 0;
        while (axis < 3 &&
               (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, axes[axis]) != 0)) {
            axis++;
        }
        if (axis == 3 || (*periodic >> axis & 1) != 0) {
            PyErr_Format(state->usage_error, "periodic has %R%s; it takes 'x', 'y' and 'z', each once", name,
                         axis < 3 ? " twice" : "");
            Py_DECREF(list);
            return false;
        }
        *periodic |= (uint32_t)1 << axis;
    }
    Py_XDECREF(list);
    return n >= 0;
}

static PyObject *new_labels(core_state *state, const Py_buffer *image)
{
    if (!core_numpy(state)) {
        return NULL;
    }
    return image->ndim == 3 ? PyObject_CallFunction(state->empty, "(nnn)O", image->shape[0], image->shape[1],
                                                    image->shape[2], state->label_dtype)
                            : PyObject_CallFunction(state->empty, "(nn)O", image->shape[0], image->shape[1],
                                                    state->label_dtype);
}

static bool has_shape_of(const Py_buffer *view, const Py_buffer *image)
{
    bool has = view->ndim == image->ndim;
    for (int axis = 0; axis < image->ndim && has; axis++) {
        has = view->shape[axis] == image->shape[axis];
    }
    return has;
}

/* The array of the caller, or a new one. */
static PyObject *take_labels(core_state *state, PyObject *out, const Py_buffer *image, Py_buffer *view,
                             slc_volume_labels *to)
{
    static const char wanted[] =
        "a writable array of the volume's shape, of int32 or uint32, C-contiguous along "
        "its rows";
    PyObject *array = out != NULL && out != Py_None ? Py_NewRef(out) : new_labels(state, image);
    if (array == NULL ||
        !core_buffer_get(state, array, "out", PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE, wanted, view)) {
        Py_XDECREF(array);
        return NULL;
    }
    bool good = view->ndim == image->ndim && core_signed_or_not(view);
    if (!good) {
        PyErr_Format(PyExc_TypeError, "out has %d dimensions of the format '%s'; it is to be %s", view->ndim,
                     view->format != NULL ? view->format : "B", wanted);
    }
    good = good && is_plain("out", view, wanted);
    if (good && !has_shape_of(view, image)) {
        PyErr_Format(PyExc_TypeError, "out has the shape (%zd, %zd, %zd), the volume (%zd, %zd, %zd)",
                     shape_of(view, 0), shape_of(view, 1), shape_of(view, 2), shape_of(image, 0),
                     shape_of(image, 1), shape_of(image, 2));
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
static slc_status run(const slc_volume_config *config, const slc_volume *volume, const slc_volume *grey,
                      slc_volume_labels *out, slc_error *error)
{
    slc_volume_labeller *labeller = NULL;
    PyThreadState *const thread = PyEval_SaveThread();
    slc_status status = slc_volume_open(config, &labeller, error);
    status = status == SLC_OK ? slc_volume_run_grey(labeller, volume, grey, out, error) : status;
    slc_volume_close(labeller);
    PyEval_RestoreThread(thread);
    return status;
}

static bool is_empty(const slc_volume *volume)
{
    return volume->width == 0 || volume->height == 0 || volume->depth == 0;
}

/* What images have and volumes have not. */
static bool refuse_others(const core_state *state, PyObject *const *values, PyObject *dtype)
{
    static const struct {
        int value;
        const char *name;
    } others[] = {{SETUP_ALGORITHM, "algorithm"}, {SETUP_DEVICE, "device"}};
    const char *name = dtype != NULL && dtype != Py_None ? "dtype" : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && name == NULL; i++) {
        PyObject *value = values[others[i].value];
        name = value != NULL && value != Py_None ? others[i].name : NULL;
    }
    if (name != NULL) {
        PyErr_Format(state->usage_error,
                     "%s is of images of two dimensions; a volume has connectivity, "
                     "threshold, inverse, min_area, max_area, border, filter, largest, threads and out",
                     name);
    }
    return name == NULL;
}

bool core_filter_take(core_state *state, PyObject *value, const char **filter)
{
    Py_ssize_t n = 0;
    *filter = NULL;
    if (value == NULL || value == Py_None) {
        return true;
    }
    const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &n) : NULL;
    if (text == NULL || memchr(text, 0, (size_t)n) != NULL) {
        PyErr_Clear();
        PyErr_Format(state->usage_error, "filter is to be terms as 'area>=20 && z_min>0', not %R", value);
        return false;
    }
    *filter = text;
    return true;
}

/* What the labeller is told of the volume in `view`. */
static bool make_config(core_state *state, const image_setup *setup, const volume_wish *wish,
                        PyObject *const *values, const Py_buffer *view, const slc_volume *volume,
                        slc_volume_config *config)
{
    const uint32_t given = setup->config.connectivity;
    slc_volume_config_default(config);
    if (values[SETUP_CONNECTIVITY] != NULL && values[SETUP_CONNECTIVITY] != Py_None) {
        config->connectivity = given;
    }
    if (view->ndim == 2) { /* 4 or 8 neighbours, as of any image */
        config->connectivity = given == 4 ? 6 : 26;
        if (given != 4 && given != 8) {
            PyErr_Format(state->usage_error, "connectivity: 4 or 8 of an image, not %u", (unsigned)given);
            return false;
        }
    }
    config->threshold = core_setup_config(setup, volume->type).threshold;
    config->equal = wish->equal;
    config->inverse = setup->inverse;
    config->periodic = wish->periodic;
    config->min_volume = setup->config.min_area;
    config->max_volume = setup->config.max_area;
    config->border = setup->config.border;
    config->filter = wish->filter;
    config->largest = wish->largest;
    config->exec.threads = setup->config.exec.threads;
    config->exec.target = setup->config.exec.target;
    return true;
}

static bool take_all(core_state *state, const image_setup *setup, const volume_wish *wish, PyObject *image,
                     PyObject *const *values, PyObject *dtype, Py_buffer *view, slc_volume *volume,
                     slc_volume_config *config)
{
    if (wish->equal && !setup->no_threshold) {
        PyErr_SetString(state->usage_error, "equal and threshold exclude each other");
        return false;
    }
    if (!refuse_others(state, values, dtype) || !take_volume(state, image, wish->equal, view, volume)) {
        return false;
    }
    if (!make_config(state, setup, wish, values, view, volume, config)) {
        PyBuffer_Release(view);
        return false;
    }
    return true;
}

PyObject *core_volume_label(core_state *state, const image_setup *setup, const volume_wish *wish,
                            PyObject *image, PyObject *const *values, PyObject *out, PyObject *dtype)
{
    slc_volume_config config;
    slc_volume volume;
    slc_volume_labels to = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    Py_buffer view, out_view;
    if (!take_all(state, setup, wish, image, values, dtype, &view, &volume, &config)) {
        return NULL;
    }
    PyObject *array = take_labels(state, out, &view, &out_view, &to), *result = NULL;
    if (array != NULL) {
        const slc_status status = is_empty(&volume) ? SLC_OK : run(&config, &volume, NULL, &to, &error);
        PyBuffer_Release(&out_view);
        result = status < 0 ? core_raise(state, status, &error)
                            : Py_BuildValue("(OI)", array, (unsigned)to.n_labels);
        Py_DECREF(array);
    }
    PyBuffer_Release(&view);
    return result;
}

/* ---- components ---------------------------------------------------------------------------------- */

/* Of an array without voxels an event without rows. */
static slc_status find(const slc_volume_config *config, const slc_volume *volume, const slc_volume *grey,
                       slc_volume_labels *to, volume_found *f, slc_error *error)
{
    to->components = &f->components;
    if (!is_empty(volume)) {
        return run(config, volume, grey, to, error);
    }
    const slc_status status = slc_columns_reserve(&f->schema, &f->components, 0, 1);
    if (status != SLC_OK) {
        return slc_fail(error, status, "no memory for the components");
    }
    slc_columns_end_event(&f->components);
    return SLC_OK;
}

static PyObject *components_of(core_state *state, const slc_volume_config *config, const Py_buffer *view,
                               const slc_volume *volume, const slc_volume *grey, const image_wish *wish)
{
    slc_volume_labels to = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    volume_found *f = NULL;
    Py_buffer out_view;
    PyObject *owner = core_volume_found_new(state, config->features, &f), *array = NULL, *result = NULL;
    if (owner != NULL && wish->labels) {
        array = take_labels(state, wish->out, view, &out_view, &to);
    }
    if (owner != NULL && (array != NULL || !wish->labels)) {
        const slc_status status = find(config, volume, grey, &to, f, &error);
        PyObject *columns = status == SLC_OK ? core_columns_new(state, owner, &f->schema, &f->components)
                                             : core_raise(state, status, &error);
        result = columns != NULL && array != NULL ? PyTuple_Pack(2, array, columns) : Py_XNewRef(columns);
        Py_XDECREF(columns);
    }
    if (array != NULL) {
        PyBuffer_Release(&out_view);
    }
    Py_XDECREF(array);
    Py_XDECREF(owner);
    return result;
}

static bool given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

PyObject *core_volume_components(core_state *state, const image_setup *setup, const volume_wish *wish,
                                 const image_wish *image, PyObject *const *values, uint32_t features)
{
    slc_volume_config config;
    slc_volume volume, grey;
    Py_buffer view, grey_view;
    if (!image->labels && given(image->out)) {
        PyErr_SetString(PyExc_TypeError, "out is of label images: labels=True makes one");
        return NULL;
    }
    if (given(image->grey) && (features & ~(uint32_t)SLC_VOLUME_ALL) == 0 && wish->filter == NULL) {
        PyErr_SetString(PyExc_TypeError, "grey is of the features 'grey' and 'spread', which are not among "
                                         "features");
        return NULL;
    }
    if (!take_all(state, setup, wish, image->image, values, image->dtype, &view, &volume, &config)) {
        return NULL;
    }
    config.features = features;
    PyObject *result = NULL;
    if (!given(image->grey)) {
        result = components_of(state, &config, &view, &volume, NULL, image);
    } else if (core_volume_get(state, image->grey, "grey", &grey_view, &grey, false)) {
        result = components_of(state, &config, &view, &volume, &grey, image);
        PyBuffer_Release(&grey_view);
    }
    PyBuffer_Release(&view);
    return result;
}
