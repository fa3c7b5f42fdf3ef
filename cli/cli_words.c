/* SPDX-License-Identifier: Apache-2.0
 * Sizes, lists, ranges. */
#include "cli_words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A whole number from 1 to 2^32 - 2 that ends where *text is left. */
static bool side(const char **text, size_t *value)
{
    char *end = NULL;
    errno = 0;
    if (**text < '0' || **text > '9') {
        return false;
    }
    const unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    *value = (size_t)number;
    return errno == 0 && number >= 1 && number < UINT32_MAX;
}

bool slc_cli_size(const char *text, size_t *width, size_t *height)
{
    if (!side(&text, width)) {
        return false;
    }
    *height = *width;
    if (*text != 'x') {
        return *text == '\0';
    }
    text++;
    return side(&text, height) && *text == '\0';
}

bool slc_cli_next_word(const char **text, char *word, size_t size)
{
    if (*text == NULL) {
        return false;
    }
    const size_t length = strcspn(*text, ",");
    const size_t kept = length < size ? length : size - 1;
    memcpy(word, *text, kept);
    word[kept] = '\0';
    *text = (*text)[length] == ',' ? *text + length + 1 : NULL;
    return true;
}

bool slc_cli_real(const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

bool slc_cli_point(const char *text, double *x, double *y)
{
    char word[64];
    const char *comma = strchr(text, ',');
    if (comma == NULL || (size_t)(comma - text) >= sizeof word) {
        return false;
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)(comma - text), text);
    return slc_cli_real(word, x) && slc_cli_real(comma + 1, y);
}

bool slc_cli_fraction(const char *text, uint32_t *numerator, uint32_t *denominator)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    const unsigned long long n = strtoull(text, &end, 10);
    unsigned long long d = 1;
    if (*end == '/' && end[1] >= '0' && end[1] <= '9') {
        d = strtoull(end + 1, &end, 10);
    }
    *numerator = (uint32_t)n;
    *denominator = (uint32_t)d;
    return *end == '\0' && n >= 1 && n <= UINT32_MAX && d >= 1 && d <= UINT32_MAX;
}

bool slc_cli_range(const char *text, double *low, double *high)
{
    char *end = NULL;
    *low = strtod(text, &end);
    return end != text && *end == ':' && isfinite(*low) && slc_cli_real(end + 1, high);
}

typedef struct scale {
    const char *name;
    double factor;
} scale;

static bool quantity(const char *text, const scale *units, size_t n, double *value)
{
    char *end = NULL;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < n && end != text; i++) {
        if (strcmp(end, units[i].name) == 0 && isfinite(number)) {
            *value = number * units[i].factor;
            return true;
        }
    }
    return false;
}

bool slc_cli_time(const char *text, double *ns)
{
    static const scale units[] = {{"ps", 1e-3}, {"ns", 1},     {"us", 1e3},  {"ms", 1e6},
                                  {"s", 1e9},   {"min", 60e9}, {"h", 3600e9}};
    return quantity(text, units, sizeof units / sizeof *units, ns);
}

bool slc_cli_length(const char *text, double *mm)
{
    static const scale units[] = {{"um", 1e-3}, {"mm", 1}, {"cm", 10}, {"m", 1e3}};
    return quantity(text, units, sizeof units / sizeof *units, mm);
}

bool slc_cli_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "kMGT";
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    const int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) || n == 0 ||
        n > (unsigned long long)INT64_MAX >> shift) {
        return false;
    }
    *bytes = n << shift;
    return true;
}

/* "0:100:5" or a number. Returns how many it added, 0 where it cannot be read. */
static size_t add_range(const char *word, double low, double high, double *numbers, size_t room)
{
    double part[3] = {0};
    size_t n = 0;
    for (bool more = true; more && n < 3; n++) {
        char *end = NULL;
        part[n] = strtod(word, &end);
        if (end == word || !isfinite(part[n]) || (*end != '\0' && *end != ':')) {
            return 0;
        }
        more = *end == ':';
        word = more ? end + 1 : end;
    }
    if (*word != '\0' || n == 2 || part[0] < low || part[0] > high) {
        return 0;
    }
    if (n == 1) {
        numbers[0] = part[0]; /* the caller has room for one */
        return 1;
    }
    if (part[1] > high || part[1] < part[0] || part[2] <= 0) {
        return 0;
    }
    const double steps = floor((part[1] - part[0]) / part[2] + 1e-9);
    if (steps >= (double)room) {
        return 0;
    }
    for (size_t i = 0; i <= (size_t)steps; i++) {
        numbers[i] = part[0] + (double)i * part[2];
    }
    return (size_t)steps + 1;
}

