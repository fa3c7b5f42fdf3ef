/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of PET whose layout is not that of pet_types.h, as modules of other systems send them: a file of
 * JSON tells it, docs/formats/pet-frame-format.md. Records are made frames of 16 bytes and marks when they
 * are read; io_pet.h has the readers.
 */
#ifndef SLUICE_IO_PET_FRAMES_H
#define SLUICE_IO_PET_FRAMES_H

#include <sluice/pet_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A datagram begins with header_bytes before its frames. Of these, sequence_bytes (4 or 8; 0: there is no
 * such counter) at sequence_at count the module's datagrams. With `stamped` the first 8 of these bytes were
 * not sent: they are when the system received the datagram, ns since 1970 by its own clock (CLOCK_REALTIME),
 * little-endian. */
typedef struct slc_io_pet_payload {
    uint32_t header_bytes, sequence_at, sequence_bytes; /* header_bytes: 1024 at most */
    bool sequence_big_endian, stamped;
} slc_io_pet_payload;
enum { SLC_IO_PET_STAMP = 8 /* bytes */ };

/* What came of a module, by the sequence counter of its datagrams, where they have one. It is 32 or 64 bits
 * wide and begins anywhere. The same number with the same content, among the last 4096, is a copy. A number
 * from farther away, or one that has come with other content, is taken for somebody else's until the module's
 * next datagram follows it: then more was lost than 4096, or the counter has begun again. */
typedef struct slc_io_pet_module {
    uint64_t datagrams, frames; /* all that came, also copies and foreign ones */
    uint64_t malformed;         /* datagrams with bytes that are no whole frame; their whole frames count */
    uint64_t lost;      /* datagrams whose numbers are missing; one that comes later is none any more */
    uint64_t reordered; /* of those that came later than one with a higher number, up to 4096 later */
    uint64_t repeated;  /* copies, which are left out */
    uint64_t foreign;   /* of somebody else; left out, but for those that two or more together looked right */
    uint64_t restarts;  /* times when the counter began again, or leapt by 2^31 or more */
} slc_io_pet_module;

typedef struct slc_io_pet_format slc_io_pet_format;
typedef struct slc_io_pet_format_about {
    char name[64];
    uint32_t record_bytes;
    uint32_t tick_numerator, tick_denominator; /* of its frames' times, picoseconds */
    uint32_t tick_bits;
} slc_io_pet_format_about;
enum { SLC_IO_PET_FORMAT_FIELDS = 8 };
/* What records were. Those that are refused have a number that there is no room for: by the first of the
 * fields, module above 255, unit above 15, x and y above 255, time that is negative or above 2^63 - 1, energy
 * outside 0 to 65535, temperature outside -128 to 127, and a mark's value that is no finite number. */
typedef struct slc_io_pet_format_counts {
    uint64_t records, singles, marks, skipped;
    uint64_t unknown; /* of no kind that the format has */
    uint64_t refused[SLC_IO_PET_FORMAT_FIELDS];
} slc_io_pet_format_counts;
/* SLC_ERR_FORMAT names file, line, column and reason. */
SLC_API slc_status slc_io_pet_format_open(const char *path, slc_io_pet_format **format, slc_error *error);
SLC_API void slc_io_pet_format_close(slc_io_pet_format *format); /* NULL is allowed */
SLC_API void slc_io_pet_format_about_of(const slc_io_pet_format *format, slc_io_pet_format_about *about);

/* The name of a further file of an acquisition, "a/run.0012.raw" of "a/run.raw" and 12, which the caller
 * frees; the name itself of 0; NULL without memory. */
SLC_API char *slc_io_pet_raw_name(const char *path, uint32_t number);

/* Files that were written after this one in its acquisition, in their order: those beside it with numbers in
 * their names (run.0001.raw …) whose heads tell its series. None of files without a head. `path` is one block
 * with all names, which the caller frees. */
typedef struct slc_io_pet_raw_names {
    char **path;
    size_t n;
} slc_io_pet_raw_names;
SLC_API slc_status slc_io_pet_raw_following(const char *path, slc_io_pet_raw_names *names, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
