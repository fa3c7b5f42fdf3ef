/* SPDX-License-Identifier: Apache-2.0
 *
 * PET files: singles, list-mode coincidences of the reconstruction packages,
 * sinograms. Each list-mode format that is written is also read, and what was written reads back
 * identically, as far as the format keeps it. Outputs are complete under their names or not there (io.h).
 */
#ifndef SLUICE_IO_PET_H
#define SLUICE_IO_PET_H

#include <sluice/pet_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- singles ----------------------------------------------------------------------------------- */

typedef enum slc_io_pet_singles_format {
    SLC_IO_PET_SINGLES = 0, /* records of i64 ps, u32 crystal, f32 keV, little-endian */
    SLC_IO_PET_SINGLES_F64  /* the seed's: u32 crystal, f32 keV, f64 ns */
} slc_io_pet_singles_format;

typedef struct slc_io_pet_singles slc_io_pet_singles;
/* "-" is standard input. SLC_ERR_FORMAT where the size is no multiple of a record (when the end is met). */
slc_status slc_io_pet_singles_open(const char *path, slc_io_pet_singles_format format,
                                   slc_io_pet_singles **input, slc_error *error);
void slc_io_pet_singles_close(slc_io_pet_singles *input);
/* Appends up to `most`; the collection grows as needed. SLC_END where there are none. One of the two
 * functions, by the format. SLC_ERR_FORMAT for a time that is not finite; names the record. */
slc_status slc_io_pet_singles_read(slc_io_pet_singles *input, size_t most, slc_pet_singles *singles,
                                   slc_error *error);
slc_status slc_io_pet_singles_read_f64(slc_io_pet_singles *input, size_t most, slc_pet_singles_f64 *singles,
                                       slc_error *error);
/* Writes a whole file at once or in parts. */
typedef struct slc_io_pet_singles_writer slc_io_pet_singles_writer;
slc_status slc_io_pet_singles_create(const char *path, slc_io_pet_singles_format format,
                                     slc_io_pet_singles_writer **writer, slc_error *error);
slc_status slc_io_pet_singles_write(slc_io_pet_singles_writer *writer, const slc_pet_singles *singles,
                                    slc_error *error);
slc_status slc_io_pet_singles_finish(slc_io_pet_singles_writer *writer, slc_error *error);
void slc_io_pet_singles_abandon(slc_io_pet_singles_writer *writer);

/* ---- list mode --------------------------------------------------------------------------------- */

typedef enum slc_io_pet_list_format {
    SLC_IO_PET_CASTOR = 0, /* NAME.cdh and NAME.cdf, and the scanner as NAME.hscan and NAME.lut */
    SLC_IO_PET_SAFIR,      /* STIR: NAME.clm.safir, crystal map NAME.map.txt, template header NAME.hs */
    SLC_IO_PET_SIEMENS,    /* 32-bit words as STIR's ECAT8 reader takes them: NAME.l and NAME.l.hdr */
    SLC_IO_PET_YRT,        /* YRT-PET: NAME.lmDat */
    SLC_IO_PET_GATE,       /* CSV like GATE's coincidences */
    SLC_IO_PET_HDF5,       /* columns */
    SLC_IO_PET_LIST_FORMATS
} slc_io_pet_list_format;
/* "castor", "safir", "siemens", "yrt", "gate", "hdf5"; NULL beyond. What it keeps, in a line. */
const char *slc_io_pet_list_name(slc_io_pet_list_format format);
const char *slc_io_pet_list_text(slc_io_pet_list_format format);

typedef struct slc_io_pet_list_config {
    slc_pet_geometry geometry;
    const char *scanner; /* its name in headers */
    bool tof;            /* write time differences, where the format has them */
    double tof_resolution_ps, window_ps;
    int64_t start_ps; /* time 0 of the file */
} slc_io_pet_list_config;

typedef struct slc_io_pet_list_writer slc_io_pet_list_writer;
slc_status slc_io_pet_list_create(const char *path, slc_io_pet_list_format format,
                                  const slc_io_pet_list_config *config, slc_io_pet_list_writer **writer,
                                  slc_error *error);
/* In time order, batch after batch. Formats without delayeds refuse them (SLC_ERR_UNSUPPORTED). */
slc_status slc_io_pet_list_write(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs,
                                 slc_error *error);
slc_status slc_io_pet_list_finish(slc_io_pet_list_writer *writer, slc_error *error);
void slc_io_pet_list_abandon(slc_io_pet_list_writer *writer);
/* Pairs that the format has no number for and that were not written: Siemens' bins know none whose crystals
 * are at one angle. */
uint64_t slc_io_pet_list_left_out(const slc_io_pet_list_writer *writer);

