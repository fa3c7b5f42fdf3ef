/* SPDX-License-Identifier: Apache-2.0
 * Several GPUs among the workers of a flow: a chain of one's own on each, so that results are those of one.
 */
#include "run/run_devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

slc_status slc_run_devices_of(const char *word, slc_run_devices *devices, slc_error *error)
{
    devices->list.n = 0;
    return word == NULL || strcmp(word, "cpu") == 0 ? SLC_OK
                                                    : slc_cuda_list_read(word, false, &devices->list, error);
}

uint32_t slc_run_devices_workers(const slc_run_devices *devices, uint32_t of_one)
{
    const uint32_t n = devices->list.n > 1 ? devices->list.n : 1;
    return of_one > 0 ? of_one * n : n;
}

uint32_t slc_run_devices_threads(const slc_run_devices *devices, uint32_t processors)
{
    const uint32_t n = devices->list.n > 1 ? devices->list.n : 1;
    return processors > n ? processors / n : 1;
}

const char *slc_run_devices_word(const slc_run_devices *devices, uint32_t worker, const char *whole,
                                 char text[SLC_RUN_DEVICE_ROOM])
{
    if (devices->list.n == 0) {
        return whole;
    }
    (void)snprintf(text, SLC_RUN_DEVICE_ROOM, "cuda:%" PRIu32,
                   devices->list.device[worker % devices->list.n]);
    return text;
}
