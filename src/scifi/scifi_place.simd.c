/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of a piece to hits, a vector of words at a time; a piece has 14 words in the mean. The formulas are
 * those of scifi_decode.c, in their order, so that bits are the same.
 */
#include "scifi/scifi_place.h"
#include "simd/simd.h"

enum { AHEAD = 4, LINE = 64 };

/* A number of the mats that lanes are in, of a module's four. */
static inline f32v of_mats(const float four[4], u32v mat)
{
#if SIMD_MAX_LANES < 4
    return f32v_gather(four, mat);
#else
    return f32v_permute(f32v_load(four), mat);
#endif
}
/* The same where they may be known to be alike. */
static inline f32v of_mats_if(bool alike, const float four[4], u32v mat)
{
    return alike ? f32v_set(four[0]) : of_mats(four, mat);
}

/* Words `index` (below SIMD_LANES), of 16 bits, from `words` on. */
static inline u32v words_at(const uint8_t *words, u32v index)
{
    const u32v pair = u32v_permute(u32v_load_any(words), u32v_shr(index, 1));
    const mask32 odd = u32v_ne(u32v_and(index, u32v_set(1)), u32v_set(0));
    return u32v_select(odd, u32v_shr(pair, 16), u32v_and(pair, u32v_set(0xffff)));
}

/* The lanes whose cells are not of the piece. */
static inline mask32 place_words(const slc_scifi_piece *p, bool alike, const float (*m)[4], u32v word,
                                 const slc_scifi_hits *hits, size_t row, uint32_t *flag)
{
    const u32v cell = u32v_shr(word, 2), channel = u32v_add(cell, u32v_set(p->first));
    const u32v mat = u32v_and(u32v_shr(channel, 9), u32v_set(3));
    const u32v half = u32v_and(u32v_shr(word, 1), u32v_set(1));
    const u32v in_sipm = u32v_and(channel, u32v_set(127));
    const u32v halves = u32v_add(u32v_or(u32v_shl(in_sipm, 1), half), u32v_set(1));
    const f32v sipm = f32v_from_i32(i32v_from_u32(u32v_and(u32v_shr(channel, 7), u32v_set(3))));
    const mask32 second_die = u32v_ge(in_sipm, u32v_set(64));
    const f32v pitch = of_mats_if(alike, m[SLC_SCIFI_MAT_HALF_PITCH], mat);
    f32v u = f32v_add(of_mats_if(alike, m[SLC_SCIFI_MAT_U_BEGIN], mat),
                      f32v_mul(f32v_from_i32(i32v_from_u32(halves)), pitch));
    u = f32v_add(u, f32v_select(second_die, of_mats_if(alike, m[SLC_SCIFI_MAT_DIE_GAP], mat), f32v_set(0)));
    u = f32v_add(u, f32v_mul(sipm, of_mats_if(alike, m[SLC_SCIFI_MAT_SIPM_PITCH], mat)));
    const f32v x = f32v_add(of_mats(m[SLC_SCIFI_MAT_MIRROR], mat),
                            f32v_mul(of_mats_if(alike, m[SLC_SCIFI_MAT_DD], mat), u));
    const f32v y = f32v_add(of_mats(m[SLC_SCIFI_MAT_MIRROR + 1], mat),
                            f32v_mul(of_mats_if(alike, m[SLC_SCIFI_MAT_DD + 1], mat), u));
    const f32v z = f32v_add(of_mats(m[SLC_SCIFI_MAT_MIRROR + 2], mat),
                            f32v_mul(of_mats_if(alike, m[SLC_SCIFI_MAT_DD + 2], mat), u));
    f32v_store(hits->x_mm + row, f32v_sub(x, f32v_mul(of_mats_if(alike, m[SLC_SCIFI_MAT_DXDY], mat), y)));
    f32v_store(hits->z_mm + row, f32v_sub(z, f32v_mul(of_mats_if(alike, m[SLC_SCIFI_MAT_DZDY], mat), y)));
    f32v_store(hits->y_end_mm + row, y);
    u32v_store(hits->channel + row, channel);
    u32v_store(flag, u32v_and(word, u32v_set(1)));
    return u32v_ge(u32v_sub(cell, u32v_set(p->low)), u32v_set(p->span));
}

/* All words of a piece. False: a cell is not of it. */
static inline bool place_piece(const slc_scifi_place_in *in, const slc_scifi_piece *p,
                               const slc_scifi_hits *hits, size_t row, uint32_t *flag)
{
    const slc_scifi_extent *extent = &in->extents[p->slot];
    const uint8_t *words = extent->words;
    const float(*module)[4] = in->modules[p->module].number;
    const u32v lane = u32v_iota(0), last = u32v_set((uint32_t)SIMD_LANES - 1);
    mask32 wrong = mask32_none();
    for (size_t i = 0, n = extent->n; i < n; i += SIMD_LANES) {
        const size_t m = n - i < SIMD_LANES ? n - i : SIMD_LANES;
        const u32v back = u32v_min(u32v_sub(u32v_set((uint32_t)m - 1), lane), last);
        const u32v word = p->falls ? words_at(words + 2 * (n - i - m), back) : words_at(words + 2 * i, lane);
        const mask32 outside = p->alike ? place_words(p, true, module, word, hits, row + i, flag + i)
                                        : place_words(p, false, module, word, hits, row + i, flag + i);
        wrong = mask32_or(wrong, mask32_and(outside, mask32_first(m)));
    }
    return !mask32_any(wrong);
}

/* Modules in the order of x are all over their table, and words come from afar. */
static inline void ask_for(const slc_scifi_place_in *in, size_t k)
{
    if (k < in->n_pieces) {
        const char *module = (const char *)&in->modules[in->pieces[k].module];
        for (size_t at = 0; at < sizeof *in->modules; at += LINE) {
            __builtin_prefetch(module + at);
        }
        __builtin_prefetch(module + sizeof *in->modules - 1);
        __builtin_prefetch(in->extents[in->pieces[k].slot].words);
    }
}

static bool rises(const float *x, size_t n)
{
    mask32 wrong = mask32_none();
    for (size_t i = 0; i + 1 < n; i += SIMD_LANES) {
        const mask32 not_above = f32v_le(f32v_load(x + i + 1), f32v_load(x + i));
        wrong = mask32_or(wrong, mask32_and(not_above, mask32_first(n - 1 - i)));
    }
    return !mask32_any(wrong);
}

static bool place(const slc_scifi_place_in *in, const slc_scifi_hits *hits, size_t row, uint32_t *flags)
{
    const slc_scifi_hits columns = *hits; /* do not move */
    const size_t begin = row;
    bool right = true;
    for (size_t k = 0; k < in->n_pieces && right;) {
        const uint8_t zone = in->pieces[k].zone;
        const size_t first = row;
        for (; k < in->n_pieces && in->pieces[k].zone == zone; k++) {
            ask_for(in, k + AHEAD);
            right &= place_piece(in, &in->pieces[k], &columns, row, flags + (row - begin));
            row += in->extents[in->pieces[k].slot].n;
        }
        right &= rises(columns.x_mm + first, row - first);
        memset(columns.zone + first, zone, row - first);
    }
    for (size_t i = begin; i < row; i++) {
        columns.size[i] = (uint8_t)(flags[i - begin] != 0 ? 0 : SLC_SCIFI_PLAIN_SIZE);
    }
    return right;
}

const slc_scifi_kernels SIMD_TABLE(slc_scifi) = {SIMD_TARGET_NAME, place};
