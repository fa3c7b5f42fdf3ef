/* SPDX-License-Identifier: Apache-2.0
 * What becomes foreground: what is asked, and masks of arrays. */
#include "py_mask.h"

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

/* image_foreground(image, rule, within, max_hole, connectivity, threads): see sluice.image.foreground. */
static PyObject *image_foreground(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *image, *rule, *mask, *max_hole, *connectivity, *threads;
    slc_image_mask_config config;
    uint64_t neighbours = 8, n_threads = 1;
    core_image in, within;
    if (PyArg_ParseTuple(arguments, "OOOOOO:image_foreground", &image, &rule, &mask, &max_hole, &connectivity,
                         &threads) == 0 ||
        !core_mask_take(state, rule, max_hole, &config) ||
        !core_take_u64(state, connectivity, "connectivity", 8, &neighbours) ||
        !core_take_u64(state, threads, "threads", 4096, &n_threads) ||
        !core_image_get(state, image, "image", &in)) {
        return NULL;
    }
    config.connectivity = (uint32_t)neighbours;
    config.exec.threads = (uint32_t)n_threads;
    if (PyTuple_Size(rule) == 1) { /* no threshold: what is above zero */
        config.low = in.image.type == SLC_IMAGE_F32 ? (double)FLT_TRUE_MIN : 1;
    }
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

PyMethodDef core_mask_functions[] = {
    {"image_foreground", image_foreground, METH_VARARGS, "the foreground of an image, as an array of bool"},
    {NULL, NULL, 0, NULL}};
