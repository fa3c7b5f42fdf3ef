/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices and their memory: ordinary memory of the process, poisoned, with guards on both sides, which a host
 * under AddressSanitizer may not touch. Every copy is checked against the table of what was allocated.
 */
#include "simt_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace simt
{

namespace
{

enum { GUARD = 256, GUARD_BYTE = 0xD7, PAGE = 4096, POISON_BYTES = 2 << 20, MOST_DEVICES = 64 };

struct piece {
    size_t size;
    cudaMemoryType type;
    int device;
    bool registered; /* the caller's own memory, page-locked */
};

std::recursive_mutex lock;
std::map<uintptr_t, piece> pieces;
size_t used[MOST_DEVICES];
thread_local cudaError_t last = cudaSuccess;
thread_local int current = 0;
int open_device = -1;

/* What a program leaves behind is told when it ends, where leaks are looked for. */
struct leaks {
    ~leaks()
    {
        size_t bytes = 0;
        for (const auto &p : pieces) {
            bytes += p.second.registered ? 0 : p.second.size;
        }
#ifdef WITH_ASAN
        if (bytes > 0) {
            fprintf(stderr, "simt: %zu bytes of devices, or page-locked, were not freed\n", bytes);
            _exit(23);
        }
#endif
    }
} leaks_at_end;

uintptr_t number(const void *at)
{
    return reinterpret_cast<uintptr_t>(at);
}

/* The piece that an address is in. */
const std::pair<const uintptr_t, piece> *find(const void *at)
{
    auto after = pieces.upper_bound(number(at));
    if (after == pieces.begin()) {
        return nullptr;
    }
    --after;
    return number(at) < after->first + after->second.size ? &*after : nullptr;
}

bool is_of(const void *at, size_t bytes, cudaMemoryType type)
{
    const auto *in = find(at);
    return in != nullptr && in->second.type == type && number(at) + bytes <= in->first + in->second.size;
}

size_t capacity()
{
    return option("SLUICE_SIMT_MEMORY", static_cast<size_t>(4) << 30);
}

void protect(uintptr_t at, size_t size, bool open)
{
#ifdef WITH_ASAN
    if (open) {
        __asan_unpoison_memory_region(reinterpret_cast<void *>(at), size);
    } else {
        __asan_poison_memory_region(reinterpret_cast<void *>(at), size);
    }
#else
    (void)at, (void)size, (void)open;
#endif
}

/* ---- guards ------------------------------------------------------------------------------------- */

/* A file of poison that memory is a private copy of, so that only pages which are touched cost anything. */
int poison_file()
{
    static int file = -1;
    if (file < 0) {
        file = memfd_create("simt", MFD_CLOEXEC);
        std::vector<uint64_t> poison(POISON_BYTES / sizeof(uint64_t));
        for (uint64_t &word : poison) {
            word = random_bits() | 0x8080808080808080ULL;
        }
        if (file < 0 || write(file, poison.data(), POISON_BYTES) != POISON_BYTES) {
            fail("no memory for poison");
        }
    }
    return file;
}

/* So many bytes and a guard on each side, in whole pages. */
size_t mapped(size_t bytes)
{
    return (bytes + 2 * GUARD + PAGE - 1) / PAGE * PAGE + PAGE;
}

void *guarded(size_t bytes)
{
    const size_t all = mapped(bytes);
    void *base = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0);
    if (base == MAP_FAILED) {
        return nullptr;
    }
    char *at = static_cast<char *>(base);
    for (size_t done = 0; done < all; done += POISON_BYTES) {
        const size_t part = all - done < POISON_BYTES ? all - done : +POISON_BYTES;
        if (mmap(at + done, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                 poison_file(), 0) == MAP_FAILED) {
            fail("no memory for a device's memory");
        }
    }
    char *memory = at + PAGE;
    memset(memory - GUARD, GUARD_BYTE, GUARD);
    memset(memory + bytes, GUARD_BYTE, GUARD);
    protect(reinterpret_cast<uintptr_t>(memory) - GUARD, GUARD, false);
    protect(reinterpret_cast<uintptr_t>(memory) + bytes, GUARD, false);
    return memory;
}

void check_guards(uintptr_t at, size_t bytes)
{
    const unsigned char *low = reinterpret_cast<const unsigned char *>(at) - GUARD;
    const unsigned char *high = reinterpret_cast<const unsigned char *>(at) + bytes;
    for (int i = 0; i < GUARD; i++) {
        if (low[i] != GUARD_BYTE || high[i] != GUARD_BYTE) {
            fail("%zu bytes of a device: something was written %s them", bytes,
                 low[i] != GUARD_BYTE ? "before" : "after");
        }
    }
}

void release(uintptr_t at, const piece &p)
{
    protect(at - (p.registered ? 0 : +GUARD), p.size + (p.registered ? 0 : 2 * GUARD), true);
    if (!p.registered) {
        check_guards(at, p.size);
        (void)munmap(reinterpret_cast<char *>(at) - PAGE, mapped(p.size));
    }
}

/* ---- copies ------------------------------------------------------------------------------------- */

/* A block of rows. */
struct rows {
    char *at;
    size_t pitch, width, height;
};

size_t span(const rows &r)
{
    return r.height == 0 || r.width == 0 ? 0 : (r.height - 1) * r.pitch + r.width;
}

bool is_device(const rows &r)
{
    const auto *in = find(r.at);
    return in != nullptr && in->second.type == cudaMemoryTypeDevice;
}

/* Is the side what the direction says, and does it hold so much? */
bool check_side(const rows &r, bool device, const char *name)
{
    const size_t bytes = span(r);
    if (device && !is_of(r.at, bytes, cudaMemoryTypeDevice)) {
        fprintf(stderr, "simt: a copy %s %zu bytes that are not all in one allocation of a device\n", name,
                bytes);
        return false;
    }
    if (!device && is_device(r)) {
        fprintf(stderr, "simt: a copy %s the host's memory, which is a device's\n", name);
        return false;
    }
    return true;
}

/* A device's memory may not be touched by the host: it is opened for the copy alone. */
void open_rows(const rows &r, bool open)
{
    const auto *in = find(r.at);
    if (in != nullptr && in->second.type == cudaMemoryTypeDevice && in->second.device != open_device) {
        protect(number(r.at), span(r), open);
    }
}

void copy_rows(const rows &to, const rows &from)
{
    open_rows(to, true);
    open_rows(from, true);
    for (size_t y = 0; y < to.height; y++) {
        memmove(to.at + y * to.pitch, from.at + y * from.pitch, to.width);
    }
    open_rows(to, false);
    open_rows(from, false);
}

void fill_rows(const rows &to, int byte)
{
    open_rows(to, true);
    for (size_t y = 0; y < to.height; y++) {
        memset(to.at + y * to.pitch, byte, to.width);
    }
    open_rows(to, false);
}

bool page_locked(const rows &r)
{
    return is_of(r.at, span(r), cudaMemoryTypeHost);
}

cudaError_t copy(const rows &to, const rows &from, cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return told(cudaErrorInvalidMemcpyDirection, "a copy in no direction");
    }
    if (to.pitch < to.width || from.pitch < from.width) {
        return told(cudaErrorInvalidPitchValue, "rows of a copy overlap");
    }
    if (span(to) == 0) {
        return cudaSuccess;
    }
    const bool to_device = kind == cudaMemcpyDefault
                               ? is_device(to)
                               : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDefault
                                 ? is_device(from)
                                 : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!check_side(to, to_device, "to") || !check_side(from, from_device, "from")) {
        return told(cudaErrorInvalidValue, "a copy of what is not there");
    }
    if (wait && !may_wait()) {
        return told(cudaErrorStreamCaptureUnsupported, "a copy that waits, while a graph is recorded");
    }
    /* The runtime takes what is not page-locked before it returns. */
    const bool at_once = wait || (!to_device && !page_locked(to)) || (!from_device && !page_locked(from));
    return submit(
        stream, cudaGraphNodeTypeMemcpy, [to, from] { copy_rows(to, from); }, at_once);
}

