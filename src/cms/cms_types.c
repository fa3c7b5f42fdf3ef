/* SPDX-License-Identifier: Apache-2.0
 * Schemas of CMS's collections, and the store of digis. */
#include "base/columns.h"
#include "base/faults.h"
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

static const slc_column places[] = {
    SOA_COLUMN(slc_cms_places, raw_id, "id"),
    SOA_COLUMN(slc_cms_places, x_mm, "mm"),
    SOA_COLUMN(slc_cms_places, y_mm, "mm"),
    SOA_COLUMN(slc_cms_places, z_mm, "mm"),
};
SOA_SCHEMA(slc_cms_places, slc_cms_places_schema, "places", places);

static const slc_column events[] = {
    SOA_COLUMN(slc_cms_events, level1_id, "id"),
    SOA_COLUMN(slc_cms_events, bunch_crossing, "1"),
    SOA_COLUMN(slc_cms_events, fragments, "1"),
    SOA_COLUMN(slc_cms_events, others, "1"),
};
SOA_SCHEMA(slc_cms_events, slc_cms_events_schema, "events", events);

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

/* ---- faults ------------------------------------------------------------------------------------ */

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_CMS_ROC_INVALID, "cms_roc_invalid", "error word 25, invalid ROC", NULL},
    {SLC_FAULT_CMS_GAP, "cms_gap", "error word 26, gap", NULL},
    {SLC_FAULT_CMS_DUMMY, "cms_dummy", "error word 27, dummy", NULL},
    {SLC_FAULT_CMS_FIFO, "cms_fifo", "error word 28, FIFO nearly full", NULL},
    {SLC_FAULT_CMS_TIMEOUT, "cms_timeout", "error word 29, time-out", NULL},
    {SLC_FAULT_CMS_TBM_TRAILER, "cms_tbm_trailer", "error word 30, trailer of the token bit manager", NULL},
    {SLC_FAULT_CMS_PKAM, "cms_pkam", "error word 30 with reset, PKAM (40)", NULL},
    {SLC_FAULT_CMS_EVENT_NUMBER, "cms_event_number", "error word 31, event number", NULL},
    {SLC_FAULT_CMS_CHANNEL, "cms_channel", "a link with nothing connected (35); word dropped", NULL},
    {SLC_FAULT_CMS_ROC_ID, "cms_roc_id", "a chip that its link does not have (36); word dropped", NULL},
    {SLC_FAULT_CMS_PIXEL, "cms_pixel", "a pixel outside of its chip or module (37); dropped", NULL},
    {SLC_FAULT_CMS_ORDER, "cms_order", "chips of a link out of order (38); word kept", NULL},
    {SLC_FAULT_CMS_HEADER, "cms_header", "no header, or of another source (32); fragment dropped", NULL},
    {SLC_FAULT_CMS_TRAILER, "cms_trailer", "no trailer (33); fragment dropped", NULL},
    {SLC_FAULT_CMS_LENGTH, "cms_length", "trailer's length is not the fragment's (34); fragment kept", NULL},
    {SLC_FAULT_CMS_CRC, "cms_crc", "trailer tells of a wrong checksum (39); fragment kept", NULL},
    {SLC_FAULT_CMS_EVENT, "cms_event", "a fragment's size or their number is wrong, or the event is cut",
     NULL},
    {SLC_FAULT_CMS_MODULE_CROWDED, "cms_module_crowded",
     "more digis in a module than allowed; the others are in no cluster",
     "event %e, module %m, digi %o of the event"},
};
SLC_FAULTS_REGISTER(fault_kinds)
