/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling beside OpenCV's, in one process: the same images, the same thread on one pinned core, turns of
 * calls (ours, theirs, ours, …), so that whatever disturbs the machine disturbs both. Label images are made
 * once and written again and again by both; of working memory, ours is reserved once, which is how this
 * library is used, and OpenCV takes its own anew in every call, which its interface does not let a caller
 * change. In the same run the results are compared: the same partition, areas, boxes and centroids.
 *
 * Rates are total pixels over total time, over all densities, from the minimum and from the median of the
 * repetitions; what is wanted is judged by the median. Peers: connectedComponents (OpenCV 4: Spaghetti,
 * Bolelli et al., IEEE TIP 29, 2020), the same with CCL_GRANA (8 neighbours: BBDT, Grana et al., IEEE TIP 19,
 * 2010; 4 neighbours: SAUF, Wu et al., 2009), and connectedComponentsWithStats with CCL_GRANA.
 */
#include "image_vs_opencv.hpp"

#include <sluice/sim.h>

#include <opencv2/core/utility.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <getopt.h>
#include <iterator>
#include <sched.h>

namespace
{

/* ---- measuring ---------------------------------------------------------------------------------- */

struct contender {
    std::string name;
    size_t pixels; /* of a call */
    std::function<void()> run;
    std::vector<double> minimum, median; /* seconds, of each density */

