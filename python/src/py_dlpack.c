/* SPDX-License-Identifier: Apache-2.0
 * DLPack, the way by which libraries of tensors share memory: arrays that have it and no buffer are taken,
 * and columns have it. The structs and what is to be done with them:
 * https://dmlc.github.io/dlpack/latest/c_api.html. */
#include "py_columns.h"

#include <stdlib.h>
#include <string.h>

enum { IS_INT = 0, IS_UINT = 1, IS_FLOAT = 2, IS_BOOL = 6 }; /* kinds of numbers */
enum { IS_READ_ONLY = 1, IS_COPIED = 2, MAJOR_VERSION = 1, MOST_AXES = 8 };

typedef struct dl_tensor {
    void *data;
    int32_t device_kind, device;
    int32_t n_axes;
    uint8_t kind, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL: C-contiguous */
    uint64_t byte_offset;
} dl_tensor;

/* "dltensor" */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

/* "dltensor_versioned" */
typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* ---- in: a tensor as a buffer ------------------------------------------------------------------ */

typedef struct tensor {
    PyObject_HEAD dl_managed *managed; /* one of these two */
    dl_versioned *versioned;
    const dl_tensor *of; /* within it */
    const char *format;
    Py_ssize_t size, shape[MOST_AXES], strides[MOST_AXES];
} tensor;

static void tensor_free(PyObject *self)
{
    tensor *t = (tensor *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject *kind, *value, *trace; /* of an error that is under way; a deleter may be Python's */
    PyErr_Fetch(&kind, &value, &trace);
    if (t->managed != NULL && t->managed->deleter != NULL) {
        t->managed->deleter(t->managed);
    }
    if (t->versioned != NULL && t->versioned->deleter != NULL) {
        t->versioned->deleter(t->versioned);
    }
    PyErr_Restore(kind, value, trace);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int tensor_buffer(PyObject *self, Py_buffer *view, int flags)
{
    tensor *t = (tensor *)self;
    const dl_tensor *of = t->of;
    if ((flags & PyBUF_WRITABLE) != 0 && t->versioned != NULL && (t->versioned->flags & IS_READ_ONLY) != 0) {
        PyErr_SetString(PyExc_BufferError, "it is read-only");
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "it may have strides");
        return -1;
    }
    Py_ssize_t n = 1;
    for (int i = 0; i < of->n_axes; i++) {
        n *= t->shape[i];
    }
    *view = (Py_buffer){.buf = (char *)of->data + of->byte_offset,
                        .obj = Py_NewRef(self),
                        .len = n * t->size,
                        .itemsize = t->size,
                        .readonly = t->versioned != NULL && (t->versioned->flags & IS_READ_ONLY) != 0,
                        .ndim = of->n_axes,
                        .format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)t->format : NULL,
                        .shape = t->shape,
                        .strides = t->strides};
    return 0;
}

static PyType_Slot tensor_slots[] = {
    {Py_tp_dealloc, CORE_SLOT(tensor_free)}, {Py_bf_getbuffer, CORE_SLOT(tensor_buffer)}, {0, NULL}};
static PyType_Spec tensor_spec = {.name = "sluice._core.Tensor",
                                  .basicsize = sizeof(tensor),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = tensor_slots};

int core_dlpack_add(PyObject *module, core_state *state)
{
    state->tensor_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &tensor_spec, NULL);
    return state->tensor_type != NULL ? 0 : -1;
}

/* PEP 3118's letter; NULL if there is none. */
static const char *format_of(const dl_tensor *of)
{
    static const char *const letters[] = {"b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d"};
    const unsigned int bits = of->bits;
    const int wide = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
    if (of->lanes != 1 || wide < 0) {
        return NULL;
    }
    switch (of->kind) {
    case IS_INT:
        return letters[wide];
    case IS_UINT:
        return letters[4 + wide];
    case IS_FLOAT:
        return wide > 0 ? letters[7 + wide] : NULL;
    case IS_BOOL:
        return wide == 0 ? "?" : NULL;
    default:
        return NULL;
    }
}

