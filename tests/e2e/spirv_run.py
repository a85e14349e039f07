"""Kernel: runs a kernel's SPIR-V (spirv_module.Module) on the host, invocation by invocation.

Each invocation is a Python generator that is compiled from the module's blocks. It yields where invocations
synchronize: at barriers and at instructions on cooperative matrices. All invocations of a subgroup must reach such an
instruction together, with equal operands. f32 numbers are Python floats and are not rounded; tests use small integers,
whose sums are exact. Every instruction rounds f16 results.

Undefined behaviour raises Wrong: accesses outside of a buffer or of shared memory, reads of shared memory that was
never written, and data races (accesses of different invocations to one word of shared memory, one of them a write,
without a barrier between them that both pass). An element of a buffer must be written by one invocation only.
Standard library only.
"""
import struct

MASK = 0xFFFFFFFF
WORKGROUP_X = 32768  # Max number of workgroups along x; further workgroups continue along y.


class Wrong(Exception):
    pass


def half(value):
    """Returns the nearest f16."""
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def signed(value):
    return value - (1 << 32) if value & 0x80000000 else value


def bits(value, kind):
    """Returns the value as bytes. kind: a format of the module struct, such as "f", or "4f" for a vector of four."""
    return struct.pack("<" + kind, *value) if isinstance(value, list) else struct.pack("<" + kind, value)


def unbits(data, kind):
    found = struct.unpack("<" + kind, data)
    return list(found) if kind[0].isdigit() else found[0]


class Buffer:
    """A tensor: a list of numbers, and whether they are f16. `written` maps written indices to their invocations."""

    def __init__(self, values, is_half=True):
        self.values, self.is_half, self.written = list(values), is_half, {}

    def load(self, at, count, _):
        if at + max(count, 1) > len(self.values):
            raise Wrong(f"element {at} is read, beyond a buffer of {len(self.values)} elements")
        return self.values[at] if count == 0 else self.values[at:at + count]

    def store(self, at, value, lane):
        items = value if isinstance(value, list) else [value]
        if at + len(items) > len(self.values):
            raise Wrong(f"element {at} is written, beyond a buffer of {len(self.values)} elements")
        for i, item in enumerate(items):
            if self.written.setdefault(at + i, lane) != lane:
                raise Wrong(f"element {at + i} is written by two invocations")
            self.values[at + i] = half(item) if self.is_half else item


class Shared:
    """A workgroup's shared memory in words.

    Each access is recorded with a stamp: its invocation, subgroup, and the number of barriers passed so far by the
    workgroup and by the subgroup."""

    def __init__(self, size):
        self.words = [None] * size
        self.writers, self.readers = [None] * size, [[] for _ in range(size)]
        self.epoch, self.subgroup_epochs = 0, {}

    def stamp(self, lane, subgroup):
        return (lane, subgroup, self.epoch, self.subgroup_epochs.get(subgroup, 0))

    @staticmethod
    def ordered(first, second):
        return (first[0] == second[0] or first[2] != second[2] or
                (first[1] == second[1] and first[3] != second[3]))

    def load(self, at, count, lane):
        if count:
            return [self.load(at + i, 0, lane) for i in range(count)]
        if at >= len(self.words) or self.words[at] is None:
            raise Wrong(f"word {at} of shared memory is read and was never written")
        if not self.ordered(self.writers[at], lane):
            raise Wrong(f"word {at} of shared memory: read by {lane}, written by {self.writers[at]}, no barrier between")
        if not self.readers[at] or self.readers[at][-1] != lane:
            self.readers[at].append(lane)
        return self.words[at]

    def store(self, at, value, lane):
        if isinstance(value, list):
            for i, word in enumerate(value):
                self.store(at + i, word, lane)
            return
        if at >= len(self.words):
            raise Wrong(f"word {at} is written, beyond shared memory of {len(self.words)} words")
        for other in self.readers[at] + ([self.writers[at]] if self.writers[at] else []):
            if not self.ordered(other, lane):
                raise Wrong(f"word {at} of shared memory: written by {lane}, used by {other}, no barrier between")
        self.words[at], self.writers[at], self.readers[at] = value, lane, []


