/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the event that the report of the first trigger level draws. */
#ifndef SLUICE_REPORT_HLT1_DISPLAY_H
#define SLUICE_REPORT_HLT1_DISPLAY_H

#include <sluice/report_hlt1.h>

#include <stdio.h>

/* A section with the event in the plane in which the magnet bends (z and x), from the VELO to the last muon
 * station. */
void slc_report_hlt1_draw_event(FILE *out, const slc_report_hlt1_display *display);

#endif
