/* SPDX-License-Identifier: Apache-2.0
 * Pixels that never end: pushed as they come, clusters leave when nothing can join them any more. */
#include "py_pixel.h"

#include <stdlib.h>
#include <string.h>

typedef struct streaming {
    slc_pixel_stream *stream;
    uint32_t features;
    bool has_charge, decided; /* the first push tells */
    bool keeps;               /* pixels of clusters */
    bool busy, lost;          /* a thread is in it; it cannot go on */
} streaming;

static void streaming_free(void *memory)
{
    streaming *s = memory;
    slc_pixel_stream_close(s->stream);
    free(s);
}

/* pixel_stream_open(connectivity, radius, duplicates, features, algorithm, shape, time_window, disorder,
 * max_open, members) */
PyObject *pixel_stream_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    slc_pixel_cluster_config given;
    slc_pixel_stream_config config;
    slc_error error = {SLC_OK, ""};
    uint64_t window, disorder, max_open;
    bool sized = false;
    slc_pixel_cluster_config_default(&given);
    slc_pixel_stream_config_default(&config);
    window = (uint64_t)config.time_window;
    disorder = (uint64_t)config.disorder;
    max_open = config.max_open;
    given.features = config.features;
    if (n != PIXEL_CHOICES + 4 || !pixel_choose(state, arguments, &given, &sized) ||
        !core_take_u64(state, arguments[PIXEL_CHOICES], "time_window", INT64_MAX, &window) ||
        !core_take_u64(state, arguments[PIXEL_CHOICES + 1], "disorder", INT64_MAX, &disorder) ||
        !core_take_u64(state, arguments[PIXEL_CHOICES + 2], "max_open", 1 << 28, &max_open) ||
        !core_take_bool(arguments[PIXEL_CHOICES + 3], "members", &config.members)) {
        return NULL;
    }
    if (given.connectivity != 0 && given.connectivity != 4 && given.connectivity != 8) {
        return PyErr_Format(state->usage_error, "connectivity is to be 4 or 8, not %lu",
                            (unsigned long)given.connectivity);
    }
    if (sized) {
        config.width = given.width;
        config.height = given.height;
    }
    config.radius = given.connectivity == 4 ? 0 : given.connectivity == 8 ? 1 : given.radius;
    config.time_window = (int64_t)window;
    config.disorder = (int64_t)disorder;
    config.max_open = (uint32_t)max_open;
    config.features = given.features;
    streaming *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return PyErr_NoMemory();
    }
    s->features = given.features;
    s->keeps = config.members;
    const slc_status status = slc_pixel_stream_open(&config, &s->stream, &error);
    if (status != SLC_OK) {
        free(s);
        return core_raise(state, status, &error);
    }
    return core_owner_new(state, s, streaming_free);
}

/* ---- what has closed ------------------------------------------------------------------------------------
 */

typedef struct closed {
    slc_pixel_clusters clusters;
    slc_pixel_members members;
    slc_schema schema;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
} closed;

static void closed_free(void *memory)
{
    closed *c = memory;
    slc_columns_clear(&c->schema, &c->clusters);
    slc_columns_clear(&slc_pixel_members_schema, &c->members);
    free(c);
}

static closed *closed_new(uint32_t features, uint32_t with, size_t rows)
{
    closed *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->schema = slc_pixel_clusters_schema(features, with, c->columns);
        if (slc_columns_reserve(&c->schema, &c->clusters, rows, 1) != SLC_OK) {
            free(c);
            c = NULL;
        }
    }
    return c;
}

/* After a call that ended with `status`: room for more, if that is what it lacked. */
static slc_status make_room(closed *c, slc_status status)
{
    const slc_columns *head = &c->clusters.head, *members = &c->members.head;
    if (status != SLC_ERR_CAPACITY) {
        return status;
    }
    if (head->size == head->capacity) {
        return slc_columns_reserve(&c->schema, &c->clusters, 2 * head->capacity + 1024, 1);
    }
    return slc_columns_reserve(&slc_pixel_members_schema, &c->members, 2 * members->capacity + 1024,
                               2 * members->event_capacity + 1024);
}

static slc_status push(slc_pixel_stream *stream, const slc_pixels *pixels, closed *to, slc_error *error)
{
    slc_status status = SLC_OK;
    slc_pixel_stream_members(stream, &to->members);
    for (size_t done = 0; done < pixels->head.size && status == SLC_OK;) {
        size_t taken = 0;
        status = slc_pixel_stream_push(stream, pixels, done, pixels->head.size - done, &to->clusters, &taken,
                                       error);
        done += taken;
        status = make_room(to, status);
    }
    return status;
}

static slc_status finish(slc_pixel_stream *stream, closed *to, slc_error *error)
{
    slc_status status, made;
    slc_pixel_stream_members(stream, &to->members);
    do {
        status = slc_pixel_stream_finish(stream, &to->clusters, error);
        made = make_room(to, status);
    } while (status == SLC_ERR_CAPACITY && made == SLC_OK);
    return made;
}

/* Columns of what has closed, and of its pixels if they are kept, or an error; takes it. */
static PyObject *columns_of(core_state *state, bool keeps, closed *c, slc_status status,
                            const slc_error *error)
{
    PyObject *owner = core_owner_new(state, c, closed_free);
    PyObject *columns = NULL;
    if (status != SLC_OK) {
        (void)core_raise(state, status, error);
    } else if (owner != NULL) {
        slc_columns_end_event(&c->clusters);
        columns = core_columns_new(state, owner, &c->schema, &c->clusters);
        PyObject *members = columns != NULL && keeps
                                ? core_columns_new(state, owner, &slc_pixel_members_schema, &c->members)
                                : NULL;
        if (columns != NULL && keeps) {
            PyObject *const both = members != NULL ? PyTuple_Pack(2, columns, members) : NULL;
            Py_DECREF(columns);
            Py_XDECREF(members);
            columns = both;
        }
    }
    Py_XDECREF(owner);
    return columns;
}

