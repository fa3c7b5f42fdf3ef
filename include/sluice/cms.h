/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixel detector: the collections that its chain is made of, and all of its stages. A newcomer starts
 * at cms_chain.h.
 */
#ifndef SLUICE_CMS_H
#define SLUICE_CMS_H

#include <sluice/cms_calibrate.h>
#include <sluice/cms_chain.h>
#include <sluice/cms_cluster.h>
#include <sluice/cms_decode.h>
#include <sluice/cms_position.h>
#include <sluice/cms_types.h>

#endif
