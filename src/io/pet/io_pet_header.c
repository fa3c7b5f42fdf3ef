/* SPDX-License-Identifier: Apache-2.0
 * Text headers of list-mode files and sinograms: lines of a key and a value, as Interfile (":=") and CASToR
 * (":") write them. */
#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The next byte of a key that counts, in small letters: blanks and the marks before a key do not. */
static int next_of_key(const char **at, const char *end)
{
    while (*at < end && strchr(" \t\r!%", **at) != NULL) {
        ++*at;
    }
    return *at < end ? tolower((unsigned char)*(*at)++) : -1;
}

static bool same_key(const char *a, const char *a_end, const char *b)
{
    const char *b_end = b + strlen(b);
    for (;;) {
        const int x = next_of_key(&a, a_end), y = next_of_key(&b, b_end);
        if (x != y || x < 0) {
            return x == y;
        }
    }
}

static bool copy_value(const char *from, const char *end, char *value, size_t size)
{
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    while (end > from && isspace((unsigned char)end[-1])) {
        end--;
    }
    const size_t n = (size_t)(end - from);
    if (n >= size) {
        return false;
    }
    memcpy(value, from, n);
    value[n] = '\0';
    return true;
}

bool slc_io_pet_header_value(const char *text, char separator, const char *key, char *value, size_t size)
{
    for (const char *line = text; *line != '\0';) {
        const size_t n = strcspn(line, "\n");
        const char *end = line + n;
        const char *colon = memchr(line, ':', n);
        if (colon != NULL && (separator == ':' || (colon + 1 < end && colon[1] == '=')) && *line != ';' &&
            same_key(line, colon, key)) {
            return copy_value(colon + (separator == ':' ? 1 : 2), end, value, size);
        }
        line = *end == '\0' ? end : end + 1;
    }
    return false;
}

slc_status slc_io_pet_header_count(const char *text, char separator, const char *key, const char *name,
                                   uint32_t low, uint32_t high, uint32_t *value, slc_error *error)
{
    char word[64], *end = word;
    if (!slc_io_pet_header_value(text, separator, key, word, sizeof word)) {
        return SLC_END;
    }
    const unsigned long long number = strtoull(word, &end, 10);
    if (end == word || *end != '\0' || word[0] == '-' || number < low || number > high) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: \"%s\" is '%s', not a whole number from %u to %u", name,
                        key, word, low, high);
    }
    *value = (uint32_t)number;
    return SLC_OK;
}

slc_status slc_io_pet_list_count(const slc_io_pet_list *in, const char *key, uint32_t low, uint32_t high,
                                 uint32_t *value, slc_error *error)
{
    const slc_status status = in->header != NULL
                                  ? slc_io_pet_header_count(in->header, in->ops->separator, key, in->name,
                                                            low, high, value, error)
                                  : SLC_END;
    return status == SLC_END ? SLC_OK : status;
}

char *slc_io_pet_beside(const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash == NULL || file[0] == '/' ? 0 : (size_t)(slash - path) + 1;
    char *beside = malloc(folder + strlen(file) + 1);
    if (beside != NULL) {
        memcpy(beside, path, folder);
        memcpy(beside + folder, file, strlen(file) + 1);
    }
    return beside;
}

slc_status slc_io_pet_header_read(const char *path, char **text, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    *text = NULL;
    enum { MOST = 1 << 20 };
    const slc_status status = slc_io_read_file(path, MOST, &bytes, &size, error);
    if (status == SLC_ERR_FORMAT) {
        return slc_fail(error, status, "%s: byte %d: larger than any header: is it the data?", path, MOST);
    }
    if (status != SLC_OK) {
        return status;
    }
    const uint8_t *zero = memchr(bytes, 0, size);
    char *string = zero == NULL ? malloc(size + 1) : NULL;
    if (string != NULL) {
        memcpy(string, bytes, size);
        string[size] = '\0';
    }
    *text = string;
    const size_t at = zero != NULL ? (size_t)(zero - (const uint8_t *)bytes) : 0;
    free(bytes);
    if (zero != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu: a zero byte; a header is text", path, at);
    }
    return string != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the header", path);
}

bool slc_io_pet_ends_in(const char *path, const char *text)
{
    const size_t n = strlen(path), m = strlen(text);
    return n >= m && strcmp(path + n - m, text) == 0;
}
