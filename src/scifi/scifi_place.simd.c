/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of pieces, of which each has 18 in the mean, one behind the other, and those of a zone to hits, a
 * vector at a time. The formulas are those of scifi_decode.c, in their order, so that bits are the same.
 */
#include "scifi/scifi_place.h"
#include "simd/simd.h"

enum { AHEAD = 4, HALF = SLC_SCIFI_ZONE_MATS / 2 };

/* A number of the mats that lanes are in: of SIMD_LANES mats, if they are near each other, else of a zone. */
static inline f32v of_mats(bool near, const float *row, u32v mat)
{
    if (near || 2 * SIMD_LANES != HALF) {
        return near ? f32v_permute(f32v_load(row), mat) : f32v_gather(row, mat);
    }
    const u32v in_half = u32v_and(mat, u32v_set(HALF - 1));
    const f32v low = f32v_permute2(f32v_load(row), f32v_load(row + SIMD_LANES), in_half);
    const f32v high = f32v_permute2(f32v_load(row + HALF), f32v_load(row + HALF + SIMD_LANES), in_half);
    return f32v_select(u32v_ge(mat, u32v_set(HALF)), high, low);
}

/* Words `index` (below SIMD_LANES), of 16 bits, from `words` on. */
static inline u32v words_at(const uint8_t *words, u32v index)
{
    const u32v pair = u32v_permute(u32v_load_any(words), u32v_shr(index, 1));
    const mask32 odd = u32v_ne(u32v_and(index, u32v_set(1)), u32v_set(0));
    return u32v_select(odd, u32v_shr(pair, 16), u32v_and(pair, u32v_set(0xffff)));
}

/* A vector of the n words of a piece, from the i-th in x on, as channel << 2 and the word's lower bits; the
 * lanes whose cells are not of it. */
static inline mask32 line_up(const slc_scifi_piece p, const uint8_t *words, size_t n, size_t i, uint32_t *to)
{
    const size_t left = n > i ? n - i : 0, m = left < SIMD_LANES ? left : SIMD_LANES;
    const u32v lane = u32v_iota(0), last = u32v_set((uint32_t)SIMD_LANES - 1);
    const u32v back = u32v_min(u32v_sub(u32v_set((uint32_t)m - 1), lane), last);
    const u32v word = p.falls ? words_at(words + 2 * (left - m), back) : words_at(words + 2 * i, lane);
    u32v_store(to + i, u32v_add(word, u32v_set(p.first << 2)));
    return mask32_and(u32v_ge(u32v_sub(word, u32v_set(p.low << 2)), u32v_set(p.span << 2)), mask32_first(m));
}

static inline u32v mats_of(u32v word)
{
    return u32v_and(u32v_shr(word, 11), u32v_set(SLC_SCIFI_ZONE_MATS - 1));
}

/* Hits of a vector of words, of mats from the first of `m` on; their x. */
static inline f32v place_words(u32v word, u32v mat, bool near, bool alike, const float *m,
                               const slc_scifi_hits *hits, size_t row)
{
#define OF(number)    of_mats(near, m + (number)*SLC_SCIFI_ZONE_MATS, mat)
#define OF_IF(number) (alike ? f32v_set(m[(number)*SLC_SCIFI_ZONE_MATS]) : OF(number))
    const u32v channel = u32v_shr(word, 2), half = u32v_and(u32v_shr(word, 1), u32v_set(1));
    const u32v in_sipm = u32v_and(channel, u32v_set(127));
    const u32v halves = u32v_add(u32v_or(u32v_shl(in_sipm, 1), half), u32v_set(1));
    const f32v sipm = f32v_from_i32(i32v_from_u32(u32v_and(u32v_shr(channel, 7), u32v_set(3))));
    const mask32 second_die = u32v_ge(in_sipm, u32v_set(64));
    f32v u = f32v_add(OF_IF(SLC_SCIFI_MAT_U_BEGIN),
                      f32v_mul(f32v_from_i32(i32v_from_u32(halves)), OF_IF(SLC_SCIFI_MAT_HALF_PITCH)));
    u = f32v_add(u, f32v_select(second_die, OF_IF(SLC_SCIFI_MAT_DIE_GAP), f32v_set(0)));
    u = f32v_add(u, f32v_mul(sipm, OF_IF(SLC_SCIFI_MAT_SIPM_PITCH)));
    const f32v x = f32v_add(OF(SLC_SCIFI_MAT_MIRROR), f32v_mul(OF_IF(SLC_SCIFI_MAT_DD), u));
    const f32v y = f32v_add(OF(SLC_SCIFI_MAT_MIRROR + 1), f32v_mul(OF_IF(SLC_SCIFI_MAT_DD + 1), u));
    const f32v z = f32v_add(OF(SLC_SCIFI_MAT_MIRROR + 2), f32v_mul(OF_IF(SLC_SCIFI_MAT_DD + 2), u));
    const f32v x0 = f32v_sub(x, f32v_mul(OF_IF(SLC_SCIFI_MAT_DXDY), y));
    f32v_store(hits->x_mm + row, x0);
    f32v_store(hits->z_mm + row, f32v_sub(z, f32v_mul(OF_IF(SLC_SCIFI_MAT_DZDY), y)));
    f32v_store(hits->y_end_mm + row, y);
    u32v_store(hits->channel + row, channel);
    return x0;
#undef OF
#undef OF_IF
}

