"""Small bugs, each one changed place of a file, and those that no test should find (the head of tools/mutate)."""
import collections, pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
Mutant = collections.namedtuple("Mutant", "rank file line operator before after")



def blanked(text):
    """The text with comments, literals and preprocessor lines as blanks, so that places stay where they are."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
                         r'^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
    text = re.sub(r"(?<=\d)'(?=\d)", "0", text)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


# Operators in the format of clang-format: with blanks, so that templates and pointers are not mistaken for them.
SWAPS = [("comparison", {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "}),
         ("arithmetic", {" + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " * ", " += ": " -= ",
                         " -= ": " += ", " *= ": " /= ", " /= ": " *= ", "++": "--", "--": "++", " << ": " >> ",
                         " >> ": " << ", " & ": " | ", " | ": " & ", " ^ ": " | "}),
         ("logic", {" && ": " || ", " || ": " && "}),
         ("words", {"std::min": "std::max", "std::max": "std::min", "true": "false", "false": "true",
                    "continue;": ";", "break;": ";", ".front()": ".back()", ".back()": ".front()",
                    "std::ceil": "std::floor", "std::floor": "std::ceil", "any_of": "all_of", "all_of": "any_of"})]
STATEMENT = re.compile(r"^(\s*)((?!return\b|throw\b|break\b|continue\b|using\b|goto\b|else\b|case\b|default\b|delete\b|"
                       r"const\b|auto\b|static\b|struct\b|enum\b)[A-Za-z_][\w:.\->\[\]()*&]*(?:\(.*\)| [-+*/|&^]?= .*));$")
NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:[eE][-+]?\d+)?)(?![\w.])")
# Places of changes that no test should find; the head of this file says why.
SYMMETRIC = re.compile(r"\b(swap|min|max)$")
ROOM = re.compile(r"^\s*(?:(?:static|mutable|const|constexpr|inline) )*"
                  r"(?:std::array<.*, (\d+)> \w+(?:;|\{.*| = .*)|[\w:]+ \w+\[(\d+)\](?:;| = .*))$")
TIME_OUT = re.compile(r"(?:(?:time_?out|patience|grace|busy|wait|seconds_per)\w* = |\b(?:milli|micro)?seconds\()(\d+)\b", re.I)
HINT = re.compile(r"\b(reserve|capacity|shrink_to_fit)\(|prefetch")
RANKING = re.compile(r"(generator/planner|tuner/search)/.*: *(static |inline )*constexpr double")
BLANKS = re.compile(r"string\([^()]*, ' '\)|append\([^()]*, ' '\)|table_text\([^{}]*\{[\d, ]*\}")
CALL = re.compile(r"\((\w+(?:\.\w+)*), (\w+(?:\.\w+)*)\)")


def closing(line, at):
    """Where the bracket that opens at `at` closes; -1: on another line."""
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if depth == 0:
            return i
    return -1


def changes_of(path, line, plain):
    """(operator, changed line) for every place of a line; `plain` is the line without literals and comments."""
    if HINT.search(plain):
        return
    def put(begin, end, text):
        return line[:begin] + text + line[end:]
    for operator, swaps in SWAPS:
        for old, new in swaps.items():
            for found in re.finditer(re.escape(old), plain):
                begin, end = found.span()
                if old[0].isalpha() and (plain[begin - 1:begin].isalnum() or plain[begin - 1:begin] == "_" or
                                         plain[end:end + 1].isalnum() or plain[end:end + 1] == "_"):
                    continue
                yield operator, put(begin, end, new)
    room, blanks = ROOM.match(plain), [found.span() for found in BLANKS.finditer(line)]
    waits = {found.span(1) for found in TIME_OUT.finditer(plain)}
    for found in NUMBER.finditer(plain):
        number, span = found.group(), found.span()
        if any(begin <= span[0] < end for begin, end in blanks) or RANKING.match(f"{path}:{plain}"):
            continue
        if re.search(r"[.eE]", number):
            yield "constant", put(*span, f"(2 * {number})")
        elif int(number) <= 1 or span not in waits:
            if not (room and span in (room.span(1), room.span(2))):
                yield "off by one", put(*span, str(int(number) + 1))
            if int(number) > 0:
                yield "off by one", put(*span, str(int(number) - 1))
    for found in re.finditer(r"\b(if|while) \(", plain):
        end = closing(plain, found.end() - 1)
        if end > 0 and not plain[found.end():].startswith("const ") and ";" not in plain[found.end():end]:
            yield "negated", put(found.end(), end, f"!({line[found.end():end]})")
    for found in re.finditer(r"(?<=[ (])!(?=[\w(])", plain):
        yield "negated", put(*found.span(), "")
    for found in CALL.finditer(plain):
        if (found.group(1) != found.group(2) and re.match(r"\w", plain[found.start() - 1:found.start()] or " ") and
                not SYMMETRIC.search(plain[:found.start()])):
            yield "arguments", put(*found.span(), f"({found.group(2)}, {found.group(1)})")
    if found := STATEMENT.match(plain.rstrip()):
        yield "dropped", found.group(1) + ";"
    if found := re.match(r"^(\s*)return;$", plain):
        yield "dropped", found.group(1) + ";"


def for_gpus_alone(lines):
    """Numbers of the lines of CUDA text that only a GPU's compiler sees: what the emulated backend does in another way,
    such as PTX."""
    hidden, branches = set(), []  # of each open #if: whether its present branch is hidden, and its other ones
    for number, line in enumerate(lines, 1):
        if line.startswith("#if"):
            emulated = "defined(FOURTUNE_EMULATED)" in line
            branches.append((emulated and "!defined" in line, emulated and "!defined" not in line))
        elif line.startswith("#el"):
            branches.append((branches.pop()[1],) * 2)
        elif line.startswith("#endif"):
            branches.pop()
        elif any(here for here, _ in branches):
            hidden.add(number)
    return hidden


def mutants_of(path):
    text = (ROOT / path).read_text()
    hidden = for_gpus_alone(text.splitlines()) if path.endswith(".cuh") else ()
    for number, (line, plain) in enumerate(zip(text.splitlines(), blanked(text).splitlines()), 1):
        if number in hidden:
            continue
        if re.match(r"\s*(static_assert|using|template|namespace|throw|\[\[)", plain):
            continue
        for operator, after in changes_of(path, line, plain):
            if after != line:
                yield Mutant(0, path, number, operator, line, after)


def sources(names):
    files = []
    for name in names:
        path = (ROOT / name).resolve()
        found = [path] if path.is_file() else [p for p in path.rglob("*") if p.suffix in (".cpp", ".h", ".cuh")]
        files += [str(p.relative_to(ROOT)) for p in found if not re.match(r"(build|tests/)", str(p.relative_to(ROOT)))]
    if not files:
        sys.exit(f"error: no .cpp, .h or .cuh file in {' '.join(names)}")
    return sorted(set(files))
