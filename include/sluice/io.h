/* SPDX-License-Identifier: Apache-2.0
 *
 * Files and streams: opening an input of any known format, reading it in batches with bounded memory, and
 * writing events (MDF) and results (HDF5, Arrow, CSV). The format of an input is found by looking at its
 * bytes, not at its name.
 *
 * Damage inside an input does not stop the reading: it is recorded (slc_faults, slc_io_lost_events,
 * slc_io_damage) and reading goes on at the next event that can be found. Outputs are written under a
 * temporary name beside the final one and renamed when they are complete, so a full disk or a kill leaves no
 * half file under the final name.
 */
#ifndef SLUICE_IO_H
#define SLUICE_IO_H

#include <sluice/lhcb.h>
#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of records and of events as text. `offset` is in the input stream. */
#define SLC_FAULT_OF_IO(n) SLC_FAULT_CODE('_', 'i', 'o', n)
enum {
    SLC_FAULT_RECORD_HEADER = SLC_FAULT_OF_IO(
        1), /* a record's header is damaged: bytes were skipped up to the next good one */
    SLC_FAULT_RECORD_SIZE = SLC_FAULT_OF_IO(
        2), /* one of the three copies of the size differs; the majority was used */
    SLC_FAULT_RECORD_TRUNCATED = SLC_FAULT_OF_IO(3), /* the stream ends inside a record */
    SLC_FAULT_RECORD_CHECKSUM = SLC_FAULT_OF_IO(4),  /* the checksum does not match: the event was dropped */
    SLC_FAULT_RECORD_COMPRESSION = SLC_FAULT_OF_IO(
        5), /* unknown compression id, or a compressed payload that does not expand */
    SLC_FAULT_RECORD_TYPE = SLC_FAULT_OF_IO(6), /* a record that is not a sequence of raw banks */
    SLC_FAULT_EVENT_SHAPE = SLC_FAULT_OF_IO(
        7), /* a text event that is not what its format says: the event was dropped */
    SLC_FAULT_RECORD_UNREADABLE = SLC_FAULT_OF_IO(
        8), /* the system cannot read a record's bytes from its file: the event was dropped */
    SLC_FAULT_PACKET_HEADER = SLC_FAULT_OF_IO(
        9), /* the head or the table of a packet of events is damaged: it was dropped */
    SLC_FAULT_PACKET_BLOCK = SLC_FAULT_OF_IO(
        10), /* a source's block in a packet is damaged: the packet's events lack the source */
    SLC_FAULT_PACKET_ERROR = SLC_FAULT_OF_IO(
        11), /* an error of the event builder stands in place of a source's data: the event lacks it */
};

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef enum slc_io_content {
    SLC_IO_RAW_EVENTS = 0, /* slc_io_read_batch: events of raw banks */
    SLC_IO_VELO_HITS = 1,  /* slc_io_read_velo_hits: events that are lists of VELO hits */
    SLC_IO_CMS_EVENTS = 2  /* slc_io_read_batch: events of CMS's pixel fragments (cms_chain.h) */
} slc_io_content;

typedef struct slc_io_config {
    size_t size;            /* set by slc_io_config_default */
    bool verify_checksum;   /* of MDF records that carry one */
    size_t max_event_bytes; /* a record that claims more is damage; also bounds what a compressed record may
                               become */
    bool keep_records; /* of MDF from a pipe or standard input, which cannot be read twice: batch->kept has
                          what slc_io_select_write needs */
} slc_io_config;
SLC_API void slc_io_config_default(slc_io_config *config, size_t size);
#define slc_io_config_default(config) slc_io_config_default(config, sizeof *(config))

typedef struct slc_io_source slc_io_source;

/* Opens `path` ("-" is standard input) and finds its format. `config` may be NULL. On failure *source is NULL
 * and *error names the path and the reason (missing, a directory, empty, no known format). */
SLC_API slc_status slc_io_open(const char *path, const slc_io_config *config, slc_io_source **source,
                               slc_error *error);
