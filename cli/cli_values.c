/* SPDX-License-Identifier: Apache-2.0
 * Values of options: one function for each kind, and how each says what it takes. */
#include "cli_values.h"
#include "cli_words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the functions below work on. */
typedef struct value {
    const slc_cli_command *command;
    const slc_cli_option *option;
    const char *text;
    void *member;
} value;

static bool limited(const slc_cli_option *option)
{
    return option->low < 0 || option->low > 0 || option->high < 0 || option->high > 0;
}

static int refuse(const value *v, const char *otherwise)
{
    const char *takes = v->option->takes != NULL ? v->option->takes : otherwise;
    return slc_cli_wrong(v->command, "--%s %s%s, not '%s'", v->option->name,
                         strncmp(takes, "is ", 3) == 0 ? "" : "takes ", takes, v->text);
}

static int refuse_less(const value *v)
{
    return slc_cli_wrong(v->command, "--%s has %s at least: %s is %s", v->option->name, v->option->least,
                         v->text, v->option->less);
}

static int store_count(const value *v)
{
    const slc_cli_option *option = v->option;
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(v->text, &end, 10);
    if (v->text[0] < '0' || v->text[0] > '9' || *end != '\0' || errno != 0) {
        return refuse(v, "a whole number");
    }
    const double as_number = (double)number;
    if (limited(option) && !(as_number >= option->low && as_number <= option->high)) {
        return slc_cli_wrong(v->command, "--%s takes %.0f to %.0f, not '%s'", option->name, option->low,
                             option->high, v->text);
    }
    const uint64_t wide = number;
    const uint32_t narrow = (uint32_t)number;
    memcpy(v->member, option->size == sizeof narrow ? (const void *)&narrow : (const void *)&wide,
           option->size == sizeof narrow ? sizeof narrow : sizeof wide);
    return SLC_CLI_GO_ON;
}

static int store_number(const value *v)
{
    const slc_cli_option *option = v->option;
    double number;
    if (!slc_cli_real(v->text, &number)) {
        return refuse(v, "a number");
    }
    if (limited(option) && !(number >= option->low && number <= option->high)) {
        return slc_cli_wrong(v->command, "--%s takes %g to %g, not '%s'", option->name, option->low,
                             option->high, v->text);
    }
    const float narrow = (float)number;
    memcpy(v->member, option->size == sizeof narrow ? (const void *)&narrow : (const void *)&number,
           option->size == sizeof narrow ? sizeof narrow : sizeof number);
    return SLC_CLI_GO_ON;
}

static bool is_off(const value *v)
{
    return v->option->off != NULL && strcmp(v->text, v->option->off) == 0;
}

static int store_quantity(const value *v, bool (*read)(const char *text, double *number),
                          const char *otherwise)
{
    double number, least = 0;
    const slc_cli_option *option = v->option;
    if (is_off(v)) {
        number = -1;
        memcpy(v->member, &number, sizeof number);
        return SLC_CLI_GO_ON;
    }
    if (!read(v->text, &number) || number < option->low || (option->high > 0 && number > option->high)) {
        return refuse(v, otherwise);
    }
    /* "1ps" in seconds may be the next number below. */
    if (option->least != NULL && read(option->least, &least) && number < least * (1 - 1e-9)) {
        return refuse_less(v);
    }
    memcpy(v->member, &number, sizeof number);
    return SLC_CLI_GO_ON;
}

static int store_bytes(const value *v)
{
    uint64_t bytes, least = 0;
    if (!slc_cli_bytes(v->text, &bytes)) {
        return refuse(v, "a size, as 500M");
    }
    if (v->option->least != NULL && slc_cli_bytes(v->option->least, &least) && bytes < least) {
        return refuse_less(v);
    }
    memcpy(v->member, &bytes, sizeof bytes);
    return SLC_CLI_GO_ON;
}

static int store_size(const value *v)
{
    slc_cli_area area;
    if (!slc_cli_size(v->text, &area.width, &area.height) ||
        (v->option->high > 0 &&
         ((double)area.width > v->option->high || (double)area.height > v->option->high))) {
        return refuse(v, "a width and a height, as 640x480");
    }
    memcpy(v->member, &area, sizeof area);
    return SLC_CLI_GO_ON;
}

