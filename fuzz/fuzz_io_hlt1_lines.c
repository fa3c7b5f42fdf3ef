/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as HLT1's lines and as its network. What is refused is told with its file; what is accepted is
 * within the limits. */
#include "fuzz.h"
#include "io/lhcb/io_hlt1_lines.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static slc_hlt1_lines lines;
    static slc_hlt1_network network;
    slc_error error = {0};
    memset(&lines, 0, sizeof lines);
    const slc_status status = slc_io_hlt1_lines_read_memory((const char *)bytes, size, "fuzz", &lines,
                                                            &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && lines.n_lines == 0, "a refused text changes nothing");
        fuzz_require(strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a file");
    }
    for (uint32_t k = 0; k < lines.n_lines; k++) {
        const slc_hlt1_select_line *line = &lines.lines[k];
        fuzz_require(lines.n_lines <= SLC_VELO_MAX_LINES && line->n_cuts <= SLC_VELO_MAX_CUTS,
                     "there is room");
        fuzz_require(line->name[0] != '\0' && line->prescale >= 0 && line->prescale <= 1,
                     "a line has what it needs");
        for (uint32_t c = 0; c < line->n_cuts; c++) {
            const slc_hlt1_cut *cut = &line->cuts[c];
            fuzz_require(slc_hlt1_quantity_name(cut->of, cut->quantity) != NULL && cut->low <= cut->high,
                         "a cut is one");
        }
    }
    const slc_status other = slc_io_hlt1_network_read_memory((const char *)bytes, size, "fuzz", &network,
                                                             &error);
    fuzz_require(other == SLC_OK || other == SLC_ERR_FORMAT, "bytes are refused for their format");
    return 0;
}