/* What a list-mode file holds, as far as its format says it; columns it does not have are NULL or 0. */
typedef struct slc_io_pet_list_totals {
    uint64_t prompts, delayeds, time_tags, other; /* records; other: also of crystals that are not there */
    double seconds;                               /* from the first to the last time */
} slc_io_pet_list_totals;
typedef struct slc_io_pet_list slc_io_pet_list;
/* `geometry` may be NULL for formats that need none to be read; Siemens' events then keep their bin as
 * crystal1, and SAFIR's crystals are ring · 65536 + detector. GATE's need it (SLC_ERR_USAGE). */
slc_status slc_io_pet_list_open(const char *path, slc_io_pet_list_format format,
                                const slc_pet_geometry *geometry, slc_io_pet_list **input, slc_error *error);
/* The same over memory that the caller keeps; `header` is the text of the header file, where the format has
 * one (NULL: none), `name` stands in messages. Not HDF5 (SLC_ERR_UNSUPPORTED). */
slc_status slc_io_pet_list_open_memory(const void *bytes, size_t size, const char *header, const char *name,
                                       slc_io_pet_list_format format, const slc_pet_geometry *geometry,
                                       slc_io_pet_list **input, slc_error *error);
void slc_io_pet_list_close(slc_io_pet_list *input);
slc_status slc_io_pet_list_read(slc_io_pet_list *input, size_t most, slc_pet_coincidences *pairs,
                                slc_error *error);
void slc_io_pet_list_totals_of(const slc_io_pet_list *input, slc_io_pet_list_totals *totals);

/* Where crystals are: SAFIR's crystal map (text: ring, detector, layer if there are any, x, y, z) or CASToR's
 * .hscan with its .lut. SLC_ERR_FORMAT names the line or byte. */
typedef struct slc_io_pet_map {
    uint32_t rings, crystals_per_ring, layers; /* 0 where the file does not say: .lut */
    size_t crystals;
    float *position_mm; /* x, y, z of each; crystal = (layer · rings + ring) · crystals_per_ring + detector */
    float *orientation; /* the same of .lut; NULL for maps */
} slc_io_pet_map;
slc_status slc_io_pet_map_read(const char *path, slc_io_pet_map *map, slc_error *error);
/* A crystal map as it lies in memory. */
slc_status slc_io_pet_map_parse(const void *bytes, size_t size, const char *name, slc_io_pet_map *map,
                                slc_error *error);
void slc_io_pet_map_clear(slc_io_pet_map *map);

/* ---- sinograms, tables ------------------------------------------------------------------------- */

/* A sinogram of all pairs of rings (michelogram), span 1, or one by single-slice rebinning, as Interfile:
 * NAME.hs and NAME.s (f32). Prompts count +1; delayeds −1 with `subtract`, else are left out. */
typedef struct slc_io_pet_sinogram_config {
    slc_pet_geometry geometry;
    uint32_t tangential;      /* bins; 0: crystals_per_ring / 2 */
    uint32_t ring_difference; /* largest */
    bool rebin, subtract;
} slc_io_pet_sinogram_config;
typedef struct slc_io_pet_sinogram slc_io_pet_sinogram;
slc_status slc_io_pet_sinogram_open(const slc_io_pet_sinogram_config *config, slc_io_pet_sinogram **sinogram,
                                    slc_error *error);
void slc_io_pet_sinogram_close(slc_io_pet_sinogram *sinogram);
slc_status slc_io_pet_sinogram_add(slc_io_pet_sinogram *sinogram, const slc_pet_coincidences *pairs,
                                   slc_error *error);
slc_status slc_io_pet_sinogram_write(const slc_io_pet_sinogram *sinogram, const char *path, slc_error *error);
/* Pairs that are in it, and those outside: too far from the axis, rings too far apart. */
void slc_io_pet_sinogram_counts_of(const slc_io_pet_sinogram *sinogram, uint64_t *in, uint64_t *outside);

/* A sinogram that was read: value[(sinogram · views + view) · tangential + t], segments in the order of the
 * file. */
typedef struct slc_io_pet_sinogram_values {
    uint32_t tangential, views, sinograms, segments;
    float *value;
} slc_io_pet_sinogram_values;
/* Interfile of STIR's kind: f32, little-endian, segments of sinograms or of views. */
slc_status slc_io_pet_sinogram_read(const char *path, slc_io_pet_sinogram_values *values, slc_error *error);
slc_status slc_io_pet_sinogram_parse(const char *header, const void *bytes, size_t size, const char *name,
                                     slc_io_pet_sinogram_values *values, slc_error *error);
void slc_io_pet_sinogram_values_clear(slc_io_pet_sinogram_values *values);

#ifdef __cplusplus
}
#endif
#endif
