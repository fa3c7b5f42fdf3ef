/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns from inside: for the interfaces by which other packages take them.
 */
#ifndef SLUICE_PYTHON_COLUMNS_H
#define SLUICE_PYTHON_COLUMNS_H

#include "py_core.h"

/* Of a column's numbers: PEP 3118's, NumPy's and Arrow's names. */
typedef struct core_type {
    const char *format, *numpy, *arrow;
    Py_ssize_t size;
} core_type;
extern const core_type core_types[CORE_TYPES];

/* A column as a buffer that keeps its memory. */
typedef struct column {
    PyObject_HEAD PyObject *owner;
    const void *data;
    Py_ssize_t rows;
    slc_type type;
} column;

typedef struct columns {
    PyObject_HEAD PyObject *owner;
    PyObject *arrays; /* a dict: those that were asked for */
    const slc_schema *schema;
    const slc_columns *head;
} columns;

/* A read-only array (rows) over memory of the owner's, which it keeps; a new one if it is empty. */
PyObject *core_array(core_state *state, PyObject *owner_of_it, const void *data, size_t rows, slc_type type);
/* Of a column of the collection; NULL if it has no rows. */
const void *core_column_data(const columns *c, const slc_column *of);
/* Do events have any number of rows each? Else a row is an event, or there are no events. */
bool core_columns_jagged(const columns *c);

/* Methods of Columns. py_arrow.c: */
PyObject *core_columns_arrow_schema(PyObject *self, PyObject *unused);
PyObject *core_columns_arrow_array(PyObject *self, PyObject *arguments, PyObject *named);
/* py_restore.c: */
PyObject *core_columns_reduce(PyObject *self, PyObject *unused);
extern PyMethodDef core_restore_functions[];
/* py_dlpack.c, of a column: */
PyObject *core_column_dlpack(PyObject *self, PyObject *arguments, PyObject *named);
PyObject *core_column_dlpack_device(PyObject *self, PyObject *unused);

#endif
