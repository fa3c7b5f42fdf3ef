/* SPDX-License-Identifier: Apache-2.0
 * SliceStream: components of a volume whose slices come one after the other. */
#include "py_image.h"

#include <sluice/image_volume.h>

#include <string.h>

typedef struct slices {
    PyObject_HEAD slc_volume_stream *stream; /* NULL until the first slices say what they are */
    slc_volume_config config;
    slc_volume shape;
    char filter[1024];    /* the config's */
    bool no_threshold;    /* none is given: what is above zero */
    uint64_t checksum;    /* of the last volume that was finished */
    unsigned long long n; /* slices so far */
    bool busy;
} slices;

static void slices_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    slc_volume_stream_close(((slices *)self)->stream);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- what is asked for --------------------------------------------------------------------------- */

static bool take_config(core_state *state, PyObject *const *values, slices *to)
{
    slc_volume_config *config = &to->config;
    static const char *const borders[] = {"any", "inside", "touching", NULL};
    uint64_t connectivity = 26;
    int border = SLC_IMAGE_BORDER_ANY;
    slc_volume_config_default(config);
    to->no_threshold = values[1] == NULL || values[1] == Py_None;
    if (!core_take_u64(state, values[0], "connectivity", 26, &connectivity) ||
        !core_take_double(values[1], "threshold", &config->threshold) ||
        !core_take_bool(values[2], "equal", &config->equal) ||
        !core_periodic_take(state, values[3], &config->periodic) ||
        !core_volume_features_take(state, values[4], SLC_VOLUME_MEASURES & ~SLC_VOLUME_LABEL,
                                   &config->features) ||
        !core_take_u64(state, values[5], "min_area", UINT64_MAX, &config->min_volume) ||
        !core_take_u64(state, values[6], "max_area", UINT64_MAX, &config->max_volume) ||
        !core_take_word(state, values[7], "border", borders, &border) ||
        !core_filter_take(state, values[8], &config->filter) ||
        !core_take_bool(values[9], "inverse", &config->inverse)) {
        return false;
    }
    config->border = (slc_image_border)border;
    if (config->filter != NULL) { /* the object may go before the slices come */
        const size_t size = strlen(config->filter) + 1;
        if (size > sizeof to->filter) {
            PyErr_SetString(state->usage_error, "filter is too long");
            return false;
        }
        memcpy(to->filter, config->filter, size);
        config->filter = to->filter;
    }
    config->connectivity = (uint32_t)connectivity;
    if (config->equal && !to->no_threshold) {
        PyErr_SetString(state->usage_error, "equal and threshold exclude each other");
        return false;
    }
    /* What is wrong is told now, and not with the first slices. */
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, ""};
    const slc_status status = slc_volume_open(config, &labeller, &error);
    slc_volume_close(labeller);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

static PyObject *slices_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"connectivity", "threshold", "equal",  "periodic", "features", "min_area",
                            "max_area",     "border",    "filter", "inverse",  NULL};
    core_state *state = core_state_of_type(type);
    PyObject *v[10] = {NULL};
    if (PyArg_ParseTupleAndKeywords(arguments, named, "|$OOOOOOOOOO:SliceStream", names, &v[0], &v[1], &v[2],
                                    &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9]) == 0) {
        return NULL;
    }
    slices *made = PyObject_New(slices, type);
    if (made == NULL) {
        return NULL;
    }
    made->stream = NULL;
    made->checksum = 0;
    made->n = 0;
    made->busy = false;
    made->shape = (slc_volume){.width = 0};
    if (!take_config(state, v, made)) {
        Py_DECREF(made);
        return NULL;
    }
    return (PyObject *)made;
}

/* ---- slices -------------------------------------------------------------------------------------- */

/* Without the interpreter's lock. A volume that ends without a slice has no components. */
static slc_status feed_all(slices *self, const slc_volume *volume, const slc_volume *grey, volume_found *f,
                           slc_error *error)
{
    slc_status status = SLC_OK;
    if (volume != NULL && self->stream == NULL) {
        slc_volume_config config = self->config;
        if (self->no_threshold && volume->type == SLC_IMAGE_F32) { /* the smallest number above zero */
            config.threshold = 0x1p-149;
        }
        config.threshold = core_level(volume->type, config.threshold);
        self->shape = *volume;
        status = slc_volume_stream_open(&config, volume, &self->checksum, &self->stream, error);
    }
    if (status == SLC_OK && volume != NULL) {
        status = slc_volume_stream_push_grey(self->stream, volume, grey, &f->components, error);
    } else if (status == SLC_OK && self->stream != NULL) {
        status = slc_volume_stream_finish(self->stream, &f->components, error);
    }
    if (status == SLC_OK &&
        slc_columns_reserve(&f->schema, &f->components, f->components.head.size, 1) != SLC_OK) {
        status = SLC_ERR_MEMORY;
    }
    if (status == SLC_OK) {
        slc_columns_end_event(&f->components);
        self->n = volume != NULL ? self->n + volume->depth : 0;
    }
    if (status == SLC_OK && volume == NULL) { /* the next one may have another shape */
        if (self->stream == NULL) {
            self->checksum = slc_columns_checksum(&f->schema, &f->components, 0, 0);
        }
        slc_volume_stream_close(self->stream);
        self->stream = NULL;
    }
    return status;
}

