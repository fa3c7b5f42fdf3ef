/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting, skipping and telling for check programs; memory between guard pages.
 */
#include "support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TOLD_PER_TARGET = 10 };

static struct {
    uint64_t seed;
    slc_simd_target only; /* SLUICE_SIMD, or SLC_SIMD_AUTO */
    slc_simd_target target;
    uint64_t values, failures; /* of the target */
    unsigned targets, failed;
} check;
static const char *volatile doing = "nothing yet";

/* A guard page was touched, or the processor lacks an instruction. Only calls that are safe in a handler. */
static void on_signal(int number)
{
    const char *what = number == SIGILL ? "unknown instruction in " : "forbidden memory touched in ";
    const char *const parts[] = {slc_simd_name(check.target), ": FAILED: ", what, doing, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) {
            break;
        }
    }
    _exit(EXIT_FAILURE);
}

void slc_check_begin(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[argc - 1] : NULL;
    if (text == NULL || *text < '0' || *text > '9') {
        text = getenv("SLUICE_SEED");
    }
    check.seed = text != NULL ? strtoull(text, NULL, 0) : 20221;
    slc_error error;
    if (slc_simd_choose(NULL, &check.only, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
    (void)sigaction(SIGILL, &action, NULL);
    (void)printf("seed %llu\n", (unsigned long long)check.seed);
    (void)fflush(stdout);
}

uint64_t slc_check_seed(void)
{
    return check.seed;
}

bool slc_check_target(slc_simd_target target)
{
    if (!slc_simd_compiled(target)) {
        return false;
    }
    const bool wanted = check.only == SLC_SIMD_AUTO || check.only == target;
    if (!wanted || !slc_simd_runs(target)) {
        (void)printf("%s: SKIPPED, %s\n", slc_simd_name(target),
                     wanted ? "cannot run here" : "SLUICE_SIMD names another");
        (void)fflush(stdout);
        return false;
    }
    check.target = target;
    check.values = check.failures = 0;
    check.targets++;
    return true;
}

void slc_check_doing(const char *text)
{
    doing = text;
}

void slc_check_values(uint64_t n)
{
    check.values += n;
}

void slc_check_fail(const char *format, ...)
{
    if (check.failures++ >= TOLD_PER_TARGET) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s: FAILED: ", slc_simd_name(check.target));
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

void slc_check_passed(const char *format, ...)
{
    if (check.values == 0) {
        slc_check_fail("not one value was compared");
    }
    va_list arguments;
    va_start(arguments, format);
    (void)printf("%s: ", slc_simd_name(check.target));
    (void)vprintf(format, arguments);
    va_end(arguments);
    if (check.failures > 0) {
        check.failed++;
        (void)printf(", %llu FAILURES\n", (unsigned long long)check.failures);
    } else if (check.values >= 10000000) {
        (void)printf(", %llu million values ok\n", (unsigned long long)(check.values / 1000000));
    } else {
        (void)printf(", %llu values ok\n", (unsigned long long)check.values);
    }
    (void)fflush(stdout);
}

void slc_check_targets(void (*run)(slc_simd_target target, uint64_t seed), const char *what)
{
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (slc_check_target((slc_simd_target)t)) {
            run((slc_simd_target)t, slc_check_seed());
            slc_check_passed("%s", what);
        }
    }
}

int slc_check_end(void)
{
    if (check.targets == 0) {
        (void)fprintf(stderr, "FAILED: no target ran\n");
        return EXIT_FAILURE;
    }
    return check.failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

slc_check_memory slc_check_map(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (bytes + page - 1) / page * page;
    const int zero = open("/dev/zero", O_RDWR); /* MAP_ANONYMOUS is no part of POSIX 2008 */
    unsigned char *map = mmap(NULL, inner + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    (void)close(zero);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0 ||
        mprotect(map + page + inner, page, PROT_NONE) != 0) {
        (void)fprintf(stderr, "FAILED: no memory\n");
        exit(EXIT_FAILURE);
    }
    return (slc_check_memory){.first = map + page, .end = map + page + inner};
}

void slc_check_unmap(slc_check_memory *memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)munmap(memory->first - page, (size_t)(memory->end - memory->first) + 2 * page);
    *memory = (slc_check_memory){0};
}
