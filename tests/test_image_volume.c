/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels and features of volumes against flood fill, a union voxel by voxel, and sums over single voxels:
 * random volumes of every type, layout, connectivity, instruction set and number of threads.
 */
#include "oracle/volume_oracle.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_volume.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 12, ROOM = 700 * SIDE * SIDE };

static const uint32_t connectivities[] = {6, 18, 26};

typedef struct fixture {
    uint64_t values[ROOM]; /* 0 or 1, what the oracles see */
    uint32_t wanted[ROOM];
    size_t width, height, depth;
} fixture;
static fixture f;

static size_t voxels(void)
{
    return f.width * f.height * f.depth;
}

/* Cubes of `grain` voxels, each set with so many in a hundred. */
static void fill(uint64_t *seed, size_t grain, uint32_t percent)
{
    const uint64_t own = random_u64(seed);
    for (size_t i = 0; i < voxels(); i++) {
        const size_t x = i % f.width / grain, y = i / f.width % f.height / grain,
                     z = i / f.width / f.height / grain;
        uint64_t cube = own + x + 1000 * (y + 1000 * z);
        f.values[i] = random_below(&cube, 100) < percent ? 1 : 0;
    }
}

static void choose(uint64_t *seed)
{
    f.width = 1 + random_below(seed, SIDE);
    f.height = 1 + random_below(seed, SIDE);
    f.depth = 1 + random_below(seed, SIDE);
    if (random_below(seed, 8) == 0) { /* several words, and more than are taken at a time */
        f.width = 60 + random_below(seed, random_below(seed, 2) == 0 ? 80 : 640);
    }
    fill(seed, 1 + random_below(seed, 3), random_below(seed, 101));
}

static slc_volume_labeller *open_one(uint32_t connectivity, slc_simd_target target, uint32_t threads,
                                     uint32_t features)
{
    slc_volume_config config;
    slc_volume_labeller *labeller = NULL;
    slc_error error;
    slc_volume_config_default(&config);
    config.connectivity = connectivity;
    config.threshold = 7;
    config.exec.target = target;
    config.exec.threads = threads;
    config.features = features;
    assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
    return labeller;
}

/* ---- the volume in memory, in every type and layout ------------------------------------------------ */

/* A copy of the values as voxels of a type, rows and slices further apart than they are long; turned: the
 * last row and slice first. The memory is to be freed, of `from` too. */
static void *lay(slc_image_type type, size_t gap, bool turned, slc_volume *volume)
{
    static const size_t size[SLC_IMAGE_TYPES] = {1, 2, 4, 4, 1};
    const size_t row = (slc_image_row_bytes(type, f.width) / size[type] + gap) * size[type];
    const size_t slice = row * f.height + gap * size[type];
    char *memory = malloc(slice * f.depth);
    assert_non_null(memory);
    memset(memory, 0xff, slice * f.depth);
    char *first = memory + (turned ? (f.depth - 1) * slice + (f.height - 1) * row : 0);
    *volume = (slc_volume){.voxels = first,
                           .width = f.width,
                           .height = f.height,
                           .depth = f.depth,
                           .stride = turned ? -(ptrdiff_t)row : (ptrdiff_t)row,
                           .slice_stride = turned ? -(ptrdiff_t)slice : (ptrdiff_t)slice,
                           .type = type};
    for (size_t i = 0; i < voxels(); i++) {
        const size_t x = i % f.width, y = i / f.width % f.height, z = i / f.width / f.height;
        char *at = first + (ptrdiff_t)z * volume->slice_stride + (ptrdiff_t)y * volume->stride;
        const uint32_t value = f.values[i] != 0 ? 7 + (uint32_t)i % 200 : (uint32_t)i % 7;
        const uint16_t half = (uint16_t)value;
        const float real = (float)value - (f.values[i] != 0 ? 0 : 0.5F);
        if (type == SLC_IMAGE_BITS) {
            at[x / 8] = (char)((at[x / 8] & ~(1 << x % 8)) | (int)f.values[i] << x % 8);
        } else if (type == SLC_IMAGE_U8) {
            at[x] = (char)value;
        } else {
            memcpy(at + x * size[type],
                   type == SLC_IMAGE_U16   ? (const void *)&half
                   : type == SLC_IMAGE_U32 ? (const void *)&value
                                           : (const void *)&real,
                   size[type]);
        }
    }
    return memory;
}

