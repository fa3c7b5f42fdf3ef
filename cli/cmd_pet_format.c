/* SPDX-License-Identifier: Apache-2.0
 * Frames of other layouts: whose format they have, what became of their records, and their marks as a file.
 */
#include "cli_results.h"
#include "cmd_pet_tell.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <string.h>

/* ---- which format ------------------------------------------------------------------------------ */

/* Its clock, which may be told again, and not otherwise. */
static int take_clock(const slc_cli_command *command, slc_pet_frame_words *words,
                      const slc_io_pet_format_about *about)
{
    const char *ticks = slc_cli_word(command, "ticks"), *bits = slc_cli_word(command, "tick-bits");
    const uint64_t told = (uint64_t)words->ticks[0] * about->tick_denominator;
    if (ticks != NULL && told != (uint64_t)about->tick_numerator * words->ticks[1]) {
        return slc_cli_wrong(command, "--ticks %s: the format of the frames ('%s') says %u/%u ps", ticks,
                             about->name, about->tick_numerator, about->tick_denominator);
    }
    if (bits != NULL && words->tick_bits != about->tick_bits) {
        return slc_cli_wrong(command, "--tick-bits %s: the format of the frames ('%s') says %u", bits,
                             about->name, about->tick_bits);
    }
    words->ticks[0] = about->tick_numerator;
    words->ticks[1] = about->tick_denominator;
    words->tick_bits = about->tick_bits;
    return SLC_CLI_GO_ON;
}

int slc_pet_format_take(const slc_cli_command *command, slc_pet_frame_words *words,
                        const slc_io_pet_format *format)
{
    slc_io_pet_format_about about;
    words->used = format;
    slc_io_pet_format_about_of(format, &about);
    return take_clock(command, words, &about);
}

int slc_pet_format_of(const slc_cli_command *command, slc_pet_frame_words *words, char **paths, int n)
{
    slc_error error = {.status = SLC_OK};
    slc_io_pet_raw *raw = NULL;
    if (words->format != NULL) {
        if (slc_io_pet_format_open(words->format, &words->opened, &error) != SLC_OK) {
            slc_cli_say(command->name, "%s", error.text);
            return SLC_CLI_FAILED;
        }
        return slc_pet_format_take(command, words, words->opened);
    }
    int status = SLC_CLI_GO_ON;
    /* The others are to have the same. What cannot be opened is told when it is read. */
    if (n > 0 && slc_io_pet_kind_of(paths[0]) == SLC_IO_PET_KIND_RAW &&
        slc_io_pet_raw_open(paths[0], &raw, &error) == SLC_OK && slc_io_pet_raw_format(raw) != NULL) {
        status = slc_pet_format_take(command, words, slc_io_pet_raw_format(raw));
        words->used = NULL;
        words->own = true;
    }
    slc_io_pet_raw_close(raw);
    return status;
}

void slc_pet_format_clear(slc_pet_frame_words *words)
{
    slc_io_pet_format_close(words->opened);
    words->opened = NULL;
    words->used = NULL;
}

