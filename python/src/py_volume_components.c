/* SPDX-License-Identifier: Apache-2.0
 * Components of volumes: which features there are, and collections of them. */
#include "py_image.h"

#include <stdlib.h>

/* Features have the names that they have of images; `area` is the volume. */
bool core_volume_features_take(core_state *state, PyObject *value, uint32_t most, uint32_t *features)
{
    static const uint32_t of[][2] = {
        {SLC_IMAGE_AREA, SLC_VOLUME_SIZE},     {SLC_IMAGE_BOX, SLC_VOLUME_BOX},
        {SLC_IMAGE_FIRST, SLC_VOLUME_FIRST},   {SLC_IMAGE_SUMS, SLC_VOLUME_SUMS},
        {SLC_IMAGE_SECOND, SLC_VOLUME_SECOND}, {SLC_IMAGE_CENTROID, SLC_VOLUME_CENTROID},
        {SLC_IMAGE_GREY, SLC_VOLUME_GREY},     {SLC_IMAGE_SPREAD, SLC_VOLUME_SPREAD},
        {SLC_IMAGE_LABEL, SLC_VOLUME_LABEL}};
    uint32_t left = 0;
    if (!core_features_take(state, value, SLC_IMAGE_MEASURES, &left)) {
        return false;
    }
    *features = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if ((left & of[i][0]) != 0 && (of[i][1] & most) != 0) {
            *features |= of[i][1];
            left &= ~of[i][0];
        }
    }
    if (left != 0) {
        PyErr_Format(state->usage_error,
                     "features has '%s'; a volume has 'area' (its column is volume), 'box', 'first', "
                     "'sums', 'second', 'centroid', 'grey' and 'spread'",
                     slc_image_feature_name(left & (~left + 1)));
    }
    return left == 0;
}

static void found_free(void *memory)
{
    volume_found *f = memory;
    slc_columns_clear(&f->schema, &f->components);
    free(f);
}

PyObject *core_volume_found_new(core_state *state, uint32_t features, volume_found **found)
{
    volume_found *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return PyErr_NoMemory();
    }
    f->schema = slc_volume_components_schema(features, f->columns);
    *found = f;
    return core_owner_new(state, f, found_free);
}