static void expect_labels(const uint32_t *memory, size_t elements, const slc_volume_labels *out, uint32_t n,
                          const char *what)
{
    size_t beside = 0;
    for (size_t i = 0; i < elements; i++) {
        beside += memory[i] == 0xa5a5a5a5U ? 1 : 0;
    }
    assert_int_equal(beside, elements - voxels()); /* nothing else was written */
    for (size_t i = 0; i < voxels(); i++) {
        const size_t x = i % f.width, y = i / f.width % f.height, z = i / f.width / f.height;
        const uint32_t *at = (const uint32_t *)(const void *)((char *)out->labels +
                                                              (ptrdiff_t)z * out->slice_stride +
                                                              (ptrdiff_t)y * out->stride);
        if (at[x] != f.wanted[i] || out->n_labels != n) {
            fail_msg("%s: %zu x %zu x %zu: label %u at (%zu, %zu, %zu), not %u; %u components, not %u", what,
                     f.width, f.height, f.depth, at[x], x, y, z, f.wanted[i], out->n_labels, n);
        }
    }
}

/* The labels in one go, and then without any, which are made a few slices at a time. */
static void expect(slc_volume_labeller *labeller, const slc_volume *volume, uint32_t n, size_t gap,
                   bool turned, const char *what)
{
    const size_t row = f.width + gap, slice = row * f.height + gap, elements = slice * f.depth;
    uint32_t *memory = malloc(elements * sizeof *memory);
    slc_error error;
    assert_non_null(memory);
    memset(memory, 0xa5, elements * sizeof *memory);
    const ptrdiff_t stride = (ptrdiff_t)(row * sizeof *memory), far = (ptrdiff_t)(slice * sizeof *memory);
    slc_volume_labels out = {
        .labels = memory + (turned ? (f.depth - 1) * slice + (f.height - 1) * row : 0),
        .stride = turned ? -stride : stride,
        .slice_stride = turned ? -far : far,
    };
    assert_int_equal(slc_volume_run(labeller, volume, &out, &error), SLC_OK);
    expect_labels(memory, elements, &out, n, what);
    slc_volume_labels some = out;
    some.labels = NULL;
    some.n_labels = 0;
    memset(memory, 0xa5, elements * sizeof *memory);
    assert_int_equal(slc_volume_run(labeller, volume, &some, &error), SLC_OK);
    assert_int_equal(some.n_labels, n);
    for (size_t first = 0, at_once = 1 + f.width % 3; first < f.depth; first += at_once) {
        const size_t left = f.depth - first;
        some.labels = (uint32_t *)(void *)((char *)out.labels + (ptrdiff_t)first * out.slice_stride);
        assert_int_equal(slc_volume_slices(labeller, first, left < at_once ? left : at_once, &some, &error),
                         SLC_OK);
    }
    expect_labels(memory, elements, &out, n, what);
    free(memory);
}

/* ---- tests ----------------------------------------------------------------------------------------- */

static void oracles_agree(void **state)
{
    (void)state;
    static uint32_t other[ROOM];
    uint64_t seed = 1;
    for (int i = 0; i < 300; i++) {
        choose(&seed);
        for (size_t c = 0; c < 3; c++) {
            const uint32_t n = volume_oracle_flood(f.values, f.width, f.height, f.depth, connectivities[c],
                                                   f.wanted);
            assert_int_equal(
                volume_oracle_unite(f.values, f.width, f.height, f.depth, connectivities[c], other), n);
            assert_memory_equal(f.wanted, other, voxels() * sizeof *other);
        }
    }
}

