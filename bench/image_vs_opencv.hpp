/* SPDX-License-Identifier: Apache-2.0
 *
 * Of image_vs_opencv: what can be asked for, our labeller with its memory, and the comparison of results.
 */
#ifndef SLUICE_BENCH_IMAGE_VS_OPENCV_HPP
#define SLUICE_BENCH_IMAGE_VS_OPENCV_HPP

#include <sluice/image_label.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

struct settings {
    size_t size = 2048, large = 8192;
    std::vector<unsigned> granularities = {1, 2, 4, 8, 16};
    int step = 5, repetitions = 7, cpu = -1;
    unsigned seed = 1;
    std::string simd, algorithm = "auto", sections = "eight,four,threads,large";
    bool json = false;
    bool half = false; /* without AVX-512, half of every ratio is what is wanted */
};

[[noreturn]] inline void fail(const std::string &text)
{
    std::fprintf(stderr, "image_vs_opencv: %s\n", text.c_str());
    std::exit(1);
}

/* ---- ours --------------------------------------------------------------------------------------- */

/* OpenCV's statistics, and of its centroids the sums that they are made of; with_centroids also divides. The
 * background, OpenCV's label 0, is a component that is not asked of ours. */
constexpr uint32_t same_features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS;
constexpr uint32_t with_centroids = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_CENTROID;

inline slc_simd_target chosen_target(const settings &s)
{
    slc_error error{};
    slc_simd_target target{};
    if (slc_simd_choose(s.simd.empty() ? nullptr : s.simd.c_str(), &target, &error) != SLC_OK) {
        fail(error.text);
    }
    return target;
}

/* A labeller that was opened and has its memory before anything is measured. */
class labeller
{
  public:
    labeller(const settings &s, size_t size, uint32_t connectivity, uint32_t features, bool with_labels,
             uint32_t threads = 1)
    {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.algorithm = s.algorithm.c_str();
        config.connectivity = connectivity;
        config.features = features;
        config.exec.threads = threads;
        config.exec.target = chosen_target(s);
        slc_error error{};
        if (slc_image_label_open(&config, &handle_, &error) != SLC_OK ||
            slc_image_label_reserve(handle_, size, size, &error) != SLC_OK) {
            fail(error.text);
        }
        if (with_labels) {
            labels.create(static_cast<int>(size), static_cast<int>(size), CV_32S);
            out_.labels = labels.data;
            out_.stride = static_cast<ptrdiff_t>(labels.step[0]);
        }
        out_.type = SLC_TYPE_U32;
        if (features != 0) {
            schema_ = slc_image_components_schema(features, columns_);
            const size_t bound = slc_image_label_bound(size, size, connectivity);
            if (slc_columns_reserve(&schema_, &components, bound, 1) != SLC_OK) {
                fail("no memory for the components");
            }
            out_.components = &components;
        }
    }
    labeller(const labeller &) = delete;
    labeller &operator=(const labeller &) = delete;
    ~labeller()
    {
        slc_image_label_close(handle_);
        if (schema_.n_columns > 0) {
            slc_columns_clear(&schema_, &components);
        }
    }
    void run(const cv::Mat &image)
    {
        const slc_image ours = {image.data, static_cast<size_t>(image.cols), static_cast<size_t>(image.rows),
                                static_cast<ptrdiff_t>(image.step[0]), SLC_IMAGE_U8};
        slc_columns_reset(&components);
        slc_error error{};
        if (slc_image_label_run(handle_, &ours, nullptr, &out_, nullptr, &error) != SLC_OK) {
            fail(error.text);
        }
    }
    uint32_t count() const
    {
        return out_.n_labels;
    }
    cv::Mat labels;
    slc_image_components components{};

  private:
    slc_image_labeller *handle_ = nullptr;
    slc_image_labels out_{};
    slc_column columns_[SLC_IMAGE_COLUMNS]{};
    slc_schema schema_{};
};

/* ---- the two agree ------------------------------------------------------------------------------ */

/* For each of OpenCV's labels the one of ours; fails where two label images are not the same partition. */
inline std::vector<uint32_t> matched(const cv::Mat &theirs, int n_theirs, const cv::Mat &ours,
                                     uint32_t n_ours)
{
    if (n_theirs < 1 || static_cast<uint32_t>(n_theirs - 1) != n_ours) {
        fail("OpenCV finds " + std::to_string(n_theirs - 1) + " components, we find " +
             std::to_string(n_ours));
    }
    const uint32_t none = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> our(static_cast<size_t>(n_theirs), none), their(size_t{n_ours} + 1, none);
    our[0] = their[0] = 0; /* background is background */
    for (int y = 0; y < theirs.rows; y++) {
        const auto *a = theirs.ptr<int32_t>(y);
        const auto *b = ours.ptr<int32_t>(y);
        for (int x = 0; x < theirs.cols; x++) {
            const auto t = static_cast<uint32_t>(a[x]), o = static_cast<uint32_t>(b[x]);
            if (o > n_ours || t >= our.size()) {
                fail("a label that there is not");
            }
            if (our[t] == none && their[o] == none) {
                our[t] = o;
                their[o] = t;
            }
            if (our[t] != o || their[o] != t) {
                fail("labels differ from OpenCV's at x = " + std::to_string(x) +
                     ", y = " + std::to_string(y));
            }
        }
    }
    return our;
}

inline void compare_features(const std::vector<uint32_t> &our, const cv::Mat &stats, const cv::Mat &centroids,
                             const slc_image_components &c)
{
    if (c.head.size + 1 != our.size()) {
        fail("the number of features is not that of the components");
    }
    for (size_t t = 1; t < our.size(); t++) {
        const size_t row = our[t] - 1;
        const int *s = stats.ptr<int32_t>(static_cast<int>(t));
        const double *centre = centroids.ptr<double>(static_cast<int>(t));
        const auto area = static_cast<double>(c.area[row]);
        const bool same =
            static_cast<double>(s[cv::CC_STAT_AREA]) == area &&
            static_cast<uint32_t>(s[cv::CC_STAT_LEFT]) == c.x_min[row] &&
            static_cast<uint32_t>(s[cv::CC_STAT_TOP]) == c.y_min[row] &&
            static_cast<uint32_t>(s[cv::CC_STAT_LEFT] + s[cv::CC_STAT_WIDTH] - 1) == c.x_max[row] &&
            static_cast<uint32_t>(s[cv::CC_STAT_TOP] + s[cv::CC_STAT_HEIGHT] - 1) == c.y_max[row] &&
            std::fabs(centre[0] - (c.x != nullptr ? c.x[row] : static_cast<double>(c.sum_x[row]) / area)) <
                1e-6 &&
            std::fabs(centre[1] - (c.y != nullptr ? c.y[row] : static_cast<double>(c.sum_y[row]) / area)) <
                1e-6;
        if (!same) {
            fail("features of component " + std::to_string(row + 1) + " differ from OpenCV's");
        }
    }
}

#endif
