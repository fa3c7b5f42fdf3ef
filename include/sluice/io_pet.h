/* SPDX-License-Identifier: Apache-2.0
 *
 * PET files: raw frames with their index, singles, list-mode coincidences of the reconstruction packages,
 * sinograms, tables. Each list-mode format that is written is also read, and what was written reads back
 * identically, as far as the format keeps it. Outputs are complete under their names or not there (io.h).
 */
#ifndef SLUICE_IO_PET_H
#define SLUICE_IO_PET_H

#include <sluice/io.h>
#include <sluice/io_pet_frames.h>
#include <sluice/pet_normalise.h>
#include <sluice/pet_rates.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a file is ---------------------------------------------------------------------------- */

typedef enum slc_io_pet_kind {
    SLC_IO_PET_KIND_NONE = 0,  /* none of these, or no regular file */
    SLC_IO_PET_KIND_RAW,       /* raw frames with a head, damaged or not */
    SLC_IO_PET_KIND_RAW_INDEX, /* FILE.index beside it, of older versions */
    SLC_IO_PET_KIND_SINGLES,   /* with a head */
    SLC_IO_PET_KIND_TABLES     /* of whatever version */
} slc_io_pet_kind;
/* By its first bytes, of tables by what the HDF5 file says of itself. */
SLC_API slc_io_pet_kind slc_io_pet_kind_of(const char *path);

/* ---- raw frames -------------------------------------------------------------------------------- */

/* A raw file is datagrams as they came: docs/formats/pet-raw.md. It begins with a head (magic, version,
 * payload's layout), then blocks of datagrams, each with its own head (magic, receiving time, socket, sizes,
 * checksums), so that what is complete is readable however the writing ended. A file without any head is
 * frames of 16 bytes, one after the other. */

typedef struct slc_io_pet_raw slc_io_pet_raw;
/* "-" is standard input. */
SLC_API slc_status slc_io_pet_raw_open(const char *path, slc_io_pet_raw **raw, slc_error *error);
SLC_API void slc_io_pet_raw_close(slc_io_pet_raw *raw); /* NULL is allowed */
/* The next frames, at most `most` (> 0), into the caller's memory; SLC_END where there are none. Of a pipe
 * those that come until about 1 s after the first; fewer than `most` do not mean the end. Damaged
 * blocks are skipped up to the next good one and recorded in `faults` (may be NULL), as are datagrams with
 * bytes behind their last whole frame. Of a block that the file's end has cut, the whole datagrams are given.
 * Where datagrams have a sequence counter, copies and foreign ones are left out. received_ns (as many as
 * frames; may be NULL): when each frame's datagram was received, as its stamp tells it, if that is within a
 * minute of info.time_ns, which it is otherwise; 0 where the file does not tell: it has no heads. */
SLC_API slc_status slc_io_pet_raw_read(slc_io_pet_raw *raw, slc_pet_frame *frames, uint64_t *received_ns,
                                       size_t most, size_t *n, slc_faults *faults, slc_error *error);
/* Its frames are of this format, whatever its head says, and are made marks where `marks` is not NULL: they
 * are appended. Before anything is read; the format stays the caller's. SLC_ERR_MEMORY. */
SLC_API slc_status slc_io_pet_raw_use_format(slc_io_pet_raw *raw, const slc_io_pet_format *format,
                                             slc_pet_marks *marks, slc_error *error);
