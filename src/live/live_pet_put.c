/* SPDX-License-Identifier: Apache-2.0
 * The page of PET: what is put. */
#include "live/live_look.h"
#include "live/live_pet_part.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

enum { BINS = 512 };

static void put_disk(slc_live_pet *p, const char *output)
{
    struct statvfs disk;
    if (output == NULL || statvfs(output, &disk) != 0) {
        return;
    }
    slc_live_put_text(p->live, "Acquisition", "File", output, 0);
    const double left = (double)disk.f_bavail * (double)disk.f_frsize;
    slc_live_put_value(p->live, &(slc_live_value){.metric = "sluice_disk_free_bytes",
                                                  .help = "Room that is left on the disk of the file.",
                                                  .value = left});
    slc_live_put_value(p->live, &(slc_live_value){.group = "Acquisition",
                                                  .title = "Disk left",
                                                  .unit = "MB",
                                                  .value = floor(left * 1e-6)});
}

static void put_daq(slc_live_pet *p, const slc_live_pet_state *now)
{
    const slc_daq_pet_counts *c = now->daq;
    const slc_live_counted counters[] = {
        {"sluice_pet_frames_total", "Frames that were received.", "Frames", SLC_LIVE_KEEP, (double)c->frames},
        {"sluice_pet_datagrams_total", "Datagrams that were received.", "Datagrams", 0, (double)c->datagrams},
        {"sluice_pet_received_bytes_total", "Bytes of datagrams.", "Bytes", SLC_LIVE_KEEP, (double)c->bytes},
        {"sluice_pet_written_bytes_total", "Bytes of the raw files.", "Written bytes", 0,
         (double)c->written_bytes},
        {"sluice_pet_files_total", "Raw files that were begun.", "Files", 0, (double)c->files},
        {"sluice_pet_lost_frames_total", "Frames of lost datagrams, an estimate.", "Lost frames",
         SLC_LIVE_ALARM, (double)c->lost_frames},
        {"sluice_pet_kernel_drops_total",
         "Datagrams that the system dropped for want of room in its sockets.", "Dropped by the system",
         SLC_LIVE_ALARM, (double)c->kernel_drops},
        {"sluice_pet_ring_drops_total", "Datagrams that the system dropped while the ring was full.",
         "Dropped, ring full", SLC_LIVE_ALARM, (double)c->ring_drops},
        {"sluice_pet_unwritten_datagrams_total", "Datagrams that are not in the file.", "Not written",
         SLC_LIVE_ALARM, (double)c->unwritten},
        {"sluice_pet_live_skipped_frames_total", "Frames that the live chain went without.",
         "Skipped by the live chain", SLC_LIVE_ALARM, (double)c->live_skipped},
        {"sluice_pet_broken_connections_total", "Connections that ended inside a message.",
         "Broken connections", SLC_LIVE_ALARM, (double)c->broken},
    };
    const slc_live_counted gauges[] = {
        {"sluice_pet_ring_fill_ratio", "The fullest that a ring has been, 0 to 1.", NULL, 0, c->ring_fill},
        {"sluice_pet_ring_now_ratio", "How full the fullest ring is, 0 to 1.", NULL, 0, c->ring_now},
        {"sluice_pet_queue_fill_ratio", "How full the queue of the live chain is, 0 to 1.", NULL, 0,
         p->config != NULL ? c->queue_now : NAN},
        {"sluice_pet_receiving_seconds", "How long it has received.", "Seconds", 0, c->seconds},
    };
    SLC_LIVE_PUT(p->live, "Acquisition", SLC_LIVE_COUNTER, counters);
    SLC_LIVE_PUT(p->live, "Acquisition", SLC_LIVE_GAUGE, gauges);
    const struct {
        const char *title;
        double fill;
    } fills[] = {
        {"Ring, now", c->ring_now}, {"Ring, fullest", c->ring_fill}, {"Queue of the chain", c->queue_now}};
    for (int i = 0; i < (p->config != NULL ? 3 : 2); i++) {
        slc_live_put_value(p->live, &(slc_live_value){.group = "Acquisition",
                                                      .title = fills[i].title,
                                                      .unit = "%",
                                                      .flags = i != 1 ? SLC_LIVE_KEEP : 0,
                                                      .value = 100 * fills[i].fill});
    }
    put_disk(p, now->output);
}

