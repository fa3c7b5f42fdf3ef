/* SPDX-License-Identifier: Apache-2.0
 * Images that come in any object with a buffer. */
#include "py_core.h"

#include <string.h>

/* The one letter of a format in the machine's byte order; 0 if it is anything else. */
static char letter_of(const Py_buffer *view)
{
    const char *format = view->format != NULL ? view->format : "B";
    if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN) ||
        (*format == '>' && PY_BIG_ENDIAN)) {
        format++;
    }
    return format[0] != '\0' && format[1] == '\0' ? format[0] : '\0';
}

bool core_pixel_type(const Py_buffer *view, slc_image_type *type)
{
    switch (letter_of(view)) {
    case '?':
    case 'B':
        *type = SLC_IMAGE_U8;
        return view->itemsize == 1;
    case 'H':
        *type = SLC_IMAGE_U16;
        return view->itemsize == 2;
    case 'I':
    case 'L':
        *type = SLC_IMAGE_U32;
        return view->itemsize == 4;
    case 'f':
        *type = SLC_IMAGE_F32;
        return view->itemsize == 4;
    default:
        return false;
    }
}

bool core_value_type(const Py_buffer *view, slc_image_type *type)
{
    const char letter = letter_of(view);
    const bool is = letter != '\0' && strchr("?bBhHiIlLqQ", letter) != NULL;
    *type = view->itemsize == 1   ? SLC_IMAGE_U8
            : view->itemsize == 2 ? SLC_IMAGE_U16
            : view->itemsize == 4 ? SLC_IMAGE_U32
                                  : SLC_IMAGE_U64;
    return is && (view->itemsize == 1 || view->itemsize == 2 || view->itemsize == 4 || view->itemsize == 8);
}

bool core_signed_or_not(const Py_buffer *view)
{
    const char letter = letter_of(view);
    return (letter == 'i' || letter == 'I' || letter == 'l' || letter == 'L') && view->itemsize == 4;
}

/* Rows whose elements lie one after the other, each aligned. An axis of one element may have any stride. */
static bool rows_are_plain(const Py_buffer *view)
{
    return view->suboffsets == NULL && (view->shape[1] <= 1 || view->strides[1] == view->itemsize) &&
           ((uintptr_t)view->buf | (view->shape[0] > 1 ? (uintptr_t)view->strides[0] : 0)) %
                   (uintptr_t)view->itemsize ==
               0;
}

static bool refuse(const char *what, const Py_buffer *view, const char *taken)
{
    if (view->ndim != 2) {
        PyErr_Format(PyExc_TypeError, "%s has %d dimensions; it is to be %s", what, view->ndim, taken);
    } else if (!rows_are_plain(view)) {
        PyErr_Format(PyExc_TypeError,
                     "%s has strides of %zd and %zd bytes for elements of %zd, or is not aligned; it is to "
                     "be %s (numpy.ascontiguousarray makes such a one)",
                     what, view->strides[0], view->strides[1], view->itemsize, taken);
    } else {
        PyErr_Format(PyExc_TypeError, "%s has elements of the format '%s'; it is to be %s", what,
                     view->format != NULL ? view->format : "B", taken);
    }
    return false;
}

/* True with an error set. */
static bool is_of_a_gpu(core_state *state, PyObject *object, const char *what)
{
    PyObject *has = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (has == NULL) {
        PyErr_Clear();
        return false;
    }
    Py_DECREF(has);
    PyErr_Format(state->unsupported_error,
                 "%s is in the memory of a GPU: device='cuda' labels an image there, else copy it to the "
                 "host, by cupy.asnumpy(x) or x.copy_to_host()",
                 what);
    return true;
}

/* What has no buffer, but another protocol by which memory is shared. */
static bool get_otherwise(core_state *state, PyObject *object, const char *what, int flags, const char *taken,
                          Py_buffer *view)
{
    PyObject *has = PyObject_GetAttrString(object, "__dlpack__");
    if (has != NULL) {
        Py_DECREF(has);
        PyObject *tensor = core_dlpack_take(state, object, what, taken, -1);
        const bool got = tensor != NULL && PyObject_GetBuffer(tensor, view, flags) == 0;
        Py_XDECREF(tensor); /* the view keeps it */
        if (!got && PyErr_ExceptionMatches(PyExc_BufferError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError, "%s cannot be written to, or has no strides; it is to be %s", what,
                         taken);
        }
        return got;
    }
    PyErr_Clear();
    if (is_of_a_gpu(state, object, what)) {
        return false;
    }
    PyErr_Format(PyExc_TypeError, "%s is %R; it is to be %s", what, (PyObject *)Py_TYPE(object), taken);
    return false;
}

