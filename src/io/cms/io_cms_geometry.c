/* SPDX-License-Identifier: Apache-2.0
 * Planes, places and errors of CMS's modules from the dump that its stand-alone programs read, cpefast.bin.
 */
#include "io/cms/io_cms_dump.h"

#include "base/bytes.h"
#include "cms/cms_stages.h"
#include "io/io_stream.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    /* Common to all: thickness in the barrel and the endcaps, pitches. */
    THICK_BARREL_AT = 0,
    THICK_ENDCAP_AT = 4,
    PITCH_X_AT = 8,
    PITCH_Y_AT = 12,
    MODULES_AT = 16,
    MODULE_AT = 20,
    MODULE = 112,
    REST = 3720, /* averages of ladders and layers, not used here */
    MODULES = 4096,
    /* Of a module. */
    IS_BARREL_AT = 0,
    IS_POSITIVE_AT = 1,
    INDEX_AT = 4,
    ID_AT = 8,
    SHIFT_AT = 12,
    WIDTH_AT = 20,
    ORIGIN_AT = 28,
    ERROR_X_AT = 40,
    ERROR_Y_AT = 52,
    POSITION_AT = 64,
    ROTATION_AT = 76
};
/* Errors of clusters at a module's edge, which the programs have as constants: 0.0050 and 0.0085 cm. */
static const float edge_x_um = 50.0f, edge_y_um = 85.0f;

/* The file has cm. */
static float in_um(const uint8_t *at)
{
    return (float)((double)slc_load_f32(at) * 1e4);
}
static float in_mm(const uint8_t *at)
{
    return (float)((double)slc_load_f32(at) * 10);
}

static slc_status check_size(const uint8_t *from, size_t size, const char *name, slc_error *error)
{
    const uint32_t modules = size >= MODULE_AT ? slc_load_u32(from + MODULES_AT) : 0;
    if (modules == 0 || modules > MODULES || size != MODULE_AT + (size_t)modules * MODULE + REST) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: byte %d: %zu bytes for %u modules are no dump of CMS's positions (cpefast.bin: 3740 "
            "bytes, and 112 for each of up to %d modules)",
            name, MODULES_AT, size, modules, MODULES);
    }
    return SLC_OK;
}

static slc_status take_module(const uint8_t *from, uint32_t m, const char *name, slc_cms_geometry *geometry,
                              slc_error *error)
{
    const uint8_t *at = from + MODULE_AT + (size_t)m * MODULE;
    const uint8_t barrel = at[IS_BARREL_AT];
    slc_cms_plane *plane = &geometry->plane[m];
    slc_cms_site *site = &geometry->site[m];
    site->raw_id = slc_load_u32(at + ID_AT);
    if (barrel > 1 || at[IS_POSITIVE_AT] > 1 || slc_load_u16(at + INDEX_AT) != m ||
        slc_cms_is_barrel(site->raw_id) != (barrel == 1)) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: byte %zu: module %u: its marks %u and %u of barrel and side, index %u and id "
                        "0x%x do not fit: no dump, or of another "
                        "version of CMS's programs",
                        name, (size_t)(at - from), m, barrel, at[IS_POSITIVE_AT], slc_load_u16(at + INDEX_AT),
                        site->raw_id);
    }
    *plane = (slc_cms_plane){.x0_um = in_um(at + ORIGIN_AT),
                             .y0_um = in_um(at + ORIGIN_AT + 4),
                             .z0_um = in_um(at + ORIGIN_AT + 8),
                             .shift_x_um = in_um(at + SHIFT_AT),
                             .shift_y_um = in_um(at + SHIFT_AT + 4),
                             .width_x_um = in_um(at + WIDTH_AT),
                             .width_y_um = in_um(at + WIDTH_AT + 4),
                             .thickness_um = in_um(from + (barrel == 1 ? THICK_BARREL_AT : THICK_ENDCAP_AT))};
    for (size_t i = 0; i < 3; i++) {
        site->position_mm[i] = in_mm(at + POSITION_AT + 4 * i);
        site->error_x_um[i] = in_um(at + ERROR_X_AT + 4 * i);
        site->error_y_um[i] = in_um(at + ERROR_Y_AT + 4 * i);
    }
    for (size_t i = 0; i < 9; i++) {
        site->rotation[i] = slc_load_f32(at + ROTATION_AT + 4 * i);
    }
    return SLC_OK;
}

slc_status slc_io_parse_cms_geometry(const void *bytes, size_t size, const char *name,
                                     slc_cms_geometry *geometry, slc_io_cms_note *note, slc_error *error)
{
    const uint8_t *from = bytes;
    slc_status status = check_size(from, size, name, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t modules = slc_load_u32(from + MODULES_AT);
    if (slc_cms_geometry_reserve(geometry, modules) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %u modules", name, modules);
    }
    geometry->pitch_x_um = in_um(from + PITCH_X_AT);
    geometry->pitch_y_um = in_um(from + PITCH_Y_AT);
    geometry->edge_x_um = edge_x_um;
    geometry->edge_y_um = edge_y_um;
    for (uint32_t m = 0; m < modules && status == SLC_OK; m++) {
        status = take_module(from, m, name, geometry, error);
    }
    slc_error reason = {0};
    if (status == SLC_OK && slc_cms_geometry_check(geometry, &reason) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: a dump of CMS's positions: %.300s", name, reason.text);
    }
    if (status != SLC_OK) {
        slc_cms_geometry_clear(geometry);
        return status;
    }
    (void)snprintf(
        note->text, sizeof note->text,
        "a dump of CMS's positions, without a checksum, in the version of pixeltrack-standalone: %u modules, "
        "pitches %g and %g um, %g um thick in the barrel, %g um in the endcaps; errors at edges of modules "
        "are taken as 50 and 85 um",
        modules, (double)geometry->pitch_x_um, (double)geometry->pitch_y_um,
        (double)in_um(from + THICK_BARREL_AT), (double)in_um(from + THICK_ENDCAP_AT));
    return SLC_OK;
}

slc_status slc_io_read_cms_geometry(const char *path, slc_cms_geometry *geometry, slc_io_cms_note *note,
                                    slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_io_cms_note own = {""};
    slc_status status = slc_io_read_file(path, SLC_IO_CMS_DUMP_MOST, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_parse_cms_geometry(bytes, size, path, geometry, note != NULL ? note : &own, error);
    }
    free(bytes);
    return status;
}
