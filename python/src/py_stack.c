/* SPDX-License-Identifier: Apache-2.0
 * Many images at once: consecutive shares of about as many pixels, each with a labeller and a thread. */
#include "py_stack.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TOGETHER = 256 /* images that a GPU takes in one call */ };
static const double look_up_s = 0.05; /* how often signals are looked for */

/* What threads share. */
typedef struct stack {
    size_t n, n_in, n_grey, n_out; /* images; of each the first so many have a buffer to be released */
    core_image *in, *grey;         /* grey: NULL or n */
    slc_image *images;
    Py_buffer *views; /* of label images, if they are wanted */
    slc_image_labels *sides;
    bool inverse, on_gpu;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t running;
    bool stop; /* under the lock, as is `running` */
} stack;

/* Images first … last - 1. */
typedef struct share {
    stack *of;
    core_labeller *one;
    size_t first, last, at;
    PyObject *owner;    /* of found */
    image_found *found; /* NULL: no components */
    slc_status status;
    slc_error error;
    pthread_t thread;
    bool started;
} share;

static bool is_empty(const slc_image *image)
{
    return image->width == 0 || image->height == 0;
}

/* ---- work, without the interpreter's lock --------------------------------------------------------- */

static bool is_stopped(stack *s)
{
    (void)pthread_mutex_lock(&s->lock);
    const bool stop = s->stop;
    (void)pthread_mutex_unlock(&s->lock);
    return stop;
}

/* A few images of a GPU's, or one; *done of them are. */
static slc_status run_some(share *s, size_t *done)
{
    stack *of = s->of;
    slc_image_labels *side = &of->sides[s->at];
    size_t n = 1;
    *done = 0;
    if (of->on_gpu && !of->inverse && of->grey == NULL) {
        while (n < TOGETHER && s->at + n < s->last && !is_empty(&of->images[s->at + n])) {
            n++;
        }
        return slc_image_label_batch(s->one->labeller, &of->images[s->at], side, n, done, &s->error);
    }
    const slc_status status = slc_image_label_run(
        s->one->labeller, &of->images[s->at], of->grey != NULL ? &of->grey[s->at].image : NULL,
        of->inverse ? NULL : side, of->inverse ? side : NULL, &s->error);
    *done = status == SLC_OK;
    return status;
}

static slc_status more_rows(share *s, size_t rows)
{
    const size_t twice = 2 * s->found->components.head.capacity;
    return slc_columns_reserve(&s->found->schema, &s->found->components, rows > twice ? rows : twice, 0);
}

/* The next image, or a few. */
static slc_status step(share *s)
{
    stack *of = s->of;
    size_t done = 0;
    if (is_empty(&of->images[s->at])) {
        of->sides[s->at++].n_labels = 0;
        if (s->found != NULL) {
            slc_columns_end_event(&s->found->components);
        }
        return SLC_OK;
    }
    const slc_status status = run_some(s, &done);
    s->at += done;
    if (status != SLC_ERR_CAPACITY || s->found == NULL || s->at >= s->last) {
        return status;
    }
    /* Once more with room for as many as there are; if that was not what lacked, it is told now. */
    const uint32_t n_labels = of->sides[s->at].n_labels;
    const slc_columns *head = &s->found->components.head;
    if (n_labels == UINT32_MAX || head->size + n_labels <= head->capacity) {
        return status;
    }
    return more_rows(s, head->size + n_labels);
}

/* Until all is done, or for so many seconds. */
static bool work(share *s, double seconds)
{
    const double until = slc_clock_seconds() + seconds;
    while (s->at < s->last && s->status == SLC_OK && slc_clock_seconds() < until) {
        s->status = step(s);
    }
    return s->at == s->last || s->status != SLC_OK;
}

static void *work_in_thread(void *context)
{
    share *s = context;
    while (!is_stopped(s->of) && !work(s, look_up_s)) {
    }
    (void)pthread_mutex_lock(&s->of->lock);
    s->of->running--;
    (void)pthread_cond_signal(&s->of->ended);
    (void)pthread_mutex_unlock(&s->of->lock);
    return NULL;
}

