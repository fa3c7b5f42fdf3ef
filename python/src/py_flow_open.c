/* SPDX-License-Identifier: Apache-2.0
 * What every chain's open() is given, and small things that readers of all chains share. */
#include "py_flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- small things ---------------------------------------------------------------------------------- */

const char *core_path(PyObject *object, PyObject **bytes)
{
    return PyUnicode_FSConverter(object, bytes) != 0 ? PyBytes_AsString(*bytes) : NULL;
}

bool core_put(PyObject *dict, const char *name, PyObject *value)
{
    const bool good = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

bool core_put_u64(PyObject *dict, const char *name, uint64_t value)
{
    return core_put(dict, name, PyLong_FromUnsignedLongLong(value));
}

bool core_put_double(PyObject *dict, const char *name, double value)
{
    return core_put(dict, name, PyFloat_FromDouble(value));
}

bool core_put_double_of(PyObject *dict, const char *name, double value, uint64_t n)
{
    return core_put_double(dict, name, n > 0 ? value : Py_NAN);
}

PyObject *core_whole(PyObject *dict, bool good)
{
    if (!good) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyObject *core_fault_counts(const slc_faults *faults)
{
    PyObject *counts = PyDict_New();
    for (uint32_t i = 0; i < faults->n_kinds && counts != NULL; i++) {
        if (!core_put_u64(counts, slc_fault_name(faults->kind[i].code), faults->kind[i].n)) {
            Py_CLEAR(counts);
        }
    }
    return counts;
}

void core_tell(core_lines *lines, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Names of files need not be UTF-8. */
    PyObject *line = PyUnicode_DecodeLocale(text, "surrogateescape");
    if (line == NULL || PyList_Append(lines->list, line) < 0) {
        PyErr_Clear();
    }
    Py_XDECREF(line);
}

/* ---- a flow that is under way ---------------------------------------------------------------------- */

static void running_free(void *memory)
{
    running *r = memory;
    if (r->process == (long)getpid()) { /* a child of fork() leaves it, with threads that are not there */
        PyThreadState *const thread = PyEval_SaveThread();
        slc_flow_close(r->flow);
        PyEval_RestoreThread(thread);
    }
    if (r->chain->free != NULL) {
        r->chain->free(r->setup);
    } else {
        free(r->setup);
    }
    for (uint32_t i = 0; i < r->n_paths; i++) {
        free(r->paths[i]);
    }
    free(r->paths);
    free(r);
}

static bool take_paths(PyObject *list, running *r)
{
    const Py_ssize_t n = PyList_Size(list);
    r->paths = calloc(n > 0 ? (size_t)n : 1, sizeof *r->paths);
    for (Py_ssize_t i = 0; i < n && r->paths != NULL; i++) {
        PyObject *bytes = NULL;
        const char *text = core_path(PyList_GetItem(list, i), &bytes);
        if (text == NULL) {
            return false;
        }
        r->paths[i] = strdup(text);
        Py_DECREF(bytes);
        if (r->paths[i] == NULL) {
            break;
        }
        r->n_paths++;
    }
    if (r->paths == NULL || r->n_paths != (size_t)n) {
        PyErr_NoMemory();
        return false;
    }
    return true;
}

static bool asked_to_stop(void *context)
{
    return ((const running *)context)->stop;
}

static bool take_device(PyObject *value, opening *to)
{
    if (value == Py_None) {
        return true;
    }
    PyObject *bytes = PyUnicode_Check(value) ? PyUnicode_AsUTF8String(value) : NULL;
    const char *text = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    const bool good = text != NULL && strlen(text) < sizeof to->running->device;
    if (good) {
        (void)PyOS_snprintf(to->running->device, sizeof to->running->device, "%s", text);
        to->config.exec.device = to->running->device;
    } else {
        PyErr_Format(PyExc_TypeError, "device is to be 'cpu', 'cuda', 'cuda:N', 'cuda:N,M' or 'all', not %R",
                     value);
    }
    Py_XDECREF(bytes);
    return good;
}

enum { PATHS, BATCH, THREADS, FAULT, PROGRESS, DEVICE, COMMON };

static bool take_common(core_state *state, PyObject *const *values, opening *to)
{
    static const char *const words[] = {"warn", "ignore", "raise", NULL};
    uint64_t batch_events = to->config.batch_events, threads = 1;
    int word = ON_FAULT_WARN;
    running *r = to->running;
    if (!PyList_Check(values[PATHS])) {
        PyErr_SetString(PyExc_TypeError, "paths are to be a list");
        return false;
    }
    if (!take_paths(values[PATHS], r) ||
        !core_take_u64(state, values[BATCH], "batch", 1 << 20, &batch_events) ||
        !core_take_u64(state, values[THREADS], "threads", 4096, &threads) ||
        !core_take_word(state, values[FAULT], "on_fault", words, &word) || !take_device(values[DEVICE], to)) {
        return false;
    }
    if (batch_events == 0) {
        PyErr_SetString(state->usage_error, "batch is to be 1 at least");
        return false;
    }
    if (values[PROGRESS] != Py_None && PyCallable_Check(values[PROGRESS]) == 0) {
        PyErr_Format(PyExc_TypeError,
                     "progress is to be true, false or a function of the events so far, not %R",
                     (PyObject *)Py_TYPE(values[PROGRESS]));
        return false;
    }
    to->progress = values[PROGRESS];
    to->config.paths = (const char *const *)r->paths;
    to->config.n_paths = r->n_paths;
    to->config.batch_events = (uint32_t)batch_events;
    to->config.exec.threads = (uint32_t)threads;
    to->config.strict = word == ON_FAULT_RAISE;
    to->config.keep_going = true;
    to->config.results_alone = true; /* batches have nothing else */
    to->config.patience = CORE_PATIENCE;
    to->config.stop = asked_to_stop;
    to->config.context = r;
    r->on_fault = (on_fault)word;
    return true;
}

bool core_flow_begin(core_state *state, const core_chain *chain, PyObject *common, void *setup, opening *to)
{
    *to = (opening){.owner = NULL};
    slc_flow_config_default(&to->config);
    running *r = setup != NULL ? calloc(1, sizeof *r) : NULL;
    if (r == NULL) {
        if (setup != NULL && chain->free != NULL) {
            chain->free(setup);
        } else {
            free(setup);
        }
        PyErr_NoMemory();
        return false;
    }
    r->chain = chain;
    r->setup = setup;
    r->process = (long)getpid();
    to->running = r;
    to->owner = core_owner_new(state, r, running_free);
    if (to->owner == NULL) {
        return false;
    }
    PyObject *values[COMMON];
    if (!PyArg_ParseTuple(common, "OOOOOO", &values[PATHS], &values[BATCH], &values[THREADS], &values[FAULT],
                          &values[PROGRESS], &values[DEVICE]) ||
        !take_common(state, values, to)) {
        (void)core_flow_drop(to);
        return false;
    }
    return true;
}

PyObject *core_flow_drop(opening *o)
{
    Py_CLEAR(o->owner);
    return NULL;
}
