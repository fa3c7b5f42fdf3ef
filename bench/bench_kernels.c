/* SPDX-License-Identifier: Apache-2.0
 *
 * All kernels of the library, and how long one takes. The list lives here because this folder may see
 * every module; a module's array ends with a row without a name.
 */
#include "cms/cms_calibrate_work.h"
#include "cms/cms_cluster_work.h"
#include "cms/cms_decode_work.h"
#include "cms/cms_position_work.h"
#include "hlt1/hlt1_fit_work.h"
#include "hlt1/hlt1_forward_work.h"
#include "hlt1/hlt1_upstream_work.h"
#include "image/image_algorithms.h"
#include "image/image_bitrun_kernels.h"
#include "image/image_kernels.h"
#include "image/image_volume_kernels.h"
#include "lhcb/lhcb_kernels.h"
#include "muon/muon_identify_work.h"
#include "pet/pet_kernels.h"
#include "pixel/pixel_kernels.h"
#include "scifi/scifi_place.h"
#include "simd/simd_checksum.h"
#include "ut/ut_place.h"
#include "velo/velo_kernels.h"

#include "bench/bench_kernels.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const slc_simd_kernel *const modules[] = {
    slc_image_kernel_rows,         slc_image_algorithm_kernel_rows, slc_bitrun_kernel_rows,
    slc_volume_kernel_rows,        slc_pixel_kernel_rows,           slc_pet_kernel_rows,
    slc_velo_kernel_rows,          slc_cms_decode_kernel_rows,      slc_cms_calibrate_kernel_rows,
    slc_cms_cluster_kernel_rows,   slc_cms_position_kernel_rows,    slc_mdf_kernel_rows,
    slc_checksum_kernel_rows,      slc_hlt1_fit_kernel_rows,        slc_hlt1_forward_kernel_rows,
    slc_hlt1_upstream_kernel_rows, slc_scifi_kernel_rows,           slc_ut_kernel_rows,
    slc_muon_kernel_rows,
};

static const slc_simd_kernel *find(size_t kernel)
{
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        for (const slc_simd_kernel *row = modules[i]; row->name != NULL; row++) {
            if (kernel-- == 0) {
                return row;
            }
        }
    }
    return NULL;
}

const char *slc_bench_kernel_name(size_t kernel)
{
    const slc_simd_kernel *row = find(kernel);
    return row != NULL ? row->name : NULL;
}

slc_simd_target slc_bench_kernel_target(size_t kernel, slc_simd_target choice)
{
    return slc_simd_kernel_choice(find(kernel), choice);
}

/* ---- measuring --------------------------------------------------------------------------------- */

/* A kernel on a target. */
typedef struct subject {
    const slc_simd_kernel *kernel;
    void *scratch;
    slc_simd_target target;
    uint32_t calls; /* in one sample */
} subject;

static double time_calls(const subject *s, uint32_t calls)
{
    const slc_simd_case *bench = s->kernel->bench;
    const double begin = slc_clock_seconds();
    for (uint32_t i = 0; i < calls; i++) {
        bench->run(s->scratch, s->target);
    }
    return slc_clock_seconds() - begin;
}

/* As many calls as make a sample long against the clock's own cost. Finding the number warms up caches,
 * branch predictors and the wide units of the processor. */
static slc_status prepare(void *self, slc_error *error)
{
    const double sample = 20e-6, warm = 2e-3;
    subject *s = self;
    s->scratch = slc_simd_scratch(s->kernel->bench);
    if (s->scratch == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its input", s->kernel->name);
    }
    s->kernel->bench->prepare(s->scratch, 1);
    s->calls = 1;
    double seconds = time_calls(s, s->calls);
    while (seconds < sample && s->calls < (1U << 30)) {
        s->calls *= 2;
        seconds = time_calls(s, s->calls);
    }
    for (double warmed = seconds; warmed < warm;) {
        const double again = time_calls(s, s->calls);
        warmed += again;
        /* Warm calls are faster: the number found cold may be too small. */
        if (again < sample && s->calls < (1U << 30)) {
            s->calls *= 2;
        }
    }
    return SLC_OK;
}

static slc_status run(void *self, double *seconds, slc_error *error)
{
    const subject *s = self;
    (void)error;
    seconds[0] = time_calls(s, s->calls) / s->calls;
    return SLC_OK;
}

static void clear(void *self)
{
    free(((subject *)self)->scratch);
}

/* ---- rows -------------------------------------------------------------------------------------- */

