/* SPDX-License-Identifier: Apache-2.0
 * The processes of a run. */
#include "mpi_world.h"

#include "cli_options.h"
#include "cli_talk.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process that is not heard has said. */
static struct {
    char *text;
    size_t size;
    FILE *to;
    size_t told; /* of its bytes */
} kept;
static bool has_begun, others_failed;

slc_mpi_world slc_mpi_here(void)
{
    slc_mpi_world world = {0, 1};
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    return world;
}

void slc_mpi_hush(void)
{
    if (slc_mpi_here().rank > 0) {
        (void)freopen("/dev/null", "w", stdout);
        kept.to = open_memstream(&kept.text, &kept.size);
        slc_cli_talk_into(kept.to);
    }
}

bool slc_mpi_all(bool well)
{
    int mine = well, all = 0;
    (void)MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    others_failed = others_failed || (well && all == 0);
    return all != 0;
}

bool slc_mpi_begin(void)
{
    has_begun = true;
    return slc_mpi_all(true);
}

void slc_mpi_say(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s %s: rank %d: ", slc_cli_program.name, command, slc_mpi_here().rank);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun two lines above */
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

size_t slc_mpi_said(void)
{
    return kept.to != NULL && fflush(kept.to) == 0 ? kept.size : 0;
}

/* In pieces, the last of which is not full. */
void slc_mpi_say_all(size_t since)
{
    enum { PIECE = 4096 };
    const slc_mpi_world world = slc_mpi_here();
    const size_t behind = slc_mpi_said();
    for (int r = 1; r < world.size && world.rank == 0; r++) {
        char text[PIECE];
        int got = PIECE;
        while (got == PIECE) {
            MPI_Status about;
            (void)MPI_Recv(text, PIECE, MPI_BYTE, r, 3, MPI_COMM_WORLD, &about);
            (void)MPI_Get_count(&about, MPI_BYTE, &got);
            (void)fwrite(text, 1, (size_t)got, slc_cli_talk());
        }
    }
    for (int own = PIECE; own == PIECE && world.rank > 0; since += PIECE) {
        own = behind - since < PIECE ? (int)(behind - since) : PIECE;
        (void)MPI_Send(own > 0 ? kept.text + since : "", own, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    kept.told = behind;
}

slc_status slc_mpi_agree(const slc_mpi_world *world, slc_status status, slc_error *error)
{
    int mine = status < 0 ? world->rank : INT_MAX, first = INT_MAX;
    (void)MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX) {
        return SLC_OK;
    }
    slc_error shared = {.status = status};
    if (world->rank == first && error != NULL) {
        shared = *error;
        shared.status = status;
    }
    (void)MPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, first, MPI_COMM_WORLD);
    if (error != NULL) {
        *error = shared;
    }
    return shared.status;
}

int slc_mpi_exit_status(int status)
{
    const slc_mpi_world world = slc_mpi_here();
    /* The others, if there are any, wait for this one in slc_mpi_begin. */
    (void)(has_begun || slc_mpi_all(false));
    const bool complains = status != SLC_CLI_DONE && !others_failed;
    int first = complains ? world.rank : INT_MAX, lowest = INT_MAX, all = status;
    (void)MPI_Allreduce(&first, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    (void)MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (kept.to != NULL) {
        slc_cli_talk_into(NULL);
        (void)fclose(kept.to);
        for (char *line = kept.text + kept.told, *end;
             lowest == world.rank && (end = strchr(line, '\n')) != NULL; line = end + 1) {
            (void)fprintf(stderr, "rank %d: %.*s\n", world.rank, (int)(end - line), line);
        }
        free(kept.text);
    }
    return all;
}
