/* SPDX-License-Identifier: Apache-2.0
 * Labeller: a configuration that is kept, with the memory that it needs. */
#include "py_image.h"
#include "py_stack.h"

#include <string.h>

typedef struct labeller {
    PyObject_HEAD image_setup setup;
    core_labeller own; /* for one thread at a time; others take those that the module keeps */
} labeller;

static PyObject *labeller_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"connectivity", "threshold", "inverse", "min_area", "max_area", "border",
                            "threads",      "algorithm", "device",  "features", NULL};
    core_state *state = core_state_of_type(type);
    PyObject *values[SETUP_ARGUMENTS + 1] = {NULL};
    image_setup setup;
    if (PyArg_ParseTupleAndKeywords(arguments, named, "|$OOOOOOOOOO:Labeller", names, &values[0], &values[1],
                                    &values[2], &values[3], &values[4], &values[5], &values[6], &values[7],
                                    &values[8], &values[9]) == 0 ||
        !core_setup_take(state, values, &setup) ||
        !core_features_take(state, values[SETUP_ARGUMENTS], SLC_IMAGE_ALL, &setup.config.features)) {
        return NULL;
    }
    labeller *made = PyObject_New(labeller, type);
    if (made == NULL) {
        return NULL;
    }
    made->setup = setup;
    made->own = (core_labeller){.labeller = NULL};
    /* What is wrong with the configuration is told here, and not by the first image. */
    const slc_image_label_config config = core_setup_config(&setup, SLC_IMAGE_U8);
    core_labeller *one = core_labeller_take(state, &made->own, &config, 0, 0);
    if (one == NULL) {
        Py_DECREF(made);
        return NULL;
    }
    core_labeller_give(one);
    return (PyObject *)made;
}

static void labeller_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    core_labeller_close(&((labeller *)self)->own);
    PyObject_Free(self);
    Py_DECREF(type);
}

static bool needs_image(const char *function, PyObject *const *values)
{
    if (values[0] == NULL) {
        PyErr_Format(PyExc_TypeError, "%s() needs an image", function);
    }
    return values[0] != NULL;
}

/* Without features of its own: labels alone are wanted. */
static image_setup without_features(const labeller *self)
{
    image_setup setup = self->setup;
    setup.config.features = 0;
    return setup;
}

static PyObject *labeller_label(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    static const char *const names[] = {"image", "out", "dtype"};
    PyObject *values[3];
    if (!core_arguments("label", arguments, n, given, names, 3, 1, values) || !needs_image("label", values)) {
        return NULL;
    }
    return core_label(core_state_of_type(Py_TYPE(self)), &((labeller *)self)->setup, &((labeller *)self)->own,
                      values[0], values[1], values[2]);
}

static PyObject *labeller_components(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                                     PyObject *given)
{
    static const char *const names[] = {"image", "grey", "labels", "out", "dtype"};
    PyObject *values[5];
    image_wish wish = {.labels = false};
    if (!core_arguments("components", arguments, n, given, names, 5, 1, values) ||
        !needs_image("components", values) || !core_take_bool(values[2], "labels", &wish.labels)) {
        return NULL;
    }
    wish.image = values[0];
    wish.grey = values[1];
    wish.out = values[3];
    wish.dtype = values[4];
    return core_components(core_state_of_type(Py_TYPE(self)), &((labeller *)self)->setup,
                           &((labeller *)self)->own, &wish);
}

/* ---- many images --------------------------------------------------------------------------------- */

static bool take_threads(core_state *state, const labeller *self, PyObject *value, uint32_t *threads)
{
    uint64_t number = self->setup.config.exec.threads;
    if (!core_take_u64(state, value, "threads", 4096, &number)) {
        return false;
    }
    *threads = (uint32_t)number;
    return true;
}

static PyObject *labeller_batch(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    static const char *const names[] = {"images", "out", "dtype", "threads"};
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *values[4];
    stack_wish wish = {.labels = true};
    if (!core_arguments("batch", arguments, n, given, names, 4, 1, values) || !needs_image("batch", values) ||
        !take_threads(state, (labeller *)self, values[3], &wish.threads)) {
        return NULL;
    }
    const image_setup setup = without_features((labeller *)self);
    wish.images = values[0];
    wish.out = values[1];
    wish.dtype = values[2];
    return core_stack_run(state, &setup, &((labeller *)self)->own, &wish);
}

static PyObject *labeller_batch_components(PyObject *self, PyObject *const *arguments, Py_ssize_t n,
                                           PyObject *given)
{
    static const char *const names[] = {"images", "grey", "labels", "out", "dtype", "threads"};
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *values[6];
    stack_wish wish = {.components = true};
    if (!core_arguments("batch_components", arguments, n, given, names, 6, 1, values) ||
        !needs_image("batch_components", values) || !core_take_bool(values[2], "labels", &wish.labels) ||
        !take_threads(state, (labeller *)self, values[5], &wish.threads)) {
        return NULL;
    }
    wish.images = values[0];
    wish.grey = values[1];
    wish.out = values[3];
    wish.dtype = values[4];
    return core_stack_run(state, &((labeller *)self)->setup, &((labeller *)self)->own, &wish);
}

#define FAST(f) (PyCFunction)(void (*)(void))(f), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef labeller_methods[] = {
    {"label", FAST(labeller_label),
     "label(image, *, out=None, dtype=None)\n--\n\nAs sluice.image.label: (labels, n)."},
    {"components", FAST(labeller_components),
     "components(image, *, grey=None, labels=False, out=None, dtype=None)\n--\n\n"
     "As sluice.image.components, of the features that the labeller was made for."},
    {"batch", FAST(labeller_batch),
     "batch(images, *, out=None, dtype=None, threads=None)\n--\n\n"
     "Labels of many images, shared by threads (None: as many as the labeller was made with, 0: one for each "
     "processor),\n"
     "each image by one of them: (labels, counts), counts int64 (n,). images: an array (n, h, w), whose "
     "labels are one\n"
     "array (n, h, w), or a list of images of any sizes, whose labels are a list. Ctrl-C ends it within 0.1 "
     "s."},
    {"batch_components", FAST(labeller_batch_components),
     "batch_components(images, *, grey=None, labels=False, out=None, dtype=None, threads=None)\n--\n\n"
     "Components of many images: columns whose event i is image i, or with labels=True (labels, columns)."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot labeller_slots[] = {
    {Py_tp_doc, "Labeller(*, connectivity=8, threshold=None, inverse=False, min_area=0, max_area=None, "
                "border='any', threads=1, "
                "algorithm='auto', device=None, features=('area', 'box', 'centroid'))\n--\n\n"
                "What sluice.image.label and components are asked for, checked once and kept with the memory "
                "that it needs. Any\n"
                "number of threads may use one: the first works in its memory, the others in memory that the "
                "module keeps."},
    {Py_tp_new, CORE_SLOT(labeller_new)},
    {Py_tp_dealloc, CORE_SLOT(labeller_free)},
    {Py_tp_methods, labeller_methods},
    {0, NULL}};
static PyType_Spec labeller_spec = {.name = "sluice.image.Labeller",
                                    .basicsize = sizeof(labeller),
                                    .flags = Py_TPFLAGS_DEFAULT,
                                    .slots = labeller_slots};

int core_labeller_add(PyObject *module, core_state *state)
{
    state->labeller_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &labeller_spec, NULL);
    return state->labeller_type != NULL
               ? PyModule_AddObjectRef(module, "Labeller", (PyObject *)state->labeller_type)
               : -1;
}
