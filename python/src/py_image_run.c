/* SPDX-License-Identifier: Apache-2.0
 * Image files through the library's flow, as `sluice label` has it: a page is a batch. */
#include "py_columns.h"
#include "py_flow.h"
#include "py_image.h"
#include "py_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the flow of the library needs for as long as it runs. */
typedef struct run_setup {
    image_setup asked;
    slc_image_label_config config;
    slc_flow_image_setup flow;
    slc_image_mask_config mask;
    slc_image_split_config split;
    core_image within; /* of flow.within */
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    uint64_t told,
        without; /* pages of the input at hand of which there is something to tell; without a threshold */
    char first[512];
    char filter[1024];
} run_setup;

static const void *find_components(const running *r, const slc_flow_item *item, const slc_schema **schema)
{
    *schema = &((const run_setup *)r->setup)->schema;
    return &((const slc_flow_image_result *)item->result)->components;
}

static const group page_groups[] = {{.name = "components", .find = find_components}, {.name = NULL}};

static void no_faults(const slc_flow_item *item, slc_faults *into)
{
    (void)item;
    (void)into;
}

/* Keeps what is to be told of a page for the end of its input. */
static slc_status take_page(running *r, slc_flow_item *item, slc_error *error)
{
    run_setup *setup = r->setup;
    const slc_flow_image_result *result = item->result;
    const char *text = result->fault != NULL ? result->fault : item->damage;
    if (text[0] == '\0') {
        return SLC_OK;
    }
    if (r->on_fault == ON_FAULT_RAISE) {
        return slc_fail(error, SLC_ERR_STRICT, "%s: %s", item->path, text);
    }
    if (setup->told++ == 0) {
        (void)PyOS_snprintf(setup->first, sizeof setup->first, "%s", text);
    }
    setup->without += result->fault != NULL;
    return SLC_OK;
}

static void end_input(running *r, const slc_flow_item *end, core_lines *lines)
{
    run_setup *setup = r->setup;
    if (setup->told > 0) {
        core_tell(lines,
                  "%s: %llu pages with something to tell, %llu of them without components for want of a "
                  "threshold; first: %s",
                  end->path, (unsigned long long)setup->told, (unsigned long long)setup->without,
                  setup->first);
    }
    if (end->damage[0] != '\0') {
        core_tell(lines, "%s: %s", end->path, end->damage);
    }
    setup->told = setup->without = 0;
}

/* Rows of the item's memory, which the owner keeps. */
static PyObject *plane(core_state *state, PyObject *owner, const slc_image *image, slc_type type,
                       const void *rows)
{
    PyObject *flat = core_array(state, owner, rows, image->width * image->height, type);
    PyObject *made = flat != NULL ? PyObject_CallMethod(flat, "reshape", "nn", (Py_ssize_t)image->height,
                                                        (Py_ssize_t)image->width)
                                  : NULL;
    Py_XDECREF(flat);
    return made;
}

static PyObject *attribute(core_state *state, PyObject *owner, const running *r, const slc_flow_item *item,
                           const char *name)
{
    const slc_flow_image_result *result = item->result;
    if (strcmp(name, "n_components") == 0) {
        return PyLong_FromUnsignedLong(result->n_labels);
    }
    if (strcmp(name, "pixel_um") == 0) {
        return result->pixel_from != NULL ? Py_BuildValue("(dd)", result->pixel_x_um, result->pixel_y_um)
                                          : Py_NewRef(Py_None);
    }
    if (strcmp(name, "n_filtered") == 0) {
        return PyLong_FromUnsignedLong(result->filtered);
    }
    if (strcmp(name, "threshold") == 0) {
        return PyFloat_FromDouble(result->fault != NULL ? (double)NAN : result->threshold);
    }
    if (strcmp(name, "image") == 0) {
        return core_page_array(state, &result->image);
    }
    if (strcmp(name, "labels") != 0) {
        return NULL;
    }
    return ((const run_setup *)r->setup)->flow.labels
               ? plane(state, owner, &result->image, SLC_TYPE_I32, result->labels)
               : PyErr_Format(PyExc_AttributeError,
                              "the batch has no labels: run() makes them with labels=True");
}

static void free_setup(void *at)
{
    run_setup *setup = at;
    if (setup->flow.within != NULL) {
        PyBuffer_Release(&setup->within.view);
    }
    free(setup);
}

static const char *const page_names[] = {"image",     "labels", "n_components", "n_filtered", "pixel_um",
                                         "threshold", NULL};
static const core_chain image_chain = {.flow = &slc_flow_image,
                                       .groups = page_groups,
                                       .faults = no_faults,
                                       .take = take_page,
                                       .end = end_input,
                                       .free = free_setup,
                                       .attribute = attribute,
                                       .names = page_names};