static void put_modules(slc_live_pet *p, const slc_live_pet_state *now)
{
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        const slc_daq_pet_module *m = &now->daq->module[i];
        char name[8];
        (void)snprintf(name, sizeof name, "%d", i);
        const slc_live_counted list[] = {
            {"sluice_pet_module_frames_total", "Frames by module.", "frames", 0, (double)m->frames},
            {"sluice_pet_lost_datagrams_total", "Datagrams that are missing by the sequence counter.", "lost",
             SLC_LIVE_ALARM, now->sequence ? (double)m->lost : NAN},
            {"sluice_pet_malformed_datagrams_total", "Datagrams that are no whole number of frames.",
             "malformed", SLC_LIVE_ALARM, (double)m->malformed},
            {"sluice_pet_repeated_datagrams_total", "Datagrams that came again.", "repeated", SLC_LIVE_ALARM,
             (double)m->repeated},
            {"sluice_pet_foreign_datagrams_total", "Datagrams that are none of this acquisition.", "foreign",
             SLC_LIVE_ALARM, (double)m->foreign},
        };
        for (size_t k = 0; m->datagrams > 0 && k < sizeof list / sizeof *list; k++) {
            slc_live_put_value(p->live, &(slc_live_value){.metric = list[k].metric,
                                                          .help = list[k].help,
                                                          .group = "Modules",
                                                          .title = list[k].title,
                                                          .label = "module",
                                                          .is = name,
                                                          .kind = SLC_LIVE_COUNTER,
                                                          .flags = list[k].flags,
                                                          .value = list[k].value});
        }
    }
}

static void put_chain(slc_live_pet *p, const slc_pet_totals *t)
{
    const slc_live_counted list[] = {
        {"sluice_pet_singles_total", "Singles that were made of frames.", "Singles", SLC_LIVE_KEEP,
         (double)t->convert.singles},
        {"sluice_pet_prompts_total", "Coincidences.", "Prompts", SLC_LIVE_KEEP, (double)t->prompt.pairs},
        {"sluice_pet_delayeds_total", "Coincidences in delayed windows: randoms.", "Delayeds (randoms)",
         p->config->delayed ? SLC_LIVE_KEEP : 0, p->config->delayed ? (double)t->delayed.pairs : NAN},
        {"sluice_pet_late_total", "Singles behind the horizon of sorting.", "Late", SLC_LIVE_ALARM,
         (double)t->sort.late},
        {"sluice_pet_outside_energies_total", "Frames outside the window of energies.", "Outside energies", 0,
         (double)(t->convert.below + t->convert.above)},
        {"sluice_pet_no_crystal_total", "Frames of no crystal.", "Of no crystal", 0,
         (double)(t->convert.module + t->convert.unit + t->convert.position + t->convert.no_crystal)},
    };
    char text[32];
    SLC_LIVE_PUT(p->live, "Coincidences", SLC_LIVE_COUNTER, list);
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)t->checksum);
    slc_live_put_text(p->live, "Coincidences", "Checksum so far", text, 0);
    slc_live_put_faults(p->live, "Coincidences", &p->faults);
}

/* ---- the sample, with the mutex held ----------------------------------------------------------- */

