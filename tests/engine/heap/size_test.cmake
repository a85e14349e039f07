# The heap's code at -Os: compiles the folder's sources, links them into one object, so that what several
# of them instantiate is there once as in a program, and adds up its .text and, beyond what is asked
# for, its .rodata; not the unwind tables. At most 60 KiB.
#   cmake -DCOMPILER=c++ -DROOT=... -DSCRATCH=... -P size_test.cmake
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
foreach(part index_set lock thread_number tlsf) # Parts of the heap that know nothing of heaps.
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
  message(FATAL_ERROR "the heap is ${total} bytes at -Os; 61440 are what it may have")
endif()
