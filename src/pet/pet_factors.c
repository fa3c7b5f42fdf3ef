/* SPDX-License-Identifier: Apache-2.0
 *
 * Factors of pairs for outputs: normalisation from the efficiencies of tables, attenuation of objects.
 */
#include "base/config.h"
#include "pet/pet_line.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>

struct slc_pet_factors {
    uint32_t crystals;
    bool normalises, attenuates;
    slc_pet_geometric geometric;
    float *efficiency;  /* NULL: 1 */
    double (*place)[3]; /* of crystals; NULL where nobody asks for them */
    slc_pet_cylinder *cylinders;
    uint32_t n_cylinders;
    slc_pet_image image; /* value NULL: none */
};

static void factors_config_default(slc_pet_factors_config *config)
{
    *config = (slc_pet_factors_config){.size = sizeof *config};
}
SLC_CONFIG_DEFAULT(slc_pet_factors_config, factors_config_default)

static slc_status check_image(const slc_pet_image *image, slc_error *error)
{
    const uint64_t n = (uint64_t)image->nx * image->ny; /* below 2^64, and so is n · nz below 2^31 */
    bool good = image->nx > 0 && image->ny > 0 && image->nz > 0 && n < 1U << 31 &&
                n * image->nz < UINT64_C(1) << 40;
    for (int k = 0; k < 3; k++) {
        good = good && image->voxel_mm[k] > 0 && image->voxel_mm[k] < 1e6 && fabs(image->middle_mm[k]) < 1e6;
    }
    if (!good) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "an attenuation image of %u x %u x %u voxels of %g x %g x %g mm", image->nx,
                        image->ny, image->nz, image->voxel_mm[0], image->voxel_mm[1], image->voxel_mm[2]);
    }
    for (uint64_t i = 0; i < n * image->nz; i++) {
        if (!(image->value[i] >= 0 && image->value[i] <= 1000)) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "an attenuation of %g / cm in voxel x %llu, y %llu, z %llu",
                            (double)image->value[i], (unsigned long long)(i % image->nx),
                            (unsigned long long)(i / image->nx % image->ny), (unsigned long long)(i / n));
        }
    }
    return SLC_OK;
}

static slc_status check(const slc_pet_factors_config *config, slc_error *error)
{
    slc_status status = slc_pet_tables_check(config->tables, error);
    for (uint32_t i = 0; i < config->n_cylinders && status == SLC_OK; i++) {
        status = slc_pet_cylinder_check(&config->cylinders[i], "attenuation", error);
    }
    return status == SLC_OK && config->image != NULL ? check_image(config->image, error) : status;
}

static bool copy_geometric(slc_pet_factors *f, const slc_pet_geometric *from)
{
    const size_t radial = from->n_radial * sizeof(float), axial = from->n_axial * sizeof(float);
    float *one = malloc(radial), *two = malloc(axial);
    f->geometric = *from;
    f->geometric.radial = one;
    f->geometric.axial = two;
    if (one == NULL || two == NULL) {
        return false;
    }
    memcpy(one, from->radial, radial);
    memcpy(two, from->axial, axial);
    return true;
}

static bool copy(slc_pet_factors *f, const slc_pet_factors_config *config)
{
    const slc_pet_tables *t = config->tables;
    f->crystals = slc_pet_crystals(&t->geometry);
    f->n_cylinders = config->n_cylinders;
    if (t->efficiency != NULL) {
        f->normalises = true;
        f->efficiency = malloc(f->crystals * sizeof *f->efficiency);
        if (f->efficiency == NULL) {
            return false;
        }
        memcpy(f->efficiency, t->efficiency, f->crystals * sizeof *f->efficiency);
    }
    if (t->geometric.radial != NULL && !copy_geometric(f, &t->geometric)) {
        return false;
    }
    if (config->image != NULL) {
        f->image = *config->image;
        const size_t voxels = (size_t)f->image.nx * f->image.ny * f->image.nz;
        float *value = malloc(voxels * sizeof *value);
        f->image.value = value;
        if (value == NULL) {
            return false;
        }
        memcpy(value, config->image->value, voxels * sizeof *value);
    }
    f->attenuates = f->n_cylinders > 0 || f->image.value != NULL;
    if (!f->attenuates && f->geometric.radial == NULL) {
        return true;
    }
    f->place = malloc(f->crystals * sizeof *f->place);
    f->cylinders = malloc((f->n_cylinders + 1) * sizeof *f->cylinders);
    if (f->place == NULL || f->cylinders == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < f->n_cylinders; i++) {
        f->cylinders[i] = config->cylinders[i];
    }
    for (uint32_t i = 0; i < f->crystals; i++) {
        double direction[3];
        slc_pet_crystal_position(&t->geometry, i, f->place[i], direction);
    }
    return true;
}

slc_status slc_pet_factors_open(const slc_pet_factors_config *given, slc_pet_factors **factors,
                                slc_error *error)
{
    slc_pet_factors_config config;
    *factors = NULL;
    slc_pet_factors_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_factors_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_factors *made = calloc(1, sizeof *made);
    if (made == NULL || !copy(made, &config)) {
        slc_pet_factors_close(made);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the factors of %u crystals",
                        slc_pet_crystals(&config.tables->geometry));
    }
    *factors = made;
    return SLC_OK;
}

void slc_pet_factors_close(slc_pet_factors *factors)
{
    if (factors != NULL) {
        free(factors->efficiency);
        free((void *)factors->geometric.radial);
        free((void *)factors->geometric.axial);
        free(factors->place);
        free(factors->cylinders);
        free((void *)factors->image.value);
        free(factors);
    }
}

bool slc_pet_factors_normalise(const slc_pet_factors *factors)
{
    return factors->normalises;
}

bool slc_pet_factors_attenuate(const slc_pet_factors *factors)
{
    return factors->attenuates;
}

/* Of the tables' radial and axial factors; 1 without. */
static double geometric_of(const slc_pet_factors *f, uint32_t crystal1, uint32_t crystal2)
{
    if (f->geometric.radial == NULL) {
        return 1;
    }
    const size_t bin = slc_pet_line_bin(&f->geometric, f->place[crystal1], f->place[crystal2]);
    return (double)f->geometric.radial[bin / f->geometric.n_axial] *
           (double)f->geometric.axial[bin % f->geometric.n_axial];
}

double slc_pet_factors_of(const slc_pet_factors *f, uint32_t crystal1, uint32_t crystal2)
{
    if (f->efficiency == NULL) {
        return 1;
    }
    const double both = (double)f->efficiency[crystal1] * (double)f->efficiency[crystal2];
    return both > 0 ? 1 / (both * geometric_of(f, crystal1, crystal2)) : 0;
}

double slc_pet_factors_attenuation(const slc_pet_factors *f, uint32_t crystal1, uint32_t crystal2)
{
    if (!f->attenuates) {
        return 1;
    }
    const double *a = f->place[crystal1], *b = f->place[crystal2];
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double sum = 0;
    for (uint32_t i = 0; i < f->n_cylinders; i++) {
        sum += f->cylinders[i].mu_per_cm * slc_pet_line_cylinder(&f->cylinders[i], a, d);
    }
    if (f->image.value != NULL) {
        sum += slc_pet_line_image(&f->image, a, d);
    }
    return exp(sum * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / 10);
}