/* In at most BINS bins, as far as there is anything. */
static void put_spectrum(slc_live_pet *p)
{
    uint64_t bins[BINS] = {0};
    uint32_t last = 0;
    for (uint32_t i = 0; i < SLC_LIVE_PET_ENERGIES; i++) {
        last = p->energy[i] > 0 ? i : last;
    }
    uint32_t width = last / BINS + 1, n = last / width + 1;
    for (uint32_t i = 0; i <= last; i++) {
        bins[i / width] += p->energy[i];
    }
    const bool kev = p->tables != NULL && p->tables->gain == NULL;
    const slc_live_plot plot = {
        .group = "Frames",
        .title = "Energies of frames",
        .x = kev ? "keV" : "units of the readout",
        .y = "frames of a sample",
        .low = 0,
        .high = (double)n * width,
        .from = kev ? p->config->convert.low_kev : 0,
        .to = kev && isfinite(p->config->convert.high_kev) ? p->config->convert.high_kev : 0,
        .counts = bins,
        .n = n};
    slc_live_put_plot(p->live, &plot);
}

static void put_flood(slc_live_pet *p, uint32_t block, uint32_t side)
{
    const uint16_t *flood = p->flood[block];
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++) {
            p->cells[y * side + x] = flood != NULL ? flood[y * SLC_LIVE_PET_SIDE + x] : 0;
        }
    }
    slc_live_put_cells(p->live, block, side, side, p->cells);
}

static void put_floods(slc_live_pet *p)
{
    /* Tables of modules that send crystals have no positions. */
    uint32_t side = p->tables != NULL && p->tables->position_side > 0 ? p->tables->position_side : 8;
    while (side <= p->last_place) {
        side *= 2;
    }
    side = side < SLC_LIVE_PET_SIDE ? side : SLC_LIVE_PET_SIDE;
    slc_live_put_map(p->live, &(slc_live_map){.group = "Frames",
                                              .title = "Flood map of block (16 · module + unit)",
                                              .x = "x",
                                              .y = "y",
                                              .unit = "frames",
                                              .number = 0,
                                              .count = p->last_block + 1});
    for (uint32_t block = 0; block <= p->last_block; block++) {
        if (slc_live_wants(p->live, block)) {
            put_flood(p, block, side);
        }
    }
}

static void put_pairs(slc_live_pet *p)
{
    const double window = p->config->prompt.window_ns;
    slc_live_put_plot(p->live, &(slc_live_plot){.group = "Pairs",
                                                .title = "Time differences",
                                                .x = "ns",
                                                .y = "prompts of a sample",
                                                .low = 0,
                                                .high = window,
                                                .counts = p->dt,
                                                .n = SLC_LIVE_PET_TIMES});
    slc_live_put_map(p->live, &(slc_live_map){.group = "Pairs",
                                              .title = "Modules in coincidence",
                                              .x = "module",
                                              .y = "module",
                                              .unit = "prompts",
                                              .number = SLC_LIVE_PET_MATRIX,
                                              .count = 1});
    slc_live_put_cells(p->live, SLC_LIVE_PET_MATRIX, p->modules, p->modules, p->matrix);
}

bool slc_live_pet_publish(slc_live_pet *p, slc_live_state state, const slc_live_pet_state *now)
{
    if (p == NULL) {
        return true;
    }
    if (now->daq != NULL) {
        put_daq(p, now);
        put_modules(p, now);
    } else {
        const slc_live_counted list[] = {{"sluice_pet_frames_total", "Frames that were read.", "Frames",
                                          SLC_LIVE_KEEP, (double)now->frames}};
        SLC_LIVE_PUT(p->live, "Coincidences", SLC_LIVE_COUNTER, list);
    }
    (void)pthread_mutex_lock(&p->mutex);
    if (now->chain != NULL && p->config != NULL) {
        put_chain(p, now->chain);
        put_pairs(p);
    }
    put_spectrum(p);
    put_floods(p);
    const slc_live_counted sample[] = {{"sluice_pet_sampled_frames_total", "Frames that the pictures are of.",
                                        "Frames in the pictures", 0, (double)p->sampled}};
    SLC_LIVE_PUT(p->live, "Frames", SLC_LIVE_COUNTER, sample);
    (void)pthread_mutex_unlock(&p->mutex);
    return slc_live_publish(p->live, state);
}
