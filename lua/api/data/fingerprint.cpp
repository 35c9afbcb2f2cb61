// FarmHash's Fingerprint64: the function farmhashna::Hash64 of Pike, "Introducing FarmHash" (2014).
#include <bit>
#include <cstring>
#include <utility>

#include "lua/api/data/vocabulary.h"

namespace gpubench::lua {
namespace {

using Word = std::uint64_t;
constexpr Word k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

Word word_at(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

Word half_at(const char* at) {
  std::uint32_t half = 0;
  std::memcpy(&half, at, sizeof half);
  return half;
}

Word byte_at(const char* at) {
  return static_cast<unsigned char>(*at);
}

Word shift_mix(Word word) {
  return word ^ (word >> 47);
}

Word joined(Word u, Word v, Word mul) {
  const Word a = shift_mix((u ^ v) * mul);
  return shift_mix((v ^ a) * mul) * mul;
}

Word of_up_to_16(const char* at, Word size) {
  if (size >= 8) {
    const Word mul = k2 + size * 2, a = word_at(at) + k2, b = word_at(at + size - 8);
    return joined(std::rotr(b, 37) * mul + a, (std::rotr(a, 25) + b) * mul, mul);
  }
  if (size >= 4) return joined(size + (half_at(at) << 3), half_at(at + size - 4), k2 + size * 2);
  if (size == 0) return k2;
  const Word y = byte_at(at) + (byte_at(at + size / 2) << 8), z = size + (byte_at(at + size - 1) << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

Word of_17_to_32(const char* at, Word size) {
  const Word mul = k2 + size * 2, a = word_at(at) * k1, b = word_at(at + 8);
  const Word c = word_at(at + size - 8) * mul, d = word_at(at + size - 16) * k2;
  return joined(std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c, mul);
}

Word of_33_to_64(const char* at, Word size) {
  const Word mul = k2 + size * 2, a = word_at(at) * k2, b = word_at(at + 8);
  const Word c = word_at(at + size - 8) * mul, d = word_at(at + size - 16) * k2;
  const Word y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const Word z = joined(y, a + std::rotr(b + k2, 18) + c, mul);
  const Word e = word_at(at + 16) * mul, f = word_at(at + 24);
  const Word g = (y + word_at(at + size - 32)) * mul, h = (z + word_at(at + size - 24)) * mul;
  return joined(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + a, 18) + g, mul);
}

std::pair<Word, Word> weak_hash(const char* at, Word a, Word b) {
  const Word z = word_at(at + 24);
  a += word_at(at);
  b = std::rotr(b + a + z, 21);
  const Word first = a;
  a += word_at(at + 8) + word_at(at + 16);
  return {a + z, b + std::rotr(a, 44) + first};
}

}  // namespace

std::uint64_t fingerprint(std::string_view text) {
  const char* at = text.data();
  const Word size = text.size();
  if (size <= 16) return of_up_to_16(at, size);
  if (size <= 32) return of_17_to_32(at, size);
  if (size <= 64) return of_33_to_64(at, size);
  constexpr Word seed = 81;
  Word x = seed, y = seed * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  std::pair<Word, Word> v, w;
  x = x * k2 + word_at(at);
  const char* const end = at + ((size - 1) / 64) * 64;
  const char* const last = end + ((size - 1) & 63) - 63;
  const auto round = [&](Word mul, Word times) {
    x = std::rotr(x + y + v.first + word_at(at + 8), 37) * mul;
    y = std::rotr(y + v.second + word_at(at + 48), 42) * mul;
    x ^= w.second * times;
    y += v.first * times + word_at(at + 40);
    z = std::rotr(z + w.first, 33) * mul;
    v = weak_hash(at, v.second * mul, x + w.first);
    w = weak_hash(at + 32, z + w.second, y + word_at(at + 16));
    std::swap(z, x);
  };
  for (; at != end; at += 64) round(k1, 1);
  const Word mul = k1 + ((z & 0xff) << 1);
  at = last;
  w.first += (size - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  round(mul, 9);
  return joined(joined(v.first, w.first, mul) + shift_mix(y) * k0 + z, joined(v.second, w.second, mul) + x, mul);
}

}  // namespace gpubench::lua
