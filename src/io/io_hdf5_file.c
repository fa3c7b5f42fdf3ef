/* SPDX-License-Identifier: Apache-2.0
 * A driver below HDF5 (its "virtual file layer") over a plain file descriptor, in which no write fails twice,
 * and in which what was flushed stays as it was until the next flush; silence; types; rows; attributes.
 */
#include "io/io_hdf5_file.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the access list carries to the driver: a pointer, since HDF5 copies the list. */
typedef struct driver_info {
    int *wrong;
} driver_info;

/* A page of the file that has changed since the last flush, and is not on the disk yet. */
enum { PAGE = 4096 };
typedef struct held_page {
    haddr_t number;
    uint8_t *bytes;
} held_page;

typedef struct driver_file {
    H5FD_t public_part; /* first, as HDF5 wants it */
    int descriptor;
    int *wrong;
    haddr_t end_of_addresses, end_of_file;
    haddr_t settled; /* bytes before it are as the last flush left them; those of `held` follow in the next */
    held_page *held; /* by rising numbers */
    size_t n_held, held_capacity;
    bool shorter; /* the file is to end before `settled` */
    bool placing; /* what HDF5 writes now stays unwritten: its place is asked for */
    haddr_t placed;
} driver_file;

/* What is handed to HDF5 for a chunk whose bytes come later, in case it looks at them. */
enum { MOST_PLACED = 1 << 20 };
static const uint8_t nothing[MOST_PLACED];

