/* SPDX-License-Identifier: Apache-2.0
 * Frames from the network and to it. An acquisition runs in a thread of Python's that has given the
 * interpreter's lock away; others look at it, take what its chain has found, and end it. */
#include "py_pet.h"

#include <sluice/daq_pet.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "sluice.pet.acquire";

enum { ADDRESS = 96, QUEUE = 64 };

/* What the chain has found and nobody has taken yet. */
typedef struct found {
    struct found *next;
    pet_rows *singles, *pairs;
} found;

typedef struct acquisition {
    pet_handle head;
    slc_daq_pet_config config;
    pet_tables tables;
    slc_pet_config chain;
    slc_io_pet_format *format; /* of the frames; NULL: they have 16 bytes, */
    slc_io_pet_raw *resumed;   /* or that of this file, which is gone on with */
    slc_pet_pairs *order;      /* of the chain's thread */
    char word[SLC_DAQ_PET_SOCKETS][ADDRESS];
    char *output;
    slc_error error, live_error;
    atomic_bool stop, running;
    /* All below under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t taken;
    char address[SLC_DAQ_PET_SOCKETS][ADDRESS];
    uint32_t n_addresses;
    size_t socket_bytes;
    slc_daq_pet_counts counts;
    found *first, *last;
    uint32_t n_found;
    bool held; /* the queue was full: the chain waited */
} acquisition;

static void found_free(found *f)
{
    pet_rows_free(f->singles);
    pet_rows_free(f->pairs);
    free(f);
}

static void acquisition_drop(void *memory)
{
    acquisition *a = memory;
    while (a->first != NULL) {
        found *next = a->first->next;
        found_free(a->first);
        a->first = next;
    }
    slc_pet_pairs_close(a->order);
    pet_tables_clear(&a->tables);
    PyMem_Free(a->output);
    slc_io_pet_format_close(a->format);
    slc_io_pet_raw_close(a->resumed);
    (void)pthread_mutex_destroy(&a->lock);
    (void)pthread_cond_destroy(&a->taken);
}

/* ---- callbacks, in threads without the interpreter's lock ---------------------------------------- */

static void on_listening(void *context, uint32_t socket, const char *address, size_t room)
{
    acquisition *a = context;
    (void)pthread_mutex_lock(&a->lock);
    (void)strncpy(a->address[socket], address, ADDRESS - 1);
    a->n_addresses = socket + 1 > a->n_addresses ? socket + 1 : a->n_addresses;
    a->socket_bytes = room;
    (void)pthread_mutex_unlock(&a->lock);
}

static bool on_tell(void *context, const slc_daq_pet_counts *counts)
{
    acquisition *a = context;
    (void)pthread_mutex_lock(&a->lock);
    a->counts = *counts;
    (void)pthread_mutex_unlock(&a->lock);
    return true;
}

static bool on_stop(void *context)
{
    return atomic_load(&((acquisition *)context)->stop);
}

static pet_rows *rows_of(const slc_schema *schema)
{
    pet_rows *rows = calloc(1, sizeof *rows);
    if (rows != NULL) {
        rows->schema = schema;
    }
    return rows;
}

/* Waits while the queue is full and the acquisition goes on: the chain is then too slow, and goes without
 * some frames, which is counted. */
static void put(acquisition *a, found *f)
{
    (void)pthread_mutex_lock(&a->lock);
    while (a->n_found >= QUEUE && !atomic_load(&a->stop)) {
        a->held = true;
        (void)pthread_cond_wait(&a->taken, &a->lock);
    }
    *(a->last != NULL ? &a->last->next : &a->first) = f;
    a->last = f;
    a->n_found++;
    (void)pthread_mutex_unlock(&a->lock);
}

