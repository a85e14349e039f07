# Runs at the end of `cmake --install`: adds the folders that it has created to the manifest, inner
# folders first. A staged installation (DESTDIR) is removed as a whole, so its manifest lists only files.
cmake_policy(VERSION 3.25)
if(NOT DEFINED ENV{DESTDIR})
  set(made)
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    cmake_path(GET file PARENT_PATH folder)
    while(NOT folder IN_LIST gantry_existed AND NOT folder IN_LIST made AND NOT folder STREQUAL "/")
      list(APPEND made "${folder}")
      cmake_path(GET folder PARENT_PATH folder)
    endwhile()
  endforeach()

  # A second installation to the same prefix creates no folders. Its manifest replaces that of the first
  # installation, so it takes over the folders listed there.
  if(CMAKE_INSTALL_COMPONENT)
    set(manifest "${gantry_build_folder}/install_manifest_${CMAKE_INSTALL_COMPONENT}.txt")
  else()
    set(manifest "${gantry_build_folder}/install_manifest.txt")
  endif()
  if(EXISTS "${manifest}")
    file(STRINGS "${manifest}" entries)
    foreach(entry IN LISTS entries)
      if(IS_DIRECTORY "${entry}" AND NOT IS_SYMLINK "${entry}" AND entry IN_LIST gantry_existed)
        list(APPEND made "${entry}")
      endif()
    endforeach()
  endif()

  list(SORT made ORDER DESCENDING) # The path of an outer folder is a prefix, so it sorts after inner ones.
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${made})
endif()
