/* SPDX-License-Identifier: Apache-2.0
 * Dense images: labels, components, thresholds. Labellers are kept for the next call with the same
 * configuration, so that a small image costs little more than its labelling. */
#include "py_core.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT_PIXELS = 1 << 24, /* the labeller of a larger image is closed after it */
    FREE_PIXELS = 1 << 12  /* of fewer the interpreter's lock is kept: taking it anew would cost more */
};

/* ---- labellers ----------------------------------------------------------------------------------- */

static bool same_config(const slc_image_label_config *a, const slc_image_label_config *b)
{
    return a->algorithm == b->algorithm && a->connectivity == b->connectivity &&
           a->threshold == b->threshold && a->features == b->features && a->min_area == b->min_area &&
           a->max_area == b->max_area && a->border == b->border && a->exec.threads == b->exec.threads;
}

static void close_labeller(core_labeller *one)
{
    slc_image_label_close(one->labeller);
    *one = (core_labeller){.labeller = NULL};
}

void core_labellers_clear(core_state *state)
{
    for (size_t i = 0; i < CORE_LABELLERS; i++) {
        close_labeller(&state->labellers[i]);
    }
}

/* One that is free, with room for the image; NULL with an error set. All under the interpreter's lock. */
static core_labeller *take_labeller(core_state *state, const slc_image_label_config *config, size_t width,
                                    size_t height)
{
    core_labeller *chosen = NULL;
    slc_error error = {SLC_OK, ""};
    for (size_t i = 0; i < CORE_LABELLERS; i++) {
        core_labeller *one = &state->labellers[i];
        if (one->busy) {
            continue;
        }
        if (one->labeller != NULL && same_config(&one->config, config)) {
            chosen = one;
            break;
        }
        if (chosen == NULL || one->used < chosen->used) {
            chosen = one;
        }
    }
    if (chosen == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "too many threads label images at once");
        return NULL;
    }
    slc_status status = SLC_OK;
    if (chosen->labeller == NULL || !same_config(&chosen->config, config)) {
        close_labeller(chosen);
        status = slc_image_label_open(config, &chosen->labeller, &error);
        chosen->config = *config;
    }
    if (status == SLC_OK && (chosen->width < width || chosen->height < height)) {
        status = slc_image_label_reserve(chosen->labeller, width, height, &error);
        chosen->width = width > chosen->width ? width : chosen->width;
        chosen->height = height > chosen->height ? height : chosen->height;
    }
    if (status != SLC_OK) {
        close_labeller(chosen);
        (void)core_raise(state, status, &error);
        return NULL;
    }
    chosen->busy = true;
    chosen->used = ++state->clock;
    return chosen;
}

static void give_labeller(core_labeller *one)
{
    one->busy = false;
    if (one->width > KEPT_PIXELS / (one->height > 0 ? one->height : 1)) {
        close_labeller(one);
    }
}

/* ---- what is asked ------------------------------------------------------------------------------- */

enum {
    IMAGE,
    CONNECTIVITY,
    THRESHOLD,
    INVERSE,
    MIN_AREA,
    MAX_AREA,
    BORDER,
    OUT,
    DTYPE,
    THREADS,
    ALGORITHM,
    FEATURES,
    GREY,
    LABELS,
    ARGUMENTS
};
static const char *const names[ARGUMENTS] = {"image",     "connectivity", "threshold", "inverse", "min_area",
                                             "max_area",  "border",       "out",       "dtype",   "threads",
                                             "algorithm", "features",     "grey",      "labels"};

typedef struct request {
    slc_image_label_config config;
    core_image image, grey;
    bool has_grey, inverse;
} request;

static bool take_algorithm(core_state *state, PyObject *value, slc_image_label_config *config)
{
    if (value == NULL || value == Py_None || PyUnicode_CompareWithASCIIString(value, "auto") == 0) {
        return true;
    }
    for (size_t i = 0; PyUnicode_Check(value) && slc_image_algorithm_name(i) != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(value, slc_image_algorithm_name(i)) == 0) {
            config->algorithm = slc_image_algorithm_name(i);
            return true;
        }
    }
    PyErr_Format(state->usage_error, "algorithm is to be 'auto' or one of image.algorithms(), not %R", value);
    return false;
}

