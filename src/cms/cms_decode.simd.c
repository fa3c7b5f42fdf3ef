/* SPDX-License-Identifier: Apache-2.0
 *
 * A vector of data words at a time: their cables by two gathers, then everything that
 * slc_cms_judge_word (cms_decode_core.h) asks, as masks. What is a fault is only noted: it is rare, and plain
 * C judges it again, word by word, with that very function.
 */
#include "cms/cms_decode_work.h"
#include "simd/simd.h"

enum {
    LINK_SHIFT = 26,
    DETECTOR = 7 << 25, /* in a detector id */
    BARREL = 1 << 25,
    LAYER = 15 << 20,
    LAYER1 = 1 << 20,
    LADDER_PLACE = 0x3ff << 2,
    PLUS = 5 << 2, /* ladder places from here on are the plus side */
    CHIPS = SLC_CMS_ROCS / 2,
    CHIP = SLC_CMS_ROC_COLUMNS
};

/* ---- words to digis ----------------------------------------------------------------------------- */

static inline u32v field(u32v word, unsigned shift, uint32_t mask)
{
    return u32v_and(u32v_shr(word, shift), u32v_set(mask));
}

static inline mask32 below(u32v value, uint32_t limit)
{
    return u32v_lt(value, u32v_set(limit));
}

/* Row and column of the chip, in either layout. */
static inline void locate(u32v word, mask32 layer1, u32v *row, u32v *column)
{
    const u32v other_row = u32v_sub(u32v_set(SLC_CMS_ROC_ROWS), field(word, 9, 127));
    const u32v other_column = u32v_or(field(word, 15, 62), field(word, 8, 1));
    *row = u32v_select(layer1, field(word, 8, 127), other_row);
    *column = u32v_select(layer1, field(word, 15, 63), other_column);
}

/* Packed coordinates in the module. `chip`: in the module. */
static inline u32v place(u32v word, u32v raw_id, u32v chip, mask32 layer1, u32v row, u32v column)
{
    const mask32 barrel = u32v_eq(u32v_and(raw_id, u32v_set(DETECTOR)), u32v_set(BARREL));
    const mask32 minus = below(u32v_and(raw_id, u32v_set(LADDER_PLACE)), PLUS);
    const mask32 far_side = mask32_or(mask32_not(barrel), mask32_andnot(minus, layer1));
    const mask32 falls = mask32_xor(far_side, below(chip, CHIPS));
    const u32v along = u32v_mul(u32v_and(chip, u32v_set(CHIPS - 1)), u32v_set(CHIP));
    const u32v rising_y = u32v_add(along, column);
    const u32v x = u32v_select(falls, u32v_sub(u32v_set(SLC_CMS_ROWS - 1), row), row);
    const u32v y = u32v_select(falls, rising_y, u32v_sub(u32v_set(SLC_CMS_COLUMNS - 1), rising_y));
    return u32v_or(u32v_or(x, u32v_shl(y, 11)), u32v_shl(field(word, 0, 255), 22));
}

/* A higher chip of the same link, which there may be, directly before. */
static inline mask32 out_of_order(u32v word, u32v before)
{
    const u32v roc = field(before, SLC_CMS_WORD_PLACE_SHIFT, 31);
    const mask32 same = u32v_eq(u32v_shr(before, LINK_SHIFT), u32v_shr(word, LINK_SHIFT));
    const mask32 possible = below(u32v_sub(roc, u32v_set(1)), SLC_CMS_LINK_ROCS);
    return mask32_and(mask32_and(same, possible), u32v_gt(roc, field(word, SLC_CMS_WORD_PLACE_SHIFT, 31)));
}

/* Leaves those of modules that are unpacked: a byte for each module, which no vector can gather. */
static mask32 unpacked(mask32 wanted, u32v module, const uint8_t *unpack)
{
    uint32_t lane[SIMD_MAX_LANES];
    u32v_store(lane, module);
    uint64_t left = 0;
    for (uint64_t bits = mask32_bits(wanted), i = 0; bits != 0; bits >>= 1, i++) {
        left |= (uint64_t)((bits & 1) != 0 && unpack[lane[i]] != 0) << i;
    }
    return mask32_of_bits(left);
}

/* Of words with a cable that is wanted; sets those with a cable, and for these detector id, and module and
 * chip in one number. */
static inline mask32 look_up(const slc_cms_words *words, u32v word, mask32 *connected, u32v *raw_id,
                             u32v *rest)
{
    const uint32_t *tables = (const uint32_t *)(const void *)words->cables;
    const u32v link = u32v_shr(word, LINK_SHIFT), roc = field(word, SLC_CMS_WORD_PLACE_SHIFT, 31);
    const mask32 possible = mask32_and(below(u32v_sub(link, u32v_set(1)), SLC_CMS_LINKS),
                                       below(u32v_sub(roc, u32v_set(1)), SLC_CMS_LINK_ROCS));
    /* Two numbers for each of the link's eight chips, less those of link 0 and chip 0. */
    const u32v entry = u32v_sub(u32v_add(u32v_shl(link, 4), u32v_add(roc, roc)), u32v_set(18));
    *raw_id = u32v_gather_masked(tables, entry, possible, u32v_set(0));
    *rest = u32v_gather_masked(tables + 1, entry, possible, u32v_set(0));
    *connected = u32v_ne(*raw_id, u32v_set(0));
    /* The mark of a bad chip is the highest byte. */
    const u32v module = u32v_and(*rest, u32v_set(UINT16_MAX));
    const mask32 wanted = mask32_and(*connected,
                                     mask32_and(below(*rest, 1U << 24), below(module, words->modules)));
    return words->unpack == NULL ? wanted : unpacked(wanted, module, words->unpack);
}

