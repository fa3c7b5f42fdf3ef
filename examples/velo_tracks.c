/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of LHCb events x all cores x the VELO's chain: how many tracks there are, and what reading lost.
 *
 *     velo_tracks FILE.mdf...
 */
#include <sluice/sluice.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    slc_velo_config velo;
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item;
    slc_error error;
    unsigned long long events = 0, tracks = 0, faults = 0;
    slc_velo_config_default(&velo);
    slc_flow_config_default(&config);
    config.paths = (const char *const *)(argv + 1), config.n_paths = (uint32_t)argc - 1;
    const slc_flow_velo_setup setup = {.config = &velo};
    slc_status status = slc_flow_open(&config, &slc_flow_velo, &setup, &flow, &error);
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        const slc_flow_velo_result *result = item->result;
        events += result->found.tracks.head.n_events, tracks += result->found.tracks.head.size;
        faults += slc_faults_total(&item->reading) + slc_faults_total(&result->found.faults);
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    printf("%llu events\n%llu tracks\n%llu faults\n", events, tracks, faults);
    return error.text[0] == '\0' ? 0 : (fprintf(stderr, "%s\n", error.text), 1);
}
