/* SPDX-License-Identifier: Apache-2.0
 * List-mode files, and sinograms. */
#include "py_pet.h"

#include <stdlib.h>
#include <string.h>

static const char list_kind[] = "sluice.pet.list", writer_kind[] = "sluice.pet.list_writer",
                  sinogram_kind[] = "sluice.pet.sinogram";

#define U64(value) ((unsigned long long)(value))

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct list {
    pet_handle head;
    slc_io_pet_list *input;
    size_t rows; /* that were read last */
} list;

static void list_drop(void *memory)
{
    slc_io_pet_list_close(((list *)memory)->input);
}

/* pet_list_format(path): the format's name, None if it is no list of pairs. */
static PyObject *list_format(PyObject *module, PyObject *path)
{
    (void)module;
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    const slc_io_format_row *row = slc_io_format_of(name);
    PyMem_Free(name);
    return row != NULL && row->kind == SLC_IO_KIND_PET_PAIRS
               ? PyUnicode_FromString(slc_io_pet_list_name((slc_io_pet_list_format)row->pairs))
               : Py_NewRef(Py_None);
}

/* pet_list_open(path, format, geometry or None) */
static PyObject *list_open(PyObject *module, PyObject *arguments)
{
    PyObject *path, *tuple;
    slc_error error = {SLC_OK, ""};
    slc_pet_geometry geometry;
    unsigned int format = 0;
    list *l = NULL;
    if (PyArg_ParseTuple(arguments, "OIO", &path, &format, &tuple) == 0 ||
        (tuple != Py_None && !pet_take_geometry(tuple, &geometry))) {
        return NULL;
    }
    char *name = pet_take_path(path);
    PyObject *capsule = name != NULL ? pet_new(list_kind, sizeof *l, list_drop, (void *)&l) : NULL;
    if (capsule != NULL) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_list_open(name, (slc_io_pet_list_format)format,
                                      tuple != Py_None ? &geometry : NULL, &l->input, &error);
        PyEval_RestoreThread(thread);
        if (status != SLC_OK) {
            (void)core_raise(core_state_of(module), status, &error);
            Py_CLEAR(capsule);
        } else {
            pet_hold(l, tuple);
        }
    }
    PyMem_Free(name);
    return capsule;
}

/* pet_list_read(list, most): Columns, None at the end */
static PyObject *list_read(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *made = NULL;
    slc_error error = {SLC_OK, ""};
    Py_ssize_t most = 0;
    if (PyArg_ParseTuple(arguments, "On", &capsule, &most) == 0) {
        return NULL;
    }
    list *l = pet_enter(capsule, list_kind);
    if (l == NULL) {
        return NULL;
    }
    pet_rows *rows = pet_rows_new(&slc_pet_coincidences_schema);
    if (rows != NULL) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_list_read(l->input, (size_t)most, &rows->of.pairs, &error);
        PyEval_RestoreThread(thread);
        l->rows = status == SLC_OK ? rows->of.pairs.head.size : 0;
        if (status == SLC_OK) {
            made = pet_rows_give(core_state_of(module), rows);
        } else {
            pet_rows_free(rows);
            made = status == SLC_END ? Py_NewRef(Py_None) : core_raise(core_state_of(module), status, &error);
        }
    }
    pet_leave(l);
    return made;
}

/* pet_list_corrections(list): of the rows that were read last, {name: bytes of float32}. */
static PyObject *list_corrections(PyObject *module, PyObject *capsule)
{
    (void)module;
    list *l = pet_enter(capsule, list_kind);
    PyObject *made = l != NULL ? PyDict_New() : NULL;
    if (l == NULL) {
        return NULL;
    }
    slc_io_pet_list_about a;
    slc_io_pet_list_about_of(l->input, &a);
    const char *name;
    for (size_t k = 0; made != NULL && (name = slc_io_pet_correction_name(k)) != NULL; k++) {
        const char *value = (const char *)a.corrections->value[k];
        PyObject *bytes = value != NULL
                              ? PyBytes_FromStringAndSize(value, (Py_ssize_t)(l->rows * sizeof(float)))
                              : NULL;
        if (value != NULL && (bytes == NULL || PyDict_SetItemString(made, name, bytes) != 0)) {
            Py_CLEAR(made);
        }
        Py_XDECREF(bytes);
    }
    pet_leave(l);
    return made;
}