cudaError_t fill(const rows &to, int byte, cudaStream_t stream)
{
    if (to.pitch < to.width) {
        return told(cudaErrorInvalidPitchValue, "rows of a fill overlap");
    }
    if (span(to) == 0) {
        return cudaSuccess;
    }
    if (!check_side(to, true, "fills")) {
        return told(cudaErrorInvalidValue, "a fill of what is not there");
    }
    return submit(
        stream, cudaGraphNodeTypeMemset, [to, byte] { fill_rows(to, byte); }, false);
}

rows line(const void *at, size_t bytes)
{
    return {const_cast<char *>(static_cast<const char *>(at)), bytes, bytes, 1};
}

cudaError_t allocate(void **memory, size_t bytes, cudaMemoryType type)
{
    if (memory == nullptr) {
        return told(cudaErrorInvalidValue, "nowhere to put an address");
    }
    if (!may_wait()) {
        return told(cudaErrorStreamCaptureUnsupported, "memory is allocated while a graph is recorded");
    }
    *memory = nullptr;
    if (bytes == 0) {
        return cudaSuccess;
    }
    if (type == cudaMemoryTypeDevice && bytes > capacity() - used[current]) {
        return told(cudaErrorMemoryAllocation);
    }
    *memory = bytes < SIZE_MAX / 4 ? guarded(bytes) : nullptr;
    if (*memory == nullptr) {
        return told(cudaErrorMemoryAllocation);
    }
    pieces[number(*memory)] = {bytes, type, current, false};
    if (type == cudaMemoryTypeDevice) {
        used[current] += bytes;
        protect(number(*memory), bytes, false);
    }
    return cudaSuccess;
}

