/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw files of PET frames to coincidences, on all cores, and how many.
 *
 *     raw_to_pairs TABLES.h5 RAW...
 */
#include <sluice/sluice.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    slc_pet_config pet;
    slc_pet_tables tables = {0};
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item;
    slc_error error;
    unsigned long long n = 0;
    slc_pet_config_default(&pet);
    slc_flow_config_default(&config);
    config.paths = (const char *const *)(argv + 2), config.n_paths = argc > 2 ? (uint32_t)argc - 2 : 0;
    const slc_flow_pet_setup setup = {.config = &pet, .tables = &tables};
    slc_status status = slc_io_read_pet_tables(argc > 1 ? argv[1] : "-", &tables, &error);
    status = status == SLC_OK ? slc_flow_open(&config, &slc_flow_pet, &setup, &flow, &error) : status;
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        n += ((const slc_flow_pet_result *)item->result)->result->pairs.head.size;
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    slc_io_pet_tables_clear(&tables);
    return error.text[0] == '\0' ? printf("%llu pairs\n", n) < 0 : (fprintf(stderr, "%s\n", error.text), 1);
}