class Kernel:
    """A module that is ready to run."""

    def __init__(self, module):
        self.module = module
        self.pool = next((op.result for op in module.all("Variable") if op.words[0] == 4), None)
        self.bindings = {name: words[0] for name, words in module.decorations(33).items()}
        self.builtins = {name: words[0] for name, words in module.decorations(11).items()}
        self.counts = {}
        source = self._source()
        scope = {"half": half, "signed": signed, "bits": bits, "unbits": unbits,
                 "inf": float("inf"), "nan": float("nan")}
        exec(compile(source, "kernel", "exec"), scope)  # _source() generated the source.
        self.body = scope["kernel"]

    # ---- translation ---------------------------------------------------------------------------------------

    def _count(self, type_id):
        op = self.module.op(type_id)
        return op.words[1] if op.name == "TypeVector" else 0

    def _kind(self, type_id):
        op = self.module.op(type_id)
        if op.name == "TypeVector":
            return f"{op.words[1]}{self._kind(op.words[0])}"
        return {("TypeInt", 32): "I", ("TypeFloat", 32): "f", ("TypeFloat", 16): "e"}[op.name, op.words[0]]

    def _source(self):
        lines = ["def kernel(env):"]
        for op in self.module.instructions:
            if op.name == "Constant":
                value = op.words[0]
                if self.module.op(op.type).name == "TypeFloat":
                    kind = self._kind(op.type)
                    value = unbits(struct.pack("<I", value)[:2 if kind == "e" else 4], kind)
                lines.append(f"  v{op.result} = {value!r}")
            elif op.name == "ConstantComposite":
                lines.append(f"  v{op.result} = [{', '.join(f'v{word}' for word in op.words)}]")
            elif op.name in ("ConstantTrue", "ConstantFalse"):
                lines.append(f"  v{op.result} = {op.name == 'ConstantTrue'}")
            elif op.name == "ConstantNull":
                lines.append(f"  v{op.result} = {[0] * self._count(op.type) or 0}")
            elif op.name == "Variable":
                lines.append(f"  v{op.result} = env.variable({op.result})")
        lines += [f"  block = {self.module.entry}", "  while True:"]
        for label, block in self.module.blocks.items():
            lines.append(f"    {'if' if label == self.module.entry else 'elif'} block == {label}:")
            for op in block:
                if op.name == "Variable":
                    lines.append(f"      v{op.result} = [None]")
                elif op.name not in ("Phi", "LoopMerge", "SelectionMerge"):
                    lines += [f"      {line}" for line in self._translate(op, label)]
        return "\n".join(lines)

    def _go(self, origin, target):
        phis = [op for op in self.module.blocks[target] if op.name == "Phi"]
        moves = [f"v{dict(zip(op.words[1::2], op.words[::2]))[origin]}" for op in phis]
        lines = [f"{', '.join(f'v{op.result}' for op in phis)} = {', '.join(moves)}"] if phis else []
        return "; ".join(lines + [f"block = {target}"])

    def _translate(self, op, label):
        v = [f"v{word}" for word in op.words]
        name, out = op.name, f"v{op.result} = "
        if name == "Return":
            return ["return"]
        if name == "Branch":
            return [self._go(label, op.words[0])]
        if name == "BranchConditional":
            return [f"if {v[0]}: {self._go(label, op.words[1])}", f"else: {self._go(label, op.words[2])}"]
        if name == "ControlBarrier":
            return [f"yield ('barrier', {v[0]})"]
        if name == "CooperativeMatrixLoadKHR":
            return [f"{out}yield ('load', {op.type}, {v[0]}, {v[1]}, {v[2]})"]
        if name == "CooperativeMatrixStoreKHR":
            return [f"yield ('store', {v[0]}, {v[1]}, {v[2]}, {v[3]})"]
        if name == "CooperativeMatrixMulAddKHR":
            return [f"{out}yield ('multiply', {op.type}, {v[0]}, {v[1]}, {v[2]})"]
        if name == "Load":
            return [self._load(op, v, out)]
        if name == "Store":
            if self.module.pointee(op.words[0])[0] == 7:
                return [f"{v[0]}[0] = {v[1]}"]
            return [f"{v[0]}[0].store({v[0]}[1], {v[1]}, env.stamp())"]
        return [out + self._expression(op, v)]

    def _load(self, op, v, out):
        storage, pointed = self.module.pointee(op.words[0])
        if storage == 7:
            return f"{out}{v[0]}[0]"
        if storage in (1, 9):  # Built-in variables, and the block of push constants.
            return f"{out}env.input({v[0]})"
        return f"{out}{v[0]}[0].load({v[0]}[1], {self._count(pointed)}, env.stamp())"

    def _expression(self, op, v):
        name = op.name
        if name == "AccessChain":
            width = self._count(self.module.pointee(op.result)[1]) or 1
            if self.module.op(op.type).words[0] == 9:
                return f"({v[0]}, {v[1]})"
            if self.module.constant(op.words[1]) != 0 or len(v) != 3:
                raise Wrong("an access to something other than a buffer's elements")
            return f"({v[0]}, {v[2]} * {width}, {width})"
        if name == "ConvertUToPtr":
            return v[0]
        if name == "Undef":
            return "None"
        if name in ("IAdd", "ISub", "IMul"):
            return f"({v[0]} {dict(IAdd='+', ISub='-', IMul='*')[name]} {v[1]}) & {MASK}"
        if name in ("BitwiseOr", "BitwiseXor", "BitwiseAnd", "ShiftLeftLogical", "ShiftRightLogical"):
            sign = dict(BitwiseOr="|", BitwiseXor="^", BitwiseAnd="&", ShiftLeftLogical="<<", ShiftRightLogical=">>")
            return f"({v[0]} {sign[name]} {v[1]}) & {MASK}"
        if name == "Not":
            return f"~{v[0]} & {MASK}"
        if name in ("UDiv", "UMod"):
            return f"{v[0]} {'//' if name == 'UDiv' else '%'} {v[1]}"
        if name in ("FAdd", "FSub", "FMul", "FDiv"):
            text = f"{v[0]} {dict(FAdd='+', FSub='-', FMul='*', FDiv='/')[name]} {v[1]}"
            return f"half({text})" if self._kind(op.type) == "e" else text
        if name in ("LogicalAnd", "LogicalOr"):
            return f"{v[0]} {name[7:].lower()} {v[1]}"
        if name == "LogicalNot":
            return f"not {v[0]}"
        if name == "FNegate":
            return f"-{v[0]}"
        if name == "IsNan":
            return f"{v[0]} != {v[0]}"
        if name == "Select":
            return f"{v[1]} if {v[0]} else {v[2]}"
        if name in ("IEqual", "INotEqual"):
            return f"{v[0]} {'==' if name == 'IEqual' else '!='} {v[1]}"
        for ending, sign in (("GreaterThanEqual", ">="), ("LessThanEqual", "<="), ("GreaterThan", ">"),
                             ("LessThan", "<")):
            if name.endswith(ending) and "Unord" not in name:
                a, b = (f"signed({x})" for x in v) if name[0] == "S" else v
                return f"{a} {sign} {b}"
        if name == "FConvert":
            return f"half({v[0]})" if self._kind(op.type) == "e" else v[0]
        if name == "Bitcast":
            source = self._kind(self.module.type_of(op.words[0]))
            return f"unbits(bits({v[0]}, {source!r}), {self._kind(op.type)!r})"
        if name == "CompositeExtract":
            return f"{v[0]}[{op.words[1]}]"
        if name == "CompositeInsert":
            return f"{v[1]}[:{op.words[2]}] + [{v[0]}] + {v[1]}[{op.words[2] + 1}:]"
        if name == "CompositeConstruct":
            if self.module.op(op.type).name == "TypeCooperativeMatrixKHR":
                return f"env.filled({op.type}, {v[0]})"
            return f"[{', '.join(v)}]"
        if name == "ExtInst":  # An instruction of GLSL.std.450.
            chosen = {37: "min", 38: "min", 40: "max", 41: "max"}.get(op.words[1])
            if chosen:
                return f"{chosen}({', '.join(v[2:])})"
        raise Wrong(f"Op{name} is not supported here")

    # ---- running -------------------------------------------------------------------------------------------

    def run(self, buffers, subgroup_size, workgroups, dims=()):
        """Runs all workgroups. buffers are in the order of the bindings; the kernel writes the last one. `counts`
        receives the number of barriers and of matrix instructions of each kind."""
        self.counts = {}
        addresses = "PhysicalStorageBufferAddresses" in self.module.capabilities
        self.block = (list(buffers) if addresses else []) + list(dims)
        for group in range(workgroups):
            Workgroup(self, buffers, subgroup_size, group).run()


