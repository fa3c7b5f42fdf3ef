/* SPDX-License-Identifier: Apache-2.0
 * Components: columns that are components of images. */
#include "py_columns.h"
#include "py_image.h"

/* What the function of sluice._components makes of the columns. */
static PyObject *call(PyObject *self, const char *function)
{
    PyObject *module = PyImport_ImportModule("sluice._components");
    PyObject *made = module != NULL ? PyObject_CallMethod(module, function, "O", self) : NULL;
    Py_XDECREF(module);
    return made;
}

static PyObject *components_slices(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call(self, "slices");
}

static PyObject *components_to_regionprops(PyObject *self, PyObject *unused)
{
    (void)unused;
    return call(self, "to_regionprops");
}

static PyMethodDef components_methods[] = {
    {"slices", components_slices, METH_NOARGS,
     "slices()\n--\n\n"
     "The box of each component as a pair of slices (rows, columns), of a volume three, so that "
     "image[c.slices()[i]] is what is in it; as\n"
     "scipy.ndimage.find_objects has them. UsageError without the feature 'box'."},
    {"to_regionprops", components_to_regionprops, METH_NOARGS,
     "to_regionprops()\n--\n\n"
     "A dict of arrays with the names and conventions of skimage.measure.regionprops_table, of what the "
     "columns have:\n"
     "label; area, bbox-0 … bbox-3 (half-open, rows first), extent, centroid-0, centroid-1 (row, column), "
     "orientation,\n"
     "axis_major_length … A column 'event' comes first if there are several images."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot components_slots[] = {{Py_tp_doc, "Columns of the components of images, a row for each."},
                                         {Py_tp_methods, components_methods},
                                         {0, NULL}};
static PyType_Spec components_spec = {.name = "sluice.image.Components",
                                      .basicsize = sizeof(columns),
                                      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                      .slots = components_slots};

int core_components_add(PyObject *module, core_state *state)
{
    state->components_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &components_spec,
                                                                      (PyObject *)state->columns_type);
    return state->components_type != NULL
               ? PyModule_AddObjectRef(module, "Components", (PyObject *)state->components_type)
               : -1;
}
