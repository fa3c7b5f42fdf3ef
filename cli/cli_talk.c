/* SPDX-License-Identifier: Apache-2.0
 * Complaints, progress, signals, the end of standard output. */
#include "cli_talk.h"
#include "cli_options.h"

#include <sluice/sluice.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *talk; /* NULL: standard error */
static void (*also)(void *context, const char *line);
static void *also_context;
static bool line_is_shown;
static atomic_int caught; /* threads look at it, too: without locks, so that a handler may set it */
static atomic_bool cut;   /* reading was ended for it */
static int no_input = -1; /* /dev/null */

/* Inputs that may stay silent for ever, by device and number. */
enum { MAX_PIPES = 16, MAX_FILES = 1024 };
static struct {
    dev_t device;
    ino_t number;
} pipes[MAX_PIPES];
static int n_pipes;

void slc_cli_talk_also(void (*to)(void *context, const char *line), void *context)
{
    also = to;
    also_context = context;
}

FILE *slc_cli_talk(void)
{
    return talk != NULL ? talk : stderr;
}

void slc_cli_talk_into(FILE *to)
{
    talk = to;
}

static void wipe_line(void)
{
    if (line_is_shown) {
        (void)fputs("\r\033[K", stderr);
        line_is_shown = false;
    }
}

static void write_line(const char *command, const char *format, va_list arguments)
{
    if (caught == SIGPIPE) {
        return; /* who reads has left, and the end is that of this signal: there is nothing to complain of */
    }
    wipe_line();
    FILE *to = slc_cli_talk();
    (void)fprintf(to, command[0] != '\0' ? "%s %s: " : "%s%s: ", slc_cli_program.name, command);
    (void)vfprintf(to, format, arguments);
    (void)fputc('\n', to);
}

void slc_cli_note(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(command, format, arguments);
    va_end(arguments);
}

void slc_cli_tell_unlocked(const char *command, uint64_t bytes)
{
    if (bytes > 0) {
        slc_cli_say(command,
                    "%.1f MiB of memory could not be page-locked: copies to and from the GPU take a detour",
                    (double)bytes / (1 << 20));
    }
}

void slc_cli_say(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(command, format, arguments);
    va_end(arguments);
    if (also != NULL && caught != SIGPIPE) {
        char line[512];
        va_start(arguments, format);
        (void)vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        also(also_context, line);
    }
}

void slc_cli_progress_begin(slc_cli_progress *progress, const char *command, bool quiet)
{
    const double now = slc_clock_seconds();
    *progress = (slc_cli_progress){.command = command,
                                   .unit = "events",
                                   .wanted = !quiet && talk == NULL && isatty(STDERR_FILENO) == 1,
                                   .began = now,
                                   .shown = now};
}

void slc_cli_progress_show(slc_cli_progress *progress, uint64_t done, uint64_t of)
{
    if (!progress->wanted) {
        return;
    }
    const double now = slc_clock_seconds();
    const double wait = line_is_shown ? 0.2 : 1.0;
    if (now - progress->shown < wait) {
        return;
    }
    progress->shown = now;
    line_is_shown = true;
    const double rate = (double)done / (now - progress->began);
    (void)fprintf(stderr, "\r\033[K%s %s: %llu", slc_cli_program.name, progress->command,
                  (unsigned long long)done);
    if (of > 0) {
        (void)fprintf(stderr, " of %llu", (unsigned long long)of);
    }
    (void)fprintf(stderr, " %s, %.0f %s/s", progress->unit, rate, progress->unit);
    (void)fflush(stderr);
}

void slc_cli_progress_end(slc_cli_progress *progress)
{
    progress->wanted = false;
    wipe_line();
}

/* A read that was interrupted is begun again, and a pipe may stay silent for ever: it ends here. */
static void end_pipes(void)
{
    struct stat there;
    (void)dup2(no_input, STDIN_FILENO);
    for (int file = STDERR_FILENO + 1; n_pipes > 0 && file < MAX_FILES; file++) {
        const bool is_open = file != no_input && fstat(file, &there) == 0;
        for (int i = 0; is_open && i < n_pipes; i++) {
            if (there.st_dev == pipes[i].device && there.st_ino == pipes[i].number) {
                (void)dup2(no_input, file);
            }
        }
    }
}

static bool asks_for_end(int number)
{
    return number == SIGINT || number == SIGTERM;
}

