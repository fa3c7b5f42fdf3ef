/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the fields of a super-pixel word (2 × 4 pixels), after the figure 4.30 of the thesis.
 */
#ifndef SLUICE_VELO_SUPERPIXEL_H
#define SLUICE_VELO_SUPERPIXEL_H

#include <sluice/velo_types.h>

#define SLC_SUPERPIXEL_PATTERN  0x000000ffU
#define SLC_SUPERPIXEL_ADDRESS  0x007fff00U /* column and row */
#define SLC_SUPERPIXEL_SELECT   0x00800000U /* version 4: the second sensor of the pair */
#define SLC_RETINA_SELECT       0x00400000U /* the same in the words of clusters that FPGAs have found */
#define SLC_SUPERPIXEL_ISOLATED 0x80000000U
#define SLC_SUPERPIXEL_USED     0x807fffffU /* all bits that mean something after the sensor is known */

/* Column, then row: the order of the sorted list. */
static inline uint32_t slc_superpixel_address(uint32_t word)
{
    return word >> 8 & 0x7fffU;
}

static inline uint32_t slc_superpixel_row(uint32_t word)
{
    return word >> 8 & 0x3fU;
}

static inline uint32_t slc_superpixel_column(uint32_t word)
{
    return word >> 14 & 0x1ffU;
}

#endif
