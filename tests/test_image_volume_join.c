/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs of slices that are labelled apart, and joined: labels, components and what is left out are those of
 * one labelling of the whole, bit for bit. All slabs are in one process, what they send to each other is in
 * arrays.
 */
#include "base/columns.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_label.h>
#include <sluice/image_volume.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLABS = 5, SIDE = 11, ROOM = 80 * SIDE * SIDE };

typedef struct run {
    slc_volume_config config, plain; /* of the whole; of a slab by itself */
    size_t width, height, depth;
    uint8_t voxels[ROOM], grey[ROOM];
    float real[ROOM]; /* in place of `grey`, with `floats` */
    bool floats;
    uint32_t labels[ROOM], wanted[ROOM];
    uint64_t first_slice[SLABS + 1], n_joins[SLABS];
    uint32_t n_found[SLABS], *map[SLABS], *numbers;
    slc_image_join *joins;
    slc_image_piece *pieces;
    uint64_t n_pieces;
    slc_volume_components found[SLABS], joined, whole;
    uint32_t filtered, filtered_wanted;
} run;
static run r;

static slc_column columns_of_all[SLC_VOLUME_COLUMNS], columns_of_some[SLC_VOLUME_COLUMNS];
static slc_schema all, some;

static void *take(uint64_t n, size_t size)
{
    void *memory = calloc((size_t)n + 1, size);
    assert_non_null(memory);
    return memory;
}

static slc_volume_components collection(const slc_schema *schema, uint64_t rows)
{
    slc_volume_components made = {.head = {.size = 0}};
    assert_int_equal(slc_columns_reserve(schema, &made, (size_t)rows + 1, 1), SLC_OK);
    return made;
}

static slc_volume grey_from(size_t first, size_t depth)
{
    const size_t plane = r.width * r.height, size = r.floats ? sizeof *r.real : 1;
    return (slc_volume){r.floats ? (const void *)(r.real + first * plane) : r.grey + first * plane,
                        r.width,
                        r.height,
                        depth,
                        (ptrdiff_t)(r.width * size),
                        (ptrdiff_t)(plane * size),
                        r.floats ? SLC_IMAGE_F32 : SLC_IMAGE_U8};
}

static uint32_t label(const slc_volume_config *config, size_t first, size_t depth, uint32_t *labels,
                      slc_volume_components *components, uint32_t *filtered)
{
    slc_volume_labeller *labeller = NULL;
    slc_error error = {.text = ""};
    const size_t plane = r.width * r.height;
    const ptrdiff_t row = (ptrdiff_t)(r.width * sizeof *labels);
    const slc_volume volume = {r.voxels + first * plane, r.width,          r.height,    depth,
                               (ptrdiff_t)r.width,       (ptrdiff_t)plane, SLC_IMAGE_U8};
    slc_volume_labels out = {labels + first * plane, row, row * (ptrdiff_t)r.height, components, 0};
    assert_int_equal(slc_volume_open(config, &labeller, &error), SLC_OK);
    const slc_volume grey = grey_from(first, depth);
    assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
    *filtered = slc_volume_filtered(labeller);
    slc_volume_close(labeller);
    return out.n_labels;
}

