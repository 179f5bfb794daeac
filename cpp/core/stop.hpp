// A call that takes long can be ended half-way: by whoever made it, or because another thread of it failed.
//
// Loops count the steps they have done (`Steps`), and now and then ask. The thread that made the call asks whom
// it was told to (`Watched`; the binding has Python look for signals), who throws to end the call. All threads look at a
// flag that is set when one of them has failed, in whatever way.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <shared_mutex>
#include <vector>

namespace candide {

// Thrown in the other threads of a call after one of them has failed; never leaves the core.
struct Abandoned {};

// Throws to end the call. It runs on the thread that made the call alone.
using Ask = void (*)();

// How long a call runs before it asks, and between two questions. Where answers take long, as other threads of Python
// hold its lock, it asks less often: for a twentieth of the time at most.
inline constexpr std::chrono::milliseconds kPatience{20};

// Asks, if it is time to; throws if the call is to end.
void check_stop();

// Whether the thread has anybody to ask.
bool is_watched();

// Locks that a thread holds while it reads. It leaves them while it asks, since whatever Python does then may want them;
// so what they guard may have changed after any check.
class ReadLocks {
  public:
    explicit ReadLocks(std::vector<std::shared_mutex*> locks);
    ~ReadLocks();
    ReadLocks(const ReadLocks&) = delete;
    ReadLocks& operator=(const ReadLocks&) = delete;

    void acquire();
    void release();

  private:
    std::vector<std::shared_mutex*> locks_;  // each once, in an order that is the same for all threads
    ReadLocks* before_;
};

// What checks of a thread look at.
struct Watch {
    Ask ask = nullptr;
    std::chrono::steady_clock::time_point next{};  // when to ask; zero before the first check
    const std::atomic<bool>* failed = nullptr;
    ReadLocks* held = nullptr;
};

// A call begins: while this object exists, loops of the thread call `ask`. Null: no checks.
class Watched {
  public:
    explicit Watched(Ask ask);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

  private:
    Watch before_;  // of a call that is asking just now
};

// While this object exists, the thread does not call `ask`: it holds a lock that it cannot release.
class Quiet {
  public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    Ask before_;
};

// While this lives, loops of the thread end when the flag is set.
class Together {
  public:
    explicit Together(const std::atomic<bool>& failed);
    ~Together();
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

  private:
    const std::atomic<bool>* before_;
};

// Counts the steps of a loop, and checks once in so many as take some microseconds. Loops that end before cost nothing.
class Steps {
  public:
    // Of about a nanosecond each.
    static constexpr std::size_t kBetween = std::size_t{1} << 16;

    void add(std::size_t n) {
        if (n < left_) [[likely]] {
            left_ -= n;
            return;
        }
        left_ = kBetween;
        check_stop();
    }

  private:
    std::size_t left_ = kBetween;
};

// Stretches of 0 ... n - 1, with a check between two: for loops so tight that counting steps would tell. Used as
// `for (const auto [begin, end] : Stretches(n))`.
class Stretches {
  public:
    struct Stretch {
        std::size_t begin, end;
    };

    class Iterator {
      public:
        Iterator(std::size_t begin, std::size_t n) : begin_(begin), n_(n) {}
        Stretch operator*() const { return {begin_, end()}; }
        Iterator& operator++() {
            begin_ = end();
            if (begin_ < n_) check_stop();
            return *this;
        }
        bool operator!=(const Iterator& other) const { return begin_ != other.begin_; }

      private:
        std::size_t begin_, n_;
        std::size_t end() const { return n_ - begin_ > Steps::kBetween ? begin_ + Steps::kBetween : n_; }
    };

    explicit Stretches(std::size_t n) : n_(n) {}
    Iterator begin() const { return {0, n_}; }
    Iterator end() const { return {n_, n_}; }

  private:
    std::size_t n_;
};

}  // namespace candide