/* Slices, with NULL of their own grey values, or with NULL the end. */
static PyObject *feed(slices *self, const slc_volume *volume, const slc_volume *grey)
{
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)self));
    slc_error error = {SLC_OK, "no memory for components"};
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is pushing slices into this stream");
        return NULL;
    }
    volume_found *f = NULL;
    PyObject *owner = core_volume_found_new(state, self->config.features, &f);
    if (owner == NULL) {
        return NULL;
    }
    self->busy = true;
    PyThreadState *const thread = PyEval_SaveThread();
    const slc_status status = feed_all(self, volume, grey, f, &error);
    PyEval_RestoreThread(thread);
    self->busy = false;
    PyObject *made = status == SLC_OK ? core_columns_new(state, owner, &f->schema, &f->components)
                                      : core_raise(state, status, &error);
    Py_DECREF(owner);
    return made;
}

static PyObject *push(slices *self, const slc_volume *volume, PyObject *values)
{
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)self));
    slc_volume grey;
    Py_buffer view;
    if (volume->width == 0 || volume->height == 0 || volume->depth == 0) {
        PyErr_SetString(PyExc_TypeError, "slices have no voxels");
        return NULL;
    }
    if (values == NULL || values == Py_None) {
        return feed(self, volume, NULL);
    }
    if ((self->config.features & ~(uint32_t)SLC_VOLUME_ALL) == 0 && self->config.filter == NULL) {
        PyErr_SetString(PyExc_TypeError, "grey is of the features 'grey' and 'spread', which are not among "
                                         "features");
        return NULL;
    }
    if (!core_volume_get(state, values, "grey", &view, &grey, false)) {
        return NULL;
    }
    PyObject *made = feed(self, volume, &grey);
    PyBuffer_Release(&view);
    return made;
}

static PyObject *slices_push(PyObject *self, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"", "grey", NULL};
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *given = NULL, *values = NULL;
    slc_volume volume;
    Py_buffer view;
    if (PyArg_ParseTupleAndKeywords(arguments, named, "O|O:push", names, &given, &values) == 0 ||
        !core_volume_get(state, given, "slices", &view, &volume, ((slices *)self)->config.equal)) {
        return NULL;
    }
    PyObject *made = push((slices *)self, &volume, values);
    PyBuffer_Release(&view);
    return made;
}

static PyObject *slices_finish(PyObject *self, PyObject *unused)
{
    (void)unused;
    return feed((slices *)self, NULL, NULL);
}

static PyObject *slices_n(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((slices *)self)->n);
}

static PyObject *slices_checksum(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((slices *)self)->checksum);
}

static PyGetSetDef slices_get[] = {{"n_slices", slices_n, NULL, "slices of the volume so far", NULL},
                                   {"checksum", slices_checksum, NULL,
                                    "of the volume that finish() ended last: docs/formats/checksum.md", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef slices_methods[] = {
    {"push", (PyCFunction)(void (*)(void))slices_push, METH_VARARGS | METH_KEYWORDS,
     "push(slices, /, grey=None)\n--\n\n"
     "Takes a slice (h, w), or several (z, h, w), and gives the components that have ended: those without a "
     "voxel in the last\n"
     "slice taken, as columns, in the order of the slices that ended them, and of their first voxels. All "
     "slices of a volume\n"
     "have one shape and type. grey: slices of the same shape with the values of 'grey' and 'spread'; None: "
     "these are the\n"
     "slices' own."},
    {"finish", slices_finish, METH_NOARGS,
     "finish()\n--\n\nThe volume has ended: the components that were still open. Another volume may follow."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slices_slots[] = {
    {Py_tp_doc,
     "SliceStream(*, connectivity=26, threshold=None, equal=False, periodic=(), features=('area', "
     "'box', 'centroid'), min_area=0, max_area=None, border='any', filter=None, inverse=False)\n--\n\n"
     "Components of a volume whose slices come one after the other, and which may be larger than "
     "the memory: kept are the runs of\n"
     "two slices and the sums of components that are open. Arguments are those of "
     "sluice.image.label of a volume; features are\n"
     "'area' (the column volume), 'box', 'first', 'sums', 'second', 'centroid', 'grey' and 'spread'. Slices "
     "count from 0.\n"
     "One thread at a time."},
    {Py_tp_new, CORE_SLOT(slices_new)},
    {Py_tp_dealloc, CORE_SLOT(slices_free)},
    {Py_tp_getset, slices_get},
    {Py_tp_methods, slices_methods},
    {0, NULL}};
static PyType_Spec slices_spec = {.name = "sluice.image.SliceStream",
                                  .basicsize = sizeof(slices),
                                  .flags = Py_TPFLAGS_DEFAULT,
                                  .slots = slices_slots};

int core_slices_add(PyObject *module, core_state *state)
{
    state->slices_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &slices_spec, NULL);
    return state->slices_type != NULL
               ? PyModule_AddObjectRef(module, "SliceStream", (PyObject *)state->slices_type)
               : -1;
}
