/* SPDX-License-Identifier: Apache-2.0
 * Positions of clusters, module by module, as these have a plane each. What is computed is told in
 * cms_position_core.h, which the GPU shares; the loop is in cms_position.simd.c. */
#include "cms/cms_position_work.h"
#include "cms/cms_stages.h"

#include <stdatomic.h>

void slc_cms_position_config_default(slc_cms_position_config *config)
{
    *config = (slc_cms_position_config){
        .pitch_x_um = 100.0f,
        .pitch_y_um = 150.0f,
        .thickness_um = 285.0f,
        .plane_default = {.z0_um = 30000.0f}, /* straight above the middle, as far as the first layer is */
        /* Half widths of residuals: ctest -R test_cms_position_truth -V */
        .error_x_um = {12.0f, 6.5f, 13.0f},
        .error_y_um = {35.0f, 9.5f, 15.0f},
    };
}

/* As for the calibration: there is no handle that could keep the choice. */
static const slc_cms_position_kernels *preferred_kernels(void)
{
    static _Atomic(const slc_cms_position_kernels *) preferred;
    const slc_cms_position_kernels *kernels = atomic_load_explicit(&preferred, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = slc_cms_position_kernels_of(
            slc_simd_kernel_choice(&slc_cms_position_kernel_rows[0], SLC_SIMD_AUTO));
        atomic_store_explicit(&preferred, kernels, memory_order_relaxed);
    }
    return kernels;
}

void slc_cms_position_run(const slc_cms_position_config *config, slc_cms_clusters *clusters)
{
    const slc_cms_position_kernels *kernels = preferred_kernels();
    const uint16_t *module = clusters->module;
    const size_t n = clusters->head.size;
    for (size_t i = 0, end; i < n; i = end) {
        const bool own = module[i] < config->n_planes;
        const slc_cms_plane *plane = own ? &config->planes[module[i]] : &config->plane_default;
        end = i + 1;
        while (end < n && (own ? module[end] == module[i] : module[end] >= config->n_planes)) {
            end++;
        }
        kernels->locate(config, plane, clusters, i, end - i);
    }
}