enum {
    COMMON,
    FEATURES = COMMON + 1 + SETUP_ARGUMENTS,
    LABELS,
    OTSU,
    RULE,
    MASK,
    MAX_HOLE,
    SPLIT,
    FILTER,
    LARGEST,
    ARGUMENTS
};
static const char *const names[ARGUMENTS] = {"common", SETUP_NAMES,  "features", "labels", "otsu",   "rule",
                                             "mask",   "fill_holes", "split",    "filter", "largest"};

/* What the threshold alone does not say. */
static bool take_mask(core_state *state, PyObject *const *values, run_setup *setup)
{
    if (!core_mask_take(state, values[RULE], values[MAX_HOLE], &setup->mask)) {
        return false;
    }
    if (values[MASK] != Py_None) {
        if (!core_image_get(state, values[MASK], "mask", &setup->within)) {
            return false;
        }
        setup->flow.within = &setup->within.image;
    }
    if (values[SPLIT] != Py_None) {
        slc_image_split_config_default(&setup->split);
        if (!core_take_double(values[SPLIT], "split", &setup->split.depth)) {
            return false;
        }
        setup->flow.split = &setup->split;
    }
    if (setup->mask.rule == SLC_IMAGE_RULE_BAND || setup->mask.rule == SLC_IMAGE_RULE_HYSTERESIS) {
        setup->config.threshold = setup->mask.low;
    }
    if (setup->mask.rule != SLC_IMAGE_RULE_LEAST || setup->flow.within != NULL ||
        setup->mask.max_hole_area > 0 || values[SPLIT] != Py_None) {
        setup->flow.mask = &setup->mask;
    }
    return true;
}

/* Which components are kept. */
static bool take_keep(core_state *state, PyObject *const *values, run_setup *setup)
{
    uint64_t largest = 0;
    Py_ssize_t n = 0;
    const char *text = values[FILTER] == Py_None ? "" : PyUnicode_AsUTF8AndSize(values[FILTER], &n);
    if (text == NULL || (size_t)n >= sizeof setup->filter || memchr(text, 0, (size_t)n) != NULL) {
        PyErr_Clear();
        PyErr_Format(state->usage_error, "filter is to be terms as 'area>=20 && solidity>0.9', not %R",
                     values[FILTER]);
        return false;
    }
    memcpy(setup->filter, text, (size_t)n + 1);
    setup->flow.filter = values[FILTER] != Py_None ? setup->filter : NULL;
    if (!core_take_u64(state, values[LARGEST], "largest", UINT32_MAX, &largest)) {
        return false;
    }
    setup->flow.largest = (uint32_t)largest;
    return true;
}

static bool take_setup(core_state *state, PyObject *const *values, run_setup *setup)
{
    if (!core_setup_take(state, values + 1, &setup->asked) ||
        !core_features_take(state, values[FEATURES], SLC_IMAGE_MEASURES, &setup->asked.config.features) ||
        !core_take_bool(values[LABELS], "labels", &setup->flow.labels) ||
        !core_take_bool(values[OTSU], "otsu", &setup->flow.otsu)) {
        return false;
    }
    setup->config = core_setup_config(&setup->asked, SLC_IMAGE_U8);
    setup->schema = slc_image_components_schema(setup->config.features, setup->columns);
    setup->flow.config = &setup->config;
    setup->flow.inverse = setup->asked.inverse;
    return take_mask(state, values, setup) && take_keep(state, values, setup);
}

/* image_run(common, connectivity …, features, labels, otsu): see sluice.image.run. */
static PyObject *image_run(PyObject *module, PyObject *const *arguments, Py_ssize_t n, PyObject *given)
{
    core_state *state = core_state_of(module);
    PyObject *values[ARGUMENTS];
    opening o;
    if (!core_arguments("image_run", arguments, n, given, names, ARGUMENTS, ARGUMENTS, values)) {
        return NULL;
    }
    if (n != ARGUMENTS) {
        PyErr_Format(PyExc_TypeError, "image_run() takes %d arguments", (int)ARGUMENTS);
        return NULL;
    }
    run_setup *setup = calloc(1, sizeof *setup);
    if (setup == NULL) {
        return PyErr_NoMemory();
    }
    if (!core_flow_begin(state, &image_chain, values[COMMON], setup, &o)) {
        return NULL;
    }
    if (!take_setup(state, values, setup)) {
        return core_flow_drop(&o);
    }
    /* One page at a time is in memory, besides those that the caller holds, unless several files go to
     * several workers. */
    o.config.n_slots = o.config.n_paths > 1 && o.config.exec.threads != 1 ? 0 : 1;
    return core_flow_open(state, &o, &setup->flow);
}

PyMethodDef core_image_run_functions[] = {{"image_run", (PyCFunction)(void (*)(void))image_run,
                                           METH_FASTCALL | METH_KEYWORDS, "pages of files, labelled"},
                                          {NULL, NULL, 0, NULL}};
