/* SPDX-License-Identifier: Apache-2.0
 * Events from files through a chain: the library's flow as an iterator of batches. A batch is the flow's own
 * memory, which goes back to it when the last view of it is gone; so it lives as long as the user holds
 * anything of it, also after the reader was closed. */
#include "py_flow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a flow that is under way ---------------------------------------------------------------------- */

void core_running_free(void *memory)
{
    running *r = memory;
    if (r->process == (long)getpid()) { /* a child of fork() leaves it, with threads that are not there */
        PyThreadState *const thread = PyEval_SaveThread();
        slc_flow_close(r->flow);
        PyEval_RestoreThread(thread);
    }
    for (uint32_t i = 0; i < r->n_paths; i++) {
        PyMem_Free(r->paths[i]);
    }
    PyMem_Free(r->paths);
    free(r);
}

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

/* ---- batch --------------------------------------------------------------------------------------- */

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

static PyObject *batch_attribute(PyObject *self, PyObject *name)
{
    batch *b = (batch *)self;
    PyObject *there = PyDict_GetItemWithError(b->groups, name);
    if (there != NULL || PyErr_Occurred() != NULL) {
        return Py_XNewRef(there);
    }
    const held *h = held_of(self);
    const running *r = core_owner_memory(h->flow);
    for (const group *g = r->groups; g->name != NULL; g++) {
        if (PyUnicode_CompareWithASCIIString(name, g->name) == 0) {
            there = core_columns_new(core_state_of_type(Py_TYPE(self)), b->owner, g->schema,
                                     (const char *)h->item->result + g->place);
            if (there != NULL && PyDict_SetItem(b->groups, name, there) < 0) {
                Py_CLEAR(there);
            }
            return there;
        }
    }
    return PyObject_GenericGetAttr(self, name);
}

