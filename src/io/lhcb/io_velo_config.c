/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of the VELO's chain as JSON, read and written by the table of velo/velo_config.h: what is written
 * is read back to the same bits. docs/formats/velo-config.md.
 */
#include "io/lhcb/io_velo_config.h"
#include "base/config.h"
#include "base/decimal.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"
#include "velo/velo_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 }; /* of a file */

typedef slc_select_step step;

/* ---- reading ---------------------------------------------------------------------------------- */

static slc_status read_word(const slc_json_text *in, const slc_velo_setting *s, const json_t *value,
                            const step *at, slc_velo_config *config)
{
    char names[128] = "";
    for (uint32_t i = 0; s->words[i] != NULL; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), s->words[i]) == 0) {
            slc_velo_setting_set(s, config, 0, i);
            return SLC_OK;
        }
        slc_json_append(names, sizeof names, ", ", s->words[i]);
    }
    return json_is_string(value) ? slc_json_wrong(in, at, false, "%s is one of %s, not '%.48s'", s->key,
                                                  names, json_string_value(value))
                                 : slc_json_wrong(in, at, false, "%s must be a string, one of %s, not %s",
                                                  s->key, names, slc_json_type_word(value));
}

static slc_status read_number(const slc_json_text *in, const slc_velo_setting *s, const json_t *value,
                              const step *at, uint32_t place, slc_velo_config *config)
{
    const bool count = s->kind == SLC_VELO_SETTING_COUNT;
    if (!json_is_number(value)) {
        return slc_json_wrong(in, at, false, "%s must be a number, not %s", s->key,
                              slc_json_type_word(value));
    }
    const double number = json_number_value(value);
    if (count && number != floor(number)) {
        return slc_json_wrong(in, at, false, "%s must be a whole number, not %g", s->key, number);
    }
    if (!(number >= s->low && number <= s->high)) {
        return slc_json_wrong(in, at, false, "%s must be from %.10g to %.10g, not %.10g", s->key, s->low,
                              s->high, number);
    }
    slc_velo_setting_set(s, config, place, number);
    return SLC_OK;
}

static slc_status read_setting(const slc_json_text *in, const slc_velo_setting *s, const json_t *value,
                               const step *at, slc_velo_config *config)
{
    if (s->kind == SLC_VELO_SETTING_CHOICE) {
        return read_word(in, s, value, at, config);
    }
    if (s->n == 1) {
        return read_number(in, s, value, at, 0, config);
    }
    if (!json_is_array(value) || json_array_size(value) != s->n) {
        return slc_json_wrong(in, at, false, "%s must be an array of %u numbers", s->key, s->n);
    }
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < s->n && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        status = read_number(in, s, json_array_get(value, i), &below, i, config);
    }
    return status;
}

static const slc_velo_setting *find(const char *group, const char *key)
{
    const slc_velo_setting *s;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        if (strcmp(s->group, group) == 0 && (key == NULL || strcmp(s->key, key) == 0)) {
            return s;
        }
    }
    return NULL;
}

static slc_status unknown(const slc_json_text *in, const char *group, const step *at)
{
    char names[320] = "";
    const slc_velo_setting *s;
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        if (strcmp(s->group, group) == 0) {
            slc_json_append(names, sizeof names, ", ", s->key);
        } else if (group[0] == '\0' && find(s->group, NULL) == s) { /* the first of its group */
            slc_json_append(names, sizeof names, ", ", s->group);
        }
    }
    return slc_json_wrong(in, at, true, "unknown setting '%.48s'%s%s; there are: %s", at->key,
                          group[0] != '\0' ? " of " : "", group, names);
}