/* Volumes for every instruction set that runs here; threads, types and layouts take turns. */
static void labels_are_right(void **state)
{
    (void)state;
    const int n = getenv("SLUICE_TEST_SMALL") != NULL ? 200 : 700;
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            continue;
        }
        slc_volume_labeller *labellers[3][3];
        for (size_t c = 0; c < 3; c++) {
            for (uint32_t threads = 1; threads <= 3; threads++) {
                labellers[c][threads - 1] = open_one(connectivities[c], (slc_simd_target)t, threads, 0);
            }
        }
        uint64_t seed = 2;
        for (int i = 0; i < n; i++) {
            slc_volume volume;
            choose(&seed);
            const size_t gap = random_below(&seed, 3);
            const bool turned = random_below(&seed, 3) == 0;
            void *memory = lay((slc_image_type)(i % SLC_IMAGE_TYPES), gap, turned, &volume);
            for (size_t c = 0; c < 3; c++) {
                const uint32_t found = volume_oracle_unite(f.values, f.width, f.height, f.depth,
                                                           connectivities[c], f.wanted);
                const uint32_t threads = random_below(&seed, 3);
                expect(labellers[c][threads], &volume, found, gap, turned, slc_simd_name((slc_simd_target)t));
            }
            free(memory);
        }
        for (size_t i = 0; i < 9; i++) {
            slc_volume_close(labellers[i / 3][i % 3]);
        }
    }
}

/* Slanted cells, so that voxels of one value meet side by side, corner to corner and over borders of words.
 */
static uint32_t cell_of(size_t k, size_t grain, uint32_t n_values)
{
    const size_t x = k % f.width, y = k / f.width % f.height, z = k / f.width / f.height;
    uint64_t cell = (x + y) / grain + 1000 * ((y + z) / grain + 1000 * ((x + 2 * z) / grain));
    return random_below(&cell, n_values);
}

/* Label images of few values, which may be large, in every type and layout. */
static void equal_values_are_right(void **state)
{
    (void)state;
    static uint64_t values[ROOM];
    const int n_volumes = getenv("SLUICE_TEST_SMALL") != NULL ? 240 : 2500;
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        uint64_t seed = 5;
        for (int i = 0; slc_simd_runs((slc_simd_target)t) && i < n_volumes; i++) {
            const uint32_t connectivity = connectivities[i % 3], n_values = 1 + random_below(&seed, 4);
            static const slc_image_type types[] = {SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_U64};
            const slc_image_type type = types[i / 3 % 4];
            const size_t size = slc_image_row_bytes(type, 1), gap = random_below(&seed, 3);
            slc_volume_config config;
            slc_volume_labeller *labeller = NULL;
            slc_error error;
            slc_volume_config_default(&config);
            config.connectivity = connectivity;
            config.equal = true;
            config.exec.target = (slc_simd_target)t;
            config.exec.threads = 1 + (uint32_t)i % 2;
            assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
            choose(&seed);
            const size_t row = f.width + gap, slice = row * f.height + gap, grain = random_below(&seed, 6);
            uint8_t *memory = malloc(slice * f.depth * size);
            assert_non_null(memory);
            memset(memory, 1, slice * f.depth * size);
            for (size_t k = 0; k < voxels(); k++) { /* values that differ in their last byte, or the first */
                const uint64_t last = size == 1 ? 1 : (uint64_t)1 << (8 * size - (i % 2 == 0 ? 2 : 8));
                const uint32_t which = grain > 0          ? cell_of(k, grain, n_values + 1)
                                       : f.values[k] != 0 ? 1 + random_below(&seed, n_values)
                                                          : 0;
                const uint64_t value = which == 0 ? 0 : which == 1 ? 1 : 1 + (which - 1) * last;
                const size_t at =
                    (k / f.width / f.height * slice + k / f.width % f.height * row + k % f.width) * size;
                const uint8_t one = (uint8_t)value;
                const uint16_t two = (uint16_t)value;
                const uint32_t four = (uint32_t)value;
                values[k] = value;
                memcpy(memory + at,
                       size == 1   ? (const void *)&one
                       : size == 2 ? (const void *)&two
                       : size == 4 ? (const void *)&four
                                   : (const void *)&value,
                       size);
            }
            const slc_volume volume = {
                memory, f.width, f.height, f.depth, (ptrdiff_t)(row * size), (ptrdiff_t)(slice * size), type};
            const uint32_t n = volume_oracle_flood(values, f.width, f.height, f.depth, connectivity,
                                                   f.wanted);
            expect(labeller, &volume, n, gap, i % 2 == 0, "equal");
            slc_volume_close(labeller);
            free(memory);
        }
    }
}

