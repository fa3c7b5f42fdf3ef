/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of lists against labels of the images that they are scattered to: two modules that share no code
 * must number the same components in the same order.
 */
#include "support/cmocka_all.h"
#include "support/pixel_lists.h"
#include "support/random.h"

#include <sluice/image_label.h>

#include <string.h>

enum { WIDTH = 300, HEIGHT = 120, LISTS = 600, MOST = 5000 };

static uint8_t image[WIDTH * HEIGHT];
static uint32_t labels_of_image[WIDTH * HEIGHT], labels[MOST];

static uint32_t label_image(slc_image_labeller *labeller, const slc_pixels *p)
{
    memset(image, 0, sizeof image);
    for (size_t i = 0; i < p->head.size; i++) {
        image[p->y[i] * WIDTH + p->x[i]] = 1;
    }
    const slc_image pixels = {image, WIDTH, HEIGHT, WIDTH, SLC_IMAGE_U8};
    slc_image_labels out = {
        .labels = labels_of_image, .stride = WIDTH * sizeof *labels_of_image, .type = SLC_TYPE_U32};
    assert_int_equal(slc_image_label_run(labeller, &pixels, NULL, &out, NULL, NULL), SLC_OK);
    return out.n_labels;
}

static void compare(uint32_t connectivity)
{
    slc_image_label_config dense;
    slc_image_label_config_default(&dense);
    dense.connectivity = connectivity;
    slc_pixel_cluster_config sparse;
    slc_pixel_cluster_config_default(&sparse);
    sparse.width = WIDTH;
    sparse.height = HEIGHT;
    sparse.connectivity = connectivity;
    slc_image_labeller *labeller = NULL;
    slc_pixel_clusterer *clusterer = NULL;
    pixel_cluster_list clusters;
    assert_int_equal(slc_image_label_open(&dense, &labeller, NULL), SLC_OK);
    assert_int_equal(slc_image_label_reserve(labeller, WIDTH, HEIGHT, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_open(&sparse, &clusterer, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_reserve(clusterer, MOST, 1, NULL), SLC_OK);
    pixel_cluster_list_open(&clusters, &sparse, MOST, 1);
    uint64_t seed = connectivity;
    for (size_t k = 0; k < pixel_test_count(LISTS); k++) {
        const pixel_wish wish = {WIDTH, HEIGHT, 1, 0, k % 2 == 0, k % 3 != 0};
        pixel_list list;
        pixel_list_open(&list, 0);
        pixel_list_add(&list, &wish, random_below(&seed, k % 10 == 0 ? MOST + 1 : 500), &seed);
        const uint32_t found = label_image(labeller, &list.of);
        assert_int_equal(slc_pixel_cluster_run(clusterer, &list.of, labels, &clusters.of, NULL), SLC_OK);
        assert_int_equal(clusters.of.head.size, found);
        for (size_t i = 0; i < list.of.head.size; i++) {
            assert_int_equal(labels[i] + 1, labels_of_image[list.of.y[i] * WIDTH + list.of.x[i]]);
        }
        pixel_list_clear(&list);
    }
    pixel_cluster_list_clear(&clusters);
    slc_pixel_cluster_close(clusterer);
    slc_image_label_close(labeller);
}

static void four_neighbours(void **state)
{
    (void)state;
    compare(4);
}

static void eight_neighbours(void **state)
{
    (void)state;
    compare(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(four_neighbours), cmocka_unit_test(eight_neighbours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
