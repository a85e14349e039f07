# A module is one static library per folder: gantry_module(plan SOURCES planner.cpp USES base) makes the
# library gantry_plan. Includes are written from the repository's root ("engine/plan/plan.h"). USES names
# the modules to link; tools/check_includes.py has the table of the folders that each folder may include.
#
# KIND engine (the default) compiles without exceptions and RTTI; KIND codegen with both, because LLVM
# and protobuf need them. The sources of KIND codegen see the precompiled headers of the module
# mlir_headers; a source still includes what it uses.
#
# The presets compile ten sources of a target together (a unity build), which halves the time of a complete build.
# Sources of one target must therefore not define the same name twice, not even in unnamed namespaces. The preset
# `debug` compiles each source by itself and without precompiled headers, so it finds missing includes.

# A source for targets that consist of precompiled headers only.
set(GANTRY_EMPTY_SOURCE ${PROJECT_BINARY_DIR}/empty.cpp)
file(CONFIGURE OUTPUT ${GANTRY_EMPTY_SOURCE} CONTENT "\n")

function(gantry_compile_options target)
  # ccache needs -fpch-preprocess to cache compilations with a precompiled header.
  # In a unity build, GCC takes the sources of a batch for headers and warns of their unnamed namespaces
  # (-Wsubobject-linkage).
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess -Wno-subobject-linkage>)
endfunction()

# gantry_fast_malloc(program): mimalloc replaces malloc() in the whole process. The compiler makes many small objects
# in several threads; with mimalloc it needs about two thirds of the time. Sanitizers have their own malloc(), so
# they exclude mimalloc. Call this function before the program's other libraries are linked, because the first library
# that defines malloc() wins.
function(gantry_fast_malloc program)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    find_package(mimalloc REQUIRED)
    target_link_libraries(${program} PRIVATE mimalloc)
  endif()
endfunction()

function(gantry_module name)
  cmake_parse_arguments(MODULE "" "KIND" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_library(gantry_${name} STATIC ${MODULE_SOURCES})
  target_include_directories(gantry_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  gantry_compile_options(gantry_${name})
  if(MODULE_KIND STREQUAL "codegen")
    # MLIR identifies types and traits by the addresses of variables in inline functions. The variables
    # must be shared with libMLIR; with hidden visibility this library would have a second copy.
    set_target_properties(gantry_${name} PROPERTIES
      CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
    # TableGen's output has unused parameters. GCC 12 gives the other three warnings for correct uses of
    # std::string.
    target_compile_options(gantry_${name} PRIVATE
      -Wno-unused-parameter -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
    if(NOT name STREQUAL "mlir_headers")
      target_precompile_headers(gantry_${name} REUSE_FROM gantry_mlir_headers)
    endif()
  else()
    target_compile_options(gantry_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  endif()
  foreach(use ${MODULE_USES})
    target_link_libraries(gantry_${name} PUBLIC gantry_${use})
  endforeach()
  target_link_libraries(gantry_${name} PUBLIC ${MODULE_LIBRARIES})
endfunction()

function(gantry_test_options target)
  gantry_compile_options(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# gantry_test(plan_test SOURCES plan_test.cpp LIBRARIES gantry_plan [LABELS ...])
# declares a GoogleTest program. It is compiled with the precompiled header of gantry_test_headers, and with
# -O1 in release builds too, which shortens the build; the libraries that it tests keep -O3.
function(gantry_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  gantry_test_options(${name})
  target_precompile_headers(${name} REUSE_FROM gantry_test_headers)
  set(c_sources ${T_SOURCES})
  list(FILTER c_sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${c_sources} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${T_LIBRARIES} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    GANTRY_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    GANTRY_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
endfunction()
