#!/usr/bin/env python3
"""Tests `gantry record` and `gantry export`: exit codes, full disks, interrupted runs, and the CSV of a capture.

    record_test.py --gantry TOOL --data tests/data [unittest arguments]

Standard library only.
"""
import argparse
import csv
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cli_support import OPTIONS, Tool

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
import onnx_file


def interrupt(process):
    """Simulates Ctrl-C: the terminal sends SIGINT to every process of the group."""
    os.killpg(process.pid, signal.SIGINT)


class Recording(Tool):
    def setUp(self):
        super().setUp()
        self.capture = self.folder / "run.gtrace"

    def rows(self, capture):
        self.works("export", capture, "--to", "csv", "-o", "rows.csv")
        whole = (self.folder / capture).read_bytes()
        self.fails(1, "the capture itself", "export", capture, "--to", "csv", "-o", capture)
        self.assertEqual((self.folder / capture).read_bytes(), whole)
        with open(self.folder / "rows.csv", newline="") as file:
            return list(csv.DictReader(file))

    def start(self, *arguments, **options):
        return subprocess.Popen([OPTIONS.gantry, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True, **options)

    # ---- exit codes --------------------------------------------------------------------------------

    def test_the_exit_code_is_that_of_the_command(self):
        record = ["record", "-o", self.capture, "--"]
        self.works(*record, OPTIONS.gantry, "run", self.artifact, "--random", "1")
        self.assertGreater(self.capture.stat().st_size, 0)
        done = self.call(*record, "sh", "-c", f"'{OPTIONS.gantry}' run '{self.artifact}' --random 1; exit 7",
                         cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        self.fails(1, "cannot start 'nosuchcommand'", "record", "-o", "new.gtrace", "nosuchcommand")

    def test_a_command_that_records_nothing(self):
        self.fails(3, ["nothing was recorded", "'true'"], "record", "-o", "new.gtrace", "true")
        self.capture.write_bytes(b"kept")
        self.fails(3, "nothing was recorded", "record", "-o", self.capture, "true")
        self.assertEqual(self.capture.read_bytes(), b"kept")

    def test_a_file_that_cannot_be_written(self):
        run = ["--", OPTIONS.gantry, "run", self.artifact, "--random", "1"]
        self.fails(3, "/dev/full", "record", "-o", "/dev/full", *run)
        self.fails(3, "nosuch/x.gtrace", "record", "-o", "nosuch/x.gtrace", *run)

    def test_a_disk_that_is_full(self):
        mount = self.folder / "small"
        mount.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(mount)], capture_output=True)
        if made.returncode != 0:
            self.skipTest("a small file system cannot be mounted here (it needs root)")
        try:
            done = self.call("record", "-o", mount / "run.gtrace", "--", OPTIONS.gantry, "bench", self.artifact,
                             "--runs", "500", cwd=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("No space left on device", done.stderr)  # The runtime in the command's process prints this.
            self.assertRegex(done.stderr.splitlines()[-1], "^gantry: error: .*(incomplete|failed)")
            self.assertIn("runs", done.stdout, "the command itself must succeed")
        finally:
            subprocess.run(["umount", str(mount)], check=True)

    # ---- interrupted -------------------------------------------------------------------------------

    def test_ctrl_c_keeps_what_was_recorded(self):
        process = self.start("record", "-o", self.capture, "--", OPTIONS.gantry, "bench", self.artifact,
                             "--seconds", "60")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.capture.exists() and self.capture.stat().st_size > 20_000:
                break
            time.sleep(0.05)
        # The recorder writes events to the file within 50 ms, so the file grows many times in a second.
        sizes = set()
        for _ in range(70):
            sizes.add(self.capture.stat().st_size)
            time.sleep(0.01)
        self.assertGreater(len(sizes), 4, "the file grows too rarely, so a crash would lose many events")
        interrupt(process)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertGreater(sum(row["type"] == "run end" for row in self.rows(self.capture)), 10)

    def test_a_signal_for_the_recorder_reaches_the_command(self):
        process = self.start("record", "-o", self.capture, "--", "sleep", "60")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertFalse(self.capture.exists(), "`sleep` records nothing, so no file may be left")

    def test_an_interrupted_run_leaves_no_files(self):
        """Sends a signal while the model is compiled or run."""
        temporary = self.folder / "tmp"
        transformer = pathlib.Path(OPTIONS.data) / "models/transformer/model.onnx"
        resnet = self.folder / "cache/resnet.onnx" # Its compilation takes seconds.
        resnet.parent.mkdir()
        resnet.write_bytes(onnx_file.resnet(size=256, width=32, blocks=(2, 2)))
        # An empty cache, so that the model is compiled. A signal that this process ignores (nohup) would stay
        # ignored in the tool.
        env = {**os.environ, "TMPDIR": str(temporary), "GANTRY_CACHE_DIR": str(self.folder / "cache")}
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        run = ["run", resnet, "--random", "1", "--output", "out"]
        bench = ["bench", transformer, "--seconds", "60"]
        for arguments, delay, ending in ((run, 0.2, signal.SIGINT), (run, 0.5, signal.SIGTERM), (bench, 1, signal.SIGHUP)):
            process = self.start(*arguments, env=env)
            time.sleep(delay)
            process.send_signal(ending)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -ending)
            self.assertEqual(list(temporary.iterdir()), [])
            self.assertEqual({p.name for p in self.folder.iterdir()} - {"cache"}, {"tmp"})

    # ---- CSV ---------------------------------------------------------------------------------------

    def test_csv_of_a_capture(self):
        self.works("record", "-o", self.capture, "--", OPTIONS.gantry, "bench", self.artifact, "--runs", "20",
                   "--warmup", "2")
        rows = self.rows(self.capture)
        of_type = {}
        for row in rows:
            self.assertNotIn(None, row, "a row has too many cells")
            self.assertNotIn(None, row.values(), "a row has too few cells")
            of_type.setdefault(row["type"], []).append(row)
            for column, cell in row.items():
                if column not in ("name", "type") and cell:
                    number = int(cell)  # These cells hold numbers or are empty.
                    if column != "value":
                        self.assertGreaterEqual(number, 0, (column, row))
                    self.assertNotIn(number, (2**64 - 1, 2**63 - 1, 2**32 - 1), (column, row))
        commands = {(row["plan"], row["command"]): row["name"] for row in of_type["command"]}
        self.assertTrue(all(commands.values()))
        runs = {row["run"]: row for row in of_type["run"]}
        self.assertGreaterEqual(len(runs), 22)
        for row in runs.values():
            self.assertEqual(row["name"], of_type["session"][0]["name"])
            self.assertGreater(int(row["duration_ns"]), 0)
            self.assertTrue(row["session"] and row["plan"])
        ends = {row["run"]: row for row in of_type["run end"]}
        for run, row in runs.items():
            self.assertEqual(int(row["duration_ns"]), int(ends[run]["time_ns"]) - int(row["time_ns"]))
        self.assertGreater(len(of_type["dispatch"]), 20)
        for row in of_type["dispatch"]:
            self.assertEqual(row["name"], commands[runs[row["run"]]["plan"], row["command"]])
            self.assertGreater(int(row["duration_ns"]), 0)
            self.assertTrue(row["device"])
        for row in of_type["budget"]:
            self.assertTrue(row["name"] and row["device"] and row["value"])
            self.assertGreater(int(row["budget"]), 0)
            self.assertGreaterEqual(int(row["used"]), 0)
            self.assertEqual(row["limit"], "", "no limit was set")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--profiler", default="")
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    OPTIONS.gantry = os.path.abspath(OPTIONS.gantry)
    OPTIONS.data = os.path.abspath(OPTIONS.data)
    unittest.main(argv=[sys.argv[0], *rest])
