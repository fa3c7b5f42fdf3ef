/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes that come slice by slice, and volumes whose borders are joined, whole and slice by slice: against
 * flood fill that goes over borders, and sums over single voxels.
 */
#include "oracle/volume_oracle.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_volume.h>

#include <stdlib.h>
#include <string.h>

enum { SIDE = 9, LONG = 140, ROOM = LONG * SIDE * SIDE, SUMS = 19 };

/* A component from its voxels one by one, in the order of the columns of slc_volume_components. */
typedef struct wanted {
    uint64_t sums[SUMS];
    uint64_t ends; /* the slice that ends it, from 1; none: SIZE_MAX */
    uint64_t key;  /* the first voxel */
} wanted;

static struct {
    uint64_t values[ROOM];
    uint64_t memory[ROOM]; /* as voxels of the type */
    uint32_t labels[ROOM], found[ROOM];
    wanted components[ROOM];
    size_t width, height, depth, n_values;
    uint32_t n;
    slc_image_type type;
    slc_volume volume;
    slc_volume_config config;
} f;

static const uint32_t connectivities[] = {6, 18, 26};

static size_t side(uint64_t *seed)
{
    return 1 + random_below(seed, random_below(seed, 3) == 0 ? 3 : SIDE);
}

/* Values 0 … n_values, in cubes of a voxel or more; as voxels of the type. Wanted are those of the background
 * with `inverse`. */
static void choose(uint64_t *seed, bool equal)
{
    static const slc_image_type integers[] = {SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_U64};
    f.width = random_below(seed, 5) == 0 ? 60 + random_below(seed, LONG - 60) : side(seed);
    f.height = side(seed);
    f.depth = side(seed);
    f.n_values = equal ? 1 + random_below(seed, 3) : 1;
    f.type = equal ? integers[random_below(seed, 4)] : (slc_image_type)random_below(seed, SLC_IMAGE_TYPES);
    const uint32_t percent = random_below(seed, 101);
    const size_t grain = 1 + random_below(seed, 2), size = slc_image_row_bytes(f.type, 1);
    const size_t row = (slc_image_row_bytes(f.type, f.width) + 7) / 8 * 8, own = random_u64(seed);
    assert_true(row * f.height * f.depth <= sizeof f.memory);
    memset(f.memory, 0, sizeof f.memory);
    for (size_t i = 0; i < f.width * f.height * f.depth; i++) {
        const size_t x = i % f.width, y = i / f.width % f.height, z = i / f.width / f.height;
        uint64_t cube = own + x / grain + 1000 * (y / grain + 1000 * (z / grain));
        const bool is = random_below(&cube, 100) < percent;
        const uint64_t value = is ? 1 + random_below(&cube, (uint32_t)f.n_values) : 0;
        char *at = (char *)f.memory + (z * f.height + y) * row;
        const float real = (float)value;
        f.values[i] = f.config.inverse ? 1 - value : value;
        if (f.type == SLC_IMAGE_BITS) {
            at[x / 8] = (char)(at[x / 8] | (int)value << x % 8);
        } else { /* the low bytes of a value */
            memcpy(at + x * size, f.type == SLC_IMAGE_F32 ? (const void *)&real : (const void *)&value, size);
        }
    }
    f.volume = (slc_volume){f.memory, f.width, f.height, f.depth, (ptrdiff_t)row, (ptrdiff_t)(row * f.height),
                            f.type};
}

