/* SPDX-License-Identifier: Apache-2.0
 *
 * bitrun, row by row. Runs are never compared with one another: on rows of bits, whole words at a time,
 * additions whose carry runs along pixels find the runs that touch nothing above and the gaps above that this
 * row closes, and which run above ends last before a run does; what they find is squeezed into one bit for a
 * run. Labels then move from row to row a vector at a time. docs/design.md tells the idea,
 * src/image/README.md draws it.
 */
#include "image/image_bitrun_kernels.h"

#include "simd/simd.h"

#if defined(__GNUC__)
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE
#endif

/* Carries from piece to piece of a row. */
typedef struct carries {
    unsigned free, gap, group, used;
} carries;

/* Bits one behind the other: those that are not written yet, n of them. */
typedef struct bit_stream {
    uint64_t *at, bits;
    unsigned n;
} bit_stream;

/* The branch is cheaper than a chain of four operations from each word to the next, except in noise. */
static inline void put(bit_stream *stream, uint64_t bits, size_t count)
{
    const uint64_t rest = bits >> 1 >>
                          (63 - stream->n); /* what goes into the next word if this one gets full */
    stream->bits |= bits << stream->n;
    *stream->at = stream->bits;
    stream->n += (unsigned)count;
    const unsigned full = stream->n / 64;
    stream->at += full;
    if (full != 0) {
        stream->bits = rest;
    }
    stream->n %= 64;
}

/* Writes what is left, and zeros for as many runs as a vector takes at a time; returns how many pairs of bits
 * there are. */
static size_t finish(bit_stream *stream, const uint64_t *begin)
{
    stream->at[0] = stream->bits;
    stream->at[1] = 0;
    return (size_t)(stream->at - begin) * 32 + stream->n / 2;
}

/* The first and the second bits of the pairs of SIMD_LANES runs from run i on, which is a multiple of
 * SIMD_LANES. */
static inline uint64_t first_bits(const uint64_t *pairs, size_t i)
{
    return bits_evens(pairs[i / 32] >> 2 * (i % 32));
}
static inline uint64_t second_bits(const uint64_t *pairs, size_t i)
{
    return bits_evens(pairs[i / 32] >> (2 * (i % 32) + 1));
}

/* ---- what words can tell ------------------------------------------------------------------------- */

/* Runs of this row end before `last` << 1, those above begin at `above`. With 8 neighbours a run reaches one
 * pixel beyond its ends, with 4 it does not: the shifts below. Compilers make vectors of this loop. */
static inline void look(slc_bitrun_piece *restrict piece, const uint64_t *restrict bits,
                        const uint64_t *restrict upper, size_t n, bool eight)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t before = (bits - 1)[i], upper_before = (upper - 1)[i];
        const uint64_t c = bits[i], u = upper[i];
        const uint64_t c_left = c << 1 | before >> 63, c_right = c >> 1 | bits[i + 1] << 63;
        const uint64_t u_left = u << 1 | upper_before >> 63, u_right = u >> 1 | upper[i + 1] << 63;
        const uint64_t last = c & ~c_right, last_before = before & ~(before >> 1 | c << 63);
        const uint64_t above = u & ~u_left;
        /* A run's two bits lie at its last pixel and the one behind it, those of one above at its first two.
         */
        piece->last[i] = last;
        piece->last_pair[i] = last | last << 1 | last_before >> 63;
        piece->above[i] = above;
        piece->above_pair[i] = above | above << 1 | (upper_before & ~(upper_before << 1)) >> 63;
        /* Pixels without a neighbour above; a carry from a run's first pixel comes out of its last only if
         * all are. */
        piece->free[i] = c & ~(eight ? u | u_left | u_right : u);
        piece->free_sum[i] = c & ~c_left;
        /* Gaps between runs above that this row fills (with 4 neighbours, and a pixel on both sides). */
        piece->gap[i] = c & ~u;
        piece->gap_sum[i] = eight ? u_left & ~u : u_left & ~u & c_left;
        piece->gap_must[i] = c;
        /* A run above begins before this run's reach ends, and after the end of the run before: the run's
         * group is a new one. The carry of a beginning goes on to the next end. */
        const uint64_t begin = eight ? u_right & ~u : above;
        piece->group_seed[i] = begin;
        piece->group_add[i] = begin & ~last;
        piece->group_sum[i] = ~last;
        /* The other way round: an end since the last beginning, so that the run above before this one is of
         * use. */
        const uint64_t end = eight ? last << 2 | last_before >> 62 : last << 1 | last_before >> 63;
        piece->used_seed[i] = end;
        piece->used_add[i] = end & ~above;
        piece->used_sum[i] = ~above;
    }
}

