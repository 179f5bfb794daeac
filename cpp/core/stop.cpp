#include "stop.hpp"

#include <algorithm>

namespace candide {
namespace {

using Clock = std::chrono::steady_clock;

constinit thread_local Watch watch;

// Leaves the locks of the thread for a while.
class Released {
  public:
    Released() : held_(watch.held) {
        if (held_) held_->release();
    }
    ~Released() {
        if (held_) held_->acquire();
    }

  private:
    ReadLocks* held_;
};

}  // namespace

void check_stop() {
    Watch& mine = watch;
    if (mine.failed && mine.failed->load(std::memory_order_relaxed)) throw Abandoned{};
    if (!mine.ask) return;
    const Clock::time_point now = Clock::now();
    if (mine.next == Clock::time_point{}) mine.next = now + kPatience;
    if (now < mine.next) return;
    const Released released;
    mine.ask();
    const Clock::time_point answered = Clock::now();
    mine.next = answered + std::max<Clock::duration>(kPatience, 20 * (answered - now));
}

bool is_watched() { return watch.ask; }

ReadLocks::ReadLocks(std::vector<std::shared_mutex*> locks) : locks_(std::move(locks)), before_(watch.held) {
    std::sort(locks_.begin(), locks_.end());
    locks_.erase(std::unique(locks_.begin(), locks_.end()), locks_.end());
    acquire();
    watch.held = this;
}
ReadLocks::~ReadLocks() {
    watch.held = before_;
    release();
}
void ReadLocks::acquire() {
    for (std::shared_mutex* lock : locks_) lock->lock_shared();
}
void ReadLocks::release() {
    for (std::shared_mutex* lock : locks_) lock->unlock_shared();
}

Watched::Watched(StopCheck ask) : before_(watch) { watch = {ask}; }
Watched::~Watched() { watch = before_; }

Quiet::Quiet() : before_(watch.ask) { watch.ask = nullptr; }
Quiet::~Quiet() { watch.ask = before_; }

Together::Together(const std::atomic<bool>& failed) : before_(watch.failed) { watch.failed = &failed; }
Together::~Together() { watch.failed = before_; }

}  // namespace candide
