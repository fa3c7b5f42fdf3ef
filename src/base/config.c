/* SPDX-License-Identifier: Apache-2.0
 * Taking a configuration of any age. */
#include "base/config.h"

#include <assert.h>
#include <string.h>

slc_status slc_config_take(void *own, size_t size, const void *given, const char *name, slc_error *error)
{
    size_t given_size;
    if (given == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is none", name);
    }
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its size is not set: call %s_default first", name, name);
    }
    if (given_size > size) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: %zu bytes, this library knows %zu: it is older than the header", name,
                        given_size, size);
    }
    memcpy(own, given, given_size);
    memcpy(own, &size, sizeof size);
    return SLC_OK;
}

void slc_config_give(void *given, size_t size, const void *own, size_t own_size)
{
    assert(size >= sizeof size);
    memset(given, 0, size);
    memcpy(given, own, size < own_size ? size : own_size);
    memcpy(given, &size, sizeof size);
}
