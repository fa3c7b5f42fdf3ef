/* SPDX-License-Identifier: Apache-2.0
 * List-mode files of PET: read twice, in pieces of different sizes, with and without a scanner; what comes
 * must be the same, and crystals must be the scanner's. */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"

#include <stdlib.h>
#include <string.h>

static const slc_pet_geometry geometry = {5, 1, 2, 2, 3, 4, 2, 50, 2, 10, NULL};

typedef struct outcome {
    slc_pet_coincidences pairs;
    slc_io_pet_list_totals totals;
    slc_status status;
} outcome;

static outcome read_all(const void *bytes, size_t size, const char *header, slc_io_pet_list_format format,
                        const slc_pet_geometry *scanner, size_t most)
{
    outcome o = {.status = SLC_OK};
    slc_io_pet_list *input = NULL;
    slc_error error = {0};
    o.status = slc_io_pet_list_open_memory(bytes, size, header, "fuzz", format, scanner, &input, &error);
    fuzz_require((o.status == SLC_OK) == (input != NULL), "an input is there exactly without a failure");
    while (o.status == SLC_OK) {
        o.status = slc_io_pet_list_read(input, most, &o.pairs, &error);
    }
    fuzz_require(o.status == SLC_END || error.text[0] != '\0', "a failure has a text");
    if (input != NULL) {
        slc_io_pet_list_about about;
        slc_io_pet_list_about_of(input, &about);
        o.totals = about.totals;
        slc_io_pet_list_close(input);
    }
    fuzz_require(o.totals.prompts + o.totals.delayeds == o.pairs.head.size, "every pair is counted");
    for (size_t i = 0; scanner != NULL && i < o.pairs.head.size; i++) {
        fuzz_require(o.pairs.crystal1[i] < 480 && o.pairs.crystal2[i] < 480, "crystals are the scanner's");
    }
    return o;
}

static void clear(outcome *o)
{
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs);
}

void fuzz_pet_list(const uint8_t *bytes, size_t size, slc_io_pet_list_format format, bool has_header)
{
    char *header = NULL;
    if (has_header) { /* the header's text ends with a zero byte; data follow */
        const uint8_t *zero = memchr(bytes, 0, size);
        const size_t n = zero != NULL ? (size_t)(zero - bytes) : size;
        header = malloc(n + 1);
        if (header == NULL) {
            return;
        }
        memcpy(header, bytes, n);
        header[n] = '\0';
        bytes += zero != NULL ? n + 1 : n;
        size -= zero != NULL ? n + 1 : n;
    }
    outcome a = read_all(bytes, size, header, format, &geometry, 1000);
    outcome b = read_all(bytes, size, header, format, &geometry, 3);
    outcome c = read_all(bytes, size, header, format, NULL, 1000);
    const size_t n = a.pairs.head.size;
    fuzz_require(a.status == b.status && n == b.pairs.head.size, "pieces do not matter");
    fuzz_require(n == 0 || (memcmp(a.pairs.time_ps, b.pairs.time_ps, n * sizeof *a.pairs.time_ps) == 0 &&
                            memcmp(a.pairs.crystal1, b.pairs.crystal1, n * sizeof *a.pairs.crystal1) == 0),
                 "pieces have the same pairs");
    clear(&a);
    clear(&b);
    clear(&c);
    free(header);
}
