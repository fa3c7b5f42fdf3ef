/* SPDX-License-Identifier: Apache-2.0
 * The table of settings, and named sets of them. */
#include "velo/velo_config.h"
#include "base/config.h"
#include "velo/velo_track_work.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ----------------------------------------------------------------------------------- */

static const char *const algorithms[] = {"local", "pair-fast", "pair-best", "triplet", NULL};
static const char *const strategies[] = {"standard", "split", "full", NULL};
static const char *const banks[] = {"auto", "superpixels", "retina", NULL};

enum {
    N_ALGORITHMS = sizeof algorithms / sizeof *algorithms - 1,
    N_STRATEGIES = sizeof strategies / sizeof *strategies - 1
};

/* NOLINTBEGIN(bugprone-macro-parentheses): rows of a table, of names of members. */
#define COUNT(g, m, low, high)                                                                               \
    {                                                                                                        \
#g, #m, offsetof(slc_velo_config, g.m), low, high, NULL, SLC_VELO_SETTING_COUNT, 1                   \
    }
#define NUMBERS(g, m, low, high, n)                                                                          \
    {                                                                                                        \
#g, #m, offsetof(slc_velo_config, g.m), low, high, NULL, SLC_VELO_SETTING_NUMBER, n                  \
    }
#define NUMBER(g, m, low, high) NUMBERS(g, m, low, high, 1)
#define SQUARE(g, m)            NUMBER(g, m, 0, 1e6)
#define CHOICE(g, m, words, n)                                                                               \
    {                                                                                                        \
#g, #m, offsetof(slc_velo_config, g.m), 0, (n)-1, words, SLC_VELO_SETTING_CHOICE, 1                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

static const slc_velo_setting settings[] = {
    {"", "banks", offsetof(slc_velo_config, banks), 0, SLC_VELO_BANKS_RETINA, banks, SLC_VELO_SETTING_CHOICE,
     1},
    CHOICE(track, algorithm, algorithms, N_ALGORITHMS),
    CHOICE(track, strategy, strategies, N_STRATEGIES),
    COUNT(track, candidates, 1, 10),
    SQUARE(track, max_scatter_seeding_mm2),
    SQUARE(track, max_scatter_extending_mm2),
    SQUARE(track, max_scatter_3hits_mm2),
    COUNT(track, second_candidates, 0, 10),
    SQUARE(track, second_seeding_mm2),
    SQUARE(track, second_extending_mm2),
    SQUARE(track, second_3hits_mm2),
    SQUARE(track, missing_layer_mm2),
    NUMBER(track, missing_r_low_mm, 0, 1e6),
    NUMBER(track, missing_r_high_mm, 0, 1e6),
    SQUARE(track, trim_mm2),
    SQUARE(track, pickup_mm2),
    COUNT(track, min_hits, 3, SLC_VELO_LAYERS),
    NUMBER(track, merge_slope, 0, 10),
    SQUARE(track, merge_mm2),
    COUNT(track, max_layer_hits, 1, SLC_TRACK_LAYER_HITS),
    COUNT(track, max_event_hits, 0, UINT32_MAX),
    NUMBER(fit, hit_sigma_mm, 1e-6, 1e3),
    NUMBERS(fit, size_sigma_mm, 1e-6, 1e3, SLC_VELO_FIT_SIZES),
    NUMBER(fit, noise_constant, 0, 1e3),
    NUMBER(fit, noise_slope, 0, 1e3),
    NUMBER(fit, second_noise_slope, 0, 1e3),
    NUMBER(fit, scatter_prior, 0, 1e9),
    NUMBER(fit, beam_x_mm, -1e3, 1e3),
    NUMBER(fit, beam_y_mm, -1e3, 1e3),
    NUMBER(fit, end_z_mm, -1e6, 1e6),
    NUMBER(vertex, z_min_mm, -1e5, 1e5),
    NUMBER(vertex, z_max_mm, -1e5, 1e5),
    NUMBER(vertex, bin_mm, 1e-3, 1e4),
    NUMBER(vertex, error_scale, 1e-3, 1e3),
    NUMBER(vertex, max_track_chi2, 0, 1e6),
    NUMBER(vertex, max_track_sigma_z_mm, 1e-6, 1e3),
    NUMBER(vertex, min_peak_tracks, 0, 1e6),
    NUMBER(vertex, max_dip_per_mm, 0, 1e6),
    COUNT(vertex, iterations, 1, 1000),
    NUMBER(vertex, max_fit_chi2, 1e-6, 100),
    NUMBER(vertex, min_tracks, 0, 1e6),
    SQUARE(vertex, max_beam_distance2_mm2),
    NUMBER(vertex, min_separation2, 0, 1e6),
    COUNT(gec, max_velo, 0, UINT32_MAX),
    COUNT(gec, max_ut, 0, UINT32_MAX),
    COUNT(gec, max_scifi, 0, UINT32_MAX),
    COUNT(gec, max_ut_scifi, 0, UINT32_MAX),
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

_Static_assert(sizeof(slc_velo_banks) == 4 && sizeof(slc_velo_track_strategy) == 4 &&
                   sizeof(slc_velo_track_algorithm) == 4,
               "choices are as large as counts");

const slc_velo_setting *slc_velo_setting_at(size_t i)
{
    return i < N_SETTINGS ? &settings[i] : NULL;
}

double slc_velo_setting_get(const slc_velo_setting *setting, const slc_velo_config *config, uint32_t at)
{
    const char *from = (const char *)config + setting->offset + sizeof(float) * at;
    uint32_t count;
    float number;
    memcpy(&count, from, sizeof count);
    memcpy(&number, from, sizeof number);
    return setting->kind == SLC_VELO_SETTING_NUMBER ? (double)number : (double)count;
}

void slc_velo_setting_set(const slc_velo_setting *setting, slc_velo_config *config, uint32_t at, double value)
{
    char *to = (char *)config + setting->offset + sizeof(float) * at;
    if (setting->kind == SLC_VELO_SETTING_NUMBER) {
        const float number = (float)value + 0.0f; /* no -0 */
        memcpy(to, &number, sizeof number);
    } else {
        const uint32_t count = (uint32_t)value;
        memcpy(to, &count, sizeof count);
    }
}

slc_status slc_velo_settings_check(const slc_velo_config *config, slc_error *error)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const slc_velo_setting *s = &settings[i];
        for (uint32_t k = 0; k < s->n; k++) {
            const double value = slc_velo_setting_get(s, config, k);
            /* limits as floats are: 1e-6 in single precision is the value that is allowed */
            const bool number = s->kind == SLC_VELO_SETTING_NUMBER;
            const double low = number ? (double)(float)s->low : s->low;
            const double high = number ? (double)(float)s->high : s->high;
            char place[16] = "";
            if (s->n > 1) {
                (void)snprintf(place, sizeof place, "[%u]", k);
            }
            if (!(value >= low && value <= high)) {
                return slc_fail(error, SLC_ERR_USAGE, "%s%s%s%s is %g, must be from %g to %g", s->group,
                                s->group[0] != '\0' ? "." : "", s->key, place, value, s->low, s->high);
            }
        }
    }
    const slc_velo_vertex_config *vertex = &config->vertex;
    const double bins = (double)((vertex->z_max_mm - vertex->z_min_mm) / vertex->bin_mm);
    if (!(bins >= 1 && bins <= 4096)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "vertex: %g bins of bin_mm from z_min_mm to z_max_mm, must be 1 to 4096", bins);
    }
    return SLC_OK;
}

