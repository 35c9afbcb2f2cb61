"""The lines of PyTorch and Keras that `gpubench explain --words` prints, from docs/diagnosis.md (a test holds that table
against the program), and how each is executed."""
import pathlib
import re

page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "diagnosis.md"


def lines(framework):
    """{remedy: line} of "pytorch", "keras" or "jax"."""
    table = page.read_text().split("| remedy | PyTorch | Keras | JAX |\n|---|---|---|---|\n")[1].split("\n\n")[0]
    column = {"pytorch": 1, "keras": 2, "jax": 3}[framework]
    found = {}
    for row in table.splitlines():
        cells = [cell.strip().strip("`") for cell in row.strip("| ").split(" | ")]
        cells += [""] * (4 - len(cells))
        if cells[column].strip("| "):
            found[cells[0]] = cells[column].strip("| ")
    return found


def execute(line, names, **values):
    """Executes the line with the script's own things in place of "<NAME>" and "...". Returns the value of an expression;
    assignments change `names`."""
    for name, text in values.items():
        line = line.replace(f"<{name.upper().replace('_', ' ')}>", text)
    line = line.replace(", ...", f", {values['rest']}" if "rest" in values else "")
    left = re.findall(r"<[A-Z ]+>|\.\.\.", line)
    if left:
        raise ValueError(f"the test has nothing for {left} in '{line}'")
    try:
        code = compile(line, "line", "eval")
    except SyntaxError:
        exec(compile(line, "line", "exec"), names)
        return None
    return eval(code, names)


class NoEffect(Exception):
    """Why a line has no effect on this machine."""


def run(framework, cases):
    """Runs each line once; `cases`: {remedy: function(line) that sees its effect, or raises}. Returns the exit status."""
    printed = lines(framework)
    failed = sorted(set(printed) ^ set(cases))
    for name in failed:
        print(f"FAILED {name}: {'there is no case for its line' if name in printed else 'there is no line'}")
    for name in printed:
        if name not in cases:
            continue
        try:
            cases[name](printed[name])
            print(f"ok     {name}: {printed[name]}")
        except NoEffect as why:
            print(f"none   {name}: {printed[name]}: {why}")
        except Exception as error:  # of a framework, whatever it is
            failed.append(name)
            print(f"FAILED {name}: {printed[name]}: {type(error).__name__}: {error}")
    print(f"{framework}: {len(printed)} lines, {len(failed)} failed")
    return 1 if failed or not printed else 0
