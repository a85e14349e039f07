#!/usr/bin/env python3
"""Writes the parts of docs/design.md that come from the sources: the table of folders and two pictures.

    tools/house/design.py [--check]

  - the table between the markers "folders" in docs/design.md, from FOLDERS of tools/check_includes.py;
  - docs/images/design-folders.svg: which folder includes which, from the #include lines;
  - docs/images/design-flow.svg: the way of a model through the compiler and the runtime. The passes in it come from
    codegen/pipeline.cpp and codegen/passes/Passes.td.

With --check, the script writes nothing, prints a line for each file that is out of date, and exits with 1 if
there is one. With and without --check, it exits with 1 if a row of FOLDERS permits an include that no source has, or if
the second picture names a folder that does not exist.
"""
import html
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_includes  # noqa: E402

DOCUMENT = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- folders: written by tools/house/design.py -->\n", "<!-- end of folders -->\n"

STYLE = """
text{font-family:Inter,"Segoe UI","Helvetica Neue",Arial,sans-serif}
.card{fill:#ffffff;stroke:#d9dee6}.ink{fill:#1b2430}.dim{fill:#5b6878}.edge{stroke:#7a889a;fill:none}
.tip{fill:#7a889a}.name{font-weight:600;font-size:14px}.note{font-size:11.5px}.title{font-weight:600;font-size:17px}
.engine{fill:#e6effb;stroke:#8fb3e3}.backends{fill:#f8ebdc;stroke:#deb27f}.codegen{fill:#e7f4e8;stroke:#90c695}
.users{fill:#f1eaf8;stroke:#b99bd8}.file{fill:#fbf6d9;stroke:#d8c66a}.row{fill:#ffffff;fill-opacity:.75}
@media (prefers-color-scheme:dark){
.card{fill:#12171e;stroke:#2b333e}.ink{fill:#eaf0f7}.dim{fill:#98a5b5}.edge{stroke:#7f8da0}.tip{fill:#7f8da0}
.engine{fill:#1a2a40;stroke:#3f679c}.backends{fill:#3a2b1a;stroke:#8d6a3e}.codegen{fill:#1b3220;stroke:#4a8051}
.users{fill:#2d2240;stroke:#735a97}.file{fill:#38331a;stroke:#867a3a}.row{fill:#0c1015;fill-opacity:.55}}
"""


def text(x, y, words, kind, anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>\n'


def box(x, y, width, height, kind):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" class="{kind}"/>\n'


def arrow(x0, y0, x1, y1, vertical=True):
    """Returns a curve that leaves and arrives along one axis, with an arrowhead at (x1, y1)."""
    if vertical:
        bend = (y0 + y1) / 2
        path = f"M{x0:g} {y0:g}C{x0:g} {bend:g} {x1:g} {bend:g} {x1:g} {y1 - 7:g}"
        tip = f"M{x1:g} {y1:g}l-4.5 -8h9z"
    else:
        bend = (x0 + x1) / 2
        path = f"M{x0:g} {y0:g}C{bend:g} {y0:g} {bend:g} {y1:g} {x1 - 7:g} {y1:g}"
        tip = f"M{x1:g} {y1:g}l-8 -4.5v9z"
    return f'<path class="edge" stroke-width="1.4" d="{path}"/><path class="tip" d="{tip}"/>\n'


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
            f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
            + box(0.5, 0.5, width - 1, height - 1, "card") + text(28, 40, title, "title ink") + body + "</svg>\n")


# ---- folders --------------------------------------------------------------------------------------

def drawn(folder):
    """Returns the folder whose box in the picture stands for the row of `folder` in FOLDERS; None if no box does."""
    if folder in ("tools/options", "tools/manual", "engine/include", "engine/op_kind", "codegen/include") or \
            folder.split("/")[0] in ("tests", "benchmarks"):
        return None
    return "tools" if folder.startswith("tools") else folder