static void choose(uint64_t *seed)
{
    static const uint32_t connectivities[] = {6, 18, 26};
    static const char *const filters[] = {NULL, "volume>=3", "z_max<4 && volume<40", "grey_max>=90"};
    const uint32_t percent = random_below(seed, 70);
    slc_volume_config_default(&r.config);
    r.config.connectivity = connectivities[random_below(seed, 3)];
    r.config.inverse = random_below(seed, 4) == 0;
    r.config.equal = !r.config.inverse && random_below(seed, 3) == 0;
    r.config.periodic = random_below(seed, 2) * random_below(seed, SLC_VOLUME_PERIODIC_ALL + 1);
    r.config.features = random_below(seed, 2) == 0 ? SLC_VOLUME_ALL : SLC_VOLUME_MEASURES & ~SLC_VOLUME_LABEL;
    r.config.filter = filters[random_below(seed, 4)];
    r.config.largest = random_below(seed, 3) == 0 ? 1 + random_below(seed, 6) : 0;
    r.config.border = (slc_image_border)random_below(seed, 3);
    r.plain = r.config;
    r.plain.filter = NULL;
    r.plain.border = SLC_IMAGE_BORDER_ANY;
    r.plain.features = SLC_VOLUME_ALL;
    r.plain.largest = 0;
    r.plain.periodic &= ~(uint32_t)SLC_VOLUME_PERIODIC_Z;
    r.width = 1 + random_below(seed, random_below(seed, 5) == 0 ? 79 : SIDE);
    r.height = 1 + random_below(seed, SIDE);
    r.depth = 1 + random_below(seed, SIDE);
    for (size_t i = 0; i < r.width * r.height * r.depth; i++) {
        r.voxels[i] = random_below(seed, 100) < percent ? (uint8_t)(1 + random_below(seed, 2)) : 0;
        r.grey[i] = (uint8_t)random_below(seed, 100);
        r.real[i] = ldexpf((float)random_below(seed, 1U << 20) - 0x1p18F, (int)random_below(seed, 60) - 30);
        if (random_below(seed, 400) == 0) {
            r.real[i] = random_below(seed, 2) == 0 ? NAN : -INFINITY;
        }
    }
    r.floats = random_below(seed, 2) == 0;
    for (uint32_t s = 1; s < SLABS; s++) { /* of one slice and more, the last ones perhaps of none */
        const uint64_t next = r.first_slice[s - 1] + 1 + random_below(seed, 4);
        r.first_slice[s] = next < r.depth ? next : r.depth;
    }
    r.first_slice[SLABS] = r.depth;
}

static void join(void)
{
    slc_error error = {.text = ""};
    const size_t plane = r.width * r.height;
    const uint32_t near = !r.config.inverse ? r.config.connectivity : r.config.connectivity == 6 ? 26 : 6;
    const bool round = (r.config.periodic & SLC_VOLUME_PERIODIC_Z) != 0;
    uint64_t n = 0;
    uint32_t n_slabs = 0; /* with slices */
    r.joins = take(0, sizeof *r.joins);
    for (uint32_t s = 0; s < SLABS; s++) {
        const size_t first = (size_t)r.first_slice[s], depth = (size_t)r.first_slice[s + 1] - first;
        uint32_t none = 0;
        r.found[s] = collection(&all, plane * depth);
        r.n_found[s] = depth > 0 ? label(&r.plain, first, depth, r.labels, &r.found[s], &none) : 0;
        n_slabs += depth > 0;
        assert_int_equal(none, 0);
    }
    for (uint32_t s = 0; s < SLABS; s++) {
        const size_t first = (size_t)r.first_slice[s], above = s > 0 ? first - 1 : r.depth - 1;
        r.n_joins[s] = 0;
        if (s < n_slabs && (s > 0 || round)) {
            slc_image_join *own = NULL;
            const slc_volume_join_border border = {
                .above = r.labels + above * plane,
                .below = r.labels + first * plane,
                .width = r.width,
                .height = r.height,
                .connectivity = near,
                .periodic = r.config.periodic,
                .values_above = r.config.equal ? r.voxels + above * plane : NULL,
                .values_below = r.config.equal ? r.voxels + first * plane : NULL,
                .type = SLC_IMAGE_U8};
            assert_int_equal(slc_volume_join_slices(&border, &own, &r.n_joins[s], &error), SLC_OK);
            r.joins = realloc(r.joins, (size_t)(n + r.n_joins[s] + 1) * sizeof *r.joins);
            assert_non_null(r.joins);
            if (r.n_joins[s] > 0) {
                memcpy(r.joins + n, own, (size_t)r.n_joins[s] * sizeof *own);
            }
            n += r.n_joins[s];
            free(own);
        }
    }
    r.pieces = take(2 * n, sizeof *r.pieces);
    assert_int_equal(slc_image_join_pieces(r.n_joins, n_slabs, r.joins, r.pieces, &r.n_pieces, &error),
                     SLC_OK);
}

static slc_volume labels_from(size_t first, size_t depth)
{
    const ptrdiff_t width = 4 * (ptrdiff_t)r.width, slice = width * (ptrdiff_t)r.height;
    return (slc_volume){
        r.labels + first * r.width * r.height, r.width, r.height, depth, width, slice, SLC_IMAGE_U32};
}