static void want(void)
{
    const size_t n_voxels = f.width * f.height * f.depth;
    const uint32_t dual = f.config.connectivity == 6 ? 26 : 6;
    f.n = volume_oracle_periodic(f.values, f.width, f.height, f.depth,
                                 f.config.inverse ? dual : f.config.connectivity, f.config.periodic,
                                 f.labels);
    memset(f.components, 0, f.n * sizeof *f.components);
    for (size_t i = 0; i < n_voxels; i++) {
        const uint64_t at[3] = {i % f.width, i / f.width % f.height, i / f.width / f.height};
        if (f.labels[i] == 0) {
            continue;
        }
        wanted *c = &f.components[f.labels[i] - 1];
        for (size_t a = 0, k = 0; a < 3; a++) {
            uint64_t *low = &c->sums[1 + a], *high = &c->sums[4 + a];
            *low = c->sums[0] == 0 || at[a] < *low ? at[a] : *low;
            *high = at[a] > *high ? at[a] : *high;
            c->sums[7 + a] = c->sums[0] == 0 ? at[a] : c->sums[7 + a];
            c->sums[10 + a] += at[a];
            for (size_t b = a; b < 3; b++, k++) {
                c->sums[13 + k] += at[a] * at[b];
            }
        }
        c->key = c->sums[0] == 0 ? i : c->key;
        c->sums[0]++;
    }
    for (uint32_t i = 0; i < f.n; i++) {
        wanted *c = &f.components[i];
        const bool stays = c->sums[6] + 1 == f.depth ||
                           ((f.config.periodic & SLC_VOLUME_PERIODIC_Z) != 0 && c->sums[3] == 0);
        c->ends = stays ? SIZE_MAX : c->sums[6] + 1;
    }
}

static void check_rows(const slc_volume_components *c)
{
    const uint32_t *const narrow[] = {c->x_min, c->y_min,   c->z_min,   c->x_max,  c->y_max,
                                      c->z_max, c->first_x, c->first_y, c->first_z};
    const uint64_t *const wide[] = {c->sum_x,  c->sum_y,  c->sum_z,  c->sum_xx, c->sum_xy,
                                    c->sum_xz, c->sum_yy, c->sum_yz, c->sum_zz};
    assert_int_equal(c->head.size, f.n);
    for (uint32_t i = 0; i < f.n; i++) {
        const uint64_t *sums = f.components[i].sums;
        assert_int_equal(c->volume[i], sums[0]);
        for (int k = 0; k < 9; k++) {
            assert_int_equal(narrow[k][i], sums[1 + k]);
            assert_int_equal(wide[k][i], sums[10 + k]);
        }
        assert_true(c->x[i] == (double)sums[10] / (double)sums[0] &&
                    c->y[i] == (double)sums[11] / (double)sums[0] &&
                    c->z[i] == (double)sums[12] / (double)sums[0]);
    }
}

static void expect_whole(uint32_t threads, slc_simd_target target)
{
    slc_volume_labeller *labeller = NULL;
    slc_volume_config config = f.config;
    slc_error error;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_ALL, columns);
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {.labels = f.found,
                             .stride = (ptrdiff_t)(4 * f.width),
                             .slice_stride = (ptrdiff_t)(4 * f.width * f.height),
                             .components = &found};
    config.exec.threads = threads;
    config.exec.target = target;
    assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
    assert_int_equal(slc_volume_run(labeller, &f.volume, &out, &error), SLC_OK);
    assert_int_equal(out.n_labels, f.n);
    assert_memory_equal(f.found, f.labels, f.width * f.height * f.depth * 4);
    check_rows(&found);
    slc_columns_clear(&schema, &found);
    slc_volume_close(labeller);
}

static int by_end(const void *a, const void *b)
{
    const wanted *one = a, *other = b;
    return one->ends != other->ends ? (one->ends > other->ends) - (one->ends < other->ends)
                                    : (one->key > other->key) - (one->key < other->key);
}

/* In pieces; after each of them exactly those that have ended are there. Two volumes through one stream. */
static void expect_stream(uint64_t *seed)
{
    slc_volume_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_ALL, columns);
    uint64_t checksum = 0;
    assert_int_equal(slc_volume_stream_open(&f.config, &f.volume, &checksum, &stream, &error), SLC_OK);
    qsort(f.components, f.n, sizeof *f.components, by_end);
    for (int again = 0; again < 2; again++) {
        slc_volume_components closed = {.volume = NULL};
        for (size_t z = 0; z < f.depth;) {
            slc_volume piece = f.volume;
            piece.depth = 1 + random_below(seed, (uint32_t)(f.depth - z));
            piece.voxels = (const char *)f.volume.voxels + (ptrdiff_t)z * f.volume.slice_stride;
            assert_int_equal(slc_volume_stream_push(stream, &piece, &closed, &error), SLC_OK);
            z += piece.depth;
            size_t ended = 0;
            while (ended < f.n && f.components[ended].ends < z) {
                ended++;
            }
            assert_int_equal(closed.head.size, ended);
        }
        assert_int_equal(slc_volume_stream_finish(stream, &closed, &error), SLC_OK);
        slc_columns_end_event(&closed);
        check_rows(&closed);
        assert_true(checksum == slc_columns_checksum(&schema, &closed, 0, 0));
        slc_columns_clear(&schema, &closed);
    }
    slc_volume_stream_close(stream);
}

