/* SPDX-License-Identifier: Apache-2.0
 * RowStream: components of an image whose rows come one after the other. */
#include "py_image.h"

#include <string.h>

typedef struct rows {
    PyObject_HEAD slc_image_stream *stream;
    size_t width;
    slc_image_type type, grey_type;
    bool has_grey_type; /* else the rows themselves are grey values */
    uint32_t features;
    uint64_t checksum;    /* of the last image that was finished */
    unsigned long long n; /* rows so far */
    bool busy;
} rows;

static void rows_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    slc_image_stream_close(((rows *)self)->stream);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Of a data type, by its name. */
static bool take_type(core_state *state, PyObject *value, const char *name, slc_image_type *type)
{
    static const char *const names[] = {"bool", "uint8", "uint16", "uint32", "float32", NULL};
    static const slc_image_type types[] = {SLC_IMAGE_U8, SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32,
                                           SLC_IMAGE_F32};
    int word = 1;
    if (value == NULL || value == Py_None) {
        return true;
    }
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *dtype = numpy != NULL ? PyObject_CallMethod(numpy, "dtype", "O", value) : NULL;
    PyObject *text = dtype != NULL ? PyObject_GetAttrString(dtype, "name") : NULL;
    const bool good = text != NULL && core_take_word(state, text, name, names, &word);
    *type = types[word];
    Py_XDECREF(text);
    Py_XDECREF(dtype);
    Py_XDECREF(numpy);
    return good;
}

/* What a stream of rows is told of what was asked of labelling. */
static slc_image_stream_config stream_config(const rows *self, const image_setup *setup)
{
    slc_image_stream_config config;
    const slc_image_label_config from = core_setup_config(setup, self->type);
    slc_image_stream_config_default(&config);
    config.width = self->width;
    config.type = self->type;
    config.grey_type = self->has_grey_type ? self->grey_type : self->type;
    config.inverse = setup->inverse;
    config.connectivity = setup->inverse ? 12 - from.connectivity : from.connectivity;
    config.threshold = from.threshold;
    config.features = self->features;
    config.min_area = from.min_area;
    config.max_area = from.max_area;
    return config;
}

enum { WIDTH, DTYPE, GREY_DTYPE, CONNECTIVITY, THRESHOLD, INVERSE, MIN_AREA, MAX_AREA, FEATURES, ARGUMENTS };

static PyObject *rows_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"width",   "dtype",    "grey_dtype", "connectivity", "threshold",
                            "inverse", "min_area", "max_area",   "features",     NULL};
    core_state *state = core_state_of_type(type);
    PyObject *v[ARGUMENTS] = {NULL};
    uint64_t width = 0;
    if (PyArg_ParseTupleAndKeywords(arguments, named, "O|$OOOOOOOO:RowStream", names, &v[0], &v[1], &v[2],
                                    &v[3], &v[4], &v[5], &v[6], &v[7], &v[8]) == 0) {
        return NULL;
    }
    PyObject *const values[SETUP_ARGUMENTS] = {v[CONNECTIVITY], v[THRESHOLD], v[INVERSE], v[MIN_AREA],
                                               v[MAX_AREA]};
    image_setup setup;
    rows *made = PyObject_New(rows, type);
    if (made == NULL) {
        return NULL;
    }
    made->stream = NULL;
    made->type = SLC_IMAGE_U8;
    made->has_grey_type = v[GREY_DTYPE] != NULL && v[GREY_DTYPE] != Py_None;
    made->checksum = 0;
    made->n = 0;
    made->busy = false;
    if (!core_setup_take(state, values, &setup) ||
        !core_take_u64(state, v[WIDTH], "width", UINT32_MAX - 1, &width) ||
        !take_type(state, v[DTYPE], "dtype", &made->type) ||
        !take_type(state, v[GREY_DTYPE], "grey_dtype", &made->grey_type) ||
        !core_features_take(state, v[FEATURES], SLC_IMAGE_ALL, &made->features)) {
        Py_DECREF(made);
        return NULL;
    }
    made->width = (size_t)width;
    slc_error error = {SLC_OK, ""};
    slc_image_stream_config config = stream_config(made, &setup);
    config.checksum = &made->checksum;
    const slc_status status = slc_image_stream_open(&config, &made->stream, &error);
    if (status != SLC_OK) {
        Py_DECREF(made);
        return core_raise(state, status, &error);
    }
    return (PyObject *)made;
}

static size_t at_most(const rows *self)
{
    return (self->width + 1) / 2;
}

/* Without the interpreter's lock. */
static slc_status push_all(rows *self, const slc_image *image, const slc_image *grey, image_found *f,
                           slc_error *error)
{
    size_t y = 0;
    slc_status status = slc_columns_reserve(&f->schema, &f->components, at_most(self) + 64, 1);
    while (status == SLC_OK && y < image->height) {
        size_t taken = 0;
        status = slc_image_stream_push(
            self->stream, (const char *)image->pixels + (ptrdiff_t)y * image->stride, image->stride,
            grey != NULL ? (const char *)grey->pixels + (ptrdiff_t)y * grey->stride : NULL,
            grey != NULL ? grey->stride : 0, image->height - y, &f->components, &taken, error);
        y += taken;
        self->n += taken;
        if (status == SLC_ERR_CAPACITY) {
            status = slc_columns_reserve(&f->schema, &f->components,
                                         2 * f->components.head.capacity + at_most(self), 1);
        }
    }
    if (status == SLC_OK) {
        slc_columns_end_event(&f->components);
    }
    return status;
}

