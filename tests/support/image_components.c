/* SPDX-License-Identifier: Apache-2.0
 * The contract of a collection of components, whatever made it. */
#include "base/columns.h"
#include "support/image_run.h"

/* Sums beyond 2^53 are rounded before they are divided, so a mean may miss by a few units of the last place.
 */
static bool is_between(double mean, uint32_t low, uint32_t high)
{
    const double slack = 0x1p-50 * high;
    return mean >= low - slack && mean <= high + slack;
}

/* What one component says about itself; NULL where nothing is wrong. */
static const char *component_wrong(uint32_t features, const slc_image_components *c, size_t i)
{
    const bool area = (features & SLC_IMAGE_AREA) != 0, box = (features & SLC_IMAGE_BOX) != 0;
    if (area && c->area[i] == 0) {
        return "a component without a pixel";
    }
    if (box && (c->x_min[i] > c->x_max[i] || c->y_min[i] > c->y_max[i])) {
        return "a box that ends before it begins";
    }
    if (area && box) {
        const uint64_t width = (uint64_t)c->x_max[i] - c->x_min[i] + 1;
        const uint64_t height = (uint64_t)c->y_max[i] - c->y_min[i] + 1;
        /* A connected component has a pixel in every row and in every column of its box. */
        if (c->area[i] > width * height || c->area[i] < width || c->area[i] < height) {
            return "an area that does not fit its box";
        }
    }
    if (box && (features & SLC_IMAGE_FIRST) != 0 &&
        (c->first_x[i] < c->x_min[i] || c->first_x[i] > c->x_max[i] || c->first_y[i] != c->y_min[i])) {
        return "a first pixel outside of the first row of its box";
    }
    if (box && (features & SLC_IMAGE_CENTROID) != 0 &&
        !(is_between(c->x[i], c->x_min[i], c->x_max[i]) && is_between(c->y[i], c->y_min[i], c->y_max[i]))) {
        return "a centroid outside of its box";
    }
    if ((features & SLC_IMAGE_SHAPE) != 0 && !(c->minor[i] > 0 && c->minor[i] <= c->major[i] &&
                                               c->eccentricity[i] >= 0 && c->eccentricity[i] <= 1)) {
        return "axes that no ellipse has";
    }
    return NULL;
}

bool image_components_check(uint32_t features, const slc_image_components *components, const char **why)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    const slc_columns *head = &components->head;
    if (!slc_columns_check(&schema, components, why)) {
        return false;
    }
    const char *wrong = NULL;
    for (size_t i = 0; i < head->size && wrong == NULL; i++) {
        wrong = component_wrong(features, components, i);
    }
    for (uint32_t e = 0; e < head->n_events && (features & SLC_IMAGE_FIRST) != 0 && wrong == NULL; e++) {
        for (size_t i = (size_t)head->event_offset[e] + 1; i < head->event_offset[e + 1]; i++) {
            const uint32_t y0 = components->first_y[i - 1], y1 = components->first_y[i];
            if (y0 > y1 || (y0 == y1 && components->first_x[i - 1] >= components->first_x[i])) {
                wrong = "first pixels that do not grow with the labels";
            }
        }
    }
    if (wrong != NULL && why != NULL) {
        *why = wrong;
    }
    return wrong == NULL;
}
