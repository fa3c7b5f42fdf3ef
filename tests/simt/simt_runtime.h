/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the emulator: what the parts of the runtime share. One thread of the host is in it at a time.
 */
#ifndef TESTS_SIMT_RUNTIME_H
#define TESTS_SIMT_RUNTIME_H

#include "simt_block.h"

#include <mutex>

namespace simt
{

/* Shared memory of a block unless more is asked for, the most, and how many processors a device has. */
enum { SHARED_USUAL = 48 << 10, SHARED_MOST = 227 << 10, MULTIPROCESSORS = 4 };

/* For the time of a call of the runtime. */
struct guard {
    guard();
    ~guard();
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
};

/* Keeps the error for cudaGetLastError, and tells why, if it is one that a program does not expect. */
cudaError_t told(cudaError_t error, const char *why = nullptr);

int device_now();
uint32_t device_count();

/* While kernels of a device run its memory may be touched; AddressSanitizer refuses it to the host otherwise.
 */
void memory_open(int device);
void memory_shut();
/* Everything that was begun on all devices, as before memory goes. */
void drain_all();
/* May the thread allocate and wait? Not while it records a graph. */
bool may_wait();

/* Appends a copy or a fill to a stream; at once where the host's memory is not page-locked. */
cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, body run, bool at_once);

} // namespace simt

#endif