static slc_status finish_all(rows *self, image_found *f, slc_error *error)
{
    slc_status status = slc_columns_reserve(&f->schema, &f->components, at_most(self) + 1, 1);
    if (status == SLC_OK) {
        status = slc_image_stream_finish(self->stream, &f->components, error);
    }
    if (status == SLC_OK) {
        slc_columns_end_event(&f->components);
        self->n = 0;
    }
    return status;
}

/* Rows, or with NULL the end. */
static PyObject *feed(rows *self, const slc_image *image, const slc_image *grey)
{
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)self));
    image_found *f = NULL;
    slc_error error = {SLC_OK, ""};
    slc_status status;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is pushing rows into this stream");
        return NULL;
    }
    PyObject *owner = core_found_new(state, self->features, &f);
    if (owner == NULL) {
        return NULL;
    }
    self->busy = true;
    PyThreadState *const thread = PyEval_SaveThread();
    status = image != NULL ? push_all(self, image, grey, f, &error) : finish_all(self, f, &error);
    PyEval_RestoreThread(thread);
    self->busy = false;
    PyObject *made = status == SLC_OK ? core_components_new(state, owner, f)
                                      : core_raise(state, status, &error);
    Py_DECREF(owner);
    return made;
}

static const char *type_name(slc_image_type type)
{
    static const char *const names[] = {"uint8", "uint16", "uint32", "float32"};
    return names[type];
}

static bool check_rows(const core_image *in, const char *what, size_t width, slc_image_type type)
{
    if (in->image.width != width || in->image.type != type) {
        PyErr_Format(PyExc_TypeError, "%s are (%zu, %zu) of %s; they are to be (n, %zu) of %s", what,
                     in->image.height, in->image.width, type_name(in->image.type), width, type_name(type));
        return false;
    }
    return true;
}

static PyObject *push_checked(core_state *state, rows *self, const core_image *in, PyObject *grey_object)
{
    core_image grey;
    if (!check_rows(in, "rows", self->width, self->type)) {
        return NULL;
    }
    if ((grey_object != NULL && grey_object != Py_None) != self->has_grey_type) {
        PyErr_SetString(PyExc_TypeError, self->has_grey_type
                                             ? "grey is to come with the rows, as grey_dtype says"
                                             : "grey needs a RowStream with grey_dtype");
        return NULL;
    }
    if (!self->has_grey_type) {
        return feed(self, &in->image, NULL);
    }
    if (!core_image_get(state, grey_object, "grey", &grey)) {
        return NULL;
    }
    PyObject *made = NULL;
    if (grey.image.height != in->image.height) {
        PyErr_Format(PyExc_TypeError, "grey has %zu rows for %zu", grey.image.height, in->image.height);
    } else if (check_rows(&grey, "grey", self->width, self->grey_type)) {
        made = feed(self, &in->image, &grey.image);
    }
    PyBuffer_Release(&grey.view);
    return made;
}

static PyObject *rows_push(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    static const char *const names[] = {"rows", "grey"};
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *values[2];
    core_image in;
    if (!core_arguments("push", arguments, n, given, names, 2, 2, values)) {
        return NULL;
    }
    if (values[0] == NULL) {
        PyErr_SetString(PyExc_TypeError, "push() needs rows");
        return NULL;
    }
    if (!core_image_get(state, values[0], "rows", &in)) {
        return NULL;
    }
    PyObject *made = push_checked(state, (rows *)self, &in, values[1]);
    PyBuffer_Release(&in.view);
    return made;
}

static PyObject *rows_finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    return feed((rows *)self, NULL, NULL);
}

static PyObject *rows_n(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((rows *)self)->n);
}

static PyObject *rows_checksum(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((rows *)self)->checksum);
}

static PyGetSetDef rows_get[] = {{"n_rows", rows_n, NULL, "rows of the image so far", NULL},
                                 {"checksum", rows_checksum, NULL,
                                  "of the image that finish() ended last: docs/formats/checksum.md", NULL},
                                 {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef rows_methods[] = {
    {"push", (PyCFunction)(void (*)(void))rows_push, METH_FASTCALL | METH_KEYWORDS,
     "push(rows, grey=None)\n--\n\n"
     "Takes rows (n, width), any number of them, and gives the components that have ended: those without a "
     "pixel in the\n"
     "last row taken, as columns, in the order of the rows that ended them. grey: values (n, width) for the "
     "feature\n"
     "'grey', if grey_dtype was given."},
    {"finish", rows_finish, METH_NOARGS,
     "finish()\n--\n\nThe image has ended: the components that were still open. Another image may follow."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot rows_slots[] = {{Py_tp_doc, "RowStream(width, *, dtype='uint8', grey_dtype=None, "
                                               "connectivity=8, threshold=None, inverse=False, min_area=0, "
                                               "max_area=None, features=('area', 'box', 'centroid'))\n--\n\n"
                                               "Components of an image whose rows come one after the other, "
                                               "and which may be endless: memory is bounded by the\n"
                                               "width. dtype of the rows is bool, uint8, uint16, uint32 or "
                                               "float32. Arguments are those of sluice.image.label and\n"
                                               "components; rows count from 0. One thread at a time."},
                                   {Py_tp_new, CORE_SLOT(rows_new)},
                                   {Py_tp_dealloc, CORE_SLOT(rows_free)},
                                   {Py_tp_getset, rows_get},
                                   {Py_tp_methods, rows_methods},
                                   {0, NULL}};
static PyType_Spec rows_spec = {.name = "sluice.image.RowStream",
                                .basicsize = sizeof(rows),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = rows_slots};

int core_rows_add(PyObject *module, core_state *state)
{
    state->rows_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &rows_spec, NULL);
    return state->rows_type != NULL ? PyModule_AddObjectRef(module, "RowStream", (PyObject *)state->rows_type)
                                    : -1;
}