/* All but image, output and features. */
static bool take_config(core_state *state, PyObject *const *values, request *r)
{
    static const char *const borders[] = {"any", "inside", "touching", NULL};
    uint64_t connectivity = 8, threads = 1;
    int border = SLC_IMAGE_BORDER_ANY;
    slc_image_label_config_default(&r->config);
    r->config.exec.threads = 1;
    r->config.exec.target = state->target;
    if (values[CONNECTIVITY] == NULL && values[THRESHOLD] == NULL && values[INVERSE] == NULL &&
        values[MIN_AREA] == NULL && values[MAX_AREA] == NULL && values[BORDER] == NULL &&
        values[THREADS] == NULL && values[ALGORITHM] == NULL) {
        return true;
    }
    if (!core_take_u64(state, values[CONNECTIVITY], "connectivity", 8, &connectivity) ||
        !core_take_double(values[THRESHOLD], "threshold", &r->config.threshold) ||
        !core_take_bool(values[INVERSE], "inverse", &r->inverse) ||
        !core_take_u64(state, values[MIN_AREA], "min_area", UINT64_MAX, &r->config.min_area) ||
        !core_take_u64(state, values[MAX_AREA], "max_area", UINT64_MAX, &r->config.max_area) ||
        !core_take_word(state, values[BORDER], "border", borders, &border) ||
        !core_take_u64(state, values[THREADS], "threads", 4096, &threads) ||
        !take_algorithm(state, values[ALGORITHM], &r->config)) {
        return false;
    }
    r->config.connectivity = (uint32_t)connectivity;
    r->config.border = (slc_image_border)border;
    r->config.exec.threads = (uint32_t)threads;
    return true;
}

/* Without a threshold what is above zero is foreground: 1 in integers, in floats the smallest number. */
static void default_threshold(PyObject *const *values, request *r)
{
    if ((values[THRESHOLD] == NULL || values[THRESHOLD] == Py_None) && r->image.image.type == SLC_IMAGE_F32) {
        r->config.threshold = 0x1p-149;
    }
}

static bool is_empty(const request *r)
{
    return r->image.image.width == 0 || r->image.image.height == 0;
}

static slc_status run(core_state *state, request *r, slc_image_labels *side, slc_error *error)
{
    const slc_image *image = &r->image.image, *grey = r->has_grey ? &r->grey.image : NULL;
    core_labeller *one = take_labeller(state, &r->config, image->width, image->height);
    slc_image_labels *foreground = r->inverse ? NULL : side, *background = r->inverse ? side : NULL;
    slc_status status;
    if (one == NULL) {
        return SLC_END; /* raised */
    }
    if (image->width * image->height <= FREE_PIXELS) {
        status = slc_image_label_run(one->labeller, image, grey, foreground, background, error);
    } else {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_image_label_run(one->labeller, image, grey, foreground, background, error);
        PyEval_RestoreThread(thread);
    }
    give_labeller(one);
    return status;
}

/* The array of the caller, or a new one; a new reference. */
static PyObject *output(core_state *state, PyObject *const *values, const slc_image *image, Py_buffer *view,
                        slc_image_labels *side)
{
    PyObject *array = values[OUT] != NULL && values[OUT] != Py_None ? Py_NewRef(values[OUT]) : NULL;
    if (array != NULL && values[DTYPE] != NULL && values[DTYPE] != Py_None) {
        PyErr_SetString(PyExc_TypeError, "out and dtype exclude each other: labels have the type of out");
        Py_DECREF(array);
        return NULL;
    }
    if (array == NULL) {
        PyObject *dtype = values[DTYPE] != NULL && values[DTYPE] != Py_None ? values[DTYPE] : NULL;
        if (!core_numpy(state)) {
            return NULL;
        }
        array = PyObject_CallFunction(state->empty, "(nn)O", (Py_ssize_t)image->height,
                                      (Py_ssize_t)image->width, dtype != NULL ? dtype : state->label_dtype);
    }
    if (array != NULL && !core_labels_get(state, array, image->height, image->width, view, side)) {
        Py_CLEAR(array);
    }
    return array;
}

static PyObject *image_label(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    request r = {.inverse = false};
    slc_image_labels side = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    Py_buffer view;
    if (!core_arguments("label", arguments, n, given, names, FEATURES, 1, values) ||
        !take_config(state, values, &r)) {
        return NULL;
    }
    if (values[IMAGE] == NULL) {
        PyErr_SetString(PyExc_TypeError, "label() needs an image");
        return NULL;
    }
    if (!core_image_get(state, values[IMAGE], "image", &r.image)) {
        return NULL;
    }
    default_threshold(values, &r);
    PyObject *array = output(state, values, &r.image.image, &view, &side);
    slc_status status = SLC_END;
    if (array != NULL) {
        status = is_empty(&r) ? SLC_OK : run(state, &r, &side, &error);
        PyBuffer_Release(&view);
    }
    PyBuffer_Release(&r.image.view);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    PyObject *count = status == SLC_OK ? PyLong_FromUnsignedLong(side.n_labels) : NULL;
    PyObject *result = count != NULL ? PyTuple_Pack(2, array, count) : NULL;
    Py_XDECREF(count);
    Py_XDECREF(array);
    return result;
}

/* ---- components ---------------------------------------------------------------------------------- */

/* The collection and its schema, which depends on the features. */
typedef struct found {
    slc_image_components components;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
} found;

static void found_free(void *memory)
{
    found *f = memory;
    slc_columns_clear(&f->schema, &f->components);
    free(f);
}

