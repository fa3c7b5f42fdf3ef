/* SPDX-License-Identifier: Apache-2.0
 *
 * The live page: what sluice.live puts and publishes. A page, and a file of results on one, are capsules,
 * closed by live_close or when the last reference goes; sluice/live.py has the lock and the words.
 */
#include "py_core.h"

#include <stdlib.h>
#include <string.h>

typedef struct page {
    slc_live *live; /* NULL: closed */
    slc_live_results *results;
} page;

static const char capsule_name[] = "sluice.live";

static void close_page(page *p)
{
    slc_live *live = p->live;
    slc_live_results *results = p->results;
    p->live = NULL;
    p->results = NULL;
    PyThreadState *const thread = PyEval_SaveThread(); /* who looks has a moment to see the end */
    slc_live_close(live);
    slc_live_results_close(results);
    PyEval_RestoreThread(thread);
}

static void drop(PyObject *capsule)
{
    page *p = PyCapsule_GetPointer(capsule, capsule_name);
    if (p != NULL) {
        close_page(p);
        free(p);
    }
}

/* NULL with an error set: no page, or a closed one. */
static page *page_of(PyObject *module, PyObject *capsule)
{
    page *p = PyCapsule_GetPointer(capsule, capsule_name);
    if (p != NULL && p->live == NULL) {
        PyErr_SetString(core_state_of(module)->usage_error, "this page is closed");
        return NULL;
    }
    return p;
}

/* live_open(address, command, title, token or None, anywhere, period_s): a capsule */
static PyObject *open_page(PyObject *module, PyObject *arguments)
{
    slc_live_config config;
    int anywhere = 0;
    slc_error error = {SLC_OK, ""};
    slc_live_config_default(&config);
    if (PyArg_ParseTuple(arguments, "ssszpd", &config.address, &config.command, &config.title, &config.token,
                         &anywhere, &config.period_s) == 0) {
        return NULL;
    }
    config.anywhere = anywhere != 0;
    page *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return PyErr_NoMemory();
    }
    const slc_status status = slc_live_open(&config, &p->live, &error);
    if (status != SLC_OK) {
        free(p);
        return core_raise(core_state_of(module), status, &error);
    }
    PyObject *made = PyCapsule_New(p, capsule_name, drop);
    if (made == NULL) {
        close_page(p);
        free(p);
    }
    return made;
}

static PyObject *url(PyObject *module, PyObject *capsule)
{
    const page *p = page_of(module, capsule);
    return p != NULL ? PyUnicode_FromString(slc_live_url(p->live)) : NULL;
}

/* live_value(page, group, title or None, value, unit, metric, help, label, is, counter, flags); texts may be
 * None */
