/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz targets of CMS's pixels share.
 */
#ifndef FUZZ_CMS_H
#define FUZZ_CMS_H

#include "fuzz.h"

#include <sluice/io_cms.h>

/* A cabling with links of four chips, and some without; of layer 1, barrel and forward. Made once. */
const slc_cms_cabling *fuzz_cms_cabling(void);

/* Index and decoder on a batch of events, on the plainest target and the fastest, and their contracts. */
void fuzz_cms_events(const slc_batch *batch);

/* The checksum of payloads is set right, or nothing would get past it. At least 16 bytes. */
void fuzz_cms_mend(uint8_t *payload, size_t size);

#endif
