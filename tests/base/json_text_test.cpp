#include "base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fourtune {
namespace {

TEST(JsonText, OtherTextsAreDiscarded) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} b", "\"\xff\""}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(parse_ordered_json(text).is_discarded()) << text;
  }
  EXPECT_EQ(parse_json("{\"a\":[1,null]}")["a"][0], 1);
}

TEST(JsonText, KeysKeepTheirOrderOrAreSorted) {
  const char* const text = "{\"b\":1,\"a\":[2,3]}";
  EXPECT_EQ(ordered_json_line(parse_ordered_json(text)), text);
  EXPECT_EQ(json_line(parse_json(text)), "{\"a\":[2,3],\"b\":1}");
  EXPECT_EQ(json_lines(parse_json("[1]"), 2), "[\n  1\n]");
  EXPECT_EQ(ordered_json_lines(parse_ordered_json("[1]"), 1, Letters::utf8), "[\n 1\n]");
}

TEST(JsonText, LettersBeyondAscii) {
  EXPECT_EQ(json_line("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(ordered_json_lines("\xc3\xa9\x7f", -1, Letters::ascii), "\"\\u00e9\\u007f\"");
  EXPECT_EQ(ordered_json_lines("\xc3\xa9", -1, Letters::utf8), "\"\xc3\xa9\"");
}

}  // namespace
}  // namespace fourtune