/* Have all threads ended? Waits a little for it. */
static bool wait_a_little(stack *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * look_up_s);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_mutex_lock(&s->lock);
    int result = 0;
    while (s->running > 0 && result == 0) {
        result = pthread_cond_timedwait(&s->ended, &s->lock, &until);
    }
    const bool ended = s->running == 0;
    (void)pthread_mutex_unlock(&s->lock);
    return ended;
}

/* ---- shares, with the interpreter's lock ----------------------------------------------------------- */

/* One share here, looking for signals. False with an error set. */
static bool work_here(share *s)
{
    bool done = false, good = true;
    while (!done && good) {
        PyThreadState *const thread = PyEval_SaveThread();
        done = work(s, look_up_s);
        PyEval_RestoreThread(thread);
        good = PyErr_CheckSignals() == 0;
    }
    return good;
}

static bool work_in_threads(stack *of, share *shares, size_t n)
{
    bool good = true, ended = false;
    of->running = 0;
    for (size_t i = 0; i < n; i++) {
        (void)pthread_mutex_lock(&of->lock);
        of->running++;
        (void)pthread_mutex_unlock(&of->lock);
        shares[i].started = pthread_create(&shares[i].thread, NULL, work_in_thread, &shares[i]) == 0;
        if (!shares[i].started) {
            (void)pthread_mutex_lock(&of->lock);
            of->running--;
            (void)pthread_mutex_unlock(&of->lock);
        }
    }
    while (!ended) {
        PyThreadState *const thread = PyEval_SaveThread();
        ended = wait_a_little(of);
        PyEval_RestoreThread(thread);
        if (good && PyErr_CheckSignals() != 0) {
            good = false;
            (void)pthread_mutex_lock(&of->lock);
            of->stop = true;
            (void)pthread_mutex_unlock(&of->lock);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (shares[i].started) {
            (void)pthread_join(shares[i].thread, NULL);
        } else {
            good = good && work_here(&shares[i]); /* no thread could be had */
        }
    }
    return good;
}

/* Ends of shares of about as many pixels. */
static void cut(const stack *s, share *shares, size_t n)
{
    double all = 0, sum = 0;
    size_t i = 0;
    for (size_t k = 0; k < s->n; k++) {
        all += (double)s->images[k].width * (double)s->images[k].height + 64;
    }
    for (size_t k = 0; k < n; k++) {
        shares[k].first = shares[k].at = i;
        while (i < s->n && (k + 1 == n || sum < all * (double)(k + 1) / (double)n)) {
            sum += (double)s->images[i].width * (double)s->images[i].height + 64;
            i++;
        }
        shares[k].last = i;
    }
}

/* A labeller, and room for components. False with an error set. */
static bool open_share(core_state *state, const image_setup *setup, core_labeller *own,
                       const stack_wish *wish, share *s)
{
    size_t width = 0, height = 0;
    slc_image_type type = SLC_IMAGE_U8;
    bool floats = false;
    for (size_t i = s->first; i < s->last; i++) {
        const slc_image *image = &s->of->images[i];
        width = image->width > width ? image->width : width;
        height = image->height > height ? image->height : height;
        type = image->type;
        /* One labeller has one threshold, which is rounded for floats. */
        const double level = core_level(SLC_IMAGE_F32, setup->config.threshold);
        if (i > s->first && (setup->no_threshold || ceil(level) != ceil(setup->config.threshold)) &&
            (type == SLC_IMAGE_F32) != (s->of->images[s->first].type == SLC_IMAGE_F32)) {
            PyErr_SetString(
                state->usage_error,
                "images of integers and of floats need a threshold to go together that is one of both");
            return false;
        }
        floats = floats || type == SLC_IMAGE_F32;
    }
    slc_image_label_config config = core_setup_config(setup, floats ? SLC_IMAGE_F32 : type);
    config.exec.threads = 1;
    s->one = core_labeller_take(state, own, &config, width, height);
    if (s->one == NULL || !wish->components) {
        return s->one != NULL;
    }
    s->owner = core_found_new(state, setup->config.features, &s->found);
    if (s->owner == NULL) {
        return false;
    }
    const size_t n = s->last - s->first;
    const size_t rows = n > 0 && !is_empty(&s->of->images[s->first])
                            ? core_first_rows(&s->of->images[s->first])
                            : 1;
    const slc_status status = slc_columns_reserve(&s->found->schema, &s->found->components, rows,
                                                  (uint32_t)n);
    if (status != SLC_OK) {
        (void)core_raise(state, status, NULL);
        return false;
    }
    for (size_t i = s->first; i < s->last; i++) {
        s->of->sides[i].components = &s->found->components;
    }
    return true;
}

/* All shares' components one after the other, in the first one's collection. */
static PyObject *join(core_state *state, share *shares, size_t n)
{
    image_found *into = shares[0].found;
    size_t rows = 0, events = 0;
    for (size_t k = 0; k < n; k++) {
        rows += shares[k].found->components.head.size;
        events += shares[k].found->components.head.n_events;
    }
    slc_status status = n > 1 ? slc_columns_reserve(&into->schema, &into->components, rows, (uint32_t)events)
                              : SLC_OK;
    for (size_t k = 1; k < n && status == SLC_OK; k++) {
        const image_found *from = shares[k].found;
        status = slc_columns_append_events(&into->schema, &from->components, 0,
                                           from->components.head.n_events, &into->components);
    }
    return status == SLC_OK ? core_components_new(state, shares[0].owner, into)
                            : core_raise(state, status, NULL);
}

static PyObject *counts_of(core_state *state, const stack *s)
{
    Py_buffer view;
    PyObject *counts = core_numpy(state) ? PyObject_CallFunction(state->empty, "nO", (Py_ssize_t)s->n,
                                                                 state->dtype[SLC_TYPE_I64])
                                         : NULL;
    if (counts == NULL || PyObject_GetBuffer(counts, &view, PyBUF_WRITABLE) < 0) {
        Py_XDECREF(counts);
        return NULL;
    }
    for (size_t i = 0; i < s->n; i++) {
        ((int64_t *)view.buf)[i] = s->sides[i].n_labels;
    }
    PyBuffer_Release(&view);
    return counts;
}

static size_t share_count(const stack *s, uint32_t threads)
{
    const long there = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = threads > 0 ? threads : there > 0 ? (size_t)there : 1;
    n = n < s->n ? n : s->n;
    return n == 0 || s->on_gpu ? 1 : n;
}

/* Columns, or counts. */
static PyObject *run_shares(core_state *state, const image_setup *setup, core_labeller *own,
                            const stack_wish *wish, stack *s)
{
    const size_t n = share_count(s, wish->threads);
    share *shares = calloc(n, sizeof *shares);
    PyObject *made = NULL;
    if (shares == NULL) {
        return PyErr_NoMemory();
    }
    cut(s, shares, n);
    bool good = true;
    for (size_t k = 0; k < n && good; k++) {
        shares[k].of = s;
        good = open_share(state, setup, own, wish, &shares[k]);
    }
    good = good && (n == 1 ? work_here(&shares[0]) : work_in_threads(s, shares, n));
    for (size_t k = 0; k < n; k++) {
        if (good && shares[k].status != SLC_OK) {
            (void)core_raise(state, shares[k].status, &shares[k].error);
            good = false;
        }
        if (shares[k].one != NULL) {
            core_labeller_give(shares[k].one);
        }
    }
    if (good) {
        made = wish->components ? join(state, shares, n) : counts_of(state, s);
    }
    for (size_t k = 0; k < n; k++) {
        Py_XDECREF(shares[k].owner);
    }
    free(shares);
    return made;
}

/* ---- what comes in --------------------------------------------------------------------------------- */

/* The images of a list, or of an array of three dimensions, whose shape this tells. */
static PyObject *list_of(PyObject *object, const char *what, Py_ssize_t shape[3])
{
    Py_buffer view;
    shape[0] = -1;
    if (PyObject_CheckBuffer(object) != 0) {
        if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
            return PyErr_Format(PyExc_TypeError, "%s is %R; it is to be a 3-D array or a list of images",
                                what, (PyObject *)Py_TYPE(object));
        }
        const int ndim = view.ndim;
        if (ndim == 3) {
            memcpy(shape, view.shape, 3 * sizeof *shape);
        }
        PyBuffer_Release(&view);
        if (ndim != 3) {
            return PyErr_Format(PyExc_TypeError,
                                "%s has %d dimensions; it is to be a 3-D array or a list of images", what,
                                ndim);
        }
    }
    PyObject *list = PySequence_List(object);
    if (list == NULL) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is %R; it is to be a 3-D array or a list of images", what,
                     (PyObject *)Py_TYPE(object));
    }
    return list;
}

