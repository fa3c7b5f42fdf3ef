/* SPDX-License-Identifier: Apache-2.0
 * The VELO: files through its chain, and the chain's settings. */
#include "py_flow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VELO(member) offsetof(slc_flow_velo_result, member)
static const group velo_groups[] = {{"hits", &slc_velo_hits_schema, VELO(found.hits)},
                                    {"tracks", &slc_velo_tracks_schema, VELO(found.tracks)},
                                    {"track_hits", &slc_velo_track_hits_schema, VELO(found.track_hits)},
                                    {"beam", &slc_velo_states_schema, VELO(found.beam)},
                                    {"end", &slc_velo_states_schema, VELO(found.end)},
                                    {"primaries", &slc_velo_primaries_schema, VELO(found.primaries)},
                                    {"impacts", &slc_velo_impacts_schema, VELO(found.impacts)},
                                    {"events", &slc_lhcb_events_schema, VELO(events)},
                                    {NULL, NULL, 0}};

static bool take_paths(PyObject *list, running *r)
{
    const Py_ssize_t n = PyList_Size(list);
    r->paths = PyMem_Calloc(n > 0 ? (size_t)n : 1, sizeof *r->paths);
    for (Py_ssize_t i = 0; i < n && r->paths != NULL; i++) {
        PyObject *bytes = NULL;
        char *text = NULL;
        Py_ssize_t size = 0;
        if (PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes) == 0 ||
            PyBytes_AsStringAndSize(bytes, &text, &size) < 0) {
            Py_XDECREF(bytes);
            return false;
        }
        r->paths[i] = PyMem_Malloc((size_t)size + 1);
        if (r->paths[i] != NULL) {
            memcpy(r->paths[i], text, (size_t)size + 1);
            r->n_paths++;
        }
        Py_DECREF(bytes);
        if (r->paths[i] == NULL) {
            break;
        }
    }
    if (r->paths == NULL || r->n_paths != (size_t)n) {
        PyErr_NoMemory();
        return false;
    }
    return true;
}

static const char *path_of(PyObject *object, PyObject **bytes)
{
    return PyUnicode_FSConverter(object, bytes) != 0 ? PyBytes_AsString(*bytes) : NULL;
}

enum { PATHS, CONFIG, PRESET, GEOMETRY, BEAM, BATCH, THREADS, IDENTITY, IMPACTS, FAULT, ARGUMENTS };
static const char *const names[ARGUMENTS] = {"paths", "config",  "preset",   "geometry", "beam",
                                             "batch", "threads", "identity", "impacts",  "on_fault"};

