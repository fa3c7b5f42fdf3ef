/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations whose first member is their size, so that a program that was compiled with an older header
 * works with a newer library: members that it does not know have their defaults.
 */
#ifndef SLUICE_CONFIG_H
#define SLUICE_CONFIG_H

#include <sluice/base.h>

/* Copies the caller's configuration `given` over `own`, which has the defaults and is `size` bytes large.
 * SLC_ERR_USAGE, with a text that begins with `name` ("slc_velo_config"), if its size was never set (by its
 * _config_default), or is that of a newer header. */
slc_status slc_config_take(void *own, size_t size, const void *given, const char *name, slc_error *error);

/* Copies the defaults `own`, of `own_size` bytes, to the caller's `given` as far as that goes, which is as
 * large as its header knew it, and sets its size. */
void slc_config_give(void *given, size_t size, const void *own, size_t own_size);

/* Defines TYPE_default(config, size), which the macro of that name in the header calls, from set(config),
 * which fills one of this library's size. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a type. */
#define SLC_CONFIG_DEFAULT(type, set)                                                                        \
    void(type##_default)(type * config, size_t size)                                                         \
    {                                                                                                        \
        type defaults;                                                                                       \
        set(&defaults);                                                                                      \
        slc_config_give(config, size, &defaults, sizeof defaults);                                           \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
