// Interruption of long calls: by a signal, or because another thread of the call failed.
//
// Loops count their steps (`Steps`) and check now and then. The thread that made the call runs a function (`Watched`;
// the binding passes one that lets Python handle signals), which throws to end the call. All threads read a flag that
// is set when one of them has failed.
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
using StopCheck = void (*)();

// How long a call runs before the first check, and between two. Where checks take long, as other threads of Python
// hold the interpreter lock, there are fewer: they take a twentieth of the time at most.
inline constexpr std::chrono::milliseconds kPatience{20};

// Runs the check, if it is time to; throws if the call is to end.
void check_stop();

// Whether the thread has a check to run.
bool is_watched();

// Locks that a thread holds while it reads. They are released during a check, since signal handlers may need them; so
// what they guard may have changed after any check.
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

// The state that checks of a thread read.
struct Watch {
    StopCheck ask = nullptr;
    std::chrono::steady_clock::time_point next{};  // time of the next check; zero before the first
    const std::atomic<bool>* failed = nullptr;
    ReadLocks* held = nullptr;
};

// A call begins: while this object exists, loops of the thread call `ask`. Null: no checks.
class Watched {
  public:
    explicit Watched(StopCheck ask);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

  private:
    Watch before_;  // of an outer call, in whose check this one runs
};

// While this object exists, the thread does not call `ask`: it holds a lock that it cannot release.
class Quiet {
  public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    StopCheck before_;
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

// Ranges of 0 ... n - 1, with a check between two: for loops so tight that counting steps would cost time. Used as
// `for (const auto [begin, end] : Ranges(n))`.
class Ranges {
  public:
    struct Range {
        std::size_t begin, end;
    };

    class Iterator {
      public:
        Iterator(std::size_t begin, std::size_t n) : begin_(begin), n_(n) {}
        Range operator*() const { return {begin_, end()}; }
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

    explicit Ranges(std::size_t n) : n_(n) {}
    Iterator begin() const { return {0, n_}; }
    Iterator end() const { return {n_, n_}; }

  private:
    std::size_t n_;
};

}  // namespace candide
