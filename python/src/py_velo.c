/* SPDX-License-Identifier: Apache-2.0
 * The VELO: files through its chain, and the chain's settings. */
#include "py_flow.h"

#include <stdlib.h>

/* What the flow of the library needs for as long as it runs. */
typedef struct velo_setup {
    slc_velo_config config;
    slc_velo_geometry geometry;
    slc_flow_velo_setup flow;
} velo_setup;

enum { HAS_IMPACTS = 1, HAS_IDENTITY = 2 };

#define RESULT(member) .place = offsetof(slc_flow_velo_result, member)
static const group velo_groups[] = {
    {"hits", &slc_velo_hits_schema, RESULT(found.hits)},
    {"tracks", &slc_velo_tracks_schema, RESULT(found.tracks)},
    {"track_hits", &slc_velo_track_hits_schema, RESULT(found.track_hits)},
    {"beam", &slc_velo_states_schema, RESULT(found.beam)},
    {"end", &slc_velo_states_schema, RESULT(found.end)},
    {"primaries", &slc_velo_primaries_schema, RESULT(found.primaries)},
    {"impacts", &slc_velo_impacts_schema, RESULT(found.impacts), .with = "impacts=True", .bit = HAS_IMPACTS},
    {"events", &slc_lhcb_events_schema, RESULT(events), .with = "identity=True", .bit = HAS_IDENTITY},
    {.name = NULL}};

static void velo_faults(const slc_flow_item *item, slc_faults *into)
{
    slc_faults_merge(into, &((const slc_flow_velo_result *)item->result)->found.faults);
}

static const core_chain velo_chain = {.flow = &slc_flow_velo, .groups = velo_groups, .faults = velo_faults};

enum { COMMON, CONFIG, PRESET, GEOMETRY, BEAM, IDENTITY, IMPACTS, ARGUMENTS };
static const char *const names[ARGUMENTS] = {"common", "config",   "preset", "geometry",
                                             "beam",   "identity", "impacts"};

/* Preset, file, then what is said by itself, as the command has it. */
static bool take_settings(core_state *state, PyObject *const *values, velo_setup *setup)
{
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    PyObject *bytes = NULL;
    slc_velo_config_default(&setup->config);
    if (values[PRESET] != Py_None) {
        const char *name = core_path(values[PRESET], &bytes);
        status = name != NULL ? slc_velo_config_preset(&setup->config, name, &error) : SLC_END;
        Py_CLEAR(bytes);
    }
    if (status == SLC_OK && values[CONFIG] != Py_None) {
        const char *path = core_path(values[CONFIG], &bytes);
        status = path != NULL ? slc_io_velo_config_read(path, &setup->config, &error) : SLC_END;
        Py_CLEAR(bytes);
    }
    setup->config.exec.target = state->target;
    if (status == SLC_OK && values[GEOMETRY] != Py_None) {
        const char *path = core_path(values[GEOMETRY], &bytes);
        status = path != NULL ? slc_io_read_velo_geometry(path, &setup->geometry, &error) : SLC_END;
        setup->flow.geometry = &setup->geometry;
        Py_CLEAR(bytes);
    }
    if (status == SLC_OK && values[BEAM] != Py_None) {
        double x = 0, y = 0;
        if (!PyArg_ParseTuple(values[BEAM], "dd;beam is to be a pair of x and y in mm", &x, &y)) {
            return false;
        }
        setup->config.fit.beam_x_mm = (float)x;
        setup->config.fit.beam_y_mm = (float)y;
    }
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* velo_open(common, config, preset, geometry, beam, identity, impacts): see sluice.velo.open. */
static PyObject *velo_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    opening o;
    if (!core_arguments("velo_open", arguments, n, given, names, ARGUMENTS, ARGUMENTS, values)) {
        return NULL;
    }
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "velo_open() takes seven arguments");
        return NULL;
    }
    velo_setup *setup = calloc(1, sizeof *setup);
    if (!core_flow_begin(state, &velo_chain, values[COMMON], setup, &o)) {
        return NULL;
    }
    bool identity = false, impacts = false;
    if (!take_settings(state, values, setup) || !core_take_bool(values[IDENTITY], "identity", &identity) ||
        !core_take_bool(values[IMPACTS], "impacts", &impacts)) {
        return core_flow_drop(&o);
    }
    setup->config.impacts = setup->config.impacts || impacts;
    setup->config.strict = o.config.strict;
    setup->flow.config = &setup->config;
    setup->flow.identity = identity;
    o.running->has = (setup->config.impacts ? HAS_IMPACTS : 0U) | (identity ? HAS_IDENTITY : 0U);
    return core_flow_open(state, &o, &setup->flow);
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
    velo_setup *setup = calloc(1, sizeof *setup);
    if (setup == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *made = NULL;
    if (take_settings(state, values, setup)) {
        const slc_status status = slc_io_velo_config_write(&setup->config, &text, &error);
        made = status == SLC_OK ? PyUnicode_FromString(text) : core_raise(state, status, &error);
    }
    free(text);
    free(setup);
    return made;
}

PyMethodDef core_velo_functions[] = {
    {"velo_open", (PyCFunction)(void (*)(void))velo_open, METH_FASTCALL | METH_KEYWORDS, "a reader"},
    {"velo_settings", velo_settings, METH_VARARGS, "settings as JSON"},
    {NULL, NULL, 0, NULL}};
