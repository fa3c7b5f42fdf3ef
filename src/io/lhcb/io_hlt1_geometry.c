/* SPDX-License-Identifier: Apache-2.0
 * What LHCb's first trigger level needs beside the events, from the files of a folder. */
#include "base/bytes.h"
#include "hlt1/hlt1_tables.h"
#include "io/io_stream.h"
#include "io/lhcb/io_hlt1_transport.h"
#include "io/lhcb/io_muon.h"
#include "muon/muon_geometry.h"
#include "scifi/scifi_geometry.h"
#include "ut/ut_geometry.h"

#include <sluice/io.h>
#include <sluice/io_hlt1.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 64 << 20, PATH_BYTES = 4096 };

static slc_status velo(const char *path, slc_hlt1_geometry *geometry, slc_error *error)
{
    return slc_io_read_velo_geometry(path, geometry->velo, error);
}

static slc_status beam_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error)
{
    const uint8_t *from = bytes;
    if (size != 8) {
        return slc_fail(error, SLC_ERR_FORMAT, "%zu bytes, must be 8", size);
    }
    geometry->beam_x_mm = slc_load_f32(from);
    geometry->beam_y_mm = slc_load_f32(from + 4);
    return fabsf(geometry->beam_x_mm) < 1e3f && fabsf(geometry->beam_y_mm) < 1e3f
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "the beam is not within 1 m of x = y = 0");
}

static slc_status polarity_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry,
                                 slc_error *error)
{
    const float value = size == 4 ? slc_load_f32(bytes) : 0;
    if (!(fabsf(value) == 1)) {
        return slc_fail(error, SLC_ERR_FORMAT, "must be 4 bytes, 1 or -1 as a number");
    }
    geometry->polarity = value;
    return SLC_OK;
}

static slc_status boards_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error)
{
    return slc_ut_boards_parse(bytes, size, geometry->ut, error);
}

static slc_status ut_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error)
{
    return slc_ut_geometry_parse(bytes, size, geometry->ut, error);
}

static slc_status scifi_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error)
{
    return slc_scifi_geometry_parse(bytes, size, geometry->scifi, error);
}

static slc_status deflection_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry,
                                   slc_error *error)
{
    return slc_hlt1_deflection_parse(bytes, size, geometry->deflection, error);
}

static slc_status forward_parse(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error)
{
    return slc_hlt1_forward_parse(bytes, size, geometry->forward, error);
}

/* A file is read by its path, or by its bytes. */
static const struct file {
    const char *name;
    slc_status (*read)(const char *path, slc_hlt1_geometry *geometry, slc_error *error);
    slc_status (*parse)(const void *bytes, size_t size, slc_hlt1_geometry *geometry, slc_error *error);
} files[] = {
    {"velo_geometry.bin", velo, NULL},         {"beamline.bin", NULL, beam_parse},
    {"polarity.bin", NULL, polarity_parse},    {"ut_boards.bin", NULL, boards_parse},
    {"ut_geometry.bin", NULL, ut_parse},       {"ut_tables.bin", NULL, deflection_parse},
    {"scifi_geometry.bin", NULL, scifi_parse}, {"forward_params.txt", NULL, forward_parse},
};

static slc_status read_file(const char *folder, const struct file *file, slc_hlt1_geometry *geometry,
                            slc_error *error)
{
    char path[PATH_BYTES];
    void *bytes = NULL;
    size_t size = 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, file->name) >= (int)sizeof path) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: the name is too long", folder);
    }
    if (file->read != NULL) {
        return file->read(path, geometry, error);
    }
    slc_error why = {SLC_OK, ""};
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status == SLC_OK && (status = file->parse(bytes, size, geometry, &why)) != SLC_OK) {
        (void)slc_fail(error, status, "%s: %s", path, why.text);
    }
    free(bytes);
    return status;
}

/* The tables of the transport, if the folder has theirs: only the fit needs them. */
static slc_status read_transport(const char *folder, slc_hlt1_geometry *geometry, slc_error *error)
{
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/kalman_FT6x2", folder) >= (int)sizeof path ||
        access(path, F_OK) != 0) {
        return SLC_OK;
    }
    geometry->transport = calloc(1, sizeof *geometry->transport);
    if (geometry->transport == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the geometry", folder);
    }
    return slc_io_hlt1_transport_read(path, geometry->transport, error);
}

void slc_io_hlt1_geometry_close(slc_hlt1_geometry *geometry)
{
    if (geometry != NULL) {
        free(geometry->velo);
        free(geometry->ut);
        free(geometry->scifi);
        free(geometry->deflection);
        free(geometry->forward);
        slc_muon_geometry_free(geometry->muon);
        if (geometry->transport != NULL) {
            slc_hlt1_transport_clear(geometry->transport);
            free(geometry->transport);
        }
        free(geometry);
    }
}

/* The tables are of the magnet down. A field the other way round does to a charge what the tables' does to
 * the opposite one. */
static void turn_field(slc_hlt1_geometry *geometry)
{
    for (size_t i = 0; i < SLC_HLT1_DEFLECTIONS; i++) {
        geometry->deflection->bdl[i] *= -geometry->polarity;
    }
    if (geometry->transport != NULL) {
        slc_hlt1_transport_polarity(geometry->transport, (double)geometry->polarity);
    }
}

slc_status slc_io_hlt1_geometry_open(const char *folder, slc_hlt1_geometry **geometry, slc_error *error)
{
    slc_hlt1_geometry *read = calloc(1, sizeof *read);
    *geometry = NULL;
    if (read != NULL) {
        read->velo = calloc(1, sizeof *read->velo);
        read->ut = calloc(1, sizeof *read->ut);
        read->scifi = calloc(1, sizeof *read->scifi);
        read->deflection = calloc(1, sizeof *read->deflection);
        read->forward = calloc(1, sizeof *read->forward);
    }
    slc_status status = SLC_OK;
    if (read == NULL || read->velo == NULL || read->ut == NULL || read->scifi == NULL ||
        read->deflection == NULL || read->forward == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the geometry", folder);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files && status == SLC_OK; i++) {
        status = read_file(folder, &files[i], read, error);
    }
    status = status == SLC_OK ? slc_io_muon_geometry_read(folder, &read->muon, error) : status;
    if (status == SLC_OK) {
        read->finds_muons = read->muon->has_field_of_interest;
        status = read_transport(folder, read, error);
    }
    if (status != SLC_OK) {
        slc_io_hlt1_geometry_close(read);
        return status;
    }
    turn_field(read);
    *geometry = read;
    return SLC_OK;
}
