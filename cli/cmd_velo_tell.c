/* SPDX-License-Identifier: Apache-2.0
 * What `sluice velo` says about an input: its damage, and the faults in its data. */
#include "cli_faults.h"
#include "cmd_velo.h"

#include <inttypes.h>

static void print_place(char *to, size_t size, const slc_fault *fault)
{
    switch (fault->code) {
    case SLC_FAULT_SUPERPIXEL_HINT:
        (void)snprintf(to, size,
                       "event %" PRIu64 ", source %" PRId32 ", super-pixel column %" PRIu64 ", row %" PRIu64,
                       fault->event, fault->module, fault->offset / SLC_VELO_SUPERPIXEL_ROWS,
                       fault->offset % SLC_VELO_SUPERPIXEL_ROWS);
        break;
    case SLC_FAULT_EVENT_NO_VP:
    case SLC_FAULT_EVENT_CROWDED: /* the whole event */
        (void)snprintf(to, size, "event %" PRIu64, fault->event);
        break;
    default:
        slc_fault_place(fault, "source", to, size);
    }
}

/* A fault of this kind means an event that is lost, and the reader has a line of its own on it. */
static bool loses_event(slc_fault_code code)
{
    switch (code) {
    case SLC_FAULT_RECORD_HEADER:
    case SLC_FAULT_RECORD_TRUNCATED:
    case SLC_FAULT_RECORD_CHECKSUM:
    case SLC_FAULT_RECORD_COMPRESSION:
    case SLC_FAULT_RECORD_TYPE:
    case SLC_FAULT_RECORD_UNREADABLE:
    case SLC_FAULT_EVENT_SHAPE:
    case SLC_FAULT_PACKET_HEADER:
        return true;
    case SLC_FAULT_EVENT_CROSSINGS: /* found by the chain, which has no line of its own: told with the others
                                     */
    default:
        return false;
    }
}

static void tell_faults(const char *path, const slc_faults *faults)
{
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        const slc_fault_code code = faults->kind[i].code;
        if (loses_event(code)) {
            continue;
        }
        char place[128];
        const slc_fault *first = slc_cli_first_fault(faults, code);
        if (first != NULL) {
            print_place(place, sizeof place, first);
        }
        slc_cli_say("velo", "%s: %" PRIu64 " × %s (%s)%s%s", path, faults->kind[i].n, slc_fault_name(code),
                    slc_fault_text(code), first != NULL ? ", first at " : "", first != NULL ? place : "");
    }
}

/* What hits were made of, where that was not asked for by name; and that there was nothing to make them of.
 * Events without banks of theirs among others are faults. */
static void tell_banks(slc_velo_job *job, const char *path, uint64_t events)
{
    const slc_velo_input *input = &job->input;
    static const char *const wanted[] = {
        [SLC_VELO_BANKS_AUTO] = "super-pixels (banks of type 63 or 8) or clusters of the read-out (73)",
        [SLC_VELO_BANKS_SUPERPIXELS] = "super-pixels (banks of type 63 or 8)",
        [SLC_VELO_BANKS_RETINA] = "clusters of the read-out (banks of type 73)",
    };
    const uint64_t looked_at = events - input->gec.cut;
    if (looked_at > 0 && slc_faults_of(&input->faults, SLC_FAULT_EVENT_NO_VP) == looked_at) {
        slc_cli_say("velo", "%s: none of its %" PRIu64 " events has %s", path, events,
                    wanted[job->config.banks]);
        job->failed = true;
    }
    if (job->config.banks == SLC_VELO_BANKS_AUTO && input->retina_events > 0) {
        slc_cli_say("velo",
                    "%s: %" PRIu64 " of %" PRIu64
                    " events have no super-pixels: their hits are the clusters of the read-out (bank 73)",
                    path, input->retina_events, events);
    }
}

/* All of it goes out under --quiet, too: what was lost, or put in place of something else. */
void slc_velo_tell_input(slc_velo_job *job, const slc_flow_item *end)
{
    const slc_velo_input *input = &job->input;
    const slc_io_totals read = end->totals;
    const uint64_t lost = read.lost_events - input->cut;
    job->totals.lost_events += lost + slc_faults_of(&input->faults, SLC_FAULT_EVENT_CROSSINGS);
    if (lost > 0) {
        /* Bytes that make no event may have held several: the reader counts stretches. */
        slc_cli_say("velo", "%s; %" PRIu64 " event%s lost, %" PRIu64 " read",
                    end->damage[0] != '\0' ? end->damage : end->path, lost, lost == 1 ? "" : "s",
                    read.events);
        job->failed = true;
    }
    const uint64_t told = slc_faults_of(&input->faults, SLC_FAULT_RECORD_TRUNCATED) +
                          slc_faults_of(&input->faults, SLC_FAULT_PACKET_HEADER);
    job->totals.incomplete_events += read.incomplete_events;
    if (read.incomplete_events > 0 || (read.lost_events == 0 && told > 0)) {
        slc_cli_say("velo", "%s; %" PRIu64 " of %" PRIu64 " events lack a source",
                    lost == 0 && end->damage[0] != '\0' ? end->damage : end->path, read.incomplete_events,
                    read.events);
        job->failed = true;
    }
    tell_banks(job, end->path, read.events);
    if (read.events > 0) {
        slc_velo_gec_tell(job, end->path);
    }
    if (input->raw) { /* lists of hits never have them */
        slc_cli_identity_tell(input->identity_from, "velo", end->path);
    }
    tell_faults(end->path, &input->faults);
    if (job->options->truth && !input->has_truth && read.events > 0) {
        slc_cli_say("velo", "%s: no simulation truth in it: counts of the comparison do not include it",
                    end->path);
    }
}

bool slc_velo_judge(const slc_velo_job *job, const char *path, const char *damage, const slc_faults *faults)
{
    if (!job->options->strict || slc_faults_total(faults) == 0) {
        return true;
    }
    const slc_fault *first = &faults->kept[0];
    if (loses_event(first->code) && damage[0] != '\0') {
        slc_cli_say("velo", "%s", damage);
        return false;
    }
    char place[128];
    print_place(place, sizeof place, first);
    slc_cli_say("velo", "%s: %s: %s (%s)", path, place, slc_fault_name(first->code),
                slc_fault_text(first->code));
    return false;
}