static void on_signal(int number)
{
    const int saved = errno;
    if (asks_for_end(number) && asks_for_end(caught)) { /* the second one, which may be of the other kind */
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    caught = number;
    if (no_input >= 0) {
        end_pipes();
    }
    errno = saved;
}

void slc_cli_end_with_signals(char *const *inputs, int n)
{
    for (int i = 0; i < n && n_pipes < MAX_PIPES; i++) {
        struct stat there;
        if (stat(inputs[i], &there) == 0 && S_ISFIFO(there.st_mode)) {
            pipes[n_pipes].device = there.st_dev;
            pipes[n_pipes++].number = there.st_ino;
        }
    }
}

void slc_cli_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    no_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction now;
        /* The second of a kind ends at once. A terminal that closes sends two hang-ups, and each write to a
         * closed pipe is another signal: nobody meant that. */
        const bool often = numbers[i] == SIGHUP || numbers[i] == SIGPIPE;
        action.sa_flags = often ? 0 : (int)SA_RESETHAND;
        /* A signal that the parent made us ignore (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

bool slc_cli_interrupted(void)
{
    return caught != 0;
}

bool slc_cli_stop(void *context)
{
    (void)context;
    if (!slc_cli_interrupted()) {
        return false;
    }
    cut = true;
    return true;
}

bool slc_cli_cut(void)
{
    return cut && caught != SIGPIPE;
}

bool slc_cli_broken(void)
{
    return caught == SIGPIPE;
}

void slc_cli_accept_signal(void)
{
    caught = 0;
}

void slc_cli_end_as_signalled(void)
{
    if (caught != 0) {
        (void)signal(caught, SIG_DFL);
        (void)raise(caught);
    }
}

bool slc_cli_finish_output(void)
{
    int wrong = ferror(stdout) != 0 ? EIO : 0;
    if (fflush(stdout) != 0) {
        wrong = errno;
    }
    if (wrong != 0) {
        slc_cli_say("", "standard output: cannot write: %s", strerror(wrong));
        return false;
    }
    return true;
}

bool slc_cli_print_json(const char *command, json_t *object)
{
    const bool made = object != NULL;
    if (!made) {
        slc_cli_say(command, "no memory for the JSON output");
    } else {
        /* A failed write shows in the stream and is told by slc_cli_finish_output. */
        (void)json_dumpf(object, stdout, JSON_INDENT(2));
        (void)fputc('\n', stdout);
    }
    json_decref(object);
    return made;
}

/* How many bytes of the text are its first character; 0: they are no UTF-8. */
static size_t character(const char *text)
{
    for (size_t size = 1; size <= 4 && text[size - 1] != '\0'; size++) {
        json_t *one = json_stringn(text, size);
        json_decref(one);
        if (one != NULL) {
            return size;
        }
    }
    return 0;
}

json_t *slc_cli_json_text(const char *text)
{
    json_t *string = text != NULL ? json_string(text) : NULL;
    if (string != NULL || text == NULL) {
        return text != NULL ? string : json_null();
    }
    char *escaped = malloc(4 * strlen(text) + 1), *to = escaped;
    while (escaped != NULL && *text != '\0') {
        const size_t size = character(text);
        if (size == 0) {
            (void)snprintf(to, 5, "\\x%02x", (unsigned char)*text);
            to += 4;
        } else if (*text == '\\') {
            memcpy(to, "\\\\", 2);
            to += 2;
        } else {
            memcpy(to, text, size);
            to += size;
        }
        text += size > 0 ? size : 1;
    }
    string = escaped != NULL ? json_stringn(escaped, (size_t)(to - escaped)) : NULL;
    free(escaped);
    return string;
}

/* Appends a word, in single quotes where a shell would not take it as it is. Returns the new end. */
static char *append_word(char *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:+,@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        const size_t size = strlen(word);
        memcpy(to, word, size);
        return to + size;
    }
    *to++ = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *word;
        }
    }
    *to++ = '\'';
    return to;
}

char *slc_cli_command_line(const char *command, int argc, char **argv)
{
    size_t size = strlen(slc_cli_program.name) + sizeof " " + strlen(command);
    for (int i = 1; i < argc; i++) {
        size += 4 * strlen(argv[i]) + 3;
    }
    char *line = malloc(size);
    if (line == NULL) {
        return NULL;
    }
    char *end = line + snprintf(line, size, "%s %s", slc_cli_program.name, command);
    for (int i = 1; i < argc; i++) {
        *end++ = ' ';
        end = append_word(end, argv[i]);
    }
    *end = '\0';
    return line;
}
