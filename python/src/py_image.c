/* SPDX-License-Identifier: Apache-2.0
 * Dense images: labels, components, thresholds. */
#include "py_image.h"
#include "py_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_PIXELS = 1 << 12 /* of fewer the interpreter's lock is kept: taking it anew would cost more */ };

static bool given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

static bool is_empty(const slc_image *image)
{
    return image->width == 0 || image->height == 0;
}

/* SLC_END: an error is set. */
static slc_status run(core_state *state, const image_setup *setup, core_labeller *own, const slc_image *image,
                      const slc_image *grey, slc_image_labels *side, slc_error *error)
{
    const slc_image_label_config config = core_setup_config(setup, image->type);
    core_labeller *one = core_labeller_take(state, own, &config, image->width, image->height);
    slc_image_labels *foreground = setup->inverse ? NULL : side, *background = setup->inverse ? side : NULL;
    slc_status status;
    if (one == NULL) {
        return SLC_END;
    }
    if (image->width * image->height <= FREE_PIXELS) {
        status = slc_image_label_run(one->labeller, image, grey, foreground, background, error);
    } else {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_image_label_run(one->labeller, image, grey, foreground, background, error);
        PyEval_RestoreThread(thread);
    }
    core_labeller_give(one);
    return status;
}

/* ---- labels -------------------------------------------------------------------------------------- */

PyObject *core_label_array(core_state *state, PyObject *out, PyObject *dtype, const slc_image *image,
                           Py_buffer *view, slc_image_labels *side)
{
    PyObject *array;
    if (given(out) && given(dtype)) {
        PyErr_SetString(PyExc_TypeError, "out and dtype exclude each other: labels have the type of out");
        return NULL;
    }
    if (given(out)) {
        array = Py_NewRef(out);
    } else {
        array = !core_numpy(state) ? NULL
                                   : PyObject_CallFunction(state->empty, "(nn)O", (Py_ssize_t)image->height,
                                                           (Py_ssize_t)image->width,
                                                           given(dtype) ? dtype : state->label_dtype);
    }
    if (array != NULL && !core_labels_get(state, array, image->height, image->width, view, side)) {
        Py_CLEAR(array);
    }
    return array;
}

PyObject *core_label(core_state *state, const image_setup *setup, core_labeller *own, PyObject *image,
                     PyObject *out, PyObject *dtype)
{
    core_image in;
    slc_image_labels side = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_END;
    Py_buffer view;
    if (!core_image_get_on(state, image, "image", setup->device, &in)) {
        return NULL;
    }
    PyObject *array = core_label_array(state, out, dtype, &in.image, &view, &side);
    if (array != NULL) {
        status = is_empty(&in.image) ? SLC_OK : run(state, setup, own, &in.image, NULL, &side, &error);
        PyBuffer_Release(&view);
    }
    PyBuffer_Release(&in.view);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    PyObject *count = status == SLC_OK ? PyLong_FromUnsignedLong(side.n_labels) : NULL;
    PyObject *result = count != NULL ? PyTuple_Pack(2, array, count) : NULL;
    Py_XDECREF(count);
    Py_XDECREF(array);
    return result;
}

/* equal, periodic, filter, largest. */
static bool volume_wish_take(core_state *state, PyObject *const *values, volume_wish *wish)
{
    uint64_t largest = 0;
    *wish = (volume_wish){.equal = false};
    const bool good = core_take_bool(values[0], "equal", &wish->equal) &&
                      core_periodic_take(state, values[1], &wish->periodic) &&
                      core_filter_take(state, values[2], &wish->filter) &&
                      core_take_u64(state, values[3], "largest", UINT32_MAX, &largest);
    wish->largest = (uint32_t)largest;
    return good;
}

