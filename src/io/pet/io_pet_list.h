/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the list-mode formats share. A format is a row of functions; opening, the loop
 * over records, totals, and files that appear together are in io_pet_list.c.
 */
#ifndef SLUICE_IO_PET_LIST_H
#define SLUICE_IO_PET_LIST_H

#include "base/bytes.h"
#include "io/io_output.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_bins.h"
#include <sluice/io.h>
#include <sluice/io_pet.h>
#include <sluice/io_pet_factors.h>

#include <math.h>

enum {
    SLC_IO_PET_LIST_FILES = 5,
    SLC_IO_PET_LIST_BLOCK = 1 << 16 /* bytes of records that are put at once */
};

#define SLC_IO_PET_PS_PER_MS INT64_C(1000000000)
/* Of a time difference that is a float: all below fit into picoseconds. No window is too long to be written,
 * so less would lose pairs. */
#define SLC_IO_PET_MOST_TOF 0x1p63F

/* ---- reading ----------------------------------------------------------------------------------- */

struct slc_io_pet_list {
    const struct slc_io_pet_list_ops *ops;
    slc_io_stream stream;
    char *header;     /* text of the header file; NULL where there is none */
    const char *name; /* of the header in messages: the path */
    slc_pet_geometry geometry;
    slc_io_pet_bins bins;
    size_t record_bytes; /* of formats with `decode` */
    uint32_t crystals;   /* 0: not known, any number is taken */
    uint32_t skip_bytes; /* CASToR: of optional fields between time and time difference */
    uint32_t events;     /* CASToR: how many the header tells of */
    bool has_stream, has_geometry, has_bins, has_time;
    bool tof;        /* records have a time difference */
    int64_t time_ms; /* of the last tag */
    int64_t first_ps, last_ps;
    void *own; /* of the format alone */
    /* Of rows from `base` on, where `corrected`; room for so many, and where CASToR's and YRT's are in a
     * record, 0: nowhere. */
    slc_io_pet_list_corrections corrections;
    bool corrected;
    size_t base, corrections_room;
    uint32_t correction_at[SLC_IO_PET_CORRECTIONS];
    slc_io_pet_list_about about;
    slc_io_pet_list_totals totals;
    slc_status wrong; /* what ended the reading, and why; SLC_OK before */
    slc_error reason;
};

/* Appends a row; there is room. Energies are 0. */
static inline void slc_io_pet_list_row(slc_pet_coincidences *pairs, int64_t time_ps, int64_t dt_ps,
                                       uint32_t crystal1, uint32_t crystal2, bool delayed)
{
    const size_t r = pairs->head.size++;
    pairs->time_ps[r] = time_ps;
    pairs->dt_ps[r] = dt_ps;
    pairs->crystal1[r] = crystal1;
    pairs->crystal2[r] = crystal2;
    pairs->energy1_kev[r] = pairs->energy2_kev[r] = 0;
    pairs->delayed[r] = delayed;
}

/* A time that was met, for the totals. */
static inline void slc_io_pet_list_time(slc_io_pet_list *in, int64_t time_ps)
{
    in->first_ps = !in->has_time || time_ps < in->first_ps ? time_ps : in->first_ps;
    in->last_ps = !in->has_time || time_ps > in->last_ps ? time_ps : in->last_ps;
    in->has_time = true;
}

/* Are both crystals of the scanner, as far as it is known? */
static inline bool slc_io_pet_list_has(const slc_io_pet_list *in, uint32_t crystal1, uint32_t crystal2)
{
    return in->crystals == 0 || (crystal1 < in->crystals && crystal2 < in->crystals);
}

/* A prompt with the time difference that its record tells; there is room. One of crystals that are not there,
 * or of a difference that is no number or none of picoseconds, is only counted. */
static inline void slc_io_pet_list_prompt(slc_io_pet_list *in, slc_pet_coincidences *pairs, int64_t time_ps,
                                          float dt_ps, uint32_t crystal1, uint32_t crystal2)
{
    const bool there = slc_io_pet_list_has(in, crystal1, crystal2);
    if (!there || !(fabsf(dt_ps) < SLC_IO_PET_MOST_TOF)) {
        in->totals.other++;
        in->about.no_crystal += !there;
        in->about.no_tof += there;
        return;
    }
    in->totals.prompts++;
    slc_io_pet_list_time(in, time_ps);
    slc_io_pet_list_row(pairs, time_ps, llrint((double)dt_ps), crystal1, crystal2, false);
}

