/* SPDX-License-Identifier: Apache-2.0
 *
 * Grey values of the components of volumes, and features of label volumes: against sums over single voxels,
 * for every type and layout of the values, connectivity, number of threads; and a volume of one slice has
 * what its image has, to the last bit.
 */
#include "base/columns.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_measure.h>
#include <sluice/image_volume.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 14, ROOM = 700 * SIDE * SIDE, GREYS = SLC_VOLUME_GREY | SLC_VOLUME_SPREAD };

typedef struct fixture {
    uint8_t voxels[ROOM];
    uint32_t labels[ROOM];
    double values[ROOM]; /* what the grey voxels are */
    char grey[8 * ROOM];
    size_t width, height, depth;
} fixture;
static fixture f;

static size_t voxels(void)
{
    return f.width * f.height * f.depth;
}

static void choose(uint64_t *seed)
{
    const uint32_t percent = random_below(seed, 101);
    f.width = 1 + random_below(seed, random_below(seed, 6) == 0 ? 600 : SIDE);
    f.height = 1 + random_below(seed, SIDE);
    f.depth = 1 + random_below(seed, SIDE);
    for (size_t i = 0; i < voxels(); i++) {
        f.voxels[i] = random_below(seed, 100) < percent ? (uint8_t)(1 + random_below(seed, 3)) : 0;
    }
}

static slc_volume volume_of(void)
{
    return (slc_volume){
        f.voxels,    f.width, f.height, f.depth, (ptrdiff_t)f.width, (ptrdiff_t)(f.width * f.height),
        SLC_IMAGE_U8};
}

/* Random values of a type, the last row and slice first if turned; where `odd` some are no numbers. */
static slc_volume lay(slc_image_type type, bool turned, bool odd, uint64_t *seed)
{
    static const size_t size[] = {1, 2, 4, 4, 1};
    const size_t row = (slc_image_row_bytes(type, f.width) / size[type] + turned) * size[type];
    const size_t slice = row * f.height;
    char *first = f.grey + (turned ? (f.depth - 1) * slice + (f.height - 1) * row : 0);
    const ptrdiff_t sign = turned ? -1 : 1;
    const slc_volume grey = {
        first, f.width, f.height, f.depth, sign * (ptrdiff_t)row, sign * (ptrdiff_t)slice, type};
    memset(f.grey, 0x5a, sizeof f.grey);
    for (size_t i = 0; i < voxels(); i++) {
        const size_t x = i % f.width, y = i / f.width % f.height, z = i / f.width / f.height;
        char *at = first + (ptrdiff_t)z * grey.slice_stride + (ptrdiff_t)y * grey.stride;
        const uint32_t value = (uint32_t)(random_u64(seed) >> 32);
        const uint16_t half = (uint16_t)value;
        const float real = odd && value % 97 == 0 ? NAN : (float)(value % 1000) / 7 - 20;
        memcpy(at + x * size[type] * (type != SLC_IMAGE_BITS),
               type == SLC_IMAGE_U16   ? (const void *)&half
               : type == SLC_IMAGE_U32 ? (const void *)&value
                                       : (const void *)&real,
               type == SLC_IMAGE_U8 || type == SLC_IMAGE_BITS ? 0 : size[type]);
        if (type == SLC_IMAGE_U8) {
            at[x] = (char)value;
        } else if (type == SLC_IMAGE_BITS) {
            at[x / 8] = (char)((at[x / 8] & ~(1 << x % 8)) | (int)(value & 1) << x % 8);
        }
        f.values[i] = type == SLC_IMAGE_U8     ? (uint8_t)value
                      : type == SLC_IMAGE_U16  ? half
                      : type == SLC_IMAGE_U32  ? value
                      : type == SLC_IMAGE_BITS ? value & 1
                                               : (double)real;
    }
    return grey;
}

/* ---- sums over voxels ------------------------------------------------------------------------------ */

static void expect_near(double found, double wanted, double scale, const char *what)
{
    const bool none = isnan(wanted);
    if (none ? !isnan(found) : !(fabs(found - wanted) <= 1e-12 * (fabs(wanted) + scale))) {
        fail_msg("%s is %.17g, not %.17g", what, found, wanted);
    }
}

