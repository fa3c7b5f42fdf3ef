/* SPDX-License-Identifier: Apache-2.0
 * Files of sparse pixels as they are: a chain of its own, which does nothing but read. */
#include "py_pixel.h"

#include <stdlib.h>
#include <string.h>

typedef struct input {
    pixel_setup *setup;
    slc_io_pixels *file;
    slc_io_pixels_info about;
    size_t room;
    bool all_read;
} input;

/* What an item has. */
typedef struct piece {
    slc_pixels pixels;
    slc_io_pixels_info about;
    slc_io_pixels_counts counts;
    pixel_user columns; /* for which there is memory */
} piece;

static slc_status open_input(const void *setup, const slc_flow_config *config, const char *path,
                             void **opened, slc_error *error)
{
    pixel_setup *s = ((const running *)config->context)->setup;
    (void)setup;
    input *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an input");
    }
    in->setup = s;
    in->room = config->batch_events;
    const slc_status status = slc_io_pixels_open(path, &s->options, &in->file, error);
    if (status != SLC_OK) {
        free(in);
        return status;
    }
    in->about = slc_io_pixels_about(in->file);
    *opened = in;
    return SLC_OK;
}

static void close_input(void *at)
{
    input *in = at;
    slc_io_pixels_close(in->file);
    free(in);
}

static void close_piece(slc_flow_item *item)
{
    piece *p = item->result;
    slc_columns_clear(&p->columns.pixels, &p->pixels);
}

/* Whole frames as far as there is room, and more room for one that does not fit; of others so many pixels,
 * which are an event. */
static slc_status fill(input *in, piece *p, slc_error *error)
{
    slc_columns *head = &p->pixels.head;
    for (;;) {
        if (slc_columns_reserve(&p->columns.pixels, &p->pixels, in->room, (uint32_t)in->room) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the pixels");
        }
        slc_columns_reset(&p->pixels);
        slc_status status = slc_io_pixels_read(in->file, &p->pixels, in->room, error);
        if (status == SLC_ERR_CAPACITY && in->about.frames && head->n_events == 0) {
            in->room *= 2;
            continue;
        }
        in->all_read = status == SLC_END;
        if ((status == SLC_END || status == SLC_ERR_CAPACITY) && (head->size > 0 || head->n_events > 0)) {
            status = SLC_OK;
        }
        if (status == SLC_OK && !in->about.frames) {
            slc_columns_end_event(&p->pixels);
        }
        return status;
    }
}

static slc_status read_piece(void *at, const slc_flow_config *config, slc_flow_item *item, slc_error *error)
{
    input *in = at;
    piece *p = item->result;
    (void)config;
    if (in->all_read) {
        return SLC_END;
    }
    if (p->columns.pixels.columns == NULL || p->columns.with != in->about.with) {
        slc_columns_clear(&p->columns.pixels, &p->pixels);
        pixel_know_columns(&p->columns, 0, in->about.with);
    }
    const slc_status status = fill(in, p, error);
    p->about = in->about;
    p->counts = slc_io_pixels_count(in->file);
    return status;
}

static slc_status run(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const piece *p = item->result;
    (void)chain;
    (void)setup;
    (void)error;
    item->n_summed = p->pixels.head.n_events;
    return SLC_OK;
}

/* What came after the last pixel counts, too. */
static void settle(void *at, slc_flow_item *item)
{
    input *in = at;
    if (item->ended) {
        in->setup->counts = slc_io_pixels_count(in->file);
    }
}

static slc_status take(running *r, slc_flow_item *item, slc_error *error)
{
    pixel_setup *s = r->setup;
    s->counts = ((const piece *)item->result)->counts;
    return pixel_judge(r, s, item, error);
}

static const void *find_pixels(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    const piece *p = item->result;
    (void)r;
    *schema = &p->columns.pixels;
    return &p->pixels;
}

static PyObject *attribute(core_state *state, PyObject *owner, const running *r, const slc_flow_item *item,
                           const char *name)
{
    (void)state;
    (void)owner;
    (void)r;
    return strcmp(name, "about") == 0 ? pixel_about(&((const piece *)item->result)->about) : NULL;
}

static const slc_flow_chain reading = {.size = sizeof(slc_flow_chain),
                                       .name = "pixels",
                                       .files_alone = true,
                                       .ordered = true,
                                       .result_bytes = sizeof(piece),
                                       .item_close = close_piece,
                                       .input_open = open_input,
                                       .read = read_piece,
                                       .input_close = close_input,
                                       .run = run,
                                       .settle = settle};
