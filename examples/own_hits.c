/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits from anywhere: fills the collection of hits by hand with the points of two straight lines, and lets
 * the stages behind the clustering find and fit them. An acquisition system that clusters in its electronics
 * starts here.
 */
#include <sluice/velo_chain.h>

#include <stdio.h>

enum { LAYERS = 8, LINES = 2 };

/* Modules 10, 12, … of one half, every 25 mm from 100 mm on; the lines start at the origin. */
static slc_status fill_hits(const float slope[LINES][2], slc_velo_hits *hits)
{
    const slc_status status = slc_columns_reserve(&slc_velo_hits_schema, hits, LAYERS * LINES, 1);
    if (status != SLC_OK) {
        return status;
    }
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        for (uint32_t line = 0; line < LINES; line++) {
            const size_t row = hits->head.size++;
            hits->z_mm[row] = 100.0f + 25.0f * (float)layer;
            hits->x_mm[row] = slope[line][0] * hits->z_mm[row];
            hits->y_mm[row] = slope[line][1] * hits->z_mm[row];
            hits->module[row] = (uint8_t)(10 + 2 * layer); /* rows must be sorted by module */
            hits->channel[row] = (uint32_t)row;
            hits->n_pixels[row] = 0;
        }
    }
    slc_columns_end_event(hits);
    return SLC_OK;
}

int main(void)
{
    static const float slope[LINES][2] = {{0.10f, 0.05f}, {-0.06f, 0.12f}};
    slc_velo_config config;
    slc_velo_chain *chain = NULL;
    slc_velo_result result = {0};
    slc_error error = {SLC_OK, ""};

    slc_velo_config_default(&config);
    slc_status status = fill_hits(slope, &result.hits);
    if (status == SLC_OK) {
        status = slc_velo_chain_open(&config, NULL, &chain, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_reserve_hits(chain, &result, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_run_hits(chain, &result, &error);
    }
    if (status != SLC_OK) {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    for (size_t t = 0; status == SLC_OK && t < result.tracks.head.size; t++) {
        printf("track %zu: %u hits, slopes %.4f and %.4f\n", t, (unsigned)result.tracks.n_hits[t],
               (double)result.beam.tx[t], (double)result.beam.ty[t]);
    }
    const bool both = status == SLC_OK && result.tracks.head.size == LINES;
    slc_velo_result_clear(&result);
    slc_velo_chain_close(chain);
    return both ? 0 : 1;
}