SLC_API void slc_io_close(slc_io_source *source);

SLC_API const char *slc_io_format(const slc_io_source *source); /* "mdf", "mep", "velo-json", "cms-raw" */
SLC_API slc_io_content slc_io_content_of(const slc_io_source *source);

/* Fills `batch` (reset first) with up to max_events events, stopping early once it holds max_bytes bytes (one
 * event is always taken); records whose damage shows late make it smaller than that. Records of a batch are
 * verified side by side: 64 at a time are several times as fast as one by one. Event numbers in the faults
 * are batch->first_event + index, which the source counts from 0 in this input; lost events have no number of
 * their own. Records have: batch->record[].number counts what is lost as well, each damaged stretch that
 * yields no event as one record. SLC_OK with at least one event, SLC_END with none; an SLC_ERR_… only where
 * nothing further can be read (no header by which to find the next record, memory). */
SLC_API slc_status slc_io_read_batch(slc_io_source *source, uint32_t max_events, size_t max_bytes,
                                     slc_batch *batch, slc_faults *faults, slc_error *error);

/* The same for events of hits: `hits`, `truth` and `events` (NULL if not wanted) are reset and filled;
 * hits are sorted by module. Of `events`, `record` and `offset_bytes` are set; the rest is 0 (the format has
 * no run), and `input` is the caller's to set. */
SLC_API slc_status slc_io_read_velo_hits(slc_io_source *source, uint32_t max_events, slc_velo_hits *hits,
                                         slc_velo_truth *truth, slc_lhcb_events *events, slc_faults *faults,
                                         slc_error *error);

/* What reading has come to so far. */
typedef struct slc_io_totals {
    uint64_t events;      /* handed out */
    uint64_t lost_events; /* damaged stretches that yielded no event: at least so many events are lost */
    uint64_t bytes;       /* consumed */
    uint64_t compressed;  /* events that came compressed */
    uint64_t checksums;   /* events whose checksum was verified */
    uint64_t incomplete_events; /* handed out without a source that damage cost them (slc_record.missing) */
} slc_io_totals;
SLC_API void slc_io_totals_of(const slc_io_source *source, slc_io_totals *totals);
/* One line on the first damage: "name: byte 123: reason"; NULL if there was none. Valid until close. */
SLC_API const char *slc_io_damage(const slc_io_source *source);

/* ---- formats ----------------------------------------------------------------------------------- */

/* Which functions read a file. */
typedef enum slc_io_kind {
    SLC_IO_KIND_EVENTS = 0,    /* slc_io_open */
    SLC_IO_KIND_IMAGES,        /* slc_io_images_open */
    SLC_IO_KIND_PIXELS,        /* slc_io_pixels_open */
    SLC_IO_KIND_PET_RAW,       /* slc_io_pet_raw_open */
    SLC_IO_KIND_PET_RAW_INDEX, /* nothing: of an older version */
    SLC_IO_KIND_PET_SINGLES,   /* slc_io_pet_singles_open */
    SLC_IO_KIND_PET_TABLES,    /* slc_io_read_pet_tables */
    SLC_IO_KIND_PET_CSV,       /* nothing */
    SLC_IO_KIND_PET_SINOGRAM,  /* slc_io_pet_sinogram_read */
    SLC_IO_KIND_PET_MAP,       /* slc_io_pet_map_read */
    SLC_IO_KIND_PET_PAIRS,     /* slc_io_pet_list_open */
    SLC_IO_KIND_RESULTS        /* nothing: they are written alone */
} slc_io_kind;

typedef struct slc_io_format_row {
    const char *name;
    const char *reads, *writes; /* what it holds; NULL: it is not read, not written by name */
    const char *detector;       /* "lhcb", "cms", "pet"; "": of none */
    slc_io_kind kind;
    int pairs; /* of pairs: its slc_io_pet_list_format */
} slc_io_format_row;

/* Format number i, or NULL beyond the last. */
SLC_API const slc_io_format_row *slc_io_format_at(size_t i);
/* What a regular file is: by its first bytes, by its name where that is what its readers go by, or by what
 * can open it. NULL: none of these, empty, or no regular file, which is not opened. */
