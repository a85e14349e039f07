# How Gantry is installed. docs/install.md is the manual.
#
# Run paths: an installed program looks for Gantry's libraries in ../lib of its own folder, so that the
# prefix can be moved. Libraries of other packages that lie outside the system's folders (LLVM's) keep
# their absolute folder; without it in libgantry_compiler.so, the linker of an application could not
# resolve the symbols of MLIR either.
#
# The manifest: `cmake --install` writes install_manifest.txt (install_manifest_COMPONENT.txt), the
# files that it has written. gantry_install_begin() and gantry_install_end(), around all install rules,
# add the folders that it has made, the inner ones first, so that one line removes everything:
#   xargs -d '\n' rm -d < install_manifest.txt

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
file(RELATIVE_PATH library_folder /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${library_folder}")

set(GANTRY_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/gantry)
# From the folder of the .pc files to the prefix: "../..".
file(RELATIVE_PATH GANTRY_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" GANTRY_PC_TO_PREFIX ${GANTRY_PC_TO_PREFIX})

function(gantry_install_begin)
  install(CODE "set(gantry_build_folder [[${PROJECT_BINARY_DIR}]])" ALL_COMPONENTS)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_begin.cmake ALL_COMPONENTS)
endfunction()

function(gantry_install_end)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_end.cmake ALL_COMPONENTS)
endfunction()

# gantry_install_manual(program writer COMPONENT name): installs the man pages and the shell completions
# of a program. The target writer is a program that writes them (tools/manual) to the folder that it
# is called with.
function(gantry_install_manual program writer)
  cmake_parse_arguments(M "" "COMPONENT" "" ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/manual/${program})
  set(stamp ${PROJECT_BINARY_DIR}/manual/${program}.stamp)
  # The leak sanitizer would count what LLVM keeps to the end.
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:${writer}> ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${writer} COMMENT "Writing the man pages and completions of ${program}" VERBATIM)
  add_custom_target(${writer}_pages ALL DEPENDS ${stamp})
  install(DIRECTORY ${folder}/ COMPONENT ${M_COMPONENT} DESTINATION ${CMAKE_INSTALL_DATADIR})
endfunction()
