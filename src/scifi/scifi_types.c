/* SPDX-License-Identifier: Apache-2.0
 * Schemas of the SciFi's collections. */
#include "base/columns.h"
#include "base/faults.h"
#include <sluice/scifi_types.h>

static const slc_column hits[] = {
    SOA_COLUMN(slc_scifi_hits, x_mm, "mm"),     SOA_COLUMN(slc_scifi_hits, z_mm, "mm"),
    SOA_COLUMN(slc_scifi_hits, y_end_mm, "mm"), SOA_COLUMN(slc_scifi_hits, channel, "id"),
    SOA_COLUMN(slc_scifi_hits, zone, "index"),  SOA_COLUMN(slc_scifi_hits, size, "1"),
};
SOA_SCHEMA(slc_scifi_hits, slc_scifi_hits_schema, "scifi_hits", hits);

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_SCIFI_CHANNEL, "scifi_channel", "channel that the SciFi does not have; dropped", NULL},
    {SLC_FAULT_SCIFI_EDGES, "scifi_edges", "large cluster without its end; dropped", NULL},
    {SLC_FAULT_SCIFI_ORDER, "scifi_order", "words of a SciFi bank that do not rise; sorted", NULL},
};
SLC_FAULTS_REGISTER(fault_kinds)
