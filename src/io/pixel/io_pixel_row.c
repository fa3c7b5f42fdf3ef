/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of text at a time: names of columns to what they are, fields to numbers, numbers to a pixel. No
 * number is cut to fit: a row with one that does not is refused whole.
 */
#include "io/pixel/io_pixel_text.h"

#include <math.h>
#include <string.h>

enum { FINE = 16 };

/* Names as they are after normalise(). */
static const struct {
    const char *name;
    slc_io_pixel_role role;
} names[] = {
    {"x", SLC_IO_PIXEL_X},
    {"col", SLC_IO_PIXEL_X},
    {"column", SLC_IO_PIXEL_X},
    {"y", SLC_IO_PIXEL_Y},
    {"row", SLC_IO_PIXEL_Y},
    {"z", SLC_IO_PIXEL_Z},
    {"charge", SLC_IO_PIXEL_CHARGE},
    {"tot", SLC_IO_PIXEL_CHARGE},
    {"adc", SLC_IO_PIXEL_CHARGE},
    {"time", SLC_IO_PIXEL_TIME},
    {"toa", SLC_IO_PIXEL_TIME},
    {"frame", SLC_IO_PIXEL_FRAME},
    {"event", SLC_IO_PIXEL_FRAME},
    {"image", SLC_IO_PIXEL_FRAME},
    {"matrixindex", SLC_IO_PIXEL_MATRIX},
    {"ftoa", SLC_IO_PIXEL_FINE},
    {"index", SLC_IO_PIXEL_INDEX},
    {"t", SLC_IO_PIXEL_TIME},
    {"timestamp", SLC_IO_PIXEL_TIME},
    {"timeofarrival", SLC_IO_PIXEL_TIME},
    {"timeoverthreshold", SLC_IO_PIXEL_CHARGE},
};
enum { N_NAMES = sizeof names / sizeof *names };

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* Takes white space and a pair of quotes off both ends. */
static void trim(const uint8_t **begin, const uint8_t **end)
{
    while (*begin < *end && is_space(**begin)) {
        ++*begin;
    }
    while (*begin < *end && is_space((*end)[-1])) {
        --*end;
    }
    if (*end - *begin >= 2 && (**begin == '"' || **begin == '\'') && (*end)[-1] == **begin) {
        ++*begin;
        --*end;
    }
}

/* The end of the field that begins here: a separator, or the line's end. */
static const uint8_t *field_end(const uint8_t *at, const uint8_t *end, uint8_t separator)
{
    while (at < end && *at != separator) {
        at++;
    }
    return at;
}

/* The line's end without its end mark. */
static const uint8_t *line_end(const uint8_t *line, size_t size)
{
    const uint8_t *end = line + size;
    while (end > line && (end[-1] == '\n' || end[-1] == '\r')) {
        end--;
    }
    return end;
}

/* And without one separator that nothing follows, which some programs end their lines with. */
static const uint8_t *fields_end(const uint8_t *line, size_t size, uint8_t separator)
{
    const uint8_t *end = line_end(line, size);
    return end > line && end[-1] == separator ? end - 1 : end;
}

static size_t count_fields(const uint8_t *at, const uint8_t *end, uint8_t separator)
{
    size_t n = 1;
    for (; at < end; at++) {
        n += *at == separator;
    }
    return n;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Lower case letters alone, up to a unit in brackets; empty if it is too long to be a known one. */
static void normalise(const uint8_t *at, const uint8_t *end, char name[24])
{
    size_t n = 0;
    for (; at < end && *at != '(' && *at != '['; at++) {
        const uint8_t lower = *at >= 'A' && *at <= 'Z' ? (uint8_t)(*at + 'a' - 'A') : *at;
        if (lower == ' ' || lower == '_' || lower == '-') {
            continue;
        }
        if (n == 23) {
            n = 0;
            break;
        }
        name[n++] = (char)lower;
    }
    name[n] = '\0';
}

/* Units of time as they stand after the name of a column. */
static const struct {
    const char *name;
    double seconds;
} units[] = {{"s", 1},     {"ms", 1e-3},        {"us", 1e-6}, {"\xc2\xb5s", 1e-6},
             {"ns", 1e-9}, {"\xce\xbcs", 1e-6}, {"ps", 1e-12}};
enum { N_UNITS = sizeof units / sizeof *units };

/* Seconds, of "25ns" 25e-9; 0 where the text is no unit. */
static double unit_of(const uint8_t *begin, const uint8_t *end)
{
    double scale = 0, digit = 1;
    bool point = false, any = false;
    trim(&begin, &end);
    for (; begin < end && (is_digit(*begin) || (*begin == '.' && any && !point)); begin++) {
        point = point || *begin == '.';
        digit *= point && *begin != '.' ? 10 : 1;
        scale = *begin == '.' ? scale : 10 * scale + (*begin - '0');
        any = true;
    }
    while (any && begin < end && *begin == ' ') {
        begin++;
    }
    for (size_t i = 0; i < N_UNITS; i++) {
        if (strlen(units[i].name) == (size_t)(end - begin) &&
            memcmp(units[i].name, begin, (size_t)(end - begin)) == 0) {
            /* both of the division are whole, so that 25ns is 25e-9 */
            return any ? scale / (digit * round(1 / units[i].seconds)) : units[i].seconds;
        }
    }
    return 0;
}

static bool is_one_of(const char *const *words, size_t n, const uint8_t *begin, const uint8_t *end)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == (size_t)(end - begin) &&
            memcmp(words[i], begin, (size_t)(end - begin)) == 0) {
            return true;
        }
    }
    return false;
}