static void equal_values_are_whole_numbers(void **state)
{
    (void)state;
    static float reals[8];
    static uint32_t labels[8];
    slc_volume_config config;
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, ""};
    slc_volume_config_default(&config);
    config.equal = true;
    assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
    const slc_volume volume = {reals, 2, 2, 2, 8, 16, SLC_IMAGE_F32};
    slc_volume_labels out = {.labels = labels, .stride = 8, .slice_stride = 16};
    assert_int_equal(slc_volume_run(labeller, &volume, &out, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "not of f32"));
    slc_volume_close(labeller);
    labeller = open_one(26, SLC_SIMD_AUTO, 1, 0);
    const slc_volume wide = {reals, 1, 2, 2, 8, 16, SLC_IMAGE_U64};
    assert_int_equal(slc_volume_run(labeller, &wide, &out, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "voxels of u64 are of equal values alone"));
    slc_volume_close(labeller);
}

/* What a component's row is to be, from its voxels one by one. */
static void check_features(const slc_volume_components *c, size_t row)
{
    uint64_t n = 0, sums[3] = {0}, second[6] = {0}, low[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, high[3] = {0};
    uint64_t first[3] = {0};
    for (size_t i = 0; i < voxels(); i++) {
        const uint64_t at[3] = {i % f.width, i / f.width % f.height, i / f.width / f.height};
        if (f.wanted[i] != row + 1) {
            continue;
        }
        for (int a = 0, k = 0; a < 3; a++) {
            first[a] = n == 0 ? at[a] : first[a];
            sums[a] += at[a];
            low[a] = at[a] < low[a] ? at[a] : low[a];
            high[a] = at[a] > high[a] ? at[a] : high[a];
            for (int b = a; b < 3; b++, k++) {
                second[k] += at[a] * at[b];
            }
        }
        n++;
    }
    const uint64_t found[] = {c->volume[row],  c->x_min[row],   c->y_min[row],  c->z_min[row],
                              c->x_max[row],   c->y_max[row],   c->z_max[row],  c->first_x[row],
                              c->first_y[row], c->first_z[row], c->sum_x[row],  c->sum_y[row],
                              c->sum_z[row],   c->sum_xx[row],  c->sum_xy[row], c->sum_xz[row],
                              c->sum_yy[row],  c->sum_yz[row],  c->sum_zz[row]};
    const uint64_t wanted[] = {n,         low[0],    low[1],    low[2],    high[0],  high[1], high[2],
                               first[0],  first[1],  first[2],  sums[0],   sums[1],  sums[2], second[0],
                               second[1], second[2], second[3], second[4], second[5]};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        assert_int_equal(found[k], wanted[k]);
    }
    const double centroid[3] = {c->x[row], c->y[row], c->z[row]};
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(centroid[a] - (double)sums[a] / (double)n) < 1e-12 * (1 + centroid[a]));
    }
}

/* Every instruction set in turn. */
static slc_simd_target target_of(int i)
{
    int t = i % SLC_SIMD_TARGETS;
    while (!slc_simd_runs((slc_simd_target)t)) {
        t = (t + 1) % SLC_SIMD_TARGETS;
    }
    return (slc_simd_target)t;
}

static void features_are_right(void **state)
{
    (void)state;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_ALL, columns);
    slc_column all[SLC_VOLUME_COLUMNS];
    assert_int_equal(slc_volume_components_schema(SLC_VOLUME_MEASURES, all).n_columns, SLC_VOLUME_COLUMNS);
    uint64_t seed = 3;
    for (int i = 0; i < 100; i++) {
        const uint32_t connectivity = connectivities[i % 3];
        slc_volume_labeller *labeller = open_one(connectivity, target_of(i / 6), 1 + (uint32_t)i % 5,
                                                 SLC_VOLUME_ALL);
        slc_volume_components found = {.volume = NULL};
        slc_volume_labels out = {.labels = NULL, .components = &found};
        slc_error error;
        for (uint32_t event = 0, before = 0; event < 2; event++) { /* two volumes into one collection */
            slc_volume volume;
            choose(&seed);
            void *memory = lay(SLC_IMAGE_U8, 1, false, &volume);
            const uint32_t n = volume_oracle_unite(f.values, f.width, f.height, f.depth, connectivity,
                                                   f.wanted);
            assert_int_equal(slc_volume_run(labeller, &volume, &out, &error), SLC_OK);
            assert_int_equal(out.n_labels, n);
            assert_int_equal(found.head.size, before + n);
            assert_int_equal(found.head.n_events, event + 1);
            slc_volume_components own = found;
            for (size_t k = 0; k < schema.n_columns; k++) { /* the rows of this volume */
                char **at = (char **)(void *)((char *)&own + columns[k].member);
                *at += before * (columns[k].type == SLC_TYPE_U32 ? 4 : 8);
            }
            for (uint32_t row = 0; row < n && row < 40; row++) {
                check_features(&own, row);
            }
            before = n;
            free(memory);
        }
        slc_columns_clear(&schema, &found);
        slc_volume_close(labeller);
    }
}

