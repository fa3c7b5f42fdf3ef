/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done before and after labelling on a GPU (image_cuda_stages.h), without the algorithms between: the
 * processor's labels and features go to the device, and what the stages make of them must be what the
 * processor makes, bit for bit. Stacks of images of all types, strides of either sign, no alignment; memory
 * behind the results is looked at, too. Exits with 77 where there is no GPU.
 */
#include "base/columns.h"
#include "cuda/cuda_stream.h"
#include "image/cuda/image_cuda_stages.h"
#include "image/image_features.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, MOST_SIDE = 400, MOST_IMAGES = 4, POISON = 0xA5 };

static slc_cuda_stream *stream;
static slc_error error; /* of the last call */
static char about[256]; /* what is tested, for messages */

#define ASSERT_OK(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != SLC_OK) {                                                                              \
            fail_msg("%s: %s (%s)", #call, error.text, about);                                               \
        }                                                                                                    \
    } while (0)

/* ---- memory of the device ---------------------------------------------------------------------- */

/* Of just that size, so that what is written behind it is found. */
static void *device_new(slc_cuda_memory *memory, size_t bytes)
{
    slc_cuda_memory_clear(memory);
    ASSERT_OK(slc_cuda_memory_reserve(stream, memory, bytes > 0 ? bytes : 1, "a test", &error));
    ASSERT_OK(slc_cuda_fill(stream, memory->at, POISON, bytes, &error));
    return memory->at;
}

