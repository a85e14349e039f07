"""Module: reads and validates SPIR-V kernels with cooperative matrices.

Debian's SPIRV-Tools reject cooperative matrices (SPV_KHR_cooperative_matrix), so this module validates the kernels
that use them. `Module` reads the words and checks ids and their scopes, types, blocks, capabilities, and the rules of
the extension and of Vulkan for matrices. It knows only the instructions that Gantry generates. spirv_run.py runs the
modules. Standard library only.
"""
import struct

MAGIC, VERSION, HEADER = 0x07230203, 0x10500, 5
CAPABILITIES = {1: "Shader", 9: "Float16", 11: "Int64", 22: "Int16", 39: "Int8", 61: "GroupNonUniform",
                4433: "StorageBuffer16BitAccess", 5345: "VulkanMemoryModel",
                5347: "PhysicalStorageBufferAddresses", 6022: "CooperativeMatrixKHR"}
VULKAN_MEMORY_MODEL, NON_PRIVATE, SUBGROUP_SCOPE = 3, 0x20, 3
WORKGROUP = 4  # The storage class.
AVAILABLE_AND_VISIBLE = 0x2000 | 0x4000
TERMINATORS = {249, 250, 253}

# For each opcode: its name, whether it has a type (t) and a result (r), and its operands. i: an id; l: a literal word;
# o: optional literals; I: ids to the end; L: literals to the end; s: a string and then ids; B: pairs of ids.
GRAMMAR = {
    1: ("Undef", "tr", ""), 5: ("Name", "", "iL"), 10: ("Extension", "", "L"), 11: ("ExtInstImport", "r", "L"),
    12: ("ExtInst", "tr", "ilI"), 14: ("MemoryModel", "", "ll"), 15: ("EntryPoint", "", "lis"),
    16: ("ExecutionMode", "", "iL"), 17: ("Capability", "", "l"), 19: ("TypeVoid", "r", ""),
    20: ("TypeBool", "r", ""), 21: ("TypeInt", "r", "ll"), 22: ("TypeFloat", "r", "l"), 23: ("TypeVector", "r", "il"),
    28: ("TypeArray", "r", "ii"), 29: ("TypeRuntimeArray", "r", "i"), 30: ("TypeStruct", "r", "I"),
    32: ("TypePointer", "r", "li"), 33: ("TypeFunction", "r", "I"), 41: ("ConstantTrue", "tr", ""),
    42: ("ConstantFalse", "tr", ""), 43: ("Constant", "tr", "L"), 44: ("ConstantComposite", "tr", "I"),
    46: ("ConstantNull", "tr", ""), 54: ("Function", "tr", "li"), 56: ("FunctionEnd", "", ""),
    59: ("Variable", "tr", "lI"), 61: ("Load", "tr", "io"), 62: ("Store", "", "iio"), 65: ("AccessChain", "tr", "iI"),
    71: ("Decorate", "", "iL"), 72: ("MemberDecorate", "", "iL"), 80: ("CompositeConstruct", "tr", "I"),
    81: ("CompositeExtract", "tr", "iL"), 82: ("CompositeInsert", "tr", "iiL"), 113: ("UConvert", "tr", "i"),
    114: ("SConvert", "tr", "i"), 115: ("FConvert", "tr", "i"), 120: ("ConvertUToPtr", "tr", "i"),
    124: ("Bitcast", "tr", "i"), 126: ("SNegate", "tr", "i"), 127: ("FNegate", "tr", "i"), 128: ("IAdd", "tr", "ii"),
    129: ("FAdd", "tr", "ii"), 130: ("ISub", "tr", "ii"), 131: ("FSub", "tr", "ii"), 132: ("IMul", "tr", "ii"),
    133: ("FMul", "tr", "ii"), 134: ("UDiv", "tr", "ii"), 136: ("FDiv", "tr", "ii"), 137: ("UMod", "tr", "ii"),
    156: ("IsNan", "tr", "i"), 166: ("LogicalOr", "tr", "ii"), 167: ("LogicalAnd", "tr", "ii"),
    168: ("LogicalNot", "tr", "i"), 169: ("Select", "tr", "iii"), 170: ("IEqual", "tr", "ii"),
    171: ("INotEqual", "tr", "ii"), 172: ("UGreaterThan", "tr", "ii"), 173: ("SGreaterThan", "tr", "ii"),
    174: ("UGreaterThanEqual", "tr", "ii"), 175: ("SGreaterThanEqual", "tr", "ii"), 176: ("ULessThan", "tr", "ii"),
    177: ("SLessThan", "tr", "ii"), 178: ("ULessThanEqual", "tr", "ii"), 179: ("SLessThanEqual", "tr", "ii"),
    **{180 + i: (f"F{'Unord' if i % 2 else 'Ord'}{name}", "tr", "ii") for i, name in enumerate(
        name for kind in ("Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual")
        for name in (kind, kind))},
    109: ("ConvertFToU", "tr", "i"), 110: ("ConvertFToS", "tr", "i"), 111: ("ConvertSToF", "tr", "i"),
    112: ("ConvertUToF", "tr", "i"), 135: ("SDiv", "tr", "ii"), 138: ("SRem", "tr", "ii"), 139: ("SMod", "tr", "ii"),
    140: ("FRem", "tr", "ii"), 141: ("FMod", "tr", "ii"), 151: ("UMulExtended", "tr", "ii"), 157: ("IsInf", "tr", "i"),
    164: ("LogicalEqual", "tr", "ii"), 165: ("LogicalNotEqual", "tr", "ii"),
    194: ("ShiftRightLogical", "tr", "ii"), 195: ("ShiftRightArithmetic", "tr", "ii"),
    196: ("ShiftLeftLogical", "tr", "ii"), 197: ("BitwiseOr", "tr", "ii"), 198: ("BitwiseXor", "tr", "ii"),
    199: ("BitwiseAnd", "tr", "ii"), 200: ("Not", "tr", "i"),
    224: ("ControlBarrier", "", "iii"),
    245: ("Phi", "tr", "B"), 246: ("LoopMerge", "", "iil"), 247: ("SelectionMerge", "", "il"), 248: ("Label", "r", ""),
    249: ("Branch", "", "i"), 250: ("BranchConditional", "", "iiiL"), 253: ("Return", "", ""),
    4456: ("TypeCooperativeMatrixKHR", "r", "iiiii"), 4457: ("CooperativeMatrixLoadKHR", "tr", "iiio"),
    4458: ("CooperativeMatrixStoreKHR", "", "iiiio"), 4459: ("CooperativeMatrixMulAddKHR", "tr", "iiio"),
}
SAME_TYPES = {126, 127, 128, 129, 130, 131, 132, 133, 134, 136, 137, 166, 167, 168,
              197, 198, 199, 200}  # The types of the operands and of the result are equal.
