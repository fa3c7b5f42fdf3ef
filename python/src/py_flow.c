/* SPDX-License-Identifier: Apache-2.0
 * Events from files through a chain: the library's flow as an iterator of batches. */
#include "py_flow.h"

#include <string.h>
#include <unistd.h>

typedef struct reader {
    PyObject_HEAD PyObject *flow; /* the Owner of a running; NULL when closed */
    PyObject *progress;           /* called with the number of events so far; or NULL */
    slc_flow_totals totals;       /* when it was closed */
    PyObject *more;               /* … and what the chain added to them; or NULL */
    uint64_t events;              /* handed out */
    bool busy;
} reader;

static int reader_visit(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((reader *)self)->progress);
    return 0;
}

static int reader_clear(PyObject *self)
{
    Py_CLEAR(((reader *)self)->progress);
    return 0;
}

static void reader_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)reader_clear(self);
    Py_XDECREF(((reader *)self)->more);
    Py_XDECREF(((reader *)self)->flow);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- what was lost --------------------------------------------------------------------------------- */

/* The first fault in words; "" without one. */
static void first_place(const slc_faults *faults, char *text, size_t size)
{
    char place[200];
    text[0] = '\0';
    const slc_fault *first = faults->kept;
    for (uint32_t i = 1; i < faults->n_kept; i++) { /* stages may find that of a later event before it */
        first = faults->kept[i].event < first->event ? &faults->kept[i] : first;
    }
    if (faults->n_kept > 0) {
        slc_fault_place(first, "source", place, sizeof place);
        (void)PyOS_snprintf(text, size, "; first %s: %s", place, slc_fault_text(first->code));
    }
}

/* " (2 bank_magic, 1 record_size)"; "" without any. */
static void kinds_of(const slc_faults *faults, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < faults->n_kinds && used + 64 < size; i++) {
        (void)PyOS_snprintf(text + used, size - used, "%s%llu %s", i == 0 ? " (" : ", ",
                            (unsigned long long)faults->kind[i].n, slc_fault_name(faults->kind[i].code));
        used = strlen(text);
    }
    (void)PyOS_snprintf(text + used, size - used, "%s", used > 0 ? ")" : "");
}

bool core_warn(core_state *state, const core_lines *lines)
{
    bool good = true;
    for (Py_ssize_t i = 0; i < PyList_Size(lines->list) && good; i++) {
        PyObject *bytes = PyUnicode_AsEncodedString(PyList_GetItem(lines->list, i), "utf-8", "replace");
        good = bytes != NULL && PyErr_WarnEx(state->damage_warning, PyBytes_AsString(bytes), 1) == 0;
        Py_XDECREF(bytes);
    }
    return good;
}

/* What an input has lost, and what was damaged in it: a line, or with on_fault "raise" an error. False
 * with an error set. */
static bool tell_damage(core_state *state, const running *r, const slc_flow_item *end, core_lines *lines)
{
    slc_faults all = {.n_kinds = 0};
    char first[400], kinds[300], text[900];
    slc_faults_merge(&all, &r->faults);
    slc_faults_merge(&all, &end->reading);
    if (slc_faults_total(&all) == 0 && end->totals.lost_events == 0 && end->totals.incomplete_events == 0) {
        return true;
    }
    first_place(&all, first, sizeof first);
    kinds_of(&all, kinds, sizeof kinds);
    (void)PyOS_snprintf(text, sizeof text, "%llu events read, %llu lost, %llu incomplete, %llu faults%s%s",
                        (unsigned long long)end->totals.events, (unsigned long long)end->totals.lost_events,
                        (unsigned long long)end->totals.incomplete_events,
                        (unsigned long long)slc_faults_total(&all), kinds, first);
    const char *path = end->path != NULL ? end->path : "all inputs";
    const char *between = end->damage[0] != '\0' ? "; " : "";
    if (r->on_fault == ON_FAULT_RAISE) {
        slc_error error = {SLC_OK, ""};
        (void)slc_fail(&error, SLC_ERR_STRICT, "%s: %s%s%s", path, text, between, end->damage);
        (void)core_raise(state, SLC_ERR_STRICT, &error);
        return false;
    }
    core_tell(lines, "%s: %s%s%s", path, text, between, end->damage);
    return true;
}

