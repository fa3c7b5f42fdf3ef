/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of labelling on a GPU that test_image_cuda_stages.c does not see by themselves: sums of bits before a
 * unit, 16-bit labels in rows that lie apart, and labels by a table, on label images that the oracle made.
 * Skipped without a device.
 */
#include "support/image_gpu.h"

#include "image/cuda/image_cuda_stages.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdlib.h>

enum { ROOM = 300 * 300, MOST_IMAGES = 4 };

static slc_error error;

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

/* ---- labels ------------------------------------------------------------------------------------ */

/* Label images of the oracle, one after the other, on the host and on the device. */
typedef struct made {
    size_t width, height, n, bytes;
    uint32_t count[MOST_IMAGES], *labels;
    void *labels_there, *first_there;
    slc_image_cuda_job job;
} made;

static void made_draw(made *m, uint64_t *seed)
{
    static uint8_t drawn[ROOM];
    *m = (made){.n = 1 + random_below(seed, MOST_IMAGES)};
    image_gpu_shape(image_gpu_side(100), &m->width, &m->height, seed);
    const size_t pixels = m->width * m->height;
    const uint32_t connectivity = random_below(seed, 2) == 0 ? 4 : 8;
    uint32_t first[MOST_IMAGES + 1] = {0};
    m->bytes = 4 * pixels * m->n;
    m->labels = room(m->bytes);
    for (size_t i = 0; i < m->n; i++) {
        (void)image_pattern_any(drawn, m->width, m->height, seed);
        m->count[i] = oracle_image_label(drawn, m->width, m->height, connectivity, m->labels + i * pixels);
        first[i + 1] = first[i] + m->count[i];
    }
    m->labels_there = image_gpu_upload(m->labels, m->bytes);
    m->first_there = image_gpu_upload(first, 4 * (m->n + 1));
    m->job = (slc_image_cuda_job){.width = (uint32_t)m->width,
                                  .height = (uint32_t)m->height,
                                  .images = (uint32_t)m->n,
                                  .connectivity = connectivity,
                                  .labels = m->labels_there,
                                  .label_stride = (ptrdiff_t)(4 * m->width),
                                  .label_image_stride = 4 * pixels,
                                  .first = m->first_there,
                                  .limit = first[m->n],
                                  .multiprocessors = slc_cuda_stream_multiprocessors(image_gpu_stream()),
                                  .stream = native()};
}

static void made_clear(made *m)
{
    free(m->labels);
    image_gpu_free(m->labels_there);
    image_gpu_free(m->first_there);
}

static void narrow_and_relabel(void **state)
{
    (void)state;
    uint64_t seed = 41;
    for (size_t i = 0; i < image_gpu_count(300); i++) {
        made m;
        made_draw(&m, &seed);
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
        uint32_t *table = room(4 * ((size_t)m.count[0] + 1)), *labels = room(m.bytes);
        for (uint32_t k = 0; k <= m.count[0]; k++) {
            table[k] = (uint32_t)random_u64(&seed);
        }
        uint32_t *table_there = image_gpu_upload(table, 4 * ((size_t)m.count[0] + 1));
        m.job.images = 1;
        ok(slc_image_cuda_relabel(&m.job, table_there, &error));
        image_gpu_download(labels, m.labels_there, m.bytes);
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
        cmocka_unit_test(scan),
        cmocka_unit_test(narrow_and_relabel),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