static PyObject *list_about(PyObject *module, PyObject *capsule)
{
    (void)module;
    list *l = pet_enter(capsule, list_kind);
    if (l == NULL) {
        return NULL;
    }
    slc_io_pet_list_about a;
    slc_io_pet_list_about_of(l->input, &a);
    const Py_ssize_t bytes = (Py_ssize_t)(a.crystals * sizeof(float));
    PyObject *efficiency = a.efficiency == NULL
                               ? Py_NewRef(Py_None)
                               : PyBytes_FromStringAndSize((const char *)a.efficiency, bytes);
    pet_leave(l);
    PyObject *geometry = a.has_geometry ? pet_give_geometry(&a.geometry, capsule) : Py_NewRef(Py_None);
    PyObject *scanner = a.scanner[0] != '\0' ? PyUnicode_DecodeLocale(a.scanner, "surrogateescape")
                                             : Py_NewRef(Py_None);
    PyObject *file = PyUnicode_DecodeLocale(a.scanner_file, "surrogateescape");
    if (geometry == NULL || scanner == NULL || efficiency == NULL || file == NULL) {
        Py_XDECREF(file);
        Py_XDECREF(geometry);
        Py_XDECREF(efficiency);
        Py_XDECREF(scanner);
        return NULL;
    }
    const slc_io_pet_list_totals *t = &a.totals;
    return Py_BuildValue(
        "{s:N,s:N,s:O,s:d,s:d,s:d,s:L,s:O,s:K,s:K,s:K,s:K,s:d,s:d,s:d,s:I,s:N,s:s,s:s,s:K,s:K,s:N,s:O}",
        "scanner", scanner, "geometry", geometry, "tof", a.tof ? Py_True : Py_False, "tof_resolution_ps",
        a.tof_resolution_ps, "window_ps", a.window_ps, "duration_s", a.duration_s, "start_ps",
        (long long)a.start_ps, "start_is_found", a.start_is_found ? Py_True : Py_False, "prompts",
        U64(t->prompts), "delayeds", U64(t->delayeds), "time_tags", U64(t->time_tags), "other", U64(t->other),
        "seconds", t->seconds, "low_kev", a.low_kev, "high_kev", a.high_kev, "energy_bins", a.energy_bins,
        "efficiency", efficiency, "left_out", a.left_out, "moved", a.moved, "no_crystal", U64(a.no_crystal),
        "no_tof", U64(a.no_tof), "scanner_file", file, "no_modules", a.no_modules ? Py_True : Py_False);
}

/* pet_map_read(path): (rings, crystals_per_ring, layers, positions as bytes of float32, orientations or None)
 */
static PyObject *map_read(PyObject *module, PyObject *path)
{
    slc_io_pet_map map;
    slc_error error = {SLC_OK, ""};
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    const slc_status status = slc_io_pet_map_read(name, &map, &error);
    PyMem_Free(name);
    if (status != SLC_OK) {
        return core_raise(core_state_of(module), status, &error);
    }
    const Py_ssize_t size = (Py_ssize_t)(map.crystals * 3 * sizeof(float));
    PyObject *made = map.orientation != NULL
                         ? Py_BuildValue("IIIy#y#", map.rings, map.crystals_per_ring, map.layers,
                                         (const char *)map.position_mm, size, (const char *)map.orientation,
                                         size)
                         : Py_BuildValue("IIIy#O", map.rings, map.crystals_per_ring, map.layers,
                                         (const char *)map.position_mm, size, Py_None);
    slc_io_pet_map_clear(&map);
    return made;
}

