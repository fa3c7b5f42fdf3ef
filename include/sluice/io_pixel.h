/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of pixel lists: raw Timepix3 (.tpx3) and Timepix4 (.tpx4), text of Pixet (.t3pa), CSV and NPY lists,
 * dense text. The format is found by the file's bytes. Raw words of readouts also come over the network.
 * docs/formats/tpx3.md, tpx4.md, t3pa.md, pixel-lists.md.
 */
#ifndef SLUICE_IO_PIXEL_H
#define SLUICE_IO_PIXEL_H

#include <sluice/pixel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_io_pixels slc_io_pixels;

enum { SLC_IO_PIXELS_CHIPS = 256 };

/* Where a chip of 256 x 256 pixels lies: its lowest corner, quarter turns (one takes x to y), and whether it
 * is mirrored in x before it is turned. */
typedef struct slc_io_pixels_chip {
    bool is_there, is_mirrored;
    uint8_t turns;
    uint16_t x, y;
} slc_io_pixels_chip;
typedef struct slc_io_pixels_layout {
    slc_io_pixels_chip chip[SLC_IO_PIXELS_CHIPS];
    uint32_t width, height; /* from 0, 0 to the far corner */
} slc_io_pixels_layout;
/* From a word, "quad" (2 x 2, as four Timepix3 are mounted), "row" (side by side), each also with a gap in
 * pixels between chips, "quad+2"; else the name of a file with a chip a line: docs/formats/pixel-layout.md.
 * SLC_ERR_FORMAT with the line where chips are twice there or lie over each other. */
SLC_API slc_status slc_io_pixels_layout_read(const char *text, slc_io_pixels_layout *layout,
                                             slc_error *error);

/* What is known of single pixels: those that are left out, and what a charge (ToT) is in energy. Their x and
 * y are as in the file, before a layout: of .tpx3 chip k has x from 256 k. docs/formats/pixel-tables.md. */
typedef struct slc_io_pixels_tables slc_io_pixels_tables;
typedef struct slc_io_pixels_table_files { /* NULL: none */
    const char *mask;
    const char *calibration; /* a file, a folder with four or with one for each chip, or four with commas */
    bool finds_hot;          /* hits are counted, for slc_io_pixels_tables_write_mask */
    /* Taken off times: c / (ToT - d) ns of "c=48.5,d=3", or of a file with a ToT and ns a line. SLC_ERR_USAGE
     * for files without times, charges or a known tick. */
    const char *timewalk;
    bool column_phase; /* of .tpx3: ((x / 2 - 1) mod 16) + 1 ticks are added */
} slc_io_pixels_table_files;
/* SLC_ERR_FORMAT names file and line. */
SLC_API slc_status slc_io_pixels_tables_open(const slc_io_pixels_table_files *files,
                                             slc_io_pixels_tables **tables, slc_error *error);
SLC_API void slc_io_pixels_tables_close(slc_io_pixels_tables *tables); /* NULL is allowed */
/* With finds_hot, after reading: hot pixels are those with more hits than chance allows (as in
 * velo_monitor.h), judged by the others around them. Writes a mask of them and of what was masked before. */
typedef struct slc_io_pixels_hot {
    uint64_t pixels, hits, masked, judged; /* hot ones; theirs; all of the mask; hits that were counted */
    uint16_t x, y;                         /* of the hottest */
} slc_io_pixels_hot;
SLC_API slc_status slc_io_pixels_tables_write_mask(slc_io_pixels_tables *tables, const char *path,
                                                   slc_io_pixels_hot *hot, slc_error *error);

/* Of words that come over the network: what is asked and told meanwhile, by the reading thread. */
typedef struct slc_io_pixels_live {
    /* Some times a tenth of a second while nothing comes: true ends the input, with what the system has by
     * then. NULL: never */
    bool (*give_up)(void *context);
    void (*tell)(void *context, const char *text); /* "listening at 127.0.0.1:9000"; NULL: nobody */
    void *context;
} slc_io_pixels_live;

/* What the caller knows; 0 is: whatever the file tells. */
typedef struct slc_io_pixels_options {
    /* Of the sensor, both or none, 65536 at most. They say where a .t3pa's matrix indices are (x = index mod
     * width, y = index / width), and what slc_io_pixels_about tells; pixels of other formats that lie outside
     * are read all the same. */
    uint32_t width, height;
    /* Of a time in CSV and NPY, whatever the header names; where times have fractions, which need this or a
     * unit in the name of their column, slc_io_pixels_about tells the shorter tick that they are in: a
     * thousandth of this, or 0.1 ps. SLC_ERR_USAGE for .tpx3 and .t3pa, whose tick is
     * known. */
    double tick_seconds;
    /* Of .tpx3 (SLC_ERR_USAGE for others): chips to their places, and pixels of which chips are read, a bit
     * for each, chip k is bit k % 8 of byte k / 8. NULL: side by side, all. Pixels of other chips are
     * counted. Both are the caller's until the file is closed. */
    const slc_io_pixels_layout *layout;
    const uint8_t *chips;
    /* Masked pixels are left out and counted; with a calibration charges become energies in eV, 0 where there
     * is none for a pixel, which is counted (SLC_ERR_USAGE for files without charges). The caller's until the
     * file is closed, and of one file at a time. */
    slc_io_pixels_tables *tables;
    const slc_io_pixels_live *live; /* copied; NULL: nothing is asked or told */
} slc_io_pixels_options;