/* -1: an error is set. */
static int has_masked_values(PyObject *object)
{
    PyObject *mask = PyObject_GetAttrString(object, "mask");
    PyObject *any = mask != NULL ? PyObject_CallMethod(mask, "any", NULL) : NULL;
    const int is = any != NULL ? PyObject_IsTrue(any) : -1;
    Py_XDECREF(any);
    Py_XDECREF(mask);
    return is;
}

/* A masked array's buffer has the values that are masked, too. The type that came last is not looked at
 * again. False with an error set. */
static bool is_whole(core_state *state, PyObject *object, const char *what)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (type == state->plain_type) {
        return true;
    }
    PyObject *filled = PyObject_GetAttrString(type, "filled"), *mask = PyObject_GetAttrString(type, "mask");
    const bool may_be_masked = filled != NULL && mask != NULL;
    Py_XDECREF(filled);
    Py_XDECREF(mask);
    PyErr_Clear();
    if (!may_be_masked) {
        PyObject *last = state->plain_type;
        state->plain_type = Py_NewRef(type);
        Py_XDECREF(last);
        return true;
    }
    const int masked = has_masked_values(object);
    if (masked > 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s has masked values, which would be taken as they are: x.filled(0) "
                     "makes an array without a mask",
                     what);
    }
    return masked == 0;
}

bool core_buffer_get(core_state *state, PyObject *object, const char *what, int flags, const char *taken,
                     Py_buffer *view)
{
    if (!is_whole(state, object, what)) {
        return false;
    }
    if (!PyObject_CheckBuffer(object)) {
        return get_otherwise(state, object, what, flags, taken, view);
    }
    if (PyObject_GetBuffer(object, view, flags) == 0) {
        return true;
    }
    PyErr_Clear();
    if (is_of_a_gpu(state, object, what)) { /* CuPy's arrays have a buffer, which they refuse */
        return false;
    }
    PyErr_Format(PyExc_TypeError, "%s is %R%s; it is to be %s", what, (PyObject *)Py_TYPE(object),
                 (flags & PyBUF_WRITABLE) != 0 ? ", which cannot be written to" : "", taken);
    return false;
}

bool core_image_check(const char *what, core_image *to)
{
    slc_image_type type = SLC_IMAGE_U8;
    if (to->view.ndim != 2 || !core_pixel_type(&to->view, &type) || !rows_are_plain(&to->view)) {
        (void)refuse(what, &to->view, CORE_IMAGES);
        PyBuffer_Release(&to->view);
        return false;
    }
    to->image = (slc_image){.pixels = to->view.buf,
                            .width = (size_t)to->view.shape[1],
                            .height = (size_t)to->view.shape[0],
                            .stride = to->view.shape[0] > 1 ? to->view.strides[0]
                                                            : to->view.shape[1] * to->view.itemsize,
                            .type = type};
    return true;
}

bool core_image_get(core_state *state, PyObject *object, const char *what, core_image *to)
{
    return core_buffer_get(state, object, what, PyBUF_STRIDES | PyBUF_FORMAT, CORE_IMAGES, &to->view) &&
           core_image_check(what, to);
}

bool core_labels_get(core_state *state, PyObject *object, size_t height, size_t width, Py_buffer *view,
                     slc_image_labels *to)
{
    static const char taken[] = "a writable array of the image's shape, of int32, uint32 or uint16, "
                                "C-contiguous along its rows";
    if (!core_buffer_get(state, object, "out", PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE, taken, view)) {
        return false;
    }
    const char letter = letter_of(view);
    const bool is_32 = core_signed_or_not(view);
    const bool is_16 = letter == 'H' && view->itemsize == 2;
    if (view->ndim != 2 || !(is_32 || is_16) || !rows_are_plain(view)) {
        (void)refuse("out", view, taken);
    } else if ((size_t)view->shape[0] != height || (size_t)view->shape[1] != width) {
        PyErr_Format(PyExc_TypeError, "out has the shape (%zd, %zd), the image (%zu, %zu)", view->shape[0],
                     view->shape[1], height, width);
    } else {
        to->labels = view->buf;
        to->stride = view->shape[0] > 1 ? view->strides[0] : view->shape[1] * view->itemsize;
        to->type = is_16 ? SLC_TYPE_U16 : SLC_TYPE_U32;
        return true;
    }
    PyBuffer_Release(view);
    return false;
}
