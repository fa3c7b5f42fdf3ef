/* SPDX-License-Identifier: Apache-2.0
 * What functions of other libraries want of components, in their layout. */
#include "py_columns.h"
#include "py_image.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { LEFT, TOP, WIDTH, HEIGHT, AREA, STATISTICS };

static bool is_background(const slc_image_labels *side, size_t x, size_t y)
{
    const char *row = (const char *)side->labels + (ptrdiff_t)y * side->stride;
    return side->type == SLC_TYPE_U16 ? ((const uint16_t *)(const void *)row)[x] == 0
                                      : ((const uint32_t *)(const void *)row)[x] == 0;
}

/* The box of the background, of which there is some. */
static void background_box(const slc_image_labels *side, size_t width, size_t height, int32_t *row)
{
    size_t left = width, right = 0, top = height, bottom = 0;
    for (size_t y = 0; y < height; y++) {
        size_t from = 0, to = width;
        while (from < width && !is_background(side, from, y)) {
            from++;
        }
        if (from == width) {
            continue;
        }
        while (to > right && !is_background(side, to - 1, y)) {
            to--;
        }
        left = from < left ? from : left;
        right = to;
        top = y < top ? y : top;
        bottom = y;
    }
    row[LEFT] = (int32_t)left;
    row[TOP] = (int32_t)top;
    row[WIDTH] = (int32_t)(right - left);
    row[HEIGHT] = (int32_t)(bottom - top + 1);
}

/* Rows 1 … of the tables; what is left of area and sums for the background. */
static void fill(const slc_image_components *c, int32_t *table, double *centres, uint64_t rest[3])
{
    for (size_t i = 0; i < c->head.size; i++) {
        int32_t *row = table + (i + 1) * STATISTICS;
        row[LEFT] = (int32_t)c->x_min[i];
        row[TOP] = (int32_t)c->y_min[i];
        row[WIDTH] = (int32_t)(c->x_max[i] - c->x_min[i] + 1);
        row[HEIGHT] = (int32_t)(c->y_max[i] - c->y_min[i] + 1);
        row[AREA] = (int32_t)c->area[i];
        centres[2 * (i + 1)] = c->x[i];
        centres[2 * (i + 1) + 1] = c->y[i];
        rest[0] -= c->area[i];
        rest[1] -= c->sum_x[i];
        rest[2] -= c->sum_y[i];
    }
}

static void fill_all(const slc_image_components *c, const slc_image_labels *side, size_t width, size_t height,
                     int32_t *table, double *centres)
{
    uint64_t rest[3] = {(uint64_t)width * height, 0, 0};
    if (width > 0 && height > 0) {
        rest[1] = (uint64_t)height * ((uint64_t)width * (width - 1) / 2);
        rest[2] = (uint64_t)width * ((uint64_t)height * (height - 1) / 2);
    }
    fill(c, table, centres, rest);
    if (rest[0] == 0) { /* as OpenCV has it of nothing */
        const int32_t nothing[STATISTICS] = {-1, INT_MAX, 0, 0, 0};
        memcpy(table, nothing, sizeof nothing);
        centres[0] = centres[1] = (double)NAN;
        return;
    }
    background_box(side, width, height, table);
    table[AREA] = (int32_t)rest[0];
    centres[0] = (double)rest[1] / (double)rest[0];
    centres[1] = (double)rest[2] / (double)rest[0];
}

/* compat_cv2_statistics(labels, components, table, centres): see sluice.compat.cv2. The components are of the
 * features area, box, sums and centroid, the tables C-contiguous with a row for each and one for the
 * background. */
static PyObject *cv2_statistics(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *labels, *found, *table, *centres;
    Py_ssize_t height, width;
    Py_buffer view, rows, pairs;
    slc_image_labels side;
    if (PyArg_ParseTuple(arguments, "OO!OOnn", &labels, state->components_type, &found, &table, &centres,
                         &height, &width) == 0 ||
        !core_labels_get(state, labels, (size_t)height, (size_t)width, &view, &side)) {
        return NULL;
    }
    const slc_image_components *c = (const void *)((columns *)found)->head;
    const Py_ssize_t n = (Py_ssize_t)c->head.size + 1;
    const bool whole = c->head.size == 0 ||
                       (c->area != NULL && c->x_min != NULL && c->sum_x != NULL && c->x != NULL);
    PyObject *made = NULL;
    if (PyObject_GetBuffer(table, &rows, PyBUF_CONTIG) == 0) {
        if (PyObject_GetBuffer(centres, &pairs, PyBUF_CONTIG) == 0) {
            if (whole && rows.len == n * STATISTICS * (Py_ssize_t)sizeof(int32_t) &&
                pairs.len == 2 * n * (Py_ssize_t)sizeof(double)) {
                fill_all(c, &side, (size_t)width, (size_t)height, rows.buf, pairs.buf);
                made = Py_NewRef(Py_None);
            } else {
                PyErr_SetString(PyExc_TypeError, "the tables do not fit the components");
            }
            PyBuffer_Release(&pairs);
        }
        PyBuffer_Release(&rows);
    }
    PyBuffer_Release(&view);
    return made;
}

PyMethodDef core_compat_functions[] = {
    {"compat_cv2_statistics", cv2_statistics, METH_VARARGS, "tables of OpenCV's"}, {NULL, NULL, 0, NULL}};
