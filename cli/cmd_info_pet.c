/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in files of PET. Files are read to their ends, so that damage is found.
 */
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_info.h"
#include "cmd_pet_tell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AT_ONCE = 1 << 16 /* pairs */ };

/* Tells of a failure. */
static bool fail(const slc_error *error)
{
    slc_cli_say("info", "%s", error->text);
    return false;
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* As --scanner takes them. */
static void put_scanner(slc_cli_tree *to, const char *path, const slc_pet_geometry *g)
{
    if (g->layout != NULL) {
        slc_cli_put(to, "scanner", path);
        slc_cli_put(to, "modules", slc_pet_module_count(g));
        slc_cli_put(to, "units", g->blocks_y * g->blocks_z);
        slc_cli_put(to, "crystals", slc_pet_crystals(g));
        slc_cli_put(to, "layers", g->layout->layers);
        if (!g->layout->rings) {
            return;
        }
        slc_cli_put(to, "rings", slc_pet_rings(g));
        slc_cli_put(to, "crystals_per_ring", slc_pet_crystals_per_ring(g));
        return;
    }
    char words[256];
    (void)snprintf(
        words, sizeof words,
        "channels=%u,modules=%u,module-rings=%u,blocks=%ux%u,crystals=%ux%u,radius=%.9gmm,pitch=%.9gmm,"
        "depth=%.9gmm",
        g->channels, g->modules, g->module_rings, g->blocks_y, g->blocks_z, g->crystals_y, g->crystals_z,
        g->radius_mm, g->pitch_z_mm, g->depth_mm);
    slc_cli_put(to, "scanner", (const char *)words);
    slc_cli_put(to, "modules", slc_pet_module_count(g));
    slc_cli_put(to, "crystals", slc_pet_crystals(g));
    slc_cli_put(to, "rings", slc_pet_rings(g));
    slc_cli_put(to, "crystals_per_ring", slc_pet_crystals_per_ring(g));
}

bool slc_info_pet_tables(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_pet_tables tables;
    slc_error error = {.status = SLC_OK};
    if (slc_io_read_pet_tables(path, &tables, &error) != SLC_OK) {
        return fail(&error);
    }
    const struct {
        const char *name;
        bool there;
    } kinds[] = {{"position", tables.position != NULL},     {"gain", tables.gain != NULL},
                 {"energy", tables.energy != NULL},         {"time_offset", tables.time_offset_ps != NULL},
                 {"efficiency", tables.efficiency != NULL}, {"radial", tables.geometric.radial != NULL},
                 {"axial", tables.geometric.axial != NULL}};
    slc_cli_put(to, "format", format->name);
    put_scanner(to, path, &tables.geometry);
    slc_cli_put_array(to, "tables");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].there) {
            slc_cli_append_text(to, "tables", kinds[i].name);
        }
    }
    if (tables.position != NULL) {
        slc_cli_put(to, "position_side", tables.position_side);
    }
    if (tables.energy != NULL) {
        slc_cli_put(to, "energy_bins", tables.energy_bins);
    }
    slc_io_pet_tables_clear(&tables);
    return true;
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

bool slc_info_pet_singles(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_error error = {.status = SLC_OK};
    slc_io_pet_singles *input = NULL;
    slc_pet_singles s = {.time_ps = NULL};
    singles_totals t = {0};
    slc_status status = slc_io_pet_singles_open(path, SLC_IO_PET_SINGLES, &input, &error);
    while (status == SLC_OK) {
        slc_columns_reset(&s);
        status = slc_io_pet_singles_read(input, AT_ONCE, &s, &error);
        for (size_t i = 0; i < s.head.size; i++) {
            add_single(&t, s.time_ps[i], s.crystal[i], s.energy_kev[i]);
        }
    }
    if (status == SLC_END && slc_io_pet_singles_note(input)[0] != '\0') {
        slc_cli_say("info", "%s: %s", path, slc_io_pet_singles_note(input));
    }
    slc_io_pet_singles_close(input);
    slc_columns_clear(&slc_pet_singles_schema, &s);
    slc_cli_put(to, "format", format->name);
    slc_cli_put(to, "singles", t.singles);
    slc_cli_put_bool(to, "ordered", t.backwards == 0);
    slc_cli_put(to, "from_seconds", t.first_s);
    slc_cli_put(to, "to_seconds", t.last_s);
    slc_cli_put(to, "highest_crystal", t.highest);
    slc_cli_put(to, "lowest_kev", t.lowest_kev);
    slc_cli_put(to, "highest_kev", t.highest_kev);
    return status == SLC_END ? true : fail(&error);
}

/* ---- list mode --------------------------------------------------------------------------------- */

#define OF(member)                                                                                           \
    {                                                                                                        \
#member, FIELD(slc_io_pet_list_totals, member)                                                       \
    }
static const slc_cli_field totals[] = {OF(prompts), OF(delayeds), OF(time_tags), OF(other), OF(seconds)};