/* Values that lie side by side are components of their own. */
static void features_of_equal_values_are_right(void **state)
{
    (void)state;
    static uint8_t bytes[ROOM];
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_ALL, columns);
    slc_volume_config config;
    slc_error error;
    uint64_t seed = 6;
    slc_volume_config_default(&config);
    config.equal = true;
    config.features = SLC_VOLUME_ALL;
    for (int i = 0; i < 100; i++) {
        slc_volume_labeller *labeller = NULL;
        config.connectivity = connectivities[i % 3];
        config.exec.threads = 1 + (uint32_t)i % 2;
        config.exec.target = target_of(i / 6);
        assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
        choose(&seed);
        for (size_t k = 0; k < voxels(); k++) {
            f.values[k] = f.values[k] != 0 ? 1 + random_below(&seed, 3) : 0;
            bytes[k] = (uint8_t)f.values[k];
        }
        const size_t row = f.width, slice = row * f.height;
        const slc_volume volume = {bytes,          f.width,          f.height,    f.depth,
                                   (ptrdiff_t)row, (ptrdiff_t)slice, SLC_IMAGE_U8};
        const uint32_t n = volume_oracle_flood(f.values, f.width, f.height, f.depth, config.connectivity,
                                               f.wanted);
        slc_volume_components found = {.volume = NULL};
        slc_volume_labels out = {.labels = NULL, .components = &found};
        assert_int_equal(slc_volume_run(labeller, &volume, &out, &error), SLC_OK);
        assert_int_equal(found.head.size, n);
        for (uint32_t k = 0; k < n && k < 40; k++) {
            check_features(&found, k);
        }
        slc_columns_clear(&schema, &found);
        slc_volume_close(labeller);
    }
}

/* A run that was in the way before must not be seen after a larger or smaller volume. */
static void sizes_follow_one_another(void **state)
{
    (void)state;
    uint64_t seed = 4;
    slc_volume_labeller *labeller = open_one(26, SLC_SIMD_AUTO, 2, 0);
    for (int i = 0; i < 60; i++) {
        slc_volume volume;
        f.width = i % 2 == 0 ? 1 + random_below(&seed, 3) : 500 + random_below(&seed, 100);
        f.height = 1 + random_below(&seed, SIDE);
        f.depth = 1 + random_below(&seed, SIDE);
        fill(&seed, 2, 60);
        void *memory = lay(SLC_IMAGE_U8, 0, false, &volume);
        const uint32_t n = volume_oracle_unite(f.values, f.width, f.height, f.depth, 26, f.wanted);
        expect(labeller, &volume, n, 0, false, "sizes");
        free(memory);
    }
    slc_volume_close(labeller);
}

static void expect_refusal(const slc_volume_config *config, const char *text)
{
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_volume_open(config, &labeller, &error), SLC_ERR_USAGE);
    assert_null(labeller);
    assert_non_null(strstr(error.text, text));
}

static void configurations_are_checked(void **state)
{
    (void)state;
    slc_volume_config config;
    slc_volume_config_default(&config);
    config.connectivity = 8;
    expect_refusal(&config, "connectivity");
    slc_volume_config_default(&config);
    config.threshold = NAN;
    expect_refusal(&config, "threshold");
    slc_volume_config_default(&config);
    config.features = SLC_VOLUME_MEASURES + 1;
    expect_refusal(&config, "features");
    slc_volume_config_default(&config);
    config.exec.device = "cuda";
    expect_refusal(&config, "device");
    slc_volume_config_default(&config);
    config.exec.threads = 5000;
    expect_refusal(&config, "threads");
}