/* Floats go from slab to slab, and once more for their spread. */
static void carry_greys(slc_volume_grey_part *sums)
{
    slc_error error = {.text = ""};
    for (uint32_t i = 0; i < 2 * SLABS; i++) {
        const uint32_t s = i % SLABS;
        const size_t first = (size_t)r.first_slice[s], depth = (size_t)r.first_slice[s + 1] - first;
        const slc_volume_join_slab slab = {.n_slabs = SLABS,
                                           .slab = s,
                                           .first_slice = r.first_slice,
                                           .n_found = r.n_found[s],
                                           .pieces = r.pieces,
                                           .n_pieces = r.n_pieces};
        const slc_volume labels = labels_from(first, depth), grey = grey_from(first, depth);
        if (depth > 0) {
            assert_int_equal(slc_volume_grey_carry(&slab, &labels, &grey, i >= SLABS, sums, &error), SLC_OK);
        }
    }
}

/* Grey values of a slab's components, and a row for each piece. */
static slc_volume_grey_part *greys_of(uint32_t s)
{
    slc_error error = {.text = ""};
    const size_t first = (size_t)r.first_slice[s], depth = (size_t)r.first_slice[s + 1] - first;
    const slc_volume labels = labels_from(first, depth), grey = grey_from(first, depth);
    slc_volume_grey_part *parts = take(r.n_found[s], sizeof *parts);
    if (depth > 0) {
        assert_int_equal(slc_volume_grey_parts(&labels, r.n_found[s], &grey, first, parts, &error), SLC_OK);
    }
    return parts;
}

typedef struct numbered {
    slc_volume_join_slab slab;
    uint32_t *numbers, n_labels;
    slc_volume_components kept;
} numbered;
static numbered each[SLABS];

static void keep(uint32_t s, const uint8_t *keeps)
{
    slc_error error = {.text = ""};
    const uint32_t before = each[s].n_labels;
    assert_int_equal(slc_volume_join_sift(&each[s].slab, keeps, r.map[s], each[s].numbers, &each[s].n_labels,
                                          r.config.features, &each[s].kept, &error),
                     SLC_OK);
    r.filtered += before - each[s].n_labels;
}

/* Of each slab by itself, then of what is left of all. */
static void keep_largest(void)
{
    slc_error error = {.text = ""};
    size_t n = 0;
    for (uint32_t s = 0; s < SLABS; s++) {
        uint8_t *keeps = take(each[s].n_labels, 1);
        assert_int_equal(
            slc_volume_join_largest(each[s].kept.volume, each[s].n_labels, r.config.largest, keeps, &error),
            SLC_OK);
        keep(s, keeps);
        free(keeps);
        n += each[s].n_labels;
    }
    uint64_t *volumes = take(n, sizeof *volumes);
    uint8_t *keeps = take(n, 1);
    size_t at = 0;
    for (uint32_t s = 0; s < SLABS; at += each[s++].n_labels) {
        memcpy(volumes + at, each[s].kept.volume, each[s].n_labels * sizeof *volumes);
    }
    assert_int_equal(slc_volume_join_largest(volumes, n, r.config.largest, keeps, &error), SLC_OK);
    at = 0;
    for (uint32_t s = 0; s < SLABS; s++) {
        const size_t own = each[s].n_labels;
        keep(s, keeps + at);
        at += own;
    }
    free(volumes);
    free(keeps);
}

/* From the slabs' own numbers to those of the whole. */
static void add_before(void)
{
    uint32_t before = 0;
    for (uint32_t s = 0; s < SLABS; s++) {
        for (uint64_t i = 0; i < r.n_pieces; i++) {
            r.numbers[i] += each[s].numbers[i] != 0 ? each[s].numbers[i] + before : 0;
        }
        for (uint32_t l = 1; l <= r.n_found[s]; l++) {
            r.map[s][l] += r.map[s][l] != 0 ? before : 0;
        }
        before += each[s].n_labels;
        assert_int_equal(each[s].kept.head.size, each[s].n_labels);
        assert_int_equal(slc_columns_append(&some, &each[s].kept, 0, each[s].n_labels, &r.joined), SLC_OK);
        slc_columns_clear(&some, &each[s].kept);
        free(each[s].numbers);
    }
    for (uint64_t i = 0; i < r.n_pieces; i++) {
        r.map[r.pieces[i].strip][r.pieces[i].label] = r.numbers[r.pieces[i].root];
    }
}