static PyObject *image_label(PyObject *module, PyObject *const *arguments, Py_ssize_t n,
                             PyObject *names_given)
{
    enum {
        OUT = 1,
        DTYPE,
        SETUP,
        EQUAL = SETUP + SETUP_ARGUMENTS,
        PERIODIC,
        FILTER,
        LARGEST,
        ARGUMENTS
    }; /* out first: it is found the soonest */
    static const char *const names[ARGUMENTS] = {"image", "out",      "dtype",  SETUP_NAMES,
                                                 "equal", "periodic", "filter", "largest"};
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    image_setup setup;
    volume_wish wish;
    if (!core_arguments("label", arguments, n, names_given, names, ARGUMENTS, 1, values) ||
        !core_setup_take(state, values + SETUP, &setup) || !volume_wish_take(state, values + EQUAL, &wish)) {
        return NULL;
    }
    if (values[0] == NULL) {
        PyErr_SetString(PyExc_TypeError, "label() needs an image");
        return NULL;
    }
    const bool whole = wish.periodic != 0 || wish.filter != NULL || wish.largest > 0;
    if (whole && !wish.equal && !core_is_volume(values[0])) {
        PyErr_SetString(state->usage_error, "periodic, filter and largest are of volumes here");
        return NULL;
    }
    if (wish.equal || whole) {
        return core_volume_label(state, &setup, &wish, values[0], values + SETUP, values[OUT], values[DTYPE]);
    }
    PyObject *result = core_label(state, &setup, NULL, values[0], values[OUT], values[DTYPE]);
    if (result != NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return result;
    }
    /* Asked for late: images are small and many, and volumes are not. */
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!core_is_volume(values[0])) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return core_volume_label(state, &setup, &wish, values[0], values + SETUP, values[OUT], values[DTYPE]);
}

/* ---- components ---------------------------------------------------------------------------------- */

static void found_free(void *memory)
{
    image_found *f = memory;
    slc_columns_clear(&f->schema, &f->components);
    free(f);
}

PyObject *core_found_new(core_state *state, uint32_t features, image_found **found)
{
    image_found *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return PyErr_NoMemory();
    }
    f->schema = slc_image_components_schema(features, f->columns);
    *found = f;
    return core_owner_new(state, f, found_free);
}

PyObject *core_components_new(core_state *state, PyObject *owner, const image_found *found)
{
    return core_columns_new(state, owner, &found->schema, &found->components);
}

size_t core_first_rows(const slc_image *image)
{
    const size_t bound = slc_image_label_bound(image->width, image->height, 4);
    return bound < 1024 ? bound : 1024 + bound / 64;
}

/* Runs with room for a few components, and again with room for as many as there are. */
static slc_status find(core_state *state, const image_setup *setup, core_labeller *own,
                       const slc_image *image, const slc_image *grey, image_found *f, slc_image_labels *side,
                       slc_error *error)
{
    const size_t rows = core_first_rows(image);
    slc_status status = slc_columns_reserve(&f->schema, &f->components, rows, 1);
    if (is_empty(image)) {
        if (status == SLC_OK) {
            slc_columns_end_event(&f->components);
        }
        return status;
    }
    side->components = &f->components;
    status = status == SLC_OK ? run(state, setup, own, image, grey, side, error) : status;
    if (status == SLC_ERR_CAPACITY && side->n_labels != UINT32_MAX && side->n_labels > rows) {
        status = slc_columns_reserve(&f->schema, &f->components, side->n_labels, 1);
        status = status == SLC_OK ? run(state, setup, own, image, grey, side, error) : status;
    }
    return status;
}

/* With the inputs at hand. */
static PyObject *components_of(core_state *state, const image_setup *setup, core_labeller *own,
                               const image_wish *wish, const slc_image *image, const slc_image *grey)
{
    slc_image_labels side = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    image_found *f = NULL;
    Py_buffer view;
    PyObject *array = NULL, *result = NULL;
    PyObject *owner = core_found_new(state, setup->config.features, &f);
    if (owner != NULL && wish->labels) {
        array = core_label_array(state, wish->out, wish->dtype, image, &view, &side);
    }
    if (owner != NULL && (array != NULL || !wish->labels)) {
        const slc_status status = find(state, setup, own, image, grey, f, &side, &error);
        PyObject *columns = status == SLC_OK ? core_components_new(state, owner, f) : NULL;
        if (status < 0) {
            (void)core_raise(state, status, &error);
        }
        result = columns == NULL ? NULL : wish->labels ? PyTuple_Pack(2, array, columns) : Py_NewRef(columns);
        Py_XDECREF(columns);
    }
    if (array != NULL) {
        PyBuffer_Release(&view);
    }
    Py_XDECREF(array);
    Py_XDECREF(owner);
    return result;
}

