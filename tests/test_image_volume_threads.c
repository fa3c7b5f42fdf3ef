/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes whose slices several threads share: labels and features are those of one thread, for every
 * connectivity, for equal values, and where opposite borders are joined.
 */
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_volume.h>

#include <string.h>

enum { SIDE = 20, WIDEST = 200, ROOM = WIDEST * SIDE * SIDE };

static uint8_t values[ROOM];
static uint32_t labels[2][ROOM];

static slc_volume choose(uint64_t *seed)
{
    const slc_volume v = {values,
                          1 + random_below(seed, random_below(seed, 4) == 0 ? WIDEST : SIDE),
                          1 + random_below(seed, SIDE),
                          1 + random_below(seed, SIDE),
                          0,
                          0,
                          SLC_IMAGE_U8};
    const uint32_t percent = random_below(seed, 101);
    for (size_t i = 0; i < v.width * v.height * v.depth; i++) {
        values[i] = random_below(seed, 100) < percent ? (uint8_t)(1 + random_below(seed, 2)) : 0;
    }
    return v;
}

/* Returns the checksum of the features. */
static uint64_t label(const slc_volume_config *config, const slc_volume *volume, uint32_t *to, uint32_t *n)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(SLC_VOLUME_ALL, columns);
    const ptrdiff_t row = (ptrdiff_t)(volume->width * sizeof *to);
    slc_volume_labeller *labeller = NULL;
    slc_volume_components found = {.volume = NULL};
    slc_volume_labels out = {to, row, row * (ptrdiff_t)volume->height, &found, 0};
    slc_error error;
    assert_int_equal(slc_volume_open(config, &labeller, &error), SLC_OK);
    assert_int_equal(slc_volume_run(labeller, volume, &out, &error), SLC_OK);
    assert_int_equal(found.head.size, out.n_labels);
    const uint64_t sum = slc_columns_checksum(&schema, &found, 0, SLC_CHECKSUM_START);
    *n = out.n_labels;
    slc_columns_clear(&schema, &found);
    slc_volume_close(labeller);
    return sum;
}

static void threads_change_nothing(void **state)
{
    static const uint32_t connectivities[] = {6, 18, 26};
    uint64_t seed = 31;
    uint32_t several = 0;
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        slc_volume volume = choose(&seed);
        slc_volume_config config;
        uint32_t n = 0, n_more = 0;
        volume.stride = (ptrdiff_t)volume.width;
        volume.slice_stride = volume.stride * (ptrdiff_t)volume.height;
        slc_volume_config_default(&config);
        config.connectivity = connectivities[i % 3];
        config.equal = i % 4 == 3;
        config.features = SLC_VOLUME_ALL;
        config.periodic = i / 2 % (SLC_VOLUME_PERIODIC_ALL + 1);
        for (uint32_t t = (i + 1) % SLC_SIMD_TARGETS; config.exec.target == SLC_SIMD_AUTO;
             t = (t + 1) % SLC_SIMD_TARGETS) {
            config.exec.target = slc_simd_runs((slc_simd_target)t) ? (slc_simd_target)t : SLC_SIMD_AUTO;
        }
        const uint64_t sum = label(&config, &volume, labels[0], &n);
        config.exec.threads = 2 + i % 6;
        assert_int_equal(label(&config, &volume, labels[1], &n_more), sum);
        assert_int_equal(n, n_more);
        assert_memory_equal(labels[0], labels[1],
                            volume.width * volume.height * volume.depth * sizeof *labels[0]);
        several += n > 1;
    }
    assert_true(several > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
