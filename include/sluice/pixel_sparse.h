/* SPDX-License-Identifier: Apache-2.0
 *
 * SparseCCL as a template: connected components of a list of anything, for pixels, neighbourhoods and
 * features of one's own, in any number of dimensions. Algorithm 24 of A. Hennequin's thesis (2022,
 * section 4.6.1): the list is ordered, and a window of entries that may still have a neighbour slides along
 * it. Its parameters are macros, so that the compiler sees them inside the loop.
 *
 *     #define SLC_SPARSE_NAME point                     functions point_unite and point_number are made
 *     #define SLC_SPARSE_LIST const point *             the type of a list; p in what follows
 *     #define SLC_SPARSE_ADJACENT(p, i, j)              may entries i and j, j < i, be neighbours? true or
 * false #define SLC_SPARSE_FAR(p, i, j)                   is j too far from i, and from all entries after i?
 *     #define SLC_SPARSE_FEATURES point_sums *          optional: what becomes of components; f in what
 * follows #define SLC_SPARSE_INIT(f, label, p, i)           … and a statement for the first entry of a
 * component #define SLC_SPARSE_ACCUMULATE(f, label, p, i)     … and one for every other #include
 * <sluice/pixel_sparse.h>                  as often as there are kinds of lists
 *
 * The order of the list must be such that FAR never turns from false to true going up in j, nor from true to
 * false going up in i: for a list in the order of z, "z of i is more than r above z of j". The header forgets
 * the macros. examples/cluster_points.c is a program around it.
 *
 *     uint32_t NAME_unite(LIST list, uint32_t n, uint32_t *table)
 *     uint32_t NAME_number(LIST list, uint32_t n, uint32_t *table[, FEATURES features])
 *
 * _unite makes a table of parents of n entries, none after its child (the first scan); returns how many
 * components there are. _number turns it into labels, from 0 in the order of components' first entries, sums
 * up their features and returns the same number (the second scan). n < 2^32 - 1. Nothing is allocated.
 */
#ifndef SLUICE_PIXEL_SPARSE_H
#define SLUICE_PIXEL_SPARSE_H

#include <stdint.h>

/* The root of an entry; the path to it is halved. */
static inline uint32_t slc_sparse_find(uint32_t *table, uint32_t i)
{
    while (table[i] != i) {
        table[i] = table[table[i]];
        i = table[i];
    }
    return i;
}

/* Joins the trees of two roots, under the smaller one; returns it. */
static inline uint32_t slc_sparse_unite(uint32_t *table, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    table[high] = low;
    return low;
}

#define SLC_SPARSE_PASTE_(name, suffix) name##suffix
#define SLC_SPARSE_PASTE(name, suffix)  SLC_SPARSE_PASTE_(name, suffix)

#endif

#ifdef SLC_SPARSE_NAME

static inline uint32_t SLC_SPARSE_PASTE(SLC_SPARSE_NAME, _unite)(SLC_SPARSE_LIST list_, uint32_t n,
                                                                 uint32_t *table)
{
    uint32_t window = 0, components = 0;
    for (uint32_t i = 0; i < n; i++) {
        table[i] = i;
        components++;
        while (window < i && SLC_SPARSE_FAR(list_, i, window)) {
            window++;
        }
        uint32_t root = i;
        for (uint32_t j = window; j < i; j++) {
            if (SLC_SPARSE_ADJACENT(list_, i, j)) {
                const uint32_t other = slc_sparse_find(table, j);
                if (other != root) {
                    root = slc_sparse_unite(table, root, other);
                    components--;
                }
            }
        }
    }
    return components;
}

static inline uint32_t SLC_SPARSE_PASTE(SLC_SPARSE_NAME, _number)(SLC_SPARSE_LIST list_, uint32_t n,
                                                                  uint32_t *table
#ifdef SLC_SPARSE_FEATURES
                                                                  ,
                                                                  SLC_SPARSE_FEATURES features_
#endif
)
{
    uint32_t components = 0;
    (void)list_;
    for (uint32_t i = 0; i < n; i++) {
        /* Parents stand in front of their children and are labels already. */
        if (table[i] == i) {
            table[i] = components++;
#ifdef SLC_SPARSE_FEATURES
            SLC_SPARSE_INIT(features_, table[i], list_, i);
#endif
        } else {
            table[i] = table[table[i]];
#ifdef SLC_SPARSE_FEATURES
            SLC_SPARSE_ACCUMULATE(features_, table[i], list_, i);
#endif
        }
    }
    return components;
}

#undef SLC_SPARSE_NAME
#undef SLC_SPARSE_LIST
#undef SLC_SPARSE_ADJACENT
#undef SLC_SPARSE_FAR
#ifdef SLC_SPARSE_FEATURES
#undef SLC_SPARSE_FEATURES
#undef SLC_SPARSE_INIT
#undef SLC_SPARSE_ACCUMULATE
#endif

#endif
