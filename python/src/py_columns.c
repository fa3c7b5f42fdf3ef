/* SPDX-License-Identifier: Apache-2.0
 * Collections of the library as mappings of read-only arrays. One type serves every schema, so that a new
 * column, or a new collection, needs nothing here. */
#include "py_columns.h"

#include <stdio.h>
#include <string.h>

const core_type core_types[CORE_TYPES] = {
    [SLC_TYPE_U8] = {"B", "uint8", "C", 1},    [SLC_TYPE_I8] = {"b", "int8", "c", 1},
    [SLC_TYPE_U16] = {"H", "uint16", "S", 2},  [SLC_TYPE_I16] = {"h", "int16", "s", 2},
    [SLC_TYPE_U32] = {"I", "uint32", "I", 4},  [SLC_TYPE_I32] = {"i", "int32", "i", 4},
    [SLC_TYPE_U64] = {"Q", "uint64", "L", 8},  [SLC_TYPE_I64] = {"q", "int64", "l", 8},
    [SLC_TYPE_F32] = {"f", "float32", "f", 4}, [SLC_TYPE_F64] = {"d", "float64", "g", 8}};

/* ---- owner ------------------------------------------------------------------------------------- */

typedef struct owner {
    PyObject_HEAD void *memory;
    void (*drop)(void *memory);
} owner;

PyObject *core_owner_new(core_state *state, void *memory, void (*drop)(void *memory))
{
    owner *made = PyObject_New(owner, state->owner_type);
    if (made == NULL) {
        drop(memory);
        return NULL;
    }
    made->memory = memory;
    made->drop = drop;
    return (PyObject *)made;
}

void *core_owner_memory(PyObject *object)
{
    return ((owner *)object)->memory;
}

static void owner_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((owner *)self)->drop(((owner *)self)->memory);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot owner_slots[] = {{Py_tp_dealloc, CORE_SLOT(owner_free)}, {0, NULL}};
static PyType_Spec owner_spec = {.name = "sluice._core.Owner",
                                 .basicsize = sizeof(owner),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = owner_slots};

/* ---- a column as a buffer ---------------------------------------------------------------------- */

static void column_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((column *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
    column *c = (column *)self;
    if ((flags & PyBUF_WRITABLE) != 0) {
        PyErr_SetString(PyExc_BufferError, "columns are read-only; copy() gives arrays to write to");
        return -1;
    }
    if (PyBuffer_FillInfo(view, self, (void *)(uintptr_t)c->data, c->rows * core_types[c->type].size, 1,
                          flags) < 0) {
        return -1;
    }
    view->itemsize = core_types[c->type].size;
    view->format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)core_types[c->type].format : NULL;
    if ((flags & PyBUF_ND) != 0) {
        view->shape = &c->rows;
    }
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) {
        view->strides = &view->itemsize;
    }
    return 0;
}

static PyMethodDef column_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))core_column_dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", core_column_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot column_slots[] = {
    {Py_tp_doc, "A column's numbers: a read-only buffer, also by DLPack, which keeps the memory."},
    {Py_tp_dealloc, CORE_SLOT(column_free)},
    {Py_bf_getbuffer, CORE_SLOT(column_buffer)},
    {Py_tp_methods, column_methods},
    {0, NULL}};
static PyType_Spec column_spec = {.name = "sluice.Column",
                                  .basicsize = sizeof(column),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = column_slots};

bool core_numpy(core_state *state)
{
    if (state->label_dtype != NULL) {
        return true;
    }
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        return false;
    }
    /* Also after a first time that failed half-way. */
    Py_CLEAR(state->empty);
    Py_CLEAR(state->frombuffer);
    state->empty = PyObject_GetAttrString(numpy, "empty");
    state->frombuffer = PyObject_GetAttrString(numpy, "frombuffer");
    bool good = state->empty != NULL && state->frombuffer != NULL;
    for (int t = 0; t < CORE_TYPES && good; t++) {
        Py_CLEAR(state->dtype[t]);
        state->dtype[t] = PyObject_CallMethod(numpy, "dtype", "s", core_types[t].numpy);
        good = state->dtype[t] != NULL;
    }
    Py_DECREF(numpy);
    state->label_dtype = good ? Py_NewRef(state->dtype[SLC_TYPE_I32]) : NULL;
    return good;
}

