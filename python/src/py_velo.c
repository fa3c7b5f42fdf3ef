/* SPDX-License-Identifier: Apache-2.0
 * The VELO: files, or arrays of hits, through its chain, and the chain's settings. */
#include "py_velo.h"

#include <stdlib.h>
#include <string.h>

#define RESULT(member) .place = offsetof(slc_flow_velo_result, member)
#define USER(member)   .place = offsetof(velo_user, member), .of_user = true
#define TRUTH          .with = "truth=True", .bit = VELO_HAS_TRUTH
#define SELECT         .with = "select=…", .bit = VELO_HAS_SELECT
static const group velo_groups[] = {
    {"hits", &slc_velo_hits_schema, RESULT(found.hits)},
    {"tracks", &slc_velo_tracks_schema, RESULT(found.tracks)},
    {"track_hits", &slc_velo_track_hits_schema, RESULT(found.track_hits)},
    {"beam", &slc_velo_states_schema, RESULT(found.beam)},
    {"end", &slc_velo_states_schema, RESULT(found.end)},
    {"primaries", &slc_velo_primaries_schema, RESULT(found.primaries)},
    {"counts", &slc_velo_event_counts_schema, RESULT(found.counts)},
    {"impacts", &slc_velo_impacts_schema, RESULT(found.impacts), .with = "impacts=True",
     .bit = VELO_HAS_IMPACTS},
    {"events", &slc_lhcb_events_schema, RESULT(events), .with = "identity=True", .bit = VELO_HAS_IDENTITY},
    {"event_cuts", &slc_velo_event_cuts_schema, RESULT(found.cuts), .with = "a limit in config gec",
     .bit = VELO_HAS_GEC},
    {"decisions", &slc_velo_decisions_schema, USER(decisions), SELECT},
    {"fired", &slc_velo_fired_schema, USER(fired), .with = "select=… and no wanted", .bit = VELO_HAS_FIRED},
    {"particles", &slc_velo_particles_schema, RESULT(truth.particles), TRUTH},
    {"particle_ids", &slc_velo_particle_ids_schema, RESULT(truth.ids), TRUTH},
    {"vertices", &slc_velo_vertices_schema, RESULT(truth.vertices), TRUTH},
    {"matches", &slc_velo_matches_schema, USER(matches), TRUTH},
    {.name = NULL}};

static void velo_faults(const slc_flow_item *item, slc_faults *into)
{
    const slc_flow_velo_result *result = item->result;
    slc_faults_merge(into, &result->found.faults);
    slc_faults_merge(into, &result->truth_faults);
}

/* The names of the selection's lines, whose numbers are bits of `decisions.lines`. */
static PyObject *velo_attribute(core_state *state, PyObject *owner, const running *r,
                                const slc_flow_item *item, const char *name)
{
    const velo_setup *s = r->setup;
    (void)state;
    (void)owner;
    (void)item;
    if (strcmp(name, "lines") != 0 || s->selection == NULL) {
        return NULL;
    }
    PyObject *lines = PyTuple_New((Py_ssize_t)s->selection->n_lines);
    for (uint32_t k = 0; k < s->selection->n_lines && lines != NULL; k++) {
        PyObject *line = PyUnicode_FromString(s->selection->lines[k].name);
        if (line == NULL || PyTuple_SetItem(lines, (Py_ssize_t)k, line) < 0) {
            Py_CLEAR(lines);
        }
    }
    return lines;
}

static const core_chain velo_chain = {.flow = &slc_flow_velo,
                                      .groups = velo_groups,
                                      .free = velo_setup_free,
                                      .opened = velo_opened,
                                      .faults = velo_faults,
                                      .take = velo_take,
                                      .end = velo_end,
                                      .end_all = velo_end_all,
                                      .attribute = velo_attribute,
                                      .totals = velo_totals};

/* ---- settings ---------------------------------------------------------------------------------------- */

enum {
    COMMON,
    CONFIG,
    PRESET,
    GEOMETRY,
    BEAM,
    MASK,
    SELECT_,
    TRUTH_,
    IDENTITY,
    IMPACTS,
    MONITOR,
    PIXELS,
    RESIDUALS,
    WANTED,
    ARGUMENTS
};
static const char *const names[ARGUMENTS] = {"common",  "config", "preset",    "geometry", "beam",
                                             "mask",    "select", "truth",     "identity", "impacts",
                                             "monitor", "pixels", "residuals", "wanted"};