static void *device_copy(slc_cuda_memory *memory, const void *host, size_t bytes, size_t room)
{
    void *at = device_new(memory, room);
    ASSERT_OK(slc_cuda_to_device(stream, at, host, bytes, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    return at;
}

static void assert_on_device(const char *what, const void *device, const void *wanted, size_t bytes)
{
    uint8_t *found = malloc(bytes + 1);
    assert_non_null(found);
    ASSERT_OK(slc_cuda_to_host(stream, found, device, bytes, &error));
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    for (size_t i = 0; i < bytes; i++) {
        if (found[i] != ((const uint8_t *)wanted)[i]) {
            fail_msg("%s: byte %zu of %zu is 0x%02x and not 0x%02x (%s)", what, i, bytes, found[i],
                     ((const uint8_t *)wanted)[i], about);
        }
    }
    free(found);
}

/* ---- stacks of images -------------------------------------------------------------------------- */

/* Row y of image i begins at memory + start + i · image_stride + y · stride, on the host and on the device.
 * The last row ends where the memory ends. */
typedef struct stack {
    slc_image_type type;
    uint32_t width, height, n;
    ptrdiff_t stride;
    size_t image_stride, start, bytes;
    uint8_t *memory;
    slc_cuda_memory device;
} stack;

static const double thresholds[SLC_IMAGE_TYPES] = {100, 30000, 3e9, 0.5, 1};

static size_t pixel_size(slc_image_type type)
{
    return type == SLC_IMAGE_BITS ? 1 : slc_image_row_bytes(type, 1);
}

static uint8_t *row_of(const stack *s, uint32_t image, uint32_t y)
{
    return s->memory + s->start + image * s->image_stride + (ptrdiff_t)y * s->stride;
}

/* On: at the threshold or above; off: below it, one below it, or not a number. */
static void put(const stack *s, uint8_t *row, uint32_t x, bool on, uint64_t *seed)
{
    const uint32_t far = random_below(seed, 4) == 0 ? 0 : random_below(seed, 90);
    const uint8_t narrow = (uint8_t)(on ? 100 + far : 99 - far);
    const uint16_t middle = (uint16_t)(on ? 30000 + 300 * far : 29999 - 300 * far);
    const uint32_t wide = on ? 3000000000U + 10000000 * far : 2999999999U - 30000000 * far;
    const float below = far == 0 ? nextafterf(0.5F, 0) : far < 10 ? (float)NAN : -(float)far;
    const float real = on ? 0.5F + (float)far : below;
    switch (s->type) {
    case SLC_IMAGE_U8:
        memcpy(row + x, &narrow, sizeof narrow);
        break;
    case SLC_IMAGE_U16:
        memcpy(row + 2 * (size_t)x, &middle, sizeof middle);
        break;
    case SLC_IMAGE_U32:
        memcpy(row + 4 * (size_t)x, &wide, sizeof wide);
        break;
    case SLC_IMAGE_F32:
        memcpy(row + 4 * (size_t)x, &real, sizeof real);
        break;
    default:
        row[x / 8] = (uint8_t)((row[x / 8] & ~(1U << x % 8)) | (on ? 1U : 0U) << x % 8);
        break;
    }
}

/* Strides are multiples of 16, or of no more than the pixels' size. */
static void lay_out(stack *s, uint64_t *seed)
{
    const size_t row = slc_image_row_bytes(s->type, s->width), size = pixel_size(s->type);
    const bool aligned = random_below(seed, 2) == 0, negative = random_below(seed, 3) == 0;
    const size_t step = aligned ? (row + 15) / 16 * 16 : row + random_below(seed, 5) * size;
    const size_t lead = aligned ? 0 : random_below(seed, 4) * size;
    s->image_stride = step * s->height + (aligned ? 0 : random_below(seed, 3) * size);
    s->stride = negative ? -(ptrdiff_t)step : (ptrdiff_t)step;
    s->start = lead + (negative ? step * (s->height - 1) : 0);
    s->bytes = lead + s->image_stride * (s->n - 1) + step * (s->height - 1) + row;
}

static void stack_open(stack *s, slc_image_type type, uint32_t width, uint32_t height, uint32_t n,
                       uint64_t *seed)
{
    static uint8_t on[MOST_SIDE * MOST_SIDE];
    *s = (stack){.type = type, .width = width, .height = height, .n = n};
    lay_out(s, seed);
    s->memory = malloc(s->bytes);
    assert_non_null(s->memory);
    for (size_t i = 0; i < s->bytes; i++) { /* gaps hold something, too */
        s->memory[i] = (uint8_t)random_u64(seed);
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *name = image_pattern_any(on, width, height, seed);
        (void)snprintf(about, sizeof about, "%u x %u x %u of type %s, %s", width, height, n,
                       slc_image_type_name(type), name);
        for (uint32_t y = 0; y < height; y++) {
            for (uint32_t x = 0; x < width; x++) {
                put(s, row_of(s, i, y), x, on[(size_t)y * width + x] != 0, seed);
            }
        }
    }
    (void)device_copy(&s->device, s->memory, s->bytes, s->bytes);
}

static void stack_close(stack *s)
{
    free(s->memory);
    slc_cuda_memory_clear(&s->device);
}

static slc_image image_of(const stack *s, uint32_t i)
{
    return (slc_image){row_of(s, i, 0), s->width, s->height, s->stride, s->type};
}

static slc_image_cuda_task task_of(const stack *s)
{
    return (slc_image_cuda_task){.pixels = (char *)s->device.at + s->start,
                                 .stride = s->stride,
                                 .image_stride = s->image_stride,
                                 .type = s->type,
                                 .width = s->width,
                                 .height = s->height,
                                 .images = s->n};
}

/* Up to 12 pixels wide as often as up to 60 and up to 400. */
static uint32_t any_side(uint64_t *seed)
{
    static const uint32_t most[] = {12, 60, MOST_SIDE};
    return 1 + random_below(seed, most[random_below(seed, 3)]);
}

/* ---- packing ----------------------------------------------------------------------------------- */

static double value_of(const stack *s, const uint8_t *row, uint32_t x)
{
    uint16_t middle;
    uint32_t wide;
    float real;
    switch (s->type) {
    case SLC_IMAGE_U8:
        return row[x];
    case SLC_IMAGE_U16:
        memcpy(&middle, row + 2 * (size_t)x, sizeof middle);
        return middle;
    case SLC_IMAGE_U32:
        memcpy(&wide, row + 4 * (size_t)x, sizeof wide);
        return wide;
    case SLC_IMAGE_F32:
        memcpy(&real, row + 4 * (size_t)x, sizeof real);
        return real;
    default:
        return 0;
    }
}

/* One pixel after the other, all of them compared as doubles, which hold every value of every type. */
static void pack_on_host(const stack *s, double threshold, bool inverse, uint64_t *bits, uint8_t *bytes)
{
    const size_t words = (s->width + 63) / 64;
    memset(bits, 0, (size_t)s->n * s->height * words * sizeof *bits);
    for (uint32_t i = 0; i < s->n * s->height; i++) {
        const uint8_t *row = row_of(s, i / s->height, i % s->height);
        for (uint32_t x = 0; x < s->width; x++) {
            const bool on = s->type == SLC_IMAGE_BITS ? (row[x / 8] >> x % 8 & 1) != 0
                                                      : value_of(s, row, x) >= threshold;
            bits[i * words + x / 64] |= (uint64_t)(on != inverse) << x % 64;
            bytes[(size_t)i * s->width + x] = on != inverse;
        }
    }
}

static void pack_one(uint64_t *seed)
{
    static const double others[] = {0,   -5,  0.5000000001, 1,   99.5, 127,     128,
                                    129, 255, 255.5,        256, 7e4,  3e9 + 1, 1e300};
    stack s;
    stack_open(&s, (slc_image_type)random_below(seed, SLC_IMAGE_TYPES), any_side(seed), any_side(seed),
               1 + random_below(seed, MOST_IMAGES), seed);
    const double other = others[random_below(seed, sizeof others / sizeof *others)];
    const double threshold = random_below(seed, 2) == 0 ? thresholds[s.type] : other;
    const bool inverse = random_below(seed, 2) == 0;
    const size_t rows = (size_t)s.n * s.height, words = rows * ((s.width + 63) / 64);
    slc_cuda_memory packed = {0};
    uint64_t *bits = malloc(words * sizeof *bits);
    uint8_t *bytes = malloc(rows * s.width);
    assert_true(bits != NULL && bytes != NULL);
    const slc_image_cuda_task task = task_of(&s);
    pack_on_host(&s, threshold, inverse, bits, bytes);
    (void)device_new(&packed, words * sizeof *bits);
    ASSERT_OK(slc_image_cuda_pack_bits(&task, threshold, inverse, packed.at, slc_cuda_stream_native(stream),
                                       &error));
    assert_on_device("bits", packed.at, bits, words * sizeof *bits);
    (void)device_new(&packed, rows * s.width);
    ASSERT_OK(slc_image_cuda_pack_bytes(&task, threshold, inverse, packed.at, slc_cuda_stream_native(stream),
                                        &error));
    assert_on_device("bytes", packed.at, bytes, rows * s.width);
    slc_cuda_memory_clear(&packed);
    free(bits);
    free(bytes);
    stack_close(&s);
}

static void test_pack(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        pack_one(&seed);
    }
}

/* ---- after labelling --------------------------------------------------------------------------- */

/* What the processor makes of a stack: labels, counts, features. */
typedef struct result {
    uint32_t *labels, first[MOST_IMAGES + 1];
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components components;
} result;

static void label_on_host(const slc_image_label_config *config, const stack *s, const stack *grey,
                          bool inverse, result *r)
{
    const size_t pixels = (size_t)s->width * s->height;
    slc_image_labeller *labeller = NULL;
    memset(r, 0, sizeof *r);
    r->schema = slc_image_components_schema(config->features, r->columns);
    r->labels = malloc(pixels * s->n * sizeof *r->labels);
    assert_non_null(r->labels);
    assert_int_equal(slc_columns_reserve(&r->schema, &r->components, pixels * s->n, s->n), SLC_OK);
    ASSERT_OK(slc_image_label_open(config, &labeller, &error));
    ASSERT_OK(slc_image_label_reserve(labeller, s->width, s->height, &error));
    for (uint32_t i = 0; i < s->n; i++) {
        const slc_image image = image_of(s, i), values = image_of(grey, i);
        slc_image_labels out = {.labels = r->labels + i * pixels,
                                .stride = (ptrdiff_t)(s->width * sizeof *r->labels),
                                .type = SLC_TYPE_U32,
                                .components = &r->components};
        ASSERT_OK(slc_image_label_run(labeller, &image, &values, inverse ? NULL : &out, inverse ? &out : NULL,
                                      &error));
        r->first[i + 1] = r->first[i] + out.n_labels;
    }
    slc_image_label_close(labeller);
}

static void result_close(result *r)
{
    slc_columns_clear(&r->schema, &r->components);
    free(r->labels);
}

/* One job on the device, and what it shall become. */
typedef struct after {
    stack image, grey;
    slc_image_label_config config; /* of the filters */
    bool inverse, over;            /* over: there are more components than the limit */
    result raw, wanted;
    size_t rows;                                                   /* room */
    uint32_t label_step, label_image_step, label_start, n_entries; /* of label images, in labels */
    bool upwards;
    slc_cuda_memory labels, first, work, narrow, columns[SLC_IMAGE_COLUMNS];
    slc_image_components components; /* of the device */
    slc_image_cuda_job job;
} after;

static void draw(after *a, uint64_t *seed)
{
    const uint32_t width = any_side(seed), height = any_side(seed), n = 1 + random_below(seed, MOST_IMAGES);
    const slc_image_type grey = (slc_image_type)random_below(seed, SLC_IMAGE_TYPES);
    stack_open(&a->grey, grey, width, height, n, seed);
    stack_open(&a->image, (slc_image_type)random_below(seed, SLC_IMAGE_TYPES), width, height, n, seed);
    if (random_below(seed, 6) == 0) { /* a mass of 0 */
        memset(a->grey.memory, 0, a->grey.bytes);
        (void)device_copy(&a->grey.device, a->grey.memory, a->grey.bytes, a->grey.bytes);
    }
    slc_image_label_config_default(&a->config);
    a->config.exec.target = SLC_SIMD_C;
    a->config.connectivity = random_below(seed, 2) == 0 ? 4 : 8;
    a->config.threshold = thresholds[a->image.type];
    a->config.features = SLC_IMAGE_ALL & ~(grey == SLC_IMAGE_F32 ? (uint32_t)SLC_IMAGE_GREY : 0);
    a->inverse = random_below(seed, 4) == 0;
    label_on_host(&a->config, &a->image, &a->grey, a->inverse, &a->raw);
    a->over = a->raw.first[n] > 0 && random_below(seed, 8) == 0;
    if (random_below(seed, 4) != 0) {
        a->config.min_area = random_below(seed, 7);
        a->config.max_area = random_below(seed, 2) == 0 ? UINT64_MAX
                                                        : a->config.min_area + random_below(seed, 60);
        a->config.border = (slc_image_border)random_below(seed, SLC_IMAGE_BORDERS);
    }
    label_on_host(&a->config, &a->image, &a->grey, a->inverse, &a->wanted);
    const size_t at = strlen(about);
    (void)snprintf(about + at, sizeof about - at,
                   ", grey %s, %u neighbours, areas %llu to %llu, border %d%s%s", slc_image_type_name(grey),
                   a->config.connectivity, (unsigned long long)a->config.min_area,
                   (unsigned long long)a->config.max_area, (int)a->config.border,
                   a->inverse ? ", inverse" : "", a->over ? ", too many" : "");
}

/* The processor's label images with the strides of the device's. */
static uint32_t *laid_out(const after *a, const uint32_t *labels)
{
    const stack *s = &a->image;
    uint32_t *all = malloc(a->n_entries * sizeof *all);
    assert_non_null(all);
    memset(all, POISON, a->n_entries * sizeof *all);
    for (uint32_t i = 0; i < s->n * s->height; i++) {
        const size_t top = a->label_start + (size_t)(i / s->height) * a->label_image_step;
        const size_t down = (size_t)(i % s->height) * a->label_step;
        memcpy(all + (a->upwards ? top - down : top + down), labels + (size_t)i * s->width,
               s->width * sizeof *all);
    }
    return all;
}

static void put_labels(after *a, uint64_t *seed)
{
    const stack *s = &a->image;
    a->upwards = random_below(seed, 3) == 0;
    a->label_step = s->width + random_below(seed, 4);
    a->label_image_step = a->label_step * s->height + random_below(seed, 3);
    a->label_start = a->upwards ? a->label_step * (s->height - 1) : 0;
    a->n_entries = a->label_image_step * (s->n - 1) + a->label_step * (s->height - 1) + s->width;
    uint32_t *labels = laid_out(a, a->raw.labels);
    const size_t bytes = a->n_entries * sizeof *labels;
    const ptrdiff_t step = (ptrdiff_t)(a->label_step * sizeof *labels);
    a->job.labels = (uint32_t *)device_copy(&a->labels, labels, bytes, bytes) + a->label_start;
    a->job.label_stride = a->upwards ? -step : step;
    a->job.label_image_stride = a->label_image_step * sizeof *labels;
    free(labels);
}

/* What algorithms make is there, everything else is to be made. */
static void put_columns(after *a)
{
    const uint32_t made = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;
    const size_t n = a->raw.components.head.size;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema given = slc_image_components_schema(made, columns);
    for (size_t i = 0, next = 0; i < a->raw.schema.n_columns; i++) {
        const slc_column *column = &a->raw.columns[i];
        const size_t size = slc_type_size(column->type);
        const bool is_given = next < given.n_columns && columns[next].member == column->member;
        next += is_given;
        *slc_column_pointer(&a->components, column) = device_copy(&a->columns[i],
                                                                  slc_column_data(&a->raw.components, column),
                                                                  is_given ? n * size : 0, a->rows * size);
    }
    const slc_image_components *c = &a->components;
    a->job.columns = (slc_image_cuda_columns){c->area,  c->sum_x, c->sum_y,   c->x_min,  c->y_min,
                                              c->x_max, c->y_max, c->first_x, c->first_y};
}

static void put_job(after *a, uint64_t *seed)
{
    const uint32_t found = a->raw.first[a->image.n];
    a->rows = found + (random_below(seed, 3) == 0 ? random_below(seed, 3000) : 0);
    a->job.width = a->image.width;
    a->job.height = a->image.height;
    a->job.images = a->image.n;
    a->job.connectivity = a->inverse ? 12 - a->config.connectivity : a->config.connectivity;
    a->job.inverse = a->inverse;
    a->job.has_features = true;
    a->job.limit = a->over ? found - 1 : random_below(seed, 2) == 0 ? (uint32_t)a->rows : UINT32_MAX;
    a->job.first = device_copy(&a->first, a->raw.first, (a->image.n + 1) * sizeof *a->raw.first,
                               (a->image.n + 1) * sizeof *a->raw.first);
    a->job.multiprocessors = 1 + random_below(seed, 3);
    a->job.stream = slc_cuda_stream_native(stream);
    put_labels(a, seed);
    put_columns(a);
}

/* Columns that were made, for as many rows as there are. */
static void assert_columns(const after *a, const result *wanted, uint32_t features)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    for (size_t i = 0; i < schema.n_columns; i++) {
        assert_on_device(columns[i].name, *slc_column_pointer((void *)&a->components, &columns[i]),
                         slc_column_data(&wanted->components, &columns[i]),
                         wanted->components.head.size * slc_type_size(columns[i].type));
    }
}

