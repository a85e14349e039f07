cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run_embed_c.cmake)
run_embed_c(${EMBED_C} ${WORK})