static PyObject *batch_path(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(held_of(self)->item->path);
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

static PyObject *counts_of(const slc_faults *faults)
{
    PyObject *counts = PyDict_New();
    for (uint32_t i = 0; i < faults->n_kinds && counts != NULL; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(faults->kind[i].n);
        if (n == NULL || PyDict_SetItemString(counts, slc_fault_name(faults->kind[i].code), n) < 0) {
            Py_CLEAR(counts);
        }
        Py_XDECREF(n);
    }
    return counts;
}

static PyObject *batch_faults(PyObject *self, void *unused)
{
    (void)unused;
    const slc_flow_item *item = held_of(self)->item;
    slc_faults sum = {.n_kinds = 0};
    slc_faults_merge(&sum, &item->reading);
    slc_faults_merge(&sum, &((const slc_flow_velo_result *)item->result)->found.faults);
    return counts_of(&sum);
}

static PyGetSetDef batch_get[] = {
    {"path", batch_path, NULL, "the input that the events are of", NULL},
    {"number", batch_number, NULL, "of the batch, from 0", NULL},
    {"n_events", batch_n_events, NULL, "number of events", NULL},
    {"faults", batch_faults, NULL, "what is damaged in the events: a count by name", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot batch_slots[] = {
    {Py_tp_doc, "Events that are through the chain. Its collections are attributes, each a Columns."},
    {Py_tp_dealloc, CORE_SLOT(batch_free)},
    {Py_tp_getattro, CORE_SLOT(batch_attribute)},
    {Py_tp_getset, batch_get},
    {0, NULL}};
static PyType_Spec batch_spec = {.name = "sluice.Batch",
                                 .basicsize = sizeof(batch),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = batch_slots};

/* Takes the item, also on failure. */
static PyObject *new_batch(core_state *state, PyObject *flow, slc_flow_item *item)
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

/* ---- reader --------------------------------------------------------------------------------------- */

typedef struct reader {
    PyObject_HEAD PyObject *flow; /* the Owner of a running; NULL when closed */
    slc_flow_totals totals;       /* when it was closed */
    on_fault on_fault;
    uint64_t events; /* handed out */
    bool busy;
} reader;

static void reader_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((reader *)self)->flow);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The first fault in words; "" without one. */
static void first_place(const slc_faults *faults, char *text, size_t size)
{
    char place[200];
    text[0] = '\0';
    if (faults->n_kept > 0) {
        slc_fault_place(&faults->kept[0], "source", place, sizeof place);
        (void)PyOS_snprintf(text, size, "; first %s: %s", place, slc_fault_text(faults->kept[0].code));
    }
}

/* What an input has lost, and what was damaged in it: a warning, or with on_fault "raise" an error. False
 * with an error set. */
static bool tell(core_state *state, const reader *self, const running *r, const slc_flow_item *end)
{
    slc_error error = {SLC_OK, ""};
    slc_faults all = {.n_kinds = 0};
    char first[400];
    slc_faults_merge(&all, &r->faults);
    slc_faults_merge(&all, &end->reading);
    if (slc_faults_total(&all) == 0 && end->totals.lost_events == 0 && end->totals.incomplete_events == 0) {
        return true;
    }
    first_place(&all, first, sizeof first);
    (void)slc_fail(
        &error, SLC_ERR_STRICT, "%s: %llu events read, %llu lost, %llu incomplete, %llu faults%s%s%s",
        end->path, (unsigned long long)end->totals.events, (unsigned long long)end->totals.lost_events,
        (unsigned long long)end->totals.incomplete_events, (unsigned long long)slc_faults_total(&all), first,
        end->damage[0] != '\0' ? "; " : "", end->damage);
    if (self->on_fault == ON_FAULT_RAISE) {
        (void)core_raise(state, SLC_ERR_STRICT, &error);
        return false;
    }
    PyObject *message = PyUnicode_DecodeLocale(error.text, "surrogateescape");
    PyObject *utf8 = message != NULL ? PyUnicode_AsEncodedString(message, "utf-8", "replace") : NULL;
    const int status = utf8 != NULL ? PyErr_WarnEx(state->damage_warning, PyBytes_AsString(utf8), 1) : -1;
    Py_XDECREF(utf8);
    Py_XDECREF(message);
    return status == 0;
}

static void close_reader(reader *self)
{
    if (self->flow != NULL) {
        running *r = core_owner_memory(self->flow);
        if (r->process == (long)getpid()) {
            slc_flow_totals_of(r->flow, &self->totals);
            slc_flow_cancel(r->flow);
        }
        Py_CLEAR(self->flow);
    }
}

/* The end of an input, which is released. False with an error set. */
static bool end_input(core_state *state, reader *self, running *r, slc_flow_item *item)
{
    bool good = true;
    if (item->status < 0) {
        (void)core_raise(state, item->status, &item->error);
        good = false;
    } else if (self->on_fault != ON_FAULT_IGNORE) {
        good = tell(state, self, r, item);
    }
    slc_faults_reset(&r->faults);
    slc_flow_release(r->flow, item);
    return good;
}

/* A batch, or the first fault of one if none is allowed. Takes the item. */
static PyObject *take_batch(core_state *state, reader *self, PyObject *flow, slc_flow_item *item)
{
    running *r = core_owner_memory(flow);
    bool good = PyErr_CheckSignals() == 0;
    slc_faults_merge(&r->faults, &item->reading);
    slc_faults_merge(&r->faults, &((slc_flow_velo_result *)item->result)->found.faults);
    if (good && self->on_fault == ON_FAULT_RAISE && slc_faults_total(&r->faults) > 0) {
        slc_error error;
        char first[400];
        first_place(&r->faults, first, sizeof first);
        (void)slc_fail(&error, SLC_ERR_STRICT, "%s%s%s%s", item->path, first,
                       item->damage[0] != '\0' ? "; " : "", item->damage);
        (void)core_raise(state, SLC_ERR_STRICT, &error);
        good = false;
    }
    if (!good) {
        slc_flow_release(r->flow, item);
        return NULL;
    }
    self->events += item->n_summed;
    return new_batch(state, flow, item);
}

static PyObject *reader_next(PyObject *object)
{
    reader *self = (reader *)object;
    core_state *state = core_state_of_type(Py_TYPE(object));
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is waiting for this reader's next batch");
        return NULL;
    }
    if (self->flow != NULL && ((running *)core_owner_memory(self->flow))->process != (long)getpid()) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "this reader was opened before fork(), and its threads are the parent's: open another");
        return NULL;
    }
    while (self->flow != NULL) {
        PyObject *flow = Py_NewRef(self->flow); /* close() may come in between */
        running *r = core_owner_memory(flow);
        slc_flow_item *item = NULL;
        slc_error error = {SLC_OK, ""};
        slc_status status;
        self->busy = true;
        do { /* back now and then, for KeyboardInterrupt */
            PyThreadState *const thread = PyEval_SaveThread();
            status = slc_flow_next(r->flow, &item, &error);
            PyEval_RestoreThread(thread);
        } while (status == SLC_OK && item == NULL && PyErr_CheckSignals() == 0);
        self->busy = false;
        if (status == SLC_OK && item == NULL) {
            Py_DECREF(flow);
            return NULL;
        }
        if (status == SLC_OK && !item->ended && item->status == SLC_OK) {
            PyObject *made = take_batch(state, self, flow, item);
            Py_DECREF(flow);
            return made;
        }
        const bool go_on = status == SLC_OK && PyErr_CheckSignals() == 0 && end_input(state, self, r, item);
        if (status < 0) {
            (void)core_raise(state, status, &error);
        }
        Py_DECREF(flow);
        if (!go_on) {
            if (status != SLC_OK) {
                close_reader(self);
            }
            return NULL; /* an error, or the end */
        }
    }
    return NULL;
}

