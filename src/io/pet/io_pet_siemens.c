/* SPDX-License-Identifier: Apache-2.0
 *
 * Siemens' 32-bit list mode as STIR's ECAT8 reader takes it (CListRecordECAT8_32bit): NAME.l and its header
 * NAME.l.hdr. docs/formats/pet-siemens.md.
 *
 * A word with bit 31 clear is an event: bit 30 set for a prompt, 30 bits of the number of its bin
 * (io_pet_bins.h). Words 100… (three bits) are times, 29 bits of ms; other words with bit 31 set are tags of
 * gating, motion, singles, which are counted.
 */
#include "base/bytes.h"
#include "io/pet/io_pet_list.h"

#define PROMPT (UINT32_C(1) << 30)
#define TAG    (UINT32_C(1) << 31)
#define MAX_MS ((INT64_C(1) << 29) - 1)

enum { WORD = 4 };

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    uint32_t bits = 32, span = 1, tangential = 0, difference = 0, views = 0, told = 0;
    (void)path;
    in->record_bytes = 4;
    slc_status status = slc_io_pet_list_count(in, "LM event and tag words format (bits)", 1, 4096, &bits,
                                              error);
    if (status == SLC_OK && bits != 32) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: words of %u bits; those of 32 are read", in->name,
                        bits);
    }
    if (status == SLC_OK && in->has_geometry) {
        status = slc_io_pet_needs_rings(&in->geometry, in->name, "siemens files have bins of", error);
    }
    if (status != SLC_OK || !in->has_geometry) {
        return status;
    }
    const uint32_t per_ring = slc_pet_crystals_per_ring(&in->geometry), rings = slc_pet_rings(&in->geometry);
    difference = rings - 1;
    views = per_ring / 2;
    status = slc_io_pet_list_count(in, "number of rings", 1, 65536, &told, error);
    status = status == SLC_OK ? slc_io_pet_list_compare(in, told, 0, error) : status;
    status = status == SLC_OK ? slc_io_pet_list_count(in, "axial compression", 1, 4096, &span, error)
                              : status;
    if (status == SLC_OK && span != 1) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: bins of %u pairs of rings have no crystals; read them without a scanner",
                        in->name, span);
    }
    status = status == SLC_OK
                 ? slc_io_pet_list_count(in, "number of projections", 1, 65536, &tangential, error)
                 : status;
    status = status == SLC_OK
                 ? slc_io_pet_list_count(in, "maximum ring difference", 0, 65536, &difference, error)
                 : status;
    status = status == SLC_OK ? slc_io_pet_list_count(in, "number of views", 1, 65536, &views, error)
                              : status;
    if (status == SLC_OK && views != per_ring / 2) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: %u views; a ring of %u crystals has %u", in->name, views,
                        per_ring, per_ring / 2);
    }
    slc_error reason = {0};
    if (status == SLC_OK) {
        status = slc_io_pet_bins_init(&in->bins, per_ring, rings, tangential, difference, &reason);
        in->has_bins = status == SLC_OK;
        if (!in->has_bins) {
            (void)slc_fail(error, status, "%s: %.400s", in->name, reason.text);
        }
    }
    return status;
}

static slc_status decode(slc_io_pet_list *in, const uint8_t *bytes, size_t n, slc_pet_coincidences *pairs,
                         slc_error *error)
{
    (void)error;
    for (size_t i = 0; i < n; i++, bytes += 4) {
        const uint32_t word = slc_load_u32(bytes);
        if ((word & TAG) != 0) {
            const bool is_time = word >> 29 == 4;
            in->totals.time_tags += is_time;
            in->totals.other += !is_time;
            if (is_time) {
                in->time_ms = word & (uint32_t)MAX_MS;
                slc_io_pet_list_time(in, in->time_ms * SLC_IO_PET_PS_PER_MS);
            }
            continue;
        }
        uint32_t crystal1 = word & (PROMPT - 1), crystal2 = 0;
        if (in->has_bins) {
            slc_io_pet_bin bin;
            if (!slc_io_pet_bin_at(&in->bins, crystal1, &bin)) {
                in->totals.other++;
                in->about.no_crystal++;
                continue;
            }
            slc_io_pet_bin_crystals(&in->bins, &bin, &crystal1, &crystal2);
        }
        const bool delayed = (word & PROMPT) == 0;
        in->totals.delayeds += delayed;
        in->totals.prompts += !delayed;
        slc_io_pet_list_row(pairs, in->time_ms * SLC_IO_PET_PS_PER_MS, 0, crystal1, crystal2, delayed);
    }
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

enum { DATA = 0, HEADER };

static const char *const extensions[] = {".l", ".l.hdr", NULL};

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    const slc_pet_geometry *g = &w->config.geometry;
    slc_error reason = {0};
    slc_status status = slc_io_pet_needs_rings(g, w->base, "siemens files have bins of", error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_io_pet_bins_init(&w->bins, slc_pet_crystals_per_ring(g), slc_pet_rings(g), 0,
                                  slc_pet_rings(g) - 1, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: %.400s", w->base, reason.text);
    }
    if (w->bins.bins > PROMPT) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: the scanner has %llu bins; a siemens file can tell 2^30 apart", w->base,
                        (unsigned long long)w->bins.bins);
    }
    for (size_t i = 0; extensions[i] != NULL && status == SLC_OK; i++) {
        status = slc_io_pet_list_output(w, extensions[i], error);
    }
    return status;
}