/* The shape, which the processor makes of the device's sums. */
static void assert_shape(const after *a)
{
    const size_t n = a->wanted.components.head.size;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const uint32_t sums = slc_image_features_needed(SLC_IMAGE_SHAPE) & ~(uint32_t)SLC_IMAGE_SHAPE;
    const slc_schema schema = slc_image_components_schema(sums | SLC_IMAGE_SHAPE, columns);
    slc_image_components c = {.head = {.capacity = 0}};
    assert_int_equal(slc_columns_reserve(&schema, &c, n, 1), SLC_OK);
    for (size_t i = 0; i < schema.n_columns; i++) {
        if (*slc_column_pointer((void *)&a->components, &columns[i]) != NULL) {
            ASSERT_OK(slc_cuda_to_host(stream, *slc_column_pointer(&c, &columns[i]),
                                       *slc_column_pointer((void *)&a->components, &columns[i]),
                                       n * slc_type_size(columns[i].type), &error));
        }
    }
    ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    slc_image_features_end(SLC_IMAGE_SHAPE, &c, 0, (uint32_t)n, SLC_IMAGE_U8);
    assert_memory_equal(c.orientation, a->wanted.components.orientation, n * sizeof(double));
    assert_memory_equal(c.eccentricity, a->wanted.components.eccentricity, n * sizeof(double));
    assert_memory_equal(c.major, a->wanted.components.major, n * sizeof(double));
    assert_memory_equal(c.minor, a->wanted.components.minor, n * sizeof(double));
    slc_columns_clear(&schema, &c);
}