/* That its head tells; NULL: none, frames have 16 bytes. */
SLC_API const slc_io_pet_format *slc_io_pet_raw_format(const slc_io_pet_raw *raw);
typedef struct slc_io_pet_raw_info {
    slc_io_pet_format_counts records; /* where it has a format */
    bool bare;                        /* the file has no heads: all that follows is 0 */
    slc_io_pet_payload payload;
    uint64_t series;     /* the same number in all files of one acquisition */
    uint32_t file;       /* number of the file in the acquisition, from 0 */
    uint64_t started_ns; /* when the file was begun, ns since 1970 */
    uint64_t time_ns;    /* when the block was received that the last frames are from */
    uint64_t datagrams;  /* of the acquisition, up to that block */
    uint64_t first;      /* number of the first datagram that was read, once there is one */
    uint32_t socket;     /* through which it came */
    uint32_t sockets;    /* the highest number of those that datagrams came through so far, and 1 */
} slc_io_pet_raw_info;
SLC_API void slc_io_pet_raw_info_of(const slc_io_pet_raw *raw, slc_io_pet_raw_info *info);

/* Raw files one after the other. */
typedef struct slc_io_pet_input {
    const char *path; /* the caller's */
    uint64_t frames;
    slc_faults faults;         /* of its blocks */
    slc_error error;           /* why it ended early; status SLC_OK: it did not */
    bool has_head;             /* then: */
    uint64_t series;           /* of its acquisition */
    uint32_t file;             /* its number in that */
    ptrdiff_t other;           /* an input before it that is of another acquisition; -1: none */
    ptrdiff_t before;          /* the last one before it that is of the same; -1: none */
    uint64_t first, datagrams; /* numbers, in that, of its first and after its last; 0: it has none */
    uint64_t missing;          /* datagrams between `before` and it that are in neither */
    bool other_format;         /* its head tells another format of frames than the one that is used */
} slc_io_pet_input;

/* By the sequence counters of datagrams, where there are any. */
typedef struct slc_io_pet_losses {
    bool known;
    uint64_t lost, repeated, foreign;   /* datagrams */
    double lost_frames, foreign_frames; /* estimated: as many as the module's others have */
} slc_io_pet_losses;

/* What frames show of their scanner: report_pet.h compares it with what was said. Begins as {0}. */
enum { SLC_IO_PET_SEEN_FRAMES = 1024 };
typedef struct slc_io_pet_seen {
    uint64_t frames;    /* that were looked at: the first 2^22, whatever the batches */
    uint64_t module[4]; /* bit m % 64 of element m / 64: there was one of module m */
    uint32_t units;     /* bit u: there was one of unit u */
    uint32_t highest_x, highest_y;
    uint32_t kept; /* of these frames: the first 512, and then every 128th */
    slc_pet_frame frame[SLC_IO_PET_SEEN_FRAMES];
} slc_io_pet_seen;
SLC_API void slc_io_pet_seen_add(slc_io_pet_seen *seen, const slc_pet_frame *frames, size_t n);

typedef struct slc_io_pet_inputs {
    slc_io_pet_input *input;
    size_t n, at;                     /* the one at hand */
    uint64_t frames, missing;         /* of all so far */
    slc_faults faults;                /* of those that have ended */
    slc_io_pet_losses losses;         /* complete at the end of all */
    slc_io_pet_seen seen;             /* of their frames */
    slc_io_pet_raw *raw, *raw_before; /* inside */
    /* The caller's, after _open: the first input is read from byte 16 · from on, and the last up to byte 16 ·
     * until; 0: all. Of a file without a head these are frames; one with a head, and without counters, gives
     * the blocks that begin there, so that parts of a file which follow each other are all of it. */
    uint64_t from, until;
    /* So are these. The format of the frames of all inputs, whatever their heads say; NULL: what their heads
     * say, if own_formats, which is to say that the caller knows its ticks. Inputs that differ, or have a
     * format that nobody knows of, end there. With keep_marks, marks collect until the caller takes them. */
    const slc_io_pet_format *format;
    bool own_formats, keep_marks;
    slc_pet_marks marks;
    slc_io_pet_format_counts records; /* of inputs that have ended, where they have a format */
    slc_io_pet_format *first_format;  /* inside */
} slc_io_pet_inputs;
/* Opens no file yet. `inputs` is to be closed in any case. */
SLC_API slc_status slc_io_pet_inputs_open(const char *const *paths, size_t n, slc_io_pet_inputs *inputs,
                                          slc_error *error);