    double rate(bool by_median = false) const
    {
        double total = 0;
        for (double seconds : by_median ? median : minimum) {
            total += seconds;
        }
        return static_cast<double>(pixels) * static_cast<double>(minimum.size()) / total;
    }
    double worst() const
    {
        return static_cast<double>(pixels) / *std::max_element(minimum.begin(), minimum.end());
    }
    size_t worst_at() const
    {
        return static_cast<size_t>(std::max_element(minimum.begin(), minimum.end()) - minimum.begin());
    }
};

struct result {
    std::string section, name;
    unsigned granularity;
    double rate, rate_median, worst;
    int worst_percent;
};

struct ratio {
    std::string section, name;
    unsigned granularity;
    double by_minimum, by_median, wanted;
};

std::vector<result> results;
std::vector<ratio> ratios;

void draw(const settings &s, unsigned granularity, int percent, cv::Mat &image)
{
    slc_sim_image_config config;
    slc_sim_image_config_default(&config);
    config.seed = s.seed;
    config.width = static_cast<size_t>(image.cols);
    config.height = static_cast<size_t>(image.rows);
    config.density = percent / 100.0;
    config.granularity = granularity;
    slc_error error{};
    if (slc_sim_image(&config, 255, image.data, static_cast<ptrdiff_t>(image.step[0]), &error) != SLC_OK) {
        fail(error.text);
    }
}

/* One density. Everyone is called several times in a row, as by a caller who labels one image after another:
 * the first calls bring the caches into that state and are not timed. There are two rounds, so that a
 * disturbance by something else on the machine does not hit one contender alone. */
void measure(std::vector<contender> &all, int repetitions, const std::function<void()> &verify)
{
    for (contender &c : all) {
        c.run();
    }
    verify();
    std::vector<std::vector<double>> seconds(all.size());
    const int untimed = 2, rounds = 2;
    for (int round = 0; round < rounds; round++) {
        for (size_t k = 0; k < all.size(); k++) {
            for (int i = -untimed; i < (repetitions + rounds - 1) / rounds; i++) {
                const double begin = slc_clock_seconds();
                all[k].run();
                if (i >= 0) {
                    seconds[k].push_back(slc_clock_seconds() - begin);
                }
            }
        }
    }
    for (size_t k = 0; k < all.size(); k++) {
        std::vector<double> &times = seconds[k];
        std::sort(times.begin(), times.end());
        all[k].minimum.push_back(times[0]);
        all[k].median.push_back(0.5 * (times[times.size() / 2] + times[(times.size() - 1) / 2]));
    }
}

void keep(const settings &s, const std::string &section, unsigned granularity,
          const std::vector<contender> &all)
{
    for (const contender &c : all) {
        results.push_back({section, c.name, granularity, c.rate(), c.rate(true), c.worst(),
                           static_cast<int>(c.worst_at()) * s.step});
        if (!s.json) {
            const result &r = results.back();
            std::printf("  g=%-3u %-36s %8.3f %8.3f   %8.3f at %3d %%  %3.0f %%\n", granularity,
                        c.name.c_str(), r.rate * 1e-9, r.rate_median * 1e-9, r.worst * 1e-9, r.worst_percent,
                        100 * r.worst / r.rate);
            std::fflush(stdout);
        }
    }
}

void compare(const std::string &section, const std::string &name, unsigned granularity, const contender &ours,
             const contender &theirs, double wanted)
{
    ratios.push_back({section, name, granularity, ours.rate() / theirs.rate(),
                      ours.rate(true) / theirs.rate(true), wanted});
}

void heading(const settings &s, const std::string &text)
{
    if (!s.json) {
        std::printf("\n%s\n  %-5s %-36s %8s %8s   %s\n", text.c_str(), "", "", "Gpix/s", "median",
                    "worst density, of the mean");
    }
}

/* ---- the sections ------------------------------------------------------------------------------- */

/* What the project's issue asks for at granularities 1, 2, 4, 8, 16; 0 where it asks for nothing. */
double wanted_at(unsigned granularity, const double (&values)[5])
{
    for (unsigned i = 0; i < 5; i++) {
        if (granularity == 1U << i) {
            return values[i];
        }
    }
    return 0;
}

void beside_opencv(const settings &s, unsigned g, uint32_t connectivity)
{
    const int side = static_cast<int>(s.size), way = static_cast<int>(connectivity);
    const size_t pixels = s.size * s.size;
    const std::string section = connectivity == 8 ? "eight" : "four";
    cv::Mat image(side, side, CV_8U), plain, bbdt, with_stats, stats, centroids;
    const std::string grana = connectivity == 8 ? "BBDT" : "SAUF";
    labeller labels(s, s.size, connectivity, 0, true),
        features(s, s.size, connectivity, same_features, false),
        both(s, s.size, connectivity, same_features, true),
        centroids_too(s, s.size, connectivity, with_centroids, false);
    int n_plain = 0, n_bbdt = 0, n_stats = 0;
    std::vector<contender> all = {
        {"OpenCV default",
         pixels,
         [&] { n_plain = cv::connectedComponents(image, plain, way, CV_32S, cv::CCL_DEFAULT); },
         {},
         {}},
        {"labels", pixels, [&] { labels.run(image); }, {}, {}},
        {"OpenCV " + grana,
         pixels,
         [&] { n_bbdt = cv::connectedComponents(image, bbdt, way, CV_32S, cv::CCL_GRANA); },
         {},
         {}},
        {"features without label image", pixels, [&] { features.run(image); }, {}, {}},
        {"OpenCV WithStats " + grana,
         pixels,
         [&] {
             n_stats = cv::connectedComponentsWithStats(image, with_stats, stats, centroids, way, CV_32S,
                                                        cv::CCL_GRANA);
         },
         {},
         {}},
        {"features and labels", pixels, [&] { both.run(image); }, {}, {}},
        {"features with centroids", pixels, [&] { centroids_too.run(image); }, {}, {}},
    };
    for (int percent = 0; percent <= 100; percent += s.step) {
        draw(s, g, percent, image);
        measure(all, s.repetitions, [&] {
            (void)matched(plain, n_plain, labels.labels, labels.count());
            (void)matched(bbdt, n_bbdt, labels.labels, labels.count());
            const std::vector<uint32_t> our = matched(with_stats, n_stats, both.labels, both.count());
            compare_features(our, stats, centroids, both.components);
            compare_features(our, stats, centroids, features.components);
            compare_features(our, stats, centroids, centroids_too.components);
        });
    }
    keep(s, section, g, all);
    if (connectivity == 8) {
        compare(section, "labels / OpenCV default", g, all[1], all[0], wanted_at(g, {11, 8, 6, 5.5, 5.5}));
        compare(section, "features / WithStats BBDT", g, all[3], all[4], wanted_at(g, {17, 19, 24, 30, 40}));
        compare(section, "features + labels / WithStats BBDT", g, all[5], all[4],
                wanted_at(g, {12, 13, 15, 17, 20}));
        compare(section, "features, centroids / WithStats", g, all[6], all[4], 0);
        compare(section, "labels / OpenCV BBDT", g, all[1], all[2], 0);
        for (size_t k : {1, 3, 5}) {
            const double share = all[k].worst() / all[k].rate();
            ratios.push_back(
                {section, all[k].name.substr(0, 8) + (k == 5 ? " + labels" : "") + ": worst density / mean",
                 g, share, share, k == 1 ? 0.6 : 0});
        }
    } else {
        compare(section, "labels, 4 / OpenCV default", g, all[1], all[0], wanted_at(g, {10, 0, 0, 0, 7}));
    }
}

/* The processors that this process may use. */
std::vector<int> processors()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &set)) {
                found.push_back(i);
            }
        }
    }
    return found;
}