/* Out of line: compilers forget `restrict` where they inline, and then take the words one by one. */
OUT_OF_LINE static void look_eight(slc_bitrun_piece *restrict piece, const uint64_t *restrict bits,
                                   const uint64_t *restrict upper, size_t n)
{
    look(piece, bits, upper, n, true);
}
OUT_OF_LINE static void look_four(slc_bitrun_piece *restrict piece, const uint64_t *restrict bits,
                                  const uint64_t *restrict upper, size_t n)
{
    look(piece, bits, upper, n, false);
}

/* The bits, where they belong: the first ones in place, the second ones moved up by one pixel. */
static inline void mark(slc_bitrun_piece *restrict piece, size_t n, bool eight)
{
    for (size_t i = 0; i < n; i++) {
        piece->is_free[i + 1] = piece->free[i] & ~piece->free_sum[i] & piece->last[i];
        piece->joins[i + 1] = piece->gap_sum[i] & piece->above[i] &
                              (eight ? ~(uint64_t)0 : piece->gap_must[i]);
    }
    for (size_t i = 0; i < n; i++) {
        piece->cur_marks[i] = ((piece->group_sum[i] | piece->group_seed[i]) & piece->last[i]) |
                              piece->is_free[i + 1] << 1 | piece->is_free[i] >> 63;
        piece->upper_marks[i] = ((piece->used_sum[i] | piece->used_seed[i]) & piece->above[i]) |
                                piece->joins[i + 1] << 1 | piece->joins[i] >> 63;
    }
}

OUT_OF_LINE static void mark_eight(slc_bitrun_piece *restrict piece, size_t n)
{
    mark(piece, n, true);
}
OUT_OF_LINE static void mark_four(slc_bitrun_piece *restrict piece, size_t n)
{
    mark(piece, n, false);
}

/* Two bits for each run, from wherever they lie in the words. */
static inline void squeeze(const slc_bitrun_piece *piece, size_t n, bit_stream *cur, bit_stream *up)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t last = piece->last_pair[i], above = piece->above_pair[i];
        put(cur, bits_extract(piece->cur_marks[i], last), bits_count(last));
        put(up, bits_extract(piece->upper_marks[i], above), bits_count(above));
    }
}

static inline void compare(slc_bitrun_strip *strip, const uint64_t *bits, const uint64_t *upper, bool eight)
{
    slc_bitrun_piece *piece = strip->piece;
    /* A run above that ends in front of the row is imagined, so that the first run begins a group. */
    carries carry = {.group = 1};
    bit_stream cur = {.at = strip->cur_bits}, up = {.at = strip->upper_bits};
    piece->is_free[0] = piece->joins[0] = 0;
    size_t n = 0;
    for (size_t word = 0; word < strip->words; word += SLC_BITRUN_PIECE) {
        const size_t rest = strip->words - word;
        n = rest < SLC_BITRUN_PIECE ? rest : SLC_BITRUN_PIECE;
        (eight ? look_eight : look_four)(piece, bits + word, upper + word, n);
        carry.free = bits_add_long(piece->free_sum, piece->free, n, carry.free);
        carry.gap = bits_add_long(piece->gap_sum, piece->gap, n, carry.gap);
        carry.group = bits_add_long(piece->group_sum, piece->group_add, n, carry.group);
        carry.used = bits_add_long(piece->used_sum, piece->used_add, n, carry.used);
        (eight ? mark_eight : mark_four)(piece, n);
        squeeze(piece, n, &cur, &up);
        piece->is_free[0] = piece->is_free[n];
        piece->joins[0] = piece->joins[n];
    }
    /* Second bits that lie behind the row. */
    put(&cur, piece->is_free[n] >> 63, piece->last[n - 1] >> 63);
    put(&up, piece->joins[n] >> 63, piece->above[n - 1] >> 63);
    put(&up, 1, 2); /* the last run above may be of use; nobody asks for it if it is not */
    strip->n_runs = finish(&cur, strip->cur_bits);
    (void)finish(&up, strip->upper_bits);
}

