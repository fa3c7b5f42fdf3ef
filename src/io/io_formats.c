/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of formats. Rows stand in the order in which `sluice version` lists them, and openers ask them
 * in it: text that any first line begins is the last of its kind.
 */
#include "io/io_formats.h"
#include "base/bytes.h"
#include "io/image/io_image_source.h"
#include "io/pet/io_pet_raw.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- what files of PET are ----------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && strcasecmp(path + n - m, end) == 0;
}

/* Reads up to `size` bytes from `at` on; returns how many there are. */
static size_t read_some(const char *path, long at, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    const size_t n = file != NULL && fseek(file, at, SEEK_SET) == 0 ? fread(bytes, 1, size, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return n;
}

static bool begins(const char *path, long at, const char *bytes, size_t size)
{
    char there[16];
    return read_some(path, at, there, size) == size && memcmp(there, bytes, size) == 0;
}

/* Is there "NAME.hs" beside "NAME.s", for instance? */
static bool has_beside(const char *path, const char *end, const char *of_other)
{
    char name[4096];
    struct stat there;
    const int stem = ends_in(path, end) ? (int)(strlen(path) - strlen(end)) : 0;
    return stem > 0 && snprintf(name, sizeof name, "%.*s%s", stem, path, of_other) < (int)sizeof name &&
           stat(name, &there) == 0;
}

/* Has the first line both columns? */
static bool has_columns(const char *path, const char *a, const char *b)
{
    char line[4096 + 3] = ",";
    bool has[2] = {false, false};
    if (!begins(path, 0, "time", 4)) {
        return false;
    }
    line[1 + read_some(path, 0, line + 1, 4096)] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    for (char *rest = line, *word; (word = strtok_r(rest, ",", &rest)) != NULL;) {
        has[0] = has[0] || strcmp(word, a) == 0;
        has[1] = has[1] || strcmp(word, b) == 0;
    }
    return has[0] && has[1];
}

static bool is_raw(const char *path)
{
    return slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_RAW;
}

static bool is_raw_index(const char *path)
{
    return slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_RAW_INDEX;
}

static bool is_singles(const char *path)
{
    return slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_SINGLES;
}

static bool is_tables(const char *path)
{
    return slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_TABLES;
}

static bool is_safir(const char *path)
{
    return begins(path, 5, " CListModeData", 14);
}

static bool is_gate(const char *path)
{
    return has_columns(path, "time1", "rsectorID1");
}

static bool is_csv(const char *path)
{
    return has_columns(path, "time_ps", "dt_ps");
}

static bool is_petsird(const char *path)
{
    char head[256];
    const size_t n = read_some(path, 0, head, sizeof head - 1);
    head[n] = '\0';
    return n > 32 && memcmp(head, "yardl", 5) == 0 && strstr(head + 9, "\"PETSIRD\"") != NULL;
}

/* HDF5 of another kind is somebody else's. */
static bool is_columns(const char *path)
{
    slc_io_pet_list *input = NULL;
    const bool is = begins(path, 0, "\x89HDF\r\n\x1a\n", 8) &&
                    slc_io_pet_list_open(path, SLC_IO_PET_HDF5, NULL, &input, NULL) == SLC_OK;
    slc_io_pet_list_close(input);
    return is;
}

static bool is_sinogram(const char *path)
{
    return has_beside(path, ".s", ".hs") ||
           (begins(path, 0, "!INTERFILE", 10) && !ends_in(path, ".l.hdr")); /* which are headers of pairs */
}

static bool is_map(const char *path)
{
    return has_beside(path, ".lut", ".hscan");
}

/* ---- the table ----------------------------------------------------------------------------------- */

#define PAIRS(format_, name_, reads_)                                                                        \
    .about = {"pet-" name_, reads_, NULL, "pet", SLC_IO_KIND_PET_PAIRS, format_}

static const slc_io_row rows[] = {
    {.about = {"mep", "LHCb multi-event packets, of 2019 and of Run 3 (MFP)", "LHCb raw events (convert)",
               "lhcb", SLC_IO_KIND_EVENTS, 0},
     .events = &slc_io_mep_format},
    {.about = {"mdf", "LHCb Master Data Format, versions 1 to 3, plain or in ROOT's compressed blocks",
               "LHCb raw events (simulate)", "lhcb", SLC_IO_KIND_EVENTS, 0},
     .events = &slc_io_mdf_format},
    {.about = {"velo-json", "VELO hits with truth, one JSON object an event", NULL, "lhcb",
               SLC_IO_KIND_EVENTS, 0},
     .events = &slc_io_velojson_format},
    {.about = {"cms-raw", "events of CMS's pixel fragments (raw.bin)",
               "events of CMS's pixel fragments (simulate)", "cms", SLC_IO_KIND_EVENTS, 0},
     .events = &slc_io_cms_format},
    {.about = {"pnm", "images: PBM, PGM and PPM, plain and raw (label)", NULL, "", SLC_IO_KIND_IMAGES, 0},
     .images = &slc_io_image_pnm},
    {.about = {"png", "images (label)", NULL, "", SLC_IO_KIND_IMAGES, 0}, .images = &slc_io_image_png},
    {.about = {"jpeg", "images (label)", NULL, "", SLC_IO_KIND_IMAGES, 0}, .images = &slc_io_image_jpeg},
    {.about = {"bmp", "images (label)", NULL, "", SLC_IO_KIND_IMAGES, 0}, .images = &slc_io_image_bmp},
    {.about = {"tiff", "images, several pages (label)", NULL, "", SLC_IO_KIND_IMAGES, 0},
     .images = &slc_io_image_tiff},
    {.about = {"npy", "images (label); lists of pixels (cluster)", NULL, "", SLC_IO_KIND_IMAGES, 0},
     .images = &slc_io_image_npy},
    {.about = {"nifti", "volumes, also packed by gzip (label)", NULL, "", SLC_IO_KIND_IMAGES, 0},
     .images = &slc_io_image_nifti},
    {.about = {"npy", NULL, NULL, "", SLC_IO_KIND_PIXELS, 0}, .pixels = &slc_io_pixels_npy},
    {.about = {"tpx3", "pixels of Timepix3, raw (cluster)", NULL, "", SLC_IO_KIND_PIXELS, 0},
     .pixels = &slc_io_pixels_tpx3},
    {.about = {"tpx4", "pixels of Timepix4, raw (cluster)", NULL, "", SLC_IO_KIND_PIXELS, 0},
     .pixels = &slc_io_pixels_tpx4},
    {.about = {"t3pa", "pixels of Timepix3, Pixet's text (cluster)", NULL, "", SLC_IO_KIND_PIXELS, 0}},
    {.about = {"matrix", "frames of pixels, a number for each as text (cluster)", NULL, "",
               SLC_IO_KIND_PIXELS, 0},
     .pixels = &slc_io_pixels_matrix},
    {.about = {"hdf5", NULL, "results: hits and tracks, pixels and clusters, digis (-o)", "",
               SLC_IO_KIND_RESULTS, 0}},
    {.about = {"arrow", NULL, "results as Arrow's file or stream (-o)", "", SLC_IO_KIND_RESULTS, 0}},
    {.about = {"npz", NULL, "results as arrays of NumPy (-o NAME.npz; NAME.npy of one table)", "",
               SLC_IO_KIND_RESULTS, 0}},
    {.about = {"csv", "lists of pixels (cluster)", "tables (--table, -o NAME.csv)", "", SLC_IO_KIND_PIXELS,
               0},
     .pixels = &slc_io_pixels_text}, /* of .t3pa as well: the first line tells */
    {.about = {"pet-raw", "frames of a PET scanner as acquired (pet run, pet convert)", NULL, "pet",
               SLC_IO_KIND_PET_RAW, 0},
     .is = is_raw},
    {.about = {"pet-raw-index", NULL, NULL, "pet", SLC_IO_KIND_PET_RAW_INDEX, 0}, .is = is_raw_index},
    {.about = {"pet-frames", "the same without heads", NULL, "pet", SLC_IO_KIND_PET_RAW, 0}},
    {.about = {"pet-singles", "PET singles (pet coincidences, pet sort)", NULL, "pet",
               SLC_IO_KIND_PET_SINGLES, 0},
     .is = is_singles},
    {.about = {"pet-tables", "calibration of a PET scanner (pet run --tables)", NULL, "pet",
               SLC_IO_KIND_PET_TABLES, 0},
     .is = is_tables},
    {.about = {"pet-csv", "tables of PET singles or pairs", NULL, "pet", SLC_IO_KIND_PET_CSV, 0},
     .is = is_csv},
    {.about = {"pet-sinogram", "sinograms with their Interfile header (info)", NULL, "pet",
               SLC_IO_KIND_PET_SINOGRAM, 0},
     .is = is_sinogram,
     .ends = {".hs"}},
    {.about = {"pet-crystal-map", "crystals of STIR's SAFIR maps (info)", NULL, "pet", SLC_IO_KIND_PET_MAP,
               0},
     .is = is_map,
     .ends = {".map.txt", ".hscan"}},
    {PAIRS(SLC_IO_PET_CASTOR, "castor",
           "CASToR: NAME.cdh, .cdf, .hscan, .lut; prompts by ms, crystals, time of flight if wanted"),
     .pairs = &slc_io_pet_castor, .ends = {".cdh", ".cdf"}},
    {PAIRS(SLC_IO_PET_SAFIR, "safir",
           "STIR's SAFIR: NAME.clm.safir, .safir.par, .map.txt, .template.hs; prompts and delayeds by ms, "
           "crystals"),
     .pairs = &slc_io_pet_safir, .is = is_safir, .ends = {".clm.safir"}},
    {PAIRS(SLC_IO_PET_SIEMENS, "siemens",
           "32-bit words of STIR's ECAT8 reader: NAME.l, .l.hdr; prompts and delayeds by ms and bin"),
     .pairs = &slc_io_pet_siemens, .ends = {".l", ".l.hdr"}},
    {PAIRS(SLC_IO_PET_YRT, "yrt", "YRT-PET: .lmDat; prompts by ms, crystals, time of flight if wanted"),
     .pairs = &slc_io_pet_yrt, .ends = {".lmdat"}},
    {PAIRS(SLC_IO_PET_GATE, "gate",
           "CSV with GATE's names: times, energies, positions, volumes; delayeds marked"),
     .pairs = &slc_io_pet_gate, .is = is_gate},
    {PAIRS(SLC_IO_PET_HDF5, "hdf5", "HDF5 columns: all that is known of a pair"),
     .pairs = &slc_io_pet_columns, .is = is_columns},
    {PAIRS(
         SLC_IO_PET_PETSIRD, "petsird",
         "PETSIRD 0.9 to 0.10: prompts and delayeds by ms, crystals, time of flight if wanted; the scanner"),
     .pairs = &slc_io_pet_petsird, .is = is_petsird, .ends = {".petsird"}},
    {.about = {"html", NULL, "report with plots (velo --report)", "", SLC_IO_KIND_RESULTS, 0}},
    {.about = {"json", NULL, "summary on standard output (--json)", "", SLC_IO_KIND_RESULTS, 0}},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const slc_io_row *slc_io_row_at(size_t i)
{
    return i < N_ROWS ? &rows[i] : NULL;
}

const slc_io_row *slc_io_row_of_pairs(slc_io_pet_list_format format)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].pairs != NULL && rows[i].about.pairs == (int)format) {
            return &rows[i];
        }
    }
    return NULL;
}

