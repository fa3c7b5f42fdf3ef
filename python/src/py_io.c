/* SPDX-License-Identifier: Apache-2.0
 * Files as files: what formats there are, LHCb's raw events from one to another, parts of a run as one. The
 * signatures, and the words for people, are those of sluice/io.py; paths come as bytes. */
#include "py_flow.h"

#include <stdlib.h>
#include <string.h>

static PyObject *io_formats(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    const slc_io_format_row *row;
    for (size_t i = 0; list != NULL && (row = slc_io_format_at(i)) != NULL; i++) {
        PyObject *one = Py_BuildValue("(szzs)", row->name, row->reads, row->writes, row->detector);
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

/* ---- raw events from one format to another ------------------------------------------------------- */

enum { BATCH_EVENTS = 64, BATCH_BYTES = 16 << 20 };

typedef struct conversion {
    slc_io_writer *writer;
    slc_batch batch;
    uint8_t *event; /* one, its banks one after the other */
    size_t capacity;
    bool packets, strict;
    uint64_t events, cut; /* of the input at hand: written; of which banks are damaged */
    slc_error error;
} conversion;

/* An event's sound banks, one after the other. */
static slc_status gather(conversion *c, uint32_t e, size_t *size)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&c->batch, e);
    slc_lhcb_bank bank;
    slc_status status;
    *size = 0;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
        const size_t need = *size + slc_lhcb_bank_bound(bank.size);
        if (need > c->capacity) {
            uint8_t *larger = realloc(c->event, 2 * need);
            if (larger == NULL) {
                return slc_fail(&c->error, SLC_ERR_MEMORY, "no memory for an event of %zu bytes", need);
            }
            c->event = larger;
            c->capacity = 2 * need;
        }
        *size += slc_lhcb_bank_write(c->event + *size, c->capacity - *size, bank.type, bank.version,
                                     bank.source, bank.payload, bank.size);
    }
    c->cut += status != SLC_END;
    return SLC_OK;
}

static slc_status write_batch(conversion *c, const char *path)
{
    slc_status status = SLC_OK;
    for (uint32_t e = 0; e < c->batch.n_events && status == SLC_OK; e++) {
        size_t size = 0;
        if (!c->packets) {
            status = slc_io_select_write(c->writer, path, &c->batch, e, NULL, &c->error);
        } else {
            status = gather(c, e, &size);
            status = status == SLC_OK ? slc_io_mdf_write(c->writer, c->event, size, &c->error) : status;
        }
        c->events += status == SLC_OK;
    }
    return status;
}

static slc_status open_input(conversion *c, const char *path, slc_io_source **source)
{
    slc_io_config config;
    slc_io_config_default(&config);
    config.keep_records = !c->packets;
    const slc_status status = slc_io_open(path, &config, source, &c->error);
    return status == SLC_OK && slc_io_content_of(*source) != SLC_IO_RAW_EVENTS
               ? slc_fail(&c->error, SLC_ERR_FORMAT, "%s: format %s, but events of raw banks are needed",
                          path, slc_io_format(*source))
               : status;
}

/* What an input came to: a dict; NULL with an error set. With `strict` damage is an error. */
static PyObject *told(core_state *state, conversion *c, const char *path, const slc_io_source *source,
                      const slc_faults *faults)
{
    slc_io_totals read;
    slc_io_totals_of(source, &read);
    const char *damage = slc_io_damage(source);
    if (c->strict &&
        (read.lost_events > 0 || read.incomplete_events > 0 || c->cut > 0 || slc_faults_total(faults) > 0)) {
        (void)slc_fail(&c->error, SLC_ERR_STRICT, "%s", damage != NULL ? damage : path);
        return core_raise(state, SLC_ERR_STRICT, &c->error);
    }
    PyObject *counts = core_fault_counts(faults), *line = NULL;
    if (damage != NULL) {
        line = PyUnicode_DecodeLocale(damage, "surrogateescape");
    }
    PyObject *made = counts == NULL || (line == NULL && damage != NULL)
                         ? NULL
                         : Py_BuildValue("{s:K,s:K,s:K,s:K,s:O,s:O}", "events", (unsigned long long)c->events,
                                         "lost_events", (unsigned long long)read.lost_events,
                                         "incomplete_events", (unsigned long long)read.incomplete_events,
                                         "cut_events", (unsigned long long)c->cut, "faults", counts, "damage",
                                         line != NULL ? line : Py_None);
    Py_XDECREF(counts);
    Py_XDECREF(line);
    return made;
}

