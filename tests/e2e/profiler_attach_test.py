#!/usr/bin/env python3
"""Tests the profiler's window, attached to a running `gantry bench`.

    profiler_attach_test.py --gantry TOOL --profiler PROGRAM --window-test FOLDER MODEL

The test needs Xvfb and runs on the software device. It starts `gantry bench MODEL`, attaches a
window with `gantry-profiler --attach`, pauses the window and takes a screenshot. The screenshot
must show blocks of memory, the dispatches in the lanes (rows in which no dispatches overlap in
time) and the line of the shared-memory limit at the positions and in the colours that the window
reports (--semantics). The window must also report bars with the shared memory of the dispatches,
the label of the budget, and the artifact's arena size. A paused window must not change. Before the
pause, the window may use at most 30 % of a core. The validation layers must print no message.
--screenshot FILE keeps the picture. A second window is attached to a bench until the bench ends;
the time that it shows must then reach up to that end.
"""
import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time
import zlib

from support import VALIDATION, Failure, Test, skip


MAX_LIVE_SHARE = 0.3  # Max CPU use of the attached window, as a share of one core.


def bytes_text(count):
    value, unit = float(count), 0
    while value >= 999.5 or (unit == 0 and value >= 1024):
        value, unit = value / 1024, unit + 1
    names = ("B", "KiB", "MiB", "GiB")
    if unit == 0:
        return f"{count} B"
    return f"{value:.2f} {names[unit]}" if value < 9.995 else (
        f"{value:.1f} {names[unit]}" if value < 99.95 else f"{value:.0f} {names[unit]}")


