/* SPDX-License-Identifier: Apache-2.0
 * Files of raw frames, one after the other, and of singles. */
#include "py_pet.h"

#include <sluice/report_pet.h>
#include <stdlib.h>
#include <string.h>

static const char inputs_kind[] = "sluice.pet.inputs", singles_kind[] = "sluice.pet.singles",
                  writer_kind[] = "sluice.pet.writer";

#define U64(value) ((unsigned long long)(value))

/* ---- formats of frames ------------------------------------------------------------------------- */

bool pet_take_format(core_state *state, PyObject *path, slc_io_pet_format **format)
{
    slc_error error = {SLC_OK, ""};
    *format = NULL;
    if (path == Py_None) {
        return true;
    }
    char *name = pet_take_path(path);
    if (name == NULL) {
        return false;
    }
    const slc_status status = slc_io_pet_format_open(name, format, &error);
    PyMem_Free(name);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

PyObject *pet_give_format(const slc_io_pet_format *format)
{
    slc_io_pet_format_about a;
    if (format == NULL) {
        return Py_NewRef(Py_None);
    }
    slc_io_pet_format_about_of(format, &a);
    return Py_BuildValue("{s:s,s:I,s:(II),s:I}", "name", a.name, "record_bytes", a.record_bytes, "ticks",
                         a.tick_numerator, a.tick_denominator, "tick_bits", a.tick_bits);
}

PyObject *pet_give_records(const slc_io_pet_format_counts *c)
{
    static const char *const fields[SLC_IO_PET_FORMAT_FIELDS] = {"module", "unit",   "x",           "y",
                                                                 "time",   "energy", "temperature", "value"};
    PyObject *refused = PyDict_New();
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS && refused != NULL; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(c->refused[i]);
        if (n == NULL || PyDict_SetItemString(refused, fields[i], n) < 0) {
            Py_CLEAR(refused);
        }
        Py_XDECREF(n);
    }
    return refused != NULL ? Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:N}", "records", U64(c->records), "singles",
                                           U64(c->singles), "marks", U64(c->marks), "skipped",
                                           U64(c->skipped), "unknown", U64(c->unknown), "refused", refused)
                           : NULL;
}

/* pet_format_about(path): what a file of a format of frames tells. */
static PyObject *format_about(PyObject *module, PyObject *path)
{
    slc_io_pet_format *format = NULL;
    if (path == Py_None || !pet_take_format(core_state_of(module), path, &format)) {
        return path == Py_None ? Py_NewRef(Py_None) : NULL;
    }
    PyObject *made = pet_give_format(format);
    slc_io_pet_format_close(format);
    return made;
}

/* ---- raw frames -------------------------------------------------------------------------------- */

typedef struct inputs {
    pet_handle head;
    slc_io_pet_inputs in;
    char **path;
    uint32_t n;
    slc_io_pet_format *format; /* NULL: what the files tell */
} inputs;

void pet_paths_free(char **paths, uint32_t n)
{
    for (uint32_t i = 0; i < n && paths != NULL; i++) {
        PyMem_Free(paths[i]);
    }
    PyMem_Free(paths);
}

char **pet_take_paths(PyObject *list, uint32_t *n)
{
    const Py_ssize_t size = PyList_Size(list);
    char **paths = size >= 0 ? PyMem_Calloc((size_t)size + 1, sizeof *paths) : NULL;
    *n = 0;
    while (paths != NULL && *n < size && (paths[*n] = pet_take_path(PyList_GetItem(list, *n))) != NULL) {
        (*n)++;
    }
    if (paths != NULL && *n == size) {
        return paths;
    }
    pet_paths_free(paths, *n);
    if (PyErr_Occurred() == NULL) {
        (void)PyErr_NoMemory();
    }
    return NULL;
}

static void inputs_drop(void *memory)
{
    inputs *i = memory;
    slc_io_pet_inputs_close(&i->in);
    slc_io_pet_format_close(i->format);
    pet_paths_free(i->path, i->n);
}