/* The members of an object: settings, groups of them at the root, and what may be said of them. */
static slc_status read_group(const slc_json_text *in, const char *group, json_t *object, const step *at,
                             slc_velo_config *config)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return slc_json_wrong(in, at, false, "%s must be an object, not %s",
                              group[0] != '\0' ? group : "settings", slc_json_type_word(object));
    }
    json_object_foreach(object, key, value)
    {
        const step below = {at, key, 0};
        const slc_velo_setting *s = find(group, key);
        slc_status status = SLC_OK;
        if (s != NULL) {
            status = read_setting(in, s, value, &below, config);
        } else if (group[0] == '\0' && key[0] != '\0' && find(key, NULL) != NULL) {
            status = read_group(in, key, value, &below, config); /* one level: groups have no groups */
        } else if (strcmp(key, "comment") != 0) {
            status = unknown(in, group, &below);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

slc_status slc_io_velo_config_read_memory(const char *text, size_t size, const char *name,
                                          slc_velo_config *config, slc_error *error)
{
    const slc_json_text in = {.text = text, .name = name, .size = size, .error = error};
    slc_velo_config own;
    slc_velo_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, config, "slc_velo_config", error);
    json_t *root = status == SLC_OK ? slc_json_load(&in, &status) : NULL;
    if (root == NULL) {
        return status;
    }
    const step at = {0};
    slc_error reason = {0};
    status = read_group(&in, "", root, &at, &own);
    if (status == SLC_OK && slc_velo_settings_check(&own, &reason) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: %.400s", name, reason.text);
    }
    if (status == SLC_OK) {
        slc_config_give(config, config->size, &own, sizeof own);
    }
    json_decref(root);
    return status;
}

slc_status slc_io_velo_config_read(const char *path, slc_velo_config *config, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_velo_config_read_memory(bytes, size, path, config, error);
    }
    free(bytes);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void write_value(FILE *out, const slc_velo_setting *s, const slc_velo_config *config, uint32_t at)
{
    const double value = slc_velo_setting_get(s, config, at);
    if (s->kind == SLC_VELO_SETTING_CHOICE) {
        (void)fprintf(out, "\"%s\"", s->words[(size_t)value]);
    } else if (s->kind == SLC_VELO_SETTING_COUNT) {
        (void)fprintf(out, "%.0f", value);
    } else {
        char text[SLC_DECIMAL_ROOM];
        *slc_decimal_f32(text, (float)value) = '\0';
        (void)fputs(text, out);
    }
}

static void write_all(FILE *out, const slc_velo_config *config)
{
    const slc_velo_setting *s;
    const char *group = "";
    (void)fputs("{", out);
    for (size_t i = 0; (s = slc_velo_setting_at(i)) != NULL; i++) {
        const bool begins = strcmp(s->group, group) != 0, first = i == 0 || (begins && s->group[0] != '\0');
        if (begins) {
            (void)fprintf(out, "%s%s\n  \"%s\": {", group[0] != '\0' ? "\n  }" : "", i > 0 ? "," : "",
                          s->group);
            group = s->group;
        }
        (void)fprintf(out, "%s\n%s\"%s\": ", first ? "" : ",", group[0] != '\0' ? "    " : "  ", s->key);
        for (uint32_t k = 0; k < s->n; k++) {
            (void)fputs(k > 0 ? ", " : s->n > 1 ? "[" : "", out);
            write_value(out, s, config, k);
        }
        (void)fputs(s->n > 1 ? "]" : "", out);
    }
    (void)fputs(group[0] != '\0' ? "\n  }\n}\n" : "\n}\n", out);
}

slc_status slc_io_velo_config_write(const slc_velo_config *config, char **text, slc_error *error)
{
    slc_velo_config own;
    size_t size = 0;
    slc_velo_config_default(&own);
    *text = NULL;
    slc_status status = slc_config_take(&own, sizeof own, config, "slc_velo_config", error);
    status = status == SLC_OK ? slc_velo_settings_check(&own, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_decimal_prepare();
    FILE *out = open_memstream(text, &size);
    if (out != NULL) {
        write_all(out, &own);
    }
    if (out == NULL || fclose(out) != 0) {
        free(*text);
        *text = NULL;
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the settings as text");
    }
    return SLC_OK;
}