/* ---- writing ----------------------------------------------------------------------------------- */

typedef struct list_writer {
    pet_handle head;
    slc_io_pet_list_writer *writer; /* NULL: finished, or given up */
    slc_pet_coincidences rows;
    slc_pet_singles singles;
    uint64_t checksum; /* looked at by the end */
    uint64_t left_out;
    bool partial;    /* so is this */
    PyObject *chain; /* whose randoms are written; NULL: none */
    slc_io_pet_list_corrections
        corrections; /* of the rows of a call; at _create not NULL, where there are any */
} list_writer;

static void writer_drop(void *memory)
{
    list_writer *w = memory;
    slc_io_pet_list_abandon(w->writer);
    slc_columns_clear(&slc_pet_coincidences_schema, &w->rows);
    slc_columns_clear(&slc_pet_singles_schema, &w->singles);
    Py_CLEAR(w->chain);
}

/* (geometry, scanner, tof, tof_resolution_ps, window_ps, start_ps, duration_s, form, threads, rotate_bytes,
 * rotate_seconds, low_kev, high_kev, energy_bins, efficiency as bytes of float32 or None, policy or -1, has
 * delayeds, of singles) */
static bool take_config(PyObject *tuple, slc_io_pet_list_config *config, slc_exec *exec)
{
    PyObject *geometry;
    int tof = 0;
    long long start_ps = 0;
    unsigned int threads = 1;
    unsigned long long rotate_bytes = 0;
    const char *efficiency = NULL;
    Py_ssize_t efficiency_size = 0;
    int policy = -1, delayeds = 1, singles = 0;
    slc_pet_sort_config stage; /* for what threads are by default */
    slc_pet_sort_config_default(&stage);
    slc_io_pet_list_config_default(config);
    if (PyArg_ParseTuple(tuple, "OzpddLdzIKdddIz#ipp", &geometry, &config->scanner, &tof,
                         &config->tof_resolution_ps, &config->window_ps, &start_ps, &config->duration_s,
                         &config->form, &threads, &rotate_bytes, &config->rotate_seconds, &config->low_kev,
                         &config->high_kev, &config->energy_bins, &efficiency, &efficiency_size, &policy,
                         &delayeds, &singles) == 0 ||
        !pet_take_geometry(geometry, &config->geometry)) {
        return false;
    }
    config->tof = tof != 0;
    config->start_ps = start_ps;
    config->rotate_bytes = rotate_bytes;
    if (efficiency != NULL &&
        (size_t)efficiency_size != slc_pet_crystals(&config->geometry) * sizeof(float)) {
        PyErr_SetString(PyExc_ValueError, "efficiency is to have one number for each crystal");
        return false;
    }
    config->efficiency =
        (const float *)(const void *)efficiency; /* Python's bytes begin at a multiple of 8 */
    config->singles = singles != 0;
    config->prompt_multiples = singles != 0 ? SLC_PET_MULTIPLES_NO_PAIRS
                               : policy < 0 ? SLC_PET_MULTIPLES_OTHER
                                            : slc_pet_multiples_of((slc_pet_policy)policy);
    config->delayed_multiples = delayeds != 0 ? config->prompt_multiples : SLC_PET_MULTIPLES_NO_PAIRS;
    *exec = stage.exec;
    exec->threads = threads;
    config->exec = threads != 1 ? exec : NULL;
    return true;
}

/* pet_list_create(path, format, config, has a checksum, chain with randoms or None, corrections: a bit for
 * each) */
