/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in files of PET. Those with a head are known by their first bytes, list-mode files and their
 * companions by the ends of their names, as the packages that read them do. Files are read to their ends, so
 * that damage is found.
 */
#include "cli_words.h"
#include "cmd_info.h"
#include "cmd_pet_run.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AT_ONCE = 1 << 16 /* pairs */, NAME_ROOM = 40 };

static bool begins(const char *path, size_t at, const char *bytes, size_t size)
{
    char there[16];
    FILE *file = fopen(path, "rb");
    const bool same = file != NULL && fseek(file, (long)at, SEEK_SET) == 0 &&
                      fread(there, 1, size, file) == size && memcmp(there, bytes, size) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return same;
}

static void put(json_t *to, const char *key, uint64_t value)
{
    (void)json_object_set_new(to, key, json_integer((json_int_t)value));
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* As --scanner takes them. */
static void add_scanner(json_t *to, const slc_pet_geometry *g)
{
    char words[256];
    (void)snprintf(
        words, sizeof words,
        "channels=%u,modules=%u,module-rings=%u,blocks=%ux%u,crystals=%ux%u,radius=%.9gmm,pitch=%.9gmm,"
        "depth=%.9gmm",
        g->channels, g->modules, g->module_rings, g->blocks_y, g->blocks_z, g->crystals_y, g->crystals_z,
        g->radius_mm, g->pitch_z_mm, g->depth_mm);
    (void)json_object_set_new(to, "scanner", json_string(words));
    put(to, "modules", slc_pet_module_count(g));
    put(to, "crystals", slc_pet_crystals(g));
    put(to, "rings", slc_pet_rings(g));
    put(to, "crystals_per_ring", slc_pet_crystals_per_ring(g));
}

static json_t *info_tables(const char *path, json_t *to, slc_error *error)
{
    slc_pet_tables tables;
    if (slc_io_read_pet_tables(path, &tables, error) != SLC_OK) {
        return NULL;
    }
    const struct {
        const char *name;
        bool there;
    } kinds[] = {{"position", tables.position != NULL},
                 {"gain", tables.gain != NULL},
                 {"energy", tables.energy != NULL},
                 {"time_offset", tables.time_offset_ps != NULL}};
    json_t *names = json_array();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].there) {
            (void)json_array_append_new(names, json_string(kinds[i].name));
        }
    }
    (void)json_object_set_new(to, "format", json_string("pet-tables"));
    add_scanner(to, &tables.geometry);
    (void)json_object_set_new(to, "tables", names);
    if (tables.position != NULL) {
        put(to, "position_side", tables.position_side);
    }
    if (tables.energy != NULL) {
        put(to, "energy_bins", tables.energy_bins);
    }
    slc_io_pet_tables_clear(&tables);
    return to;
}

/* ---- singles ----------------------------------------------------------------------------------- */

typedef struct singles_totals {
    uint64_t singles, backwards;
    uint32_t highest;
    int64_t before_ps;
    double first_s, last_s, lowest_kev, highest_kev;
} singles_totals;

static void add_single(singles_totals *t, int64_t time_ps, uint32_t crystal, float kev)
{
    const double energy = (double)kev, seconds = (double)time_ps * 1e-12;
    if (t->singles == 0) {
        *t = (singles_totals){
            .first_s = seconds, .last_s = seconds, .lowest_kev = energy, .highest_kev = energy};
    } else {
        t->backwards += time_ps < t->before_ps;
    }
    t->before_ps = time_ps;
    t->first_s = fmin(t->first_s, seconds);
    t->last_s = fmax(t->last_s, seconds);
    t->lowest_kev = fmin(t->lowest_kev, energy);
    t->highest_kev = fmax(t->highest_kev, energy);
    t->highest = crystal > t->highest ? crystal : t->highest;
    t->singles++;
}

static json_t *info_singles(const char *path, json_t *to, slc_error *error)
{
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {.time_ps = NULL};
    singles_totals t = {0};
    slc_status status = slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES, &input, error);
    while (status == SLC_OK) {
        slc_columns_reset(&s);
        status = slc_io_pet_singles_read(input, AT_ONCE, &s, error);
        for (size_t i = 0; i < s.head.size; i++) {
            add_single(&t, s.time_ps[i], s.crystal[i], s.energy_kev[i]);
        }
    }
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    (void)json_object_set_new(to, "format", json_string("pet-singles"));
    put(to, "singles", t.singles);
    (void)json_object_set_new(to, "ordered", json_boolean(t.backwards == 0));
    (void)json_object_set_new(to, "from_seconds", json_real(t.first_s));
    (void)json_object_set_new(to, "to_seconds", json_real(t.last_s));
    put(to, "highest_crystal", t.highest);
    (void)json_object_set_new(to, "lowest_kev", json_real(t.lowest_kev));
    (void)json_object_set_new(to, "highest_kev", json_real(t.highest_kev));
    return status == SLC_END ? to : NULL;
}