static PyObject *column_of(core_state *state, PyObject *owner_of_it, const void *data, size_t rows,
                           slc_type type)
{
    column *c = PyObject_New(column, state->column_type);
    if (c != NULL) {
        c->owner = Py_NewRef(owner_of_it);
        c->data = data;
        c->rows = (Py_ssize_t)rows;
        c->type = type;
    }
    return (PyObject *)c;
}

/* An array over rows of the owner's memory, or an empty one. */
PyObject *core_array(core_state *state, PyObject *owner_of_it, const void *data, size_t rows, slc_type type)
{
    if (!core_numpy(state)) {
        return NULL;
    }
    if (rows == 0) {
        return PyObject_CallFunction(state->empty, "iO", 0, state->dtype[type]);
    }
    PyObject *c = column_of(state, owner_of_it, data, rows, type);
    PyObject *array = c != NULL ? PyObject_CallFunctionObjArgs(state->frombuffer, c, state->dtype[type], NULL)
                                : NULL;
    Py_XDECREF(c);
    return array;
}

/* ---- columns ----------------------------------------------------------------------------------- */

PyObject *core_columns_new(core_state *state, PyObject *of, const slc_schema *schema, const void *collection)
{
    PyObject *arrays = PyDict_New();
    PyTypeObject *type = strcmp(schema->name, "components") == 0 ? state->components_type
                                                                 : state->columns_type;
    columns *made = arrays != NULL ? PyObject_New(columns, type) : NULL;
    if (made == NULL) {
        Py_XDECREF(arrays);
        return NULL;
    }
    made->owner = Py_NewRef(of);
    made->arrays = arrays;
    made->schema = schema;
    made->head = collection;
    return (PyObject *)made;
}

