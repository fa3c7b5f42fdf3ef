/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a run. What a launcher says is looked at if `auto` asks for it, and never else: a program that
 * did less inside of a batch system than outside would surprise.
 */
#include "cli_part.h"
#include "cli_talk.h"
#include "cli_values.h"
#include "cli_words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which part -------------------------------------------------------------------------------- */

/* A whole number below 2^31; false if it is none, or there is no word. */
static bool read_number(const char *word, uint32_t *number)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = word != NULL && *word >= '0' && *word <= '9' ? strtoull(word, &end, 10)
                                                                                  : ULLONG_MAX;
    *number = (uint32_t)value;
    return errno == 0 && value <= INT32_MAX && *end == '\0';
}

/* The ranks of a launcher. mpirun is asked before Slurm, as Slurm counts what mpirun itself is started on. */
static bool find_rank(uint32_t *k, uint32_t *n)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (read_number(getenv(names[i][0]), k) && read_number(getenv(names[i][1]), n) && *k < *n) {
            return true;
        }
    }
    *k = 0;
    *n = 1;
    return false;
}

/* A job of an array of jobs. */
static bool find_job(uint32_t *k, uint32_t *n)
{
    uint32_t id = 0, first = 0, step = 1;
    (void)read_number(getenv("SLURM_ARRAY_TASK_MIN"), &first);
    if (!read_number(getenv("SLURM_ARRAY_TASK_STEP"), &step) || step == 0) {
        step = 1;
    }
    if (read_number(getenv("SLURM_ARRAY_TASK_ID"), &id) && read_number(getenv("SLURM_ARRAY_TASK_COUNT"), n) &&
        id >= first && (id - first) % step == 0 && (id - first) / step < *n) {
        *k = (id - first) / step;
        return true;
    }
    *k = 0;
    *n = 1;
    return false;
}

/* Ranks inside of a job of an array are parts of its part. */
static int choose_auto(const slc_cli_command *command, slc_cli_part *part)
{
    uint32_t job, jobs, rank, ranks;
    const bool has_job = find_job(&job, &jobs), has_rank = find_rank(&rank, &ranks);
    if (!has_job && !has_rank) {
        return slc_cli_wrong(command, "--part auto: no launcher says which part this is (SLURM_PROCID and "
                                      "SLURM_NTASKS, SLURM_ARRAY_TASK_ID and _COUNT, "
                                      "OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE)");
    }
    if ((uint64_t)jobs * ranks > INT32_MAX) {
        return slc_cli_wrong(command, "--part auto: %u jobs of %u ranks are too many parts", jobs, ranks);
    }
    part->part = job * ranks + rank;
    part->n = jobs * ranks;
    return SLC_CLI_GO_ON;
}

static int choose(const slc_cli_command *command, slc_cli_part *part)
{
    if (strcmp(part->word, "auto") == 0) {
        return choose_auto(command, part);
    }
    char first[16] = "";
    const char *slash = strchr(part->word, '/');
    const size_t size = slash != NULL ? (size_t)(slash - part->word) : 0;
    if (size > 0 && size < sizeof first) {
        memcpy(first, part->word, size);
    }
    if (!read_number(first, &part->part) || !read_number(slash + 1, &part->n) || part->part >= part->n) {
        return slc_cli_wrong(command, "--part takes K/N with K from 0 to N - 1, or auto, not '%s'",
                             part->word);
    }
    return SLC_CLI_GO_ON;
}

/* ---- names of outputs -------------------------------------------------------------------------- */

/* The name with the part in place of each %p, as wide as the last part's; NULL if there is no memory. */
static char *with_part(const char *name, const slc_cli_part *part)
{
    char digits[12];
    const int width = snprintf(digits, sizeof digits, "%" PRIu32, part->n - 1);
    (void)snprintf(digits, sizeof digits, "%0*" PRIu32, width, part->part);
    size_t n = 0;
    for (const char *at = name; (at = strstr(at, "%p")) != NULL; at += 2) {
        n++;
    }
    char *made = malloc(strlen(name) + n * sizeof digits + 1), *to = made;
    for (const char *next; made != NULL && (next = strstr(name, "%p")) != NULL; name = next + 2) {
        memcpy(to, name, (size_t)(next - name));
        to = stpcpy(to + (next - name), digits);
    }
    if (made != NULL) {
        memcpy(to, name, strlen(name) + 1);
    }
    return made;
}