static bool on_live(void *context, const slc_pet_batch *batch)
{
    acquisition *a = context;
    const slc_pet_singles *from = &batch->result->singles;
    found *f = calloc(1, sizeof *f);
    slc_status status = f != NULL ? SLC_OK : SLC_ERR_MEMORY;
    if (f != NULL) {
        f->singles = rows_of(&slc_pet_singles_schema);
        f->pairs = rows_of(&slc_pet_coincidences_schema);
        status = f->singles != NULL && f->pairs != NULL ? SLC_OK : SLC_ERR_MEMORY;
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(f->singles->schema, &f->singles->of, from->head.size, 1);
    }
    if (status == SLC_OK) {
        status = slc_columns_append(f->singles->schema, from, 0, from->head.size, &f->singles->of);
    }
    if (status == SLC_OK) {
        status = slc_pet_pairs_add(a->order, batch->result, batch->last, &f->pairs->of.pairs, &a->live_error);
    }
    if (status == SLC_OK) {
        put(a, f);
        return true;
    }
    if (f != NULL) {
        if (f->singles != NULL) {
            pet_rows_free(f->singles);
        }
        if (f->pairs != NULL) {
            pet_rows_free(f->pairs);
        }
        free(f);
    }
    (void)slc_fail(&a->live_error, status, "no memory for what the live chain has found");
    return false;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static bool take_addresses(PyObject *list, const char **to, char word[][ADDRESS], uint32_t *n,
                           core_state *state)
{
    const Py_ssize_t size = PyList_Size(list);
    if (size < 1 || size > SLC_DAQ_PET_SOCKETS) {
        PyErr_Format(state->usage_error, "1 to %d addresses are taken, not %zd", (int)SLC_DAQ_PET_SOCKETS,
                     size);
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *bytes = PyUnicode_AsUTF8String(PyList_GetItem(list, i));
        const bool fits = bytes != NULL && PyBytes_Size(bytes) < ADDRESS;
        if (fits) {
            memcpy(word[i], PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes) + 1);
            to[i] = word[i];
        } else if (bytes != NULL) {
            PyErr_SetString(state->usage_error, "an address is too long");
        }
        Py_XDECREF(bytes);
        if (!fits) {
            return false;
        }
    }
    *n = (uint32_t)size;
    return true;
}

/* (tables, (ticks, denominator, bits, low_kev, high_kev), horizon_ps, coincidence, delay_ns, threads) */
static bool take_chain(core_state *state, PyObject *tuple, acquisition *a)
{
    PyObject *tables, *convert, *coincidence;
    long long horizon_ps = 0;
    double delay_ns = 0;
    unsigned int threads = 1;
    slc_pet_config *c = &a->chain;
    slc_pet_config_default(c);
    if (PyArg_ParseTuple(tuple, "OOLOdI", &tables, &convert, &horizon_ps, &coincidence, &delay_ns,
                         &threads) == 0 ||
        !pet_take_tables(state, tables, &a->tables) || !pet_take_coincidence(coincidence, &c->prompt) ||
        PyArg_ParseTuple(convert, "IIIdd", &c->convert.tick_numerator, &c->convert.tick_denominator,
                         &c->convert.tick_bits, &c->convert.low_kev, &c->convert.high_kev) == 0) {
        return false;
    }
    c->sort.horizon_ps = horizon_ps;
    c->delayed = delay_ns > 0;
    c->delay_ns = delay_ns > 0 ? delay_ns : c->delay_ns;
    c->exec.threads = threads;
    c->keep_singles = true;
    a->config.chain = c;
    a->config.tables = &a->tables.tables;
    a->config.live = on_live;
    const slc_status status = slc_pet_pairs_open(c, &a->order, &a->error);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &a->error);
    }
    return status == SLC_OK;
}

static bool take_config(core_state *state, PyObject *arguments, acquisition *a)
{
    PyObject *list, *output, *chain, *format;
    slc_daq_pet_config *c = &a->config;
    slc_io_pet_payload *p = &c->raw.payload;
    unsigned long long frames = 0, ring = 0, socket = 0, rotate = 0;
    unsigned int shards = 1;
    int big = 0, sync = 0, replace = 0, stamped = 0, resume = 0, tcp_big = 0;
    slc_daq_pet_config_default(c);
    if (PyArg_ParseTuple(arguments, "OOdKKKKdppIIIpOIppOIp", &list, &output, &c->seconds, &frames, &ring,
                         &socket, &rotate, &c->raw.rotate_seconds, &sync, &replace, &p->header_bytes,
                         &p->sequence_at, &p->sequence_bytes, &big, &chain, &shards, &stamped, &resume,
                         &format, &c->stream_length_bytes, &tcp_big) == 0 ||
        !pet_take_format(state, format, &a->format) ||
        !take_addresses(list, c->listen, a->word, &c->n_listen, state) ||
        (output != Py_None && (a->output = pet_take_path(output)) == NULL) ||
        (chain != Py_None && !take_chain(state, chain, a))) {
        return false;
    }
    c->output = a->output;
    if (resume != 0 && a->format == NULL) {
        const slc_status status = slc_io_pet_raw_open(a->output, &a->resumed, &a->error);
        if (status != SLC_OK) {
            (void)core_raise(state, status, &a->error);
            return false;
        }
    }
    c->raw.format = a->resumed != NULL ? slc_io_pet_raw_format(a->resumed) : a->format;
    c->frames = frames;
    c->ring_bytes = (size_t)ring;
    c->socket_bytes = (size_t)socket;
    c->raw.rotate_bytes = rotate;
    c->raw.sync = sync != 0;
    c->raw.replace = replace != 0;
    p->sequence_big_endian = big != 0;
    p->stamped = stamped != 0;
    c->shards = shards;
    c->stream_length_big_endian = tcp_big != 0;
    c->resume = resume != 0;
    c->listening = on_listening;
    c->tell = on_tell;
    c->stop = on_stop;
    c->context = a;
    return true;
}

