/* SPDX-License-Identifier: Apache-2.0
 *
 * The raw words of a sensor to hits: SparseCCL on super-pixels (A. Hennequin's thesis, 2022, section 4.6.3),
 * in vectors over super-pixels. Nodes are the connected parts of super-pixels, in the order of their words.
 * Each is compared with the nodes 1, 2, 3 ... places before it, all lanes at once, as long as one of these
 * can be a neighbour. The key of a super-pixel is 66 * column + row, so that the distance of two keys alone
 * says where the neighbour lies: 1 below, 65, 66, 67 to the left, and nothing at the sensor's edges. Sensors
 * are small, a dozen super-pixels, and are labelled in groups that fill the vectors: the sensor's number
 * stands above the key. A node's parent is the farthest one that it touches; only the few that touch several
 * need a union one by one.
 */
#include "base/bytes.h"
#include "simd/simd.h"
#include "velo/velo_cluster_work.h"
#include "velo/velo_retina.h"
#include "velo/velo_superpixel.h"

enum { KEY_COLUMN = 66, FARTHEST = KEY_COLUMN + 1, KEY_SENSOR = 15, LARGEST_EXACT = 1024, LINK_NODE = 9 };

#if defined(SIMD_C)
/* Pixels of a pattern, and the sums of their columns and rows: bits 0-3, 4-7, 8-15. */
#define SUMS_OF(p)                                                                                           \
    (((p)&1U) + ((p) >> 1 & 1U) * 0x101U + ((p) >> 2 & 1U) * 0x201U + ((p) >> 3 & 1U) * 0x301U +             \
     ((p) >> 4 & 1U) * 0x011U + ((p) >> 5 & 1U) * 0x111U + ((p) >> 6 & 1U) * 0x211U +                        \
     ((p) >> 7 & 1U) * 0x311U)
#define SUMS_OF_4(p)  SUMS_OF(p), SUMS_OF((p) + 1U), SUMS_OF((p) + 2U), SUMS_OF((p) + 3U)
#define SUMS_OF_16(p) SUMS_OF_4(p), SUMS_OF_4((p) + 4U), SUMS_OF_4((p) + 8U), SUMS_OF_4((p) + 12U)
#define SUMS_OF_64(p) SUMS_OF_16(p), SUMS_OF_16((p) + 16U), SUMS_OF_16((p) + 32U), SUMS_OF_16((p) + 48U)
static const uint32_t sums_of_pattern[256] = {SUMS_OF_64(0U), SUMS_OF_64(64U), SUMS_OF_64(128U),
                                              SUMS_OF_64(192U)};

static inline void sum_pattern(u32v pattern, u32v *n, u32v *columns, u32v *rows)
{
    const u32v sums = u32v_gather(sums_of_pattern, pattern);
    *n = u32v_and(sums, u32v_set(0xf));
    *columns = u32v_and(u32v_shr(sums, 4), u32v_set(0xf));
    *rows = u32v_shr(sums, 8);
}
#else
/* The same sums by counting bits: vectors are slow at looking up. Rows 1 and 3 of four are odd, 2 and 3 count
 * two. */
static inline void sum_pattern(u32v pattern, u32v *n, u32v *columns, u32v *rows)
{
    *n = u32v_popcount(pattern);
    *columns = u32v_popcount(u32v_and(pattern, u32v_set(0xf0)));
    const u32v odd = u32v_popcount(u32v_and(pattern, u32v_set(0xaa)));
    *rows = u32v_add(odd, u32v_shl(u32v_popcount(u32v_and(pattern, u32v_set(0xcc))), 1));
}
#endif