/* ---- list mode --------------------------------------------------------------------------------- */

/* *is_one: it could be opened as such. */
static json_t *info_list(const char *path, slc_io_pet_list_format format, json_t *to, bool *is_one,
                         slc_error *error)
{
    char name[NAME_ROOM];
    slc_io_pet_list *input = NULL;
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_io_pet_list_totals t = {0};
    slc_status status = slc_io_pet_list_open(path, format, NULL, &input, error);
    *is_one = status == SLC_OK;
    while (status == SLC_OK) {
        slc_columns_reset(&pairs);
        status = slc_io_pet_list_read(input, AT_ONCE, &pairs, error);
    }
    if (input != NULL) {
        slc_io_pet_list_totals_of(input, &t);
    }
    slc_io_pet_list_close(input);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    if (status != SLC_END) {
        return NULL;
    }
    (void)snprintf(name, sizeof name, "pet-%s", slc_io_pet_list_name(format));
    (void)json_object_set_new(to, "format", json_string(name));
    put(to, "prompts", t.prompts);
    put(to, "delayeds", t.delayeds);
    put(to, "time_tags", t.time_tags);
    put(to, "other", t.other);
    (void)json_object_set_new(to, "seconds", json_real(t.seconds));
    return to;
}

/* ---- pairs as CSV ------------------------------------------------------------------------------ */

