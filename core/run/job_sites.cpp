#include "core/run/job_sites.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/shown_text.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

/// "train.py:12 (f) 4.2 times a step, 3.1 ms".
std::string site_text(const StepSite& site) {
  return fmt::format("{} {:.3g} times a step, {}", place_of(*site.site), site.times_per_step,
                     format_seconds(site.seconds_per_step));
}

/// Lines of the user's own code in which the main thread is seen, and which do not train: those of the loop before the
/// forward pass, and behind the backward pass without the optimizer, and those of functions around the loop. What lies
/// between the passes is the loss.
std::vector<const StepSite*> own_lines(const JobSteps& steps) {
  const AgentSite* loop = nullptr;
  std::uint32_t first = UINT32_MAX, last = 0;
  std::vector<std::pair<std::string, std::uint32_t>> optimizers;
  for (const StepSite& one : steps.sites) {
    const AgentSite& site = *one.site;
    if (site.kind != SiteKind::loop_forward && site.kind != SiteKind::loop_backward &&
        site.kind != SiteKind::loop_optimizer)
      continue;
    if (loop == nullptr) loop = &site;
    if (site.kind == SiteKind::loop_optimizer) optimizers.emplace_back(site.file, site.line);
    if (site.file != loop->file || site.function != loop->function || site.kind == SiteKind::loop_optimizer) continue;
    first = std::min(first, site.line);
    last = std::max(last, site.line);
  }
  std::vector<const StepSite*> lines;
  for (const StepSite* const one : sites_of(steps, SiteKind::loop_other)) {
    const AgentSite& site = *one->site;
    const bool is_in_loop = loop != nullptr && site.file == loop->file && site.function == loop->function;
    if (is_in_loop && site.line >= first && site.line <= last) continue;
    if (std::ranges::find(optimizers, std::pair(site.file, site.line)) != optimizers.end()) continue;
    lines.push_back(one);
  }
  return lines;
}

/// Forward passes in the function that trains, behind the last line that trains: no backward pass follows them. Nothing
/// where no line trains.
std::vector<const StepSite*> passes_behind_training(const JobSteps& steps) {
  const AgentSite* last = nullptr;
  for (const StepSite& one : steps.sites) {
    const AgentSite& site = *one.site;
    if (site.kind != SiteKind::loop_optimizer) continue;
    if (last == nullptr || (site.function == last->function && site.line > last->line)) last = &site;
  }
  std::vector<const StepSite*> passes;
  if (last == nullptr) return passes;
  for (const StepSite* const one : sites_of(steps, SiteKind::loop_forward)) {
    const AgentSite& site = *one->site;
    if (site.file == last->file && site.function == last->function && site.line > last->line) passes.push_back(one);
  }
  return passes;
}

}  // namespace

std::string file_name(std::string_view path) {
  return shown_text(path.substr(path.rfind('/') + 1), 120);
}

std::string place_in(const Info& fact, std::string_view file, std::string_view line) {
  const double number = fact.number(line).value_or(0);
  const std::string path = fact.text(file);
  return path.empty() || number < 1 ? std::string() : fmt::format("{}:{:.0f}", file_name(path), number);
}

std::string place_of(const AgentSite& site) {
  const std::string where = fmt::format("{}:{}", file_name(site.file), site.line);
  return site.function.empty() ? where : fmt::format("{} ({})", where, shown_text(site.function, 80));
}

std::vector<const StepSite*> sites_of(const JobSteps& steps, SiteKind kind) {
  std::vector<const StepSite*> sites;
  for (const StepSite& one : steps.sites)
    if (one.site->kind == kind) sites.push_back(&one);
  return sites;
}

std::string sites_text(const JobSteps& steps, SiteKind kind) {
  std::size_t most = 2;
  std::string text;
  for (const StepSite* const site : sites_of(steps, kind)) {
    if (most-- == 0) break;
    text += (text.empty() ? "" : "; ") + site_text(*site);
  }
  return text;
}

Evaluation evaluation_by_lines(const JobSteps& steps) {
  Evaluation evaluation;
  for (const StepSite* const pass : passes_behind_training(steps)) {
    evaluation.share += pass->share;
    if (evaluation.text.empty())
      evaluation.text = fmt::format("forward passes behind the training step: {} {}", place_of(*pass->site),
                                    format_seconds(pass->seconds_per_step));
  }
  evaluation.share = std::min(evaluation.share, 1.0);
  return evaluation;
}

double own_share(const JobSteps& steps) {
  double share = 0;
  for (const StepSite* const line : own_lines(steps)) share += line->share;
  return std::min(share, 1.0);
}

std::string own_lines_text(const JobSteps& steps) {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t count = 0;
  for (const StepSite* const line : own_lines(steps)) {
    if (count++ == most) break;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", place_of(*line->site), format_seconds(line->seconds_per_step));
  }
  // Where in the functions that these lines call: one line with most of the time, if there is one.
  const std::vector<const StepSite*> within = sites_of(steps, SiteKind::own_code);
  if (!text.empty() && !within.empty() && within.front()->share > own_share(steps) / 3)
    text += fmt::format("; of this {} in {}", format_seconds(within.front()->seconds_per_step),
                        place_of(*within.front()->site));
  return text;
}

}  // namespace gpubench