/* Shape, strides in bytes and format; false with a TypeError. */
static bool take_layout(tensor *t, const char *what, const char *taken)
{
    const dl_tensor *of = t->of;
    t->format = format_of(of);
    t->size = of->bits / 8;
    if (t->format == NULL || of->n_axes < 0 || of->n_axes > MOST_AXES) {
        PyErr_Format(PyExc_TypeError,
                     "%s is a tensor of %d dimensions with elements of %d bits, kind %d, of DLPack; it is to "
                     "be %s",
                     what, (int)of->n_axes, (int)of->bits, (int)of->kind, taken);
        return false;
    }
    Py_ssize_t stride = t->size;
    for (int i = of->n_axes - 1; i >= 0; i--) {
        t->shape[i] = (Py_ssize_t)of->shape[i];
        t->strides[i] = of->strides != NULL ? (Py_ssize_t)of->strides[i] * t->size : stride;
        stride *= t->shape[i];
    }
    return true;
}

/* The tensor becomes ours: its capsule says so by another name. */
static PyObject *take_capsule(core_state *state, PyObject *capsule, const char *what, const char *taken)
{
    const bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned") != 0;
    void *inside = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    if (inside == NULL) {
        PyErr_Format(PyExc_TypeError, "%s: its __dlpack__() gave %R, which is no tensor", what, capsule);
        return NULL;
    }
    if (versioned && ((dl_versioned *)inside)->major != MAJOR_VERSION) {
        return PyErr_Format(PyExc_TypeError, "%s: its __dlpack__() gave a tensor of version %u of DLPack",
                            what, (unsigned int)((dl_versioned *)inside)->major);
    }
    tensor *t = PyObject_New(tensor, state->tensor_type);
    if (t == NULL) {
        return NULL;
    }
    t->managed = versioned ? NULL : inside;
    t->versioned = versioned ? inside : NULL;
    t->of = versioned ? &((dl_versioned *)inside)->tensor : &((dl_managed *)inside)->tensor;
    if (PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") < 0) {
        t->managed = NULL; /* still the capsule's */
        t->versioned = NULL;
        Py_DECREF(t);
        return NULL;
    }
    if (!take_layout(t, what, taken)) {
        Py_CLEAR(t);
    }
    return (PyObject *)t;
}

/* A pair of numbers; None leaves them as they are. False with a TypeError. */
static bool take_pair(PyObject *pair, const char *what, long *first, long *second)
{
    if (pair == Py_None) {
        return true;
    }
    if (!PyTuple_Check(pair)) {
        PyErr_Format(PyExc_TypeError, "%s is to be a pair of numbers, not %R", what, pair);
        return false;
    }
    return PyArg_ParseTuple(pair, "ll;it is to be a pair of numbers", first, second) != 0;
}

/* Is it the host's memory? False with an error set. */
static bool on_host(core_state *state, PyObject *object, const char *what)
{
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    long kind = 0, number = 0;
    const bool known = pair != NULL && take_pair(pair, "what __dlpack_device__() gives", &kind, &number);
    Py_XDECREF(pair);
    if (!known) {
        return false;
    }
    if (kind == CORE_DL_CPU || kind == CORE_DL_PINNED) {
        return true;
    }
    PyErr_Format(state->unsupported_error,
                 kind == CORE_DL_CUDA
                     ? "%s is in the memory of a GPU (cuda:%ld): device='cuda:N' labels an image there, else "
                       "copy it to the host, by cupy.asnumpy(x) or x.cpu()"
                     : "%s is in the memory of a device (number %ld) of a kind that is not taken: copy it to "
                       "the host",
                 what, number);
    return false;
}

PyObject *core_dlpack_take(core_state *state, PyObject *object, const char *what, const char *taken,
                           int device)
{
    if (device < 0 && !on_host(state, object, what)) {
        return NULL;
    }
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *none = PyTuple_New(0), *named = PyDict_New(),
             *version = Py_BuildValue("(ii)", MAJOR_VERSION, 0);
    PyObject *stream = PyLong_FromLong(1); /* the default one */
    PyObject *capsule = NULL;
    if (method != NULL && none != NULL && named != NULL && version != NULL && stream != NULL &&
        (device < 0 || PyDict_SetItemString(named, "stream", stream) == 0) &&
        PyDict_SetItemString(named, "max_version", version) == 0) {
        capsule = PyObject_Call(method, none, named);
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* from before there were versions */
            (void)PyDict_DelItemString(named, "max_version");
            capsule = PyObject_Call(method, none, named);
        }
    }
    Py_XDECREF(stream);
    Py_XDECREF(version);
    Py_XDECREF(named);
    Py_XDECREF(none);
    Py_XDECREF(method);
    PyObject *made = capsule != NULL ? take_capsule(state, capsule, what, taken) : NULL;
    Py_XDECREF(capsule);
    return made;
}

/* ---- out: a column ----------------------------------------------------------------------------- */

