/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs for tests of labelling.
 */
#include "support/image_gpu.h"

#include "support/cmocka_all.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5, MOST_PIECES = 16 };

static slc_cuda_stream *stream;
static slc_error error;
static slc_cuda_memory pieces[MOST_PIECES];

/* ---- the device -------------------------------------------------------------------------------- */

bool image_gpu_there(void)
{
    if (slc_cuda_devices(&error) == 0) {
        printf("SKIPPED: %s\n", error.text);
        return false;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        printf("FAILED: %s\n", error.text);
        exit(1);
    }
    return true;
}

void image_gpu_done(void)
{
    slc_cuda_stream_close(stream);
    stream = NULL;
}

size_t image_gpu_count(size_t n)
{
    size_t count = n;
#ifdef SLUICE_SIMT
    count = image_test_count(n / 12 + 1);
#endif
    if (getenv("SLUICE_TEST_SMALL") != NULL) {
        count /= 10;
    }
    return count > 0 ? count : 1;
}

size_t image_gpu_step(void)
{
    const size_t step = 10000 / image_gpu_count(10000);
#ifdef SLUICE_SIMT
    /* An emulated block takes as long for an image of 16 pixels as for a whole tile. */
    return (step < 60 ? 4 * step : 2 * step) | 1;
#else
    return step | 1;
#endif
}

size_t image_gpu_side(size_t n)
{
#ifdef SLUICE_SIMT
    return n < 200 ? n : 200;
#else
    return getenv("SLUICE_TEST_SMALL") != NULL && n > 300 ? 300 : n;
#endif
}

size_t image_gpu_algorithms(void)
{
    size_t n = 0;
    while (slc_image_cuda_algorithm_name(n) != NULL) {
        n++;
    }
    return n;
}