/* The sensor's words at a place from which vectors can be loaded, without those of the other sensor. */
static const uint32_t *pick_words(const slc_velo_sensor_in *in, uint32_t *picked, size_t *n_words)
{
    const uint32_t *words = (const uint32_t *)(const void *)in->bytes;
    if ((uintptr_t)in->bytes % sizeof *words != 0) {
        memcpy(picked, in->bytes, in->n_words * sizeof *words);
        words = picked;
    }
    *n_words = in->n_words;
    if (in->select_mask == 0) {
        return words;
    }
    const u32v mask = u32v_set(in->select_mask), select = u32v_set(in->select);
    size_t n = 0;
    for (size_t i = 0; i < in->n_words; i += SIMD_LANES) {
        const mask32 valid = mask32_first(in->n_words - i);
        const u32v word = u32v_load_masked(words + i, valid);
        n += u32v_pack(picked + n, word, mask32_and(valid, u32v_eq(u32v_and(word, mask), select)));
    }
    *n_words = n;
    return picked;
}

/* The rows, of four, up to and with the first run of hit ones: adding the lowest one carries through the run,
 * and what is then still set lies behind an empty row. */
static inline u32v upper_rows(u32v pattern)
{
    const u32v rows = u32v_and(u32v_or(pattern, u32v_shr(pattern, 4)), u32v_set(0xf));
    const u32v lowest = u32v_and(rows, u32v_sub(u32v_set(0), rows));
    return u32v_and(rows, u32v_add(rows, lowest));
}

/* A vector of words with two parts among them, `two`, as nodes; returns how many. There is seldom more than
 * one: what lies behind it is moved up by one place. */
static size_t place_parts(uint32_t *out, u32v word, u32v upper, mask32 valid, mask32 two)
{
    const u32v upper_bits = u32v_or(upper, u32v_shl(upper, 4));
    const u32v rest = u32v_andnot(word, upper_bits); /* without the upper part, where there are two */
    uint32_t second[SIMD_MAX_LANES];
    u32v_store(second, u32v_andnot(word, u32v_andnot(u32v_set(SLC_SUPERPIXEL_PATTERN), upper_bits)));
    size_t more = 0;
    u32v_store(out, rest);
    for (uint64_t bits = mask32_bits(two); bits != 0; bits &= bits - 1) {
        const size_t lane = (size_t)__builtin_ctzll(bits), place = lane + ++more;
        (void)u32v_pack(out + place + 1, rest, mask32_andnot(valid, mask32_first(lane + 1)));
        out[place] = second[lane];
    }
    return mask32_count(valid) + more;
}

/* Is a word without a pixel, outside the sensor, or not behind the one before it? `before` holds the
 * addresses of the vector before this one. */
static inline mask32 irregular(u32v word, u32v *before)
{
    const u32v pattern_bits = u32v_set(SLC_SUPERPIXEL_PATTERN);
    /* The pattern's bits set: never 0, so that the first word is larger than what lies before it. */
    const u32v address = u32v_or(u32v_and(word, u32v_set(0x7fff00U)), pattern_bits);
    const mask32 empty = u32v_eq(u32v_and(word, pattern_bits), u32v_set(0));
    const mask32 outside = u32v_ge(address, u32v_set(SLC_VELO_SUPERPIXEL_COLUMNS << 14));
    const mask32 unsorted = u32v_ge(u32v_previous(*before, address), address);
    *before = address;
    return mask32_or(mask32_or(empty, outside), unsorted);
}

static bool place(const slc_velo_sensor_in *in, slc_velo_cluster_work *work)
{
    size_t n, nodes = work->nodes, isolated = 0;
    const uint32_t *words = pick_words(in, work->picked, &n);
    uint32_t *node = work->word + SLC_VELO_FRONT, *key = work->key + SLC_VELO_FRONT;
    const u32v sensor = u32v_set(in->sensor << KEY_SENSOR);
    u32v before = u32v_set(0);
    mask32 bad = mask32_none();
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 valid = mask32_first(n - i);
        const u32v word = u32v_and(u32v_load_masked(words + i, valid), u32v_set(SLC_SUPERPIXEL_USED));
        bad = mask32_or(bad, mask32_and(valid, irregular(word, &before)));
        isolated += mask32_count(u32v_ge(word, u32v_set(SLC_SUPERPIXEL_ISOLATED)));
        const u32v upper = upper_rows(u32v_and(word, u32v_set(SLC_SUPERPIXEL_PATTERN)));
        size_t placed = n - i < SIMD_LANES ? n - i : SIMD_LANES;
        const mask32 two = u32v_ne(upper, u32v_set(0)); /* words behind the last one are 0 */
        if (mask32_any(two)) {
            placed = place_parts(node + nodes, word, upper, valid, two);
        } else {
            u32v_store(node + nodes, word);
        }
        u32v_store(key + nodes, sensor);
        u32v_store(key + nodes + SIMD_LANES, sensor); /* a word has two parts at most */
        nodes += placed;
    }
    if (mask32_any(bad)) {
        return false;
    }
    work->superpixels += n;
    work->isolated += isolated;
    work->nodes = (uint32_t)nodes;
    work->sensor[work->n_sensors] = in->sensor;
    work->node_end[work->n_sensors++] = (uint32_t)nodes;
    return true;
}

