/* SPDX-License-Identifier: Apache-2.0
 *
 * How large a pixel of a TIFF page is: by OME-XML (PhysicalSizeX, Y and Z of the only image), by ImageJ's
 * words in the first page's description (a unit, of which XResolution has so many pixels, and the spacing of
 * slices), or by the baseline tags
 * (pixels to the inch or centimetre). What is not a positive finite length in a known unit is no size. OME:
 * https://docs.openmicroscopy.org/ome-model/latest; TIFF 6.0, page 38.
 */
#include "io/image/io_image_tiff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double slc_io_image_micrometres(const char *unit, size_t n)
{
    static const struct {
        const char *name;
        double um;
    } units[] = {{"nm", 1e-3},
                 {"um", 1},
                 {"\xc2\xb5m", 1},
                 {"\xce\xbcm", 1},
                 {"\xb5m", 1},
                 {"mm", 1e3},
                 {"cm", 1e4},
                 {"m", 1e6},
                 {"micron", 1},
                 {"microns", 1},
                 {"in", 25400},
                 {"inch", 25400},
                 {"\\u00B5m", 1},
                 {"micrometer", 1},
                 {"pm", 1e-6},
                 /* As XML libraries write it that make ASCII. */
                 {"&#181;m", 1},
                 {"&#xB5;m", 1},
                 {"&#xb5;m", 1},
                 {"&#956;m", 1},
                 {"&#x3BC;m", 1},
                 {"&#x3bc;m", 1},
                 {"\xc3\x85", 1e-4},
                 {"&#197;", 1e-4},
                 {"&#xC5;", 1e-4},
                 {"&#xc5;", 1e-4}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && memcmp(units[i].name, unit, n) == 0) {
            return units[i].um;
        }
    }
    return 0;
}

static bool is_length(double um)
{
    return isfinite(um) && um > 0;
}

/* Where an attribute's value begins, and how long it is; NULL: there is none before `end`. */
static const char *attribute(const char *at, const char *end, const char *name, size_t *n)
{
    const size_t length = strlen(name);
    while ((at = strstr(at, name)) != NULL && at < end) {
        if ((at[-1] == ' ' || at[-1] == '\n' || at[-1] == '\t') && at[length] == '=' &&
            at[length + 1] == '"') {
            const char *value = at + length + 2, *quote = strchr(value, '"');
            *n = quote != NULL && quote < end ? (size_t)(quote - value) : 0;
            return quote != NULL && quote < end ? value : NULL;
        }
        at += length;
    }
    return NULL;
}

static double ome_length(const char *element, const char *end, const char *name, const char *unit_name)
{
    size_t n = 0, n_unit = 0;
    const char *value = attribute(element, end, name, &n),
               *unit = attribute(element, end, unit_name, &n_unit);
    const double um = unit == NULL ? 1 : slc_io_image_micrometres(unit, n_unit);
    char *behind = NULL;
    const double number = value != NULL ? strtod(value, &behind) : 0;
    return value != NULL && behind == value + n ? number * um : 0;
}

/* Of several images which page is whose stands elsewhere: then there is no size. */
static bool take_ome(const char *text, slc_io_image_size *size)
{
    const char *pixels = strstr(text, "<Pixels "), *end = pixels != NULL ? strchr(pixels, '>') : NULL;
    if (end == NULL || strstr(end, "<Pixels ") != NULL) {
        return false;
    }
    *size = (slc_io_image_size){ome_length(pixels, end, "PhysicalSizeX", "PhysicalSizeXUnit"),
                                ome_length(pixels, end, "PhysicalSizeY", "PhysicalSizeYUnit"),
                                ome_length(pixels, end, "PhysicalSizeZ", "PhysicalSizeZUnit"), "OME"};
    size->z_um = is_length(size->z_um) ? size->z_um : 0;
    return is_length(size->x_um) && is_length(size->y_um);
}

/* Of an ImageJ line "name=N", and of OME's attribute; 1 if there is none. */
static unsigned long long side(const char *text, const char *line, const char *pixels, const char *end,
                               const char *name)
{
    size_t n = 0;
    const char *at = pixels == NULL ? strstr(text, line) : NULL;
    const char *value = at != NULL       ? at + strlen(line)
                        : pixels != NULL ? attribute(pixels, end, name, &n)
                                         : NULL;
    const unsigned long long number = value != NULL ? strtoull(value, NULL, 10) : 1;
    return number > 0 ? number : 1;
}