static PyObject *list_create(PyObject *module, PyObject *arguments)
{
    PyObject *path, *tuple, *randoms;
    slc_error error = {SLC_OK, ""};
    slc_io_pet_list_config config;
    slc_exec exec;
    unsigned int format = 0, corrections = 0;
    int summed = 0;
    float there = 0;
    list_writer *w = NULL;
    if (PyArg_ParseTuple(arguments, "OIOpOI", &path, &format, &tuple, &summed, &randoms, &corrections) == 0 ||
        !take_config(tuple, &config, &exec)) {
        return NULL;
    }
    uint32_t crystals = 0;
    if (randoms != Py_None &&
        (config.randoms = pet_chain_randoms(randoms, core_state_of(module), &crystals)) == NULL) {
        return NULL;
    }
    char *name = pet_take_path(path);
    PyObject *capsule = name != NULL ? pet_new(writer_kind, sizeof *w, writer_drop, (void *)&w) : NULL;
    if (capsule != NULL) {
        config.checksum = summed ? &w->checksum : NULL;
        config.partial = &w->partial;
        for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
            w->corrections.value[k] = (corrections >> k & 1) != 0 ? &there : NULL;
        }
        config.corrections = corrections != 0 ? &w->corrections : NULL;
        w->chain = randoms != Py_None ? Py_NewRef(randoms) : NULL;
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_list_create(name, (slc_io_pet_list_format)format, &config, &w->writer, &error);
        PyEval_RestoreThread(thread);
        pet_hold(w, tuple);
        if (status != SLC_OK) {
            (void)core_raise(core_state_of(module), status, &error);
            Py_CLEAR(capsule);
        }
    }
    PyMem_Free(name);
    return capsule;
}

/* The corrections of the rows, each as bytes of float32, all of them that were told of at _create. */
static bool take_corrections(list_writer *w, PyObject *tuple)
{
    for (Py_ssize_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        PyObject *bytes = PyTuple_GetItem(tuple, k);
        if (bytes == NULL) {
            return false;
        }
        const bool is = PyBytes_Check(bytes) != 0;
        if (is != (w->corrections.value[k] != NULL) ||
            (is && (size_t)PyBytes_Size(bytes) != w->rows.head.size * sizeof(float))) {
            PyErr_SetString(PyExc_ValueError, "corrections are to have those of the writer, a number a row");
            return false;
        }
        if (is) { /* Python's bytes begin at a multiple of 8; they are only read */
            w->corrections.value[k] = (float *)(void *)PyBytes_AsString(bytes);
        }
    }
    return true;
}

/* pet_list_write(writer, pairs, checksum, partial, corrections): pairs None completes the files. How many
 * pairs are left out so far. */
static PyObject *list_write(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *corrections;
    slc_error error = {SLC_OK, ""};
    unsigned long long checksum = 0;
    int partial = 0;
    if (PyArg_ParseTuple(arguments, "OOKpO", &capsule, &buffers, &checksum, &partial, &corrections) == 0) {
        return NULL;
    }
    list_writer *w = pet_enter(capsule, writer_kind);
    if (w == NULL) {
        return NULL;
    }
    slc_status status = SLC_END;
    if (w->writer == NULL) {
        PyErr_SetString(state->usage_error, "the list was completed");
    } else if (buffers == Py_None || (pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &w->rows) &&
                                      take_corrections(w, corrections))) {
        slc_io_pet_list_writer *to = w->writer;
        w->writer = buffers == Py_None ? NULL : to;
        w->checksum = checksum;
        w->partial = partial != 0;
        w->left_out = slc_io_pet_list_left_out(to);
        PyThreadState *const thread = PyEval_SaveThread();
        status = buffers == Py_None ? slc_io_pet_list_finish(to, &error)
                                    : slc_io_pet_list_write(to, &w->rows, &error);
        PyEval_RestoreThread(thread);
        w->left_out = w->writer != NULL ? slc_io_pet_list_left_out(to) : w->left_out;
    }
    const unsigned long long left_out = w->left_out;
    pet_leave(w);
    return status == SLC_OK    ? PyLong_FromUnsignedLongLong(left_out)
           : status == SLC_END ? NULL
                               : core_raise(state, status, &error);
}

