/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a scanner cabled as it is said to be? Coincidences of a source are lines that meet it, if each module is
 * where its number says; where one is not, its lines miss. Counts by pair of modules and histograms of time
 * differences show it, and what can be wrong is found and named: modules that are swapped, mirrored or
 * turned, all of them numbered from another first one or the other way round, late or silent ones.
 */
#ifndef SLUICE_PET_CHECK_H
#define SLUICE_PET_CHECK_H

#include <sluice/pet_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_pet_finding_kind {
    SLC_PET_FOUND_SILENT = 0, /* a module, or a unit of one, that sends nothing */
    SLC_PET_FOUND_WEAK,       /* less than a tenth of the singles that modules usually have */
    SLC_PET_FOUND_UNPAIRED,   /* singles, but less than a tenth of the pairs that belong to so many */
    SLC_PET_FOUND_SWAPPED,    /* `module` and `other` are in each other's place */
    SLC_PET_FOUND_MOVED,      /* the module is in the place of `other`, which is elsewhere itself */
    SLC_PET_FOUND_TURNED,     /* the module is mirrored or turned in its place */
    SLC_PET_FOUND_ALL_TURNED, /* all modules are */
    SLC_PET_FOUND_DIRECTION,  /* modules are numbered the other way round */
    SLC_PET_FOUND_START,      /* the first module is at another angle: `value` degrees on */
    SLC_PET_FOUND_ENDS,       /* the ends of the scanner are exchanged */
    SLC_PET_FOUND_ELSEWHERE,  /* the source is not where it was said to be, and no numbering explains it */
    SLC_PET_FOUND_LATE,       /* the module's times are late by `value` ps; below 0: early */
    SLC_PET_FOUND_UNDECIDED,  /* no error: what this source cannot tell */
    SLC_PET_FINDING_KINDS
} slc_pet_finding_kind;
/* "silent", "weak" … */
SLC_API const char *slc_pet_finding_name(slc_pet_finding_kind kind);

enum { SLC_PET_FINDING_TEXT = 200 };
typedef struct slc_pet_finding {
    slc_pet_finding_kind kind;
    int32_t module, other; /* −1: of none */
    double value;          /* of those that have one; 0 */
    /* How many times better the finding explains the pairs, as a natural logarithm; 0 where there is no such
     * comparison. */
    double odds;
    char text[SLC_PET_FINDING_TEXT]; /* a sentence that names it */
} slc_pet_finding;

typedef struct slc_pet_check_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    /* Where the source is, if that is known: without it neither the first angle nor the direction can be
     * told, as the whole scanner may be turned. */
    bool has_source;
    double source_mm[3];
    double range_ps;   /* of histograms: from −range to range; 5000 */
    uint32_t bins;     /* of each; 1 to 4096; 100 */
    double late_ps;    /* offsets of modules below are no finding; 100 */
    double window_ps;  /* with which pairs were found, for texts; 0: not known */
    uint32_t of_pairs; /* pairs of each module that are looked at, the first ones; 100 to 2^20; 4096 */
} slc_pet_check_config;
SLC_API void slc_pet_check_config_default(slc_pet_check_config *config, size_t size);
#define slc_pet_check_config_default(config) slc_pet_check_config_default(config, sizeof *(config))

typedef struct slc_pet_check slc_pet_check;
/* SLC_ERR_USAGE names the field that cannot be. A check belongs to one thread at a time. */
SLC_API slc_status slc_pet_check_open(const slc_pet_check_config *config, slc_pet_check **check,
                                      slc_error *error);
SLC_API void slc_pet_check_close(slc_pet_check *check); /* NULL is allowed */
/* Singles, if there are any: without them silence is told by pairs. Crystals that the scanner does not have
 * are left out and counted, as are those of pairs. */
SLC_API void slc_pet_check_add_singles(slc_pet_check *check, const slc_pet_singles *singles);
/* Pairs, in any order and in parts. Those of one module are counted, but tell nothing of places. Delayeds
 * have a matrix of their own. */
SLC_API slc_status slc_pet_check_add(slc_pet_check *check, const slc_pet_coincidences *pairs,
                                     slc_error *error);

/* What has been added, and what was found in it. With M modules, [i][j] is element i · M + j; matrices are
 * symmetric. Memory is the check's, until it is closed or called again. */
typedef struct slc_pet_checked {
    uint32_t modules, units; /* units of a module */
    uint64_t pairs, delayeds, same_module, outside;
    const uint64_t *singles; /* by unit, [module][unit]; NULL: none were given */
    const uint64_t *prompt;  /* by pair of modules */
    const uint64_t *delayed; /* so, too */
    const uint32_t *times;   /* [i][j][bin]: prompts, by time of j − time of i; outside: left out */
    const double *offset_ps; /* of each module, their median being 0; NaN where there are too few pairs */
    const uint32_t *place;   /* of each module: whose place it is in */
    double source_mm[3];     /* where lines meet */
    const slc_pet_finding *finding;
    size_t n_findings;
    size_t n_errors; /* of them, those that are not SLC_PET_FOUND_UNDECIDED; they come first */
} slc_pet_checked;
/* Looks at all that was added. Each module's pairs are tried with the module in every place and turned in
 * every way; the best is believed if the lines then meet the source by far better. So most modules must be
 * right, and the source must be such that lines tell: small, and off the middle; a cylinder tells less, and
 * what it leaves open is SLC_PET_FOUND_UNDECIDED. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_check_find(slc_pet_check *check, slc_pet_checked *checked, slc_error *error);
/* What a check of the cabling came to, as HDF5: docs/formats/pet-check.md. `config`: the check's. */
SLC_API slc_status slc_io_write_pet_check(const char *path, const slc_pet_checked *checked,
                                          const slc_pet_check_config *config, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
