/* SPDX-License-Identifier: Apache-2.0
 *
 * Two events at the ends of what numbers hold, and what any clustering makes of them, on a core or a GPU.
 */
#ifndef TESTS_SUPPORT_CMS_CASES_H
#define TESTS_SUPPORT_CMS_CASES_H

#include <sluice/cms_types.h>
#include <sluice/pixel.h>

/* All 66 560 pixels of a module with 65 535 electrons, shuffled: one cluster, whose charge and number of
 * pixels saturate. */
void cms_cases_full_module(slc_cms_digis *digis);
void cms_cases_assert_full_module(const slc_cms_modules *modules, const slc_cms_clusters *clusters);

/* 70 000 digis of one pixel: more than 16 bits count, and more charge than 32 bits. */
void cms_cases_one_pixel(slc_cms_digis *digis);
void cms_cases_assert_one_pixel(slc_pixel_duplicates policy, const slc_cms_digis *digis,
                                const slc_cms_modules *modules, const slc_cms_clusters *clusters);

#endif