/* Where there are too many, nothing is made. */
static void assert_untouched(after *a)
{
    const size_t pixels = (size_t)a->image.width * a->image.height * a->image.n, row = a->image.width * 2;
    const size_t bytes = a->rows * sizeof(double) > pixels * 2 ? a->rows * sizeof(double) : pixels * 2;
    uint8_t *poison = malloc(bytes);
    assert_non_null(poison);
    memset(poison, POISON, bytes);
    const void *const columns[] = {a->components.sum_xx, a->components.perimeter, a->components.euler,
                                   a->components.x, a->components.mass};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        if (columns[i] != NULL) {
            assert_on_device("a column", columns[i], poison, a->rows * sizeof(double));
        }
    }
    (void)device_new(&a->narrow, pixels * 2);
    ASSERT_OK(slc_image_cuda_narrow(&a->job, a->narrow.at, (ptrdiff_t)row, row * a->image.height, &error));
    assert_on_device("labels of 16 bits", a->narrow.at, poison, pixels * 2);
    free(poison);
}

static void assert_narrow(after *a)
{
    const size_t n = (size_t)a->image.width * a->image.height * a->image.n, row = a->image.width * 2;
    uint16_t *wanted = malloc(n * sizeof *wanted);
    assert_non_null(wanted);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = (uint16_t)a->wanted.labels[i];
    }
    (void)device_new(&a->narrow, n * sizeof *wanted);
    ASSERT_OK(slc_image_cuda_narrow(&a->job, a->narrow.at, (ptrdiff_t)row, row * a->image.height, &error));
    assert_on_device("labels of 16 bits", a->narrow.at, wanted, n * sizeof *wanted);
    free(wanted);
}

