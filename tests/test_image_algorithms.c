/* SPDX-License-Identifier: Apache-2.0
 *
 * Every algorithm of labelling, with 4 and 8 neighbours, on every instruction set of this machine, against a
 * flood fill that is written here: all images of up to 4 x 4 pixels and many of 4 x 5, random ones of any
 * shape and stride, and shapes that are hard for one algorithm or another. Pixels, labels and scratch lie
 * between pages that may not be touched, now at the front and now at the end; what is to be written is full
 * of nonsense before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "baselines/baselines.h"
#include "image/image_algorithm.h"
#include "support/check.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_SIDE = 260,
    MAX_PIXELS = MAX_SIDE * MAX_SIDE,
    MAX_GAP = 40,
    POISON = 0xa5,
    SIMD_ALGORITHMS = 3,
    ALGORITHMS = 9
};

/* All images of 20 pixels take half a minute, and a sanitizer minutes: of those every fifth, or every 17th;
 * odd steps, in which all pixels vary. */
/* Every so many-th image. */
static uint32_t image_step(void)
{
    return SANITIZED ? 17 : (uint32_t)test_step(7);
}

static slc_check_memory pixel_memory, label_memory, scratch_memory;
static size_t images_done[ALGORITHMS][SLC_SIMD_TARGETS];
static bool runs[SLC_SIMD_TARGETS]; /* asked once: under a hypervisor the question takes microseconds */

/* ---- the oracle -------------------------------------------------------------------------------- */

/* A binary image without gaps, and its labels with 4 and with 8 neighbours. */
typedef struct picture {
    size_t width, height;
    uint8_t pixel[MAX_PIXELS];
    uint32_t label[2][MAX_PIXELS], n_labels[2];
} picture;

static picture pic;

static void oracle_fill(size_t first, bool diagonal, uint32_t label)
{
    static size_t todo[MAX_PIXELS];
    uint32_t *labels = pic.label[diagonal];
    size_t n = 0;
    labels[first] = label;
    todo[n++] = first;
    while (n > 0) {
        n--;
        const size_t x = todo[n] % pic.width, y = todo[n] / pic.width;
        for (size_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < pic.height; v++) {
            for (size_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < pic.width; u++) {
                const size_t at = v * pic.width + u;
                if (pic.pixel[at] != 0 && labels[at] == 0 && (diagonal || u == x || v == y)) {
                    labels[at] = label;
                    todo[n++] = at;
                }
            }
        }
    }
}

static void oracle(void)
{
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        memset(pic.label[diagonal], 0, pic.width * pic.height * sizeof(uint32_t));
        uint32_t n = 0;
        for (size_t i = 0; i < pic.width * pic.height; i++) {
            if (pic.pixel[i] != 0 && pic.label[diagonal][i] == 0) {
                n++;
                oracle_fill(i, diagonal != 0, n);
            }
        }
        pic.n_labels[diagonal] = n;
    }
}

/* ---- one image, one algorithm ------------------------------------------------------------------ */

/* How the picture lies in memory: bytes between the end of a row and the beginning of the next, upside down
 * or not, at the front of the guarded memory or at its end. */
typedef struct placing {
    size_t pixel_gap, label_gap; /* in elements */
    bool pixels_up, labels_up;   /* negative strides */
    bool front;
} placing;

static void *place(const slc_check_memory *memory, size_t bytes, bool front)
{
    assert_true(bytes <= (size_t)(memory->end - memory->first));
    return front ? memory->first : memory->end - bytes;
}

/* The strip of the picture in guarded memory; pixels in gaps are set, so that they are missed if they are
 * read. */
static slc_image_strip strip_of(const placing *how)
{
    const size_t width = pic.width, height = pic.height;
    const size_t row = width + how->pixel_gap, label_row = (width + how->label_gap) * sizeof(uint32_t);
    uint8_t *pixels = place(&pixel_memory, row * (height - 1) + width, how->front);
    unsigned char *labels = place(&label_memory, label_row * (height - 1) + 4 * width, how->front);
    memset(pixels, 0xff, row * (height - 1) + width);
    memset(labels, POISON, label_row * (height - 1) + 4 * width);
    slc_image_strip strip = {.pixels = pixels,
                             .stride = (ptrdiff_t)row,
                             .width = width,
                             .height = height,
                             .labels = (uint32_t *)(void *)labels,
                             .label_stride = (ptrdiff_t)label_row};
    if (how->pixels_up) {
        strip.pixels = pixels + row * (height - 1);
        strip.stride = -strip.stride;
    }
    if (how->labels_up) {
        strip.labels = (uint32_t *)(void *)(labels + label_row * (height - 1));
        strip.label_stride = -strip.label_stride;
    }
    for (size_t y = 0; y < height; y++) {
        memcpy(pixels + (how->pixels_up ? height - 1 - y : y) * row, pic.pixel + y * width, width);
    }
    return strip;
}