/* One vector of which not all are digis. */
static inline void count_others(slc_cms_remains *remains, u32v word, u32v number, mask32 here, mask32 digi,
                                mask32 bad, mask32 order)
{
    const mask32 empty = mask32_and(here, u32v_eq(word, u32v_set(0)));
    const mask32 known = mask32_or(mask32_or(digi, empty), bad);
    remains->empty += mask32_count(empty);
    remains->bad += mask32_count(bad);
    remains->n_special += u32v_pack(remains->special + remains->n_special, number,
                                    mask32_or(mask32_andnot(here, known), order));
}

static void sift(const slc_cms_words *words, slc_cms_sifted *digis, slc_cms_remains *remains)
{
    size_t n = digis->n;
    u32v last = u32v_set(0);
    for (size_t i = 0; i < words->n; i += SIMD_LANES) {
        const size_t left = words->n - i;
        const mask32 here = mask32_first(left);
        const u32v word = left >= SIMD_LANES ? u32v_load(words->word + i)
                                             : u32v_load_masked(words->word + i, here);
        u32v raw_id, rest, row, column;
        mask32 connected;
        const mask32 wanted = look_up(words, word, &connected, &raw_id, &rest);
        const mask32 layer1 = u32v_eq(u32v_and(raw_id, u32v_set(DETECTOR | LAYER)),
                                      u32v_set(BARREL | LAYER1));
        locate(word, layer1, &row, &column);
        const mask32 inside = mask32_and(below(row, SLC_CMS_ROC_ROWS), below(column, SLC_CMS_ROC_COLUMNS));
        const mask32 digi = mask32_and(wanted, inside);
        const mask32 order = mask32_and(digi, out_of_order(word, u32v_previous(last, word)));
        const u32v module = u32v_and(rest, u32v_set(UINT16_MAX)), number = u32v_iota((uint32_t)i);
        const u32v found = place(word, raw_id, u32v_shr(rest, 16), layer1, row, column);
        if (mask32_every(digi)) {
            u32v_store(digis->packed + n, found);
            u32v_store(digis->module + n, module);
            u32v_store(digis->raw_id + n, raw_id);
            n += SIMD_LANES;
            if (mask32_any(order)) {
                remains->n_special += u32v_pack(remains->special + remains->n_special, number, order);
            }
        } else {
            (void)u32v_pack(digis->packed + n, found, digi);
            (void)u32v_pack(digis->module + n, module, digi);
            n += u32v_pack(digis->raw_id + n, raw_id, digi);
            count_others(remains, word, number, here, digi, mask32_andnot(connected, wanted), order);
        }
        last = word;
    }
    digis->n = n;
}

/* ---- digis to runs and columns ------------------------------------------------------------------- */

static size_t runs(const slc_cms_sifted *digis, uint32_t *begin)
{
    size_t n = 0;
    for (size_t i = 0; i < digis->n; i += SIMD_LANES) {
        const mask32 same_module = u32v_eq(u32v_load(digis->module + i), u32v_load(digis->module + i - 1));
        const mask32 same_id = u32v_eq(u32v_load(digis->raw_id + i), u32v_load(digis->raw_id + i - 1));
        const mask32 first = mask32_not(mask32_and(same_module, same_id));
        n += u32v_pack(begin + n, u32v_iota((uint32_t)i), mask32_and(first, mask32_first(digis->n - i)));
    }
    return n;
}

/* The columns that follow from others. Loops that a compiler makes vectors of. */
static void fill(const slc_cms_digis *to, size_t row, const uint32_t *restrict module, size_t n)
{
    const uint32_t *restrict packed = to->packed + row;
    uint16_t *restrict x = to->x + row, *restrict y = to->y + row, *restrict adc = to->adc + row,
                       *restrict short_module = to->module + row;
    int32_t *restrict cluster = to->cluster + row;
    for (size_t i = 0; i < n; i++) {
        x[i] = (uint16_t)(packed[i] & 2047);
        y[i] = (uint16_t)(packed[i] >> 11 & 2047);
        adc[i] = (uint16_t)(packed[i] >> 22);
    }
    for (size_t i = 0; i < n; i++) {
        short_module[i] = (uint16_t)module[i];
        cluster[i] = SLC_CMS_NO_CLUSTER;
    }
}

static void put(const slc_cms_sifted *digis, const uint32_t *begin, const uint32_t *order, size_t n_runs,
                const slc_cms_digis *to, size_t row)
{
    /* A part at a time, which is still in the first cache when the other columns are made of it. */
    enum { PART = 1024 };
    uint32_t modules[PART + 2 * SIMD_MAX_LANES];
    size_t n = 0;
    for (size_t r = 0; r < n_runs; r++) {
        const uint32_t from = begin[order[r]], behind = begin[order[r] + 1];
        const u32v module = u32v_set(digis->module[from]), raw_id = u32v_set(digis->raw_id[from]);
        for (uint32_t i = from; i < behind;) {
            const size_t some = behind - i < PART - n ? behind - i : PART - n;
            for (size_t k = 0; k < some; k += SIMD_LANES) {
                u32v_store(to->packed + row + n + k, u32v_load(digis->packed + i + k));
                u32v_store(to->raw_id + row + n + k, raw_id);
                u32v_store(modules + n + k, module);
            }
            n += some;
            i += (uint32_t)some;
            if (n == PART) {
                fill(to, row, modules, n);
                row += n;
                n = 0;
            }
        }
    }
    fill(to, row, modules, n);
}

const slc_cms_decode_kernels SIMD_TABLE(slc_cms_decode) = {
    .target = SIMD_TARGET_NAME, .sift = sift, .runs = runs, .put = put};