/* pet_list_singles(writer, singles): how many are left out so far. */
static PyObject *list_singles(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &buffers) == 0) {
        return NULL;
    }
    list_writer *w = pet_enter(capsule, writer_kind);
    if (w == NULL) {
        return NULL;
    }
    slc_status status = SLC_END;
    if (w->writer == NULL) {
        PyErr_SetString(state->usage_error, "the list was completed");
    } else if (pet_rows_take(state, buffers, &slc_pet_singles_schema, &w->singles)) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_list_singles(w->writer, &w->singles, &error);
        PyEval_RestoreThread(thread);
        w->left_out = slc_io_pet_list_left_out(w->writer);
    }
    const unsigned long long left_out = w->left_out;
    pet_leave(w);
    return status == SLC_OK    ? PyLong_FromUnsignedLongLong(left_out)
           : status == SLC_END ? NULL
                               : core_raise(state, status, &error);
}

/* pet_list_flush(writer, seconds) */
static PyObject *list_flush(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    slc_error error = {SLC_OK, ""};
    double seconds = 0;
    if (PyArg_ParseTuple(arguments, "Od", &capsule, &seconds) == 0) {
        return NULL;
    }
    list_writer *w = pet_enter(capsule, writer_kind);
    if (w == NULL) {
        return NULL;
    }
    slc_status status = SLC_OK;
    if (w->writer != NULL) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_list_flush(w->writer, seconds, &error);
        PyEval_RestoreThread(thread);
    }
    pet_leave(w);
    return status == SLC_OK ? Py_NewRef(Py_None) : core_raise(core_state_of(module), status, &error);
}

/* pet_list_abandon(writer): nothing appears. */
static PyObject *list_abandon(PyObject *module, PyObject *capsule)
{
    (void)module;
    list_writer *w = pet_enter(capsule, writer_kind);
    if (w == NULL) {
        return NULL;
    }
    slc_io_pet_list_abandon(w->writer);
    w->writer = NULL;
    pet_leave(w);
    return Py_NewRef(Py_None);
}

/* ---- sinograms --------------------------------------------------------------------------------- */

typedef struct sinogram {
    pet_handle head;
    slc_io_pet_sinogram *sinogram;
    slc_pet_coincidences rows;
} sinogram;

static void sinogram_drop(void *memory)
{
    sinogram *s = memory;
    slc_io_pet_sinogram_close(s->sinogram);
    slc_columns_clear(&slc_pet_coincidences_schema, &s->rows);
}

/* pet_sinogram_open(geometry, tangential, ring_difference, rebin, subtract) */
static PyObject *sinogram_open(PyObject *module, PyObject *arguments)
{
    PyObject *geometry;
    slc_error error = {SLC_OK, ""};
    slc_io_pet_sinogram_config config;
    int rebin = 0, subtract = 0;
    sinogram *s = NULL;
    slc_io_pet_sinogram_config_default(&config);
    if (PyArg_ParseTuple(arguments, "OIIpp", &geometry, &config.tangential, &config.ring_difference, &rebin,
                         &subtract) == 0 ||
        !pet_take_geometry(geometry, &config.geometry)) {
        return NULL;
    }
    config.rebin = rebin != 0;
    config.subtract = subtract != 0;
    PyObject *capsule = pet_new(sinogram_kind, sizeof *s, sinogram_drop, (void *)&s);
    const slc_status status = capsule != NULL ? slc_io_pet_sinogram_open(&config, &s->sinogram, &error)
                                              : SLC_OK;
    if (status != SLC_OK) {
        (void)core_raise(core_state_of(module), status, &error);
        Py_CLEAR(capsule);
    } else if (capsule != NULL) {
        pet_hold(s, geometry);
    }
    return capsule;
}

