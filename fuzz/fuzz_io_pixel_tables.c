/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as what is known of pixels: the first says whether they are a mask, a list or array of
 * calibrations, a matrix of which four are one, or a timewalk. What is read can be used; what is refused says
 * where. */
#include "fuzz.h"
#include "io/pixel/io_pixel_tables.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    slc_error error = {SLC_OK, ""};
    slc_io_pixels_tables *tables = calloc(1, sizeof *tables);
    char *text = malloc(size + 1); /* of its size, so that a read beyond it is seen */
    slc_status status;
    fuzz_require(tables != NULL && text != NULL, "memory");
    const int what = size > 0 ? bytes[0] == 'w' ? 3 : bytes[0] % 3 : 0;
    const size_t n = size > 0 ? size - 1 : 0;
    if (n > 0) {
        memcpy(text, bytes + 1, n);
    }
    if (what == 2) {
        const char *const four[] = {text, text, text, text}, *const names[] = {"fuzz", "fuzz", "fuzz",
                                                                               "fuzz"};
        const size_t sizes[] = {n, n, n, n};
        status = slc_io_pixels_calibration_parse_four(four, sizes, names, tables, &error);
    } else {
        status = what == 3   ? slc_io_pixels_timewalk_parse(text, n, "fuzz", tables, &error)
                 : what == 0 ? slc_io_pixels_mask_parse(text, n, "fuzz", tables, &error)
                             : slc_io_pixels_calibration_parse(text, n, "fuzz", tables, &error);
    }
    free(text);
    fuzz_require(status == SLC_OK ||
                     ((status == SLC_ERR_FORMAT || status == SLC_ERR_UNSUPPORTED) && error.text[0] != 0),
                 "what is refused says where");
    uint64_t known = 0, masked = 0;
    for (uint32_t tile = 0; tile < SLC_PIXEL_TILE_ALL; tile++) {
        for (uint32_t i = 0; tables->calibration[tile] != NULL && i < SLC_PIXEL_TILE_ALL; i++) {
            uint32_t ev = 0;
            known += tables->calibration[tile][i].a > 0;
            (void)slc_pixel_energy(&tables->calibration[tile][i], i % 1024, &ev);
        }
        for (uint32_t i = 0; tables->mask[tile] != NULL && i < SLC_PIXEL_TILE_ALL / 8; i++) {
            masked += (uint64_t)__builtin_popcount(tables->mask[tile][i]);
        }
    }
    fuzz_require(known == tables->n_calibrated && masked == tables->n_masked, "as many as were counted");
    if (status == SLC_OK && what == 3) {
        uint64_t none = 0;
        int64_t time = 0;
        slc_io_pixels_timewalk_begin(tables, 25e-9 / 16);
        slc_io_pixels_correct_time(tables, 5, (uint32_t)size, &time, &none);
        fuzz_require(none == 0 && time >= -640000 && time <= 640000, "a delay of the table");
    }
    slc_io_pixels_tables_close(tables);
    return 0;
}