/* A row of one word, without carries and in registers. */
static inline void compare_word(slc_bitrun_strip *strip, uint64_t c, uint64_t u, bool eight)
{
    const uint64_t c_left = c << 1, u_left = u << 1, u_right = u >> 1;
    const uint64_t last = c & ~(c >> 1), above = u & ~u_left;
    const uint64_t free = c & ~(eight ? u | u_left | u_right : u);
    const uint64_t is_free = free & ~(free + (c & ~c_left)) & last;
    const uint64_t gap = u_left & ~u & (eight ? ~(uint64_t)0 : c_left);
    const uint64_t joins = (gap + (c & ~u)) & above & (eight ? ~(uint64_t)0 : c);
    const uint64_t begin = eight ? u_right & ~u : above, end = last << (eight ? 2 : 1);
    const uint64_t group = ((~last + (begin & ~last) + 1) | begin) & last;
    const uint64_t used = ((~above + (end & ~above)) | end) & above;
    const size_t n_runs = bits_count(last), n_upper = bits_count(above);
    uint64_t cur = bits_extract(group | is_free << 1, last | last << 1);
    uint64_t up = bits_extract(used | joins << 1, above | above << 1);
    /* Second bits that lie behind the word are the last. */
    cur |= is_free >> 63 != 0 ? (uint64_t)1 << (2 * n_runs - 1) : 0;
    up |= joins >> 63 != 0 ? (uint64_t)1 << (2 * n_upper - 1) : 0;
    strip->cur_bits[0] = cur;
    strip->upper_bits[0] = up | (n_upper < 32 ? (uint64_t)1 << 2 * n_upper : 0);
    strip->upper_bits[1] = n_upper < 32 ? 0 : 1;
    strip->cur_bits[1] = strip->upper_bits[2] = 0;
    strip->n_runs = n_runs;
}

/* ---- labels of runs ------------------------------------------------------------------------------ */

static inline uint32_t root(const uint32_t *parent, uint32_t label)
{
    while (parent[label] != label) {
        label = parent[label];
    }
    return label;
}

/* Unites neighbours above that a run of this row joins, unless they are known to be one. */
static void unite(slc_bitrun_strip *strip)
{
    uint32_t *parent = strip->parent, *labels = strip->upper;
    for (size_t word = 0; 32 * word < strip->n_upper; word++) {
        uint32_t joins = (uint32_t)second_bits(strip->upper_bits, 32 * word) & ~strip->upper_same[word];
        for (; joins != 0; joins &= joins - 1) {
            uint32_t *run = labels + 32 * word + (size_t)__builtin_ctz(joins);
            const uint32_t a = root(parent, run[-1]), b = root(parent, run[0]);
            const uint32_t low = a < b ? a : b, high = a < b ? b : a;
            parent[high] = low;
            /* The next row then sees that they are equal. */
            run[-1] = low;
            run[0] = low;
        }
    }
}

/* The labels that this row's runs take over, one for each group of runs. */
static void take(slc_bitrun_strip *strip)
{
    const uint32_t *labels = strip->upper - 1;
    uint32_t *used = strip->used;
    for (size_t i = 0; i <= strip->n_upper; i += SIMD_LANES) {
        used += u32v_pack(used, u32v_load(labels + i), mask32_of_bits(first_bits(strip->upper_bits, i)));
    }
}

