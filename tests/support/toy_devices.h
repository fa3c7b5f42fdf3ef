/* SPDX-License-Identifier: Apache-2.0
 * Three GPUs on a machine that has none: the table of what runs on GPUs is one of the tests' own, with
 * devices whose chains of CMS and of images are the processor's and count what they are given. */
#ifndef SLUICE_TESTS_TOY_DEVICES_H
#define SLUICE_TESTS_TOY_DEVICES_H

#include <stdatomic.h>

enum { TOY_DEVICES = 3 };

extern atomic_uint toy_devices; /* that there are */
/* Of each device: chains that were opened, batches and pages that ran. */
extern atomic_uint toy_opened[TOY_DEVICES], toy_ran[TOY_DEVICES];
/* What was allocated in the place of page-locked memory and not given back; at most so many at a time. */
extern atomic_int toy_locked, toy_most_locked;
extern atomic_int toy_refuses;  /* not 0: page-locking is refused */
extern atomic_int toy_unlocked; /* results that were unlocked */

void toy_reset(void);
unsigned toy_total(const atomic_uint *counts);

#endif
