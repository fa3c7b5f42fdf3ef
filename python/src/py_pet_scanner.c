/* SPDX-License-Identifier: Apache-2.0
 * PET's scanners: tuples of Python, words, files. */
#include "py_pet.h"

#include <stdlib.h>
#include <string.h>

/* ---- scanners ---------------------------------------------------------------------------------- */

static const char layout_kind[] = "sluice.pet.layout";

/* A layout, its own or that of an owner. */
typedef struct layout {
    slc_pet_geometry geometry;
    PyObject *owner; /* NULL: it is ours */
} layout;

static void layout_free(PyObject *capsule)
{
    layout *l = PyCapsule_GetPointer(capsule, layout_kind);
    if (l->owner == NULL) {
        slc_pet_geometry_clear(&l->geometry);
    }
    Py_XDECREF(l->owner);
    free(l);
}

bool pet_take_geometry(PyObject *tuple, slc_pet_geometry *g)
{
    PyObject *capsule;
    g->layout = NULL;
    if (PyArg_ParseTuple(tuple, "IIIIIIIdddO", &g->channels, &g->modules, &g->module_rings, &g->blocks_y,
                         &g->blocks_z, &g->crystals_y, &g->crystals_z, &g->radius_mm, &g->pitch_z_mm,
                         &g->depth_mm, &capsule) == 0) {
        return false;
    }
    const layout *l = capsule != Py_None ? PyCapsule_GetPointer(capsule, layout_kind) : NULL;
    g->layout = l != NULL ? l->geometry.layout : NULL;
    return capsule == Py_None || l != NULL;
}

PyObject *pet_give_geometry(const slc_pet_geometry *g, PyObject *owner)
{
    PyObject *capsule = g->layout == NULL ? Py_NewRef(Py_None) : NULL;
    if (g->layout != NULL) {
        slc_pet_geometry taken = *g;
        layout *l = malloc(sizeof *l);
        if (l != NULL) {
            *l = (layout){taken, NULL};
            capsule = PyCapsule_New(l, layout_kind, layout_free);
        }
        if (capsule == NULL) {
            free(l);
            if (owner == NULL) {
                slc_pet_geometry_clear(&taken);
            }
            return l == NULL ? PyErr_NoMemory() : NULL;
        }
        l->owner = Py_XNewRef(owner);
    }
    return Py_BuildValue("(IIIIIIIdddN)", g->channels, g->modules, g->module_rings, g->blocks_y, g->blocks_z,
                         g->crystals_y, g->crystals_z, g->radius_mm, g->pitch_z_mm, g->depth_mm, capsule);
}

/* pet_scanner(name): the geometry of a name, of words, or of a file. */
static PyObject *scanner(PyObject *module, PyObject *name)
{
    slc_pet_geometry geometry;
    slc_error error = {SLC_OK, ""};
    char *text = pet_take_path(name);
    if (text == NULL) {
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_pet_scanner(text, &geometry, &error);
    PyEval_RestoreThread(thread);
    PyMem_Free(text);
    return status == SLC_OK ? pet_give_geometry(&geometry, NULL)
                            : core_raise(core_state_of(module), status, &error);
}

/* pet_scanner_is_file(name): by its end */
static PyObject *is_file(PyObject *module, PyObject *name)
{
    (void)module;
    char *text = pet_take_path(name);
    const bool file = text != NULL && slc_io_pet_scanner_is_file(text);
    PyMem_Free(text);
    return text == NULL ? NULL : PyBool_FromLong(file);
}

/* pet_crystals(geometry): bytes of numbers, four uint32 (module, unit, crystal, layer) and nine float64
 * (position, normal, axis) of each; of a ring without a table, positions and normals alone are its own. */
static PyObject *crystals(PyObject *module, PyObject *tuple)
{
    slc_pet_geometry g;
    (void)module;
    if (!pet_take_geometry(tuple, &g)) {
        return NULL;
    }
    const size_t n = slc_pet_crystals(&g), numbers = 4 * sizeof(uint32_t), values = 9 * sizeof(double);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * (numbers + values)));
    char *to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    for (size_t i = 0; to != NULL && i < n; i++, to += numbers + values) {
        slc_pet_crystal_row row = {.axis = {0, 0, 1}};
        if (g.layout != NULL) {
            row = g.layout->row[i];
        } else {
            slc_pet_crystal_position(&g, (uint32_t)i, row.position_mm, row.normal);
        }
        const uint32_t place[4] = {row.module, row.unit, row.crystal, row.layer};
        memcpy(to, place, numbers);
        memcpy(to + numbers, row.position_mm, sizeof row.position_mm);
        memcpy(to + numbers + sizeof row.position_mm, row.normal, sizeof row.normal);
        memcpy(to + numbers + sizeof row.position_mm + sizeof row.normal, row.axis, sizeof row.axis);
    }
    return bytes;
}

/* pet_energies_of(fwhm): the window of energies, (low, high) */
static PyObject *energies_of(PyObject *module, PyObject *fwhm)
{
    double kev[2];
    (void)module;
    const double value = PyFloat_AsDouble(fwhm);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    slc_pet_energies_of(value, kev);
    return Py_BuildValue("(dd)", kev[0], kev[1]);
}

PyMethodDef pet_scanner_functions[] = {{"pet_scanner", scanner, METH_O, "a scanner's geometry"},
                                       {"pet_scanner_is_file", is_file, METH_O, "is it a file, by its name?"},
                                       {"pet_crystals", crystals, METH_O, "where crystals are"},
                                       {"pet_energies_of", energies_of, METH_O, "the window of a resolution"},
                                       {NULL, NULL, 0, NULL}};
