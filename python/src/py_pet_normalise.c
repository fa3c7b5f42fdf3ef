/* SPDX-License-Identifier: Apache-2.0
 * Efficiencies of crystals from pairs of a known source, and factors of pairs. */
#include "py_pet.h"

#include <sluice/io_pet.h>
#include <sluice/pet_normalise.h>
#include <stdlib.h>

static const char kind[] = "sluice.pet.normalise";

typedef struct normaliser {
    pet_handle head;
    slc_pet_normalise *normalise;
    uint32_t crystals;
    slc_error error;
} normaliser;

static void normaliser_drop(void *memory)
{
    normaliser *n = memory;
    slc_pet_normalise_close(n->normalise);
}

/* A cylinder's words. False with an error set. */
static bool take_cylinder(core_state *state, const char *words, slc_pet_cylinder *cylinder)
{
    slc_error error = {SLC_OK, ""};
    const slc_status status = slc_pet_cylinder_of(words, cylinder, &error);
    return status == SLC_OK || core_raise(state, status, &error) != NULL;
}

/* pet_normalise_open(geometry, source in words, edge_mm, ring_difference, geometric, threads) */
static PyObject *normalise_open(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *geometry;
    const char *source;
    int geometric = 0;
    slc_pet_normalise_config config;
    normaliser *n = NULL;
    slc_pet_normalise_config_default(&config);
    if (PyArg_ParseTuple(arguments, "OsdIpI", &geometry, &source, &config.edge_mm, &config.ring_difference,
                         &geometric, &config.exec.threads) == 0 ||
        !pet_take_geometry(geometry, &config.geometry) || !take_cylinder(state, source, &config.source)) {
        return NULL;
    }
    PyObject *capsule = pet_new(kind, sizeof *n, normaliser_drop, (void *)&n);
    if (capsule == NULL) {
        return NULL;
    }
    config.geometric = geometric != 0;
    n->crystals = slc_pet_crystals(&config.geometry);
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_pet_normalise_open(&config, &n->normalise, &n->error);
    PyEval_RestoreThread(thread);
    pet_hold(n, geometry);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &n->error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* pet_normalise_add(normaliser, pairs) */
static PyObject *normalise_add(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers, *made = NULL;
    slc_pet_coincidences pairs = {.head = {0}};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &buffers) == 0) {
        return NULL;
    }
    normaliser *n = pet_enter(capsule, kind);
    if (n == NULL) {
        return NULL;
    }
    if (pet_rows_take(state, buffers, &slc_pet_coincidences_schema, &pairs)) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_pet_normalise_add(n->normalise, &pairs, &n->error);
        PyEval_RestoreThread(thread);
        made = status == SLC_OK ? Py_NewRef(Py_None) : core_raise(state, status, &n->error);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    pet_leave(n);
    return made;
}

static PyObject *floats(const float *values, uint32_t n)
{
    return values != NULL ? PyBytes_FromStringAndSize((const char *)values, (Py_ssize_t)(n * sizeof *values))
                          : Py_NewRef(Py_None);
}

static PyObject *give_found(const slc_pet_normalise_found *f)
{
    return Py_BuildValue("{s:K,s:K,s:K,s:I,s:I,s:N,s:d,s:d,s:N,s:N,s:N,s:N,s:d,s:d}", "prompts",
                         (unsigned long long)f->prompts, "delayeds", (unsigned long long)f->delayeds,
                         "outside", (unsigned long long)f->outside, "dead", (unsigned int)f->dead, "unseen",
                         (unsigned int)f->unseen, "converged", PyBool_FromLong(f->converged), "spread",
                         f->spread, "chance", f->error, "block", floats(f->block, f->n_blocks), "place",
                         floats(f->place, f->n_places), "radial", floats(f->radial, f->n_radial), "axial",
                         floats(f->axial, f->n_axial), "radial_mm", f->radial_mm, "axial_mm", f->axial_mm);
}

/* pet_normalise_solve(normaliser): (float32 as bytes, what was found) */
static PyObject *normalise_solve(PyObject *module, PyObject *capsule)
{
    normaliser *n = pet_enter(capsule, kind);
    if (n == NULL) {
        return NULL;
    }
    slc_pet_normalise_found found;
    PyObject *made = NULL;
    float *efficiency = malloc(n->crystals * sizeof *efficiency);
    slc_status status = SLC_ERR_MEMORY;
    PyThreadState *const thread = PyEval_SaveThread();
    if (efficiency != NULL) {
        status = slc_pet_normalise_solve(n->normalise, efficiency, &found, &n->error);
    }
    PyEval_RestoreThread(thread);
    if (status == SLC_OK) {
        made = Py_BuildValue("(NN)", floats(efficiency, n->crystals), give_found(&found));
    } else {
        (void)core_raise(core_state_of(module), status, &n->error);
    }
    free(efficiency);
    pet_leave(n);
    return made;
}

/* pet_factors_write(path, tables, cylinders in words, scanner's name or None, fov_mm, ring_difference,
 * tangential): (pairs, dead, outside) */
static PyObject *factors_write(PyObject *module, PyObject *arguments)
{
    enum { MOST = 64 };
    core_state *state = core_state_of(module);
    PyObject *path, *tuple, *words;
    slc_pet_cylinder cylinder[MOST];
    slc_pet_factors_config config;
    slc_io_pet_factors_config how;
    slc_io_pet_factors_told told;
    slc_pet_factors *factors = NULL;
    slc_error error = {SLC_OK, ""};
    slc_pet_factors_config_default(&config);
    slc_io_pet_factors_config_default(&how);
    if (PyArg_ParseTuple(arguments, "OOO!zdII", &path, &tuple, &PyList_Type, &words, &how.scanner,
                         &how.fov_mm, &how.ring_difference, &how.tangential) == 0) {
        return NULL;
    }
    const Py_ssize_t n = PyList_Size(words);
    if (n > MOST) {
        return PyErr_Format(state->usage_error, "%zd cylinders, and at most %d can attenuate", n, MOST);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(words, i), NULL);
        if (text == NULL || !take_cylinder(state, text, &cylinder[i])) {
            return NULL;
        }
    }
    pet_tables tables;
    char *name = pet_take_path(path);
    PyObject *made = NULL;
    if (name != NULL && pet_take_tables(state, tuple, &tables)) {
        config.tables = &tables.tables;
        config.cylinders = cylinder;
        config.n_cylinders = (uint32_t)n;
        how.geometry = tables.tables.geometry;
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_pet_factors_open(&config, &factors, &error);
        status = status == SLC_OK ? slc_io_write_pet_factors(name, &how, factors, &told, &error) : status;
        slc_pet_factors_close(factors);
        PyEval_RestoreThread(thread);
        made = status == SLC_OK
                   ? Py_BuildValue("(KKK)", (unsigned long long)told.pairs, (unsigned long long)told.dead,
                                   (unsigned long long)told.outside)
                   : core_raise(state, status, &error);
    }
    if (name != NULL) {
        pet_tables_clear(&tables);
    }
    PyMem_Free(name);
    return made;
}

PyMethodDef pet_normalise_functions[] = {
    {"pet_normalise_open", normalise_open, METH_VARARGS, "fan sums of crystals"},
    {"pet_normalise_add", normalise_add, METH_VARARGS, "pairs to them"},
    {"pet_normalise_solve", normalise_solve, METH_O, "efficiencies of them"},
    {"pet_factors_write", factors_write, METH_VARARGS, "factors of all pairs as a file"},
    {NULL, NULL, 0, NULL}};