/* Two numbers; of a range the first is below the second. */
static int store_two(const value *v, bool range)
{
    double pair[2] = {0, HUGE_VAL};
    if (!is_off(v) && !(range ? slc_cli_range(v->text, &pair[0], &pair[1]) && pair[0] < pair[1]
                              : slc_cli_point(v->text, &pair[0], &pair[1]))) {
        return refuse(v, range ? "LOW:HIGH" : "X,Y");
    }
    memcpy(v->member, pair, sizeof pair);
    return SLC_CLI_GO_ON;
}

static int store_fraction(const value *v)
{
    uint32_t parts[2];
    if (!slc_cli_fraction(v->text, &parts[0], &parts[1])) {
        return refuse(v, "N or N/D");
    }
    memcpy(v->member, parts, sizeof parts);
    return SLC_CLI_GO_ON;
}

static int store_numbers(const value *v)
{
    slc_cli_number_list *list = v->member;
    const bool any = !limited(v->option);
    list->n = slc_cli_numbers(v->text, any ? -HUGE_VAL : v->option->low, any ? HUGE_VAL : v->option->high,
                              list->value, SLC_CLI_LIST);
    return list->n > 0 ? SLC_CLI_GO_ON : refuse(v, "numbers with commas");
}

static int store_counts(const value *v)
{
    slc_cli_count_list *list = v->member;
    const uint32_t high = v->option->high > 0 ? (uint32_t)v->option->high : UINT32_MAX;
    list->n = slc_cli_whole_numbers(v->text, high, list->value, SLC_CLI_LIST);
    return list->n > 0 ? SLC_CLI_GO_ON : refuse(v, "whole numbers with commas");
}

/* ---- choices ----------------------------------------------------------------------------------- */

const char *slc_cli_choice_name(const slc_cli_choice *choice, size_t i)
{
    if (choice->first != NULL && i == 0) {
        return choice->first;
    }
    const size_t at = i - (choice->first != NULL ? 1 : 0);
    size_t n = 0; /* name(i) may be asked for what is one after the last, and no further */
    while (n < at && (choice->words != NULL ? choice->words[n] : choice->name(n)) != NULL) {
        n++;
    }
    const char *name = choice->words != NULL ? choice->words[n] : choice->name(n);
    return name != NULL ? name : n == at ? choice->last : NULL;
}

/* The place of a word, -1 of `first`; false if there is none. */
static bool find(const slc_cli_choice *choice, const char *word, int *place)
{
    const char *name;
    for (size_t i = 0; (name = slc_cli_choice_name(choice, i)) != NULL; i++) {
        if (strcmp(name, word) == 0) {
            *place = (int)i - (choice->first != NULL ? 1 : 0) + choice->from;
            return true;
        }
    }
    return false;
}

/* "a, b or c", or " a b c" of a kind of things. */
static void list_names(const slc_cli_choice *choice, bool all, char *list, size_t room)
{
    const char *last = all ? " and " : " or ";
    const char *name, *next = slc_cli_choice_name(choice, 0);
    size_t size = 0;
    for (size_t i = 0; (name = next) != NULL && size < room; i++) {
        next = slc_cli_choice_name(choice, i + 1);
        const char *before = choice->kind != NULL ? " " : i == 0 ? "" : next == NULL ? last : ", ";
        size += (size_t)snprintf(list + size, room - size, "%s%s", before, name);
    }
}

static int refuse_choice(const value *v, const char *word)
{
    const slc_cli_choice *choice = v->option->choice;
    char list[768] = "";
    list_names(choice, slc_cli_kind_of(v->option) == SLC_CLI_CHOICES, list, sizeof list);
    slc_cli_nearest nearest = {.word = word};
    const char *name;
    for (size_t i = 0; (name = slc_cli_choice_name(choice, i)) != NULL; i++) {
        slc_cli_nearest_look(&nearest, name);
    }
    char hint[64];
    (void)slc_cli_nearest_hint(&nearest, "", hint, sizeof hint);
    if (choice->kind != NULL) {
        return slc_cli_wrong(v->command, "unknown %s '%s'%s; there are:%s", choice->kind, word, hint, list);
    }
    if (v->option->takes != NULL) {
        return slc_cli_wrong(v->command, "--%s takes %s, not '%s'%s", v->option->name, v->option->takes, word,
                             hint);
    }
    return slc_cli_wrong(v->command, "--%s %s %s, not '%s'%s", v->option->name,
                         choice->verb != NULL ? choice->verb : "is", list, word, hint);
}

