/* SPDX-License-Identifier: Apache-2.0
 * Cuts on clusters in the chain of sparse pixels. */
#include "base/columns.h"
#include "run/run_flow_pixel_part.h"

#include <string.h>

slc_status slc_pixel_filter_parse(const char *text, const slc_schema *schema, bool energies,
                                  slc_columns_filter *filter, slc_error *error)
{
    static const slc_columns_alias energy = {"energy_kev", "mass", 1000}; /* which is in eV */
    return slc_columns_filter_parse(text, schema, energies ? &energy : NULL, "clusters", filter, error);
}

void slc_pixel_keep_row(const slc_schema *schema, slc_pixel_clusters *clusters, size_t row, size_t kept)
{
    for (size_t i = 0; i < schema->n_columns && kept != row; i++) {
        char *data = *slc_column_pointer(clusters, &schema->columns[i]);
        const size_t width = slc_type_size(schema->columns[i].type);
        memcpy(data + kept * width, data + row * width, width);
    }
}

uint64_t slc_pixel_filter_run(const slc_columns_filter *filter, const slc_schema *schema,
                              slc_pixel_clusters *clusters)
{
    slc_columns *head = &clusters->head;
    const size_t n = head->size;
    size_t kept = 0;
    uint32_t event = 0;
    for (size_t row = 0; row < n; row++) {
        for (; event < head->n_events && head->event_offset[event + 1] <= row; event++) {
            head->event_offset[event + 1] = (uint32_t)kept;
        }
        if (slc_columns_filter_holds(filter, clusters, row)) {
            slc_pixel_keep_row(schema, clusters, row, kept++);
        }
    }
    for (; event < head->n_events; event++) {
        head->event_offset[event + 1] = (uint32_t)kept;
    }
    head->size = kept;
    return n - kept;
}
