/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a file of LHCb events, finds the VELO tracks of the first one and prints them.
 *
 *     read_mdf_tracks run.mdf
 */
#include <sluice/sluice.h>

#include <stdio.h>

static void print_tracks(const slc_velo_result *result)
{
    const slc_velo_tracks *tracks = &result->tracks;
    const slc_velo_states *beam = &result->beam;
    printf("%6s %5s %9s %9s %9s %9s %9s %9s\n", "track", "hits", "x/mm", "y/mm", "z/mm", "tx", "ty",
           "chi2/dof");
    for (uint32_t t = 0; t < tracks->head.event_offset[1]; t++) {
        printf("%6u %5u %9.3f %9.3f %9.2f %9.5f %9.5f %9.2f\n", (unsigned)t, (unsigned)tracks->n_hits[t],
               (double)beam->x_mm[t], (double)beam->y_mm[t], (double)beam->z_mm[t], (double)beam->tx[t],
               (double)beam->ty[t], (double)beam->chi2[t] / beam->n_dof[t]);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    slc_velo_config config;
    slc_io_source *source = NULL;
    slc_velo_chain *chain = NULL;
    slc_batch batch = {0};
    slc_velo_result result = {0};
    slc_faults faults = {0};
    slc_error error = {SLC_OK, ""};

    slc_velo_config_default(&config);
    slc_status status = slc_io_open(argv[1], NULL, &source, &error);
    if (status == SLC_OK) {
        status = slc_io_read_batch(source, 1, SIZE_MAX, &batch, &faults, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_open(&config, NULL, &chain, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_reserve(chain, &batch, &result, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_run(chain, &batch, &result, &error);
    }
    if (status == SLC_OK) {
        print_tracks(&result);
    } else {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    const bool found = status == SLC_OK && result.tracks.head.size > 0;
    slc_velo_result_clear(&result);
    slc_velo_chain_close(chain);
    slc_batch_clear(&batch);
    slc_io_close(source);
    return found ? 0 : 1;
}
