/* SPDX-License-Identifier: Apache-2.0
 *
 * The core in an embedded system: linked from the objects of base, simd, cuda, lhcb and velo with libm and
 * nothing else. That it links is half of the test; that it finds three straight lines again is the other
 * half.
 */
#include "support/straight_event.h"
#include <sluice/velo_chain.h>

#include <stdio.h>

int main(void)
{
    static const straight_line lines[] = {{0.05f, 0.06f}, {-0.08f, 0.03f}, {0.02f, -0.10f}};
    const uint32_t n_lines = sizeof lines / sizeof lines[0];
    slc_batch batch = {0};
    slc_velo_result result = {0};
    slc_velo_chain *chain = NULL;
    slc_velo_config config;
    slc_error error = {SLC_OK, ""};
    uint32_t n_hits = 0;
    slc_velo_config_default(&config);
    slc_status status = straight_event(lines, n_lines, &batch, &n_hits);
    if (status == SLC_OK) {
        status = slc_velo_chain_open(&config, NULL, &chain, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_reserve(chain, &batch, &result, &error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_run(chain, &batch, &result, &error);
    }
    printf("%s %s: %zu of %u hits, %zu of %u tracks\n", slc_status_name(status), error.text,
           result.hits.head.size, n_hits, result.tracks.head.size, n_lines);
    const bool right = status == SLC_OK && n_hits > 3 * n_lines && result.hits.head.size == n_hits &&
                       result.tracks.head.size == n_lines;
    slc_velo_result_clear(&result);
    slc_velo_chain_close(chain);
    slc_batch_clear(&batch);
    return right ? 0 : 1;
}