/* ---- presets -------------------------------------------------------------------------------------- */

/* What is off keeps the cuts of the default, so that switching it on needs one setting. */
static void make_fast(slc_velo_config *config)
{
    slc_velo_track_config *fast = &config->track;
    const slc_velo_track_config track = config->track;
    slc_velo_track_config_fast(fast);
    fast->second_seeding_mm2 = track.second_seeding_mm2;
    fast->second_extending_mm2 = track.second_extending_mm2;
    fast->second_3hits_mm2 = track.second_3hits_mm2;
    fast->missing_r_low_mm = track.missing_r_low_mm;
    fast->missing_r_high_mm = track.missing_r_high_mm;
    fast->merge_slope = track.merge_slope;
}

/* The halves are retracted, and nobody has yet centred them on the beam, which may be some mm off. */
static void make_open(slc_velo_config *config)
{
    slc_velo_track_config *track = &config->track;
    slc_velo_vertex_config *vertex = &config->vertex;
    track->missing_layer_mm2 = 0; /* which layers a line goes through depends on how far the halves are */
    track->max_scatter_3hits_mm2 = track->second_3hits_mm2 = 0.06f;
    /* The first hit is 30 mm from the beam and more, and few particles of a collision have hits. */
    vertex->max_track_sigma_z_mm = 4;
    vertex->min_tracks = 3;
    vertex->min_peak_tracks = 1.5f;
    vertex->max_beam_distance2_mm2 = 25;
    vertex->max_track_chi2 = 100;
}

