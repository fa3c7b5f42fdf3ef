/* SPDX-License-Identifier: Apache-2.0
 * What may be asked of labelling, and labellers that are kept for the next call with the same configuration,
 * so that a small image costs little more than its labelling. */
#include "py_image.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_PIXELS = 1 << 24 /* the labeller of a larger image is closed after it */ };

/* ---- labellers ----------------------------------------------------------------------------------- */

static bool same_device(const core_labeller *one, const slc_image_label_config *config)
{
    return strcmp(one->device, config->exec.device != NULL ? config->exec.device : "") == 0;
}

static bool same_config(const core_labeller *one, const slc_image_label_config *b)
{
    const slc_image_label_config *a = &one->config;
    return a->algorithm == b->algorithm && a->connectivity == b->connectivity &&
           a->threshold == b->threshold && a->features == b->features && a->min_area == b->min_area &&
           a->max_area == b->max_area && a->border == b->border && a->exec.threads == b->exec.threads &&
           same_device(one, b);
}

void core_labeller_close(core_labeller *one)
{
    slc_image_label_close(one->labeller);
    *one = (core_labeller){.labeller = NULL};
}

void core_labellers_clear(core_state *state)
{
    for (size_t i = 0; i < CORE_LABELLERS; i++) {
        core_labeller_close(&state->labellers[i]);
    }
}

/* Of those that are kept: one of the configuration, or else the one that was not used for longest. */
static core_labeller *choose(core_state *state, const slc_image_label_config *config)
{
    core_labeller *chosen = NULL;
    for (size_t i = 0; i < CORE_LABELLERS; i++) {
        core_labeller *one = &state->labellers[i];
        if (one->busy) {
            continue;
        }
        if (one->labeller != NULL && same_config(one, config)) {
            return one;
        }
        if (chosen == NULL || one->used < chosen->used) {
            chosen = one;
        }
    }
    if (chosen == NULL) {
        chosen = calloc(1, sizeof *chosen);
        if (chosen == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        chosen->passing = true;
    }
    return chosen;
}

/* Opened for the configuration, with room. */
static slc_status make_ready(core_labeller *one, const slc_image_label_config *config, size_t width,
                             size_t height, slc_error *error)
{
    slc_status status = SLC_OK;
    if (one->labeller == NULL || !same_config(one, config)) {
        const bool passing = one->passing;
        core_labeller_close(one);
        one->passing = passing;
        status = slc_image_label_open(config, &one->labeller, error);
        one->config = *config;
        one->config.exec.device = NULL;
        (void)PyOS_snprintf(one->device, sizeof one->device, "%s",
                            config->exec.device != NULL ? config->exec.device : "");
    }
    if (status == SLC_OK && (one->width < width || one->height < height)) {
        status = slc_image_label_reserve(one->labeller, width, height, error);
        one->width = width > one->width ? width : one->width;
        one->height = height > one->height ? height : one->height;
    }
    return status;
}

core_labeller *core_labeller_take(core_state *state, core_labeller *own, const slc_image_label_config *config,
                                  size_t width, size_t height)
{
    core_labeller *chosen = own != NULL && !own->busy ? own : choose(state, config);
    slc_error error = {SLC_OK, ""};
    if (chosen == NULL) {
        return NULL;
    }
    const slc_status status = make_ready(chosen, config, width, height, &error);
    if (status != SLC_OK) {
        const bool passing = chosen->passing;
        (void)core_raise(state, status, &error);
        core_labeller_close(chosen);
        if (passing) {
            free(chosen);
        }
        return NULL;
    }
    chosen->busy = true;
    chosen->used = ++state->clock;
    return chosen;
}

void core_labeller_give(core_labeller *one)
{
    const bool passing = one->passing;
    one->busy = false;
    if (passing || one->width > KEPT_PIXELS / (one->height > 0 ? one->height : 1)) {
        core_labeller_close(one);
    }
    if (passing) {
        free(one);
    }
}

/* ---- what is asked ------------------------------------------------------------------------------- */

static bool take_device(core_state *state, PyObject *value, image_setup *to)
{
    if (value == NULL || value == Py_None) {
        return true;
    }
    PyObject *bytes = PyUnicode_Check(value) ? PyUnicode_AsUTF8String(value) : NULL;
    const char *text = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
    const bool good = text != NULL && strlen(text) < sizeof to->device &&
                      (strcmp(text, "cpu") == 0 || strcmp(text, "all") == 0 || strncmp(text, "cuda", 4) == 0);
    if (good && strcmp(text, "cpu") != 0) {
        (void)PyOS_snprintf(to->device, sizeof to->device, "%s", text);
    }
    Py_XDECREF(bytes);
    if (!good && PyErr_Occurred() == NULL) {
        PyErr_Format(PyUnicode_Check(value) ? state->usage_error : PyExc_TypeError,
                     "device is to be 'cpu', 'cuda', 'cuda:N', 'cuda:N,M' or 'all', not %R", value);
    }
    return good;
}

static bool take_algorithm(core_state *state, PyObject *value, image_setup *to)
{
    const char *(*name_of)(size_t) = to->device[0] != '\0' ? slc_image_cuda_algorithm_name
                                                           : slc_image_algorithm_name;
    if (value == NULL || value == Py_None ||
        (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "auto") == 0)) {
        return true;
    }
    for (size_t i = 0; PyUnicode_Check(value) && name_of(i) != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(value, name_of(i)) == 0) {
            to->config.algorithm = name_of(i);
            return true;
        }
    }
    PyErr_Format(state->usage_error, "algorithm is to be 'auto' or one of image.algorithms(%s), not %R",
                 to->device[0] != '\0' ? "'cuda'" : "", value);
    return false;
}

