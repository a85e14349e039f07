# Checks that the heap's code takes at most 60 KiB. Compiles its sources with -Os, links them into
# one object, so that a template instantiation counts once, and adds up the sizes of the .text and
# .rodata sections. The unwind tables do not count.
#   cmake -DCOMPILER=c++ -DROOT=<repository> -DSCRATCH=<folder for objects> -P size_test.cmake

# Sets `result` to the bytes of the .text and .rodata sections of an object file.
function(code_bytes object result)
  execute_process(COMMAND size -A ${object} OUTPUT_VARIABLE sizes COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n\\.(text|rodata)[^ ]* +[0-9]+" sections "${sizes}")
  set(bytes 0)
  foreach(section ${sections})
    string(REGEX MATCH "[0-9]+$" size "${section}")
    math(EXPR bytes "${bytes} + ${size}")
  endforeach()
  set(${result} ${bytes} PARENT_SCOPE)
endfunction()

file(GLOB sources ${ROOT}/engine/heap/*.cpp ${ROOT}/engine/heap/extras/*.cpp)
foreach(part index_set lock thread_number tlsf) # The heap's parts in engine/base.
  list(APPEND sources ${ROOT}/engine/base/${part}.cpp)
endforeach()
file(MAKE_DIRECTORY ${SCRATCH}/linked)
set(objects)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  set(object ${SCRATCH}/${name}.o)
  execute_process(COMMAND ${COMPILER} -std=c++20 -Os -DNDEBUG -fPIC -fno-exceptions -fno-rtti
                          -fvisibility=hidden -I${ROOT} -c ${source} -o ${object}
                  COMMAND_ERROR_IS_FATAL ANY)
  code_bytes(${object} bytes)
  message(STATUS "${name}: ${bytes}")
  list(APPEND objects ${object})
endforeach()
execute_process(COMMAND ${COMPILER} -r -nostdlib ${objects} -o ${SCRATCH}/linked/heap.o
                COMMAND_ERROR_IS_FATAL ANY)
code_bytes(${SCRATCH}/linked/heap.o total)
message(STATUS "heap at -Os: ${total} bytes of text and read-only data")
if(total GREATER 61440)
  message(FATAL_ERROR "the heap's code has ${total} bytes at -Os; at most 61440 are allowed")
endif()
