/* SPDX-License-Identifier: Apache-2.0
 * Image files: pages as arrays, and arrays as files. */
#include "py_image.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------------------------- */

typedef struct pages {
    PyObject_HEAD slc_io_images *images; /* NULL: closed */
    PyObject *path;
    unsigned long long n; /* handed out */
    long process;         /* that opened it */
    bool busy;
} pages;

static void close_pages(pages *self)
{
    slc_io_images *images = self->images;
    self->images = NULL;
    if (self->process == (long)getpid()) { /* a child of fork() leaves it: closing moves the parent's place */
        slc_io_images_close(images);
    }
}

static void pages_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    close_pages((pages *)self);
    Py_XDECREF(((pages *)self)->path);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* An array of the page's type, bool for bits. */
static PyObject *empty_for(core_state *state, const slc_image *image)
{
    static const slc_type types[SLC_IMAGE_TYPES] = {[SLC_IMAGE_U8] = SLC_TYPE_U8,
                                                    [SLC_IMAGE_U16] = SLC_TYPE_U16,
                                                    [SLC_IMAGE_U32] = SLC_TYPE_U32,
                                                    [SLC_IMAGE_F32] = SLC_TYPE_F32};
    const Py_ssize_t height = (Py_ssize_t)image->height, width = (Py_ssize_t)image->width;
    if (!core_numpy(state)) {
        return NULL;
    }
    return image->type == SLC_IMAGE_BITS ? PyObject_CallFunction(state->empty, "(nn)s", height, width, "bool")
                                         : PyObject_CallFunction(state->empty, "(nn)O", height, width,
                                                                 state->dtype[types[image->type]]);
}

static void copy_rows(const slc_image *image, char *to)
{
    const size_t bytes = image->type == SLC_IMAGE_BITS ? image->width
                                                       : slc_image_row_bytes(image->type, image->width);
    for (size_t y = 0; y < image->height; y++) {
        const char *row = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
        char *into = to + y * bytes;
        if (image->type != SLC_IMAGE_BITS) {
            memcpy(into, row, bytes);
            continue;
        }
        for (size_t x = 0; x < image->width; x++) {
            into[x] = (char)(((unsigned char)row[x / 8] >> (x % 8)) & 1U);
        }
    }
}

PyObject *core_page_array(core_state *state, const slc_image *image)
{
    Py_buffer view;
    PyObject *array = empty_for(state, image);
    if (array == NULL || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    copy_rows(image, view.buf);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    return array;
}

/* What has to be told of a page though it could be read. False with an error set. */
static bool warn(core_state *state, const slc_io_images *images)
{
    const char *text = slc_io_images_warning(images);
    PyObject *message = text != NULL ? PyUnicode_DecodeLocale(text, "surrogateescape") : NULL;
    PyObject *utf8 = message != NULL ? PyUnicode_AsEncodedString(message, "utf-8", "replace") : NULL;
    const bool good = text == NULL ||
                      (utf8 != NULL && PyErr_WarnEx(state->damage_warning, PyBytes_AsString(utf8), 1) == 0);
    Py_XDECREF(utf8);
    Py_XDECREF(message);
    return good;
}

/* With the status of the next page, in `busy`. */
static PyObject *take_page(core_state *state, pages *self, slc_status status, const slc_image *image,
                           const slc_error *error)
{
    PyObject *array = NULL;
    if (status < 0) {
        if (PyErr_CheckSignals() == 0) {
            (void)core_raise(state, status, error);
        }
    } else if (warn(state, self->images) && status == SLC_OK) {
        array = core_page_array(state, image);
    }
    self->n += array != NULL;
    return array;
}

static PyObject *pages_next(PyObject *object)
{
    pages *self = (pages *)object;
    slc_image image;
    slc_error error = {SLC_OK, ""};
    slc_status status;
    if (self->images == NULL) {
        return NULL;
    }
    if (self->process != (long)getpid()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this file was opened before fork(), and is the parent's: open another");
        return NULL;
    }
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is reading a page of this file");
        return NULL;
    }
    self->busy = true;
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_images_next(self->images, &image, &error);
    PyEval_RestoreThread(thread);
    PyObject *array = take_page(core_state_of_type(Py_TYPE(object)), self, status, &image, &error);
    self->busy = false;
    if (status != SLC_OK) {
        close_pages(self);
    }
    return array;
}

static PyObject *pages_self(PyObject *self)
{
    return Py_NewRef(self);
}

static PyObject *pages_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *pages_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (((pages *)self)->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is reading a page of this file");
        return NULL;
    }
    close_pages((pages *)self);
    return Py_NewRef(Py_None);
}

static PyObject *pages_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    return pages_close(self, NULL);
}

static PyObject *pages_path(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((pages *)self)->path);
}

static PyObject *pages_n(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((pages *)self)->n);
}

