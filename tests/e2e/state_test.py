#!/usr/bin/env python3
"""Tests compiled models with states: ports that share one buffer across runs.

    state_test.py --gantry TOOL

The states are declared by --state, by the attributes of IREE (iree.abi.output) and of TensorFlow
(tf.aliasing_output), and by ONNX's training_info. Each run of the tool restores the states from a
file and saves them to it, so consecutive runs continue.
"""
import argparse
import json
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from cli_support import field, onnx_model, write_npy  # noqa: E402
from support import VARIANTS, Failure, Test, read_npy  # noqa: E402

# Result 1 is w + x, the next value of w. Result 0 is w * x with the old value of w.
IREE = """
func.func @main(%w: tensor<8xf32> {iree.abi.output = 1 : index}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.mulf %w, %x : tensor<8xf32>
  %1 = arith.addf %w, %x : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
"""
TENSORFLOW = IREE.replace("iree.abi.output = 1 : index", "tf.aliasing_output = 1 : i32")
PLAIN = IREE.replace(" {iree.abi.output = 1 : index}", "")
CONSUMED = PLAIN.replace("%x: tensor<8xf32>", "%x: tensor<8xf32> {iree.abi.consume}")
# The model updates w before it reads the old w; the compiler moves the update behind the product.
EARLY = """
func.func @main(%w: tensor<8xf32> {iree.abi.output = 1 : index}, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %1 = arith.addf %w, %x : tensor<8xf32>
  %0 = arith.mulf %w, %x : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
"""
# Two states that change places, and a third that a run keeps and returns.
SWAPPED = """
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = arith.addf %a, %x : tensor<8xf32>
  return %b, %a, %c, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
"""
CACHE = """
func.func @main(%c: tensor<?x4xf32> {gantry.port = #gantry.port<name = "cache", dims = [<"n">, <"">]>},
                %x: tensor<2x4xf32> {gantry.port = #gantry.port<name = "x", dims = [<"">, <"">]>})
    -> (tensor<?x4xf32> {gantry.port = #gantry.port<name = "cache_next">}) {
  %0 = tensor.concat dim(0) %c, %x : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def tensor(name, dims, values):
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, floats(values))



class StateTest(Test):
    def write(self, name, values, shape=None):
        path = self.folder / name
        write_npy(path, "<f4", shape or (len(values),), floats(values))
        return path

    def model(self, text):
        path = self.folder / "model.mlir"
        path.write_text(text)
        return path

    def run(self, variant, inputs, first):
        """Runs once and returns the outputs as lists. The first run starts from the inputs, later ones from the
        saved state."""
        profile, environment, extra = VARIANTS[variant]
        words = [w for path in inputs for w in ("--input", path)]
        states = ["--state-out", self.folder / "state"] + ([] if first else ["--state-in", self.folder / "state"])
        report = json.loads(self.call("run", self.artifact(profile), *words, *states, *extra, "--json", "--output",
                                      self.folder / "out", environment=environment))
        if report["validation_messages"] != 0:
            raise Failure(f"{report['validation_messages']} validation messages")
        return [list(read_npy(output["file"])[1]) for output in report["outputs"]]

    def expect(self, what, found, expected):
        if found != expected:
            raise Failure(f"{what} is {found}, expected {expected}")

    def inspect(self):
        return json.loads(self.call("inspect", self.artifact(), "--json"))

    def commands(self, kind):
        return [command for command in self.inspect()["commands"] if command["kind"] == kind]

    def copies(self):
        return [f"{command['name']}: {command['copy_reason']}" for command in self.commands("copy")]


def updates(test, text, *arguments):
    """Tests a model like IREE above. Its update must be in place, without a copy and without an arena."""
    test.compile(test.model(text), *arguments)
    plan = test.inspect()
    test.expect("the states", plan["states"],
                [{"name": "arg0", "input": 0, "output": 1, "capacity_bytes": 32, "initial": None, "order": []}])
    test.expect("the arena", plan["arena_bytes"], 0)
    test.expect("the copies", test.commands("copy"), [])
    text = test.call("inspect", test.artifact())
    for mark in ("arg0 (state)", "result1 (state arg0)"):
        if mark not in text:
            raise Failure(f"inspect does not show '{mark}': {text[:500]}")
    w, x = [1.0, 2, 3, 4, 5, 6, 7, 8], [0.5] * 8
    for variant in VARIANTS:
        state = w
        for step in range(3):
            inputs = [test.write("w.npy", w)] if step == 0 else []
            product, state_next = test.run(variant, inputs + [test.write("x.npy", x)], first=step == 0)
            test.expect(f"{variant}: the product", product, [a * b for a, b in zip(state, x)])
            state = [a + b for a, b in zip(state, x)]
            test.expect(f"{variant}: the state", state_next, state)


def kept_order(test):
    """In the model's own order the new value is computed before the old one is read, so the new value lies in other
    storage and is copied to the state at the end."""
    test.compile(test.model(EARLY), "--keep-order")
    test.expect("the copies", test.copies(), ["copy to state result1: the old value is used later"])
    w, x = [1.0, 2, 3, 4, 5, 6, 7, 8], [0.5] * 8
    for variant in VARIANTS:
        outputs = test.run(variant, [test.write("w.npy", w), test.write("x.npy", x)], first=True)
        test.expect(variant, outputs, [[a * b for a, b in zip(w, x)], [a + b for a, b in zip(w, x)]])


def fifty(test):
    """A step that updates 50 momenta and parameters in place: m = rate * m + g, then p = p - rate * m."""
    count, rate = 50, 0.125
    sizes = [64 + 16 * i for i in range(count)]
    arguments, body, results, types = [], "", [], []
    for i, size in enumerate(sizes):
        kind = f"tensor<{size}xf32>"
        arguments += [f"%p{i}: {kind} {{iree.abi.output = {2 * i} : index}}",
                      f"%m{i}: {kind} {{iree.abi.output = {2 * i + 1} : index}}", f"%g{i}: {kind}"]
        body += (f"  %r{i} = arith.constant dense<{rate}> : {kind}\n"
                 f"  %s{i} = arith.mulf %m{i}, %r{i} : {kind}\n  %n{i} = arith.addf %s{i}, %g{i} : {kind}\n"
                 f"  %d{i} = arith.mulf %n{i}, %r{i} : {kind}\n  %q{i} = arith.subf %p{i}, %d{i} : {kind}\n")
        results += [f"%q{i}", f"%n{i}"]
        types += [kind, kind]
    text = (f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{body}"
            f"  return {', '.join(results)} : {', '.join(types)}\n}}\n")
    test.call("compile", test.model(text), "-p", "vulkan:generic", "-o", test.artifact())
    plan = test.inspect()
    test.expect("the number of states", len(plan["states"]), 2 * count)
    test.expect("the bytes of the states", sum(state["capacity_bytes"] for state in plan["states"]), 8 * sum(sizes))
    test.expect("the arena", plan["arena_bytes"], 0)
    test.expect("the copies", test.commands("copy"), [])
    variant = "address, validation"
    p, m = [1.0] * count, [0.0] * count
    for step in range(3):
        inputs = []
        for i, size in enumerate(sizes):
            if step == 0:
                inputs += [test.write(f"p{i}.npy", [p[i]] * size), test.write(f"m{i}.npy", [m[i]] * size)]
            inputs.append(test.write(f"g{i}.npy", [float(i)] * size))
        outputs = test.run(variant, inputs, first=step == 0)
        for i, size in enumerate(sizes):
            m[i] = rate * m[i] + i
            p[i] -= rate * m[i]
            test.expect(f"parameter {i} after step {step}", outputs[2 * i], [p[i]] * size)
            test.expect(f"momentum {i} after step {step}", outputs[2 * i + 1], [m[i]] * size)


def initializers(test):
    """An initializer becomes a state, whose first value is the initializer's. Another program only reads the state."""
    step = test.folder / "step.onnx"
    step.write_bytes(onnx_model([("Add", "update", ["w", "x"], ["w_next"])], [("x", [3])], [("w_next", [3])],
                                [tensor("w", [3], [1.0, 2.0, 3.0])]))
    test.compile(step, "--state", "w=w_next")
    test.expect("constants on the device", test.inspect()["constant_bytes"], 0)
    x = test.write("x.npy", [10.0, 20.0, 30.0])
    test.expect("the first step", test.run("address, validation", [x], first=True), [[11.0, 22.0, 33.0]])
    test.expect("the second step", test.run("address, validation", [x], first=False), [[21.0, 42.0, 63.0]])
    reader = test.folder / "reader.onnx"
    reader.write_bytes(onnx_model([("Mul", "product", ["w", "x"], ["y"])], [("x", [3])], [("y", [3])],
                                  [tensor("w", [3], [0.0, 0.0, 0.0])]))
    test.compile(reader, "--state", "w")
    test.expect("the state", test.inspect()["states"][0]["output"], None)
    test.expect("the reader", test.run("address, validation", [x], first=False), [[210.0, 840.0, 1890.0]])