const slc_io_format_row *slc_io_format_at(size_t i)
{
    return i < N_ROWS ? &rows[i].about : NULL;
}

/* ---- what a file is ------------------------------------------------------------------------------ */

static bool has_end(const slc_io_row *row, const char *path)
{
    bool has = false;
    for (size_t k = 0; k < sizeof row->ends / sizeof *row->ends && row->ends[k] != NULL; k++) {
        has = has || ends_in(path, row->ends[k]);
    }
    return has;
}

static const slc_io_format_row *find(slc_io_kind kind, const char *name)
{
    size_t i = 0;
    while (i < N_ROWS && (rows[i].about.kind != kind || strcmp(rows[i].about.name, name) != 0)) {
        i++;
    }
    return slc_io_format_at(i);
}

/* By the openers, whose probes know the bytes. An NPY array of integers with two to four columns is a list,
 * since images are hardly ever so narrow; any other array is an image. */
static const slc_io_format_row *ask_openers(const char *path)
{
    slc_io_source *source = NULL;
    slc_io_images *images = NULL;
    slc_io_pixels *pixels = NULL;
    const slc_io_format_row *found = NULL;
    if (slc_io_open(path, NULL, &source, NULL) == SLC_OK) {
        found = find(SLC_IO_KIND_EVENTS, slc_io_format(source));
    } else {
        const bool is_image = slc_io_images_open(path, NULL, &images, NULL) == SLC_OK;
        const bool is_npy = is_image && images->format == &slc_io_image_npy;
        if ((!is_image || is_npy) && slc_io_pixels_open(path, NULL, &pixels, NULL) == SLC_OK) {
            found = find(SLC_IO_KIND_PIXELS, pixels->info.format);
        } else if (is_image) {
            found = find(SLC_IO_KIND_IMAGES, slc_io_images_format(images));
        }
    }
    slc_io_pixels_close(pixels);
    slc_io_images_close(images);
    slc_io_close(source);
    return found;
}

