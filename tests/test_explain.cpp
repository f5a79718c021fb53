// Why a lookup missed: the places, what was there, and the nearest entries.
// SPDX-License-Identifier: Apache-2.0
#include "cache/difference.hpp"
#include "tests/cache_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln::cache {
namespace {

using kiln::testing::contains;
using namespace testing;  // NOLINT(google-build-using-namespace): the fixtures of these tests

using Lines = std::vector<std::string>;

TEST_CASE("two keys differ in named fields, down to the line of source", "[cache]") {
  Key a = make_test_key("one\ntwo\nthree");
  a.fields.push_back({"header", std::string(64, 'a') + " rms.cuh"});
  a.fields.push_back({"option", "--fmad=false"});
  CHECK(differences(a, a).empty());
  Key b = a;
  b.fields[1].value = "sm_100a";
  b.fields[2].value = "one\nTWO\nthree";
  b.fields[3].value = std::string(64, 'b') + " rms.cuh";
  b.toolchain[0].value = "12.9";
  CHECK(differences(a, b) == Lines{"arch: sm_90a, not sm_100a",
                                   "header rms.cuh: other content (aaaaaaaaaaaa, not bbbbbbbbbbbb)",
                                   "source, line 2: \"two\", not \"TWO\"",
                                   "nvrtc: 13.0, not 12.9"});
  b = a;
  b.fields[2].value = "one";
  b.fields.erase(b.fields.begin() + 3);
  b.toolchain.clear();
  CHECK(differences(a, b) ==
        Lines{"header rms.cuh: only in the first", "source, line 2: \"two\", not the end"});
  CHECK(differences(b, a).back() == "header rms.cuh: only in the second");
}

TEST_CASE("an explanation names each place and what was found there instead", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const fs::path layer = folder / "layer";
  const Key key = make_test_key("wanted");
  Store(options_at(layer)).put(key, make_test_cubin(100), "op", "s");
  StoreOptions options = options_at(root);
  options.layers = {layer.string(),
                    (folder / "absent").string(),
                    (folder / "none.kpack").string(),
                    layer.string() + "?sign=require"};
  Store store(options);
  store.put(make_test_key("near"), make_test_cubin(100), "op", "s");
  store.put(make_test_key("wanted", "12.9"), make_test_cubin(100), "op", "s");
  Key foreign = key;
  foreign.fields[0].value = "another family";
  store.put(foreign, make_test_cubin(100), "op", "s");

  const Explanation told = store.explain(key);
  CHECK(told.found);
  CHECK(told.digest == digest(key));
  Lines outcomes;
  for (const LookupStep& step : told.steps) outcomes.push_back(step.outcome);
  CHECK(outcomes == Lines{"missing", "hit", "absent", "absent", "refused"});
  CHECK_THAT(told.steps[0].detail, contains(entry_file(root, key).string()));
  REQUIRE(told.neighbours.size() == 2);
  for (const Neighbour& neighbour : told.neighbours) CHECK(neighbour.differences.size() == 1);
  CHECK(store.explain(key, 1).neighbours.size() == 1);
  CHECK(store.explain(key, 0).neighbours.empty());
}

TEST_CASE("an explanation tells of damage and repairs none of it", "[cache]") {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const Key key = make_test_key("a");
  Store store(options_at(root));
  store.put(key, make_test_cubin(100), "op", "s");
  write_file(entry_file(root, key), "damaged");
  Explanation told = store.explain(key);
  CHECK_FALSE(told.found);
  REQUIRE(told.steps.size() == 1);
  CHECK(told.steps[0].outcome == "bad");
  CHECK_THAT(told.steps[0].detail, contains("too short"));
  CHECK(fs::exists(entry_file(root, key)));
  CHECK(store.counters().bad == 0);
  Key any = key;
  any.toolchain.clear();
  CHECK(store.explain(any).steps[0].outcome == "bad");
  fs::permissions(root, fs::perms(0777));
  told = store.explain(key);
  CHECK(told.steps[0].outcome == "refused");
  CHECK_THAT(told.steps[0].detail, contains("can be written by anybody"));
}

}  // namespace
}  // namespace kiln::cache