/* What a number counts, which says nothing of its length. */
static bool is_count(const uint8_t *begin, const uint8_t *end)
{
    static const char *const words[] = {"tick", "ticks", "clk", "clocks", "counts", "lsb"};
    return is_one_of(words, sizeof words / sizeof *words, begin, end);
}

static bool is_charge_unit(const uint8_t *begin, const uint8_t *end)
{
    static const char *const words[] = {"e", "ke", "adc", "dac"};
    return unit_of(begin, end) > 0 || is_one_of(words, sizeof words / sizeof *words, begin, end);
}

/* What follows "frame", "event" or "image" where it is numbered. */
static bool is_number_word(const char *text)
{
    static const char *const words[] = {"id", "number", "no", "nr", "num", "index"};
    const uint8_t *begin = (const uint8_t *)text;
    return is_one_of(words, sizeof words / sizeof *words, begin, begin + strlen(text));
}

static slc_io_pixel_role role_of_name(const uint8_t *begin, const uint8_t *end)
{
    char name[24];
    normalise(begin, end, name);
    for (size_t i = 0; i < N_NAMES; i++) {
        const size_t n = strlen(names[i].name);
        if (strcmp(names[i].name, name) == 0 ||
            (names[i].role == SLC_IO_PIXEL_FRAME && strncmp(names[i].name, name, n) == 0 &&
             is_number_word(name + n))) {
            return names[i].role;
        }
    }
    return SLC_IO_PIXEL_OTHER;
}

/* Times may have their unit in brackets, "toa [ns]", or after the name, "time_ns", "toa_25ns"; so may
 * charges, which are taken as they are. */
slc_io_pixel_role slc_io_pixel_role_of(const uint8_t *begin, const uint8_t *end, double *seconds)
{
    *seconds = 0;
    trim(&begin, &end);
    const slc_io_pixel_role role = role_of_name(begin, end);
    const uint8_t *at = begin;
    if (role == SLC_IO_PIXEL_TIME) {
        while (at < end && *at != '(' && *at != '[') {
            at++;
        }
        const uint8_t *close = at;
        while (close < end && *close != ')' && *close != ']') {
            close++;
        }
        *seconds = at < close ? unit_of(at + 1, close) : 0;
    } else if (role == SLC_IO_PIXEL_OTHER) {
        for (at = end; at > begin && at[-1] != '_' && at[-1] != ' ' && at[-1] != '-'; at--) {
        }
        const slc_io_pixel_role of = at > begin ? role_of_name(begin, at - 1) : SLC_IO_PIXEL_OTHER;
        *seconds = of == SLC_IO_PIXEL_TIME ? unit_of(at, end) : 0;
        return *seconds > 0 || (of == SLC_IO_PIXEL_TIME && is_count(at, end)) ? SLC_IO_PIXEL_TIME
               : of == SLC_IO_PIXEL_CHARGE && (is_count(at, end) || is_charge_unit(at, end))
                   ? SLC_IO_PIXEL_CHARGE
                   : SLC_IO_PIXEL_OTHER;
    }
    return role;
}

bool slc_io_pixel_has(const slc_io_pixel_layout *layout, slc_io_pixel_role role)
{
    return memchr(layout->role, (int)role, layout->n_fields) != NULL;
}