/* One step of a sorting network for 16 lanes: each compares itself with the one whose number differs by that
 * bit; `larger` are the lanes that take the larger one. */
static inline u32v compare_lanes(u32v v, uint32_t bit, uint32_t larger)
{
    const u32v other = u32v_permute(v, u32v_xor(u32v_iota(0), u32v_set(bit)));
    return u32v_select(mask32_of_bits(larger), u32v_max(v, other), u32v_min(v, other));
}

/* Lanes whose number has the bit 1, 2, 4, 8. */
enum { ODD = 0xaaaa, SECOND = 0xcccc, FOURTH = 0xf0f0, EIGHTH = 0xff00 };

/* Sorts 16 lanes that rise to one place and then fall, or the other way. */
static inline u32v merge_lanes(u32v v)
{
    v = compare_lanes(compare_lanes(v, 8, EIGHTH), 4, FOURTH);
    return compare_lanes(compare_lanes(v, 2, SECOND), 1, ODD);
}

static inline u32v sort_lanes(u32v v)
{
    v = compare_lanes(v, 1, ODD ^ SECOND);
    v = compare_lanes(compare_lanes(v, 2, SECOND ^ FOURTH), 1, ODD ^ FOURTH);
    v = compare_lanes(compare_lanes(v, 4, FOURTH ^ EIGHTH), 2, SECOND ^ EIGHTH);
    return merge_lanes(compare_lanes(v, 1, ODD ^ EIGHTH));
}

/* Words that are ordered by address, and back: its bits come first. */
static inline u32v turn_word(u32v word, unsigned left)
{
    return u32v_or(u32v_shl(word, left), u32v_shr(word, 32 - left));
}

/* 16 of n words from number i on, to be sorted; behind the last one, what is larger than any. */
static inline u32v load_turned(const uint32_t *words, size_t i, size_t n)
{
    const mask32 valid = mask32_first(n > i ? n - i : 0);
    const u32v word = u32v_and(u32v_load_masked(words + i, valid), u32v_set(SLC_SUPERPIXEL_USED));
    return u32v_select(valid, turn_word(word, 9), u32v_set(UINT32_MAX));
}

/* Up to 32 words in two vectors of 16 lanes. */
static void sort_few(const uint32_t *words, size_t n, uint32_t *sorted)
{
    u32v low = sort_lanes(load_turned(words, 0, n));
    if (n > 16) {
        u32v high = sort_lanes(load_turned(words, 16, n));
        const u32v falling = u32v_permute(high, u32v_xor(u32v_iota(0), u32v_set(15)));
        high = merge_lanes(u32v_max(low, falling));
        low = merge_lanes(u32v_min(low, falling));
        u32v_store(sorted + 16, turn_word(high, 23));
    }
    u32v_store(sorted, turn_word(low, 23));
}

/* A word's place is the number of addresses that are not larger, less itself: all with all, if a network does
 * not do. Of two equal ones both count the other. */
