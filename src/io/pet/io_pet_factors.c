/* SPDX-License-Identifier: Apache-2.0
 *
 * Factors of all pairs of crystals, for reconstructions: CASToR's normalisation file (docs/formats/
 * pet-castor.md: records of [f32 attenuation] [f32 normalisation] u32 id 1, u32 id 2), or a sinogram that
 * STIR's BinNormalisationFromProjData multiplies data with (docs/formats/pet-interfile.md).
 */
#include "base/bytes.h"
#include "base/config.h"
#include "io/pet/io_pet_interfile.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"

#include <sluice/io_pet_factors.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One over the least efficiency that STIR divides by (BinNormalisation.cxx). */
static const double stir_dead = 1e20;

static void factors_config_default(slc_io_pet_factors_config *config)
{
    *config = (slc_io_pet_factors_config){.size = sizeof *config, .ring_difference = UINT32_MAX};
}
SLC_CONFIG_DEFAULT(slc_io_pet_factors_config, factors_config_default)

/* Both outputs of one writing: data, and the header that tells of them and appears last. */
typedef struct both {
    const slc_io_pet_factors_config *config;
    const slc_pet_factors *factors;
    slc_io_pet_factors_told *told;
    slc_io_output data, header;
    char *base, *data_path, *header_path;
    slc_io_pet_bins bins;
    slc_error *error;
} both;

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- CASToR ------------------------------------------------------------------------------------ */

/* How far the line between two crystals is from the axis. */
static double from_axis(const double a[3], const double b[3])
{
    const double x = b[0] - a[0], y = b[1] - a[1], across = hypot(x, y);
    return across > 0 ? fabs(a[0] * y - a[1] * x) / across : hypot(a[0], a[1]);
}

typedef struct block {
    uint8_t bytes[SLC_IO_PET_LIST_BLOCK];
    size_t n;
} block;

static slc_status flush_block(both *o, block *b)
{
    if (fwrite(b->bytes, 1, b->n, o->data.stream) != b->n) {
        return slc_io_output_failed(o->data_path, o->error);
    }
    b->n = 0;
    return SLC_OK;
}

/* All pairs with a crystal of a higher number. */
static slc_status put_fan(both *o, block *records, uint32_t a, double (*place)[3], double most_z_mm)
{
    const bool normalise = slc_pet_factors_normalise(o->factors),
               attenuate = slc_pet_factors_attenuate(o->factors);
    const uint32_t n = slc_pet_crystals(&o->config->geometry);
    for (uint32_t b = a + 1; b < n; b++) {
        const double fov = o->config->fov_mm;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        if (fabs(place[a][2] - place[b][2]) > most_z_mm || (fov > 0 && from_axis(place[a], place[b]) > fov)) {
            o->told->outside++;
            continue;
        }
        const double factor = slc_pet_factors_of(o->factors, a, b);
        if (!(factor > 0)) {
            o->told->dead++;
            continue;
        }
        if (attenuate) {
            slc_store_f32(records->bytes + records->n, (float)slc_pet_factors_attenuation(o->factors, a, b));
            records->n += 4;
        }
        if (normalise) {
            slc_store_f32(records->bytes + records->n, (float)factor);
            records->n += 4;
        }
        slc_store_u32(records->bytes + records->n, a);
        slc_store_u32(records->bytes + records->n + 4, b);
        records->n += 8;
        o->told->pairs++;
        if (records->n + 16 > sizeof records->bytes && flush_block(o, records) != SLC_OK) {
            return SLC_ERR_IO;
        }
    }
    return SLC_OK;
}