COMPARISONS = set(range(170, 192))


class Invalid(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Invalid(text)


class Instruction:
    def __init__(self, words):
        code = words[0] & 0xFFFF
        require(code in GRAMMAR, f"opcode {code} is not known here")
        self.code = code
        self.name, head, pattern = GRAMMAR[code]
        rest = list(words[1:])
        self.type = rest.pop(0) if "t" in head else None
        self.result = rest.pop(0) if "r" in head else None
        self.words = rest
        self.ids = self._ids(pattern)

    def _ids(self, pattern):
        ids, at = [], 0
        for kind in pattern:
            if kind == "i":
                ids.append(self.words[at])
            elif kind in "IB":
                return ids + self.words[at:]
            elif kind in "Lo":
                return ids
            elif kind == "s":  # A string ends with the first word whose last byte is zero.
                while self.words[at] >> 24:
                    at += 1
                return ids + self.words[at + 1:]
            at += 1
        require(at == len(self.words), f"Op{self.name} has {len(self.words)} operands")
        return ids


def text_of(words):
    return struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode()


class Module:
    """A kernel's module. The constructor raises Invalid if it is not valid for Vulkan 1.2 with the extension."""

    def __init__(self, data):
        require(len(data) % 4 == 0 and len(data) >= 4 * HEADER,
                "the file is shorter than a SPIR-V header or no multiple of 4 bytes")
        words = struct.unpack(f"<{len(data) // 4}I", data)
        require(words[0] == MAGIC and words[1] == VERSION, f"not SPIR-V 1.5: magic {words[0]:#x}, version {words[1]:#x}")
        self.bound, self.instructions, self.offsets, at = words[3], [], [], HEADER
        while at < len(words):
            length = words[at] >> 16
            require(length > 0 and at + length <= len(words),
                    f"the instruction at word {at} has {length} words, which do not fit the module")
            self.instructions.append(Instruction(words[at:at + length]))
            self.offsets.append(at)
            at += length
        self.definitions = {}
        for op in self.instructions:
            if op.result is not None:
                require(0 < op.result < self.bound and op.result not in self.definitions,
                        f"id {op.result} is beyond the bound or defined twice")
                self.definitions[op.result] = op
        self._read_blocks()
        self._check_ids()
        self._check_types()
        self._check_environment()

    # ---- properties of ids ---------------------------------------------------------------------------------

    def all(self, name):
        return [op for op in self.instructions if op.name == name]

    def places(self, name):
        """Returns the positions of the instructions with this name, in words from the start of the module."""
        return [at for at, op in zip(self.offsets, self.instructions) if op.name == name]

    def op(self, identifier):
        require(identifier in self.definitions, f"id {identifier} is not defined")
        return self.definitions[identifier]

    def type_of(self, identifier):
        return self.op(identifier).type

    def constant(self, identifier):
        op = self.op(identifier)
        require(op.name == "Constant", f"id {identifier} is no constant")
        return op.words[0]

    def pointee(self, pointer):
        """Returns the storage class and the pointee type of a pointer value."""
        op = self.op(self.type_of(pointer))
        require(op.name == "TypePointer", f"id {pointer} is no pointer")
        return op.words

    def matrix(self, type_id):
        """Returns component width, scope, rows, columns and use of a cooperative matrix type."""
        op = self.op(type_id)
        require(op.name == "TypeCooperativeMatrixKHR", f"type {type_id} is no cooperative matrix")
        component = self.op(op.words[0])
        require(component.name == "TypeFloat", "a cooperative matrix whose elements are no floats")
        return (component.words[0], *(self.constant(word) for word in op.words[1:]))

    def bytes_of(self, type_id):
        op = self.op(type_id)
        if op.name in ("TypeInt", "TypeFloat"):
            return op.words[0] // 8
        if op.name == "TypeVector":
            return self.bytes_of(op.words[0]) * op.words[1]
        if op.name == "TypeArray":
            return self.bytes_of(op.words[0]) * self.constant(op.words[1])
        require(op.name == "TypeStruct", f"Op{op.name} has no size")
        return sum(self.bytes_of(word) for word in op.words)

    def shared_bytes(self):
        return sum(self.bytes_of(self.pointee(op.result)[1]) for op in self.all("Variable") if op.words[0] == WORKGROUP)

    def decorations(self, decoration):
        return {op.words[0]: op.words[2:] for op in self.all("Decorate") if op.words[1] == decoration}

    def workgroup_size(self):
        modes = [op.words[2:] for op in self.all("ExecutionMode") if op.words[1] == 17]
        require(len(modes) == 1, f"{len(modes)} workgroup sizes (LocalSize), expected 1")
        return modes[0][0] * modes[0][1] * modes[0][2]

    # ---- the function --------------------------------------------------------------------------------------

    def _read_blocks(self):
        """Reads the blocks into a dict from labels to lists of instructions, and checks their form.

        `entry` is the label of the function's first block."""
        self.blocks, self.entry, current = {}, None, None
        functions = self.all("Function")
        require(len(functions) == 1 and len(self.all("FunctionEnd")) == 1, "the module must have exactly one function")
        for op in self.instructions[self.instructions.index(functions[0]) + 1:]:
            if op.name == "Label":
                require(current is None, "a block without an end")
                current = self.blocks.setdefault(op.result, [])
                self.entry = self.entry or op.result
            elif op.name != "FunctionEnd":
                require(current is not None, f"Op{op.name} outside of a block")
                current.append(op)
                if op.code in TERMINATORS:
                    current = None
        require(current is None, "a block without an end")
        for label, block in self.blocks.items():
            kinds = [op.name for op in block]
            merges = [i for i, kind in enumerate(kinds) if kind.endswith("Merge")]
            require(merges in ([], [len(block) - 2]), f"block {label}: a merge is not right before the branch")
            require(kinds[-1] != "BranchConditional" or merges, f"block {label} has a conditional branch without a merge")
            others = [i for i, kind in enumerate(kinds) if kind != "Phi"]
            require(all(i < others[0] for i, kind in enumerate(kinds) if kind == "Phi"),
                    f"block {label}: a phi is not at the start")
            for target in self.successors(label):
                require(target in self.blocks and target != self.entry,
                        f"block {label} branches to {target}, which is no block or the first one")

    def successors(self, label):
        last = self.blocks[label][-1]
        return [] if last.name == "Return" else last.words[:1] if last.name == "Branch" else last.words[1:3]

    def _dominators(self):
        labels = list(self.blocks)
        before = {label: [p for p in labels if label in self.successors(p)] for label in labels}
        dominators = {label: set(labels) for label in labels}
        dominators[self.entry] = {self.entry}
        changed = True
        while changed:
            changed = False
            for label in labels[1:]:
                sets = [dominators[p] for p in before[label]]
                found = {label} | (set.intersection(*sets) if sets else set())
                if found != dominators[label]:
                    dominators[label], changed = found, True
        return dominators, before

    def _check_ids(self):
        dominators, before = self._dominators()
        place = {op.result: (label, i) for label, block in self.blocks.items() for i, op in enumerate(block)}
        globals_ = set(self.definitions) - set(place) - set(self.blocks)

        def visible(identifier, label, position):
            if identifier in globals_:
                return True
            at, i = place.get(identifier, (None, 0))
            return at in dominators[label] and (at != label or i < position)

        for label, block in self.blocks.items():
            for i, op in enumerate(block):
                if op.name == "Phi":
                    pairs = list(zip(op.words[::2], op.words[1::2]))
                    require(sorted(p for _, p in pairs) == sorted(before[label]),
                            f"phi {op.result} does not list the predecessors of its block")
                    for value, origin in pairs:
                        require(visible(value, origin, len(self.blocks[origin])),
                                f"phi {op.result} takes {value}, which is not visible in block {origin}")
                elif op.code not in TERMINATORS and not op.name.endswith("Merge"):
                    for identifier in op.ids:
                        require(visible(identifier, label, i), f"Op{op.name} uses {identifier}, which is not visible")
        for op in self.instructions:
            for identifier in op.ids + ([op.type] if op.type else []):
                self.op(identifier)

    # ---- types -----------------------------------------------------------------------------------------

    def _check_types(self):
        for op in (op for block in self.blocks.values() for op in block):
            types = [self.op(identifier).type for identifier in op.ids]
            where = f"Op{op.name} {op.result or op.words}"
            if op.code in SAME_TYPES:
                require(all(t == op.type for t in types), f"{where}: operand types {types}, expected {op.type}")
            elif op.code in COMPARISONS:
                require(types[0] == types[1] and self.op(op.type).name == "TypeBool",
                        f"{where}: compares the types {types}, or the result is no bool")
            elif op.name == "Select":
                require(types[1:] == [op.type] * 2, f"{where}: operand types {types[1:]}, expected {op.type}")
            elif op.name == "Phi":
                require(all(t == op.type for t in types[::2]), f"{where}: operand types {types[::2]}, expected {op.type}")
            elif op.name == "Load":
                require(self.pointee(op.words[0])[1] == op.type, f"{where}: the pointer has another pointee type")
            elif op.name == "Store":
                require(self.pointee(op.words[0])[1] == types[1], f"{where}: the pointer has another pointee type")
            elif op.name == "Bitcast":
                require(self.bytes_of(op.type) == self.bytes_of(types[0]), f"{where}: the two types have different sizes")
            elif op.name == "CooperativeMatrixMulAddKHR":
                a, b, c = (self.matrix(t) for t in types)
                require(types[2] == op.type, f"{where}: the sum has another type")
                require((a[0], b[0], c[0]) == (16, 16, 32), f"{where}: components of {a[0]}, {b[0]}, {c[0]} bits")
                require((a[4], b[4], c[4]) == (0, 1, 2), f"{where}: uses {a[4]}, {b[4]}, {c[4]}, not 0, 1, 2")
                require({a[1], b[1], c[1]} == {SUBGROUP_SCOPE}, f"{where}: a scope is not the subgroup")
                require((a[2], b[3], a[3]) == (c[2], c[3], b[2]), f"{where}: {a[2:4]} by {b[2:4]} gives {c[2:4]}")
            elif op.name.startswith("CooperativeMatrix"):
                self._check_memory(op, where)

    def _check_memory(self, op, where):
        """Checks a load or store of a matrix: it accesses shared memory, and its stride is aligned
        (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986; spirv_run.py checks the address)."""
        is_load = op.name == "CooperativeMatrixLoadKHR"
        pointer, (layout, stride) = op.words[0], op.words[1:3] if is_load else op.words[2:4]
        width, _, rows, columns, _ = self.matrix(op.type if is_load else self.type_of(op.words[1]))
        storage, pointed = self.pointee(pointer)
        require(storage == WORKGROUP and self.op(pointer).name == "AccessChain", f"{where}: no element of shared memory")
        require(self.op(pointed).name in ("TypeInt", "TypeFloat", "TypeVector"), f"{where}: points to no scalar or vector")
        require(self.constant(layout) in (0, 1), f"{where}: layout {self.constant(layout)}")
        row = (columns, rows)[self.constant(layout)] * width // 8
        distance = self.constant(stride) * self.bytes_of(pointed)
        require(distance >= row and distance % min(16, row) == 0, f"{where}: a stride of {distance} bytes for rows of {row}")
        require(op.words[3 if is_load else 4:] == [NON_PRIVATE], f"{where}: lacks NonPrivatePointer")

    # ---- required features -----------------------------------------------------------------------------

    def _check_environment(self):
        self.capabilities = declared = {CAPABILITIES.get(op.words[0], op.words[0]) for op in self.all("Capability")}
        needed = {"Shader", "CooperativeMatrixKHR", "VulkanMemoryModel", "Float16"}
        require(needed <= declared <= set(CAPABILITIES.values()),
                f"missing or unknown capabilities: {sorted(map(str, declared))}")
        extensions = {text_of(op.words) for op in self.all("Extension")}
        require("SPV_KHR_cooperative_matrix" in extensions, f"extensions {sorted(extensions)}")
        addressing, memory = self.all("MemoryModel")[0].words
        require(memory == VULKAN_MEMORY_MODEL, f"memory model {memory}")
        require((addressing == 5348) == ("PhysicalStorageBufferAddresses" in declared),
                f"addressing model {addressing} does not agree with the capabilities")
        entry = self.all("EntryPoint")
        require(len(entry) == 1 and entry[0].words[0] == 5, "no compute kernel")
        variables = {op.result for op in self.all("Variable") if op.words[0] != 7}
        require(set(entry[0].ids[1:]) == variables, "the entry point does not list all variables")
        builtin = [words[0] for words in self.decorations(11).values()]
        require("GroupNonUniform" in declared or not {40, 41} & set(builtin), "subgroup built-ins without GroupNonUniform")
        for op in self.instructions:
            if op.name == "Load" and self.pointee(op.words[0])[0] == WORKGROUP:
                require(op.words[1:] == [NON_PRIVATE], f"load {op.result} of shared memory lacks NonPrivatePointer")
            elif op.name == "Store" and self.pointee(op.words[0])[0] == WORKGROUP:
                require(op.words[2:] == [NON_PRIVATE], "a store to shared memory lacks NonPrivatePointer")
            elif op.name == "ControlBarrier":
                semantics = self.constant(op.words[2])
                require(semantics & AVAILABLE_AND_VISIBLE == AVAILABLE_AND_VISIBLE,
                        "a barrier does not make writes available and visible")
