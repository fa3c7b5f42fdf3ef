/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as results in Arrow's format: listed, and all rows read that it says there are. */
#include "fuzz.h"
#include "io/io_results_read.h"

#include <string.h>

enum { ROWS = 256, READS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_io_reading reading = {.format = NULL};
    slc_error error = {.status = SLC_OK};
    const slc_status status = slc_io_reading_arrow_bytes("fuzz", bytes, size, &reading, &error);
    fuzz_require(status == SLC_OK || error.text[0] != '\0', "what is wrong is told");
    for (size_t i = 0; i < reading.n_columns && status == SLC_OK; i++) {
        double values[ROWS];
        const slc_io_reading_column *c = &reading.columns[i];
        fuzz_require(memchr(c->name, '\0', sizeof c->name) != NULL, "names end");
        for (uint64_t k = 0; k < READS; k++) { /* all of small ones, some of large ones */
            const uint64_t at = k * (c->rows / READS), left = c->rows - at;
            (void)slc_io_reading_rows(&reading, i, at, left < ROWS ? (size_t)left : ROWS, values, &error);
        }
    }
    slc_io_reading_clear(&reading);
    return 0;
}