/* The n hits of a zone, from `row` on. False: x does not rise. Words are in the order of modules, so that
 * those between two of them are of modules between. */
static inline bool place_zone(const uint32_t *words, size_t n, bool alike, const slc_scifi_zone *zone,
                              const slc_scifi_hits *hits, size_t row)
{
    const float *m = zone->number[0];
    f32v before = f32v_set(-INFINITY);
    mask32 wrong = mask32_none();
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const uint32_t a = words[i] >> 11 & (SLC_SCIFI_ZONE_MATS - 1),
                       b = words[(n - i < SIMD_LANES ? n : i + SIMD_LANES) - 1] >> 11 &
                           (SLC_SCIFI_ZONE_MATS - 1);
        const uint32_t low = (a < b ? a : b) & ~3U, high = (a < b ? b : a) | 3;
        const u32v word = u32v_load(words + i), mat = mats_of(word);
        const f32v x = high - low < SIMD_LANES && 2 * SIMD_LANES != HALF
                           ? place_words(
                                 word,
                                 u32v_min(u32v_sub(mat, u32v_set(low)), u32v_set((uint32_t)SIMD_LANES - 1)),
                                 true, alike, m + low, hits, row + i)
                           : place_words(word, mat, false, alike, m, hits, row + i);
        const mask32 not_above = f32v_le(x, f32v_previous(before, x));
        wrong = mask32_or(wrong, mask32_and(not_above, mask32_first(n - i)));
        before = x;
    }
    return !mask32_any(wrong);
}

static bool place(const slc_scifi_place_in *in, const slc_scifi_hits *hits, size_t row, uint32_t *words)
{
    const slc_scifi_hits columns = *hits; /* do not move */
    size_t n = 0;
    mask32 wrong = mask32_none();
    bool right = true;
    for (size_t k = 0; k < in->n_pieces && right;) {
        const uint8_t zone = in->pieces[k].zone;
        const slc_scifi_zone *mats = &in->zones[zone];
        const size_t begin = n;
        for (; k < in->n_pieces && in->pieces[k].zone == zone; k++) {
            const slc_scifi_piece piece = in->pieces[k];
            const slc_scifi_extent of = in->extents[k];
            if (k + AHEAD < in->n_pieces) { /* words come from afar */
                __builtin_prefetch(in->extents[k + AHEAD].words);
            }
            /* Two vectors are enough for most pieces, and nobody foresees which ones need but one. */
            for (size_t i = 0; i < of.n; i += 2 * SIMD_LANES) {
                wrong = mask32_or(wrong, line_up(piece, of.words, of.n, i, words + n));
                wrong = mask32_or(wrong, line_up(piece, of.words, of.n, i + SIMD_LANES, words + n));
            }
            n += of.n;
        }
        right = mats->alike ? place_zone(words + begin, n - begin, true, mats, &columns, row + begin)
                            : place_zone(words + begin, n - begin, false, mats, &columns, row + begin);
        memset(columns.zone + row + begin, zone, n - begin);
    }
    for (size_t i = 0; i < n; i++) {
        columns.size[row + i] = (uint8_t)((words[i] & 1) != 0 ? 0 : SLC_SCIFI_PLAIN_SIZE);
    }
    return right && !mask32_any(wrong);
}

const slc_scifi_kernels SIMD_TABLE(slc_scifi) = {SIMD_TARGET_NAME, place};
