/* SPDX-License-Identifier: Apache-2.0
 * What options mean: policies and what makes a pair good, frames and their tables, names of files. */
#include "cli_words.h"
#include "cmd_pet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *slc_pet_scanner_word_name(const char *scanner)
{
    return scanner != NULL && strchr(scanner, '=') == NULL && !slc_io_pet_scanner_is_file(scanner) ? scanner
                                                                                                   : NULL;
}

const char *slc_pet_policy_at(size_t i)
{
    return i < SLC_PET_POLICIES ? slc_pet_policy_name((slc_pet_policy)i) : NULL;
}

/* ---- good -------------------------------------------------------------------------------------- */

static bool count_word(const char *text, uint32_t *value)
{
    uint32_t numbers[1];
    if (slc_cli_whole_numbers(text, 65536, numbers, 1) != 1) {
        return false;
    }
    *value = numbers[0];
    return true;
}

/* Degrees from 0 to 180, with or without "deg". */
static bool angle_word(const char *text, double *degrees)
{
    char *end = NULL;
    *degrees = strtod(text, &end);
    return end != text && (*end == '\0' || strcmp(end, "deg") == 0) && *degrees >= 0 && *degrees <= 180;
}

/* Parts of a rule, and what their values are. */
enum { SECTORS = 0, MIN, PER_RING, RADIUS, PITCH, DISTANCE, AXIAL, ANGLE, FOV, MODULES, PARTS };
static const struct good_part {
    const char *name, *takes;
} parts[PARTS] = {
    [SECTORS] = {"sectors=", "a whole number from 1 to 65536"},
    [MIN] = {"min=", "a whole number from 1 to 65536"},
    [PER_RING] = {"crystals-per-ring=", "a whole number from 1 to 65536"},
    [RADIUS] = {"radius=", "a length, as 60mm"},
    [PITCH] = {"pitch=", "a length, as 60mm"},
    [DISTANCE] = {"distance=", "a length, as 60mm"},
    [AXIAL] = {"axial=", "a length, as 60mm"},
    [ANGLE] = {"angle=", "an angle from 0 to 180, in degrees"},
    [FOV] = {"fov=", "a length, as 60mm"},
    [MODULES] = {"modules=", "a whole number from 1 to 65536"},
};

/* The value of a part, after its "=". */
static bool good_value(int part, const char *value, slc_pet_good *good)
{
    switch (part) {
    case SECTORS:
        return count_word(value, &good->sectors);
    case MIN:
        return count_word(value, &good->min_sectors);
    case PER_RING:
        return count_word(value, &good->crystals_per_ring);
    case MODULES:
        return count_word(value, &good->min_modules);
    case ANGLE:
        return angle_word(value, &good->min_degrees);
    case FOV:
        return slc_cli_length(value, &good->fov_mm) && good->fov_mm > 0;
    default:
        return slc_cli_length(value, part == DISTANCE ? &good->min_mm
                                     : part == AXIAL  ? &good->max_axial_mm
                                     : part == RADIUS ? &good->radius_mm
                                                      : &good->pitch_z_mm);
    }
}

/* One "name=value". `seen` collects which there were. */
static int good_part(const slc_cli_command *command, const char *part, slc_pet_good *good, uint32_t *seen)
{
    for (int i = 0; i < PARTS; i++) {
        const size_t size = strlen(parts[i].name);
        if (strncmp(part, parts[i].name, size) != 0) {
            continue;
        }
        *seen |= 1U << i;
        return good_value(i, part + size, good)
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--good: '%s': the value is not %s", part, parts[i].takes);
    }
    return slc_cli_wrong(command, "--good: '%s' is none of its parts", part);
}

