// Tests the parsing of command lines, the help texts, and the messages for wrong command lines.
#include "tools/options/help.h"
#include "tools/options/option.h"
#include "tools/options/parse.h"

#include <gtest/gtest.h>
#include <sstream>

namespace {

using namespace gantry::options;

/// Defines a program with two commands and every kind of option.
class OptionsTest : public testing::Test {
protected:
  OptionsTest() {
    app_.name("tool");
    app_.description("Does things.");
    CLI::App *run = app_.add_subcommand("run", "Run a thing");
    run->add_option("THING", thing_, "What to run")->required();
    whole(run->add_option("-n,--count", count_, "How many"), "N", 1, 1000)->default_str("3");
    real(run->add_option("--scale", scale_, "How large"), "X", 0, 1e9);
    choice(run->add_option("--mode", mode_, "How to run"), "MODE", {"fast", "slow"})
        ->default_str("fast")
        ->group("Modes");
    repeated(*run, "-i,--input", inputs_, "FILE", "An input");
    optionalValue(*run, "--dump", dump_, "*", "PASS", "Dump everything, or one pass");
    CLI::Option *quiet = run->add_flag("--quiet", quiet_, "Say little");
    run->add_flag("--loud", loud_, "Say much")->excludes(quiet);
    CLI::App *record = app_.add_subcommand("record", "Record a command");
    record->add_option("-o,--output", thing_, "The file")->type_name("FILE")->required();
    remainder(*record, "COMMAND", words_, "The command");
    addHelp(app_);
    addHelp(*run);
    addHelp(*record);
  }
  std::string fails(std::vector<std::string> words) {
    try {
      parse(app_, std::move(words));
    } catch (const UsageError &error) {
      return error.what();
    }
    ADD_FAILURE() << "the command line was accepted";
    return {};
  }
  CLI::App app_;
  std::string thing_, mode_, dump_;
  uint64_t count_ = 0;
  double scale_ = 0;
  bool quiet_ = false, loud_ = false;
  std::vector<std::string> inputs_, words_;
};

TEST_F(OptionsTest, AcceptsAValidCommandLine) {
  EXPECT_FALSE(parse(app_, {"run", "x", "-n", "7", "--scale=0.5", "-ia", "--input", "b", "--dump",
                            "--mode", "slow"}));
  EXPECT_EQ(thing_, "x");
  EXPECT_EQ(count_, 7u);
  EXPECT_EQ(scale_, 0.5);
  EXPECT_EQ(inputs_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dump_, "*");
  EXPECT_EQ(mode_, "slow");
}

TEST_F(OptionsTest, TheRemainingWordsAreAnotherProgramsCommandLine) {
  EXPECT_FALSE(parse(app_, {"record", "-o", "f", "other", "--unknown", "-x"}));
  EXPECT_EQ(words_, (std::vector<std::string>{"other", "--unknown", "-x"}));
}

TEST_F(OptionsTest, ADoubleDashPrecedesAnotherProgramsCommandLine) {
  EXPECT_FALSE(parse(app_, {"record", "-o", "f", "--", "other", "--help"}));
  EXPECT_EQ(words_, (std::vector<std::string>{"other", "--help"}));
}

TEST_F(OptionsTest, ErrorsNameTheMistakeAndTheRemedy) {
  const std::string help = "; `tool run --help` shows the usage";
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"run", "x", "--coun", "1"}, "unknown option '--coun'; did you mean '--count'?" + help},
      {{"run", "x", "--nothing-like-it"}, "unknown option '--nothing-like-it'" + help},
      {{"run", "x", "-z"}, "unknown option '-z'" + help},
      {{"run", "x", "--count"}, "option '--count' needs a value: -n, --count N" + help},
      {{"run", "x", "--count", "y"}, "--count: 'y' is not a whole number from 1 to 1000" + help},
      {{"run", "x", "--count", "-1"}, "--count: '-1' is not a whole number from 1 to 1000" + help},
      {{"run", "x", "--scale", "nan"},
       "--scale: 'nan' is not a number from 0 to 1000000000" + help},
      {{"run", "x", "--mode", "odd"}, "--mode: 'odd' is not one of fast, slow" + help},
      {{"run", "x", "-n", "1", "-n", "2"},
       "option '-n' was given 2 times; it takes one value" + help},
      {{"run", "x", "--quiet=no"}, "option '--quiet' takes no value, but 'no' was given" + help},
      {{"run", "x", "y"}, "unexpected argument 'y'; `tool run` takes only THING" + help},
      {{"run"}, "THING is missing: What to run" + help},
      {{"run", "x", "--loud", "--quiet"}, "'--quiet' and '--loud' cannot be used together" + help},
      {{"record", "other"},
       "option '--output' is missing: The file; `tool record --help` shows the usage"},
      {{"rum"},
       "there is no command 'rum'; did you mean 'run'? the commands are run, record; `tool --help` "
       "shows the usage"},
      {{}, "no command was given; the commands are run, record; `tool --help` shows the usage"},
      {{"--foo"}, "unknown option '--foo'; `tool --help` shows the usage"},
  };
  for (const auto &[words, message] : cases)
    EXPECT_EQ(fails(words), message);
}

TEST_F(OptionsTest, EveryFormOfHelpReturnsTheHelpText) {
  for (const std::vector<std::string> &words : {std::vector<std::string>{"run", "--help"},
                                                {"run", "-h"},
                                                {"run", "x", "--help"},
                                                {"help", "run"}})
    EXPECT_NE(parse(app_, words).value_or("").find("Usage: tool run [OPTIONS] THING"),
              std::string::npos);
  EXPECT_NE(parse(app_, {"--help"}).value_or("").find("Usage: tool COMMAND"), std::string::npos);
}

TEST_F(OptionsTest, HelpStatesRangesChoicesAndDefaultsInWords) {
  const std::string text = helpText(*app_.get_subcommand("run"), {});
  for (const char *line : {"-n, --count N  ", "How many (1 to 1000; default 3)",
                           "How to run (fast, slow; default fast)", "An input (may be repeated)",
                           "    --dump[=PASS]", "Say much (not with --quiet)", "\nModes:\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
}

TEST_F(OptionsTest, HelpFitsItsWidthAndIsPlainWithoutColour) {
  for (const int width : {40, 60, 100}) {
    std::istringstream lines(helpText(*app_.get_subcommand("run"), {width, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
  }
  EXPECT_EQ(helpText(app_, {100, false}).find('\x1b'), std::string::npos);
  EXPECT_NE(helpText(app_, {100, true}).find("\x1b[1mUsage:\x1b[0m"), std::string::npos);
}

} // namespace
