/* SPDX-License-Identifier: Apache-2.0
 * Columns through Arrow's C data interface, in PyCapsules: pyarrow, polars, DuckDB and others take them
 * without a copy. The structs and what is to be done with them:
 * https://arrow.apache.org/docs/format/CDataInterface.html. */
#include "py_columns.h"

#include <stdlib.h>
#include <string.h>

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *self);
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *self);
    void *private_data;
} arrow_array;

/* What buffers without a byte point to. */
static const uint64_t nothing[1];

/* ---- schema ------------------------------------------------------------------------------------ */

static void release_schema(arrow_schema *self)
{
    for (int64_t i = 0; i < self->n_children; i++) {
        arrow_schema *child = self->children[i];
        if (child != NULL && child->release != NULL) {
            child->release(child);
        }
        free(child);
    }
    free(self->private_data);
    self->release = NULL;
}

static char *put(char *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

/* Length and letters, as metadata has them. */
static char *put_text(char *to, const char *text)
{
    const int32_t length = (int32_t)strlen(text);
    return put(put(to, &length, sizeof length), text, (size_t)length);
}

/* A field with a pair of metadata, and room for its children. NULL: no memory. */
static arrow_schema *new_schema(const char *format, const char *name, const char *key, const char *value,
                                size_t n_children)
{
    const int32_t pairs = 1;
    const size_t metadata = strlen(key) + strlen(value) + 3 * sizeof pairs;
    arrow_schema *s = calloc(1, sizeof *s);
    /* The pointers first, so that they are aligned. */
    char *block = calloc(1, n_children * sizeof *s->children + metadata + strlen(name) + 1);
    if (s == NULL || block == NULL) {
        free(s);
        free(block);
        return NULL;
    }
    char *after = block + n_children * sizeof *s->children;
    *s = (arrow_schema){.format = format,
                        .metadata = after,
                        .name = after + metadata,
                        .n_children = (int64_t)n_children,
                        .children = (arrow_schema **)(void *)block,
                        .release = release_schema,
                        .private_data = block};
    after = put_text(put_text(put(after, &pairs, sizeof pairs), key), value);
    memcpy(after, name, strlen(name) + 1);
    return s;
}

static arrow_schema *drop_schema(arrow_schema *s)
{
    if (s != NULL) {
        release_schema(s);
        free(s);
    }
    return NULL;
}

static arrow_schema *schema_of(const columns *c)
{
    const bool jagged = core_columns_jagged(c);
    arrow_schema *rows = new_schema("+s", jagged ? "item" : "", "schema", c->schema->name,
                                    c->schema->n_columns);
    for (size_t i = 0; i < c->schema->n_columns && rows != NULL; i++) {
        const slc_column *one = &c->schema->columns[i];
        rows->children[i] = new_schema(core_types[one->type].arrow, one->name, "unit", one->unit, 0);
        rows = rows->children[i] != NULL ? rows : drop_schema(rows);
    }
    if (!jagged || rows == NULL) {
        return rows;
    }
    arrow_schema *events = new_schema("+l", "", "schema", c->schema->name, 1);
    if (events == NULL) {
        return drop_schema(rows);
    }
    events->children[0] = rows;
    return events;
}

static void free_schema_capsule(PyObject *capsule)
{
    arrow_schema *s = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (s != NULL && s->release != NULL) {
        s->release(s);
    }
    free(s);
}

PyObject *core_columns_arrow_schema(PyObject *self, PyObject *unused)
{
    (void)unused;
    arrow_schema *s = schema_of((columns *)self);
    PyObject *capsule = s != NULL ? PyCapsule_New(s, "arrow_schema", free_schema_capsule) : PyErr_NoMemory();
    if (capsule == NULL) {
        (void)drop_schema(s);
    }
    return capsule;
}

/* ---- array ------------------------------------------------------------------------------------- */

/* Each part of the tree holds the memory by itself: who takes it may move its children away, and release them
 * in any order, in any thread. */
typedef struct kept {
    PyObject *owner;
    const void *buffers[2];
    arrow_array *children[];
} kept;

static void release_array(arrow_array *self);

/* With the interpreter's lock. */
static void release_locked(arrow_array *self)
{
    kept *k = self->private_data;
    for (int64_t i = 0; i < self->n_children; i++) {
        arrow_array *child = k->children[i];
        if (child != NULL && child->release == release_array) {
            release_locked(child);
        }
        free(child);
    }
    Py_XDECREF(k->owner);
    free(k);
    self->release = NULL;
}

/* After the interpreter's end its memory is left as it is. */
static void release_array(arrow_array *self)
{
    if (Py_IsInitialized() != 0) {
        const PyGILState_STATE lock = PyGILState_Ensure();
        release_locked(self);
        PyGILState_Release(lock);
    }
    self->release = NULL;
}

/* `second` is the buffer after that of validity, which is NULL as nothing is ever missing. */
static arrow_array *new_array(PyObject *owner, size_t length, size_t n_buffers, const void *second,
                              size_t n_children)
{
    arrow_array *a = calloc(1, sizeof *a);
    kept *k = calloc(1, sizeof *k + n_children * sizeof(arrow_array *));
    if (a == NULL || k == NULL) {
        free(a);
        free(k);
        return NULL;
    }
    k->owner = Py_NewRef(owner);
    k->buffers[1] = second != NULL ? second : nothing;
    *a = (arrow_array){.length = (int64_t)length,
                       .n_buffers = (int64_t)n_buffers,
                       .n_children = (int64_t)n_children,
                       .buffers = k->buffers,
                       .children = k->children,
                       .release = release_array,
                       .private_data = k};
    return a;
}

static arrow_array *drop_array(arrow_array *a)
{
    if (a != NULL) {
        release_locked(a);
        free(a);
    }
    return NULL;
}

static arrow_array *array_of(const columns *c)
{
    const size_t n = c->schema->n_columns, n_rows = c->head->size;
    arrow_array *rows = new_array(c->owner, n_rows, 1, NULL, n);
    for (size_t i = 0; i < n && rows != NULL; i++) {
        rows->children[i] = new_array(c->owner, n_rows, 2, core_column_data(c, &c->schema->columns[i]), 0);
        rows = rows->children[i] != NULL ? rows : drop_array(rows);
    }
    if (!core_columns_jagged(c) || rows == NULL) {
        return rows;
    }
    arrow_array *events = new_array(c->owner, c->head->n_events, 2, c->head->event_offset, 1);
    if (events == NULL) {
        return drop_array(rows);
    }
    events->children[0] = rows;
    return events;
}

static void free_array_capsule(PyObject *capsule)
{
    arrow_array *a = PyCapsule_GetPointer(capsule, "arrow_array");
    if (a != NULL && a->release == release_array) {
        release_locked(a); /* a consumer that took it has set release to NULL */
    }
    free(a);
}

PyObject *core_columns_arrow_array(PyObject *self, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"requested_schema", NULL};
    const columns *c = (columns *)self;
    PyObject *requested = Py_None; /* which is a wish, says the protocol: who asks looks at what comes */
    if (PyArg_ParseTupleAndKeywords(arguments, named, "|O:__arrow_c_array__", names, &requested) == 0) {
        return NULL;
    }
    if (c->head->size > INT32_MAX) {
        return PyErr_Format(core_state_of_type(Py_TYPE(self))->capacity_error,
                            "%zu rows are more than Arrow's lists count: event(i) gives those of an event",
                            c->head->size);
    }
    PyObject *schema = core_columns_arrow_schema(self, NULL);
    arrow_array *a = schema != NULL ? array_of(c) : NULL;
    PyObject *array = a != NULL        ? PyCapsule_New(a, "arrow_array", free_array_capsule)
                      : schema != NULL ? PyErr_NoMemory()
                                       : NULL;
    if (array == NULL) {
        (void)drop_array(a);
    }
    PyObject *pair = array != NULL ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return pair;
}
