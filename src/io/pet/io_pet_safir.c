/* SPDX-License-Identifier: Apache-2.0
 *
 * SAFIR's list-mode as STIR reads it (CListRecordSAFIR): NAME.clm.safir, the crystal map NAME.map.txt, the
 * template of projection data NAME.template.hs with its empty NAME.template.s, and NAME.safir.par that names
 * them and is what STIR is given. docs/formats/pet-safir.md.
 *
 * A signature of 32 bytes, then 64-bit words, little-endian. An event: ring A, ring B (8 bits each), detector
 * A, detector B (16 each), layer A, layer B (4 each), 6 reserved, 1 delayed, 1 type = 0. A time: ms (48), 15
 * reserved, 1 type = 1.
 */
#include "base/bytes.h"
#include "io/pet/io_pet_interfile.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNATURE = 32, WORD = 8, MAX_RINGS = 256, MAX_DETECTORS = 65536 };

static const char signature[SIGNATURE] = "SAFIR CListModeData";
static const char kind[] = " CListModeData"; /* behind the scanner's word */

#define MAX_MS ((INT64_C(1) << 48) - 1)
/* Later ones do not fit into picoseconds. */
#define MAX_MS_PS (INT64_MAX / SLC_IO_PET_PS_PER_MS)

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    const slc_status status = slc_io_stream_peek(&in->stream, SIGNATURE, &bytes, &visible, error);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    /* A word for the scanner, then what it is, then zero: STIR lets the parameter file choose the word. */
    size_t word = 0;
    while (word < visible && word < SIGNATURE - sizeof kind && bytes[word] > ' ') {
        word++;
    }
    if (visible < SIGNATURE || word == 0 || memcmp(bytes + word, kind, sizeof kind) != 0) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte 0: no signature \"… CListModeData\" of %d bytes",
                        in->name, (int)SIGNATURE);
    }
    slc_io_stream_skip(&in->stream, SIGNATURE);
    in->record_bytes = 8;
    return slc_io_pet_list_compare_beside(in, path, ".clm.safir", ".map.txt", error);
}

/* A crystal is so many of a ring's first number and the rest; of crystals in no rings two numbers that the
 * map explains as well: the fewest "rings" that these fields can tell. 0: there are none. */
static uint32_t per_ring_of(const slc_pet_geometry *g)
{
    if (g->layout == NULL || g->layout->rings) {
        return slc_pet_crystals_per_ring(g);
    }
    for (uint32_t rings = 1; rings <= MAX_RINGS; rings++) {
        if (g->layout->crystals % rings == 0 && g->layout->crystals / rings <= MAX_DETECTORS) {
            return g->layout->crystals / rings;
        }
    }
    return 0;
}

/* The crystal's number; false where the scanner has none such. */
static bool crystal_of(const slc_io_pet_list *in, uint32_t ring, uint32_t detector, uint32_t layer,
                       uint32_t *crystal)
{
    if (!in->has_geometry) {
        *crystal = ring << 16 | detector;
        return true;
    }
    const uint32_t per_ring = per_ring_of(&in->geometry);
    *crystal = detector + ring * per_ring;
    return detector < per_ring && *crystal < in->crystals && layer == 0;
}

static slc_status decode(slc_io_pet_list *in, const uint8_t *bytes, size_t n, slc_pet_coincidences *pairs,
                         slc_error *error)
{
    (void)error;
    for (size_t i = 0; i < n; i++, bytes += 8) {
        const uint64_t word = slc_load_u64(bytes);
        if (word >> 63 != 0) {
            const int64_t ms = (int64_t)(word & (uint64_t)MAX_MS);
            if (ms > MAX_MS_PS) {
                in->totals.other++;
                continue;
            }
            in->time_ms = ms;
            in->totals.time_tags++;
            slc_io_pet_list_time(in, ms * SLC_IO_PET_PS_PER_MS);
            continue;
        }
        uint32_t a, b;
        const bool there_a = crystal_of(in, word & 0xff, word >> 16 & 0xffff, word >> 48 & 0xf, &a);
        const bool there_b = crystal_of(in, word >> 8 & 0xff, word >> 32 & 0xffff, word >> 52 & 0xf, &b);
        if (!there_a || !there_b) {
            in->totals.other++;
            in->about.no_crystal++;
            continue;
        }
        const bool delayed = (word >> 62 & 1) != 0;
        in->totals.delayeds += delayed;
        in->totals.prompts += !delayed;
        slc_io_pet_list_row(pairs, in->time_ms * SLC_IO_PET_PS_PER_MS, 0, a, b, delayed);
    }
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* The template has a name of its own, as NAME.hs and NAME.s are a sinogram. */
static const char *const written[] = {".template.s", ".template.hs", ".map.txt",
                                      ".clm.safir",  ".safir.par",   NULL};
enum { TEMPLATE_DATA = 0, TEMPLATE, MAP, DATA, PARAMETERS }; /* the last names the others: it appears last */

static slc_status write_map(slc_io_pet_list_writer *w, slc_error *error)
{
    const slc_pet_geometry *g = &w->config.geometry;
    const uint32_t per_ring = per_ring_of(g), n = slc_pet_crystals(g);
    FILE *out = w->output[MAP].stream;
    (void)fprintf(out, "#ring\tdet\tx\ty\tz\n");
    for (uint32_t c = 0; c < n && ferror(out) == 0; c++) {
        double position[3], direction[3];
        slc_pet_crystal_position(g, c, position, direction);
        (void)fprintf(out, "%u\t%u\t%.9g\t%.9g\t%.9g\n", c / per_ring, c % per_ring, position[0], position[1],
                      position[2]);
    }
    return ferror(out) == 0 ? SLC_OK : slc_io_output_failed(w->output[MAP].path, error);
}

static slc_status write_template(slc_io_pet_list_writer *w, slc_error *error)
{
    slc_pet_geometry ring;
    const char *base = slc_io_pet_list_base_name(w);
    slc_error reason = {0};
    if (slc_pet_virtual_ring(&w->config.geometry, &ring, &reason) != SLC_OK) {
        return slc_fail(error, reason.status, "%s: %.400s", w->base, reason.text);
    }
    const slc_pet_geometry *g = &ring;
    const size_t size = strlen(base) + strlen(written[TEMPLATE_DATA]) + 1;
    char *data = malloc(size);
    if (data == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->base);
    }
    (void)snprintf(data, size, "%s%s", base, written[TEMPLATE_DATA]);
    const slc_io_pet_interfile header = {.geometry = g,
                                         .scanner = w->scanner[0] != '\0' ? w->scanner : base,
                                         .data_name = data,
                                         .tangential = slc_pet_crystals_per_ring(g) / 2,
                                         .ring_difference = slc_pet_rings(g) - 1,
                                         .by_view = true};
    const bool good = slc_io_pet_interfile_write(w->output[TEMPLATE].stream, &header);
    free(data);
    return good ? SLC_OK : slc_io_output_failed(w->output[TEMPLATE].path, error);
}

