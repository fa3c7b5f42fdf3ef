/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --layout` and `--chip`: where the chips of a readout lie, and which of them are read.
 */
#include "cli_words.h"
#include "cmd_cluster.h"

#include <stdlib.h>

/* "0,2-3": bits; false where it is not so. */
static bool read_list(const char *text, uint8_t chips[SLC_IO_PIXELS_CHIPS / 8])
{
    for (;;) {
        char *end = NULL;
        const bool is_number = *text >= '0' && *text <= '9';
        const unsigned long first = is_number ? strtoul(text, &end, 10) : SLC_IO_PIXELS_CHIPS;
        unsigned long last = first;
        if (is_number && *end == '-' && end[1] >= '0' && end[1] <= '9') {
            last = strtoul(end + 1, &end, 10);
        }
        if (last >= SLC_IO_PIXELS_CHIPS || first > last || (*end != 0 && *end != ',')) {
            return false;
        }
        for (unsigned long chip = first; chip <= last; chip++) {
            chips[chip / 8] |= (uint8_t)(1U << chip % 8);
        }
        if (*end == 0) {
            return true;
        }
        text = end + 1;
    }
}

int slc_cluster_choose_chips(slc_cluster_job *job, const slc_cli_command *command)
{
    const slc_cluster_options *options = job->options;
    if (options->layout != NULL) {
        if (slc_io_pixels_layout_read(options->layout, &job->layout, &job->error) != SLC_OK) {
            return slc_cli_wrong(command, "--layout is quad, row or a file, as in quad+2: %s",
                                 job->error.text);
        }
        job->setup.layout = &job->layout;
    }
    if (options->chip != NULL) {
        if (!read_list(options->chip, job->chips)) {
            return slc_cli_wrong(
                command, "--chip takes numbers of chips from 0 to 255, as in 0,2-3, not '%s'", options->chip);
        }
        job->setup.chips = job->chips;
    }
    return SLC_CLI_GO_ON;
}
