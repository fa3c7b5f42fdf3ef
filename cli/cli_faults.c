/* SPDX-License-Identifier: Apache-2.0
 * Faults in detector data as text and JSON. */
#include "cli_faults.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>
#include <sluice/io.h>
#include <string.h>

void slc_cli_print_faults(const slc_faults *faults)
{
    const char *label = "faults";
    if (slc_faults_total(faults) == 0) {
        (void)printf("%-14s none\n", label);
    }
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        (void)printf("%-14s %" PRIu64 " × %s\n", label, faults->kind[i].n,
                     slc_fault_name(faults->kind[i].code));
        label = "";
    }
}

json_t *slc_cli_faults_json(const slc_faults *faults)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        (void)json_object_set_new(object, slc_fault_name(faults->kind[i].code),
                                  json_integer((json_int_t)faults->kind[i].n));
    }
    return object;
}

const slc_fault *slc_cli_first_fault(const slc_faults *faults, slc_fault_code code)
{
    const slc_fault *first = NULL;
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        const slc_fault *kept = &faults->kept[i];
        first = kept->code == code && (first == NULL || kept->event < first->event) ? kept : first;
    }
    return first;
}

void slc_cli_tell_faults(const char *command, const char *path, const char *source, const slc_faults *faults)
{
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        const slc_fault_code code = faults->kind[i].code;
        char place[96];
        const slc_fault *first = slc_cli_first_fault(faults, code);
        if (first != NULL) {
            slc_fault_place(first, source, place, sizeof place);
        }
        slc_cli_say(command, "%s: %" PRIu64 " × %s (%s)%s%s", path, faults->kind[i].n, slc_fault_name(code),
                    slc_fault_text(code), first != NULL ? ", first at " : "", first != NULL ? place : "");
    }
}

void slc_cli_tell_first_fault(const char *command, const char *path, const char *source,
                              const slc_faults *faults)
{
    char place[96];
    const slc_fault *first = &faults->kept[0];
    slc_fault_place(first, source, place, sizeof place);
    slc_cli_say(command, "%s: %s: %s (%s)", path, place, slc_fault_name(first->code),
                slc_fault_text(first->code));
}

uint64_t slc_cli_take_back_cut(const char *path, slc_faults *faults)
{
    char name[1024];
    char *const names[] = {name};
    (void)snprintf(name, sizeof name, "%s", path);
    const uint64_t n = slc_faults_of(faults, SLC_FAULT_RECORD_TRUNCATED);
    if (n == 0 || !slc_cli_interrupted() || !slc_cli_reads_once(names, 1)) {
        return 0;
    }
    uint32_t kept = 0, kinds = 0;
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        if (faults->kind[i].code != SLC_FAULT_RECORD_TRUNCATED) {
            faults->kind[kinds++] = faults->kind[i];
        }
    }
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        if (faults->kept[i].code != SLC_FAULT_RECORD_TRUNCATED) {
            faults->kept[kept++] = faults->kept[i];
        }
    }
    faults->n_kinds = kinds;
    faults->n_kept = kept;
    return n;
}
