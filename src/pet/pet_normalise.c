/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of a known source to fan sums: how many counts each crystal has with all others.
 */
#include "base/config.h"
#include "pet/pet_layout.h"
#include "pet/pet_normalise_work.h"

#include <stdlib.h>

enum { MOST_THREADS = 64 };

static void normalise_config_default(slc_pet_normalise_config *config)
{
    *config = (slc_pet_normalise_config){.size = sizeof *config, .ring_difference = UINT32_MAX};
    (void)slc_pet_scanner("mouse20", &config->geometry, NULL);
    config->exec.threads = 1;
}
SLC_CONFIG_DEFAULT(slc_pet_normalise_config, normalise_config_default)

static slc_status check(const slc_pet_normalise_config *c, slc_error *error)
{
    slc_status status = slc_pet_geometry_check(&c->geometry, error);
    status = status == SLC_OK ? slc_pet_cylinder_check(&c->source, "source", error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const double reach = hypot(c->source.x_mm, c->source.y_mm) + c->source.radius_mm;
    if (!(reach < c->geometry.radius_mm)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "source: reaches %g mm from the axis, and the scanner's radius is %g mm", reach,
                        c->geometry.radius_mm);
    }
    if (!(c->edge_mm >= 0 && c->edge_mm < 1e6)) {
        return slc_fail(error, SLC_ERR_USAGE, "edge_mm is %g", c->edge_mm);
    }
    return SLC_OK;
}

/* Bins of half a crystal's width from the axis out to the crystals, and of a crystal's along it. */
static slc_status measure(slc_pet_normalise *n, slc_error *error)
{
    const slc_pet_normalise_config *c = &n->config;
    double wide, along;
    slc_pet_spacing(&c->geometry, &wide, &along);
    wide = wide > 0 ? wide : along > 0 ? along : 1;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (uint32_t i = 0; i < n->crystals; i++) {
        slc_pet_crystal_position(&c->geometry, i, n->crystal[i].place, n->crystal[i].direction);
        const double z = n->crystal[i].place[2];
        low = z < low ? z : low;
        high = z > high ? z : high;
    }
    n->edge_mm = c->edge_mm > 0 ? c->edge_mm : wide;
    const slc_pet_cylinder *s = &c->source;
    if (!(n->edge_mm < s->radius_mm) ||
        (s->inner_mm > 0 && s->inner_mm <= n->edge_mm && s->radius_mm - s->inner_mm <= 2 * n->edge_mm)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "source: pairs within %g mm of its edge are left out, and radius %g mm, inner %g mm "
                        "leave none",
                        n->edge_mm, s->radius_mm, s->inner_mm);
    }
    n->axial_mm = c->geometry.pitch_z_mm > 0 ? c->geometry.pitch_z_mm : 1;
    n->radial_mm = wide / 2;
    n->n_radial = (uint32_t)((hypot(s->x_mm, s->y_mm) + s->radius_mm) / n->radial_mm) + 1;
    n->n_axial = (uint32_t)((high - low) / n->axial_mm + 0.5) + 1;
    n->most_z_mm = (c->ring_difference < n->n_axial ? c->ring_difference + 0.5 : n->n_axial) * n->axial_mm;
    return SLC_OK;
}

static slc_status make_room(slc_pet_normalise *n, slc_error *error)
{
    const slc_pet_geometry *g = &n->config.geometry;
    n->n_blocks = slc_pet_module_count(g) * g->blocks_y * g->blocks_z;
    n->n_places = g->crystals_y * g->crystals_z;
    n->crystal = malloc(n->crystals * sizeof *n->crystal);
    n->fan = calloc(n->crystals, sizeof *n->fan);
    n->pairs = calloc(n->crystals, sizeof *n->pairs);
    n->block = malloc(n->n_blocks * sizeof *n->block);
    n->place = malloc(n->n_places * sizeof *n->place);
    if (n->crystal == NULL || n->fan == NULL || n->pairs == NULL || n->block == NULL || n->place == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the fan sums of %u crystals", n->crystals);
    }
    const slc_status status = measure(n, error);
    if (status != SLC_OK) {
        return status;
    }
    n->counted = calloc((size_t)n->n_radial * n->n_axial, sizeof *n->counted);
    n->radial = malloc(n->n_radial * sizeof *n->radial);
    n->axial = malloc(n->n_axial * sizeof *n->axial);
    if (n->counted == NULL || n->radial == NULL || n->axial == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u x %u geometric factors", n->n_radial,
                        n->n_axial);
    }
    if (slc_pet_normalise_make_table(n) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for what is expected of %u crystals", n->crystals);
    }
    return SLC_OK;
}

slc_status slc_pet_normalise_open(const slc_pet_normalise_config *given, slc_pet_normalise **normalise,
                                  slc_error *error)
{
    slc_pet_normalise_config config;
    *normalise = NULL;
    slc_pet_normalise_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_normalise_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_normalise *n = calloc(1, sizeof *n);
    if (n == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a normalisation");
    }
    n->config = config;
    n->crystals = slc_pet_crystals(&config.geometry);
    const uint32_t threads = config.exec.threads == 0 ? slc_team_processors() : config.exec.threads;
    status = make_room(n, error);
    if (status == SLC_OK && threads > 1 &&
        slc_team_open(threads < MOST_THREADS ? threads : MOST_THREADS, &n->team) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for %u threads", threads);
    }
    if (status != SLC_OK) {
        slc_pet_normalise_close(n);
        return status;
    }
    *normalise = n;
    return SLC_OK;
}

void slc_pet_normalise_close(slc_pet_normalise *n)
{
    if (n != NULL) {
        slc_team_close(n->team);
        free(n->crystal);
        free(n->fan);
        free(n->pairs);
        free(n->counted);
        free(n->radial);
        free(n->axial);
        free(n->block);
        free(n->place);
        free(n->table);
        free(n->with_factors);
        free(n);
    }
}

slc_status slc_pet_normalise_add(slc_pet_normalise *n, const slc_pet_coincidences *pairs, slc_error *error)
{
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint32_t one = pairs->crystal1[i], two = pairs->crystal2[i];
        const uint32_t a = one < two ? one : two, b = one < two ? two : one;
        if (b >= n->crystals) {
            return slc_fail(error, SLC_ERR_FORMAT, "pair %zu of crystals %u and %u; the scanner has %u", i,
                            one, two, n->crystals);
        }
        if (a == b || !(slc_pet_normalise_of(n, a, b) > 0)) {
            n->outside++;
            continue;
        }
        const int64_t count = pairs->delayed[i] != 0 ? -1 : 1;
        *(count > 0 ? &n->prompts : &n->delayeds) += 1;
        n->fan[a] += count;
        n->fan[b] += count;
        n->pairs[a]++;
        n->pairs[b]++;
        if (n->config.geometric) {
            n->counted[slc_pet_normalise_bin(n, &n->crystal[a], &n->crystal[b])] += count;
        }
    }
    return SLC_OK;
}
