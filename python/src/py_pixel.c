/* SPDX-License-Identifier: Apache-2.0
 * Clusters of lists of pixels in arrays. Numbers come in whatever width a user has them, and are copied, with
 * their range looked at, into the library's columns. */
#include "py_pixel.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------------- */

static int64_t signed_of(const char *at, Py_ssize_t size)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (size) {
    case 1:
        memcpy(&i8, at, 1);
        return i8;
    case 2:
        memcpy(&i16, at, 2);
        return i16;
    case 4:
        memcpy(&i32, at, 4);
        return i32;
    default:
        memcpy(&i64, at, 8);
        return i64;
    }
}

static uint64_t unsigned_of(const char *at, Py_ssize_t size)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (size) {
    case 1:
        memcpy(&u8, at, 1);
        return u8;
    case 2:
        memcpy(&u16, at, 2);
        return u16;
    case 4:
        memcpy(&u32, at, 4);
        return u32;
    default:
        memcpy(&u64, at, 8);
        return u64;
    }
}

/* One number; false if it is not in the range of the type. */
static bool put(void *to, size_t i, slc_type type, bool is_signed, const char *at, Py_ssize_t size)
{
    const int64_t value = is_signed ? signed_of(at, size) : 0;
    const uint64_t number = is_signed ? (uint64_t)value : unsigned_of(at, size);
    if (type == SLC_TYPE_I64) {
        ((int64_t *)to)[i] = is_signed ? value : (int64_t)number;
        return is_signed || number <= INT64_MAX;
    }
    if (type == SLC_TYPE_U16) {
        ((uint16_t *)to)[i] = (uint16_t)number;
        return value >= 0 && number <= UINT16_MAX;
    }
    ((uint32_t *)to)[i] = (uint32_t)number;
    return value >= 0 && number <= UINT32_MAX;
}

/* What a buffer's numbers are: 'u', 'i', or 0 for none that are taken. */
static char kind_of(const Py_buffer *view)
{
    const char *format = view->format != NULL ? view->format : "B";
    format += *format == '@' || *format == '=' ? 1 : 0;
    if (view->ndim != 1 || strlen(format) != 1 || view->itemsize > 8) {
        return 0;
    }
    return strchr("BHILQN?", *format) != NULL ? 'u' : strchr("bhilqn", *format) != NULL ? 'i' : (char)0;
}

static const char *range_of(slc_type type)
{
    return type == SLC_TYPE_U16   ? "0 to 65535"
           : type == SLC_TYPE_U32 ? "0 to 4294967295"
                                  : "-9223372036854775808 to 9223372036854775807";
}

static void *convert(core_state *state, const Py_buffer *view, const char *name, slc_type type, size_t n)
{
    const size_t size = type == SLC_TYPE_U16 ? 2 : type == SLC_TYPE_U32 ? 4 : 8;
    const bool is_signed = kind_of(view) == 'i';
    const Py_ssize_t step = view->strides != NULL ? view->strides[0] : view->itemsize;
    void *to = malloc(n > 0 ? n * size : 1);
    if (to == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    size_t i = 0;
    while (i < n &&
           put(to, i, type, is_signed, (const char *)view->buf + (Py_ssize_t)i * step, view->itemsize)) {
        i++;
    }
    if (i < n) {
        PyErr_Format(state->usage_error, "%s is to be from %s; number %zu is not", name, range_of(type), i);
        free(to);
        return NULL;
    }
    return to;
}

void *pixel_take(core_state *state, PyObject *object, const char *name, slc_type type, size_t *n)
{
    static const char taken[] =
        "a 1-D array of integers in the machine's byte order (lists: numpy.array(…) makes one)";
    Py_buffer view;
    if (!core_buffer_get(state, object, name, PyBUF_STRIDES | PyBUF_FORMAT, taken, &view)) {
        return NULL;
    }
    void *to = NULL;
    if (kind_of(&view) == 0) {
        PyErr_Format(PyExc_TypeError, "%s is to be %s, not %d-D with numbers of the format '%s'", name, taken,
                     view.ndim, view.format != NULL ? view.format : "B");
    } else if (*n != SIZE_MAX && (size_t)view.shape[0] != *n) {
        PyErr_Format(state->usage_error, "%s is to have %zu numbers, not %zd", name, *n, view.shape[0]);
    } else if (view.shape[0] > (Py_ssize_t)UINT32_MAX - 1) {
        PyErr_Format(state->usage_error, "%s has %zd numbers: a call takes at most 2^32 - 2", name,
                     view.shape[0]);
    } else {
        *n = (size_t)view.shape[0];
        to = convert(state, &view, name, type, *n);
    }
    PyBuffer_Release(&view);
    return to;
}

/* ---- choices ------------------------------------------------------------------------------------------- */

static bool choose_features(core_state *state, PyObject *value, uint32_t *features)
{
    if (value == Py_None) {
        return true;
    }
    const char *words[33] = {NULL};
    for (uint32_t k = 0; k < 32 && slc_pixel_feature_name(1U << k) != NULL; k++) {
        words[k] = slc_pixel_feature_name(1U << k);
    }
    PyObject *list = PySequence_List(value);
    *features = 0;
    for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); i++) {
        int at = 0;
        if (!core_take_word(state, PyList_GetItem(list, i), "features", words, &at)) {
            Py_CLEAR(list);
            return false;
        }
        *features |= 1U << at;
    }
    Py_XDECREF(list);
    return list != NULL;
}