def include_edges():
    """Returns {folder: folders that its sources include}. An include of a public header counts as an include
    of the library that implements it.
    """
    library = {check_includes.RUNTIME_API: "engine/capi", check_includes.COMPILER_API: "codegen"}
    edges = {}
    for path in check_includes.sources(ROOT):
        user = drawn(check_includes.folder_of(path) or "tests")
        if user is None:
            continue
        uses = edges.setdefault(user, set())
        for _, operand in check_includes.includes((ROOT / path).read_text(errors="replace")):
            match = re.match(r'["<]([^">]+)[">]', operand)
            target = match.group(1) if match else ""
            used = library.get(check_includes.public_api(target))
            if used is None:
                used = drawn(check_includes.folder_of(target) or "tests") if "/" in target else None
            if used is not None and used != user:
                uses.add(used)
    edges["engine/capi"].discard("engine/capi")
    return edges


def reachable(edges, start):
    seen, waiting = set(), list(edges[start])
    while waiting:
        folder = waiting.pop()
        if folder not in seen:
            seen.add(folder)
            waiting += edges[folder]
    return seen


def without_implied(edges):
    """Returns the transitive reduction of the edges: without A → C if there is a path A → B → C."""
    return {user: {used for used in uses
                   if not any(used in reachable(edges, other) for other in uses - {used})}
            for user, uses in edges.items()}


def layered(edges):
    """Lays out a graph in layers (Sugiyama 1981). Returns the rows of nodes, from the lowest row to the
    highest, and for each edge the chain of nodes that it passes.

    A node is a folder, or a tuple that represents an edge in a row that the edge crosses. Sweeps over the
    rows sort each row by the mean position of each node's neighbours.
    """
    ranks = {}

    def rank(folder):
        if folder not in ranks:
            ranks[folder] = 1 + max((rank(used) for used in edges[folder]), default=-1)
        return ranks[folder]

    for folder in edges:
        rank(folder)
    rows = [sorted(folder for folder in ranks if ranks[folder] == r) for r in range(max(ranks.values()) + 1)]
    chains = []
    for user in sorted(edges):
        for used in sorted(edges[user]):
            between = [(user, used, r) for r in range(ranks[user] - 1, ranks[used], -1)]
            for node in between:
                rows[node[2]].append(node)
            chains.append([user, *between, used])
    neighbours = {}
    for chain in chains:
        for a, b in zip(chain, chain[1:]):
            neighbours.setdefault(a, []).append(b)
            neighbours.setdefault(b, []).append(a)
    for sweep in range(24):
        place = {node: row_place(row, i) for row in rows for i, node in enumerate(row)}
        row_of = {node: r for r, row in enumerate(rows) for node in row}
        for r in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            side = -1 if sweep % 2 else 1

            def mean(node):
                near = [place[other] for other in neighbours.get(node, []) if row_of[other] == r + side]
                return sum(near) / len(near) if near else place[node]
            rows[r].sort(key=mean)
            place.update({node: row_place(rows[r], i) for i, node in enumerate(rows[r])})
    return rows, chains


BOX_WIDTH, BOX_HEIGHT, BOX_GAP, LANE_WIDTH, ROW_GAP = 206, 66, 22, 12, 50


def node_width(node):
    return BOX_WIDTH if isinstance(node, str) else LANE_WIDTH


def row_place(row, index):
    """Returns the x coordinate of a node's centre relative to the middle of its row."""
    widths = [node_width(node) + BOX_GAP for node in row]
    return sum(widths[:index]) + widths[index] / 2 - sum(widths) / 2


