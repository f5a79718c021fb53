// Ed25519 keys and signatures through OpenSSL, and the text forms of layers' policies.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack_keys.hpp"

#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/pack_key_file.hpp"

namespace kiln::cache {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* thing) const noexcept {
    Free(thing);
  }
};
using PKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

// OpenSSL's error queue is the whole thread's: what happens here leaves it as it was.
class QuietErrors {
 public:
  QuietErrors() noexcept { ERR_set_mark(); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { ERR_pop_to_mark(); }
};

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// Never asks a terminal for a passphrase.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::optional<Ed25519Public> public_part(const EVP_PKEY* key) {
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) return std::nullopt;
  Ed25519Public bytes{};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key, bytes.data(), &size) != 1 || size != bytes.size())
    return std::nullopt;
  return bytes;
}

Problem no_crypto(const char* doing) {
  return {std::string("key:openssl:") + doing,
          std::string("OpenSSL cannot ") + doing +
              " with Ed25519; check its installation and whether a FIPS mode forbids it"};
}

}  // namespace

std::optional<SignaturePolicy> parse_signature_policy(std::string_view text) noexcept {
  if (text == "off") return SignaturePolicy::off;
  if (text == "warn") return SignaturePolicy::warn;
  if (text == "require") return SignaturePolicy::require;
  return std::nullopt;
}

std::string_view text_of(SignaturePolicy policy) noexcept {
  switch (policy) {
    case SignaturePolicy::off:
      return "off";
    case SignaturePolicy::warn:
      return "warn";
    case SignaturePolicy::require:
      return "require";
  }
  return "unknown";
}

std::variant<LayerSpec, Problem> parse_layer(std::string_view text) {
  constexpr std::string_view kOption = "?sign=";
  const std::size_t mark = text.rfind(kOption);
  if (mark == std::string_view::npos) return LayerSpec{std::string(text)};
  // A policy that nobody understands must not turn into none.
  const auto policy = parse_signature_policy(text.substr(mark + kOption.size()));
  if (!policy || mark == 0) {
    return Problem{"layer:option:" + std::string(text),
                   "the cache layer '" + std::string(text) +
                       "' is not used: write PATH, or PATH?sign= with off, warn or require"};
  }
  return LayerSpec{std::string(text.substr(0, mark)), *policy};
}

Sha256 key_id(const Ed25519Public& key) { return sha256(std::as_bytes(std::span(key))); }

std::optional<Ed25519Public> public_key_from_pem(std::string_view pem) {
  if (pem.size() > kMaxKeyFileBytes) return std::nullopt;
  const QuietErrors quiet;
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) return std::nullopt;
  const PKey key(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr));
  return public_part(key.get());
}

std::variant<Ed25519Public, Problem> read_public_key(const std::string& path) {
  auto text = read_key_file(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  if (const auto key = public_key_from_pem(std::get<std::string>(text))) return *key;
  return Problem{"key:public",
                 path +
                     " is not a public Ed25519 key in PEM (BEGIN PUBLIC KEY); kiln keygen and "
                     "openssl pkey -pubout write such files"};
}

std::variant<std::string, Problem> make_key_pair(const std::string& path) {
  const QuietErrors quiet;
  const PKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const auto public_bytes = public_part(key.get());
  const Bio private_text(BIO_new(BIO_s_mem()));
  const Bio public_text(BIO_new(BIO_s_mem()));
  if (!public_bytes || !private_text || !public_text ||
      PEM_write_bio_PrivateKey(
          private_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_PUBKEY(public_text.get(), key.get()) != 1) {
    return no_crypto("make a key");
  }
  if (auto problem = write_key_file(path, text_of(private_text.get()), 0600))
    return std::move(*problem);
  if (auto problem = write_key_file(path + ".pub", text_of(public_text.get()), 0644)) {
    (void)::unlink(path.c_str());  // half a pair is of no use to anybody
    return std::move(*problem);
  }
  return hex(key_id(*public_bytes));
}

std::variant<Signed, Problem> sign_with(const std::string& private_key,
                                        std::span<const std::byte> message) {
  auto text = read_key_file(private_key);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  const std::string& pem = std::get<std::string>(text);
  const QuietErrors quiet;
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const PKey key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)
                     : nullptr);
  const auto public_bytes = public_part(key.get());
  if (!public_bytes) {
    return Problem{"key:private",
                   private_key +
                       " is not a private Ed25519 key in PEM without a passphrase (BEGIN "
                       "PRIVATE KEY); kiln keygen writes one"};
  }
  const Context context(EVP_MD_CTX_new());
  Signed made;
  made.key_id = key_id(*public_bytes);
  std::size_t size = made.signature.size();
  if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), made.signature.data(), &size, raw(message), message.size()) !=
          1 ||
      size != made.signature.size()) {
    return no_crypto("sign");
  }
  return made;
}

bool signature_is_right(const Ed25519Public& key,
                        std::span<const std::byte> message,
                        const Ed25519Signature& signature) noexcept {
  const QuietErrors quiet;
  const PKey parsed(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  const Context context(EVP_MD_CTX_new());
  if (!parsed || !context) return false;
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, parsed.get()) != 1)
    return false;
  return EVP_DigestVerify(
             context.get(), signature.data(), signature.size(), raw(message), message.size()) == 1;
}

}  // namespace kiln::cache