/* Results in HDF5 say which part they are, and are not replaced by another one; other files say nothing. */
static bool tells_part(const slc_cli_command *command, const slc_cli_option *option, const char *name)
{
    const char *form = slc_cli_word(command, "form");
    const bool results = strcmp(option->name, "stats") == 0 ||
                         (strcmp(option->name, "output") == 0 && strcmp(command->name, "label") != 0);
    if (form != NULL) {
        return results && strcmp(form, "hdf5") == 0;
    }
    static const char *const others[] = {".arrow", ".arrows", ".npy", ".npz", ".csv", ".json"};
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        other = other || slc_cli_ends_with(name, others[i]);
    }
    return results && !other;
}

/* Results that no part can be joined of. CSV and JSON are text, of which whoever likes puts one after the
 * other. */
static bool cannot_be_joined(const slc_cli_command *command, const slc_cli_option *option, const char *name)
{
    static const char *const forms[] = {"arrow", "arrow-stream", "npy", "npz"};
    static const char *const ends[] = {".arrow", ".arrows", ".npy", ".npz"};
    const char *form = slc_cli_word(command, "form");
    const bool results = strcmp(option->name, "stats") == 0 ||
                         (strcmp(option->name, "output") == 0 && strcmp(command->name, "label") != 0);
    bool other = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        other = other || (form != NULL ? strcmp(form, forms[i]) == 0 : slc_cli_ends_with(name, ends[i]));
    }
    return results && other;
}

bool slc_cli_part_taken(const slc_cli_command *command, const slc_cli_part *part, const char *name)
{
    slc_io_joined there;
    struct stat about;
    if (part->n < 2 || name == NULL || stat(name, &about) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    (void)slc_io_join(&name, 1, NULL, false, NULL, &there, NULL);
    if (there.parts != part->n || there.part == part->part) {
        return false;
    }
    slc_cli_say(command->name,
                "%s is part %" PRIu32 "/%" PRIu32 " of a run, and is not replaced by part %" PRIu32
                "/%" PRIu32 ": each needs a name of its own: %%p in it is the part",
                name, there.part, there.parts, part->part, part->n);
    return true;
}

/* A lock on NAME.lock, which ends with the process: two that write one name at once would both find that it
 * is nobody's. Where the file system has no locks, the second look at the end is all there is. */
static int claim(const slc_cli_command *command, slc_cli_part *part, const char *name)
{
    const struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat ours, there;
    char *lock = malloc(strlen(name) + sizeof ".lock");
    if (lock == NULL) {
        slc_cli_say(command->name, "no memory for the name of an output");
        return SLC_CLI_FAILED;
    }
    (void)stpcpy(stpcpy(lock, name), ".lock");
    int file;
    bool again;
    do { /* who had it may have removed it in between */
        file = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file >= 0 && fcntl(file, F_SETLK, &all) != 0 && (errno == EACCES || errno == EAGAIN)) {
            slc_cli_say(command->name,
                        "%s is being written by another process: each part needs a name of its own: %%p in "
                        "it is the part",
                        name);
            (void)close(file);
            free(lock);
            return SLC_CLI_FAILED;
        }
        again = file >= 0 && fstat(file, &ours) == 0 &&
                (stat(lock, &there) != 0 || there.st_ino != ours.st_ino);
        if (again) {
            (void)close(file);
        }
    } while (again);
    part->lock = lock;
    part->lock_file = file;
    return SLC_CLI_GO_ON;
}

/* A device or a pipe is nobody's. */
static bool is_file(const char *name)
{
    struct stat about;
    return strcmp(name, "-") != 0 && (stat(name, &about) != 0 || S_ISREG(about.st_mode));
}

static int name_output(const slc_cli_command *command, const slc_cli_option *option, void *options,
                       slc_cli_part *part, size_t *n_names)
{
    const char *name = NULL;
    void *member = (unsigned char *)options + option->member;
    if (slc_cli_kind_of(option) == SLC_CLI_OUTPUT) {
        memcpy(&name, member, sizeof name);
    }
    if (name == NULL) {
        return SLC_CLI_GO_ON;
    }
    const bool told = tells_part(command, option, name);
    const bool shared = strstr(name, "%p") == NULL && part->n > 1 && is_file(name);
    if (strstr(name, "%p") != NULL && part->n > 1 && cannot_be_joined(command, option, name)) {
        return slc_cli_wrong(
            command, "--part: --%s %s: parts are joined as HDF5 alone (sluice join): a name such as %%p.h5",
            option->name, name);
    }
    if (strstr(name, "%p") != NULL && *n_names < SLC_CLI_PART_NAMES) {
        char *made = with_part(name, part);
        if (made == NULL) {
            slc_cli_say(command->name, "no memory for the name of an output");
            return SLC_CLI_FAILED;
        }
        part->name[(*n_names)++] = made;
        name = made;
        memcpy(member, &name, sizeof name);
    } else if (shared && !told) {
        return slc_cli_wrong(
            command, "--%s %s would be written by each of the %" PRIu32 " parts: %%p in the name is the part",
            option->name, name, part->n);
    }
    const int status = shared ? claim(command, part, name) : SLC_CLI_GO_ON;
    return status == SLC_CLI_GO_ON && told && slc_cli_part_taken(command, part, name) ? SLC_CLI_FAILED
                                                                                      : status;
}

