/* SPDX-License-Identifier: Apache-2.0
 * Seeded generators: settings as dicts in, arrays, columns and files out. The signatures, and the words for
 * people, are those of sluice/sim.py; a setting that it leaves out has the library's default. */
#include "py_sim.h"

#include <stdlib.h>

static bool take_field(core_state *state, const field *f, PyObject *value, char *to)
{
    static const uint64_t most[] = {
        [U16] = UINT16_MAX, [U32] = UINT32_MAX, [U64] = UINT64_MAX, [SIZE] = PTRDIFF_MAX};
    uint64_t whole = 0;
    double number = 0;
    bool good;
    if (f->type == BOOL) {
        return core_take_bool(value, f->name, (bool *)to);
    }
    if (f->type == TEXT) { /* which is the setting's, and lives as long */
        if (!PyUnicode_Check(value)) {
            PyErr_Format(PyExc_TypeError, "%s is to be a str, not %R", f->name, value);
            return false;
        }
        *(const char **)to = PyUnicode_AsUTF8AndSize(value, NULL);
        return *(const char **)to != NULL;
    }
    if (f->type == F32 || f->type == F64) {
        good = core_take_double(value, f->name, &number);
        if (good && f->type == F32) {
            *(float *)to = (float)number;
        } else if (good) {
            *(double *)to = number;
        }
        return good;
    }
    good = core_take_u64(state, value, f->name, most[f->type], &whole);
    if (good && f->type == U16) {
        *(uint16_t *)to = (uint16_t)whole;
    } else if (good && f->type == U32) {
        *(uint32_t *)to = (uint32_t)whole;
    } else if (good && f->type == SIZE) {
        *(size_t *)to = (size_t)whole;
    } else if (good) {
        *(uint64_t *)to = whole;
    }
    return good;
}

bool core_sim_fields(core_state *state, PyObject *settings, const field *fields, size_t n, void *config)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(settings, &at, &name, &value)) {
        size_t i = 0;
        while (i < n && PyUnicode_CompareWithASCIIString(name, fields[i].name) != 0) {
            i++;
        }
        if (i == n) {
            PyErr_Format(PyExc_TypeError, "there is no setting %R", name);
            return false;
        }
        if (value != Py_None && !take_field(state, &fields[i], value, (char *)config + fields[i].place)) {
            return false;
        }
    }
    return true;
}
/* ---- images -------------------------------------------------------------------------------------- */

#define IMAGE(name, type)                                                                                    \
    {                                                                                                        \
#name, type, offsetof(slc_sim_image_config, name)                                                    \
    }
static const field image_fields[] = {IMAGE(seed, U32), IMAGE(width, SIZE), IMAGE(height, SIZE),
                                     IMAGE(density, F64), IMAGE(granularity, U32)};

/* sim_image(settings, value): a uint8 array. */
static PyObject *sim_image(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings;
    unsigned char value;
    slc_sim_image_config config;
    slc_error error = {SLC_OK, ""};
    Py_buffer view;
    slc_sim_image_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O!b", &PyDict_Type, &settings, &value) == 0 ||
        !core_sim_fields(state, settings, image_fields, COUNT_OF(image_fields), &config) ||
        !core_numpy(state)) {
        return NULL;
    }
    PyObject *array = PyObject_CallFunction(state->empty, "(nn)O", (Py_ssize_t)config.height,
                                            (Py_ssize_t)config.width, state->dtype[SLC_TYPE_U8]);
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    slc_status status;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_sim_image(&config, value, view.buf, (ptrdiff_t)config.width, &error);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
        Py_CLEAR(array);
    }
    return array;
}

/* ---- pixels -------------------------------------------------------------------------------------- */

/* A list and its schema. */
typedef struct list {
    slc_pixels pixels;
    slc_column columns[SLC_PIXEL_COLUMNS];
    slc_schema schema;
} list;

static void list_free(void *memory)
{
    list *l = memory;
    slc_columns_clear(&l->schema, &l->pixels);
    free(l);
}

static PyObject *new_list(core_state *state, uint32_t with, list **made)
{
    *made = calloc(1, sizeof **made);
    if (*made == NULL) {
        return PyErr_NoMemory();
    }
    (*made)->schema = slc_pixels_schema(with, (*made)->columns);
    return core_owner_new(state, *made, list_free);
}

/* Takes the Owner. */
static PyObject *list_columns(core_state *state, PyObject *owner, slc_status status, const slc_error *error)
{
    const list *l = core_owner_memory(owner);
    PyObject *made = status == SLC_OK    ? core_columns_new(state, owner, &l->schema, &l->pixels)
                     : status == SLC_END ? NULL /* raised */
                                         : core_raise(state, status, error);
    Py_DECREF(owner);
    return made;
}

