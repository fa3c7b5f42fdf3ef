/* SPDX-License-Identifier: Apache-2.0
 * The kernels of src/hlt1, src/muon, src/scifi and src/ut on every target: the standard inputs have the same
 * results, bit by bit. What they are worth is tested in test_hlt1_decode.c, test_hlt1_fit.c,
 * test_hlt1_search.c and test_muon_identify.c. */
#include "hlt1/hlt1_fit_work.h"
#include "hlt1/hlt1_forward_work.h"
#include "hlt1/hlt1_upstream_work.h"
#include "muon/muon_identify_work.h"
#include "scifi/scifi_place.h"
#include "support/check.h"
#include "support/check_case.h"
#include "ut/ut_place.h"

static void check_target(slc_simd_target target, uint64_t random)
{
    (void)random;
    slc_check_cases(slc_hlt1_fit_kernel_rows, target);
    slc_check_cases(slc_hlt1_forward_kernel_rows, target);
    slc_check_cases(slc_hlt1_upstream_kernel_rows, target);
    slc_check_cases(slc_scifi_kernel_rows, target);
    slc_check_cases(slc_ut_kernel_rows, target);
    slc_check_cases(slc_muon_kernel_rows, target);
    slc_check_values(
        slc_hlt1_fit_kernel_rows[0].bench->elements + slc_hlt1_forward_kernel_rows[0].bench->elements +
        slc_hlt1_upstream_kernel_rows[0].bench->elements + slc_scifi_kernel_rows[0].bench->elements +
        slc_ut_kernel_rows[0].bench->elements + slc_muon_kernel_rows[0].bench->elements);
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    slc_check_targets(check_target, "fly, fit, forward, upstream, hits of SciFi and UT, muons");
    return slc_check_end();
}
