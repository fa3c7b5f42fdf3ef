/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a stream of JSON events: opening, parsing, the chain on their hits. */
#include "fuzz.h"
#include "io/io_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const slc_io_config config = {.size = sizeof(slc_io_config), .max_event_bytes = (size_t)1 << 16};
    slc_io_source *source = NULL;
    slc_error error = {0};
    if (slc_io_open_memory(bytes, size, "fuzz", &config, &source, &error) != SLC_OK) {
        fuzz_require(source == NULL && error.text[0] != '\0', "a failure has a text");
        return 0;
    }
    slc_velo_hits hits = {0};
    slc_velo_truth truth = {0};
    slc_faults faults = {0};
    while (slc_io_content_of(source) == SLC_IO_VELO_HITS) {
        const slc_status status = slc_io_read_velo_hits(source, 4, &hits, &truth, NULL, &faults, &error);
        fuzz_require(status == SLC_OK || status == SLC_END, "reading memory does not fail");
        fuzz_require_columns(&slc_velo_hits_schema, &hits);
        if (status == SLC_END) {
            slc_io_totals totals;
            slc_io_totals_of(source, &totals);
            fuzz_require(totals.bytes == size, "every byte is consumed");
            fuzz_require(totals.lost_events == 0 || slc_io_damage(source) != NULL, "damage has a text");
            break;
        }
        fuzz_chain_hits(&hits, &truth);
    }
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_velo_truth_clear(&truth);
    slc_io_close(source);
    return 0;
}
