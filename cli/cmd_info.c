/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice info`: what is inside an input, without reconstructing it.
 */
#include "cmd_info.h"
#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { BANK_TYPES = 256, BATCH_EVENTS = 64, BATCH_BYTES = 16 << 20 };

typedef struct info_options {
    bool json;
} info_options;

#define O info_options
static const slc_cli_option options_table[] = {
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
};
#undef O

static void set_defaults(void *at)
{
    *(info_options *)at = (info_options){.json = false};
}

typedef struct bank_counts {
    uint64_t count, bytes; /* bytes of payload */
    uint8_t version_low, version_high;
} bank_counts;

typedef struct contents {
    const char *format;
    bool raw; /* events of raw banks */
    bool cms; /* events of CMS's fragments */
    slc_io_totals read;
    slc_faults faults;
    bank_counts banks[BANK_TYPES];
    uint64_t hits, particles;
    uint64_t fragments, words;
    uint32_t run_low, run_high; /* of the ODIN banks */
    bool has_run;
} contents;

static void count_bank(contents *found, const slc_lhcb_bank *bank)
{
    bank_counts *counts = &found->banks[bank->type];
    if (counts->count == 0 || bank->version < counts->version_low) {
        counts->version_low = bank->version;
    }
    if (counts->count == 0 || bank->version > counts->version_high) {
        counts->version_high = bank->version;
    }
    counts->count++;
    counts->bytes += bank->size;
    if (bank->type == SLC_LHCB_BANK_ODIN && bank->size >= 4) {
        const uint8_t *at = bank->payload; /* the first word is the run number */
        const uint32_t run = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                             (uint32_t)at[3] << 24;
        found->run_low = found->has_run && found->run_low < run ? found->run_low : run;
        found->run_high = found->has_run && found->run_high > run ? found->run_high : run;
        found->has_run = true;
    }
}

static void count_banks(contents *found, const slc_batch *batch)
{
    for (uint32_t i = 0; i < batch->n_events; i++) {
        slc_lhcb_bank_cursor cursor = {.bytes = batch->bytes + batch->offset[i], .size = batch->length[i]};
        slc_lhcb_bank bank;
        slc_fault_code code = SLC_FAULT_BANK_MAGIC;
        slc_status status;
        while ((status = slc_lhcb_bank_next(&cursor, &bank, &code)) == SLC_OK) {
            count_bank(found, &bank);
        }
        if (status != SLC_END) {
            slc_faults_add(&found->faults, code, batch->first_event + i, -1, cursor.at);
        }
    }
}

static slc_status read_raw(slc_io_source *source, contents *found, slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_status status;
    while ((status = slc_io_read_batch(source, BATCH_EVENTS, BATCH_BYTES, &batch, &found->faults, error)) ==
           SLC_OK) {
        count_banks(found, &batch);
    }
    slc_batch_clear(&batch);
    return status;
}

static slc_status read_cms(slc_io_source *source, contents *found, slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_status status;
    while ((status = slc_io_read_batch(source, BATCH_EVENTS, BATCH_BYTES, &batch, &found->faults, error)) ==
           SLC_OK) {
        uint64_t fragments, words;
        slc_cms_count_fragments(&batch, &fragments, &words, &found->faults);
        found->fragments += fragments;
        found->words += words;
    }
    slc_batch_clear(&batch);
    return status;
}

static slc_status read_hits(slc_io_source *source, contents *found, slc_error *error)
{
    slc_velo_hits hits = {.x_mm = NULL};
    slc_velo_truth truth = {.ids.id = NULL};
    slc_status status;
    while ((status = slc_io_read_velo_hits(source, BATCH_EVENTS, &hits, &truth, NULL, &found->faults,
                                           error)) == SLC_OK) {
        found->hits += hits.head.size;
        found->particles += truth.particles.head.size;
    }
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_velo_truth_clear(&truth);
    return status;
}

static void print_text(const char *path, const contents *found)
{
    (void)printf("%s\n", path);
    (void)printf("  %-12s %s\n", "format", found->format);
    (void)printf("  %-12s %" PRIu64 "\n", "bytes", found->read.bytes);
    (void)printf("  %-12s %" PRIu64 "\n", "events", found->read.events);
    (void)printf("  %-12s %" PRIu64 "\n", "lost", found->read.lost_events);
    if (found->cms) {
        (void)printf("  %-12s %" PRIu64 "\n", "fragments", found->fragments);
        (void)printf("  %-12s %" PRIu64 "\n", "words", found->words);
        return;
    }
    if (!found->raw) {
        (void)printf("  %-12s %" PRIu64 "\n", "hits", found->hits);
        (void)printf("  %-12s %" PRIu64 "\n", "particles", found->particles);
        return;
    }
    (void)printf("  %-12s %" PRIu64 "\n", "compressed", found->read.compressed);
    (void)printf("  %-12s %" PRIu64 " verified\n", "checksums", found->read.checksums);
    if (found->has_run && found->run_low == found->run_high) {
        (void)printf("  %-12s %" PRIu32 "\n", "run", found->run_low);
    } else if (found->has_run) {
        (void)printf("  %-12s %" PRIu32 " to %" PRIu32 "\n", "runs", found->run_low, found->run_high);
    }
    (void)printf("  %-12s %-20s %4s %9s %9s %12s\n", "banks", "name", "type", "version", "count", "bytes");
    for (unsigned i = 0; i < BANK_TYPES; i++) {
        const bank_counts *counts = &found->banks[i];
        if (counts->count == 0) {
            continue;
        }
        const char *name = slc_lhcb_bank_type_name((uint8_t)i);
        char version[16];
        (void)snprintf(version, sizeof version, counts->version_low == counts->version_high ? "%u" : "%u-%u",
                       counts->version_low, counts->version_high);
        (void)printf("  %-12s %-20s %4u %9s %9" PRIu64 " %12" PRIu64 "\n", "", name != NULL ? name : "-", i,
                     version, counts->count, counts->bytes);
    }
}

static json_t *banks_array(const contents *found)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < BANK_TYPES; i++) {
        const bank_counts *counts = &found->banks[i];
        if (counts->count > 0) {
            const char *name = slc_lhcb_bank_type_name((uint8_t)i);
            (void)json_array_append_new(
                array,
                json_pack("{s:i, s:s?, s:i, s:i, s:I, s:I}", "type", (int)i, "name", name, "version_min",
                          (int)counts->version_low, "version_max", (int)counts->version_high, "count",
                          (json_int_t)counts->count, "bytes", (json_int_t)counts->bytes));
        }
    }
    return array;
}

static json_t *file_object(const char *path, const contents *found)
{
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "file", path, "format", found->format, "bytes",
                               (json_int_t)found->read.bytes, "events", (json_int_t)found->read.events,
                               "lost_events", (json_int_t)found->read.lost_events);
    json_t *more;
    if (found->raw) {
        more = json_pack("{s:I, s:I, s:o, s:o, s:o}", "compressed", (json_int_t)found->read.compressed,
                         "checksums_verified", (json_int_t)found->read.checksums, "run_number_min",
                         found->has_run ? json_integer(found->run_low) : json_null(), "run_number_max",
                         found->has_run ? json_integer(found->run_high) : json_null(), "banks",
                         banks_array(found));
    } else if (found->cms) {
        more = json_pack("{s:I, s:I}", "fragments", (json_int_t)found->fragments, "words",
                         (json_int_t)found->words);
    } else {
        more = json_pack("{s:I, s:I}", "hits", (json_int_t)found->hits, "particles",
                         (json_int_t)found->particles);
    }
    json_t *faults = json_object();
    for (uint32_t i = 0; i < found->faults.n_kinds; i++) {
        (void)json_object_set_new(faults, slc_fault_name(found->faults.kind[i].code),
                                  json_integer((json_int_t)found->faults.kind[i].n));
    }
    (void)json_object_update(object, more);
    json_decref(more);
    (void)json_object_set_new(object, "faults", faults);
    return object;
}

static void tell_trouble(const char *path, const slc_io_source *source, const contents *found)
{
    if (slc_io_damage(source) != NULL) {
        slc_cli_say("info", "%s", slc_io_damage(source));
    }
    /* Those of records are in the line above; a text event that is not one, too. */
    for (uint32_t i = 0; i < found->faults.n_kinds; i++) {
        const slc_fault_code code = found->faults.kind[i].code;
        if (code >> 8 != SLC_FAULT_OF_IO(0) >> 8) {
            slc_cli_say("info", "%s: %" PRIu64 " × %s (%s)", path, found->faults.kind[i].n,
                        slc_fault_name(code), slc_fault_text(code));
        }
    }
}

/* A member of an object that is printed as it is: "highest crystal 5183". */
static void print_member(const char *key, const json_t *value)
{
    char label[32];
    (void)snprintf(label, sizeof label, "%s", key);
    for (char *at = label; *at != '\0'; at++) {
        *at = *at == '_' ? ' ' : *at;
    }
    (void)printf("  %-18s", label);
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            const json_t *item = json_array_get(value, i);
            if (json_is_object(item)) { /* a module with its frames */
                (void)printf("%s%" JSON_INTEGER_FORMAT ": %" JSON_INTEGER_FORMAT, i > 0 ? ", " : "",
                             json_integer_value(json_object_get(item, "module")),
                             json_integer_value(json_object_get(item, "frames")));
            } else {
                (void)printf("%s%s", i > 0 ? ", " : "", json_string_value(item));
            }
        }
        (void)puts(json_array_size(value) > 0 ? "" : "none");
    } else if (json_is_integer(value)) {
        (void)printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
    } else if (json_is_real(value)) {
        (void)printf("%.15g\n", json_real_value(value));
    } else if (json_is_boolean(value)) {
        (void)puts(json_is_true(value) ? "yes" : "no");
    } else {
        (void)puts(json_is_string(value) ? json_string_value(value) : "-");
    }
}

/* A file that holds no events: prints its object, or adds it to `files`. */
static void give_other(json_t *object, json_t *files)
{
    const char *key;
    json_t *value;
    if (files != NULL && json_object_get(object, "format") != NULL) {
        (void)json_array_append(files, object);
    } else if (files == NULL && json_object_get(object, "format") != NULL) {
        (void)puts(json_string_value(json_object_get(object, "file")));
        json_object_foreach(object, key, value)
        {
            if (strcmp(key, "file") != 0 && strcmp(key, "faults") != 0) { /* which are told */
                print_member(key, value);
            }
        }
    }
    json_decref(object);
}

/* Adds to `files` where that is not NULL, prints otherwise. False where the input is damaged or unreadable.
 */
static bool look_into(const char *path, contents *found, json_t *files)
{
    slc_error error = {.status = SLC_OK};
    slc_io_source *source = NULL;
    bool good = true;
    json_t *other = slc_info_pet(path, &good);
    memset(found, 0, sizeof *found);
    if (other == NULL && slc_io_open(path, NULL, &source, &error) != SLC_OK &&
        (other = slc_info_images(path, &good)) == NULL && (other = slc_info_pixels(path, &good)) == NULL) {
        slc_cli_say("info", "%s%s", error.text,
                    strstr(error.text, ": no known format: ") != NULL
                        ? "; images, lists of pixels; and PET's frames, singles, pairs, tables, sinograms, "
                          "crystal maps"
                        : "");
        return false;
    }
    if (other != NULL) {
        give_other(other, files);
        return good;
    }
    found->format = slc_io_format(source);
    found->raw = slc_io_content_of(source) == SLC_IO_RAW_EVENTS;
    found->cms = slc_io_content_of(source) == SLC_IO_CMS_EVENTS;
    const slc_status status = found->raw   ? read_raw(source, found, &error)
                              : found->cms ? read_cms(source, found, &error)
                                           : read_hits(source, found, &error);
    slc_io_totals_of(source, &found->read);
    tell_trouble(path, source, found);
    if (status < 0) {
        slc_cli_say("info", "%s", error.text);
    }
    if (files != NULL) {
        (void)json_array_append_new(files, file_object(path, found));
    } else {
        print_text(path, found);
    }
    slc_io_close(source);
    return status >= 0 && found->read.lost_events == 0;
}

static int run(int argc, char **argv)
{
    info_options options;
    int first = 0;
    int status = slc_cli_parse(&slc_cmd_info, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    status = SLC_CLI_DONE;
    json_t *files = options.json ? json_array() : NULL;
    contents *found = malloc(sizeof *found);
    if (found == NULL) {
        slc_cli_say("info", "no memory to begin with");
        json_decref(files);
        return SLC_CLI_FAILED;
    }
    for (int i = first; i < argc; i++) {
        if (!look_into(argv[i], found, files)) {
            status = SLC_CLI_FAILED;
        }
    }
    free(found);
    if (options.json && !slc_cli_print_json("info", json_pack("{s:o}", "files", files))) {
        status = SLC_CLI_FAILED;
    }
    return status;
}

const slc_cli_command slc_cmd_info = {
    .name = "info",
    .operands = "FILE...",
    .summary = "tell what is in a file: format, events, banks, frames",
    .description =
        "Reads files to the end and tells what is in them: of events the format, their number, damage, and "
        "raw\n"
        "banks by type and size; of PET's files frames, singles, coincidences, tables, sinograms, maps; of\n"
        "images (PNM, PNG, TIFF, NPY) pages and sizes; of lists of pixels (.tpx3, .t3pa, CSV, NPY) pixels.\n"
        "'-' is standard input, for events.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .run = run,
};