/* Reads a file that an argument names. SLC_END with an error of Python's set. */
static slc_status read_file(PyObject *path, slc_status (*read)(const char *, velo_setup *, slc_error *),
                            velo_setup *setup, slc_error *error)
{
    PyObject *bytes = NULL;
    if (path == NULL || path == Py_None) {
        return SLC_OK;
    }
    const char *name = core_path(path, &bytes);
    slc_status status = SLC_END;
    if (name != NULL) {
        status = read(name, setup, error);
    }
    Py_XDECREF(bytes);
    return status;
}

static slc_status read_preset(const char *name, velo_setup *setup, slc_error *error)
{
    return slc_velo_config_preset(&setup->config, name, error);
}

static slc_status read_config(const char *name, velo_setup *setup, slc_error *error)
{
    return slc_io_velo_config_read(name, &setup->config, error);
}

static slc_status read_geometry(const char *name, velo_setup *setup, slc_error *error)
{
    setup->flow.geometry = &setup->geometry;
    return slc_io_read_velo_geometry(name, &setup->geometry, error);
}

static slc_status read_beam(const char *name, velo_setup *setup, slc_error *error)
{
    if (strcmp(name, "auto") == 0) {
        setup->beam_from = "auto";
        setup->beam_auto = true;
        return SLC_OK;
    }
    setup->beam_from = "file";
    return slc_io_read_velo_beamline(name, &setup->config.fit.beam_x_mm, &setup->config.fit.beam_y_mm, error);
}

static slc_status read_mask(const char *name, velo_setup *setup, slc_error *error)
{
    setup->config.mask = setup->mask = calloc(1, sizeof *setup->mask);
    return setup->mask != NULL ? slc_io_velo_mask_read(name, setup->mask, error)
                               : slc_fail(error, SLC_ERR_MEMORY, "no memory for a mask");
}

static slc_status read_selection(const char *name, velo_setup *setup, slc_error *error)
{
    setup->selection = calloc(1, sizeof *setup->selection);
    return setup->selection != NULL ? slc_io_select_read(name, setup->selection, error)
                                    : slc_fail(error, SLC_ERR_MEMORY, "no memory for a selection");
}

static slc_status take_beam(PyObject *value, velo_setup *setup, slc_error *error)
{
    slc_velo_fit_config *fit = &setup->config.fit;
    const bool moved = fit->beam_x_mm != 0.0F || fit->beam_y_mm != 0.0F;
    setup->beam_from = moved ? "config" : "default";
    if (PyTuple_Check(value) == 0) {
        return read_file(value, read_beam, setup, error);
    }
    double x = 0, y = 0;
    if (!PyArg_ParseTuple(value, "dd;beam is to be a pair of x and y in mm, a file or \"auto\"", &x, &y)) {
        return SLC_END;
    }
    setup->beam_from = "argument";
    fit->beam_x_mm = (float)x + 0.0F; /* no -0 */
    fit->beam_y_mm = (float)y + 0.0F;
    return SLC_OK;
}

/* Preset, file, then what is said by itself, as the command has it. */
static bool take_settings(core_state *state, PyObject *const *values, velo_setup *setup)
{
    slc_error error = {SLC_OK, ""};
    slc_velo_config_default(&setup->config);
    slc_status status = read_file(values[PRESET], read_preset, setup, &error);
    status = status == SLC_OK ? read_file(values[CONFIG], read_config, setup, &error) : status;
    status = status == SLC_OK ? read_file(values[GEOMETRY], read_geometry, setup, &error) : status;
    status = status == SLC_OK ? take_beam(values[BEAM], setup, &error) : status;
    status = status == SLC_OK ? read_file(values[MASK], read_mask, setup, &error) : status;
    status = status == SLC_OK ? read_file(values[SELECT_], read_selection, setup, &error) : status;
    setup->config.exec.target = state->target;
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static bool reserve(core_state *state, velo_setup *setup, bool truth)
{
    slc_error error = {SLC_OK, ""};
    slc_status status = slc_velo_beam_reserve(&setup->sample, &error);
    status = status == SLC_OK ? slc_velo_beam_reserve(&setup->all, &error) : status;
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
        return false;
    }
    if (truth) {
        slc_velo_check_config config;
        slc_velo_check_config_default(&config);
        setup->check = calloc(1, sizeof *setup->check);
        if (setup->check == NULL) {
            PyErr_NoMemory();
            return false;
        }
        slc_velo_check_init(setup->check, &config);
    }
    return true;
}

