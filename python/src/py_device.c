/* SPDX-License-Identifier: Apache-2.0
 * Images in the memory of a GPU, of objects that say so by DLPack or __cuda_array_interface__ (version 3,
 * https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html). They are labelled there. */
#include "py_core.h"

#include <stdlib.h>
#include <string.h>

/* The number of the one GPU that a word names; -1: the processor, or several GPUs. */
static int number_of(const char *device)
{
    if (strcmp(device, "cuda") == 0) {
        return 0;
    }
    if (strncmp(device, "cuda:", 5) != 0 || device[5 + strspn(device + 5, "0123456789")] != '\0') {
        return -1;
    }
    const long number = strtol(device + 5, NULL, 10);
    return number < 4096 ? (int)number : -1;
}

/* Until the stream of the producer's is done, as labellers have one of their own. */
static bool wait_for(long stream, int device)
{
    PyObject *module = PyImport_ImportModule("sluice._device");
    PyObject *done = module != NULL ? PyObject_CallMethod(module, "wait", "li", stream, device) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done != NULL;
}

/* ---- DLPack -------------------------------------------------------------------------------------- */

/* The kind of the object's device and its number; false: it has none. */
static bool device_of(PyObject *object, long *kind, long *number)
{
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    const bool has = pair != NULL && PyTuple_Check(pair) && PyArg_ParseTuple(pair, "ll", kind, number) != 0;
    Py_XDECREF(pair);
    PyErr_Clear(); /* who takes it as memory of the host tells what is wrong */
    return has;
}

static bool get_tensor(core_state *state, PyObject *object, const char *what, int device, core_image *to)
{
    PyObject *tensor = core_dlpack_take(state, object, what, "a 2-D tensor", device);
    const bool got = tensor != NULL && wait_for(1, device) && /* __dlpack__ was told that stream */
                     PyObject_GetBuffer(tensor, &to->view, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
    Py_XDECREF(tensor);
    return got && core_image_check(what, to);
}

/* ---- __cuda_array_interface__ ------------------------------------------------------------------------ */

typedef struct array {
    Py_ssize_t shape[2], strides[2], size;
    unsigned long long at;
    const char *format;
} array;

static bool take_type(PyObject *text, array *a)
{
    static const struct {
        const char *name, *format;
        Py_ssize_t size;
    } known[] = {{"|b1", "?", 1}, {"|u1", "B", 1}, {"<u2", "H", 2}, {"<u4", "I", 4}, {"<f4", "f", 4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (text != NULL && PyUnicode_Check(text) &&
            PyUnicode_CompareWithASCIIString(text, known[i].name) == 0) {
            a->format = known[i].format;
            a->size = known[i].size;
            return true;
        }
    }
    return false;
}

/* False without an error: it is nothing that is taken. */
static bool take_array(PyObject *interface, array *a, long *stream)
{
    PyObject *shape = PyDict_GetItemString(interface, "shape");
    PyObject *data = PyDict_GetItemString(interface, "data");
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    PyObject *mask = PyDict_GetItemString(interface, "mask");
    PyObject *queue = PyDict_GetItemString(interface, "stream");
    int read_only;
    if (!take_type(PyDict_GetItemString(interface, "typestr"), a) || shape == NULL || !PyTuple_Check(shape) ||
        data == NULL || !PyTuple_Check(data) || (mask != NULL && mask != Py_None) ||
        PyArg_ParseTuple(shape, "nn", &a->shape[0], &a->shape[1]) == 0 || a->shape[0] < 0 ||
        a->shape[1] < 0 || PyArg_ParseTuple(data, "Kp", &a->at, &read_only) == 0) {
        return false;
    }
    a->strides[0] = a->shape[1] * a->size;
    a->strides[1] = a->size;
    if (strides != NULL && strides != Py_None &&
        (!PyTuple_Check(strides) || PyArg_ParseTuple(strides, "nn", &a->strides[0], &a->strides[1]) == 0)) {
        return false;
    }
    *stream = queue != NULL && queue != Py_None ? PyLong_AsLong(queue) : 0;
    return PyErr_Occurred() == NULL;
}

static bool get_array(PyObject *object, PyObject *interface, const char *what, int device, core_image *to)
{
    array a;
    long stream = 0;
    if (!PyDict_Check(interface) || !take_array(interface, &a, &stream)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: its __cuda_array_interface__ is %R; it is to be of " CORE_IMAGES,
                     what, interface);
        return false;
    }
    if (stream != 0 && !wait_for(stream, device)) {
        return false;
    }
    void *at;
    const uintptr_t place = (uintptr_t)a.at;
    memcpy(&at, &place, sizeof at);
    to->view = (Py_buffer){.buf = at,
                           .obj = Py_NewRef(object),
                           .itemsize = a.size,
                           .ndim = 2,
                           .format = (char *)(uintptr_t)a.format,
                           .shape = a.shape,
                           .strides = a.strides};
    const bool good = core_image_check(what, to);
    to->view.shape = to->view.strides = NULL; /* they end here */
    return good;
}

/* ---- either -------------------------------------------------------------------------------------- */

bool core_image_get_on(core_state *state, PyObject *object, const char *what, const char *device,
                       core_image *to)
{
    const int wanted = number_of(device);
    long kind = 0, number = 0;
    if (wanted < 0) {
        return core_image_get(state, object, what, to);
    }
    if (device_of(object, &kind, &number)) {
        if (kind != CORE_DL_CUDA) {
            return core_image_get(state, object, what, to);
        }
        if (number != wanted) {
            PyErr_Format(state->usage_error, "%s is in the memory of cuda:%ld, and device is '%s'", what,
                         number, device);
            return false;
        }
        return get_tensor(state, object, what, wanted, to);
    }
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (interface == NULL) {
        PyErr_Clear();
        return core_image_get(state, object, what, to);
    }
    const bool got = get_array(object, interface, what, wanted, to);
    Py_DECREF(interface);
    return got;
}
