/* SPDX-License-Identifier: Apache-2.0
 *
 * ROOT's compressed blocks of every kind, made by the libraries.
 */
#ifndef SUPPORT_BLOCKS_H
#define SUPPORT_BLOCKS_H

#include "support/support.h"

enum { SUPPORT_ZL = 0, SUPPORT_L4, SUPPORT_ZS, SUPPORT_XZ, SUPPORT_KINDS };

/* Blocks of at most `block` bytes each, one at least. `kind` SUPPORT_KINDS: of all of them in turn. */
support_bytes support_blocks_of(int kind, const void *bytes, size_t size, size_t block);
/* A file of so many tiny events in blocks of a kind, with checksums or without. */
support_bytes support_file_of(int kind, uint32_t n_events, size_t block, bool hashed);

#endif
