/* SPDX-License-Identifier: Apache-2.0
 * Digis of one module, and what is asserted of their one cluster. */
#include "support/cms_cases.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"

enum { PIXELS = SLC_CMS_ROWS * SLC_CMS_COLUMNS, DIGIS = 70000 };

void cms_cases_full_module(slc_cms_digis *digis)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint32_t place = (uint32_t)((uint64_t)i * 7919 % PIXELS);
        cms_digis_put(digis, 300, place % SLC_CMS_ROWS, place / SLC_CMS_ROWS, 65535);
    }
    cms_digis_end(digis);
}

void cms_cases_assert_full_module(const slc_cms_modules *modules, const slc_cms_clusters *clusters)
{
    assert_int_equal(clusters->head.size, 1);
    assert_int_equal(clusters->n_pixels[0], 65535);
    assert_int_equal(clusters->charge_e[0], UINT32_MAX);
    assert_int_equal(clusters->charge_x_min[0], 416 * 65535);
    assert_int_equal(clusters->charge_y_max[0], 160 * 65535);
    assert_int_equal(clusters->x_max[0], 159);
    assert_int_equal(clusters->y_max[0], 415);
    assert_int_equal(modules->n_digis[0], PIXELS);
}

void cms_cases_one_pixel(slc_cms_digis *digis)
{
    for (uint32_t i = 0; i < DIGIS; i++) {
        cms_digis_put(digis, 96, 8, 9, i == 0 ? 60000 : i == 5 ? 65535 : 65534);
    }
    cms_digis_end(digis);
}

void cms_cases_assert_one_pixel(slc_pixel_duplicates policy, const slc_cms_digis *digis,
                                const slc_cms_modules *modules, const slc_cms_clusters *clusters)
{
    static const uint32_t pixels[] = {1, 1, 1, 65535};
    static const uint32_t charge[] = {UINT32_MAX, 60000, 65535, UINT32_MAX}; /* SUM FIRST LARGEST KEEP */
    assert_int_equal(clusters->head.size, 1);
    assert_int_equal(clusters->n_pixels[0], pixels[policy]);
    assert_int_equal(clusters->charge_e[0], charge[policy]);
    assert_int_equal(clusters->charge_x_min[0], charge[policy]);
    assert_int_equal(clusters->charge_y_max[0], charge[policy]);
    assert_int_equal(modules->n_digis[0], DIGIS);
    for (uint32_t i = 0; i < DIGIS; i++) {
        assert_int_equal(digis->cluster[i], 0);
    }
}