def folder_picture():
    edges = include_edges()
    rows, chains = layered(without_implied(edges))
    top = 66
    width = 56 + max(sum(node_width(node) + BOX_GAP for node in row) for row in rows)
    place = {node: (width / 2 + row_place(row, i), top + (len(rows) - 1 - r) * (BOX_HEIGHT + ROW_GAP))
             for r, row in enumerate(rows) for i, node in enumerate(row)}
    body = ""
    for chain in chains:
        points = [place[node] for node in chain]
        spread = [(x + max(-70, min(70, (points[1][0] - x) * 0.35)) if i == 0 else x, y)
                  for i, (x, y) in enumerate(points)]
        end_x = points[-1][0] + max(-70, min(70, (points[-2][0] - points[-1][0]) * 0.35))
        path, (x, y) = f"M{spread[0][0]:g} {spread[0][1] + BOX_HEIGHT:g}", spread[0]
        for next_x, next_y in spread[1:-1]:
            bend = (y + BOX_HEIGHT + next_y) / 2
            path += f"C{x:g} {bend:g} {next_x:g} {bend:g} {next_x:g} {next_y:g}V{next_y + BOX_HEIGHT:g}"
            x, y = next_x, next_y
        end_y = spread[-1][1]
        bend = (y + BOX_HEIGHT + end_y) / 2
        path += f"C{x:g} {bend:g} {end_x:g} {bend:g} {end_x:g} {end_y - 7:g}"
        body += f'<path class="edge" stroke-width="1.4" d="{path}"/>'
        body += f'<path class="tip" d="M{end_x:g} {end_y:g}l-4.5 -8h9z"/>\n'
    for folder in sorted(edges):
        x, y = place[folder][0] - BOX_WIDTH / 2, place[folder][1]
        kind = folder.split("/")[0]
        kind = kind if kind in ("engine", "backends", "codegen") else "users"
        body += box(x, y, BOX_WIDTH, BOX_HEIGHT, kind) + text(x + 12, y + 22, folder, "name ink")
        for i, line in enumerate(textwrap.wrap(check_includes.FOLDERS[folder][0], 31)[:2]):
            body += text(x + 12, y + 40 + 15 * i, line, "note dim")
    bottom = top + len(rows) * (BOX_HEIGHT + ROW_GAP) - ROW_GAP + 40
    body += text(28, bottom - 14, "An arrow points to a folder that is included. Left out: includes that follow from other "
                 "arrows; tests, benchmarks, tools/options, engine/op_kind.", "note dim")
    return svg(width, bottom, "Folders: which includes which", body)


# ---- the way of a model ---------------------------------------------------------------------------

def passes():
    """Returns [(argument, summary)] of Gantry's passes in the order of codegen/pipeline.cpp."""
    declared = {}
    for name, argument, summary in re.findall(
            r'^def (\w+) : Pass<"([\w-]+)"[^{]*\{\s*let summary = "([^"]*)"',
            (ROOT / "codegen/passes/Passes.td").read_text(), re.MULTILINE):
        declared[name] = (argument, summary)
    pipeline = (ROOT / "codegen/pipeline.cpp").read_text()
    order = [name for name in re.findall(r"\bcreate(\w+)\(", pipeline) if name in declared]
    missing = sorted(set(declared) - set(order))
    if missing or len(order) != len(set(order)):
        raise SystemExit(f"design: passes that codegen/pipeline.cpp does not add exactly once: {missing or order}")
    return [declared[name] for name in order]


def stage(x, y, width, kind, name, lines):
    """Draws a box with a name and, below it, rows of (name, words). Returns the SVG text and the height."""
    height = 34 + 20 * len(lines) + (6 if lines else 0)
    indent = max((7 * len(first) + 14 for first, _ in lines if first), default=0)
    body = box(x, y, width, height, kind) + text(x + 12, y + 22, name, "name ink")
    for i, (first, words) in enumerate(lines):
        row = y + 34 + 20 * i
        body += f'<rect x="{x + 8:g}" y="{row:g}" width="{width - 16:g}" height="17" rx="3" class="row"/>\n'
        body += text(x + 14, row + 12.5, first, "note ink") if first else ""
        body += text(x + 14 + indent, row + 12.5, words, "note dim")
    return body, height


