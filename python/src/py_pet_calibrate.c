/* SPDX-License-Identifier: Apache-2.0
 * Tables from frames: flood maps, gains, times. */
#include "py_pet.h"

#include <sluice/report_pet.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "sluice.pet.calibrate";

typedef struct calibration {
    pet_handle head;
    slc_pet_calibrate_config config;
    slc_pet_calibrate *calibrate;
    slc_pet_coincidences pairs; /* of times, as they were fitted last: for their picture */
    int32_t *offsets;
    slc_pet_time_fit fit;
    slc_error error;
} calibration;

static void calibration_drop(void *memory)
{
    calibration *c = memory;
    slc_pet_calibrate_close(c->calibrate);
    slc_columns_clear(&slc_pet_coincidences_schema, &c->pairs);
    free(c->offsets);
}

/* pet_calibrate_open(geometry, position_side, spectrum_bins, spectrum_bin, peak_kev, flood_counts,
 * spectrum_counts)
 */
static PyObject *calibrate_open(PyObject *module, PyObject *arguments)
{
    PyObject *geometry;
    calibration *c = NULL;
    PyObject *capsule = pet_new(kind, sizeof *c, calibration_drop, (void *)&c);
    if (capsule == NULL) {
        return NULL;
    }
    slc_pet_calibrate_config *config = &c->config;
    slc_pet_calibrate_config_default(config);
    if (PyArg_ParseTuple(arguments, "OIIIdII", &geometry, &config->position_side, &config->spectrum_bins,
                         &config->spectrum_bin, &config->peak_kev, &config->flood_counts,
                         &config->spectrum_counts) == 0 ||
        !pet_take_geometry(geometry, &config->geometry)) {
        Py_DECREF(capsule);
        return NULL;
    }
    pet_hold(c, geometry);
    const slc_status status = slc_pet_calibrate_open(config, &c->calibrate, &c->error);
    if (status != SLC_OK) {
        (void)core_raise(core_state_of(module), status, &c->error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* pet_calibrate_add(calibration, frames, tables or None): to flood maps, or with tables to spectra. */
static PyObject *calibrate_add(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *tuple;
    Py_buffer frames;
    pet_tables tables = {.held = {false}};
    if (PyArg_ParseTuple(arguments, "Oy*O", &capsule, &frames, &tuple) == 0) {
        return NULL;
    }
    calibration *c = pet_enter(capsule, kind);
    slc_status status = SLC_END;
    if (c != NULL && frames.len % SLC_PET_FRAME_BYTES != 0) {
        PyErr_SetString(state->usage_error, "frames have 16 bytes each");
    } else if (c != NULL && (tuple == Py_None || pet_take_tables(state, tuple, &tables))) {
        const size_t n = (size_t)frames.len / SLC_PET_FRAME_BYTES;
        PyThreadState *const thread = PyEval_SaveThread();
        status = tuple == Py_None
                     ? slc_pet_calibrate_add_flood(c->calibrate, frames.buf, n, &c->error)
                     : slc_pet_calibrate_add_spectrum(c->calibrate, &tables.tables, frames.buf, n, &c->error);
        PyEval_RestoreThread(thread);
    }
    PyObject *made = status == SLC_OK    ? Py_NewRef(Py_None)
                     : status == SLC_END ? NULL
                                         : core_raise(state, status, &c->error);
    if (c != NULL) {
        pet_leave(c);
    }
    pet_tables_clear(&tables);
    PyBuffer_Release(&frames);
    return made;
}

/* pet_calibrate_position(calibration): (uint16 as bytes, blocks without a grid) */
static PyObject *calibrate_position(PyObject *module, PyObject *capsule)
{
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    const slc_pet_tables tables = {.geometry = c->config.geometry, .position_side = c->config.position_side};
    const size_t size = slc_pet_position_elements(&tables) * sizeof(uint16_t);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size), *made = NULL;
    if (bytes != NULL) {
        uint32_t unsure = 0;
        uint16_t *position = malloc(size);
        slc_status status = SLC_ERR_MEMORY;
        PyThreadState *const thread = PyEval_SaveThread();
        if (position != NULL) {
            status = slc_pet_calibrate_position(c->calibrate, position, &unsure, &c->error);
        }
        PyEval_RestoreThread(thread);
        if (status == SLC_OK) {
            memcpy(PyBytes_AsString(bytes), position, size);
            made = Py_BuildValue("(OI)", bytes, (unsigned int)unsure);
        } else {
            (void)core_raise(core_state_of(module), status, &c->error);
        }
        free(position);
        Py_DECREF(bytes);
    }
    pet_leave(c);
    return made;
}

/* pet_calibrate_grid(calibration, module, unit): (x, y as float32 bytes, sure, counts, contrast), or None */
static PyObject *calibrate_grid(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    unsigned int m = 0, unit = 0;
    slc_pet_grid grid;
    (void)module;
    if (PyArg_ParseTuple(arguments, "OII", &capsule, &m, &unit) == 0) {
        return NULL;
    }
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    PyObject *made = NULL;
    if (slc_pet_calibrate_grid(c->calibrate, m, unit, &grid)) {
        const slc_pet_geometry *g = &c->config.geometry;
        const Py_ssize_t size = (Py_ssize_t)((size_t)g->crystals_y * g->crystals_z * sizeof(float));
        made = Py_BuildValue("(y#y#OKd)", (const char *)grid.x, size, (const char *)grid.y, size,
                             grid.sure ? Py_True : Py_False, (unsigned long long)grid.counts, grid.contrast);
    } else {
        made = Py_NewRef(Py_None);
    }
    pet_leave(c);
    return made;
}

/* pet_calibrate_gain(calibration): (gain, resolution as float32 bytes, crystals without a peak) */
static PyObject *calibrate_gain(PyObject *module, PyObject *capsule)
{
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    PyObject *made = NULL;
    const size_t n = slc_pet_crystals(&c->config.geometry);
    float *gain = calloc(2 * n, sizeof *gain);
    uint32_t unsure = 0;
    slc_status status = SLC_ERR_MEMORY;
    PyThreadState *const thread = PyEval_SaveThread();
    if (gain != NULL) {
        status = slc_pet_calibrate_gain(c->calibrate, gain, gain + n, &unsure, &c->error);
    }
    PyEval_RestoreThread(thread);
    if (status == SLC_OK) {
        const Py_ssize_t size = (Py_ssize_t)(n * sizeof *gain);
        made = Py_BuildValue("(y#y#I)", (const char *)gain, size, (const char *)(gain + n), size,
                             (unsigned int)unsure);
    } else {
        (void)core_raise(core_state_of(module), status, &c->error);
    }
    free(gain);
    pet_leave(c);
    return made;
}

static PyObject *give_fit(const calibration *c)
{
    const Py_ssize_t size = (Py_ssize_t)(slc_pet_crystals(&c->config.geometry) * sizeof *c->offsets);
    return Py_BuildValue("(y#{s:K,s:K,s:I,s:I,s:d,s:d})", (const char *)c->offsets, size, "used",
                         (unsigned long long)c->fit.used, "left_out", (unsigned long long)c->fit.left_out,
                         "unsure", (unsigned int)c->fit.unsure, "rounds", (unsigned int)c->fit.rounds,
                         "before_ps", c->fit.before_ps, "after_ps", c->fit.after_ps);
}

/* pet_calibrate_time(calibration, pairs, rounds): (int32 as bytes, the fit) */
static PyObject *calibrate_time(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *made = NULL;
    unsigned int rounds = 0;
    if (PyArg_ParseTuple(arguments, "OOI", &capsule, &buffers, &rounds) == 0) {
        return NULL;
    }
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    if (pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &c->pairs)) {
        slc_status status = SLC_ERR_MEMORY;
        if (c->offsets == NULL) {
            c->offsets = calloc(slc_pet_crystals(&c->config.geometry), sizeof *c->offsets);
        }
        PyThreadState *const thread = PyEval_SaveThread();
        if (c->offsets != NULL) {
            status = slc_pet_calibrate_time(&c->config.geometry, &c->pairs, rounds, c->offsets, &c->fit,
                                            &c->error);
        }
        PyEval_RestoreThread(thread);
        made = status == SLC_OK ? give_fit(c) : core_raise(state, status, &c->error);
    }
    pet_leave(c);
    return made;
}

/* pet_calibrate_energy_fwhm(calibration) */
static PyObject *calibrate_energy_fwhm(PyObject *module, PyObject *capsule)
{
    double fwhm = 0;
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    const slc_status status = slc_pet_calibrate_energy_fwhm(c->calibrate, &fwhm, &c->error);
    PyObject *made = status == SLC_OK ? PyFloat_FromDouble(fwhm)
                                      : core_raise(core_state_of(module), status, &c->error);
    pet_leave(c);
    return made;
}

/* A point, (x, y, z), or a cylinder's words. */
static bool take_source(core_state *state, PyObject *object, slc_pet_cylinder *source)
{
    slc_error error = {SLC_OK, ""};
    *source = (slc_pet_cylinder){.radius_mm = 0};
    if (PyTuple_Check(object)) {
        return PyArg_ParseTuple(object, "ddd", &source->x_mm, &source->y_mm, &source->z_mm) != 0;
    }
    PyObject *utf8 = PyUnicode_AsUTF8String(object);
    const slc_status status = utf8 != NULL ? slc_pet_cylinder_of(PyBytes_AsString(utf8), source, &error)
                                           : SLC_END;
    Py_XDECREF(utf8);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* pet_calibrate_time_fwhm(calibration, pairs, source, offsets, fitted): offsets are int32, or None; fitted:
 * they are those that were found last, of these pairs. A dictionary. */
static PyObject *calibrate_time_fwhm(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *place, *made = NULL;
    Py_buffer offsets;
    int fitted = 0;
    slc_pet_cylinder source;
    slc_pet_time_width width;
    slc_pet_coincidences pairs = {.head = {0}};
    if (PyArg_ParseTuple(arguments, "OOOz*p", &capsule, &buffers, &place, &offsets, &fitted) == 0) {
        return NULL;
    }
    calibration *c = take_source(state, place, &source) ? pet_enter(capsule, kind) : NULL;
    const size_t crystals = c != NULL ? slc_pet_crystals(&c->config.geometry) : 0;
    if (c != NULL && offsets.buf != NULL && (size_t)offsets.len != crystals * sizeof(int32_t)) {
        PyErr_SetString(state->usage_error, "offsets are to have one number for each crystal");
    } else if (c != NULL && pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &pairs)) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_pet_calibrate_time_fwhm(&c->config.geometry, &pairs, offsets.buf,
                                             fitted != 0 ? &c->fit : NULL, &source, &width, &c->error);
        PyEval_RestoreThread(thread);
        made = status == SLC_OK
                   ? Py_BuildValue("{s:K,s:K,s:d,s:d,s:d,s:d,s:(ddd),s:d,s:O}", "pairs",
                                   (unsigned long long)width.pairs, "outside",
                                   (unsigned long long)width.outside, "fwhm_ps", width.fwhm_ps, "error_ps",
                                   width.error_ps, "randoms", width.randoms, "through", width.through,
                                   "meet_mm", width.meet_mm[0], width.meet_mm[1], width.meet_mm[2],
                                   "through_there", width.through_there, "misplaced",
                                   width.misplaced ? Py_True : Py_False)
                   : core_raise(state, status, &c->error);
    }
    if (c != NULL) {
        pet_leave(c);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    PyBuffer_Release(&offsets);
    return made;
}

/* pet_calibrate_counts(calibration): (counts, doubts in words) */
static PyObject *calibrate_counts(PyObject *module, PyObject *capsule)
{
    char text[SLC_REPORT_PET_DOUBT];
    slc_pet_calibrate_counts n;
    (void)module;
    calibration *c = pet_enter(capsule, kind);
    if (c == NULL) {
        return NULL;
    }
    slc_pet_calibrate_counts_of(c->calibrate, &n);
    PyObject *doubts = PyList_New(0);
    for (size_t i = 0; doubts != NULL && slc_report_pet_rows_doubt(c->calibrate, i, text); i++) {
        PyObject *one = PyUnicode_FromString(text);
        if (one == NULL || PyList_Append(doubts, one) < 0) {
            Py_CLEAR(doubts);
        }
        Py_XDECREF(one);
    }
    pet_leave(c);
    return doubts == NULL ? NULL
                          : Py_BuildValue("({s:K,s:K,s:K,s:K,s:K}N)", "flood", (unsigned long long)n.flood,
                                          "flood_outside", (unsigned long long)n.flood_outside, "spectrum",
                                          (unsigned long long)n.spectrum, "spectrum_outside",
                                          (unsigned long long)n.spectrum_outside, "beyond",
                                          (unsigned long long)n.beyond, doubts);
}

/* pet_calibrate_draw(calibration, path, position, gain, resolution): the flood maps of a position table, or,
 * of gains and resolutions, spectra with what times were fitted; the others are None. */
static PyObject *calibrate_draw(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *path;
    Py_buffer position, gain, resolution;
    slc_status status = SLC_END;
    if (PyArg_ParseTuple(arguments, "OOz*z*z*", &capsule, &path, &position, &gain, &resolution) == 0) {
        return NULL;
    }
    calibration *c = pet_enter(capsule, kind);
    char *name = c != NULL ? pet_take_path(path) : NULL;
    if (name != NULL) {
        const slc_pet_tables tables = {.geometry = c->config.geometry,
                                       .position_side = c->config.position_side};
        const size_t floats = slc_pet_crystals(&c->config.geometry) * sizeof(float);
        const slc_report_pet_spectra spectra = {.calibrate = c->calibrate,
                                                .gain = gain.buf,
                                                .resolution = resolution.buf,
                                                .pairs = c->offsets != NULL ? &c->pairs : NULL,
                                                .time_offset_ps = c->offsets,
                                                .fit = &c->fit};
        const bool fits = position.buf != NULL
                              ? (size_t)position.len == slc_pet_position_elements(&tables) * sizeof(uint16_t)
                              : (size_t)gain.len == floats && (size_t)resolution.len == floats;
        PyThreadState *const thread = PyEval_SaveThread();
        status = !fits ? slc_fail(&c->error, SLC_ERR_USAGE, "the table is not of this calibration's scanner")
                 : position.buf != NULL
                     ? slc_report_pet_flood_png(name, c->calibrate, position.buf, &c->error)
                     : slc_report_pet_spectra_svg(name, &spectra, &c->error);
        PyEval_RestoreThread(thread);
    }
    PyMem_Free(name);
    PyObject *made = status == SLC_OK    ? Py_NewRef(Py_None)
                     : status == SLC_END ? NULL
                                         : core_raise(core_state_of(module), status, &c->error);
    if (c != NULL) {
        pet_leave(c);
    }
    PyBuffer_Release(&position);
    PyBuffer_Release(&gain);
    PyBuffer_Release(&resolution);
    return made;
}

PyMethodDef pet_calibrate_functions[] = {
    {"pet_calibrate_open", calibrate_open, METH_VARARGS, "a calibration"},
    {"pet_calibrate_add", calibrate_add, METH_VARARGS, "frames to it"},
    {"pet_calibrate_position", calibrate_position, METH_O, "positions of its flood maps"},
    {"pet_calibrate_grid", calibrate_grid, METH_VARARGS, "the grid of a block"},
    {"pet_calibrate_gain", calibrate_gain, METH_O, "gains of its spectra"},
    {"pet_calibrate_time", calibrate_time, METH_VARARGS, "time offsets of pairs"},
    {"pet_calibrate_energy_fwhm", calibrate_energy_fwhm, METH_O, "the resolution of energies"},
    {"pet_calibrate_time_fwhm", calibrate_time_fwhm, METH_VARARGS, "the resolution of times"},
    {"pet_calibrate_counts", calibrate_counts, METH_O, "what became of the frames"},
    {"pet_calibrate_draw", calibrate_draw, METH_VARARGS, "pictures of it"},
    {NULL, NULL, 0, NULL}};
