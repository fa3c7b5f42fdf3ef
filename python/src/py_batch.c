/* SPDX-License-Identifier: Apache-2.0
 * A batch: the flow's own memory, which goes back to it when the last view of it is gone; so it lives as long
 * as the user holds anything of it, also after the reader was closed. */
#include "py_flow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An item that is out; it keeps its flow. */
typedef struct held {
    PyObject *flow; /* the Owner of the running */
    slc_flow_item *item;
} held;

static void held_free(void *memory)
{
    held *h = memory;
    running *r = core_owner_memory(h->flow);
    if (r->process == (long)getpid()) {
        slc_flow_release(r->flow, h->item);
    }
    Py_DECREF(h->flow);
    free(h);
}

typedef struct batch {
    PyObject_HEAD PyObject *owner; /* of the held item */
    PyObject *groups;              /* a dict: Columns that were asked for */
} batch;

static void batch_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((batch *)self)->groups);
    Py_XDECREF(((batch *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static const held *held_of(PyObject *self)
{
    return core_owner_memory(((batch *)self)->owner);
}

/* NULL: this batch has no such group. */
static const void *collection_of(const running *r, const slc_flow_item *item, const group *g,
                                 const slc_schema **schema)
{
    *schema = g->schema;
    if (g->with != NULL && (r->has & g->bit) == 0) {
        return NULL;
    }
    return g->find != NULL ? g->find(r, item, schema)
                           : (const char *)(g->of_user ? item->user : item->result) + g->place;
}

/* One that is not kept yet; NULL without an error if there is none of this name. */
static PyObject *make_attribute(batch *b, const char *name)
{
    const held *h = core_owner_memory(b->owner);
    const running *r = core_owner_memory(h->flow);
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)b));
    for (const group *g = r->chain->groups; g->name != NULL; g++) {
        if (strcmp(name, g->name) == 0) {
            const slc_schema *schema;
            const void *collection = collection_of(r, h->item, g, &schema);
            if (collection == NULL) {
                return g->with != NULL
                           ? PyErr_Format(PyExc_AttributeError,
                                          "the batch has no %s: open() makes them with %s", name, g->with)
                           : NULL;
            }
            return core_columns_new(state, b->owner, schema, collection);
        }
    }
    return r->chain->attribute != NULL ? r->chain->attribute(state, b->owner, r, h->item, name) : NULL;
}

static PyObject *batch_attribute(PyObject *self, PyObject *name)
{
    batch *b = (batch *)self;
    PyObject *there = PyDict_GetItemWithError(b->groups, name);
    if (there != NULL || PyErr_Occurred() != NULL) {
        return Py_XNewRef(there);
    }
    PyObject *bytes = PyUnicode_AsUTF8String(name);
    const char *text = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    there = text != NULL ? make_attribute(b, text) : NULL;
    Py_XDECREF(bytes);
    if (there != NULL && PyDict_SetItem(b->groups, name, there) < 0) {
        Py_CLEAR(there);
    }
    return there != NULL || PyErr_Occurred() != NULL ? there : PyObject_GenericGetAttr(self, name);
}

