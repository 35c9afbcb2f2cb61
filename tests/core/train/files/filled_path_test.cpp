#include "core/train/files/filled_path.h"

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

const Logs logs{{"loss", 0.04567}, {"val_loss", 12.5}, {"val_recall", 1}};

std::string filled(const std::string& text, std::int64_t epoch = 3) {
  return FilledPath("save", text).filled(epoch, logs);
}

TEST(FilledPath, FormatsAsPythonDoes) {
  EXPECT_EQ(filled("k-{epoch:02d}-{loss:.2f}.safetensors"), "k-03-0.05.safetensors");
  EXPECT_EQ(filled("{epoch}{loss}"), "030.0457");
  EXPECT_EQ(filled("{epoch:d}/{epoch:4d}/{epoch:04d}", 123456), "123456/123456/123456");
  EXPECT_EQ(filled("{epoch:.1f} {val_loss:08.3f} {val_loss:.1e} {val_recall:g}"), "3.0 0012.500 1.2e+01 1");
  EXPECT_EQ(filled("{{epoch}} {{{epoch}}}"), "{epoch} {03}");
  EXPECT_EQ(filled("no names"), "no names");
  EXPECT_EQ(filled(""), "");
}

TEST(FilledPath, NamesAreFigures) {
  for (const char* text : {"{val_los}", "x{Epoch}", "{epoch:02d}{accuracy:.2f}"})
    EXPECT_ERROR(HasSubstr("there are: epoch, loss, val_loss, val_recall"), filled(text));
}

TEST(FilledPath, WhatIsNoTemplateIsRefusedBeforeTraining) {
  const auto refused = [](const std::string& text, const std::string& reason) {
    EXPECT_ERROR(::testing::AllOf(HasSubstr("ModelCheckpoint: '" + text + "'"), HasSubstr(reason)),
                 FilledPath("ModelCheckpoint", text));
  };
  refused("a{epoch", "a '{' without '}'");
  refused("a}b", "a '}' without '{'");
  refused("{}", "names no figure");
  refused("{:.2f}", "names no figure");
  refused("{loss:.2q}", "is no format of a number");
  refused("{loss:999999999}", "is no format of a number");
  refused("{loss:.999f}", "is no format of a number");
  refused("{loss:{epoch}}", "is no format of a number");
  refused("{loss:d}", "whole numbers");
  refused("{epoch:.2d}", "whole numbers");
}

}  // namespace
}  // namespace gpubench
