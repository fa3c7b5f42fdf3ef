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

/* What was read of its time, as the nearest to the edge before if nothing has moved the epoch since. */
static int64_t time_of(const slc_tpx3_edges *edges, const slc_tpx3_epoch *epoch, uint64_t ticks)
{
    const bool by_edge = edges->any && (!epoch->is_known || epoch->ticks == edges->epoch);
    const int64_t near = by_edge ? edges->time : epoch->is_known ? epoch->ticks : (int64_t)ticks;
    return (int64_t)((uint64_t)near + (uint64_t)slc_tpx3_from(near, ticks));
}

/* Edges go on over a pause without pixels and heartbeats, and take the epoch with them: where two in a row
 * came soon after the one before each, so that one whose time is damaged takes it nowhere. */
static void carry(slc_tpx3_edges *edges, slc_tpx3_epoch *epoch, int64_t time)
{
    const int64_t step = (int64_t)((uint64_t)time - (uint64_t)edges->time);
    const bool regular = edges->any && step > -SLC_TPX3_NEAR && step < SLC_TPX3_LATER;
    if (regular && edges->regular && epoch->is_known && time - epoch->ticks >= SLC_TPX3_LATER) {
        epoch->ticks = time;
    }
    edges->regular = regular;
    edges->any = true;
    edges->time = time;
    edges->epoch = epoch->ticks;
}

/* Its clock of 3.125 ns begins anew after 107 s, with old firmware after 26.8 s as the pixels': so it is
 * taken modulo the latter. Twelfths of the clock are sixths of a tick. */
void slc_tpx3_take_edge(slc_io_pixels *file, slc_tpx3_edges *edges, slc_tpx3_epoch *epoch, uint64_t packet)
{
    const slc_io_pixels_edge edge = edge_of(packet);
    const uint64_t fine = packet >> 5 & 15, ticks = 2 * (packet >> 9 & 0x7ffffffff);
    if (edge == SLC_IO_PIXELS_NO_EDGE || fine == 0 || fine > 12 || epoch->is_suspect) {
        file->counts.no_edges++;
        return;
    }
    file->counts.edges[edge - SLC_IO_PIXELS_TDC1_RISE]++;
    const int64_t time = time_of(edges, epoch, ticks);
    carry(edges, epoch, time);
    if (edge == file->wanted) {
        const slc_io_pixels_trigger trigger = {.time = (int64_t)(6 * (uint64_t)time + fine - 1),
                                               .counter = (uint16_t)(packet >> 44 & 0xfff)};
        edges->is_short = !keep(file, trigger);
    }
}
