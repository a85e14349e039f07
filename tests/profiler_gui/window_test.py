#!/usr/bin/env python3
"""Tests the real window under a virtual X server (Xvfb) with the software device and xdotool.

    window_test.py GANTRY_PROFILER MAKE_CAPTURE

The test opens a capture and compares the screenshot with the picture that --render makes of the
same capture. Then it clicks a block and looks for its outline, measures the CPU time of the idle
window, and closes the window through the command palette. Any message of the validation layer
fails the test. If Xvfb, xdotool or xwd is not installed, the test names the missing tool and exits
with 77 (skipped).
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

WIDTH, HEIGHT = 1280, 720
TIMEOUT_S = 90  # Test machines may be busy.


def read_png(path):
    """Returns (width, height, rows of RGBA bytes) of a picture that --render wrote."""
    data = pathlib.Path(path).read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    length = struct.unpack(">I", data[33:37])[0]
    raw = zlib.decompress(data[41:41 + length])
    stride = width * 4 + 1
    return width, height, [raw[y * stride + 1:(y + 1) * stride] for y in range(height)]


def read_xwd(data):
    """Returns (width, height, rows of BGRX bytes) of a window dump with 32 bits per pixel."""
    header = struct.unpack(">25I", data[:100])
    size, width, height, bits, line, colours = (header[0], header[4], header[5], header[11],
                                                header[12], header[19])
    assert bits == 32, f"the window dump has {bits} bits per pixel, but the test reads only 32"
    begin = size + colours * 12
    return width, height, [data[begin + y * line:begin + y * line + width * 4]
                           for y in range(height)]


def pixel_png(rows, x, y):
    return tuple(rows[y][4 * x:4 * x + 3])


def pixel_xwd(rows, x, y):
    blue, green, red = rows[y][4 * x:4 * x + 3]
    return red, green, blue


class Screen:
    """A virtual X server, with functions for input and screenshots."""

    def __init__(self):
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            # Without -noreset, the server resets when its last client disconnects, and refuses new
            # clients during the reset. The first xdotool may end before the window connects.
            ["Xvfb", "-noreset", "-displayfd", str(writing),
             "-screen", "0", f"{WIDTH}x{HEIGHT}x24"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as stream:
            number = stream.readline().strip()
        assert number, "Xvfb did not start"
        self.environment = dict(os.environ, DISPLAY=f":{number}", GANTRY_VALIDATION="1")

    def xdotool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], env=self.environment, text=True,
                              capture_output=True).stdout.strip()

    def shot(self):
        return read_xwd(subprocess.run(["xwd", "-silent", "-root"], env=self.environment,
                                       capture_output=True, check=True).stdout)

    def close(self):
        self.server.terminate()
        self.server.wait()


def wait_for(what, process, test):
    """Waits until test() is true. Fails with the process's stderr if the process ends first."""
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if test():
            return
        if process.poll() is not None:
            raise AssertionError(f"waiting for {what}: the program ended with status "
                                 f"{process.returncode}: {process.stderr.read()}")
        time.sleep(0.3)
    raise AssertionError(f"not seen within {TIMEOUT_S} s: {what}")


def semantics(path):
    """Reads a file that --semantics wrote, the list of the items of a picture.

    Returns the first item of each id as (role, [left, top, right, bottom], text).
    """
    items = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, role, left, top, right, bottom, _, text = line.split("\t")
        items.setdefault(name, (role, [float(v) for v in (left, top, right, bottom)], text))
    return items


def cpu_seconds(process):
    """Returns the CPU time that a process has used, in seconds."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def differing(shot, picture):
    """Returns the fraction of pixels that differ by more than 8 of 255 in a colour channel.

    Only every second column is compared.
    """
    count = 0
    for y in range(HEIGHT):
        a, b = shot[2][y], picture[2][y]
        for x in range(0, WIDTH, 2):
            count += any(abs(a[4 * x + 2 - c] - b[4 * x + c]) > 8 for c in range(3))
    return count / (WIDTH * HEIGHT / 2)


def run(profiler, make_capture, folder, screen):
    capture = f"{folder}/steps.gtrace"
    subprocess.run([make_capture, capture, "5", "3"], check=True)
    view = ["--size", f"{WIDTH}x{HEIGHT}", "--time", "0ms:20ms", "--search", "relu"]
    subprocess.run([profiler, "--render", f"{folder}/expected.png", *view,
                    "--semantics", f"{folder}/expected.txt", capture], check=True)
    refused = subprocess.run([profiler, *view, "--attach", "1"], capture_output=True, text=True)
    assert refused.returncode == 1, refused
    assert "cannot be used together" in refused.stderr, refused.stderr
    assert "--time" in refused.stderr and "--attach" in refused.stderr, refused.stderr
    expected = read_png(f"{folder}/expected.png")
    items = semantics(f"{folder}/expected.txt")
    window = subprocess.Popen([profiler, *view, "--scale", "1", capture],
                              env=screen.environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_for("a window", window, lambda: screen.xdotool("search", "--name", "gantry"))
        number = screen.xdotool("search", "--name", "gantry").split()[0]
        screen.xdotool("windowmove", number, 0, 0)
        time.sleep(2)
        for step in range(3):  # Moves away from the plots; each move is an input event.
            screen.xdotool("mousemove", WIDTH - 20 - step, HEIGHT - 2)
            time.sleep(0.3)
        wait_for("the picture that --render makes", window,
                 lambda: differing(screen.shot(), expected) < 0.002)

        # Clicks the largest value of the arena and looks for the white outline.
        blocks = [(name, rect) for name, (role, rect, text) in items.items()
                  if role == "block" and text.startswith("relu")]
        name, rect = max(blocks, key=lambda b: (b[1][2] - b[1][0]) * (b[1][3] - b[1][1]))
        x, y = int((rect[0] + rect[2]) / 2), int((rect[1] + rect[3]) / 2)
        screen.xdotool("mousemove", x, y)
        time.sleep(0.5)
        screen.xdotool("mousedown", 1)
        time.sleep(0.5)
        screen.xdotool("mouseup", 1)

        def outlined():
            shot = screen.shot()
            column = int((3 * rect[0] + rect[2]) / 4)
            return any(min(pixel_xwd(shot[2], column, int(rect[1]) + dy)) > 225
                       for dy in (-2, -1, 0, 1))
        wait_for(f"the outline of {name}", window, outlined)

        # An idle window uses at most 2 % of a core, measured over five seconds.
        time.sleep(2)
        before, begin = cpu_seconds(window.pid), time.monotonic()
        time.sleep(5)
        share = (cpu_seconds(window.pid) - before) / (time.monotonic() - begin)
        print(f"idle: {100 * share:.2f} % of a core")
        assert share <= 0.02, f"idle, the window takes {100 * share:.1f} % of a core"

        screen.xdotool("windowfocus", number)
        screen.xdotool("key", "ctrl+k")
        time.sleep(1)
        screen.xdotool("type", "--delay", "200", "quit")
        time.sleep(1)
        screen.xdotool("key", "Return")
        _, errors = window.communicate(timeout=TIMEOUT_S)
        assert window.returncode == 0, f"exit status {window.returncode}: {errors}"
        assert "validation" not in errors, errors
    finally:
        if window.poll() is None:
            window.kill()
            window.wait()


def main():
    for tool in ("Xvfb", "xdotool", "xwd"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return 77
    screen = Screen()
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(sys.argv[1], sys.argv[2], folder, screen)
    finally:
        screen.close()
    print("the window shows what --render draws, selects what is clicked, and closes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