static void remember(driver_file *file, int wrong)
{
    if (*file->wrong == 0) {
        *file->wrong = wrong;
    }
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t maxaddr)
{
    const driver_info *info = H5Pget_driver_info(access);
    driver_file *file = calloc(1, sizeof *file);
    (void)maxaddr;
    if (info == NULL || file == NULL) {
        free(file);
        return NULL;
    }
    const int how = (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | (flags & H5F_ACC_CREAT ? O_CREAT : 0) |
                    (flags & H5F_ACC_TRUNC ? O_TRUNC : 0);
    file->wrong = info->wrong;
    file->descriptor = open(name, how | O_CLOEXEC, 0666);
    if (file->descriptor < 0) {
        remember(file, errno);
        free(file);
        return NULL;
    }
    const off_t end = lseek(file->descriptor, 0, SEEK_END);
    file->end_of_file = end > 0 ? (haddr_t)end : 0;
    return &file->public_part;
}

/* ---- pages that are held back ------------------------------------------------------------------ */

/* The first of the held pages that has this number or a larger one. */
static size_t place_of(const driver_file *file, haddr_t number)
{
    size_t low = 0, high = file->n_held;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (file->held[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whole, as far as the file has it. False on failure. */
static bool read_whole(int descriptor, uint8_t *to, size_t size, haddr_t at)
{
    while (size > 0) {
        const ssize_t n = pread(descriptor, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return false;
        }
        if (n == 0) {
            memset(to, 0, size); /* bytes beyond the end are zero, as HDF5's own drivers have it */
            return true;
        }
        to += n;
        at += (haddr_t)n;
        size -= (size_t)n;
    }
    return true;
}

static void write_whole(driver_file *file, const uint8_t *from, size_t size, haddr_t at)
{
    while (size > 0 && *file->wrong == 0) {
        const ssize_t n = pwrite(file->descriptor, from, size, (off_t)at);
        if (n < 0 && errno != EINTR) {
            remember(file, errno);
        } else if (n > 0) {
            from += n;
            at += (haddr_t)n;
            size -= (size_t)n;
        }
    }
}

/* The held page of this number, new ones with what the file has there; NULL, remembered, on failure. */
static uint8_t *hold_page(driver_file *file, haddr_t number)
{
    const size_t i = place_of(file, number);
    if (i < file->n_held && file->held[i].number == number) {
        return file->held[i].bytes;
    }
    if (file->n_held == file->held_capacity) {
        const size_t more = 2 * file->held_capacity + 64;
        held_page *held = realloc(file->held, more * sizeof *held);
        if (held == NULL) {
            remember(file, ENOMEM);
            return NULL;
        }
        file->held = held;
        file->held_capacity = more;
    }
    uint8_t *bytes = malloc(PAGE);
    if (bytes == NULL || !read_whole(file->descriptor, bytes, PAGE, number * PAGE)) {
        remember(file, bytes == NULL ? ENOMEM : errno);
        free(bytes);
        return NULL;
    }
    memmove(file->held + i + 1, file->held + i, (file->n_held - i) * sizeof *file->held);
    file->held[i] = (held_page){number, bytes};
    file->n_held++;
    return bytes;
}

/* What is on the disk becomes what HDF5 has written. */
static void settle(driver_file *file)
{
    for (size_t i = 0; i < file->n_held; i++) {
        const haddr_t at = file->held[i].number * PAGE, left = file->settled - at;
        write_whole(file, file->held[i].bytes, left < PAGE ? (size_t)left : PAGE, at);
        free(file->held[i].bytes);
    }
    file->n_held = 0;
    if (file->shorter && *file->wrong == 0 &&
        ftruncate(file->descriptor, (off_t)file->end_of_addresses) != 0) {
        remember(file, errno);
    }
    file->shorter = false;
}

/* The last chunk may have a place and no bytes yet. */
static void fill_end(driver_file *file)
{
    struct stat now;
    if (*file->wrong == 0 && (fstat(file->descriptor, &now) != 0 ||
                              ((haddr_t)now.st_size < file->end_of_file &&
                               ftruncate(file->descriptor, (off_t)file->end_of_file) != 0))) {
        remember(file, errno);
    }
}

/* ---- what HDF5 calls --------------------------------------------------------------------------- */

static herr_t close_file(H5FD_t *public_part)
{
    driver_file *file = (driver_file *)public_part;
    settle(file);
    fill_end(file);
    free(file->held);
    if (close(file->descriptor) != 0) {
        remember(file, errno);
    }
    free(file);
    return 0;
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_end_of_addresses(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)file)->end_of_addresses;
}

static herr_t set_end_of_addresses(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((driver_file *)file)->end_of_addresses = address;
    return 0;
}

static haddr_t get_end_of_file(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)file)->end_of_file;
}

static herr_t read_bytes(H5FD_t *public_part, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                         void *to)
{
    const driver_file *file = (const driver_file *)public_part;
    const haddr_t end = at + size < file->settled ? at + size : file->settled;
    (void)type;
    (void)transfer;
    if (!read_whole(file->descriptor, to, size, at)) {
        return -1;
    }
    for (size_t i = place_of(file, at / PAGE); i < file->n_held; i++) {
        const haddr_t page = file->held[i].number * PAGE;
        const haddr_t from = page > at ? page : at, until = page + PAGE < end ? page + PAGE : end;
        if (from >= until) {
            break;
        }
        memcpy((uint8_t *)to + (from - at), file->held[i].bytes + (from - page), (size_t)(until - from));
    }
    return 0;
}

static herr_t write_bytes(H5FD_t *public_part, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          const void *from)
{
    driver_file *file = (driver_file *)public_part;
    const uint8_t *next = from;
    const haddr_t end = at + size;
    (void)transfer;
    if (file->placing && type == H5FD_MEM_DRAW && from == nothing) {
        file->placing = false;
        file->placed = at;
        file->end_of_file = end > file->end_of_file ? end : file->end_of_file;
        return 0;
    }
    while (at < end && at < file->settled && *file->wrong == 0) {
        const haddr_t page_end = (at / PAGE + 1) * PAGE;
        const haddr_t part_end = page_end < end ? page_end : end;
        const haddr_t until = part_end < file->settled ? part_end : file->settled;
        uint8_t *page = hold_page(file, at / PAGE);
        if (page != NULL) {
            memcpy(page + at % PAGE, next, (size_t)(until - at));
        }
        next += until - at;
        at = until;
    }
    if (at < end) {
        write_whole(file, next, (size_t)(end - at), at);
    }
    /* Also after a failure: HDF5 is to believe that the bytes are there. */
    if (end > file->end_of_file) {
        file->end_of_file = end;
    }
    return 0;
}

/* HDF5 asks for the file to end where its addresses end. */
static herr_t truncate_file(H5FD_t *public_part, hid_t transfer, hbool_t closing)
{
    driver_file *file = (driver_file *)public_part;
    (void)transfer;
    (void)closing;
    if (file->end_of_addresses < file->settled) {
        file->shorter = true;
        file->end_of_file = file->end_of_addresses;
    } else if (file->end_of_addresses != file->end_of_file) {
        if (*file->wrong == 0 && ftruncate(file->descriptor, (off_t)file->end_of_addresses) != 0) {
            remember(file, errno);
        }
        file->end_of_file = file->end_of_addresses;
    }
    return 0;
}

/* For slc_io_hdf5_file_settle. */
static herr_t get_handle(H5FD_t *public_part, hid_t access, void **handle)
{
    (void)access;
    *handle = public_part;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = 400, /* 256 to 511 are free for drivers inside one program */
#endif
    .name = "sluice",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(driver_info),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_end_of_addresses,
    .set_eoa = set_end_of_addresses,
    .get_eof = get_end_of_file,
    .get_handle = get_handle,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* The driver is registered once and stays so: HDF5 1.10 lets go of a file's driver before it closes the file
 * by it, and with the last reference its copy of the driver would be gone. Of two threads that come first at
 * once both register it, and one of these stays unused. */
static hid_t registered(void)
{
    static _Atomic hid_t id = H5I_INVALID_HID;
    if (H5Iget_type(atomic_load(&id)) != H5I_VFL) {
        atomic_store(&id, H5FDregister(&driver));
    }
    return atomic_load(&id);
}

hid_t slc_io_hdf5_file_access(int *wrong)
{
    const driver_info info = {wrong};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t id = registered();
    *wrong = 0;
    const herr_t set = access >= 0 && id >= 0 ? H5Pset_driver(access, id, &info) : -1;
    if (set < 0 && access >= 0) {
        (void)H5Pclose(access);
    }
    return set < 0 ? H5I_INVALID_HID : access;
}

/* NULL on failure. */
static driver_file *file_of(hid_t id)
{
    void *handle = NULL;
    return H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) >= 0 ? handle : NULL;
}

bool slc_io_hdf5_file_place(hid_t id, hid_t dataset, uint64_t row, size_t size, uint64_t *at)
{
    const hsize_t first = row;
    driver_file *file = file_of(id);
    if (file == NULL || size > MOST_PLACED) {
        return false;
    }
    file->placing = true;
    const bool good = H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, size, nothing) >= 0 && !file->placing;
    file->placing = false;
    *at = file->placed;
    return good;
}

