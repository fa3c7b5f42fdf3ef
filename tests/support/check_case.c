/* SPDX-License-Identifier: Apache-2.0
 * Running the cases of kernels twice, on the target and on plain C. */
#include "support/check_case.h"
#include "support/check.h"

#include <stdlib.h>

static void check_case(const slc_simd_kernel *row, slc_simd_target target)
{
    const slc_simd_case *bench = row->bench;
    void *mine = slc_simd_scratch(bench), *of_c = slc_simd_scratch(bench);
    slc_check_doing(row->name);
    if (mine == NULL || of_c == NULL) {
        slc_check_fail("%s: no memory", row->name);
    } else {
        bench->prepare(mine, slc_check_seed());
        bench->prepare(of_c, slc_check_seed());
        bench->run(of_c, SLC_SIMD_C);
        const uint64_t wanted = bench->digest(of_c);
        for (int call = 1; call <= 2; call++) {
            bench->run(mine, target);
            if (bench->digest(mine) != wanted) {
                slc_check_fail("the case of %s, call %d: not what c says", row->name, call);
            }
        }
        slc_check_values(bench->elements);
    }
    free(mine);
    free(of_c);
}

void slc_check_cases(const slc_simd_kernel *rows, slc_simd_target target)
{
    for (; rows->name != NULL; rows++) {
        check_case(rows, target);
    }
}