/* pet_inputs_open(list of paths, format or None) */
static PyObject *inputs_open(PyObject *module, PyObject *arguments)
{
    slc_error error = {SLC_OK, ""};
    inputs *i = NULL;
    PyObject *list, *format;
    PyObject *capsule = PyArg_ParseTuple(arguments, "OO", &list, &format) != 0
                            ? pet_new(inputs_kind, sizeof *i, inputs_drop, (void *)&i)
                            : NULL;
    if (capsule == NULL || !pet_take_format(core_state_of(module), format, &i->format) ||
        (i->path = pet_take_paths(list, &i->n)) == NULL) {
        Py_XDECREF(capsule);
        return NULL;
    }
    const slc_status status = slc_io_pet_inputs_open((const char *const *)i->path, i->n, &i->in, &error);
    i->in.format = i->format;
    i->in.own_formats = true;
    if (status != SLC_OK) {
        (void)core_raise(core_state_of(module), status, &error);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* pet_inputs_read(inputs, frames, received_ns or None): fills what it is given; how many came, 0 at the end.
 */
static PyObject *inputs_read(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *times;
    Py_buffer frames, received;
    size_t n = 0;
    if (PyArg_ParseTuple(arguments, "Ow*O", &capsule, &frames, &times) == 0) {
        return NULL;
    }
    inputs *i = pet_enter(capsule, inputs_kind);
    const bool timed = i != NULL && times != Py_None;
    const size_t most = (size_t)frames.len / SLC_PET_FRAME_BYTES;
    bool good = i != NULL && (!timed || PyObject_GetBuffer(times, &received, PyBUF_WRITABLE) == 0);
    if (good && timed && (size_t)received.len / sizeof(uint64_t) < most) {
        PyErr_SetString(core_state_of(module)->usage_error, "received_ns has less room than frames");
        PyBuffer_Release(&received);
        good = false;
    }
    if (good) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_io_pet_inputs_read(&i->in, frames.buf, timed ? received.buf : NULL, most, &n);
        PyEval_RestoreThread(thread);
        n = status == SLC_OK ? n : 0;
        if (timed) {
            PyBuffer_Release(&received);
        }
    }
    if (i != NULL) {
        pet_leave(i);
    }
    PyBuffer_Release(&frames);
    return good ? PyLong_FromSize_t(n) : NULL;
}

static PyObject *text_or_none(const char *text)
{
    return text[0] != '\0' ? PyUnicode_DecodeLocale(text, "surrogateescape") : Py_NewRef(Py_None);
}

static PyObject *give_input(const slc_io_pet_input *in)
{
    char first[400];
    pet_first_fault(&in->faults, first, sizeof first);
    PyObject *faults = pet_give_faults(&in->faults);
    PyObject *path = PyUnicode_DecodeFSDefault(in->path), *error = text_or_none(in->error.text);
    if (faults == NULL || path == NULL || error == NULL) {
        Py_XDECREF(faults);
        Py_XDECREF(path);
        Py_XDECREF(error);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:K,s:N,s:s,s:N,s:i,s:K,s:I,s:n,s:n,s:K,s:K}", "path", path, "frames",
                         U64(in->frames), "faults", faults, "first_fault", first, "error", error, "status",
                         (int)in->error.status, "series", U64(in->series), "file", (unsigned int)in->file,
                         "other", (Py_ssize_t)in->other, "before", (Py_ssize_t)in->before, "missing",
                         U64(in->missing), "datagrams",
                         U64(in->datagrams >= in->first ? in->datagrams - in->first : 0));
}

static bool append(PyObject *list, PyObject *value)
{
    const bool good = value != NULL && PyList_Append(list, value) == 0;
    Py_XDECREF(value);
    return good;
}