int slc_pet_good_word(const slc_cli_command *command, const char *word, slc_pet_good *good)
{
    enum {
        OF_SECTORS = 1 << SECTORS | 1 << MIN | 1 << PER_RING,
        OF_DISTANCE = 1 << PER_RING | 1 << DISTANCE | 1 << AXIAL | 1 << RADIUS | 1 << PITCH,
        OF_GEOMETRY = 1 << ANGLE | 1 << FOV | 1 << MODULES | 1 << AXIAL
    };
    *good = (slc_pet_good){.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL};
    if (strcmp(word, "different-crystal") == 0) {
        return SLC_CLI_GO_ON;
    }
    uint32_t seen = 0;
    const char *rest = word;
    char part[64];
    while (slc_cli_next_word(&rest, part, sizeof part)) {
        const int status = good_part(command, part, good, &seen);
        if (status != SLC_CLI_GO_ON) {
            return status;
        }
    }
    if (seen != 0 && (seen & ~(uint32_t)OF_GEOMETRY) == 0) {
        if ((seen & 1 << AXIAL) != 0 && !(good->max_axial_mm > 0)) {
            return slc_cli_wrong(command, "--good: 'axial=' is to be above 0 with %s", word);
        }
        good->kind = SLC_PET_GOOD_GEOMETRY;
        return SLC_CLI_GO_ON;
    }
    if (seen != OF_SECTORS && seen != OF_DISTANCE) {
        return slc_cli_wrong(command,
                             "--good takes different-crystal, or any of angle=,fov=,axial=,modules=, or "
                             "sectors=,min=,crystals-per-ring=, or "
                             "distance=,axial=,crystals-per-ring=,radius=,pitch=, not '%s'",
                             word);
    }
    good->kind = seen == OF_SECTORS ? SLC_PET_GOOD_SECTORS : SLC_PET_GOOD_DISTANCE;
    return SLC_CLI_GO_ON;
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* What says two things at once is one of them alone, and which would not be told. */
static int check_edges(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                       const slc_pet_coincidence_config *config)
{
    const char *policy = slc_pet_policy_name(config->policy);
    const bool opengate = strncmp(policy, "opengate:", strlen("opengate:")) == 0;
    if (config->compat_gate9 && words->edge == SLC_PET_EDGE_CLOSED) {
        return slc_cli_wrong(command, "--compat gate9 has open edges: leave out --edge closed, or --compat");
    }
    if (config->compat_gate9 && (opengate || config->policy >= SLC_PET_REJECT_HIGHER_MULTIPLES)) {
        return slc_cli_wrong(command, "GATE 9 has no policy %s: leave out --compat gate9", policy);
    }
    if (opengate && words->edge == SLC_PET_EDGE_OPEN) {
        return slc_cli_wrong(command, "%s has closed edges: leave out --edge open", policy);
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_coincidence_config_of(const slc_cli_command *command, const slc_pet_coincidence_words *words,
                                  slc_pet_coincidence_config *config)
{
    slc_pet_coincidence_config_default(config);
    config->all_open = words->all_open == 1;
    config->compat_gate9 = words->gate9 != 0;
    config->closed = words->edge != 0 ? words->edge == SLC_PET_EDGE_CLOSED : !config->compat_gate9;
    config->offset_ns = words->offset_ns;
    if (words->window_ns > 0) {
        config->window_ns = words->window_ns;
    }
    if (words->policy > 0) {
        config->policy = (slc_pet_policy)(words->policy - 1);
    }
    if (words->kev[0] < words->kev[1]) {
        config->low_kev = words->kev[0];
        config->high_kev = words->kev[1];
    }
    const int status = words->good != NULL ? slc_pet_good_word(command, words->good, &config->good)
                                           : SLC_CLI_GO_ON;
    return status == SLC_CLI_GO_ON ? check_edges(command, words, config) : status;
}

/* ---- frames ------------------------------------------------------------------------------------ */

void slc_pet_convert_config_of(const slc_pet_frame_words *words, const double kev[2],
                               slc_pet_convert_config *config)
{
    config->tick_numerator = words->ticks[0];
    config->tick_denominator = words->ticks[1];
    config->tick_bits = (uint32_t)words->tick_bits;
    if (kev[0] < kev[1]) {
        config->low_kev = kev[0];
        config->high_kev = kev[1];
    }
}

char *slc_pet_scanner_files(const void *options, const char *name, size_t i)
{
    (void)options;
    return i == 0 && slc_io_pet_scanner_is_file(name) ? strdup(name) : NULL;
}

int slc_pet_scanner_of(const slc_cli_command *command, const char *name, slc_pet_geometry *geometry)
{
    slc_error error = {0};
    const slc_status status = slc_io_pet_scanner(name, geometry, &error);
    if (status == SLC_OK) {
        return SLC_CLI_GO_ON;
    }
    if (!slc_io_pet_scanner_is_file(name)) {
        return slc_cli_wrong(command, "--scanner: %s", error.text);
    }
    slc_cli_say(command->name, "%s", error.text);
    return SLC_CLI_FAILED;
}

uint32_t slc_pet_ring_difference_of(const slc_pet_geometry *geometry, uint64_t given)
{
    const uint32_t most = slc_pet_rings(geometry) - 1;
    if (geometry->layout != NULL && !geometry->layout->rings) { /* the sinogram knows its rings */
        return given >= 65536 ? UINT32_MAX : (uint32_t)given;
    }
    return given < most ? (uint32_t)given : most;
}

void slc_pet_tell_sinogram(const char *command, const slc_io_pet_sinogram *sinogram)
{
    slc_pet_geometry ring;
    if (slc_io_pet_sinogram_assigns(sinogram, &ring)) {
        slc_cli_say(command,
                    "this scanner's crystals are in no rings: the sinogram is of a cylinder of %" PRIu32
                    " x %" PRIu32
                    " crystals, radius %.6g mm, pitch %.6g mm, and lines go to its nearest bins",
                    slc_pet_crystals_per_ring(&ring), slc_pet_rings(&ring), ring.radius_mm, ring.pitch_z_mm);
    }
}

int slc_pet_tables_of(const slc_cli_command *command, const slc_pet_frame_words *words,
                      slc_pet_tables *tables, bool *owned)
{
    slc_error error = {0};
    *tables = (slc_pet_tables){.position = NULL};
    *owned = false;
    if (words->tables == NULL && words->scanner == NULL) {
        return slc_cli_wrong(command, "the scanner must be known: give --tables or --scanner");
    }
    if (words->tables != NULL && words->scanner != NULL) {
        return slc_cli_wrong(command,
                             "--tables and --scanner exclude each other: tables have a scanner, by whose "
                             "crystals they are; 'sluice pet calibrate FRAMES --scanner %s -o NEW.h5' makes "
                             "tables of the other",
                             words->scanner);
    }
    if (words->scanner != NULL) {
        *owned = true; /* it may have a layout */
        return slc_pet_scanner_of(command, words->scanner, &tables->geometry);
    }
    if (slc_io_read_pet_tables(words->tables, tables, &error) != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    *owned = true;
    return SLC_CLI_GO_ON;
}

slc_status slc_pet_flow_open(const slc_pet_paths *paths, uint64_t batch, const slc_flow_pet_setup *setup,
                             slc_flow **flow, slc_error *error)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)paths->path;
    config.n_paths = (uint32_t)paths->n;
    config.batch_bytes = (size_t)batch * sizeof(slc_pet_frame);
    config.exec = setup->config->exec;
    config.signals_to_reader = true;
    config.stop = slc_cli_stop;
    return slc_flow_open(&config, &slc_flow_pet, setup, flow, error);
}

/* ---- names of files ---------------------------------------------------------------------------- */

char *slc_pet_sinogram_files(const void *options, const char *name, size_t i)
{
    (void)options;
    return i < 2 ? slc_io_pet_sinogram_file(name, i) : NULL;
}

char *slc_pet_list_files(int format, const char *name, size_t i)
{
    if (format >= 0 && format < SLC_IO_PET_LIST_FORMATS) {
        return slc_io_pet_list_file(name, (slc_io_pet_list_format)format, i);
    }
    return i == 0 ? strdup(name) : NULL;
}

const char *slc_pet_columns_name(size_t i)
{
    static const char *const names[] = {"arrow", "npy", "npz"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *slc_pet_columns_form(size_t i, const char *name)
{
    const bool stream = i == 0 && (strcmp(name, "-") == 0 || slc_cli_ends_with(name, ".arrows"));
    return stream ? "arrow-stream" : slc_pet_columns_name(i);
}

static bool is_raw(const slc_cli_names *outputs, size_t i)
{
    return (outputs->option[i]->kind & SLC_CLI_RAW) != 0;
}

/* Outputs that have names of further files of an output of raw frames, and those that are raw data now. */
static int check_raw(const slc_cli_command *command, const slc_cli_names *outputs)
{
    for (size_t i = 0; i < outputs->n; i++) {
        for (size_t k = 0; is_raw(outputs, i) && k < outputs->n; k++) {
            if (outputs->option[k] != outputs->option[i] &&
                slc_cli_continues(outputs->name[k], outputs->name[i])) {
                return slc_cli_wrong(command, "%s %s is a name of further files of %s %s", outputs->flags[k],
                                     outputs->name[k], outputs->flags[i], outputs->name[i]);
            }
        }
    }
    for (size_t i = 0; i < outputs->n; i++) {
        if (!is_raw(outputs, i) && slc_io_pet_kind_of(outputs->name[i]) == SLC_IO_PET_KIND_RAW) {
            return slc_cli_wrong(command, "%s %s would replace raw data, which cannot be made again",
                                 outputs->flags[i], outputs->name[i]);
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_files_check(const slc_cli_command *command, const void *options, char **inputs, int n)
{
    slc_cli_names outputs;
    int status = slc_cli_check(command, options, inputs, n);
    slc_cli_names_of(command, options, SLC_CLI_OUTPUT, &outputs);
    status = status == SLC_CLI_GO_ON ? check_raw(command, &outputs) : status;
    slc_cli_names_clear(&outputs);
    return status;
}

void slc_pet_keep_prompts(slc_pet_coincidences *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->head.size; i++) {
        if (p->delayed[i] == 0) {
            p->time_ps[kept] = p->time_ps[i];
            p->dt_ps[kept] = p->dt_ps[i];
            p->crystal1[kept] = p->crystal1[i];
            p->crystal2[kept] = p->crystal2[i];
            p->energy1_kev[kept] = p->energy1_kev[i];
            p->energy2_kev[kept] = p->energy2_kev[i];
            p->delayed[kept++] = 0;
        }
    }
    p->head.size = kept;
}