/* pet_acquire_open(addresses, output, seconds, frames, ring_bytes, socket_bytes, rotate_bytes,
 * rotate_seconds, sync, replace, header_bytes, sequence_at, sequence_bytes, sequence_big_endian, chain or
 * None, shards, stamped, resume, format or None,
 * tcp_length, tcp_length_big) */
static PyObject *acquire_open(PyObject *module, PyObject *arguments)
{
    acquisition *a = NULL;
    PyObject *capsule = pet_new(kind, sizeof *a, acquisition_drop, (void *)&a);
    if (capsule == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->taken, NULL);
    if (!take_config(core_state_of(module), arguments, a)) {
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* ---- running ----------------------------------------------------------------------------------- */

/* pet_acquire_run(acquisition): returns when it has ended. */
static PyObject *acquire_run(PyObject *module, PyObject *capsule)
{
    acquisition *a = pet_enter(capsule, kind);
    if (a == NULL) {
        return NULL;
    }
    slc_daq_pet_counts *counts = calloc(1, sizeof *counts);
    slc_status status = SLC_ERR_MEMORY;
    PyThreadState *const thread = PyEval_SaveThread();
    if (counts != NULL) {
        atomic_store(&a->running, true);
        status = slc_daq_pet_acquire(&a->config, counts, &a->error);
        (void)on_tell(a, counts);
        atomic_store(&a->running, false);
    }
    PyEval_RestoreThread(thread);
    free(counts);
    pet_leave(a);
    if (status == SLC_OK && a->live_error.status != SLC_OK) {
        return core_raise(core_state_of(module), a->live_error.status, &a->live_error);
    }
    return status == SLC_OK ? Py_NewRef(Py_None) : core_raise(core_state_of(module), status, &a->error);
}

/* pet_acquire_stop(acquisition): from any thread */
static PyObject *acquire_stop(PyObject *module, PyObject *capsule)
{
    acquisition *a = PyCapsule_GetPointer(capsule, kind);
    (void)module;
    if (a == NULL) {
        return NULL;
    }
    atomic_store(&a->stop, true);
    (void)pthread_mutex_lock(&a->lock);
    (void)pthread_cond_broadcast(&a->taken);
    (void)pthread_mutex_unlock(&a->lock);
    return Py_NewRef(Py_None);
}

/* pet_acquire_take(acquisition): (singles, pairs), None if there is nothing now; from any thread */
static PyObject *acquire_take(PyObject *module, PyObject *capsule)
{
    core_state *state = core_state_of(module);
    acquisition *a = PyCapsule_GetPointer(capsule, kind);
    if (a == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&a->lock);
    found *f = a->first;
    if (f != NULL) {
        a->first = f->next;
        a->last = a->first != NULL ? a->last : NULL;
        a->n_found--;
        (void)pthread_cond_signal(&a->taken);
    }
    (void)pthread_mutex_unlock(&a->lock);
    if (f == NULL) {
        return Py_NewRef(Py_None);
    }
    PyObject *singles = pet_rows_give(state, f->singles), *pairs = pet_rows_give(state, f->pairs);
    free(f);
    PyObject *made = singles != NULL && pairs != NULL ? PyTuple_Pack(2, singles, pairs) : NULL;
    Py_XDECREF(singles);
    Py_XDECREF(pairs);
    return made;
}

#define U64(value) ((unsigned long long)(value))

static PyObject *give_modules(const slc_daq_pet_counts *c)
{
    PyObject *modules = PyDict_New();
    for (int i = 0; i < SLC_PET_MAX_MODULES && modules != NULL; i++) {
        const slc_daq_pet_module *m = &c->module[i];
        if (m->datagrams == 0) {
            continue;
        }
        PyObject *number = PyLong_FromLong(i);
        PyObject *one = Py_BuildValue(
            "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "datagrams", U64(m->datagrams), "frames", U64(m->frames),
            "malformed", U64(m->malformed), "lost", U64(m->lost), "reordered", U64(m->reordered), "repeated",
            U64(m->repeated), "foreign", U64(m->foreign), "restarts", U64(m->restarts));
        if (number == NULL || one == NULL || PyDict_SetItem(modules, number, one) < 0) {
            Py_CLEAR(modules);
        }
        Py_XDECREF(number);
        Py_XDECREF(one);
    }
    return modules;
}

static PyObject *give_counts(const slc_daq_pet_counts *c, bool held)
{
    PyObject *modules = give_modules(c), *chain = pet_give_totals(&c->chain);
    if (modules == NULL || chain == NULL) {
        Py_XDECREF(modules);
        Py_XDECREF(chain);
        return NULL;
    }
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:d,s:"
                         "d,s:O,s:N,s:N,s:N}",
                         "datagrams", U64(c->datagrams), "frames", U64(c->frames), "bytes", U64(c->bytes),
                         "unwritten", U64(c->unwritten), "unwritten_frames", U64(c->unwritten_frames),
                         "kernel_drops", U64(c->kernel_drops), "ring_drops", U64(c->ring_drops), "lost",
                         U64(c->lost), "malformed", U64(c->malformed), "repeated", U64(c->repeated),
                         "foreign", U64(c->foreign), "lost_frames", U64(c->lost_frames), "empty",
                         U64(c->empty), "left_out", U64(c->left_out), "live_skipped", U64(c->live_skipped),
                         "live_gaps", U64(c->live_gaps), "written_bytes", U64(c->written_bytes), "files",
                         U64(c->files), "socket_bytes", U64(c->socket_bytes), "seconds", c->seconds,
                         "ring_fill", c->ring_fill, "queue_was_full", held ? Py_True : Py_False, "modules",
                         modules, "chain", chain, "records", pet_give_records(&c->records));
}

/* pet_acquire_counts(acquisition): (running, addresses, counts), from any thread; counts are renewed about
 * once a second. */
static PyObject *acquire_counts(PyObject *module, PyObject *capsule)
{
    acquisition *a = PyCapsule_GetPointer(capsule, kind);
    slc_daq_pet_counts *counts = a != NULL ? malloc(sizeof *counts) : NULL;
    (void)module;
    if (counts == NULL) {
        return a != NULL ? PyErr_NoMemory() : NULL;
    }
    (void)pthread_mutex_lock(&a->lock);
    *counts = a->counts;
    const uint32_t n = a->n_addresses;
    const bool held = a->held;
    (void)pthread_mutex_unlock(&a->lock);
    PyObject *addresses = PyList_New(0), *told = give_counts(counts, held);
    for (uint32_t i = 0; i < n && addresses != NULL; i++) {
        PyObject *one = PyUnicode_FromString(a->address[i]);
        if (one == NULL || PyList_Append(addresses, one) < 0) {
            Py_CLEAR(addresses);
        }
        Py_XDECREF(one);
    }
    free(counts);
    if (addresses == NULL || told == NULL) {
        Py_XDECREF(addresses);
        Py_XDECREF(told);
        return NULL;
    }
    return Py_BuildValue("(ONN)", atomic_load(&a->running) ? Py_True : Py_False, addresses, told);
}

/* ---- sending ----------------------------------------------------------------------------------- */

/* pet_send(frames, addresses, frames_hz, frames_per_datagram, sequence): (frames, datagrams) */
static PyObject *send_frames(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *list, *made = NULL;
    Py_buffer frames;
    slc_daq_pet_send_config config;
    slc_error error = {SLC_OK, ""};
    unsigned int each = 0;
    int sequence = 0;
    uint64_t sent = 0, datagrams = 0;
    slc_daq_pet_send_config_default(&config);
    char(*word)[ADDRESS] = calloc(SLC_DAQ_PET_SOCKETS, sizeof *word);
    if (word == NULL) {
        return PyErr_NoMemory();
    }
    if (PyArg_ParseTuple(arguments, "y*OdIp", &frames, &list, &config.frames_hz, &each, &sequence) != 0) {
        config.frames_per_datagram = each;
        config.sequence = sequence != 0;
        if (take_addresses(list, config.to, word, &config.n_to, state)) {
            slc_status status;
            PyThreadState *const thread = PyEval_SaveThread();
            status = slc_daq_pet_send_frames(&config, frames.buf, (size_t)frames.len / SLC_PET_FRAME_BYTES,
                                             &sent, &datagrams, &error);
            PyEval_RestoreThread(thread);
            made = status == SLC_OK ? Py_BuildValue("(KK)", U64(sent), U64(datagrams))
                                    : core_raise(state, status, &error);
        }
        PyBuffer_Release(&frames);
    }
    free(word);
    return made;
}

PyMethodDef pet_acquire_functions[] = {
    {"pet_acquire_open", acquire_open, METH_VARARGS, "an acquisition"},
    {"pet_acquire_run", acquire_run, METH_O, "receives until it ends"},
    {"pet_acquire_stop", acquire_stop, METH_O, "ends it"},
    {"pet_acquire_take", acquire_take, METH_O, "what its chain has found"},
    {"pet_acquire_counts", acquire_counts, METH_O, "what has been received"},
    {"pet_send", send_frames, METH_VARARGS, "frames to the network"},
    {NULL, NULL, 0, NULL}};
