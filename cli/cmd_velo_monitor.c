/* SPDX-License-Identifier: Apache-2.0
 *
 * --monitor and --monitor-pixels of `sluice velo`: what a shifter looks at, as one JSON file, a line for each
 * sensor, minute, bunch crossing and pixel; docs/formats/velo-monitor.md. The report draws the same.
 */
#include "cmd_velo.h"

#include <inttypes.h>
#include <math.h>

bool slc_velo_monitor_on(const slc_velo_options *options)
{
    return options->monitor != NULL || options->report != NULL;
}

bool slc_velo_monitor_begin(slc_velo_job *job)
{
    const slc_velo_options *options = job->options;
    if (slc_velo_monitor_on(options) &&
        slc_velo_monitor_open(options->monitor_pixels, &job->monitor, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    return true;
}

bool slc_velo_monitor_take(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    if (job->monitor != NULL &&
        slc_velo_monitor_add(job->monitor, &job->config, result->raw ? &item->batch : NULL, &result->found,
                             &result->events, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s: %s", item->path, job->error.text);
        return false;
    }
    return true;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void put_real(FILE *out, const char *name, double value)
{
    if (isfinite(value)) {
        (void)fprintf(out, ", \"%s\": %.9g", name, value);
    } else {
        (void)fprintf(out, ", \"%s\": null", name);
    }
}

static void put_counts(FILE *out, const uint64_t *counts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(out, "%s%" PRIu64, i == 0 ? "[" : ",", counts[i]);
    }
    (void)fputc(']', out);
}

/* What to divide by for a mean: tracks and vertices are of these alone. */
static void put_searched(FILE *out, uint64_t events, uint64_t cut, uint64_t crowded)
{
    (void)fprintf(
        out, ", \"searched_events\": %" PRIu64 ", \"cut_events\": %" PRIu64 ", \"crowded_events\": %" PRIu64,
        events - cut - crowded, cut, crowded);
}

static void put_sensors(FILE *out, const slc_velo_monitor *m)
{
    uint64_t sizes[SLC_VELO_MONITOR_SIZES] = {0};
    (void)fputs(" \"sensors\": [", out);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        (void)fprintf(out,
                      "%s\n  {\"sensor\": %" PRIu32 ", \"hits\": %" PRIu64 ", \"chips\": ", s > 0 ? "," : "",
                      s, m->hits[s][0] + m->hits[s][1] + m->hits[s][2]);
        put_counts(out, m->hits[s], SLC_VELO_SENSOR_CHIPS);
        (void)fputs(", \"sizes\": ", out);
        put_counts(out, m->sizes[s], SLC_VELO_MONITOR_SIZES);
        (void)fputs(", \"columns\": ", out);
        put_counts(out, m->columns[s], SLC_VELO_COLUMNS);
        (void)fputc('}', out);
        for (uint32_t k = 0; k < SLC_VELO_MONITOR_SIZES; k++) {
            sizes[k] += m->sizes[s][k];
        }
    }
    (void)fputs("],\n \"sizes\": ", out);
    put_counts(out, sizes, SLC_VELO_MONITOR_SIZES);
    (void)fputs(",\n", out);
}

static void put_minutes(FILE *out, const slc_velo_monitor *m)
{
    (void)fprintf(out, " \"vertex_min_tracks\": %g,\n \"later_events\": %" PRIu64 ",\n \"minutes\": [",
                  (double)SLC_VELO_MONITOR_TRACKS, m->later_events);
    for (uint32_t i = 0; i < m->n_minutes; i++) {
        const slc_velo_minute *minute = &m->minutes[i];
        const slc_velo_luminous at = minute->region;
        (void)fputs(i > 0 ? ",\n  {\"gps_minute\": " : "\n  {\"gps_minute\": ", out);
        if (minute->minute > 0) {
            (void)fprintf(out, "%" PRIu64, minute->minute);
        } else {
            (void)fputs("null", out);
        }
        (void)fprintf(out, ", \"events\": %" PRIu64, minute->events);
        put_searched(out, minute->events, minute->cut, minute->crowded);
        (void)fprintf(out,
                      ", \"tracks\": %" PRIu64 ", \"vertices\": %" PRIu64 ", \"vertices_used\": %" PRIu64,
                      minute->tracks, minute->primaries, minute->n);
        put_real(out, "x_mm", at.x_mm);
        put_real(out, "y_mm", at.y_mm);
        put_real(out, "z_mm", at.z_mm);
        put_real(out, "x_rms_mm", at.x_rms_mm);
        put_real(out, "y_rms_mm", at.y_rms_mm);
        put_real(out, "z_rms_mm", at.z_rms_mm);
        put_real(out, "slope_x", at.slope_x);
        put_real(out, "slope_y", at.slope_y);
        put_real(out, "slope_x_sigma", at.slope_x_sigma);
        put_real(out, "slope_y_sigma", at.slope_y_sigma);
        (void)fputc('}', out);
    }
    (void)fputs("],\n", out);
}

static void put_bunches(FILE *out, const slc_velo_monitor *m)
{
    const char *between = "";
    (void)fprintf(out, " \"events_without_bunch\": %" PRIu64 ",\n \"bunches\": [", m->no_bunch_events);
    for (uint32_t b = 0; b < SLC_VELO_BUNCHES; b++) {
        const slc_velo_bunch *bunch = &m->bunch[b];
        if (bunch->events > 0) {
            (void)fprintf(out, "%s\n  {\"bcid\": %" PRIu32 ", \"events\": %" PRIu64, between, b,
                          bunch->events);
            put_searched(out, bunch->events, bunch->cut, bunch->crowded);
            (void)fprintf(out, ", \"tracks\": %" PRIu64 ", \"vertices\": %" PRIu64 "}", bunch->tracks,
                          bunch->primaries);
            between = ",";
        }
    }
    (void)fputs("]", out);
}

static void put_pixels(FILE *out, const char *name, const slc_velo_odd_pixel *pixels, uint64_t n)
{
    (void)fprintf(out, ",\n \"%s\": [", name);
    for (uint64_t i = 0; i < n; i++) {
        (void)fprintf(out,
                      "%s\n  {\"sensor\": %u, \"column\": %u, \"row\": %u, \"count\": %" PRIu32
                      ", \"expected\": %.4g}",
                      i > 0 ? "," : "", pixels[i].sensor, pixels[i].column, pixels[i].row, pixels[i].count,
                      (double)pixels[i].expected);
    }
    (void)fputs("]", out);
}

static slc_status write_file(const slc_velo_job *job, slc_error *error)
{
    const slc_velo_monitor *m = job->monitor;
    slc_io_writer *writer = NULL;
    slc_status status = slc_io_text_create(job->options->monitor, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    (void)fprintf(out, "{\"format\": \"sluice-velo-monitor\", \"version\": 1,\n \"events\": %" PRIu64,
                  m->events);
    put_searched(out, m->events, m->cut, m->crowded);
    (void)fprintf(out,
                  ",\n \"events_with_pixels\": %" PRIu64 ", \"tracks\": %" PRIu64 ", \"vertices\": %" PRIu64
                  ",\n ",
                  m->placed_events, m->tracks, m->primaries);
    status = slc_velo_run_write(job, out, error);
    put_sensors(out, m);
    put_minutes(out, m);
    put_bunches(out, m);
    if (m->pixel != NULL) {
        (void)fprintf(out,
                      ",\n \"pixel_events\": %" PRIu64 ",\n \"rule\": {\"around\": %d, \"hot_factor\": %g, "
                      "\"hot_chance\": %g, \"dead_expected\": %g},\n \"pixels_judged_dead_or_not\": %" PRIu64,
                      m->pixel_events, SLC_VELO_MONITOR_AROUND, SLC_VELO_HOT_FACTOR, SLC_VELO_HOT_CHANCE,
                      SLC_VELO_DEAD_EXPECTED, m->judged);
        put_pixels(out, "hot", m->hot, m->n_hot);
        put_pixels(out, "dead", m->dead, m->n_dead);
    }
    (void)fputs("}\n", out);
    if (status != SLC_OK) {
        slc_io_abandon(writer);
        return status;
    }
    return slc_io_finish(writer, error);
}

bool slc_velo_monitor_finish(slc_velo_job *job, bool keep, slc_cli_kept *kept)
{
    slc_velo_monitor *m = job->monitor;
    const char *path = job->options->monitor;
    if (m == NULL || !keep) {
        return true;
    }
    if (slc_velo_monitor_judge(m, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    if (path == NULL) {
        return true;
    }
    const slc_status status = write_file(job, &job->error);
    if (status == SLC_OK && m->later_events > 0) {
        slc_cli_say("velo", "%s: events of more than %d minutes: %" PRIu64 " of the latest are in none", path,
                    SLC_VELO_MINUTES, m->later_events);
    }
    return slc_cli_kept_judge(kept, "velo", path, status, &job->error);
}

void slc_velo_monitor_put(const slc_velo_job *job, slc_cli_tree *tree)
{
    const slc_velo_monitor *m = job->monitor;
    if (m == NULL || job->options->monitor == NULL) {
        return;
    }
    slc_cli_put(tree, "monitor.file", job->options->monitor);
    slc_cli_put(tree, "monitor.minutes", m->n_minutes);
    if (m->pixel != NULL) {
        slc_cli_put(tree, "monitor.hot", m->n_hot);
        slc_cli_put(tree, "monitor.dead", m->n_dead);
        slc_cli_put(tree, "monitor.judged", m->judged);
    }
}
