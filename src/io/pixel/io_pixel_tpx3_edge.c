/* SPDX-License-Identifier: Apache-2.0
 * TDC packets: times of edges at the inputs of the readout board. Layout: docs/formats/tpx3.md.
 */
#include "io/pixel/io_pixel_tpx3.h"

#include <stdlib.h>

static slc_io_pixels_edge edge_of(uint64_t packet)
{
    switch (packet >> 56) {
    case 0x6f:
        return SLC_IO_PIXELS_TDC1_RISE;
    case 0x6a:
        return SLC_IO_PIXELS_TDC1_FALL;
    case 0x6e:
        return SLC_IO_PIXELS_TDC2_RISE;
    case 0x6b:
        return SLC_IO_PIXELS_TDC2_FALL;
    default:
        return SLC_IO_PIXELS_NO_EDGE;
    }
}

static bool keep(slc_io_pixels *file, slc_io_pixels_trigger edge)
{
    if (file->n_triggers == file->trigger_capacity) {
        const size_t capacity = file->trigger_capacity > 0 ? 2 * file->trigger_capacity : 1024;
        slc_io_pixels_trigger *triggers = realloc(file->triggers, capacity * sizeof *triggers);
        if (triggers == NULL) {
            return false;
        }
        file->triggers = triggers;
        file->trigger_capacity = capacity;
    }
    file->triggers[file->n_triggers++] = edge;
    return true;
}

/* Its clock of 3.125 ns begins anew after 107 s, with old firmware after 26.8 s as the pixels': so it is
 * taken modulo the latter. Twelfths of the clock are sixths of a tick. */
void slc_tpx3_take_edge(slc_io_pixels *file, slc_tpx3_edges *edges, const slc_tpx3_epoch *epoch,
                        uint64_t packet)
{
    const slc_io_pixels_edge edge = edge_of(packet);
    const uint64_t fine = packet >> 5 & 15, ticks = 2 * (packet >> 9 & 0x7ffffffff);
    if (edge == SLC_IO_PIXELS_NO_EDGE || fine == 0 || fine > 12 || epoch->is_suspect) {
        file->counts.no_edges++;
        return;
    }
    file->counts.edges[edge - SLC_IO_PIXELS_TDC1_RISE]++;
    if (edge != file->wanted) {
        return;
    }
    const bool by_edge = edges->any && (!epoch->is_known || epoch->ticks == edges->epoch);
    const int64_t near = by_edge ? edges->time : epoch->is_known ? epoch->ticks : (int64_t)ticks;
    const int64_t time = (int64_t)((uint64_t)near + (uint64_t)slc_tpx3_from(near, ticks));
    const slc_io_pixels_trigger trigger = {.time = (int64_t)(6 * (uint64_t)time + fine - 1),
                                           .counter = (uint16_t)(packet >> 44 & 0xfff)};
    edges->any = true;
    edges->time = time;
    edges->epoch = epoch->ticks;
    edges->is_short = !keep(file, trigger);
}
