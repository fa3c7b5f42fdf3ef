/* SPDX-License-Identifier: Apache-2.0
 *
 * CASToR list-mode: NAME.cdh (text) and NAME.cdf (records), the scanner as NAME.hscan and NAME.lut.
 * docs/formats/pet-castor.md; the layout is that of CASToR's general documentation.
 *
 * A record: u32 ms, optional fields (attenuation, kind, scatter, randoms, normalisation), f32 time
 * of flight t1 − t2 in ps (the other sign than dt_ps), u32 id 1, u32 id 2. An id is the crystal's row in the
 * .lut. The fields but the kind are passed on.
 */
#include "io/pet/io_pet_castor.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status want_word(const slc_io_pet_list *in, const char *key, const char *wanted, slc_error *error)
{
    char word[64] = "";
    if (!slc_io_pet_header_value(in->header, ':', key, word, sizeof word)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: the header has no \"%s\"", in->name, key);
    }
    return strcmp(word, wanted) == 0 ? SLC_OK
                                     : slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: \"%s\" is '%s', not '%s'",
                                                in->name, key, word, wanted);
}

/* The header names its scanner. A name that is known here says which it is; of others nothing is known. */
static slc_status compare_scanner(const slc_io_pet_list *in, slc_error *error)
{
    char name[64] = "";
    slc_pet_geometry named;
    slc_error unknown;
    if (!slc_io_pet_header_value(in->header, ':', "Scanner name", name, sizeof name) ||
        slc_pet_scanner(name, &named, &unknown) != SLC_OK) {
        return SLC_OK;
    }
    slc_pet_geometry_clear(&named);
    return slc_io_pet_list_compare(in, slc_pet_rings(&named), slc_pet_crystals_per_ring(&named), error);
}

/* A number above 0 of the header; 0 where there is none. */
static double number_of(const slc_io_pet_list *in, const char *key)
{
    char word[64] = "", *end = word;
    const bool there = slc_io_pet_header_value(in->header, ':', key, word, sizeof word);
    const double value = there ? strtod(word, &end) : 0;
    return end != word && *end == '\0' && isfinite(value) && value > 0 ? value : 0;
}

static void tell_about(slc_io_pet_list *in)
{
    slc_io_pet_list_about *about = &in->about;
    if (!slc_io_pet_header_value(in->header, ':', "Scanner name", about->scanner, sizeof about->scanner)) {
        about->scanner[0] = '\0';
    }
    about->duration_s = number_of(in, "Duration (s)");
    if (in->tof) {
        about->tof_resolution_ps = number_of(in, "TOF resolution (ps)");
        about->window_ps = number_of(in, "List TOF measurement range (ps)") / 2;
        about->tof = about->tof_resolution_ps > 0;
    }
}

/* The fields that records may have, in their order. */
enum { KIND = SLC_IO_PET_CORRECTIONS, FIELDS = 5 };
static const struct {
    const char *key;
    uint32_t bytes, what;
} fields[FIELDS] = {{"Attenuation correction flag", 4, SLC_IO_PET_ATTENUATION},
                    {"Coincidence kind flag", 1, KIND},
                    {"Scatter correction flag", 4, SLC_IO_PET_SCATTER},
                    {"Random correction flag", 4, SLC_IO_PET_RANDOMS},
                    {"Normalization correction flag", 4, SLC_IO_PET_NORMALISATION}};