/* A row, of the voxels with its label. Integers below 2^53 are exact. */
static void check_row(const slc_volume_components *c, size_t row, bool whole)
{
    double mass = 0, x = 0, y = 0, z = 0, low = INFINITY, high = -INFINITY, apart = 0, n = 0;
    for (size_t i = 0; i < voxels(); i++) {
        if (f.labels[i] == row + 1) {
            const double v = f.values[i];
            n++;
            mass += v;
            const size_t at[3] = {i % f.width, i / f.width % f.height, i / f.width / f.height};
            x += v * (double)at[0];
            y += v * (double)at[1];
            z += v * (double)at[2];
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    for (size_t i = 0; i < voxels(); i++) {
        const double from = f.values[i] - mass / n;
        apart += f.labels[i] == row + 1 ? from * from : 0;
    }
    assert_true(n > 0);
    if (whole) {
        assert_true(c->mass[row] == mass && c->grey_mean[row] == mass / n);
        expect_near(c->grey_std[row], sqrt(apart / n), 0, "std");
    }
    const bool some = low <= high; /* else there is no number */
    const double scale = fabs(c->mass[row]) + 20;
    expect_near(c->mass[row], mass, scale, "mass");
    expect_near(c->grey_mean[row], mass / n, scale, "mean");
    expect_near(c->grey_std[row], sqrt(apart / n), scale, "std");
    expect_near(c->grey_min[row], some ? low : (double)NAN, 0, "min");
    expect_near(c->grey_max[row], some ? high : (double)NAN, 0, "max");
    if (whole || !(fabs(mass) < 1)) { /* else little is left of large sums */
        expect_near(c->weighted_x[row], mass == 0 ? (double)NAN : x / mass, 1e3, "weighted_x");
        expect_near(c->weighted_y[row], mass == 0 ? (double)NAN : y / mass, 1e3, "weighted_y");
        expect_near(c->weighted_z[row], mass == 0 ? (double)NAN : z / mass, 1e3, "weighted_z");
    }
}

static slc_volume_labeller *open_one(slc_volume_config *config, uint32_t i)
{
    static const uint32_t connectivities[] = {6, 18, 26};
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, ""};
    config->connectivity = connectivities[i % 3];
    config->equal = i % 4 == 1;
    config->exec.threads = 1 + i % 2;
    assert_int_equal(slc_volume_open(config, &labeller, &error), SLC_OK);
    return labeller;
}

static void sums_are_right(void **state)
{
    (void)state;
    uint64_t seed = 31;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(GREYS, columns);
    assert_int_equal(schema.n_columns, 8);
    size_t rows = 0;
    for (uint32_t i = 0; i < 200; i++) {
        slc_volume_config config;
        slc_error error = {SLC_OK, ""};
        slc_volume_config_default(&config);
        config.features = GREYS;
        slc_volume_labeller *labeller = open_one(&config, i);
        choose(&seed);
        const slc_image_type type = (slc_image_type)(i % 5);
        const slc_volume volume = volume_of(), grey = lay(type, i % 7 < 3, i % 3 == 0, &seed);
        slc_volume_components found = {.volume = NULL};
        slc_volume_labels out = {f.labels, (ptrdiff_t)(f.width * 4), (ptrdiff_t)(f.width * f.height * 4),
                                 &found, 0};
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        assert_int_equal(found.head.size, out.n_labels);
        for (size_t row = 0; row < found.head.size; row += 1 + found.head.size / 20) {
            check_row(&found, row, type != SLC_IMAGE_F32);
            rows++;
        }
        slc_columns_clear(&schema, &found);
        slc_volume_close(labeller);
    }
    assert_true(rows > 1000);
}

/* Of a single slice, and of rows as they are summed of any label image. */
static void a_slice_is_an_image(void **state)
{
    (void)state;
    uint64_t seed = 32;
    slc_column columns[SLC_VOLUME_COLUMNS], image_columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(GREYS, columns);
    const slc_schema image_schema = slc_image_components_schema(SLC_IMAGE_GREY | SLC_IMAGE_SPREAD,
                                                                image_columns);
    size_t rows = 0;
    for (uint32_t i = 0; i < 60; i++) {
        slc_volume_config config;
        slc_image_measure_config measure;
        slc_error error = {SLC_OK, ""};
        slc_volume_config_default(&config);
        slc_image_measure_config_default(&measure);
        config.features = GREYS;
        measure.features = SLC_IMAGE_GREY | SLC_IMAGE_SPREAD;
        slc_volume_labeller *labeller = open_one(&config, i);
        choose(&seed);
        f.depth = 1;
        const slc_volume volume = volume_of(), grey = lay((slc_image_type)(i % 5), false, false, &seed);
        const slc_image image = {grey.voxels, f.width, f.height, grey.stride, grey.type};
        const slc_image labels = {f.labels, f.width, f.height, (ptrdiff_t)(f.width * 4), SLC_IMAGE_U32};
        slc_volume_components found = {.volume = NULL};
        slc_image_components wanted = {.area = NULL};
        slc_volume_labels out = {f.labels, labels.stride, 0, &found, 0};
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        assert_int_equal(slc_image_measure(&measure, &labels, &image, &wanted, &error), SLC_OK);
        assert_int_equal(found.head.size, wanted.head.size);
        for (size_t k = 0; k < found.head.size; k++, rows++) {
            const double *pairs[][2] = {{found.mass, wanted.mass},
                                        {found.weighted_x, wanted.weighted_x},
                                        {found.weighted_y, wanted.weighted_y},
                                        {found.grey_min, wanted.grey_min},
                                        {found.grey_max, wanted.grey_max},
                                        {found.grey_mean, wanted.grey_mean}};
            expect_near(found.grey_std[k], wanted.grey_std[k], 1,
                        "std"); /* of an image not from exact sums */
            for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
                assert_true(pairs[j][0][k] == pairs[j][1][k] || isnan(pairs[j][1][k]));
            }
        }
        slc_columns_clear(&schema, &found);
        slc_columns_clear(&image_schema, &wanted);
        slc_volume_close(labeller);
    }
    assert_true(rows > 500);
}