/* The number of a column in the first line, or -1. */
static int column_of(const char *line, const char *name)
{
    char word[64];
    int i = 0;
    for (; slc_cli_next_word(&line, word, sizeof word); i++) {
        if (strcmp(word, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_delayed(const char *line, int column)
{
    char word[64] = "";
    for (int i = 0; i <= column; i++) {
        if (!slc_cli_next_word(&line, word, sizeof word)) {
            return false;
        }
    }
    return column >= 0 && strcmp(word, "1") == 0;
}

/* GATE's pairs need the scanner to be read, and Sluice's own CSV is read by nothing of it: their rows are
 * counted. False where the first line is of neither. */
static bool info_csv(const char *path, json_t *to)
{
    FILE *file = begins(path, 0, "time", 4) ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    const ssize_t size = file != NULL ? getline(&line, &room, file) : -1;
    if (size > 0) {
        line[strcspn(line, "\r\n")] = '\0';
    }
    const bool gate = size > 0 && column_of(line, "time1") >= 0 && column_of(line, "rsectorID1") >= 0;
    const bool own = size > 0 && column_of(line, "time_ps") >= 0 && column_of(line, "dt_ps") >= 0;
    if (gate || own) {
        const int delayed = column_of(line, "delayed");
        uint64_t rows = 0, delayeds = 0;
        while (getline(&line, &room, file) > 0) {
            line[strcspn(line, "\r\n")] = '\0';
            rows++;
            delayeds += is_delayed(line, delayed);
        }
        (void)json_object_set_new(to, "format", json_string(gate ? "pet-gate" : "pet-csv"));
        put(to, "prompts", rows - delayeds);
        put(to, "delayeds", delayeds);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    return gate || own;
}

/* ---- sinograms, maps --------------------------------------------------------------------------- */

/* "NAME.hs" of "NAME.s", for instance; the caller frees it. NULL where it is not there. */
static char *beside(const char *path, const char *end, const char *of_other)
{
    const size_t size = strlen(path), kept = size - strlen(end), more = strlen(of_other) + 1;
    char *name = slc_cli_ends_with(path, end) ? malloc(size + more) : NULL;
    struct stat there;
    if (name == NULL) {
        return NULL;
    }
    memcpy(name, path, kept);
    memcpy(name + kept, of_other, more);
    if (stat(name, &there) != 0) {
        free(name);
        return NULL;
    }
    return name;
}

/* Is "NAME.s" beside "NAME.hs" empty? */
static bool has_no_data(const char *path)
{
    char *data = beside(path, ".hs", ".s");
    struct stat there;
    const bool empty = data != NULL && stat(data, &there) == 0 && there.st_size == 0;
    free(data);
    return empty;
}

static json_t *info_sinogram(const char *path, json_t *to, slc_error *error)
{
    slc_io_pet_sinogram_values v;
    const slc_status status = slc_io_pet_sinogram_read(path, &v, error);
    if ((status == SLC_ERR_IO || (status == SLC_ERR_FORMAT && has_no_data(path))) &&
        begins(path, 0, "!INTERFILE", 10)) {
        /* A template, as STIR wants one beside SAFIR's files, names data that are empty or not there. */
        (void)json_object_set_new(to, "format", json_string("pet-interfile-header"));
        (void)json_object_set_new(to, "data", json_false());
        return to;
    }
    if (status != SLC_OK) {
        return NULL;
    }
    const size_t n = (size_t)v.tangential * v.views * v.sinograms;
    double sum = 0, lowest = 0, highest = 0;
    for (size_t i = 0; i < n; i++) {
        const double value = (double)v.value[i];
        sum += value;
        lowest = i == 0 || value < lowest ? value : lowest;
        highest = i == 0 || value > highest ? value : highest;
    }
    (void)json_object_set_new(to, "format", json_string("pet-sinogram"));
    put(to, "tangential", v.tangential);
    put(to, "views", v.views);
    put(to, "sinograms", v.sinograms);
    put(to, "segments", v.segments);
    (void)json_object_set_new(to, "sum", json_real(sum));
    (void)json_object_set_new(to, "smallest", json_real(lowest));
    (void)json_object_set_new(to, "largest", json_real(highest));
    slc_io_pet_sinogram_values_clear(&v);
    return to;
}

static json_t *info_map(const char *path, json_t *to, slc_error *error)
{
    slc_io_pet_map map;
    if (slc_io_pet_map_read(path, &map, error) != SLC_OK) {
        return NULL;
    }
    (void)json_object_set_new(to, "format", json_string("pet-crystal-map"));
    put(to, "crystals", map.crystals);
    if (map.rings > 0) {
        put(to, "rings", map.rings);
        put(to, "crystals_per_ring", map.crystals_per_ring);
        put(to, "layers", map.layers);
    }
    slc_io_pet_map_clear(&map);
    return to;
}

/* ---- which of them ----------------------------------------------------------------------------- */

/* Data that a header beside them explains. NULL: they are not, or *error tells why not. */
static json_t *by_header(const char *path, json_t *to, bool *is_one, slc_error *error)
{
    char *sinogram = beside(path, ".s", ".hs"), *scanner = beside(path, ".lut", ".hscan");
    json_t *found = to;
    *is_one = sinogram != NULL || scanner != NULL;
    if (*is_one) {
        found = sinogram != NULL ? info_sinogram(sinogram, to, error) : info_map(scanner, to, error);
    }
    free(sinogram);
    free(scanner);
    return found;
}

/* Which reader takes a name, by its end. What it says of the file is then said, even if it cannot open it. */
static json_t *by_name(const char *path, json_t *to, bool *is_one, slc_error *error)
{
    const int format = slc_pet_run_format_of(path);
    bool opened = false;
    *is_one = true;
    if (info_csv(path, to)) {
        return to;
    }
    if (format != SLC_IO_PET_GATE && format < SLC_IO_PET_LIST_FORMATS && format != SLC_IO_PET_HDF5) {
        return info_list(path, (slc_io_pet_list_format)format, to, &opened, error);
    }
    if (slc_cli_ends_with(path, ".hs") || begins(path, 0, "!INTERFILE", 10)) {
        return info_sinogram(path, to, error);
    }
    if (slc_cli_ends_with(path, ".map.txt") || slc_cli_ends_with(path, ".hscan")) {
        return info_map(path, to, error);
    }
    return by_header(path, to, is_one, error);
}

/* HDF5 files of another kind are left to whoever looks at them next. */
static json_t *by_bytes(const char *path, json_t *to, bool *is_one, slc_error *error)
{
    bool opened = false;
    *is_one = true;
    if (begins(path, 5, " CListModeData", 14)) {
        return info_list(path, SLC_IO_PET_SAFIR, to, &opened, error);
    }
    switch (slc_io_pet_kind_of(path)) {
    case SLC_IO_PET_KIND_RAW_INDEX:
        (void)json_object_set_new(to, "format", json_string("pet-raw-index"));
        return to;
    case SLC_IO_PET_KIND_SINGLES:
        return info_singles(path, to, error);
    case SLC_IO_PET_KIND_TABLES:
        return info_tables(path, to, error);
    default:
        break;
    }
    *is_one = begins(path, 0, "\x89HDF\r\n\x1a\n", 8);
    return *is_one ? info_list(path, SLC_IO_PET_HDF5, to, is_one, error) : to;
}

json_t *slc_info_pet(const char *path, bool *good)
{
    struct stat there;
    slc_error error = {.status = SLC_OK};
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0) {
        return NULL;
    }
    json_t *to = json_object();
    (void)json_object_set_new(to, "file", json_string(path));
    put(to, "bytes", (uint64_t)there.st_size);
    if (slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_RAW) {
        return slc_info_pet_raw(path, to, good);
    }
    bool is_one = false;
    const json_t *found = by_bytes(path, to, &is_one, &error);
    if (!is_one) {
        found = by_name(path, to, &is_one, &error);
    }
    if (!is_one) {
        json_decref(to);
        return NULL;
    }
    if (found == NULL) {
        slc_cli_say("info", "%s", error.text);
        *good = false;
    }
    return to;
}
