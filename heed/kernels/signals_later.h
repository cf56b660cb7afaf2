// Signals wait until the end of a scope.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace heed::kernels {

/// While it lives, no handler runs on the calling thread, nor on threads that it starts; what came meanwhile comes
/// after. Faults of the code itself (SIGSEGV and the like) are not held up.
class SignalsLater {
 public:
  SignalsLater() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsLater() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsLater(const SignalsLater&) = delete;
  SignalsLater& operator=(const SignalsLater&) = delete;

 private:
  sigset_t before_;
};

}  // namespace heed::kernels