bool image_gpu_wanted(size_t algorithm)
{
    const char *name = getenv("SLUICE_TEST_ALGORITHM");
    return name == NULL || strcmp(name, slc_image_cuda_algorithm_name(algorithm)) == 0;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void ok(slc_status status)
{
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

void *image_gpu_upload(const void *from, size_t bytes)
{
    size_t i = 0;
    while (i < MOST_PIECES && pieces[i].at != NULL) {
        i++;
    }
    assert_true(i < MOST_PIECES);
    ok(slc_cuda_memory_reserve(stream, &pieces[i], bytes, "a test", &error));
    if (from != NULL) {
        ok(slc_cuda_to_device(stream, pieces[i].at, from, bytes, &error));
    } else {
        ok(slc_cuda_fill(stream, pieces[i].at, POISON, bytes, &error));
    }
    ok(slc_cuda_stream_wait(stream, &error));
    return pieces[i].at;
}

void image_gpu_download(void *to, const void *from, size_t bytes)
{
    ok(slc_cuda_to_host(stream, to, from, bytes, &error));
    ok(slc_cuda_stream_wait(stream, &error));
}

void image_gpu_free(void *memory)
{
    for (size_t i = 0; i < MOST_PIECES; i++) {
        if (memory != NULL && pieces[i].at == memory) {
            slc_cuda_memory_clear(&pieces[i]);
            return;
        }
    }
    assert_null(memory);
}

slc_cuda_stream *image_gpu_stream(void)
{
    return stream;
}

/* ---- chance ------------------------------------------------------------------------------------ */

slc_image_type image_gpu_type(uint64_t *seed)
{
    return random_below(seed, 2) == 0 ? SLC_IMAGE_U8 : (slc_image_type)random_below(seed, SLC_IMAGE_TYPES);
}

static double draw_threshold(slc_image_type type, uint64_t *seed)
{
    static const double u8[] = {1, 1, 1, 2, 17, 127.3, 128, 255, 256, 1000, 0, -3, 0.25};
    static const double u16[] = {1, 1, 255, 256.5, 40000, 65535, 65536, 0, -1};
    static const double u32[] = {1, 1, 65536, 1e9 + 0.5, 4294967295.0, 4294967296.0, 0, -1};
    static const double f32[] = {1, 0, -2.5, 0.1, 1e30, 16777217, -1e-40};
    switch (type) {
    case SLC_IMAGE_U8:
        return u8[random_below(seed, sizeof u8 / sizeof *u8)];
    case SLC_IMAGE_U16:
        return u16[random_below(seed, sizeof u16 / sizeof *u16)];
    case SLC_IMAGE_U32:
        return u32[random_below(seed, sizeof u32 / sizeof *u32)];
    case SLC_IMAGE_F32:
        return f32[random_below(seed, sizeof f32 / sizeof *f32)];
    default:
        return 1;
    }
}

void image_gpu_draw(size_t algorithm, slc_image_type type, slc_image_label_config *config, image_wish *wish,
                    uint64_t *seed)
{
    const bool labels = slc_image_cuda_algorithm_labels(algorithm);
    const bool features = slc_image_cuda_algorithm_features(algorithm);
    slc_image_label_config_default(config);
    config->exec.device = "cuda";
    config->algorithm = slc_image_cuda_algorithm_name(algorithm);
    config->connectivity = random_below(seed, 2) == 0 ? 8 : 4;
    config->threshold = draw_threshold(type, seed);
    config->exec.threads = 1 + random_below(seed, 3);
    *wish = (image_wish){.foreground = true, .labels = labels, .type = SLC_TYPE_U32};
    if (features && (!labels || random_below(seed, 3) != 0)) {
        config->features = random_below(seed, SLC_IMAGE_ALL + 1);
        config->features &= labels && random_below(seed, 2) == 0 ? SLC_IMAGE_ALL : IMAGE_GPU_PLAIN;
        config->features |= config->features == 0 ? SLC_IMAGE_AREA : 0;
        wish->components = true;
        wish->labels = labels && random_below(seed, 2) == 0;
    }
    if (features && random_below(seed, 4) == 0) {
        config->border = (slc_image_border)random_below(seed, SLC_IMAGE_BORDERS);
        config->min_area = 1 + random_below(seed, 8);
        config->max_area = config->min_area + random_below(seed, 200);
    }
    if (random_below(seed, 3) == 0) {
        wish->background = true;
        wish->foreground = random_below(seed, 3) != 0;
    }
    wish->type = random_below(seed, 4) == 0 ? SLC_TYPE_U16 : SLC_TYPE_U32;
}

static size_t draw_side(size_t most, uint64_t *seed)
{
    size_t side = 1 + random_below(seed, 1 + random_below(seed, (uint32_t)most));
    if (random_below(seed, 4) == 0) { /* about whole words and tiles */
        side = 32 * (1 + random_below(seed, (uint32_t)most / 32 + 1)) - 1 + random_below(seed, 3);
    }
    return side;
}

void image_gpu_shape(size_t most, size_t *width, size_t *height, uint64_t *seed)
{
    *width = draw_side(most, seed);
    *height = draw_side(most, seed);
    switch (random_below(seed, 16)) {
    case 0:
        *height = 1;
        break;
    case 1:
        *width = 1;
        break;
    default:
        break;
    }
}

/* ---- runs on memory of either kind ------------------------------------------------------------- */

/* A piece of memory that is the host's or has a twin on the device. */
typedef struct twin {
    uint8_t *host, *device;
    size_t size;
} twin;

static void *twin_of(twin *t, uint8_t *host, size_t size, bool on_device, const void *address)
{
    *t = (twin){.host = host, .size = size};
    if (!on_device) {
        return (void *)(uintptr_t)address;
    }
    t->device = image_gpu_upload(host, size);
    return t->device + ((const uint8_t *)address - host);
}

static void twin_end(twin *t)
{
    if (t->device != NULL) {
        image_gpu_download(t->host, t->device, t->size);
        image_gpu_free(t->device);
    }
}

/* Columns in one piece of memory, for so many rows. */
static uint8_t *lay_columns(const slc_schema *schema, slc_image_components *c, size_t rows, size_t *size)
{
    *size = 8 * (rows + 1) * SLC_IMAGE_COLUMNS;
    uint8_t *memory = malloc(*size);
    assert_non_null(memory);
    memset(memory, POISON, *size);
    for (size_t i = 0; i < schema->n_columns; i++) {
        uint8_t *column = memory + 8 * (rows + 1) * i;
        memcpy((char *)c + schema->columns[i].member, &column, sizeof column);
    }
    return memory;
}

static void move_columns(const slc_schema *schema, slc_image_components *c, const uint8_t *from, uint8_t *to)
{
    for (size_t i = 0; i < schema->n_columns && from != NULL && to != NULL; i++) {
        uint8_t *column;
        memcpy(&column, (char *)c + schema->columns[i].member, sizeof column);
        column = to + (column - from);
        memcpy((char *)c + schema->columns[i].member, &column, sizeof column);
    }
}

void image_gpu_run_expect(slc_image_labeller *labeller, const slc_image_label_config *config,
                          const image_input *input, image_wish wish, uint32_t places, uint64_t *seed)
{
    char what[400];
    (void)snprintf(what, sizeof what, "%s; on the device: %s%s%s", image_config_text(config),
                   places & 1 ? "image " : "", places & 2 ? "labels " : "", places & 4 ? "components" : "");
    image_expected expected;
    image_output output;
    image_expect(&expected, input, NULL, config, false);
    image_output_make(&output, input->image.width, input->image.height, wish.type, seed);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    slc_image_components components = {.head = {.capacity = expected.n, .event_capacity = 1}};
    uint32_t offsets[2] = {0};
    components.head.event_offset = offsets;
    size_t size;
    uint8_t *memory = lay_columns(&schema, &components, expected.n, &size);

    twin image_twin, label_twin, column_twin;
    slc_image image = input->image;
    slc_image_labels labels = output.labels;
    image.pixels = twin_of(&image_twin, input->block, input->size, places & 1, image.pixels);
    labels.labels = twin_of(&label_twin, output.block, output.size, places & 2, labels.labels);
    labels.labels = wish.labels ? labels.labels : NULL;
    (void)twin_of(&column_twin, memory, size, places & 4, memory);
    move_columns(&schema, &components, memory, column_twin.device);
    labels.components = wish.components ? &components : NULL;
    if (slc_image_label_run(labeller, &image, NULL, &labels, NULL, &error) != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
    move_columns(&schema, &components, column_twin.device, memory);
    twin_end(&image_twin);
    twin_end(&label_twin);
    twin_end(&column_twin);
    assert_int_equal(labels.n_labels, expected.n);
    assert_true(image_input_unchanged(input));
    if (wish.labels) {
        image_output_expect(&output, expected.labels, what);
    }
    if (wish.components) {
        assert_int_equal(components.head.size, expected.n);
        image_compare_components(&components, 0, &expected, config->features, what);
    }
    free(memory);
    image_expected_clear(&expected);
    image_output_clear(&output);
}