def consumed(test):
    """An argument with the attribute iree.abi.consume is a donated input."""
    test.compile(test.model(CONSUMED))
    test.expect("the donated inputs", [port["donated"] for port in test.inspect()["inputs"]], [False, True])
    w, x = [1.0] * 8, [2.0] * 8
    for variant, (profile, environment, extra) in VARIANTS.items():
        report = json.loads(test.call("run", test.artifact(profile), "--input", test.write("w.npy", w), "--input",
                                      test.write("x.npy", x), "--output", test.folder / "out", "--json", *extra,
                                      environment=environment))
        test.expect(variant, [list(read_npy(o["file"])[1]) for o in report["outputs"]], [[2.0] * 8, [3.0] * 8])


def swapped(test):
    """Two states change places. A run saves the old values before it overwrites their buffers, and copies them at the end."""
    test.compile(test.model(SWAPPED), "--state", "arg0=result0", "--state", "arg1=result1", "--state", "arg2=result2")
    saved = ": the buffer of the state is overwritten before it is read"
    test.expect("the copies", test.copies(), [
        "save arg1" + saved, "save arg0" + saved, "copy to state result0: the value lies in other storage",
        "copy to state result1: the value lies in other storage", "copy to state result2: a run keeps the value"])
    a, b, c, x = [1.0] * 8, [2.0] * 8, [3.0] * 8, [0.5] * 8
    for variant in VARIANTS:
        left, right = a, b
        for step in range(3):
            inputs = [test.write(f"{name}.npy", values) for name, values in (("a", a), ("b", b), ("c", c))]
            outputs = test.run(variant, (inputs if step == 0 else []) + [test.write("x.npy", x)], first=step == 0)
            test.expect(f"{variant}: the sum", outputs[3], [u + v for u, v in zip(left, x)])
            left, right = right, left
            test.expect(f"{variant}: the states", outputs[:3], [left, right, c])