/* Those that are kept by their grey values have the rows that they have among all. */
static void filters_see_grey_values(void **state)
{
    (void)state;
    uint64_t seed = 33;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_MEASURES & ~SLC_VOLUME_LABEL, columns);
    size_t n_kept = 0, n_left_out = 0;
    for (uint32_t i = 0; i < 40; i++) {
        slc_volume_config config;
        slc_error error = {SLC_OK, ""};
        slc_volume_components all = {.volume = NULL}, kept = {.volume = NULL};
        slc_volume_labels out = {.labels = NULL, .components = &all};
        choose(&seed);
        const slc_volume volume = volume_of(), grey = lay(SLC_IMAGE_U8, false, false, &seed);
        slc_volume_config_default(&config);
        config.features = SLC_VOLUME_MEASURES & ~SLC_VOLUME_LABEL;
        slc_volume_labeller *labeller = open_one(&config, i);
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        slc_volume_close(labeller);
        config.filter = "grey_mean>=128 && grey_min<100";
        labeller = open_one(&config, i);
        out.components = &kept;
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        size_t row = 0;
        for (size_t k = 0; k < all.head.size; k++) {
            if (all.grey_mean[k] >= 128 && all.grey_min[k] < 100) {
                assert_true(row < kept.head.size);
                assert_true(kept.mass[row] == all.mass[k] && kept.volume[row] == all.volume[k]);
                assert_true(kept.grey_std[row] == all.grey_std[k]);
                row++;
            }
        }
        assert_int_equal(kept.head.size, row);
        assert_int_equal(slc_volume_filtered(labeller), all.head.size - row);
        n_kept += row;
        n_left_out += all.head.size - row;
        slc_columns_clear(&schema, &all);
        slc_columns_clear(&schema, &kept);
        slc_volume_close(labeller);
    }
    assert_true(n_kept > 20 && n_left_out > 20);
}

/* The labels in a type that holds them, and with gaps between them. */
static slc_volume spread_out(uint32_t n_labels, uint32_t i, uint32_t *factor)
{
    static const slc_image_type types[] = {SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_U64};
    static const size_t sizes[] = {1, 2, 4, 8};
    static uint64_t copies[ROOM];
    const size_t kind = n_labels < 256 ? i % 4 : 1 + i % 3, bytes = sizes[kind];
    *factor = kind < 2 || i % 3 == 0 ? 1 : 100003;
    for (size_t k = 0; k < voxels(); k++) {
        const uint64_t label = (uint64_t)f.labels[k] * *factor;
        memcpy((char *)copies + k * bytes, &label, bytes); /* little-endian */
    }
    return (slc_volume){copies,
                        f.width,
                        f.height,
                        f.depth,
                        (ptrdiff_t)(f.width * bytes),
                        (ptrdiff_t)(f.width * f.height * bytes),
                        types[kind]};
}

