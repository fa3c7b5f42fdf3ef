/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a selection. What is refused is told with its place; what is accepted must be a selection that
 * can be run. */
#include "fuzz.h"
#include "io/lhcb/io_select.h"
#include "velo/velo_select_quantity.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_velo_selection selection;
    slc_error error = {0};
    const slc_status status = slc_io_select_read_memory((const char *)bytes, size, "fuzz", &selection,
                                                        &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && selection.n_lines == 0, "nothing is left of a refused text");
        fuzz_require(strncmp(error.text, "fuzz: line ", 11) == 0, "a failure has a place");
        return 0;
    }
    fuzz_require(selection.n_lines > 0 && selection.n_lines <= SLC_VELO_MAX_LINES, "some lines");
    for (uint32_t k = 0; k < selection.n_lines; k++) {
        const slc_velo_line *line = &selection.lines[k];
        fuzz_require(line->n_cuts <= SLC_VELO_MAX_CUTS && line->prescale > 0, "a line that can be run");
        fuzz_require(line->name[0] != '\0' && memchr(line->name, '\0', sizeof line->name) != NULL, "a name");
        for (uint32_t c = 0; c < line->n_cuts; c++) {
            fuzz_require(line->cuts[c].low <= line->cuts[c].high, "a range");
            fuzz_require(slc_velo_quantity_name(line->cuts[c].quantity) != NULL, "a quantity");
        }
    }
    return 0;
}