void pin(const std::vector<int> &cpus)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : cpus) {
        CPU_SET(cpu, &set);
    }
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fail("cannot pin the thread to its processor");
    }
}

/* The second thread is born on another processor and stays there. */
void two_threads(const settings &s, unsigned g, int first, const std::vector<int> &others)
{
    const int side = static_cast<int>(s.size);
    cv::Mat image(side, side, CV_8U);
    labeller one(s, s.size, 8, 0, true), one_features(s, s.size, 8, same_features, false);
    pin(others);
    labeller two(s, s.size, 8, 0, true, 2), two_features(s, s.size, 8, same_features, false, 2);
    pin({first});
    const size_t pixels = s.size * s.size;
    std::vector<contender> all = {
        {"labels, one thread", pixels, [&] { one.run(image); }, {}, {}},
        {"labels, two threads", pixels, [&] { two.run(image); }, {}, {}},
        {"features, one thread", pixels, [&] { one_features.run(image); }, {}, {}},
        {"features, two threads", pixels, [&] { two_features.run(image); }, {}, {}},
    };
    for (int percent = 0; percent <= 100; percent += s.step) {
        draw(s, g, percent, image);
        measure(all, s.repetitions, [&] {
            if (one.count() != two.count() || cv::countNonZero(one.labels != two.labels) != 0) {
                fail("two threads give other labels than one");
            }
        });
    }
    keep(s, "threads", g, all);
    compare("threads", "labels, two threads / one", g, all[1], all[0], 1.8);
    compare("threads", "features, two threads / one", g, all[3], all[2], 0);
}

void large_image(const settings &s, unsigned g)
{
    const int side = static_cast<int>(s.size), large = static_cast<int>(s.large);
    cv::Mat image(side, side, CV_8U), large_image(large, large, CV_8U);
    labeller usual(s, s.size, 8, 0, true), larger(s, s.large, 8, 0, true);
    labeller usual_features(s, s.size, 8, same_features, false),
        larger_features(s, s.large, 8, same_features, false);
    const size_t pixels = s.size * s.size, more = s.large * s.large;
    const std::string small_name = std::to_string(side), large_name = std::to_string(large);
    std::vector<contender> all = {
        {"labels, " + small_name, pixels, [&] { usual.run(image); }, {}, {}},
        {"labels, " + large_name, more, [&] { larger.run(large_image); }, {}, {}},
        {"features, " + small_name, pixels, [&] { usual_features.run(image); }, {}, {}},
        {"features, " + large_name, more, [&] { larger_features.run(large_image); }, {}, {}},
    };
    for (int percent = 0; percent <= 100; percent += s.step) {
        draw(s, g, percent, image);
        draw(s, g, percent, large_image);
        measure(all, std::min(s.repetitions, 3), [] {});
    }
    keep(s, "large", g, all);
    compare("large", "labels, " + large_name + " / " + small_name, g, all[1], all[0], 0.75);
    compare("large", "features, " + large_name + " / " + small_name, g, all[3], all[2], 0);
}

/* ---- what is told ------------------------------------------------------------------------------- */