/* SLC_END with an error set on Ctrl-C. */
static PyObject *convert_input(core_state *state, conversion *c, const char *path)
{
    slc_io_source *source = NULL;
    slc_faults faults;
    slc_faults_reset(&faults);
    c->events = c->cut = 0;
    slc_status status = open_input(c, path, &source);
    bool interrupted = false;
    while (status == SLC_OK && !interrupted) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_read_batch(source, BATCH_EVENTS, BATCH_BYTES, &c->batch, &faults, &c->error);
        status = status == SLC_OK ? write_batch(c, path) : status;
        PyEval_RestoreThread(thread);
        interrupted = PyErr_CheckSignals() < 0;
    }
    PyObject *made = NULL;
    if (!interrupted) {
        made = status == SLC_END ? told(state, c, path, source, &faults)
                                 : core_raise(state, status, &c->error);
    }
    slc_io_close(source);
    return made;
}

/* The list of what the inputs came to; NULL with an error set. */
static PyObject *convert_all(core_state *state, conversion *c, PyObject *paths)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(paths); i++) {
        const char *path = PyBytes_AsString(PyList_GetItem(paths, i));
        PyObject *one = path != NULL ? convert_input(state, c, path) : NULL;
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

/* io_convert(paths, output, packing, run3, strict): a dict for each input. */
static PyObject *io_convert(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *paths;
    const char *output;
    unsigned int packing = 0;
    int run3 = 0, strict = 0;
    if (PyArg_ParseTuple(arguments, "O!yIpp", &PyList_Type, &paths, &output, &packing, &run3, &strict) == 0) {
        return NULL;
    }
    const slc_io_mdf_config config = {.packing = packing,
                                      .packets = run3 != 0 ? SLC_IO_PACKETS_MFP : SLC_IO_PACKETS_2019};
    conversion c = {.packets = packing > 0, .strict = strict != 0};
    slc_status status = packing > 0 ? slc_io_mdf_create(output, &config, &c.writer, &c.error)
                                    : slc_io_select_create(output, &c.writer, &c.error);
    PyObject *made = status == SLC_OK ? convert_all(state, &c, paths) : core_raise(state, status, &c.error);
    if (made != NULL) {
        status = slc_io_finish(c.writer, &c.error);
        if (status != SLC_OK) {
            Py_CLEAR(made);
            (void)core_raise(state, status, &c.error);
        }
    } else {
        slc_io_abandon(c.writer);
    }
    slc_batch_clear(&c.batch);
    free(c.event);
    return made;
}

/* ---- parts of a run ------------------------------------------------------------------------------ */

/* io_join(paths, output, copy, command): parts, events, and (name, events, rows) of each group. */
static PyObject *io_join(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *list;
    const char *output, *command;
    int copy = 0;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "O!yps", &PyList_Type, &list, &output, &copy, &command) == 0) {
        return NULL;
    }
    const Py_ssize_t n = PyList_Size(list);
    const char **paths = PyMem_Calloc(n > 0 ? (size_t)n : 1, sizeof *paths);
    slc_io_joined *joined = PyMem_Calloc(1, sizeof *joined);
    PyObject *groups = NULL, *made = NULL;
    bool good = paths != NULL && joined != NULL;
    for (Py_ssize_t i = 0; good && i < n; i++) {
        paths[i] = PyBytes_AsString(PyList_GetItem(list, i));
        good = paths[i] != NULL;
    }
    if (good) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_join(paths, (size_t)n, output, copy != 0, command, joined, &error);
        PyEval_RestoreThread(thread);
        groups = status == SLC_OK ? PyDict_New() : core_raise(state, status, &error);
        for (size_t i = 0; groups != NULL && i < joined->n_groups; i++) {
            PyObject *one = PyLong_FromUnsignedLongLong(joined->group[i].rows);
            if (one == NULL || PyDict_SetItemString(groups, joined->group[i].name, one) < 0) {
                Py_CLEAR(groups);
            }
            Py_XDECREF(one);
        }
        made = groups != NULL ? Py_BuildValue("{s:I,s:K,s:O}", "parts", (unsigned int)joined->parts, "events",
                                              (unsigned long long)joined->events, "rows", groups)
                              : NULL;
        Py_XDECREF(groups);
    } else if (PyErr_Occurred() == NULL) {
        PyErr_NoMemory();
    }
    PyMem_Free((void *)paths);
    PyMem_Free(joined);
    return made;
}

PyMethodDef core_io_functions[] = {
    {"io_formats", io_formats, METH_NOARGS, "rows of the registry of formats"},
    {"io_convert", io_convert, METH_VARARGS, "raw events from one format to another"},
    {"io_join", io_join, METH_VARARGS, "parts of a run as one file"},
    {NULL, NULL, 0, NULL}};
