/* SPDX-License-Identifier: Apache-2.0
 * Schemas of CMS's collections, and the store of digis. */
#include "base/columns.h"
#include "cms/cms_stages.h"
#include <sluice/cms_types.h>

static const slc_column digi_columns[] = {
    SOA_COLUMN(slc_cms_digis, cluster, "index"), SOA_COLUMN(slc_cms_digis, packed, "bits"),
    SOA_COLUMN(slc_cms_digis, raw_id, "id"),     SOA_COLUMN(slc_cms_digis, adc, "e"),
    SOA_COLUMN(slc_cms_digis, x, "row"),         SOA_COLUMN(slc_cms_digis, y, "column"),
    SOA_COLUMN(slc_cms_digis, module, "index"),
};
SOA_SCHEMA(slc_cms_digis, slc_cms_digis_schema, "digis", digi_columns);

static const slc_column modules[] = {
    SOA_COLUMN(slc_cms_modules, module, "index"),        SOA_COLUMN(slc_cms_modules, first_digi, "index"),
    SOA_COLUMN(slc_cms_modules, n_digis, "1"),           SOA_COLUMN(slc_cms_modules, n_clusters, "1"),
    SOA_COLUMN(slc_cms_modules, cluster_begin, "index"),
};
SOA_SCHEMA(slc_cms_modules, slc_cms_modules_schema, "modules", modules);

static const slc_column clusters[] = {
    SOA_COLUMN(slc_cms_clusters, module, "index"),   SOA_COLUMN(slc_cms_clusters, n_pixels, "1"),
    SOA_COLUMN(slc_cms_clusters, charge_e, "e"),     SOA_COLUMN(slc_cms_clusters, first_digi, "index"),
    SOA_COLUMN(slc_cms_clusters, x_min, "row"),      SOA_COLUMN(slc_cms_clusters, x_max, "row"),
    SOA_COLUMN(slc_cms_clusters, y_min, "column"),   SOA_COLUMN(slc_cms_clusters, y_max, "column"),
    SOA_COLUMN(slc_cms_clusters, charge_x_min, "e"), SOA_COLUMN(slc_cms_clusters, charge_x_max, "e"),
    SOA_COLUMN(slc_cms_clusters, charge_y_min, "e"), SOA_COLUMN(slc_cms_clusters, charge_y_max, "e"),
    SOA_COLUMN(slc_cms_clusters, x_um, "um"),        SOA_COLUMN(slc_cms_clusters, y_um, "um"),
    SOA_COLUMN(slc_cms_clusters, x_error_um, "um"),  SOA_COLUMN(slc_cms_clusters, y_error_um, "um"),
};
SOA_SCHEMA(slc_cms_clusters, slc_cms_clusters_schema, "clusters", clusters);

/* Where columns begin, in multiples of the rounded number of 16-bit words: the 32-bit columns first. */
enum { CLUSTER = 0, PACKED = 2, RAW_ID = 4, ADC = 6, X = 7, Y = 8, MODULE = 9, SLOTS = 10 };

size_t slc_cms_store_rounded(size_t digis)
{
    const size_t words = SLC_COLUMN_ALIGN / sizeof(uint16_t);
    return (digis + words - 1) / words * words;
}

size_t slc_cms_store_bound(size_t digis)
{
    return SLOTS * sizeof(uint16_t) * slc_cms_store_rounded(digis);
}

void slc_cms_store_view(void *store, size_t digis, slc_cms_digis *view)
{
    const size_t rounded = slc_cms_store_rounded(digis);
    uint16_t *words = store;
    *view = (slc_cms_digis){.head = {.size = digis, .capacity = rounded}};
    view->cluster = (int32_t *)(void *)(words + CLUSTER * rounded);
    view->packed = (uint32_t *)(void *)(words + PACKED * rounded);
    view->raw_id = (uint32_t *)(void *)(words + RAW_ID * rounded);
    view->adc = words + ADC * rounded;
    view->x = words + X * rounded;
    view->y = words + Y * rounded;
    view->module = words + MODULE * rounded;
}