/* Preset, file, then what is said by itself, as the command has it. */
static bool take_settings(core_state *state, PyObject *const *values, running *r)
{
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    PyObject *bytes = NULL;
    slc_velo_config_default(&r->config);
    if (values[PRESET] != Py_None) {
        const char *name = path_of(values[PRESET], &bytes);
        status = name != NULL ? slc_velo_config_preset(&r->config, name, &error) : SLC_END;
        Py_CLEAR(bytes);
    }
    if (status == SLC_OK && values[CONFIG] != Py_None) {
        const char *path = path_of(values[CONFIG], &bytes);
        status = path != NULL ? slc_io_velo_config_read(path, &r->config, &error) : SLC_END;
        Py_CLEAR(bytes);
    }
    if (status == SLC_OK && values[GEOMETRY] != Py_None) {
        const char *path = path_of(values[GEOMETRY], &bytes);
        status = path != NULL ? slc_io_read_velo_geometry(path, &r->geometry, &error) : SLC_END;
        r->setup.geometry = &r->geometry;
        Py_CLEAR(bytes);
    }
    if (status == SLC_OK && values[BEAM] != Py_None) {
        double x = 0, y = 0;
        if (!PyArg_ParseTuple(values[BEAM], "dd;beam is to be a pair of x and y in mm", &x, &y)) {
            return false;
        }
        r->config.fit.beam_x_mm = (float)x;
        r->config.fit.beam_y_mm = (float)y;
    }
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

static bool take_flow(core_state *state, PyObject *const *values, running *r, slc_flow_config *config,
                      on_fault *fault)
{
    static const char *const words[] = {"warn", "ignore", "raise", NULL};
    uint64_t batch_events = 64, threads = 1;
    int word = ON_FAULT_WARN;
    bool identity = false, impacts = false;
    if (!core_take_u64(state, values[BATCH], "batch", 1 << 20, &batch_events) ||
        !core_take_u64(state, values[THREADS], "threads", 4096, &threads) ||
        !core_take_bool(values[IDENTITY], "identity", &identity) ||
        !core_take_bool(values[IMPACTS], "impacts", &impacts) ||
        !core_take_word(state, values[FAULT], "on_fault", words, &word)) {
        return false;
    }
    if (batch_events == 0) {
        PyErr_SetString(state->usage_error, "batch is to be 1 at least");
        return false;
    }
    r->setup.identity = identity;
    r->config.impacts = r->config.impacts || impacts;
    r->config.strict = word == ON_FAULT_RAISE;
    slc_flow_config_default(config);
    config->paths = (const char *const *)r->paths;
    config->n_paths = r->n_paths;
    config->batch_events = (uint32_t)batch_events;
    config->exec.threads = (uint32_t)threads;
    config->strict = word == ON_FAULT_RAISE;
    config->keep_going = true;
    config->patience = CORE_PATIENCE;
    *fault = (on_fault)word;
    return true;
}

/* velo_open(paths, config, preset, geometry, beam, batch, threads, identity, impacts, on_fault): see
 * sluice.velo.open. */
static PyObject *velo_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    slc_flow_config config;
    slc_error error = {SLC_OK, ""};
    on_fault fault;
    if (!core_arguments("velo_open", arguments, n, given, names, ARGUMENTS, ARGUMENTS, values)) {
        return NULL;
    }
    if (n != ARGUMENTS || !PyList_Check(values[PATHS])) {
        PyErr_SetString(PyExc_TypeError, "velo_open() takes a list of paths and nine more");
        return NULL;
    }
    running *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return PyErr_NoMemory();
    }
    r->groups = velo_groups;
    r->process = (long)getpid();
    r->setup.config = &r->config;
    PyObject *owner = core_owner_new(state, r, core_running_free);
    if (owner == NULL || !take_paths(values[PATHS], r) || !take_settings(state, values, r) ||
        !take_flow(state, values, r, &config, &fault)) {
        Py_XDECREF(owner);
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_flow_open(&config, &slc_flow_velo, &r->setup, &r->flow, &error);
    PyEval_RestoreThread(thread);
    PyObject *made = status == SLC_OK ? core_reader_new(state, owner, fault)
                                      : core_raise(state, status, &error);
    Py_DECREF(owner);
    return made;
}

/* The settings in force as JSON: velo_settings(config, preset). */
static PyObject *velo_settings(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS] = {NULL, Py_None, Py_None, Py_None, Py_None};
    slc_error error = {SLC_OK, ""};
    char *text = NULL;
    if (!PyArg_ParseTuple(arguments, "OO", &values[CONFIG], &values[PRESET])) {
        return NULL;
    }
    running *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *made = NULL;
    if (take_settings(state, values, r)) {
        const slc_status status = slc_io_velo_config_write(&r->config, &text, &error);
        made = status == SLC_OK ? PyUnicode_FromString(text) : core_raise(state, status, &error);
    }
    free(text);
    free(r);
    return made;
}

PyMethodDef core_flow_functions[] = {
    {"velo_open", (PyCFunction)(void (*)(void))velo_open, METH_FASTCALL | METH_KEYWORDS, "a reader"},
    {"velo_settings", velo_settings, METH_VARARGS, "settings as JSON"},
    {NULL, NULL, 0, NULL}};