SLC_API const slc_io_format_row *slc_io_format_of(const char *path);

/* ---- geometry ---------------------------------------------------------------------------------- */

/* LHCb's velo_geometry.bin, or JSON that says how modules and sensors are shifted and turned in such a file,
 * which it names, or in the ideal geometry (docs/formats/velo-alignment.md). *error names the file, and of
 * JSON line and column; *geometry is then as it was. */
SLC_API slc_status slc_io_read_velo_geometry(const char *path, slc_velo_geometry *geometry, slc_error *error);
/* LHCb's beamline.bin: x and y of the beam line in mm, two little-endian floats and nothing else.
 * SLC_ERR_FORMAT if it is not 8 bytes long or a number is not within 1 m; x and y are then as before. */
SLC_API slc_status slc_io_read_velo_beamline(const char *path, float *x_mm, float *y_mm, slc_error *error);

/* ---- outputs ----------------------------------------------------------------------------------- */

/* What is written to one file, whatever its format: made by a _create or _open, and given to functions of the
 * same format alone. */
typedef struct slc_io_writer slc_io_writer;
/* Completes and renames; on failure the temporary file is removed. `writer` is freed in any case. */
SLC_API slc_status slc_io_finish(slc_io_writer *writer, slc_error *error);
/* Gives up: removes the temporary file and frees. NULL is allowed. */
SLC_API void slc_io_abandon(slc_io_writer *writer);
/* The name that the file has until slc_io_finish renames it, for others who write into it meanwhile; NULL if
 * nothing is renamed (standard output, a device). It holds until the writer is freed. */
SLC_API const char *slc_io_temporary(const slc_io_writer *writer);

/* Completes many small files while the caller goes on: slc_io_finish waits for the disk, which takes up to 10
 * ms a file however small it is. Threads of its own (16 at most) wait for many at a time. */
typedef struct slc_io_outbox slc_io_outbox;
SLC_API slc_status slc_io_outbox_open(slc_io_outbox **outbox, slc_error *error);
/* Takes the writer over and completes it soon, as slc_io_finish does: until then nothing has the file's name.
 * Waits where 64 are yet to be completed. From any thread. */
SLC_API void slc_io_outbox_put(slc_io_outbox *outbox, slc_io_writer *writer);
/* Whether one of them failed so far: then *error is that of the first that was put. Does not wait. */
SLC_API slc_status slc_io_outbox_look(slc_io_outbox *outbox, slc_error *error);
/* Waits until all are completed, and frees. As slc_io_outbox_look; *n_failed, where not NULL, is how many
 * failed. NULL is allowed. */
SLC_API slc_status slc_io_outbox_close(slc_io_outbox *outbox, uint64_t *n_failed, slc_error *error);

/* ---- MDF output ------------------------------------------------------------------------------ */

/* How packets of many events are laid out: docs/formats/mep.md. */
typedef enum slc_io_packets {
    SLC_IO_PACKETS_2019 = 0, /* each in a record of MDF, below 2^32 bytes */
    SLC_IO_PACKETS_MFP       /* Run 3 */
} slc_io_packets;

typedef struct slc_io_mdf_config {
    bool compress;       /* ROOT 'ZL' blocks; of MDF */
    uint32_t run_number; /* of records; 0: run, orbit and bunch crossing are those of the event's ODIN bank */
    uint32_t packing;    /* events in a packet (MEP), at most 65535; 0: each has a record of its own (MDF) */
    slc_io_packets packets;
} slc_io_mdf_config;

/* "-" writes to standard output, where nothing is renamed. `config` may be NULL: all 0. */
SLC_API slc_status slc_io_mdf_create(const char *path, const slc_io_mdf_config *config,
                                     slc_io_writer **writer, slc_error *error);
