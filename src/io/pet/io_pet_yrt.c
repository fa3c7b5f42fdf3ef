/* SPDX-License-Identifier: Apache-2.0
 *
 * YRT-PET's list-mode, .lmDat: records of u32 ms, u32 crystal 1, u32 crystal 2 and, with time of flight, f32
 * ps = t2 − t1 (the sign of dt_ps), and after it f32 randoms a second, little-endian, without a header.
 * docs/formats/pet-yrt.md.
 *
 * The file does not say which of the sizes its records have, so the reader looks: see `looks_right`.
 */
#include "io/pet/io_pet_list.h"

enum { PLAIN = 12, WITH_TOF = 16, WITH_RANDOMS = 20, LOOK_AT = 60 * 1024 /* whole records of all sizes */ };

/* ---- reading ----------------------------------------------------------------------------------- */

/* Would these bytes be records of that size: times that never fall, crystals that are there, and time
 * differences as they can be? A number of a crystal or of milliseconds, taken for a float, is far below 1e-30
 * and not 0. */
static bool looks_right(const slc_io_pet_list *in, const uint8_t *bytes, size_t n, size_t size)
{
    uint32_t before = 0;
    if (n > 0 && n < size) {
        return false;
    }
    for (size_t at = 0; at + size <= n; at += size) {
        const uint32_t ms = slc_load_u32(bytes + at), crystal1 = slc_load_u32(bytes + at + 4),
                       crystal2 = slc_load_u32(bytes + at + 8);
        if (ms < before || !slc_io_pet_list_has(in, crystal1, crystal2)) {
            return false;
        }
        const float tof = size >= WITH_TOF ? slc_load_f32(bytes + at + 12) : 0;
        const float randoms = size == WITH_RANDOMS ? slc_load_f32(bytes + at + 16) : 0;
        if (tof != 0 && !(fabsf(tof) > 1e-6F && fabsf(tof) < SLC_IO_PET_MOST_TOF)) {
            return false;
        }
        if (!(randoms == 0 || (randoms > 1e-30F && randoms < INFINITY))) {
            return false;
        }
        before = ms;
    }
    return true;
}

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    (void)path;
    const slc_status status = slc_io_stream_peek(&in->stream, LOOK_AT + 1, &bytes, &visible, error);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    /* Where all of the file is in sight, its size decides, too. */
    const bool whole = visible <= LOOK_AT;
    const size_t n = whole ? visible : LOOK_AT;
    static const size_t sizes[] = {PLAIN, WITH_TOF, WITH_RANDOMS};
    size_t fits = 0, cut = 0; /* the first that looks right and fits; that does not, cut or damaged */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (looks_right(in, bytes, n, sizes[i])) {
            const bool fit = !whole || n % sizes[i] == 0;
            fits = fit && fits == 0 ? sizes[i] : fits;
            cut = !fit && cut == 0 ? sizes[i] : cut;
        }
    }
    if (fits == 0 && cut == 0) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte 0: neither records of 12 bytes nor of 16 with time of flight nor of 20 with "
            "randoms, too: times fall, or crystals are not there",
            in->name);
    }
    in->record_bytes = fits != 0 ? fits : cut; /* where it was cut, reading tells */
    in->tof = in->record_bytes != PLAIN;
    if (in->record_bytes == WITH_RANDOMS) {
        in->correction_at[SLC_IO_PET_RANDOMS] = WITH_TOF;
        return slc_io_pet_list_correct(in, SLC_IO_PET_RANDOMS, error);
    }
    return SLC_OK;
}

static slc_status decode(slc_io_pet_list *in, const uint8_t *bytes, size_t n, slc_pet_coincidences *pairs,
                         slc_error *error)
{
    (void)error;
    for (size_t i = 0; i < n; i++, bytes += in->record_bytes) {
        const int64_t time = slc_load_u32(bytes) * SLC_IO_PET_PS_PER_MS;
        const float tof = in->tof ? slc_load_f32(bytes + 12) : 0;
        const size_t row = pairs->head.size;
        slc_io_pet_list_prompt(in, pairs, time, tof, slc_load_u32(bytes + 4), slc_load_u32(bytes + 8));
        if (in->corrected && pairs->head.size > row) {
            slc_io_pet_list_correct_row(in, row, bytes);
        }
    }
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static bool has_randoms(const slc_io_pet_list_writer *w)
{
    return w->config.randoms != NULL || slc_io_pet_list_carries(w, SLC_IO_PET_RANDOMS);
}

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    if (has_randoms(w) && !w->config.tof) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: randoms of yrt need time of flight, too: records could not be told from others",
                        w->base);
    }
    return slc_io_pet_list_output(w, "", error);
}

static size_t size_of(const slc_io_pet_list_writer *w)
{
    return has_randoms(w) ? WITH_RANDOMS : w->config.tof ? WITH_TOF : PLAIN;
}

static slc_status encode(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs,
                         slc_io_pet_list_order *order, size_t from, size_t n, uint8_t *to, uint8_t **end,
                         slc_error *error)
{
    (void)order;
    const size_t size = size_of(w);
    const float *brought = slc_io_pet_list_carries(w, SLC_IO_PET_RANDOMS)
                               ? w->config.corrections->value[SLC_IO_PET_RANDOMS]
                               : NULL;
    float hz[SLC_IO_PET_LIST_BLOCK / PLAIN];
    if (w->config.randoms != NULL) {
        slc_io_pet_list_randoms(w, pairs, from, n, hz);
    }
    for (size_t i = from; i < from + n; i++, to += size) {
        int64_t ms;
        if (!slc_io_pet_list_ms(w, pairs->time_ps[i], UINT32_MAX, &ms)) {
            return slc_io_pet_list_no_ms(w, pairs->time_ps[i], UINT32_MAX, error);
        }
        slc_store_u32(to, (uint32_t)ms);
        slc_store_u32(to + 4, pairs->crystal1[i]);
        slc_store_u32(to + 8, pairs->crystal2[i]);
        if (w->config.tof) {
            slc_store_f32(to + 12, (float)pairs->dt_ps[i]);
        }
        if (size == WITH_RANDOMS) {
            slc_store_f32(to + 16, brought != NULL ? brought[i] : hz[i - from]);
        }
    }
    *end = to;
    return SLC_OK;
}

static slc_status write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    return slc_io_pet_list_blocks(w, 0, pairs, size_of(w), encode, error);
}

static slc_status finish(slc_io_pet_list_writer *w, slc_error *error)
{
    (void)w;
    (void)error;
    return SLC_OK;
}

const slc_io_pet_list_ops slc_io_pet_yrt = {
    .name = "yrt",
    .randoms = true,
    .corrections = 1U << SLC_IO_PET_RANDOMS,
    .start = start,
    .decode = decode,
    .create = create,
    .write = write,
    .finish = finish,
};
