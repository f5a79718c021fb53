// A map whose values are made once: the first caller builds, the others wait for that key alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace kiln {

// Value must be cheap to copy. Hash and Equal are transparent: looking up makes no Key.
template <class Key, class Value, class Hash, class Equal>
class SingleFlight {
 public:
  // The value when it is ready; nothing when it is absent or being built. Allocates nothing.
  template <class Lookup>
  [[nodiscard]] bool peek(const Lookup& lookup, Value& value) const {
    const std::shared_lock lock(mutex_);
    const auto found = futures_.find(lookup);
    if (found == futures_.end()) return false;
    if (found->second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    value = found->second.get();
    return true;
  }

  struct Result {
    Value value;
    bool built = false;  // by this call
  };

  // Builds outside every lock. When build throws, the waiters get the exception and the key is free
  // again.
  template <class Build>
  [[nodiscard]] Result get(const Key& key, Build&& build) {
    std::promise<Value> promise;
    {
      std::unique_lock lock(mutex_);
      const auto [position, inserted] = futures_.try_emplace(key);
      if (!inserted) {
        const std::shared_future<Value> future = position->second;
        lock.unlock();
        return {future.get(), false};
      }
      position->second = promise.get_future().share();
    }
    try {
      Value value = std::forward<Build>(build)();
      promise.set_value(value);
      return {std::move(value), true};
    } catch (...) {
      forget(key);  // first: who comes after the waiters have heard of the failure starts anew
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  void forget(const Key& key) {
    const std::unique_lock lock(mutex_);
    futures_.erase(key);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, std::shared_future<Value>, Hash, Equal> futures_;
};

}  // namespace kiln
