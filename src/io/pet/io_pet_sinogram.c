/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs as counts of a sinogram: every pair of rings apart (a michelogram, span 1), or all in the slice
 * between the two rings (single-slice rebinning: M. Daube-Witherspoon and G. Muehllehner, J. Nucl. Med. 28
 * (1987) 1717). Written as Interfile of STIR's kind: docs/formats/pet-interfile.md.
 *
 * Counts are integers until they are written: a float would stand still at 2^24.
 */
#include "base/bytes.h"
#include "base/config.h"
#include "io/pet/io_pet_interfile.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slc_io_pet_sinogram {
    slc_io_pet_sinogram_config config;
    slc_io_pet_bins bins;
    slc_pet_geometry ring; /* whose bins there are */
    bool assigns;          /* lines of crystals that are not those of the ring */
    bool rebin;            /* config.rebin, unless rings are not apart */
    uint32_t sinograms;
    int32_t *count; /* [sinogram][view][tangential] */
    uint64_t n_counts, in, outside;
};

void slc_io_pet_sinogram_config_default(slc_io_pet_sinogram_config *config)
{
    *config = (slc_io_pet_sinogram_config){.size = sizeof *config, .ring_difference = UINT32_MAX};
}

slc_status slc_io_pet_sinogram_open(const slc_io_pet_sinogram_config *given, slc_io_pet_sinogram **out,
                                    slc_error *error)
{
    *out = NULL;
    slc_io_pet_sinogram_config own;
    const slc_io_pet_sinogram_config *config = &own;
    slc_io_pet_sinogram_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_io_pet_sinogram_config", error);
    status = status == SLC_OK ? slc_pet_geometry_check(&own.geometry, error) : status;
    slc_pet_geometry ring;
    status = status == SLC_OK ? slc_pet_virtual_ring(&own.geometry, &ring, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (own.ring_difference == UINT32_MAX) {
        own.ring_difference = slc_pet_rings(&ring) - 1;
    }
    slc_io_pet_sinogram s = {.config = *config, .ring = ring};
    s.assigns = own.geometry.layout != NULL && !own.geometry.layout->rings;
    const uint32_t per_ring = slc_pet_crystals_per_ring(&ring), rings = slc_pet_rings(&ring);
    status = slc_io_pet_bins_init(&s.bins, per_ring, rings,
                                  config->tangential != 0 ? config->tangential : per_ring / 2,
                                  config->ring_difference, error);
    if (status != SLC_OK) {
        return status;
    }
    s.rebin = config->rebin && config->ring_difference > 0;
    const uint64_t sinograms = s.rebin ? 2 * (uint64_t)rings - 1 : s.bins.sinograms;
    s.n_counts = sinograms * s.bins.views * s.bins.tangential;
    s.sinograms = (uint32_t)sinograms;
    slc_io_pet_sinogram *made = malloc(sizeof *made);
    s.count = sinograms <= UINT32_MAX && s.n_counts <= SIZE_MAX / sizeof *s.count
                  ? calloc((size_t)s.n_counts, sizeof *s.count)
                  : NULL;
    if (made == NULL || s.count == NULL) {
        free(made);
        free(s.count);
        return slc_fail(error, SLC_ERR_MEMORY,
                        "no memory for %llu sinograms of %u views of %u bins: allow rings to be less apart, "
                        "or rebin",
                        (unsigned long long)sinograms, s.bins.views, s.bins.tangential);
    }
    *made = s;
    *out = made;
    return SLC_OK;
}

void slc_io_pet_sinogram_close(slc_io_pet_sinogram *s)
{
    if (s != NULL) {
        free(s->count);
        free(s);
    }
}

/* Segments of the file are in the order −most … most, in each the axial places from the lowest rings. */
static uint64_t sinogram_of(const slc_io_pet_sinogram *s, const slc_io_pet_bin *bin)
{
    if (s->rebin) {
        return (uint64_t)bin->ring1 + bin->ring2;
    }
    const int64_t most = s->bins.ring_difference, rings = s->bins.rings;
    const int64_t d = (int64_t)bin->ring2 - (int64_t)bin->ring1;
    /* Those of −most … d − 1: (d + most) segments of `rings`, less their differences. */
    const int64_t below = d <= 0 ? (most * (most + 1) - -d * (-d + 1)) / 2
                                 : most * (most + 1) / 2 + d * (d - 1) / 2;
    return (uint64_t)((d + most) * rings - below) + (bin->ring1 < bin->ring2 ? bin->ring1 : bin->ring2);
}

/* The crystals of the ring where the line of two crystals meets it; false where it does not. */
static bool assign(const slc_io_pet_sinogram *s, uint32_t *crystal1, uint32_t *crystal2)
{
    double from[3], to[3], normal[3];
    slc_pet_crystal_position(&s->config.geometry, *crystal1, from, normal);
    slc_pet_crystal_position(&s->config.geometry, *crystal2, to, normal);
    return slc_pet_virtual_line(&s->ring, from, to, crystal1, crystal2);
}

bool slc_io_pet_sinogram_assigns(const slc_io_pet_sinogram *s, slc_pet_geometry *ring)
{
    *ring = s->ring;
    return s->assigns;
}

slc_status slc_io_pet_sinogram_add(slc_io_pet_sinogram *s, const slc_pet_coincidences *pairs,
                                   slc_error *error)
{
    const uint32_t crystals = slc_pet_crystals(&s->config.geometry);
    for (size_t i = 0; i < pairs->head.size; i++) {
        if (pairs->crystal1[i] >= crystals || pairs->crystal2[i] >= crystals) {
            return slc_fail(error, SLC_ERR_USAGE, "pair %zu of crystals %u and %u; the scanner has %u", i,
                            pairs->crystal1[i], pairs->crystal2[i], crystals);
        }
        if (pairs->delayed[i] != 0 && !s->config.subtract) {
            continue;
        }
        slc_io_pet_bin bin;
        uint32_t crystal1 = pairs->crystal1[i], crystal2 = pairs->crystal2[i];
        if ((s->assigns && !assign(s, &crystal1, &crystal2)) ||
            !slc_io_pet_bin_of(&s->bins, crystal1, crystal2, &bin)) {
            s->outside++;
            continue;
        }
        const uint64_t at = (sinogram_of(s, &bin) * s->bins.views + bin.view) * s->bins.tangential +
                            bin.tangential;
        s->count[at] += pairs->delayed[i] != 0 ? -1 : 1;
        s->in++;
    }
    return SLC_OK;
}

void slc_io_pet_sinogram_counts_of(const slc_io_pet_sinogram *s, uint64_t *in, uint64_t *outside)
{
    *in = s->in;
    *outside = s->outside;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* The rings of a sinogram: sinogram_of turned round. */
static void rings_of(const slc_io_pet_sinogram *s, uint64_t sinogram, uint32_t *ring1, uint32_t *ring2)
{
    const int64_t most = s->bins.ring_difference, rings = s->bins.rings;
    int64_t d = -most, places = rings - most;
    for (; sinogram >= (uint64_t)places; d++, places = rings - (d < 0 ? -d : d)) {
        sinogram -= (uint64_t)places;
    }
    *ring1 = (uint32_t)sinogram + (d < 0 ? (uint32_t)-d : 0);
    *ring2 = (uint32_t)sinogram + (d > 0 ? (uint32_t)d : 0);
}

/* Randoms to be expected in a bin. */
static double expected(const slc_io_pet_sinogram *s, const slc_pet_pair_randoms *randoms, uint64_t at)
{
    slc_io_pet_bin bin = {.view = (uint32_t)(at / s->bins.tangential % s->bins.views),
                          .tangential = (uint32_t)(at % s->bins.tangential)};
    const uint64_t sinogram = at / s->bins.tangential / s->bins.views;
    uint32_t crystal1 = 0, crystal2 = 0;
    double sum = 0;
    if (!s->rebin) {
        rings_of(s, sinogram, &bin.ring1, &bin.ring2);
        slc_io_pet_bin_crystals(&s->bins, &bin, &crystal1, &crystal2);
        return slc_pet_pair_randoms_between(randoms, crystal1, crystal2);
    }
    const uint64_t rings = s->bins.rings;
    for (uint64_t ring = sinogram < rings ? 0 : sinogram - rings + 1; ring < rings && ring <= sinogram;
         ring++) {
        const uint64_t other = sinogram - ring;
        if ((ring > other ? ring - other : other - ring) <= s->bins.ring_difference) {
            bin.ring1 = (uint32_t)ring;
            bin.ring2 = (uint32_t)other;
            slc_io_pet_bin_crystals(&s->bins, &bin, &crystal1, &crystal2);
            sum += slc_pet_pair_randoms_between(randoms, crystal1, crystal2);
        }
    }
    return sum;
}

/* Counts, or instead of them randoms, which are summed up. */
typedef struct values {
    const slc_pet_pair_randoms *randoms; /* NULL: counts */
    double sum;
} values;

static bool put_values(const slc_io_pet_sinogram *s, values *of, FILE *out)
{
    enum { AT_ONCE = SLC_IO_PET_LIST_BLOCK / 4 };
    uint8_t bytes[SLC_IO_PET_LIST_BLOCK];
    for (uint64_t at = 0; at < s->n_counts;) {
        const size_t n = s->n_counts - at < AT_ONCE ? (size_t)(s->n_counts - at) : AT_ONCE;
        for (size_t i = 0; i < n; i++, at++) {
            const double value = of->randoms != NULL ? expected(s, of->randoms, at) : s->count[at];
            of->sum += value;
            slc_store_f32(bytes + 4 * i, (float)value);
        }
        if (fwrite(bytes, 4, n, out) != n) {
            return false;
        }
    }
    return true;
}

/* Both files, header last; `base` is the path without ".hs". */
static slc_status write_both(const slc_io_pet_sinogram *s, values *of, char *base, char *path, size_t size,
                             slc_error *error)
{
    slc_io_output data = {0}, header = {0};
    (void)snprintf(path, size, "%s.s", base);
    const char *slash = strrchr(path, '/');
    slc_status status = slc_io_output_open(&data, path, error);
    if (status != SLC_OK) {
        return status;
    }
    const slc_io_pet_interfile text = {.geometry = &s->ring,
                                       .scanner = "User_defined_scanner",
                                       .data_name = slash != NULL ? slash + 1 : path,
                                       .tangential = s->bins.tangential,
                                       .ring_difference = s->bins.ring_difference,
                                       .rebin = s->rebin};
    if (!put_values(s, of, data.stream)) {
        status = slc_io_output_failed(path, error);
    }
    char *head = status == SLC_OK ? malloc(size) : NULL;
    if (status == SLC_OK && head == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its header's name", path);
    }
    if (status == SLC_OK) {
        (void)snprintf(head, size, "%s.hs", base);
        status = slc_io_output_open(&header, head, error);
    }
    if (status == SLC_OK && !slc_io_pet_interfile_write(header.stream, &text)) {
        status = slc_io_output_failed(head, error);
    }
    const bool appears = data.temporary != NULL;
    status = status == SLC_OK ? slc_io_output_commit(&data, error) : status;
    if (status == SLC_OK) {
        status = slc_io_output_commit(&header, error);
        if (status != SLC_OK && appears) {
            (void)unlink(path); /* both or none */
        }
    }
    slc_io_output_abandon(&data);
    slc_io_output_abandon(&header);
    free(head);
    return status;
}

/* The path without ".hs" or ".s", with room for either; the caller frees. */
static char *base_of(const char *path)
{
    char *base = malloc(strlen(path) + 4);
    if (base == NULL) {
        return NULL;
    }
    memcpy(base, path, strlen(path) + 1);
    if (slc_io_pet_ends_in(base, ".hs")) {
        base[strlen(base) - 3] = '\0';
    } else if (slc_io_pet_ends_in(base, ".s")) {
        base[strlen(base) - 2] = '\0';
    }
    return base;
}

char *slc_io_pet_sinogram_file(const char *path, size_t i)
{
    static const char *const ends[2] = {".s", ".hs"};
    char *name = i < 2 ? base_of(path) : NULL;
    if (name != NULL) {
        memcpy(name + strlen(name), ends[i], strlen(ends[i]) + 1);
    }
    return name;
}

static slc_status write_values(const slc_io_pet_sinogram *s, values *of, const char *path, slc_error *error)
{
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a sinogram is two files, which standard output cannot take: give a name");
    }
    const size_t size = strlen(path) + 4;
    char *base = base_of(path), *name = malloc(size);
    slc_status status = SLC_ERR_MEMORY;
    if (base != NULL && name != NULL) {
        status = write_both(s, of, base, name, size, error);
    } else {
        (void)slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
    }
    free(base);
    free(name);
    return status;
}

slc_status slc_io_pet_sinogram_write(const slc_io_pet_sinogram *s, const char *path, slc_error *error)
{
    return write_values(s, &(values){.randoms = NULL}, path, error);
}

slc_status slc_io_pet_sinogram_write_randoms(const slc_io_pet_sinogram *s,
                                             const slc_pet_pair_randoms *randoms, const char *path,
                                             double *sum, slc_error *error)
{
    values of = {.randoms = randoms};
    if (s->assigns) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: a sinogram of randoms is of scanners with rings, which this is not", path);
    }
    const slc_status status = write_values(s, &of, path, error);
    if (sum != NULL) {
        *sum = of.sum;
    }
    return status;
}