static bool take_images(core_state *state, PyObject *list, const char *what, size_t n, core_image *to,
                        size_t *taken)
{
    if ((size_t)PyList_Size(list) != n) {
        PyErr_Format(PyExc_TypeError, "%s has %zd images, images %zu", what, PyList_Size(list), n);
        return false;
    }
    while (*taken < n && core_image_get(state, PyList_GetItem(list, (Py_ssize_t)*taken), what, &to[*taken])) {
        ++*taken;
    }
    return *taken == n;
}

static bool given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

static bool take_stack(core_state *state, const stack_wish *wish, PyObject *list, stack *s)
{
    Py_ssize_t unused[3];
    s->n = (size_t)PyList_Size(list);
    const size_t room = s->n > 0 ? s->n : 1;
    s->in = calloc(room, sizeof *s->in);
    s->images = calloc(room, sizeof *s->images);
    s->sides = calloc(room, sizeof *s->sides);
    s->views = wish->labels ? calloc(room, sizeof *s->views) : NULL;
    s->grey = given(wish->grey) ? calloc(room, sizeof *s->grey) : NULL;
    if (s->in == NULL || s->images == NULL || s->sides == NULL || (wish->labels && s->views == NULL) ||
        (given(wish->grey) && s->grey == NULL)) {
        PyErr_NoMemory();
        return false;
    }
    if (!take_images(state, list, "images", s->n, s->in, &s->n_in)) {
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->images[i] = s->in[i].image;
    }
    if (s->grey == NULL) {
        return true;
    }
    PyObject *greys = list_of(wish->grey, "grey", unused);
    const bool good = greys != NULL && take_images(state, greys, "grey", s->n, s->grey, &s->n_grey);
    Py_XDECREF(greys);
    return good;
}

