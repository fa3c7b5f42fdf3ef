/* SPDX-License-Identifier: Apache-2.0
 *
 * What the header of a file of PETSIRD says that nothing here makes use of, in words: whatever a field is
 * called, in this version or another one, it is named unless it is empty, or is known to be used.
 */
#include "io/pet/io_pet_petsird.h"

#include <stdio.h>
#include <string.h>

/* Parts that may be large, and are passed over while the header is read. */
const char *const slc_petsird_passed[] = {"exam",
                                          "bulkMaterials",
                                          "nonDetectingVolumes",
                                          "nonDetectingElements",
                                          "modulePairSGIDLUT",
                                          "modulePairEfficienciesVectors",
                                          NULL};

/* Fields that are used, and policies of events that are counted where they come. */
static const char *const used[] = {"scanner",
                                   "modelName",
                                   "scannerGeometry",
                                   "gantryAlignment",
                                   "tofBinEdges",
                                   "tofResolution",
                                   "eventEnergyBinEdges",
                                   "singleEventPolicy",
                                   "promptEventPolicy",
                                   "delayedEventPolicy",
                                   "tripleEventPolicy",
                                   "quadrupleEventPolicy",
                                   "detectionEfficiencies",
                                   "replicatedModules",
                                   "object",
                                   "transforms",
                                   "detectingElements",
                                   "detectionBinEfficiencies",
                                   NULL};

typedef struct words {
    char *text;
    size_t size;
    uint32_t more; /* that there is no room for */
} words;

enum { KEPT = 24 /* characters, for those more */ };

static void add(words *w, const char *what)
{
    const size_t have = strlen(w->text), size = strlen(what);
    if (have + size + 2 + KEPT > w->size) {
        w->more++;
        return;
    }
    (void)snprintf(w->text + have, w->size - have, "%s%s", have > 0 ? ", " : "", what);
}

static bool is_used(const char *name)
{
    size_t i = 0;
    while (used[i] != NULL && strcmp(used[i], name) != 0) {
        i++;
    }
    return used[i] != NULL;
}

/* Nothing, zeros, or lists of nothing. */
static bool is_empty(const slc_yardl_value *v)
{
    if (v->type == NULL || v->type->kind == SLC_YARDL_UINT) {
        return v->n == 0;
    }
    switch (v->type->kind) {
    case SLC_YARDL_NULL:
        return true;
    case SLC_YARDL_INT:
        return v->of.whole == 0;
    case SLC_YARDL_BOOL:
    case SLC_YARDL_F32:
    case SLC_YARDL_F64:
        return v->of.number == 0;
    case SLC_YARDL_STRING:
        return v->of.text == NULL || v->of.text[0] == '\0';
    case SLC_YARDL_UNION:
        return v->of.part == NULL || is_empty(v->of.part);
    default:
        break;
    }
    const bool reals = v->type->kind != SLC_YARDL_RECORD && v->type->part[0]->kind == SLC_YARDL_F32;
    bool empty = true;
    for (uint64_t i = 0; empty && i < v->n; i++) {
        empty = reals ? v->of.real == NULL || v->of.real[i] == 0
                      : v->of.part == NULL || is_empty(&v->of.part[i]);
    }
    return empty;
}

static void look_at(words *w, const slc_yardl_value *record)
{
    const bool is = record != NULL && record->type->kind == SLC_YARDL_RECORD;
    for (uint64_t i = 0; is && i < record->n; i++) {
        const slc_yardl_value *v = &record->of.part[i];
        const char *name = record->type->name[i];
        const bool text = v->type != NULL && v->type->kind == SLC_YARDL_STRING && !is_empty(v);
        if (strcmp(name, "calibrationFactor") == 0 && v->type != NULL && v->type->kind == SLC_YARDL_F32) {
            char factor[48];
            (void)snprintf(factor, sizeof factor, "calibrationFactor %g", v->of.number);
            if (v->of.number != 1) {
                add(w, factor);
            }
        } else if (!is_used(name) && !is_empty(v) &&
                   !(text &&
                     (strcmp(v->of.text, SLC_PETSIRD_METHOD) == 0 || strcmp(v->of.text, "none") == 0))) {
            add(w, name);
        }
    }
}

/* Is one resolution told for all module types? */
static bool is_one(const slc_yardl_value *rows)
{
    const float *first = NULL;
    bool one = true;
    for (uint64_t t = 0; rows != NULL && rows->type->kind == SLC_YARDL_VECTOR && t < rows->n; t++) {
        const slc_yardl_value *row = &rows->of.part[t];
        const float *r = slc_yardl_reals(row, row->n);
        for (uint64_t k = 0; r != NULL && k < row->n && k <= t; k++) {
            first = first == NULL ? r : first;
            one = one && r[k] == *first;
        }
    }
    return one;
}

void slc_petsird_ignored(const slc_yardl_value *header, char *text, size_t size)
{
    words w = {.text = text, .size = size};
    const slc_yardl_value *scanner = slc_yardl_get(header, "scanner"),
                          *geometry = slc_yardl_get(scanner, "scannerGeometry"),
                          *modules = slc_petsird_list_of(geometry, "replicatedModules");
    text[0] = '\0';
    look_at(&w, slc_yardl_get(scanner, "detectionEfficiencies")); /* what changes values comes first */
    if (!is_one(slc_yardl_get(scanner, "tofResolution"))) {
        add(&w, "tofResolution of other module types");
    }
    look_at(&w, scanner);
    look_at(&w, geometry);
    for (uint64_t t = 0; modules != NULL && t < modules->n && t < 1; t++) { /* one tells for all */
        look_at(&w, slc_yardl_get(&modules->of.part[t], "object"));
    }
    look_at(&w, header);
    if (w.more > 0) {
        const size_t have = strlen(text);
        (void)snprintf(text + have, size - have, ", %u more fields", w.more);
    }
}