static void number(void)
{
    slc_error error = {.text = ""};
    uint32_t needed = 0;
    slc_volume_grey_part *greys[SLABS], *of_pieces = take(r.n_pieces, sizeof *of_pieces);
    r.numbers = take(r.n_pieces, sizeof *r.numbers);
    r.joined = collection(&some, r.width * r.height * r.depth);
    r.filtered = 0;
    slc_volume_components rows = collection(&all, r.n_pieces);
    assert_int_equal(slc_volume_config_needs(&r.config, &needed, &error), SLC_OK);
    const bool grey = (needed & ~(uint32_t)SLC_VOLUME_ALL) != 0;
    for (uint32_t s = 0; s < SLABS; s++) {
        greys[s] = greys_of(s);
    }
    for (uint64_t i = 0; i < r.n_pieces; i++) {
        const slc_image_piece *p = &r.pieces[i];
        assert_int_equal(slc_columns_append(&all, &r.found[p->strip], p->label - 1, 1, &rows), SLC_OK);
        of_pieces[i] = greys[p->strip][p->label - 1];
    }
    if (r.floats) {
        carry_greys(of_pieces);
    }
    for (uint32_t s = 0; s < SLABS; s++) {
        slc_volume_components mine = collection(&all, r.n_pieces);
        uint32_t filtered = 0;
        assert_int_equal(slc_columns_append(&all, &rows, 0, (size_t)r.n_pieces, &mine), SLC_OK);
        each[s] = (numbered){.slab = {r.width, r.height, r.depth, SLABS, s, r.first_slice, r.n_found[s],
                                      r.pieces, r.n_pieces, &r.found[s], &mine, grey ? greys[s] : NULL,
                                      grey ? of_pieces : NULL, r.floats},
                             .numbers = take(r.n_pieces, sizeof(uint32_t)),
                             .kept = collection(&some, 1)};
        r.map[s] = take(r.n_found[s], sizeof *r.map[s]);
        assert_int_equal(slc_volume_join_number(&r.config, &each[s].slab, r.map[s], each[s].numbers,
                                                &each[s].n_labels, &each[s].kept, &filtered, &error),
                         SLC_OK);
        r.filtered += filtered;
        slc_columns_clear(&all, &mine);
        each[s].slab.of_pieces = NULL;
    }
    if (r.config.largest > 0) {
        keep_largest();
    }
    add_before();
    for (uint32_t s = 0; s < SLABS; s++) {
        free(greys[s]);
    }
    slc_columns_end_event(&r.joined);
    slc_columns_clear(&all, &rows);
    free(of_pieces);
}

/* The label of a voxel as it is in the whole. */
static uint32_t joined_at(size_t at)
{
    uint32_t s = 0;
    while (at >= (size_t)r.first_slice[s + 1] * r.width * r.height) {
        s++;
    }
    return r.labels[at] != 0 ? r.map[s][r.labels[at]] : 0;
}

static void clear(void)
{
    for (uint32_t s = 0; s < SLABS; s++) {
        slc_columns_clear(&all, &r.found[s]);
        free(r.map[s]);
    }
    slc_columns_clear(&some, &r.joined);
    free(r.numbers);
    free(r.joins);
    free(r.pieces);
}

static void test_slabs(void **state)
{
    (void)state;
    uint64_t seed = 71, joined = 0;
    for (int i = 0; i < 600; i++) {
        choose(&seed);
        some = slc_volume_components_schema(r.config.features, columns_of_some);
        r.whole = collection(&some, 1);
        (void)label(&r.config, 0, r.depth, r.wanted, &r.whole, &r.filtered_wanted);
        join();
        number();
        for (size_t at = 0; at < r.width * r.height * r.depth; at++) {
            if (joined_at(at) != r.wanted[at]) {
                fail_msg("volume %d, %zux%zux%zu, connectivity %u: voxel %zu has label %u, not %u", i,
                         r.width, r.height, r.depth, r.config.connectivity, at, joined_at(at), r.wanted[at]);
            }
        }
        assert_int_equal(r.joined.head.size, r.whole.head.size);
        assert_true(slc_columns_checksum(&some, &r.joined, 0, 0) ==
                    slc_columns_checksum(&some, &r.whole, 0, 0));
        assert_int_equal(r.filtered, r.filtered_wanted);
        joined += r.n_pieces;
        slc_columns_clear(&some, &r.whole);
        clear();
    }
    assert_true(joined > 1000);
}