/* What is told in doubt of the scanner, if one is given; else an empty list. */
static PyObject *give_doubts(const slc_io_pet_seen *seen, PyObject *geometry, unsigned int side)
{
    slc_pet_geometry of;
    char text[SLC_REPORT_PET_DOUBT];
    PyObject *list = PyList_New(0);
    if (list != NULL && geometry != Py_None && !pet_take_geometry(geometry, &of)) {
        Py_CLEAR(list);
    }
    for (size_t i = 0;
         list != NULL && geometry != Py_None && slc_report_pet_scanner_doubt(seen, &of, side, i, text); i++) {
        if (!append(list, PyUnicode_FromString(text))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *pet_give_about(const slc_io_pet_inputs *in, PyObject *geometry, unsigned int side)
{
    const slc_io_pet_losses *l = &in->losses;
    PyObject *list = PyList_New(0), *made = NULL;
    for (size_t k = 0; k < in->n && list != NULL; k++) {
        if (!append(list, give_input(&in->input[k]))) {
            Py_CLEAR(list);
        }
    }
    PyObject *doubts = give_doubts(&in->seen, geometry, side), *faults = pet_give_faults(&in->faults);
    if (list != NULL && doubts != NULL && faults != NULL) {
        made = Py_BuildValue("{s:O,s:O,s:O,s:K,s:K,s:O,s:K,s:K,s:K,s:d,s:d,s:N}", "inputs", list, "doubts",
                             doubts, "faults", faults, "frames", U64(in->frames), "missing_datagrams",
                             U64(in->missing), "losses_known", l->known ? Py_True : Py_False, "lost",
                             U64(l->lost), "repeated", U64(l->repeated), "foreign", U64(l->foreign),
                             "lost_frames", l->lost_frames, "foreign_frames", l->foreign_frames, "records",
                             pet_give_records(&in->records));
    }
    Py_XDECREF(list);
    Py_XDECREF(doubts);
    Py_XDECREF(faults);
    return made;
}

/* pet_inputs_about(inputs, geometry or None, position_side): what has been read. */
static PyObject *inputs_about(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *geometry;
    unsigned int side = 0;
    (void)module;
    if (PyArg_ParseTuple(arguments, "OOI", &capsule, &geometry, &side) == 0) {
        return NULL;
    }
    inputs *i = pet_enter(capsule, inputs_kind);
    if (i == NULL) {
        return NULL;
    }
    PyObject *made = pet_give_about(&i->in, geometry, side);
    pet_leave(i);
    return made;
}

/* pet_raw_info(path): what the head of a raw file says. */
static PyObject *raw_info(PyObject *module, PyObject *path)
{
    slc_error error = {SLC_OK, ""};
    slc_io_pet_raw *raw = NULL;
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    const slc_status status = slc_io_pet_raw_open(name, &raw, &error);
    PyMem_Free(name);
    if (status != SLC_OK) {
        return core_raise(core_state_of(module), status, &error);
    }
    slc_io_pet_raw_info i;
    slc_io_pet_raw_info_of(raw, &i);
    PyObject *format = pet_give_format(slc_io_pet_raw_format(raw));
    slc_io_pet_raw_close(raw);
    return Py_BuildValue("{s:N,s:O,s:I,s:I,s:I,s:O,s:O,s:K,s:I,s:K}", "frame_format", format, "bare",
                         i.bare ? Py_True : Py_False, "header_bytes", i.payload.header_bytes, "sequence_at",
                         i.payload.sequence_at, "sequence_bytes", i.payload.sequence_bytes,
                         "sequence_big_endian", i.payload.sequence_big_endian ? Py_True : Py_False, "stamped",
                         i.payload.stamped ? Py_True : Py_False, "series", U64(i.series), "file",
                         (unsigned int)i.file, "started_ns", U64(i.started_ns));
}

/* pet_raw_following(path): the files that follow it in its acquisition. */
static PyObject *raw_following(PyObject *module, PyObject *path)
{
    slc_error error = {SLC_OK, ""};
    slc_io_pet_raw_names names = {.n = 0};
    char *name = pet_take_path(path);
    if (name == NULL) {
        return NULL;
    }
    const slc_status status = slc_io_pet_raw_following(name, &names, &error);
    PyMem_Free(name);
    if (status != SLC_OK) {
        return core_raise(core_state_of(module), status, &error);
    }
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < names.n && list != NULL; i++) {
        if (!append(list, PyUnicode_DecodeFSDefault(names.path[i]))) {
            Py_CLEAR(list);
        }
    }
    free(names.path);
    return list;
}

/* ---- singles ----------------------------------------------------------------------------------- */

typedef struct reader {
    pet_handle head;
    slc_io_pet_singles *input;
    bool is_f64;
} reader;

static void reader_drop(void *memory)
{
    slc_io_pet_singles_close(((reader *)memory)->input);
}

/* pet_singles_open(path, is_f64) */
static PyObject *singles_open(PyObject *module, PyObject *arguments)
{
    PyObject *path;
    slc_error error = {SLC_OK, ""};
    int is_f64 = 0;
    reader *r = NULL;
    if (PyArg_ParseTuple(arguments, "Op", &path, &is_f64) == 0) {
        return NULL;
    }
    char *name = pet_take_path(path);
    PyObject *capsule = name != NULL ? pet_new(singles_kind, sizeof *r, reader_drop, (void *)&r) : NULL;
    if (capsule != NULL) {
        r->is_f64 = is_f64 != 0;
        const slc_status status = slc_io_pet_singles_open(
            name, is_f64 ? SLC_IO_PET_SINGLES_F64 : SLC_IO_PET_SINGLES, &r->input, &error);
        if (status != SLC_OK) {
            (void)core_raise(core_state_of(module), status, &error);
            Py_CLEAR(capsule);
        }
    }
    PyMem_Free(name);
    return capsule;
}

/* pet_singles_note(reader): what is to be told of it at its end, in words */
static PyObject *singles_note(PyObject *module, PyObject *capsule)
{
    (void)module;
    reader *r = pet_enter(capsule, singles_kind);
    if (r == NULL) {
        return NULL;
    }
    PyObject *made = PyUnicode_FromString(slc_io_pet_singles_note(r->input));
    pet_leave(r);
    return made;
}

/* pet_singles_read(reader, most): Columns, None at the end */
static PyObject *singles_read(PyObject *module, PyObject *arguments)
{
    PyObject *capsule, *made = NULL;
    slc_error error = {SLC_OK, ""};
    Py_ssize_t most = 0;
    if (PyArg_ParseTuple(arguments, "On", &capsule, &most) == 0) {
        return NULL;
    }
    reader *r = pet_enter(capsule, singles_kind);
    if (r == NULL) {
        return NULL;
    }
    pet_rows *rows = pet_rows_new(r->is_f64 ? &slc_pet_singles_f64_schema : &slc_pet_singles_schema);
    if (rows != NULL) {
        slc_status status;
        PyThreadState *const thread = PyEval_SaveThread();
        status = r->is_f64
                     ? slc_io_pet_singles_read_f64(r->input, (size_t)most, &rows->of.singles_f64, &error)
                     : slc_io_pet_singles_read(r->input, (size_t)most, &rows->of.singles, &error);
        PyEval_RestoreThread(thread);
        if (status == SLC_OK) {
            made = pet_rows_give(core_state_of(module), rows);
        } else {
            pet_rows_free(rows);
            made = status == SLC_END ? Py_NewRef(Py_None) : core_raise(core_state_of(module), status, &error);
        }
    }
    pet_leave(r);
    return made;
}

typedef struct writer {
    pet_handle head;
    slc_io_writer *writer; /* NULL: finished, or given up */
    slc_pet_singles rows;
} writer;

static void writer_drop(void *memory)
{
    writer *w = memory;
    slc_io_abandon(w->writer);
    slc_columns_clear(&slc_pet_singles_schema, &w->rows);
}

static PyObject *singles_create(PyObject *module, PyObject *path)
{
    slc_error error = {SLC_OK, ""};
    writer *w = NULL;
    char *name = pet_take_path(path);
    PyObject *capsule = name != NULL ? pet_new(writer_kind, sizeof *w, writer_drop, (void *)&w) : NULL;
    if (capsule != NULL) {
        const slc_status status = slc_io_pet_singles_create(name, &w->writer, &error);
        if (status != SLC_OK) {
            (void)core_raise(core_state_of(module), status, &error);
            Py_CLEAR(capsule);
        }
    }
    PyMem_Free(name);
    return capsule;
}

/* pet_singles_write(writer, singles or None): None completes the file. */
static PyObject *singles_write(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *capsule, *buffers;
    slc_error error = {SLC_OK, ""};
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &buffers) == 0) {
        return NULL;
    }
    writer *w = pet_enter(capsule, writer_kind);
    if (w == NULL) {
        return NULL;
    }
    slc_status status = SLC_END;
    if (w->writer == NULL) {
        PyErr_SetString(state->usage_error, "the file was completed");
    } else if (buffers == Py_None || pet_rows_take(state, buffers, &slc_pet_singles_schema, &w->rows)) {
        slc_io_writer *to = w->writer;
        w->writer = buffers == Py_None ? NULL : to;
        PyThreadState *const thread = PyEval_SaveThread();
        status = buffers == Py_None ? slc_io_finish(to, &error)
                                    : slc_io_pet_singles_write(to, &w->rows, &error);
        PyEval_RestoreThread(thread);
    }
    pet_leave(w);
    return status == SLC_OK    ? Py_NewRef(Py_None)
           : status == SLC_END ? NULL
                               : core_raise(state, status, &error);
}

PyMethodDef pet_file_functions[] = {
    {"pet_inputs_open", inputs_open, METH_VARARGS, "raw files"},
    {"pet_format_about", format_about, METH_O, "a format of frames"},
    {"pet_inputs_read", inputs_read, METH_VARARGS, "frames of them"},
    {"pet_inputs_about", inputs_about, METH_VARARGS, "what became of them"},
    {"pet_raw_info", raw_info, METH_O, "the head of a raw file"},
    {"pet_raw_following", raw_following, METH_O, "files that follow one in its acquisition"},
    {"pet_singles_open", singles_open, METH_VARARGS, "a file of singles"},
    {"pet_singles_read", singles_read, METH_VARARGS, "singles of it"},
    {"pet_singles_note", singles_note, METH_O, "what is to be told of it at its end"},
    {"pet_singles_create", singles_create, METH_O, "a new file of singles"},
    {"pet_singles_write", singles_write, METH_VARARGS, "singles to it"},
    {NULL, NULL, 0, NULL}};