/* Opens `path` ("-" is standard input); `options` may be NULL. On failure *pixels is NULL and *error names
 * the path and the reason. Raw Timepix also comes from "tcp://HOST:PORT" (connects; the input ends with the
 * connection), "tcp-listen://ADDR:PORT" (connections come one after the other, until the caller gives up) and
 * "udp://ADDR:PORT" (datagrams): chunks as in files, or words of Timepix3 without heads of chunks, those of
 * one chip. docs/formats/tpx3.md. */
SLC_API slc_status slc_io_pixels_open(const char *path, const slc_io_pixels_options *options,
                                      slc_io_pixels **pixels, slc_error *error);
SLC_API void slc_io_pixels_close(slc_io_pixels *pixels);

/* Edges at the inputs of a readout (tpx3: TDC packets). */
typedef enum slc_io_pixels_edge {
    SLC_IO_PIXELS_NO_EDGE = 0,
    SLC_IO_PIXELS_TDC1_RISE,
    SLC_IO_PIXELS_TDC1_FALL,
    SLC_IO_PIXELS_TDC2_RISE,
    SLC_IO_PIXELS_TDC2_FALL,
    SLC_IO_PIXELS_EDGES
} slc_io_pixels_edge;

typedef struct slc_io_pixels_info {
    const char *format;     /* "tpx3", "tpx4", "t3pa", "csv", "npy", "matrix" */
    uint32_t with;          /* SLC_PIXEL_CHARGE …: the columns that its pixels have */
    uint32_t width, height; /* of the sensor; 0 where the format does not tell */
    double tick_seconds;    /* of a time; 25 ns / 16 for tpx3 and t3pa; of CSV as the header says; 0: unknown
                             */
    bool frames;            /* pixels belong to frames, which are events; else they are one stream */
    bool energies;          /* charges are in eV */
} slc_io_pixels_info;
SLC_API slc_io_pixels_info slc_io_pixels_about(const slc_io_pixels *pixels);

/* What was counted besides pixels, and what was wrong. Damage costs the smallest unit (a packet, a line). */
typedef struct slc_io_pixels_counts {
    uint64_t bytes, pixels;
    uint64_t chunks, heartbeats, tdc, other; /* tpx3 */
    uint64_t untimed; /* tpx3: pixels of a chip that counts events, which have no time of arrival; left out */
    uint64_t other_chips; /* pixels of chips that are not asked for, or have no place; left out */
    uint64_t edges[4];    /* tpx3: TDC packets of slc_io_pixels_edge, from TDC1_RISE on */
    uint64_t no_edges;    /* TDC packets that are none of them, or whose time is invalid; left out */
    uint64_t masked,
        uncalibrated;       /* pixels of the mask, left out; whose energy is not known and taken as 0 */
    uint64_t uncorrected;   /* pixels for whose ToT the timewalk has no delay; their time is as it was */
    uint64_t skipped;       /* tpx3: bytes passed over where a chunk should begin */
    uint64_t rounded;       /* times with fractions that are no whole ticks */
    uint64_t empty;         /* CSV: charges that are empty or NaN; they are read as 0 */
    uint64_t unended;       /* text: 1 if its last line has no end, so that its last number may lack digits */
    uint64_t assumed_lines; /* matrix, several frames: nothing tells how many lines one has, so many as
                               columns are taken; else 0 */
    uint64_t unread; /* CSV, NPY records, t3pa: columns that are not read, as their names are not known */
    char unread_names[128];   /* or another one was first; with commas between, as many as fit */
    uint64_t damaged;         /* packets or lines that were left out */
    uint64_t damaged_offset;  /* byte offset of the first of them */
    char damaged_reason[128]; /* and what was wrong with it */
    /* Over the network. */
    uint64_t connections, datagrams;
    uint64_t broken_bytes; /* parts of words at the end of a connection or datagram; left out */
    uint64_t dropped;      /* datagrams that the system had no room for, of any size */
    /* t3pa: columns that the first line names and rows lack (the row's number and the last are taken as
     * missing); columns of the sensor, where the caller does not say it and it seems to be more than a chip.
     */
    uint64_t absent_columns, assumed_width;
} slc_io_pixels_counts;
SLC_API slc_io_pixels_counts slc_io_pixels_count(const slc_io_pixels *pixels);

/* Appends up to `n` pixels to the list (made for the format's columns; capacity is the caller's), in the
 * order of the file. SLC_END if there are no more. Frames: whole events only, SLC_ERR_CAPACITY where one
 * does not fit; other files are one stream, and events are the caller's to end. Several chips' pixels are
 * placed side by side in x in the order of their index: chip k has x from 256 k.
 * From a pipe it may be fewer than `n`, what has come. SLC_ERR_FORMAT at the end of a list of which no row
 * could be read. */
SLC_API slc_status slc_io_pixels_read(slc_io_pixels *file, slc_pixels *pixels, size_t n, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
