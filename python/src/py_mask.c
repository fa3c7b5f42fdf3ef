/* SPDX-License-Identifier: Apache-2.0
 * What becomes foreground: what is asked, and masks of arrays. */
#include "py_mask.h"
#include "py_image.h"

#include <sluice/image_split.h>

#include <float.h>
#include <stdlib.h>

/* sluice.image makes the tuple, whose numbers are those of the rule: thresholds, or the window and what goes
 * with it. */
bool core_mask_take(core_state *state, PyObject *rule, PyObject *max_hole, slc_image_mask_config *to)
{
    static const char *const words[] = {"least", "band", "hysteresis", "mean", "sauvola", NULL};
    PyObject *word = NULL, *first = NULL, *second = NULL, *third = NULL;
    uint64_t window;
    int number = 0;
    slc_image_mask_config_default(to);
    window = to->window;
    if (PyArg_ParseTuple(rule, "O|OOO:rule", &word, &first, &second, &third) == 0 ||
        !core_take_word(state, word, "rule", words, &number)) {
        return false;
    }
    const bool local = number >= SLC_IMAGE_RULE_MEAN, sauvola = number == SLC_IMAGE_RULE_SAUVOLA;
    if (!(local ? core_take_u64(state, first, "window", UINT32_MAX, &window)
                : core_take_double(first, "threshold", &to->low)) ||
        !core_take_double(second, local ? (sauvola ? "k" : "offset") : "threshold",
                          local ? (sauvola ? &to->k : &to->offset) : &to->high) ||
        !core_take_double(third, "range", &to->range) ||
        !core_take_u64(state, max_hole, "fill_holes", UINT64_MAX, &to->max_hole_area)) {
        return false;
    }
    to->rule = (slc_image_rule)number;
    to->window = (uint32_t)window;
    to->exec.target = state->target;
    return true;
}

/* As numpy has it: an image without pixels has no foreground. */
static bool make(core_state *state, const slc_image_mask_config *config, const slc_image *image,
                 const slc_image *within, uint8_t *mask, size_t stride)
{
    slc_error error = {SLC_OK, ""};
    if (image->width == 0 || image->height == 0) {
        return true;
    }
    PyThreadState *const thread = PyEval_SaveThread();
    const slc_status status = slc_image_mask_make(config, image, within, mask, (ptrdiff_t)stride, &error);
    PyEval_RestoreThread(thread);
    if (status != SLC_OK) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_OK;
}

static PyObject *foreground_of(core_state *state, const slc_image_mask_config *config, const slc_image *image,
                               const slc_image *within)
{
    const size_t stride = slc_image_row_bytes(SLC_IMAGE_BITS, image->width);
    uint8_t *mask = malloc(stride * image->height + 1);
    if (mask == NULL) {
        return PyErr_NoMemory();
    }
    const slc_image bits = {mask, image->width, image->height, (ptrdiff_t)stride, SLC_IMAGE_BITS};
    PyObject *array = make(state, config, image, within, mask, stride) ? core_page_array(state, &bits) : NULL;
    free(mask);
    return array;
}

/* Rows of bits of all slices are those of one high image, which is given its shape. */
static PyObject *foreground_of_volume(core_state *state, const slc_image_mask_config *rule,
                                      const slc_volume *volume, const slc_volume *within,
                                      const slc_volume_config *config)
{
    const size_t stride = slc_image_row_bytes(SLC_IMAGE_BITS, volume->width);
    const size_t rows = volume->height * volume->depth;
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    uint8_t *mask = malloc(stride * rows + 1);
    if (mask == NULL) {
        return PyErr_NoMemory();
    }
    if (stride * rows > 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_volume_mask_make(config, rule, volume, within, mask, (ptrdiff_t)stride,
                                      (ptrdiff_t)(stride * volume->height), &error);
        PyEval_RestoreThread(thread);
    }
    const slc_image bits = {mask, volume->width, rows, (ptrdiff_t)stride, SLC_IMAGE_BITS};
    PyObject *array = status == SLC_OK ? core_page_array(state, &bits) : core_raise(state, status, &error);
    PyObject *shaped = array != NULL
                           ? PyObject_CallMethod(array, "reshape", "(nnn)", (Py_ssize_t)volume->depth,
                                                 (Py_ssize_t)volume->height, (Py_ssize_t)volume->width)
                           : NULL;
    Py_XDECREF(array);
    free(mask);
    return shaped;
}