/* A labelling of slabs, and what it keeps. */
static void sift(const slc_volume_config *config)
{
    r.config = r.plain = *config;
    r.plain.max_volume = UINT64_MAX;
    r.plain.border = SLC_IMAGE_BORDER_ANY;
    r.plain.filter = NULL;
    r.plain.features = SLC_VOLUME_ALL;
    r.plain.periodic &= ~(uint32_t)SLC_VOLUME_PERIODIC_Z;
    some = slc_volume_components_schema(r.config.features, columns_of_some);
    join();
    number();
}

/* Hysteresis and holes of the whole, as components of slabs that are joined and kept: with a seed as a grey
 * value, and closed ones of the background. */
static void test_masks(void **state)
{
    (void)state;
    static unsigned char bits[ROOM];
    uint64_t seed = 72, cleared = 0, filled = 0;
    for (int i = 0; i < 400; i++) {
        slc_volume_config config;
        slc_image_mask_config rule;
        slc_error error;
        choose(&seed);
        r.floats = false;
        const size_t n = r.width * r.height * r.depth, row = slc_image_row_bytes(SLC_IMAGE_BITS, r.width);
        slc_volume_config_default(&config);
        config.connectivity = r.config.connectivity;
        config.periodic = r.config.periodic;
        slc_image_mask_config_default(&rule);
        rule.low = random_below(&seed, 100);
        rule.high = rule.low > 90 ? 99 : 90;
        rule.rule = random_below(&seed, 3) > 0 ? SLC_IMAGE_RULE_HYSTERESIS : SLC_IMAGE_RULE_LEAST;
        rule.max_hole_area = random_below(&seed, 3) > 0 ? 1 + random_below(&seed, 20) : UINT64_MAX;
        const bool sown = rule.rule == SLC_IMAGE_RULE_HYSTERESIS;
        const slc_volume volume = {
            r.grey,      r.width, r.height, r.depth, (ptrdiff_t)r.width, (ptrdiff_t)(r.width * r.height),
            SLC_IMAGE_U8};
        assert_int_equal(slc_volume_mask_make(&config, &rule, &volume, NULL, bits, (ptrdiff_t)row,
                                              (ptrdiff_t)(row * r.height), &error),
                         SLC_OK);
        for (size_t at = 0; at < n; at++) {
            r.voxels[at] = r.grey[at] >= rule.low;
            r.grey[at] = r.grey[at] >= rule.high;
        }
        if (sown) {
            config.filter = "grey_max>=1";
            sift(&config);
            for (size_t at = 0; at < n; at++) {
                cleared += r.voxels[at] != 0 && joined_at(at) == 0;
                r.voxels[at] = joined_at(at) != 0;
            }
            clear();
            config.filter = NULL;
        }
        config.inverse = true;
        config.max_volume = rule.max_hole_area;
        config.border = SLC_IMAGE_BORDER_INSIDE;
        sift(&config);
        for (size_t at = 0; at < n; at++) {
            const unsigned wanted = bits[at / r.width * row + at % r.width / 8] >> at % r.width % 8 & 1U;
            const bool hole = joined_at(at) != 0;
            filled += hole;
            if ((r.voxels[at] != 0 || hole) != (wanted != 0)) {
                fail_msg("volume %d, %zux%zux%zu, connectivity %u: voxel %zu is not %u", i, r.width, r.height,
                         r.depth, config.connectivity, at, wanted);
            }
        }
        clear();
    }
    assert_true(cleared > 1000);
    assert_true(filled > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slabs), cmocka_unit_test(test_masks)};
    all = slc_volume_components_schema(SLC_VOLUME_ALL, columns_of_all);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
