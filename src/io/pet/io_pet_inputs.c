/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw files as inputs, one after the other. A file that follows the one before in its acquisition goes on
 * with what is known of the modules' counters; what is wrong with a file ends that file alone, and is kept.
 */
#include "io/pet/io_pet_raw.h"

#include <stdlib.h>

enum {
    MOST = 1 << 22, /* frames that are looked at */
    FIRST = 512,    /* that are kept, and every so many after them: */
    EVERY = 128
};

void slc_io_pet_seen_add(slc_io_pet_seen *seen, const slc_pet_frame *frames, size_t n)
{
    const size_t left = (size_t)(MOST - seen->frames), take = n < left ? n : left;
    for (size_t i = 0; i < take; i++) {
        const slc_pet_frame *f = &frames[i];
        const uint64_t number = seen->frames + i;
        if ((number < FIRST || number % EVERY == 0) && seen->kept < SLC_IO_PET_SEEN_FRAMES) {
            seen->frame[seen->kept++] = *f;
        }
        seen->module[f->module / 64] |= UINT64_C(1) << f->module % 64;
        seen->units |= 1U << (f->head_unit & 15);
        seen->highest_x = f->x > seen->highest_x ? f->x : seen->highest_x;
        seen->highest_y = f->y > seen->highest_y ? f->y : seen->highest_y;
    }
    seen->frames += take;
}

slc_status slc_io_pet_inputs_open(const char *const *paths, size_t n, slc_io_pet_inputs *inputs,
                                  slc_error *error)
{
    *inputs = (slc_io_pet_inputs){.input = calloc(n, sizeof *inputs->input), .n = n};
    if (n > 0 && inputs->input == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu inputs", n);
    }
    for (size_t i = 0; i < n; i++) {
        inputs->input[i].path = paths[i];
        inputs->input[i].other = inputs->input[i].before = -1;
    }
    return SLC_OK;
}

void slc_io_pet_inputs_close(slc_io_pet_inputs *inputs)
{
    slc_io_pet_raw_close(inputs->raw);
    slc_io_pet_raw_close(inputs->raw_before);
    slc_io_pet_format_close(inputs->first_format);
    slc_columns_clear(&slc_pet_marks_schema, &inputs->marks);
    free(inputs->input);
    *inputs = (slc_io_pet_inputs){.n = 0};
}

/* ---- the next file ----------------------------------------------------------------------------- */

/* Compares the file that was opened with those before it, as far as they say what they are of. */
static slc_status check_series(slc_io_pet_inputs *inputs)
{
    slc_io_pet_input *input = &inputs->input[inputs->at];
    slc_io_pet_raw_info info;
    slc_io_pet_raw_info_of(inputs->raw, &info);
    input->has_head = info.series != 0;
    input->series = info.series;
    input->file = info.file;
    ptrdiff_t last = -1; /* of those before it */
    for (size_t i = 0; i < inputs->at && input->has_head; i++) {
        const slc_io_pet_input *before = &inputs->input[i];
        last = before->has_head ? (ptrdiff_t)i : last;
        if (!before->has_head || before->series != input->series) {
            continue;
        }
        input->before = (ptrdiff_t)i;
        if (before->file >= input->file) {
            input->has_head = false; /* nothing is compared with it */
            return before->file == input->file
                       ? slc_fail(&input->error, SLC_ERR_FORMAT, "%s: the same file of an acquisition as %s",
                                  input->path, before->path)
                       : slc_fail(&input->error, SLC_ERR_FORMAT,
                                  "%s comes before %s: give the files of an acquisition in their order, or "
                                  "--series",
                                  input->path, before->path);
        }
    }
    if (last >= 0 && inputs->input[last].series != input->series) {
        input->other = last;
    }
    return SLC_OK;
}

double slc_io_pet_module_frames(const slc_io_pet_module *module, uint64_t datagrams)
{
    return datagrams > 0 ? (double)datagrams * (double)module->frames / (double)module->datagrams : 0;
}

/* After the last input, or where the one that was opened does not go on there. */
static void leave_before(slc_io_pet_inputs *inputs)
{
    if (inputs->raw_before == NULL) {
        return;
    }
    const slc_io_pet_module *modules = slc_io_pet_raw_modules(inputs->raw_before);
    slc_io_pet_losses *to = &inputs->losses;
    to->known = to->known || modules != NULL;
    for (int i = 0; i < SLC_PET_MAX_MODULES && modules != NULL; i++) {
        const slc_io_pet_module *m = &modules[i];
        to->lost += m->lost;
        to->repeated += m->repeated;
        to->foreign += m->foreign;
        to->lost_frames += slc_io_pet_module_frames(m, m->lost);
        to->foreign_frames += slc_io_pet_module_frames(m, m->foreign);
    }
    slc_io_pet_raw_close(inputs->raw_before);
    inputs->raw_before = NULL;
}

/* Which format the frames of the file that was opened have. Its ticks are those of all, so that files of two
 * formats are not read as one. */