SLC_API void slc_io_pet_inputs_close(slc_io_pet_inputs *inputs);
/* The next frames of an input, as slc_io_pet_raw_read; SLC_END where there are none in any input. An input
 * that cannot be opened or read on ends there, which its error tells, and the next is read; so does a file of
 * an acquisition that has been read, or that comes after a later one. A file that follows the one before it
 * in its acquisition goes on with the modules' counters where that ended. */
SLC_API slc_status slc_io_pet_inputs_read(slc_io_pet_inputs *inputs, slc_pet_frame *frames,
                                          uint64_t *received_ns, size_t most, size_t *n);

typedef struct slc_io_pet_raw_config {
    size_t size;           /* of this struct; set by _config_default */
    uint64_t rotate_bytes; /* begin another file (name.0001.raw …) at so many; 0: never */
    double rotate_seconds;
    bool sync; /* flush to the disk (fdatasync) after every write */
    /* A file of that name may be overwritten, and those that followed it in its acquisition are removed;
     * otherwise it is an error. */
    bool replace;
    slc_io_pet_payload payload;
    const slc_io_pet_format *format; /* of the frames, told in each file; NULL: they have 16 bytes */
} slc_io_pet_raw_config;
SLC_API void slc_io_pet_raw_config_default(slc_io_pet_raw_config *config);
typedef struct slc_io_pet_raw_writer slc_io_pet_raw_writer;
/* Pipes and devices are written to as they are. Numbers of further files are the next ones that are free. */
SLC_API slc_status slc_io_pet_raw_create(const char *path, const slc_io_pet_raw_config *config,
                                         slc_io_pet_raw_writer **writer, slc_error *error);
/* Appends datagrams that lie one behind the other: sizes[i] bytes, received at time_ns[i] (since 1970) on
 * socket[i]. They are with the system when the call returns. Datagrams that follow each other and have one
 * time, socket and size share a block. Empty ones are left out. */
SLC_API slc_status slc_io_pet_raw_write(slc_io_pet_raw_writer *writer, const void *bytes,
                                        const uint16_t *sizes, const uint64_t *time_ns,
                                        const uint16_t *socket, size_t n, slc_error *error);
/* Waits until the disk has the file, and frees the writer. For files before that one only `sync` waits. */
SLC_API slc_status slc_io_pet_raw_finish(slc_io_pet_raw_writer *writer, slc_error *error);
/* Frees the writer after a failure; what was written stays, and is readable. NULL is allowed. */
SLC_API void slc_io_pet_raw_abandon(slc_io_pet_raw_writer *writer);

/* ---- singles ----------------------------------------------------------------------------------- */

/* docs/formats/pet-singles.md. What is written ends with a mark of half a record; records with the head of
 * older versions, or alone, are read, too. */
typedef enum slc_io_pet_singles_format {
    SLC_IO_PET_SINGLES = 0, /* records of i64 ps, u32 crystal, f32 keV, little-endian */
    SLC_IO_PET_SINGLES_F64  /* the seed's, without a mark: u32 crystal, f32 keV, f64 ns */
} slc_io_pet_singles_format;

typedef struct slc_io_pet_singles slc_io_pet_singles;
/* "-" is standard input. Singles of PETSIRD are read as SLC_IO_PET_SINGLES, too, with the middles of their
 * energy bins. Where reading meets them: SLC_ERR_FORMAT if bytes are left that are no record, if a head or
 * mark is of the other format, or where neither is known and most records are no singles;
 * SLC_ERR_UNSUPPORTED for another version. Files put one after the other read as one. */
SLC_API slc_status slc_io_pet_singles_open(const char *path, slc_io_pet_singles_format format,
                                           slc_io_pet_singles **input, slc_error *error);