static void run(uint64_t *seed, int i, bool periodic)
{
    slc_volume_config_default(&f.config);
    f.config.connectivity = connectivities[i % 3];
    f.config.equal = i % 2 == 0;
    f.config.inverse = i % 4 == 1;
    f.config.features = SLC_VOLUME_ALL;
    f.config.periodic = periodic ? (uint32_t)(i / 6) % (SLC_VOLUME_PERIODIC_ALL + 1) : 0;
    choose(seed, f.config.equal);
    want();
    for (int t = 0; t < SLC_SIMD_TARGETS && periodic; t++) {
        if (slc_simd_runs((slc_simd_target)t)) {
            expect_whole(1 + (uint32_t)random_below(seed, 3), (slc_simd_target)t);
        }
    }
    expect_stream(seed);
}

static int volumes(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL ? 300 : 2000;
}

static void slices_give_the_same(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < volumes(); i++) {
        run(&seed, i, false);
    }
}

static void borders_are_joined(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < volumes(); i++) {
        run(&seed, i, true);
    }
}

/* Many more components than are open at a time, of which none stays. */
static void memory_is_that_of_slices(void **state)
{
    (void)state;
    static uint8_t slice[64 * 64], nothing[64 * 64];
    const slc_volume some = {slice, 64, 64, 1, 64, 0, SLC_IMAGE_U8}, none = {nothing, 64, 64, 1, 64, 0, 0};
    slc_volume_stream *stream = NULL;
    slc_volume_components closed = {.head.size = 0};
    slc_error error;
    slc_volume_config_default(&f.config);
    for (size_t i = 0; i < sizeof slice; i++) {
        slice[i] = i % 2 == 0 && i / 64 % 2 == 0 ? 1 : 0;
    }
    assert_int_equal(slc_volume_stream_open(&f.config, &some, NULL, &stream, &error), SLC_OK);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(slc_volume_stream_push(stream, &some, &closed, &error), SLC_OK);
        assert_int_equal(slc_volume_stream_push(stream, &none, &closed, &error), SLC_OK);
        assert_int_equal(closed.head.size, 1024 * (i + 1)); /* without features they are counted */
    }
    slc_volume_stream_close(stream);
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(0, columns);
    slc_columns_clear(&schema, &closed);
}

static void refuse(const slc_volume_config *config, const slc_volume *shape, slc_status wanted_status,
                   const char *text)
{
    slc_volume_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_volume_stream_open(config, shape, NULL, &stream, &error), wanted_status);
    assert_null(stream);
    assert_non_null(strstr(error.text, text));
}

static void wrong_streams_are_refused(void **state)
{
    (void)state;
    static uint8_t bytes[64];
    slc_volume good = {bytes, 4, 4, 4, 4, 16, SLC_IMAGE_U8}, other = good;
    slc_volume_config config;
    slc_volume_stream *stream = NULL;
    slc_volume_components closed = {.head.size = 0};
    slc_error error = {SLC_OK, ""};
    slc_volume_config_default(&config);
    config.exec.threads = 2;
    refuse(&config, &good, SLC_ERR_USAGE, "threads: a stream of slices is labelled by one, not by 2");
    slc_volume_config_default(&config);
    config.periodic = 8;
    refuse(&config, &good, SLC_ERR_USAGE, "periodic: unknown bits 0x8");
    slc_volume_config_default(&config);
    other.width = 0;
    refuse(&config, &other, SLC_ERR_USAGE, "0 x 4");
    other.width = other.height = (size_t)1 << 20;
    refuse(&config, &other, SLC_ERR_UNSUPPORTED, "too many runs");
    other = good;
    other.type = SLC_IMAGE_U64;
    refuse(&config, &other, SLC_ERR_USAGE, "voxels of u64 are of equal values alone");
    other.type = (slc_image_type)77;
    refuse(&config, &other, SLC_ERR_USAGE, "unknown type");
    assert_int_equal(slc_volume_stream_open(&config, &good, NULL, &stream, &error), SLC_OK);
    other = good;
    other.height = 3;
    assert_int_equal(slc_volume_stream_push(stream, &other, &closed, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "slices: they are 4 x 3 of u8, the stream is 4 x 4 of u8"));
    other = good;
    other.type = SLC_IMAGE_BITS;
    assert_int_equal(slc_volume_stream_push(stream, &other, &closed, &error), SLC_ERR_USAGE);
    slc_volume_stream_close(stream);
    slc_volume_stream_close(NULL);
}