static slc_status find_fields(slc_io_pet_list *in, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < FIELDS && status == SLC_OK; i++) {
        uint32_t flag = 0;
        status = slc_io_pet_list_count(in, fields[i].key, 0, 1, &flag, error);
        if (status == SLC_OK && flag != 0 && fields[i].what == KIND) {
            (void)snprintf(in->about.left_out, sizeof in->about.left_out, "the kinds of its coincidences");
        } else if (status == SLC_OK && flag != 0) {
            in->correction_at[fields[i].what] = 4 + in->skip_bytes;
            status = slc_io_pet_list_correct(in, fields[i].what, error);
        }
        in->skip_bytes += flag != 0 ? fields[i].bytes : 0;
    }
    return status;
}

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    slc_status status = want_word(in, "Data mode", "list-mode", error);
    status = status == SLC_OK ? want_word(in, "Data type", "PET", error) : status;
    status = status == SLC_OK ? compare_scanner(in, error) : status;
    for (size_t i = 0; i < 2 && status == SLC_OK; i++) { /* as Sluice writes it: beside the list */
        status = slc_io_pet_list_compare_beside(in, path, i == 0 ? ".cdh" : ".cdf", ".hscan", error);
    }
    if (status == SLC_OK) {
        status = slc_io_pet_header_count(in->header, ':', "Number of events", in->name, 0, UINT32_MAX,
                                         &in->events, error);
        status = status == SLC_END
                     ? slc_fail(error, SLC_ERR_FORMAT, "%s: the header has no \"Number of events\"", in->name)
                     : status;
    }
    status = status == SLC_OK ? find_fields(in, error) : status;
    uint32_t tof = 0, lines = 1;
    if (status == SLC_OK) {
        status = slc_io_pet_list_count(in, "TOF information flag", 0, 1, &tof, error);
    }
    if (status == SLC_OK) {
        status = slc_io_pet_list_count(in, "Maximum number of lines per event", 1, 65535, &lines, error);
    }
    if (status == SLC_OK && lines > 1) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: events of up to %u lines; one is read", in->name,
                        lines);
    }
    in->tof = tof != 0;
    tell_about(in);
    if (status == SLC_OK && !in->has_geometry && in->stream.file >= 0) { /* not of memory */
        slc_io_pet_castor_find_scanner(in, path);
    }
    in->record_bytes = 12 + in->skip_bytes + (in->tof ? 4 : 0);
    return status;
}

static slc_status decode(slc_io_pet_list *in, const uint8_t *bytes, size_t n, slc_pet_coincidences *pairs,
                         slc_error *error)
{
    (void)error;
    for (size_t i = 0; i < n; i++, bytes += in->record_bytes) {
        const int64_t time = slc_load_u32(bytes) * SLC_IO_PET_PS_PER_MS;
        const uint8_t *at = bytes + 4 + in->skip_bytes;
        const float tof = in->tof ? slc_load_f32(at) : 0;
        at += in->tof ? 4 : 0;
        const size_t row = pairs->head.size;
        slc_io_pet_list_prompt(in, pairs, time, -tof, slc_load_u32(at), slc_load_u32(at + 4));
        if (in->corrected && pairs->head.size > row) {
            slc_io_pet_list_correct_row(in, row, bytes);
        }
    }
    return SLC_OK;
}

static slc_status ended(slc_io_pet_list *in, slc_error *error)
{
    const uint64_t records = in->totals.prompts + in->totals.other;
    return records == in->events
               ? SLC_END
               : slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: %llu events; the header tells of %u",
                          in->name, (unsigned long long)in->stream.offset, (unsigned long long)records,
                          in->events);
}

static void stop(slc_io_pet_list *in)
{
    if (in->about.has_geometry) {
        slc_pet_geometry_clear(&in->about.geometry);
    }
}

/* ---- writing ----------------------------------------------------------------------------------- */

enum { DATA = 0, LUT, HSCAN, HEADER }; /* outputs; the header appears last: with it, all are there */

static const char *scanner_of(const slc_io_pet_list_writer *w)
{
    return w->scanner[0] != '\0' ? w->scanner : slc_io_pet_list_base_name(w);
}

static slc_status write_lut(slc_io_pet_list_writer *w, slc_error *error)
{
    slc_status status = SLC_OK;
    const uint32_t n = slc_pet_crystals(&w->config.geometry);
    for (uint32_t c = 0; c < n && status == SLC_OK; c++) {
        double position[3], direction[3];
        uint8_t row[24];
        slc_pet_crystal_position(&w->config.geometry, c, position, direction);
        for (size_t k = 0; k < 3; k++) {
            slc_store_f32(row + 4 * k, (float)position[k]);
            /* Away from the axis: depth is counted along it. */
            slc_store_f32(row + 12 + 4 * k, direction[k] != 0 ? (float)-direction[k] : 0.0F);
        }
        status = slc_io_pet_list_put(w, LUT, row, sizeof row, error);
    }
    return status;
}

