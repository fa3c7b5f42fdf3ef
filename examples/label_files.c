/* SPDX-License-Identifier: Apache-2.0
 *
 * Image files x threads x labelling: how many components each page has. A page's threshold is Otsu's.
 *
 *     label_files IMAGE...
 */
#include <sluice/sluice.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    slc_image_label_config label;
    slc_flow_config config;
    slc_flow *flow = NULL;
    slc_flow_item *item;
    slc_error error;
    int faults = 0;
    slc_image_label_config_default(&label);
    slc_flow_config_default(&config);
    config.paths = (const char *const *)(argv + 1), config.n_paths = (uint32_t)argc - 1;
    const slc_flow_image_setup setup = {.config = &label, .otsu = true};
    slc_status status = slc_flow_open(&config, &slc_flow_image, &setup, &flow, &error);
    while (status == SLC_OK && (status = slc_flow_next(flow, &item, &error)) == SLC_OK) {
        const slc_flow_image_result *page = item->result;
        const char *fault = page->fault != NULL ? page->fault : "";
        faults += page->fault != NULL;
        printf("%s: %u components %s\n", item->path, (unsigned)page->n_labels, fault);
        slc_flow_release(flow, item);
    }
    slc_flow_close(flow);
    return error.text[0] == '\0' ? faults > 0 : (fprintf(stderr, "%s\n", error.text), 1);
}