/* The end of an input, which is released. False with an error set. */
static bool end_input(core_state *state, running *r, slc_flow_item *item)
{
    core_lines lines = {PyList_New(0)};
    bool good = lines.list != NULL && PyErr_CheckSignals() == 0;
    if (good && item->ended) {
        if (r->chain->end != NULL) {
            r->chain->end(r, item, &lines);
        }
        good = r->on_fault == ON_FAULT_IGNORE || (item->status < 0 && r->on_fault == ON_FAULT_RAISE) ||
               tell_damage(state, r, item, &lines);
        good = good && (r->on_fault == ON_FAULT_IGNORE || core_warn(state, &lines));
    }
    if (good && item->status < 0) {
        (void)core_raise(state, item->status, &item->error);
        good = false;
    }
    Py_XDECREF(lines.list);
    slc_faults_reset(&r->faults);
    slc_flow_release(r->flow, item);
    return good;
}

/* The end of all. False with an error set. */
static bool end_all(core_state *state, running *r)
{
    core_lines lines = {r->chain->end_all != NULL ? PyList_New(0) : NULL};
    bool good = true;
    if (lines.list != NULL) {
        r->chain->end_all(r, &lines);
        good = r->on_fault == ON_FAULT_IGNORE || core_warn(state, &lines);
    }
    Py_XDECREF(lines.list);
    return good && PyErr_Occurred() == NULL;
}

/* ---- the next batch -------------------------------------------------------------------------------- */

static PyObject *more_totals(const running *r)
{
    PyObject *more = r->chain->totals != NULL ? PyDict_New() : NULL;
    if (more != NULL && !r->chain->totals(r, more)) {
        Py_CLEAR(more);
    }
    return more;
}

static void close_reader(reader *self)
{
    if (self->flow != NULL) {
        PyObject *flow = self->flow;
        running *r = core_owner_memory(flow);
        self->flow = NULL;
        if (r->process == (long)getpid()) {
            slc_flow_totals_of(r->flow, &self->totals);
            PyObject *type, *value, *trace; /* it may end with an error */
            PyErr_Fetch(&type, &value, &trace);
            self->more = more_totals(r);
            PyErr_Restore(type, value, trace);
            r->stop = true;
            slc_flow_cancel(r->flow);
        }
        Py_DECREF(flow);
        (void)reader_clear((PyObject *)self);
    }
}

/* The first fault of a batch, if none is allowed. */
static bool judge(core_state *state, const running *r, const slc_flow_item *item)
{
    if (r->on_fault == ON_FAULT_RAISE && slc_faults_total(&r->faults) > 0) {
        slc_error error;
        char first[400];
        first_place(&r->faults, first, sizeof first);
        (void)slc_fail(&error, SLC_ERR_STRICT, "%s%s%s%s", item->path, first,
                       item->damage[0] != '\0' ? "; " : "", item->damage);
        (void)core_raise(state, SLC_ERR_STRICT, &error);
        return false;
    }
    return true;
}

static bool show_progress(const reader *self)
{
    PyObject *made = self->progress != NULL
                         ? PyObject_CallFunction(self->progress, "K", (unsigned long long)self->events)
                         : Py_NewRef(Py_None);
    Py_XDECREF(made);
    return made != NULL;
}

/* Takes the item. */
static PyObject *take_batch(core_state *state, reader *self, PyObject *flow, slc_flow_item *item)
{
    running *r = core_owner_memory(flow);
    slc_error error = {SLC_OK, ""};
    bool good = PyErr_CheckSignals() == 0;
    slc_faults_merge(&r->faults, &item->reading);
    r->chain->faults(item, &r->faults);
    good = good && judge(state, r, item);
    if (good && r->chain->take != NULL) {
        const slc_status status = r->chain->take(r, item, &error);
        if (status < 0) {
            (void)core_raise(state, status, &error);
            good = false;
        }
    }
    if (!good) {
        slc_flow_release(r->flow, item);
        return NULL;
    }
    self->events += item->n_summed;
    PyObject *made = core_batch_new(state, flow, item);
    if (made != NULL && !show_progress(self)) {
        Py_CLEAR(made);
    }
    return made;
}

/* Waits for it, without the interpreter's lock, and looks after signals now and then: SLC_OK without an item
 * if one raised an error. */
static slc_status next_item(running *r, slc_flow_item **item, slc_error *error)
{
    slc_status status;
    do {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_flow_next(r->flow, item, error);
        PyEval_RestoreThread(thread);
    } while (status == SLC_OK && *item == NULL && PyErr_CheckSignals() == 0);
    return status;
}

