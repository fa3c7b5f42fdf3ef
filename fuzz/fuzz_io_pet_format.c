/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a format of frames, up to the first 0, and as records of it behind that. A format that is
 * refused is told with its file; records become no more frames and marks than there are, and each is counted
 * once. */
#include "fuzz.h"
#include "io/pet/io_pet_format.h"

#include <stdlib.h>
#include <string.h>

static void apply(const slc_io_pet_format *format, const uint8_t *bytes, size_t size)
{
    const size_t n = size / slc_io_pet_record_bytes(format);
    uint8_t *records = malloc(size + 1); /* its end is the sanitizer's to watch */
    slc_pet_frame *frames = malloc((n + 1) * sizeof *frames);
    slc_pet_marks marks = {.time_ps = NULL};
    slc_pet_made made, counted;
    if (records != NULL && frames != NULL) {
        memcpy(records, bytes, size);
        fuzz_require(slc_io_pet_format_apply(format, records, n, frames, &marks, &made) == SLC_OK, "it fits");
        const slc_io_pet_format_counts *c = &made.counts;
        uint64_t all = c->singles + c->marks + c->skipped + c->unknown;
        for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
            all += c->refused[i];
        }
        fuzz_require(all == n && c->records == n, "each record is counted once");
        fuzz_require(made.frames == c->singles && marks.head.size == c->marks, "what is counted is there");
        fuzz_require(slc_io_pet_format_apply(format, records, n, frames, NULL, &counted) == SLC_OK, "again");
        fuzz_require(memcmp(&counted.counts, c, sizeof *c) == 0, "marks are counted, kept or not");
        const int module = slc_io_pet_format_module(format, records, n);
        fuzz_require(module >= -1 && module <= 255, "a module that there may be");
    }
    slc_columns_clear(&slc_pet_marks_schema, &marks);
    free(frames);
    free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(bytes, 0, size) : NULL;
    const size_t text = end != NULL ? (size_t)(end - bytes) : size;
    slc_io_pet_format *format = NULL;
    slc_error error = {0};
    const slc_status status = slc_io_pet_format_read_memory((const char *)bytes, text, "fuzz", &format,
                                                            &error);
    if (status != SLC_OK) {
        fuzz_require(status == SLC_ERR_FORMAT && format == NULL, "a refused text is no format");
        fuzz_require(strncmp(error.text, "fuzz: line ", 11) == 0, "a failure has a place");
        return 0;
    }
    fuzz_require(format->about.record_bytes >= 1 && format->about.tick_numerator >= 1 &&
                     format->about.tick_denominator >= 1,
                 "what is accepted is within its limits");
    apply(format, bytes + text + (end != NULL), size - text - (end != NULL));
    slc_io_pet_format_close(format);
    return 0;
}