cudaError_t let_go(void *memory, cudaMemoryType type, bool registered)
{
    if (memory == nullptr) {
        return cudaSuccess;
    }
    if (!may_wait()) {
        return told(cudaErrorStreamCaptureUnsupported, "memory is freed while a graph is recorded");
    }
    drain_all();
    const auto in = pieces.find(number(memory));
    if (in == pieces.end() || in->second.type != type || in->second.registered != registered) {
        return told(registered ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue,
                    "memory is freed that was not allocated so");
    }
    if (type == cudaMemoryTypeDevice) {
        used[in->second.device] -= in->second.size;
    }
    release(in->first, in->second);
    pieces.erase(in);
    return cudaSuccess;
}

} // namespace

guard::guard()
{
    lock.lock();
}

guard::~guard()
{
    lock.unlock();
}

cudaError_t told(cudaError_t error, const char *why)
{
    if (error != cudaSuccess) {
        last = error;
    }
    if (why != nullptr) {
        fprintf(stderr, "simt: %s: %s\n", cudaGetErrorName(error), why);
    }
    return error;
}

int device_now()
{
    return current;
}

uint32_t device_count()
{
    const uint64_t n = option("SLUICE_SIMT_DEVICES", 1);
    return static_cast<uint32_t>(n < MOST_DEVICES ? n : +MOST_DEVICES);
}

void memory_open(int device)
{
    if (open_device == device) {
        return;
    }
    memory_shut();
#ifdef WITH_ASAN
    for (const auto &p : pieces) {
        if (p.second.type == cudaMemoryTypeDevice && p.second.device == device) {
            protect(p.first, p.second.size, true);
        }
    }
#endif
    open_device = device;
}

void memory_shut()
{
#ifdef WITH_ASAN
    for (const auto &p : pieces) {
        if (p.second.type == cudaMemoryTypeDevice && p.second.device == open_device) {
            protect(p.first, p.second.size, false);
        }
    }
#endif
    open_device = -1;
}

} // namespace simt

using namespace simt;

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || static_cast<uint32_t>(device) >= device_count()) {
        return told(cudaErrorInvalidDevice);
    }
    current = device;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *all)
{
    guard in;
    *all = capacity();
    *free_bytes = *all - used[current];
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    guard in;
    return allocate(memory, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaFree(void *memory)
{
    guard in;
    return let_go(memory, cudaMemoryTypeDevice, false);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    guard in;
    return allocate(memory, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    return cudaHostAlloc(memory, bytes, 0);
}

cudaError_t cudaFreeHost(void *memory)
{
    guard in;
    return let_go(memory, cudaMemoryTypeHost, false);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned)
{
    guard in;
    if (memory == nullptr || bytes == 0) {
        return told(cudaErrorInvalidValue, "nothing is to be page-locked");
    }
    if (find(memory) != nullptr || find(static_cast<char *>(memory) + bytes - 1) != nullptr) {
        return told(cudaErrorHostMemoryAlreadyRegistered);
    }
    if (bytes > option("SLUICE_SIMT_LOCKED", SIZE_MAX)) {
        return told(cudaErrorMemoryAllocation);
    }
    pieces[number(memory)] = {bytes, cudaMemoryTypeHost, current, true};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
    guard in;
    return memory == nullptr ? told(cudaErrorInvalidValue) : let_go(memory, cudaMemoryTypeHost, true);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    guard in;
    const auto *found = find(memory);
    void *at = const_cast<void *>(memory);
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, at};
    if (found != nullptr) {
        const bool device = found->second.type == cudaMemoryTypeDevice;
        *attributes = {found->second.type, found->second.device, at, device ? nullptr : at};
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    guard in;
    return copy(line(to, bytes), line(from, bytes), kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    guard in;
    return copy(line(to, bytes), line(from, bytes), kind, stream, false);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t stream)
{
    guard in;
    return copy(line(to, bytes), line(from, bytes), cudaMemcpyDeviceToDevice, stream, false);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind)
{
    guard in;
    return copy({static_cast<char *>(to), to_pitch, width, height},
                {const_cast<char *>(static_cast<const char *>(from)), from_pitch, width, height}, kind,
                nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    guard in;
    return copy({static_cast<char *>(to), to_pitch, width, height},
                {const_cast<char *>(static_cast<const char *>(from)), from_pitch, width, height}, kind,
                stream, false);
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream)
{
    guard in;
    return fill(line(memory, bytes), byte, stream);
}

cudaError_t cudaMemset(void *memory, int byte, size_t bytes)
{
    return cudaMemsetAsync(memory, byte, bytes, nullptr);
}

cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int byte, size_t width, size_t height,
                              cudaStream_t stream)
{
    guard in;
    return fill({static_cast<char *>(memory), pitch, width, height}, byte, stream);
}