/* Labels of this row: of the group, or a new one. */
static void give(slc_bitrun_strip *strip)
{
    const uint64_t low_lanes = mask32_bits(mask32_all());
    const uint32_t *group = strip->used - 1; /* of the run before */
    u32v before = u32v_set(0);
    uint32_t fresh = strip->fresh, same = 0;
    for (size_t i = 0; i < strip->n_runs; i += SIMD_LANES) {
        const uint64_t begins = first_bits(strip->cur_bits, i);
        const mask32 is_new = mask32_of_bits(second_bits(strip->cur_bits, i));
        const u32v taken = u32v_permute(u32v_load(group + (begins & 1)), u32v_rank(begins & ~(uint64_t)1));
        const u32v ids = u32v_iota(fresh);
        const u32v labels = u32v_select(is_new, u32v_expand(ids, is_new), taken);
        u32v_store(strip->runs + i, labels);
        u32v_store(strip->parent + fresh, ids);
        group += bits_count(begins & low_lanes);
        fresh += (uint32_t)mask32_count(is_new);
        same |= (uint32_t)mask32_bits(u32v_eq(labels, u32v_previous(before, labels))) << (i % 32);
        strip->same[i / 32] = same;
        same = (i + SIMD_LANES) % 32 == 0 ? 0 : same;
        before = labels;
    }
    strip->same[0] &= ~1U;
    strip->same[strip->n_runs / 32] &= (1U << strip->n_runs % 32) - 1; /* no run behind the last is like it */
    strip->same[strip->n_runs / 32 + 1] = 0;
    strip->fresh = fresh;
}

/* Takes and gives if all runs of both rows, and one more above, are one vector. */
static inline void pass_on(slc_bitrun_strip *strip)
{
    const uint64_t begins = first_bits(strip->cur_bits, 0) & ~(uint64_t)1;
    const mask32 is_new = mask32_of_bits(second_bits(strip->cur_bits, 0));
    const u32v none = u32v_set(0), ids = u32v_iota(strip->fresh);
    const u32v before = u32v_previous(none, u32v_load(strip->upper));
    (void)u32v_pack(strip->used, before, mask32_of_bits(first_bits(strip->upper_bits, 0)));
    const u32v taken = u32v_permute(u32v_load(strip->used), u32v_rank(begins));
    const u32v labels = u32v_select(is_new, u32v_expand(ids, is_new), taken);
    u32v_store(strip->runs, labels);
    u32v_store(strip->parent + strip->fresh, ids);
    strip->fresh += (uint32_t)mask32_count(is_new);
    const uint64_t same = mask32_bits(u32v_eq(labels, u32v_previous(none, labels)));
    strip->same[0] = (uint32_t)same & ((1U << strip->n_runs) - 2);
    strip->same[1] = 0;
}

static void row(slc_bitrun_strip *strip, const uint64_t *bits, const uint64_t *upper)
{
    uint64_t any = 0;
    for (size_t word = 0; word < strip->words; word++) {
        any |= bits[word];
    }
    if (any == 0) {
        strip->n_runs = 0;
        strip->same[0] = strip->same[1] = 0;
        return;
    }
    if (strip->words == 1 && strip->connectivity == 8) {
        compare_word(strip, bits[0], upper[0], true);
    } else if (strip->words == 1) {
        compare_word(strip, bits[0], upper[0], false);
    } else if (strip->connectivity == 8) {
        compare(strip, bits, upper, true);
    } else {
        compare(strip, bits, upper, false);
    }
    unite(strip);
    if (strip->n_upper < SIMD_LANES && strip->n_runs <= SIMD_LANES && SIMD_LANES < 32) {
        pass_on(strip);
    } else {
        take(strip);
        give(strip);
    }
}

/* ---- features -------------------------------------------------------------------------------------- */

/* Where runs begin and where they have ended, in turn: the first pixel, and the first one behind. */
static void find_edges(slc_bitrun_strip *strip, const uint64_t *bits)
{
    uint32_t *edges = strip->edges;
    uint64_t before = 0;
    for (size_t word = 0; word < strip->words; word++) {
        edges += bits_positions_u32(edges, bits_edges(bits[word], before), (uint32_t)(64 * word));
        before = bits[word];
    }
    edges[0] = (uint32_t)strip->width; /* a run may end with the row's last word */
}

/* The same in 16 bits. */
static void find_edges16(slc_bitrun_strip *strip, const uint64_t *bits)
{
    uint16_t *edges = strip->edges16;
    uint64_t before = 0;
    for (size_t word = 0; word < strip->words; word++) {
        edges += bits_positions_u16(edges, bits_edges(bits[word], before), (uint32_t)(64 * word));
        before = bits[word];
    }
    edges[0] = (uint16_t)strip->width;
}