static PyObject *put_value(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    slc_live_value v = {.metric = NULL};
    int counter = 0;
    if (PyArg_ParseTuple(arguments, "OszdzzzzzpI", &capsule, &v.group, &v.title, &v.value, &v.unit, &v.metric,
                         &v.help, &v.label, &v.is, &counter, &v.flags) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    if (p == NULL) {
        return NULL;
    }
    v.kind = counter != 0 ? SLC_LIVE_COUNTER : SLC_LIVE_GAUGE;
    slc_live_put_value(p->live, &v);
    return Py_NewRef(Py_None);
}

/* live_text(page, group, title, text, flags) */
static PyObject *put_text(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    const char *group, *title, *text;
    unsigned int flags;
    if (PyArg_ParseTuple(arguments, "OsssI", &capsule, &group, &title, &text, &flags) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    if (p == NULL) {
        return NULL;
    }
    slc_live_put_text(p->live, group, title, text, flags);
    return Py_NewRef(Py_None);
}

/* live_plot(page, group, title, x, y, low, high, bytes of 64-bit counts, logarithmic) */
static PyObject *put_plot(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    slc_live_plot plot = {.n = 0};
    const char *bytes;
    Py_ssize_t size;
    int logarithmic = 0;
    uint64_t counts[2048];
    if (PyArg_ParseTuple(arguments, "Ossssddy#p", &capsule, &plot.group, &plot.title, &plot.x, &plot.y,
                         &plot.low, &plot.high, &bytes, &size, &logarithmic) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    if (p == NULL) {
        return NULL;
    }
    if ((size_t)size > sizeof counts || size < (Py_ssize_t)sizeof counts[0] || !(plot.low < plot.high)) {
        PyErr_SetString(core_state_of(module)->usage_error,
                        "a histogram has 1 to 2048 counts, and low is below high");
        return NULL;
    }
    memcpy(counts, bytes, (size_t)size);
    plot.counts = counts;
    plot.n = (uint32_t)((size_t)size / sizeof counts[0]);
    plot.logarithmic = logarithmic != 0;
    slc_live_put_plot(p->live, &plot);
    return Py_NewRef(Py_None);
}

/* live_map(page, number, group, title, x, y, unit, width, height, bytes of 32-bit cells, which may be none)
 */
static PyObject *put_map(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    slc_live_map map = {.count = 1};
    unsigned int number, width, height;
    const char *bytes;
    Py_ssize_t size;
    if (PyArg_ParseTuple(arguments, "OIsssssIIy#", &capsule, &number, &map.group, &map.title, &map.x, &map.y,
                         &map.unit, &width, &height, &bytes, &size) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    const size_t cells = (size_t)width * height;
    uint32_t *copy = NULL;
    if (p == NULL) {
        return NULL;
    }
    if (cells < 1 || cells > (size_t)1 << 20 || (size > 0 && (size_t)size != cells * sizeof *copy)) {
        PyErr_SetString(core_state_of(module)->usage_error, "a map has 1 to 2^20 cells");
        return NULL;
    }
    map.number = number;
    slc_live_put_map(p->live, &map);
    if (size > 0) {
        copy = malloc((size_t)size);
        if (copy == NULL) {
            return PyErr_NoMemory();
        }
        memcpy(copy, bytes, (size_t)size);
        slc_live_put_cells(p->live, number, width, height, copy);
        free(copy);
    }
    return Py_NewRef(Py_None);
}

/* live_wants(page, number): does a page ask for this map? */
static PyObject *wants(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    unsigned int number;
    if (PyArg_ParseTuple(arguments, "OI", &capsule, &number) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    return p != NULL ? PyBool_FromLong(slc_live_wants(p->live, number)) : NULL;
}

static PyObject *tell(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    const char *line;
    if (PyArg_ParseTuple(arguments, "Os", &capsule, &line) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    if (p == NULL) {
        return NULL;
    }
    slc_live_tell(p->live, line);
    return Py_NewRef(Py_None);
}

static PyObject *due(PyObject *module, PyObject *capsule)
{
    const page *p = page_of(module, capsule);
    return p != NULL ? PyBool_FromLong(slc_live_due(p->live)) : NULL;
}

/* live_publish(page, state) */
static PyObject *publish(PyObject *module, PyObject *arguments)
{
    static const char *const states[] = {"waiting", "running", "ending", "finished", "failed", NULL};
    PyObject *capsule, *word;
    int state = 0;
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &word) == 0) {
        return NULL;
    }
    const page *p = page_of(module, capsule);
    if (p == NULL || !core_take_word(core_state_of(module), word, "state", states, &state)) {
        return NULL;
    }
    return slc_live_publish(p->live, (slc_live_state)state) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

/* live_show(page, path): reads a file of results, which live_look then publishes as it is wanted. */
static PyObject *show(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *path, *bytes = NULL;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &path) == 0 || PyUnicode_FSConverter(path, &bytes) == 0) {
        return NULL;
    }
    page *p = page_of(module, capsule);
    slc_live_results *results = NULL;
    slc_status status = SLC_ERR_USAGE;
    if (p != NULL) {
        slc_live *live = p->live;
        const char *name = PyBytes_AsString(bytes);
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_live_results_open(live, name, &results, &error);
        PyEval_RestoreThread(thread);
    }
    Py_DECREF(bytes);
    if (p == NULL || status != SLC_OK) {
        return p == NULL ? NULL : core_raise(core_state_of(module), status, &error);
    }
    slc_live_results_close(p->results);
    p->results = results;
    return slc_live_results_publish(results) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *look(PyObject *module, PyObject *capsule)
{
    const page *p = page_of(module, capsule);
    if (p == NULL) {
        return NULL;
    }
    return p->results == NULL || slc_live_results_publish(p->results) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *shut(PyObject *module, PyObject *capsule)
{
    page *p = PyCapsule_GetPointer(capsule, capsule_name);
    (void)module;
    if (p == NULL) {
        return NULL;
    }
    close_page(p);
    return Py_NewRef(Py_None);
}

PyMethodDef core_live_functions[] = {{"live_open", open_page, METH_VARARGS, "a page at an address"},
                                     {"live_url", url, METH_O, "where it is"},
                                     {"live_value", put_value, METH_VARARGS, "a number"},
                                     {"live_text", put_text, METH_VARARGS, "words"},
                                     {"live_plot", put_plot, METH_VARARGS, "a histogram"},
                                     {"live_map", put_map, METH_VARARGS, "a picture in false colour"},
                                     {"live_wants", wants, METH_VARARGS, "is this map asked for?"},
                                     {"live_tell", tell, METH_VARARGS, "a line on what failed"},
                                     {"live_due", due, METH_O, "is it time to publish?"},
                                     {"live_publish", publish, METH_VARARGS, "what was put is the page's"},
                                     {"live_show", show, METH_VARARGS, "a file of results"},
                                     {"live_look", look, METH_O, "publishes maps of it that are asked for"},
                                     {"live_close", shut, METH_O, "ends it"},
                                     {NULL, NULL, 0, NULL}};