static bool choose_adjacent(core_state *state, PyObject *const *values, slc_pixel_cluster_config *config)
{
    uint64_t connectivity = 8, radius = 0;
    if (!core_take_u64(state, values[PIXEL_CONNECTIVITY], "connectivity", 26, &connectivity) ||
        !core_take_u64(state, values[PIXEL_RADIUS], "radius", 8, &radius)) {
        return false;
    }
    if (values[PIXEL_RADIUS] != Py_None) {
        if (radius == 0) {
            PyErr_SetString(state->usage_error, "radius is to be from 1 to 8");
            return false;
        }
        config->connectivity = 0;
        config->radius = (uint32_t)radius;
    } else {
        config->connectivity = (uint32_t)connectivity;
    }
    return true;
}

/* (height, width), both to 65536. */
static bool choose_shape(core_state *state, PyObject *value, slc_pixel_cluster_config *config, bool *sized)
{
    unsigned long height = 0, width = 0;
    *sized = value != Py_None;
    if (!*sized) {
        return true;
    }
    if (!PyArg_ParseTuple(value, "kk;shape is to be a pair, (height, width)", &height, &width)) {
        return false;
    }
    if (height < 1 || width < 1 || height > 65536 || width > 65536) {
        PyErr_Format(state->usage_error, "shape is to be from 1 to 65536, not (%lu, %lu)", height, width);
        return false;
    }
    config->height = (uint16_t)height; /* 65536 is 0 */
    config->width = (uint16_t)width;
    return true;
}

static bool choose_algorithm(core_state *state, PyObject *value, slc_pixel_cluster_config *config)
{
    const char *words[16] = {"auto"};
    for (size_t i = 0; i < 14 && slc_pixel_algorithm_name(i) != NULL; i++) {
        words[i + 1] = slc_pixel_algorithm_name(i);
    }
    int at = 0;
    if (!core_take_word(state, value, "algorithm", words, &at)) {
        return false;
    }
    config->algorithm = words[at];
    return true;
}

bool pixel_choose(core_state *state, PyObject *const *values, slc_pixel_cluster_config *config, bool *sized)
{
    static const char *const duplicates[] = {"sum", "first", "largest", "keep", NULL};
    int which = 0;
    if (!choose_adjacent(state, values, config) ||
        !core_take_word(state, values[PIXEL_DUPLICATES], "duplicates", duplicates, &which) ||
        !choose_features(state, values[PIXEL_FEATURES], &config->features) ||
        !choose_algorithm(state, values[PIXEL_ALGORITHM], config) ||
        !choose_shape(state, values[PIXEL_SHAPE], config, sized)) {
        return false;
    }
    config->duplicates = (slc_pixel_duplicates)which;
    config->exec.target = state->target;
    return true;
}

/* ---- clusters of arrays -------------------------------------------------------------------------------- */

/* What the columns are views of. */
typedef struct clustered {
    slc_pixel_clusters clusters;
    slc_schema schema;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
} clustered;

static void clustered_free(void *memory)
{
    clustered *c = memory;
    slc_columns_clear(&c->schema, &c->clusters);
    free(c);
}

typedef struct list {
    slc_pixels pixels; /* with a block of its own */
    slc_schema schema;
    slc_column columns[SLC_PIXEL_COLUMNS];
    size_t n;
    uint32_t n_events, most; /* pixels of an event */
} list;