bool core_setup_take(core_state *state, PyObject *const *values, image_setup *to)
{
    static const char *const borders[] = {"any", "inside", "touching", NULL};
    uint64_t connectivity = 8, threads = 1;
    int border = SLC_IMAGE_BORDER_ANY;
    bool none = true;
    *to = (image_setup){.no_threshold = values[SETUP_THRESHOLD] == NULL ||
                                        values[SETUP_THRESHOLD] == Py_None};
    slc_image_label_config *config = &to->config;
    slc_image_label_config_default(config);
    config->exec.threads = 1;
    config->exec.target = state->target;
    for (size_t i = 0; i < SETUP_ARGUMENTS; i++) {
        none = none && values[i] == NULL;
    }
    if (none) {
        return true;
    }
    if (!core_take_u64(state, values[SETUP_CONNECTIVITY], "connectivity", 26, &connectivity) ||
        !core_take_double(values[SETUP_THRESHOLD], "threshold", &config->threshold) ||
        !core_take_bool(values[SETUP_INVERSE], "inverse", &to->inverse) ||
        !core_take_u64(state, values[SETUP_MIN_AREA], "min_area", UINT64_MAX, &config->min_area) ||
        !core_take_u64(state, values[SETUP_MAX_AREA], "max_area", UINT64_MAX, &config->max_area) ||
        !core_take_word(state, values[SETUP_BORDER], "border", borders, &border) ||
        !core_take_u64(state, values[SETUP_THREADS], "threads", 4096, &threads) ||
        !take_device(state, values[SETUP_DEVICE], to) ||
        !take_algorithm(state, values[SETUP_ALGORITHM], to)) {
        return false;
    }
    /* Before anything is made for it: which of them go with an image and which with a volume, the labeller
     * says. */
    if (connectivity != 4 && connectivity != 8 && connectivity != 6 && connectivity != 18 &&
        connectivity != 26) {
        PyErr_Format(state->usage_error,
                     "connectivity is to be 4 or 8 of an image, 6, 18 or 26 of a volume, not %llu",
                     (unsigned long long)connectivity);
        return false;
    }
    config->connectivity = (uint32_t)connectivity;
    config->border = (slc_image_border)border;
    config->exec.threads = (uint32_t)threads;
    return true;
}

bool core_features_take(core_state *state, PyObject *value, uint32_t most, uint32_t *features)
{
    *features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_CENTROID;
    if (value == NULL || value == Py_None) {
        return true;
    }
    if (PyUnicode_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "features are to be a list of names, not a single text");
        return false;
    }
    PyObject *list = PySequence_List(value);
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : -1;
    *features = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyList_GetItem(list, i);
        uint32_t bit = 1;
        while (bit <= SLC_IMAGE_MEASURES && PyUnicode_Check(name) &&
               PyUnicode_CompareWithASCIIString(name, slc_image_feature_name(bit)) != 0) {
            bit <<= 1;
        }
        if (!PyUnicode_Check(name) || bit > most) {
            PyErr_Format(state->usage_error, "features has %R, which is not among image.%s%s", name,
                         most == SLC_IMAGE_MEASURES ? "MEASURES" : "FEATURES",
                         bit > most && bit <= SLC_IMAGE_MEASURES
                             ? "; it is measured on the label image, by image.measure()"
                             : "");
            Py_DECREF(list);
            return false;
        }
        *features |= bit;
    }
    Py_XDECREF(list);
    return n >= 0;
}

double core_level(slc_image_type type, double threshold)
{
    return type == SLC_IMAGE_F32 && fabs(threshold) <= (double)FLT_MAX ? (double)(float)threshold : threshold;
}

slc_image_label_config core_setup_config(const image_setup *setup, slc_image_type type)
{
    slc_image_label_config config = setup->config;
    config.exec.device = setup->device[0] != '\0' ? setup->device : NULL;
    /* What is above zero: 1 in integers, in floats the smallest number. */
    config.threshold = setup->no_threshold && type == SLC_IMAGE_F32 ? 0x1p-149
                                                                    : core_level(type, config.threshold);
    return config;
}