static int store_choice(const value *v)
{
    int place = 0;
    if (!find(v->option->choice, v->text, &place)) {
        return refuse_choice(v, v->text);
    }
    memcpy(v->member, &place, sizeof place);
    return SLC_CLI_GO_ON;
}

static int store_choices(const value *v)
{
    const slc_cli_choice *choice = v->option->choice;
    const char *rest = v->text;
    char word[64];
    uint32_t bits = 0;
    while (slc_cli_next_word(&rest, word, sizeof word)) {
        int place = 0;
        if (!find(choice, word, &place)) {
            return refuse_choice(v, word);
        }
        const bool all = choice->last != NULL && strcmp(word, choice->last) == 0;
        bits |= all ? (1U << place) - 1 : 1U << place;
    }
    memcpy(v->member, &bits, sizeof bits);
    return SLC_CLI_GO_ON;
}

/* Has a name one of the ends that an output takes? */
static bool ends_well(const slc_cli_choice *ends, const char *name)
{
    const char *end;
    bool well = ends->bare && !slc_cli_has_end(name);
    for (size_t i = 0; !well && (end = slc_cli_choice_name(ends, i)) != NULL; i++) {
        well = slc_cli_ends_with(name, end);
    }
    for (const char *const *also = ends->also; !well && also != NULL && *also != NULL; also++) {
        well = slc_cli_ends_with(name, *also);
    }
    return well;
}

static int store_text(const value *v)
{
    if (v->text[0] == '\0') {
        return slc_cli_wrong(v->command, "--%s takes a name, not an empty word", v->option->name);
    }
    const bool prints = (v->option->kind & SLC_CLI_STDOUT) != 0 && strcmp(v->text, "-") == 0;
    if (v->option->choice != NULL && !prints && !ends_well(v->option->choice, v->text)) {
        char list[256] = "";
        list_names(v->option->choice, false, list, sizeof list);
        return slc_cli_wrong(v->command, "--%s takes a name that ends %s %s%s, not '%s'", v->option->name,
                             v->option->choice->verb != NULL ? v->option->choice->verb : "with", list,
                             v->option->choice->bare ? " or has no ending" : "", v->text);
    }
    if (slc_cli_kind_of(v->option) != SLC_CLI_TEXTS) {
        memcpy(v->member, &v->text, sizeof v->text);
        return SLC_CLI_GO_ON;
    }
    slc_cli_texts *texts = v->member;
    const uint32_t most = sizeof texts->word / sizeof *texts->word;
    if (texts->n == most) {
        return slc_cli_wrong(v->command, "--%s may be given %u times at most", v->option->name, most);
    }
    texts->word[texts->n++] = v->text;
    return SLC_CLI_GO_ON;
}

/* ---- all --------------------------------------------------------------------------------------- */

int slc_cli_store(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                  void *options)
{
    const value v = {command, option, text, (unsigned char *)options + option->member};
    switch (slc_cli_kind_of(option)) {
    case SLC_CLI_FLAG:
        *(bool *)v.member = true;
        return SLC_CLI_GO_ON;
    case SLC_CLI_COUNT:
        return store_count(&v);
    case SLC_CLI_NUMBER:
        return store_number(&v);
    case SLC_CLI_TIME:
        return store_quantity(&v, slc_cli_time, "a time, as 100ns");
    case SLC_CLI_LENGTH:
        return store_quantity(&v, slc_cli_length, "a length, as 60mm");
    case SLC_CLI_BYTES:
        return store_bytes(&v);
    case SLC_CLI_SIZE:
        return store_size(&v);
    case SLC_CLI_RANGE:
        return store_two(&v, true);
    case SLC_CLI_POINT:
        return store_two(&v, false);
    case SLC_CLI_FRACTION:
        return store_fraction(&v);
    case SLC_CLI_NUMBERS:
        return store_numbers(&v);
    case SLC_CLI_COUNTS:
        return store_counts(&v);
    case SLC_CLI_CHOICE:
        return store_choice(&v);
    case SLC_CLI_CHOICES:
        return store_choices(&v);
    default:
        return store_text(&v);
    }
}
