/* SPDX-License-Identifier: Apache-2.0
 *
 * Many images in one call, on a GPU: all images of up to 4 x 4 pixels by every algorithm, batches of 1 to
 * 1000 images of mixed shapes, where a batch ends that has no room, and the same on the processor. Against
 * the oracle; skipped without a device.
 */
#include "support/image_gpu.h"

#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5, CHUNK = 4096, SMALL = 16, MOST_COMPONENTS = 8 };

static void *room(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

/* ---- every small image ------------------------------------------------------------------------- */

/* Images of one shape, one behind the other, and what must come out. */
typedef struct small_set {
    size_t width, height, n;
    uint8_t on[CHUNK * SMALL];
    uint32_t labels[CHUNK * SMALL], count[CHUNK];
    oracle_component components[CHUNK][MOST_COMPONENTS];
} small_set;

static small_set set;
static uint32_t found[CHUNK * SMALL];
static slc_image images[CHUNK];
static slc_image_labels outs[CHUNK];

/* Images first, first + step …; returns the next after them. */
static uint32_t fill_set(size_t width, size_t height, uint32_t connectivity, uint32_t first, uint32_t step)
{
    const size_t pixels = width * height;
    set.width = width;
    set.height = height;
    uint32_t bits = first;
    for (set.n = 0; set.n < CHUNK && bits < 1U << pixels; set.n++, bits += step) {
        uint8_t *on = set.on + set.n * pixels;
        uint32_t *labels = set.labels + set.n * pixels;
        for (size_t i = 0; i < pixels; i++) {
            on[i] = bits >> i & 1;
        }
        set.count[set.n] = oracle_image_label(on, width, height, connectivity, labels);
        oracle_image_components(labels, width, height, set.count[set.n], connectivity, NULL, false,
                                set.components[set.n]);
    }
    return bits;
}

static void small_failure(const char *algorithm, uint32_t connectivity, size_t i)
{
    const size_t pixels = set.width * set.height;
    char picture[2 * SMALL + 8] = "";
    for (size_t k = 0; k < pixels; k++) {
        (void)strcat(picture, set.on[i * pixels + k] ? "#" : ".");
        (void)strcat(picture, k % set.width == set.width - 1 && k + 1 < pixels ? "/" : "");
    }
    fail_msg("%s, %u-connected, %s (number %zu of %zu): %u labels, not %u, or in other places", algorithm,
             connectivity, picture, i, set.n, outs[i].n_labels, set.count[i]);
}

/* The set as one batch. */
static void run_set(slc_image_labeller *labeller, const slc_image_label_config *config,
                    slc_image_components *components)
{
    const size_t pixels = set.width * set.height;
    memset(found, POISON, sizeof found);
    for (size_t i = 0; i < set.n; i++) {
        images[i] = (slc_image){set.on + i * pixels, set.width, set.height, (ptrdiff_t)set.width,
                                SLC_IMAGE_U8};
        outs[i] = (slc_image_labels){.labels = components == NULL ? found + i * pixels : NULL,
                                     .stride = (ptrdiff_t)(4 * set.width),
                                     .type = SLC_TYPE_U32,
                                     .components = components};
    }
    size_t done = 0;
    slc_error error;
    if (slc_image_label_batch(labeller, images, outs, set.n, &done, &error) != SLC_OK || done != set.n) {
        fail_msg("%s: %zu of %zu: %s", image_config_text(config), done, set.n, error.text);
    }
    size_t base = 0;
    for (size_t i = 0; i < set.n; i++) {
        if (outs[i].n_labels != set.count[i] ||
            (components == NULL && memcmp(found + i * pixels, set.labels + i * pixels, 4 * pixels) != 0)) {
            small_failure(config->algorithm, config->connectivity, i);
        }
        if (components != NULL) {
            const image_expected expected = {.n = set.count[i], .components = set.components[i]};
            assert_int_equal(components->head.event_offset[i], base);
            image_compare_rows(components, base, &expected, config->features, image_config_text(config));
            base += set.count[i];
        }
    }
}

/* One chunk of images by one algorithm: labels, then features. */
static void small_by(size_t algorithm, uint32_t connectivity)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    config.algorithm = slc_image_cuda_algorithm_name(algorithm);
    config.connectivity = connectivity;
    if (slc_image_cuda_algorithm_labels(algorithm)) {
        slc_image_labeller *labeller = image_labeller_open(&config, 16, 16);
        run_set(labeller, &config, NULL);
        slc_image_label_close(labeller);
    }
    if (slc_image_cuda_algorithm_features(algorithm)) {
        slc_column columns[SLC_IMAGE_COLUMNS];
        config.features = IMAGE_GPU_PLAIN;
        const slc_schema schema = slc_image_components_schema(config.features, columns);
        slc_image_components components = {.area = NULL};
        assert_int_equal(slc_columns_reserve(&schema, &components, set.n * MOST_COMPONENTS, CHUNK), SLC_OK);
        slc_image_labeller *labeller = image_labeller_open(&config, 16, 16);
        run_set(labeller, &config, &components);
        slc_image_label_close(labeller);
        slc_columns_clear(&schema, &components);
    }
}

