// A map whose values are made once: the first caller builds, the others wait for that key alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include <kiln/error.hpp>

namespace kiln {

// Value must be cheap to copy. Hash and Equal are transparent: looking up makes no Key.
template <class Key, class Value, class Hash, class Equal>
class SingleFlight {
 public:
  // False when the value is absent or being built. Allocates nothing.
  template <class Lookup>
  [[nodiscard]] bool peek(const Lookup& lookup, Value& value) const {
    const std::shared_lock lock(mutex_);
    const auto found = futures_.find(lookup);
    if (found == futures_.end()) return false;
    if (found->second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    const auto* ready = std::get_if<Value>(&found->second.get());
    if (ready == nullptr) return false;
    value = *ready;
    return true;
  }

  struct Result {
    Value value;
    bool built = false;  // by this call
  };

  // Builds outside every lock. When build throws, the key is free again and every waiter throws the
  // same.
  template <class Build>
  [[nodiscard]] Result get(const Key& key, Build&& build) {
    std::promise<Outcome> promise;
    const Future future = promise.get_future().share();
    {
      std::unique_lock lock(mutex_);
      const auto [position, inserted] = futures_.try_emplace(key, future);
      if (!inserted) {
        const Future other = position->second;
        lock.unlock();
        return {wait(other), false};
      }
    }
    try {
      Value value = std::forward<Build>(build)();
      promise.set_value(value);
      return {std::move(value), true};
    } catch (const Error& error) {
      forget(key);  // first: who comes after the waiters have heard of the failure starts anew
      promise.set_value(Failure{error.code, error.detail});
      throw;
    } catch (...) {
      forget(key);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  void forget(const Key& key) {
    const std::unique_lock lock(mutex_);
    futures_.erase(key);
  }

 private:
  // An Error travels as a value: an exception_ptr would give all waiters one object to change.
  struct Failure {
    ErrorCode code;
    std::string detail;
  };
  using Outcome = std::variant<Value, Failure>;
  using Future = std::shared_future<Outcome>;

  [[nodiscard]] static Value wait(const Future& future) {
    const Outcome& outcome = future.get();
    if (const auto* failure = std::get_if<Failure>(&outcome)) {
      throw Error(failure->code, failure->detail);
    }
    return std::get<Value>(outcome);
  }

  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, Future, Hash, Equal> futures_;
};

}  // namespace kiln