/* The list has correction k: room for no row yet. */
slc_status slc_io_pet_list_correct(slc_io_pet_list *in, size_t k, slc_error *error);
/* Room for those of the rows up to `rows` of what is read into. */
slc_status slc_io_pet_list_correct_reserve(slc_io_pet_list *in, size_t rows, slc_error *error);
/* Those of a row, out of its record. */
static inline void slc_io_pet_list_correct_row(slc_io_pet_list *in, size_t row, const uint8_t *record)
{
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        if (in->correction_at[k] != 0) {
            in->corrections.value[k][row - in->base] = slc_load_f32(record + in->correction_at[k]);
        }
    }
}

/* SLC_ERR_FORMAT where the file tells another scanner than the one that is given, whose crystals would be in
 * other places; 0: the file does not say. */
slc_status slc_io_pet_list_compare(const slc_io_pet_list *in, uint32_t rings, uint32_t crystals_per_ring,
                                   slc_error *error);
/* The same by all crystals, where these have as many: about.moved is set. */
slc_status slc_io_pet_list_compare_scanner(slc_io_pet_list *in, const slc_pet_geometry *own,
                                           slc_error *error);
/* By a map beside the list, if it is there: `path` without `extension`, with `end`. */
slc_status slc_io_pet_list_compare_beside(slc_io_pet_list *in, const char *path, const char *extension,
                                          const char *end, slc_error *error);

/* ---- writing ----------------------------------------------------------------------------------- */

struct slc_io_pet_list_writer {
    const struct slc_io_pet_list_ops *ops;
    slc_io_pet_list_config config; /* scanner is `scanner` */
    char *scanner;
    char *base; /* the path without the format's extension */
    slc_io_output output[SLC_IO_PET_LIST_FILES];
    size_t n_outputs;
    slc_io_pet_bins bins;
    uint64_t prompts, delayeds, singles, left_out, dead, bytes;
    int64_t time_ms; /* of the last record or tag; −1 before the first */
    double flushed;  /* when streams were last */
    void *own;
};

/* Opens base + extension as the next output, "" for the base alone. */
slc_status slc_io_pet_list_output(slc_io_pet_list_writer *writer, const char *extension, slc_error *error);
/* Has every pair that is written that correction with it? */
static inline bool slc_io_pet_list_carries(const slc_io_pet_list_writer *writer, size_t k)
{
    return writer->config.corrections != NULL && writer->config.corrections->value[k] != NULL;
}
/* The first that the writer's format has no place for, or that it has from elsewhere, is told. */
slc_status slc_io_pet_list_carries_check(const slc_io_pet_list_config *config,
                                         const struct slc_io_pet_list_ops *ops, const char *path,
                                         slc_error *error);
/* Bytes to output number `file`. */
slc_status slc_io_pet_list_put(slc_io_pet_list_writer *writer, size_t file, const void *bytes, size_t size,
                               slc_error *error);
/* Milliseconds since the file's time 0. False where the time is before that, or there are more than `most`.
 */
static inline bool slc_io_pet_list_ms(const slc_io_pet_list_writer *writer, int64_t time_ps, int64_t most,
                                      int64_t *ms)
{
    /* The difference of any two times fits, without sign. */
    const uint64_t since = (uint64_t)time_ps - (uint64_t)writer->config.start_ps;
    *ms = (int64_t)(since / (uint64_t)SLC_IO_PET_PS_PER_MS);
    return time_ps >= writer->config.start_ps && *ms <= most;
}
/* What such a time is told as. */
slc_status slc_io_pet_list_no_ms(const slc_io_pet_list_writer *writer, int64_t time_ps, int64_t most,
                                 slc_error *error);
/* How long the measurement is: to the end of the last pair's millisecond, or as long as it is said to be, of
 * which the list has only a part if it is partial. */
