"""Problems for scripts that tune: files of tokens, and what `fourtune soak` draws."""
import pathlib, re, subprocess, sys


def add_options(parser):
    parser.add_argument("--problems", action="append", default=[], metavar="FILE", help="problems, one per line")
    parser.add_argument("--drawn", action="append", default=[], metavar="KIND:SEED:COUNT",
                        help="problems that `fourtune soak` draws: fft:SEED:COUNT or nufft:SEED:COUNT")


def problems_of(options):
    """Tokens of the lists and of what is drawn, each once, in their order."""
    tokens = {}
    for name in options.problems:
        try:
            lines = pathlib.Path(name).read_text().splitlines()
        except (OSError, UnicodeDecodeError) as why:
            sys.exit(f"error: --problems {name}: {why}")
        tokens |= dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    for text in options.drawn:
        if not re.fullmatch(r"(fft|nufft):\d+:\d+", text):
            sys.exit(f"error: --drawn {text}: it is KIND:SEED:COUNT, such as fft:7:40 or nufft:7:40")
        kind, seed, count = text.split(":")
        drawn = subprocess.run([options.fourtune, "soak", "--list", f"--{kind}", "--seed", seed, "--count", count,
                                "--backend", options.backend], stdout=subprocess.PIPE, text=True)
        if drawn.returncode:
            sys.exit(f"error: nothing could be drawn for --drawn {text}")
        tokens |= dict.fromkeys(line.strip() for line in drawn.stdout.splitlines() if line.strip())
    if not tokens:
        sys.exit("error: no problems; name a file with --problems or draw some with --drawn KIND:SEED:COUNT")
    return list(tokens)