static void columns_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((columns *)self)->arrays);
    Py_XDECREF(((columns *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

const void *core_column_data(const columns *c, const slc_column *of)
{
    const void *data;
    memcpy(&data, (const char *)c->head + of->member, sizeof data);
    return data;
}

/* What every Columns has under this name: a column of that name is c["event"] alone. */
static bool is_own(PyObject *name)
{
    static const char *const names[] = {"event",     "names",      "units",    "schema",        "n_events",
                                        "n_rows",    "jagged",     "checksum", "keys",          "get",
                                        "items",     "values",     "copy",     "column",        "to_numpy",
                                        "to_pandas", "to_awkward", "slices",   "to_regionprops"};
    bool own = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !own; i++) {
        own = PyUnicode_CompareWithASCIIString(name, names[i]) == 0;
    }
    return own;
}

/* A new array, which is kept for the next time; NULL without an error if there is no such column. */
static PyObject *make_array(columns *c, PyObject *name)
{
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)c));
    PyObject *array = NULL;
    for (size_t i = 0; i < c->schema->n_columns && array == NULL; i++) {
        const slc_column *one = &c->schema->columns[i];
        if (PyUnicode_CompareWithASCIIString(name, one->name) == 0) {
            array = core_array(state, c->owner, core_column_data(c, one), c->head->size, one->type);
            if (array == NULL) {
                return NULL;
            }
        }
    }
    if (array == NULL && PyUnicode_CompareWithASCIIString(name, "offsets") == 0) {
        array = core_array(state, c->owner, c->head->event_offset,
                           c->head->event_offset != NULL ? c->head->n_events + (size_t)1 : 0, SLC_TYPE_U32);
    }
    if (array != NULL && !is_own(name) && PyDict_SetItem(c->arrays, name, array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static PyObject *find_array(columns *c, PyObject *name)
{
    PyObject *there = PyDict_GetItemWithError(c->arrays, name);
    return there != NULL ? Py_NewRef(there) : PyErr_Occurred() != NULL ? NULL : make_array(c, name);
}

static PyObject *columns_attribute(PyObject *self, PyObject *name)
{
    columns *c = (columns *)self;
    PyObject *array = Py_XNewRef(PyDict_GetItemWithError(c->arrays, name));
    if (array == NULL && PyErr_Occurred() == NULL && !is_own(name)) {
        array = make_array(c, name);
    }
    return array != NULL || PyErr_Occurred() != NULL ? array : PyObject_GenericGetAttr(self, name);
}

static PyObject *columns_item(PyObject *self, PyObject *name)
{
    PyObject *array = PyUnicode_Check(name) ? find_array((columns *)self, name) : NULL;
    if (array == NULL && PyErr_Occurred() == NULL) {
        PyErr_SetObject(PyExc_KeyError, name);
    }
    return array;
}

/* Of rows, as of a table of anybody's: it is what users ask for. */
static Py_ssize_t columns_length(PyObject *self)
{
    return (Py_ssize_t)((columns *)self)->head->size;
}

static PyObject *texts_of(const columns *c, bool units)
{
    PyObject *list = PyTuple_New((Py_ssize_t)c->schema->n_columns);
    for (size_t i = 0; i < c->schema->n_columns && list != NULL; i++) {
        const slc_column *one = &c->schema->columns[i];
        PyObject *text = PyUnicode_FromString(units ? one->unit : one->name);
        if (text == NULL || PyTuple_SetItem(list, (Py_ssize_t)i, text) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *columns_names(PyObject *self, void *unused)
{
    (void)unused;
    return texts_of((columns *)self, false);
}

static PyObject *columns_units(PyObject *self, void *unused)
{
    (void)unused;
    const columns *c = (columns *)self;
    PyObject *units = PyDict_New();
    for (size_t i = 0; i < c->schema->n_columns && units != NULL; i++) {
        PyObject *text = PyUnicode_FromString(c->schema->columns[i].unit);
        if (text == NULL || PyDict_SetItemString(units, c->schema->columns[i].name, text) < 0) {
            Py_CLEAR(units);
        }
        Py_XDECREF(text);
    }
    return units;
}

static PyObject *columns_schema(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((columns *)self)->schema->name);
}

bool core_columns_jagged(const columns *c)
{
    static const char *const flat[] = {"coincidences", "event_counts", "event_cuts", "events",
                                       "groups",       "rates",        "singles"};
    bool jagged = c->head->n_events > 0 || c->head->size == 0;
    for (size_t i = 0; i < sizeof flat / sizeof *flat && jagged; i++) {
        jagged = strcmp(c->schema->name, flat[i]) != 0;
    }
    return jagged;
}

static PyObject *columns_jagged(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(core_columns_jagged((columns *)self));
}

static PyObject *columns_n_events(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(((columns *)self)->head->n_events);
}

static PyObject *columns_n_rows(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((columns *)self)->head->size);
}

static PyObject *columns_checksum(PyObject *self, void *unused)
{
    (void)unused;
    const columns *c = (columns *)self;
    uint64_t sum = SLC_CHECKSUM_START;
    for (uint32_t e = 0; e < c->head->n_events; e++) {
        sum = slc_columns_checksum(c->schema, c->head, e, sum);
    }
    return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *columns_iter(PyObject *self)
{
    PyObject *names = texts_of((columns *)self, false);
    PyObject *iterator = names != NULL ? PyObject_GetIter(names) : NULL;
    Py_XDECREF(names);
    return iterator;
}

static int columns_contains(PyObject *self, PyObject *name)
{
    const columns *c = (columns *)self;
    for (size_t i = 0; i < c->schema->n_columns && PyUnicode_Check(name); i++) {
        if (PyUnicode_CompareWithASCIIString(name, c->schema->columns[i].name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Rows first … last - 1 of every column, as a dict. */
static PyObject *rows_as_dict(columns *c, size_t first, size_t last)
{
    core_state *state = core_state_of_type(Py_TYPE((PyObject *)c));
    PyObject *rows = PyDict_New();
    for (size_t i = 0; i < c->schema->n_columns && rows != NULL; i++) {
        const slc_column *one = &c->schema->columns[i];
        const char *from = core_column_data(c, one);
        PyObject *array = core_array(state, c->owner, from + first * (size_t)core_types[one->type].size,
                                     last - first, one->type);
        if (array == NULL || PyDict_SetItemString(rows, one->name, array) < 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(array);
    }
    return rows;
}

static PyObject *columns_event(PyObject *self, PyObject *number)
{
    columns *c = (columns *)self;
    Py_ssize_t e = PyNumber_AsSsize_t(number, PyExc_IndexError);
    if (e == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    e += e < 0 ? (Py_ssize_t)c->head->n_events : 0;
    if (e < 0 || e >= (Py_ssize_t)c->head->n_events) {
        return PyErr_Format(PyExc_IndexError, "event %R of %lu", number, (unsigned long)c->head->n_events);
    }
    return rows_as_dict(c, c->head->event_offset[e], c->head->event_offset[e + 1]);
}

static PyObject *columns_to_numpy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return rows_as_dict((columns *)self, 0, ((columns *)self)->head->size);
}

static PyObject *columns_column(PyObject *self, PyObject *name)
{
    columns *c = (columns *)self;
    for (size_t i = 0; i < c->schema->n_columns && PyUnicode_Check(name); i++) {
        const slc_column *one = &c->schema->columns[i];
        if (PyUnicode_CompareWithASCIIString(name, one->name) == 0) {
            return column_of(core_state_of_type(Py_TYPE(self)), c->owner, core_column_data(c, one),
                             c->head->size, one->type);
        }
    }
    PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

/* What is written in Python, of a module that the first call imports. */
static PyObject *convert(PyObject *self, const char *function)
{
    PyObject *module = PyImport_ImportModule("sluice._convert");
    PyObject *made = module != NULL ? PyObject_CallMethod(module, function, "O", self) : NULL;
    Py_XDECREF(module);
    return made;
}

static PyObject *columns_to_pandas(PyObject *self, PyObject *unused)
{
    (void)unused;
    return convert(self, "to_pandas");
}

static PyObject *columns_to_awkward(PyObject *self, PyObject *unused)
{
    (void)unused;
    return convert(self, "to_awkward");
}

static PyObject *columns_keys(PyObject *self, PyObject *unused)
{
    PyObject *all = columns_to_numpy(self, unused), *list = all != NULL ? PyDict_Keys(all) : NULL;
    Py_XDECREF(all);
    return list;
}

static PyObject *columns_get_item(PyObject *self, PyObject *arguments)
{
    PyObject *name = NULL, *otherwise = Py_None;
    if (PyArg_ParseTuple(arguments, "O|O:get", &name, &otherwise) == 0) {
        return NULL;
    }
    return columns_contains(self, name) != 0 ? columns_item(self, name) : Py_NewRef(otherwise);
}

/* Of the dict. */
static PyObject *columns_values(PyObject *self, PyObject *unused)
{
    PyObject *all = columns_to_numpy(self, unused), *list = all != NULL ? PyDict_Values(all) : NULL;
    Py_XDECREF(all);
    return list;
}

static PyObject *columns_items(PyObject *self, PyObject *unused)
{
    PyObject *all = columns_to_numpy(self, unused), *list = all != NULL ? PyDict_Items(all) : NULL;
    Py_XDECREF(all);
    return list;
}

static PyObject *columns_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *views = columns_to_numpy(self, NULL), *copies = views != NULL ? PyDict_New() : NULL;
    PyObject *name, *view;
    Py_ssize_t at = 0;
    while (copies != NULL && PyDict_Next(views, &at, &name, &view)) {
        PyObject *one = PyObject_CallMethod(view, "copy", NULL);
        if (one == NULL || PyDict_SetItem(copies, name, one) < 0) {
            Py_CLEAR(copies);
        }
        Py_XDECREF(one);
    }
    Py_XDECREF(views);
    return copies;
}

/* __array__(dtype=None, copy=None): records of their own memory. */
static PyObject *columns_array(PyObject *self, PyObject *arguments, PyObject *given)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    PyObject *module = PyArg_ParseTupleAndKeywords(arguments, given, "|OO:__array__", names, &dtype, &copy)
                           ? PyImport_ImportModule("sluice._convert")
                           : NULL;
    PyObject *made = module != NULL ? PyObject_CallMethod(module, "to_records", "OOO", self, dtype, copy)
                                    : NULL;
    Py_XDECREF(module);
    return made;
}

static PyObject *columns_repr(PyObject *self)
{
    const columns *c = (columns *)self;
    return PyUnicode_FromFormat("<Columns %s: %zu rows of %zu columns in %lu events>", c->schema->name,
                                c->head->size, c->schema->n_columns, (unsigned long)c->head->n_events);
}

static PyGetSetDef columns_get[] = {
    {"names", columns_names, NULL, "names of the columns, in their order", NULL},
    {"units", columns_units, NULL, "unit of each column by its name", NULL},
    {"schema", columns_schema, NULL, "what the collection is", NULL},
    {"n_events", columns_n_events, NULL, "number of events", NULL},
    {"n_rows", columns_n_rows, NULL, "number of rows, of all events", NULL},
    {"jagged", columns_jagged, NULL, "whether events have any number of rows; else a row is one", NULL},
    {"checksum", columns_checksum, NULL, "of all events, as docs/formats/checksum.md tells", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef columns_methods[] = {
    {"event", columns_event, METH_O, "event(i)\n--\n\nThe rows of event i: a dict of read-only arrays."},
    {"keys", columns_keys, METH_NOARGS, "keys()\n--\n\nNames of the columns."},
    {"get", columns_get_item, METH_VARARGS,
     "get(name, default=None)\n--\n\nA column, or the default if there is none of that name."},
    {"values", columns_values, METH_NOARGS, "values()\n--\n\nThe columns."},
    {"items", columns_items, METH_NOARGS, "items()\n--\n\nPairs of name and column."},
    {"to_numpy", columns_to_numpy, METH_NOARGS, "to_numpy()\n--\n\nA dict of read-only arrays."},
    {"column", columns_column, METH_O,
     "column(name)\n--\n\nA column as a buffer, without NumPy: memoryview(c), c.__dlpack__()."},
    {"to_pandas", columns_to_pandas, METH_NOARGS,
     "to_pandas()\n--\n\nA DataFrame that shares the memory, indexed by event if events have any number of\n"
     "rows; attrs['units'] has the units."},
    {"to_awkward", columns_to_awkward, METH_NOARGS,
     "to_awkward()\n--\n\nAn awkward Array of records, in a list for each event, that shares the memory."},
    {"__arrow_c_schema__", core_columns_arrow_schema, METH_NOARGS, NULL},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))core_columns_arrow_array, METH_VARARGS | METH_KEYWORDS,
     NULL},
    {"__array__", (PyCFunction)(void (*)(void))columns_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__reduce__", core_columns_reduce, METH_NOARGS, NULL},
    {"copy", columns_copy, METH_NOARGS, "copy()\n--\n\nA dict of arrays of the caller's own."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot columns_slots[] = {
    {Py_tp_doc,
     "Columns of a collection: a mapping of names to read-only NumPy arrays, which share its memory\n"
     "and keep it. Also c.NAME, c.offsets (row at which each event begins, and the end), c.n_events,\n"
     "c.n_rows (also len(c)), c.names, c.units, c.event(i), c.copy(), c.checksum. pyarrow.array(c), polars "
     "and others\n"
     "take it without a copy, as a list of records for each event; pickle makes a copy."},
    {Py_tp_dealloc, CORE_SLOT(columns_free)},
    {Py_tp_getattro, CORE_SLOT(columns_attribute)},
    {Py_tp_repr, CORE_SLOT(columns_repr)},
    {Py_tp_iter, CORE_SLOT(columns_iter)},
    {Py_mp_subscript, CORE_SLOT(columns_item)},
    {Py_mp_length, CORE_SLOT(columns_length)},
    {Py_sq_contains, CORE_SLOT(columns_contains)},
    {Py_tp_getset, columns_get},
    {Py_tp_methods, columns_methods},
    {0, NULL}};
static PyType_Spec columns_spec = {.name = "sluice.Columns",
                                   .basicsize = sizeof(columns),
                                   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE |
                                            Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   .slots = columns_slots};

int core_columns_add(PyObject *module, core_state *state)
{
    state->owner_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &owner_spec, NULL);
    state->column_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &column_spec, NULL);
    state->columns_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &columns_spec, NULL);
    return state->owner_type != NULL && state->column_type != NULL && state->columns_type != NULL
               ? PyModule_AddObjectRef(module, "Column", (PyObject *)state->column_type) |
                     PyModule_AddObjectRef(module, "Columns", (PyObject *)state->columns_type)
               : -1;
}
