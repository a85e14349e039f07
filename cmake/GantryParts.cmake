# Parts of the project that are built only if their packages are installed.
#
# gantry_part(OPTION title KIND NAME PACKAGE ...) decides whether a part is built if OPTION is AUTO. Each
# triple is a requirement: KIND is HEADER or PROGRAM, NAME is the header or program to look for, PACKAGE
# is the Debian package that has it. OPTION becomes ON if all requirements are found; else it becomes OFF
# and a message names the missing packages. If OPTION is ON or OFF, it does not change. The result is not
# cached: the next configuration looks again.
function(gantry_part option title)
  if(NOT "${${option}}" STREQUAL "AUTO")
    return()
  endif()
  set(missing)
  while(ARGN)
    list(POP_FRONT ARGN kind name package)
    unset(found)
    if(kind STREQUAL "HEADER")
      find_path(found ${name} PATH_SUFFIXES imgui freetype2 NO_CACHE)
    else()
      find_program(found ${name} NO_CACHE)
    endif()
    if(NOT found)
      list(APPEND missing ${package})
    endif()
  endwhile()
  if(missing)
    list(JOIN missing " " packages)
    message(STATUS "Leaving out ${title} (missing packages: ${packages}; install them and configure "
                   "again)")
    set(${option} OFF PARENT_SCOPE)
  else()
    set(${option} ON PARENT_SCOPE)
  endif()
endfunction()
