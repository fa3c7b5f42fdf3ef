/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the table of what runs on GPUs, and hands the questions of <sluice/cuda.h> on to it. libsluice-cuda
 * is looked for as the loader looks for libraries that libsluice itself needs: beside it ($ORIGIN in its
 * RUNPATH), then in LD_LIBRARY_PATH and the system's folders. It is never unloaded: CUDA's runtime is in it.
 */
#include "cuda/cuda_engines.h"

#include <pthread.h>
#include <string.h>
#ifdef SLUICE_CUDA_LIBRARY /* its file name: in a build with CUDA whose library is shared */
#include <dlfcn.h>
#endif

/* Where the table is linked it is found without loading; elsewhere the address is NULL. A static library
 * wants it, so that linkers take it out of the archive. */
#ifdef SLUICE_CUDA_STATIC
extern const slc_cuda_engines slc_cuda_engines_table;
#else
extern const slc_cuda_engines slc_cuda_engines_table __attribute__((weak));
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const slc_cuda_engines *found;
static slc_error reason;

#ifdef SLUICE_CUDA_LIBRARY
static void load(void)
{
    void *library = dlopen(SLUICE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const slc_cuda_engines *table = library != NULL ? dlsym(library, "slc_cuda_engines_table") : NULL;
    if (table == NULL) {
        const char *const message = dlerror(), *why = message != NULL ? message : "it has no table";
        const size_t name = strlen(SLUICE_CUDA_LIBRARY); /* which the loader's message may begin with */
        why += strncmp(why, SLUICE_CUDA_LIBRARY, name) == 0 && strncmp(why + name, ": ", 2) == 0 ? name + 2
                                                                                                 : 0;
        (void)slc_fail(&reason, SLC_ERR_UNSUPPORTED, "%s cannot be loaded: %s", SLUICE_CUDA_LIBRARY, why);
    } else if (table->abi != SLC_CUDA_ENGINES_ABI || strcmp(table->version, slc_version()) != 0) {
        (void)slc_fail(&reason, SLC_ERR_UNSUPPORTED,
                       "%s cannot be loaded: it is of version %s, interface %u, and %s, %u is needed",
                       SLUICE_CUDA_LIBRARY, table->version, table->abi, slc_version(), SLC_CUDA_ENGINES_ABI);
    } else {
        found = table;
    }
}
#else
static void load(void)
{
    (void)slc_fail(&reason, SLC_ERR_UNSUPPORTED, "built without CUDA");
}
#endif

static void find(void)
{
    found = &slc_cuda_engines_table;
    if (found == NULL) {
        load();
    }
}

const slc_cuda_engines *slc_cuda_engines_of(slc_error *error)
{
    (void)pthread_once(&once, find);
    if (found == NULL) {
        (void)slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason.text);
    }
    return found;
}

/* ---- <sluice/cuda.h> ----------------------------------------------------------------------------------- */

const char *slc_cuda_built(int *driver)
{
    const slc_cuda_engines *engines = slc_cuda_engines_of(NULL);
    if (driver != NULL) {
        *driver = engines != NULL ? engines->device->driver() : 0;
    }
    return engines != NULL ? engines->device->built : NULL;
}

uint32_t slc_cuda_devices(slc_error *error)
{
    const slc_cuda_engines *engines = slc_cuda_engines_of(error);
    return engines != NULL ? engines->device->devices(error) : 0;
}

slc_status slc_cuda_device_of(uint32_t device, slc_cuda_device *asked, slc_error *error)
{
    memset(asked, 0, sizeof *asked);
    slc_error why;
    const uint32_t n = slc_cuda_devices(&why);
    if (n == 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "device %u: %s", device, why.text);
    }
    if (device >= n) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "device %u: there are %u", device, n);
    }
    return slc_cuda_engines_of(error)->device->device_of(device, asked, error);
}
