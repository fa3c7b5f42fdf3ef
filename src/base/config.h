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

#endif
