/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --layout`, `--chip`, `--within-chip` and `--chip-column`: where the chips of a readout lie,
 * which of them are read, whether clusters reach across them, and which one a cluster is on.
 */
#include "cli_words.h"
#include "cmd_cluster.h"

#include <stdlib.h>
#include <string.h>

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
            return slc_cli_wrong(
                command,
                "--layout is quad or row, with a gap of up to 255 pixels as in quad+2, or a file: %s",
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
    if (options->within_chip && options->size.width > 0) {
        return slc_cli_wrong(command, "--within-chip does not go with --size: chips are 256 x 256 each");
    }
    job->setup.within_chip = options->within_chip;
    if (options->chip_column && (options->features & SLC_PIXEL_BOX) == 0) {
        return slc_cli_wrong(command, "--chip-column needs the feature box, which --features leaves out");
    }
    job->setup.chip_column = options->chip_column;
    return SLC_CLI_GO_ON;
}

const char *slc_cluster_chips_reason(const slc_cluster_job *job, const slc_cluster_input *done)
{
    return job->options->chip_column && strcmp(done->about.format, "tpx3") != 0
               ? "of the formats, .tpx3 alone tells of chips, which --chip-column is of"
               : NULL;
}

void slc_cluster_chips_column(slc_cluster_job *job)
{
    const slc_column column = {"chip", "index", offsetof(slc_cluster_rows, chip), SLC_TYPE_I32};
    if (job->options->chip_column) {
        job->columns[job->schema.n_columns++] = column;
        job->text_columns[job->text_schema.n_columns++] = column;
        job->place_columns[job->place.n_columns++] = column;
    }
}

void slc_cluster_chips_rows(const slc_cluster_job *job, const slc_flow_pixel_result *result,
                            const slc_cluster_rows *rows)
{
    for (size_t i = 0; job->options->chip_column && i < result->clusters.head.size; i++) {
        rows->chip[i] = result->chip[i];
    }
}
