/* SPDX-License-Identifier: Apache-2.0
 * Spans of rows that are joined.
 */
#include "image/image_volume_spans.h"

slc_volume_step slc_volume_step_of(uint32_t connectivity, int number)
{
    static const int steps[SLC_VOLUME_STEPS][2] = {{-1, 0}, {0, -1}, {-1, -1}, {1, -1}};
    const bool straight = number < 2;
    return (slc_volume_step){.y = steps[number][0],
                             .z = steps[number][1],
                             .joins = straight || connectivity != 6,
                             .reach = connectivity == 26 || (connectivity == 18 && straight) ? 1 : 0};
}

bool slc_volume_step_to(size_t at, int step, size_t side, bool periodic, size_t *to, bool *wraps)
{
    const bool low = step < 0 && at == 0, high = step > 0 && at + 1 == side;
    if ((low || high) && !periodic) {
        return false;
    }
    *wraps = *wraps || low || high;
    *to = low ? side - 1 : high ? 0 : step < 0 ? at - 1 : at + (size_t)step;
    return true;
}

void slc_volume_spans_join(slc_volume_spans row, slc_volume_spans other, uint32_t reach,
                           slc_volume_unite unite, void *context)
{
    size_t from = 0;
    for (size_t i = 0; i < row.n; i++) {
        slc_volume_span *a = &row.at[i];
        while (from < other.n && other.at[from].behind + reach <= a->first) {
            from++;
        }
        for (size_t k = from; k < other.n && other.at[k].first < a->behind + reach; k++) {
            if (other.at[k].value == a->value) {
                unite(context, a, &other.at[k]);
            }
        }
    }
}

void slc_volume_spans_wrap(slc_volume_spans row, slc_volume_spans other, size_t width, slc_volume_unite unite,
                           void *context)
{
    if (row.n == 0 || other.n == 0) {
        return;
    }
    slc_volume_span *first = &row.at[0], *last = &row.at[row.n - 1];
    slc_volume_span *other_first = &other.at[0], *other_last = &other.at[other.n - 1];
    if (first->first == 0 && other_last->behind == width && first->value == other_last->value) {
        unite(context, first, other_last);
    }
    if (last->behind == width && other_first->first == 0 && last->value == other_first->value) {
        unite(context, last, other_first);
    }
}

uint64_t slc_volume_value(const void *row, slc_image_type type, size_t x)
{
    return type == SLC_IMAGE_U8    ? ((const uint8_t *)row)[x]
           : type == SLC_IMAGE_U16 ? ((const uint16_t *)row)[x]
           : type == SLC_IMAGE_U32 ? ((const uint32_t *)row)[x]
                                   : ((const uint64_t *)row)[x];
}
