/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults in detector data as a command prints them: in its table, in its JSON object, and on standard error.
 */
#ifndef SLUICE_CLI_FAULTS_H
#define SLUICE_CLI_FAULTS_H

#include <sluice/base.h>

struct json_t;

/* Lines of a table, "faults         3 × name"; "none" where there are none. */
void slc_cli_print_faults(const slc_faults *faults);
/* {"name": count, …} of the codes that were counted. NULL if there is no memory. */
struct json_t *slc_cli_faults_json(const slc_faults *faults);
/* Of those of the code that are kept, the one of the lowest event; NULL without any. */
const slc_fault *slc_cli_first_fault(const slc_faults *faults, slc_fault_code code);
/* One line for each code that was counted, with the place of the first: "sluice COMMAND: PATH: 3 × name
 * (text), first at event 0, SOURCE 1200, byte 24 of the event". `source` is what a fault's module is called.
 */
void slc_cli_tell_faults(const char *command, const char *path, const char *source, const slc_faults *faults);
/* The same of the first fault alone. */
void slc_cli_tell_first_fault(const char *command, const char *path, const char *source,
                              const slc_faults *faults);
/* A pipe that a signal ended inside an event: the rest of that was not read, which is no damage. Takes the
 * fault out, and returns how many lost events that are none. */
uint64_t slc_cli_take_back_cut(const char *path, slc_faults *faults);

#endif
