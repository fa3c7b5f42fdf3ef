/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the files of page/, as bytes; live_page.c is made of them by cmake/SluicePage.cmake. */
#ifndef SLUICE_LIVE_PAGE_H
#define SLUICE_LIVE_PAGE_H

#include <stddef.h>

extern const unsigned char slc_live_page_html[], slc_live_page_js[], slc_live_page_css[];
extern const size_t slc_live_page_html_size, slc_live_page_js_size, slc_live_page_css_size;

#endif
