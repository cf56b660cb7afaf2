# What a program may use of heed, and how the rest is hidden from it. The list itself is heed/public_headers.cmake.

set(HEED_PUBLIC_HEADERS "")  # heed/attend/all.h ...
set(HEED_STABLE_HEADERS "")  # those of them that are not INTERNAL

# heed_public(folder header... [INTERNAL header...])
function(heed_public folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INTERNAL")
  foreach(header IN LISTS arg_UNPARSED_ARGUMENTS arg_INTERNAL)
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${folder}/${header}")
      message(FATAL_ERROR "heed/public_headers.cmake lists ${folder}/${header}, and there is none")
    endif()
    list(APPEND HEED_PUBLIC_HEADERS "${folder}/${header}")
    if(NOT header IN_LIST arg_INTERNAL)
      list(APPEND HEED_STABLE_HEADERS "${folder}/${header}")
    endif()
  endforeach()
  set(HEED_PUBLIC_HEADERS "${HEED_PUBLIC_HEADERS}" PARENT_SCOPE)
  set(HEED_STABLE_HEADERS "${HEED_STABLE_HEADERS}" PARENT_SCOPE)
endfunction()

set(HEED_FORMER_HEADERS "")  # where public headers were once
set(HEED_FORMER "${PROJECT_BINARY_DIR}/former")

# heed_formerly(old new): programs that include OLD still compile. An installation has a header there that includes NEW;
# the source tree has none.
function(heed_formerly old new)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${old}" OR NOT new IN_LIST HEED_STABLE_HEADERS)
    message(FATAL_ERROR "heed/public_headers.cmake: heed_formerly(${old} ${new}) is for a public header that was moved")
  endif()
  file(CONFIGURE OUTPUT "${HEED_FORMER}/${old}" CONTENT [[
// This header is now @new@. Programs may still include it by its old path.
#pragma once
#include "@new@"  // IWYU pragma: export
]] @ONLY)
  list(APPEND HEED_FORMER_HEADERS "${old}")
  set(HEED_FORMER_HEADERS "${HEED_FORMER_HEADERS}" PARENT_SCOPE)
endfunction()

include("${PROJECT_SOURCE_DIR}/heed/public_headers.cmake")

# Each of them has a twin in exports/, which includes it with the default visibility around it. Where a library is
# compiled the twins are found first. So no declaration carries a macro, and nothing has to agree with the list.
set(HEED_EXPORTS "${PROJECT_BINARY_DIR}/exports")
set(HEED_EXPORTED_NAMES "${CMAKE_CURRENT_LIST_DIR}/exported_names.map")
file(GLOB_RECURSE twins RELATIVE "${HEED_EXPORTS}" "${HEED_EXPORTS}/*.h")
list(REMOVE_ITEM twins ${HEED_PUBLIC_HEADERS} ${HEED_SHARED_HEADERS})
foreach(twin IN LISTS twins)  # of a header that is public no more
  file(REMOVE "${HEED_EXPORTS}/${twin}")
endforeach()
foreach(header IN LISTS HEED_PUBLIC_HEADERS HEED_SHARED_HEADERS)
  get_filename_component(folder "${HEED_EXPORTS}/${header}" DIRECTORY)
  file(RELATIVE_PATH itself "${folder}" "${PROJECT_SOURCE_DIR}/${header}")
  file(CONFIGURE OUTPUT "${HEED_EXPORTS}/${header}" CONTENT [[
#pragma once
#pragma GCC visibility push(default)
#include "@itself@"
#pragma GCC visibility pop
]] @ONLY)
endforeach()

# heed_hide_internal(library): everything but what the public headers declare.
function(heed_hide_internal library)
  set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    DEFINE_SYMBOL "")
  target_include_directories(${library} BEFORE PRIVATE "${HEED_EXPORTS}")
  if(BUILD_SHARED_LIBS)
    heed_export_only_heed(${library})
  endif()
endfunction()

# Of the libraries that heed uses nothing is exported either, not even what the compiler made of their templates.
function(heed_export_only_heed library)
  target_link_options(${library} PRIVATE "LINKER:--version-script=${HEED_EXPORTED_NAMES}")
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS "${HEED_EXPORTED_NAMES}")
endfunction()

# heed_both_ways(library dependency...): the same objects as a library of the other kind, so that there always is
#   LIBRARY-inside   static: for what looks behind the public headers (tests, benchmarks, the program, the Python module)
#   LIBRARY-shared   for the tests of what a shared library exports
# A dependency that is such a library itself is given by its name alone.
function(heed_both_ways library)
  set(inside "")
  set(shared "")
  foreach(dependency IN LISTS ARGN)
    if(TARGET ${dependency}-inside)
      list(APPEND inside ${dependency}-inside)
      list(APPEND shared ${dependency}-shared)
    else()
      list(APPEND inside ${dependency})
      list(APPEND shared ${dependency})
    endif()
  endforeach()
  if(BUILD_SHARED_LIBS)
    add_library(${library}-shared ALIAS ${library})
    add_library(${library}-inside STATIC $<TARGET_OBJECTS:${library}>)
    target_link_libraries(${library}-inside PUBLIC ${inside})
    set(new ${library}-inside)
  else()
    add_library(${library}-inside ALIAS ${library})
    add_library(${library}-shared SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${library}>)
    target_link_libraries(${library}-shared PUBLIC ${shared})
    heed_export_only_heed(${library}-shared)
    set(new ${library}-shared)
  endif()
  set_target_properties(${new} PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(${new} PUBLIC cxx_std_20)
  target_include_directories(${new} PUBLIC "${PROJECT_SOURCE_DIR}")
endfunction()
