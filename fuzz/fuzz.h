/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz targets share. Each defines LLVMFuzzerTestOneInput, which libFuzzer or replay.c calls; a
 * broken contract aborts, so that a wrong result is found as surely as a wrong read.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <sluice/sluice.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Bytes of the input that choose something, one by one; 0 where there are no more. */
typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t left;
} fuzz_input;

static inline uint8_t fuzz_next(fuzz_input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->bytes++;
}

/* Aborts with the text where the condition does not hold. */
void fuzz_require(bool holds, const char *text);
/* Aborts where the collection breaks its contract. */
void fuzz_require_columns(const slc_schema *schema, const void *collection);

/* Truth and the chain on a batch of raw events, and the check against each other. */
void fuzz_chain_raw(const slc_batch *batch);
/* Reads all pages, where the input is of this format ("pnm", "png", "tiff", "npy"). */
void fuzz_images(const uint8_t *bytes, size_t size, const char *format);
/* Reads all pixels, where the input is of one of these formats ("tpx3", "t3pa csv", "npy"). */
void fuzz_pixels(const uint8_t *bytes, size_t size, const char *formats);
/* Reads all pairs of a list-mode file; with a header, its text is first and ends with a zero byte. */
void fuzz_pet_list(const uint8_t *bytes, size_t size, slc_io_pet_list_format format, bool has_header);
/* The chain on hits with their truth; takes the rows out of `hits`. */
void fuzz_chain_hits(slc_velo_hits *hits, const slc_velo_truth *truth);

#endif
