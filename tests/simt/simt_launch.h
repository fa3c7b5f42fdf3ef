/* SPDX-License-Identifier: Apache-2.0
 *
 * How a kernel is launched on the processor, and everything that it may call; without CUDA's keywords, which
 * the emulator itself does not use (they are macros in simt.h, and would change headers that come later).
 */
#ifndef TESTS_SIMT_LAUNCH_H
#define TESTS_SIMT_LAUNCH_H

#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#include "simt_bits.h"
#include "simt_memory.h"
#include "simt_types.h"
#include "simt_warp.h"

namespace simt
{

/* What is called by every thread of a launch. */
typedef std::function<void()> body;
void launch(const char *name, const void *kernel, body run, dim3 blocks, dim3 threads, size_t shared,
            cudaStream_t stream);
/* The block's shared memory whose size the launch tells. */
void *dynamic_shared();

/* Arguments are copied, as what is launched now runs later. */
template <class... P, class... A>
void enqueue(const char *name, void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared,
             cudaStream_t stream, A &&...arguments)
{
    std::tuple<P...> values(std::forward<A>(arguments)...);
    launch(
        name, reinterpret_cast<const void *>(kernel), [kernel, values] { std::apply(kernel, values); },
        blocks, threads, shared, stream);
}

} // namespace simt

#endif