int slc_cli_part_choose(const slc_cli_command *command, void *options, slc_cli_part *part)
{
    size_t n_names = 0;
    int status = part->word != NULL ? choose(command, part) : SLC_CLI_GO_ON;
    for (size_t i = 0; part->word != NULL && i < command->n_options && status == SLC_CLI_GO_ON; i++) {
        status = name_output(command, &command->options[i], options, part, &n_names);
    }
    return status;
}

void slc_cli_part_clear(slc_cli_part *part)
{
    for (size_t i = 0; i < SLC_CLI_PART_NAMES; i++) {
        free(part->name[i]);
        part->name[i] = NULL;
    }
    if (part->lock != NULL) {
        if (part->lock_file >= 0) {
            (void)unlink(part->lock); /* before it is anybody else's */
            (void)close(part->lock_file);
        }
        free(part->lock);
        part->lock = NULL;
    }
}

/* ---- what results say of it -------------------------------------------------------------------- */

/* Options on which results do not depend. */
static bool matters(const slc_cli_option *option)
{
    static const char *const not [] = {"part",   "threads",       "batch",       "bind",   "simd",
                                       "device", "quiet",         "form",        "json",   "timing",
                                       "repeat", "device-memory", "compression", "warmup", "display"};
    bool does = slc_cli_kind_of(option) != SLC_CLI_OUTPUT;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
        does = does && strcmp(option->name, not [i]) != 0;
    }
    return does;
}

/* "velo --geometry=g.bin (4711 bytes) --fast"; the caller frees it. */
static char *fingerprint(const slc_cli_command *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    (void)fputs(command->name, to);
    for (size_t i = 0; i < command->n_options; i++) {
        const slc_cli_option *option = &command->options[i];
        const char *word = slc_cli_word(command, option->name);
        struct stat about;
        if (word == NULL || !matters(option)) {
            continue;
        }
        (void)fprintf(to, " --%s%s%s", option->name, *word != '\0' ? "=" : "", word);
        if (slc_cli_kind_of(option) == SLC_CLI_INPUT && stat(word, &about) == 0) {
            (void)fprintf(to, " (%lld bytes)", (long long)about.st_size);
        }
    }
    return fclose(to) == 0 ? text : NULL;
}

/* Names and sizes of all inputs, by which parts are known to be of one run. */
static slc_status put_inputs(char *const *inputs, int n_inputs, slc_io_writer *results, slc_error *error)
{
    enum { DIGITS = 24 };
    const size_t n = (size_t)n_inputs;
    char *digits = calloc(n, DIGITS);
    const char **sizes = calloc(n, sizeof *sizes);
    slc_status status = digits != NULL && sizes != NULL
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for the names of the inputs");
    for (size_t i = 0; i < n && status == SLC_OK && sizes != NULL; i++) {
        struct stat about = {.st_size = 0};
        (void)stat(inputs[i], &about); /* it was there when the inputs were shared out */
        (void)snprintf(digits + i * DIGITS, DIGITS, "%lld", (long long)about.st_size);
        sizes[i] = digits + i * DIGITS;
    }
    status = status == SLC_OK
                 ? slc_io_results_names(results, "/", "part_inputs", n, (const char *const *)inputs, error)
                 : status;
    status = status == SLC_OK ? slc_io_results_names(results, "/", "part_sizes", n, sizes, error) : status;
    free(sizes);
    free(digits);
    return status;
}

slc_status slc_cli_part_put(const slc_cli_command *command, const slc_cli_part *part, char *const *inputs,
                            int n_inputs, const char *whole, slc_io_writer *results, slc_error *error)
{
    if (part->n == 0) {
        return SLC_OK;
    }
    char *text = fingerprint(command);
    slc_status status = text != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for the options");
    status = status == SLC_OK ? slc_io_results_number(results, "part", part->part, error) : status;
    status = status == SLC_OK ? slc_io_results_number(results, "parts", part->n, error) : status;
    status = status == SLC_OK ? slc_io_results_text(results, "part_options", text, error) : status;
    status = status == SLC_OK ? put_inputs(inputs, n_inputs, results, error) : status;
    if (status == SLC_OK && whole != NULL) {
        status = slc_io_results_names(results, "/", "part_whole", 1, &whole, error);
    }
    free(text);
    return status;
}