static void wrong_grey_slices_are_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const uint64_t wide[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const slc_volume slice = {bytes, 2, 2, 1, 2, 4, SLC_IMAGE_U8};
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_GREY | SLC_VOLUME_SPREAD, columns);
    slc_volume_config config;
    slc_volume_stream *stream = NULL;
    slc_volume_components closed = {.volume = NULL};
    slc_error error = {SLC_OK, ""};
    const struct {
        slc_volume grey;
        const char *text;
    } cases[] = {
        {{bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8}, "grey values: 2 x 2 x 2 voxels, and the volume has 2 x 2 x 1"},
        {{wide, 2, 2, 1, 16, 32, SLC_IMAGE_U64}, "up to 32 bits"},
        {{bytes, 2, 2, 1, 1, 4, SLC_IMAGE_BITS},
         "grey values: they are bits, those of the slices before are u8"},
    };
    slc_volume_config_default(&config);
    config.features = SLC_VOLUME_GREY | SLC_VOLUME_SPREAD;
    assert_int_equal(slc_volume_stream_open(&config, &slice, NULL, &stream, &error), SLC_OK);
    assert_int_equal(slc_volume_stream_push(stream, &slice, &closed, &error), SLC_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(slc_volume_stream_push_grey(stream, &slice, &cases[i].grey, &closed, &error),
                         SLC_ERR_USAGE);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("case %zu: %s", i, error.text);
        }
    }
    assert_int_equal(slc_volume_stream_finish(stream, &closed, &error), SLC_OK);
    assert_int_equal(closed.head.size, 1);
    assert_true(closed.mass[0] == 4 && closed.grey_std[0] == 0); /* of what was refused nothing was taken */
    slc_columns_clear(&schema, &closed);
    slc_volume_stream_close(stream);
    config.features = SLC_VOLUME_LABEL;
    assert_int_equal(slc_volume_stream_open(&config, &slice, NULL, &stream, &error), SLC_ERR_USAGE);
}

/* Sums that might not fit 64 bits are refused before any does not. */
static void sums_stay_exact(void **state)
{
    (void)state;
    static uint8_t byte = 1;
    const slc_volume many = {&byte, 1, 1, 3000000, 1, 1, SLC_IMAGE_U8};
    uint8_t *column = calloc(1, many.depth);
    slc_volume_stream *stream = NULL;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_SECOND, columns);
    slc_volume_components closed = {.volume = NULL};
    slc_error error = {SLC_OK, ""};
    slc_volume piece = many;
    assert_non_null(column);
    piece.voxels = column;
    slc_volume_config_default(&f.config);
    f.config.features = SLC_VOLUME_SECOND;
    assert_int_equal(slc_volume_stream_open(&f.config, &many, NULL, &stream, &error), SLC_OK);
    assert_int_equal(slc_volume_stream_push(stream, &piece, &closed, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "second moments"));
    piece.depth = 2000000;
    assert_int_equal(slc_volume_stream_push(stream, &piece, &closed, &error), SLC_OK);
    piece.depth = 1000000;
    assert_int_equal(slc_volume_stream_push(stream, &piece, &closed, &error), SLC_ERR_UNSUPPORTED);
    slc_columns_clear(&schema, &closed);
    slc_volume_stream_close(stream);
    free(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_give_the_same),          cmocka_unit_test(borders_are_joined),
        cmocka_unit_test(memory_is_that_of_slices),      cmocka_unit_test(wrong_streams_are_refused),
        cmocka_unit_test(wrong_grey_slices_are_refused), cmocka_unit_test(sums_stay_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