static bool may_read(const reader *self)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is waiting for this reader's next batch");
        return false;
    }
    if (self->flow != NULL && ((running *)core_owner_memory(self->flow))->process != (long)getpid()) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "this reader was opened before fork(), and its threads are the parent's: open another");
        return false;
    }
    return true;
}

static PyObject *reader_next(PyObject *object)
{
    reader *self = (reader *)object;
    core_state *state = core_state_of_type(Py_TYPE(object));
    bool go_on = may_read(self);
    PyObject *made = NULL;
    while (go_on && made == NULL && self->flow != NULL) {
        PyObject *flow = Py_NewRef(self->flow); /* close() may come in between */
        running *r = core_owner_memory(flow);
        slc_flow_item *item = NULL;
        slc_error error = {SLC_OK, ""};
        self->busy = true;
        const slc_status status = next_item(r, &item, &error);
        if (status == SLC_OK && item == NULL) {
            go_on = false;
        } else if (status == SLC_OK && !item->ended && item->status == SLC_OK) {
            made = take_batch(state, self, flow, item);
            go_on = made != NULL;
        } else if (status == SLC_OK) {
            go_on = end_input(state, r, item);
        } else if (status == SLC_END) {
            go_on = end_all(state, r) && false;
        } else {
            (void)core_raise(state, status, &error);
            go_on = false;
        }
        self->busy = false;
        if (status != SLC_OK) {
            close_reader(self);
        }
        Py_DECREF(flow);
    }
    return made; /* NULL: an error, or the end */
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
    PyObject *more = Py_XNewRef(of->more);
    if (of->flow != NULL) {
        running *r = core_owner_memory(of->flow);
        slc_flow_totals_of(r->flow, &totals);
        more = more_totals(r);
    }
    PyObject *made = PyErr_Occurred() == NULL ? PyDict_New() : NULL;
    if (made != NULL &&
        (!core_put_u64(made, "events", of->events) ||
         !core_put_u64(made, "lost_events", totals.lost_events) ||
         !core_put_u64(made, "checksum", totals.checksum) || !core_put_u64(made, "workers", totals.workers) ||
         !core_put_double(made, "seconds", totals.seconds) ||
         !core_put(made, "reading_faults", core_fault_counts(&totals.faults)) ||
         (more != NULL && PyDict_Update(made, more) < 0))) {
        Py_CLEAR(made);
    }
    Py_XDECREF(more);
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
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "For annotations: Reader[Batch]."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot reader_slots[] = {
    {Py_tp_doc, "Iterates over batches of events, in the order of the input. One thread at a time."},
    {Py_tp_dealloc, CORE_SLOT(reader_free)},
    {Py_tp_traverse, CORE_SLOT(reader_visit)},
    {Py_tp_clear, CORE_SLOT(reader_clear)},
    {Py_tp_iter, CORE_SLOT(reader_self)},
    {Py_tp_iternext, CORE_SLOT(reader_next)},
    {Py_tp_getset, reader_get},
    {Py_tp_methods, reader_methods},
    {0, NULL}};
static PyType_Spec reader_spec = {.name = "sluice.Reader",
                                  .basicsize = sizeof(reader),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                           Py_TPFLAGS_HAVE_GC,
                                  .slots = reader_slots};

PyObject *core_flow_open(core_state *state, opening *o, const void *setup)
{
    slc_error error = {SLC_OK, ""};
    slc_status status;
    running *r = o->running;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_flow_open(&o->config, r->chain->flow, setup, &r->flow, &error);
    if (status == SLC_OK && r->chain->opened != NULL) {
        status = r->chain->opened(r, &error);
    }
    PyEval_RestoreThread(thread);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
        return core_flow_drop(o);
    }
    reader *made = PyObject_GC_New(reader, state->reader_type);
    if (made == NULL) {
        return core_flow_drop(o);
    }
    made->flow = o->owner;
    made->progress = o->progress != Py_None ? Py_NewRef(o->progress) : NULL;
    made->totals = (slc_flow_totals){.workers = 0};
    made->more = NULL;
    made->events = 0;
    made->busy = false;
    PyObject_GC_Track((PyObject *)made);
    return (PyObject *)made;
}

int core_flow_add(PyObject *module, core_state *state)
{
    state->reader_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &reader_spec, NULL);
    return state->reader_type != NULL && core_batch_add(module, state) == 0
               ? PyModule_AddObjectRef(module, "Reader", (PyObject *)state->reader_type)
               : -1;
}
