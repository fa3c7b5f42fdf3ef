/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice label --volume`.
 */
#ifndef SLUICE_CMD_LABEL_VOLUME_H
#define SLUICE_CMD_LABEL_VOLUME_H

#include "cmd_label.h"
#include "cmd_label_files.h"

enum { SLC_LABEL_VOLUME_PHYSICAL = 7 }; /* a volume and lengths */
/* The components as they are written: the library's columns after three that say where a row is from. */
typedef struct slc_label_volume_rows {
    slc_volume_components columns;
    uint32_t *input, *page, *label;              /* all from 1; a volume is one page */
    double *physical[SLC_LABEL_VOLUME_PHYSICAL]; /* with --pixel-size, in the place of others */
} slc_label_volume_rows;
enum { SLC_LABEL_VOLUME_COLUMNS = SLC_VOLUME_COLUMNS + SLC_LABEL_PLACES + SLC_LABEL_VOLUME_PHYSICAL };

/* Slices in memory, one behind the other. */
typedef struct slc_label_stack {
    slc_volume volume;
    slc_batch memory;        /* its bytes alone: they are in large pages, where the system has them */
    slc_io_image_size pixel; /* of the first slice */
} slc_label_stack;

typedef struct slc_label_volume_job {
    slc_label_job *label;   /* what volumes have in common with images */
    uint32_t input;         /* at work, from 1 */
    uint32_t part, n_parts; /* of the slices, that are read; 0: all are */
    slc_volume_config config;
    slc_volume_labeller *labeller;
    slc_volume_stream *stream;    /* of the volume at work, with --stream */
    slc_volume_components closed; /* its components that have ended and are not written */
    double seconds;               /* of labelling it */
    uint64_t checksum, n_closed;
    uint64_t foreground, most; /* voxels of the volume's components, and of the largest */
    /* What is written; its columns after the first `n_places` are the library's. */
    slc_column columns[SLC_LABEL_VOLUME_COLUMNS], place_columns[SLC_LABEL_VOLUME_COLUMNS];
    size_t n_places; /* in place_columns: what a row has beside the library's columns */
    slc_label_volume_rows rows;
    slc_label_stack stack, within, grey; /* the volume at work; --mask; --intensity */
    unsigned char *mask;                 /* its foreground as bits, where a threshold does not say it */
    uint32_t *parts;                     /* of that, with --split */
    double threshold;                    /* of the volume at work */
    uint32_t *labels;                    /* of some of its slices */
    uint64_t checksum_factor;
} slc_label_volume_job;

/* A job of what was asked for, with everything chosen and nothing opened, and its end, in any case.
 * SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_volume_begin(const slc_cli_call *call, slc_label_volume_job *job);
void slc_label_volume_end(slc_label_volume_job *job);
/* The volume at work, whose shape is that of job->stack, has n components: their rows, if any are wanted, and
 * what is printed of it. False after a complaint. */
bool slc_label_volume_take(slc_label_volume_job *job, const slc_volume_components *found, uint32_t n,
                           uint32_t filtered, double seconds);
bool slc_label_volume_print(const slc_label_volume_job *job);

/* What the kinds of volumes have in common, each false after a complaint: a row for each component, of which
 * there were so many before; and, if a volume has other sides than its --intensity, what these are. */
bool slc_label_volume_rows_add(slc_label_volume_job *job, const slc_volume_components *found,
                               uint32_t before);
bool slc_label_volume_intensity(const slc_label_volume_job *job);
/* The volume at work is labelled: what is printed of it, and the checksum of its rows. */
void slc_label_volume_page(slc_label_volume_job *job, uint64_t components, uint64_t filtered, double seconds);
void slc_label_volume_sum(slc_label_volume_job *job, uint64_t checksum);
/* What has a label as 255, in the place of the labels, to --write-mask. */
slc_status slc_label_volume_mask_slice(const slc_label_volume_job *job, uint32_t *labels);
/* A threshold above all that so many bits can be is told, and that there is no component as the volume's
 * fractions are below it. */
void slc_label_volume_tell_threshold(const slc_label_volume_job *job);
/* A threshold as voxels of this type are compared with it: floats with a float, as pixels of images are. */
double slc_label_volume_level(slc_image_type type, double threshold);
void slc_label_volume_tell_missed(const slc_label_volume_job *job, slc_label_reach reach);
/* Volumes beside the one that is labelled, but such as come slice by slice with it; and the foreground of
 * voxels, with --mask of those that are in `within`, whose threshold is job->threshold: themselves, or bits.
 */
bool slc_label_volume_others(slc_label_volume_job *job);
bool slc_label_volume_foreground(slc_label_volume_job *job, const slc_volume *voxels,
                                 const slc_volume *within, slc_volume *foreground);
/* The error of job->label is told; false. */
bool slc_label_volume_complain(const slc_label_volume_job *job);
/* Of the input at work. */
static inline const char *slc_label_volume_path(const slc_label_volume_job *job)
{
    return job->label->inputs[job->input - 1];
}

/* A volume that is labelled slice by slice, and a label volume: cmd_label_volume_stream.c, _measure.c. False
 * after a complaint. */
bool slc_label_volume_stream(slc_label_volume_job *job);
bool slc_label_volume_measure(slc_label_volume_job *job);

/* Chooses everything: SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_volume_ask(slc_label_volume_job *job);
/* Opens the labeller. */
int slc_label_volume_open(slc_label_volume_job *job);

/* Reads the slices of an input, a file or a folder whose images are one volume, into a stack. `equal`: they
 * are labels. False after a complaint. */
bool slc_label_volume_read(slc_label_volume_job *job, const char *input, slc_label_stack *stack, bool equal);

/* The same slice by slice, while the stack, of depth 0 before, has their shape alone. */
typedef struct slc_label_slices {
    slc_label_volume_job *job;
    slc_label_files files;
    size_t next, behind; /* files still to be opened */
    const char *path;    /* of the file at hand ... */
    slc_io_images *images;
    uint64_t told;              /* ... and how much there is to tell of it */
    bool equal, by_files, kept; /* kept: the stack keeps them */
    bool again;                 /* what there is to tell has been told */
} slc_label_slices;

/* False after a complaint; _close in any case. */
bool slc_label_slices_open(slc_label_slices *slices, slc_label_volume_job *job, const char *input,
                           bool equal);
/* The next slice, until the call after it: 1; 0: there is none; -1 after a complaint. */
int slc_label_slices_next(slc_label_slices *slices, slc_label_stack *stack, slc_image *image);
void slc_label_slices_close(slc_label_slices *slices);

/* Lengths of the rows of an input whose voxels are that large. False after a complaint: it does not say. */
bool slc_label_volume_sizes(const slc_label_volume_job *job, const char *path,
                            const slc_label_volume_rows *rows);

#endif
