/* SPDX-License-Identifier: Apache-2.0
 *
 * CUB's device-wide sorts of singles on a GPU, to compare `sluice bench pet --device cuda` with: times in
 * ordered channels whose packets are mixed, or in no order, and eight bytes with each. They need the C++
 * run-time library, so that they are no part of ours; here they are alone.
 *
 *     pet_sort_cub [SINGLES [near|random]]
 */
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace
{
enum { CHANNELS = 128, PACKET = 251, TIMES = 9, TICK_BITS = 40 };

void check(cudaError_t code, const char *what)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

typedef std::vector<std::pair<int64_t, size_t>> packet;

/* Singles fall to channels by chance, and a channel sends when its packet is full. *farthest: how many places
 * one is from where it belongs. */
std::vector<int64_t> make_near(size_t n, size_t *farthest)
{
    std::vector<packet> packets(CHANNELS);
    std::vector<int64_t> times;
    std::mt19937_64 chance(1);
    int64_t clock = 0;
    *farthest = 0;
    times.reserve(n);
    const auto send = [&](packet &full) {
        for (const auto &one : full) {
            const size_t place = times.size();
            *farthest = std::max(*farthest, place > one.second ? place - one.second : one.second - place);
            times.push_back(one.first);
        }
        full.clear();
    };
    for (size_t i = 0; i < n; i++) {
        packet &filling = packets[chance() % CHANNELS];
        clock += static_cast<int64_t>(chance() % 10000);
        filling.emplace_back(clock, i);
        /* The first packets are shorter, so that channels do not all send at once. */
        if (filling.size() == PACKET || (i < CHANNELS * PACKET && chance() % PACKET == 0)) {
            send(filling);
        }
    }
    for (packet &rest : packets) {
        send(rest);
    }
    return times;
}

std::vector<int64_t> make(size_t n, bool near_order)
{
    if (near_order) {
        size_t farthest;
        std::vector<int64_t> times = make_near(n, &farthest);
        printf("%zu singles of %d channels in packets of %d, at most %zu from their places\n", n, CHANNELS,
               PACKET, farthest);
        return times;
    }
    std::vector<int64_t> times(n);
    std::mt19937_64 chance(2);
    for (int64_t &time : times) {
        time = static_cast<int64_t>(chance() >> (64 - TICK_BITS));
    }
    printf("%zu singles in no order\n", n);
    return times;
}

template <class T> T *device(size_t n)
{
    void *memory = nullptr;
    check(cudaMalloc(&memory, n * sizeof(T)), "memory");
    return static_cast<T *>(memory);
}

/* The median of some times; the first is not counted. */
void measure(const char *name, size_t n, cudaStream_t stream, const std::function<void()> &run)
{
    cudaEvent_t begin, end;
    std::vector<float> times;
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    for (int i = 0; i <= TIMES; i++) {
        float ms = 0;
        check(cudaEventRecord(begin, stream), "an event");
        run();
        check(cudaEventRecord(end, stream), "an event");
        check(cudaEventSynchronize(end), name);
        check(cudaEventElapsedTime(&ms, begin, end), "an event");
        if (i > 0) {
            times.push_back(ms);
        }
    }
    std::sort(times.begin(), times.end());
    printf("%-24s %8.3f ms %8.2f Grec/s\n", name, times[TIMES / 2],
           static_cast<double>(n) / static_cast<double>(times[TIMES / 2]) / 1e6);
}

struct earlier {
    __device__ bool operator()(int64_t a, int64_t b) const
    {
        return a < b;
    }
};

/* By bits 0 to before `bits`. The first call tells how much memory is needed. */
void measure_radix(const int64_t *times, int64_t *sorted, size_t n, int bits, cudaStream_t stream)
{
    uint64_t *values = device<uint64_t>(n), *moved = device<uint64_t>(n);
    size_t bytes = 0;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, times, sorted, values, moved, n, 0, bits), "CUB");
    unsigned char *work = device<unsigned char>(bytes);
    measure(bits == 64 ? "CUB radix, 64 bits" : "CUB radix, 40 bits", n, stream, [&]() {
        check(cub::DeviceRadixSort::SortPairs(work, bytes, times, sorted, values, moved, n, 0, bits, stream),
              "CUB");
    });
    check(cudaFree(work), "memory");
    check(cudaFree(values), "memory");
    check(cudaFree(moved), "memory");
}

void measure_merge(const int64_t *times, int64_t *sorted, size_t n, cudaStream_t stream)
{
    uint64_t *values = device<uint64_t>(n);
    size_t bytes = 0;
    check(cub::DeviceMergeSort::StableSortPairs(nullptr, bytes, sorted, values, n, earlier()), "CUB");
    unsigned char *work = device<unsigned char>(bytes);
    measure("CUB merge, and a copy", n, stream,
            [&]() { /* as it sorts in place */
                    check(cudaMemcpyAsync(sorted, times, n * sizeof *times, cudaMemcpyDeviceToDevice, stream),
                          "a copy");
                    check(cub::DeviceMergeSort::StableSortPairs(work, bytes, sorted, values, n, earlier(),
                                                                stream),
                          "CUB");
            });
    check(cudaFree(work), "memory");
    check(cudaFree(values), "memory");
}

bool is_sorted(const int64_t *sorted, size_t n)
{
    std::vector<int64_t> got(n);
    check(cudaMemcpy(got.data(), sorted, n * sizeof *sorted, cudaMemcpyDeviceToHost), "a copy");
    return std::is_sorted(got.begin(), got.end());
}
} // namespace

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 100000000;
    if (n == 0 || n >= UINT32_MAX || argc > 3) {
        fprintf(stderr, "usage: pet_sort_cub [SINGLES [near|random]]\n");
        return 2;
    }
    const std::vector<int64_t> all = make(n, argc < 3 || strcmp(argv[2], "random") != 0);
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "a stream");
    int64_t *times = device<int64_t>(n), *sorted = device<int64_t>(n);
    uint64_t *other = device<uint64_t>(n);
    check(cudaMemcpy(times, all.data(), n * sizeof *times, cudaMemcpyHostToDevice), "a copy");
    measure("copy of 16 bytes", n, stream, [&]() {
        check(cudaMemcpyAsync(sorted, times, n * 8, cudaMemcpyDeviceToDevice, stream), "a copy");
        check(cudaMemcpyAsync(other, times, n * 8, cudaMemcpyDeviceToDevice, stream), "a copy");
    });
    measure_radix(times, sorted, n, 64, stream);
    bool right = is_sorted(sorted, n);
    if (*std::max_element(all.begin(), all.end()) < INT64_C(1) << TICK_BITS) {
        measure_radix(times, sorted, n, TICK_BITS, stream);
        right = is_sorted(sorted, n) && right;
    }
    measure_merge(times, sorted, n, stream);
    right = is_sorted(sorted, n) && right;
    if (!right) {
        printf("not sorted\n");
    }
    return right ? 0 : 1;
}
