/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a file of the transport, the first of them saying which. What is refused is told with its file
 * and line and changes nothing. */
#include "fuzz.h"
#include "hlt1/hlt1_transport.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    const slc_hlt1_transport_file file = (slc_hlt1_transport_file)((fuzz_next(&in) - '0') & 15);
    slc_hlt1_transport t = {.cells = NULL};
    slc_error error = {0};
    if ((unsigned)file >= SLC_HLT1_FILES) {
        return 0;
    }
    const slc_status status = slc_hlt1_transport_read(&t, file, (const char *)in.bytes, in.left, "fuzz",
                                                      &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT, "bytes are refused for their format");
        fuzz_require(t.have == 0 && t.cells == NULL && t.sign == 0, "a refused text changes nothing");
        fuzz_require(strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a file");
    } else {
        fuzz_require(t.have == 1U << file && t.sign == 1, "one file is read");
        fuzz_require(isfinite(t.v[0][0]) && isfinite(t.t[43][17]) && isfinite(t.t_dydz),
                     "numbers are numbers");
    }
    slc_hlt1_transport_clear(&t);
    return 0;
}
