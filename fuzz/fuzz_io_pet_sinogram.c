/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as an Interfile sinogram: the header's text, a zero byte, values. */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *zero = memchr(bytes, 0, size);
    const size_t n = zero != NULL ? (size_t)(zero - bytes) : size;
    char *header = malloc(n + 1);
    if (header == NULL) {
        return 0;
    }
    memcpy(header, bytes, n);
    header[n] = '\0';
    const size_t head = zero != NULL ? n + 1 : n;
    slc_io_pet_sinogram_values v;
    slc_error error = {0};
    const slc_status status = slc_io_pet_sinogram_parse(header, bytes + head, size - head, "fuzz", &v,
                                                        &error);
    fuzz_require((status == SLC_OK) == (v.value != NULL), "values are there exactly without a failure");
    fuzz_require(status == SLC_OK || error.text[0] != '\0', "a failure has a text");
    fuzz_require(status != SLC_OK || (size_t)v.sinograms * v.views * v.tangential * 4 == size - head,
                 "every value is read");
    free(v.value);
    free(header);
    return 0;
}
