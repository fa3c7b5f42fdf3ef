/* SPDX-License-Identifier: Apache-2.0
 * Schemas of the muon stations' collections. */
#include "base/columns.h"
#include <sluice/muon_types.h>

static const slc_column hits[] = {
    SOA_COLUMN(slc_muon_hits, x_mm, "mm"),       SOA_COLUMN(slc_muon_hits, y_mm, "mm"),
    SOA_COLUMN(slc_muon_hits, z_mm, "mm"),       SOA_COLUMN(slc_muon_hits, dx_mm, "mm"),
    SOA_COLUMN(slc_muon_hits, dy_mm, "mm"),      SOA_COLUMN(slc_muon_hits, tile, "id"),
    SOA_COLUMN(slc_muon_hits, station, "index"), SOA_COLUMN(slc_muon_hits, region, "index"),
    SOA_COLUMN(slc_muon_hits, time, "1"),        SOA_COLUMN(slc_muon_hits, delta_time, "1"),
    SOA_COLUMN(slc_muon_hits, uncrossed, "1"),
};
SOA_SCHEMA(slc_muon_hits, slc_muon_hits_schema, "muon_hits", hits);