static streaming *enter(PyObject *stream)
{
    streaming *s = core_owner_memory(stream);
    if (s->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is in this stream");
        return NULL;
    }
    if (s->lost) {
        PyErr_SetString(PyExc_RuntimeError, "this stream has failed: open another");
        return NULL;
    }
    s->busy = true;
    return s;
}

/* ---- pushing ------------------------------------------------------------------------------------------- */

typedef struct pushed {
    slc_pixels pixels;
    slc_schema schema;
    slc_column columns[SLC_PIXEL_COLUMNS];
} pushed;

enum { STREAM, X, Y, TIME, CHARGE, ARGUMENTS };

static bool take(core_state *state, PyObject *const *values, pushed *p)
{
    static const char *const names[] = {"", "x", "y", "time", "charge"};
    static const slc_type types[] = {SLC_TYPE_U8, SLC_TYPE_U16, SLC_TYPE_U16, SLC_TYPE_I64, SLC_TYPE_U32};
    static const size_t sizes[] = {0, 2, 2, 8, 4};
    void *taken[ARGUMENTS] = {NULL};
    size_t n = SIZE_MAX;
    bool good = true;
    for (int i = X; i < ARGUMENTS && good; i++) {
        if (values[i] != Py_None) {
            taken[i] = pixel_take(state, values[i], names[i], types[i], &n);
            good = taken[i] != NULL;
        }
    }
    const uint32_t with = SLC_PIXEL_TIME | (values[CHARGE] != Py_None ? SLC_PIXEL_CHARGE : 0U);
    p->schema = slc_pixels_schema(with, p->columns);
    if (good && slc_columns_reserve(&p->schema, &p->pixels, n, 1) != SLC_OK) {
        PyErr_NoMemory();
        good = false;
    }
    void *const to[] = {NULL, p->pixels.x, p->pixels.y, p->pixels.time, p->pixels.charge};
    for (int i = X; i < ARGUMENTS; i++) {
        if (good && taken[i] != NULL && n > 0) {
            memcpy(to[i], taken[i], n * sizes[i]);
        }
        free(taken[i]);
    }
    if (good) {
        p->pixels.head.size = n;
    }
    return good;
}

static bool same_columns(core_state *state, streaming *s, bool has_charge)
{
    if (s->decided && s->has_charge != has_charge) {
        PyErr_SetString(state->usage_error, has_charge ? "charge: the pixels pushed before had none"
                                                       : "charge: the pixels pushed before had one");
        return false;
    }
    s->has_charge = has_charge;
    s->decided = true;
    return true;
}

/* pixel_stream_push(stream, x, y, time, charge): the clusters that it closed */
PyObject *pixel_stream_push(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    pushed p = {.columns = {{NULL, NULL, 0, SLC_TYPE_U8}}};
    slc_error error = {SLC_OK, ""};
    PyObject *made = NULL;
    streaming *s = n == ARGUMENTS ? enter(arguments[STREAM]) : NULL;
    if (s == NULL) {
        return NULL;
    }
    if (take(state, arguments, &p) && same_columns(state, s, arguments[CHARGE] != Py_None)) {
        closed *c = closed_new(s->features, SLC_PIXEL_TIME, p.pixels.head.size / 2 + 64);
        if (c == NULL) {
            PyErr_NoMemory();
        } else {
            slc_status status;
            PyThreadState *const thread = PyEval_SaveThread();
            status = push(s->stream, &p.pixels, c, &error);
            PyEval_RestoreThread(thread);
            s->lost = status != SLC_OK;
            made = columns_of(state, s->keeps, c, status, &error);
        }
    }
    slc_columns_clear(&p.schema, &p.pixels);
    s->busy = false;
    return made;
}

PyObject *pixel_stream_finish(PyObject *module, PyObject *stream)
{
    core_state *state = core_state_of(module);
    slc_error error = {SLC_OK, ""};
    PyObject *made = NULL;
    streaming *s = enter(stream);
    if (s == NULL) {
        return NULL;
    }
    closed *c = closed_new(s->features, SLC_PIXEL_TIME, 1024);
    if (c == NULL) {
        PyErr_NoMemory();
    } else {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = finish(s->stream, c, &error);
        PyEval_RestoreThread(thread);
        s->lost = status != SLC_OK;
        made = columns_of(state, s->keeps, c, status, &error);
    }
    s->decided = false;
    s->busy = false;
    return made;
}

PyObject *pixel_stream_counts(PyObject *module, PyObject *stream)
{
    (void)module;
    streaming *s = enter(stream);
    if (s == NULL) {
        return NULL;
    }
    const slc_pixel_stream_counts counts = slc_pixel_stream_count(s->stream);
    s->busy = false;
    PyObject *made = PyDict_New();
    if (made != NULL &&
        (!core_put_u64(made, "pixels", counts.pixels) || !core_put_u64(made, "clusters", counts.clusters) ||
         !core_put_u64(made, "outside", counts.outside) || !core_put_u64(made, "late", counts.late) ||
         !core_put_u64(made, "early", counts.early) || !core_put_u64(made, "outliers", counts.outliers) ||
         !core_put_u64(made, "resets", counts.resets))) {
        Py_CLEAR(made);
    }
    return made;
}
