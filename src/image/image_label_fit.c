/* SPDX-License-Identifier: Apache-2.0
 * Labelling with room for components that is made as it is needed. */
#include "image/image_label_fit.h"

enum {
    FEW = 4096, /* room for components to begin with, at least */
    SHARE = 8   /* and for one in so many pixels */
};

static slc_status make_rows(const slc_schema *schema, const slc_image_labels *out, size_t rows,
                            slc_error *error)
{
    return slc_columns_reserve(schema, out->components, rows, 1) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the components");
}

/* Room for the components of nearly any image, or for a few where there is no more memory. What is not used
 * of it costs nothing. */
static slc_status make_likely_rows(const slc_schema *schema, const slc_image_labels *out,
                                   const slc_image *image, uint32_t connectivity, slc_error *error)
{
    const size_t most = slc_image_label_bound(image->width, image->height, connectivity);
    size_t rows = (image->height + SHARE - 1) / SHARE * image->width;
    rows = rows < FEW ? FEW : rows;
    rows = rows < most ? rows : most;
    return rows <= UINT32_MAX && make_rows(schema, out, rows, NULL) == SLC_OK
               ? SLC_OK
               : make_rows(schema, out, FEW, error);
}

slc_status slc_image_label_fit(slc_image_labeller *labeller, const slc_image_label_config *config,
                               const slc_schema *schema, const slc_image *image, const slc_image *grey,
                               bool inverse, slc_image_labels *out, double *seconds, slc_error *error)
{
    const bool features = out->components != NULL;
    const uint32_t connectivity = inverse ? 12 - config->connectivity : config->connectivity;
    slc_status status = features ? make_likely_rows(schema, out, image, connectivity, error) : SLC_OK;
    for (int attempt = 0; attempt < 2 && status == SLC_OK; attempt++) {
        if (features) {
            slc_columns_reset(out->components);
        }
        const double began = slc_clock_seconds();
        status = slc_image_label_run(labeller, image, grey, inverse ? NULL : out, inverse ? out : NULL,
                                     error);
        *seconds += slc_clock_seconds() - began;
        if (status != SLC_ERR_CAPACITY || !features || out->n_labels == UINT32_MAX || attempt > 0) {
            return status;
        }
        status = make_rows(schema, out, out->n_labels, error);
    }
    return status;
}