enum {
    KERNEL,
    TARGET,
    STAR,
    PREFERRED,
    ELEMENTS,
    BYTES,
    CALLS,
    MINIMUM,
    MEDIAN,
    EACH,
    SPEED,
    TIMES,
    COLUMNS
};
static const slc_bench_column columns[COLUMNS] = {
    [KERNEL] = {"kernel", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    [TARGET] = {"target", SLC_BENCH_TEXT, SLC_BENCH_JSON, 0},
    [STAR] = {"star", SLC_BENCH_TEXT, 0, 0},
    [PREFERRED] = {"preferred", SLC_BENCH_FLAG, SLC_BENCH_JSON, 0},
    [ELEMENTS] = {"elements", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},        /* of one call */
    [BYTES] = {"bytes_per_element", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0}, /* read and written */
    [CALLS] = {"calls_per_sample", SLC_BENCH_COUNT, SLC_BENCH_JSON, 0},
    [MINIMUM] = {"minimum_ns", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    [MEDIAN] = {"median_ns", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    [EACH] = {"minimum_ns_per_element", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    [SPEED] = {"gigabytes_per_second", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0},
    [TIMES] = {"times_c", SLC_BENCH_NUMBER, SLC_BENCH_JSON, 0}};

static void add_row(slc_bench_rows *rows, const subject *s, bool preferred, slc_bench_time time, double c)
{
    const slc_simd_case *bench = s->kernel->bench;
    const double elements = (double)bench->elements, ns = 1e9 * time.minimum;
    slc_bench_cell *row = slc_bench_add(rows);
    row[KERNEL] = slc_bench_text(s->kernel->name);
    row[TARGET] = slc_bench_text(slc_simd_name(s->target));
    row[STAR] = slc_bench_text(preferred ? "*" : " ");
    row[PREFERRED] = slc_bench_flag(preferred);
    row[ELEMENTS] = slc_bench_count(bench->elements);
    row[BYTES] = slc_bench_number(bench->bytes_per_element);
    row[CALLS] = slc_bench_count(s->calls);
    row[MINIMUM] = slc_bench_number(ns);
    row[MEDIAN] = slc_bench_number(1e9 * time.median);
    row[EACH] = slc_bench_number(ns / elements);
    row[SPEED] = slc_bench_number(bench->bytes_per_element * elements / ns);
    row[TIMES] = slc_bench_number(c / time.minimum);
}

/* On the targets that are wanted; plain C in any case, as all others are compared with it. */
static slc_status measure(const slc_bench_kernels_config *config, size_t kernel, const slc_bench_watch *watch,
                          slc_bench_rows *rows, slc_error *error)
{
    const slc_bench_plan plan = {.repetitions = config->repetitions, .rounds = 1, .watch = watch};
    const slc_simd_target preferred = slc_bench_kernel_target(kernel, SLC_SIMD_AUTO);
    const slc_simd_target only = slc_bench_kernel_target(kernel, config->choice);
    subject subjects[SLC_SIMD_TARGETS];
    slc_bench_contestant contestants[SLC_SIMD_TARGETS];
    size_t n = 0;
    for (int t = SLC_SIMD_C; t < SLC_SIMD_TARGETS; t++) {
        const slc_simd_target target = (slc_simd_target)t;
        if (slc_simd_runs(target) && (config->every || target == only || target == SLC_SIMD_C)) {
            subjects[n] = (subject){.kernel = find(kernel), .target = target};
            contestants[n] = (slc_bench_contestant){
                .self = &subjects[n], .prepare = prepare, .run = run, .clear = clear};
            n++;
        }
    }
    const slc_status status = slc_bench_measure(&plan, contestants, n, error);
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        if (config->every || subjects[i].target == only) {
            add_row(rows, &subjects[i], subjects[i].target == preferred, contestants[i].time[0],
                    contestants[0].time[0].minimum);
        }
    }
    return status;
}

static void print_table(const slc_bench_rows *rows, uint32_t repetitions, FILE *out)
{
    (void)fprintf(out, "%-18s %-12s %12s %12s %10s %9s %7s\n", "kernel", "target", "min [ns]", "median [ns]",
                  "ns/element", "GB/s", "x c");
    for (size_t i = 0; i < rows->n; i++) {
        slc_bench_print(out, rows, i,
                        "{kernel:-18} {target:-11}{star} {minimum_ns:12.1f} {median_ns:12.1f} "
                        "{minimum_ns_per_element:10.4f} {gigabytes_per_second:9.2f} {times_c:7.2f}\n");
    }
    (void)fprintf(out, "* what `auto` takes; GB/s read and written, both from the minimum of %u samples\n",
                  (unsigned)repetitions);
}

slc_status slc_bench_kernels(const void *configuration, const slc_bench_watch *watch,
                             slc_bench_report *report, slc_error *error)
{
    const slc_bench_kernels_config *config = configuration;
    slc_bench_rows *rows = &report->sets[0];
    slc_status status = SLC_OK;
    *rows = (slc_bench_rows){.columns = columns, .n_columns = COLUMNS};
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL && status == SLC_OK; i++) {
        if (config->kernel == NULL || strcmp(config->kernel, slc_bench_kernel_name(i)) == 0) {
            status = measure(config, i, watch, rows, error);
        }
        if (status == SLC_OK && !slc_bench_goes_on(watch, rows->n, 0)) {
            status = SLC_END;
        }
    }
    print_table(rows, config->repetitions, report->table);
    report->json = json_pack("{s:s, s:s, s:I, s:o}", "version", slc_version(), "compiler", slc_compiler(),
                             "repetitions", (json_int_t)config->repetitions, "kernels",
                             slc_bench_json(rows, 0, rows->n));
    return status;
}