static void print_failure(const slc_image_algorithm *algorithm, const slc_image_strip *strip,
                          const char *what)
{
    print_error("%s, %u-connected, %s: %zu x %zu, strides %td and %td: %s\n", algorithm->name,
                strip->connectivity, slc_simd_name(strip->target), pic.width, pic.height, strip->stride,
                strip->label_stride, what);
    for (size_t y = 0; y < pic.height && pic.width <= 100; y++) {
        for (size_t x = 0; x < pic.width; x++) {
            print_error("%c", pic.pixel[y * pic.width + x] != 0 ? '#' : '.');
        }
        print_error("\n");
    }
}

/* Nothing but labels was written: between rows the poison is there still. */
static bool gaps_are_whole(const slc_image_strip *strip, size_t gap)
{
    for (size_t y = 0; y < pic.height; y++) {
        const unsigned char *behind = (const void *)(slc_image_strip_labels(strip, y) + pic.width);
        const bool last = strip->label_stride > 0 ? y == pic.height - 1 : y == 0;
        for (size_t i = 0; !last && i < 4 * gap; i++) {
            if (behind[i] != POISON) {
                return false;
            }
        }
    }
    return true;
}

static bool labels_are_right(const slc_image_strip *strip)
{
    const uint32_t *wanted = pic.label[strip->connectivity == 8];
    for (size_t y = 0; y < pic.height; y++) {
        if (memcmp(slc_image_strip_labels(strip, y), wanted + y * pic.width, pic.width * sizeof *wanted) !=
            0) {
            return false;
        }
    }
    return true;
}

static void check_one(size_t number, slc_image_strip *strip, size_t label_gap, bool front)
{
    const slc_image_algorithm *algorithm = slc_image_algorithm_row(number);
    const size_t bound = algorithm->scratch_bound(pic.width, pic.height, strip->connectivity);
    /* The caller's scratch may be larger by what aligns it. */
    const size_t room = (bound + SLC_COLUMN_ALIGN - 1) / SLC_COLUMN_ALIGN * SLC_COLUMN_ALIGN;
    strip->scratch = place(&scratch_memory, room, front);
    const uint32_t n = algorithm->label(strip);
    const char *wrong = n != pic.n_labels[strip->connectivity == 8] ? "the number of labels is wrong"
                        : !labels_are_right(strip)                  ? "labels are wrong"
                        : !gaps_are_whole(strip, label_gap)         ? "something is written between rows"
                                                                    : NULL;
    if (wrong != NULL) {
        print_failure(algorithm, strip, wrong);
        fail();
    }
    images_done[number][strip->target]++;
}

/* Every algorithm on every target, without and with diagonal neighbours. `anew`: poison the labels for each.
 */
static void check_all(const placing *how, bool anew)
{
    slc_image_strip strip = strip_of(how);
    oracle();
    for (size_t number = 0; number < ALGORITHMS; number++) {
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            if (!runs[t] || (t > 0 && !slc_image_algorithm_row(number)->simd)) {
                continue;
            }
            for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
                if (anew) {
                    strip = strip_of(how);
                }
                strip.connectivity = connectivity;
                strip.target = (slc_simd_target)t;
                check_one(number, &strip, how->label_gap, how->front);
            }
        }
    }
}

/* At both ends of the guarded memory, with gaps and upside down. */
static void check_picture(uint64_t *seed)
{
    check_all(&(placing){.front = true}, true);
    const placing how = {.pixel_gap = random_below(seed, MAX_GAP),
                         .label_gap = random_below(seed, MAX_GAP),
                         .pixels_up = random_below(seed, 2) != 0,
                         .labels_up = random_below(seed, 2) != 0};
    check_all(&how, true);
}

/* ---- pictures ---------------------------------------------------------------------------------- */

static void shape(size_t width, size_t height)
{
    assert_true(width * height <= MAX_PIXELS);
    pic.width = width;
    pic.height = height;
    memset(pic.pixel, 0, width * height);
}

/* Any value that is not 0 is foreground. */
static void random_pixels(uint64_t *seed, uint32_t percent)
{
    for (size_t i = 0; i < pic.width * pic.height; i++) {
        pic.pixel[i] = random_below(seed, 100) < percent ? (uint8_t)(1 + random_below(seed, 255)) : 0;
    }
}

static void set(size_t x, size_t y)
{
    pic.pixel[y * pic.width + x] = 1;
}