/* Shares and ratios against ourselves do not depend on the width of vectors. */
double wanted_here(const settings &s, const ratio &r)
{
    return s.half && r.wanted > 3 ? r.wanted / 2 : r.wanted;
}

void print_ratios(const settings &s)
{
    std::printf("\nratios of rates over all densities (total pixels / total time)\n  %-42s %8s %8s %8s\n", "",
                "minimum", "median", "wanted");
    for (const ratio &r : ratios) {
        const double wanted = wanted_here(s, r);
        char want[32] = "", verdict[16] = "";
        if (wanted > 0) {
            std::snprintf(want, sizeof want, "%8.2f", wanted);
            std::snprintf(verdict, sizeof verdict, "%s", r.by_median >= wanted ? "met" : "MISSED");
        }
        std::printf("  %-36s g=%-3u %8.2f %8.2f %8s %s\n", r.name.c_str(), r.granularity, r.by_minimum,
                    r.by_median, want, verdict);
    }
}

void print_json(const settings &s)
{
    std::printf("{\"size\": %zu, \"repetitions\": %d, \"step\": %d, \"simd\": \"%s\", \"algorithm\": \"%s\", "
                "\"opencv\": \"%s\", \"opencv_cpu\": \"%s\", \"half_wanted\": %s,\n \"rates\": [",
                s.size, s.repetitions, s.step, slc_simd_name(chosen_target(s)), s.algorithm.c_str(),
                CV_VERSION, cv::getCPUFeaturesLine().c_str(), s.half ? "true" : "false");
    const char *comma = "";
    for (const result &r : results) {
        std::printf(
            "%s\n  {\"section\": \"%s\", \"name\": \"%s\", \"granularity\": %u, \"pixels_per_s\": %.6g, "
            "\"pixels_per_s_median\": %.6g, \"worst_pixels_per_s\": %.6g, \"worst_density\": %d}",
            comma, r.section.c_str(), r.name.c_str(), r.granularity, r.rate, r.rate_median, r.worst,
            r.worst_percent);
        comma = ",";
    }
    std::printf("],\n \"ratios\": [");
    comma = "";
    for (const ratio &r : ratios) {
        std::printf(
            "%s\n  {\"section\": \"%s\", \"name\": \"%s\", \"granularity\": %u, \"by_minimum\": %.5g, "
            "\"by_median\": %.5g, \"wanted\": %g}",
            comma, r.section.c_str(), r.name.c_str(), r.granularity, r.by_minimum, r.by_median,
            wanted_here(s, r));
        comma = ",";
    }
    std::printf("]}\n");
}

/* ---- the command line --------------------------------------------------------------------------- */

const char usage[] = "usage: image_vs_opencv [options]\n"
                     "  --size N             side of the images (2048)\n"
                     "  --large N            side of the images of section large (8192)\n"
                     "  --granularities LIST (1,2,4,8,16)\n"
                     "  --step N             step of the density in percent (5)\n"
                     "  --repetitions N      calls of each at each density (7)\n"
                     "  --sections LIST      of eight,four (connectivity),threads,large (all)\n"
                     "  --algorithm NAME     of ours (auto)\n"
                     "  --simd T             instruction set of ours (auto)\n"
                     "  --seed S             of the images (1)\n"
                     "  --cpu N              processor to be pinned to (the last that may be used)\n"
                     "  --json               one JSON object\n";

long whole(const char *text, long low, long high)
{
    char *end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < low || value > high) {
        fail(std::string("'") + text + "' is not a whole number from " + std::to_string(low) + " to " +
             std::to_string(high));
    }
    return value;
}

std::vector<unsigned> numbers(const std::string &list)
{
    std::vector<unsigned> found;
    for (size_t at = 0; at <= list.size();) {
        const size_t comma = std::min(list.find(',', at), list.size());
        found.push_back(static_cast<unsigned>(whole(list.substr(at, comma - at).c_str(), 1, 65536)));
        at = comma + 1;
    }
    return found;
}

