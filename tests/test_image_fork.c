/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling after fork(): a child labels with the labeller of its parent, which has worked before or not, and
 * with one of its own, by several threads and to the same labels; and the parent goes on. A child that hangs
 * is ended by a signal, which fails the test.
 */
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <sluice/image_label.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { W = 311, H = 207 }; /* more pixels than one thread does alone */

static uint8_t pixels[H][W];
static uint32_t wanted[H][W], got[H][W];
static uint32_t n_wanted;

static slc_image_labeller *open_labeller(const char *algorithm, uint32_t threads)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_image_labeller *labeller = NULL;
    config.algorithm = algorithm;
    config.exec.threads = threads;
    return slc_image_label_open(&config, &labeller, NULL) == SLC_OK &&
                   slc_image_label_reserve(labeller, W, H, NULL) == SLC_OK
               ? labeller
               : NULL;
}

static bool label(slc_image_labeller *labeller, uint32_t (*to)[W], uint32_t *n)
{
    const slc_image image = {pixels, W, H, W, SLC_IMAGE_U8};
    slc_image_labels out = {.labels = to, .stride = W * sizeof(uint32_t), .type = SLC_TYPE_U32};
    const slc_status status = slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL);
    *n = out.n_labels;
    return status == SLC_OK;
}

static bool is_right(slc_image_labeller *labeller)
{
    uint32_t n = 0;
    memset(got, 0, sizeof got);
    return label(labeller, got, &n) && n == n_wanted && memcmp(got, wanted, sizeof got) == 0;
}

/* In a child: with this labeller, or NULL for one of its own. */
static void expect_child_is_right(const char *algorithm, slc_image_labeller *labeller)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        slc_image_labeller *own = labeller != NULL ? labeller : open_labeller(algorithm, 3);
        const bool right = own != NULL && is_right(own) && is_right(own);
        slc_image_label_close(own);
        _exit(right ? 0 : 1);
    }
    int state = -1;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

static void children_label(void **state)
{
    (void)state;
    if (!THREADS_AFTER_FORK) {
        skip();
    }
    uint64_t seed = 5;
    for (size_t y = 0; y < H; y++) {
        for (size_t x = 0; x < W; x++) {
            pixels[y][x] = (uint8_t)random_below(&seed, 2);
        }
    }
    slc_image_labeller *alone = open_labeller("bitrun", 1);
    assert_true(alone != NULL && label(alone, wanted, &n_wanted) && n_wanted > 10);
    slc_image_label_close(alone);
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        const char *algorithm = slc_image_algorithm_name(a);
        slc_image_labeller *labeller = open_labeller(algorithm, 3);
        assert_non_null(labeller);
        expect_child_is_right(algorithm, labeller);
        assert_true(is_right(labeller));
        expect_child_is_right(algorithm, labeller);
        expect_child_is_right(algorithm, NULL);
        assert_true(is_right(labeller));
        slc_image_label_close(labeller);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