static void every_small_image(void **state)
{
    (void)state;
    for (size_t width = 1; width <= 4; width++) {
        for (size_t height = 1; height <= 4; height++) {
            for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
                const uint32_t step = width * height < 9 ? 1 : (uint32_t)image_gpu_step();
                for (uint32_t next = 0; next < 1U << width * height;) {
                    next = fill_set(width, height, connectivity, next, step);
                    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
                        if (image_gpu_wanted(a)) {
                            small_by(a, connectivity);
                        }
                    }
                }
            }
        }
    }
}

/* ---- batches of all kinds ---------------------------------------------------------------------- */

/* Images in groups of one shape each, which lie at one distance, with what must come out. */
typedef struct batch {
    size_t n;
    slc_image *images;
    slc_image_labels *outs;
    image_expected *expected;
    uint8_t **pixels; /* of each group */
    uint32_t **labels;
    size_t *label_words;
    size_t n_groups;
    uint64_t rows; /* components in all */
} batch;

static void batch_make(batch *b, size_t n, size_t most, const slc_image_label_config *config, uint64_t *seed)
{
    *b = (batch){.n = n};
    b->images = room(n * sizeof *b->images);
    b->outs = room(n * sizeof *b->outs);
    b->expected = room(n * sizeof *b->expected);
    b->pixels = room(n * sizeof *b->pixels);
    b->labels = room(n * sizeof *b->labels);
    b->label_words = room(n * sizeof *b->label_words);
    for (size_t i = 0; i < n;) {
        size_t width, height, g = b->n_groups++;
        image_gpu_shape(most, &width, &height, seed);
        const size_t left = n - i, group = 1 + random_below(seed, (uint32_t)left);
        const size_t stride = width + random_below(seed, 9),
                     distance = stride * height + random_below(seed, 70);
        const size_t label_stride = width + random_below(seed, 3), gap = random_below(seed, 5);
        const size_t label_distance = label_stride * height + gap;
        b->pixels[g] = room(group * distance);
        b->label_words[g] = group * label_distance;
        b->labels[g] = room(4 * group * label_distance);
        memset(b->pixels[g], 255, group * distance);
        memset(b->labels[g], POISON, 4 * group * label_distance);
        uint8_t *on = room(width * height);
        double *value = room(width * height * sizeof *value);
        for (size_t k = 0; k < group; k++, i++) {
            uint8_t *at = b->pixels[g] + k * distance;
            (void)image_pattern_any(on, width, height, seed);
            for (size_t y = 0; y < height; y++) {
                memcpy(at + y * stride, on + y * width, width);
            }
            b->images[i] = (slc_image){at, width, height, (ptrdiff_t)stride, SLC_IMAGE_U8};
            b->outs[i] = (slc_image_labels){.labels = b->labels[g] + k * label_distance,
                                            .stride = (ptrdiff_t)(4 * label_stride),
                                            .type = SLC_TYPE_U32};
            for (size_t p = 0; p < width * height; p++) {
                value[p] = on[p];
            }
            const image_input input = {.image = b->images[i], .on = on, .value = value};
            image_expect(&b->expected[i], &input, NULL, config, false);
            b->rows += b->expected[i].n;
        }
        free(on);
        free(value);
    }
}

static void batch_clear(batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        image_expected_clear(&b->expected[i]);
    }
    for (size_t g = 0; g < b->n_groups; g++) {
        free(b->pixels[g]);
        free(b->labels[g]);
    }
    free(b->images);
    free(b->outs);
    free(b->expected);
    free(b->pixels);
    free(b->labels);
    free(b->label_words);
}

/* Labels of the first `done` images, which become poison again; then nothing else may have been written. */
static void expect_labels(batch *b, size_t done, const char *what)
{
    for (size_t i = 0; i < done; i++) {
        for (size_t y = 0; y < b->images[i].height; y++) {
            uint8_t *row = (uint8_t *)b->outs[i].labels + (ptrdiff_t)y * b->outs[i].stride;
            const size_t width = b->images[i].width;
            if (memcmp(row, b->expected[i].labels + y * width, 4 * width) != 0) {
                fail_msg("%s: image %zu of %zu, %zu x %zu, row %zu has other labels", what, i, b->n, width,
                         b->images[i].height, y);
            }
            memset(row, POISON, 4 * width);
        }
    }
    for (size_t g = 0; g < b->n_groups; g++) {
        for (size_t k = 0; k < 4 * b->label_words[g]; k++) {
            if (((const uint8_t *)b->labels[g])[k] != POISON) {
                fail_msg("%s: byte %zu of group %zu was written, with %zu images done", what, k, g, done);
            }
        }
    }
}