static uint32_t has(const velo_setup *setup)
{
    const slc_velo_gec_config *gec = &setup->config.gec;
    return (setup->config.impacts ? VELO_HAS_IMPACTS : 0U) | (setup->flow.identity ? VELO_HAS_IDENTITY : 0U) |
           (setup->flow.truth ? VELO_HAS_TRUTH : 0U) | (setup->selection != NULL ? VELO_HAS_SELECT : 0U) |
           (setup->selection != NULL && setup->config.wanted == 0 ? VELO_HAS_FIRED : 0U) |
           ((gec->max_velo | gec->max_ut | gec->max_scifi | gec->max_ut_scifi) != 0 ? VELO_HAS_GEC : 0U);
}

/* None, or a list of collections. */
static bool take_wanted(core_state *state, PyObject *list, slc_velo_config *config)
{
    slc_error error;
    if (list == NULL || list == Py_None) {
        return true;
    }
    const char *text = PyUnicode_AsUTF8AndSize(list, NULL);
    const slc_status status = text != NULL ? slc_velo_wanted_read(text, &config->wanted, &error) : SLC_END;
    if (status != SLC_OK && text != NULL) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* What is open, with all arguments but the first taken. */
static PyObject *open_it(core_state *state, PyObject *const *values, opening *o)
{
    velo_setup *setup = o->running->setup;
    bool truth = false, identity = false, impacts = false, monitor = false, pixels = false, residuals = false;
    if (!take_settings(state, values, setup) || !core_take_bool(values[TRUTH_], "truth", &truth) ||
        !core_take_bool(values[IDENTITY], "identity", &identity) ||
        !core_take_bool(values[IMPACTS], "impacts", &impacts) ||
        !core_take_bool(values[MONITOR], "monitor", &monitor) ||
        !core_take_bool(values[PIXELS], "monitor", &pixels) ||
        !core_take_bool(values[RESIDUALS], "residuals", &residuals) || !reserve(state, setup, truth)) {
        return core_flow_drop(o);
    }
    setup->config.impacts = setup->config.impacts || impacts;
    if (!take_wanted(state, values[WANTED], &setup->config)) {
        return core_flow_drop(o);
    }
    setup->config.selection = setup->config.wanted != 0 ? setup->selection : NULL;
    setup->config.strict = o->config.strict;
    setup->flow.config = &setup->config;
    setup->flow.identity = identity;
    if (!velo_monitor_open(state, setup, monitor, pixels, residuals)) {
        return core_flow_drop(o);
    }
    setup->flow.truth = truth;
    o->config.results_alone = !pixels; /* which are counted from the banks */
    o->running->has = has(setup);
    o->config.user_bytes = sizeof(velo_user);
    o->config.user_clear = velo_user_clear;
    return core_flow_open(state, o, &setup->flow);
}

/* velo_open(common, config, preset, geometry, beam, mask, select, truth, identity, impacts): see
 * sluice.velo.open. */
static PyObject *velo_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    opening o;
    if (!core_arguments("velo_open", arguments, n, given, names, ARGUMENTS, ARGUMENTS, values)) {
        return NULL;
    }
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "velo_open() takes fourteen arguments");
        return NULL;
    }
    velo_setup *setup = calloc(1, sizeof *setup);
    return core_flow_begin(state, &velo_chain, values[COMMON], setup, &o) ? open_it(state, values, &o) : NULL;
}

/* ---- arrays of hits --------------------------------------------------------------------------------------
 */