class Invocation:
    def __init__(self, workgroup, subgroup, lane):
        self.workgroup, self.subgroup, self.lane = workgroup, subgroup, lane
        self.index = (workgroup.number, subgroup, lane)

    def stamp(self):
        return self.workgroup.shared.stamp(self.index, self.subgroup)

    def variable(self, name):
        kernel, workgroup = self.workgroup.kernel, self.workgroup
        if name in kernel.bindings:
            return workgroup.buffers[kernel.bindings[name]]
        if name == kernel.pool:
            return workgroup.shared
        return kernel.builtins.get(name, "block")

    def input(self, pointer):
        if isinstance(pointer, tuple):  # A member of the push constants: the address of a buffer, or a dim.
            return self.workgroup.kernel.block[pointer[1]]
        number = self.workgroup.number
        return {26: [number % WORKGROUP_X, number // WORKGROUP_X, 0], 40: self.subgroup, 41: self.lane}[pointer]

    def filled(self, type_id, value):
        return self.workgroup.filled(type_id, value)


class Workgroup:
    def __init__(self, kernel, buffers, subgroup_size, number):
        self.kernel, self.buffers, self.number = kernel, buffers, number
        module = kernel.module
        size = module.workgroup_size()
        if size % subgroup_size:
            raise Wrong(f"{size} invocations do not fill subgroups of {subgroup_size}")
        self.shared = Shared(module.shared_bytes() // 4)
        self.constants = {}
        self.subgroups = [[kernel.body(Invocation(self, subgroup, lane)) for lane in range(subgroup_size)]
                          for subgroup in range(size // subgroup_size)]

    def filled(self, type_id, value):
        _, _, rows, columns, _ = self.kernel.module.matrix(type_id)
        return self.constants.setdefault((type_id, value), [[value] * columns for _ in range(rows)])

    def run(self):
        answers = [None] * len(self.subgroups)
        waiting = set(range(len(self.subgroups)))
        while waiting:
            met = {subgroup: self._advance(subgroup, answers) for subgroup in sorted(waiting)}
            waiting = {subgroup for subgroup, more in met.items() if more}
            if waiting and len(waiting) != len(self.subgroups):
                raise Wrong("a barrier that not all subgroups reach")
            self.shared.epoch += 1

    def _advance(self, subgroup, answers):
        """Runs the subgroup to the next barrier of the workgroup; returns false if it reaches the end instead."""
        while True:
            requests = [self._resume(lane, answers[subgroup]) for lane in self.subgroups[subgroup]]
            first = requests[0]
            if any(request is not first and request != first for request in requests):
                raise Wrong(f"the invocations of subgroup {subgroup} do not reach one instruction with equal operands: "
                            f"{first} and others")
            answers[subgroup] = None
            if first is None:
                return False
            self.kernel.counts[first[0]] = self.kernel.counts.get(first[0], 0) + 1
            if first == ("barrier", 2):
                return True
            if first[0] == "barrier":
                self.shared.subgroup_epochs[subgroup] = self.shared.subgroup_epochs.get(subgroup, 0) + 1
            else:
                answers[subgroup] = getattr(self, "_" + first[0])(subgroup, *first[1:])

    @staticmethod
    def _resume(lane, answer):
        try:
            return lane.send(answer)
        except StopIteration:
            return None

    def _places(self, pointer, stride, columns, count, length, width):
        """Yields row, column, word, and part of the word for each element. The stride is in
        elements of the pointee type."""
        memory, at, size = pointer
        stride *= size
        per_word = 32 // width
        row_bytes = (count if columns else length) * width // 8
        if memory is not self.shared or at * 4 % min(16, row_bytes):
            raise Wrong(f"a matrix at word {at} is not in shared memory or not aligned")
        for i in range(count):
            for j in range(length):
                outer, inner = (j, i) if columns else (i, j)
                yield i, j, at + outer * stride + inner // per_word, inner % per_word

    def _load(self, subgroup, type_id, pointer, layout, stride):
        width, _, rows, columns, _ = self.kernel.module.matrix(type_id)
        stamp = self.shared.stamp(("subgroup", subgroup), subgroup)
        matrix = [[None] * columns for _ in range(rows)]
        for i, j, word, part in self._places(pointer, stride, layout == 1, rows, columns, width):
            found = struct.pack("<I", self.shared.load(word, 0, stamp))
            matrix[i][j] = unbits(found, "2e")[part] if width == 16 else unbits(found, "f")
        return matrix

    def _store(self, subgroup, pointer, matrix, layout, stride):
        stamp = self.shared.stamp(("subgroup", subgroup), subgroup)
        for i, j, word, _ in self._places(pointer, stride, layout == 1, len(matrix), len(matrix[0]), 32):
            self.shared.store(word, unbits(bits(matrix[i][j], "f"), "I"), stamp)

    def _multiply(self, _, type_id, a, b, c):
        columns = list(zip(*b))
        return [[total + sum(x * y for x, y in zip(row, column)) for total, column in zip(totals, columns)]
                for totals, row in zip(c, a)]