static inline double slc_io_pet_list_duration(const slc_io_pet_list_writer *writer)
{
    const double until = (double)(writer->time_ms + 1) / 1000;
    const bool partial = writer->config.partial != NULL && *writer->config.partial;
    return writer->config.duration_s > until && !partial ? writer->config.duration_s : until;
}
/* The last part of the base, for names inside headers. */
const char *slc_io_pet_list_base_name(const slc_io_pet_list_writer *writer);

/* Rows of a batch in the order of time where it is prompts and then delayeds, each in order, as the chain
 * gives them: what follows is order(i), i = 0 … size − 1. */
typedef struct slc_io_pet_list_order {
    size_t split, a, b, size;
} slc_io_pet_list_order;
void slc_io_pet_list_order_init(slc_io_pet_list_order *order, const slc_pet_coincidences *pairs);
static inline size_t slc_io_pet_list_order_next(slc_io_pet_list_order *order,
                                                const slc_pet_coincidences *pairs)
{
    const bool first = order->b == order->size ||
                       (order->a < order->split && pairs->time_ps[order->a] <= pairs->time_ps[order->b]);
    return first ? order->a++ : order->b++;
}

/* Of rows from … from + n − 1 of what the writer's randoms are; `hz` has room for n. */
static inline void slc_io_pet_list_randoms(const slc_io_pet_list_writer *writer,
                                           const slc_pet_coincidences *pairs, size_t from, size_t n,
                                           float *hz)
{
    if (n == 0) {
        return;
    }
    const slc_pet_coincidences some = {.head = {.size = n},
                                       .time_ps = pairs->time_ps + from,
                                       .crystal1 = pairs->crystal1 + from,
                                       .crystal2 = pairs->crystal2 + from};
    slc_pet_pair_randoms_hz(writer->config.randoms, &some, hz);
}

/* A format's records of n rows: from … from + n − 1, or the next n of the order if the format has delayeds.
 * Sets *end after what it put. */
typedef slc_status slc_io_pet_list_encode(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs,
                                          slc_io_pet_list_order *order, size_t from, size_t n, uint8_t *to,
                                          uint8_t **end, slc_error *error);
/* Writes a batch by blocks of records, at most so many bytes a row, to output number `file`. */
slc_status slc_io_pet_list_blocks(slc_io_pet_list_writer *writer, size_t file,
                                  const slc_pet_coincidences *pairs, size_t row_bytes,
                                  slc_io_pet_list_encode *encode, slc_error *error);

/* ---- formats ----------------------------------------------------------------------------------- */

typedef struct slc_io_pet_list_ops {
    const char *name;
    /* Extensions that a path may end in and that are cut off to get the base; the first is the one of the
     * data. NULL-terminated; none: the path is the file. */
    const char *const *extensions;
    const char *const *written; /* of all files that are written; none: the base alone */
    bool delayeds;              /* can be written */
    bool factors;               /* of pairs can be written */
    bool randoms;               /* so can these */
    uint32_t corrections;       /* so can these, a bit for each */
    bool needs_geometry;        /* to be read */
    const char *header;         /* extension of the header file, NULL: none */
    bool header_needed;
    const char *data_key; /* of the data's name in the header */
    char separator;       /* between key and value of the header: ':' or '=' (":=") */
    bool by_path;         /* reads by the path itself: no stream */

    slc_status (*start)(slc_io_pet_list *in, const char *path, slc_error *error);
    /* n whole records; there is room for n rows. Appends and counts in totals. */
    slc_status (*decode)(slc_io_pet_list *in, const uint8_t *bytes, size_t n, slc_pet_coincidences *pairs,
                         slc_error *error);
    /* At the end of the records: SLC_END, or what is wrong with it. May be NULL. */
    slc_status (*ended)(slc_io_pet_list *in, slc_error *error);
    /* Instead of decode: appends at most `most` rows; SLC_END at the end. */
    slc_status (*read)(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs, slc_error *error);
    void (*stop)(slc_io_pet_list *in); /* gives `own` back; may be NULL */

    slc_status (*create)(slc_io_pet_list_writer *writer, slc_error *error);
    slc_status (*write)(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs, slc_error *error);
    /* NULL: it has none. */
    slc_status (*write_singles)(slc_io_pet_list_writer *writer, const slc_pet_singles *singles,
                                slc_error *error);
    /* All that was written is in the streams then, which other threads may still have made; NULL: it is. */
    slc_status (*settle)(slc_io_pet_list_writer *writer, slc_error *error);
    /* NULL: its outputs are streams, which are flushed. */
    slc_status (*flush)(slc_io_pet_list_writer *writer, double seconds, slc_error *error);
    slc_status (*finish)(slc_io_pet_list_writer *writer, slc_error *error); /* before files appear */
    void (*abandon)(slc_io_pet_list_writer *writer); /* gives `own` back; may be NULL */
} slc_io_pet_list_ops;

