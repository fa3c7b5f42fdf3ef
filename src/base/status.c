/* SPDX-License-Identifier: Apache-2.0
 * Status codes, error texts, version. */
#include <sluice/base.h>

#include <stdarg.h>
#include <stdio.h>

const char *slc_status_name(slc_status status)
{
    switch (status) {
    case SLC_OK:
        return "ok";
    case SLC_END:
        return "end";
    case SLC_ERR_USAGE:
        return "usage";
    case SLC_ERR_MEMORY:
        return "memory";
    case SLC_ERR_IO:
        return "io";
    case SLC_ERR_FORMAT:
        return "format";
    case SLC_ERR_UNSUPPORTED:
        return "unsupported";
    case SLC_ERR_CAPACITY:
        return "capacity";
    case SLC_ERR_STRICT:
        return "strict";
    }
    return "unknown";
}

slc_status slc_fail(slc_error *error, slc_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        if (vsnprintf(error->text, sizeof error->text, format, arguments) < 0) {
            error->text[0] = '\0';
        }
        va_end(arguments);
    }
    return status;
}

const char *slc_version(void)
{
    return SLUICE_VERSION;
}

const char *slc_compiler(void)
{
    return SLUICE_COMPILER;
}
