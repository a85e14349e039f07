cmake_minimum_required(VERSION 3.25)
# Installs the runtime to a folder, builds the example there against it (find_package), runs it; and
# asks pkg-config for the same, where there is one.
include(${CMAKE_CURRENT_LIST_DIR}/run_embed_c.cmake)
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component runtime
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${SOURCE}/examples/embed_c DESTINATION ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/embed_c -B ${WORK}/build -G ${GENERATOR}
                        -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_FLAGS=${C_FLAGS}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
run_embed_c(${WORK}/build/embed_c ${WORK}/run)

file(GLOB_RECURSE files RELATIVE ${prefix} ${prefix}/*)
foreach(needed include/gantry/gantry.h include/gantry/gantry.hpp)
  if(NOT needed IN_LIST files)
    message(FATAL_ERROR "${needed} is not installed, but: ${files}")
  endif()
endforeach()
file(GLOB_RECURSE pc ${prefix}/*/gantry.pc)
file(READ ${pc} text)
if(NOT text MATCHES "Libs: -L\\$\\{libdir\\} -lgantry")
  message(FATAL_ERROR "gantry.pc: ${text}")
endif()