static stack_rows rows_of(const slc_image *image)
{
    return (stack_rows){image->pixels, image->stride, slc_image_row_bytes(image->type, image->width),
                        image->height, false};
}

/* Threads write labels while others read, also of images that come later. False with an error set. */
static bool check_apart(core_state *state, const stack *s)
{
    size_t n = 0;
    bool apart = true;
    stack_rows *blocks = calloc(s->n > 0 ? 3 * s->n : 1, sizeof *blocks);
    for (size_t i = 0; i < s->n && blocks != NULL; i++) {
        const slc_image_labels *out = &s->sides[i];
        blocks[n++] = rows_of(&s->images[i]);
        blocks[n++] = (stack_rows){out->labels, out->stride,
                                   s->images[i].width * (out->type == SLC_TYPE_U16 ? 2 : 4),
                                   s->images[i].height, true};
        if (s->grey != NULL) {
            blocks[n++] = rows_of(&s->grey[i].image);
        }
    }
    const bool good = blocks != NULL && core_rows_apart(blocks, n, &apart);
    free(blocks);
    if (!good) {
        PyErr_NoMemory();
    } else if (!apart) {
        PyErr_SetString(state->usage_error, "out: label images overlap each other, or images that are read");
    }
    return good && apart;
}

/* Label images: an array of three dimensions for such a one, else a list of arrays. */
static PyObject *take_labels(core_state *state, const stack_wish *wish, const Py_ssize_t shape[3], stack *s)
{
    PyObject *whole = given(wish->out) ? Py_NewRef(wish->out) : NULL, *list = NULL;
    Py_ssize_t unused[3];
    if (whole != NULL && given(wish->dtype)) {
        PyErr_SetString(PyExc_TypeError, "out and dtype exclude each other: labels have the type of out");
    } else if (whole == NULL && shape[0] >= 0) {
        whole = core_numpy(state)
                    ? PyObject_CallFunction(state->empty, "(nnn)O", shape[0], shape[1], shape[2],
                                            given(wish->dtype) ? wish->dtype : state->label_dtype)
                    : NULL;
    }
    if (PyErr_Occurred() == NULL) {
        list = whole != NULL ? list_of(whole, "out", unused) : PyList_New((Py_ssize_t)s->n);
    }
    bool good = list != NULL;
    if (good && (size_t)PyList_Size(list) != s->n) {
        PyErr_Format(PyExc_TypeError, "out has %zd arrays for %zu images", PyList_Size(list), s->n);
        good = false;
    }
    for (; good && s->n_out < s->n; s->n_out++) {
        PyObject *out = whole != NULL ? PyList_GetItem(list, (Py_ssize_t)s->n_out) : NULL;
        PyObject *array = core_label_array(state, out, out == NULL ? wish->dtype : NULL, &s->images[s->n_out],
                                           &s->views[s->n_out], &s->sides[s->n_out]);
        good = array != NULL && PyList_SetItem(list, (Py_ssize_t)s->n_out, array) == 0;
        if (array == NULL) {
            break;
        }
    }
    good = good && (!given(wish->out) || check_apart(state, s));
    PyObject *made = good ? Py_NewRef(whole != NULL ? whole : list) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(whole);
    return made;
}

