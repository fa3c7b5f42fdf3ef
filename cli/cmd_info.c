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
#include <sys/stat.h>

enum { BANK_TYPES = 256, BATCH_EVENTS = 64, BATCH_BYTES = 16 << 20 };

typedef struct info_options {
    const char *format;
    bool json, events;
} info_options;

#define O info_options
static const slc_cli_option options_table[] = {
    {"events", 0, FLAG(O, events), NULL,
     "of LHCb's events a line for each: run, event, bunch crossing, types, size"},
    {"frame-format", 0, INPUT_AS(O, format, "a format of frames"), "FILE",
     "files are PET's raw frames of this layout (JSON)"},
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
    slc_io_totals read;
    slc_faults faults;
    bank_counts banks[BANK_TYPES];
    uint64_t hits, particles;
    uint64_t fragments, words;
    slc_info_decisions decisions;
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
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, i);
        slc_lhcb_bank bank;
        slc_fault_code code = SLC_FAULT_BANK_MAGIC;
        slc_status status;
        while ((status = slc_lhcb_bank_next(&cursor, &bank, &code)) == SLC_OK) {
            count_bank(found, &bank);
            slc_info_decisions_take(&found->decisions, batch->first_event + i, &bank);
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

static void tell_trouble(const char *path, const slc_io_source *source, const contents *found)
{
    if (slc_io_damage(source) != NULL) {
        slc_cli_say("info", "%s", slc_io_damage(source));
    }
    /* Those of records are in the line above; a text event that is not one, too. */
    for (uint32_t i = 0; i < found->faults.n_kinds; i++) {
        const slc_fault_code code = found->faults.kind[i].code;
        if (code >> 8 != SLC_FAULT_OF_IO(0) >> 8 || code == SLC_FAULT_PACKET_BLOCK ||
            code == SLC_FAULT_PACKET_ERROR) {
            slc_cli_say("info", "%s: %" PRIu64 " × %s (%s)", path, found->faults.kind[i].n,
                        slc_fault_name(code), slc_fault_text(code));
        }
    }
}

/* ---- events -------------------------------------------------------------------------------------- */

static void put_banks(slc_cli_tree *to, const contents *found)
{
    slc_cli_put_array(to, "banks");
    for (unsigned i = 0; i < BANK_TYPES; i++) {
        const bank_counts *counts = &found->banks[i];
        if (counts->count > 0) {
            slc_cli_tree row = slc_cli_append(to, "banks");
            slc_cli_put(&row, "type", i);
            slc_cli_put_text(&row, "name", slc_lhcb_bank_type_name((uint8_t)i));
            slc_cli_put(&row, "version_min", counts->version_low);
            slc_cli_put(&row, "version_max", counts->version_high);
            slc_cli_put(&row, "count", counts->count);
            slc_cli_put(&row, "bytes", counts->bytes);
            char version[16];
            (void)snprintf(version, sizeof version,
                           counts->version_low == counts->version_high ? "%u" : "%u-%u", counts->version_low,
                           counts->version_high);
            slc_cli_put(&row, ".version", (const char *)version);
        }
    }
}

static void put_events(slc_cli_tree *to, const slc_io_source *source, const contents *found)
{
    const slc_io_content content = slc_io_content_of(source);
    slc_cli_put(to, "format", slc_io_format(source));
    slc_cli_put(to, "bytes", found->read.bytes);
    slc_cli_put(to, "events", found->read.events);
    slc_cli_put(to, "lost_events", found->read.lost_events);
    slc_cli_put_bool(to,
                     content == SLC_IO_RAW_EVENTS   ? ".raw"
                     : content == SLC_IO_CMS_EVENTS ? ".cms"
                                                    : ".hits",
                     true);
    if (content == SLC_IO_CMS_EVENTS) {
        slc_cli_put(to, "fragments", found->fragments);
        slc_cli_put(to, "words", found->words);
    } else if (content == SLC_IO_VELO_HITS) {
        slc_cli_put(to, "hits", found->hits);
        slc_cli_put(to, "particles", found->particles);
    } else {
        slc_cli_put(to, "compressed", found->read.compressed);
        slc_cli_put(to, "checksums_verified", found->read.checksums);
        if (found->has_run) {
            slc_cli_put(to, "run_number_min", found->run_low);
            slc_cli_put(to, "run_number_max", found->run_high);
            slc_cli_put_bool(to, found->run_low == found->run_high ? ".run" : ".runs", true);
        } else {
            slc_cli_put_null(to, "run_number_min");
            slc_cli_put_null(to, "run_number_max");
        }
        put_banks(to, found);
    }
    slc_cli_put_faults(to, "faults", &found->faults);
}

static const slc_cli_line event_lines[] = {
    {NULL, "  format       {format}", NULL},
    {NULL, "  bytes        {bytes}", NULL},
    {NULL, "  events       {events}", NULL},
    {NULL, "  lost         {lost_events}", NULL},
    {NULL, "  fragments    {fragments}", ".cms"},
    {NULL, "  words        {words}", ".cms"},
    {NULL, "  hits         {hits}", ".hits"},
    {NULL, "  particles    {particles}", ".hits"},
    {NULL, "  compressed   {compressed}", ".raw"},
    {NULL, "  checksums    {checksums_verified} verified", ".raw"},
    {NULL, "  run          {run_number_min}", ".run"},
    {NULL, "  runs         {run_number_min} to {run_number_max}", ".runs"},
};
static const slc_cli_column bank_columns[] = {
    {"  banks", -14, "", NULL},         {"name", -20, "{name}", NULL}, {"type", 4, "{type}", NULL},
    {"version", 9, "{.version}", NULL}, {"count", 9, "{count}", NULL}, {"bytes", 12, "{bytes}", NULL},
};

/* What cannot be opened as anything else is opened as events as well, so that this tells why not. */
static bool info_events(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_error error = {.status = SLC_OK};
    slc_io_source *source = NULL;
    if (slc_io_open(path, NULL, &source, &error) != SLC_OK) {
        slc_cli_say("info", "%s%s", error.text,
                    strstr(error.text, ": no known format: ") != NULL
                        ? "; images, lists of pixels; and PET's frames, singles, pairs, tables, sinograms, "
                          "crystal maps"
                        : "");
        return false;
    }
    (void)format;
    contents *found = calloc(1, sizeof *found);
    if (found == NULL) {
        slc_cli_say("info", "%s: no memory to count", path);
        slc_io_close(source);
        return false;
    }
    static slc_status (*const readers[])(slc_io_source *, contents *, slc_error *) = {
        [SLC_IO_RAW_EVENTS] = read_raw, [SLC_IO_VELO_HITS] = read_hits, [SLC_IO_CMS_EVENTS] = read_cms};
    const slc_status status = readers[slc_io_content_of(source)](source, found, &error);
    slc_io_totals_of(source, &found->read);
    tell_trouble(path, source, found);
    if (status < 0) {
        slc_cli_say("info", "%s", error.text);
    }
    put_events(to, source, found);
    const bool decisions = slc_info_decisions_put(&found->decisions, path, to);
    const uint64_t packets = found->read.incomplete_events +
                             slc_faults_of(&found->faults, SLC_FAULT_RECORD_TRUNCATED) +
                             slc_faults_of(&found->faults, SLC_FAULT_PACKET_HEADER);
    const bool good = status >= 0 && decisions && found->read.lost_events == 0 &&
                      (packets == 0 || strcmp(slc_io_format(source), "mep") != 0);
    slc_io_close(source);
    free(found);
    return good;
}

/* ---- all files ----------------------------------------------------------------------------------- */

/* Who tells what is in a file, by its kind. */
static bool (*const tellers[SLC_IO_KIND_RESULTS])(const char *, const slc_io_format_row *, slc_cli_tree *) = {
    [SLC_IO_KIND_EVENTS] = info_events,
    [SLC_IO_KIND_IMAGES] = slc_info_images,
    [SLC_IO_KIND_PIXELS] = slc_info_pixels,
    [SLC_IO_KIND_PET_RAW] = slc_info_pet_raw,
    [SLC_IO_KIND_PET_RAW_INDEX] = slc_info_pet_raw_index,
    [SLC_IO_KIND_PET_SINGLES] = slc_info_pet_singles,
    [SLC_IO_KIND_PET_TABLES] = slc_info_pet_tables,
    [SLC_IO_KIND_PET_CSV] = slc_info_pet_csv,
    [SLC_IO_KIND_PET_SINOGRAM] = slc_info_pet_sinogram,
    [SLC_IO_KIND_PET_MAP] = slc_info_pet_map,
    [SLC_IO_KIND_PET_PAIRS] = slc_info_pet_pairs,
};

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

static void print_file(const char *path, slc_cli_tree *to)
{
    const char *key;
    json_t *value;
    (void)puts(path);
    if (json_object_get(to->root, "events") != NULL) {
        slc_cli_print_lines(to, "", event_lines, sizeof event_lines / sizeof *event_lines);
        if (json_object_get(to->root, "banks") != NULL) {
            slc_cli_print_table(to, "banks", " ", bank_columns, sizeof bank_columns / sizeof *bank_columns);
        }
        if (json_object_get(to->root, "decisions") != NULL) {
            slc_info_decisions_print(to);
        }
        return;
    }
    json_object_foreach(to->root, key, value)
    {
        if (strcmp(key, "file") != 0 && strcmp(key, "faults") != 0) { /* which are told */
            print_member(key, value);
        }
    }
}

/* False if the input is damaged or unreadable, which is then told; one of which nothing can be told is in no
 * output. */
static bool look_into(const char *path, const slc_io_pet_format *frames, json_t *files)
{
    struct stat there;
    slc_cli_tree to = slc_cli_tree_new("info");
    const slc_io_format_row *format = slc_io_format_of(path);
    const slc_io_kind kind = frames != NULL   ? SLC_IO_KIND_PET_RAW
                             : format != NULL ? format->kind
                                              : SLC_IO_KIND_EVENTS;
    slc_cli_put(&to, "file", path);
    if (kind != SLC_IO_KIND_EVENTS && stat(path, &there) == 0) {
        slc_cli_put(&to, "bytes", (uint64_t)there.st_size);
    }
    const bool good = frames != NULL ? slc_info_pet_records(path, frames, &to)
                                     : tellers[kind](path, format, &to);
    if (json_object_get(to.root, "format") != NULL && files != NULL) {
        (void)json_array_append(files, to.root);
    } else if (json_object_get(to.root, "format") != NULL) {
        print_file(path, &to);
    }
    slc_cli_tree_clear(&to);
    return good;
}

static int act(const slc_cli_call *call)
{
    const info_options *options = call->options;
    if (options->events && options->format != NULL) {
        return slc_cli_wrong(&slc_cmd_info, "--events are of LHCb's data, --frame-format is of PET's");
    }
    if (options->events) {
        return slc_info_list_events(call->operands, call->n, options->json);
    }
    slc_cli_tree tree = slc_cli_tree_new("info");
    slc_io_pet_format *frames = NULL;
    slc_error error = {.status = SLC_OK};
    int status = SLC_CLI_DONE;
    if (options->format != NULL && slc_io_pet_format_open(options->format, &frames, &error) != SLC_OK) {
        slc_cli_say("info", "%s", error.text);
        slc_cli_tree_clear(&tree);
        return SLC_CLI_FAILED;
    }
    slc_cli_put_array(&tree, "files");
    json_t *files = options->json ? json_object_get(tree.root, "files") : NULL;
    for (int i = 0; i < call->n; i++) {
        if (!look_into(call->operands[i], frames, files)) {
            status = SLC_CLI_FAILED;
        }
    }
    if (options->json && !slc_cli_tree_print_json(&tree)) {
        status = SLC_CLI_FAILED;
    }
    slc_io_pet_format_close(frames);
    slc_cli_tree_clear(&tree);
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
        "images (PNM, PNG, JPEG, BMP, TIFF, NPY, NIfTI) pages and sizes; of lists of pixels (.tpx3,\n"
        ".tpx4, .t3pa, CSV, NPY) pixels.\n"
        "'-' is standard input, for events.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .act = act,
};