/* Gas in the cell upstream, z from -541 to -341 mm, as well as collisions. */
static void make_smog2(slc_velo_config *config)
{
    slc_velo_vertex_config *vertex = &config->vertex;
    vertex->z_min_mm = -600;
    /* Few particles, all of them forward, whose first hit is up to half a metre from their vertex. */
    vertex->max_track_sigma_z_mm = 8;
    vertex->min_tracks = 3;
    vertex->min_peak_tracks = 1.2f;
}

/* Seven times the collisions in an event, as in the events of docs/formats/velo-json.md. */
static void make_upgrade2(slc_velo_config *config)
{
    slc_velo_track_config *track = &config->track;
    track->max_layer_hits = 4096;
    /* Most tracks of three hits are of no particle that counts: no track has so few. Narrow at first, where
     * hits are dense, and wide among what is left. */
    track->min_hits = 4;
    track->max_scatter_seeding_mm2 = 0.015f;
    track->max_scatter_extending_mm2 = 0.06f;
    track->second_seeding_mm2 = 0.1f;
    track->second_extending_mm2 = 0.35f;
    track->second_3hits_mm2 = 0.03f;
    track->pickup_mm2 = 0.06f;
}

/* The first one is the default. */
static const struct preset {
    const char *name;
    void (*make)(slc_velo_config *config); /* of the default; NULL: nothing */
} presets[] = {
    {"standard", NULL},    {"fast", make_fast},         {"open", make_open},
    {"smog2", make_smog2}, {"upgrade2", make_upgrade2},
};

static const struct {
    const char *name;
    uint32_t bit;
} collections[] = {{"hits", SLC_VELO_WANT_HITS},           {"tracks", SLC_VELO_WANT_TRACKS},
                   {"states_beam", SLC_VELO_WANT_BEAM},    {"states_end", SLC_VELO_WANT_END},
                   {"primaries", SLC_VELO_WANT_PRIMARIES}, {"decisions", SLC_VELO_WANT_DECISIONS}};

slc_status slc_velo_wanted_read(const char *list, uint32_t *wanted, slc_error *error)
{
    uint32_t bits = 0;
    const char *word = list;
    for (bool more = true; more;) {
        const size_t size = strcspn(word, ",");
        size_t i = 0;
        while (i < sizeof collections / sizeof *collections &&
               (strlen(collections[i].name) != size || memcmp(collections[i].name, word, size) != 0)) {
            i++;
        }
        if (i == sizeof collections / sizeof *collections) {
            return slc_fail(
                error, SLC_ERR_USAGE,
                "wanted: '%.*s' is none of hits, tracks, states_beam, states_end, primaries, decisions",
                (int)(size < 64 ? size : 64), word);
        }
        bits |= collections[i].bit;
        more = word[size] == ',';
        word += size + 1;
    }
    *wanted = bits;
    return SLC_OK;
}

slc_status slc_velo_config_preset(slc_velo_config *config, const char *name, slc_error *error)
{
    enum { N_PRESETS = sizeof presets / sizeof *presets };
    size_t i = 0;
    while (i < N_PRESETS && strcmp(presets[i].name, name) != 0) {
        i++;
    }
    if (i == N_PRESETS) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "unknown preset '%.48s'; there are: standard, fast, open, smog2, upgrade2", name);
    }
    slc_velo_config preset, own;
    slc_velo_config_default(&preset);
    slc_velo_config_default(&own);
    const slc_status status = slc_config_take(&own, sizeof own, config, "slc_velo_config", error);
    if (status != SLC_OK) {
        return status;
    }
    if (presets[i].make != NULL) {
        presets[i].make(&preset);
    }
    for (size_t k = 0; k < N_SETTINGS; k++) {
        for (uint32_t at = 0; at < settings[k].n; at++) {
            slc_velo_setting_set(&settings[k], &own, at, slc_velo_setting_get(&settings[k], &preset, at));
        }
    }
    slc_config_give(config, config->size, &own, sizeof own);
    return SLC_OK;
}
