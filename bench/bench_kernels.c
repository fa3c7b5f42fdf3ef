/* SPDX-License-Identifier: Apache-2.0
 *
 * All kernels of the library, and how long one takes. The list lives here because this folder may see
 * every module; a module's array ends with a row without a name.
 */
#include "cms/cms_calibrate_work.h"
#include "cms/cms_cluster_work.h"
#include "cms/cms_decode_work.h"
#include "cms/cms_position_work.h"
#include "image/image_algorithms.h"
#include "image/image_bitrun_kernels.h"
#include "image/image_kernels.h"
#include "lhcb/lhcb_kernels.h"
#include "pet/pet_kernels.h"
#include "pixel/pixel_kernels.h"
#include "simd/simd_kernel.h"
#include "velo/velo_kernels.h"

#include "bench/bench_kernels.h"

#include <stdlib.h>

static const slc_simd_kernel *const modules[] = {
    slc_image_kernel_rows,       slc_image_algorithm_kernel_rows,
    slc_bitrun_kernel_rows,      slc_pixel_kernel_rows,
    slc_pet_kernel_rows,         slc_velo_kernel_rows,
    slc_cms_decode_kernel_rows,  slc_cms_calibrate_kernel_rows,
    slc_cms_cluster_kernel_rows, slc_cms_position_kernel_rows,
    slc_mdf_kernel_rows,
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

static double time_calls(const slc_simd_case *bench, void *scratch, slc_simd_target target, uint32_t calls)
{
    const double begin = slc_clock_seconds();
    for (uint32_t i = 0; i < calls; i++) {
        bench->run(scratch, target);
    }
    return (slc_clock_seconds() - begin) * 1e9;
}

/* As many calls as make a sample long against the clock's own cost. Finding the number warms up caches,
 * branch predictors and the wide units of the processor. */
static uint32_t calls_in_sample(const slc_simd_case *bench, void *scratch, slc_simd_target target)
{
    const double sample_ns = 20e3, warm_ns = 2e6;
    uint32_t calls = 1;
    double ns = time_calls(bench, scratch, target, calls);
    while (ns < sample_ns && calls < (1U << 30)) {
        calls *= 2;
        ns = time_calls(bench, scratch, target, calls);
    }
    for (double warmed = ns; warmed < warm_ns;) {
        const double again = time_calls(bench, scratch, target, calls);
        warmed += again;
        /* Warm calls are faster: the number found cold may be too small. */
        if (again < sample_ns && calls < (1U << 30)) {
            calls *= 2;
        }
    }
    return calls;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

slc_status slc_bench_kernel_bench(size_t kernel, slc_simd_target target, uint32_t repetitions,
                                  slc_bench_timing *timing, slc_error *error)
{
    const slc_simd_kernel *row = find(kernel);
    if (row == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "kernel %zu: there is none of this number", kernel);
    }
    if (!slc_simd_runs(target) || repetitions == 0) {
        const char *name = slc_simd_name(target);
        return slc_fail(error, SLC_ERR_USAGE, "%s: %s on %s", row->name,
                        repetitions == 0 ? "no repetitions" : "cannot run",
                        name != NULL ? name : "no target");
    }
    const slc_simd_case *bench = row->bench;
    void *scratch = slc_simd_scratch(bench);
    double *samples = malloc(repetitions * sizeof *samples);
    if (scratch == NULL || samples == NULL) {
        free(scratch);
        free(samples);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its input", row->name);
    }
    bench->prepare(scratch, 1);
    const uint32_t calls = calls_in_sample(bench, scratch, target);
    for (uint32_t i = 0; i < repetitions; i++) {
        samples[i] = time_calls(bench, scratch, target, calls) / calls;
    }
    qsort(samples, repetitions, sizeof *samples, by_value);
    const double upper = samples[repetitions / 2], lower = samples[(repetitions - 1) / 2];
    *timing = (slc_bench_timing){.elements = bench->elements,
                                 .bytes_per_element = bench->bytes_per_element,
                                 .minimum_ns = samples[0],
                                 .median_ns = 0.5 * (lower + upper),
                                 .calls = calls};
    free(samples);
    free(scratch);
    return SLC_OK;
}