def cache(test):
    """A cache grows by two rows in each run, until its capacity is reached."""
    test.compile(test.model(CACHE), "--state", "cache=cache_next", "--dim", "n=..6")
    plan = test.inspect()
    test.expect("the capacity", plan["states"][0]["capacity_bytes"], 8 * 4 * 4)
    # The only command writes the new rows; nothing copies the old ones.
    test.expect("the commands", [(command["partial"], command["in_place"] is not None) for command in plan["commands"]],
                [(True, True)])
    test.expect("the arena", plan["arena_bytes"], 0)
    rows = [float(i) for i in range(8)]
    variant = "address, validation"
    expected = [9.0] * 8
    for step in range(3):
        inputs = [test.write("c.npy", expected, (2, 4))] if step == 0 else []
        found = test.run(variant, inputs + [test.write("x.npy", rows, (2, 4))], first=step == 0)
        expected = expected + rows
        test.expect("the cache", found, [expected])
    test.refuse("dimension 0 (n) of input 'cache' is 8; it may be at most 6", "run", test.artifact(), "--input",
                test.write("x.npy", rows, (2, 4)), "--state-in", test.folder / "state")
    test.refuse("which has no upper limit", "compile", test.model(CACHE), "-o", test.folder / "wrong.gantry", "--state",
                "cache=cache_next")