static void drop_stack(stack *s)
{
    for (size_t i = 0; i < s->n_in; i++) {
        PyBuffer_Release(&s->in[i].view);
    }
    for (size_t i = 0; i < s->n_grey; i++) {
        PyBuffer_Release(&s->grey[i].view);
    }
    for (size_t i = 0; i < s->n_out; i++) {
        PyBuffer_Release(&s->views[i]);
    }
    free(s->in);
    free(s->grey);
    free(s->images);
    free(s->views);
    free(s->sides);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->ended);
}

static bool check(const image_setup *setup, const stack_wish *wish)
{
    if (!wish->labels && (given(wish->out) || given(wish->dtype))) {
        PyErr_SetString(PyExc_TypeError, "out and dtype are of label images: labels=True makes them");
        return false;
    }
    if (given(wish->grey) && (setup->config.features & SLC_IMAGE_GREY) == 0) {
        PyErr_SetString(PyExc_TypeError, "grey is of the feature 'grey', which is not among features");
        return false;
    }
    return true;
}

PyObject *core_stack_run(core_state *state, const image_setup *setup, core_labeller *own,
                         const stack_wish *wish)
{
    Py_ssize_t shape[3];
    stack s = {.inverse = setup->inverse, .on_gpu = setup->device[0] != '\0'};
    PyObject *list = check(setup, wish) ? list_of(wish->images, "images", shape) : NULL;
    PyObject *labels = NULL, *made = NULL;
    if (list == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&s.lock, NULL);
    (void)pthread_cond_init(&s.ended, NULL);
    if (take_stack(state, wish, list, &s)) {
        labels = wish->labels ? take_labels(state, wish, shape, &s) : NULL;
        made = labels != NULL || !wish->labels ? run_shares(state, setup, own, wish, &s) : NULL;
    }
    drop_stack(&s);
    Py_DECREF(list);
    PyObject *result = made == NULL ? NULL : wish->labels ? PyTuple_Pack(2, labels, made) : Py_NewRef(made);
    Py_XDECREF(labels);
    Py_XDECREF(made);
    return result;
}