/* Columns that only t3pa has mean nothing elsewhere, and x and y mean nothing beside a matrix index. */
static void drop_strangers(slc_io_pixel_layout *layout, bool matrix)
{
    for (size_t i = 0; i < layout->n_fields; i++) {
        const slc_io_pixel_role role = (slc_io_pixel_role)layout->role[i];
        const bool of_matrix = role >= SLC_IO_PIXEL_MATRIX;
        const bool of_list = role == SLC_IO_PIXEL_X || role == SLC_IO_PIXEL_Y || role == SLC_IO_PIXEL_Z ||
                             role == SLC_IO_PIXEL_FRAME;
        if (matrix ? of_list : of_matrix) {
            layout->role[i] = SLC_IO_PIXEL_OTHER;
        }
    }
}

bool slc_io_pixel_parse_header(slc_io_pixel_layout *layout, const uint8_t *line, size_t size)
{
    const uint8_t *at = line;
    if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) { /* the mark of UTF-8 */
        at += 3;
    }
    at += at < line + size && *at == '#' ? 1 : 0;
    const size_t left = size - (size_t)(at - line);
    *layout = (slc_io_pixel_layout){.separator = memchr(at, '\t', left) != NULL  ? '\t'
                                                 : memchr(at, ';', left) != NULL ? ';'
                                                                                 : ','};
    const uint8_t *end = fields_end(line, size, layout->separator);
    layout->named = at < end ? count_fields(at, end, layout->separator) : 0;
    if (layout->named == 0 || layout->named > SLC_IO_PIXEL_FIELDS) {
        return false;
    }
    for (;; at++) {
        const uint8_t *stop = field_end(at, end, layout->separator);
        double seconds;
        const slc_io_pixel_role role = slc_io_pixel_role_of(at, stop, &seconds);
        const bool again = role != SLC_IO_PIXEL_OTHER && slc_io_pixel_has(layout, role);
        layout->tick_seconds = role == SLC_IO_PIXEL_TIME && !again ? seconds : layout->tick_seconds;
        layout->role[layout->n_fields++] = (uint8_t)(again ? SLC_IO_PIXEL_OTHER : role);
        at = stop;
        if (at == end) {
            break;
        }
    }
    const bool matrix = slc_io_pixel_has(layout, SLC_IO_PIXEL_MATRIX);
    drop_strangers(layout, matrix);
    return matrix || (slc_io_pixel_has(layout, SLC_IO_PIXEL_X) && slc_io_pixel_has(layout, SLC_IO_PIXEL_Y));
}

void slc_io_pixel_tell_unread(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size,
                              slc_io_pixels_counts *counts)
{
    const bool matrix = slc_io_pixel_has(layout, SLC_IO_PIXEL_MATRIX);
    const uint8_t *at = line, *end = fields_end(line, size, layout->separator);
    at += size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    at += at < end && *at == '#' ? 1 : 0;
    for (size_t i = 0; i < layout->n_fields; i++, at++) {
        const uint8_t *stop = field_end(at, end, layout->separator), *from = at, *to = stop;
        char name[24];
        trim(&from, &to);
        normalise(from, to, name);
        /* Numbers of rows mean nothing, and Pixet always writes Overflow. */
        if (layout->role[i] == SLC_IO_PIXEL_OTHER && from < to && strcmp(name, "index") != 0 &&
            !(matrix && strcmp(name, "overflow") == 0)) {
            slc_io_pixels_unread(counts, from, (size_t)(to - from));
        }
        at = stop;
    }
}

size_t slc_io_pixel_count_fields(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size)
{
    /* A separator at the end is an empty last field where one is due, else the end of the line. */
    const size_t n = count_fields(line, line_end(line, size), layout->separator);
    return n == layout->n_fields
               ? n
               : count_fields(line, fields_end(line, size, layout->separator), layout->separator);
}

