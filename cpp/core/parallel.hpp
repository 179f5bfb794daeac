// Runs numbered tasks on a few threads that live only as long as the call.
//
// Nothing here decides what a task is. The kernels cut rows into shards by the shape of the data alone, and combine the
// results in the order of the shards; or they deal parts out to the threads, where what a part adds up to does not
// depend on the thread that adds it (the sums of sparse rows). That is why no result depends on the number of threads.
// And since no thread outlives a call, a process may fork between two.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "stop.hpp"

// Wide vectors where the machine has them, chosen when the library is loaded. Contraction of a*b+c is switched off in
// the build, so every clone gives the same bits. Sanitizers and loaders without ifunc (musl's) take the plain version;
// any header of the C library, included above, defines which library it is.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(CANDIDE_NO_CLONES)
#define CANDIDE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CANDIDE_CLONES
#endif

namespace candide {

// A call smaller than this many elementary steps runs on the caller's thread: starting one costs about as much.
inline constexpr std::size_t kSmallWork = 1 << 17;

// Threads that work on one call: the first failure of any of them ends the work of all.
class Crew {
  public:
    void begin() {
        const std::lock_guard<std::mutex> guard(lock_);
        ++n_running_;
    }
    void end() {
        const std::lock_guard<std::mutex> guard(lock_);
        if (--n_running_ == 0) ended_.notify_one();
    }

    // False if the work failed.
    template <class Work>
    bool attempt(Work&& work) {
        const Together together(failed_);
        try {
            work();
            return true;
        } catch (...) {
            const std::lock_guard<std::mutex> guard(lock_);
            if (!failure_) failure_ = std::current_exception();
            failed_.store(true);  // after the failure is stored: threads that stop because of it add none
            return false;
        }
    }

    // Until all have ended; the calling thread goes on checking for signals.
    void wait() {
        std::unique_lock<std::mutex> guard(lock_);
        while (!ended_.wait_for(guard, kPatience, [&] { return n_running_ == 0; })) {
            guard.unlock();
            if (!failed_.load()) attempt(check_stop);
            guard.lock();
        }
    }

    void finish() {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    std::mutex lock_;
    std::condition_variable ended_;
    std::size_t n_running_ = 0;
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
};

// How many threads work on a call, at most.
inline std::size_t workers_for(std::size_t n_tasks, std::size_t work, int n_threads) {
    return std::min(work < kSmallWork ? 1 : static_cast<std::size_t>(std::max(1, n_threads)), n_tasks);
}

// Each thread runs `loop(next)`, where `next(task)` hands it numbers of tasks in rising order, until it returns false.
// Between tasks the call may end (stop.hpp); tasks that take long count steps of their own.
template <class Loop>
void parallel_loops(std::size_t n_tasks, std::size_t work, int n_threads, Loop&& loop) {
    const std::size_t n_workers = workers_for(n_tasks, work, n_threads);
    const std::size_t per_task = n_tasks ? work / n_tasks + 1 : 0;
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        Steps steps;
        loop([&](std::size_t& task) {
            steps.add(per_task);
            return (task = next.fetch_add(1)) < n_tasks;
        });
    };
    if (n_workers <= 1) return run();
    Crew crew;
    auto work_loop = [&] {
        if (!crew.attempt(run)) next.store(n_tasks);
    };
    std::vector<std::thread> helpers;
    helpers.reserve(n_workers - 1);
    // A machine that refuses another thread, or the memory for it, still finishes the work with those it gave.
    try {
        for (std::size_t i = 1; i < n_workers; ++i) {
            crew.begin();
            helpers.emplace_back([&] {
                work_loop();
                crew.end();
            });
        }
    } catch (...) {
        crew.end();
    }
    work_loop();
    if (is_watched()) crew.wait();
    for (auto& helper : helpers) helper.join();
    crew.finish();
}

template <class Task>
void parallel_for(std::size_t n_tasks, std::size_t work, int n_threads, Task&& task) {
    parallel_loops(n_tasks, work, n_threads, [&](auto&& next) {
        for (std::size_t i; next(i);) task(i);
    });
}

// Adds the shards' private tables to the result and frees them.
inline void add_in_order(std::vector<std::vector<double>>& parts, double* total) {
    Steps steps;
    for (auto& part : parts) {
        steps.add(part.size());
        for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
        part = {};
    }
}

// Rows cut into equal shards. The number depends on the data only; 64 rows a class and shard bound the extra memory of
// the shards' private tables (three in the case of moments) to a twentieth of the data.
struct Shards {
    std::size_t rows, count;

    Shards(std::size_t n_rows, std::size_t n_classes)
        : rows(n_rows), count(std::clamp<std::size_t>(n_rows / std::max<std::size_t>(4096, 64 * n_classes), 1, 64)) {}

    std::size_t begin(std::size_t shard) const { return shard * (rows / count) + std::min(shard, rows % count); }
    std::size_t end(std::size_t shard) const { return begin(shard + 1); }
};

}  // namespace candide
