/* SPDX-License-Identifier: Apache-2.0
 * What the sequence counters of raw files' datagrams tell: what was lost on the way to them, told under
 * --quiet, too, and what of them is not used. */
#include "cli_sums.h"
#include "cmd_pet_frames.h"

#include <inttypes.h>
#include <jansson.h>

void slc_pet_losses_add(slc_pet_losses *to, const slc_io_pet_raw *raw)
{
    const slc_io_pet_module *modules = slc_io_pet_raw_modules(raw);
    to->known = to->known || modules != NULL;
    for (int i = 0; i < SLC_PET_MAX_MODULES && modules != NULL; i++) {
        const slc_io_pet_module *m = &modules[i];
        to->lost += m->lost;
        to->repeated += m->repeated;
        to->foreign += m->foreign;
        to->lost_frames += m->lost > 0 ? (double)m->lost * (double)m->frames / (double)m->datagrams : 0;
    }
}

bool slc_pet_loss_is_large(uint64_t lost, uint64_t kept)
{
    return lost > 0 && (double)lost > 1e-3 * ((double)lost + (double)kept);
}

void slc_pet_unused_tell(const char *command, const char *path, uint64_t repeated, uint64_t foreign)
{
    const char *colon = path[0] != '\0' ? ": " : "";
    if (repeated > 0) {
        slc_cli_say(command, "%s%s%" PRIu64 " repeated datagrams, copies of others, are not used", path,
                    colon, repeated);
    }
    if (foreign > 0) {
        slc_cli_say(command,
                    "%s%s%" PRIu64
                    " foreign datagrams, whose numbers are not of their module's sequence, are not "
                    "used",
                    path, colon, foreign);
    }
}

bool slc_pet_losses_tell(const slc_pet_inputs *inputs, const char *command)
{
    const slc_pet_losses *l = &inputs->losses;
    const char *path = inputs->n == 1 ? inputs->input[0].path : "all inputs";
    const uint64_t kept = slc_pet_inputs_frames(inputs), frames = (uint64_t)(l->lost_frames + 0.5);
    const bool too_many = slc_pet_loss_is_large(frames, kept);
    if (l->lost > 0) {
        slc_cli_say(command,
                    "%s: lost %" PRIu64 " datagrams, about %" PRIu64
                    " frames (%.3g %%), by the modules' sequence counters%s",
                    path, l->lost, frames, 100 * slc_cli_ratio((double)frames, (double)frames + (double)kept),
                    too_many && !inputs->tolerate_loss
                        ? "; more than 0.1 %: exit status 1 (--tolerate-loss: 0)"
                        : "");
    }
    slc_pet_unused_tell(command, path, l->repeated, l->foreign);
    return !too_many || inputs->tolerate_loss;
}

void slc_pet_losses_json(const slc_pet_inputs *inputs, json_t *object)
{
    const slc_pet_losses *l = &inputs->losses;
    /* Without counters nothing is known: no number is better than a 0. */
    (void)json_object_set_new(object, "lost", l->known ? json_integer((json_int_t)l->lost) : json_null());
    (void)json_object_set_new(object, "lost_frames",
                              l->known ? json_integer((json_int_t)(l->lost_frames + 0.5)) : json_null());
    (void)json_object_set_new(object, "repeated", json_integer((json_int_t)l->repeated));
    (void)json_object_set_new(object, "foreign", json_integer((json_int_t)l->foreign));
}