/* As words, with those of times before. */
static slc_status encode(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs,
                         slc_io_pet_list_order *order, size_t from, size_t n, uint8_t *to, uint8_t **end,
                         slc_error *error)
{
    (void)from;
    for (size_t k = 0; k < n; k++) {
        const size_t i = slc_io_pet_list_order_next(order, pairs);
        slc_io_pet_bin bin;
        int64_t ms;
        if (!slc_io_pet_bin_of(&w->bins, pairs->crystal1[i], pairs->crystal2[i], &bin)) {
            w->left_out++;
            continue;
        }
        if (!slc_io_pet_list_ms(w, pairs->time_ps[i], MAX_MS, &ms)) {
            return slc_io_pet_list_no_ms(w, pairs->time_ps[i], MAX_MS, error);
        }
        if (ms != w->time_ms) {
            slc_store_u32(to, TAG | (uint32_t)ms);
            to += WORD;
            w->time_ms = ms;
        }
        const uint32_t offset = (uint32_t)slc_io_pet_bin_offset(&w->bins, &bin);
        slc_store_u32(to, offset | (pairs->delayed[i] != 0 ? 0 : PROMPT));
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
    const slc_pet_geometry *g = &w->config.geometry;
    const char *base = slc_io_pet_list_base_name(w);
    const int n = fprintf(
        w->output[HEADER].stream,
        "!INTERFILE:=\n!originating system:=%s\n%%SMS-MI header name space:=PETLINK bin address\n"
        "%%SMS-MI version number:=3.4\n!GENERAL DATA:=\n!data offset in bytes:=0\n"
        "name of data file:=%s.l\n!GENERAL IMAGE DATA:=\n!type of data:=PET\nPET data type:=Emission\n"
        "data format:=CoincidenceList\n!PET STUDY (Emission data):=\nPET scanner type:=cylindrical\n"
        "number of rings:=%u\ndistance between rings (cm):=%.9g\ngantry crystal radius (cm):=%.9g\n"
        "%%number of TOF time bins:=1\n%%TOF mashing factor:=1\n!IMAGE DATA DESCRIPTION:=\n"
        "image duration (sec):=%lld\n%%total listmode word counts:=%llu\n%%COINCIDENCE LIST DATA:=\n"
        "%%LM event and tag words format (bits):=32\n%%timing tagwords interval (msec):=1\n"
        "%%axial compression:=1\n%%maximum ring difference:=%u\n%%number of projections:=%u\n"
        "%%number of views:=%u\n%%number of segments:=%u\n!END OF INTERFILE:=\n",
        w->scanner[0] != '\0' ? w->scanner : base, base, w->bins.rings, g->pitch_z_mm / 10, g->radius_mm / 10,
        (long long)fmax(1, ceil(slc_io_pet_list_duration(w))), (unsigned long long)(w->bytes / 4),
        w->bins.ring_difference, w->bins.tangential, w->bins.views, 2 * w->bins.ring_difference + 1);
    return n > 0 ? SLC_OK : slc_io_output_failed(w->output[HEADER].path, error);
}

const slc_io_pet_list_ops slc_io_pet_siemens = {
    .name = "siemens",
    .extensions = extensions,
    .written = extensions,
    .delayeds = true,
    .header = ".l.hdr",
    .data_key = "name of data file",
    .separator = '=',
    .start = start,
    .decode = decode,
    .create = create,
    .write = write,
    .finish = finish,
};
