/* SPDX-License-Identifier: Apache-2.0
 * Schemas and faults of the muon stations. */
#include "base/columns.h"
#include "base/faults.h"
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

static const slc_column ids[] = {
    SOA_COLUMN(slc_muon_ids, is_muon, "1"),
    SOA_COLUMN(slc_muon_ids, stations, "bits"),
    SOA_COLUMN(slc_muon_ids, chi2, "1"),
    SOA_COLUMN(slc_muon_ids, n_dof, "1"),
};
SOA_SCHEMA(slc_muon_ids, slc_muon_ids_schema, "muon_ids", ids);

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_MUON_CHANNEL, "muon_channel",
     "address of a muon board that nothing is connected to; word dropped", NULL},
    {SLC_FAULT_MUON_DUPLICATE, "muon_duplicate", "muon pad or strip sent twice; second word dropped", NULL},
    {SLC_FAULT_MUON_TELL40, "muon_tell40",
     "muon bank of version 3 (Tell40): its hits need a geometry of version 3; bank dropped", NULL},
};
SLC_FAULTS_REGISTER(fault_kinds)
