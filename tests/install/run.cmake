# slow: 30 s
# cmake -DBUILD=... -DSOURCE=... -DPUBLIC=... -DFORMER=... -DEXAMPLES=... -DWORK=... -DCOMPILER=... -DFLAGS=...
# -DCONFIG=... -DGENERATOR=... -P run.cmake
# Installs BUILD below WORK, then builds and runs the project in SOURCE against that, once by find_package and once by
# pkg-config.
cmake_minimum_required(VERSION 3.22)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}" --config "${CONFIG}")

# The public headers, those at their former paths, which are compiled below like the others, and no other.
file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
string(REPLACE "|" ";" PUBLIC "${PUBLIC}")
string(REPLACE "|" ";" FORMER "${FORMER}")
set(expected ${PUBLIC} ${FORMER})
list(SORT headers)
list(SORT expected)
if(NOT headers STREQUAL expected)
  message(FATAL_ERROR "installed: ${headers}\nin heed/public_headers.cmake: ${expected}")
endif()

# Every header includes only what was installed, and can be included by itself. A source that begins with its own header
# shows the latter wherever it is compiled without precompiled headers (make clang); the others are compiled below.
set(alone "")
foreach(header IN LISTS headers)
  file(STRINGS "${prefix}/include/${header}" lines REGEX "^#include \"heed/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST headers)
      message(FATAL_ERROR "${header} includes ${included}, which was not installed")
    endif()
  endforeach()
  string(REGEX REPLACE "h$" "cc" source "${SOURCE}/../../${header}")
  set(first "")
  if(EXISTS "${source}")
    file(STRINGS "${source}" first REGEX "^#include " LIMIT_COUNT 1)
  endif()
  if(NOT first STREQUAL "#include \"${header}\"")
    list(APPEND alone "${header}")
  endif()
endforeach()
list(LENGTH alone count)
message(STATUS "headers that no source begins with: ${count}")

list(JOIN alone "|" header_names)  # a list would not stay one argument
foreach(kernels_only OFF ON)
  set(folder "${WORK}/build-${kernels_only}")
  run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${folder}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${CONFIG}"
    "-DKERNELS_ONLY=${kernels_only}" "-DHEADERS=${header_names}" "-DEXAMPLES=${EXAMPLES}")
  run("${CMAKE_COMMAND}" --build "${folder}")
  run("${folder}/uses_heed")
  message(STATUS "find_package: ${output}")
endforeach()
run("${WORK}/build-OFF/uses_attend")
message(STATUS "find_package: ${output}")

# examples/translate.cpp: a model that is not there, and where the program was built, a model that it trained: both must
# say the same.
function(check_translate translate)
  execute_process(COMMAND "${translate}" "${WORK}/nowhere" RESULT_VARIABLE failed OUTPUT_VARIABLE output
    ERROR_VARIABLE said)
  if(NOT failed EQUAL 1 OR NOT said MATCHES "there is no model '.*nowhere'")
    message(FATAL_ERROR "${translate} without a model: ${failed} ${output} ${said}")
  endif()
  if(NOT EXISTS "${prefix}/bin/heed")
    return()
  endif()
  if(NOT EXISTS "${WORK}/model")
    file(WRITE "${WORK}/recipe.toml" "[data]\ntask = \"reverse\"\nexamples = 400\nvalid_examples = 20\n"
      "[model]\nwidth = 16\n[attention]\nscore = \"additive\"\n[train]\nbatch_tokens = 256\n"
      "learning_rate = 0.02\nwarmup = 5\n[stop]\nsteps = 150\n[validate]\nevery = 150\nlongest = 25\n")
    run("${prefix}/bin/heed" train "${WORK}/recipe.toml" --output "${WORK}/model" --threads 1)
    file(WRITE "${WORK}/lines.txt" "abc\nhello\n\na longer line of letters\nzyx wvu\r\nreverse")
  endif()
  execute_process(COMMAND "${prefix}/bin/heed" predict "${WORK}/model" --beam 5 --alignments
    INPUT_FILE "${WORK}/lines.txt" OUTPUT_VARIABLE expected RESULT_VARIABLE failed)
  execute_process(COMMAND "${translate}" "${WORK}/model"
    INPUT_FILE "${WORK}/lines.txt" OUTPUT_VARIABLE output RESULT_VARIABLE also_failed)
  if(failed OR also_failed OR NOT output STREQUAL expected OR NOT output MATCHES "[a-z]\t[0-9]+-0")
    message(FATAL_ERROR "${translate}: ${also_failed}\n${output}\nheed predict: ${failed}\n${expected}")
  endif()
  message(STATUS "translate: as heed predict")
endfunction()
check_translate("${WORK}/build-OFF/translate")

# The program, where it was built.
if(EXISTS "${prefix}/bin/heed")
  run("${prefix}/bin/heed" mechanisms --names)
  foreach(page bash-completion/completions/heed zsh/site-functions/_heed fish/vendor_completions.d/heed.fish
      man/man1/heed.1)
    file(READ "${prefix}/share/${page}" content)
    if(NOT content MATCHES "predict")
      message(FATAL_ERROR "share/${page} does not know the verbs")
    endif()
  endforeach()
endif()

find_program(PKG_CONFIG pkg-config)
file(GLOB_RECURSE pc "${prefix}/*/heed-kernels.pc")
if(NOT pc)
  message(FATAL_ERROR "heed-kernels.pc was not installed")
endif()
if(PKG_CONFIG)
  get_filename_component(pc_dir "${pc}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${pc_dir}:$ENV{PKG_CONFIG_PATH}")
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  get_filename_component(lib_dir "${pc_dir}" DIRECTORY)
  foreach(program "${SOURCE}/main.cc:heed-kernels" "${SOURCE}/attend.cc:heed" "${EXAMPLES}/translate.cpp:heed")
    string(REGEX MATCH "(.*):(.*)" matched "${program}")
    set(source "${CMAKE_MATCH_1}")
    set(package "${CMAKE_MATCH_2}")
    get_filename_component(name "${source}" NAME_WE)
    run("${PKG_CONFIG}" --cflags --libs "${package}")
    separate_arguments(pc_flags UNIX_COMMAND "${output}")
    run("${COMPILER}" -std=c++20 ${flags} "${source}" -o "${WORK}/${name}_by_pkg_config" ${pc_flags}
      "-Wl,-rpath,${lib_dir}")
    if(name STREQUAL "translate")
      check_translate("${WORK}/translate_by_pkg_config")
    else()
      run("${WORK}/${name}_by_pkg_config")
      message(STATUS "pkg-config: ${output}")
    endif()
  endforeach()
endif()