/* How far crystals reach along the axis, with half of their pitch at each end. */
static double length_of(const slc_pet_geometry *g)
{
    double low = 0, high = 0;
    if (g->layout == NULL) {
        return slc_pet_rings(g) * g->pitch_z_mm;
    }
    for (uint32_t i = 0; i < g->layout->crystals; i++) {
        const double z = g->layout->row[i].position_mm[2];
        low = i == 0 || z < low ? z : low;
        high = i == 0 || z > high ? z : high;
    }
    return high - low + g->pitch_z_mm;
}

static slc_status write_hscan(slc_io_pet_list_writer *w, slc_error *error)
{
    const slc_pet_geometry *g = &w->config.geometry;
    const uint32_t crystals = slc_pet_crystals(g);
    const double length = length_of(g);
    double across, along;
    slc_pet_spacing(g, &across, &along);
    int n = fprintf(w->output[HSCAN].stream,
                    "modality: PET\nscanner name: %s\nnumber of elements: %u\nnumber of layers: 1\n"
                    "number of crystals in layer(s): %u\nscanner radius: %.9g\ncrystals size depth: %.9g\n"
                    "crystals size transaxial: %.9g\ncrystals size axial: %.9g\n"
                    "voxels number transaxial: %u\nvoxels number axial: %u\n"
                    "field of view transaxial: %.9g\nfield of view axial: %.9g\n",
                    scanner_of(w), crystals, crystals, g->radius_mm, g->depth_mm, across, along, 200U,
                    (uint32_t)fmax(1, fmin(4096, 2 * round(length / g->pitch_z_mm) - 1)), 1.4 * g->radius_mm,
                    length);
    char text[SLC_IO_PET_CASTOR_DESCRIPTION];
    if (n > 0 && slc_io_pet_castor_describe(g, text, sizeof text)) {
        n = fprintf(w->output[HSCAN].stream, "description: %s\n", text);
    }
    return n > 0 ? SLC_OK : slc_io_output_failed(w->output[HSCAN].path, error);
}

static const char *const written[] = {".cdf", ".lut", ".hscan", ".cdh", NULL};

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; written[i] != NULL && status == SLC_OK; i++) {
        status = slc_io_pet_list_output(w, written[i], error);
    }
    status = status == SLC_OK ? write_lut(w, error) : status;
    return status == SLC_OK ? write_hscan(w, error) : status;
}

/* Is that field written: as pairs bring it, or by what the configuration has? */
static bool has(const slc_io_pet_list_writer *w, size_t field)
{
    const slc_io_pet_list_config *c = &w->config;
    const bool found = field == SLC_IO_PET_ATTENUATION
                           ? c->factors != NULL && slc_pet_factors_attenuate(c->factors)
                       : field == SLC_IO_PET_NORMALISATION
                           ? c->factors != NULL && slc_pet_factors_normalise(c->factors)
                           : field == SLC_IO_PET_RANDOMS && c->randoms != NULL;
    return found || slc_io_pet_list_carries(w, field);
}

static uint8_t *put_f32(uint8_t *to, float value)
{
    slc_store_f32(to, value);
    return to + 4;
}

/* The fields of row i, whose randoms are hz where they are not brought. */
static uint8_t *put_fields(slc_io_pet_list_writer *w, const bool put[SLC_IO_PET_CORRECTIONS],
                           const slc_pet_coincidences *pairs, size_t i, float hz, uint8_t *to)
{
    const slc_pet_factors *f = w->config.factors;
    const uint32_t one = pairs->crystal1[i], two = pairs->crystal2[i];
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) { /* in CASToR's order */
        if (!put[k]) {
            continue;
        }
        const float value = slc_io_pet_list_carries(w, k) ? w->config.corrections->value[k][i]
                            : k == SLC_IO_PET_RANDOMS     ? hz
                            : k == SLC_IO_PET_ATTENUATION ? (float)slc_pet_factors_attenuation(f, one, two)
                                                          : (float)slc_pet_factors_of(f, one, two);
        w->dead += k == SLC_IO_PET_NORMALISATION && !(value > 0);
        to = put_f32(to, value);
    }
    return to;
}