PyObject *core_components(core_state *state, const image_setup *setup, core_labeller *own,
                          const image_wish *wish)
{
    core_image in, grey;
    if (!wish->labels && (given(wish->out) || given(wish->dtype))) {
        PyErr_SetString(PyExc_TypeError, "out and dtype are of label images: labels=True makes one");
        return NULL;
    }
    if (given(wish->grey) && (setup->config.features & SLC_IMAGE_GREY) == 0) {
        PyErr_SetString(PyExc_TypeError, "grey is of the feature 'grey', which is not among features");
        return NULL;
    }
    if (!core_image_get_on(state, wish->image, "image", setup->device, &in)) {
        return NULL;
    }
    if (given(wish->grey) && !core_image_get_on(state, wish->grey, "grey", setup->device, &grey)) {
        PyBuffer_Release(&in.view);
        return NULL;
    }
    PyObject *result = components_of(state, setup, own, wish, &in.image,
                                     given(wish->grey) ? &grey.image : NULL);
    if (given(wish->grey)) {
        PyBuffer_Release(&grey.view);
    }
    PyBuffer_Release(&in.view);
    return result;
}

static PyObject *image_components(PyObject *module, PyObject *const *arguments, Py_ssize_t n,
                                  PyObject *names_given)
{
    enum {
        OUT = SETUP_ARGUMENTS + 1,
        DTYPE,
        FEATURES,
        GREY,
        LABELS,
        EQUAL,
        PERIODIC,
        FILTER,
        LARGEST,
        ARGUMENTS
    };
    static const char *const names[ARGUMENTS] = {"image",    SETUP_NAMES, "out",    "dtype",
                                                 "features", "grey",      "labels", "equal",
                                                 "periodic", "filter",    "largest"};
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    image_setup setup;
    image_wish wish = {.labels = false};
    volume_wish volume;
    uint32_t features = 0;
    if (!core_arguments("components", arguments, n, names_given, names, ARGUMENTS, 1, values) ||
        !core_setup_take(state, values + 1, &setup) ||
        !core_take_bool(values[LABELS], "labels", &wish.labels) ||
        !volume_wish_take(state, values + EQUAL, &volume)) {
        return NULL;
    }
    if (values[0] == NULL) {
        PyErr_SetString(PyExc_TypeError, "components() needs an image");
        return NULL;
    }
    wish.image = values[0];
    wish.grey = values[GREY];
    wish.out = values[OUT];
    wish.dtype = values[DTYPE];
    if (core_is_volume(values[0])) {
        return core_volume_features_take(state, values[FEATURES], SLC_VOLUME_MEASURES & ~SLC_VOLUME_LABEL,
                                         &features)
                   ? core_volume_components(state, &setup, &volume, &wish, values + 1, features)
                   : NULL;
    }
    if (volume.equal || volume.periodic != 0 || volume.filter != NULL || volume.largest > 0) {
        PyErr_SetString(state->usage_error, "equal, periodic, filter and largest are of volumes here");
        return NULL;
    }
    return core_features_take(state, values[FEATURES], SLC_IMAGE_ALL, &setup.config.features)
               ? core_components(state, &setup, NULL, &wish)
               : NULL;
}

/* ---- others -------------------------------------------------------------------------------------- */

static PyObject *image_otsu(PyObject *module, PyObject *object)
{
    core_state *state = core_state_of(module);
    core_image in;
    slc_error error = {SLC_OK, ""};
    double threshold = 0;
    slc_status status;
    if (!core_image_get(state, object, "image", &in)) {
        return NULL;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_image_otsu(&in.image, &threshold, &error);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&in.view);
    if (in.image.type == SLC_IMAGE_F32 && core_level(SLC_IMAGE_F32, threshold) < threshold) {
        threshold = (double)nextafterf((float)threshold, INFINITY); /* the same pixels are at or above it */
    }
    return status == SLC_OK ? PyFloat_FromDouble(threshold) : core_raise(state, status, &error);
}