SLC_API void slc_io_pet_singles_close(slc_io_pet_singles *input);
/* At its end, what is to be told of it: what PETSIRD holds that is no single, or that no mark said what the
 * records are; "": nothing. Until the next call. */
SLC_API const char *slc_io_pet_singles_note(slc_io_pet_singles *input);
/* Appends up to `most`; the collection grows as needed. SLC_END where there are none. One of the two
 * functions, by the format. SLC_ERR_FORMAT for a time that is not finite; names the record. */
SLC_API slc_status slc_io_pet_singles_read(slc_io_pet_singles *input, size_t most, slc_pet_singles *singles,
                                           slc_error *error);
SLC_API slc_status slc_io_pet_singles_read_f64(slc_io_pet_singles *input, size_t most,
                                               slc_pet_singles_f64 *singles, slc_error *error);
/* Writes a whole file at once or in parts. slc_io_finish completes it. */
SLC_API slc_status slc_io_pet_singles_create(const char *path, slc_io_writer **writer, slc_error *error);
SLC_API slc_status slc_io_pet_singles_write(slc_io_writer *writer, const slc_pet_singles *singles,
                                            slc_error *error);

/* ---- list mode --------------------------------------------------------------------------------- */

typedef enum slc_io_pet_list_format {
    SLC_IO_PET_CASTOR = 0, /* NAME.cdh and NAME.cdf, and the scanner as NAME.hscan and NAME.lut */
    SLC_IO_PET_SAFIR,      /* STIR: NAME.clm.safir, .safir.par, .map.txt, .template.hs, .template.s */
    SLC_IO_PET_SIEMENS,    /* 32-bit words as STIR's ECAT8 reader takes them: NAME.l and NAME.l.hdr */
    SLC_IO_PET_YRT,        /* YRT-PET: NAME.lmDat */
    SLC_IO_PET_GATE,       /* CSV like GATE's coincidences */
    SLC_IO_PET_HDF5,       /* columns; written also as Arrow */
    SLC_IO_PET_PETSIRD,    /* PETSIRD 0.10, binary: one file with the scanner */
    SLC_IO_PET_LIST_FORMATS
} slc_io_pet_list_format;
/* "castor", "safir", "siemens", "yrt", "gate", "hdf5", "petsird"; NULL beyond. */
SLC_API const char *slc_io_pet_list_name(slc_io_pet_list_format format);

/* Files of a format have names of their own beside each other: the name of file i = 0, 1 … that
 * slc_io_pet_list_create makes of `path`, which the caller frees. NULL beyond the last, or without memory. */
SLC_API char *slc_io_pet_list_file(const char *path, slc_io_pet_list_format format, size_t i);

typedef struct slc_io_pet_list_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    const char *scanner;                 /* its name in headers */
    bool tof;                            /* write time differences, where the format has them */
    double tof_resolution_ps, window_ps; /* needed with tof; 0: not known, not told */
    int64_t start_ps;                    /* time 0 of the file */
    double duration_s;        /* of the measurement, for headers, or to the last pair where that is more */
    const uint64_t *checksum; /* what the run came to, looked at by _finish: of HDF5 alone. NULL: not told */
    const bool *partial; /* ended early, looked at by _finish: HDF5, which has no checksum then; NULL: not */
    const char *form;    /* of columns, as in slc_io_results_config: "arrow", "arrow-stream"; NULL: "hdf5" */
    uint64_t rotate_bytes; /* another file begins, as in slc_io_results_config: of columns alone. 0: never */
    double rotate_seconds;
    /* Threads that make the text of pairs while the caller goes on: of GATE's CSV alone, which is the same
     * for any number. NULL: the caller's alone. */
    const slc_exec *exec;
    /* Of PETSIRD alone. Energies are in energy_bins equal bins of the window; 0 or 1: they are not kept, and
     * the window may be unknown, 0 to 0. A pair that is in no bin of energy or time of flight is left out. */
    double low_kev, high_kev;
    uint32_t energy_bins;
    const float *efficiency; /* factor by crystal, looked at by _create; NULL: 1 */
    slc_pet_multiples prompt_multiples, delayed_multiples;
    bool singles;                   /* it is of singles, and of no pairs: slc_io_pet_list_singles */
    const slc_pet_factors *factors; /* attenuation and normalisation of each pair: castor alone. NULL: none */
    const slc_pet_pair_randoms *randoms; /* each pair's, after its _finish: castor, yrt, hdf5. NULL: none */
    /* Of the rows that each _write is given, looked at there: io_pet_factors.h. NULL: none. */
    const struct slc_io_pet_list_corrections *corrections;
} slc_io_pet_list_config;
SLC_API void slc_io_pet_list_config_default(slc_io_pet_list_config *config);