static slc_status put_castor(both *o)
{
    const slc_pet_geometry *g = &o->config->geometry;
    const uint32_t n = slc_pet_crystals(g);
    double(*place)[3] = malloc(n * sizeof *place);
    block *records = malloc(sizeof *records);
    slc_status status = place != NULL && records != NULL
                            ? SLC_OK
                            : slc_fail(o->error, SLC_ERR_MEMORY,
                                       "%s: no memory for the places of %" PRIu32 " crystals", o->data_path,
                                       n);
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        double direction[3];
        slc_pet_crystal_position(g, i, place[i], direction);
    }
    const double most_z = o->config->ring_difference == UINT32_MAX
                              ? HUGE_VAL
                              : (o->config->ring_difference + 0.5) * g->pitch_z_mm;
    if (status == SLC_OK) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        records->n = 0;
    }
    for (uint32_t a = 0; a < n && status == SLC_OK; a++) {
        status = put_fan(o, records, a, place, most_z);
    }
    status = status == SLC_OK ? flush_block(o, records) : status;
    free(place);
    free(records);
    return status;
}

static bool head_castor(both *o)
{
    const char *name = o->config->scanner != NULL ? o->config->scanner : file_of(o->base);
    return fprintf(o->header.stream,
                   "Scanner name: %s\nData filename: %s\nNumber of events: %" PRIu64
                   "\nData mode: normalization\nData type: PET\nStart time (s): 0\nDuration (s): 1\n"
                   "Attenuation correction flag: %d\nNormalization correction flag: %d\n",
                   name, file_of(o->data_path), o->told->pairs, slc_pet_factors_attenuate(o->factors),
                   slc_pet_factors_normalise(o->factors)) > 0;
}

/* ---- sinogram ---------------------------------------------------------------------------------- */

static float factor_of(both *o, const slc_io_pet_bin *bin)
{
    uint32_t a, b;
    slc_io_pet_bin_crystals(&o->bins, bin, &a, &b);
    const double factor = slc_pet_factors_of(o->factors, a, b);
    o->told->pairs++;
    if (!(factor > 0)) {
        o->told->dead++;
        return (float)stir_dead;
    }
    return (float)(factor * slc_pet_factors_attenuation(o->factors, a, b));
}

/* Segments in the order −most … most, as those of io_pet_sinogram.c. */
static slc_status put_sinogram(both *o)
{
    const int64_t most = o->bins.ring_difference, rings = o->bins.rings;
    uint8_t *row = malloc(4 * (size_t)o->bins.tangential);
    if (row == NULL) {
        return slc_fail(o->error, SLC_ERR_MEMORY, "%s: no memory for %u bins", o->data_path,
                        o->bins.tangential);
    }
    slc_status status = SLC_OK;
    for (int64_t d = -most; d <= most; d++) {
        const int64_t places = rings - (d < 0 ? -d : d);
        for (int64_t i = 0; i < places * o->bins.views && status == SLC_OK; i++) {
            const uint32_t axial = (uint32_t)(i / o->bins.views);
            slc_io_pet_bin bin = {.view = (uint32_t)(i % o->bins.views),
                                  .ring1 = axial + (d < 0 ? (uint32_t)-d : 0),
                                  .ring2 = axial + (d > 0 ? (uint32_t)d : 0)};
            for (bin.tangential = 0; bin.tangential < o->bins.tangential; bin.tangential++) {
                slc_store_f32(row + 4 * (size_t)bin.tangential, factor_of(o, &bin));
            }
            if (fwrite(row, 4, o->bins.tangential, o->data.stream) != o->bins.tangential) {
                status = slc_io_output_failed(o->data_path, o->error);
            }
        }
    }
    free(row);
    return status;
}

static bool head_sinogram(both *o)
{
    const slc_io_pet_interfile text = {.geometry = &o->config->geometry,
                                       .scanner = "User_defined_scanner",
                                       .data_name = file_of(o->data_path),
                                       .tangential = o->bins.tangential,
                                       .ring_difference = o->bins.ring_difference};
    return slc_io_pet_interfile_write(o->header.stream, &text);
}

