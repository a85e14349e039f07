# Rules for `cmake --install`. docs/install.md is the manual.
#
# Run paths: an installed program looks for Gantry's libraries in ../lib of its own folder, so that the
# prefix can be moved. Libraries of other packages outside the system's folders (LLVM's) are found by
# their absolute folder. libgantry_compiler.so needs this run path also when an application is linked,
# because the linker then resolves MLIR's symbols.
#
# The manifest: `cmake --install` writes the list of installed files to install_manifest.txt
# (install_manifest_COMPONENT.txt for one component). gantry_install_begin() must come before all install
# rules and gantry_install_end() after them; they add the created folders, inner folders first. One line
# then removes the installation:
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

# gantry_install_manual(program writer COMPONENT name): generates and installs the man pages and the shell
# completions of a program. The target `writer` is an executable that writes them to the folder that is
# its argument (tools/manual).
function(gantry_install_manual program writer)
  cmake_parse_arguments(M "" "COMPONENT" "" ${ARGN})
  set(folder ${PROJECT_BINARY_DIR}/manual/${program})
  set(stamp ${PROJECT_BINARY_DIR}/manual/${program}.stamp)
  # Without detect_leaks=0, the leak sanitizer reports memory that LLVM keeps until the process ends.
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:${writer}> ${folder}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${writer} COMMENT "Writing the man pages and completions of ${program}" VERBATIM)
  add_custom_target(${writer}_pages ALL DEPENDS ${stamp})
  install(DIRECTORY ${folder}/ COMPONENT ${M_COMPONENT} DESTINATION ${CMAKE_INSTALL_DATADIR})
endfunction()
