"""Checks that the installed man pages and shell completions agree with what `--help` lists."""
import re
import subprocess

from support import Failure


class Manual:
    """The man pages and completions of one installed program. `test` is the Installation of install_test.py."""

    def __init__(self, test, program):
        self.test, self.program = test, program
        self.tool = test.prefix / "bin" / program
        self.share = test.prefix / "share"
        listed = re.search(r"\nCommands:\n((?:  .*\n)+)", self.help())
        self.commands = re.findall(r"^  (\w[\w-]*) ", listed.group(1), re.M) if listed else []
        if program == "gantry" and "compile" not in self.commands:
            raise Failure(f"no commands were found in `{program} --help`")

    def help(self, *command):
        return self.test.program(self.tool, *command, "--help")

    def options(self, *command):
        """Returns the options that the help of a command lists, with their dashes."""
        text = self.help(*command)
        found = set()
        for line in re.findall(r"^ {2,6}(-.*)$", text, re.M):
            names = re.match(r"(-\w, )?(--[\w-]+)|(-\w)\b", line)
            found |= {name.rstrip(", ") for name in names.groups() if name}
        if "--help" not in found:
            raise Failure(f"no options were found in the help of {self.program} {' '.join(command)}")
        return found

    @staticmethod
    def shell(*command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0 or done.stderr.strip():
            raise Failure(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def pages(self):
        """Checks the page of the program and of each command: mandoc prints nothing, every option is named."""
        wanted = {f"{self.program}.1": []}
        wanted.update({f"{self.program}-{command}.1": [command] for command in self.commands})
        for name, command in wanted.items():
            page = self.share / "man/man1" / name
            if not page.is_file():
                raise Failure(f"{name} is not installed")
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)], capture_output=True, text=True)
            if done.returncode != 0 or done.stdout or done.stderr:
                raise Failure(f"{done.stdout}{done.stderr}")
            text = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=80", str(page)], capture_output=True,
                                  text=True).stdout
            text = re.sub(".\x08", "", text)  # Removes bold and underlined letters.
            for section in ("NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO"):
                if f"\n{section}\n" not in text:
                    raise Failure(f"{name} has no section {section}")
            missing = [option for option in self.options(*command) if option not in text]
            if missing:
                raise Failure(f"{name} lacks {', '.join(missing)}")
        return f"{len(wanted)} pages"

    def bash(self):
        """Checks the completion of the commands and of each command's options."""
        script = self.share / "bash-completion/completions" / self.program
        self.shell("bash", "-n", script)

        def complete(*words):
            quoted = " ".join(f"'{word}'" for word in (self.program, *words))
            return set(self.shell("bash", "-c", f"""source '{script}'
                COMP_WORDS=({quoted}); COMP_CWORD={len(words)}
                "$(complete -p {self.program} | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
                printf '%s\\n' "${{COMPREPLY[@]}}" """).split())

        if self.commands and complete("") != set(self.commands):
            raise Failure(f"`{self.program} <TAB>` offers {complete('')}, expected {set(self.commands)}")
        for command in [[name] for name in self.commands] or [[]]:
            if complete(*command, "-") != self.options(*command):
                raise Failure(f"`{self.program} {' '.join(command)} -<TAB>` offers {complete(*command, '-')}, "
                              f"expected {self.options(*command)}")
        self.choices(lambda option, *command: complete(*command, option, ""), "two words")
        self.choices(lambda option, *command: complete(*command, option, "=", ""), "one word")
        if "record" in self.commands and "readelf" not in complete("record", "-o", "x", "--", "reade"):
            raise Failure("`gantry record -o x -- reade<TAB>` does not offer the program readelf")
        return f"{len(self.commands)} commands"

    def choices(self, complete, how):
        """Checks that `complete` offers the values of one option with choices. how: whether the command line
        gives option and value as one word or as two; messages name it."""
        option, command, words = (("--binding", ["run"], {"auto", "storage-buffer", "address", "texel"})
                                  if self.program == "gantry" else
                                  ("--theme", [], {"dark", "light", "colour-blind"}))
        offered = complete(option, *command)
        if offered != words:
            raise Failure(f"completing the value of {option} in {how} offers {offered}, expected {words}")

    def zsh(self):
        """Checks that zsh parses the script and that the script passes every option to _arguments."""
        script = self.share / "zsh/site-functions" / f"_{self.program}"
        self.shell("zsh", "-f", "-n", script)
        for command in [[name] for name in self.commands] or [[]]:
            # The script runs with replacements for the functions of the completion system.
            state = "state=arguments" if command else ":"
            given = self.shell("zsh", "-f", "-c", f"""
                _arguments() {{ [[ $1 == -C ]] && {{ {state}; return 0 }}; print -rl -- "$@" }}
                _describe() {{ : }}; words=({' '.join(command)}); curcontext=::
                completion() {{ {script.read_text()} }}; completion""")
            found = {name for line in given.splitlines()
                     for name in re.findall(r"^(?:\([^)]*\)|\*)?(--?[\w-]+?)(?:=-?)?\[", line)}
            if found != self.options(*command):
                raise Failure(f"{self.program} {' '.join(command)}: only one of the completion and --help has "
                              f"{found ^ self.options(*command)}")
        return f"{len(self.commands)} commands"

    def fish(self):
        script = self.share / "fish/vendor_completions.d" / f"{self.program}.fish"
        self.shell("fish", "--no-execute", script)

        def complete(line):
            said = self.shell("fish", "--no-config", "-c", f"source '{script}'; complete -C '{line}'")
            return {offer.split("\t")[0] for offer in said.splitlines()}

        if self.commands and not set(self.commands) <= complete(f"{self.program} "):
            raise Failure(f"`{self.program} <TAB>` offers {complete(self.program + ' ')}")
        for command in self.commands or [""]:
            wanted = {option for option in self.options(*command.split()) if option.startswith("--")}
            offered = complete(f"{self.program} {command} --")
            if not wanted <= offered:
                raise Failure(f"`{self.program} {command} --<TAB>` lacks {wanted - offered}")
        self.choices(lambda option, *command: complete(" ".join([self.program, *command, option]) + " "), "two words")
        return f"{len(self.commands)} commands"