def decoder(test):
    """The caches of an attention with heads grow in place. Their rows are stored before their heads."""
    heads, width, batch, max_rows = 3, 8, 2, 12
    model = test.folder / "decoder.onnx"
    new, past = [batch, 1, heads, width], [batch, heads, "past", width]
    model.write_bytes(onnx_model(
        [("Neg", "minus_key", ["k"], ["minus_k"]), ("Neg", "minus_value", ["v"], ["minus_v"]),
         ("Transpose", "key", ["minus_k"], ["k_heads"], {"perm": [0, 2, 1, 3]}),
         ("Transpose", "value", ["minus_v"], ["v_heads"], {"perm": [0, 2, 1, 3]}),
         ("Concat", "keys", ["past_k", "k_heads"], ["present_k"], {"axis": 2}),
         ("Concat", "values", ["past_v", "v_heads"], ["present_v"], {"axis": 2}),
         ("Transpose", "turn", ["present_k"], ["k_turned"], {"perm": [0, 1, 3, 2]}),
         ("MatMul", "scores", ["q", "k_turned"], ["s"]),
         ("Softmax", "softmax", ["s"], ["p"], {"axis": 3}),
         ("MatMul", "result", ["p", "present_v"], ["y"])],
        [("q", [batch, heads, 1, width]), ("k", new), ("v", new), ("past_k", past), ("past_v", past)],
        [("y", [batch, heads, 1, width]), ("present_k", [batch, heads, "total", width]),
         ("present_v", [batch, heads, "total", width])]))
    test.compile(model, "--state", "past_*=present_*", "--dim", f"past=..{max_rows}")
    plan = test.inspect()
    test.expect("the orders", [state["order"] for state in plan["states"]], [[2, 0, 1, 3]] * 2)
    test.expect("the shapes", [port["dims"] for port in plan["inputs"][3:]], [[batch, heads, max_rows, width]] * 2)
    test.expect("the reasons for copies", [command["copy_reason"] for command in plan["commands"]
                                           if command["copy_reason"]], [])
    test.expect("the commands that write rows in place",
                len([command for command in plan["commands"] if command["partial"]]), 2)

    def numbers(seed, count):
        return [((i * 37 + seed * 11) % 64 - 32) / 64 for i in range(count)]

    for variant in VARIANTS:
        length = 2
        caches = {name: numbers(seed, batch * heads * length * width) for seed, name in enumerate(("past_k", "past_v"))}
        for step in range(3):
            given = {"q": numbers(5 + step, batch * heads * width), "k": numbers(7 + step, batch * heads * width),
                     "v": numbers(9 + step, batch * heads * width)}
            inputs = [f"q={test.write('q.npy', given['q'], (batch, heads, 1, width))}"]
            inputs += [f"{name}={test.write(f'{name}.npy', given[name], new)}" for name in "kv"]
            if step == 0:
                inputs += [f"{name}={test.write(f'{name}.npy', cache, (batch, heads, length, width))}"
                           for name, cache in caches.items()]
            y, *found = test.run(variant, inputs, first=step == 0)
            for name, row in zip(caches, "kv"):
                parts = []
                for head in range(batch * heads):
                    parts += caches[name][head * length * width:(head + 1) * length * width]
                    parts += [-number for number in given[row][head * width:(head + 1) * width]]
                caches[name] = parts
            length += 1
            for cache, name in zip(found, caches):
                wrong = [i for i, (a, b) in enumerate(zip(cache, caches[name])) if a != b]
                test.expect(f"{variant}: the number of elements of {name} after step {step}", len(cache),
                            len(caches[name]))
                test.expect(f"{variant}: the wrong elements of {name} after step {step}", wrong[:8], [])
            error = 0.0
            for head in range(batch * heads):
                q = given["q"][head * width:(head + 1) * width]
                keys, values = ([cache[(head * length + t) * width:(head * length + t + 1) * width]
                                 for t in range(length)] for cache in caches.values())
                weights = [math.exp(sum(a * b for a, b in zip(q, key))) for key in keys]
                for i in range(width):
                    wanted = sum(w * value[i] for w, value in zip(weights, values)) / sum(weights)
                    error = max(error, abs(wanted - y[head * width + i]))
            if error > 1e-5:
                raise Failure(f"{variant}: the error of y after step {step} is {error}")


