/* SPDX-License-Identifier: Apache-2.0
 *
 * Large images on a GPU, 256 x 256 to 16384 x 16384 pixels of all densities and granularities, with both
 * connectivities: labels and features must be, byte for byte, those of the processor's own algorithm, whose
 * tests are elsewhere. The largest sizes have fewer combinations, so that all takes a minute or two on a GPU.
 * Skipped without a device.
 */
#include "base/columns.h"
#include "support/image_gpu.h"

#include "support/cmocka_all.h"
#include "support/image_patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5 };

static slc_error error;

/* ---- two labellers ----------------------------------------------------------------------------- */

/* One side's memory and results; the processor's, and a GPU's. */
typedef struct side {
    slc_image_labeller *labels, *features; /* NULL: what the algorithm cannot */
    uint32_t *out;
    slc_image_components components;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    uint32_t n;
} side;

static void side_open(side *s, const char *device, const char *algorithm, uint32_t connectivity, size_t size,
                      bool labels, bool features)
{
    memset(s, 0, sizeof *s);
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = device;
    config.algorithm = algorithm;
    config.connectivity = connectivity;
    config.exec.threads = 0;
    if (labels) {
        s->labels = image_labeller_open(&config, size, size);
        s->out = malloc(4 * size * size);
        assert_non_null(s->out);
    }
    config.features = IMAGE_GPU_MADE;
    if (features) {
        s->features = image_labeller_open(&config, size, size);
        s->schema = slc_image_components_schema(config.features, s->columns);
    }
}

static void side_close(side *s)
{
    slc_image_label_close(s->labels);
    slc_image_label_close(s->features);
    if (s->schema.n_columns > 0) {
        slc_columns_clear(&s->schema, &s->components);
    }
    free(s->out);
}

