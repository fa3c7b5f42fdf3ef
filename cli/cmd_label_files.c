/* SPDX-License-Identifier: Apache-2.0
 * Folders of images as inputs, and an output for each input. */
#define _GNU_SOURCE /* strverscmp */
#include "cmd_label_files.h"
#include "cli_words.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND (&slc_cmd_label)

static const char mark[] = "{name}";
static const char *const ends[] = {".png", ".jpg",    ".jpeg", ".bmp", ".tif", ".tiff", ".npy",
                                   ".nii", ".nii.gz", ".pgm",  ".pbm", ".ppm", ".pnm"};
enum { ENDS = sizeof ends / sizeof *ends };

bool slc_label_is_pattern(const char *output)
{
    return output != NULL && strstr(output, mark) != NULL;
}

/* How long the ending of an image is: the longest that fits, 0 if none does. */
static size_t end_of(const char *name)
{
    size_t longest = 0;
    for (size_t i = 0; i < ENDS; i++) {
        const size_t n = strlen(ends[i]);
        longest = slc_cli_ends_with(name, ends[i]) && n > longest ? n : longest;
    }
    return longest;
}

static int no_memory(void)
{
    slc_cli_say("label", "no memory for the names of files");
    return SLC_CLI_FAILED;
}

/* Takes `name` over, which may be NULL. */
static int add(slc_label_files *files, char *name)
{
    if (name == NULL || files->n == INT_MAX) {
        free(name);
        return no_memory();
    }
    if ((files->n & (files->n - 1)) == 0) { /* a power of 2: it is full */
        char **more = realloc(files->inputs, (files->n > 0 ? 2 * files->n : 1) * sizeof *more);
        if (more == NULL) {
            free(name);
            return no_memory();
        }
        files->inputs = more;
    }
    files->inputs[files->n++] = name;
    return SLC_CLI_GO_ON;
}

/* ---- folders ----------------------------------------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name); /* not by the language of the user; 9 before 10 */
}

static char *path_of(const char *folder, const char *name)
{
    const size_t n = strlen(folder), room = n + strlen(name) + 2;
    char *path = malloc(room);
    if (path != NULL) {
        (void)snprintf(path, room, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name);
    }
    return path;
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat there;
    return stat(path, &there) == 0 && (there.st_mode & S_IFMT) == kind;
}

/* What is named as an image and cannot be looked at, as a link to nothing, is an input that cannot be read,
 * and not left out: a volume would lack a slice. */
static bool is_image(const char *path, const char *name)
{
    struct stat there;
    return end_of(name) > 0 && (stat(path, &there) != 0 || S_ISREG(there.st_mode));
}

/* Files whose names begin with a dot are hidden ones, folders in it are not looked into. */
static int add_folder(slc_label_files *files, const char *folder)
{
    struct dirent **entries = NULL;
    const int n = scandir(folder, &entries, NULL, by_name);
    if (n < 0) {
        slc_cli_say("label", "%s: cannot read this folder: %s", folder, strerror(errno));
        return SLC_CLI_FAILED;
    }
    const size_t before = files->n;
    unsigned others = 0, folders = 0;
    int status = SLC_CLI_GO_ON;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char *path = status == SLC_CLI_GO_ON && name[0] != '.' ? path_of(folder, name) : NULL;
        if (path != NULL && is_image(path, name)) {
            status = add(files, path);
        } else {
            folders += path != NULL && is_kind(path, S_IFDIR);
            others += path != NULL && !is_kind(path, S_IFDIR);
            status = status == SLC_CLI_GO_ON && name[0] != '.' && path == NULL ? no_memory() : status;
            free(path);
        }
        free(entries[i]);
    }
    free(entries);
    if (status == SLC_CLI_GO_ON && others > 0) {
        slc_cli_say("label", "%s: %u file%s left out, not named as an image (.png, .tif, .npy …)", folder,
                    others, others == 1 ? " is" : "s are");
    }
    if (status == SLC_CLI_GO_ON && folders > 0) {
        slc_cli_say("label", "%s: in it %u %s not looked into", folder, folders,
                    folders == 1 ? "folder is" : "folders are");
    }
    if (status == SLC_CLI_GO_ON && files->n == before) {
        slc_cli_say("label", "%s: this folder has no images", folder);
        return SLC_CLI_FAILED;
    }
    return status;
}

/* ---- an output for each input ------------------------------------------------------------------ */

/* The input's name without its folder and its ending in the place of each mark. */
static char *output_of(const char *pattern, const char *input)
{
    const char *slash = strrchr(input, '/'), *name = slash != NULL ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    const size_t known = end_of(name);
    const size_t n = known > 0 && strlen(name) > known ? strlen(name) - known
                     : dot != NULL && dot != name      ? (size_t)(dot - name)
                                                       : strlen(name);
    size_t room = strlen(pattern) + 1;
    for (const char *at = strstr(pattern, mark); at != NULL; at = strstr(at + strlen(mark), mark)) {
        room += n;
    }
    char *made = malloc(room), *to = made;
    for (const char *at; made != NULL && (at = strstr(pattern, mark)) != NULL; pattern = at + strlen(mark)) {
        to += snprintf(to, room - (size_t)(to - made), "%.*s%.*s", (int)(at - pattern), pattern, (int)n,
                       name);
    }
    if (made != NULL) {
        (void)snprintf(to, room - (size_t)(to - made), "%s", pattern);
    }
    return made;
}

