/* SPDX-License-Identifier: Apache-2.0
 *
 * PET: what its files share. Stages, readers and writers of the library are capsules that sluice.pet's
 * classes hold; words and defaults are theirs, too, and come here as tuples of numbers. py_pet.c capsules,
 * columns, what tuples mean; scanners and tables py_pet_chain.c      frames to singles and pairs, with rates
 * and randoms py_pet_stages.c     singles in order, coincidences py_pet_files.c      raw frames, singles
 * py_pet_lists.c      list-mode files, sinograms
 * py_pet_randoms.c    randoms of each pair
 * py_pet_calibrate.c  tables from frames
 * py_pet_normalise.c  efficiencies from pairs, factors of pairs
 * py_pet_check.c      what is cabled wrong
 * py_pet_tables.c     tables of a scanner
 * py_pet_look.c       an image, for looking
 * py_pet_acquire.c    frames from and to the network
 */
#ifndef SLUICE_PYTHON_PET_H
#define SLUICE_PYTHON_PET_H

#include "py_core.h"

/* What every capsule's memory begins with. */
typedef struct pet_handle {
    void (*drop)(void *handle); /* what it holds, not its memory */
    long process;               /* that made it: its threads are not in a child of fork() */
    bool busy;                  /* a thread is in a call of it, without the lock of the interpreter */
    PyObject *scanner;          /* that it was opened with, whose layout it may look at; NULL: none */
} pet_handle;

/* Zeroed memory of `size` bytes behind a capsule of this kind, a constant; *handle is it. `drop` is called
 * when the last reference goes. NULL with an error set. */
PyObject *pet_new(const char *kind, size_t size, void (*drop)(void *handle), void *handle);
/* The memory of a capsule, which is now this thread's until pet_leave. NULL with an error set: it is of
 * another kind, of another process, or another thread's. */
void *pet_enter(PyObject *capsule, const char *kind);
void pet_leave(void *handle);
/* Keeps a geometry's tuple, and so its layout, until the handle has been dropped. */
void pet_hold(void *handle, PyObject *geometry);

/* ---- formats of frames ------------------------------------------------------------------------- */

/* Opens a file of a format, or nothing for None. False with an error set. */
bool pet_take_format(core_state *state, PyObject *path, slc_io_pet_format **format);
/* Its name, sizes and clock as a dict; None of none. */
PyObject *pet_give_format(const slc_io_pet_format *format);
PyObject *pet_give_records(const slc_io_pet_format_counts *counts);

/* ---- columns ----------------------------------------------------------------------------------- */

/* A collection of any of the schemas of PET. */
typedef struct pet_rows {
    const slc_schema *schema;
    union {
        slc_columns head;
        slc_pet_singles singles;
        slc_pet_singles_f64 singles_f64;
        slc_pet_coincidences pairs;
        slc_pet_groups groups;
        slc_pet_rate_rows rates;
        slc_pet_randoms_bins bins;
        slc_pet_crystal_rates crystals;
        slc_pet_marks marks;
    } of;
} pet_rows;
pet_rows *pet_rows_new(const slc_schema *schema); /* NULL with an error set */
void pet_rows_free(void *rows);
/* Columns of all rows as one event. Takes the rows, also on failure. */
PyObject *pet_rows_give(core_state *state, pet_rows *rows);

/* Fills a collection with copies of a tuple's buffers, one for each column of the schema: the library may
 * look at a vector more than there are rows. False with an error set. */
bool pet_rows_take(core_state *state, PyObject *buffers, const slc_schema *schema, void *collection);

/* Singles in anybody's memory, without a copy. The library may look at a vector beyond the rows it is given:
 * the last ones are therefore in memory of their own, `tail`, and the others, `front`, in the caller's. */
typedef struct pet_lent {
    const slc_schema *schema; /* of singles or singles_f64 */
    Py_buffer view[3];
    union {
        slc_columns head;
        slc_pet_singles singles;
        slc_pet_singles_f64 singles_f64;
    } front, tail; /* front may have no rows */
} pet_lent;
/* False with an error set; pet_lent_end only after true. */
bool pet_lend(core_state *state, PyObject *buffers, const slc_schema *schema, pet_lent *to);
void pet_lent_end(pet_lent *lent);

/* ---- tuples ------------------------------------------------------------------------------------ */

/* (ten numbers, layout), where layout is None or a capsule that the geometry then points into: what is opened
 * with it holds the tuple (pet_hold). False with an error set. */
bool pet_take_geometry(PyObject *tuple, slc_pet_geometry *geometry);
/* Such a tuple. Its layout is taken, or, with an `owner`, there as long as that is. NULL with an error set,
 * the layout being taken, too. */
PyObject *pet_give_geometry(const slc_pet_geometry *geometry, PyObject *owner);

/* Tables in buffers that are held until pet_tables_clear. */
typedef struct pet_tables {
    slc_pet_tables tables;
    Py_buffer view[7]; /* position, gain, energy, time_offset_ps, efficiency, radial, axial */
    bool held[7];
    PyObject *geometry;
} pet_tables;
/* (geometry, side, position, gain, energy, energy_bin_kev, time_offset_ps, efficiency, radial, radial_mm,
 * axial, axial_mm, energy_fwhm, time_fwhm_ps); tables that are None are not there. False with an error set;
 * pet_tables_clear in any case. */
bool pet_take_tables(core_state *state, PyObject *tuple, pet_tables *tables);
void pet_tables_clear(pet_tables *tables);

/* (window_ns, offset_ns, closed, all_open, policy, gate9, low_kev, high_kev, good), where good is (kind,
 * crystals_per_ring, sectors, min_sectors, radius_mm, pitch_z_mm, min_mm, max_axial_mm). */
bool pet_take_coincidence(PyObject *tuple, slc_pet_coincidence_config *config);

/* A dictionary of counts by names. */
PyObject *pet_give_faults(const slc_faults *faults);
/* "; first frame 5, of module 3: …", or "" without a fault. */
void pet_first_fault(const slc_faults *faults, char *text, size_t size);
PyObject *pet_give_totals(const slc_pet_totals *totals);
PyObject *pet_give_pair_counts(const slc_pet_coincidence_counts *counts);
/* The name of a file, to be freed by PyMem_Free; NULL with an error set. */
char *pet_take_path(PyObject *path);

/* What has been read of files, and with a geometry (None: without) doubts of the scanner: a dictionary. */
PyObject *pet_give_about(const slc_io_pet_inputs *inputs, PyObject *geometry, unsigned int side);
/* Copies of a list's paths, `n` of them; NULL with an error set. */
char **pet_take_paths(PyObject *list, uint32_t *n);
void pet_paths_free(char **paths, uint32_t n);

/* What a chain (its capsule) knows of the randoms of each pair. NULL with an error set: it has none, or has
 * not ended. It holds while the capsule does. *crystals: of its scanner. */
const slc_pet_pair_randoms *pet_chain_randoms(PyObject *capsule, core_state *state, uint32_t *crystals);

/* Functions of each file. */
extern PyMethodDef pet_functions[], pet_chain_functions[], pet_stage_functions[], pet_file_functions[],
    pet_list_functions[], pet_calibrate_functions[], pet_check_functions[], pet_look_functions[],
    pet_table_functions[], pet_acquire_functions[], pet_normalise_functions[], pet_randoms_functions[],
    pet_scanner_functions[];
/* Adds them all. */
int pet_add(PyObject *module);

#endif