static bool take_features(core_state *state, PyObject *value, uint32_t *features)
{
    *features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_CENTROID;
    if (value == NULL || value == Py_None) {
        return true;
    }
    PyObject *list = PySequence_List(value);
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : -1;
    *features = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyList_GetItem(list, i);
        uint32_t bit = 1;
        while (bit < SLC_IMAGE_ALL && PyUnicode_Check(name) &&
               PyUnicode_CompareWithASCIIString(name, slc_image_feature_name(bit)) != 0) {
            bit <<= 1;
        }
        if (!PyUnicode_Check(name) || bit > SLC_IMAGE_ALL) {
            PyErr_Format(state->usage_error, "features has %R, which is not among image.FEATURES", name);
            Py_DECREF(list);
            return false;
        }
        *features |= bit;
    }
    Py_XDECREF(list);
    return n >= 0;
}

/* Runs with room for a few components, and again with room for as many as there are. */
static slc_status run_for_components(core_state *state, request *r, found *f, slc_image_labels *side,
                                     slc_error *error)
{
    const slc_image *image = &r->image.image;
    const size_t bound = slc_image_label_bound(image->width, image->height, 4);
    size_t rows = bound < 1024 ? bound : 1024 + bound / 64;
    slc_status status = slc_columns_reserve(&f->schema, &f->components, rows, 1);
    if (is_empty(r)) {
        if (status == SLC_OK) {
            slc_columns_end_event(&f->components);
        }
        return status;
    }
    side->components = &f->components;
    status = status == SLC_OK ? run(state, r, side, error) : status;
    if (status == SLC_ERR_CAPACITY && side->n_labels != UINT32_MAX && side->n_labels > rows) {
        status = slc_columns_reserve(&f->schema, &f->components, side->n_labels, 1);
        status = status == SLC_OK ? run(state, r, side, error) : status;
    }
    return status;
}

static PyObject *image_components(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS], *array = NULL, *result = NULL;
    request r = {.inverse = false};
    slc_image_labels side = {.labels = NULL};
    slc_error error = {SLC_OK, ""};
    Py_buffer view;
    bool with_labels = false;
    if (!core_arguments("components", arguments, n, given, names, ARGUMENTS, 1, values) ||
        !take_config(state, values, &r) || !take_features(state, values[FEATURES], &r.config.features) ||
        !core_take_bool(values[LABELS], "labels", &with_labels)) {
        return NULL;
    }
    if (values[IMAGE] == NULL || (!with_labels && (values[OUT] != NULL || values[DTYPE] != NULL))) {
        PyErr_SetString(PyExc_TypeError, values[IMAGE] == NULL
                                             ? "components() needs an image"
                                             : "out and dtype are of label images: labels=True makes one");
        return NULL;
    }
    r.has_grey = values[GREY] != NULL && values[GREY] != Py_None;
    if (!core_image_get(state, values[IMAGE], "image", &r.image)) {
        return NULL;
    }
    if (r.has_grey && !core_image_get(state, values[GREY], "grey", &r.grey)) {
        PyBuffer_Release(&r.image.view);
        return NULL;
    }
    default_threshold(values, &r);
    found *f = calloc(1, sizeof *f);
    PyObject *owner = NULL;
    if (f != NULL) {
        f->schema = slc_image_components_schema(r.config.features, f->columns);
        owner = core_owner_new(state, f, found_free);
    } else {
        PyErr_NoMemory();
    }
    array = owner != NULL && with_labels ? output(state, values, &r.image.image, &view, &side) : NULL;
    if (owner != NULL && (array != NULL || !with_labels)) {
        const slc_status status = run_for_components(state, &r, f, &side, &error);
        PyObject *columns = status == SLC_OK ? core_columns_new(state, owner, &f->schema, &f->components)
                                             : NULL;
        if (status < 0) {
            (void)core_raise(state, status, &error);
        }
        result = columns == NULL ? NULL : with_labels ? PyTuple_Pack(2, array, columns) : Py_NewRef(columns);
        Py_XDECREF(columns);
    }
    if (array != NULL) {
        PyBuffer_Release(&view);
    }
    Py_XDECREF(array);
    Py_XDECREF(owner);
    if (r.has_grey) {
        PyBuffer_Release(&r.grey.view);
    }
    PyBuffer_Release(&r.image.view);
    return result;
}

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
    return status == SLC_OK ? PyFloat_FromDouble(threshold) : core_raise(state, status, &error);
}

static PyObject *image_algorithms(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && slc_image_algorithm_name(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(slc_image_algorithm_name(i));
        if (name == NULL || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

#define FAST(f) (PyCFunction)(void (*)(void))(f), METH_FASTCALL | METH_KEYWORDS
PyMethodDef core_image_functions[] = {
    {"image_label", FAST(image_label), "labels and their number"},
    {"image_components", FAST(image_components), "components as columns"},
    {"image_otsu", image_otsu, METH_O, "Otsu's threshold"},
    {"image_algorithms", image_algorithms, METH_NOARGS, "names of the algorithms"},
    {NULL, NULL, 0, NULL}};