size_t slc_cli_numbers(const char *text, double low, double high, double *numbers, size_t room)
{
    char word[64];
    size_t n = 0;
    while (slc_cli_next_word(&text, word, sizeof word)) {
        if (n == room) {
            return 0;
        }
        const size_t more = add_range(word, low, high, numbers + n, room - n);
        if (more == 0) {
            return 0;
        }
        n += more;
    }
    return n;
}

size_t slc_cli_whole_numbers(const char *text, uint32_t high, uint32_t *numbers, size_t room)
{
    double value[256] = {0};
    const size_t n = slc_cli_numbers(text, 1, high, value, room < 256 ? room : 256);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = (uint32_t)value[i];
        if (value[i] != (double)numbers[i]) {
            return 0;
        }
    }
    return n;
}

/* After a space, as far as there is room. */
static size_t add_name(char *list, size_t size, size_t room, const char *name)
{
    if (name != NULL && size < room) {
        size += (size_t)snprintf(list + size, room - size, " %s", name);
    }
    return size;
}

int slc_cli_unknown(const slc_cli_command *command, const char *kind, const char *word, const char *first,
                    const char *(*name)(size_t i), const char *last)
{
    char list[512] = "";
    size_t size = add_name(list, 0, sizeof list, first);
    for (size_t i = 0; name(i) != NULL; i++) {
        size = add_name(list, size, sizeof list, name(i));
    }
    (void)add_name(list, size, sizeof list, last);
    slc_cli_nearest nearest = {.word = word};
    for (size_t i = 0; name(i) != NULL; i++) {
        slc_cli_nearest_look(&nearest, name(i));
    }
    char hint[64];
    return slc_cli_wrong(command, "unknown %s '%s'%s; there are:%s", kind, word,
                         slc_cli_nearest_hint(&nearest, "", hint, sizeof hint), list);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char small(char c)
{
    return (char)tolower((unsigned char)c);
}

/* Damerau's and Levenshtein's distance without regard to capital letters, of words of less than 48 letters.
 */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 48 };
    size_t row[3][MOST] = {{0}};
    const size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++) {
        row[0][j] = j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t *at = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
        at[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t other = small(a[i - 1]) == small(b[j - 1]) ? 0 : 1;
            at[j] = least(least(before[j] + 1, at[j - 1] + 1), before[j - 1] + other);
            if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1])) {
                at[j] = least(at[j], two_before[j - 2] + 1);
            }
        }
    }
    return row[strlen(a) % 3][n];
}

void slc_cli_nearest_look(slc_cli_nearest *nearest, const char *name)
{
    const size_t size = strlen(nearest->word);
    if (size < 3 || size >= sizeof nearest->best || strlen(name) >= sizeof nearest->best) {
        return; /* of a letter or two, anything is near */
    }
    const size_t far = distance(nearest->word, name);
    if (far <= (size + 1) / 3 && (nearest->best[0] == '\0' || far < nearest->distance)) {
        nearest->distance = far;
        (void)snprintf(nearest->best, sizeof nearest->best, "%s", name);
    }
}

const char *slc_cli_nearest_hint(const slc_cli_nearest *nearest, const char *before, char *hint, size_t room)
{
    hint[0] = '\0';
    if (nearest->best[0] != '\0') {
        (void)snprintf(hint, room, " (did you mean '%s%s'?)", before, nearest->best);
    }
    return hint;
}

bool slc_cli_ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcasecmp(text + size - end_size, end) == 0;
}

bool slc_cli_has_end(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    return end != NULL && end > name &&
           strpbrk(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

double slc_cli_shortest(float value)
{
    char text[32];
    double number = (double)value;
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, (double)value);
        number = strtod(text, NULL);
        if ((float)number >= value && (float)number <= value) {
            break;
        }
    }
    return number;
}
