# Parts of the project that are built where their packages are installed.
#
# gantry_part(OPTION title KIND NAME PACKAGE ...) turns OPTION from AUTO to ON where everything that the
# part needs is found, and else to OFF, and says which Debian packages are missing. OPTION keeps ON
# (what is missing then fails where it is used) and OFF. KIND is HEADER or PROGRAM. The answer lasts for
# one configuration: the next one looks again.
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