int slc_pet_marks_check(const slc_cli_command *command, const slc_pet_frame_words *words, const char *marks)
{
    if (marks == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (words->used == NULL && !words->own) {
        return slc_cli_wrong(command, "--marks are of frames that have a format: give --frame-format");
    }
    return words->tick_bits == 64
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(
                     command, "--marks need a clock that does not begin again; this one has %" PRIu64 " bits",
                     words->tick_bits);
}

/* ---- records ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *limit;
} fields[SLC_IO_PET_FORMAT_FIELDS] = {{"module", "0 to 255"},
                                      {"unit", "0 to 15"},
                                      {"x", "0 to 255"},
                                      {"y", "0 to 255"},
                                      {"time", "0 to 2^63 - 1"},
                                      {"energy", "0 to 65535"},
                                      {"temperature", "-128 to 127"},
                                      {"value", "finite numbers"}};

uint64_t slc_pet_records_lost(const slc_io_pet_format_counts *c)
{
    uint64_t lost = c->unknown;
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        lost += c->refused[i];
    }
    return lost;
}

bool slc_pet_records_tell(const char *command, const char *path, const slc_io_pet_format_counts *c,
                          bool tolerate)
{
    const uint64_t lost = slc_pet_records_lost(c);
    const bool many = slc_pet_loss_is_large(lost, c->records - lost) && !tolerate;
    if (c->unknown > 0) {
        slc_cli_say(command,
                    "%s: %" PRIu64 " of %" PRIu64
                    " records match none of the frames' format, and are left out",
                    path, c->unknown, c->records);
    }
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        if (c->refused[i] > 0) {
            slc_cli_say(command,
                        "%s: %" PRIu64 " of %" PRIu64
                        " records have a %s that does not fit, and are left out: "
                        "frames have room for %s",
                        path, c->refused[i], c->records, fields[i].name, fields[i].limit);
        }
    }
    if (many) {
        slc_cli_say(command, "%s: more than 0.1 %% of the records: exit status 1 (--tolerate-loss: 0)", path);
    }
    return !many;
}

void slc_pet_put_records(slc_cli_tree *tree, const slc_io_pet_format_counts *c)
{
#define C slc_io_pet_format_counts
    static const slc_cli_field first[] = {{"records", FIELD(C, records)},
                                          {"singles", FIELD(C, singles)},
                                          {"marks", FIELD(C, marks)},
                                          {"skipped", FIELD(C, skipped)},
                                          {"unknown", FIELD(C, unknown)}};
#undef C
    if (c->records == 0) {
        return;
    }
    slc_cli_put_fields(tree, "records", first, sizeof first / sizeof *first, c);
    for (int i = 0; i < SLC_IO_PET_FORMAT_FIELDS; i++) {
        char path[48];
        (void)snprintf(path, sizeof path, "records.refused.%s", fields[i].name);
        slc_cli_put_count(tree, path, c->refused[i]);
    }
    slc_cli_put_count(tree, ".records_refused", slc_pet_records_lost(c) - c->unknown);
}

/* ---- marks ------------------------------------------------------------------------------------- */

static slc_status put(slc_pet_singles_file *file, const slc_pet_marks *marks, slc_error *error)
{
    const slc_io_group rows = {"marks", &slc_pet_marks_schema, marks, SLC_IO_ROWS_WHOLE};
    const slc_io_text_form form = {.schema = &slc_pet_marks_schema};
    return file->columns ? slc_io_results_put(file->writer, &rows, 1, error)
                         : slc_io_text_rows(file->writer, &form, marks, error);
}

slc_status slc_pet_marks_create(const char *path, slc_pet_singles_file *file, slc_error *error)
{
    const slc_pet_marks none = {.head = {.size = 0}};
    *file = (slc_pet_singles_file){.columns = slc_cli_results_are(path, &(slc_cli_results){.form = 0})};
    if (!file->columns) {
        const slc_io_text_form form = {.schema = &slc_pet_marks_schema};
        const slc_status made = slc_io_text_create(path, &file->writer, error);
        return made == SLC_OK ? slc_io_text_rows(file->writer, &form, NULL, error) : made;
    }
    slc_status status = slc_io_results_create(path, NULL, &file->writer, error);
    if (status == SLC_OK) {
        status = slc_io_results_text(file->writer, "sluice_version", slc_version(), error);
    }
    if (status == SLC_OK) {
        char kinds[96] = "";
        for (uint32_t i = 0; slc_pet_mark_name(i) != NULL; i++) {
            const size_t at = strlen(kinds);
            (void)snprintf(kinds + at, sizeof kinds - at, "%s%u %s", i > 0 ? ", " : "", i,
                           slc_pet_mark_name(i));
        }
        status = slc_io_results_text(file->writer, "kinds", kinds, error);
    }
    return status == SLC_OK ? put(file, &none, error) : status;
}

slc_status slc_pet_marks_put(slc_pet_singles_file *file, const slc_pet_marks *marks, slc_error *error)
{
    return marks != NULL && marks->head.size > 0 ? put(file, marks, error) : SLC_OK;
}
