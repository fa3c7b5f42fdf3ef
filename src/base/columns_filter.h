/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: cuts on the rows of a collection as users write them, "size>=3,mass>50" or "area >= 20
 * && solidity > 0.9". A term is a column, a comparison and a number; rows for which all terms hold are kept.
 */
#ifndef SLUICE_BASE_COLUMNS_FILTER_H
#define SLUICE_BASE_COLUMNS_FILTER_H

#include <sluice/base.h>

typedef enum slc_columns_comparison {
    SLC_COLUMNS_AT_LEAST,
    SLC_COLUMNS_AT_MOST,
    SLC_COLUMNS_ABOVE,
    SLC_COLUMNS_BELOW,
    SLC_COLUMNS_IS,
    SLC_COLUMNS_NOT
} slc_columns_comparison;

typedef struct slc_columns_term {
    slc_column column;
    slc_columns_comparison comparison;
    double value, divisor; /* the column's number is divided before it is compared */
} slc_columns_term;

enum { SLC_COLUMNS_TERMS = 16 };
typedef struct slc_columns_filter {
    uint32_t n;
    slc_columns_term term[SLC_COLUMNS_TERMS];
} slc_columns_filter;

/* A column by another name, in a unit that is so many times its own. */
typedef struct slc_columns_alias {
    const char *name, *column;
    double divisor;
} slc_columns_alias;

/* SLC_ERR_USAGE with a line that says what `rows`, as "clusters", do not have, or what terms look like.
 * `alias` may be NULL. */
slc_status slc_columns_filter_parse(const char *text, const slc_schema *schema,
                                    const slc_columns_alias *alias, const char *rows,
                                    slc_columns_filter *filter, slc_error *error);
/* Do all terms hold? What is not a number passes none. Whole numbers beyond 2^53 are rounded. */
bool slc_columns_filter_holds(const slc_columns_filter *filter, const void *collection, size_t row);

#endif