static void label(side *s, const slc_image *image, const char *what)
{
    memset(s->out, POISON, 4 * image->width * image->height);
    slc_image_labels out = {.labels = s->out, .stride = (ptrdiff_t)(4 * image->width), .type = SLC_TYPE_U32};
    if (slc_image_label_run(s->labels, image, NULL, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
    s->n = out.n_labels;
}

static void analyse(side *s, const slc_image *image, uint32_t n, const char *what)
{
    if (slc_columns_reserve(&s->schema, &s->components, n, 1) != SLC_OK) {
        fail_msg("%s: no memory for %u components", what, n);
    }
    slc_columns_reset(&s->components);
    for (size_t i = 0; i < s->schema.n_columns; i++) {
        memset(*(void **)(void *)((char *)&s->components + s->columns[i].member), POISON,
               n * slc_type_size(s->columns[i].type));
    }
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &s->components};
    if (slc_image_label_run(s->features, image, NULL, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
    s->n = out.n_labels;
}

static void expect_labels(const side *gpu, const side *cpu, const slc_image *image, const char *what)
{
    if (gpu->n != cpu->n) {
        fail_msg("%s: %u labels, not %u", what, gpu->n, cpu->n);
    }
    if (memcmp(gpu->out, cpu->out, 4 * image->width * image->height) != 0) {
        size_t i = 0;
        while (gpu->out[i] == cpu->out[i]) {
            i++;
        }
        fail_msg("%s: the first label that differs is at (%zu, %zu), %u and not %u", what, i % image->width,
                 i / image->width, gpu->out[i], cpu->out[i]);
    }
}

static void expect_features(const side *gpu, const side *cpu, const char *what)
{
    if (gpu->components.head.size != cpu->components.head.size) {
        fail_msg("%s: %zu components, not %zu", what, gpu->components.head.size, cpu->components.head.size);
    }
    for (size_t i = 0; i < cpu->schema.n_columns; i++) {
        const uint8_t *a = *(uint8_t *const *)(const void *)((const char *)&gpu->components +
                                                             cpu->columns[i].member);
        const uint8_t *b = *(uint8_t *const *)(const void *)((const char *)&cpu->components +
                                                             cpu->columns[i].member);
        const size_t size = slc_type_size(cpu->columns[i].type);
        for (size_t k = 0; k < cpu->n && memcmp(a, b, cpu->n * size) != 0; k++) {
            if (memcmp(a + k * size, b + k * size, size) != 0) {
                fail_msg("%s: %s of component %zu of %u is another", what, cpu->columns[i].name, k + 1,
                         cpu->n);
            }
        }
    }
}

/* ---- combinations ------------------------------------------------------------------------------ */

typedef struct combinations {
    size_t side;
    uint32_t granularity[6], density[12]; /* end with 0 and with 101 */
} combinations;

#define ALL_DENSITIES                                                                                        \
    {                                                                                                        \
        0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 101                                                      \
    }

static void compare(side *gpu, side *cpu, const slc_image *image, const char *what)
{
    label(cpu, image, what);
    if (gpu->labels != NULL) {
        label(gpu, image, what);
        expect_labels(gpu, cpu, image, what);
    }
    if (gpu->features != NULL) {
        analyse(gpu, image, cpu->n, what);
        analyse(cpu, image, cpu->n, what);
        expect_features(gpu, cpu, what);
    }
}

static void compare_all(const combinations *c, size_t algorithm, uint32_t connectivity)
{
    const size_t size = c->side;
    const char *name = slc_image_cuda_algorithm_name(algorithm);
    side gpu, cpu;
    side_open(&gpu, "cuda", name, connectivity, size, slc_image_cuda_algorithm_labels(algorithm),
              slc_image_cuda_algorithm_features(algorithm));
    side_open(&cpu, NULL, NULL, connectivity, size, true, true);
    uint8_t *on = malloc(size * size);
    assert_non_null(on);
    const slc_image image = {on, size, size, (ptrdiff_t)size, SLC_IMAGE_U8};
    uint64_t seed = size + connectivity;
    for (const uint32_t *g = c->granularity; *g != 0; g++) {
        for (const uint32_t *d = c->density; *d <= 100; d++) {
            char what[120];
            (void)snprintf(what, sizeof what, "%s, %u-connected, %zu x %zu, g = %u, density %u %%", name,
                           connectivity, size, size, *g, *d);
            image_macro_pixels(on, size, size, *g, *d, &seed);
            compare(&gpu, &cpu, &image, what);
        }
    }
    free(on);
    side_close(&gpu);
    side_close(&cpu);
}

static void largest(const combinations *c, size_t n, size_t algorithm)
{
    for (size_t i = 0; i < n && image_gpu_wanted(algorithm); i++) {
        if (c[i].side <= image_gpu_side(1 << 14)) {
            compare_all(&c[i], algorithm, 8);
            compare_all(&c[i], algorithm, 4);
        }
    }
}

static void by_default(void **state)
{
    (void)state;
    static const combinations all[] = {
        {256, {1, 2, 4, 8, 16, 0}, ALL_DENSITIES},
        {500, {1, 2, 4, 8, 16, 0}, ALL_DENSITIES},
        {1024, {1, 2, 4, 8, 16, 0}, ALL_DENSITIES},
        {2048, {1, 2, 4, 8, 16, 0}, ALL_DENSITIES},
        {4096, {1, 4, 16, 0}, {0, 20, 40, 50, 60, 80, 100, 101}},
        {8192, {1, 4, 16, 0}, {0, 30, 45, 60, 100, 101}},
        {16384, {1, 4, 16, 0}, {40, 60, 101}},
    };
    largest(all, sizeof all / sizeof *all, 0);
}

static void by_all(void **state)
{
    (void)state;
    static const combinations some[] = {
        {256, {1, 2, 4, 16, 0}, {0, 10, 30, 40, 50, 60, 80, 100, 101}},
        {1000, {1, 2, 8, 0}, {0, 20, 40, 60, 80, 100, 101}},
        {4000, {1, 4, 0}, {45, 60, 101}},
    };
    for (size_t a = 1; a < image_gpu_algorithms(); a++) {
        largest(some, sizeof some / sizeof *some, a);
    }
}

/* ---- patterns and repetitions -------------------------------------------------------------------- */

static void patterns(void **state)
{
    (void)state;
    const size_t size = image_gpu_side(2000);
    uint8_t *on = malloc(size * size);
    assert_non_null(on);
    const slc_image image = {on, size, size, (ptrdiff_t)size, SLC_IMAGE_U8};
    uint64_t seed = 3;
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        side gpu, cpu;
        side_open(&gpu, "cuda", NULL, connectivity, size, true, true);
        side_open(&cpu, NULL, NULL, connectivity, size, true, true);
        for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
            char what[120];
            (void)snprintf(what, sizeof what, "%s, %u-connected, %zu x %zu", pattern->name, connectivity,
                           size, size);
            pattern->draw(on, size, size, &seed);
            compare(&gpu, &cpu, &image, what);
        }
        side_close(&gpu);
        side_close(&cpu);
    }
    free(on);
}

/* Atomic operations come in another order every time; the results do not show it. */
static void twenty_times(void **state)
{
    (void)state;
    const size_t size = image_gpu_side(4096);
    uint8_t *on = malloc(size * size);
    assert_non_null(on);
    const slc_image image = {on, size, size, (ptrdiff_t)size, SLC_IMAGE_U8};
    uint64_t seed = 4;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        const uint32_t connectivity = a % 2 == 0 ? 8 : 4;
        side gpu, cpu;
        side_open(&gpu, "cuda", slc_image_cuda_algorithm_name(a), connectivity, size,
                  slc_image_cuda_algorithm_labels(a), slc_image_cuda_algorithm_features(a));
        side_open(&cpu, NULL, NULL, connectivity, size, true, true);
        image_macro_pixels(on, size, size, 1, connectivity == 8 ? 42 : 59, &seed);
        compare(&gpu, &cpu, &image, slc_image_cuda_algorithm_name(a));
        for (int run = 1; run < (a == 0 ? 20 : 5) && image_gpu_wanted(a); run++) {
            char what[80];
            (void)snprintf(what, sizeof what, "%s, run %d", slc_image_cuda_algorithm_name(a), run + 1);
            if (gpu.labels != NULL) {
                label(&gpu, &image, what);
                expect_labels(&gpu, &cpu, &image, what);
            }
            if (gpu.features != NULL) {
                analyse(&gpu, &image, cpu.n, what);
                expect_features(&gpu, &cpu, what);
            }
        }
        side_close(&gpu);
        side_close(&cpu);
    }
    free(on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default),
        cmocka_unit_test(by_all),
        cmocka_unit_test(patterns),
        cmocka_unit_test(twenty_times),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
