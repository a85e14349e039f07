// RUN: rm -rf %t && mkdir %t
// RUN: gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-native{folder=%t chips=sm_80,gfx1100,gfx90a}))' -o %t/after.mlir
// RUN: FileCheck %s --check-prefix=PTX < %t/exchange.sm_80.ptx
// RUN: FileCheck %s --check-prefix=RDNA < %t/exchange.gfx1100.s
// RUN: FileCheck %s --check-prefix=SHARED < %t/staged.sm_80.ptx
// RUN: FileCheck %s --check-prefix=LDS < %t/staged.gfx1100.s
// RUN: FileCheck %s --check-prefix=CDNA < %t/staged.gfx90a.s
// RUN: FileCheck %s --check-prefix=DOT < %t/dots.sm_80.ptx
// RUN: FileCheck %s --check-prefix=RDNA-DOT < %t/dots.gfx1100.s
// RUN: FileCheck %s --check-prefix=AFTER < %t/after.mlir
// RUN: not gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-native{folder=%t chips=sm_1}))' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not gantry-opt %s --pass-pipeline='builtin.module(builtin.module(emit-native{folder=%t chips=vulkan}))' 2>&1 | FileCheck %s --check-prefix=KIND

// CHIP: knows no chip 'sm_1'; it knows {{.*}}sm_80
// KIND: 'vulkan' is no native target; write sm_NN for an NVIDIA or gfxNNN for an AMD GPU

// Lanes exchange values among eight threads. The pass writes no assembly for the texel variant.
// PTX: .visible .entry exchange(
// PTX: .maxntid 8, 1, 1
// PTX: %tid.x
// PTX: ld.global.f32
// PTX: shfl.sync.bfly.b32 {{.*}}, 4, 31, 255;
// PTX: add.rn.f32
// PTX: shfl.sync.idx.b32
// PTX-NOT: exchange_texel
// RDNA: .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
// RDNA: global_load_b32
// RDNA: ds_bpermute_b32
// RDNA: .amdhsa_wavefront_size32 1

// The pool of shared memory is an aligned variable.
// SHARED: .maxntid 64, 1, 1
// SHARED: .shared .align 16 .b8 staged_shared[1024];
// SHARED: st.shared.f32
// SHARED: bar.sync
// SHARED: ld.shared
// LDS: ds_store_b32
// LDS: s_barrier
// LDS: ds_load_b
// LDS: .amdhsa_group_segment_fixed_size 1024
// CDNA: ds_write_b32

// A dot product of bytes becomes four multiplications.
// DOT: .visible .entry dots(
// DOT: ld.global.{{[bu]}}32
// DOT: mul.lo
// DOT-COUNT-3: mad.lo
// RDNA-DOT: .amdhsa_kernel dots

// The pass does not change the module.
// AFTER: func.func @exchange(
// AFTER: spirv.GroupNonUniformShuffleXor
// AFTER: func.func @exchange_texel(
// AFTER-NOT: llvm.func

module @exchange attributes {gantry.kernel = #gantry.kernel} {
  func.func @exchange(%x: memref<?xf32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[0]>},
                      %y: memref<?xf32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1]>},
                      %n: index {gantry.binding = #gantry.binding<dim[0]>}, %lane: index {gantry.binding = #gantry.binding<lane>})
      attributes {gantry.launch = #gantry.launch<buffers = 2, dims = 1, workgroup_size = 8>,
                  gantry.tile = #gantry.tile<kind = baseline, extents = [1], merged = 1, lanes = 8, text = "1", exact = "points=1 steps=-">} {
    %four = spirv.Constant 4 : i32
    %two = spirv.Constant 2 : i32
    %v = memref.load %x[%lane] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
    %o = spirv.GroupNonUniformShuffleXor <Subgroup> %v, %four : f32, i32
    %s = arith.addf %v, %o : f32
    %e = math.exp2 %s : f32
    %w = spirv.GroupNonUniformShuffle <Subgroup> %e, %two : f32, i32
    %inside = arith.cmpi ult, %lane, %n : index
    scf.if %inside {
      memref.store %w, %y[%lane] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
    }
    return
  }
  func.func @exchange_texel(%x: memref<?xf32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[0]>})
      attributes {gantry.launch = #gantry.launch<buffers = 1, workgroup_size = 8>,
                  gantry.tile = #gantry.tile<kind = texel, grid = 1, extents = [1], merged = 1, lanes = 8, text = "1", exact = "points=1 steps=-">} {
    return
  }
}

module @staged attributes {gantry.kernel = #gantry.kernel} {
  func.func @staged(%x: memref<?xf32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[0]>},
                    %y: memref<?xf32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1]>},
                    %group: index {gantry.binding = #gantry.binding<workgroup_x>}, %thread: index {gantry.binding = #gantry.binding<invocation>})
      attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %size = arith.constant 64 : index
    %none = arith.constant 0.0 : f32
    %pool = memref.alloc() : memref<256xf32, #spirv.storage_class<Workgroup>>
    %v = memref.load %x[%thread] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
    memref.store %v, %pool[%thread] : memref<256xf32, #spirv.storage_class<Workgroup>>
    spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
    %sum = scf.for %i = %zero to %size step %one iter_args(%a = %none) -> f32 {
      %p = memref.load %pool[%i] : memref<256xf32, #spirv.storage_class<Workgroup>>
      %b = arith.addf %a, %p : f32
      scf.yield %b : f32
    }
    %base = arith.muli %group, %size : index
    %at = arith.addi %base, %thread : index
    memref.store %sum, %y[%at] : memref<?xf32, #spirv.storage_class<StorageBuffer>>
    return
  }
}

module @dots attributes {gantry.kernel = #gantry.kernel} {
  func.func @dots(%x: memref<?xi32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[0]>},
                  %y: memref<?xi32, #spirv.storage_class<StorageBuffer>> {gantry.binding = #gantry.binding<buffer[1]>},
                  %thread: index {gantry.binding = #gantry.binding<invocation>})
      attributes {gantry.launch = #gantry.launch<buffers = 2, workgroup_size = 64>} {
    %v = memref.load %x[%thread] : memref<?xi32, #spirv.storage_class<StorageBuffer>>
    %w = memref.load %y[%thread] : memref<?xi32, #spirv.storage_class<StorageBuffer>>
    %d = spirv.SDot %v, %w, <PackedVectorFormat4x8Bit> : i32 -> i32
    memref.store %d, %y[%thread] : memref<?xi32, #spirv.storage_class<StorageBuffer>>
    return
  }
}