static PyObject *volume_foreground(core_state *state, PyObject *image, PyObject *mask,
                                   slc_image_mask_config *rule, const slc_volume_config *config,
                                   bool no_threshold)
{
    slc_volume volume, within;
    Py_buffer view, within_view;
    if (!core_volume_get(state, image, "slices", &view, &volume, false)) {
        return NULL;
    }
    if (no_threshold) {
        rule->low = volume.type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1;
    }
    rule->low = core_level(volume.type, rule->low);
    rule->high = core_level(volume.type, rule->high);
    PyObject *made = NULL;
    if (mask == Py_None) {
        made = foreground_of_volume(state, rule, &volume, NULL, config);
    } else if (core_volume_get(state, mask, "slices", &within_view, &within, false)) {
        made = foreground_of_volume(state, rule, &volume, &within, config);
        PyBuffer_Release(&within_view);
    }
    PyBuffer_Release(&view);
    return made;
}

/* image_foreground(image, rule, within, max_hole, connectivity, threads): see sluice.image.foreground. */
static PyObject *image_foreground(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *image, *rule, *mask, *max_hole, *connectivity, *threads;
    slc_image_mask_config config;
    slc_volume_config volume;
    uint64_t neighbours = 0, n_threads = 1;
    core_image in, within;
    if (PyArg_ParseTuple(arguments, "OOOOOO:image_foreground", &image, &rule, &mask, &max_hole, &connectivity,
                         &threads) == 0 ||
        !core_mask_take(state, rule, max_hole, &config) ||
        !core_take_u64(state, connectivity, "connectivity", 26, &neighbours) ||
        !core_take_u64(state, threads, "threads", 4096, &n_threads)) {
        return NULL;
    }
    const bool told = connectivity != Py_None, no_threshold = PyTuple_Size(rule) == 1;
    if (core_is_volume(image)) {
        slc_volume_config_default(&volume);
        volume.connectivity = told ? (uint32_t)neighbours : volume.connectivity;
        volume.exec.threads = (uint32_t)n_threads;
        volume.exec.target = state->target;
        return volume_foreground(state, image, mask, &config, &volume, no_threshold);
    }
    if (!core_image_get(state, image, "image", &in)) {
        return NULL;
    }
    config.connectivity = told ? (uint32_t)neighbours : config.connectivity;
    config.exec.threads = (uint32_t)n_threads;
    if (no_threshold) { /* no threshold: what is above zero */
        config.low = in.image.type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1;
    }
    config.low = core_level(in.image.type, config.low);
    config.high = core_level(in.image.type, config.high);
    if (mask != Py_None && !core_image_get(state, mask, "mask", &within)) {
        PyBuffer_Release(&in.view);
        return NULL;
    }
    PyObject *made = foreground_of(state, &config, &in.image, mask != Py_None ? &within.image : NULL);
    if (mask != Py_None) {
        PyBuffer_Release(&within.view);
    }
    PyBuffer_Release(&in.view);
    return made;
}

/* Parts of what is above 0, into labels whose rows have `bytes`; a slice has one after the other. */
static bool split_volume(core_state *state, const slc_image_split_config *config, const slc_volume *volume,
                         uint32_t *labels, ptrdiff_t bytes, uint32_t *n)
{
    const size_t stride = slc_image_row_bytes(SLC_IMAGE_BITS, volume->width),
                 rows = volume->height * volume->depth;
    const ptrdiff_t slice = (ptrdiff_t)(stride * volume->height);
    slc_image_mask_config least;
    slc_volume_config rule;
    slc_error error = {SLC_OK, ""};
    slc_status status = SLC_OK;
    uint8_t *bits = malloc(stride * rows + 1);
    if (bits == NULL) {
        return PyErr_NoMemory() != NULL;
    }
    slc_image_mask_config_default(&least);
    least.low = volume->type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1;
    slc_volume_config_default(&rule);
    rule.exec = config->exec;
    const slc_volume foreground = {bits,  volume->width, volume->height, volume->depth, (ptrdiff_t)stride,
                                   slice, SLC_IMAGE_BITS};
    if (stride * rows > 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        status = slc_volume_mask_make(&rule, &least, volume, NULL, bits, (ptrdiff_t)stride, slice, &error);
        status = status == SLC_OK ? slc_volume_split(config, &foreground, labels, bytes,
                                                     bytes * (ptrdiff_t)volume->height, n, &error)
                                  : status;
        PyEval_RestoreThread(thread);
    }
    free(bits);
    return status == SLC_OK || core_raise(state, status, &error) != NULL;
}

