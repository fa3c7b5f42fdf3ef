/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures a file of pixels with times, from its bytes to clusters, as `sluice cluster` reads it: reading
 * alone, and all of it with each number of threads, in turns. The file should be in the page cache.
 */
#include "base/columns.h"
#include "bench/bench_cluster.h"

#include <sluice/run_flow.h>

#include <stdlib.h>

enum { COLUMNS = 7, PIECE = 1 << 16, MOST = 16 };

typedef struct subject {
    const slc_bench_cluster_stream_config *config;
    uint32_t threads; /* 0: reading alone */
    uint64_t pixels, clusters, checksum;
} subject;

static slc_status read_alone(subject *s, slc_error *error)
{
    slc_io_pixels *file = NULL;
    slc_pixels pixels = {.head = {.size = 0}};
    slc_column columns[SLC_PIXEL_COLUMNS];
    slc_status status = slc_io_pixels_open(s->config->path, NULL, &file, error);
    if (status != SLC_OK) {
        return status;
    }
    const slc_schema schema = slc_pixels_schema(slc_io_pixels_about(file).with, columns);
    if (slc_columns_reserve(&schema, &pixels, PIECE, PIECE) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for pixels");
    }
    while (status == SLC_OK) {
        slc_columns_reset(&pixels);
        status = slc_io_pixels_read(file, &pixels, PIECE, error);
    }
    s->pixels = slc_io_pixels_count(file).pixels;
    slc_columns_clear(&schema, &pixels);
    slc_io_pixels_close(file);
    return status == SLC_END ? SLC_OK : status;
}

/* As `sluice cluster`: a window of 100 ns, 1 ms of disorder. */
static slc_status choose(void *context, const slc_io_pixels_info *about, slc_flow_pixel_choice *choice,
                         slc_error *error)
{
    (void)context;
    if (about->frames || (about->with & SLC_PIXEL_TIME) == 0 || !(about->tick_seconds > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "--stream takes a file of pixels with times, as .tpx3");
    }
    choice->time_window = (int64_t)(100e-9 / about->tick_seconds + 1e-9);
    choice->disorder = (int64_t)(1e-3 / about->tick_seconds + 1e-9);
    return SLC_OK;
}

static slc_status cluster(subject *s, slc_error *error)
{
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    config.features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID | SLC_PIXEL_MASS |
                      SLC_PIXEL_WEIGHTED | SLC_PIXEL_TIMES;
    config.exec.target = s->config->target;
    slc_flow_config flow_config;
    slc_flow_config_default(&flow_config);
    flow_config.paths = &s->config->path;
    flow_config.n_paths = 1;
    flow_config.n_slots = 1;
    flow_config.exec.threads = s->threads;
    const slc_flow_pixel_setup setup = {.config = &config, .choose = choose};
    slc_flow *flow = NULL;
    slc_flow_item *item = NULL;
    slc_status status = slc_flow_open(&flow_config, &slc_flow_pixel, &setup, &flow, error);
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, error)) == SLC_OK) {
        const slc_flow_pixel_result *result = item->result;
        s->pixels = result->counts.pixels;
        s->clusters = result->totals.clusters;
        slc_flow_release(flow, item);
    }
    slc_flow_totals totals = {.checksum = 0};
    if (flow != NULL) {
        slc_flow_totals_of(flow, &totals);
    }
    s->checksum = totals.checksum;
    slc_flow_close(flow);
    return status == SLC_END ? SLC_OK : status;
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    subject *s = self;
    const double began = slc_clock_seconds();
    const slc_status status = s->threads == 0 ? read_alone(s, error) : cluster(s, error);
    seconds[0] = slc_clock_seconds() - began;
    return status;
}

/* ---- the report ---------------------------------------------------------------------------------- */

static const slc_bench_column columns[COLUMNS] = {{"what", SLC_BENCH_TEXT, SLC_BENCH_FILES, 0},
                                                  {"threads", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
                                                  {"pixels", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
                                                  {"clusters", SLC_BENCH_COUNT, SLC_BENCH_FILES, 0},
                                                  {"minimum_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
                                                  {"median_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0},
                                                  {"mpixels_per_s", SLC_BENCH_NUMBER, SLC_BENCH_FILES, 0}};

static void add_row(slc_bench_rows *rows, const subject *s, const slc_bench_contestant *measured)
{
    slc_bench_cell *cell = slc_bench_add(rows);
    const slc_bench_time time = measured->time[0];
    cell[0] = slc_bench_text(s->threads == 0 ? "reading" : "clusters");
    cell[1] = slc_bench_count(s->threads > 0 ? s->threads : 1);
    cell[2] = slc_bench_count(s->pixels);
    cell[3] = slc_bench_count(s->clusters);
    cell[4] = slc_bench_number(time.minimum);
    cell[5] = slc_bench_number(time.median);
    cell[6] = slc_bench_number((double)s->pixels / time.minimum * 1e-6);
}

static slc_status compare(const subject *subjects, size_t n, slc_error *error)
{
    for (size_t i = 1; i < n; i++) {
        if (subjects[i].pixels != subjects[0].pixels ||
            (i > 1 && subjects[i].checksum != subjects[1].checksum)) {
            return slc_fail(error, SLC_ERR_FORMAT, "%u threads found other clusters", subjects[i].threads);
        }
    }
    return SLC_OK;
}

slc_status slc_bench_cluster_stream(const void *configuration, const slc_bench_watch *watch,
                                    slc_bench_report *report, slc_error *error)
{
    const slc_bench_cluster_stream_config *config = configuration;
    subject subjects[MOST + 1] = {{.config = config}};
    slc_bench_contestant contestants[MOST + 1] = {{.self = &subjects[0], .run = run}};
    const size_t n = 1 + (config->n_threads < MOST ? config->n_threads : MOST);
    for (size_t i = 1; i < n; i++) {
        subjects[i] = (subject){.config = config, .threads = config->threads[i - 1]};
        contestants[i] = (slc_bench_contestant){.self = &subjects[i], .run = run};
    }
    slc_bench_rows *rows = &report->sets[0];
    *rows = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    const slc_bench_plan plan = {.repetitions = config->repetitions, .watch = watch};
    slc_status status = slc_bench_measure(&plan, contestants, n, error);
    status = status == SLC_OK ? compare(subjects, n, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    (void)fprintf(report->table, "%-10s %7s %12s %12s %12s %12s %8s\n", "what", "threads", "pixels",
                  "minimum", "median", "Mpixels/s", "times");
    for (size_t i = 0; i < n; i++) {
        add_row(rows, &subjects[i], &contestants[i]);
        slc_bench_print(report->table, rows, i,
                        "{what:-10} {threads:7} {pixels:12} {minimum_s:10.4f s|12} {median_s:10.4f s|12} "
                        "{mpixels_per_s:12.1f}");
        (void)fprintf(report->table, i > 1 ? " %8.2f\n" : "\n",
                      contestants[1].time[0].minimum / contestants[i].time[0].minimum);
    }
    return SLC_OK;
}
