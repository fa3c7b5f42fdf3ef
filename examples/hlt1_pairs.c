/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of LHCb events x all cores x the chain of the first trigger level: the mass of each pair of displaced
 * tracks with a vertex of its own, a line each.
 *
 *     hlt1_pairs GEOMETRY FILE.mdf...
 */
#include <sluice/sluice.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    slc_hlt1_config hlt1;
    slc_hlt1_geometry *geometry = NULL;
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item;
    slc_error error = {SLC_OK, ""};
    if (argc < 3) {
        return fprintf(stderr, "usage: hlt1_pairs GEOMETRY FILE.mdf...\n"), 2;
    }
    slc_hlt1_config_default(&hlt1);
    slc_flow_config_default(&config);
    config.paths = (const char *const *)(argv + 2), config.n_paths = (uint32_t)argc - 2;
    slc_status status = slc_io_hlt1_geometry_open(argv[1], &geometry, &error);
    const slc_flow_hlt1_setup setup = {.config = &hlt1, .geometry = geometry};
    status = status == SLC_OK ? slc_flow_open(&config, &slc_flow_hlt1, &setup, &flow, &error) : status;
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        const slc_hlt1_secondaries *pairs = &((const slc_flow_hlt1_result *)item->result)->found.secondaries;
        for (size_t i = 0; i < pairs->head.size; i++) {
            if (pairs->displaced[i] > 0) {
                printf("%.1f MeV, %.2f mm from the primary vertex\n", (double)pairs->mass_mev[i],
                       (double)pairs->flight_mm[i]);
            }
        }
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    slc_io_hlt1_geometry_close(geometry);
    return error.text[0] == '\0' ? 0 : (fprintf(stderr, "%s\n", error.text), 1);
}
