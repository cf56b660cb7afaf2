#include "heed/base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "heed/base/disk.h"
#include "heed/base/error.h"

namespace heed::file {

namespace {
EVP_MD_CTX* of(void* context) { return static_cast<EVP_MD_CTX*>(context); }
}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(of(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  expect(EVP_DigestInit_ex(of(context_.get()), EVP_sha256(), nullptr) == 1, ErrorKind::bug,
         "SHA-256: libcrypto does not offer it here");
}

void Sha256::add(std::span<const std::byte> bytes) {
  expect(EVP_DigestUpdate(of(context_.get()), bytes.data(), bytes.size()) == 1, ErrorKind::bug,
         "SHA-256: libcrypto failed");
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  expect(EVP_DigestFinal_ex(of(context_.get()), digest.data(), &size) == 1, ErrorKind::bug,
         "SHA-256: libcrypto failed");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

std::string sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

std::string sha256_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  Sha256 hash;
  std::vector<std::byte> buffer(std::min<uint64_t>(file.size(), uint64_t{1} << 20));
  for (uint64_t left = file.size(); left > 0;) {
    const std::span part(buffer.data(), std::min<uint64_t>(left, buffer.size()));
    file.read(part);
    hash.add(part);
    left -= part.size();
  }
  return hash.hex();
}

}  // namespace heed::file