def shared_orders(test):
    """Programs that only read or only write a cache store it like one that appends to it, so that they can share it."""
    shape, max_rows = [3, "past", 4], 6
    reader, writer = test.folder / "reader.onnx", test.folder / "writer.onnx"
    reader.write_bytes(onnx_model([("Neg", "turn", ["past"], ["y"])], [("past", shape)], [("y", shape)]))
    writer.write_bytes(onnx_model([("Neg", "fill", ["x"], ["next"])], [("past", shape), ("x", shape)], [("next", shape)]))
    values = [float(i) for i in range(3 * 5 * 4)]
    file = test.write("x.npy", values, (3, 5, 4))
    for model, state, inputs in ((reader, "past", [f"past={file}"]), (writer, "past=next", [f"past={file}", f"x={file}"])):
        test.compile(model, "--state", state, "--dim", f"past=..{max_rows}")
        test.expect(f"{state}: the order", [entry["order"] for entry in test.inspect()["states"]], [[1, 0, 2]])
        for variant in VARIANTS:
            found = test.run(variant, inputs, first=True)
            test.expect(f"{variant}, {state}: the output", found, [[-value for value in values]])


def positions(test):
    """Rows are written into a cache of fixed size, at positions that are an input. Nothing else is written."""
    capacity, width = 1024, 8
    model = test.folder / "positions.onnx"
    model.write_bytes(onnx_model(
        [("Add", "new", ["x", "x"], ["rows"]), ("ScatterND", "update", ["cache", "at", "rows"], ["cache_next"]),
         ("Gather", "read", ["cache_next", "row"], ["y"])],
        [("cache", [capacity, width]), ("at", [2, 1], 7), ("x", [2, width]), ("row", [1], 7)],
        [("y", [1, width]), ("cache_next", [capacity, width])]))
    test.compile(model, "--state", "cache=cache_next")
    plan = test.inspect()
    test.expect("the arena", plan["arena_bytes"], 0)
    test.expect("the reasons for copies", [command["copy_reason"] for command in plan["commands"]
                                           if command["copy_reason"] and "update" in command["name"]], [])
    update = next(command for command in plan["commands"] if "update" in command["name"])
    # The kernel reads x and the positions, and writes the rows.
    test.expect("the bytes of the update", update["bytes"], 2 * width * 4 + 2 * 8 + 2 * width * 4)
    for variant in VARIANTS:
        cache = [0.25 * i for i in range(capacity * width)]
        for step, at in enumerate(([3, 0], [-1, 4], [5000, 6])):  # A position out of range is not written.
            x = [float(step * 100 + i) for i in range(2 * width)]
            int64 = test.folder / "at.npy", test.folder / "row.npy"
            write_npy(int64[0], "<i8", (2, 1), struct.pack("<2q", *at))
            write_npy(int64[1], "<i8", (1,), struct.pack("<q", at[1]))
            inputs = [f"cache={test.write('c.npy', cache, (capacity, width))}"] if step == 0 else []
            y, found = test.run(variant, inputs + [f"x={test.write('x.npy', x, (2, width))}", f"at={int64[0]}",
                                                   f"row={int64[1]}"], first=step == 0)
            for row, place in enumerate(at):
                if place < capacity:
                    place %= capacity
                    cache[place * width:(place + 1) * width] = [2 * v for v in x[row * width:(row + 1) * width]]
            wrong = [i for i, (a, b) in enumerate(zip(found, cache)) if a != b]
            test.expect(f"{variant}: the list of wrong elements of the cache after step {step}", wrong[:8], [])
            test.expect(f"{variant}: the row that is read", y, cache[at[1] * width:(at[1] + 1) * width])
    # Without a state the caller keeps its input, so the cache is copied.
    test.compile(model)
    test.expect("the reasons for copies", [command["copy_reason"] for command in test.inspect()["commands"]
                                           if command["copy_reason"]], ["the caller keeps the input"])


