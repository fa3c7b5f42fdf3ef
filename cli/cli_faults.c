/* SPDX-License-Identifier: Apache-2.0
 * Faults in detector data as text and JSON. */
#include "cli_faults.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>

void slc_cli_print_faults(const slc_faults *faults)
{
    const char *label = "faults";
    if (slc_faults_total(faults) == 0) {
        (void)printf("%-14s none\n", label);
    }
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        if (faults->count[i] > 0) {
            (void)printf("%-14s %" PRIu64 " × %s\n", label, faults->count[i],
                         slc_fault_name((slc_fault_code)i));
            label = "";
        }
    }
}

json_t *slc_cli_faults_json(const slc_faults *faults)
{
    json_t *object = json_object();
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        if (faults->count[i] > 0) {
            (void)json_object_set_new(object, slc_fault_name((slc_fault_code)i),
                                      json_integer((json_int_t)faults->count[i]));
        }
    }
    return object;
}

/* PET has frames and datagrams in place of events. */
static bool print_pet_place(char *to, size_t size, const slc_fault *fault)
{
    switch (fault->code) {
    case SLC_FAULT_PET_MODULE:
    case SLC_FAULT_PET_UNIT:
    case SLC_FAULT_PET_POSITION:
    case SLC_FAULT_PET_CLOCK:
        (void)snprintf(to, size, "frame %" PRIu64 ", of module %" PRId32, fault->event, fault->module);
        return true;
    case SLC_FAULT_PET_BLOCK:
    case SLC_FAULT_PET_DATAGRAM:
        (void)snprintf(to, size, "byte %" PRIu64 ", datagram %" PRIu64, fault->offset, fault->event);
        return true;
    default:
        return false;
    }
}

static void print_place(char *to, size_t size, const char *source, const slc_fault *fault)
{
    if (print_pet_place(to, size, fault)) {
        return;
    }
    /* Found when the bytes have been left behind. */
    const bool of_digis = fault->code == SLC_FAULT_CMS_MODULE_CROWDED;
    source = of_digis ? "module" : source;
    const int n = fault->module < 0 ? snprintf(to, size, "event %" PRIu64, fault->event)
                                    : snprintf(to, size, "event %" PRIu64 ", %s %" PRId32, fault->event,
                                               source, fault->module);
    (void)snprintf(to + n, size - (size_t)n, ", %s %" PRIu64 " of the event", of_digis ? "digi" : "byte",
                   fault->offset);
}

static const slc_fault *first_of(const slc_faults *faults, slc_fault_code code)
{
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        if (faults->kept[i].code == code) {
            return &faults->kept[i];
        }
    }
    return NULL;
}

void slc_cli_tell_faults(const char *command, const char *path, const char *source, const slc_faults *faults)
{
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        const slc_fault_code code = (slc_fault_code)i;
        if (faults->count[i] == 0) {
            continue;
        }
        char place[96];
        const slc_fault *first = first_of(faults, code);
        if (first != NULL) {
            print_place(place, sizeof place, source, first);
        }
        slc_cli_say(command, "%s: %" PRIu64 " × %s (%s)%s%s", path, faults->count[i], slc_fault_name(code),
                    slc_fault_text(code), first != NULL ? ", first at " : "", first != NULL ? place : "");
    }
}

void slc_cli_tell_first_fault(const char *command, const char *path, const char *source,
                              const slc_faults *faults)
{
    char place[96];
    const slc_fault *first = &faults->kept[0];
    print_place(place, sizeof place, source, first);
    slc_cli_say(command, "%s: %s: %s (%s)", path, place, slc_fault_name(first->code),
                slc_fault_text(first->code));
}
