/* SPDX-License-Identifier: Apache-2.0
 * List-mode files as inputs of commands that need the scanner: by options, or as the file says. */
#include "cmd_pet_open.h"
#include "cli_words.h"
#include "cmd_pet_run.h"
#include "cmd_pet_tell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *slc_pet_list_format_name(size_t i)
{
    return i < SLC_IO_PET_LIST_FORMATS ? slc_io_pet_list_name((slc_io_pet_list_format)i) : NULL;
}

int slc_pet_list_format_of(int option, const char *path)
{
    const int format = option > 0 ? option - 1 : slc_pet_run_format_of(path);
    return format < SLC_IO_PET_LIST_FORMATS ? format : -1;
}

int slc_pet_triple(const slc_cli_command *command, const char *flag, const char *text, double triple[3])
{
    const char *rest = text;
    char word[64];
    int n = 0;
    while (n < 4 && slc_cli_next_word(&rest, word, sizeof word)) {
        double value = 0;
        if (n == 3 || !slc_cli_real(word, &value)) {
            n = 4;
            break;
        }
        triple[n++] = value;
    }
    return n == 3 ? SLC_CLI_GO_ON
                  : slc_cli_wrong(command, "%s takes X,Y,Z in mm, as 20,10,5, not '%s'", flag, text);
}

int slc_pet_one_list(const slc_cli_command *command)
{
    return slc_cli_wrong(command,
                         "of lists of pairs one is read, and several are named: pet run takes several "
                         "files of frames, of which one list comes");
}

int slc_pet_list_kept(const slc_cli_command *command, const void *options, const char *path, int format)
{
    char *part = NULL;
    int status = SLC_CLI_GO_ON;
    for (size_t i = 0; status == SLC_CLI_GO_ON && strcmp(path, "-") != 0 &&
                       (part = slc_io_pet_list_file(path, (slc_io_pet_list_format)format, i)) != NULL;
         i++) {
        if (strcmp(part, path) != 0 && access(part, F_OK) == 0) {
            status = slc_cli_check(command, options, &part, 1);
        }
        free(part);
    }
    return status;
}

slc_status slc_pet_geometry_of_map(const char *path, slc_pet_geometry *geometry, slc_error *error)
{
    slc_io_pet_map map;
    const slc_status status = slc_io_pet_map_read(path, &map, error);
    if (status != SLC_OK) {
        return status;
    }
    if (map.rings == 0) {
        slc_io_pet_map_clear(&map);
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: it does not tell rings", path);
    }
    const float *p = map.position_mm, *next = map.rings > 1 ? p + 3 * (size_t)map.crystals_per_ring : NULL;
    *geometry = (slc_pet_geometry){1,
                                   1,
                                   1,
                                   1,
                                   1,
                                   map.crystals_per_ring,
                                   map.rings * map.layers,
                                   hypot((double)p[0], (double)p[1]),
                                   next != NULL ? fabs((double)(next[2] - p[2])) : 1,
                                   0,
                                   NULL};
    slc_io_pet_map_clear(&map);
    return SLC_OK;
}

static int failed(const slc_cli_command *command, const slc_error *error)
{
    slc_cli_say(command->name, "%s", error->text);
    return SLC_CLI_FAILED;
}

void slc_pet_list_scanner_tell(const char *command, const char *path, int format,
                               const slc_io_pet_list_about *about)
{
    if (format == SLC_IO_PET_PETSIRD) { /* HDF5 has the table that it was written with */
        slc_pet_table_tell(command, path, &about->geometry);
    } else if (format == SLC_IO_PET_CASTOR) {
        slc_cli_say(command, "%s names the scanner %s: that of %s is taken", path, about->scanner,
                    about->scanner_file);
    }
}

bool slc_pet_list_scanner_named(const char *command, const char *path, const slc_io_pet_list_about *about,
                                slc_pet_geometry *geometry)
{
    const bool known = about->scanner[0] != '\0' && strchr(about->scanner, '=') == NULL &&
                       slc_pet_scanner(about->scanner, geometry, NULL) == SLC_OK;
    if (known) {
        slc_cli_say(command, "%s names the scanner %s: its geometry is taken", path, about->scanner);
    }
    return known;
}

/* The scanner that a file says: all of it, or its name, if it is known here. */
static int scanner_of_file(const slc_cli_command *command, slc_pet_list_input *input, const char *path,
                           int format)
{
    if (input->about.has_geometry) {
        input->tables.geometry = input->about.geometry;
        slc_pet_list_scanner_tell(command->name, path, format, &input->about);
        return SLC_CLI_GO_ON;
    }
    if (slc_pet_list_scanner_named(command->name, path, &input->about, &input->tables.geometry)) {
        return SLC_CLI_GO_ON;
    }
    return input->about.scanner_file[0] != '\0'
               ? slc_cli_wrong(command, "%s does not tell its scanner (%s): give --tables or --scanner", path,
                               input->about.scanner_file)
               : slc_cli_wrong(command, "%s does not tell its scanner: give --tables or --scanner", path);
}

int slc_pet_list_input_open(const slc_cli_command *command, const char *path, int format,
                            const slc_pet_frame_words *words, slc_pet_list_input *input)
{
    slc_error error = {.status = SLC_OK};
    const bool given = words->tables != NULL || words->scanner != NULL;
    if (format < 0) {
        return slc_cli_wrong(command, "the end of %s tells no format of pairs that is read: give --format",
                             path);
    }
    if (!given && format == SLC_IO_PET_GATE) {
        return slc_cli_wrong(command, "--format gate needs the scanner: give --tables or --scanner");
    }
    int status = given ? slc_pet_tables_of(command, words, &input->tables, &input->owned) : SLC_CLI_GO_ON;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_io_pet_list_open(path, (slc_io_pet_list_format)format, given ? &input->tables.geometry : NULL,
                             &input->list, &error) != SLC_OK) {
        return failed(command, &error);
    }
    slc_io_pet_list_about_of(input->list, &input->about);
    slc_pet_moved_tell(command->name, path, &input->about);
    status = given ? SLC_CLI_GO_ON : scanner_of_file(command, input, path, format);
    if (status == SLC_CLI_GO_ON && !given && !input->about.has_geometry) {
        /* Once more, as crystals are then checked, and numbered as the scanner has them. */
        slc_io_pet_list_close(input->list);
        input->list = NULL;
        if (slc_io_pet_list_open(path, (slc_io_pet_list_format)format, &input->tables.geometry, &input->list,
                                 &error) != SLC_OK) {
            return failed(command, &error);
        }
        slc_io_pet_list_about_of(input->list, &input->about);
        slc_pet_moved_tell(command->name, path, &input->about);
    }
    return status;
}

bool slc_pet_list_input_tell(const slc_cli_command *command, const char *path, slc_pet_list_input *input)
{
    if (input->list == NULL) {
        return false;
    }
    slc_io_pet_list_about_of(input->list, &input->about);
    slc_pet_not_read_tell(command->name, path, input->about.left_out);
    return slc_pet_strangers_tell(command->name, path, &input->about);
}

void slc_pet_list_input_close(slc_pet_list_input *input)
{
    slc_io_pet_list_close(input->list);
    if (input->owned) {
        slc_io_pet_tables_clear(&input->tables);
    }
}