def patterns(test):
    """--state with a star declares a state for each input that matches."""
    nodes, inputs, outputs = [], [("x", [2])], []
    for i in range(3):
        nodes.append(("Add", f"add{i}", [f"past.{i}.key", "x"], [f"present.{i}.key"]))
        inputs.append((f"past.{i}.key", [2]))
        outputs.append((f"present.{i}.key", [2]))
    model = test.folder / "patterns.onnx"
    model.write_bytes(onnx_model(nodes, inputs, outputs))
    test.compile(model, "--state", "past.*=present.*")
    test.expect("the states", [(state["name"], state["output"]) for state in test.inspect()["states"]],
                [("past.0.key", 0), ("past.1.key", 1), ("past.2.key", 2)])
    initialized = test.folder / "initialized.onnx"
    initialized.write_bytes(onnx_model(nodes, [("x", [2])], outputs,
                                       [tensor(f"past.{i}.key", [2], [1.0, 2.0]) for i in range(3)]))
    test.compile(initialized, "--state", "past.*=present.*")
    test.expect("the states", [(state["name"], state["output"]) for state in test.inspect()["states"]],
                [("past.0.key", 0), ("past.1.key", 1), ("past.2.key", 2)])
    test.compile(model, "--state", "past.*.key")
    test.expect("the states", [(state["name"], state["output"]) for state in test.inspect()["states"]],
                [("past.0.key", None), ("past.1.key", None), ("past.2.key", None)])
    for reason, state in (("no input matches 'old.*'; the model's inputs are 'x', 'past.0.key'", "old.*=present.*"),
                          ("the model has no output 'next.0.key'", "past.*=next.*"),
                          ("the output 'present' needs a star, too", "past.*=present"),
                          ("more than one star", "past.*.*=present.*")):
        test.refuse(reason, "compile", model, "-o", test.folder / "wrong.gantry", "--state", state)


