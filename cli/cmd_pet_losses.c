/* SPDX-License-Identifier: Apache-2.0
 * What the sequence counters of raw files' datagrams tell: what was lost on the way to them, told under
 * --quiet, too, and what of them is not used. */
#include "cli_sums.h"
#include "cmd_pet_frames.h"

#include <inttypes.h>

bool slc_pet_loss_is_large(uint64_t lost, uint64_t kept)
{
    return lost > 0 && (double)lost > 1e-3 * ((double)lost + (double)kept);
}

void slc_pet_unused_tell(const char *command, const char *path, uint64_t repeated, uint64_t foreign,
                         bool most)
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
                    "used%s",
                    path, colon, foreign,
                    most ? "; as they are so many, --sequence may have named a place at which no counter "
                           "stands"
                         : "");
    }
}

bool slc_pet_losses_tell(const slc_io_pet_inputs *inputs, const char *command, bool tolerate)
{
    const slc_io_pet_losses *l = &inputs->losses;
    const char *path = inputs->n == 1 ? inputs->input[0].path : "all inputs";
    const char *status = "; more than 0.1 %: exit status 1 (--tolerate-loss: 0)";
    const uint64_t kept = inputs->frames, frames = (uint64_t)(l->lost_frames + 0.5);
    const uint64_t foreign = (uint64_t)(l->foreign_frames + 0.5);
    const bool too_many = slc_pet_loss_is_large(frames + foreign, kept);
    if (l->lost > 0) {
        slc_cli_say(command,
                    "%s: lost %" PRIu64 " datagrams, about %" PRIu64
                    " frames (%.3g %%), by the modules' sequence counters%s",
                    path, l->lost, frames, 100 * slc_cli_ratio((double)frames, (double)frames + (double)kept),
                    too_many && foreign == 0 && !tolerate ? status : "");
    }
    slc_pet_unused_tell(command, path, l->repeated, l->foreign, foreign > kept);
    if (too_many && foreign > 0 && !tolerate) {
        slc_cli_say(command, "%s: about %" PRIu64 " frames are lost or not used%s", path, frames + foreign,
                    status);
    }
    return !too_many || tolerate;
}

void slc_pet_outside_tell(const char *command, const char *path, uint64_t outside)
{
    if (outside > 0) {
        slc_cli_say(command, "%s: %" PRIu64 " pairs are outside of the sinogram", path, outside);
    }
}
