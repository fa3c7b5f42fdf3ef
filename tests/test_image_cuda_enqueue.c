/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling of what is on a GPU, in a stream of the caller's and in a graph: images of any type, stride and
 * distance, labels, columns and counts on the device, all against the oracle; too little room; refusals.
 * Skipped without a device.
 */
#include "base/columns.h"
#include "support/image_gpu.h"

#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xA5, MOST = 12 };

static slc_error error;

static void *room(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

static void ok(slc_status status, const char *what)
{
    if (status != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
}

/* ---- a task ------------------------------------------------------------------------------------ */

/* A row of images in a block of memory with gaps, and what must come of them. */
typedef struct a_task {
    slc_image_label_config config;
    slc_image_cuda_task is;
    size_t n, rows; /* components in all */
    image_expected expected[MOST];
    uint8_t *pixels, *labels; /* as they are on the device, and must be */
    size_t pixel_bytes, label_bytes;
    uint8_t *pixels_there, *labels_there, *columns_there;
    uint32_t *first_there;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components components;
    void *work;
    size_t work_bytes;
    char text[300];
} a_task;

/* Rows of one block: `*row` bytes are used of `stride`, the first of image 0 at the returned offset. */
static size_t lay_out(size_t row, size_t align, size_t height, size_t n, ptrdiff_t *stride, size_t *distance,
                      size_t *bytes, uint64_t *seed)
{
    const size_t gap = random_below(seed, 2) == 0 ? 0 : random_below(seed, 40) * align;
    const size_t pitch = row + gap, offset = random_below(seed, 20) * align;
    const bool bottom_up = random_below(seed, 4) == 0;
    *distance = pitch * height + random_below(seed, 9) * align;
    *bytes = offset + *distance * n;
    *stride = bottom_up ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    return offset + (bottom_up ? (height - 1) * pitch : 0);
}

/* One image into the block at `to`, and its expectation. */
static void add_image(a_task *t, size_t i, uint8_t *to, uint64_t *seed)
{
    const size_t width = t->is.width, height = t->is.height;
    uint8_t *on = room(width * height);
    (void)image_pattern_any(on, width, height, seed);
    image_input input;
    image_input_make(&input, on, width, height, t->is.type, t->config.threshold, seed);
    for (size_t y = 0; y < height; y++) {
        memcpy(to + (ptrdiff_t)y * t->is.stride,
               (const uint8_t *)input.image.pixels + (ptrdiff_t)y * input.image.stride,
               slc_image_row_bytes(t->is.type, width));
    }
    image_expect(&t->expected[i], &input, NULL, &t->config, false);
    t->rows += t->expected[i].n;
    image_input_clear(&input);
    free(on);
}

/* Where labels must be, in a block that is poisoned elsewhere. */
static void add_labels(const a_task *t, size_t i, uint8_t *to)
{
    for (size_t y = 0; y < t->is.height; y++) {
        memcpy(to + (ptrdiff_t)y * t->is.label_stride, t->expected[i].labels + y * t->is.width,
               4 * t->is.width);
    }
}

static void make_images(a_task *t, uint64_t *seed)
{
    const size_t align = t->is.type == SLC_IMAGE_BITS ? 1 : slc_image_row_bytes(t->is.type, 1);
    const size_t row = slc_image_row_bytes(t->is.type, t->is.width);
    const size_t at = lay_out(row, align, t->is.height, t->n, &t->is.stride, &t->is.image_stride,
                              &t->pixel_bytes, seed);
    t->pixels = room(t->pixel_bytes);
    for (size_t i = 0; i < t->pixel_bytes; i++) {
        t->pixels[i] = (uint8_t)random_u64(seed);
    }
    for (size_t i = 0; i < t->n; i++) {
        add_image(t, i, t->pixels + at + i * t->is.image_stride, seed);
    }
    t->pixels_there = image_gpu_upload(t->pixels, t->pixel_bytes);
    t->is.pixels = t->pixels_there + at;
}

static void make_labels(a_task *t, uint64_t *seed)
{
    const size_t at = lay_out(4 * t->is.width, 4, t->is.height, t->n, &t->is.label_stride,
                              &t->is.label_image_stride, &t->label_bytes, seed);
    t->labels = room(t->label_bytes);
    memset(t->labels, POISON, t->label_bytes);
    for (size_t i = 0; i < t->n; i++) {
        add_labels(t, i, t->labels + at + i * t->is.label_image_stride);
    }
    t->labels_there = image_gpu_upload(NULL, t->label_bytes);
    t->is.labels = (uint32_t *)(void *)(t->labels_there + at);
}

static size_t column_bytes(const a_task *t)
{
    return 8 * (t->rows + 2);
}

static void make_columns(a_task *t)
{
    t->schema = slc_image_components_schema(t->config.features, t->columns);
    t->columns_there = image_gpu_upload(NULL, column_bytes(t) * t->schema.n_columns);
    for (size_t i = 0; i < t->schema.n_columns; i++) {
        uint8_t *column = t->columns_there + i * column_bytes(t);
        memcpy((char *)&t->components + t->columns[i].member, &column, sizeof column);
    }
    t->components.head.capacity = t->rows;
    t->is.components = &t->components;
}

static void task_make(a_task *t, size_t algorithm, uint64_t *seed)
{
    memset(t, 0, sizeof *t);
    t->is.type = image_gpu_type(seed);
    image_wish wish;
    do {
        image_gpu_draw(algorithm, t->is.type, &t->config, &wish, seed);
    } while (t->config.min_area > 1 || t->config.border != SLC_IMAGE_BORDER_ANY ||
             t->config.max_area < UINT32_MAX);
    t->config.features &= IMAGE_GPU_PLAIN;
    t->n = 1 + random_below(seed, MOST);
    t->is.images = t->n;
    image_gpu_shape(image_gpu_side(120), &t->is.width, &t->is.height, seed);
    make_images(t, seed);
    if (slc_image_cuda_algorithm_labels(algorithm) && (wish.labels || t->config.features == 0)) {
        make_labels(t, seed);
    }
    if (t->config.features != 0) {
        make_columns(t);
    }
    t->first_there = image_gpu_upload(NULL, 4 * (t->n + 1));
    t->is.first = t->first_there;
    (void)snprintf(t->text, sizeof t->text, "%s, %zu %s images of %zu x %zu, %s%s",
                   image_config_text(&t->config), t->n, slc_image_type_name(t->is.type), t->is.width,
                   t->is.height, t->labels != NULL ? "labels " : "", t->config.features ? "columns" : "");
}

static void task_clear(a_task *t)
{
    for (size_t i = 0; i < t->n; i++) {
        image_expected_clear(&t->expected[i]);
    }
    free(t->pixels);
    free(t->labels);
    image_gpu_free(t->pixels_there);
    image_gpu_free(t->labels_there);
    image_gpu_free(t->columns_there);
    image_gpu_free(t->first_there);
    image_gpu_free(t->work);
}

/* ---- what must come out ------------------------------------------------------------------------ */

/* What is written is poisoned anew. */
static void poison(const a_task *t)
{
    slc_cuda_stream *stream = image_gpu_stream();
    ok(slc_cuda_fill(stream, t->first_there, POISON, 4 * (t->n + 1), &error), "poison");
    ok(slc_cuda_fill(stream, t->labels_there, POISON, t->label_bytes, &error), "poison");
    ok(slc_cuda_fill(stream, t->columns_there, POISON, column_bytes(t) * t->schema.n_columns, &error),
       "poison");
    ok(slc_cuda_fill(stream, t->work, POISON, t->work_bytes, &error), "poison");
}

static void expect_poison(const uint8_t *there, size_t bytes, const a_task *t, const char *what)
{
    uint8_t *here = room(bytes);
    image_gpu_download(here, there, bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (here[i] != POISON) {
            fail_msg("%s: byte %zu of %zu of %s was written", t->text, i, bytes, what);
        }
    }
    free(here);
}

static void expect_labels(const a_task *t)
{
    uint8_t *here = room(t->label_bytes);
    image_gpu_download(here, t->labels_there, t->label_bytes);
    for (size_t i = 0; i < t->label_bytes; i++) {
        if (here[i] != t->labels[i]) {
            fail_msg("%s: byte %zu of %zu of the label images is %#x, not %#x", t->text, i, t->label_bytes,
                     here[i], t->labels[i]);
        }
    }
    free(here);
}

static void expect_columns(const a_task *t)
{
    const size_t bytes = column_bytes(t);
    uint8_t *here = room(bytes * t->schema.n_columns);
    image_gpu_download(here, t->columns_there, bytes * t->schema.n_columns);
    slc_image_components found = {.area = NULL};
    for (size_t i = 0; i < t->schema.n_columns; i++) {
        uint8_t *column = here + i * bytes;
        memcpy((char *)&found + t->columns[i].member, &column, sizeof column);
        for (size_t k = t->rows * slc_type_size(t->columns[i].type); k < bytes; k++) {
            if (column[k] != POISON) {
                fail_msg("%s: column %s was written beyond its rows", t->text, t->columns[i].name);
            }
        }
    }
    size_t base = 0;
    for (size_t i = 0; i < t->n; i++) {
        image_compare_rows(&found, base, &t->expected[i], t->config.features, t->text);
        base += t->expected[i].n;
    }
    free(here);
}

/* `fits`: there was room for all components. */
static void expect(const a_task *t, bool fits)
{
    uint32_t first[MOST + 1], total = 0;
    image_gpu_download(first, t->first_there, 4 * (t->n + 1));
    for (size_t i = 0; i <= t->n; i++) {
        if (first[i] != total) {
            fail_msg("%s: first[%zu] is %u, not %u", t->text, i, first[i], total);
        }
        total += i < t->n ? t->expected[i].n : 0;
    }
    if (t->labels != NULL && fits) {
        expect_labels(t);
    } else if (t->labels != NULL) {
        expect_poison(t->labels_there, t->label_bytes, t, "the label images");
    }
    if (t->config.features != 0 && fits) {
        expect_columns(t);
    } else if (t->config.features != 0) {
        expect_poison(t->columns_there, column_bytes(t) * t->schema.n_columns, t, "the columns");
    }
    uint8_t *pixels = room(t->pixel_bytes);
    image_gpu_download(pixels, t->pixels_there, t->pixel_bytes);
    assert_memory_equal(pixels, t->pixels, t->pixel_bytes);
    free(pixels);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static slc_status enqueue(slc_image_labeller *labeller, const a_task *t)
{
    return slc_image_cuda_enqueue(labeller, &t->is, t->work, t->work_bytes,
                                  slc_cuda_stream_native(image_gpu_stream()), &error);
}

static void in_a_stream(slc_image_labeller *labeller, a_task *t)
{
    poison(t);
    ok(enqueue(labeller, t), t->text);
    expect(t, true);
    if (t->config.features != 0 && t->rows > 0) {
        t->components.head.capacity = t->rows - 1;
        poison(t);
        ok(enqueue(labeller, t), t->text);
        expect(t, false);
        t->components.head.capacity = t->rows;
    }
}

static void in_a_graph(slc_image_labeller *labeller, const a_task *t)
{
    slc_cuda_stream *stream = image_gpu_stream();
    slc_cuda_graph graph = {.exec = NULL};
    ok(slc_cuda_graph_begin(stream, &error), t->text);
    const slc_status recorded = enqueue(labeller, t);
    ok(slc_cuda_graph_end(stream, &graph, recorded, &error), t->text);
    for (int run = 0; run < 2; run++) {
        poison(t);
        ok(slc_cuda_graph_launch(stream, &graph, &error), t->text);
        expect(t, true);
    }
    slc_cuda_graph_clear(&graph);
}

static void random_tasks(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        uint64_t seed = 900 + a;
        for (size_t i = 0; image_gpu_wanted(a) && i < image_gpu_count(60); i++) {
            static a_task t;
            task_make(&t, a, &seed);
            slc_image_labeller *labeller = image_labeller_open(&t.config, 1, 1);
            t.work_bytes = slc_image_cuda_work_bound(labeller, &t.is);
            assert_true(t.work_bytes > 0);
            t.work = image_gpu_upload(NULL, t.work_bytes);
            in_a_stream(labeller, &t);
            in_a_graph(labeller, &t);
            slc_image_label_close(labeller);
            task_clear(&t);
        }
    }
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static void refused(slc_image_labeller *labeller, const slc_image_cuda_task *task, const void *work,
                    size_t bytes, slc_status wanted, const char *word)
{
    const slc_status status = slc_image_cuda_enqueue(labeller, task, (void *)(uintptr_t)work, bytes,
                                                     slc_cuda_stream_native(image_gpu_stream()), &error);
    if (status != wanted || strstr(error.text, word) == NULL) {
        fail_msg("%s and not %s with \"%s\": %s", slc_status_name(status), slc_status_name(wanted), word,
                 error.text);
    }
}

/* What depends on how the labeller was opened. */
static void other_labellers(const slc_image_cuda_task *task, uint8_t *memory, const uint8_t *work,
                            size_t bytes)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    config.features = SLC_IMAGE_AREA;
    slc_image_labeller *labeller = image_labeller_open(&config, 1, 1);
    const slc_image_components odd = {.head = {.capacity = 8},
                                      .area = (uint64_t *)(uintptr_t)(memory + 20484)};
    slc_image_cuda_task wrong = *task;
    wrong.components = &odd;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "column area is not aligned");
    slc_image_label_close(labeller);
    config.features = 0;
    config.min_area = 2;
    labeller = image_labeller_open(&config, 1, 1);
    refused(labeller, task, work, bytes, SLC_ERR_USAGE, "filter");
    slc_image_label_close(labeller);
    config.min_area = 1;
    config.exec.device = NULL;
    labeller = image_labeller_open(&config, 1, 1);
    assert_int_equal(slc_image_cuda_work_bound(labeller, task), 0);
    refused(labeller, task, work, bytes, SLC_ERR_UNSUPPORTED, "GPU");
    slc_image_label_close(labeller);
}

static void refusals(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    slc_image_labeller *labeller = image_labeller_open(&config, 1, 1);
    uint8_t *memory = image_gpu_upload(NULL, 1 << 16);
    slc_image_cuda_task task = {.pixels = memory,
                                .stride = 64,
                                .type = SLC_IMAGE_U8,
                                .width = 64,
                                .height = 16,
                                .images = 1,
                                .labels = (uint32_t *)(void *)(memory + 4096),
                                .label_stride = 256,
                                .first = (uint32_t *)(void *)(memory + 16384)};
    const size_t bytes = slc_image_cuda_work_bound(labeller, &task);
    uint8_t *work = image_gpu_upload(NULL, bytes + 256);
    refused(labeller, &task, work, 256, SLC_ERR_USAGE, "work");
    refused(labeller, &task, work + 8, bytes, SLC_ERR_USAGE, "work");
    refused(labeller, &task, NULL, bytes, SLC_ERR_USAGE, "work");
    slc_image_cuda_task wrong = task;
    wrong.first = NULL;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "first");
    wrong.first = (uint32_t *)(uintptr_t)(memory + 16386);
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "first: not aligned");
    wrong = task;
    wrong.images = 2;
    wrong.label_image_stride = 252;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "label images: 252 bytes apart");
    wrong = task;
    wrong.images = 0;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "images");
    wrong = task;
    wrong.stride = 63;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "image");
    wrong = task;
    wrong.label_stride = 258;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "label");
    wrong = task;
    wrong.width = 0;
    refused(labeller, &wrong, work, bytes, SLC_ERR_USAGE, "image");
    wrong = task;
    wrong.width = 1 << 17;
    wrong.height = 1 << 17;
    assert_int_equal(slc_image_cuda_work_bound(labeller, &wrong), 0);
    slc_image_label_close(labeller);
    other_labellers(&task, memory, work, bytes);
    image_gpu_free(work);
    image_gpu_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tasks),
        cmocka_unit_test(refusals),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