typedef struct slc_io_pet_list_writer slc_io_pet_list_writer;
SLC_API slc_status slc_io_pet_list_create(const char *path, slc_io_pet_list_format format,
                                          const slc_io_pet_list_config *config,
                                          slc_io_pet_list_writer **writer, slc_error *error);
/* In time order, batch after batch: prompts and then delayeds, each in order, or both in one order. Formats
 * without delayeds refuse them, and formats whose times end refuse later ones (SLC_ERR_UNSUPPORTED). */
SLC_API slc_status slc_io_pet_list_write(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs,
                                         slc_error *error);
/* Singles in the order of time, of PETSIRD alone. */
SLC_API slc_status slc_io_pet_list_singles(slc_io_pet_list_writer *writer, const slc_pet_singles *singles,
                                           slc_error *error);
/* Brings what was written to the files under their temporary names, PATH.tmp-PID, where `seconds` have passed
 * since that was done last; HDF5 can be read from then on, whatever ends the process (slc_io_results_flush).
 */
SLC_API slc_status slc_io_pet_list_flush(slc_io_pet_list_writer *writer, double seconds, slc_error *error);
/* All files of the format appear, or none does. Frees the writer, also where it fails. */
SLC_API slc_status slc_io_pet_list_finish(slc_io_pet_list_writer *writer, slc_error *error);
SLC_API void slc_io_pet_list_abandon(slc_io_pet_list_writer *writer); /* NULL is allowed */
/* Pairs that the format has no number for and that were not written: Siemens' bins know none whose crystals
 * are at one angle, PETSIRD's none with an energy or time difference outside of the windows. */
SLC_API uint64_t slc_io_pet_list_left_out(const slc_io_pet_list_writer *writer);

/* What has been read of a list-mode file, as far as its format says it. */
typedef struct slc_io_pet_list_totals {
    uint64_t prompts, delayeds, time_tags, other; /* records; other: also of crystals that are not there */
    double seconds;                               /* from the first to the last time */
} slc_io_pet_list_totals;
typedef struct slc_io_pet_list slc_io_pet_list;
/* `geometry` may be NULL for formats that need none to be read; Siemens' events then keep their bin as
 * crystal1, and SAFIR's crystals are ring · 65536 + detector. GATE's need it (SLC_ERR_USAGE). */
SLC_API slc_status slc_io_pet_list_open(const char *path, slc_io_pet_list_format format,
                                        const slc_pet_geometry *geometry, slc_io_pet_list **input,
                                        slc_error *error);
SLC_API void slc_io_pet_list_close(slc_io_pet_list *input); /* NULL is allowed */
/* Appends pairs, at most `most`, in the order of the file; the collection grows as needed. What the format
 * does not keep is 0. SLC_END where there are none. SLC_ERR_FORMAT names the place of what is wrong, when the
 * pairs before it have been given out. */
SLC_API slc_status slc_io_pet_list_read(slc_io_pet_list *input, size_t most, slc_pet_coincidences *pairs,
                                        slc_error *error);
