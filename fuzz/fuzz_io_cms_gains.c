/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as gains: as they come, and with the size and the checksum set right. */
#include "fuzz_cms.h"
#include "io/cms/io_cms_payload.h"

#include <math.h>
#include <string.h>

enum { HEADER = 48, MODULE = 2 * SLC_CMS_GAINS };

static void try_gains(const uint8_t *bytes, size_t size)
{
    slc_cms_gains gains = {0};
    slc_error error = {0};
    if (slc_io_parse_cms_gains(bytes, size, "fuzz", &gains, &error) == SLC_OK) {
        fuzz_require(size == HEADER + (size_t)gains.n_modules * MODULE, "only the right size is accepted");
        fuzz_require(isfinite(gains.gain_low) && isfinite(gains.gain_step) && isfinite(gains.pedestal_low) &&
                         isfinite(gains.pedestal_step) && gains.dead != gains.noisy,
                     "what is read is possible");
        for (size_t i = 0; i < (size_t)gains.n_modules * SLC_CMS_GAINS; i++) {
            fuzz_require(gains.gain[i].gain == bytes[HEADER + 2 * i] &&
                             gains.gain[i].pedestal == bytes[HEADER + 2 * i + 1],
                         "gains are those of the file");
        }
    } else {
        fuzz_require(error.text[0] != '\0' && gains.gain == NULL, "a failure has a text, and nothing else");
    }
    slc_cms_gains_clear(&gains);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t image[HEADER + 2 * MODULE];
    try_gains(bytes, size);
    memset(image, 0, sizeof image);
    memcpy(image, bytes, size < sizeof image ? size : sizeof image);
    for (size_t modules = 0; modules <= 2; modules++) {
        fuzz_cms_mend(image, HEADER + modules * MODULE);
        try_gains(image, HEADER + modules * MODULE);
    }
    return 0;
}