static size_t sort(const slc_velo_sensor_in *in, slc_velo_cluster_work *work, uint32_t *sorted)
{
    size_t n;
    const uint32_t *words = pick_words(in, work->picked, &n);
    if (SIMD_LANES == 16 && n <= 32) {
        sort_few(words, n, sorted);
        return n;
    }
    const u32v address = u32v_set(0x7fff00U), one = u32v_set(1);
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 valid = mask32_first(n - i);
        const u32v word = u32v_load_masked(words + i, valid), ours = u32v_and(word, address);
        u32v rank = u32v_set(0);
        for (size_t k = 0; k < n; k++) {
            const mask32 larger = u32v_ge(ours, u32v_set(words[k] & 0x7fff00U));
            rank = u32v_add(rank, u32v_select(larger, one, u32v_set(0)));
        }
        rank = u32v_sub(rank, one);
        u32v_scatter_masked(sorted, rank, u32v_and(word, u32v_set(SLC_SUPERPIXEL_USED)), valid);
        sum += u32v_sum(u32v_select(valid, rank, u32v_set(0)));
    }
    return 2 * (size_t)sum == n * (n - 1) ? n : 0;
}

/* Halves the path on its way, so that no pattern of pixels can make the trees deep. */
static inline uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Which lanes touch their neighbour at that distance of keys. To the left, the rows of the neighbour's right
 * column are moved to where they lie beside ours (bits 4 to 7), and widened by one; for any other distance
 * the shift moves them away. Below, any pixel of the lowest row touches any of the highest row. */
static inline mask32 touch(u32v here, u32v there, u32v distance)
{
    const u32v away = u32v_shl(u32v_sub(u32v_set(FARTHEST), distance), 2);
    const u32v beside = u32v_shlv(u32v_and(u32v_shr(there, 4), u32v_set(0xf)), away);
    const u32v wide = u32v_or(beside, u32v_or(u32v_shl(beside, 1), u32v_shr(beside, 1)));
    const u32v ours = u32v_shl(u32v_and(here, u32v_set(0xf)), 4), zero = u32v_set(0);
    const mask32 left = u32v_ne(u32v_and(wide, ours), zero);
    /* Bits 0 and 4 of ours, and 3 and 7 of the one below. */
    const mask32 below = mask32_and(u32v_eq(distance, u32v_set(1)),
                                    mask32_and(u32v_ne(u32v_and(here, u32v_set(0x11)), zero),
                                               u32v_ne(u32v_and(there, u32v_set(0x88)), zero)));
    return mask32_or(left, below);
}

/* Is one of the two hinted to be isolated though they are neighbours? */
static inline mask32 lies(u32v here, u32v there, u32v distance)
{
    const mask32 beside = u32v_le(u32v_sub(distance, u32v_set(KEY_COLUMN - 1)), u32v_set(2));
    const mask32 near = mask32_or(beside, u32v_eq(distance, u32v_set(1)));
    return mask32_and(near, u32v_ge(u32v_or(here, there), u32v_set(SLC_SUPERPIXEL_ISOLATED)));
}

/* The nodes' keys, of which the sensor's part is there, sums and parents. */
static inline u32v init_nodes(slc_velo_cluster_work *work, size_t i, u32v word)
{
    uint32_t *key_at = work->key + SLC_VELO_FRONT + i;
    const u32v column = u32v_and(u32v_shr(word, 14), u32v_set(0x1ff));
    const u32v row = u32v_and(u32v_shr(word, 8), u32v_set(0x3f));
    const u32v address = u32v_and(u32v_shr(word, 8), u32v_set(0x7fff));
    const u32v key = u32v_add(u32v_load(key_at), u32v_add(address, u32v_shl(column, 1)));
    u32v n, columns, rows;
    sum_pattern(u32v_and(word, u32v_set(SLC_SUPERPIXEL_PATTERN)), &n, &columns, &rows);
    u32v_store(key_at, key);
    u32v_store(work->n + i, n);
    u32v_store(work->sum_column + i, u32v_add(u32v_mul(n, u32v_shl(column, 1)), columns));
    u32v_store(work->sum_row + i, u32v_add(u32v_mul(n, u32v_shl(row, 2)), rows));
    return key;
}

/* Gives each node the farthest earlier one that it touches as its parent. Where it touches several, which is
 * seldom, the others become links. Returns how many nodes have a parent. */
