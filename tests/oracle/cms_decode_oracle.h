/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's fragments to digis, slowly and obviously: one word after the other, one bit field after the other,
 * the frame of a module by its four cases. Written from include/sluice/cms_decode.h and
 * docs/formats/cms-raw.md alone.
 */
#include "cms/cms_stages.h"
#ifndef TESTS_ORACLE_CMS_DECODE_ORACLE_H
#define TESTS_ORACLE_CMS_DECODE_ORACLE_H

/* What slc_cms_index_run and slc_cms_decode_run must write together. `digis` is reset first and grows as
 * needed; `counts` is set; faults are added to those that are there, first those of the fragments of all
 * events, then those of the words of all events. */
void oracle_cms_decode(const slc_cms_decode_config *config, const slc_cms_cabling *cabling,
                       const slc_batch *batch, slc_cms_digis *digis, slc_cms_word_counts *counts,
                       slc_faults *faults);

/* A pixel of a chip in the frame of its module. */
void oracle_cms_to_module(uint32_t raw_id, uint32_t roc, uint32_t row, uint32_t column, uint32_t *x,
                          uint32_t *y);

#endif
