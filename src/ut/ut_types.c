/* SPDX-License-Identifier: Apache-2.0
 * Schemas of the UT's collections. */
#include "base/columns.h"
#include "base/faults.h"
#include <sluice/ut_types.h>

/* The layers are tilted by 0, +5, -5, 0 degrees. */
const float slc_ut_dxdy[SLC_UT_LAYERS] = {0.0f, 0.08748867f, -0.0874886f, 0.0f};

static const slc_column hits[] = {
    SOA_COLUMN(slc_ut_hits, x_mm, "mm"),       SOA_COLUMN(slc_ut_hits, z_mm, "mm"),
    SOA_COLUMN(slc_ut_hits, y_begin_mm, "mm"), SOA_COLUMN(slc_ut_hits, y_end_mm, "mm"),
    SOA_COLUMN(slc_ut_hits, weight, "1/mm^2"), SOA_COLUMN(slc_ut_hits, channel, "id"),
    SOA_COLUMN(slc_ut_hits, layer, "index"),
};
SOA_SCHEMA(slc_ut_hits, slc_ut_hits_schema, "ut_hits", hits);

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_UT_CHANNEL, "ut_channel", "strip that the UT does not have; dropped", NULL},
    {SLC_FAULT_UT_COUNTERS, "ut_counters", "counters of a UT bank say that it is bad; bank dropped", NULL},
};
SLC_FAULTS_REGISTER(fault_kinds)