static slc_status bins_of(both *o)
{
    const slc_pet_geometry *g = &o->config->geometry;
    const slc_status status = slc_io_pet_needs_rings(g, o->header_path, "a sinogram of factors is of",
                                                     o->error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t per_ring = slc_pet_crystals_per_ring(g), rings = slc_pet_rings(g);
    const uint32_t most = o->config->ring_difference < rings ? o->config->ring_difference : rings - 1;
    return slc_io_pet_bins_init(&o->bins, per_ring, rings,
                                o->config->tangential != 0 ? o->config->tangential : per_ring / 2, most,
                                o->error);
}

/* ---- both -------------------------------------------------------------------------------------- */

static const struct ending {
    const char *header, *data;
} endings[] = {{".cdh", ".cdf"}, {".hs", ".s"}};
enum { SINOGRAM = 1, KINDS = sizeof endings / sizeof *endings };

/* The kind of a path by its ending, and how long it is without; KINDS: none. */
static size_t kind_of(const char *path, size_t *base)
{
    const size_t size = strlen(path);
    for (size_t k = 0; k < KINDS; k++) {
        const char *const of[] = {endings[k].header, endings[k].data};
        for (size_t i = 0; i < 2; i++) {
            if (slc_io_pet_ends_in(path, of[i]) && size > strlen(of[i])) {
                *base = size - strlen(of[i]);
                return k;
            }
        }
    }
    return KINDS;
}

char *slc_io_pet_factors_file(const char *path, size_t i)
{
    size_t base = 0;
    const size_t kind = kind_of(path, &base);
    char *name = i < 2 && kind < KINDS ? malloc(base + 5) : NULL;
    if (name != NULL) {
        memcpy(name, path, base);
        (void)snprintf(name + base, 5, "%s", i == 0 ? endings[kind].data : endings[kind].header);
    }
    return name;
}

static slc_status write_both(both *o, size_t kind)
{
    slc_status status = slc_io_output_open(&o->data, o->data_path, o->error);
    status = status == SLC_OK ? slc_io_output_open(&o->header, o->header_path, o->error) : status;
    status = status == SLC_OK && kind == SINOGRAM ? bins_of(o) : status;
    if (status == SLC_OK) {
        status = kind == SINOGRAM ? put_sinogram(o) : put_castor(o);
    }
    if (status == SLC_OK && !(kind == SINOGRAM ? head_sinogram(o) : head_castor(o))) {
        status = slc_io_output_failed(o->header_path, o->error);
    }
    if (status == SLC_OK && o->told->pairs == o->told->dead && kind == SINOGRAM) {
        status = slc_fail(o->error, SLC_ERR_USAGE, "%s: all crystals are dead", o->header_path);
    }
    if (status == SLC_OK && o->told->pairs == 0) {
        status = slc_fail(o->error, SLC_ERR_USAGE, "%s: no pair of crystals is left", o->header_path);
    }
    const bool appears = o->data.temporary != NULL;
    status = status == SLC_OK ? slc_io_output_commit(&o->data, o->error) : status;
    if (status == SLC_OK) {
        status = slc_io_output_commit(&o->header, o->error);
        if (status != SLC_OK && appears) {
            (void)unlink(o->data_path); /* both or none */
        }
    }
    slc_io_output_abandon(&o->data);
    slc_io_output_abandon(&o->header);
    return status;
}

slc_status slc_io_write_pet_factors(const char *path, const slc_io_pet_factors_config *given,
                                    const slc_pet_factors *factors, slc_io_pet_factors_told *told,
                                    slc_error *error)
{
    slc_io_pet_factors_config config;
    slc_io_pet_factors_config_default(&config);
    *told = (slc_io_pet_factors_told){0};
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_io_pet_factors_config", error);
    status = status == SLC_OK ? slc_pet_geometry_check(&config.geometry, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    size_t base = 0;
    const size_t kind = kind_of(path, &base);
    if (kind == KINDS) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: factors are written as NAME.cdh (CASToR) or NAME.hs (a sinogram)", path);
    }
    both o = {.config = &config, .factors = factors, .told = told, .error = error};
    o.base = strndup(path, base);
    o.data_path = slc_io_pet_factors_file(path, 0);
    o.header_path = slc_io_pet_factors_file(path, 1);
    if (o.base != NULL && o.data_path != NULL && o.header_path != NULL) {
        status = write_both(&o, kind);
    } else {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
    }
    free(o.base);
    free(o.data_path);
    free(o.header_path);
    return status;
}