slc_status slc_tiff_check_volume(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = images->state;
    const char *text = NULL;
    state->planes_told = 0;
    if (!TIFFGetField(state->tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || text == NULL) {
        return SLC_OK;
    }
    const char *begin = strstr(text, "<OME") != NULL ? strstr(text, "<Pixels ") : NULL;
    const char *end = begin != NULL ? strchr(begin, '>') : NULL;
    const char *pixels = end != NULL ? begin : NULL;
    if (pixels == NULL && strncmp(text, "ImageJ=", 7) != 0) {
        return SLC_OK;
    }
    const unsigned long long told = side(text, "\nchannels=", pixels, end, "SizeC");
    const unsigned long long slices = side(text, "\nslices=", pixels, end, "SizeZ");
    const unsigned long long times = side(text, "\nframes=", pixels, end, "SizeT");
    /* OME counts the samples of a pixel, too. */
    const unsigned long long samples = pixels != NULL ? state->page.samples : 1;
    const unsigned long long channels = samples > 1 && told % samples == 0 ? told / samples : told;
    const char *who = pixels != NULL ? "OME" : "ImageJ";
    const bool several = pixels != NULL && strstr(end, "<Pixels ") != NULL;
    state->planes_told = pixels != NULL && !several ? channels * slices * times : 0;
    if (several) {
        slc_io_image_warn(images, "the description tells of several images (OME): all pages of this file are "
                                  "taken for slices of one volume");
    }
    if ((channels > 1) + (slices > 1) + (times > 1) > 1) {
        return slc_io_image_fail(
            images, error, SLC_ERR_FORMAT, 0,
            "%llu channels of %llu slices at %llu times (%s): the pages are no single volume", channels,
            slices, times, who);
    }
    if (channels > 1 || times > 1) {
        slc_io_image_warn(images, "the pages are %llu %s (%s), which are taken for slices",
                          channels > 1 ? channels : times, channels > 1 ? "channels" : "times", who);
    }
    return SLC_OK;
}

static bool take_tags(TIFF *tiff, double um, const char *from, slc_io_image_size *size)
{
    float x = 0, y = 0;
    if (!TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) || !TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y)) {
        return false;
    }
    *size = (slc_io_image_size){um / (double)x, um / (double)y, 0, from};
    return is_length(size->x_um) && is_length(size->y_um);
}

/* "unit=um" on a line of its own, and for stacks "spacing=2", from slice to slice. */
static bool take_imagej(TIFF *tiff, const char *text, slc_io_image_size *size)
{
    static const char word[] = "\nunit=", apart[] = "\nspacing=";
    const char *unit = strstr(text, word);
    if (unit == NULL) {
        return false;
    }
    unit += sizeof word - 1;
    const double um = slc_io_image_micrometres(unit, strcspn(unit, "\r\n"));
    if (!take_tags(tiff, um, "ImageJ", size)) {
        return false;
    }
    const char *spacing = strstr(text, apart);
    const double z_um = spacing != NULL ? um * strtod(spacing + sizeof apart - 1, NULL) : 0;
    size->z_um = is_length(z_um) ? z_um : 0;
    return true;
}

slc_io_image_size slc_tiff_size(TIFF *tiff, const slc_io_image_size *first, bool is_first)
{
    const char *text = NULL;
    slc_io_image_size size;
    if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text != NULL) {
        if (strstr(text, "<OME") != NULL) {
            return take_ome(text, &size) ? size : (slc_io_image_size){.from = NULL};
        }
        if (strncmp(text, "ImageJ=", 7) == 0) {
            return take_imagej(tiff, text, &size) ? size : (slc_io_image_size){.from = NULL};
        }
    }
    /* The first page speaks for all, if it does in words. */
    if (!is_first && first->from != NULL && strcmp(first->from, "resolution") != 0) {
        return *first;
    }
    uint16_t unit = RESUNIT_INCH;
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    const double um = unit == RESUNIT_INCH ? 25400 : unit == RESUNIT_CENTIMETER ? 1e4 : 0;
    return take_tags(tiff, um, "resolution", &size) ? size : (slc_io_image_size){.from = NULL};
}
