/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of CMS's digis for tests: everything that may trouble a clustering. Modules of scattered pixels,
 * blobs, snakes, spirals, combs and full areas; sorted, by columns or shuffled; duplicates; digis that are
 * none and digis out of bounds in between; modules that come in any order, in several stretches, or all mixed
 * up. An event depends on the seed and its number alone.
 */
#ifndef TESTS_SUPPORT_CMS_EVENTS_H
#define TESTS_SUPPORT_CMS_EVENTS_H

#include <sluice/cms_types.h>

/* Events 0 … CMS_EVENTS - 1 of a seed hold at least CMS_EVENTS_CONTENTS modules in all: most of them with
 * fewer than 400 digis, some with up to 20 000, and one full module of 66 560. */
enum { CMS_EVENTS = 1000, CMS_EVENTS_CONTENTS = 10000 };

/* Appends event `number` to the digis, which grow as needed. Electrons as adc; the column cluster is poisoned
 * (a number that no clustering writes). The raw_id is a function of the module. Modules are below
 * SLC_CMS_MODULES_PHASE1, rows and columns those of phase 1, but for the digis that are out of bounds.
 * Returns how many modules have valid digis. */
uint32_t cms_events_append(uint64_t seed, uint32_t number, slc_cms_digis *digis);

/* Appends one digi to the event at hand, and ends an event. */
void cms_digis_put(slc_cms_digis *digis, uint32_t module, uint32_t x, uint32_t y, uint32_t adc);
void cms_digis_end(slc_cms_digis *digis);
/* Poisons the column cluster. */
void cms_digis_poison(slc_cms_digis *digis);
void cms_digis_copy(slc_cms_digis *into, const slc_cms_digis *from); /* what is in `into` is forgotten */
void cms_digis_clear(slc_cms_digis *digis);

/* The first column in which two collections of a schema differ, and the row; "events" where those do; NULL
 * where they are the same, bit for bit. */
const char *cms_columns_differ(const slc_schema *schema, const void *a, const void *b, size_t *row);
/* The name of the first code whose count differs; "kept" where the first few do not come in the same order;
 * NULL where they are the same. */
const char *cms_faults_differ(const slc_faults *a, const slc_faults *b);

#endif
