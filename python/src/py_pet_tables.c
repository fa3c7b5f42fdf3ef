/* SPDX-License-Identifier: Apache-2.0
 * Tables of a scanner: from Python's tuples and to them, from files and to them. */
#include "py_pet.h"

#include <sluice/io_pet.h>

#include <string.h>

#define ANY SIZE_MAX

/* A buffer of `bytes`, or none. */
static bool take_table(core_state *state, PyObject *object, const char *name, size_t bytes, Py_buffer *view,
                       bool *held, const void **to)
{
    if (object == Py_None) {
        return true;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) < 0) {
        return false;
    }
    *held = true;
    *to = view->buf;
    if (bytes != ANY && (size_t)view->len != bytes) {
        PyErr_Format(state->usage_error, "the table %s has %zd bytes, for this scanner it is to have %zu",
                     name, view->len, bytes);
        return false;
    }
    return true;
}

bool pet_take_tables(core_state *state, PyObject *tuple, pet_tables *to)
{
    PyObject *geometry, *object[7];
    slc_pet_tables *t = &to->tables;
    const void *data[7] = {NULL};
    double bin_kev = 0;
    memset(to, 0, sizeof *to);
    if (PyArg_ParseTuple(tuple, "OIOOOdOOOdOddd", &geometry, &t->position_side, &object[0], &object[1],
                         &object[2], &bin_kev, &object[3], &object[4], &object[5], &t->geometric.radial_mm,
                         &object[6], &t->geometric.axial_mm, &t->energy_fwhm, &t->time_fwhm_ps) == 0 ||
        !pet_take_geometry(geometry, &t->geometry)) {
        return false;
    }
    to->geometry = Py_NewRef(geometry);
    const size_t crystals = slc_pet_crystals(&t->geometry);
    t->energy_bin_kev = (float)bin_kev;
    if (!take_table(state, object[0], "position", slc_pet_position_elements(t) * sizeof *t->position,
                    &to->view[0], &to->held[0], &data[0]) ||
        !take_table(state, object[1], "gain", crystals * sizeof *t->gain, &to->view[1], &to->held[1],
                    &data[1])) {
        return false;
    }
    if (!take_table(state, object[2], "energy", ANY, &to->view[2], &to->held[2], &data[2]) ||
        !take_table(state, object[3], "time_offset_ps", crystals * sizeof *t->time_offset_ps, &to->view[3],
                    &to->held[3], &data[3]) ||
        !take_table(state, object[4], "efficiency", crystals * sizeof *t->efficiency, &to->view[4],
                    &to->held[4], &data[4]) ||
        !take_table(state, object[5], "radial", ANY, &to->view[5], &to->held[5], &data[5]) ||
        !take_table(state, object[6], "axial", ANY, &to->view[6], &to->held[6], &data[6])) {
        return false;
    }
    const size_t row = crystals * sizeof *t->energy;
    const size_t energies = to->held[2] ? (size_t)to->view[2].len : 0;
    if (row == 0 || energies % row != 0) {
        PyErr_Format(state->usage_error, "the table energy has %zu bytes, which are no rows of %zu crystals",
                     energies, crystals);
        return false;
    }
    t->energy_bins = (uint32_t)(energies / row);
    t->position = data[0];
    t->gain = data[1];
    t->energy = data[2];
    t->time_offset_ps = data[3];
    t->efficiency = data[4];
    t->geometric.radial = data[5];
    t->geometric.axial = data[6];
    t->geometric.n_radial = to->held[5] ? (uint32_t)(to->view[5].len / (Py_ssize_t)sizeof(float)) : 0;
    t->geometric.n_axial = to->held[6] ? (uint32_t)(to->view[6].len / (Py_ssize_t)sizeof(float)) : 0;
    return true;
}

void pet_tables_clear(pet_tables *tables)
{
    for (int i = 0; i < 7; i++) {
        if (tables->held[i]) {
            PyBuffer_Release(&tables->view[i]);
            tables->held[i] = false;
        }
    }
    Py_CLEAR(tables->geometry);
}

static PyObject *bytes_of(const void *data, size_t n)
{
    return data != NULL ? PyBytes_FromStringAndSize(data, (Py_ssize_t)n) : Py_NewRef(Py_None);
}

/* pet_tables_read(path): as pet_take_tables has them, but bytes. */
static PyObject *tables_read(PyObject *module, PyObject *path)
{
    slc_pet_tables t;
    slc_error error = {SLC_OK, ""};
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_read_pet_tables(name, &t, &error);
    PyEval_RestoreThread(thread);
    PyMem_Free(name);
    if (status != SLC_OK) {
        return core_raise(core_state_of(module), status, &error);
    }
    const size_t crystals = slc_pet_crystals(&t.geometry);
    PyObject *position = bytes_of(t.position, slc_pet_position_elements(&t) * sizeof *t.position);
    PyObject *geometry = pet_give_geometry(&t.geometry, NULL); /* which has the layout now */
    PyObject *gain = bytes_of(t.gain, crystals * sizeof *t.gain);
    PyObject *energy = bytes_of(t.energy, crystals * t.energy_bins * sizeof *t.energy);
    PyObject *offset = bytes_of(t.time_offset_ps, crystals * sizeof *t.time_offset_ps);
    PyObject *efficiency = bytes_of(t.efficiency, crystals * sizeof *t.efficiency);
    PyObject *radial = bytes_of(t.geometric.radial, t.geometric.n_radial * sizeof(float));
    PyObject *axial = bytes_of(t.geometric.axial, t.geometric.n_axial * sizeof(float));
    PyObject *made = NULL;
    if (geometry != NULL && position != NULL && gain != NULL && energy != NULL && offset != NULL &&
        efficiency != NULL && radial != NULL && axial != NULL) {
        made = Py_BuildValue("(OIOOOdOOOdOddd)", geometry, t.position_side, position, gain, energy,
                             (double)t.energy_bin_kev, offset, efficiency, radial, t.geometric.radial_mm,
                             axial, t.geometric.axial_mm, t.energy_fwhm, t.time_fwhm_ps);
    }
    Py_XDECREF(radial);
    Py_XDECREF(axial);
    Py_XDECREF(geometry);
    Py_XDECREF(position);
    Py_XDECREF(gain);
    Py_XDECREF(energy);
    Py_XDECREF(offset);
    Py_XDECREF(efficiency);
    t.geometry.layout = NULL;
    slc_io_pet_tables_clear(&t);
    return made;
}

/* pet_tables_write(path, tables) */
static PyObject *tables_write(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *path = NULL, *tuple = NULL;
    pet_tables tables;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "OO", &path, &tuple) == 0) {
        return NULL;
    }
    char *name = pet_take_path(path);
    slc_status status = SLC_END;
    if (name != NULL && pet_take_tables(state, tuple, &tables)) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_write_pet_tables(name, &tables.tables, &error);
        PyEval_RestoreThread(thread);
    }
    if (name != NULL) {
        pet_tables_clear(&tables);
    }
    PyMem_Free(name);
    return status == SLC_OK    ? Py_NewRef(Py_None)
           : status == SLC_END ? NULL
                               : core_raise(state, status, &error);
}

PyMethodDef pet_table_functions[] = {{"pet_tables_read", tables_read, METH_O, "tables of a file"},
                                     {"pet_tables_write", tables_write, METH_VARARGS, "tables to a file"},
                                     {NULL, NULL, 0, NULL}};