/* Labels of the labeller, spread out and of another type, have the rows that it has. */
static void measured_labels_are_components(void **state)
{
    (void)state;
    const uint32_t features = SLC_VOLUME_MEASURES & ~(uint32_t)SLC_VOLUME_LABEL;
    uint64_t seed = 34;
    slc_column columns[SLC_VOLUME_COLUMNS], own_columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_MEASURES, columns);
    const slc_schema own = slc_volume_components_schema(features, own_columns);
    size_t rows = 0;
    for (uint32_t i = 0; i < 60; i++) {
        slc_volume_config config;
        slc_volume_measure_config measure;
        slc_error error = {SLC_OK, ""};
        slc_volume_components wanted = {.volume = NULL}, found = {.volume = NULL};
        choose(&seed);
        const slc_volume volume = volume_of(), grey = lay((slc_image_type)(i % 5), i % 2 == 1, false, &seed);
        slc_volume_labels out = {f.labels, (ptrdiff_t)(f.width * 4), (ptrdiff_t)(f.width * f.height * 4),
                                 &wanted, 0};
        slc_volume_config_default(&config);
        slc_volume_measure_config_default(&measure);
        config.features = features;
        measure.features = SLC_VOLUME_MEASURES;
        slc_volume_labeller *labeller = open_one(&config, i);
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        uint32_t factor;
        const slc_volume labels = spread_out(out.n_labels, i, &factor);
        uint32_t filtered = 99;
        assert_int_equal(slc_volume_measure(&measure, &labels, &grey, &found, &filtered, &error), SLC_OK);
        assert_int_equal(found.head.size, wanted.head.size);
        assert_int_equal(found.head.n_events, 1);
        assert_int_equal(filtered, 0);
        for (size_t c = 0; c < own.n_columns; c++) {
            const size_t width = own_columns[c].type == SLC_TYPE_U32 ? 4 : 8, n = found.head.size;
            const void *a = slc_column_data(&found, &own_columns[c]);
            const void *b = slc_column_data(&wanted, &own_columns[c]);
            assert_true(n == 0 || memcmp(a, b, n * width) == 0);
        }
        for (size_t k = 0; k < found.head.size; k++, rows++) {
            assert_int_equal(found.label[k], (k + 1) * factor);
        }
        slc_columns_clear(&schema, &found);
        slc_columns_clear(&own, &wanted);
        slc_volume_close(labeller);
    }
    assert_true(rows > 1000);
}

static void labels_are_kept_by_their_features(void **state)
{
    (void)state;
    static const uint16_t labels[] = {7, 7, 0, 900, 900, 900, 3, 0, 3, 3, 12, 7};
    const slc_volume volume = {labels, 2, 3, 2, 4, 12, SLC_IMAGE_U16};
    slc_volume_measure_config config;
    slc_error error = {SLC_OK, ""};
    slc_volume_components found = {.volume = NULL};
    slc_column columns[SLC_VOLUME_COLUMNS];
    slc_volume_measure_config_default(&config);
    config.features = SLC_VOLUME_LABEL | SLC_VOLUME_SIZE;
    const slc_schema schema = slc_volume_components_schema(config.features, columns);
    const struct {
        const char *filter;
        uint32_t largest, n, labels[4], filtered;
    } cases[] = {{NULL, 0, 4, {3, 7, 12, 900}, 0},
                 {"label>=7 && volume>1", 0, 2, {7, 900}, 2},
                 {"z_max>0 && z_min<1", 0, 1, {7}, 3},
                 {NULL, 2, 2, {3, 7}, 2}}; /* three of them have three voxels */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t filtered = 99;
        config.filter = cases[i].filter;
        config.largest = cases[i].largest;
        slc_columns_reset(&found);
        assert_int_equal(slc_volume_measure(&config, &volume, NULL, &found, &filtered, &error), SLC_OK);
        assert_int_equal(found.head.size, cases[i].n);
        assert_int_equal(filtered, cases[i].filtered);
        assert_memory_equal(found.label, cases[i].labels, cases[i].n * sizeof(uint32_t));
    }
    slc_columns_clear(&schema, &found);
}

