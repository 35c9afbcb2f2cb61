#include "tests/support/cuda_on_cpu/warp.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/races.h"

namespace gpubench::cuda_on_cpu {
namespace {

std::string hexadecimal(unsigned lanes) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", lanes);
  return text.data();
}

std::string text_of(const Meeting& meeting) {
  const char* const name = meeting.kind == Meeting::Kind::sync      ? "__syncwarp"
                           : meeting.kind == Meeting::Kind::shuffle ? "a shuffle"
                                                                    : "__ballot_sync";
  return std::string(name) + " with the mask " + hexadecimal(meeting.lanes);
}

}  // namespace

void Warp::start(unsigned number, int lanes) {
  number_ = number;
  there_ = lanes == warp_lanes ? ~0U : bit(lanes) - 1;
  waiting_ = 0;
}

void Warp::come(int lane, const Meeting& meeting, const Value& given) {
  if ((meeting.lanes & bit(lane)) == 0) {
    fail_work(text_of(meeting) + ", which does not name its caller, lane " + std::to_string(lane));
  }
  for (int other = 0; other < warp_lanes; ++other) {
    const Meeting& theirs = lanes_[index(other)].meeting;
    const bool awaited = waits(other) && (meeting.lanes & bit(other)) != 0 && (theirs.lanes & bit(lane)) != 0;
    if (awaited && !theirs.is_one_with(meeting)) {
      fail_work("lane " + std::to_string(lane) + " is at " + text_of(meeting) + ", but lane " + std::to_string(other) +
                " at " + text_of(theirs));
    }
  }
  lanes_[index(lane)].meeting = meeting;
  lanes_[index(lane)].given = given;
  waiting_ |= bit(lane);
  meet_if_all(meeting);
}

void Warp::leave(int lane) {
  there_ &= ~bit(lane);
  for (int other = 0; other < warp_lanes; ++other) {
    if (waits(other)) meet_if_all(lanes_[index(other)].meeting);
  }
}

unsigned Warp::at(const Meeting& meeting) const {
  unsigned result = 0;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if (waits(lane) && lanes_[index(lane)].meeting.is_one_with(meeting)) result |= bit(lane);
  }
  return result;
}

void Warp::meet_if_all(const Meeting& meeting) {
  const unsigned all = meeting.lanes & there_;
  if (at(meeting) != all) return;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if ((all & bit(lane)) != 0) lanes_[index(lane)].taken = value_for(lane, all);
  }
  waiting_ &= ~all;
  if (meeting.kind == Meeting::Kind::sync) order_lanes(number_, all);
}

Warp::Value Warp::value_for(int lane, unsigned all) const {
  const Meeting& meeting = lanes_[index(lane)].meeting;
  Value result{};
  if (meeting.kind == Meeting::Kind::shuffle) {
    if ((all & bit(meeting.from)) == 0) {
      fail_work(text_of(meeting) + ": lane " + std::to_string(lane) + " takes the value of lane " +
                std::to_string(meeting.from) + ", which does not take part");
    }
    return lanes_[index(meeting.from)].given;
  }
  if (meeting.kind == Meeting::Kind::ballot) {
    unsigned votes = 0;
    for (int other = 0; other < warp_lanes; ++other) {
      const bool votes_for = (all & bit(other)) != 0 && lanes_[index(other)].given != Value{};
      if (votes_for) votes |= bit(other);
    }
    std::memcpy(result.data(), &votes, sizeof votes);
  }
  return result;
}

std::string Warp::waiting() const {
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if (!waits(lane)) continue;
    const Meeting& meeting = lanes_[index(lane)].meeting;
    return "lane " + std::to_string(lane) + " of warp " + std::to_string(number_) + " waits at " + text_of(meeting) +
           " for lanes " + hexadecimal(meeting.lanes & there_ & ~at(meeting)) + ", which never come";
  }
  return {};
}

}  // namespace gpubench::cuda_on_cpu