static PyObject *batch_path(PyObject *self, void *unused)
{
    (void)unused;
    const char *path = held_of(self)->item->path;
    return path != NULL ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

static PyObject *batch_number(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(held_of(self)->item->number);
}

static PyObject *batch_n_events(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(held_of(self)->item->n_summed);
}

static PyObject *batch_checksum(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(held_of(self)->item->checksum);
}

static PyObject *batch_faults(PyObject *self, void *unused)
{
    (void)unused;
    const held *h = held_of(self);
    slc_faults sum = {.n_kinds = 0};
    slc_faults_merge(&sum, &h->item->reading);
    ((const running *)core_owner_memory(h->flow))->chain->faults(h->item, &sum);
    return core_fault_counts(&sum);
}

static bool append_text(PyObject *list, const char *text)
{
    PyObject *name = PyUnicode_FromString(text);
    const bool good = name != NULL && PyList_Append(list, name) == 0;
    Py_XDECREF(name);
    return good;
}

static PyObject *batch_names(PyObject *self, void *unused)
{
    (void)unused;
    const held *h = held_of(self);
    const running *r = core_owner_memory(h->flow);
    const slc_schema *schema;
    PyObject *list = PyList_New(0);
    for (const group *g = r->chain->groups; g->name != NULL && list != NULL; g++) {
        if (collection_of(r, h->item, g, &schema) != NULL && !append_text(list, g->name)) {
            Py_CLEAR(list);
        }
    }
    for (const char *const *n = r->chain->names; n != NULL && *n != NULL && list != NULL; n++) {
        if (!append_text(list, *n)) {
            Py_CLEAR(list);
        }
    }
    PyObject *names = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return names;
}

static PyObject *batch_dir(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *names = batch_names(self, NULL);
    PyObject *own = names != NULL ? PyObject_CallMethod((PyObject *)&PyBaseObject_Type, "__dir__", "O", self)
                                  : NULL;
    PyObject *list = own != NULL ? PySequence_List(own) : NULL;
    PyObject *all = list != NULL ? PySequence_InPlaceConcat(list, names) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(own);
    Py_XDECREF(names);
    return all;
}

static PyObject *batch_repr(PyObject *self)
{
    const held *h = held_of(self);
    PyObject *names = batch_names(self, NULL);
    PyObject *made = names != NULL ? PyUnicode_FromFormat("<Batch %llu: %llu events with %R>",
                                                          (unsigned long long)h->item->number,
                                                          (unsigned long long)h->item->n_summed, names)
                                   : NULL;
    Py_XDECREF(names);
    return made;
}

static PyGetSetDef batch_get[] = {
    {"path", batch_path, NULL, "the input that the events are of; None if they are of no single one", NULL},
    {"number", batch_number, NULL, "of the batch, from 0", NULL},
    {"n_events", batch_n_events, NULL, "number of events", NULL},
    {"names", batch_names, NULL, "what it holds: names of attributes", NULL},
    {"checksum", batch_checksum, NULL, "what its events would be as a run: docs/formats/checksum.md", NULL},
    {"faults", batch_faults, NULL, "what is damaged in the events: a count by name", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef batch_methods[] = {{"__dir__", batch_dir, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot batch_slots[] = {
    {Py_tp_doc, "Events that are through the chain. Its collections are attributes, each a Columns."},
    {Py_tp_dealloc, CORE_SLOT(batch_free)},
    {Py_tp_getattro, CORE_SLOT(batch_attribute)},
    {Py_tp_repr, CORE_SLOT(batch_repr)},
    {Py_tp_getset, batch_get},
    {Py_tp_methods, batch_methods},
    {0, NULL}};
static PyType_Spec batch_spec = {.name = "sluice.Batch",
                                 .basicsize = sizeof(batch),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = batch_slots};

PyObject *core_batch_new(core_state *state, PyObject *flow, slc_flow_item *item)
{
    running *r = core_owner_memory(flow);
    held *h = malloc(sizeof *h);
    if (h == NULL) {
        slc_flow_release(r->flow, item);
        return PyErr_NoMemory();
    }
    *h = (held){Py_NewRef(flow), item};
    PyObject *owner = core_owner_new(state, h, held_free);
    PyObject *groups = owner != NULL ? PyDict_New() : NULL;
    batch *made = groups != NULL ? PyObject_New(batch, state->batch_type) : NULL;
    if (made == NULL) {
        Py_XDECREF(groups);
        Py_XDECREF(owner);
        return NULL;
    }
    made->owner = owner;
    made->groups = groups;
    return (PyObject *)made;
}

int core_batch_add(PyObject *module, core_state *state)
{
    state->batch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &batch_spec, NULL);
    return state->batch_type != NULL ? PyModule_AddObjectRef(module, "Batch", (PyObject *)state->batch_type)
                                     : -1;
}