extern const slc_io_pet_list_ops slc_io_pet_castor, slc_io_pet_safir, slc_io_pet_siemens, slc_io_pet_yrt,
    slc_io_pet_gate, slc_io_pet_columns, slc_io_pet_petsird;

/* ---- headers ----------------------------------------------------------------------------------- */

/* The value of a key in a text of "key := value" or "key: value" lines, into `value`, blanks around it taken
 * off. Keys are compared without regard to case, to blanks, and to '!' and '%' before them. False where there
 * is none, or it is longer. */
bool slc_io_pet_header_value(const char *text, char separator, const char *key, char *value, size_t size);
/* The same as a whole number from `low` to `high`. SLC_ERR_FORMAT names the key; where the key is absent
 * *value stays and the status is SLC_END. */
slc_status slc_io_pet_header_count(const char *text, char separator, const char *key, const char *name,
                                   uint32_t low, uint32_t high, uint32_t *value, slc_error *error);
/* The same of the header of an input that may have none; where the key is absent *value stays, too, and the
 * status is SLC_OK. */
slc_status slc_io_pet_list_count(const slc_io_pet_list *in, const char *key, uint32_t low, uint32_t high,
                                 uint32_t *value, slc_error *error);
/* A path beside another: the folder of `path` and `file`, unless that is absolute. The caller frees. */
char *slc_io_pet_beside(const char *path, const char *file);
/* Reads a header file whole, as a string; refuses more than a MiB, and zero bytes. The caller frees *text. */
slc_status slc_io_pet_header_read(const char *path, char **text, slc_error *error);
/* Is `text` the end of `path`? */
bool slc_io_pet_ends_in(const char *path, const char *text);

/* A list-mode file over memory that the caller keeps; `header` is the text of the header file, where the
 * format has one (NULL: none), `name` stands in messages. Not HDF5 (SLC_ERR_UNSUPPORTED). */
slc_status slc_io_pet_list_open_memory(const void *bytes, size_t size, const char *header, const char *name,
                                       slc_io_pet_list_format format, const slc_pet_geometry *geometry,
                                       slc_io_pet_list **input, slc_error *error);
/* A crystal map as it lies in memory. */
slc_status slc_io_pet_map_parse(const void *bytes, size_t size, const char *name, slc_io_pet_map *map,
                                slc_error *error);
/* A table of crystals as CSV, as it lies in memory. */
slc_status slc_io_pet_scanner_parse(const void *bytes, size_t size, const char *name,
                                    slc_pet_geometry *geometry, slc_error *error);
/* SLC_ERR_UNSUPPORTED where crystals are not numbered by rings, which `what` would need. */
slc_status slc_io_pet_needs_rings(const slc_pet_geometry *geometry, const char *name, const char *what,
                                  slc_error *error);
/* An Interfile as it lies in memory. */
slc_status slc_io_pet_sinogram_parse(const char *header, const void *bytes, size_t size, const char *name,
                                     slc_io_pet_sinogram_values *values, slc_error *error);
/* Attenuation in voxels, as it lies in memory; header NULL: an array. */
slc_status slc_io_pet_image_parse(const char *header, const void *bytes, size_t size, const char *name,
                                  const double *voxel_mm, slc_pet_image *image, slc_error *error);
/* Tables of a file in memory. */
slc_status slc_io_parse_pet_tables(const void *bytes, size_t size, const char *name, slc_pet_tables *tables,
                                   slc_error *error);

#endif
