/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what reading and writing PETSIRD share. docs/formats/pet-petsird.md.
 */
#ifndef SLUICE_IO_PET_PETSIRD_H
#define SLUICE_IO_PET_PETSIRD_H

#include "io/pet/io_pet_list.h"
#include "io/pet/io_pet_yardl.h"

#define SLC_PETSIRD_METHOD "crystal efficiencies"

/* Pieces of the schema of 0.10, up to NULL; ' stands for ". */
extern const char *const slc_petsird_schema[];
/* "yardl" and version 1. */
enum { SLC_PETSIRD_MAGIC = 9 };
extern const uint8_t slc_petsird_magic[SLC_PETSIRD_MAGIC];

/* Of times of flight: (t1 − t2) · c / 2. */
#define SLC_PETSIRD_MM_PER_PS 0.149896229
#define SLC_PETSIRD_ANY_KEV   1e6 /* where an energy window ends that is not known */

/* A rigid transformation: x' = M · (x, 1), row by row. */
typedef struct slc_petsird_frame {
    double m[12];
} slc_petsird_frame;

/* Modules that are equal: where their elements are in them, and they in the scanner. */
typedef struct slc_petsird_kind {
    uint32_t n_elements, n_modules;
    const slc_petsird_frame *element, *module;
} slc_petsird_kind;

enum { SLC_PETSIRD_KINDS = 16 };

/* A scanner as PETSIRD tells it. All elements are boxes of one size around their middle: x away from the
 * axis, y around it, z along it. */
typedef struct slc_petsird_scanner {
    uint32_t n_kinds, n_crystals;
    slc_petsird_kind kind[SLC_PETSIRD_KINDS];
    double size_mm[3];
    uint32_t *place; /* of a crystal: element + n_elements · module; behind all of them kinds, if several */
    uint32_t *crystal; /* crystals in the order of kinds and places */
    void *rooms[2];    /* memory of frames */
} slc_petsird_scanner;

/* The scanner of a geometry: modules that are equal within 0.1 µm are replicas; where there were more than
 * SLC_PETSIRD_KINDS kinds, all crystals are elements of one module. SLC_ERR_MEMORY alone. */
slc_status slc_petsird_scanner_make(const slc_pet_geometry *geometry, slc_petsird_scanner *scanner,
                                    slc_error *error);
void slc_petsird_scanner_clear(slc_petsird_scanner *scanner);

/* The name of a scanner that its geometry alone is known of: of a ring words as slc_pet_scanner takes them.
 */
void slc_petsird_words(const slc_pet_geometry *geometry, char *words, size_t size);

/* What the header tells, taken apart. */
typedef struct slc_petsird_type {
    uint32_t elements, modules, energy_bins;
    uint32_t first;    /* of its elements among those of all types */
    float *energy_kev; /* middles of energy bins; 0 where there is one */
} slc_petsird_type;
typedef struct slc_petsird_tof {
    uint32_t bins;
    int64_t *dt_ps; /* of the middle of each; INT64_MIN where it is no number */
} slc_petsird_tof;
typedef struct slc_petsird_header {
    uint32_t n_types;
    slc_petsird_type *type;
    slc_petsird_tof *tof;   /* [t1 · (t1 + 1) / 2 + t2] */
    uint32_t n_elements;    /* of all types */
    uint32_t *crystal;      /* of each */
    float *efficiency;      /* by crystal; NULL: all 1 */
    slc_pet_geometry table; /* of a scanner that is not known; about.geometry, then */
    bool no_table;          /* it could not be made */
} slc_petsird_header;
/* Parts of the header that are passed over where it is read; ends with NULL. */
extern const char *const slc_petsird_passed[];
/* Names of what the header says and nothing makes use of, "" if there is nothing. */
void slc_petsird_ignored(const slc_yardl_value *header, char *text, size_t size);
/* Takes a header apart: the scanner's crystals, and what it says of the measurement (in->about). */
slc_status slc_petsird_header_take(slc_io_pet_list *in, const slc_yardl_value *value,
                                   slc_petsird_header *header, slc_error *error);
/* A list of records in it, and the twelve numbers of a transformation; NULL where there is none. */
const slc_yardl_value *slc_petsird_list_of(const slc_yardl_value *value, const char *name);
const float *slc_petsird_matrix_of(const slc_yardl_value *frame);
/* Makes header->table of the module types, whose elements are at these positions; false where they make none,
 * or there are more than 2^21. */
bool slc_petsird_table_make(const slc_yardl_value *modules, const float *alignment, const double *position,
                            slc_petsird_header *header);
void slc_petsird_header_clear(slc_petsird_header *header);

/* Writing, for slc_io_pet_petsird. */
slc_status slc_petsird_create(slc_io_pet_list_writer *w, slc_error *error);
slc_status slc_petsird_write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error);
slc_status slc_petsird_finish(slc_io_pet_list_writer *w, slc_error *error);
void slc_petsird_abandon(slc_io_pet_list_writer *w);
slc_status slc_petsird_write_singles(slc_io_pet_list_writer *w, const slc_pet_singles *singles,
                                     slc_error *error);

/* Singles of a stream that begins with "yardl", which goes over to *in; to be closed in any case. */
slc_status slc_petsird_singles_open(slc_io_stream *stream, slc_io_pet_list **in, slc_error *error);
/* Appends up to `most`; SLC_END where there are none. */
slc_status slc_petsird_singles_read(slc_io_pet_list *in, size_t most, slc_pet_singles *singles,
                                    slc_error *error);

#endif
