/* SPDX-License-Identifier: Apache-2.0
 * Counting what is wrong with detector data, and remembering the first few places. */
#include "base/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------- */

static slc_fault_table *tables;

void slc_faults_register(slc_fault_table *table)
{
    table->next = tables;
    tables = table;
}

static const slc_fault_kind *find(slc_fault_code code)
{
    for (const slc_fault_table *table = tables; table != NULL; table = table->next) {
        for (size_t i = 0; i < table->n_kinds; i++) {
            if (table->kinds[i].code == code) {
                return &table->kinds[i];
            }
        }
    }
    return NULL;
}

const char *slc_fault_name(slc_fault_code code)
{
    const slc_fault_kind *kind = find(code);
    return kind != NULL ? kind->name : "unknown";
}

const char *slc_fault_text(slc_fault_code code)
{
    const slc_fault_kind *kind = find(code);
    return kind != NULL ? kind->text : "unknown fault";
}

void slc_fault_place(const slc_fault *fault, const char *source, char *text, size_t size)
{
    const slc_fault_kind *kind = find(fault->code);
    const char *place = kind != NULL && kind->place != NULL ? kind->place
                        : fault->module < 0                 ? "event %e, byte %o of the event"
                                                            : "event %e, %s %m, byte %o of the event";
    size_t at = 0;
    for (text[0] = '\0'; *place != '\0' && at + 1 < size; place++) {
        char piece[32] = {*place};
        const char *word = piece;
        switch (*place == '%' ? *++place : 0) {
        case 'e':
            (void)snprintf(piece, sizeof piece, "%" PRIu64, fault->event);
            break;
        case 'm':
            (void)snprintf(piece, sizeof piece, "%" PRId32, fault->module);
            break;
        case 'o':
            (void)snprintf(piece, sizeof piece, "%" PRIu64, fault->offset);
            break;
        case 's':
            word = source;
            break;
        default:
            break;
        }
        (void)snprintf(text + at, size - at, "%s", word);
        at += strlen(text + at);
    }
}

slc_status slc_faults_strict(const slc_faults *faults, const char *source, slc_error *error)
{
    char place[96];
    if (slc_faults_total(faults) == 0) {
        return SLC_OK;
    }
    slc_fault_place(&faults->kept[0], source, place, sizeof place);
    return slc_fail(error, SLC_ERR_STRICT, "%s: %s", place, slc_fault_text(faults->kept[0].code));
}

/* ---- counts ------------------------------------------------------------------------------------ */

void slc_faults_reset(slc_faults *faults)
{
    faults->n_kinds = 0;
    faults->n_other = 0;
    faults->n_kept = 0;
    faults->of_event = NULL;
}

void slc_faults_count(slc_faults *faults, slc_fault_code code, uint64_t n)
{
    uint32_t i = 0;
    while (i < faults->n_kinds && faults->kind[i].code < code) {
        i++;
    }
    if (i < faults->n_kinds && faults->kind[i].code == code) {
        faults->kind[i].n += n;
    } else if (n == 0) {
        return;
    } else if (faults->n_kinds == SLC_FAULTS_KINDS) {
        faults->n_other += n;
    } else {
        memmove(&faults->kind[i + 1], &faults->kind[i], (faults->n_kinds - i) * sizeof faults->kind[0]);
        faults->kind[i].code = code;
        faults->kind[i].n = n;
        faults->n_kinds++;
    }
}

/* Stages look through a batch one after the other, so that later ones find earlier events: by event, those
 * that are kept are the same however batches are cut. */
void slc_faults_keep(slc_faults *faults, const slc_fault *fault)
{
    uint32_t at = faults->n_kept;
    while (at > 0 && faults->kept[at - 1].event > fault->event) {
        at--;
    }
    if (at == SLC_FAULTS_KEPT) {
        return;
    }
    faults->n_kept += faults->n_kept < SLC_FAULTS_KEPT;
    memmove(&faults->kept[at + 1], &faults->kept[at], (faults->n_kept - 1 - at) * sizeof *fault);
    faults->kept[at] = *fault;
}

void slc_faults_add(slc_faults *faults, slc_fault_code code, uint64_t event, int32_t module, uint64_t offset)
{
    slc_faults_count(faults, code, 1);
    if (faults->of_event != NULL && event - faults->first_event < faults->n_events) {
        faults->of_event[event - faults->first_event]++;
    }
    slc_faults_keep(faults, &(slc_fault){.event = event, .offset = offset, .module = module, .code = code});
}

void slc_faults_merge(slc_faults *into, const slc_faults *from)
{
    for (uint32_t i = 0; i < from->n_kinds; i++) {
        slc_faults_count(into, from->kind[i].code, from->kind[i].n);
    }
    into->n_other += from->n_other;
    for (uint32_t i = 0; i < from->n_kept; i++) {
        slc_faults_keep(into, &from->kept[i]);
    }
}

uint64_t slc_faults_of(const slc_faults *faults, slc_fault_code code)
{
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        if (faults->kind[i].code == code) {
            return faults->kind[i].n;
        }
    }
    return 0;
}

uint64_t slc_faults_total(const slc_faults *faults)
{
    uint64_t total = faults->n_other;
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        total += faults->kind[i].n;
    }
    return total;
}
