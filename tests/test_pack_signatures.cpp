// Keys, signatures of packs, and what each policy makes of them.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <array>

#include "cache/pack_key_file.hpp"
#include "tests/pack_fixtures.hpp"

namespace kiln::cache {
namespace {

using namespace testing;
using kiln::testing::contains;

constexpr std::array kEveryPolicy{
    SignaturePolicy::off, SignaturePolicy::warn, SignaturePolicy::require};

std::string problem_text(const std::variant<std::string, Problem>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem == nullptr ? std::string() : problem->text;
}

TEST_CASE("Ed25519 gives the signature of RFC 8032, section 7.1, test 2", "[pack]") {
  const TemporaryFolder folder;
  // The seed of the test vector in PKCS #8.
  write_file(folder / "key",
             "-----BEGIN PRIVATE KEY-----\n"
             "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
             "-----END PRIVATE KEY-----\n");
  const std::array message{std::byte{0x72}};
  const auto made = sign_with((folder / "key").string(), message);
  if (const auto* problem = std::get_if<Problem>(&made)) FAIL(problem->text);
  CHECK(hex(std::get<Signed>(made).signature) ==
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
}

TEST_CASE("a pack signed by a trusted key is used under every policy, without a warning",
          "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 3);
  const TestKeys keys(folder);
  require_done(sign_pack(path.string(), keys.private_key));
  for (const SignaturePolicy policy : kEveryPolicy) {
    const Pack pack = open_pack(path, keys.check(policy));
    CHECK(pack.key_id() == keys.id);
    CHECK(pack.warning().empty());
    CHECK(pack.verify().empty());
    CHECK((pack.signature() == PackSignature::trusted) == (policy != SignaturePolicy::off));
  }
}

TEST_CASE("signing keeps entries and manifest, and the same key gives the same bytes", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 3);
  const TestKeys keys(folder);
  const Pack before = open_pack(path);
  require_done(sign_pack(path.string(), keys.private_key));
  const std::string once = read_file(path);
  const Pack after = open_pack(path);
  CHECK(after.manifest_json() == before.manifest_json());
  CHECK(std::ranges::equal(after.entries(), before.entries()));
  require_done(sign_pack(path.string(), keys.private_key));
  CHECK(read_file(path) == once);
  const TestKeys others(folder, "other");
  require_done(sign_pack(path.string(), others.private_key));
  CHECK(open_pack(path).key_id() == others.id);
}

TEST_CASE(
    "a pack without a signature, or of a key that is not trusted, is refused only when one is "
    "required",
    "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 1);
  const TestKeys keys(folder);
  const TestKeys others(folder, "other");
  CHECK(refusal(path).empty());
  CHECK_THAT(open_pack(path, keys.check(SignaturePolicy::warn)).warning(),
             contains("it is not signed"));
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("it is not signed"));

  require_done(sign_pack(path.string(), others.private_key));
  CHECK(refusal(path).empty());
  CHECK_THAT(open_pack(path, keys.check(SignaturePolicy::warn)).warning(), contains(others.id));
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains(others.id));
  CHECK_THAT(refusal(path, {SignaturePolicy::require, {}}), contains("KILN_TRUSTED_KEYS"));
  CHECK_THAT(refusal(path, {SignaturePolicy::require, (folder / "absent").string()}),
             contains("not trusted"));
}

TEST_CASE("a signature of other bytes by a trusted key is refused under warn, too", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const fs::path path = make_pack(folder, 2);
  const fs::path other = make_pack(folder, 3, "q.kpack");
  require_done(sign_pack(path.string(), keys.private_key));
  require_done(sign_pack(other.string(), keys.private_key));
  // The signature of the one under the other: everything but the signature is right.
  const std::string donor = read_file(other);
  std::string bytes = read_file(path);
  bytes.replace(bytes.size() - kSignatureBlockBytes,
                kSignatureBlockBytes,
                donor.substr(donor.size() - kSignatureBlockBytes));
  write_file(path, bytes);
  CHECK(refusal(path, keys.check(SignaturePolicy::off)).empty());
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::warn)), contains("its signature is not"));
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("its signature is not"));
}