static size_t link_nodes(slc_velo_cluster_work *work)
{
    const uint32_t *words = work->word + SLC_VELO_FRONT, *keys = work->key + SLC_VELO_FRONT;
    mask32 lie = mask32_none();
    size_t children = 0, links = 0;
    /* The vectors before this one: a lane moves up by one place with each distance. In memory they have only
     * just been written, in pieces that lie otherwise. */
    u32v last_key = u32v_set(UINT32_C(0x80000000)), last_word = u32v_set(0);
    for (size_t i = 0; i < work->nodes; i += SIMD_LANES) {
        const mask32 valid = mask32_first(work->nodes - i);
        const u32v word = u32v_load(words + i), key = init_nodes(work, i, word);
        const u32v node = u32v_iota((uint32_t)i);
        u32v parent = node;
        u32v near_key = key, near_word = word, far_key = last_key, far_word = last_word;
        for (size_t d = 1;; d++) {
            if (d <= SIMD_LANES) {
                near_key = u32v_previous(far_key, near_key);
                near_word = u32v_previous(far_word, near_word);
                far_key = u32v_previous(far_key, far_key);
                far_word = u32v_previous(far_word, far_word);
            } else {
                near_key = u32v_load(keys + i - d);
                near_word = u32v_load(words + i - d);
            }
            const u32v distance = u32v_sub(key, near_key);
            const mask32 within = mask32_and(valid, u32v_le(distance, u32v_set(FARTHEST)));
            if (!mask32_any(within)) {
                break;
            }
            lie = mask32_or(lie, mask32_and(within, lies(word, near_word, distance)));
            const mask32 joined = mask32_and(within, touch(word, near_word, distance));
            if (d > 1) {
                /* Packed even where there is none: a branch would be mispredicted too often. */
                const mask32 again = mask32_and(joined, u32v_ne(parent, node));
                const u32v link = u32v_or(u32v_shl(node, LINK_NODE), u32v_sub(node, parent));
                links += u32v_pack(work->link + links, link, again);
            }
            parent = u32v_select(joined, u32v_sub(node, u32v_set((uint32_t)d)), parent);
        }
        children += u32v_pack(work->child + children, node, mask32_and(valid, u32v_ne(parent, node)));
        u32v_store(work->parent + i, parent);
        last_key = key;
        last_word = word;
    }
    work->links = (uint32_t)links;
    work->false_hint = mask32_any(lie);
    return children;
}

static inline uint32_t add_sums(slc_velo_cluster_work *work, uint32_t child, uint32_t root)
{
    work->n[root] += work->n[child];
    work->sum_column[root] += work->sum_column[child];
    work->sum_row[root] += work->sum_row[child];
    return work->n[root];
}

/* Unites the trees whose nodes the links join; the smaller index stays the root. Returns how many are roots
 * no more; these stand in `link`, and know their new roots. */
static size_t unite_links(slc_velo_cluster_work *work)
{
    size_t merged = 0;
    for (size_t k = 0; k < work->links; k++) {
        const uint32_t node = work->link[k] >> LINK_NODE, back = work->link[k] & ((1U << LINK_NODE) - 1);
        const uint32_t a = find_root(work->parent, node), b = find_root(work->parent, node - back);
        if (a != b) {
            work->link[merged++] = a < b ? b : a;
            work->parent[a < b ? b : a] = a < b ? a : b;
        }
    }
    for (size_t k = 0; k < merged; k++) {
        work->parent[work->link[k]] = find_root(work->parent, work->link[k]);
    }
    return merged;
}

/* Adds the sums of the nodes that are no roots to their roots; returns the pixels of the largest such
 * cluster. A child's parent lies before it, and so knows its root already when the child's turn comes. */
static uint32_t add_children(slc_velo_cluster_work *work, size_t children)
{
    uint32_t *parent = work->parent, largest = 0;
    const size_t merged = unite_links(work);
    for (size_t k = 0; k < children; k++) {
        const uint32_t child = work->child[k], root = parent[parent[child]];
        parent[child] = root;
        const uint32_t n = add_sums(work, child, root);
        largest = n > largest ? n : largest;
    }
    for (size_t k = 0; k < merged; k++) {
        const uint32_t n = add_sums(work, work->link[k], parent[work->link[k]]);
        largest = n > largest ? n : largest;
    }
    return largest;
}