static void positions(slc_bitrun_strip *strip, const uint64_t *bits, size_t n)
{
    find_edges(strip, bits);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v a = u32v_load(strip->edges + 2 * i), b = u32v_load(strip->edges + 2 * i + SIMD_LANES);
        u32v_store(strip->first + i, u32v_even(a, b));
        u32v_store(strip->behind + i, u32v_odd(a, b));
    }
}

/* 0 + 1 + … + (n - 1), which fits for n up to 65536. */
static inline u32v sum_below(u32v n)
{
    return u32v_shr(u32v_mul(n, u32v_sub(n, u32v_set(1))), 1);
}

/* Runs of equal labels side by side become one segment. Of pixels and x the sums up to the segment's end are
 * kept, and are subtracted from one another later. Returns how many segments there are. */
static size_t segments(slc_bitrun_strip *strip)
{
    const u32v end_lane = u32v_set((uint32_t)SIMD_LANES - 1);
    const uint32_t *same = strip->same;
    u32v area = u32v_set(0), sum_x = u32v_set(0);
    size_t begun = 0, ended = 0;
    for (size_t i = 0; i < strip->n_runs; i += SIMD_LANES) {
        const mask32 in = mask32_first(strip->n_runs - i);
        const uint64_t window = ~(same[i / 32] | (uint64_t)same[i / 32 + 1] << 32) >> (i % 32);
        const mask32 begins = mask32_and(in, mask32_of_bits(window)),
                     ends = mask32_and(in, mask32_of_bits(window >> 1));
        const u32v both = u32v_load_any(strip->edges16 + 2 * i);
        const u32v first = u32v_and(both, u32v_set(UINT16_MAX)), behind = u32v_shr(both, 16);
        const u32v x = u32v_sub(sum_below(behind), sum_below(first));
        area = u32v_add(u32v_running_sum(u32v_sub(behind, first)), area);
        sum_x = u32v_add(u32v_running_sum(x), sum_x);
        (void)u32v_pack(strip->segment_label + begun, u32v_load(strip->runs + i), begins);
        begun += u32v_pack(strip->segment_first + begun, first, begins);
        (void)u32v_pack(strip->segment_behind + ended, behind, ends);
        (void)u32v_pack(strip->segment_area + ended, area, ends);
        ended += u32v_pack(strip->segment_x + ended, sum_x, ends);
        area = u32v_permute(area, end_lane);
        sum_x = u32v_permute(sum_x, end_lane);
    }
    return begun;
}

static void make_packets(slc_bitrun_strip *strip, size_t n, uint32_t y)
{
    const u32v ys = u32v_set(y);
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const uint32_t *area = strip->segment_area + i, *x = strip->segment_x + i;
        const u32v pixels = u32v_sub(u32v_load(area), u32v_load(area - 1));
        const u32v sum_x = u32v_sub(u32v_load(x), u32v_load(x - 1));
        const u32v low = u32v_sub(u32v_set(65535), u32v_load(strip->segment_first + i));
        const u32v high = u32v_shl(u32v_sub(u32v_load(strip->segment_behind + i), u32v_set(1)), 16);
        u32v_store4(strip->packets + 4 * i, sum_x, u32v_mul(pixels, ys), pixels, u32v_or(low, high));
    }
}

/* The first pixels of runs that were given new labels. */
static void keep_first_x(slc_bitrun_strip *strip)
{
    uint32_t *first_x = strip->first_x + strip->row_fresh;
    for (size_t i = 0; i < strip->n_runs; i += SIMD_LANES) {
        const u32v first = u32v_and(u32v_load_any(strip->edges16 + 2 * i), u32v_set(UINT16_MAX));
        first_x += u32v_pack(first_x, first, mask32_of_bits(second_bits(strip->cur_bits, i)));
    }
}

