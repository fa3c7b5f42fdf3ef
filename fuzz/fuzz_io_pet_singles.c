/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as singles: read twice, in pieces of different sizes, which must have the same. */
#include "fuzz.h"
#include "io/pet/io_pet_raw.h"

#include <stdio.h>
#include <string.h>

typedef struct outcome {
    slc_pet_singles ps;
    slc_pet_singles_f64 ns;
    slc_status status;
    char note[288];
} outcome;

static outcome read_all(const uint8_t *bytes, size_t size, slc_io_pet_singles_format format, size_t most)
{
    outcome o = {.status = SLC_OK};
    slc_io_pet_singles *input = NULL;
    slc_error error = {0};
    o.status = slc_io_pet_singles_open_memory(bytes, size, format, &input, &error);
    fuzz_require((o.status == SLC_OK) == (input != NULL), "an input is there exactly without a failure");
    while (o.status == SLC_OK) {
        o.status = format == SLC_IO_PET_SINGLES ? slc_io_pet_singles_read(input, most, &o.ps, &error)
                                                : slc_io_pet_singles_read_f64(input, most, &o.ns, &error);
    }
    fuzz_require(o.status == SLC_END || error.text[0] != '\0', "a failure has a text");
    if (input != NULL) {
        (void)snprintf(o.note, sizeof o.note, "%s", slc_io_pet_singles_note(input));
        slc_io_pet_singles_close(input);
    }
    fuzz_require((o.ps.head.size + o.ns.head.size) * 16 <= size, "records have 16 bytes");
    return o;
}

static void clear(outcome *o)
{
    slc_columns_clear(&slc_pet_singles_schema, &o->ps);
    slc_columns_clear(&slc_pet_singles_f64_schema, &o->ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (int format = SLC_IO_PET_SINGLES; format <= SLC_IO_PET_SINGLES_F64; format++) {
        outcome a = read_all(bytes, size, (slc_io_pet_singles_format)format, 100000);
        outcome b = read_all(bytes, size, (slc_io_pet_singles_format)format, 3);
        const size_t n = a.ps.head.size;
        /* How many of the first records are probed depends on the pieces. */
        if (a.status == SLC_END && b.status == SLC_END) {
            fuzz_require(n == b.ps.head.size && a.ns.head.size == b.ns.head.size, "pieces do not matter");
            fuzz_require(n == 0 || memcmp(a.ps.time_ps, b.ps.time_ps, n * sizeof *a.ps.time_ps) == 0,
                         "pieces have the same singles");
            fuzz_require(strcmp(a.note, b.note) == 0, "pieces have the same note");
        }
        clear(&a);
        clear(&b);
    }
    return 0;
}
