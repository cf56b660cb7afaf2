# heed_target(name): what every target of this project is compiled with.
function(heed_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${HEED_WERROR}>:-Werror>)
endfunction()

# heed_quick_to_build(name [level]): for programs that spend their time in the library, or none at all. -Og compiles their
# own code in two thirds of the time of -O1, which what serves requests or is called from Python takes, and in a third of
# that of -O3. It comes after the -O3 of the preset and wins.
function(heed_quick_to_build name)
  set(level -Og)
  if(ARGC GREATER 1)
    set(level "${ARGV1}")
  endif()
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
endfunction()

# heed_precompile(name header... | REUSE_FROM other): headers that most sources of a target read, parsed once. A source
# still includes what it uses: the build with Clang has none of this and finds what was forgotten.
function(heed_precompile name)
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${name} ${ARGN})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # ccache sees which precompiled header was read
  endif()
endfunction()

# Some sources as one: most of what a small one takes is to read its headers. Off where each is to be seen alone.
option(HEED_TOGETHER "Compile the small sources of a folder as one" ON)
mark_as_advanced(HEED_TOGETHER)

# heed_together(list name source...): replaces the sources, in the list of that name, by one that includes them all. Their
# names in anonymous namespaces must differ. Sources for SIMD cannot be among them: each is compiled once per kind of CPU.
function(heed_together list name)
  set(sources ${${list}})
  list(REMOVE_ITEM sources ${ARGN})
  set(text "")
  foreach(source IN LISTS ARGN)
    string(APPEND text "#include \"${source}\"\n")
  endforeach()
  set(one "${CMAKE_CURRENT_BINARY_DIR}/together/${name}.cc")
  file(CONFIGURE OUTPUT "${one}" CONTENT "${text}" @ONLY)
  set(${list} ${sources} "${one}" PARENT_SCOPE)
endfunction()