/* One path that turns inwards, with one pixel between its turns. */
static void draw_spiral(void)
{
    static const ptrdiff_t step_x[] = {1, 0, -1, 0}, step_y[] = {0, 1, 0, -1};
    ptrdiff_t left = 0, top = 0, right = (ptrdiff_t)pic.width - 1, bottom = (ptrdiff_t)pic.height - 1, x = 0,
              y = 0;
    set(0, 0);
    for (unsigned turn = 0; left <= right && top <= bottom; turn++) {
        const ptrdiff_t dx = step_x[turn % 4], dy = step_y[turn % 4];
        while (x + dx >= left && x + dx <= right && y + dy >= top && y + dy <= bottom) {
            x += dx;
            y += dy;
            set((size_t)x, (size_t)y);
        }
        /* The side that was drawn last, and a gap beside it, are left behind; the first needs its beginning.
         */
        top += turn % 4 == 0 ? 2 : 0;
        right -= turn % 4 == 1 ? 2 : 0;
        bottom -= turn % 4 == 2 ? 2 : 0;
        left += turn % 4 == 3 ? 2 : 0;
    }
}

typedef enum {
    FULL,
    EMPTY,
    CHESS,
    COMB_UP,
    COMB_DOWN,
    COMB_LEFT,
    RINGS,
    STAIRS,
    BACK_STAIRS,
    SPIRAL,
    DOTS,
    V,
    KINDS
} kind;

static bool pattern(kind k, size_t x, size_t y)
{
    const size_t w = pic.width, h = pic.height;
    const size_t from_side = x < w - 1 - x ? x : w - 1 - x, from_top = y < h - 1 - y ? y : h - 1 - y;
    switch (k) {
    case FULL:
        return true;
    case CHESS:
        return (x + y) % 2 == 0;
    case COMB_UP:
        return x % 2 == 0 || y == h - 1;
    case COMB_DOWN:
        return x % 2 == 0 || y == 0;
    case COMB_LEFT:
        return y % 2 == 0 || x == w - 1;
    case RINGS:
        return (from_side < from_top ? from_side : from_top) % 2 == 0;
    case STAIRS:
        return (x + y) % 4 < 2;
    case BACK_STAIRS:
        return (x + 4 * h - y) % 4 < 2;
    case DOTS:
        return x % 2 == 0 && y % 2 == 0;
    case V:
        return (x % 16 < 8 ? x % 8 : 7 - x % 8) == y % 8 || (y % 8 == 7 && x % 16 == 8);
    default:
        return false;
    }
}

