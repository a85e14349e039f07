# Runs at the start of `cmake --install`: sets gantry_existed to the list of the files and folders that
# exist in the prefix, and of the folders above it.
cmake_policy(VERSION 3.25)
if(NOT DEFINED ENV{DESTDIR})
  file(GLOB_RECURSE gantry_existed LIST_DIRECTORIES true "${CMAKE_INSTALL_PREFIX}/*")
  set(folder "${CMAKE_INSTALL_PREFIX}")
  while(NOT folder STREQUAL "/")
    if(IS_DIRECTORY "${folder}")
      list(APPEND gantry_existed "${folder}")
    endif()
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endif()
