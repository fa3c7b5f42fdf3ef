/* SPDX-License-Identifier: Apache-2.0
 *
 * The extension sluice._core: what its files share. The limited API of Python 3.11, public headers of
 * libsluice alone, no globals: all that lasts is the module's state, so that each interpreter has its own.
 *
 * Who owns what. An Owner holds memory that libsluice filled and gives it back when the last reference goes:
 * Columns, their columns and NumPy's views of these all hold it, so that nothing that a user holds is
 * changed or freed by what comes later.
 */
#ifndef SLUICE_PYTHON_CORE_H
#define SLUICE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include <sluice/sluice.h>

enum { CORE_LABELLERS = 8, CORE_DEVICE = 64, CORE_TYPES = SLC_TYPE_F64 + 1 };

/* A labeller that is kept for the next call with the same configuration. */
typedef struct core_labeller {
    slc_image_labeller *labeller;
    slc_image_label_config config; /* its names are constants of the library, but for the device's */
    char device[CORE_DEVICE];      /* "": the processor */
    size_t width, height;          /* reserved */
    bool busy;                     /* a thread is in a call of it, without the lock of the interpreter */
    bool passing;                  /* closed after the call: more threads label than labellers are kept */
    uint64_t used;                 /* when: the one that was not used for longest makes room */
} core_labeller;

typedef struct core_state {
    PyObject *error, *usage_error, *format_error, *unsupported_error, *capacity_error, *strict_error,
        *file_error, *damage_warning;
    PyTypeObject *owner_type, *column_type, *columns_type, *tensor_type, *reader_type, *batch_type;
    PyTypeObject *components_type, *labeller_type, *pages_type, *rows_type, *slices_type; /* of images */
    /* Of NumPy, from the first time that an array is wanted; NULL before. */
    PyObject *empty, *frombuffer, *dtype[CORE_TYPES], *label_dtype;
    PyObject *plain_type;   /* of the last array that came in and has no mask */
    PyObject *columns_of;   /* what makes columns of what pickle has of them */
    slc_simd_target target; /* of SLUICE_SIMD */
    core_labeller labellers[CORE_LABELLERS];
    uint64_t clock;
} core_state;

core_state *core_state_of(PyObject *module);
/* The state of a type that was made for the module. */
core_state *core_state_of_type(PyTypeObject *type);

/* A function as the value of a slot, which ISO C has no conversion for. */
#define CORE_SLOT(function) ((void *)(uintptr_t)(function))

/* ---- errors ------------------------------------------------------------------------------------ */

int core_errors_add(PyObject *module, core_state *state);
/* Raises what a status of the library is here; NULL. `error` may hold no text. */
PyObject *core_raise(core_state *state, slc_status status, const slc_error *error);

/* ---- columns ----------------------------------------------------------------------------------- */

/* `drop` gets `memory` when the last reference goes; on failure at once. */
PyObject *core_owner_new(core_state *state, void *memory, void (*drop)(void *memory));
void *core_owner_memory(PyObject *owner);

/* Views of a collection whose memory the owner holds; so it does `schema`, if that is not a constant. */
PyObject *core_columns_new(core_state *state, PyObject *owner, const slc_schema *schema,
                           const void *collection);
int core_columns_add(PyObject *module, core_state *state);

/* NumPy is imported when the first array is wanted. False with an error set if there is none. */
bool core_numpy(core_state *state);

/* ---- inputs ------------------------------------------------------------------------------------ */

/* A buffer of the object, or of the tensor that its __dlpack__ gives. False with a TypeError that says what
 * is taken, or an UnsupportedError if the memory is a device's. */
bool core_buffer_get(core_state *state, PyObject *object, const char *what, int flags, const char *taken,
                     Py_buffer *view);
int core_dlpack_add(PyObject *module, core_state *state);
enum { CORE_DL_CPU = 1, CORE_DL_CUDA = 2, CORE_DL_PINNED = 3 }; /* kinds of devices of DLPack */
/* With a device's number the tensor is in that GPU's memory, and its maker has put a wait into the default
 * stream. */
PyObject *core_dlpack_take(core_state *state, PyObject *object, const char *what, const char *taken,
                           int device);

#define CORE_IMAGES "a 2-D array of bool, uint8, uint16, uint32 or float32, C-contiguous along its rows"
/* An image in anybody's memory. `view` is to be released when it is no longer read. */
typedef struct core_image {
    Py_buffer view;
    slc_image image;
} core_image;
/* 2-D, of bool, uint8, uint16, uint32 or float32, whose pixels lie one after the other in each row; rows may
 * be any distance apart. False with a TypeError that says what is taken. */
bool core_image_get(core_state *state, PyObject *object, const char *what, core_image *to);
/* The same, or an image in the memory of the one GPU that `device` names. */
bool core_image_get_on(core_state *state, PyObject *object, const char *what, const char *device,
                       core_image *to);
/* Of a view: sets `image`, or releases the view. */
bool core_image_check(const char *what, core_image *to);
/* The type of pixels that a buffer has; false if it is none. Is it of int32 or uint32? */
bool core_pixel_type(const Py_buffer *view, slc_image_type *type);
bool core_signed_or_not(const Py_buffer *view);
/* The same of labels, of which the bits alone count: of bool and any integers. */
bool core_value_type(const Py_buffer *view, slc_image_type *type);
/* A label image to write: int32, uint32 or uint16 of this shape. */
bool core_labels_get(core_state *state, PyObject *object, size_t height, size_t width, Py_buffer *view,
                     slc_image_labels *to);

/* ---- functions --------------------------------------------------------------------------------- */

/* Of each file. */
extern PyMethodDef core_cms_functions[];
extern PyMethodDef core_hlt1_functions[];
extern PyMethodDef core_image_functions[];
int core_image_add(PyObject *module, core_state *state);
extern PyMethodDef core_io_functions[];
extern PyMethodDef core_live_functions[];
extern PyMethodDef core_pixel_functions[];
extern PyMethodDef core_sim_functions[];
extern PyMethodDef core_velo_functions[];

void core_labellers_clear(core_state *state);

int core_flow_add(PyObject *module, core_state *state);

/* Arguments by name, of functions that are called with METH_FASTCALL | METH_KEYWORDS: values[i] is that of
 * names[i], or NULL. The first `positional` may come without a name. False with a TypeError. */
bool core_arguments(const char *function, PyObject *const *arguments, Py_ssize_t n, PyObject *names_given,
                    const char *const *names, size_t n_names, size_t positional, PyObject **values);
/* Numbers and truths of arguments; NULL leaves `to` as it is. False with a TypeError or UsageError that names
 * the argument. */
bool core_take_u64(core_state *state, PyObject *value, const char *name, uint64_t most, uint64_t *to);
bool core_take_double(PyObject *value, const char *name, double *to);
bool core_take_bool(PyObject *value, const char *name, bool *to);
/* A text among `names`, up to a NULL: its place. */
bool core_take_word(core_state *state, PyObject *value, const char *name, const char *const *words, int *to);

#endif