/* Hits before the ends of the sensors that lie in this vector, whose first node is i; returns the next
 * sensor. */
static inline uint32_t end_sensors(slc_velo_cluster_work *work, uint32_t k, size_t i, size_t hits,
                                   uint64_t roots)
{
    for (; k < work->n_sensors && work->node_end[k] <= i + SIMD_LANES; k++) {
        const size_t lanes = work->node_end[k] - i;
        const uint64_t before = lanes < 64 ? (UINT64_C(1) << lanes) - 1 : UINT64_MAX;
        work->hit_end[k] = (uint32_t)(hits + (size_t)__builtin_popcountll(roots & before));
    }
    return k;
}

/* 1 / n with an error below 2^-22: Newton's iteration, three times, from the exponent turned round. A
 * division takes longer, and two are needed for the fractions anyway. */
static inline f32v near_reciprocal(f32v n)
{
    const f32v two = f32v_set(2.0f);
    f32v r = f32v_from_bits(u32v_sub(u32v_set(UINT32_C(0x7ef311c7)), u32v_bits_of_f32(n)));
    r = f32v_mul(r, f32v_sub(two, f32v_mul(n, r)));
    r = f32v_mul(r, f32v_sub(two, f32v_mul(n, r)));
    return f32v_mul(r, f32v_sub(two, f32v_mul(n, r)));
}

/* Floor and remainder of sum / n, for n up to LARGEST_EXACT. A quotient below 1024 by the reciprocal is off
 * by less than 2^-11, which is added, and is then still nearer to its floor than the 1 / n that lies above.
 */
static inline u32v quotient(u32v sum, u32v n, f32v pixels, f32v reciprocal, f32v *fraction)
{
    const f32v near = f32v_add(f32v_mul(f32v_from_u32(sum), reciprocal), f32v_set(0x1p-11f));
    const u32v whole = u32v_from_i32(i32v_truncate(near));
    *fraction = f32v_div(f32v_from_u32(u32v_sub(sum, u32v_mul(whole, n))), pixels);
    return whole;
}

/* The sums of the roots, one behind the other, over those of all nodes; returns how many. */
static size_t pack_roots(slc_velo_cluster_work *work, const slc_velo_hits_out *out)
{
    size_t hits = 0;
    uint32_t k = 0;
    for (size_t i = 0; i < work->nodes; i += SIMD_LANES) {
        const mask32 root = mask32_and(mask32_first(work->nodes - i),
                                       u32v_eq(u32v_load(work->parent + i), u32v_iota((uint32_t)i)));
        k = end_sensors(work, k, i, hits, mask32_bits(root));
        (void)u32v_pack(out->n_pixels + hits, u32v_load(work->n + i), root);
        (void)u32v_pack(work->sum_column + hits, u32v_load(work->sum_column + i), root);
        (void)u32v_pack(out->channel + hits, u32v_load(work->key + SLC_VELO_FRONT + i), root);
        hits += u32v_pack(work->sum_row + hits, u32v_load(work->sum_row + i), root);
    }
    return hits;
}

/* Centroids in the sensors' frames, packed; returns how many. Lanes behind the last hit hold what was there,
 * which harms nobody: no memory is addressed by it. */
static size_t find_centroids(slc_velo_cluster_work *work, const slc_velo_hits_out *out)
{
    const u32v velo = u32v_set(2U << 28);
    const size_t hits = pack_roots(work, out);
    for (size_t h = 0; h < hits; h += SIMD_LANES) {
        const u32v n = u32v_load(out->n_pixels + h),
                   sensor = u32v_shr(u32v_load(out->channel + h), KEY_SENSOR);
        const f32v pixels = f32v_from_u32(n), reciprocal = near_reciprocal(pixels);
        f32v column_fraction, row_fraction;
        const u32v column = quotient(u32v_load(work->sum_column + h), n, pixels, reciprocal,
                                     &column_fraction);
        const u32v row = quotient(u32v_load(work->sum_row + h), n, pixels, reciprocal, &row_fraction);
        const f32v y = f32v_mul(f32v_add(f32v_add(f32v_from_u32(row), f32v_set(0.5f)), row_fraction),
                                f32v_set(SLC_VELO_PITCH_MM));
        const u32v in_sensor = u32v_or(u32v_shl(column, 8), row);
        u32v_store(out->channel + h, u32v_or(u32v_or(velo, u32v_shl(sensor, 18)), in_sensor));
        u32v_store(work->column + h, column);
        f32v_store(work->column_fraction + h, column_fraction);
        f32v_store(work->y + h, y);
    }
    return hits;
}