/* What an open file says of its measurement, to be written into another, and what has been read. Of HDF5,
 * what its writer was told; of CASToR the scanner's name, time of flight and duration, and the scanner where
 * its .hscan and .lut are beside the list; of PETSIRD all but the start, and the duration as far as it has
 * been read; other formats say nothing. */
typedef struct slc_io_pet_list_about {
    slc_io_pet_list_totals totals; /* so far */
    char scanner[64];              /* its name; "": not told */
    /* Of HDF5, of PETSIRD and CASToR: of a scanner that is not known, a table of its elements or of its .lut
     */
    bool has_geometry;
    slc_pet_geometry geometry;
    bool tof;                                        /* pairs have a time of flight, of this resolution */
    double tof_resolution_ps, window_ps, duration_s; /* 0: not told */
    /* Time 0 of the measurement, on the clock of the pairs' times. Where an HDF5 file does not tell it, the
     * millisecond of its earliest pair; other formats have times since time 0, and 0. */
    int64_t start_ps;
    bool start_is_found;
    /* Of PETSIRD: as in slc_io_pet_list_config. `efficiency` is there until the input is closed. */
    double low_kev, high_kev;
    uint32_t energy_bins, crystals; /* crystals that `efficiency` is of */
    const float *efficiency;
    slc_pet_multiples prompt_multiples, delayed_multiples;
    char left_out[256]; /* what it holds and is not read, in words: "3 singleEvents"; "": nothing */
    /* Of CASToR: the .hscan of `geometry`, or why there is none, in words; "": none was looked for. */
    char scanner_file[256];
    bool no_modules; /* crystals are of modules that nobody told: equal parts */
    const struct slc_io_pet_list_corrections *corrections; /* of the rows read last; until it is closed */
    /* Where crystals of the scanner that was given are more than 0.01 mm from where the file has them, as
     * HDF5 does, and CASToR and SAFIR in NAME.hscan with NAME.lut and NAME.map.txt beside: how many there
     * are, the first, and both places, in words; "": nowhere, or the file does not tell. */
    char moved[288];
    /* Of totals.other: pairs of crystals that the scanner has not, the file's own if none was given; and
     * pairs whose time difference is no number of picoseconds. */
    uint64_t no_crystal, no_tof;
} slc_io_pet_list_about;
SLC_API void slc_io_pet_list_about_of(const slc_io_pet_list *input, slc_io_pet_list_about *about);

/* Where crystals are: SAFIR's crystal map (text: ring, detector, layer if there are any, x, y, z) or CASToR's
 * .hscan with its .lut. SLC_ERR_FORMAT names the line or byte. */
typedef struct slc_io_pet_map {
    uint32_t rings, crystals_per_ring, layers; /* 0 where the file does not say: .lut */
    size_t crystals;
    float *position_mm; /* x, y, z of each; crystal = (layer · rings + ring) · crystals_per_ring + detector */
    float *orientation; /* the same of .lut; NULL for maps */
} slc_io_pet_map;
SLC_API slc_status slc_io_pet_map_read(const char *path, slc_io_pet_map *map, slc_error *error);
SLC_API void slc_io_pet_map_clear(slc_io_pet_map *map);

/* ---- scanners ---------------------------------------------------------------------------------- */

/* A scanner by any of its names: as slc_pet_scanner takes it; FILE.csv, a table of crystals; FILE.h5 or
 * FILE.hdf5, the scanner of tables: docs/formats/pet-tables.md. SLC_ERR_FORMAT names the file and the line,
 * column, row or crystal. slc_pet_geometry_clear frees what was read. */
SLC_API slc_status slc_io_pet_scanner(const char *name, slc_pet_geometry *geometry, slc_error *error);
/* Is it a file, by its name? */
SLC_API bool slc_io_pet_scanner_is_file(const char *name);

/* ---- sinograms, tables ------------------------------------------------------------------------- */

