/* SPDX-License-Identifier: Apache-2.0
 * Columns by value: what pickle and copy make of them, and what they are made of again. */
#include "py_columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- out --------------------------------------------------------------------------------------- */

static PyObject *bytes_of(const void *data, size_t size)
{
    return PyBytes_FromStringAndSize(size > 0 ? data : "", (Py_ssize_t)size);
}

/* (columns_of, (name, [(name, unit, type, bytes), …], offsets or None)) */
PyObject *core_columns_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    const columns *c = (columns *)self;
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < c->schema->n_columns && list != NULL; i++) {
        const slc_column *one = &c->schema->columns[i];
        const core_type *type = &core_types[one->type];
        PyObject *bytes = bytes_of(core_column_data(c, one), c->head->size * (size_t)type->size);
        PyObject *row = bytes != NULL ? Py_BuildValue("(sssO)", one->name, one->unit, type->numpy, bytes)
                                      : NULL;
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
        Py_XDECREF(bytes);
    }
    PyObject *offsets = c->head->event_offset == NULL
                            ? Py_NewRef(Py_None)
                            : bytes_of(c->head->event_offset,
                                       (c->head->n_events + (size_t)1) * sizeof *c->head->event_offset);
    PyObject *made = list != NULL && offsets != NULL
                         ? Py_BuildValue("(O(sOO))", state->columns_of, c->schema->name, list, offsets)
                         : NULL;
    Py_XDECREF(offsets);
    Py_XDECREF(list);
    return made;
}

/* ---- in ---------------------------------------------------------------------------------------- */

/* A collection with a schema of its own. */
typedef struct restored {
    slc_schema schema;
    slc_column *columns;
    PyObject *texts; /* the arguments, which hold the names */
    slc_columns *collection;
} restored;

static void restored_free(void *memory)
{
    restored *r = memory;
    if (r->collection != NULL) {
        slc_columns_clear(&r->schema, r->collection);
    }
    Py_XDECREF(r->texts);
    free(r->collection);
    free(r->columns);
    free(r);
}

static bool type_of(core_state *state, const char *name, slc_type *type)
{
    for (int t = 0; t < CORE_TYPES; t++) {
        if (strcmp(core_types[t].numpy, name) == 0) {
            *type = (slc_type)t;
            return true;
        }
    }
    PyErr_Format(state->usage_error, "'%s' is no type of a column", name);
    return false;
}

/* Names, units and types into the schema. */
static bool take_schema(core_state *state, restored *r, const char *name, PyObject *list)
{
    const size_t n = (size_t)PyList_Size(list);
    r->columns = calloc(n + 1, sizeof *r->columns);
    r->collection = calloc(1, sizeof *r->collection + n * sizeof(void *));
    if (r->columns == NULL || r->collection == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *type;
        PyObject *bytes;
        slc_column *one = &r->columns[i];
        PyObject *row = PyList_GetItem(list, (Py_ssize_t)i);
        if (!PyTuple_Check(row) ||
            PyArg_ParseTuple(row, "sssO!", &one->name, &one->unit, &type, &PyBytes_Type, &bytes) == 0 ||
            !type_of(state, type, &one->type)) {
            if (PyErr_Occurred() == NULL) {
                PyErr_SetString(PyExc_TypeError, "a column is to be a tuple of name, unit, type and bytes");
            }
            return false;
        }
        one->member = sizeof *r->collection + i * sizeof(void *);
    }
    r->schema = (slc_schema){.name = name, .columns = r->columns, .n_columns = n};
    return true;
}

static bool take_offsets(core_state *state, slc_columns *head, const uint32_t *offsets, size_t n)
{
    for (size_t e = 1; e < n; e++) {
        if (offsets[e] < offsets[e - 1]) {
            PyErr_SetString(state->usage_error, "offsets fall");
            return false;
        }
    }
    if (n > 0 && (offsets[0] != 0 || offsets[n - 1] > head->size)) {
        PyErr_SetString(state->usage_error, "offsets are not from 0 to the number of rows");
        return false;
    }
    if (n > 0) {
        memcpy(head->event_offset, offsets, n * sizeof *offsets);
        head->n_events = (uint32_t)(n - 1);
    }
    return true;
}

/* Room, rows and offsets. */
static bool take_rows(core_state *state, restored *r, PyObject *list, PyObject *offsets)
{
    const bool has_offsets = PyBytes_Check(offsets) != 0;
    const size_t n_offsets = has_offsets ? (size_t)PyBytes_Size(offsets) / sizeof(uint32_t) : 0;
    size_t rows = 0;
    for (size_t i = 0; i < r->schema.n_columns; i++) {
        PyObject *bytes = PyTuple_GetItem(PyList_GetItem(list, (Py_ssize_t)i), 3);
        const size_t size = (size_t)core_types[r->columns[i].type].size, n = (size_t)PyBytes_Size(bytes);
        rows = i == 0 ? n / size : rows;
        if (n != rows * size) {
            PyErr_SetString(state->usage_error, "columns have different numbers of rows");
            return false;
        }
    }
    const slc_status status = slc_columns_reserve(&r->schema, r->collection, rows > 0 ? rows : 1,
                                                  (uint32_t)(n_offsets > 0 ? n_offsets - 1 : 0));
    if (status != SLC_OK) {
        (void)core_raise(state, status, NULL);
        return false;
    }
    r->collection->size = rows;
    for (size_t i = 0; i < r->schema.n_columns; i++) {
        PyObject *bytes = PyTuple_GetItem(PyList_GetItem(list, (Py_ssize_t)i), 3);
        void *to;
        memcpy(&to, (char *)r->collection + r->columns[i].member, sizeof to);
        memcpy(to, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    }
    const char *raw = has_offsets ? PyBytes_AsString(offsets) : NULL;
    return take_offsets(state, r->collection, (const uint32_t *)(const void *)raw, n_offsets);
}

/* columns_of(name, columns, offsets): see __reduce__. */
static PyObject *columns_of(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    const char *name;
    PyObject *list, *offsets;
    if (PyArg_ParseTuple(arguments, "sO!O:columns_of", &name, &PyList_Type, &list, &offsets) == 0) {
        return NULL;
    }
    if (offsets != Py_None && !PyBytes_Check(offsets)) {
        return PyErr_Format(PyExc_TypeError, "offsets are to be bytes or None");
    }
    restored *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return PyErr_NoMemory();
    }
    /* Of its own, as the caller's list may change. */
    PyObject *own = PyList_GetSlice(list, 0, PyList_Size(list));
    r->texts = own != NULL ? PyTuple_Pack(2, PyTuple_GetItem(arguments, 0), own) : NULL;
    PyObject *owner = core_owner_new(state, r, restored_free);
    PyObject *made = NULL;
    if (owner != NULL && r->texts != NULL && take_schema(state, r, name, own) &&
        take_rows(state, r, own, offsets)) {
        made = core_columns_new(state, owner, &r->schema, r->collection);
    }
    Py_XDECREF(owner);
    Py_XDECREF(own);
    return made;
}

PyMethodDef core_restore_functions[] = {
    {"columns_of", columns_of, METH_VARARGS, "columns from what pickle has of them"}, {NULL, NULL, 0, NULL}};