#define PIXELS(name, type)                                                                                   \
    {                                                                                                        \
#name, type, offsetof(slc_sim_pixels_config, name)                                                   \
    }
static const field pixels_fields[] = {PIXELS(seed, U32),   PIXELS(first, U32),    PIXELS(width, U16),
                                      PIXELS(height, U16), PIXELS(density, F64),  PIXELS(granularity, U32),
                                      PIXELS(images, U32), PIXELS(shuffled, BOOL)};

/* sim_pixels(settings, time): an event is an image. An image at a time, for the sake of Ctrl-C. */
static PyObject *sim_pixels(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings;
    int time = 0;
    slc_sim_pixels_config config;
    slc_error error = {SLC_OK, ""};
    list *l = NULL;
    slc_sim_pixels_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O!p", &PyDict_Type, &settings, &time) == 0 ||
        !core_sim_fields(state, settings, pixels_fields, COUNT_OF(pixels_fields), &config)) {
        return NULL;
    }
    const uint32_t with = SLC_PIXEL_CHARGE | (time != 0 ? SLC_PIXEL_TIME : 0U);
    PyObject *owner = new_list(state, with, &l);
    slc_status status = SLC_OK;
    const uint32_t images = config.images;
    if (owner == NULL) {
        return NULL;
    }
    config.images = 1;
    for (uint32_t i = 0; i < images && status == SLC_OK; i++) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_sim_pixels(&config, with, &l->pixels, &error);
        PyEval_RestoreThread(thread);
        config.first++;
        if (status == SLC_OK && PyErr_CheckSignals() < 0) {
            status = SLC_END;
        }
    }
    return list_columns(state, owner, status, &error);
}

#define STREAM(name, type)                                                                                   \
    {                                                                                                        \
#name, type, offsetof(slc_sim_pixel_stream_config, name)                                             \
    }
static const field stream_fields[] = {STREAM(seed, U64),          STREAM(width, U16),
                                      STREAM(height, U16),        STREAM(cluster_size, F64),
                                      STREAM(cluster_ticks, F64), STREAM(spread, U32)};

enum { PIECE = 65536 }; /* each has random numbers of its own: the command's */

/* sim_stream(settings, n): one event. */
static PyObject *sim_stream(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *settings;
    unsigned long long n = 0;
    slc_sim_pixel_stream_config config;
    slc_error error = {SLC_OK, ""};
    list *l = NULL;
    slc_sim_pixel_stream_config_default(&config);
    if (PyArg_ParseTuple(arguments, "O!K", &PyDict_Type, &settings, &n) == 0 ||
        !core_sim_fields(state, settings, stream_fields, COUNT_OF(stream_fields), &config)) {
        return NULL;
    }
    PyObject *owner = new_list(state, SLC_PIXEL_CHARGE | SLC_PIXEL_TIME, &l);
    if (owner == NULL) {
        return NULL;
    }
    slc_status status = slc_columns_reserve(&l->schema, &l->pixels, 0, 1);
    for (size_t done = 0; done < n && status == SLC_OK; done = l->pixels.head.size) {
        const size_t piece = n - done < PIECE ? (size_t)n - done : PIECE;
        config.part = done / PIECE;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_sim_pixel_stream(&config, piece, &l->pixels, &error);
        for (size_t i = done; i < l->pixels.head.size; i++) {
            config.begin = l->pixels.time[i] > config.begin ? l->pixels.time[i] : config.begin;
        }
        PyEval_RestoreThread(thread);
        if (status == SLC_OK && PyErr_CheckSignals() < 0) {
            status = SLC_END;
        }
    }
    if (status == SLC_OK) {
        slc_columns_end_event(&l->pixels);
    }
    return list_columns(state, owner, status, &error);
}

PyMethodDef core_sim_functions[] = {
    {"sim_image", sim_image, METH_VARARGS, "an image"},
    {"sim_pixels", sim_pixels, METH_VARARGS, "pixels of images"},
    {"sim_stream", sim_stream, METH_VARARGS, "pixels of a stream"},
    {"sim_velo", core_sim_velo, METH_VARARGS, "events of the VELO"},
    {"sim_hlt1", core_sim_hlt1, METH_VARARGS, "events of LHCb's first trigger level"},
    {"sim_cms", core_sim_cms, METH_VARARGS, "events of CMS's pixels"},
    {"sim_pet", core_sim_pet, METH_VARARGS, "frames of a PET scanner"},
    {NULL, NULL, 0, NULL}};