/* The same where sums are too large for exact floats: one by one, in integers. */
static size_t find_centroids_large(slc_velo_cluster_work *work, const slc_velo_hits_out *out)
{
    size_t hits = 0, i = 0;
    for (uint32_t k = 0; k < work->n_sensors; k++) {
        for (; i < work->node_end[k]; i++) {
            if (work->parent[i] == i) {
                const uint32_t n = work->n[i], column = work->sum_column[i] / n, row = work->sum_row[i] / n;
                const float row_fraction = (float)(work->sum_row[i] % n) / (float)n;
                out->channel[hits] = 2U << 28 | work->sensor[k] << 18 | column << 8 | row;
                out->n_pixels[hits] = n;
                work->column[hits] = column;
                work->column_fraction[hits] = (float)(work->sum_column[i] % n) / (float)n;
                work->y[hits++] = ((float)row + 0.5f + row_fraction) * SLC_VELO_PITCH_MM;
            }
        }
        work->hit_end[k] = (uint32_t)hits;
    }
    return hits;
}

/* A coordinate of the sensor's plane into the detector's frame; as slc_velo_geometry_position() rounds it. */
static inline f32v global_of(const float *g, float shift, f32v x, f32v y)
{
    return f32v_add(f32v_add(f32v_mul(f32v_set(g[0]), x), f32v_mul(f32v_set(g[1]), y)), f32v_set(shift));
}

/* Hits of a sensor, from `i` up to `end`, from its frame to the detector's. Whole vectors are written, and
 * their ends again by the next sensor. */
static inline void globalise(const slc_velo_geometry *geometry, const slc_velo_cluster_work *work,
                             uint32_t sensor, size_t i, size_t end, const slc_velo_hits_out *out)
{
    const float *g = geometry->to_global[sensor];
    for (size_t h = i; h < end; h += SIMD_LANES) {
        const u32v low = u32v_load_any(work->place + h);
        const u32v high = u32v_load_any((const uint8_t *)(work->place + h) + 4 * SIMD_LANES);
        const f32v centre = f32v_from_bits(u32v_even(low, high));
        const f32v pitch = f32v_from_bits(u32v_odd(low, high));
        const f32v x = f32v_add(centre, f32v_mul(f32v_load(work->column_fraction + h), pitch));
        const f32v y = f32v_load(work->y + h);
        f32v_store(out->x_mm + h, global_of(g, g[9], x, y));
        f32v_store(out->y_mm + h, global_of(g + 3, g[10], x, y));
        f32v_store(out->z_mm + h, global_of(g + 6, g[11], x, y));
    }
    const u8v module = u8v_set((uint8_t)(sensor / 4));
    for (size_t h = i; h < end; h += SIMD_LANES8) {
        u8v_store(out->module + h, module);
    }
}

/* One by one: a vector's look-up is no faster, and would be two. */
static inline void find_places(slc_velo_cluster_work *work, size_t hits)
{
    for (size_t h = 0; h < hits; h++) {
        work->place[h] = work->places[work->column[h]];
    }
}

static size_t locate(const slc_velo_geometry *geometry, slc_velo_cluster_work *work,
                     const slc_velo_hits_out *out)
{
    const uint32_t largest = add_children(work, link_nodes(work));
    const size_t hits = largest > LARGEST_EXACT ? find_centroids_large(work, out) : find_centroids(work, out);
    find_places(work, hits);
    for (uint32_t k = 0, i = 0; k < work->n_sensors; i = work->hit_end[k++]) {
        globalise(geometry, work, work->sensor[k], i, work->hit_end[k], out);
    }
    return hits;
}

