/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: where collisions of a minute are. */
#ifndef SLUICE_VELO_MONITOR_PIXELS_H
#define SLUICE_VELO_MONITOR_PIXELS_H

#include <sluice/velo_monitor.h>

slc_velo_luminous slc_velo_minute_region(const slc_velo_minute *minute);

#endif