enum { X, Y, CHARGE, TIME, Z, OFFSETS, LISTS };

/* Offsets of events, or one event of all. */
static bool take_offsets(core_state *state, PyObject *value, list *l, uint32_t **offsets)
{
    size_t entries = SIZE_MAX;
    l->n_events = 1;
    l->most = (uint32_t)l->n;
    *offsets = NULL;
    if (value == Py_None) {
        return true;
    }
    *offsets = pixel_take(state, value, "offsets", SLC_TYPE_U32, &entries);
    if (*offsets == NULL) {
        return false;
    }
    bool good = entries > 0 && (*offsets)[0] == 0 && (*offsets)[entries - 1] == l->n;
    l->most = 0;
    for (size_t e = 1; e < entries && good; e++) {
        good = (*offsets)[e] >= (*offsets)[e - 1];
        const uint32_t n = (*offsets)[e] - (*offsets)[e - 1];
        l->most = n > l->most ? n : l->most;
    }
    if (!good) {
        PyErr_Format(state->usage_error, "offsets are to rise from 0 to %zu, the number of pixels", l->n);
        free(*offsets);
        *offsets = NULL;
        return false;
    }
    l->n_events = (uint32_t)(entries - 1);
    return true;
}

static bool fill(core_state *state, PyObject *const *values, list *l, uint32_t with)
{
    static const char *const names[] = {"x", "y", "charge", "time", "z"};
    static const slc_type types[] = {SLC_TYPE_U16, SLC_TYPE_U16, SLC_TYPE_U32, SLC_TYPE_I64, SLC_TYPE_U16};
    static const uint32_t bits[] = {0, 0, SLC_PIXEL_CHARGE, SLC_PIXEL_TIME, SLC_PIXEL_Z};
    void *taken[5] = {NULL};
    uint32_t *offsets = NULL;
    bool good = true;
    l->n = SIZE_MAX;
    for (int i = X; i <= Z && good; i++) {
        if (bits[i] == 0 || (with & bits[i]) != 0) {
            taken[i] = pixel_take(state, values[i], names[i], types[i], &l->n);
            good = taken[i] != NULL;
        }
    }
    good = good && take_offsets(state, values[OFFSETS], l, &offsets);
    if (good && slc_columns_reserve(&l->schema, &l->pixels, l->n, l->n_events) != SLC_OK) {
        PyErr_NoMemory();
        good = false;
    }
    if (good) {
        void *const to[] = {l->pixels.x, l->pixels.y, l->pixels.charge, l->pixels.time, l->pixels.z};
        for (int i = X; i <= Z; i++) {
            const size_t size = types[i] == SLC_TYPE_U16 ? 2 : types[i] == SLC_TYPE_U32 ? 4 : 8;
            if (taken[i] != NULL && l->n > 0) {
                memcpy(to[i], taken[i], l->n * size);
            }
        }
        slc_columns *head = &l->pixels.head;
        head->size = l->n;
        head->n_events = l->n_events;
        for (uint32_t e = 0; e <= l->n_events; e++) {
            head->event_offset[e] = offsets != NULL ? offsets[e] : e == 0 ? 0 : (uint32_t)l->n;
        }
    }
    for (int i = X; i <= Z; i++) {
        free(taken[i]);
    }
    free(offsets);
    return good;
}

/* The box from the origin: the fast algorithms want a size. */
static void fit(const list *l, slc_pixel_cluster_config *config)
{
    uint16_t x = 0, y = 0;
    for (size_t i = 0; i < l->n; i++) {
        x = l->pixels.x[i] > x ? l->pixels.x[i] : x;
        y = l->pixels.y[i] > y ? l->pixels.y[i] : y;
    }
    config->width = (uint16_t)(x + 1); /* 65536 is 0 */
    config->height = (uint16_t)(y + 1);
}

/* Without the interpreter's lock. */
static slc_status run(const slc_pixel_cluster_config *config, const list *l, uint32_t *labels, clustered *to,
                      slc_error *error)
{
    slc_pixel_clusterer *clusterer = NULL;
    slc_status status = slc_pixel_cluster_open(config, &clusterer, error);
    status = status == SLC_OK ? slc_pixel_cluster_reserve(clusterer, l->most, l->n_events, error) : status;
    status = status == SLC_OK ? slc_columns_reserve(&to->schema, &to->clusters, l->n, l->n_events) : status;
    status = status == SLC_OK ? slc_pixel_cluster_run(clusterer, &l->pixels, labels, &to->clusters, error)
                              : status;
    slc_pixel_cluster_close(clusterer);
    return status;
}