/* One event: a sequence of raw banks (slc_lhcb_bank_write), as one version-3 record with checksum, or into a
 * packet, whose banks stay in memory until it is full. SLC_ERR_USAGE if a packet of so many events is larger
 * than its layout can have: *error names the packing that fits. SLC_ERR_FORMAT if what is to be packed is no
 * sequence of banks. */
SLC_API slc_status slc_io_mdf_write(slc_io_writer *writer, const void *banks, size_t size, slc_error *error);

/* ---- results --------------------------------------------------------------------------------- */

typedef enum slc_io_compression {
    SLC_IO_COMPRESSION_DEFAULT = 0, /* the form's: none */
    SLC_IO_COMPRESSION_NONE,
    SLC_IO_COMPRESSION_DEFLATE, /* of HDF5: byte shuffle and deflate */
    SLC_IO_COMPRESSION_LZ4,     /* of Arrow, these two */
    SLC_IO_COMPRESSION_ZSTD
} slc_io_compression;

typedef struct slc_io_results_config {
    size_t size;      /* set by slc_io_results_config_default */
    const char *form; /* "hdf5", "arrow" (a file), "arrow-stream", "npy", "npz"; "nexus": HDF5 with
                         /entry/events as NeXus's NXevent_data, of which groups must have the columns
                         event_id, event_time_offset, event_time_zero and event_index; NULL: by the end of the
                         name, .arrow or .arrows, HDF5 if that tells none */
    slc_io_compression compression;
    const char
        *columns; /* names with commas between, of groups and of columns: "tracks,hits.x_mm"; NULL: all */
    slc_exec
        exec; /* threads that compress, beside the caller's; 1 by default. The file is the same for any */
    /* Another file begins with the rows of a _put if the one at hand has so many bytes of rows
     * (uncompressed), or was begun so many seconds ago; 0: never. Files are PATH, PATH.0001.h5, PATH.0002.h5
     * … (before the name's ending), each complete by itself as soon as the next begins, with the same groups
     * and the attributes that were put so far, and with `file`, its number from 0, and `first_event`, how
     * many events are in those before; the last one has `files`. What is put at last, is in the last one
     * alone. */
    uint64_t rotate_bytes;
    double rotate_seconds;
    uint64_t reserved[2]; /* 0 */
} slc_io_results_config;
SLC_API void slc_io_results_config_default(slc_io_results_config *config, size_t size);
#define slc_io_results_config_default(config) slc_io_results_config_default(config, sizeof *(config))

typedef enum slc_io_rows {
    SLC_IO_ROWS_ANY = 0, /* an event has any number of them */
    SLC_IO_ROWS_WHOLE,   /* they are no events: all that come in a group are one */
    SLC_IO_ROWS_ONE      /* an event has one, by its nature */
} slc_io_rows;

/* A collection for the file's group `name`. */
typedef struct slc_io_group {
    const char *name;
    const slc_schema *schema; /* its texts are kept until the file is finished */
    const void *collection;
    slc_io_rows rows;
} slc_io_group;

/* Columns in a file: a group per collection; in HDF5 a dataset per column (attribute "unit"), and
 * "event_offset" with one entry more than there are events: docs/formats/results-hdf5.md. In Arrow a single
 * group is a table; of several, which must then come with the same events, each is a column whose row is an
 * event's list: docs/formats/results-arrow.md. "-" is standard output, for "arrow-stream" alone. `config` may
 * be NULL. SLC_ERR_USAGE for a form or compression that there is not. */
SLC_API slc_status slc_io_results_create(const char *path, const slc_io_results_config *config,
                                         slc_io_writer **writer, slc_error *error);
/* Appends all events of the collections. The first call names all groups of the file, with rows or without:
 * what config.columns has must be among them (SLC_ERR_USAGE). Later ones may leave groups out. The
 * collections are the caller's again when it returns. After a failure that is not SLC_ERR_USAGE slc_io_finish
 * fails, too, and the file does not appear. */
SLC_API slc_status slc_io_results_put(slc_io_writer *writer, const slc_io_group *groups, size_t n,
                                      slc_error *error);