/* What a consumer holds; the tensor is in it, once for either version. */
typedef struct handed {
    dl_versioned versioned;
    dl_managed managed;
    PyObject *column;
    void *copy;
    int64_t shape, stride;
} handed;

/* With the interpreter's lock. */
static void drop_locked(handed *h)
{
    Py_XDECREF(h->column);
    free(h->copy);
    free(h);
}

/* In any thread. After the interpreter's end its memory is left as it is. */
static void drop_handed(handed *h)
{
    if (Py_IsInitialized() != 0) {
        const PyGILState_STATE lock = PyGILState_Ensure();
        drop_locked(h);
        PyGILState_Release(lock);
    }
}

static void drop_managed(dl_managed *self)
{
    drop_handed(self->context);
}

static void drop_versioned(dl_versioned *self)
{
    drop_handed(self->context);
}

static void free_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor") != 0) { /* nobody took it */
        drop_locked(((dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))->context);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
        drop_locked(((dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned"))->context);
    }
}

static handed *hand(PyObject *self, bool copied)
{
    const column *c = (const column *)self;
    static const struct {
        uint8_t kind, bits;
    } numbers[CORE_TYPES] = {
        [SLC_TYPE_U8] = {IS_UINT, 8},   [SLC_TYPE_I8] = {IS_INT, 8},    [SLC_TYPE_U16] = {IS_UINT, 16},
        [SLC_TYPE_I16] = {IS_INT, 16},  [SLC_TYPE_U32] = {IS_UINT, 32}, [SLC_TYPE_I32] = {IS_INT, 32},
        [SLC_TYPE_U64] = {IS_UINT, 64}, [SLC_TYPE_I64] = {IS_INT, 64},  [SLC_TYPE_F32] = {IS_FLOAT, 32},
        [SLC_TYPE_F64] = {IS_FLOAT, 64}};
    const size_t size = (size_t)(c->rows * core_types[c->type].size);
    handed *h = calloc(1, sizeof *h);
    void *copy = copied ? malloc(size > 0 ? size : 1) : NULL;
    if (h == NULL || (copied && copy == NULL)) {
        free(h);
        free(copy);
        return NULL;
    }
    if (copy != NULL && size > 0) {
        memcpy(copy, c->data, size);
    }
    h->copy = copy;
    h->column = copied ? NULL : Py_NewRef(self);
    h->shape = c->rows;
    h->stride = 1;
    const dl_tensor of = {.data = copied ? copy : (void *)(uintptr_t)c->data,
                          .device_kind = CORE_DL_CPU,
                          .n_axes = 1,
                          .kind = numbers[c->type].kind,
                          .bits = numbers[c->type].bits,
                          .lanes = 1,
                          .shape = &h->shape,
                          .strides = &h->stride};
    h->managed = (dl_managed){.tensor = of, .context = h, .deleter = drop_managed};
    h->versioned = (dl_versioned){.major = MAJOR_VERSION,
                                  .context = h,
                                  .deleter = drop_versioned,
                                  .flags = copied ? IS_COPIED : IS_READ_ONLY,
                                  .tensor = of};
    return h;
}

PyObject *core_column_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("(ii)", CORE_DL_CPU, 0);
}

PyObject *core_column_dlpack(PyObject *self, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    core_state *state = core_state_of_type(Py_TYPE(self));
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    long major = 0, minor = 0, kind = CORE_DL_CPU, number = 0;
    if (PyArg_ParseTupleAndKeywords(arguments, named, "|$OOOO:__dlpack__", names, &stream, &version, &device,
                                    &copy) == 0 ||
        !take_pair(version, "max_version", &major, &minor) ||
        !take_pair(device, "dl_device", &kind, &number)) {
        return NULL;
    }
    if (stream != Py_None || kind != CORE_DL_CPU) {
        PyErr_SetString(state->unsupported_error, "columns are in the host's memory, which has no streams");
        return NULL;
    }
    const bool versioned = major >= MAJOR_VERSION;
    if (!versioned && copy != Py_True) {
        PyErr_SetString(
            PyExc_BufferError,
            "columns are read-only, which DLPack before version 1 cannot say: copy=True, or a copy "
            "of the array");
        return NULL;
    }
    handed *h = hand(self, copy == Py_True);
    if (h == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *capsule = versioned ? PyCapsule_New(&h->versioned, "dltensor_versioned", free_capsule)
                                  : PyCapsule_New(&h->managed, "dltensor", free_capsule);
    if (capsule == NULL) {
        drop_locked(h);
    }
    return capsule;
}