static bool split_image(core_state *state, const slc_image_split_config *config, const slc_image *image,
                        uint32_t *labels, ptrdiff_t bytes, uint32_t *n)
{
    const size_t stride = slc_image_row_bytes(SLC_IMAGE_BITS, image->width);
    uint8_t *bits = malloc(stride * image->height + 1);
    const slc_image foreground = {bits, image->width, image->height, (ptrdiff_t)stride, SLC_IMAGE_BITS};
    slc_image_mask_config least;
    slc_error error = {SLC_OK, ""};
    slc_image_mask_config_default(&least);
    least.low = image->type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1;
    least.exec.threads = config->exec.threads;
    bool good = bits != NULL || PyErr_NoMemory() != NULL;
    good = good && make(state, &least, image, NULL, bits, stride);
    if (good && stride > 0 && image->height > 0) {
        PyThreadState *const thread = PyEval_SaveThread();
        const slc_status status = slc_image_split(config, &foreground, labels, bytes, n, &error);
        PyEval_RestoreThread(thread);
        good = status == SLC_OK || core_raise(state, status, &error) != NULL;
    }
    free(bits);
    return good;
}

/* image_split(foreground, out, depth, connectivity, min_area, max_area, border, threads): n; see
 * sluice.image.split. Of a volume, slices of `out` lie one below the other. */
static PyObject *image_split(PyObject *module, PyObject *arguments)
{
    static const char *const borders[] = {"any", "inside", "touching", NULL};
    core_state *state = core_state_of(module);
    PyObject *image, *out, *depth, *connectivity, *min_area, *max_area, *border, *threads;
    slc_image_split_config config;
    slc_image_labels side = {.labels = NULL};
    uint64_t neighbours = 0, n_threads = 1;
    int which = 0;
    core_image in;
    slc_volume volume = {.voxels = NULL};
    Py_buffer view, volume_view;
    slc_image_split_config_default(&config);
    if (PyArg_ParseTuple(arguments, "OOOOOOOO:image_split", &image, &out, &depth, &connectivity, &min_area,
                         &max_area, &border, &threads) == 0 ||
        !core_take_double(depth, "depth", &config.depth) ||
        (connectivity != Py_None && !core_take_u64(state, connectivity, "connectivity", 26, &neighbours)) ||
        !core_take_u64(state, min_area, "min_area", UINT64_MAX, &config.min_area) ||
        (max_area != Py_None && !core_take_u64(state, max_area, "max_area", UINT64_MAX, &config.max_area)) ||
        !core_take_word(state, border, "border", borders, &which) ||
        !core_take_u64(state, threads, "threads", 4096, &n_threads)) {
        return NULL;
    }
    const bool is_volume = core_is_volume(image);
    if (is_volume ? !core_volume_get(state, image, "foreground", &volume_view, &volume, false)
                  : !core_image_get(state, image, "foreground", &in)) {
        return NULL;
    }
    const size_t width = is_volume ? volume.width : in.image.width,
                 rows = is_volume ? volume.height * volume.depth : in.image.height;
    uint32_t n = 0;
    bool good = core_labels_get(state, out, rows, width, &view, &side);
    if (good) {
        config.connectivity = connectivity != Py_None ? (uint32_t)neighbours : is_volume ? 26 : 8;
        config.border = (slc_image_border)which;
        config.exec.target = state->target;
        config.exec.threads = (uint32_t)n_threads;
        good = is_volume ? split_volume(state, &config, &volume, side.labels, side.stride, &n)
                         : split_image(state, &config, &in.image, side.labels, side.stride, &n);
        PyBuffer_Release(&view);
    }
    PyBuffer_Release(is_volume ? &volume_view : &in.view);
    return good ? PyLong_FromUnsignedLong(n) : NULL;
}

PyMethodDef core_mask_functions[] = {
    {"image_split", image_split, METH_VARARGS, "parts of objects that touch, into an array of labels"},
    {"image_foreground", image_foreground, METH_VARARGS, "the foreground of an image, as an array of bool"},
    {NULL, NULL, 0, NULL}};