void slc_io_pixel_fit_layout(slc_io_pixel_layout *layout, size_t n)
{
    if (n >= layout->n_fields) {
        return;
    }
    const uint8_t *index = memchr(layout->role, SLC_IO_PIXEL_INDEX, layout->n_fields);
    slc_io_pixel_layout fitted = *layout;
    if (index != NULL) {
        const size_t at = (size_t)(index - layout->role);
        memmove(fitted.role + at, fitted.role + at + 1, fitted.n_fields - at - 1);
    }
    fitted.n_fields = n;
    if (slc_io_pixel_has(&fitted, SLC_IO_PIXEL_MATRIX)) {
        *layout = fitted;
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char not_whole[] = "not a whole number";
static const char fraction[] = "a number with a fraction, where only whole ones are read";
static const char too_large[] = "a number too large for its column";
static const char negative[] = "a negative number";

/* A number as it is written: digits, of which `point` are before the point, times ten to the exponent. */
typedef struct decimal {
    const uint8_t *digits, *end; /* the point may be among them */
    int64_t point, exponent;
    bool minus;
} decimal;

/* The exponent after an e; false if it is none. Larger ones than any number needs are all the same. */
static bool parse_exponent(const uint8_t *at, const uint8_t *end, int64_t *exponent)
{
    const bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    if (at == end) {
        return false;
    }
    for (*exponent = 0; at < end && is_digit(*at); at++) {
        *exponent = *exponent < 1000000 ? 10 * *exponent + (*at - '0') : *exponent;
    }
    *exponent = minus ? -*exponent : *exponent;
    return at == end;
}

/* Finds the parts of a number: a sign, digits with or without a point, an exponent. */
static bool parse_decimal(const uint8_t *at, const uint8_t *end, decimal *number)
{
    *number = (decimal){.minus = at < end && *at == '-'};
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    number->digits = at;
    while (at < end && is_digit(*at)) {
        at++;
    }
    number->point = at - number->digits;
    if (number->point == 0) {
        return false;
    }
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++) {
        }
    }
    number->end = at;
    return at == end || ((*at == 'e' || *at == 'E') && parse_exponent(at + 1, end, &number->exponent));
}

/* Digits behind the last that counts: half a unit or more of it is one more. */
static bool round_up(const uint8_t *at, const uint8_t *end, int64_t power, bool *rounded)
{
    const bool up = power == -1 && *at >= '5';
    for (; at < end && !*rounded; at++) {
        *rounded = *at != '0' && *at != '.';
    }
    return up;
}

/* A whole number, exactly, however it is written: 3, 3.0, 3.000e+00 and 0.3e1 are the same. Programs that
 * know no other numbers than floating-point ones write such. With a shift the number times so many powers of
 * ten, rounded, which *rounded tells. */
static const char *parse_number(const uint8_t *at, const uint8_t *end, int shift, int64_t *value,
                                bool *rounded)
{
    decimal number;
    trim(&at, &end);
    if (!parse_decimal(at, end, &number)) {
        return not_whole;
    }
    const uint64_t most = (uint64_t)INT64_MAX + (number.minus ? 1 : 0);
    int64_t power = number.point + number.exponent + shift; /* of ten, of the digit before */
    uint64_t size = 0, zeros = 0;                           /* those that a digit must follow to count */
    bool large = false, up = false;
    for (at = number.digits; at < number.end; at++) {
        if (*at == '.') {
            continue;
        }
        power--;
        if (power < 0 && shift > 0) {
            up = round_up(at, number.end, power, rounded);
            power = 0;
            break;
        }
        if (*at == '0') {
            zeros += size > 0 ? 1 : 0;
            continue;
        }
        if (power < 0) {
            return fraction;
        }
        const uint64_t digit = (uint64_t)(*at - '0');
        for (zeros++; zeros > 0 && !large; zeros--) {
            large = size > most / 10;
            size *= 10;
        }
        large = large || digit > most - size;
        size += digit;
        zeros = 0;
    }
    for (power += (int64_t)zeros; power > 0 && size > 0 && !large; power--) {
        large = size > most / 10;
        size *= 10;
    }
    large = large || (up && size == most);
    size += up ? 1 : 0;
    *value = (int64_t)(number.minus ? 0 - size : size);
    return large ? too_large : NULL;
}

bool slc_io_pixel_parse_whole(const uint8_t *begin, const uint8_t *end, uint64_t *value)
{
    int64_t number = 0;
    bool rounded = false;
    const bool good = parse_number(begin, end, 0, &number, &rounded) == NULL && number >= 0;
    *value = good ? (uint64_t)number : 0;
    return good;
}

/* The field's end, where it is nothing but digits, as nearly all are; NULL for any other. */
static const uint8_t *plain_number(const uint8_t *at, const uint8_t *end, uint8_t separator, int64_t *value)
{
    const uint8_t *begin = at;
    uint64_t size = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        size = 10 * size + (uint64_t)(*at - '0'); /* may overflow, but not with 18 digits */
    }
    *value = (int64_t)size;
    return at > begin && at - begin <= 18 && (at == end || *at == separator) ? at : NULL;
}

/* Whether a field holds nothing, or says that it does not. */
static bool is_nothing(const uint8_t *at, const uint8_t *end)
{
    trim(&at, &end);
    return at == end || (end - at == 3 && (at[0] | 32) == 'n' && (at[1] | 32) == 'a' && (at[2] | 32) == 'n');
}

static const char *check_range(int64_t value, int64_t most)
{
    return value < 0 ? negative : value > most ? too_large : NULL;
}