static void label_volumes_are_checked(void **state)
{
    (void)state;
    static const uint64_t wide[8] = {1, 2, 3, 4, 5, 6, UINT64_C(1) << 32, 8};
    static const float reals[8] = {1};
    static const uint8_t bytes[8] = {1};
    slc_volume_measure_config config;
    slc_volume_components found = {.volume = NULL};
    const struct {
        slc_volume labels;
        const char *filter, *text;
        uint32_t features;
        slc_status status;
    } cases[] = {
        {{wide, 2, 2, 2, 16, 32, SLC_IMAGE_U64},
         NULL,
         "the label 4294967296 at x 0, y 1, z 1",
         SLC_VOLUME_LABEL,
         SLC_ERR_UNSUPPORTED},
        {{reals, 2, 2, 2, 8, 16, SLC_IMAGE_F32}, NULL, "of floats", SLC_VOLUME_LABEL, SLC_ERR_UNSUPPORTED},
        {{bytes, 2, 2, 2, 1, 4, SLC_IMAGE_U8},
         NULL,
         "label volume: a stride",
         SLC_VOLUME_LABEL,
         SLC_ERR_USAGE},
        {{bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8}, NULL, "grey values: none", SLC_VOLUME_GREY, SLC_ERR_USAGE},
        {{bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8}, NULL, "unknown ones", 1 << 9, SLC_ERR_USAGE},
        {{bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8},
         "grey_min>1",
         "grey values: none",
         SLC_VOLUME_SIZE,
         SLC_ERR_USAGE},
        {{bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8}, "round>1", "no column", SLC_VOLUME_SIZE, SLC_ERR_USAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_error error = {SLC_OK, ""};
        slc_volume_measure_config_default(&config);
        config.features = cases[i].features;
        config.filter = cases[i].filter;
        assert_int_equal(slc_volume_measure(&config, &cases[i].labels, NULL, &found, NULL, &error),
                         cases[i].status);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("case %zu: %s", i, error.text);
        }
        assert_int_equal(found.head.n_events, 0);
    }
    slc_volume_config labelling;
    slc_volume_labeller *labeller = NULL;
    slc_error error = {SLC_OK, ""};
    slc_volume_config_default(&labelling);
    labelling.features = SLC_VOLUME_LABEL;
    assert_int_equal(slc_volume_open(&labelling, &labeller, &error), SLC_ERR_USAGE);
    labelling.features = 0;
    labelling.filter = "label>3";
    assert_int_equal(slc_volume_open(&labelling, &labeller, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "label"));
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    static uint64_t wide[8];
    static const uint8_t bytes[8] = {1, 2, 0, 0, 3, 0, 0, 0};
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(GREYS, columns);
    const slc_volume volume = {bytes, 2, 2, 2, 2, 4, SLC_IMAGE_U8};
    slc_volume_config config;
    slc_error error = {SLC_OK, ""};
    slc_volume_labeller *labeller = NULL;
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {.labels = NULL, .components = &found};
    slc_volume_config_default(&config);
    config.features = GREYS;
    assert_int_equal(slc_volume_open(&config, &labeller, &error), SLC_OK);
    const struct {
        slc_volume grey;
        const char *text;
    } cases[] = {
        {{bytes, 2, 2, 1, 2, 4, SLC_IMAGE_U8}, "grey values: 2 x 2 x 1 voxels, and the volume has 2 x 2 x 2"},
        {{wide, 2, 2, 2, 16, 32, SLC_IMAGE_U64}, "up to 32 bits"},
        {{bytes, 2, 2, 2, 1, 4, SLC_IMAGE_U8}, "grey values: a stride"},
        {{NULL, 2, 2, 2, 2, 4, SLC_IMAGE_U8}, "grey values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &cases[i].grey, &out, &error), SLC_ERR_USAGE);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("case %zu: %s", i, error.text);
        }
        assert_int_equal(found.head.n_events, 0);
    }
    /* The volume's own. */
    assert_int_equal(slc_volume_run(labeller, &volume, &out, &error), SLC_OK);
    assert_int_equal(found.head.size, 1);
    assert_true(found.mass[0] == 6 && found.grey_min[0] == 1 && found.grey_max[0] == 3);
    assert_true(found.grey_mean[0] == 2 && found.weighted_z[0] == 0.5);
    slc_columns_clear(&schema, &found);
    slc_volume_close(labeller);
}

/* ---- slices as they come ------------------------------------------------------------------------- */

/* The row of the component with that first voxel. */
static size_t row_with(const slc_volume_components *c, const slc_volume_components *like, size_t row)
{
    size_t at = 0;
    while (at < c->head.size &&
           !(c->first_x[at] == like->first_x[row] && c->first_y[at] == like->first_y[row] &&
             c->first_z[at] == like->first_z[row])) {
        at++;
    }
    assert_true(at < c->head.size);
    return at;
}

