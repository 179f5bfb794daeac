#include <atomic>

#include "arrays.hpp"

namespace candide {
namespace {

std::atomic<unsigned long> main_thread{0};

// Runs the handlers of the signals that came. What one of them raises ends the call.
void check_signals() {
    nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

StopCheck signal_check() {
    return PyThread_get_thread_ident() == main_thread.load(std::memory_order_relaxed) ? check_signals : nullptr;
}

void bind_signals(nb::module_&) {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    main_thread = nb::cast<unsigned long>(thread.attr("ident"));
    // In a child, the thread that forked is the main one.
    const nb::module_ os = nb::module_::import_("os");
    if (!nb::hasattr(os, "register_at_fork")) return;
    os.attr("register_at_fork")(nb::arg("after_in_child") =
                                    nb::cpp_function([] { main_thread = PyThread_get_thread_ident(); }));
}

}  // namespace candide