/* What it says of its measurement, as far as its format has it. */
static void put_about(slc_cli_tree *to, const char *path, const slc_io_pet_list_about *about)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"window_ps", about->window_ps},
                   {"tof_resolution_ps", about->tof_resolution_ps},
                   {"duration_s", about->duration_s},
                   {"low_kev", about->low_kev},
                   {"high_kev", about->high_kev}};
    if (about->has_geometry) {
        put_scanner(to, path, &about->geometry);
    }
    if (about->scanner[0] != '\0') {
        slc_cli_put(to, "scanner_name", (const char *)about->scanner);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value > 0) {
            slc_cli_put(to, numbers[i].name, numbers[i].value);
        }
    }
    const char *name;
    bool any = false;
    for (size_t k = 0; (name = slc_io_pet_correction_name(k)) != NULL; k++) {
        if (about->corrections->value[k] != NULL) {
            if (!any) {
                slc_cli_put_array(to, "corrections");
                any = true;
            }
            slc_cli_append_text(to, "corrections", name);
        }
    }
}

bool slc_info_pet_pairs(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_io_pet_list *input = NULL;
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_io_pet_list_about about = {.scanner = ""};
    slc_error error = {.status = SLC_OK};
    if (format->pairs == SLC_IO_PET_GATE) { /* which need the scanner to be read */
        return slc_info_pet_csv(path, format, to);
    }
    slc_status status = slc_io_pet_list_open(path, (slc_io_pet_list_format)format->pairs, NULL, &input,
                                             &error);
    while (status == SLC_OK) {
        slc_columns_reset(&pairs);
        status = slc_io_pet_list_read(input, AT_ONCE, &pairs, &error);
    }
    if (input != NULL) {
        slc_io_pet_list_about_of(input, &about);
        if (about.left_out[0] != '\0') {
            slc_cli_say("info", "%s: not read: %s", path, about.left_out);
        }
        (void)slc_pet_strangers_tell("info", path, &about);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    if (status == SLC_END) {
        slc_cli_put(to, "format", format->name);
        slc_cli_put_fields(to, "", totals, sizeof totals / sizeof *totals, &about.totals);
        put_about(to, path, &about); /* before what it points to goes */
    }
    slc_io_pet_list_close(input);
    return status == SLC_END ? true : fail(&error);
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
 * counted. */
bool slc_info_pet_csv(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    uint64_t rows = 0, delayeds = 0;
    int delayed = -1;
    for (bool first = true; file != NULL && getline(&line, &room, file) > 0; first = false) {
        line[strcspn(line, "\r\n")] = '\0';
        delayed = first ? column_of(line, "delayed") : delayed;
        rows += !first;
        delayeds += !first && is_delayed(line, delayed);
    }
    slc_cli_put(to, "format", format->name);
    slc_cli_put(to, "prompts", rows - delayeds);
    slc_cli_put(to, "delayeds", delayeds);
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    return true;
}

/* ---- sinograms, maps --------------------------------------------------------------------------- */

/* "NAME.hs" of "NAME.s", for instance; the caller frees it. NULL if it is not there. */
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

static bool is_interfile(const char *path)
{
    char line[11] = "";
    FILE *file = fopen(path, "rb");
    const bool is = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, "!INTERFILE") == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return is;
}

bool slc_info_pet_sinogram(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_io_pet_sinogram_values v;
    slc_error error = {.status = SLC_OK};
    char *header = beside(path, ".s", ".hs");
    const char *name = header != NULL ? header : path;
    const slc_status status = slc_io_pet_sinogram_read(name, &v, &error);
    if (status == SLC_OK) {
        double sum = 0, lowest = 0, highest = 0;
        for (size_t i = 0; i < (size_t)v.tangential * v.views * v.sinograms; i++) {
            const double value = (double)v.value[i];
            sum += value;
            lowest = i == 0 || value < lowest ? value : lowest;
            highest = i == 0 || value > highest ? value : highest;
        }
        slc_cli_put(to, "format", format->name);
        slc_cli_put(to, "tangential", v.tangential);
        slc_cli_put(to, "views", v.views);
        slc_cli_put(to, "sinograms", v.sinograms);
        slc_cli_put(to, "segments", v.segments);
        slc_cli_put(to, "sum", sum);
        slc_cli_put(to, "smallest", lowest);
        slc_cli_put(to, "largest", highest);
        free(v.value);
    }
    /* A template, as STIR wants one beside SAFIR's files, names data that are empty or not there. */
    const bool is_template = (status == SLC_ERR_IO || (status == SLC_ERR_FORMAT && has_no_data(name))) &&
                             is_interfile(name);
    if (is_template) {
        slc_cli_put(to, "format", "pet-interfile-header");
        slc_cli_put_bool(to, "data", false);
    }
    free(header);
    return status == SLC_OK || is_template ? true : fail(&error);
}

bool slc_info_pet_map(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_io_pet_map map;
    slc_error error = {.status = SLC_OK};
    char *scanner = beside(path, ".lut", ".hscan");
    const slc_status status = slc_io_pet_map_read(scanner != NULL ? scanner : path, &map, &error);
    free(scanner);
    if (status != SLC_OK) {
        return fail(&error);
    }
    slc_cli_put(to, "format", format->name);
    slc_cli_put(to, "crystals", map.crystals);
    if (map.rings > 0) {
        slc_cli_put(to, "rings", map.rings);
        slc_cli_put(to, "crystals_per_ring", map.crystals_per_ring);
        slc_cli_put(to, "layers", map.layers);
    }
    slc_io_pet_map_clear(&map);
    return true;
}
