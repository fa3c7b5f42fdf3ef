/* SPDX-License-Identifier: Apache-2.0
 * NXentry and NXevent_data by hard links: no row is written twice. The definition is NeXus's
 * base_classes/NXevent_data.nxdl.xml; docs/formats/results-nexus.md.
 */
#include "io/io_nexus.h"

#include "io/io_hdf5_file.h"

#include <stdio.h>
#include <string.h>

static const char *const fields[SLC_IO_NEXUS_FIELDS] = {"event_id", "event_time_offset", "event_time_zero",
                                                        "event_index"};

/* The group that has the column, or NULL; *column is it. */
static const slc_io_results_group *find(const slc_io_results *results, const char *field,
                                        const slc_column **column)
{
    for (size_t i = 0; i < results->n_groups; i++) {
        const slc_schema *schema = &results->groups[i].schema;
        for (size_t k = 0; k < schema->n_columns; k++) {
            if (strcmp(schema->columns[k].name, field) == 0) {
                *column = &schema->columns[k];
                return &results->groups[i];
            }
        }
    }
    return NULL;
}

const char *slc_io_nexus_lacks(const slc_io_results *results)
{
    const slc_column *column;
    for (size_t i = 0; i < SLC_IO_NEXUS_FIELDS; i++) {
        if (find(results, fields[i], &column) == NULL) {
            return fields[i];
        }
    }
    return NULL;
}

static hid_t make_group(hid_t parent, const char *name, const char *class)
{
    const hid_t id = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (id >= 0 && !slc_io_hdf5_put_text(id, "NX_class", class, H5T_CSET_ASCII)) {
        (void)slc_io_hdf5_close(id);
        return H5I_INVALID_HID;
    }
    return id;
}

static bool add_field(hid_t file, hid_t events, const slc_io_results *results, const char *field)
{
    const slc_column *column = NULL;
    const slc_io_results_group *group = find(results, field, &column);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", group->name, field);
    bool good = H5Lcreate_hard(file, path, events, field, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    const hid_t dataset = good ? H5Dopen2(file, path, H5P_DEFAULT) : H5I_INVALID_HID;
    const bool is_time = strcmp(column->unit, "ns") == 0; /* others have no dimension */
    good = dataset >= 0 && (!is_time || slc_io_hdf5_put_text(dataset, "units", column->unit, H5T_CSET_ASCII));
    (void)slc_io_hdf5_close(dataset);
    return good;
}

bool slc_io_nexus_add(hid_t file, const slc_io_results *results)
{
    const hid_t entry = make_group(file, "entry", "NXentry");
    const hid_t events = entry >= 0 ? make_group(entry, "events", "NXevent_data") : H5I_INVALID_HID;
    bool good = events >= 0 && slc_io_hdf5_put_text(file, "NX_class", "NXroot", H5T_CSET_ASCII) &&
                slc_io_hdf5_put_text(file, "default", "entry", H5T_CSET_ASCII);
    for (size_t i = 0; i < SLC_IO_NEXUS_FIELDS && good; i++) {
        good = add_field(file, events, results, fields[i]);
    }
    (void)slc_io_hdf5_close(events);
    (void)slc_io_hdf5_close(entry);
    return good;
}