/* A name or, by what it is, a file, and whose it is. */
typedef struct entry {
    const char *name;
    dev_t device;
    ino_t number;
    size_t at;
} entry;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static int compare_files(const void *a, const void *b)
{
    const entry *one = a, *other = b;
    const int device = (one->device > other->device) - (one->device < other->device);
    return device != 0 ? device : (one->number > other->number) - (one->number < other->number);
}

static bool look(const char *name, size_t at, entry *to)
{
    struct stat there;
    if (stat(name, &there) != 0) {
        return false;
    }
    *to = (entry){.name = name, .device = there.st_dev, .number = there.st_ino, .at = at};
    return true;
}

/* Names are compared sorted: there may be ten thousands. */
static int check_names(const slc_label_files *files, entry *entries)
{
    for (size_t i = 0; i < files->n; i++) {
        entries[i] = (entry){.name = files->outputs[i], .at = i};
    }
    qsort(entries, files->n, sizeof *entries, compare_names);
    for (size_t i = 1; i < files->n; i++) {
        if (compare_names(&entries[i - 1], &entries[i]) == 0) {
            return slc_cli_wrong(COMMAND, "--output: %s and %s would both be labelled into %s",
                                 files->inputs[entries[i - 1].at], files->inputs[entries[i].at],
                                 entries[i].name);
        }
    }
    return SLC_CLI_GO_ON;
}

static int check_overwriting(const slc_label_files *files, entry *entries, const slc_label_options *options)
{
    const char *const others[] = {options->stats, options->preview, options->write_mask};
    static const char *const words[] = {"stats", "preview", "write-mask"};
    size_t n = 0;
    for (size_t i = 0; i < files->n; i++) {
        n += look(files->inputs[i], i, &entries[n]) ? 1 : 0;
    }
    qsort(entries, n, sizeof *entries, compare_files);
    for (size_t i = 0; i < files->n; i++) {
        entry own;
        const entry *met = look(files->outputs[i], i, &own)
                               ? bsearch(&own, entries, n, sizeof own, compare_files)
                               : NULL;
        if (met != NULL) {
            return slc_cli_wrong(COMMAND, "--output: %s would overwrite the input %s", files->outputs[i],
                                 met->name);
        }
        for (size_t k = 0; k < 3; k++) {
            if (others[k] != NULL && slc_cli_same_file(files->outputs[i], others[k])) {
                return slc_cli_wrong(COMMAND, "--output and --%s name the same file, %s", words[k],
                                     others[k]);
            }
        }
    }
    return SLC_CLI_GO_ON;
}

static int name_outputs(const slc_label_options *options, slc_label_files *files)
{
    entry *entries = calloc(files->n, sizeof *entries);
    files->outputs = calloc(files->n, sizeof *files->outputs);
    int status = entries == NULL || files->outputs == NULL ? no_memory() : SLC_CLI_GO_ON;
    for (size_t i = 0; i < files->n && status == SLC_CLI_GO_ON; i++) {
        files->outputs[i] = output_of(options->output, files->inputs[i]);
        status = files->outputs[i] == NULL ? no_memory() : SLC_CLI_GO_ON;
    }
    status = status == SLC_CLI_GO_ON ? check_names(files, entries) : status;
    status = status == SLC_CLI_GO_ON ? check_overwriting(files, entries, options) : status;
    free(entries);
    return status;
}

int slc_label_files_add(slc_label_files *files, const char *operand)
{
    return is_kind(operand, S_IFDIR) ? add_folder(files, operand) : add(files, strdup(operand));
}

static int check_marks(const slc_label_options *options)
{
    const char *open = options->output != NULL ? strchr(options->output, '{') : NULL;
    for (const char *close; open != NULL && (close = strchr(open, '}')) != NULL; open = strchr(close, '{')) {
        if (strncmp(open, mark, strlen(mark)) != 0) {
            return slc_cli_wrong(COMMAND, "--output: '%.*s' is no mark; {name} is the input's name",
                                 (int)(close - open + 1), open);
        }
    }
    const struct {
        const char *word, *value;
    } others[] = {
        {"stats", options->stats}, {"preview", options->preview}, {"write-mask", options->write_mask}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (slc_label_is_pattern(others[i].value)) {
            return slc_cli_wrong(COMMAND, "--%s: {name} is for --output; this is one file of all inputs",
                                 others[i].word);
        }
    }
    return SLC_CLI_GO_ON;
}

int slc_label_files_of(const slc_cli_call *call, slc_label_files *files)
{
    const slc_label_options *options = call->options;
    int status = check_marks(options);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    for (int i = 0; i < call->n && status == SLC_CLI_GO_ON; i++) {
        status = slc_label_files_add(files, call->operands[i]);
    }
    for (size_t i = 0; i < files->n && slc_label_is_pattern(options->output); i++) {
        if (strcmp(files->inputs[i], "-") == 0) {
            return slc_cli_wrong(COMMAND, "--output: {name} is an input's name, and standard input has none");
        }
    }
    if (status == SLC_CLI_GO_ON && files->n > 0 && slc_label_is_pattern(options->output)) {
        status = name_outputs(options, files);
    }
    return status;
}

void slc_label_files_clear(slc_label_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        free(files->inputs[i]);
        free(files->outputs != NULL ? files->outputs[i] : NULL);
    }
    free(files->inputs);
    free(files->outputs);
    *files = (slc_label_files){.n = 0};
}