static PyObject *reader_self(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *reader_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_reader((reader *)self);
    return Py_NewRef(Py_None);
}

static PyObject *reader_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *reader_exit(PyObject *self, PyObject *arguments)
{
    (void)arguments;
    return reader_close(self, NULL);
}

static PyObject *reader_totals(PyObject *self, void *unused)
{
    (void)unused;
    const reader *of = (reader *)self;
    slc_flow_totals totals = of->totals;
    if (of->flow != NULL) {
        running *r = core_owner_memory(of->flow);
        slc_flow_totals_of(r->flow, &totals);
    }
    PyObject *faults = counts_of(&totals.faults);
    PyObject *made = faults == NULL ? NULL
                                    : Py_BuildValue("{s:K,s:K,s:K,s:I,s:d,s:O}", "events",
                                                    (unsigned long long)of->events, "lost_events",
                                                    (unsigned long long)totals.lost_events, "checksum",
                                                    (unsigned long long)totals.checksum, "workers",
                                                    (unsigned int)totals.workers, "seconds", totals.seconds,
                                                    "reading_faults", faults);
    Py_XDECREF(faults);
    return made;
}

static PyObject *reader_checksum(PyObject *self, void *unused)
{
    PyObject *totals = reader_totals(self, unused);
    PyObject *sum = totals != NULL ? Py_XNewRef(PyDict_GetItemString(totals, "checksum")) : NULL;
    Py_XDECREF(totals);
    return sum;
}

static PyGetSetDef reader_get[] = {
    {"totals", reader_totals, NULL, "what was handed out so far: events, lost_events, checksum, seconds …",
     NULL},
    {"checksum", reader_checksum, NULL, "of all that was handed out, the command's: docs/formats/checksum.md",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef reader_methods[] = {
    {"close", reader_close, METH_NOARGS,
     "close()\n--\n\nEnds reading. Batches that are held stay as they are."},
    {"__enter__", reader_enter, METH_NOARGS, NULL},
    {"__exit__", reader_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "Iterates over batches of events, in the order of the input. One thread at a time."},
    {Py_tp_dealloc, CORE_SLOT(reader_free)},
    {Py_tp_iter, CORE_SLOT(reader_self)},
    {Py_tp_iternext, CORE_SLOT(reader_next)},
    {Py_tp_getset, reader_get},
    {Py_tp_methods, reader_methods},
    {0, NULL}};
static PyType_Spec reader_spec = {.name = "sluice.Reader",
                                  .basicsize = sizeof(reader),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = reader_slots};

PyObject *core_reader_new(core_state *state, PyObject *flow, on_fault fault)
{
    reader *made = PyObject_New(reader, state->reader_type);
    if (made != NULL) {
        made->flow = Py_NewRef(flow);
        made->totals = (slc_flow_totals){.workers = 0};
        made->on_fault = fault;
        made->events = 0;
        made->busy = false;
    }
    return (PyObject *)made;
}

int core_flow_add(PyObject *module, core_state *state)
{
    state->reader_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &reader_spec, NULL);
    state->batch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &batch_spec, NULL);
    return state->reader_type != NULL && state->batch_type != NULL &&
                   PyModule_AddObjectRef(module, "Reader", (PyObject *)state->reader_type) == 0
               ? PyModule_AddObjectRef(module, "Batch", (PyObject *)state->batch_type)
               : -1;
}