bool slc_io_hdf5_file_put(hid_t id, uint64_t at, const void *bytes, size_t size)
{
    driver_file *file = file_of(id);
    if (file != NULL) {
        write_whole(file, bytes, size, at);
    }
    return file != NULL;
}

bool slc_io_hdf5_file_settle(hid_t id)
{
    driver_file *file = H5Fflush(id, H5F_SCOPE_GLOBAL) >= 0 ? file_of(id) : NULL;
    if (file == NULL) {
        return false;
    }
    settle(file);
    fill_end(file);
    file->settled = file->end_of_file;
    return true;
}

/* ---- errors, types, rows, attributes ----------------------------------------------------------- */

slc_io_hdf5_silence slc_io_hdf5_silence_begin(void)
{
    slc_io_hdf5_silence before = {NULL, NULL};
    (void)H5Eget_auto2(H5E_DEFAULT, &before.function, &before.data);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void slc_io_hdf5_silence_end(slc_io_hdf5_silence before)
{
    (void)H5Eclear2(H5E_DEFAULT);
    (void)H5Eset_auto2(H5E_DEFAULT, before.function, before.data);
}

void slc_io_hdf5_silence_end_reading(slc_io_hdf5_silence before, bool whole)
{
    const slc_io_hdf5_silence for_good = {NULL, NULL};
    slc_io_hdf5_silence_end(whole ? before : for_good);
}

slc_status slc_io_hdf5_open(const char *path, hid_t *file, slc_error *error)
{
    FILE *there = fopen(path, "rb");
    *file = H5I_INVALID_HID;
    if (there == NULL) {
        return slc_fail(error, SLC_ERR_IO, "%s: %s", path, strerror(errno));
    }
    (void)fclose(there);
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    slc_io_hdf5_silence_end_reading(before, *file >= 0);
    return *file >= 0 ? SLC_OK
                      : slc_fail(error, SLC_ERR_FORMAT, "%s: no HDF5 file, or cut off or damaged", path);
}

bool slc_io_hdf5_close(hid_t id)
{
    return id < 0 || H5Idec_ref(id) >= 0;
}

hid_t slc_io_hdf5_memory_type(slc_type type)
{
    const hid_t types[] = {[SLC_TYPE_U8] = H5T_NATIVE_UINT8,   [SLC_TYPE_I8] = H5T_NATIVE_INT8,
                           [SLC_TYPE_U16] = H5T_NATIVE_UINT16, [SLC_TYPE_I16] = H5T_NATIVE_INT16,
                           [SLC_TYPE_U32] = H5T_NATIVE_UINT32, [SLC_TYPE_I32] = H5T_NATIVE_INT32,
                           [SLC_TYPE_U64] = H5T_NATIVE_UINT64, [SLC_TYPE_I64] = H5T_NATIVE_INT64,
                           [SLC_TYPE_F32] = H5T_NATIVE_FLOAT,  [SLC_TYPE_F64] = H5T_NATIVE_DOUBLE};
    return types[type];
}

/* One of `from` and `to` is NULL. */
static bool move_rows(hid_t dataset, slc_type type, uint64_t at, size_t n, const void *from, void *to)
{
    const hsize_t start = at, count = n;
    const hid_t in_file = H5Dget_space(dataset), in_memory = H5Screate_simple(1, &count, NULL);
    const hid_t as = slc_io_hdf5_memory_type(type);
    bool good = in_file >= 0 && in_memory >= 0 &&
                H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0;
    if (good) {
        good = (from != NULL ? H5Dwrite(dataset, as, in_memory, in_file, H5P_DEFAULT, from)
                             : H5Dread(dataset, as, in_memory, in_file, H5P_DEFAULT, to)) >= 0;
    }
    (void)slc_io_hdf5_close(in_memory);
    (void)slc_io_hdf5_close(in_file);
    return good;
}

bool slc_io_hdf5_write_rows(hid_t dataset, slc_type type, uint64_t at, size_t n, const void *rows)
{
    return move_rows(dataset, type, at, n, rows, NULL);
}

bool slc_io_hdf5_read_rows(hid_t dataset, slc_type type, uint64_t at, size_t n, void *rows)
{
    return move_rows(dataset, type, at, n, NULL, rows);
}

bool slc_io_hdf5_can_hold(hid_t dataset, uint64_t elements, uint64_t *stored)
{
    *stored = H5Dget_storage_size(dataset);
    return elements / 4096 <= *stored; /* deflate's best is about a thousandth */
}

bool slc_io_hdf5_put_attribute(hid_t object, const char *name, hid_t in_file, hid_t in_memory,
                               const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = space >= 0 ? H5Acreate2(object, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT)
                                       : H5I_INVALID_HID;
    bool good = attribute >= 0 && H5Awrite(attribute, in_memory, value) >= 0;
    good = slc_io_hdf5_close(attribute) && good;
    (void)slc_io_hdf5_close(space);
    return good;
}

bool slc_io_hdf5_put_text(hid_t object, const char *name, const char *text, H5T_cset_t characters)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool good = type >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                      H5Tset_cset(type, characters) >= 0 &&
                      slc_io_hdf5_put_attribute(object, name, type, type, text);
    (void)slc_io_hdf5_close(type);
    return good;
}

bool slc_io_hdf5_put_texts(hid_t object, const char *name, size_t n, const char *const *texts)
{
    const hsize_t size = n;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    hid_t attribute = H5I_INVALID_HID;
    if (space >= 0 && type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0) {
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    }
    bool good = attribute >= 0 && H5Awrite(attribute, type, texts) >= 0;
    good = slc_io_hdf5_close(attribute) && good;
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(type);
    return good;
}
