/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the reports of LHCb's chains share. Their style sheet has the classes of
 * report_svg.h.
 */
#ifndef SLUICE_REPORT_PAGE_H
#define SLUICE_REPORT_PAGE_H

#include <sluice/report_velo.h>

#include <locale.h>
#include <stdio.h>

/* The page up to its title, and its end with who made it. Between both numbers have decimal points, whatever
 * the program's locale has, as no reader understands other SVG. */
typedef struct slc_report_numbers {
    locale_t plain, before;
} slc_report_numbers;
slc_report_numbers slc_report_page_begin(FILE *out, const char *heading, const char *title);
void slc_report_page_end(FILE *out, const char *command, slc_report_numbers numbers);

/* 12345678 as 12 345 678, with narrow spaces that do not break. */
void slc_report_grouped(FILE *out, uint64_t value);
void slc_report_tile(FILE *out, uint64_t value, const char *what);
void slc_report_tile_per_event(FILE *out, uint64_t value, uint64_t events, const char *what);
void slc_report_tile_percent(FILE *out, slc_fraction fraction, const char *what);

/* Where the time of so many events went: a bar for each stage, as long as its share of the longest. */
void slc_report_times(FILE *out, const slc_report_velo_stage *stages, size_t n_stages, uint64_t events);
void slc_report_faults(FILE *out, const slc_faults *faults);

#endif