TEST_CASE("an untrusted signer cannot pass under a trusted key's id", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const TestKeys others(folder, "other");
  const fs::path path = make_pack(folder, 1);
  require_done(sign_pack(path.string(), others.private_key));
  std::string bytes = read_file(path);
  const auto block_begin = bytes.size() - kSignatureBlockBytes;
  auto block = decode_signature_block(as_bytes(std::string_view(bytes).substr(block_begin)));
  REQUIRE(block);
  block->key_id = read_trusted_keys(keys.trusted).keys.front().id;
  bytes.replace(block_begin, std::string::npos, as_text(encode_signature_block(*block)));
  write_file(path, bytes);
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("its signature is not"));
}

TEST_CASE("bytes that are altered after signing, with every checksum made right, are refused",
          "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const fs::path path = make_pack(folder, 2);
  require_done(sign_pack(path.string(), keys.private_key));
  const std::string bytes = read_file(path);
  const auto block = as_bytes(std::string_view(bytes).substr(bytes.size() - kSignatureBlockBytes));
  // The same pack with another recipe name, and the signature of the first.
  PackContents contents;
  contents.sources = put_entries(folder / "entries", 2);
  contents.recipe = "other models";
  require_done(write_pack(path.string(), contents));
  require_done(sign_pack(path.string(), TestKeys(folder, "forger").private_key));
  std::string forged = read_file(path);
  forged.replace(forged.size() - kSignatureBlockBytes, std::string::npos, as_text(block));
  write_file(path, forged);
  CHECK(refusal(path).empty());
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("its signature is not"));
}

TEST_CASE("a damaged pack is not signed", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const fs::path path = make_pack(folder, 2);
  std::string bytes = read_file(path);
  bytes[kPackHeaderBytes + 100] ^= 1;
  write_file(path, bytes);
  CHECK(sign_pack(path.string(), keys.private_key));
  CHECK(read_file(path) == bytes);
  CHECK(sign_pack((folder / "absent.kpack").string(), keys.private_key));
}

TEST_CASE("a key pair is private to its owner and never replaced", "[pack]") {
  const TemporaryFolder folder;
  const ::mode_t before = ::umask(0);
  const TestKeys keys(folder);
  ::umask(before);
  CHECK(mode_of(keys.private_key) == 0600);
  CHECK(mode_of(keys.private_key + ".pub") == 0644);
  CHECK(keys.id.size() == 64);
  const std::string text = read_file(keys.private_key);
  CHECK_THAT(problem_text(make_key_pair(keys.private_key)), contains("never replaced"));
  CHECK(read_file(keys.private_key) == text);
  // Half a pair is taken back.
  write_file(folder / "half.pub", "x");
  CHECK_FALSE(problem_text(make_key_pair((folder / "half").string())).empty());
  CHECK_FALSE(fs::exists(folder / "half"));
}