static void draw(kind k)
{
    if (k == SPIRAL) {
        draw_spiral();
        return;
    }
    for (size_t i = 0; i < pic.width * pic.height; i++) {
        pic.pixel[i] = pattern(k, i % pic.width, i / pic.width) ? 255 : 0;
    }
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void test_the_list(void **state)
{
    (void)state;
    static const char *const names[] = {"flood",   "iterative", "rosenfeld",    "rosenfeld-dt", "lsl-std",
                                        "lsl-rle", "flsl",      "rosenfeld-v1", "rosenfeld-v2"};
    size_t simd = 0;
    for (size_t i = 0; i < ALGORITHMS; i++) {
        const slc_image_algorithm *algorithm = slc_image_algorithm_row(i);
        assert_string_equal(algorithm->name, names[i]);
        assert_true(strlen(algorithm->text) > 10);
        assert_true(algorithm->simd == (algorithm->choose != NULL));
        if (algorithm->simd) {
            simd++;
            assert_true(slc_simd_runs(algorithm->choose(SLC_SIMD_AUTO)));
            assert_int_equal(algorithm->choose(SLC_SIMD_C), SLC_SIMD_C);
        }
    }
    assert_int_equal(simd, SIMD_ALGORITHMS);
    assert_null(slc_image_algorithm_row(ALGORITHMS));
}

static void test_all_small_images(void **state)
{
    (void)state;
    for (size_t height = 1; height <= 5; height++) {
        for (size_t width = 1; width <= 5 && width * height <= 20; width++) {
            const uint32_t images = (uint32_t)1 << width * height,
                           sparse = image_step() > 1 ? image_step() : 5;
            const uint32_t step = width * height > 16 ? sparse : 1;
            shape(width, height);
            for (uint32_t image = 0; image < images; image += step) {
                for (size_t i = 0; i < width * height; i++) {
                    pic.pixel[i] = image >> i & 1U ? 1 : 0;
                }
                /* A masked access that reaches into a guard page is right but slow: not every time. */
                check_all(&(placing){.front = image % 32 != 0}, false);
            }
        }
    }
}

static void test_random_middle_images(void **state)
{
    (void)state;
    uint64_t seed = 20240901;
    for (uint32_t i = 0; i < 100000 / image_step(); i++) {
        shape(5 + random_below(&seed, 5), 5 + random_below(&seed, 5));
        random_pixels(&seed, 20 + random_below(&seed, 60));
        check_all(&(placing){.front = i % 2 == 0}, false);
    }
}

static void test_random_shapes_and_strides(void **state)
{
    (void)state;
    uint64_t seed = 20240902;
    for (uint32_t i = 0; i < 300U / (image_step() > 1 ? 4 : 1); i++) {
        shape(1 + random_below(&seed, 200), 1 + random_below(&seed, 200));
        random_pixels(&seed, random_below(&seed, 101));
        check_picture(&seed);
    }
}

static void test_widths_around_vectors(void **state)
{
    (void)state;
    uint64_t seed = 20240903;
    for (size_t width = 1; width <= 130; width++) {
        static const uint32_t percents[] = {5, 40, 60, 95};
        for (size_t p = 0; p < sizeof percents / sizeof *percents; p++) {
            shape(width, 1 + random_below(&seed, 12));
            random_pixels(&seed, percents[p]);
            check_picture(&seed);
        }
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const size_t sides[][2] = {{1, 1},  {1, 200}, {200, 1}, {2, 2},   {3, 3},    {16, 16},
                                      {17, 9}, {64, 64}, {65, 33}, {100, 7}, {129, 31}, {257, 20}};
    uint64_t seed = 20240904;
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        for (kind k = 0; k < KINDS; k++) {
            shape(sides[s][0], sides[s][1]);
            draw(k);
            check_picture(&seed);
            for (size_t i = 0; i < pic.width * pic.height; i++) {
                pic.pixel[i] = pic.pixel[i] == 0 ? 7 : 0;
            }
            check_picture(&seed);
        }
    }
}

/* Processors that have an instruction set must have run it, on algorithms with vectors. */
static void test_no_target_was_left_out(void **state)
{
    (void)state;
    bool expected[SLC_SIMD_TARGETS] = {[SLC_SIMD_C] = slc_simd_compiled(SLC_SIMD_C)};
#if defined(__x86_64__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512cd");
    expected[SLC_SIMD_SSE4] = slc_simd_compiled(SLC_SIMD_SSE4) && __builtin_cpu_supports("sse4.2");
    expected[SLC_SIMD_AVX2] = slc_simd_compiled(SLC_SIMD_AVX2) && __builtin_cpu_supports("avx2");
    for (int t = SLC_SIMD_AVX512VL128; t <= SLC_SIMD_AVX512; t++) {
        expected[t] = slc_simd_compiled((slc_simd_target)t) && avx512;
    }
#elif defined(__aarch64__)
    expected[SLC_SIMD_NEON] = slc_simd_compiled(SLC_SIMD_NEON);
#endif
    for (size_t number = 0; number < ALGORITHMS; number++) {
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            const bool wanted = (expected[t] || runs[t]) &&
                                (t == SLC_SIMD_C || slc_image_algorithm_row(number)->simd);
            if (wanted && images_done[number][t] < 100000) {
                fail_msg("%s ran on %zu images on %s", slc_image_algorithm_row(number)->name,
                         images_done[number][t], slc_simd_name((slc_simd_target)t));
            }
            assert_true(!wanted || images_done[number][t] >= 100000);
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    size_t scratch = 0;
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        runs[t] = slc_simd_runs((slc_simd_target)t);
    }
    for (size_t i = 0; slc_image_algorithm_row(i) != NULL; i++) {
        const slc_image_algorithm *algorithm = slc_image_algorithm_row(i);
        const size_t square = algorithm->scratch_bound(MAX_SIDE, MAX_SIDE, 4);
        scratch = square > scratch ? square : scratch;
    }
    const size_t longest_row = MAX_SIDE + MAX_GAP;
    pixel_memory = slc_check_map(longest_row * MAX_SIDE);
    label_memory = slc_check_map(4 * longest_row * MAX_SIDE);
    scratch_memory = slc_check_map(2 * scratch);
    memset(scratch_memory.first, POISON, (size_t)(scratch_memory.end - scratch_memory.first));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_check_unmap(&pixel_memory);
    slc_check_unmap(&label_memory);
    slc_check_unmap(&scratch_memory);
    return 0;
}

int main(void)
{
    slc_baselines_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_widths_around_vectors),
        cmocka_unit_test(test_random_shapes_and_strides),
        cmocka_unit_test(test_random_middle_images),
        cmocka_unit_test(test_all_small_images),
        cmocka_unit_test(test_no_target_was_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
