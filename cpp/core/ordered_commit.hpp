// Results of tasks on several threads, joined in the order of the tasks, one at a time, while others still run.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace candide {

class OrderedCommit {
  public:
    explicit OrderedCommit(std::size_t n_tasks) : made_(n_tasks) {}

    // A task is done. Joins it and those that waited for it, or leaves it to the thread that is joining: no thread
    // waits.
    template <class Join>
    void done(std::size_t task, Join&& join) {
        std::unique_lock<std::mutex> guard(lock_);
        made_[task] = 1;
        if (joining_) return;
        joining_ = true;
        while (next_ < made_.size() && made_[next_]) {
            const std::size_t turn = next_++;
            guard.unlock();
            join(turn);
            guard.lock();
        }
        joining_ = false;
    }

  private:
    std::mutex lock_;
    std::vector<char> made_;
    std::size_t next_ = 0;
    bool joining_ = false;
};

}  // namespace candide
