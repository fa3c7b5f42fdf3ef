/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as settings of the VELO's chain. What is refused is told with its file and changes nothing; what
 * is accepted is within the limits, and is written and read back to the same. */
#include "fuzz.h"
#include "io/lhcb/io_velo_config.h"
#include "velo/velo_config.h"

#include <stdlib.h>
#include <string.h>

static bool same(const slc_velo_config *a, const slc_velo_config *b)
{
    const slc_velo_setting *s;
    bool all = true;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        all = all &&
              memcmp((const char *)a + s->offset, (const char *)b + s->offset, sizeof(float) * s->n) == 0;
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_velo_config config, before, back;
    slc_error error = {0};
    slc_velo_config_default(&config);
    before = back = config;
    const slc_status status = slc_io_velo_config_read_memory((const char *)bytes, size, "fuzz", &config,
                                                             &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && same(&config, &before), "a refused text changes nothing");
        fuzz_require(strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a file");
        return 0;
    }
    char *text = NULL;
    fuzz_require(slc_velo_settings_check(&config, NULL) == SLC_OK, "within the limits");
    fuzz_require(slc_io_velo_config_write(&config, &text, NULL) == SLC_OK, "it can be written");
    fuzz_require(slc_io_velo_config_read_memory(text, strlen(text), "again", &back, NULL) == SLC_OK,
                 "and read");
    fuzz_require(same(&config, &back), "to the same");
    free(text);
    return 0;
}