static slc_status encode(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs,
                         slc_io_pet_list_order *order, size_t from, size_t n, uint8_t *to, uint8_t **end,
                         slc_error *error)
{
    (void)order;
    const slc_io_pet_list_config *c = &w->config;
    float hz[SLC_IO_PET_LIST_BLOCK / 12];
    bool put[SLC_IO_PET_CORRECTIONS], any = false;
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        put[k] = has(w, k);
        any = any || put[k];
    }
    if (c->randoms != NULL) {
        slc_io_pet_list_randoms(w, pairs, from, n, hz);
    }
    for (size_t i = from; i < from + n; i++) {
        const uint32_t one = pairs->crystal1[i], two = pairs->crystal2[i];
        int64_t ms;
        if (!slc_io_pet_list_ms(w, pairs->time_ps[i], UINT32_MAX, &ms)) {
            return slc_io_pet_list_no_ms(w, pairs->time_ps[i], UINT32_MAX, error);
        }
        w->time_ms = ms > w->time_ms ? ms : w->time_ms;
        slc_store_u32(to, (uint32_t)ms);
        to += 4;
        to = any ? put_fields(w, put, pairs, i, c->randoms != NULL ? hz[i - from] : 0, to) : to;
        to = c->tof ? put_f32(to, -(float)pairs->dt_ps[i]) : to;
        slc_store_u32(to, one);
        slc_store_u32(to + 4, two);
        to += 8;
    }
    *end = to;
    return SLC_OK;
}

static slc_status write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    if (w->prompts + pairs->head.size > UINT32_MAX) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: more than 2^32 - 1 events", w->base);
    }
    size_t n = w->config.tof ? 1 : 0;
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        n += has(w, k);
    }
    return slc_io_pet_list_blocks(w, DATA, pairs, 12 + 4 * n, encode, error);
}

static slc_status finish(slc_io_pet_list_writer *w, slc_error *error)
{
    FILE *out = w->output[HEADER].stream;
    int n = fprintf(out,
                    "Scanner name: %s\nData filename: %s.cdf\nNumber of events: %llu\n"
                    "Data mode: list-mode\nData type: PET\nStart time (s): 0\nDuration (s): %.3f\n",
                    scanner_of(w), slc_io_pet_list_base_name(w), (unsigned long long)w->prompts,
                    slc_io_pet_list_duration(w));
    if (n > 0 && w->config.tof) {
        n = fprintf(out,
                    "TOF information flag: 1\nTOF resolution (ps): %.9g\n"
                    "List TOF measurement range (ps): %.9g\n",
                    w->config.tof_resolution_ps, 2 * w->config.window_ps);
    }
    for (size_t i = 0; n > 0 && i < FIELDS; i++) {
        n = fields[i].what != KIND && has(w, fields[i].what) ? fprintf(out, "%s: 1\n", fields[i].key) : n;
    }
    return n > 0 ? SLC_OK : slc_io_output_failed(w->output[HEADER].path, error);
}

static const char *const extensions[] = {".cdf", ".cdh", NULL};

const slc_io_pet_list_ops slc_io_pet_castor = {
    .name = "castor",
    .factors = true,
    .randoms = true,
    .corrections = (1U << SLC_IO_PET_CORRECTIONS) - 1,
    .extensions = extensions,
    .written = written,
    .header = ".cdh",
    .header_needed = true,
    .data_key = "Data filename",
    .separator = ':',
    .start = start,
    .decode = decode,
    .ended = ended,
    .stop = stop,
    .create = create,
    .write = write,
    .finish = finish,
};