/* A read-out's words, as `sort` does, by all their bits; of two equal ones the first comes first. 0 if one
 * lies outside the sensor. */
static inline size_t sort_centroids(const slc_velo_sensor_in *in, unsigned column_at,
                                    slc_velo_cluster_work *work)
{
    size_t n;
    const uint32_t *words = pick_words(in, work->picked, &n);
    const u32v used = u32v_set((UINT32_C(1) << (column_at + SLC_VELO_RETINA_COLUMN)) - 1);
    const u32v outside = u32v_set((uint32_t)SLC_VELO_COLUMNS << column_at);
    mask32 bad = mask32_none();
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 valid = mask32_first(n - i);
        const u32v word = u32v_and(u32v_load_masked(words + i, valid), used);
        bad = mask32_or(bad, mask32_and(valid, u32v_ge(word, outside)));
        u32v_store(work->n + i, u32v_or(u32v_shl(word, 8), u32v_iota((uint32_t)i)));
    }
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v ours = u32v_load(work->n + i);
        u32v rank = u32v_set(UINT32_MAX);
        for (size_t k = 0; k < n; k++) {
            const mask32 larger = u32v_ge(ours, u32v_set(work->n[k]));
            rank = u32v_add(rank, u32v_select(larger, u32v_set(1), u32v_set(0)));
        }
        u32v_scatter_masked(work->sorted, rank, u32v_shr(ours, 8), mask32_first(n - i));
    }
    return mask32_any(bad) ? 0 : n;
}

/* With fractions of so many bits. */
static inline size_t take_centroids(const slc_velo_sensor_in *in, unsigned bits, slc_velo_cluster_work *work,
                                    const slc_velo_hits_out *out)
{
    const unsigned column_at = 2 * bits + SLC_VELO_RETINA_ROW;
    const size_t n = sort_centroids(in, column_at, work);
    const u32v parts = u32v_set((1U << bits) - 1), zero = u32v_set(0);
    const u32v above = u32v_set(2U << 28 | in->sensor << 18);
    const f32v part = f32v_set(1.0f / (float)(1U << bits));
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v word = u32v_load(work->sorted + i), column = u32v_shr(word, column_at);
        const u32v row_parts = u32v_and(word, parts), row = u32v_and(u32v_shr(word, bits), u32v_set(0xff));
        const u32v column_parts = u32v_and(u32v_shr(word, column_at - bits), parts);
        const u32v off_column = u32v_select(u32v_ne(column_parts, zero), u32v_set(1U << 27), zero);
        const u32v off_row = u32v_select(u32v_ne(row_parts, zero), u32v_set(1U << 26), zero);
        const f32v y = f32v_add(f32v_add(f32v_from_u32(row), f32v_set(0.5f)),
                                f32v_mul(f32v_from_u32(row_parts), part));
        u32v_store(out->channel + i,
                   u32v_or(u32v_or(above, u32v_or(u32v_shl(column, 8), row)), u32v_or(off_column, off_row)));
        u32v_store(out->n_pixels + i, zero);
        u32v_store(work->column + i, column);
        f32v_store(work->column_fraction + i, f32v_mul(f32v_from_u32(column_parts), part));
        f32v_store(work->y + i, f32v_mul(y, f32v_set(SLC_VELO_PITCH_MM)));
    }
    return n;
}

static size_t centroids(const slc_velo_geometry *geometry, const slc_velo_sensor_in *in, unsigned bits,
                        slc_velo_cluster_work *work, const slc_velo_hits_out *out)
{
    const size_t n = bits == 3 ? take_centroids(in, 3, work, out) : take_centroids(in, 2, work, out);
    find_places(work, n);
    globalise(geometry, work, in->sensor, 0, n, out);
    return n;
}

const slc_velo_cluster_kernels SIMD_TABLE(slc_velo_cluster) = {
    .target = SIMD_TARGET_NAME, .place = place, .sort = sort, .locate = locate, .centroids = centroids};
