/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: HDF5's byte shuffle. Of values of `width` bytes the first bytes come first, then all
 * second ones, and so on; what is over stays at the end.
 */
#ifndef SLUICE_IO_SHUFFLE_H
#define SLUICE_IO_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

void slc_io_shuffle(const uint8_t *from, size_t size, size_t width, uint8_t *to);

#endif
