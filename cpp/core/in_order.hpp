// Tasks on several threads whose results are joined in the order of the tasks, one at a time, while others still run.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "parallel.hpp"

namespace candide {

template <class Make, class Join>
void parallel_in_order(std::size_t n_tasks, std::size_t work, int n_threads, Make&& make, Join&& join) {
    std::mutex lock;
    std::vector<char> made(n_tasks);
    std::size_t next = 0;
    bool joining = false;
    parallel_for(n_tasks, work, n_threads, [&](std::size_t task) {
        make(task);
        std::unique_lock<std::mutex> guard(lock);
        made[task] = 1;
        // Whoever joins already will see this task, and nobody waits.
        if (joining) return;
        joining = true;
        while (next < n_tasks && made[next]) {
            const std::size_t turn = next++;
            guard.unlock();
            join(turn);
            guard.lock();
        }
        joining = false;
    });
}

}  // namespace candide