static void volumes_are_checked(void **state)
{
    (void)state;
    static uint8_t pixels[64];
    static uint32_t labels[64];
    slc_volume_labeller *labeller = open_one(26, SLC_SIMD_AUTO, 1, 0);
    const slc_volume good = {pixels, 4, 4, 4, 4, 16, SLC_IMAGE_U8};
    const slc_volume_labels out = {.labels = labels, .stride = 16, .slice_stride = 64};
    const struct {
        slc_volume volume;
        slc_volume_labels out;
        const char *text;
    } cases[] = {
        {{pixels, 0, 4, 4, 4, 16, SLC_IMAGE_U8}, out, "0 x 4"},
        {{pixels, 4, 4, 0, 4, 16, SLC_IMAGE_U8}, out, "4 x 0"},
        {{NULL, 4, 4, 4, 4, 16, SLC_IMAGE_U8}, out, "volume"},
        {{pixels, 4, 4, 4, 3, 16, SLC_IMAGE_U8}, out, "stride"},
        {{pixels, 4, 4, 4, 4, 15, SLC_IMAGE_U8}, out, "stride"},
        {{pixels, 4, 4, 4, 4, 16, (slc_image_type)(SLC_IMAGE_U64 + 1)}, out, "type"},
        {{labels, 4, 4, 4, 4, 16, SLC_IMAGE_U8}, out, "overlap"},
        {good, {.labels = labels, .stride = 12, .slice_stride = 64}, "stride"},
        {good, {.labels = labels, .stride = 18, .slice_stride = 72}, "aligned"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_volume_labels to = cases[i].out;
        slc_error error = {SLC_OK, ""};
        assert_int_equal(slc_volume_run(labeller, &cases[i].volume, &to, &error), SLC_ERR_USAGE);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("case %zu: %s", i, error.text);
        }
    }
    slc_volume_close(labeller);
    slc_volume_close(NULL);
}

static void slices_are_checked(void **state)
{
    (void)state;
    static uint8_t pixels[64];
    static uint32_t labels[64];
    slc_error error = {SLC_OK, ""};
    slc_volume_components components = {.volume = NULL};
    const slc_volume volume = {pixels, 4, 4, 4, 4, 16, SLC_IMAGE_U8}, none = {pixels, 4, 4, 0, 4, 16, 0};
    const slc_volume_labels out = {.labels = labels, .stride = 16, .slice_stride = 64};
    slc_volume_labels run = {.labels = NULL}, other = out;
    slc_volume_labeller *labeller = open_one(26, SLC_SIMD_AUTO, 1, 0);
    assert_int_equal(slc_volume_slices(labeller, 0, 1, &out, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no volume"));
    assert_int_equal(slc_volume_run(labeller, &volume, &run, &error), SLC_OK);
    assert_int_equal(slc_volume_slices(labeller, 0, 4, &out, &error), SLC_OK);
    static const size_t pieces[][2] = {{0, 0}, {0, 5}, {4, 1}, {3, 2}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        assert_int_equal(slc_volume_slices(labeller, pieces[i][0], pieces[i][1], &out, &error),
                         SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "of a volume of 4"));
    }
    other.components = &components;
    assert_int_equal(slc_volume_slices(labeller, 0, 1, &other, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "components"));
    other = (slc_volume_labels){.labels = labels, .stride = 12, .slice_stride = 64};
    assert_int_equal(slc_volume_slices(labeller, 0, 2, &other, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "stride"));
    other.labels = NULL;
    assert_int_equal(slc_volume_slices(labeller, 0, 2, &other, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_volume_run(labeller, &none, &run, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_volume_slices(labeller, 0, 1, &out, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no volume"));
    slc_volume_close(labeller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree),
        cmocka_unit_test(labels_are_right),
        cmocka_unit_test(equal_values_are_right),
        cmocka_unit_test(equal_values_are_whole_numbers),
        cmocka_unit_test(features_are_right),
        cmocka_unit_test(features_of_equal_values_are_right),
        cmocka_unit_test(sizes_follow_one_another),
        cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(volumes_are_checked),
        cmocka_unit_test(slices_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
