/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: writers of columns. io_results.c keeps what all forms share: which groups and columns
 * there are, rows and events so far, encoding threads. A form is a table, one of the list in io_results.c.
 */
#ifndef SLUICE_IO_RESULTS_H
#define SLUICE_IO_RESULTS_H

#include "io/io_encode.h"
#include "io/io_output.h"

enum { SLC_IO_RESULTS_GROUPS = 64 }; /* at most */

/* One collection in the file. */
typedef struct slc_io_results_group {
    char *name;
    slc_schema schema;   /* the columns that were asked for; their texts are the caller's */
    size_t n_all;        /* columns that the caller's schema has */
    slc_io_rows rows_of; /* an event */
    uint64_t rows, events;
    uint64_t before; /* rows in the files of a series before this one */
    void *own;       /* the form's; given back by its `end` */
} slc_io_results_group;

typedef struct slc_io_results_form slc_io_results_form;
typedef struct slc_io_series slc_io_series; /* io_series.h */

typedef struct slc_io_results {
    slc_io_writer writer; /* first */
    const slc_io_results_form *form;
    slc_io_compression compression; /* never _DEFAULT */
    uint32_t threads;               /* that encode, beside the caller's */
    char *columns;                  /* asked for; NULL: all */
    slc_io_results_group *groups;
    size_t n_groups;
    size_t n_given;            /* groups that the caller has, asked for or not */
    bool declared;             /* `groups` are all that there are */
    bool broken;               /* a call failed: the file can only be abandoned */
    double flushed;            /* when it was last; when it was made, before that */
    slc_io_series *series;     /* of which the file at hand is one; NULL: it is all */
    slc_io_encoders *encoders; /* the form's to open; closed for it before `end` */
} slc_io_results;

/* What is put: of one group, in the order of the file's groups. */
typedef struct slc_io_results_part {
    slc_io_results_group *group;
    const void *collection;
    size_t n_rows;
    uint32_t n_events; /* 0 of a group that is whole */
} slc_io_results_part;

/* What a form has no place for is NULL, and left out: attributes of CSV. */
struct slc_io_results_form {
    const char *name;
    const char *const *ends; /* of names, the last NULL */
    uint32_t compressions;   /* a bit for each that it has */
    slc_io_compression usual;
    bool by_name;   /* a library opens the file by its name */
    bool to_stdout; /* "-" is possible */
    size_t size;    /* of its writer, whose first member is slc_io_results */
    slc_status (*open)(slc_io_results *results, slc_error *error);
    /* All groups are known. */
    slc_status (*declare)(slc_io_results *results, slc_error *error);
    /* Rows and events of the groups are added after it. */
    slc_status (*put)(slc_io_results *results, const slc_io_results_part *parts, size_t n, slc_error *error);
    slc_status (*text)(slc_io_results *results, const char *name, const char *value, slc_error *error);
    slc_status (*number)(slc_io_results *results, const char *name, double value, slc_error *error);
    slc_status (*integer)(slc_io_results *results, const char *name, int64_t value, slc_error *error);
    slc_status (*names)(slc_io_results *results, const char *group, const char *name, size_t n,
                        const char *const *texts, slc_error *error);
    slc_status (*flush)(slc_io_results *results, slc_error *error);
    slc_status (*end)(slc_io_results *results, bool commit, slc_error *error);
};

extern const slc_io_results_form slc_io_results_hdf5, slc_io_results_nexus, slc_io_results_arrow,
    slc_io_results_arrow_stream, slc_io_results_npy, slc_io_results_npz;

/* As slc_io_results_number, of whole numbers. */
slc_status slc_io_results_integer(slc_io_writer *writer, const char *name, int64_t value, slc_error *error);

#endif