settings parse(int argc, char **argv)
{
    static const option longs[] = {{"size", required_argument, nullptr, 's'},
                                   {"large", required_argument, nullptr, 'l'},
                                   {"granularities", required_argument, nullptr, 'g'},
                                   {"step", required_argument, nullptr, 'd'},
                                   {"repetitions", required_argument, nullptr, 'r'},
                                   {"sections", required_argument, nullptr, 'S'},
                                   {"algorithm", required_argument, nullptr, 'a'},
                                   {"simd", required_argument, nullptr, 't'},
                                   {"seed", required_argument, nullptr, 'e'},
                                   {"cpu", required_argument, nullptr, 'c'},
                                   {"json", no_argument, nullptr, 'j'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
    settings s;
    for (int c; (c = getopt_long(argc, argv, "h", longs, nullptr)) != -1;) {
        switch (c) {
        case 's':
            s.size = static_cast<size_t>(whole(optarg, 1, 32768));
            break;
        case 'l':
            s.large = static_cast<size_t>(whole(optarg, 1, 32768));
            break;
        case 'g':
            s.granularities = numbers(optarg);
            break;
        case 'd':
            s.step = static_cast<int>(whole(optarg, 1, 100));
            break;
        case 'r':
            s.repetitions = static_cast<int>(whole(optarg, 1, 100000));
            break;
        case 'e':
            s.seed = static_cast<unsigned>(whole(optarg, 0, 4294967295L));
            break;
        case 'c':
            s.cpu = static_cast<int>(whole(optarg, 0, CPU_SETSIZE - 1));
            break;
        case 'S':
            s.sections = optarg;
            break;
        case 'a':
            s.algorithm = optarg;
            break;
        case 't':
            s.simd = optarg;
            break;
        case 'j':
            s.json = true;
            break;
        case 'h':
            std::fputs(usage, stdout);
            std::exit(0);
        default:
            std::fputs(usage, stderr);
            std::exit(2);
        }
    }
    return s;
}

bool has_section(const settings &s, const char *name)
{
    return ("," + s.sections + ",").find(std::string(",") + name + ",") != std::string::npos;
}

} // namespace

int main(int argc, char **argv)
{
    settings s = parse(argc, argv);
    cv::setNumThreads(1);
    const std::vector<int> cpus = processors();
    const int first = s.cpu >= 0 ? s.cpu : cpus.empty() ? 0 : cpus.back();
    std::vector<int> others;
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(others), [&](int cpu) { return cpu != first; });
    pin({first});
    const slc_simd_target target = chosen_target(s);
    s.half = !(target == SLC_SIMD_AVX512 || target == SLC_SIMD_AVX512ICL ||
               (target == SLC_SIMD_AUTO && slc_simd_runs(SLC_SIMD_AVX512)));
    if (!s.json) {
        std::printf(
            "OpenCV %s and sluice %s (%s), %s, instruction set %s; %zux%zu, densities 0 to 100 step %d, "
            "%d repetitions, processor %d\nOpenCV's instruction sets: %s\n%s",
            CV_VERSION, slc_version(), slc_compiler(), s.algorithm.c_str(), slc_simd_name(target), s.size,
            s.size, s.step, s.repetitions, first, cv::getCPUFeaturesLine().c_str(),
            s.half ? "without AVX-512: half of each ratio to OpenCV is wanted\n" : "");
    }
    for (const char *name : {"eight", "four"}) {
        if (has_section(s, name)) {
            heading(s, name + std::string("-connectivity, one thread"));
            for (unsigned g : s.granularities) {
                beside_opencv(s, g, name[0] == 'e' ? 8 : 4);
            }
        }
    }
    if (has_section(s, "threads") && others.empty()) {
        std::fprintf(stderr, "image_vs_opencv: section threads is left out: there is one processor alone\n");
    } else if (has_section(s, "threads")) {
        heading(s, "two threads");
        for (unsigned g : s.granularities) {
            two_threads(s, g, first, others);
        }
    }
    if (has_section(s, "large")) {
        heading(s, "large images");
        for (unsigned g : s.granularities) {
            large_image(s, g);
        }
    }
    s.json ? print_json(s) : print_ratios(s);
    return 0;
}