static void expect_components(const batch *b, const slc_image_components *components, size_t done,
                              const slc_image_label_config *config, const char *what)
{
    size_t base = 0;
    assert_int_equal(components->head.n_events, done);
    for (size_t i = 0; i < done; i++) {
        assert_int_equal(components->head.event_offset[i], base);
        image_compare_rows(components, base, &b->expected[i], config->features, what);
        base += b->expected[i].n;
    }
    assert_int_equal(components->head.size, base);
}

/* One batch; `capacity` rows of components (ignored without features) may be too few. */
static void batch_run(batch *b, slc_image_labeller *labeller, const slc_image_label_config *config,
                      bool labels, uint64_t capacity)
{
    const char *what = image_config_text(config);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    slc_image_components components = {.area = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &components, capacity, (uint32_t)b->n), SLC_OK);
    components.head.capacity = capacity;
    size_t fitting = b->n;
    uint64_t rows = 0;
    for (size_t i = 0; i < b->n; i++) {
        rows += b->expected[i].n;
        fitting = config->features != 0 && rows > capacity && i < fitting ? i : fitting;
        b->outs[i].components = config->features != 0 ? &components : NULL;
        b->outs[i].n_labels = 0xdeadbeef;
    }
    void **kept = room(b->n * sizeof *kept);
    for (size_t i = 0; i < b->n; i++) {
        kept[i] = b->outs[i].labels;
        b->outs[i].labels = labels ? b->outs[i].labels : NULL;
    }
    size_t done = SIZE_MAX;
    slc_error error = {0};
    const slc_status status = slc_image_label_batch(labeller, b->images, b->outs, b->n, &done, &error);
    if (status != (fitting < b->n ? SLC_ERR_CAPACITY : SLC_OK) || done != fitting) {
        fail_msg("%s: %s, %zu done and not %zu of %zu: %s", what, slc_status_name(status), done, fitting,
                 b->n, error.text);
    }
    for (size_t i = 0; i < b->n; i++) {
        if (i <= fitting) {
            assert_int_equal(b->outs[i].n_labels, b->expected[i].n);
        }
        b->outs[i].labels = kept[i];
    }
    expect_labels(b, labels ? fitting : 0, what);
    if (config->features != 0) {
        expect_components(b, &components, fitting, config, what);
    }
    slc_columns_clear(&schema, &components);
    free(kept);
}

static void mixed_batches_of(const char *device, const char *algorithm, bool labels, bool features,
                             uint64_t *seed)
{
    static const size_t sizes[] = {1, 2, 3, 17, 100, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const size_t n = sizes[s] < image_gpu_count(2000) ? sizes[s] : image_gpu_count(2000);
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.exec.device = device;
        config.algorithm = algorithm;
        config.connectivity = s % 2 ? 4 : 8;
        config.features = features && (s % 3 != 0 || !labels) ? IMAGE_GPU_PLAIN : 0;
        if (features && random_below(seed, 3) == 0) {
            config.min_area = 1 + random_below(seed, 5);
            config.border = (slc_image_border)random_below(seed, SLC_IMAGE_BORDERS);
        }
        slc_image_labeller *labeller = image_labeller_open(&config, 130, 130);
        batch b;
        batch_make(&b, n, n > 50 ? 20 : 90, &config, seed);
        const bool both = labels && (config.features == 0 || random_below(seed, 2) == 0);
        batch_run(&b, labeller, &config, both, b.rows);
        if (config.features != 0 && b.rows > 0) {
            batch_run(&b, labeller, &config, both, random_below(seed, (uint32_t)b.rows));
            batch_run(&b, labeller, &config, both, b.rows - 1);
        }
        batch_run(&b, labeller, &config, both, b.rows + 5);
        batch_clear(&b);
        slc_image_label_close(labeller);
    }
}

static void mixed_batches(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (image_gpu_wanted(a)) {
            mixed_batches_of("cuda", slc_image_cuda_algorithm_name(a), slc_image_cuda_algorithm_labels(a),
                             slc_image_cuda_algorithm_features(a), &seed);
        }
    }
}

static void the_same_on_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        mixed_batches_of(a % 2 == 0 ? NULL : "cpu", slc_image_algorithm_name(a), true, true, &seed);
    }
}

/* No images are no error. */
static void an_empty_batch(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    slc_image_labeller *labeller = image_labeller_open(&config, 16, 16);
    size_t done = 3;
    assert_int_equal(slc_image_label_batch(labeller, NULL, NULL, 0, &done, NULL), SLC_OK);
    assert_int_equal(done, 0);
    slc_image_label_close(labeller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_image),
        cmocka_unit_test(mixed_batches),
        cmocka_unit_test(the_same_on_the_processor),
        cmocka_unit_test(an_empty_batch),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
