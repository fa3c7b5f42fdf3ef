/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice info`: what is in files that are no events: of PET, images, lists of pixels.
 * cmd_info_pixels.c      images and lists of pixels
 * cmd_info_pet.c         tables, list-mode files, sinograms: known by their first bytes or their names
 * cmd_info_pet_raw.c     raw frames
 */
#ifndef SLUICE_CMD_INFO_H
#define SLUICE_CMD_INFO_H

#include <stdbool.h>

struct json_t;

/* What was found, or NULL where it is no file of PET. *good becomes false where it is damaged or cannot be
 * read, which is then told; "format" is missing where nothing could be. Members are in the order in which
 * they are printed. */
struct json_t *slc_info_pet(const char *path, bool *good);
/* Adds what is in a raw file of frames, and returns it. */
struct json_t *slc_info_pet_raw(const char *path, struct json_t *to, bool *good);

/* The same of images and of lists of pixels; NULL where a file is none. Lists of text have no magic: to be
 * asked after all that has. */
struct json_t *slc_info_images(const char *path, bool *good);
struct json_t *slc_info_pixels(const char *path, bool *good);

#endif
