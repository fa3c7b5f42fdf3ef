/* SPDX-License-Identifier: Apache-2.0
 * Geometry of the muon stations out of a folder of LHCb's files. */
#include "io/lhcb/io_muon.h"
#include "io/io_stream.h"
#include "muon/muon_geometry.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_BYTES = 16 << 20, MAX_PATH = 4096 };

static slc_status read_file(const char *folder, const char *name, void **bytes, size_t *size, char *path,
                            slc_error *error)
{
    if (snprintf(path, MAX_PATH, "%s/%s", folder, name) >= MAX_PATH) {
        return slc_fail(error, SLC_ERR_IO, "%.64s: the path is too long", folder);
    }
    return slc_io_read_file(path, MAX_BYTES, bytes, size, error);
}

/* What the parser says, with the folder in front of the file's name. */
static slc_status named(slc_status status, const char *folder, const slc_error *told, slc_error *error)
{
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s/%s", folder, told->text);
}

slc_status slc_io_muon_geometry_read(const char *folder, slc_muon_geometry **geometry, slc_error *error)
{
    void *boards = NULL, *tables = NULL, *windows = NULL;
    size_t n_boards = 0, n_tables = 0, n_windows = 0;
    char path[MAX_PATH];
    slc_error told = {0};
    *geometry = NULL;
    slc_status status = read_file(folder, "muon_geometry.bin", &boards, &n_boards, path, error);
    status = status == SLC_OK ? read_file(folder, "muon_tables.bin", &tables, &n_tables, path, error)
                              : status;
    if (status == SLC_OK) {
        status = named(slc_muon_geometry_parse(boards, n_boards, tables, n_tables, geometry, &told), folder,
                       &told, error);
    }
    if (status == SLC_OK && snprintf(path, sizeof path, "%s/muon_field_of_interest.bin", folder) < MAX_PATH &&
        access(path, F_OK) == 0) {
        status = slc_io_read_file(path, MAX_BYTES, &windows, &n_windows, error);
        if (status == SLC_OK) {
            status = named(slc_muon_geometry_parse_foi(windows, n_windows, *geometry, &told), folder, &told,
                           error);
        }
    }
    if (status != SLC_OK) {
        slc_muon_geometry_free(*geometry);
        *geometry = NULL;
    }
    free(boards);
    free(tables);
    free(windows);
    return status;
}
