// Text of unknown origin that is shown to people.
#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/duration.h"
#include "fourtune/problem.h"

namespace fourtune::text {
namespace {

TEST(Numbers, HaveOneShortSpelling) {
  for (const auto& [value, spelling] : std::initializer_list<std::pair<double, const char*>>{{0, "0"},
                                                                                             {0.25, "0.25"},
                                                                                             {3000, "3000"},
                                                                                             {1e-5, "1e-5"},
                                                                                             {1.5e-7, "1.5e-7"},
                                                                                             {-2.25e-9, "-2.25e-9"},
                                                                                             {1e300, "1e300"},
                                                                                             {1.5e-300, "1.5e-300"},
                                                                                             {1e30, "1e30"}}) {
    EXPECT_EQ(shortest(value), spelling);
    EXPECT_EQ(number<double>(spelling), value);
  }
  for (const auto& [value, spelling] : std::initializer_list<std::pair<double, const char*>>{
           {2.5e-3, "2.5e-3"}, {1, "1e0"}, {1e-12, "1e-12"}, {3e10, "3e10"}, {0.1, "1e-1"}, {4e100, "4e100"}})
    EXPECT_EQ(scientific(value), spelling);
}

TEST(Times, HaveThreeDigitsInTheUnitThatSuitsThem) {
  for (const auto& [seconds, shown] : std::initializer_list<std::pair<double, const char*>>{{0, "0.00 ns"},
                                                                                            {1.08e-7, "108 ns"},
                                                                                            {9.994e-9, "9.99 ns"},
                                                                                            {9.996e-9, "10.0 ns"},
                                                                                            {99.96e-9, "100 ns"},
                                                                                            {999.4e-9, "999 ns"},
                                                                                            {999.6e-9, "1.00 us"},
                                                                                            {4.56e-5, "45.6 us"},
                                                                                            {0.9996, "1.00 s"},
                                                                                            {3600, "3600 s"}})
    EXPECT_EQ(duration(seconds), shown);
  EXPECT_EQ(duration(-1), "-");
  EXPECT_EQ(duration(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(duration(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(duration(std::numeric_limits<double>::max()).size(), 309u + 2);
}

TEST(Shown, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "cpu;threads=2;fft=rows(rigor=measure,block=64)", "na\xc3\xafve", "\xe2\x82\xac",
                           "\xf0\x9f\x8c\x8d", "\xc2\xa0"})
    EXPECT_EQ(shown(text), text);
}

TEST(Shown, LeavesNothingThatATerminalObeys) {
  EXPECT_EQ(shown("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(shown("a\nb\rc\td"), "a\\x0ab\\x0dc\\x09d");
  EXPECT_EQ(shown(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(shown("\x7f"), "\\x7f");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m")
      << "C1: the other spelling of an escape";
  EXPECT_EQ(shown("\x9b"), "\\x9b") << "and in Latin-1";
  EXPECT_EQ(shown("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "right to left from here";
  EXPECT_EQ(shown("\xe2\x80\xa8"), "\\xe2\\x80\\xa8") << "a line separator";
  EXPECT_EQ(shown("\xe2\x81\xa6"), "\\xe2\\x81\\xa6") << "an isolate";
}

TEST(Shown, LeavesNoBytesThatAreNoUtf8) {
  for (const char* text :
       {"\xc0\x80", "\xe0\x80\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xff"})
    for (const char byte : shown(text)) EXPECT_TRUE(byte >= 0x20 && byte < 0x7f) << text;
}

TEST(Shown, CutsWhatIsLongAndSaysHowLongItWas) {
  EXPECT_EQ(shown("12345", 5), "12345");
  EXPECT_EQ(shown("123456", 5), "12345... (6 bytes)");
  EXPECT_EQ(shown("1234\xe2\x82\xac", 5), "1234... (7 bytes)") << "not inside a character";
  EXPECT_EQ(shown(std::string(5'000'000, 'n')).size(), 200 + std::string("... (5000000 bytes)").size());
}

TEST(Shown, IsWhatErrorsEchoOfATokenAreMadeOf) {
  const std::string long_text(5'000'000, 'n');
  for (const std::string& token :
       {"fft:type=c2c,n=" + long_text, "fft:" + long_text + "=1", "fft:" + long_text, long_text,
        "fft:type=" + long_text, "nufft:type=1,n=8,prec=f64,tol=1e-3,points=" + long_text,
        std::string("fft:type=c2c,n=8,prec=\x1b[2J")}) {
    try {
      parse_problem(token);
      ADD_FAILURE() << token.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_LT(std::string(error.what()).size(), 1000u) << token.substr(0, 40);
      EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace fourtune::text
