/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice velo --residuals`: how far hits are from their tracks, by module, sensor and chip, and the normal
 * equations of an alignment, as JSON that Python reads (docs/howto/velo-alignment.md). Batches come in the
 * order of the input and in one thread, so that the sums are the same bits for any threads and batches.
 */
#include "cmd_velo.h"

#include <math.h>
#include <stdlib.h>

bool slc_velo_residuals_open(slc_velo_job *job)
{
    if (job->options->residuals != NULL && (job->residuals = calloc(1, sizeof *job->residuals)) == NULL) {
        slc_cli_say("velo", "no memory for residuals");
        return false;
    }
    return true;
}

bool slc_velo_residuals_take(slc_velo_job *job, const slc_velo_result *result)
{
    const slc_status status = slc_velo_residuals_add(job->residuals, &job->config, job->geometry, result,
                                                     &job->error);
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return status == SLC_OK;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static double root(double square)
{
    return square > 0 ? sqrt(square) : 0;
}

static void write_one(FILE *out, const char *name, const slc_velo_residual *sums, double n)
{
    (void)fprintf(out,
                  ", \"%s\": {\"mean_um\": %.6g, \"rms_um\": %.6g, \"pull_mean\": %.6g, \"pull_rms\": %.6g, "
                  "\"biased_mean_um\": %.6g, \"biased_rms_um\": %.6g}",
                  name, 1000 * sums->unbiased_mm / n, 1000 * root(sums->unbiased2_mm2 / n), sums->pull / n,
                  root(sums->pull2 / n), 1000 * sums->biased_mm / n, 1000 * root(sums->biased2_mm2 / n));
}

/* Those with hits; `per`: chips of a sensor, 0 if they have a number of their own. */
static void write_list(FILE *out, const char *name, const char *key, const slc_velo_residual_pair *list,
                       uint32_t n, uint32_t per)
{
    const char *separator = "";
    (void)fprintf(out, "  \"%s\": [", name);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].n == 0) {
            continue;
        }
        (void)fprintf(out, "%s\n    {\"%s\": %u", separator, key, per > 0 ? i / per : i);
        if (per > 0) {
            (void)fprintf(out, ", \"chip\": %u", i % per);
        }
        (void)fprintf(out, ", \"n\": %llu", (unsigned long long)list[i].n);
        write_one(out, "x", &list[i].x, (double)list[i].n);
        write_one(out, "y", &list[i].y, (double)list[i].n);
        (void)fputs("}", out);
        separator = ",";
    }
    (void)fputs("\n  ],\n", out);
}

/* All digits: who adds up parts of a run loses nothing. */
static void write_normal(FILE *out, const slc_velo_residuals *sums)
{
    const double *at = sums->matrix;
    (void)fputs(
        "  \"normal\": {\n    \"unknowns\": [\"dx_mm\", \"dy_mm\", \"dz_mm\", \"rx_mrad\", \"ry_mrad\", "
        "\"rz_mrad\"],\n    \"modules\": 52,\n    \"matrix\": [",
        out);
    for (uint32_t i = 0; i < SLC_VELO_UNKNOWNS; i++) {
        (void)fputs(i > 0 ? ",\n      [" : "\n      [", out);
        for (uint32_t j = i; j < SLC_VELO_UNKNOWNS; j++) {
            (void)fprintf(out, j > i ? ",%.17g" : "%.17g", *at++ + 0.0);
        }
        (void)fputs("]", out);
    }
    (void)fputs("],\n    \"vector\": [", out);
    for (uint32_t i = 0; i < SLC_VELO_UNKNOWNS; i++) {
        (void)fprintf(out, i > 0 ? ", %.17g" : "%.17g", sums->vector[i] + 0.0);
    }
    (void)fputs("]\n  }\n}\n", out);
}

static slc_status write_all(FILE *out, const slc_velo_job *job, const char *settings, slc_error *error)
{
    const slc_velo_residuals *sums = job->residuals;
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {
        {"events", sums->events},   {"tracks", sums->tracks}, {"short_tracks", sums->short_tracks},
        {"outside", sums->outside}, {"hits", sums->hits},     {"hits_without_sensor", sums->without_sensor},
        {"n_dof", sums->n_dof},
    };
    (void)fputs("{\n", out);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        (void)fprintf(out, "  \"%s\": %llu,\n", counts[i].name, (unsigned long long)counts[i].n);
    }
    (void)fputs("  ", out);
    const slc_status status = slc_velo_run_write(job, out, error);
    (void)fprintf(out, "  \"chi2\": %.17g,\n  \"settings\": %s,\n", sums->chi2, settings);
    write_list(out, "modules", "module", sums->module, SLC_VELO_MODULES, 0);
    write_list(out, "sensors", "sensor", sums->sensor, SLC_VELO_SENSORS, 0);
    write_list(out, "chips", "sensor", sums->chip, SLC_VELO_CHIPS, 3);
    write_normal(out, sums);
    return status;
}

slc_status slc_velo_write_residuals(slc_velo_job *job, slc_error *error)
{
    slc_io_writer *writer = NULL;
    char *settings = NULL;
    slc_status status = slc_io_velo_config_write(&job->config, &settings, error);
    status = status == SLC_OK ? slc_io_text_create(job->options->residuals, &writer, error) : status;
    if (status == SLC_OK) {
        status = write_all(slc_io_text_stream(writer), job, settings, error);
        if (status == SLC_OK) {
            status = slc_io_finish(writer, error);
        } else {
            slc_io_abandon(writer);
        }
    }
    free(settings);
    return status;
}