const slc_io_format_row *slc_io_format_of(const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0) {
        return NULL;
    }
    for (int by_end = 0; by_end < 2; by_end++) {
        for (size_t i = 0; i < N_ROWS; i++) {
            if (by_end ? has_end(&rows[i], path) : rows[i].is != NULL && rows[i].is(path)) {
                return &rows[i].about;
            }
        }
    }
    return ask_openers(path);
}

/* ---- what nobody reads, and messages --------------------------------------------------------------- */

enum { E = 1 << SLC_IO_KIND_EVENTS, I = 1 << SLC_IO_KIND_IMAGES, P = 1 << SLC_IO_KIND_PIXELS };
static const struct {
    unsigned kinds; /* of the openers to which it is a stranger */
    uint16_t offset, size;
    const char *magic, *advice;
} strangers[] = {
    {E | I | P, 0, 2, "\x1f\x8b", "a gzip file: unpack it first"},
    {E | P, 0, 5, "\xfd\x37zXZ", "an xz file: unpack it first"},
    {E | I | P, 0, 4, "\x28\xb5\x2f\xfd", "a zstd file: unpack it first"},
    {E, 0, 3, "BZh", "a bzip2 file: unpack it first"},
    {E | I | P, 0, 4, "PK\x03\x04", "a zip archive (NPZ is one): unpack it first"},
    {E, 257, 5, "ustar", "a tar archive: unpack it first"},
    {E, 0, 8, "\x89HDF\r\n\x1a\n", "an HDF5 file: it holds results, not raw events"},
    {I, 0, 4, "\x89HDF", "an HDF5 file: not an image format that is read"},
    {P, 0, 4, "\x89HDF", "an HDF5 file: not a format of pixel lists that is read"},
    {E | I | P, 0, 6, "ARROW1", "an Arrow file: it holds results, and is not read"},
    {E, 0, 6, "\x93NUMPY", "an NPY file: an array, and no raw events"},
    {E, 0, 6, "root\0\0", "a ROOT file: not supported"},
    {E, 0, 8, "\x89SLCPET\n", "a raw file of PET: sluice pet run reads it, sluice info its file and no pipe"},
    {E, 5, 14, " CListModeData", "a list-mode file of PET: sluice pet list reads it"},
    {E | I | P, 0, 6, "yardl\1", "a file of yardl: if of PETSIRD, sluice pet list reads it"},
    {I, 0, 4, "GIF8", "a GIF file: convert it to PNG first"},
    {I, 0, 3, "P7\n", "a PAM file (P7): convert it to PGM first"},
    {I, 0, 3, "PF\n", "a PFM file: convert it to TIFF or NPY first"},
    {I, 0, 3, "Pf\n", "a PFM file: convert it to TIFF or NPY first"},
    {I, 0, 6, "SIMPLE", "a FITS file: not an image format that is read"},
    {P, 0, 4, "PAR1", "a Parquet file: convert it to CSV or NPY first"},
};

/* A message of Arrow's: a mark, and the bytes of its head, which are padded to 8. */
static bool is_arrow_stream(const uint8_t *bytes, size_t size)
{
    const uint32_t head = size >= 8 ? slc_load_u32(bytes + 4) : 0;
    return head > 0 && head < 1U << 24 && head % 8 == 0 && slc_load_u32(bytes) == UINT32_MAX;
}

const char *slc_io_stranger(slc_io_kind kind, const uint8_t *bytes, size_t size)
{
    if (is_arrow_stream(bytes, size)) {
        return "an Arrow stream: it holds results, and is not read";
    }
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        if ((strangers[i].kinds >> kind & 1) != 0 && size >= strangers[i].offset + strangers[i].size &&
            memcmp(bytes + strangers[i].offset, strangers[i].magic, strangers[i].size) == 0) {
            return strangers[i].advice;
        }
    }
    return NULL;
}

const char *slc_io_hex(const uint8_t *bytes, size_t size, size_t most, char text[3 * 12 + 1])
{
    text[0] = '\0';
    for (size_t i = 0; i < most && i < size; i++) {
        (void)snprintf(text + 3 * i, 4, " %02x", bytes[i]);
    }
    return text;
}
