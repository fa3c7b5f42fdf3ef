/* SPDX-License-Identifier: Apache-2.0
 * LHCb's first trigger level as a chain of the flow (run_flow.h): raw events of MDF and MEP files. */
#ifndef SLUICE_RUN_FLOW_HLT1_H
#define SLUICE_RUN_FLOW_HLT1_H

#include <sluice/hlt1_check.h>
#include <sluice/run_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_flow_hlt1_setup {
    const slc_hlt1_config *config;
    const slc_hlt1_geometry *geometry;
    bool truth;    /* read truth */
    bool identity; /* and which event is which */
} slc_flow_hlt1_setup;
typedef struct slc_flow_hlt1_result {
    slc_hlt1_result found;
    slc_velo_truth truth; /* with setup.truth */
    slc_velo_beyond beyond;
    slc_faults truth_faults;
    slc_lhcb_events events; /* with setup.identity */
} slc_flow_hlt1_result;
SLC_API extern const slc_flow_chain slc_flow_hlt1;

#ifdef __cplusplus
}
#endif
#endif