def training(test):
    """Linear regression: y = x w, loss gradient x^T (y - t), w = w - rate * gradient; the step count grows by 1."""
    rate, one = 0.125, 1.0
    algorithm = onnx_model(
        [("Sub", "error", ["y", "t"], ["e"]), ("Transpose", "turn", ["x"], ["xt"]),
         ("MatMul", "gradient", ["xt", "e"], ["g"]), ("Mul", "scale", ["g", "rate"], ["d"]),
         ("Sub", "update", ["w", "d"], ["w_next"]), ("Add", "count", ["steps", "one"], ["steps_next"])],
        [("t", [2, 1])], [("w_next", [2, 1]), ("steps_next", [1])],
        [tensor("rate", [1], [rate]), tensor("steps", [1], [0.0]), tensor("one", [1], [one])])
    # Extracts the graph from the algorithm's model: two bytes of the IR version come before it (field 1). The graph
    # (field 7) begins with its length as a varint.
    graph = algorithm[2:]
    size, shift, at = 0, 0, 1
    while True:
        size |= (graph[at] & 127) << shift
        shift += 7
        at += 1
        if graph[at - 1] < 128:
            break
    bindings = b"".join(field(4, field(1, key) + field(2, value))
                        for key, value in (("w", "w_next"), ("steps", "steps_next")))
    model = onnx_model([("MatMul", "predict", ["x", "w"], ["y"])], [("x", [2, 2])], [("y", [2, 1])],
                       [tensor("w", [2, 1], [0.0, 0.0])])
    path = test.folder / "training.onnx"
    path.write_bytes(model + field(20, field(2, graph[at:at + size]) + bindings))
    test.compile(path, "--training")
    plan = test.inspect()
    test.expect("the states", [state["name"] for state in plan["states"]], ["w", "steps"])
    test.expect("the copies", test.commands("copy"), [])
    test.expect("first values", [state["initial"] is not None for state in plan["states"]], [True, True])
    x, t = [1.0, 2.0, 3.0, 4.0], [5.0, 11.0]
    for variant in VARIANTS:
        w = [0.0, 0.0]
        for step in range(3):
            outputs = test.run(variant, [test.write("x.npy", x, (2, 2)), test.write("t.npy", t, (2, 1))],
                               first=step == 0)
            y = [x[0] * w[0] + x[1] * w[1], x[2] * w[0] + x[3] * w[1]]
            error = [y[0] - t[0], y[1] - t[1]]
            gradient = [x[0] * error[0] + x[2] * error[1], x[1] * error[0] + x[3] * error[1]]
            w = [w[0] - rate * gradient[0], w[1] - rate * gradient[1]]
            test.expect(f"{variant}: step {step}", outputs, [y, w, [step + 1.0]])
    test.compile(path)  # Without --training, the model is for inference.
    test.expect("the states", test.inspect()["states"], [])


def refusals(test):
    model = test.model(PLAIN)

    def refused(reason, *arguments):
        test.refuse(reason, "compile", model, "-o", test.folder / "wrong.gantry", *arguments)

    refused("state 'w': the model has no such input or initializer; its inputs are 'arg0', 'arg1'", "--state",
            "w=result0")
    refused("the model has no output 'y'; its outputs are 'result0', 'result1'", "--state", "arg0=y")
    refused("state 'arg0': it has an output already", "--state", "arg0=result0", "--state", "arg0=result1")
    refused("the states 'arg0' and 'arg1' have the same output", "--state", "arg0=result0", "--state", "arg1=result0")
    refused("input 'arg0' is a state, so it cannot be donated too", "--state", "arg0=result0", "--donate", "arg0")
    refused("a training step is a part of .onnx models", "--training")
    model = test.model("func.func @main(%w: tensor<2xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {\n"
                       "  %0 = arith.negf %x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}\n")
    refused("the input is tensor<2xf32>, but the output 'result0' is tensor<3xf32>", "--state", "arg0=result0")
    test.compile(model)
    test.refuse("the model has no states", "run", test.artifact(), "--random", "1", "--state-out", test.folder / "s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gantry", required=True)
    test = StateTest(parser.parse_args().gantry)
    test.check("iree.abi.output", updates, test, IREE)
    test.check("tf.aliasing_output", updates, test, TENSORFLOW)
    test.check("--state", updates, test, PLAIN, "--state", "arg0=result1")
    test.check("an update before a reader", updates, test, EARLY)
    test.check("an update before a reader, in the model's order", kept_order, test)
    test.check("fifty parameters with momenta", fifty, test)
    test.check("initializers", initializers, test)
    test.check("iree.abi.consume", consumed, test)
    test.check("states that change places", swapped, test)
    test.check("a cache that grows", cache, test)
    test.check("a decoder with heads", decoder, test)
    test.check("programs that share a cache", shared_orders, test)
    test.check("rows at positions", positions, test)
    test.check("--state with a star", patterns, test)
    test.check("training_info", training, test)
    test.check("refusals", refusals, test)
    test.finish()


if __name__ == "__main__":
    sys.exit(main())
