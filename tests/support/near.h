/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point comparison in double precision that prints what it saw. Include behind <cmocka.h>.
 */
#ifndef SUPPORT_NEAR_H
#define SUPPORT_NEAR_H

#include <math.h>

/* |value - reference| <= tolerance; NaN fails. */
#define assert_near(value, reference, tolerance)                                                             \
    do {                                                                                                     \
        const double value_ = (double)(value), reference_ = (double)(reference);                             \
        const double tolerance_ = (double)(tolerance);                                                       \
        if (!(fabs(value_ - reference_) <= tolerance_)) {                                                    \
            fail_msg("%s = %.9g is not within %g of %.9g", #value, value_, tolerance_, reference_);          \
        }                                                                                                    \
    } while (0)

#endif
