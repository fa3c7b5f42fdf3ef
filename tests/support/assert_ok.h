/* SPDX-License-Identifier: Apache-2.0
 * An assertion that a call returned SLC_OK, and that prints the text of the slc_error `error` that is in
 * scope and that the call was given. */
#ifndef SLUICE_TEST_ASSERT_OK_H
#define SLUICE_TEST_ASSERT_OK_H

#include "support/cmocka_all.h"

#include <sluice/base.h>

#define ASSERT_OK(call)                                                                                      \
    do {                                                                                                     \
        if ((call) != SLC_OK) {                                                                              \
            fail_msg("%s: %s", #call, error.text);                                                           \
        }                                                                                                    \
    } while (0)

#endif