/* A sinogram of all pairs of rings (michelogram), span 1, or one by single-slice rebinning, as Interfile:
 * NAME.hs and NAME.s (f32). Prompts count +1; delayeds −1 with `subtract`, else are left out. */
typedef struct slc_io_pet_sinogram_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    uint32_t tangential;      /* bins; 0: crystals_per_ring / 2 */
    uint32_t ring_difference; /* largest; UINT32_MAX, the default: all there are */
    bool rebin, subtract;
} slc_io_pet_sinogram_config;
SLC_API void slc_io_pet_sinogram_config_default(slc_io_pet_sinogram_config *config);
typedef struct slc_io_pet_sinogram slc_io_pet_sinogram;
SLC_API slc_status slc_io_pet_sinogram_open(const slc_io_pet_sinogram_config *config,
                                            slc_io_pet_sinogram **sinogram, slc_error *error);
SLC_API void slc_io_pet_sinogram_close(slc_io_pet_sinogram *sinogram);
SLC_API slc_status slc_io_pet_sinogram_add(slc_io_pet_sinogram *sinogram, const slc_pet_coincidences *pairs,
                                           slc_error *error);
/* The ring whose bins there are. True where it is not the scanner's own: crystals are in no rings, and a line
 * goes to the bin nearest to where it meets a cylinder of their least distance from the axis; with rebin or
 * not, lines that miss it are outside. */
SLC_API bool slc_io_pet_sinogram_assigns(const slc_io_pet_sinogram *sinogram, slc_pet_geometry *ring);
/* The sinogram stays, and may grow further. _randoms: what is expected in all; *sum (or NULL) of it. */
SLC_API slc_status slc_io_pet_sinogram_write(const slc_io_pet_sinogram *sinogram, const char *path,
                                             slc_error *error);
SLC_API slc_status slc_io_pet_sinogram_write_randoms(const slc_io_pet_sinogram *sinogram,
                                                     const slc_pet_pair_randoms *randoms, const char *path,
                                                     double *sum, slc_error *error);
/* The names of the two, as slc_io_pet_list_file has them. */
SLC_API char *slc_io_pet_sinogram_file(const char *path, size_t i);
/* Pairs that are in it, and those outside: too far from the axis, rings too far apart. */
SLC_API void slc_io_pet_sinogram_counts_of(const slc_io_pet_sinogram *sinogram, uint64_t *in,
                                           uint64_t *outside);

/* A sinogram that was read: value[(sinogram · views + view) · tangential + t], segments in the order of the
 * file. */
typedef struct slc_io_pet_sinogram_values {
    uint32_t tangential, views, sinograms, segments;
    float *value; /* the caller frees it */
} slc_io_pet_sinogram_values;
/* Interfile of STIR's kind: f32, little-endian, segments of sinograms or of views. */
SLC_API slc_status slc_io_pet_sinogram_read(const char *path, slc_io_pet_sinogram_values *values,
                                            slc_error *error);

/* The tables of pet_convert.h with the geometry, as HDF5: docs/formats/pet-tables.md. A table that is NULL is
 * not in the file, and one that is not in the file is NULL. _read allocates what it finds, which the caller
 * frees by _clear; on failure *tables is empty. SLC_ERR_FORMAT names the file, the dataset or attribute, and
 * what is wrong with it: its kind, its sizes beside those that the scanner has, or a value as
 * slc_pet_tables_check tells it; HDF5 then prints no errors on this thread any more, also for the caller, as
 * it would complain about that file once more when the process ends. */
SLC_API slc_status slc_io_read_pet_tables(const char *path, slc_pet_tables *tables, slc_error *error);
/* Tables that slc_pet_tables_check refuses are not written. */
SLC_API slc_status slc_io_write_pet_tables(const char *path, const slc_pet_tables *tables, slc_error *error);
SLC_API void slc_io_pet_tables_clear(slc_pet_tables *tables);

#ifdef __cplusplus
}
#endif
#endif