static slc_status choose_format(slc_io_pet_inputs *inputs)
{
    slc_io_pet_input *input = &inputs->input[inputs->at];
    const slc_io_pet_format *own = slc_io_pet_raw_format(inputs->raw), *format = inputs->format;
    slc_pet_marks *marks = inputs->keep_marks ? &inputs->marks : NULL;
    if (format != NULL) {
        input->other_format = own != NULL && !slc_io_pet_format_is(own, format);
        return slc_io_pet_raw_use_format(inputs->raw, format, marks, &input->error);
    }
    if (own == NULL && inputs->first_format == NULL) {
        return SLC_OK;
    }
    if (own != NULL && !inputs->own_formats) {
        return slc_fail(&input->error, SLC_ERR_FORMAT,
                        "%s: its frames have a format of their own ('%s'), which is to be given "
                        "(--frame-format)",
                        input->path, own->about.name);
    }
    const slc_io_pet_format *first = inputs->first_format;
    if (inputs->at > 0 && (own == NULL || first == NULL || !slc_io_pet_format_is(own, first))) {
        return slc_fail(&input->error, SLC_ERR_FORMAT,
                        "%s: its frames have another format than those of the inputs before it", input->path);
    }
    if (first == NULL) {
        const slc_status status = slc_io_pet_format_read_memory(own->text, own->size, input->path,
                                                                &inputs->first_format, &input->error);
        if (status != SLC_OK) {
            return status;
        }
    }
    return slc_io_pet_raw_use_format(inputs->raw, own, marks, &input->error);
}

/* Opens input `at`, which takes over what is known of counters, if it is of the same acquisition. */
static slc_status open_next(slc_io_pet_inputs *inputs)
{
    slc_io_pet_input *input = &inputs->input[inputs->at];
    slc_status status = slc_io_pet_raw_open(input->path, &inputs->raw, &input->error);
    status = status == SLC_OK ? choose_format(inputs) : status;
    const uint64_t from = inputs->at == 0 ? inputs->from : 0;
    const uint64_t until = inputs->at + 1 == inputs->n ? inputs->until : 0;
    if (status == SLC_OK && (from > 0 || until > 0)) {
        status = slc_io_pet_raw_part(inputs->raw, from, until, &input->error);
    }
    status = status == SLC_OK ? check_series(inputs) : status;
    if (status == SLC_OK && inputs->raw_before != NULL &&
        slc_io_pet_raw_go_on(inputs->raw, inputs->raw_before)) {
        slc_io_pet_raw_close(inputs->raw_before);
        inputs->raw_before = NULL;
    }
    return status;
}

/* ---- the end of one ---------------------------------------------------------------------------- */

/* Datagrams before this input that are in no file, as one was lost or is not named. Where blocks are damaged,
 * numbers tell no more than that. */
static uint64_t gap_before(const slc_io_pet_inputs *inputs, const slc_io_pet_input *input)
{
    const slc_io_pet_input *before = input->before >= 0 ? &inputs->input[input->before] : NULL;
    const bool compared = before != NULL && before->datagrams > 0 && input->datagrams > 0 &&
                          slc_faults_of(&before->faults, SLC_FAULT_PET_BLOCK) == 0 &&
                          slc_faults_of(&input->faults, SLC_FAULT_PET_BLOCK) == 0;
    return compared && input->first > before->datagrams ? input->first - before->datagrams : 0;
}

static void end_input(slc_io_pet_inputs *inputs, slc_status status)
{
    slc_io_pet_input *input = &inputs->input[inputs->at++];
    input->error.status = status == SLC_END ? SLC_OK : status;
    if (inputs->raw != NULL) {
        slc_io_pet_raw_info info;
        slc_io_pet_raw_info_of(inputs->raw, &info);
        slc_io_pet_format_counts_add(&inputs->records, &info.records);
        input->first = info.first;
        input->datagrams = info.datagrams;
        leave_before(inputs);
        inputs->raw_before = inputs->raw;
        inputs->raw = NULL;
    }
    input->missing = gap_before(inputs, input);
    inputs->missing += input->missing;
    slc_faults_merge(&inputs->faults, &input->faults);
}

slc_status slc_io_pet_inputs_read(slc_io_pet_inputs *inputs, slc_pet_frame *frames, uint64_t *received_ns,
                                  size_t most, size_t *n)
{
    *n = 0;
    while (inputs->at < inputs->n) {
        slc_io_pet_input *input = &inputs->input[inputs->at];
        slc_status status = inputs->raw == NULL ? open_next(inputs) : SLC_OK;
        if (status == SLC_OK) {
            status = slc_io_pet_raw_read(inputs->raw, frames, received_ns, most, n, &input->faults,
                                         &input->error);
        }
        if (status == SLC_OK) {
            slc_io_pet_seen_add(&inputs->seen, frames, *n);
            input->frames += *n;
            inputs->frames += *n;
            return SLC_OK;
        }
        end_input(inputs, status);
    }
    leave_before(inputs);
    return SLC_END;
}