/* Puts the number of one field where it belongs. */
static const char *take_field(const slc_io_pixel_layout *layout, slc_io_pixel_role role, int64_t value,
                              slc_io_pixel_row *row, int64_t *fine)
{
    const char *why = NULL;
    switch (role) {
    case SLC_IO_PIXEL_X:
        why = check_range(value, UINT16_MAX);
        row->x = (uint16_t)value;
        break;
    case SLC_IO_PIXEL_Y:
        why = check_range(value, UINT16_MAX);
        row->y = (uint16_t)value;
        break;
    case SLC_IO_PIXEL_Z:
        why = check_range(value, UINT16_MAX);
        row->z = (uint16_t)value;
        break;
    case SLC_IO_PIXEL_CHARGE:
        why = check_range(value, UINT32_MAX);
        row->charge = (uint32_t)value;
        break;
    case SLC_IO_PIXEL_MATRIX:
        why = check_range(value, (int64_t)layout->width * layout->height - 1) == NULL
                  ? NULL
                  : "a matrix index outside of the sensor";
        row->x = (uint16_t)((uint64_t)value % layout->width);
        row->y = (uint16_t)((uint64_t)value / layout->width);
        break;
    case SLC_IO_PIXEL_FINE:
        why = check_range(value, FINE - 1);
        *fine = value;
        break;
    case SLC_IO_PIXEL_FRAME:
        row->frame = value;
        break;
    default:
        row->time = value;
        break;
    }
    return why;
}

/* Times of t3pa are clocks of 25 ns; the fine ones count back from them. */
static const char *combine_times(int64_t fine, slc_io_pixel_row *row)
{
    if (row->time > INT64_MAX / FINE || row->time < INT64_MIN / FINE + FINE) {
        return too_large;
    }
    row->time = row->time * FINE - fine;
    return NULL;
}

/* ---- times with fractions ------------------------------------------------------------------------- */

enum { TENTH_PS = 13, THOUSANDTHS = 3 }; /* powers of ten: of a second, and of the caller's tick */

int slc_io_pixel_time_shift(const slc_io_pixels *file, double unit)
{
    if (file->options.tick_seconds > 0) {
        return THOUSANDTHS;
    }
    return unit > 0 ? TENTH_PS + (int)lround(log10(unit)) : 0;
}

double slc_io_pixel_short_tick(slc_io_pixels *file, double unit)
{
    file->tick_parts = file->options.tick_seconds > 0 ? 1000 : 1;
    return unit > 0 ? 1e-13 : 0;
}

bool slc_io_pixel_has_fraction(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size)
{
    slc_io_pixel_row row;
    size_t field = 0;
    return slc_io_pixel_parse_row(layout, line, size, &row, &field) == fraction &&
           layout->role[field - 1] == SLC_IO_PIXEL_TIME;
}

const char *slc_io_pixel_parse_row(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size,
                                   slc_io_pixel_row *row, size_t *field)
{
    const uint8_t *at = line, *end = line_end(line, size);
    int64_t fine = 0;
    size_t time_field = 0;
    *row = (slc_io_pixel_row){.x = 0};
    for (*field = 1; *field <= layout->n_fields; ++*field, at++) {
        const slc_io_pixel_role role = (slc_io_pixel_role)layout->role[*field - 1];
        int64_t value;
        const int shift = role == SLC_IO_PIXEL_TIME ? layout->time_shift : 0;
        const uint8_t *stop = shift == 0 ? plain_number(at, end, layout->separator, &value) : NULL;
        const bool plain = stop != NULL;
        stop = plain ? stop : field_end(at, end, layout->separator);
        time_field = role == SLC_IO_PIXEL_TIME ? *field : time_field;
        if (role == SLC_IO_PIXEL_CHARGE && layout->width == 0 && !plain && is_nothing(at, stop)) {
            row->no_charge = true;
        } else if (role != SLC_IO_PIXEL_OTHER && role != SLC_IO_PIXEL_INDEX) {
            const char *why = plain ? NULL : parse_number(at, stop, shift, &value, &row->is_rounded);
            why = why == NULL ? take_field(layout, role, value, row, &fine) : why;
            if (why != NULL) {
                return why;
            }
        }
        at = stop;
        if (at == end) {
            break;
        }
    }
    const bool ends_in_separator = *field == layout->n_fields + 1 && at == end;
    if (*field != layout->n_fields && !ends_in_separator) {
        return *field < layout->n_fields ? "the last field, where more are needed"
                                         : "more fields than columns";
    }
    const char *why = layout->width > 0 ? combine_times(fine, row) : NULL;
    *field = why != NULL ? time_field : *field;
    return why;
}
