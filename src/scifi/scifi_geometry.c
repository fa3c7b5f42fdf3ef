/* SPDX-License-Identifier: Apache-2.0
 * scifi_geometry.bin. */
#include "scifi/scifi_geometry.h"
#include "base/bytes.h"

#include <math.h>
#include <string.h>

enum { QUARTERS = 48, MATS = 1024, N_COLUMNS = 13, SHORT_BANK_MAP = 4 * SLC_SCIFI_BANKS };

typedef struct reader {
    const uint8_t *from;
    size_t size, at;
} reader;

static uint32_t take_u32(reader *r)
{
    const uint32_t value = r->at + 4 <= r->size ? slc_load_u32(r->from + r->at) : 0;
    r->at += 4;
    return value;
}

static slc_status take_counts(reader *r, slc_scifi_geometry *geometry, slc_error *error)
{
    static const struct {
        const char *what;
        uint32_t n;
    } wanted[] = {{"stations", SLC_SCIFI_STATIONS}, {"layers of a station", 4},
                  {"layers", SLC_SCIFI_LAYERS},     {"quarters of a layer", 4},
                  {"quarters", QUARTERS},           {"", 0},
                  {"mats of a module", 4},          {"mats", MATS},
                  {"banks", SLC_SCIFI_BANKS}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (wanted[i].n == 0) {
            for (size_t q = 0; q < QUARTERS; q++) {
                geometry->modules[q] = take_u32(r);
                if (geometry->modules[q] == 0 || geometry->modules[q] > (q < 32 ? 5 : 6)) {
                    return slc_fail(error, SLC_ERR_FORMAT,
                                    "SciFi geometry: byte %zu: %u modules in a quarter", r->at - 4,
                                    geometry->modules[q]);
                }
            }
            continue;
        }
        const uint32_t n = take_u32(r);
        if (n != wanted[i].n) {
            return slc_fail(error, SLC_ERR_FORMAT, "SciFi geometry: byte %zu: %u %s, must be %u", r->at - 4,
                            n, wanted[i].what, wanted[i].n);
        }
    }
    geometry->n_banks = SLC_SCIFI_BANKS;
    geometry->version = take_u32(r);
    return SLC_OK;
}

static void take_banks(reader *r, slc_scifi_geometry *geometry)
{
    memset(geometry->first_channel, 0, sizeof geometry->first_channel);
    memset(geometry->source, 0, sizeof geometry->source);
    memset(geometry->sipm, 0, sizeof geometry->sipm);
    for (size_t b = 0; b < SLC_SCIFI_BANKS; b++) {
        *(geometry->version == 0 ? &geometry->first_channel[b] : &geometry->source[b]) = take_u32(r);
    }
    for (size_t b = 0; b < SLC_SCIFI_BANKS && geometry->version != 0; b++) {
        for (size_t link = 0; link < SLC_SCIFI_LINKS; link++) {
            geometry->sipm[b][link] = take_u32(r);
        }
    }
}

slc_status slc_scifi_geometry_parse(const void *bytes, size_t size, slc_scifi_geometry *geometry,
                                    slc_error *error)
{
    static const char *const names[N_COLUMNS] = {"mirror x", "mirror y", "mirror z", "ddx",     "ddy",
                                                 "ddz",      "u begin",  "pitch",    "die gap", "SiPM pitch",
                                                 "dx/dy",    "dz/dy",    "global dy"};
    float *const columns[N_COLUMNS] = {geometry->mirror_x_mm, geometry->mirror_y_mm,
                                       geometry->mirror_z_mm, geometry->ddx,
                                       geometry->ddy,         geometry->ddz,
                                       geometry->u_begin_mm,  geometry->half_channel_pitch_mm,
                                       geometry->die_gap_mm,  geometry->sipm_pitch_mm,
                                       geometry->dxdy,        geometry->dzdy,
                                       geometry->global_dy};
    reader r = {bytes, size, 0};
    const slc_status status = take_counts(&r, geometry, error);
    if (status != SLC_OK) {
        return status;
    }
    take_banks(&r, geometry);
    const uint32_t most = take_u32(&r);
    if (most != SLC_SCIFI_MATS || size != r.at + (size_t)4 * N_COLUMNS * SLC_SCIFI_MATS) {
        return slc_fail(error, SLC_ERR_FORMAT, "SciFi geometry: %zu bytes, must be %zu for %d mats", size,
                        r.at + (size_t)4 * N_COLUMNS * SLC_SCIFI_MATS, SLC_SCIFI_MATS);
    }
    for (size_t c = 0; c < N_COLUMNS; c++) {
        for (size_t i = 0; i < SLC_SCIFI_MATS; i++, r.at += 4) {
            const float value = slc_load_f32(r.from + r.at);
            if (!(fabsf(value) <= 1e5f)) {
                return slc_fail(error, SLC_ERR_FORMAT, "SciFi geometry: byte %zu: %s of mat %zu is %g", r.at,
                                names[c], i, (double)value);
            }
            columns[c][i] = value;
        }
    }
    for (uint32_t i = 0; i < SLC_SCIFI_MATS; i++) { /* an entry of a module that its quarter does not have */
        const uint32_t quarter = i >> 5, module = i >> 2 & 7;
        if (quarter >= QUARTERS || module >= geometry->modules[quarter]) {
            geometry->half_channel_pitch_mm[i] = 0;
        }
    }
    for (size_t b = 0; b < SLC_SCIFI_BANKS && geometry->version == 0; b++) {
        if (slc_scifi_mat_of(geometry, geometry->first_channel[b]) == SLC_SCIFI_MATS) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "SciFi geometry: bank %zu begins at channel %u, which no mat "
                            "has",
                            b, geometry->first_channel[b]);
        }
    }
    return SLC_OK;
}

/* Modules are counted from the beam outwards: in quarters 0 and 2, at x < 0, from larger to smaller x. In
 * half of the layers mats are the other way round. */
uint32_t slc_scifi_mat_order(const slc_scifi_geometry *geometry, uint32_t mat)
{
    const uint32_t quarter = mat >> 5, module = mat >> 2 & 7, in_module = mat & 3;
    const uint32_t before = 5 * quarter + (quarter > 32 ? quarter - 32 : 0);
    const uint32_t in_quarter = (quarter & 1) == 0 ? geometry->modules[quarter] - 1 - module : module;
    const uint32_t of_four = quarter >> 1 & 3;
    return 4 * (before + in_quarter) + (of_four == 1 || of_four == 2 ? 3 - in_module : in_module);
}