def save_png(path, shot):
    width, height, rows = shot
    raw = b"".join(b"\0" + bytes(byte for x in range(width)
                                 for byte in (row[4 * x + 2], row[4 * x + 1], row[4 * x])) for row in rows)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    pathlib.Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(raw, 6)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--profiler", required=True)
    parser.add_argument("--window-test", required=True, help="the folder of window_test.py")
    parser.add_argument("--screenshot")
    parser.add_argument("model", type=pathlib.Path)
    options = parser.parse_args()
    for tool in ("Xvfb", "xdotool", "xwd"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")
    sys.path.insert(0, options.window_test)
    import window_test as hand
    test = Test(options.gantry)
    artifact, words = test.folder / "model.gantry", test.folder / "seen.txt"
    screen = hand.Screen()
    started = []

    def run():
        test.call("compile", options.model, "-p", "vulkan:staging", "-o", artifact)
        arena = json.loads(test.call("inspect", artifact, "--json"))["arena_bytes"]
        bench = subprocess.Popen([options.gantry, "bench", artifact, "--seconds", "600"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started.append(bench)
        hand.wait_for("the process can be watched", bench, lambda: str(bench.pid) in subprocess.run(
            [options.profiler], capture_output=True, text=True).stdout)
        time.sleep(1)  # Gives the bench time to start its runs.
        window = subprocess.Popen(
            [options.profiler, "--attach", str(bench.pid), "--size", f"{hand.WIDTH}x{hand.HEIGHT}",
             "--scale", "1", "--semantics", words], env=screen.environment, stderr=subprocess.PIPE, text=True)
        started.append(window)
        hand.wait_for("a window", window, lambda: screen.xdotool("search", "--name", "gantry"))
        number = screen.xdotool("search", "--name", "gantry").split()[0]
        screen.xdotool("windowmove", number, 0, 0)
        hand.wait_for("dispatches", window, lambda: words.exists() and "inspector/arena" in words.read_text() and
                      {"dispatch", "dispatches"} & {item[1] for item in full(words)})
        time.sleep(2)
        before, begin = hand.cpu_seconds(window.pid), time.monotonic()
        time.sleep(5)
        share = (hand.cpu_seconds(window.pid) - before) / (time.monotonic() - begin)
        if share > MAX_LIVE_SHARE:
            raise Failure(f"the attached window uses {100 * share:.0f} % of a core; {100 * MAX_LIVE_SHARE:.0f} % are "
                          "allowed")
        screen.xdotool("windowfocus", number)
        screen.xdotool("key", "space")
        hand.wait_for("the pause", window, lambda: "paused" in words.read_text())
        time.sleep(3)
        paused = by_id(words)
        screen.xdotool("mousemove", hand.WIDTH - 20, hand.HEIGHT - 2)
        time.sleep(3)
        items, shot = full(words), screen.shot()
        if options.screenshot:
            save_png(options.screenshot, shot)
        found = {role: [item for item in items if item[1] == role]
                 for role in ("block", "bar", "bars", "dispatch", "dispatches")}
        by_name = by_id(words)
        for name in ("inspector/runs", "minimap/view"):
            if by_name[name] != paused[name]:
                raise Failure(f"the paused window changes: {paused[name]}, then {by_name[name]}")

        def matches(item, tolerance):
            _, _, (left, top, right, bottom), colour, _ = item
            x, y = int((left + right) / 2), int((top + bottom) / 2)
            if not (0 <= x < hand.WIDTH and 0 <= y < hand.HEIGHT):
                return False
            pixel = hand.pixel_xwd(shot[2], x, y)
            return max(abs(a - b) for a, b in zip(pixel, colour)) <= tolerance

        wide = [item for item in found["block"] if item[2][2] - item[2][0] >= 6 and item[2][3] - item[2][1] >= 6]
        right = sum(matches(item, 60) for item in wide)
        if not wide or right < 0.7 * len(wide):  # Labels and outlines cover the centre of some blocks.
            raise Failure(f"only {right} of {len(wide)} blocks have their reported colour in the screenshot; 70 % must")
        # A dispatch that is wide enough has its own item; several narrow ones share one item per column of pixels.
        lanes = found["dispatch"] + found["dispatches"]
        if not lanes or not found["bar"] + found["bars"]:
            raise Failure(f"no dispatch or no bar of shared memory is on the screen; the lanes are {by_name['lanes']}")
        ground = by_name["lanes"]
        drawn = [item for item in lanes if item[2][2] - item[2][0] >= 1 and item[2][3] - item[2][1] >= 4]
        seen = sum(not matches((item[0], item[1], item[2], ground[3], item[4]), 8) for item in drawn)
        if not drawn or seen < 0.9 * len(drawn):
            raise Failure(f"only {seen} of {len(drawn)} dispatches are drawn at their reported positions")
        limit = by_name.get("shared/limit")
        if limit is None or not matches((limit[0], limit[1], (limit[2][0], limit[2][1], limit[2][0] + 6, limit[2][1]),
                                         limit[3], limit[4]), 8):
            raise Failure(f"the line of the shared-memory limit is not drawn as the window reports it: {limit}")
        if by_name["inspector/arena"][4] != bytes_text(arena):
            raise Failure(f"the window shows an arena of {by_name['inspector/arena'][4]}, but the artifact has "
                          f"{bytes_text(arena)}")
        budget = next((item for name, item in by_name.items() if name.endswith("/budget_label")), None)
        if budget is None:
            raise Failure("no budget is on the screen")
        window.terminate()
        errors = window.communicate(timeout=60)[1]
        if VALIDATION.search(errors):
            raise Failure(f"validation message: {errors[:600]}")
        bench.kill()
        bench.wait()
        return (f"live {100 * share:.0f} % of a core, {len(wide)} blocks, {len(found['bar'])} bars and "
                f"{len(found['bars'])} of several dispatches, limit {limit[4]}, arena {bytes_text(arena)}, "
                f"{budget[4]}")

    def end():
        words.unlink()
        bench = subprocess.Popen([options.gantry, "bench", artifact, "--seconds", "8"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started.append(bench)
        hand.wait_for("the process can be watched", bench, lambda: str(bench.pid) in subprocess.run(
            [options.profiler], capture_output=True, text=True).stdout)
        window = subprocess.Popen(
            [options.profiler, "--attach", str(bench.pid), "--size", f"{hand.WIDTH}x{hand.HEIGHT}",
             "--scale", "1", "--semantics", words], env=screen.environment, stderr=subprocess.PIPE, text=True)
        started.append(window)
        hand.wait_for("the end", window, lambda: words.exists() and "the process has ended" in words.read_text())
        items = by_id(words)
        time.sleep(0.3)  # Time for the screen to update.
        first = screen.shot()
        time.sleep(1)
        if screen.shot() != first:
            raise Failure("the window wrote its items before it stopped changing")
        view, plot = items["minimap/view"][2], items["space/0" if "space/0" in items else "minimap"][2]
        live = next(item[4] for name, item in items.items() if re.fullmatch("heap/[0-9]+/live", name))
        if not live.endswith("at the end") or view[2] < plot[2] - 3:
            raise Failure(f"the window does not show the end: '{live}', the view ends at {view[2]} of {plot[2]}")
        runs = int(items["inspector/runs"][4].replace(",", ""))
        window.terminate()
        window.wait()
        return f"{runs} runs, {live}"

    try:
        test.check("attached to a running bench", run)
        test.check("the whole run is in view when it has ended", end)
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
        screen.close()
    test.finish()


def by_id(path):
    return {item[0]: item for item in full(path)}


def full(path):
    """Returns (id, role, rectangle, (red, green, blue), text) of each item in the window."""
    items = []
    for line in path.read_text().splitlines():
        name, role, *numbers, colour, text = line.split("\t")
        items.append((name, role, tuple(float(n) for n in numbers),
                      tuple(int(colour[i:i + 2], 16) for i in (1, 3, 5)), text))
    return items


if __name__ == "__main__":
    sys.exit(main())