TEST_CASE("only Ed25519 keys in PEM are keys, and each other file is a reason", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const std::string trusted = (folder / "t").string();
  const auto refused = [&](const std::string& name, const std::string& part) {
    CHECK_THAT(problem_text(trust_key((folder / name).string(), trusted)), contains(part));
  };
  write_file(folder / "noise", "no key");
  refused("noise", "not a public Ed25519 key");
  refused("key", "not a public Ed25519 key");  // the private half must not be copied
  write_file(folder / "large", std::string(kMaxKeyFileBytes + 1, 'x'));
  refused("large", "64 KiB");
  refused("absent", "ENOENT");
  fs::create_directory(folder / "d");
  refused("d", "regular file");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  refused("fifo", "regular file");
  // P-256, from openssl genpkey.
  write_file(folder / "p256",
             "-----BEGIN PUBLIC KEY-----\n"
             "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEIdLE0d0MRbLCNJykvMJwoJVgOK75\n"
             "TgOCn2oUMMZUfvspc0+3maF8aZEE+V0q+oCeYIHhLQhs8e0xpw3wZadd8g==\n"
             "-----END PUBLIC KEY-----\n");
  refused("p256", "not a public Ed25519 key");
  const fs::path pack = make_pack(folder, 1);
  const auto problem = sign_pack(pack.string(), keys.private_key + ".pub");
  REQUIRE(problem);
  CHECK_THAT(problem->text, contains("not a private Ed25519 key"));
  // Encrypted: refused, and nobody is asked for the passphrase.
  write_file(folder / "encrypted",
             "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
  CHECK(sign_pack(pack.string(), (folder / "encrypted").string()));
}

TEST_CASE("a folder of trusted keys tells what in it is no key and uses the rest", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  write_file(fs::path(keys.trusted) / "noise.pem", "x");
  write_file(fs::path(keys.trusted) / "README", "x");
  TrustedKeys found = read_trusted_keys(keys.trusted);
  REQUIRE(found.keys.size() == 1);
  CHECK(hex(found.keys[0].id) == keys.id);
  REQUIRE(found.problems.size() == 1);
  CHECK_THAT(found.problems[0].text, contains("noise.pem"));
  // Trusting a key twice is once.
  CHECK(std::get<std::string>(trust_key(keys.private_key + ".pub", keys.trusted)) == keys.id);
  CHECK(read_trusted_keys(keys.trusted).keys.size() == 1);
  CHECK(read_trusted_keys("").keys.empty());
  CHECK(read_trusted_keys((folder / "absent").string()).problems.empty());
  CHECK(read_trusted_keys((folder / "key").string()).problems.size() == 1);
}

TEST_CASE("a folder of trusted keys that others can write trusts nobody", "[pack]") {
  const TemporaryFolder folder;
  const TestKeys keys(folder);
  const fs::path path = make_pack(folder, 1);
  require_done(sign_pack(path.string(), keys.private_key));
  const fs::path key = fs::path(keys.trusted) / (keys.id + ".pem");
  fs::permissions(key, fs::perms(0666));
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("written by anybody"));
  fs::permissions(key, fs::perms(0644));
  CHECK(refusal(path, keys.check(SignaturePolicy::require)).empty());
  fs::permissions(keys.trusted, fs::perms(0777));
  CHECK_THAT(refusal(path, keys.check(SignaturePolicy::require)), contains("written by anybody"));
  CHECK_THAT(problem_text(trust_key(TestKeys(folder, "k").private_key + ".pub", keys.trusted)),
             contains("written by anybody"));
}

TEST_CASE("a layer names its policy, and an unknown one is no layer", "[pack]") {
  const auto spec = [](std::string_view text) { return std::get<LayerSpec>(parse_layer(text)); };
  CHECK(spec("/a").path == "/a");
  CHECK(spec("/a").policy == SignaturePolicy::off);
  CHECK(spec("/a?b").path == "/a?b");
  CHECK(spec("/a.kpack?sign=warn").path == "/a.kpack");
  CHECK(spec("/a.kpack?sign=warn").policy == SignaturePolicy::warn);
  CHECK(spec("/a?sign=x?sign=require").path == "/a?sign=x");
  CHECK(spec("/a?sign=off").policy == SignaturePolicy::off);
  for (const std::string text : {"/a?sign=", "/a?sign=Require", "/a?sign=require ", "?sign=warn"})
    CHECK(std::holds_alternative<Problem>(parse_layer(text)));
  for (const SignaturePolicy policy : kEveryPolicy)
    CHECK(parse_signature_policy(text_of(policy)) == policy);
}

}  // namespace
}  // namespace kiln::cache