/* In place of a file: all that was given, once. */
static slc_status read_given(void *context, slc_flow_item *item, slc_error *error)
{
    const running *r = context;
    velo_setup *s = r->setup;
    slc_flow_velo_result *result = item->result;
    if (s->given_read) {
        return SLC_END;
    }
    s->given_read = true;
    result->raw = false;
    const slc_columns *head = &s->given.head;
    slc_columns_reset(&result->found.hits);
    const slc_status status = slc_columns_reserve(&slc_velo_hits_schema, &result->found.hits, head->size,
                                                  head->n_events);
    return status == SLC_OK ? slc_columns_append_events(&slc_velo_hits_schema, &s->given, 0, head->n_events,
                                                        &result->found.hits)
                            : slc_fail(error, status, "no memory for hits");
}

/* Bytes of an array that Python has checked, of `n` values. */
static bool copy_array(PyObject *array, void *to, size_t bytes, const char *name)
{
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) != 0) {
        return false;
    }
    const bool fits = (size_t)view.len == bytes;
    if (fits && bytes > 0) {
        memcpy(to, view.buf, bytes);
    }
    PyBuffer_Release(&view);
    if (!fits) {
        PyErr_Format(PyExc_TypeError, "%s is to have as many values as the offsets say", name);
    }
    return fits;
}

/* columns: x_mm, y_mm, z_mm, channel, n_pixels, module, offsets, each of its type and in one piece. */
static bool take_hits(core_state *state, PyObject *columns, velo_setup *s)
{
    PyObject *all[7];
    unsigned long long n_hits = 0;
    unsigned int n_events = 0;
    if (!PyArg_ParseTuple(columns, "OOOOOOOKI", &all[0], &all[1], &all[2], &all[3], &all[4], &all[5], &all[6],
                          &n_hits, &n_events)) {
        return false;
    }
    const size_t n = (size_t)n_hits;
    slc_velo_hits *hits = &s->given;
    const slc_status status = slc_columns_reserve(&slc_velo_hits_schema, hits, n, n_events);
    if (status != SLC_OK) {
        (void)core_raise(state, status, NULL);
        return false;
    }
    hits->head.size = n;
    hits->head.n_events = n_events;
    return copy_array(all[0], hits->x_mm, n * sizeof *hits->x_mm, "x_mm") &&
           copy_array(all[1], hits->y_mm, n * sizeof *hits->y_mm, "y_mm") &&
           copy_array(all[2], hits->z_mm, n * sizeof *hits->z_mm, "z_mm") &&
           copy_array(all[3], hits->channel, n * sizeof *hits->channel, "channel") &&
           copy_array(all[4], hits->n_pixels, n * sizeof *hits->n_pixels, "n_pixels") &&
           copy_array(all[5], hits->module, n * sizeof *hits->module, "module") &&
           copy_array(all[6], hits->head.event_offset, ((size_t)n_events + 1) * sizeof(uint32_t), "offsets");
}

/* velo_reconstruct(columns, common, config, …): a reader of one batch. */
static PyObject *velo_reconstruct(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    opening o;
    if (n != ARGUMENTS + 1 || given != NULL) {
        PyErr_SetString(PyExc_TypeError, "velo_reconstruct() takes fifteen arguments");
        return NULL;
    }
    velo_setup *setup = calloc(1, sizeof *setup);
    if (!core_flow_begin(state, &velo_chain, arguments[1 + COMMON], setup, &o)) {
        return NULL;
    }
    if (!take_hits(state, arguments[0], setup)) {
        return core_flow_drop(&o);
    }
    o.config.read = read_given;
    o.config.strict = false; /* which would want batches of one event */
    return open_it(state, arguments + 1, &o);
}

/* The settings in force as JSON: velo_settings(config, preset). */
static PyObject *velo_settings(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    slc_error error = {SLC_OK, ""};
    char *text = NULL;
    for (int i = 0; i < ARGUMENTS; i++) {
        values[i] = Py_None;
    }
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
    velo_setup_free(setup);
    return made;
}

PyMethodDef core_velo_functions[] = {
    {"velo_open", (PyCFunction)(void (*)(void))velo_open, METH_FASTCALL | METH_KEYWORDS, "a reader"},
    {"velo_reconstruct", (PyCFunction)(void (*)(void))velo_reconstruct, METH_FASTCALL | METH_KEYWORDS,
     "a reader of hits that are given"},
    {"velo_settings", velo_settings, METH_VARARGS, "settings as JSON"},
    {NULL, NULL, 0, NULL}};
