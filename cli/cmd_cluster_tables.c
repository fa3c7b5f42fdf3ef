/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice cluster --mask`, `--write-mask` and `--calibration`: what is known of single pixels.
 */
#include "cmd_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Is it a file with the name of a table, in that folder or in one below it (of a chip)? */
static bool is_table_of(const char *path, const struct stat *folder)
{
    static const char *const begins[] = {"calib", "_Calib_", "chip"};
    struct stat file, above;
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char parent[4096];
    bool named = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        named = named || strncmp(name, begins[i], strlen(begins[i])) == 0;
    }
    if (!named || stat(path, &file) != 0) {
        return false;
    }
    for (int up = 0; up < 2; up++) {
        const int size = snprintf(parent, sizeof parent, "%.*s%s",
                                  slash != NULL ? (int)(slash - path) + 1 : 2, slash != NULL ? path : "./",
                                  up == 0 ? "." : "..");
        if (size < (int)sizeof parent && stat(parent, &above) == 0 && above.st_dev == folder->st_dev &&
            above.st_ino == folder->st_ino) {
            return true;
        }
    }
    return false;
}

char *slc_cluster_calibration_files(const void *options, const char *name, size_t i)
{
    const slc_cluster_options *o = options;
    const char *const outputs[] = {o->output, o->labels, o->write_mask};
    struct stat about;
    if (stat(name, &about) == 0 && S_ISDIR(about.st_mode)) {
        for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
            if (outputs[k] != NULL && is_table_of(outputs[k], &about) && i-- == 0) {
                return strdup(outputs[k]);
            }
        }
        return NULL;
    }
    for (; i > 0 && name != NULL; i--) { /* four with commas */
        name = strchr(name, ',');
        name = name != NULL ? name + 1 : NULL;
    }
    return name != NULL ? strndup(name, strcspn(name, ",")) : NULL;
}

int slc_cluster_choose_tables(slc_cluster_job *job, const slc_cli_command *command)
{
    const slc_cluster_options *options = job->options;
    const slc_io_pixels_table_files files = {.mask = options->mask,
                                             .calibration = options->calibration,
                                             .finds_hot = options->write_mask != NULL,
                                             .timewalk = options->timewalk,
                                             .column_phase = options->column_phase};
    if (files.mask == NULL && files.calibration == NULL && files.timewalk == NULL && !files.column_phase &&
        !files.finds_hot) {
        return SLC_CLI_GO_ON;
    }
    if (files.finds_hot && options->part.n > 0) {
        return slc_cli_wrong(command, "--write-mask does not go with --part: hot pixels are of all hits");
    }
    if (files.calibration != NULL && options->labels == NULL &&
        (options->features & (SLC_PIXEL_MASS | SLC_PIXEL_WEIGHTED | SLC_PIXEL_LARGEST | SLC_PIXEL_PEAK |
                              SLC_PIXEL_SQUARED)) == 0) {
        return slc_cli_wrong(command, "--calibration is for the features mass, weighted, largest, peak and "
                                      "squared, which "
                                      "--features leaves out");
    }
    const slc_status status = slc_io_pixels_tables_open(&files, &job->tables, &job->error);
    job->setup.tables = job->tables;
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(command, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("cluster", "%s", job->error.text);
    }
    return status == SLC_OK ? SLC_CLI_GO_ON : SLC_CLI_FAILED;
}

/* Charges are eV then, and their sum is told in keV. */
void slc_cluster_energy_column(slc_cluster_job *job)
{
    for (size_t i = 0; job->options->calibration != NULL && i < job->schema.n_columns; i++) {
        if (strcmp(job->columns[i].name, "mass") == 0) {
            job->columns[i] = (slc_column){"energy_kev", "keV", offsetof(slc_cluster_rows, energy_kev),
                                           SLC_TYPE_F64};
        } else if (strcmp(job->columns[i].name, "peak") == 0) {
            job->columns[i].unit = "eV";
        }
    }
}

bool slc_cluster_write_mask(slc_cluster_job *job)
{
    const char *path = job->options->write_mask;
    const slc_status status =
        path == NULL ? SLC_OK : slc_io_pixels_tables_write_mask(job->tables, path, &job->hot, &job->error);
    if (status != SLC_OK) {
        slc_cli_say("cluster", "%s", job->error.text);
    } else if (path != NULL) {
        job->has_mask_written = true;
        slc_cli_kept_add(&job->kept, path);
    }
    return status == SLC_OK;
}

bool slc_cluster_tables_miss(const slc_cluster_job *job, const slc_cluster_input *done)
{
    return job->options->calibration != NULL && done->counts.pixels > 0 &&
           done->counts.uncalibrated == done->counts.pixels;
}

void slc_cluster_tables_notes(const slc_cluster_job *job, int i)
{
    const slc_io_pixels_counts *counts = &job->done[i].counts;
    if (counts->masked > 0) {
        slc_cli_say("cluster", "%s: %" PRIu64 " pixels were left out by --mask", job->inputs[i],
                    counts->masked);
    } else if (job->options->mask != NULL && counts->pixels > 0) {
        slc_cli_say("cluster", "%s: no pixel of --mask was hit", job->inputs[i]);
    }
    if (counts->uncalibrated > 0) {
        slc_cli_say("cluster",
                    "%s: %" PRIu64
                    " pixels have no calibration, or no energy by it; their energy is taken as 0",
                    job->inputs[i], counts->uncalibrated);
    }
    if (counts->uncorrected > 0) {
        slc_cli_say("cluster",
                    "%s: %" PRIu64
                    " pixels have a ToT for which --timewalk has no delay; their times are as they were",
                    job->inputs[i], counts->uncorrected);
    }
}

void slc_cluster_mask_note(const slc_cluster_job *job)
{
    const slc_io_pixels_hot *hot = &job->hot;
    const char *path = job->options->write_mask;
    if (!job->has_mask_written) {
        return;
    }
    if (hot->pixels == 0) {
        slc_cli_say("cluster", "no hot pixels; %s has %" PRIu64 " masked ones", path, hot->masked);
        return;
    }
    slc_cli_say("cluster",
                "%" PRIu64 " hot pixels with %" PRIu64 " of %" PRIu64
                " hits, the hottest at x %u, y %u; they are in "
                "%s, and in the clusters of this run",
                hot->pixels, hot->hits, hot->judged, (unsigned)hot->x, (unsigned)hot->y, path);
}