static PyObject *image_algorithms(PyObject *module, PyObject *arguments)
{
    static const char *const words[] = {"cpu", "cuda", NULL};
    PyObject *device = NULL;
    int word = 0;
    if (PyArg_ParseTuple(arguments, "|O:algorithms", &device) == 0 ||
        !core_take_word(core_state_of(module), device, "device", words, &word)) {
        return NULL;
    }
    const char *(*name_of)(size_t) = word == 1 ? slc_image_cuda_algorithm_name : slc_image_algorithm_name;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && name_of(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(name_of(i));
        if (name == NULL || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

#define FAST(f) (PyCFunction)(void (*)(void))(f), METH_FASTCALL | METH_KEYWORDS
PyMethodDef core_image_functions[] = {
    {"image_label", FAST(image_label),
     "image_label(image, *, connectivity=8, threshold=None, inverse=False, min_area=0, max_area=None, "
     "border='any', out=None, "
     "dtype=None, threads=1, algorithm='auto', device=None, equal=False, periodic=(), filter=None, "
     "largest=0)\n--\n\n"
     "Connected components of an image or a volume: (labels, n).\n\n"
     "image: 2-D array (h, w) of bool, uint8, uint16, uint32 or float32; rows may be any distance apart. "
     "Pixels at or\n"
     "above threshold (of floats rounded to one, as NumPy compares them) are foreground (None: those above "
     "zero); inverse labels the others instead. "
     "connectivity is 4\n"
     "(edges) or 8 (edges and corners). Components with fewer pixels than min_area or more than max_area are "
     "dropped;\n"
     "border 'inside' keeps those without a pixel at the image's border, 'touching' the others.\n"
     "labels: (h, w) int32, 0 is background, components from 1 in raster order of their first pixels; out is "
     "an array\n"
     "to write to (int32, uint32 or uint16), or dtype one of these types. A volume, (z, y, x), has "
     "connectivity "
     "6, 18 or 26\n"
     "(the default there), threshold, min_area, max_area (voxels), border, threads and out, and equal: "
     "components of pixels or voxels\n"
     "of one value that is not 0, of bool and any integers; filter, terms as 'area>=20 && z_min>0' that hold "
     "for those that are\n"
     "kept, and largest, how many of these, those with most voxels. threads: 0 is one for each "
     "processor; device\n"
     "'cuda' or 'cuda:N' is a GPU. Results depend on neither, nor on algorithm, one of algorithms().\n\n"
     "TypeError: an array that is not taken, and which are; UsageError: an argument out of range; "
     "CapacityError: more\n"
     "components than the labels' type can count; UnsupportedError: no such GPU."},
    {"image_components", FAST(image_components),
     "image_components(image, *, features=('area', 'box', 'centroid'), grey=None, labels=False, "
     "connectivity=8, "
     "threshold=None, "
     "inverse=False, min_area=0, max_area=None, border='any', out=None, dtype=None, threads=1, "
     "algorithm='auto', "
     "device=None, equal=False, periodic=(), filter=None, largest=0)\n--\n\n"
     "Components of an image as columns, a row for each, in the order of the labels; with labels=True "
     "(labels, columns).\n\n"
     "features: names among FEATURES, each of which brings columns: area (pixels); box: x_min, y_min, x_max, "
     "y_max,\n"
     "inclusive; first: first_x, first_y; sums: sum_x, sum_y; second: sum_xx, sum_xy, sum_yy; perimeter "
     "(pixel edges);\n"
     "euler (1 less the holes); centroid: x, y; shape: orientation (rad from the x axis), eccentricity, "
     "major, minor\n"
     "(pixels); grey: mass, weighted_x, weighted_y, grey_min, grey_max of the image grey, of the same shape "
     "(None: the\n"
     "image itself). A volume, (z, y, x), has area (the column volume), box, first, sums, second and "
     "centroid, "
     "also along z, and of the\n"
     "volume grey: grey with weighted_z, and spread: grey_mean, grey_std. All other arguments and errors are "
     "those of label()."},
    {"image_otsu", image_otsu, METH_O,
     "image_otsu(image, /)\n--\n\nOtsu's threshold of an image: pixels at or above it are foreground. "
     "UsageError: "
     "a float image "
     "without a finite pixel, or no pixel at all."},
    {"image_algorithms", image_algorithms, METH_VARARGS,
     "image_algorithms(device='cpu', /)\n--\n\nNames of the algorithms of the processor, or of GPUs "
     "('cuda')."},
    {NULL, NULL, 0, NULL}};

int core_image_add(PyObject *module, core_state *state)
{
    return core_components_add(module, state) == 0 && core_labeller_add(module, state) == 0 &&
                   core_pages_add(module, state) == 0 && core_rows_add(module, state) == 0 &&
                   core_slices_add(module, state) == 0
               ? PyModule_AddFunctions(module, core_pages_functions) |
                     PyModule_AddFunctions(module, core_image_run_functions) |
                     PyModule_AddFunctions(module, core_mask_functions) |
                     PyModule_AddFunctions(module, core_compat_functions) |
                     PyModule_AddFunctions(module, core_measure_functions)
               : -1;
}
