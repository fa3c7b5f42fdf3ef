/* SPDX-License-Identifier: Apache-2.0
 * Sums over the pixels of clusters, and the columns made of them. A pixel without a charge counts as 1.
 */
#include "pixel/pixel_features.h"

#include <math.h>
#include <string.h>

/* ---- entries with the same coordinates ---------------------------------------------------------- */

void slc_pixel_merge(const slc_pixel_entries *entries, slc_pixel_duplicates policy)
{
    for (uint32_t i = 0; i < entries->n; i++) {
        const uint32_t first = entries->same[i];
        const uint32_t charge = entries->charge != NULL ? entries->charge[i] : 1;
        const int64_t time = entries->time != NULL ? entries->time[i] : 0;
        uint32_t *merged = &entries->merged_charge[first];
        if (first == i || (policy == SLC_PIXEL_DUPLICATES_LARGEST && charge > *merged)) {
            *merged = charge;
            entries->merged_time[first] = time;
            entries->pick[first] = i;
        } else if (policy == SLC_PIXEL_DUPLICATES_SUM) {
            if (entries->charge != NULL) {
                *merged = charge > UINT32_MAX - *merged ? UINT32_MAX : *merged + charge;
            }
            if (time < entries->merged_time[first]) {
                entries->merged_time[first] = time;
            }
        }
    }
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* What the first pixel of a cluster always replaces; the members one by one, as a whole struct is cleared
 * slowly. */
static inline void begin_shape(slc_pixel_sums *s, unsigned axes)
{
    s->size = 0;
    for (unsigned axis = 0; axis < axes; axis++) {
        s->sum[axis] = 0;
        s->min[axis] = UINT16_MAX;
        s->max[axis] = 0;
    }
}

static inline void begin_values(slc_pixel_values *s)
{
    s->largest = UINT32_MAX;
    s->charge = 0;
    s->mass = 0;
    s->first_time = INT64_MAX;
    s->last_time = INT64_MIN;
    for (unsigned axis = 0; axis < 3; axis++) {
        s->weighted[axis] = 0;
        s->carry[axis] = 0;
    }
}

static inline void add_axis(slc_pixel_sums *s, unsigned axis, uint16_t at)
{
    s->min[axis] = at < s->min[axis] ? at : s->min[axis];
    s->max[axis] = at > s->max[axis] ? at : s->max[axis];
    s->sum[axis] += at;
}

static inline void add_shape(slc_pixel_sums *s, const slc_pixel_entries *e, uint32_t i, unsigned axes)
{
    s->size++;
    add_axis(s, 0, e->x[i]);
    add_axis(s, 1, e->y[i]);
    if (axes > 2) {
        add_axis(s, 2, e->z[i]);
    }
}

static inline void add_weighted(slc_pixel_values *s, unsigned axis, uint64_t weighted)
{
    s->weighted[axis] += weighted;
    s->carry[axis] += s->weighted[axis] < weighted;
}

static inline void add_values(slc_pixel_values *s, const slc_pixel_entries *e, uint32_t i)
{
    const bool merged = e->same != NULL;
    const uint32_t charge = merged ? e->merged_charge[i] : e->charge != NULL ? e->charge[i] : 1;
    const int64_t time = merged ? e->merged_time[i] : e->time != NULL ? e->time[i] : 0;
    const uint32_t index = merged ? e->pick[i] : i;
    s->mass += charge;
    add_weighted(s, 0, (uint64_t)charge * e->x[i]);
    add_weighted(s, 1, (uint64_t)charge * e->y[i]);
    add_weighted(s, 2, (uint64_t)charge * (e->z != NULL ? e->z[i] : 0));
    s->first_time = time < s->first_time ? time : s->first_time;
    s->last_time = time > s->last_time ? time : s->last_time;
    if (charge > s->charge || (charge == s->charge && index < s->largest)) {
        s->charge = charge;
        s->largest = index;
    }
}

static inline void add_second(slc_pixel_second *s, const slc_pixel_entries *e, uint32_t i)
{
    const uint32_t charge = e->same != NULL ? e->merged_charge[i] : e->charge != NULL ? e->charge[i] : 1;
    slc_pixel_second_add(s, e->x[i], e->y[i], charge);
}

/* Inlined for two axes and three: what is not there is not begun either, nor written. */
static inline void sum_shapes(const slc_pixel_entries *entries, const uint32_t *labels, uint32_t n,
                              slc_pixel_sums *sums, unsigned axes)
{
    const uint32_t *same = entries->same;
    for (uint32_t c = 0; c < n; c++) {
        begin_shape(&sums[c], axes);
    }
    for (uint32_t i = 0; i < entries->n; i++) {
        if (same == NULL || same[i] == i) {
            add_shape(&sums[labels[i]], entries, i, axes);
        }
    }
}

void slc_pixel_sum(const slc_pixel_entries *entries, const uint32_t *labels, uint32_t n, uint32_t features,
                   slc_pixel_sums *sums, slc_pixel_values *values, slc_pixel_second *second)
{
    if (entries->z != NULL) {
        sum_shapes(entries, labels, n, sums, 3);
    } else {
        sum_shapes(entries, labels, n, sums, 2);
    }
    if ((features & ~(uint32_t)SLC_PIXEL_SHAPE_FEATURES) == 0) {
        return;
    }
    for (uint32_t c = 0; c < n; c++) {
        begin_values(&values[c]);
    }
    for (uint32_t i = 0; i < entries->n; i++) {
        if (entries->same == NULL || entries->same[i] == i) {
            add_values(&values[labels[i]], entries, i);
        }
    }
    if ((features & SLC_PIXEL_SECOND_FEATURES) == 0) {
        return;
    }
    memset(second, 0, n * sizeof *second);
    for (uint32_t i = 0; i < entries->n; i++) {
        if (entries->same == NULL || entries->same[i] == i) {
            add_second(&second[labels[i]], entries, i);
        }
    }
}

/* ---- columns ------------------------------------------------------------------------------------ */

static void write_box(const slc_pixel_sums *s, slc_pixel_clusters *to, size_t row)
{
    to->x_min[row] = s->min[0];
    to->y_min[row] = s->min[1];
    to->x_max[row] = s->max[0];
    to->y_max[row] = s->max[1];
    if (to->z_min != NULL) {
        to->z_min[row] = s->min[2];
        to->z_max[row] = s->max[2];
    }
}

static void write_centroid(const slc_pixel_sums *s, slc_pixel_clusters *to, size_t row)
{
    to->centroid_x[row] = (double)s->sum[0] / (double)s->size;
    to->centroid_y[row] = (double)s->sum[1] / (double)s->size;
    if (to->centroid_z != NULL) {
        to->centroid_z[row] = (double)s->sum[2] / (double)s->size;
    }
}

static double weighted_mean(const slc_pixel_values *s, unsigned axis)
{
    const double sum = (double)s->carry[axis] * 0x1p64 + (double)s->weighted[axis];
    return s->mass != 0 ? sum / (double)s->mass : (double)NAN;
}

static void write_weighted(const slc_pixel_values *s, slc_pixel_clusters *to, size_t row)
{
    to->weighted_x[row] = weighted_mean(s, 0);
    to->weighted_y[row] = weighted_mean(s, 1);
    if (to->weighted_z != NULL) {
        to->weighted_z[row] = weighted_mean(s, 2);
    }
}

/* One cluster's, of those that are not made of coordinates alone. */
static void write_values(const slc_pixel_values *v, uint32_t features, slc_pixel_clusters *to, size_t row)
{
    if ((features & SLC_PIXEL_MASS) != 0) {
        to->mass[row] = v->mass;
    }
    if ((features & SLC_PIXEL_WEIGHTED) != 0) {
        write_weighted(v, to, row);
    }
    if ((features & SLC_PIXEL_TIMES) != 0) {
        to->first_time[row] = v->first_time;
        to->last_time[row] = v->last_time;
    }
    if ((features & SLC_PIXEL_LARGEST) != 0) {
        to->largest[row] = v->largest;
    }
    if ((features & SLC_PIXEL_PEAK) != 0) {
        to->peak[row] = v->charge;
    }
}

void slc_pixel_sums_write(const slc_pixel_sums *sums, const slc_pixel_values *values,
                          const slc_pixel_second *second, uint32_t n, uint32_t features,
                          slc_pixel_clusters *clusters, size_t row)
{
    for (uint32_t c = 0; c < n; c++) {
        const slc_pixel_sums *s = &sums[c];
        if ((features & SLC_PIXEL_SIZE) != 0) {
            clusters->size[row + c] = s->size;
        }
        if ((features & SLC_PIXEL_BOX) != 0) {
            write_box(s, clusters, row + c);
        }
        if ((features & SLC_PIXEL_CENTROID) != 0) {
            write_centroid(s, clusters, row + c);
        }
        write_values(&values[c], features, clusters, row + c);
        if ((features & SLC_PIXEL_SECOND_FEATURES) != 0) {
            const slc_pixel_extent extent = {s->size, s->sum[0], s->sum[1], s->max[0] - s->min[0] + 1U,
                                             s->max[1] - s->min[1] + 1U};
            slc_pixel_second_write(&second[c], &extent, features, clusters, row + c);
        }
    }
}
