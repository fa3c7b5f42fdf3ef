/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done on a GPU before and after an algorithm of labelling, each stage on its own: pixels of any type
 * to bits and bytes, numbers of components, filters, further features, 16-bit labels and labels by a table,
 * on label images and columns that the oracle made (test_image_cuda_stages.c takes the processor's). Skipped
 * without a device.
 */
#include "support/image_gpu.h"

#include "image/cuda/image_cuda_stages.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200, ROOM = 300 * 300, POISON = 0xA5, MOST_IMAGES = 4 };

static slc_error error;
static uint8_t drawn[ROOM];

static void *room(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

static void ok(slc_status status)
{
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

static struct CUstream_st *native(void)
{
    return slc_cuda_stream_native(image_gpu_stream());
}

/* ---- before ------------------------------------------------------------------------------------ */

static void expect_packed(const image_input *input, bool inverse, const uint64_t *bits, const uint8_t *bytes)
{
    const size_t width = input->image.width, units = (width + 63) / 64;
    for (size_t y = 0; y < input->image.height; y++) {
        for (size_t x = 0; x < units * 64; x++) {
            const bool on = x < width && (input->on[y * width + x] != 0) != inverse;
            const bool bit = bits[y * units + x / 64] >> x % 64 & 1;
            if (bit != on || (x < width && bytes[y * width + x] != on)) {
                fail_msg("%s pixels, %zu x %zu, threshold %g%s: pixel (%zu, %zu) is bit %d, byte %d, not %d",
                         slc_image_type_name(input->image.type), width, input->image.height, input->threshold,
                         inverse ? ", inverse" : "", x, y, bit, x < width ? bytes[y * width + x] : 0, on);
            }
        }
    }
}

static void pack(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (size_t i = 0; i < image_gpu_count(1500); i++) {
        const slc_image_type type = (slc_image_type)(i % SLC_IMAGE_TYPES);
        slc_image_label_config config; /* for its threshold */
        image_wish wish;
        size_t width, height;
        image_gpu_draw(0, type, &config, &wish, &seed);
        image_gpu_shape(image_gpu_side(MOST), &width, &height, &seed);
        (void)image_pattern_any(drawn, width, height, &seed);
        image_input input;
        image_input_make(&input, drawn, width, height, type, config.threshold, &seed);
        uint8_t *there = image_gpu_upload(input.block, input.size);
        const size_t bit_bytes = (width + 63) / 64 * 8 * height, bytes = width * height;
        uint64_t *bits = image_gpu_upload(NULL, bit_bytes), *bits_here = room(bit_bytes);
        uint8_t *packed = image_gpu_upload(NULL, bytes), *packed_here = room(bytes);
        const slc_image_cuda_task task = {.pixels = there +
                                                    ((const uint8_t *)input.image.pixels - input.block),
                                          .stride = input.image.stride,
                                          .type = type,
                                          .width = width,
                                          .height = height,
                                          .images = 1};
        const bool inverse = random_below(&seed, 2) == 1;
        ok(slc_image_cuda_pack_bits(&task, config.threshold, inverse, bits, native(), &error));
        ok(slc_image_cuda_pack_bytes(&task, config.threshold, inverse, packed, native(), &error));
        image_gpu_download(bits_here, bits, bit_bytes);
        image_gpu_download(packed_here, packed, bytes);
        expect_packed(&input, inverse, bits_here, packed_here);
        image_gpu_free(there);
        image_gpu_free(bits);
        image_gpu_free(packed);
        free(bits_here);
        free(packed_here);
        image_input_clear(&input);
    }
}

/* ---- numbering --------------------------------------------------------------------------------- */

/* Units of all images, most of them empty or full at times, so that sums are small and large. */
static void scan(void **state)
{
    (void)state;
    uint64_t seed = 17;
    const uint32_t most = image_gpu_count(100) < 100 ? 60000 : 4000000;
    for (size_t i = 0; i < image_gpu_count(150); i++) {
        const uint32_t images = 1 + random_below(&seed, random_below(&seed, 2) == 0 ? 3 : 2000);
        const uint32_t each = 1 + random_below(&seed, 1 + random_below(&seed, most) / images);
        const uint32_t units = each * images;
        uint64_t *roots = room(8 * (size_t)units);
        uint32_t *prefix = room(4 * (size_t)units), *first = room(4 * ((size_t)images + 1));
        const uint32_t kind = random_below(&seed, 4);
        for (uint32_t u = 0; u < units; u++) {
            const uint64_t some = random_u64(&seed);
            roots[u] = kind == 0                     ? some
                       : kind == 1                   ? UINT64_MAX
                       : kind == 2 && some % 50 != 0 ? 0
                                                     : some & some >> 32;
        }
        uint64_t *roots_there = image_gpu_upload(roots, 8 * (size_t)units);
        uint32_t *prefix_there = image_gpu_upload(NULL, 4 * (size_t)units);
        uint32_t *first_there = image_gpu_upload(NULL, 4 * ((size_t)images + 1));
        void *work = image_gpu_upload(NULL, slc_image_cuda_scan_bound(units) + 1);
        ok(slc_image_cuda_scan(roots_there, prefix_there, units, images, first_there, work, native(),
                               &error));
        image_gpu_download(prefix, prefix_there, 4 * (size_t)units);
        image_gpu_download(first, first_there, 4 * ((size_t)images + 1));
        uint32_t sum = 0;
        for (uint32_t u = 0; u < units; u++) {
            if (prefix[u] != sum || (u % each == 0 && first[u / each] != sum)) {
                fail_msg("unit %u of %u in %u images: %u before, or %u, not %u", u, units, images, prefix[u],
                         first[u / each], sum);
            }
            sum += (uint32_t)__builtin_popcountll(roots[u]);
        }
        assert_int_equal(first[images], sum);
        image_gpu_free(roots_there);
        image_gpu_free(prefix_there);
        image_gpu_free(first_there);
        image_gpu_free(work);
        free(roots);
        free(prefix);
        free(first);
    }
}

/* ---- after: images that have been labelled --------------------------------------------------------- */

/* Some label images with the rows of all, as an algorithm leaves them. */
typedef struct made {
    size_t width, height, n, rows;
    uint32_t connectivity, count[MOST_IMAGES];
    uint32_t *labels; /* of the oracle, image behind image */
    oracle_component *components[MOST_IMAGES];
    slc_image_cuda_job job; /* on the device */
    void *columns_there, *labels_there, *first_there;
    size_t column_bytes, label_bytes;
} made;

static void put_component(uint64_t *const *columns, uint32_t *const *words, size_t row,
                          const oracle_component *c)
{
    const uint64_t wide[] = {c->area, c->sum_x, c->sum_y};
    const uint64_t narrow[] = {c->x_min, c->y_min, c->x_max, c->y_max, c->first_x, c->first_y};
    for (int i = 0; i < 3; i++) {
        columns[i][row] = wide[i];
    }
    for (int i = 0; i < 6; i++) {
        words[i][row] = (uint32_t)narrow[i];
    }
}

/* Columns at equal distances: three of 64 bits, six of 32 in as much room. */
static void place_columns(uint8_t *memory, size_t rows, uint64_t **columns, uint32_t **words)
{
    for (size_t i = 0; i < 3; i++) {
        columns[i] = (uint64_t *)(void *)(memory + 8 * rows * i);
    }
    for (size_t i = 0; i < 6; i++) {
        words[i] = (uint32_t *)(void *)(memory + 8 * rows * (3 + i));
    }
}

static slc_image_cuda_columns columns_at(uint8_t *memory, size_t rows)
{
    uint64_t *c[3];
    uint32_t *w[6];
    place_columns(memory, rows, c, w);
    return (slc_image_cuda_columns){.area = c[0],
                                    .sum_x = c[1],
                                    .sum_y = c[2],
                                    .x_min = w[0],
                                    .y_min = w[1],
                                    .x_max = w[2],
                                    .y_max = w[3],
                                    .first_x = w[4],
                                    .first_y = w[5]};
}

static void label_all(made *m, const double *grey, uint64_t *seed)
{
    const size_t pixels = m->width * m->height;
    m->labels = room(4 * pixels * m->n);
    for (size_t i = 0; i < m->n; i++) {
        (void)image_pattern_any(drawn, m->width, m->height, seed);
        m->count[i] = oracle_image_label(drawn, m->width, m->height, m->connectivity, m->labels + i * pixels);
        m->components[i] = room(m->count[i] * sizeof **m->components);
        oracle_image_components(m->labels + i * pixels, m->width, m->height, m->count[i], m->connectivity,
                                grey == NULL ? NULL : grey + i * pixels, false, m->components[i]);
        m->rows += m->count[i];
    }
}

static void made_make(made *m, const double *grey, uint64_t *seed)
{
    const size_t pixels = m->width * m->height;
    label_all(m, grey, seed);
    m->column_bytes = 8 * (m->rows + 1) * 9;
    m->label_bytes = 4 * pixels * m->n;
    uint8_t *columns = room(m->column_bytes);
    memset(columns, POISON, m->column_bytes);
    uint64_t *wide[3];
    uint32_t *narrow[6], first[MOST_IMAGES + 1] = {0};
    place_columns(columns, m->rows + 1, wide, narrow);
    for (size_t i = 0; i < m->n; i++) {
        for (uint32_t k = 0; k < m->count[i]; k++) {
            put_component(wide, narrow, first[i] + k, &m->components[i][k]);
        }
        first[i + 1] = first[i] + m->count[i];
    }
    m->columns_there = image_gpu_upload(columns, m->column_bytes);
    m->labels_there = image_gpu_upload(m->labels, m->label_bytes);
    m->first_there = image_gpu_upload(first, 4 * (m->n + 1));
    m->job = (slc_image_cuda_job){.width = (uint32_t)m->width,
                                  .height = (uint32_t)m->height,
                                  .images = (uint32_t)m->n,
                                  .connectivity = m->connectivity,
                                  .labels = m->labels_there,
                                  .label_stride = (ptrdiff_t)(4 * m->width),
                                  .label_image_stride = 4 * pixels,
                                  .has_features = true,
                                  .columns = columns_at(m->columns_there, m->rows + 1),
                                  .first = m->first_there,
                                  .limit = (uint32_t)m->rows,
                                  .multiprocessors = slc_cuda_stream_multiprocessors(image_gpu_stream()),
                                  .stream = native()};
    free(columns);
}

static void made_draw(made *m, const double *grey, uint64_t *seed)
{
    *m = (made){.connectivity = random_below(seed, 2) == 0 ? 4 : 8, .n = 1 + random_below(seed, MOST_IMAGES)};
    image_gpu_shape(image_gpu_side(100), &m->width, &m->height, seed);
    made_make(m, grey, seed);
}

static void made_clear(made *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->components[i]);
    }
    free(m->labels);
    image_gpu_free(m->columns_there);
    image_gpu_free(m->labels_there);
    image_gpu_free(m->first_there);
}

/* ---- filters ----------------------------------------------------------------------------------- */

/* What the oracle's filter leaves of an image, compared with rows from `base` on; returns how many. */
static uint32_t expect_filtered(const made *m, size_t i, const slc_image_label_config *config, size_t base,
                                const uint8_t *columns, const uint32_t *labels)
{
    const size_t pixels = m->width * m->height;
    uint32_t *left = room(4 * pixels);
    memcpy(left, m->labels + i * pixels, 4 * pixels);
    const uint32_t n = oracle_image_filter(left, m->width, m->height, m->count[i], config->min_area,
                                           config->max_area, config->border);
    assert_memory_equal(left, labels + i * pixels, 4 * pixels);
    oracle_component *c = room(n * sizeof *c);
    oracle_image_components(left, m->width, m->height, n, m->connectivity, NULL, false, c);
    uint8_t *wanted = room(m->column_bytes);
    memcpy(wanted, columns, m->column_bytes);
    uint64_t *wide[3];
    uint32_t *narrow[6];
    place_columns(wanted, m->rows + 1, wide, narrow);
    for (uint32_t k = 0; k < n; k++) {
        put_component(wide, narrow, base + k, &c[k]);
    }
    assert_memory_equal(wanted, columns, m->column_bytes); /* they were so already */
    free(wanted);
    free(c);
    free(left);
    return n;
}

static void filter(void **state)
{
    (void)state;
    uint64_t seed = 21;
    for (size_t i = 0; i < image_gpu_count(500); i++) {
        made m;
        made_draw(&m, NULL, &seed);
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.min_area = 1 + random_below(&seed, 6);
        config.max_area = random_below(&seed, 2) == 0 ? UINT64_MAX
                                                      : config.min_area + random_below(&seed, 90);
        config.border = (slc_image_border)random_below(&seed, SLC_IMAGE_BORDERS);
        const bool fits = m.rows == 0 || random_below(&seed, 8) != 0;
        m.job.limit = fits ? (uint32_t)m.rows : (uint32_t)m.rows - 1;
        void *work = image_gpu_upload(NULL, slc_image_cuda_filter_bound(&m.job, m.rows));
        uint8_t *before = room(m.column_bytes), *columns = room(m.column_bytes);
        uint32_t *labels = room(m.label_bytes), first[MOST_IMAGES + 1];
        image_gpu_download(before, m.columns_there, m.column_bytes);
        ok(slc_image_cuda_filter(&m.job, &config, m.rows, work, &error));
        image_gpu_download(columns, m.columns_there, m.column_bytes);
        image_gpu_download(labels, m.labels_there, m.label_bytes);
        image_gpu_download(first, m.first_there, 4 * (m.n + 1));
        if (fits) {
            size_t base = 0;
            for (size_t k = 0; k < m.n; k++) {
                assert_int_equal(first[k], base);
                base += expect_filtered(&m, k, &config, base, columns, labels);
            }
            assert_int_equal(first[m.n], base);
        } else {
            assert_int_equal(first[m.n], m.rows);
            assert_memory_equal(before, columns, m.column_bytes);
            assert_memory_equal(m.labels, labels, m.label_bytes);
        }
        image_gpu_free(work);
        free(before);
        free(columns);
        free(labels);
        made_clear(&m);
    }
}

/* ---- further features -------------------------------------------------------------------------- */

static const uint32_t extra_features = SLC_IMAGE_SECOND | SLC_IMAGE_PERIMETER | SLC_IMAGE_EULER |
                                       SLC_IMAGE_CENTROID | SLC_IMAGE_GREY;

static void expect_extra(const made *m, uint32_t features, const slc_schema *schema, const void *there)
{
    const size_t bytes = 8 * (m->rows + 1);
    uint8_t *here = room(bytes * schema->n_columns);
    image_gpu_download(here, there, bytes * schema->n_columns);
    slc_image_components found = {.area = NULL};
    for (size_t i = 0; i < schema->n_columns; i++) {
        uint8_t *column = here + i * bytes;
        memcpy((char *)&found + schema->columns[i].member, &column, sizeof column);
        for (size_t k = m->rows * slc_type_size(schema->columns[i].type); k < bytes; k++) {
            assert_int_equal(column[k], POISON);
        }
    }
    size_t base = 0;
    for (size_t i = 0; i < m->n; i++) {
        const image_expected expected = {.n = m->count[i], .components = m->components[i]};
        image_compare_rows(&found, base, &expected, features, "further features");
        base += m->count[i];
    }
    free(here);
}

static void extra(void **state)
{
    (void)state;
    uint64_t seed = 31;
    static double value[MOST_IMAGES * ROOM / 4];
    for (size_t i = 0; i < image_gpu_count(400); i++) {
        made m = {.connectivity = random_below(&seed, 2) == 0 ? 4 : 8,
                  .n = 1 + random_below(&seed, MOST_IMAGES)};
        image_gpu_shape(image_gpu_side(100), &m.width, &m.height, &seed);
        image_input grey;
        const slc_image_type type = (slc_image_type)random_below(&seed, SLC_IMAGE_F32);
        /* All images in one, one below the other. */
        image_input_grey(&grey, m.width, m.height * m.n, type, false, &seed);
        memcpy(value, grey.value, m.width * m.height * m.n * sizeof *value);
        made_make(&m, value, &seed);
        uint8_t *there = image_gpu_upload(grey.block, grey.size);
        const uint8_t *top = grey.image.pixels;
        const bool upwards = grey.image.stride < 0;
        const size_t distance = (size_t)(upwards ? -grey.image.stride : grey.image.stride) * m.height;
        const slc_image_cuda_task task = {.pixels = there + (top - grey.block),
                                          .stride = grey.image.stride,
                                          .image_stride = m.n > 1 ? distance : 0,
                                          .type = type,
                                          .width = m.width,
                                          .height = m.height,
                                          .images = m.n};
        uint32_t features = extra_features & random_below(&seed, SLC_IMAGE_ALL + 1);
        features &= upwards && m.n > 1 ? ~(uint32_t)SLC_IMAGE_GREY : ~0U; /* images go upwards as well */
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(features, columns);
        uint8_t *memory = image_gpu_upload(NULL, 8 * (m.rows + 1) * schema.n_columns + 1);
        slc_image_components components = {.head = {.capacity = m.rows}};
        for (size_t k = 0; k < schema.n_columns; k++) {
            uint8_t *column = memory + 8 * (m.rows + 1) * k;
            memcpy((char *)&components + columns[k].member, &column, sizeof column);
        }
        void *work = image_gpu_upload(NULL, slc_image_cuda_extra_bound(&m.job, features, m.rows) + 1);
        ok(slc_image_cuda_extra(&m.job, features, (features & SLC_IMAGE_GREY) != 0 ? &task : NULL,
                                &components, work, &error));
        expect_extra(&m, features, &schema, memory);
        image_gpu_free(work);
        image_gpu_free(memory);
        image_gpu_free(there);
        image_input_clear(&grey);
        made_clear(&m);
    }
}

/* ---- labels ------------------------------------------------------------------------------------ */

static void narrow_and_relabel(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (size_t i = 0; i < image_gpu_count(300); i++) {
        made m;
        made_draw(&m, NULL, &seed);
        const size_t pitch = m.width + random_below(&seed, 5),
                     distance = pitch * m.height + random_below(&seed, 9);
        uint16_t *there = image_gpu_upload(NULL, 2 * distance * m.n), *here = room(2 * distance * m.n);
        ok(slc_image_cuda_narrow(&m.job, there, (ptrdiff_t)(2 * pitch), 2 * distance, &error));
        image_gpu_download(here, there, 2 * distance * m.n);
        for (size_t k = 0; k < distance * m.n; k++) {
            const size_t y = k % distance / pitch, x = k % distance % pitch;
            const bool inside = y < m.height && x < m.width;
            const size_t pixel = (k / distance * m.height + y) * m.width + x;
            assert_int_equal(here[k], inside ? m.labels[pixel] : 0xA5A5);
        }
        uint32_t *table = room(4 * ((size_t)m.count[0] + 1)), *labels = room(m.label_bytes);
        for (uint32_t k = 0; k <= m.count[0]; k++) {
            table[k] = (uint32_t)random_u64(&seed);
        }
        uint32_t *table_there = image_gpu_upload(table, 4 * ((size_t)m.count[0] + 1));
        m.job.images = 1;
        ok(slc_image_cuda_relabel(&m.job, table_there, &error));
        image_gpu_download(labels, m.labels_there, m.label_bytes);
        for (size_t k = 0; k < m.width * m.height * m.n; k++) {
            assert_int_equal(labels[k], k < m.width * m.height ? table[m.labels[k]] : m.labels[k]);
        }
        image_gpu_free(table_there);
        image_gpu_free(there);
        free(here);
        free(table);
        free(labels);
        made_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack),
        cmocka_unit_test(scan),
        cmocka_unit_test(filter),
        cmocka_unit_test(extra),
        cmocka_unit_test(narrow_and_relabel),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