/* pet_sinogram_add(sinogram, pairs): (in, outside) so far */
static PyObject *sinogram_add(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *made = NULL;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &buffers) == 0) {
        return NULL;
    }
    sinogram *s = pet_enter(capsule, sinogram_kind);
    if (s == NULL) {
        return NULL;
    }
    if (pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &s->rows)) {
        slc_status status;
        uint64_t in = 0, outside = 0;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_sinogram_add(s->sinogram, &s->rows, &error);
        PyEval_RestoreThread(thread);
        slc_io_pet_sinogram_counts_of(s->sinogram, &in, &outside);
        made = status == SLC_OK ? Py_BuildValue("(KK)", U64(in), U64(outside))
                                : core_raise(state, status, &error);
    }
    pet_leave(s);
    return made;
}

/* pet_sinogram_write(sinogram, path, chain with randoms or None): of these their sum. */
static PyObject *sinogram_write(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *path, *chain;
    slc_error error = {SLC_OK, ""};
    double sum = 0;
    if (PyArg_ParseTuple(arguments, "OOO", &capsule, &path, &chain) == 0) {
        return NULL;
    }
    uint32_t crystals = 0;
    const slc_pet_pair_randoms *randoms = chain != Py_None
                                              ? pet_chain_randoms(chain, core_state_of(module), &crystals)
                                              : NULL;
    if (chain != Py_None && randoms == NULL) {
        return NULL;
    }
    char *name = pet_take_path(path);
    sinogram *s = name != NULL ? pet_enter(capsule, sinogram_kind) : NULL;
    slc_status status = SLC_END;
    if (s != NULL) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = randoms != NULL ? slc_io_pet_sinogram_write_randoms(s->sinogram, randoms, name, &sum, &error)
                                 : slc_io_pet_sinogram_write(s->sinogram, name, &error);
        PyEval_RestoreThread(thread);
        pet_leave(s);
    }
    PyMem_Free(name);
    return status == SLC_OK    ? PyFloat_FromDouble(sum)
           : status == SLC_END ? NULL
                               : core_raise(core_state_of(module), status, &error);
}

/* pet_sinogram_read(path): (tangential, views, sinograms, segments, float32 as bytes) */
static PyObject *sinogram_read(PyObject *module, PyObject *path)
{
    slc_io_pet_sinogram_values v;
    slc_error error = {SLC_OK, ""};
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_pet_sinogram_read(name, &v, &error);
    PyEval_RestoreThread(thread);
    PyMem_Free(name);
    if (status != SLC_OK) {
        return core_raise(core_state_of(module), status, &error);
    }
    const size_t size = (size_t)v.tangential * v.views * v.sinograms * sizeof *v.value;
    PyObject *made = Py_BuildValue("IIIIy#", v.tangential, v.views, v.sinograms, v.segments,
                                   (const char *)v.value, (Py_ssize_t)size);
    free(v.value);
    return made;
}

PyMethodDef pet_list_functions[] = {
    {"pet_list_format", list_format, METH_O, "a list-mode file's format"},
    {"pet_list_open", list_open, METH_VARARGS, "a list-mode file"},
    {"pet_list_read", list_read, METH_VARARGS, "pairs of it"},
    {"pet_list_corrections", list_corrections, METH_O, "of the rows that were read last"},
    {"pet_list_about", list_about, METH_O, "what it says, and what was read"},
    {"pet_map_read", map_read, METH_O, "where crystals are"},
    {"pet_list_create", list_create, METH_VARARGS, "a new list-mode file"},
    {"pet_list_write", list_write, METH_VARARGS, "pairs to it"},
    {"pet_list_singles", list_singles, METH_VARARGS, "singles to it"},
    {"pet_list_flush", list_flush, METH_VARARGS, "brings it to its temporary files"},
    {"pet_list_abandon", list_abandon, METH_O, "gives it up"},
    {"pet_sinogram_open", sinogram_open, METH_VARARGS, "a sinogram"},
    {"pet_sinogram_add", sinogram_add, METH_VARARGS, "pairs to it"},
    {"pet_sinogram_write", sinogram_write, METH_VARARGS, "it as a file"},
    {"pet_sinogram_read", sinogram_read, METH_O, "a file of one"},
    {NULL, NULL, 0, NULL}};