/* Of integers to the bit, of floats but for the order of additions. */
static void same_greys(const slc_volume_components *a, size_t i, const slc_volume_components *b, size_t k,
                       bool exact)
{
    const double *const pairs[][2] = {{a->mass, b->mass},
                                      {a->weighted_x, b->weighted_x},
                                      {a->weighted_y, b->weighted_y},
                                      {a->weighted_z, b->weighted_z},
                                      {a->grey_min, b->grey_min},
                                      {a->grey_max, b->grey_max},
                                      {a->grey_mean, b->grey_mean},
                                      {a->grey_std, b->grey_std}};
    assert_int_equal(a->volume[i], b->volume[k]);
    const bool spoilt = !(fabs(b->mass[k]) >= 1); /* little is left of large sums */
    const double scale = isnan(b->mass[k]) ? 0 : fabs(b->mass[k]) + 20;
    for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
        const double found = pairs[j][0][i], wanted = pairs[j][1][k];
        const bool weighted = j >= 1 && j <= 3;
        if (exact) {
            assert_true(found == wanted || (isnan(found) && isnan(wanted)));
        } else if (!weighted || !spoilt) {
            expect_near(found, wanted, weighted ? 1e3 : scale, "a sum of slices");
        }
    }
}

static void push_all(slc_volume_stream *stream, const slc_volume *volume, const slc_volume *grey,
                     uint64_t *seed, slc_volume_components *closed)
{
    slc_error error = {SLC_OK, ""};
    for (size_t z = 0; z < volume->depth;) {
        slc_volume piece = *volume, values = *grey;
        piece.depth = values.depth = 1 + random_below(seed, (uint32_t)(volume->depth - z));
        piece.voxels = (const char *)volume->voxels + (ptrdiff_t)z * volume->slice_stride;
        values.voxels = (const char *)grey->voxels + (ptrdiff_t)z * grey->slice_stride;
        assert_int_equal(slc_volume_stream_push_grey(stream, &piece, &values, closed, &error), SLC_OK);
        z += piece.depth;
    }
    assert_int_equal(slc_volume_stream_finish(stream, closed, &error), SLC_OK);
}

/* A stream's sums are a labeller's, also of what is joined late, over borders, and kept by its values. */
static void slices_have_grey_values(void **state)
{
    (void)state;
    uint64_t seed = 34;
    slc_column columns[SLC_VOLUME_COLUMNS];
    const uint32_t features = GREYS | SLC_VOLUME_SIZE | SLC_VOLUME_FIRST;
    const slc_schema schema = slc_volume_components_schema(features, columns);
    size_t rows = 0;
    for (uint32_t i = 0; i < 120; i++) {
        slc_volume_config config;
        slc_error error = {SLC_OK, ""};
        slc_volume_config_default(&config);
        config.features = features;
        config.periodic = i / 5 % 2 * (i / 10 % 8);
        config.filter = i % 7 == 6 ? "grey_max>=10" : NULL;
        slc_volume_labeller *labeller = open_one(&config, i);
        choose(&seed);
        const slc_image_type type = (slc_image_type)(i % 5);
        const slc_volume volume = volume_of(), grey = lay(type, i % 3 == 0, i % 2 == 0, &seed);
        slc_volume_components whole = {.volume = NULL}, closed = {.volume = NULL};
        slc_volume_labels out = {.labels = NULL, .components = &whole};
        slc_volume_stream *stream = NULL;
        assert_int_equal(slc_volume_run_grey(labeller, &volume, &grey, &out, &error), SLC_OK);
        config.exec.threads = 1;
        assert_int_equal(slc_volume_stream_open(&config, &volume, NULL, &stream, &error), SLC_OK);
        for (int again = 0; again < 2; again++) {
            slc_columns_reset(&closed);
            push_all(stream, &volume, &grey, &seed, &closed);
            assert_int_equal(closed.head.size, whole.head.size);
            for (size_t k = 0; k < closed.head.size; k += 1 + closed.head.size / 50, rows++) {
                same_greys(&closed, k, &whole, row_with(&whole, &closed, k), type != SLC_IMAGE_F32);
            }
        }
        slc_columns_clear(&schema, &whole);
        slc_columns_clear(&schema, &closed);
        slc_volume_stream_close(stream);
        slc_volume_close(labeller);
    }
    assert_true(rows > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(slices_have_grey_values),
        cmocka_unit_test(a_slice_is_an_image),
        cmocka_unit_test(filters_see_grey_values),
        cmocka_unit_test(measured_labels_are_components),
        cmocka_unit_test(labels_are_kept_by_their_features),
        cmocka_unit_test(label_volumes_are_checked),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
