/* SPDX-License-Identifier: Apache-2.0
 * Interfile sinograms of STIR's kind, read back: docs/formats/pet-interfile.md. */
#include "base/bytes.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1 << 16 /* bytes of the longest value, a list of axial places */ };

typedef struct shape {
    uint32_t tangential, views, segments, sinograms;
    bool by_view;     /* inside a segment, views of axial places */
    uint32_t *places; /* axial places of each segment */
} shape;

static slc_status fail_key(const char *name, const char *key, const char *why, slc_error *error)
{
    return slc_fail(error, SLC_ERR_FORMAT, "%s: \"%s\" %s", name, key, why);
}

static slc_status want(const char *text, const char *key, const char *wanted, const char *name,
                       slc_error *error)
{
    char word[64];
    if (!slc_io_pet_header_value(text, '=', key, word, sizeof word)) {
        return fail_key(name, key, "is missing", error);
    }
    if (strcmp(word, wanted) != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: \"%s\" is '%s'; '%s' is read", name, key, word,
                        wanted);
    }
    return SLC_OK;
}

static slc_status count(const char *text, const char *key, const char *name, uint32_t high, uint32_t *value,
                        slc_error *error)
{
    const slc_status status = slc_io_pet_header_count(text, '=', key, name, 1, high, value, error);
    return status == SLC_END ? fail_key(name, key, "is missing", error) : status;
}

/* "{1,2,3}", or one number: axial places of each segment. */
static slc_status list_of(const char *list, const char *key, const char *name, shape *s, slc_error *error)
{
    const char *at = list;
    uint32_t n = 0;
    uint64_t sum = 0;
    while (*at == '{' || isspace((unsigned char)*at)) {
        at++;
    }
    while (isdigit((unsigned char)*at) && n < s->segments) {
        char *end = NULL;
        const unsigned long value = strtoul(at, &end, 10);
        if (value == 0 || value > 65536) {
            return fail_key(name, key, "has a number that is not from 1 to 65536", error);
        }
        s->places[n++] = (uint32_t)value;
        sum += value;
        at = end + strspn(end, " \t,");
    }
    if (n != s->segments || (*at != '\0' && *at != '}') || sum > INT_MAX) {
        return fail_key(name, key, "has not as many numbers as there are segments", error);
    }
    s->sinograms = (uint32_t)sum;
    return SLC_OK;
}

static slc_status axes(const char *text, const char *name, char *list, shape *s, slc_error *error)
{
    char label[64];
    slc_status status = want(text, "matrix axis label [4]", "segment", name, error);
    status = status == SLC_OK ? want(text, "matrix axis label [1]", "tangential coordinate", name, error)
                              : status;
    if (status != SLC_OK) {
        return status;
    }
    if (!slc_io_pet_header_value(text, '=', "matrix axis label [3]", label, sizeof label) ||
        (strcmp(label, "view") != 0 && strcmp(label, "axial coordinate") != 0)) {
        return fail_key(name, "matrix axis label [3]", "is neither 'view' nor 'axial coordinate'", error);
    }
    s->by_view = strcmp(label, "view") == 0;
    const char *views = s->by_view ? "matrix size [3]" : "matrix size [2]";
    const char *places = s->by_view ? "matrix size [2]" : "matrix size [3]";
    status = count(text, "matrix size [4]", name, LIST / 2, &s->segments, error);
    status = status == SLC_OK ? count(text, views, name, 65536, &s->views, error) : status;
    status = status == SLC_OK ? count(text, "matrix size [1]", name, 65536, &s->tangential, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (!slc_io_pet_header_value(text, '=', places, list, LIST)) {
        return fail_key(name, places, "is missing, or too long", error);
    }
    s->places = calloc(s->segments, sizeof *s->places);
    return s->places == NULL ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its segments", name)
                             : list_of(list, places, name, s, error);
}

/* Values in the order of sinograms, whatever that of the file. */
static void take(const shape *s, const uint8_t *bytes, float *value)
{
    size_t begin = 0; /* sinogram */
    for (uint32_t g = 0; g < s->segments; begin += s->places[g++]) {
        for (uint32_t a = 0; a < s->places[g]; a++) {
            for (uint32_t v = 0; v < s->views; v++) {
                const size_t row = s->by_view ? begin * s->views + (size_t)v * s->places[g] + a
                                              : (begin + a) * s->views + v;
                float *to = value + ((begin + a) * s->views + v) * s->tangential;
                for (uint32_t t = 0; t < s->tangential; t++) {
                    to[t] = slc_load_f32(bytes + 4 * (row * s->tangential + t));
                }
            }
        }
    }
}

static slc_status fill(const shape *s, const void *bytes, size_t size, const char *name,
                       slc_io_pet_sinogram_values *values, slc_error *error)
{
    const uint64_t n = (uint64_t)s->sinograms * s->views; /* below 2^47 */
    if (n == 0 || s->tangential == 0 || n > size / 4 / s->tangential ||
        size != (size_t)n * s->tangential * 4) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: %zu bytes; %u sinograms of %u views of %u floats are another number", name, size,
                        s->sinograms, s->views, s->tangential);
    }
    float *value = malloc(size);
    if (value == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its values", name);
    }
    take(s, bytes, value);
    *values = (slc_io_pet_sinogram_values){.tangential = s->tangential,
                                           .views = s->views,
                                           .sinograms = s->sinograms,
                                           .segments = s->segments,
                                           .value = value};
    return SLC_OK;
}

slc_status slc_io_pet_sinogram_parse(const char *header, const void *bytes, size_t size, const char *name,
                                     slc_io_pet_sinogram_values *values, slc_error *error)
{
    *values = (slc_io_pet_sinogram_values){0};
    shape s = {0};
    char *list = malloc(LIST);
    if (list == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", name);
    }
    slc_status status = want(header, "number format", "float", name, error);
    status = status == SLC_OK ? want(header, "number of bytes per pixel", "4", name, error) : status;
    status = status == SLC_OK ? want(header, "imagedata byte order", "LITTLEENDIAN", name, error) : status;
    status = status == SLC_OK ? axes(header, name, list, &s, error) : status;
    status = status == SLC_OK ? fill(&s, bytes, size, name, values, error) : status;
    free(s.places);
    free(list);
    return status;
}

slc_status slc_io_pet_sinogram_read(const char *path, slc_io_pet_sinogram_values *values, slc_error *error)
{
    char *header = NULL, name[1024];
    void *bytes = NULL;
    size_t size = 0;
    *values = (slc_io_pet_sinogram_values){0};
    slc_status status = slc_io_pet_header_read(path, &header, error);
    if (status != SLC_OK) {
        return status;
    }
    if (!slc_io_pet_header_value(header, '=', "name of data file", name, sizeof name) || name[0] == '\0') {
        free(header);
        return fail_key(path, "name of data file", "is missing, or too long", error);
    }
    char *data = slc_io_pet_beside(path, name);
    status = data != NULL ? slc_io_read_file(data, (size_t)1 << 40, &bytes, &size, error)
                          : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    if (status == SLC_OK) {
        status = slc_io_pet_sinogram_parse(header, bytes, size, data, values, error);
    }
    free(bytes);
    free(data);
    free(header);
    return status;
}
