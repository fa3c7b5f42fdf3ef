/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a flow. Who adds results is the one thread that all of them pass, so what a view looks at more
 * closely is a sample, within the budget.
 */
#include "live/live_flow_part.h"

#include <stdio.h>
#include <stdlib.h>

static const slc_live_view *const views[] = {&slc_live_view_velo, &slc_live_view_hlt1, &slc_live_view_cms,
                                             &slc_live_view_pixel, &slc_live_view_image};

slc_status slc_live_flow_open(slc_live *live, const slc_flow_chain *chain, const void *setup,
                              slc_live_flow **out, slc_error *error)
{
    const slc_live_view *view = NULL;
    *out = NULL;
    if (live == NULL) {
        return SLC_OK;
    }
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        view = views[i]->chain == chain ? views[i] : view;
    }
    if (view == NULL) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "there is no live page of the chain '%s'", chain->name);
    }
    slc_live_flow *page = calloc(1, sizeof *page);
    void *own = calloc(1, view->bytes);
    if (page == NULL || own == NULL) {
        free(page);
        free(own);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the live page of %s", chain->name);
    }
    page->live = live;
    page->view = view;
    page->setup = setup;
    page->own = own;
    slc_live_budget_open(&page->budget);
    *out = page;
    return SLC_OK;
}

void slc_live_flow_close(slc_live_flow *page)
{
    if (page != NULL) {
        free(page->own);
        free(page);
    }
}

void slc_live_flow_add(slc_live_flow *page, const slc_flow_item *item)
{
    if (page == NULL) {
        return;
    }
    slc_faults_merge(&page->faults, &item->reading);
    if (!item->ended && item->status == SLC_OK && item->result != NULL) {
        slc_live_budget_begin(&page->budget);
        page->view->add(page, item);
        slc_live_budget_end(&page->budget);
    }
}

bool slc_live_flow_publish(slc_live_flow *page, slc_live_state state, const slc_live_flow_state *now)
{
    if (page == NULL) {
        return true;
    }
    const char *group = page->view->group;
    page->view->put(page, now);
    slc_live_put_faults(page->live, group, &page->faults);
    if (now->flow != NULL) {
        char text[32];
        (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)now->flow->checksum);
        slc_live_put_text(page->live, group, "Checksum so far", text, 0);
    }
    if (now->input != NULL) {
        slc_live_put_text(page->live, group, "Input", now->input, 0);
    }
    return slc_live_publish(page->live, state);
}
