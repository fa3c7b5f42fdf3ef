/* SPDX-License-Identifier: Apache-2.0
 * Schemas of HLT1's collections. */
#include "base/columns.h"
#include "base/faults.h"
#include <sluice/hlt1_types.h>

static const slc_column upstream[] = {
    SOA_COLUMN(slc_hlt1_upstream, velo_track, "index"),
    SOA_COLUMN(slc_hlt1_upstream, hit_begin, "index"),
    SOA_COLUMN(slc_hlt1_upstream, n_hits, "1"),
    SOA_COLUMN(slc_hlt1_upstream, x_mm, "mm"),
    SOA_COLUMN(slc_hlt1_upstream, y_mm, "mm"),
    SOA_COLUMN(slc_hlt1_upstream, z_mm, "mm"),
    SOA_COLUMN(slc_hlt1_upstream, tx, "1"),
    SOA_COLUMN(slc_hlt1_upstream, ty, "1"),
    SOA_COLUMN(slc_hlt1_upstream, q_over_p, "1/MeV"),
    SOA_COLUMN(slc_hlt1_upstream, chi2, "1"),
};
SOA_SCHEMA(slc_hlt1_upstream, slc_hlt1_upstream_schema, "upstream_tracks", upstream);

static const slc_column track_hits[] = {
    SOA_COLUMN(slc_hlt1_track_hits, hit, "index"),
};
SOA_SCHEMA(slc_hlt1_track_hits, slc_hlt1_track_hits_schema, "track_hits", track_hits);

static const slc_column long_tracks[] = {
    SOA_COLUMN(slc_hlt1_long, velo_track, "index"),
    SOA_COLUMN(slc_hlt1_long, upstream_track, "index"),
    SOA_COLUMN(slc_hlt1_long, hit_begin, "index"),
    SOA_COLUMN(slc_hlt1_long, n_hits, "1"),
    SOA_COLUMN(slc_hlt1_long, x_mm, "mm"),
    SOA_COLUMN(slc_hlt1_long, y_mm, "mm"),
    SOA_COLUMN(slc_hlt1_long, z_mm, "mm"),
    SOA_COLUMN(slc_hlt1_long, tx, "1"),
    SOA_COLUMN(slc_hlt1_long, ty, "1"),
    SOA_COLUMN(slc_hlt1_long, q_over_p, "1/MeV"),
    SOA_COLUMN(slc_hlt1_long, quality, "1"),
};
SOA_SCHEMA(slc_hlt1_long, slc_hlt1_long_schema, "long_tracks", long_tracks);

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_HLT1_UPSTREAM, "hlt1_upstream",
     "more upstream tracks than an event may have; the others were not kept", SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_CROWDED, "hlt1_crowded",
     "more than 64 hits in a track's window of a UT layer; those of larger x were not looked at",
     SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_PAIRS, "hlt1_pairs",
     "more pairs of tracks than an event may keep; those of the last tracks were not looked for",
     SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_FIT, "hlt1_fit", "long track that turns round in the field; it has no fit",
     SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_NO_UT, "event_no_ut", "no bank of the UT in the event", SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_NO_SCIFI, "event_no_scifi", "no bank of the SciFi in the event", SLC_FAULT_OF_EVENT},
    {SLC_FAULT_HLT1_NO_MUON, "event_no_muon", "no bank of the muon stations in the event",
     SLC_FAULT_OF_EVENT},
};
SLC_FAULTS_REGISTER(fault_kinds)