/* For files that grow for hours: if `seconds` have passed since the last flush, or since the file was
 * made, the file under its temporary name, PATH.tmp-PID, is brought up to all that was put so far; 0:
 * now. It can be read from then on, and stays as the last flush left it until the next, so that a process
 * that is killed in between loses what came since. Call it where groups have rows of the same events. Without
 * a call nothing is to be read before slc_io_finish. */
SLC_API slc_status slc_io_results_flush(slc_io_writer *writer, double seconds, slc_error *error);
/* Attributes of the file's root. */
SLC_API slc_status slc_io_results_text(slc_io_writer *writer, const char *name, const char *value,
                                       slc_error *error);
SLC_API slc_status slc_io_results_number(slc_io_writer *writer, const char *name, double value,
                                         slc_error *error);
/* Attribute `name` of a group that there is: an array of so many texts (of none: no attribute). Names may
 * have any bytes but 0. */
SLC_API slc_status slc_io_results_names(slc_io_writer *writer, const char *group, const char *name, size_t n,
                                        const char *const *texts, slc_error *error);

/* ---- parts of a run ---------------------------------------------------------------------------- */

/* What slc_io_join has joined. */
enum { SLC_IO_JOINED_GROUPS = 32 };
typedef struct slc_io_joined_group {
    char name[64];
    uint64_t rows, events;
} slc_io_joined_group;
typedef struct slc_io_joined {
    uint32_t part, parts; /* of the first path: which part it is, and how many there are */
    uint64_t events;
    size_t n_groups;
    slc_io_joined_group group[SLC_IO_JOINED_GROUPS];
    size_t reading; /* which path is being read, or was at last: HDF5 does not survive all damage (sluice join
                       joins in a process of its own, and can name the part) */
} slc_io_joined;
/* HDF5 results of the parts of one run (slc_flow_config.part), in any order, as one file `out` whose data
 * sets are those of the run in one: virtual ones, which name the parts by their places relative to `out`, or
 * copies. Each part says which it is by attributes: docs/formats/results-hdf5.md. `command` is put down as
 * the file's. `joined` may be NULL. SLC_ERR_USAGE, naming them, if parts are missing, there twice, or of
 * another run (version, options, inputs, their sizes, number of parts), SLC_ERR_FORMAT for a file that is no
 * part or an unfinished one; nothing is written then. `out` NULL: nothing is joined, and `joined` tells which
 * part the first path is. */
SLC_API slc_status slc_io_join(const char *const *paths, size_t n, const char *out, bool copy,
                               const char *command, slc_io_joined *joined, slc_error *error);

/* A text file (CSV, HTML) with the same guarantee: write to the stream that _stream returns, then
 * slc_io_finish. */
SLC_API slc_status slc_io_text_create(const char *path, slc_io_writer **writer, slc_error *error);
SLC_API void *slc_io_text_stream(slc_io_writer *writer); /* a FILE * */

/* What a line of a CSV file is, from left to right: the number of the row's event, the columns of the schema,
 * a name. */
typedef struct slc_io_text_form {
    const slc_schema *schema;
    bool events;          /* a first column "event"; rows after the last event are left out */
    uint64_t first_event; /* the number of the collection's first */
    const char *name;     /* of each row, a last column "name"; NULL: none */
    /* exec->threads make lines, beside the caller's; the first call with rows decides. NULL: the caller's. */
    const slc_exec *exec;
} slc_io_text_form;
/* Lines for all rows of a collection, which is the caller's again when it returns; of NULL the line of the
 * columns' names. A column that is NULL is empty. Numbers with a fraction have the fewest digits that read
 * back to the same bits of their type, whatever the locale: without an exponent from 0.0001 up to 1e16, else
 * as 1.5e+16; "nan", "inf", "-inf". Names are in quotes if RFC 4180 wants them so; a line ends with a line
 * feed alone. The file is the same for any number of threads; a write that fails may be told by a later call.
 */
SLC_API slc_status slc_io_text_rows(slc_io_writer *writer, const slc_io_text_form *form,
                                    const void *collection, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