static const group groups[] = {{"pixels", .find = find_pixels}, {.name = NULL}};
static const char *const names[] = {"about", NULL};
static const core_chain chain = {.flow = &reading,
                                 .groups = groups,
                                 .free = pixel_free,
                                 .faults = pixel_faults,
                                 .take = take,
                                 .end = pixel_end,
                                 .attribute = attribute,
                                 .names = names,
                                 .totals = pixel_totals};

/* ---- places of chips, and what is known of pixels ----------------------------------------------------- */

/* None, or a text: a word or the name of a file. */
static bool take_layout(core_state *state, PyObject *value, pixel_setup *s)
{
    slc_error error = {.status = SLC_OK};
    PyObject *bytes = NULL;
    if (value == Py_None) {
        return true;
    }
    if (!PyUnicode_FSConverter(value, &bytes)) {
        return false;
    }
    const slc_status status = slc_io_pixels_layout_read(PyBytes_AsString(bytes), &s->layout, &error);
    Py_DECREF(bytes);
    s->flow.layout = s->options.layout = &s->layout;
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

/* None, or a tuple of numbers. */
static bool take_chips(core_state *state, PyObject *value, pixel_setup *s)
{
    const Py_ssize_t n = value != Py_None ? PyTuple_Size(value) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        uint64_t chip = 0;
        if (!core_take_u64(state, PyTuple_GetItem(value, i), "chips", SLC_IO_PIXELS_CHIPS - 1, &chip)) {
            return false;
        }
        s->chips[chip / 8] |= (uint8_t)(1U << chip % 8);
    }
    s->flow.chips = s->options.chips = value != Py_None ? s->chips : NULL;
    return n >= 0;
}

static const char *text_of(PyObject *bytes)
{
    return bytes != NULL ? PyBytes_AsString(bytes) : NULL;
}

/* None, or texts, and a truth value. */
static bool take_tables(core_state *state, PyObject *const *values, pixel_setup *s)
{
    slc_error error = {.status = SLC_OK};
    PyObject *bytes[3] = {NULL, NULL, NULL};
    slc_io_pixels_table_files files = {.mask = NULL};
    bool good = core_take_bool(values[PIXEL_PHASE], "column_phase", &files.column_phase);
    for (int i = 0; i < 3 && good; i++) {
        PyObject *value = values[PIXEL_MASK + i];
        good = value == Py_None || PyUnicode_FSConverter(value, &bytes[i]) != 0;
    }
    if (good && (bytes[0] != NULL || bytes[1] != NULL || bytes[2] != NULL || files.column_phase)) {
        files.mask = text_of(bytes[0]);
        s->has_mask = files.mask != NULL;
        files.calibration = text_of(bytes[1]);
        files.timewalk = text_of(bytes[2]);
        const slc_status status = slc_io_pixels_tables_open(&files, &s->tables, &error);
        s->flow.tables = s->options.tables = s->tables;
        good = status == SLC_OK;
        if (!good) {
            (void)core_raise(state, status, &error);
        }
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(bytes[i]);
    }
    return good;
}

bool pixel_take_places(core_state *state, PyObject *const *values, pixel_setup *s)
{
    return take_layout(state, values[PIXEL_LAYOUT], s) && take_chips(state, values[PIXEL_CHIPS], s) &&
           take_tables(state, values, s);
}

void pixel_free(void *setup)
{
    pixel_setup *s = setup;
    slc_io_pixels_tables_close(s->tables);
    free(s);
}

/* pixel_open(common, shape, tick_seconds, layout, chips, mask, calibration, timewalk,
 * column_phase): see sluice.pixel.open. */
PyObject *pixel_open(PyObject *module, PyObject *const *arguments, Py_ssize_t n)
{
    core_state *state = core_state_of(module);
    opening o;
    unsigned int height = 0, width = 0;
    if (n != 3 + PIXEL_PLACES) {
        PyErr_SetString(PyExc_TypeError, "pixel_open() takes nine arguments");
        return NULL;
    }
    pixel_setup *s = calloc(1, sizeof *s);
    if (!core_flow_begin(state, &chain, arguments[0], s, &o)) {
        return NULL;
    }
    if ((arguments[1] != Py_None &&
         !PyArg_ParseTuple(arguments[1], "II;shape is to be a pair, (height, width)", &height, &width)) ||
        !core_take_double(arguments[2], "tick_seconds", &s->options.tick_seconds) ||
        !pixel_take_places(state, arguments + 3, s)) {
        return core_flow_drop(&o);
    }
    s->options.height = height;
    s->options.width = width;
    return core_flow_open(state, &o, s);
}