static PyObject *image_open(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *path = NULL, *bytes = NULL, *limit = NULL;
    uint64_t max_bytes = 0;
    slc_io_image_config config;
    slc_error error = {SLC_OK, ""};
    slc_status status;
    slc_io_image_config_default(&config);
    max_bytes = config.max_bytes;
    if (PyArg_ParseTuple(arguments, "O|O:open", &path, &limit) == 0 ||
        !core_take_u64(state, limit, "max_bytes", SIZE_MAX, &max_bytes) ||
        PyUnicode_FSConverter(path, &bytes) == 0) {
        return NULL;
    }
    config.max_bytes = (size_t)max_bytes;
    slc_io_images *images = NULL;
    const char *name = PyBytes_AsString(bytes);
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_images_open(name, &config, &images, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    if (status == SLC_ERR_IO && PyErr_CheckSignals() != 0) { /* which ended a wait for the writer of a pipe */
        return NULL;
    }
    pages *made = status == SLC_OK ? PyObject_New(pages, state->pages_type) : NULL;
    if (made == NULL) {
        slc_io_images_close(images);
        return status != SLC_OK ? core_raise(state, status, &error) : NULL;
    }
    made->images = images;
    made->path = Py_NewRef(path);
    made->n = 0;
    made->process = (long)getpid();
    made->busy = false;
    return (PyObject *)made;
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* One page: (array, None), or (array of bytes, width) for rows of bits. */
static slc_status add_page(core_state *state, slc_io_writer *writer, PyObject *page, slc_error *error)
{
    PyObject *array = NULL, *width = NULL;
    core_image in;
    uint64_t bits = 0;
    slc_status status;
    if (PyArg_ParseTuple(page, "OO", &array, &width) == 0 || !core_image_get(state, array, "image", &in)) {
        return SLC_END;
    }
    if (!core_take_u64(state, width, "width", UINT32_MAX, &bits)) {
        PyBuffer_Release(&in.view);
        return SLC_END;
    }
    if (width != Py_None) {
        in.image.type = SLC_IMAGE_BITS;
        in.image.width = (size_t)bits;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    status = slc_io_image_writer_add(writer, &in.image, error);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&in.view);
    return status;
}

/* image_save(path, pages, preview): see sluice.image.save. */
static PyObject *image_save(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *bytes = NULL, *list = NULL;
    int preview = 0;
    slc_error error = {SLC_OK, ""};
    slc_io_writer *writer = NULL;
    if (PyArg_ParseTuple(arguments, "O&Op:save", PyUnicode_FSConverter, &bytes, &list, &preview) == 0) {
        return NULL;
    }
    slc_status status = slc_io_image_writer_open(PyBytes_AsString(bytes), preview != 0, &writer, &error);
    Py_DECREF(bytes);
    const Py_ssize_t n = PyList_Size(list);
    for (Py_ssize_t i = 0; i < n && status == SLC_OK; i++) {
        status = PyErr_CheckSignals() != 0 ? SLC_END
                                           : add_page(state, writer, PyList_GetItem(list, i), &error);
    }
    if (status == SLC_OK && n >= 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_finish(writer, &error);
        PyEval_RestoreThread(thread);
    } else {
        slc_io_abandon(writer);
    }
    if (status < 0) {
        return core_raise(state, status, &error);
    }
    return status == SLC_OK && n >= 0 ? Py_NewRef(Py_None) : NULL;
}

static PyGetSetDef pages_get[] = {{"path", pages_path, NULL, "what was opened", NULL},
                                  {"n_read", pages_n, NULL, "pages so far", NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef pages_methods[] = {{"close", pages_close, METH_NOARGS, "close()\n--\n\nCloses the file."},
                                      {"__enter__", pages_enter, METH_NOARGS, NULL},
                                      {"__exit__", pages_exit, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
static PyType_Slot pages_slots[] = {{Py_tp_doc, "Iterates over the pages of an image file, each an array (h, "
                                                "w) of the caller's own. One thread at a time."},
                                    {Py_tp_dealloc, CORE_SLOT(pages_free)},
                                    {Py_tp_iter, CORE_SLOT(pages_self)},
                                    {Py_tp_iternext, CORE_SLOT(pages_next)},
                                    {Py_tp_getset, pages_get},
                                    {Py_tp_methods, pages_methods},
                                    {0, NULL}};
static PyType_Spec pages_spec = {.name = "sluice.image.Pages",
                                 .basicsize = sizeof(pages),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 .slots = pages_slots};

PyMethodDef core_pages_functions[] = {{"image_open", image_open, METH_VARARGS, "pages of a file"},
                                      {"image_save", image_save, METH_VARARGS, "arrays as a file"},
                                      {NULL, NULL, 0, NULL}};

int core_pages_add(PyObject *module, core_state *state)
{
    state->pages_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &pages_spec, NULL);
    return state->pages_type != NULL ? PyModule_AddObjectRef(module, "Pages", (PyObject *)state->pages_type)
                                     : -1;
}
