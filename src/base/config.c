/* SPDX-License-Identifier: Apache-2.0
 * Taking a configuration of any age. */
#include "base/config.h"

#include <string.h>

slc_status slc_config_take(void *own, size_t size, const void *given, const char *name, slc_error *error)
{
    size_t given_size;
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