static void assert_after(after *a, uint32_t features)
{
    const result *wanted = a->over ? &a->raw : &a->wanted;
    uint32_t *labels = laid_out(a, wanted->labels);
    assert_on_device("first", a->first.at, wanted->first, (a->image.n + 1) * sizeof *wanted->first);
    assert_on_device("labels", a->labels.at, labels, a->n_entries * sizeof *labels);
    assert_columns(a, wanted, SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS);
    if (!a->over) {
        assert_columns(a, wanted, features & ~(uint32_t)SLC_IMAGE_SHAPE);
        if ((features & SLC_IMAGE_SECOND) != 0) {
            assert_shape(a);
        }
        assert_narrow(a);
    } else {
        assert_untouched(a);
    }
    free(labels);
}

static void after_close(after *a)
{
    slc_cuda_memory *const all[] = {&a->labels, &a->first, &a->work, &a->narrow};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_cuda_memory_clear(all[i]);
    }
    for (size_t i = 0; i < SLC_IMAGE_COLUMNS; i++) {
        slc_cuda_memory_clear(&a->columns[i]);
    }
    result_close(&a->raw);
    result_close(&a->wanted);
    stack_close(&a->image);
    stack_close(&a->grey);
}

static void test_after(void **state)
{
    (void)state;
    uint64_t seed = 2;
    static after a;
    for (int round = 0; round < ROUNDS; round++) {
        memset(&a, 0, sizeof a);
        draw(&a, &seed);
        put_job(&a, &seed);
        (void)device_new(&a.work, slc_image_cuda_filter_bound(&a.job, a.rows));
        ASSERT_OK(slc_image_cuda_filter(&a.job, &a.config, a.rows, a.work.at, &error));
        const uint32_t some = random_below(&seed, 2) == 0 ? SLC_IMAGE_ALL : (uint32_t)random_u64(&seed);
        const slc_image_cuda_task grey = task_of(&a.grey);
        (void)device_new(&a.work, slc_image_cuda_extra_bound(&a.job, a.config.features & some, a.rows));
        ASSERT_OK(
            slc_image_cuda_extra(&a.job, a.config.features & some, &grey, &a.components, a.work.at, &error));
        assert_after(&a, a.config.features & some);
        after_close(&a);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    const slc_image_cuda_task reals = {.type = SLC_IMAGE_F32};
    const slc_image_components none = {.head = {.capacity = 0}};
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    const slc_image_cuda_job job = {.width = 1, .height = 1, .images = 1};
    assert_int_equal(slc_image_cuda_extra(&job, SLC_IMAGE_GREY, &reals, &none, NULL, &error),
                     SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "raster order"));
    assert_int_equal(slc_image_cuda_extra(&job, SLC_IMAGE_EULER, NULL, &none, NULL, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "label image"));
    assert_int_equal(slc_image_cuda_filter(&job, &config, 1, NULL, &error), SLC_ERR_USAGE);
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_after),
        cmocka_unit_test(test_refusals),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_stream_close(stream);
    return failed;
}