/* STIR takes names from the folder in which it runs. */
static slc_status write_parameters(slc_io_pet_list_writer *w, slc_error *error)
{
    const char *base = slc_io_pet_list_base_name(w);
    const int n = fprintf(w->output[PARAMETERS].stream,
                          "CListModeDataSAFIR Parameters :=\nlistmode data filename := %s%s\n"
                          "crystal map filename := %s%s\ntemplate projection data filename := %s%s\n"
                          "END CListModeDataSAFIR Parameters :=\n",
                          base, written[DATA], base, written[MAP], base, written[TEMPLATE]);
    return n > 0 ? SLC_OK : slc_io_output_failed(w->output[PARAMETERS].path, error);
}

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    const slc_pet_geometry *g = &w->config.geometry;
    const uint32_t per_ring = per_ring_of(g), rings = per_ring > 0 ? slc_pet_crystals(g) / per_ring : 0;
    if (rings == 0 || rings > MAX_RINGS) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: safir files tell %d rings apart; there are %u",
                        w->base, (int)MAX_RINGS, slc_pet_rings(g));
    }
    slc_status status = SLC_OK;
    _Static_assert(MAX_DETECTORS == 65536, "as many as a ring may have: slc_pet_geometry_check");
    for (size_t i = 0; written[i] != NULL && status == SLC_OK; i++) {
        status = slc_io_pet_list_output(w, written[i], error);
    }
    status = status == SLC_OK ? write_map(w, error) : status;
    status = status == SLC_OK ? write_template(w, error) : status;
    status = status == SLC_OK ? write_parameters(w, error) : status;
    return status == SLC_OK ? slc_io_pet_list_put(w, DATA, signature, SIGNATURE, error) : status;
}

/* As words, with those of times before. */
static slc_status encode(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs,
                         slc_io_pet_list_order *order, size_t from, size_t n, uint8_t *to, uint8_t **end,
                         slc_error *error)
{
    (void)from;
    const uint32_t per_ring = per_ring_of(&w->config.geometry);
    for (size_t k = 0; k < n; k++) {
        const size_t i = slc_io_pet_list_order_next(order, pairs);
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        const uint64_t rings = a / per_ring | b / per_ring << 8, in_a = a % per_ring, in_b = b % per_ring;
        int64_t ms;
        if (!slc_io_pet_list_ms(w, pairs->time_ps[i], MAX_MS_PS, &ms)) {
            return slc_io_pet_list_no_ms(w, pairs->time_ps[i], MAX_MS_PS, error);
        }
        if (ms != w->time_ms) {
            slc_store_u64(to, UINT64_C(1) << 63 | (uint64_t)ms);
            to += WORD;
            w->time_ms = ms;
        }
        slc_store_u64(to, rings | in_a << 16 | in_b << 32 | (uint64_t)(pairs->delayed[i] != 0) << 62);
        to += WORD;
    }
    *end = to;
    return SLC_OK;
}

static slc_status write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    return slc_io_pet_list_blocks(w, DATA, pairs, (size_t)2 * WORD, encode, error);
}

static slc_status finish(slc_io_pet_list_writer *w, slc_error *error)
{
    (void)w;
    (void)error;
    return SLC_OK; /* all of it is written as it comes */
}

static const char *const extensions[] = {".clm.safir", NULL};

const slc_io_pet_list_ops slc_io_pet_safir = {
    .name = "safir",
    .extensions = extensions,
    .written = written,
    .delayeds = true,
    .start = start,
    .decode = decode,
    .create = create,
    .write = write,
    .finish = finish,
};
