/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread pool, the team, for parts of one piece of work: fork and join, microseconds apart. Its threads are
 * started once, by the first run that has parts for them, and wait, spinning for a moment, then asleep. A
 * child of fork() may go on with its parent's teams, also close them: it gets threads of its own.
 */
#ifndef SLUICE_BASE_TEAM_H
#define SLUICE_BASE_TEAM_H

#include <sluice/base.h>

typedef struct slc_team slc_team;

/* `threads` from 1, the caller's own thread included. */
slc_status slc_team_open(uint32_t threads, slc_team **team);
void slc_team_close(slc_team *team);
uint32_t slc_team_size(const slc_team *team);

/* Calls work(context, part) for every part from 0 to parts - 1, each once, on the threads of the team (the
 * caller's too), and returns when all have returned. What was written before is seen by the parts, what they
 * wrote is seen afterwards. Part p runs on thread p where there are no more parts than threads. Allocates
 * nothing but, the first time, the threads; where the system does not give them all (a limit on them), those
 * that there are do all parts. NULL is a team of the caller alone. */
void slc_team_run(slc_team *team, uint32_t parts, void (*work)(void *context, uint32_t part), void *context);

/* Processors that this process may use, at least 1. */
uint32_t slc_team_processors(void);

#endif