static void add(slc_bitrun_strip *strip, const uint64_t *bits, uint32_t y)
{
    find_edges16(strip, bits);
    if (strip->fresh != strip->row_fresh) {
        memset(strip->record + SLC_BITRUN_RECORD * (size_t)strip->row_fresh, 0,
               SLC_BITRUN_RECORD * sizeof *strip->record * (size_t)(strip->fresh - strip->row_fresh));
        if (strip->first_x != NULL) {
            keep_first_x(strip);
        }
        strip->row_fresh = strip->fresh;
    }
    const size_t n = segments(strip);
    make_packets(strip, n, y);
    const uint32_t *labels = strip->segment_label, *packets = strip->packets;
    uint64_t *records = strip->record;
    for (size_t i = 0; i < n; i++) {
        bits_add_record(records + SLC_BITRUN_RECORD * (size_t)labels[i], packets + 4 * i, y);
    }
}

static void join(slc_bitrun_strip *strip, const uint32_t *children, size_t n)
{
    while (n-- > 0) {
        const size_t child = children[n], parent = strip->parent[child];
        bits_join_records(strip->record + SLC_BITRUN_RECORD * parent,
                          strip->record + SLC_BITRUN_RECORD * child);
    }
}

static size_t roots(const uint32_t *parent, uint32_t first, uint32_t end, uint32_t *out, uint32_t *children)
{
    size_t n = 0;
    for (uint32_t i = first; i < end; i += (uint32_t)SIMD_LANES) {
        const u32v labels = u32v_iota(i), parents = u32v_load(parent + i);
        const mask32 in = mask32_first(end - i);
        n += u32v_pack(out + n, labels, mask32_and(in, u32v_eq(labels, parents)));
        if (children != NULL) {
            children += u32v_pack(children, labels, mask32_and(in, u32v_ne(labels, parents)));
        }
    }
    return n;
}

/* ---- the second pass ------------------------------------------------------------------------------- */

static void relabel(const uint32_t *table, const uint32_t *runs, size_t n, uint32_t *labels)
{
    size_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        u32v_store(labels + i, u32v_gather(table, u32v_load(runs + i)));
    }
    for (; i < n; i++) {
        labels[i] = table[runs[i]];
    }
}

/* `n` pixels of a word; `run` is where the labels of the runs that begin in it are, less one. */
static inline void write_pixels(uint64_t pixels, uint64_t starts, const uint32_t *run, size_t n,
                                uint32_t *out, bool far)
{
    const uint64_t low_lanes = mask32_bits(mask32_all());
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const uint64_t begins = starts >> i;
        /* A run begins behind a pixel that is none, so a vector of two lanes and more has not all of them. */
        const size_t skip = SIMD_MAX_LANES == 1 ? begins & 1 : 0;
        const u32v all = u32v_permute(u32v_load(run + skip), u32v_rank(begins & ~(uint64_t)skip));
        const u32v labels = u32v_select(mask32_of_bits(pixels >> i), all, u32v_set(0));
        run += bits_count(begins & low_lanes);
        if (i + SIMD_LANES > n) {
            u32v_store_masked(out + i, labels, mask32_first(n - i));
        } else if (far) {
            u32v_store_far(out + i, labels);
        } else {
            u32v_store(out + i, labels);
        }
    }
}

static inline void write_row(const uint64_t *bits, const uint32_t *labels, size_t width, uint32_t *out,
                             bool far)
{
    const uint32_t *run = labels - 1;
    uint64_t before = 0;
    size_t x = 0;
    for (; x + 64 <= width; x += 64) {
        const uint64_t pixels = bits[x / 64], starts = bits_starts(pixels, before);
        write_pixels(pixels, starts, run, 64, out + x, far);
        run += bits_count(starts);
        before = pixels;
    }
    if (x < width) {
        write_pixels(bits[x / 64], bits_starts(bits[x / 64], before), run, width - x, out + x, false);
    }
}

static void write(const uint64_t *bits, const uint32_t *labels, size_t width, uint32_t *out, bool far)
{
    if (far && (uintptr_t)out % (SIMD_LANES * sizeof *out) == 0) {
        write_row(bits, labels, width, out, true);
        bits_fence();
    } else {
        write_row(bits, labels, width, out, false);
    }
}

const slc_bitrun_kernels SIMD_TABLE(slc_bitrun) = {.target = SIMD_TARGET_NAME,
                                                   .row = row,
                                                   .positions = positions,
                                                   .add = add,
                                                   .join = join,
                                                   .roots = roots,
                                                   .relabel = relabel,
                                                   .write = write};