enum { CHOICES = LISTS, WINDOW = CHOICES + PIXEL_CHOICES, THREADS, LABELS, ARGUMENTS };

static bool configure(core_state *state, PyObject *const *values, const list *l,
                      slc_pixel_cluster_config *config)
{
    bool sized = false;
    uint64_t threads = 1, window = 0;
    if (!pixel_choose(state, values + CHOICES, config, &sized) ||
        !core_take_u64(state, values[WINDOW], "time_window", INT64_MAX, &window) ||
        !core_take_u64(state, values[THREADS], "threads", 4096, &threads)) {
        return false;
    }
    if ((config->with & SLC_PIXEL_Z) != 0 && (config->connectivity == 8 || config->connectivity == 4)) {
        config->connectivity = config->connectivity == 4 ? 6 : 26; /* by faces, or by corners too */
    }
    if (values[WINDOW] != Py_None && (config->with & SLC_PIXEL_TIME) == 0) {
        PyErr_SetString(state->usage_error, "time_window needs time");
        return false;
    }
    config->time_window = values[WINDOW] != Py_None ? (int64_t)window : -1;
    config->exec.threads = (uint32_t)threads;
    if (!sized) {
        fit(l, config);
    }
    return true;
}

static PyObject *cluster_list(core_state *state, PyObject *const *values, const list *l,
                              slc_pixel_cluster_config *config)
{
    slc_error error = {SLC_OK, ""};
    Py_buffer view = {.obj = NULL};
    if (values[LABELS] != Py_None &&
        (PyObject_GetBuffer(values[LABELS], &view, PyBUF_WRITABLE) != 0 || (size_t)view.len != l->n * 4)) {
        PyErr_SetString(PyExc_TypeError, "labels are to be written to as many numbers of 32 bits");
        PyBuffer_Release(&view);
        return NULL;
    }
    clustered *made = calloc(1, sizeof *made);
    PyObject *columns = NULL;
    slc_status status = SLC_ERR_MEMORY;
    if (made != NULL) {
        made->schema = slc_pixel_clusters_schema(config->features, config->with, made->columns);
        PyThreadState *const thread = PyEval_SaveThread();
        status = run(config, l, view.buf, made, &error);
        PyEval_RestoreThread(thread);
    }
    PyBuffer_Release(&view);
    PyObject *owner = made != NULL ? core_owner_new(state, made, clustered_free) : NULL;
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    } else if (owner != NULL) {
        columns = core_columns_new(state, owner, &made->schema, &made->clusters);
    }
    Py_XDECREF(owner);
    return columns;
}

/* pixel_cluster(x, y, charge, time, z, offsets, connectivity, radius, duplicates, features, algorithm, shape,
 * time_window, threads, labels): see sluice.pixel.cluster. */
static PyObject *pixel_cluster(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    slc_pixel_cluster_config config;
    list l = {.n = 0};
    if (n != ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "pixel_cluster() takes fifteen arguments");
        return NULL;
    }
    slc_pixel_cluster_config_default(&config);
    config.with = (arguments[CHARGE] != Py_None ? SLC_PIXEL_CHARGE : 0U) |
                  (arguments[TIME] != Py_None ? SLC_PIXEL_TIME : 0U) |
                  (arguments[Z] != Py_None ? SLC_PIXEL_Z : 0U);
    l.schema = slc_pixels_schema(config.with, l.columns);
    PyObject *made = NULL;
    if (fill(state, arguments, &l, config.with) && configure(state, arguments, &l, &config)) {
        made = cluster_list(state, arguments, &l, &config);
    }
    slc_columns_clear(&l.schema, &l.pixels);
    return made;
}

#define FAST(name)                                                                                           \
    {                                                                                                        \
#name, (PyCFunction)(void (*)(void))(name), METH_FASTCALL, NULL                                      \
    }
PyMethodDef core_pixel_functions[] = {FAST(pixel_cluster),
                                      FAST(pixel_open),
                                      FAST(pixel_open_clusters),
                                      {"pixel_write_mask", pixel_write_mask, METH_VARARGS, NULL},
                                      FAST(pixel_stream_open),
                                      FAST(pixel_stream_push),
                                      {"pixel_stream_finish", pixel_stream_finish, METH_O, NULL},
                                      {"pixel_stream_counts", pixel_stream_counts, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
