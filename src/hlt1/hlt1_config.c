/* SPDX-License-Identifier: Apache-2.0
 * Settings of the searches beyond the VELO, by name. */
#include "hlt1/hlt1_config.h"
#include "base/config.h"

#include <math.h>
#include <string.h>

static void hlt1_config_default(slc_hlt1_config *config)
{
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    config->exec.target = SLC_SIMD_AUTO;
    config->upstream = (slc_hlt1_upstream_config){.window_pt_mev = 275,
                                                  .window_p_mev = 1250,
                                                  .least_pt_mev = 400,
                                                  .least_p_mev = 1500,
                                                  .max_slope_difference = 0.018f,
                                                  .max_distance_mm = 0.8f,
                                                  .min_discriminant = -0.5f,
                                                  .max_tracks = 400};
    config->forward = (slc_hlt1_forward_config){
        .max_hits = 48, .max_triplets = 7, .max_quality = 0.35f, .enough_quality = 0.1f, .max_shared = 0.4f};
    config->rest = (slc_hlt1_rest_config){.least_p_mev = 3000,
                                          .max_quality = 0.2f,
                                          .max_ut_distance_mm = 2.0f,
                                          .min_ut_layers = 2,
                                          .min_hits = 10,
                                          .max_triplets = 7};
    slc_hlt1_fit_config_default(&config->fit);
    slc_hlt1_secondaries_config_default(&config->pairs);
}
SLC_CONFIG_DEFAULT(slc_hlt1_config, hlt1_config_default)

slc_status slc_hlt1_config_preset(slc_hlt1_config *config, const char *name, slc_error *error)
{
    slc_hlt1_config fresh;
    hlt1_config_default(&fresh);
    const bool loose = strcmp(name, "loose") == 0, full = strcmp(name, "full") == 0;
    if (!loose && !full && strcmp(name, "standard") != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "settings %s: standard, loose and full are known", name);
    }
    if (loose || full) {
        fresh.upstream.window_pt_mev = 200;
        fresh.upstream.least_pt_mev = 250;
        fresh.forward.max_triplets = 8;
        fresh.forward.enough_quality = 0.08f;
    }
    fresh.rest.on = full;
    config->rest = fresh.rest;
    config->upstream = fresh.upstream;
    config->forward = fresh.forward;
    return SLC_OK;
}

static bool is_within(float value, float low, float high)
{
    return value >= low && value <= high;
}

slc_status slc_hlt1_config_check(const slc_hlt1_config *config, slc_error *error)
{
    const slc_hlt1_upstream_config *u = &config->upstream;
    const slc_hlt1_forward_config *f = &config->forward;
    const struct {
        const char *name;
        float value, low, high;
    } numbers[] = {{"upstream.window_pt_mev", u->window_pt_mev, 1, 1e5f},
                   {"upstream.window_p_mev", u->window_p_mev, 100, 1e6f},
                   {"upstream.least_pt_mev", u->least_pt_mev, 0, 1e5f},
                   {"upstream.least_p_mev", u->least_p_mev, 0, 1e6f},
                   {"upstream.max_slope_difference", u->max_slope_difference, 0, 1},
                   {"upstream.max_distance_mm", u->max_distance_mm, 0, 100},
                   {"upstream.min_discriminant", u->min_discriminant, -100, 100},
                   {"upstream.max_tracks", (float)u->max_tracks, 1, 1 << 20},
                   {"forward.max_hits", (float)f->max_hits, 1, 64},
                   {"forward.max_triplets", (float)f->max_triplets, 1, 32},
                   {"forward.max_quality", f->max_quality, 0, 1e6f},
                   {"forward.enough_quality", f->enough_quality, 0, 1e6f},
                   {"forward.max_shared", f->max_shared, 0, 1},
                   {"rest.least_p_mev", config->rest.least_p_mev, 100, 1e6f},
                   {"rest.max_quality", config->rest.max_quality, 0, 1e6f},
                   {"rest.max_ut_distance_mm", config->rest.max_ut_distance_mm, 0, 1e3f},
                   {"rest.min_ut_layers", (float)config->rest.min_ut_layers, 0, 4},
                   {"rest.min_hits", (float)config->rest.min_hits, 9, 12},
                   {"rest.max_triplets", (float)config->rest.max_triplets, 1, 32}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!is_within(numbers[i].value, numbers[i].low, numbers[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "%s must be from %g to %g, not %g", numbers[i].name,
                            (double)numbers[i].low, (double)numbers[i].high, (double)numbers[i].value);
        }
    }
    return SLC_OK;
}
