/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an input file: opening, MDF records, decoding, truth, the chain. The checksum is not verified,
 * or nothing would get past it. */
#include "fuzz.h"
#include "io/io_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* A fuzzer's file is small, so events may be: it finds the limit, too. */
    const slc_io_config config = {.size = sizeof(slc_io_config), .max_event_bytes = (size_t)1 << 20};
    slc_io_source *source = NULL;
    slc_error error = {0};
    if (slc_io_open_memory(bytes, size, "fuzz", &config, &source, &error) != SLC_OK) {
        fuzz_require(source == NULL && error.text[0] != '\0', "a failure has a text");
        return 0;
    }
    slc_batch batch = {0};
    slc_faults faults = {0};
    while (slc_io_content_of(source) == SLC_IO_RAW_EVENTS) {
        const slc_status status = slc_io_read_batch(source, 4, (size_t)1 << 20, &batch, &faults, &error);
        fuzz_require(status == SLC_OK || status == SLC_END, "reading memory does not fail");
        if (status == SLC_END) {
            slc_io_totals totals;
            slc_io_totals_of(source, &totals);
            fuzz_require(totals.bytes == size, "every byte is consumed");
            fuzz_require(totals.lost_events == 0 || slc_io_damage(source) != NULL, "damage has a text");
            break;
        }
        fuzz_chain_raw(&batch);
    }
    slc_batch_clear(&batch);
    slc_io_close(source);
    return 0;
}
