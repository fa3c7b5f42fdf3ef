/* SPDX-License-Identifier: Apache-2.0
 * Any text as cuts on components. */
#include "base/columns_filter.h"
#include "fuzz.h"

#include <sluice/image_analyse.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const slc_columns_alias alias = {"energy_kev", "mass", 1000};
    char *text = malloc(size + 1);
    slc_columns_filter filter;
    slc_error error = {SLC_OK, ""};
    fuzz_require(text != NULL, "memory");
    memcpy(text, bytes, size);
    text[size] = '\0';
    const slc_status status = slc_columns_filter_parse(text, &slc_image_components_all, &alias, "components",
                                                       &filter, &error);
    fuzz_require(status == SLC_OK || (status == SLC_ERR_USAGE && error.text[0] != '\0'),
                 "a refusal has a text");
    fuzz_require(status != SLC_OK || (filter.n >= 1 && filter.n <= SLC_COLUMNS_TERMS), "a filter has terms");
    free(text);
    return 0;
}
