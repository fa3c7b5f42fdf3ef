/* SPDX-License-Identifier: Apache-2.0
 * What the tables of a scanner say was measured of it, in place of --energies and --tof that are not given.
 */
#include "cmd_pet_measured.h"

#include <math.h>
#include <stdio.h>

void slc_pet_measured_energies(slc_pet_measured *m, const slc_pet_tables *tables, const double given[2],
                               slc_pet_convert_config *config)
{
    if (tables->energy_fwhm > 0 && !(given[0] < given[1])) {
        m->energy_fwhm = tables->energy_fwhm;
        slc_pet_energies_of(tables->energy_fwhm, m->kev);
        config->low_kev = m->kev[0];
        config->high_kev = m->kev[1];
    }
}

void slc_pet_measured_tof(slc_pet_measured *m, const slc_pet_tables *tables, double *tof_ns)
{
    /* As it can be given: a tenth of a picosecond is more than is known. */
    m->tof_ps = floor(tables->time_fwhm_ps * 10 + 0.5) / 10;
    if (m->tof_ps > 0) {
        *tof_ns = m->tof_ps / 1000;
    }
}

void slc_pet_measured_tell(const slc_pet_measured *m, const char *command, const char *file)
{
    char energies[96] = "", tof[48] = "";
    const bool both = m->energy_fwhm > 0 && m->tof_ps > 0;
    if (m->energy_fwhm > 0) {
        (void)snprintf(energies, sizeof energies, "--energies %.9g:%.9g (FWHM %.1f %%)", m->kev[0], m->kev[1],
                       100 * m->energy_fwhm);
    }
    if (m->tof_ps > 0) {
        (void)snprintf(tof, sizeof tof, "--tof %.9gps", m->tof_ps);
    }
    if (m->energy_fwhm > 0 || m->tof_ps > 0) {
        slc_cli_say(command, "as measured for %s: %s%s%s (instead: %s%s%s)", file, energies, both ? ", " : "",
                    tof, m->energy_fwhm > 0 ? "--energies all" : "", both ? ", " : "",
                    m->tof_ps > 0 ? "--tof none" : "");
    }
}

void slc_pet_measured_put(const slc_pet_measured *m, slc_cli_tree *tree)
{
    if (m->energy_fwhm > 0) {
        slc_cli_put(tree, "measured.energies.low_kev", m->kev[0]);
        slc_cli_put(tree, "measured.energies.high_kev", m->kev[1]);
        slc_cli_put(tree, "measured.energies.fwhm", m->energy_fwhm);
    }
    if (m->tof_ps > 0) {
        slc_cli_put(tree, "measured.tof_ps", m->tof_ps);
    }
}
