/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a raw file of PET: read in pieces of two sizes; as they are, and with the hashes of heads set
 * right, so that what is behind them is reached. */
#include "fuzz.h"
#include "io/pet/io_pet_raw.h"

#include <stdlib.h>
#include <string.h>

/* Inside the library: io/io_pet_raw.h. */
uint64_t slc_io_pet_raw_hash(const uint8_t *bytes, size_t size);

typedef struct outcome {
    slc_pet_frame *frames;
    size_t n;
    slc_faults faults;
    slc_status status;
} outcome;

static outcome read_all(const uint8_t *bytes, size_t size, size_t most)
{
    outcome o = {.frames = malloc((size + 1) * sizeof *o.frames)};
    slc_io_pet_raw *raw = NULL;
    slc_error error = {0};
    if (o.frames == NULL) {
        return o;
    }
    o.status = slc_io_pet_raw_open_memory(bytes, size, "fuzz", &raw, &error);
    fuzz_require((o.status == SLC_OK) == (raw != NULL), "an input is there exactly without a failure");
    while (o.status == SLC_OK) {
        const size_t room =
            size - o.n; /* no frame is there that is not in the file; of a format, of a byte or more */
        size_t got = 0;
        slc_pet_frame spare;
        o.status = slc_io_pet_raw_read(raw, room > 0 ? o.frames + o.n : &spare, NULL,
                                       room == 0     ? 1
                                       : room < most ? room
                                                     : most,
                                       &got, &o.faults, &error);
        fuzz_require(room > 0 || got == 0, "there are no more frames than bytes for them");
        o.n += got;
    }
    fuzz_require(o.status == SLC_END || error.text[0] != '\0', "a failure has a text");
    slc_io_pet_raw_close(raw);
    return o;
}

static void check(const uint8_t *bytes, size_t size)
{
    outcome a = read_all(bytes, size, 100000), b = read_all(bytes, size, 3);
    if (a.frames != NULL && b.frames != NULL) {
        fuzz_require(a.status == b.status && a.n == b.n, "pieces do not matter");
        fuzz_require(memcmp(a.frames, b.frames, a.n * sizeof *a.frames) == 0, "pieces have the same frames");
        fuzz_require(memcmp(&a.faults, &b.faults, sizeof a.faults) == 0, "pieces have the same faults");
    }
    free(a.frames);
    free(b.frames);
}

static void store(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Of every head, and of the datagrams behind it, the hashes are set right: then sizes are what is looked at.
 */
static void check_repaired(const uint8_t *bytes, size_t size)
{
    enum { BLOCK = 48, HEAD = 64 };
    static const uint8_t magic[] = {0x9e, 'S', 'P', 'B'};
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, bytes, size);
    if (size >= HEAD) {
        const size_t format = (size_t)copy[40] | (size_t)copy[41] << 8;
        if (format <= size - HEAD) {
            store(copy + 48, slc_io_pet_raw_hash(copy + HEAD, format));
        }
        store(copy + 56, slc_io_pet_raw_hash(copy, 56));
    }
    for (size_t i = 0; i + BLOCK <= size; i++) {
        if (memcmp(copy + i, magic, sizeof magic) == 0) {
            const uint32_t payload = (uint32_t)copy[i + 24] | (uint32_t)copy[i + 25] << 8;
            copy[i + 26] = copy[i + 27] = 0; /* 64 KiB are enough here */
            if (payload <= size - i - BLOCK) {
                store(copy + i + 32, slc_io_pet_raw_hash(copy + i + BLOCK, payload));
            }
            store(copy + i + 40, slc_io_pet_raw_hash(copy + i, 40));
            i += BLOCK - 1;
        }
    }
    check(copy, size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check(bytes, size);
    check_repaired(bytes, size);
    return 0;
}