def check_drawn(names):
    """Fails if a name in the picture, such as "codegen/passes, tiling", names a folder that does not exist."""
    for name in names:
        first, *others = name.split(", ")
        above = first.rpartition("/")[0]
        for folder in [first] + [other if "/" in other else f"{above}/{other}" for other in others]:
            if not (ROOT / folder).is_dir():
                raise SystemExit(f"design: the picture of the way of a model has {folder}, which does not exist")


def flow_picture():
    words = {folder: [("", text)] for folder, (text, _) in check_includes.FOLDERS.items()}
    compile_time = [
        ("file", "model.onnx, model.mlir", []),
        ("codegen", "codegen/import", [("", "linalg on tensors; shapes computed, constants folded")]),
        ("codegen", "codegen/passes, tiling, targets", passes()),
        ("codegen", "codegen/emit", [("", "values with lifetimes → engine/plan → commands, barriers")]),
    ]
    run_time = [
        ("file", "model.gantry", [("header", "version, checksums"), ("FlatBuffer", "kernels, plan, commands, variants"),
                                  ("constants", "4 KiB-aligned, mapped")]),
        ("engine", "engine/artifact", words["engine/artifact"]),
        ("engine", "engine/program", [("program", "immutable: one variant's kernels, commands"),
                                      ("session", "constants, arena, pipelines; runs")]),
        ("engine", "engine/heap", words["engine/heap"]),
        ("backends", "engine/device, backends/vulkan", words["engine/device"] + words["backends/vulkan"]),
        ("engine", "engine/trace", words["engine/trace"]),
        ("users", "profiler_gui", words["profiler_gui"]),
    ]
    check_drawn(name for kind, name, _ in compile_time + run_time if kind != "file")
    width, gap, top, body, bottom, centre = 660, 22, 96, "", 0, {}
    for x, title, column, column_width in ((28, "Compile time", compile_time, width),
                                           (28 + width + 70, "Run time", run_time, 500)):
        y = top
        body += text(x, 76, title, "name dim")
        for i, (kind, name, lines) in enumerate(column):
            part, height = stage(x, y, column_width, kind, name, lines)
            body += part
            centre[name] = (x, y, height)
            if i + 1 < len(column):
                body += arrow(x + column_width / 2, y + height, x + column_width / 2, y + height + gap)
            y += height + gap
        bottom = max(bottom, y)
    x, y, height = centre["codegen/emit"]
    x1, y1, height1 = centre["model.gantry"]
    body += arrow(x + width, y + height / 2, x1, y1 + height1 / 2, vertical=False)
    return svg(28 + width + 70 + 500 + 28, bottom + 4, "The way of a model", body)


# ---- the document ---------------------------------------------------------------------------------

def folder_table():
    lines = ["| folder | what is in it | what it may include |", "| --- | --- | --- |"]
    for folder, (words, uses) in check_includes.FOLDERS.items():
        if not (ROOT / folder).is_dir():
            continue
        allowed = ", ".join(f"`{use}`" for use in uses) or "the standard library"
        lines.append(f"| `{folder}` | {words} | {'anything' if uses == ['*'] else allowed} |")
    return "\n".join(lines) + "\n"


def document():
    written = DOCUMENT.read_text()
    begin, end = written.index(BEGIN) + len(BEGIN), written.index(END)
    return written[:begin] + folder_table() + written[end:]


def main(arguments):
    unused = check_includes.unused_permissions(ROOT, list(check_includes.sources(ROOT)))
    for finding in unused:
        print(finding)
    made = {DOCUMENT: document(), ROOT / "docs/images/design-folders.svg": folder_picture(),
            ROOT / "docs/images/design-flow.svg": flow_picture()}
    stale = [path for path, content in made.items() if not path.is_file() or path.read_text() != content]
    for path in stale:
        name = path.relative_to(ROOT)
        if "--check" in arguments:
            print(f"{name}: is out of date; run tools/house/design.py")
        else:
            path.write_text(made[path])
            print(f"wrote {name}")
    return 1 if unused or stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
