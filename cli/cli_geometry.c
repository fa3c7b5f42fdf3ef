/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that --geometry and --beam of the VELO's commands read, so that no output destroys one: a
 * geometry of JSON names another file, and the beam is a file unless it is numbers or a word.
 */
#include "cli_words.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The file that a geometry of JSON begins with, from the JSON's own folder on. NULL if there is none: what is
 * wrong with the geometry tells who reads it. A pipe can be read once only, and not here. */
static char *base_of(const char *name)
{
    enum { MAX_BYTES = 1 << 20 }; /* as in src/io/lhcb/io_velo_alignment.c */
    struct stat about;
    if (stat(name, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > MAX_BYTES) {
        return NULL;
    }
    json_t *root = json_load_file(name, 0, NULL);
    const char *base = json_string_value(json_object_get(root, "geometry"));
    char *path = NULL;
    if (base != NULL && base[0] != '\0') {
        const char *slash = base[0] == '/' ? NULL : strrchr(name, '/');
        const size_t folder = slash != NULL ? (size_t)(slash - name) + 1 : 0, size = strlen(base) + 1;
        path = malloc(folder + size);
        if (path != NULL) {
            memcpy(path, name, folder);
            memcpy(path + folder, base, size);
        }
    }
    json_decref(root);
    return path;
}

char *slc_cli_geometry_files(const void *options, const char *name, size_t i)
{
    (void)options;
    return i == 0 ? strdup(name) : i == 1 ? base_of(name) : NULL;
}

char *slc_cli_beam_files(const void *options, const char *name, size_t i)
{
    double x, y;
    (void)options;
    const bool file = i == 0 && strcmp(name, "auto") != 0 && !slc_cli_point(name, &x, &y) &&
                      strspn(name, "0123456789+-.,") != strlen(name);
    return file ? strdup(name) : NULL;
}
