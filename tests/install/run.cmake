# cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCOMPILER=... -DFLAGS=... -DCONFIG=... -DGENERATOR=... -P run.cmake
# Installs BUILD below WORK, then builds and runs the project in SOURCE against that, once by find_package and once by
# pkg-config.
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

# Only the public headers, and none of them includes one that is not there: the build below would fail.
file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
list(SORT headers)
set(expected heed/kernels/attention.h heed/kernels/custom.h heed/kernels/isa.h heed/kernels/problem.h
  heed/kernels/status.h)
if(NOT headers STREQUAL expected)
  message(FATAL_ERROR "installed headers: ${headers}\nexpected: ${expected}")
endif()

run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_BUILD_TYPE=${CONFIG}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/uses_heed")
message(STATUS "find_package: ${output}")

find_program(PKG_CONFIG pkg-config)
file(GLOB_RECURSE pc "${prefix}/*/heed-kernels.pc")
if(NOT pc)
  message(FATAL_ERROR "heed-kernels.pc was not installed")
endif()
if(PKG_CONFIG)
  get_filename_component(pc_dir "${pc}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${pc_dir}:$ENV{PKG_CONFIG_PATH}")
  run("${PKG_CONFIG}" --cflags --libs heed-kernels)
  separate_arguments(pc_flags UNIX_COMMAND "${output}")
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  get_filename_component(lib_dir "${pc_dir}" DIRECTORY)
  run("${COMPILER}" -std=c++20 ${flags} "${SOURCE}/main.cc" -o "${WORK}/by_pkg_config" ${pc_flags} "-Wl,-rpath,${lib_dir}")
  run("${WORK}/by_pkg_config")
  message(STATUS "pkg-config: ${output}")
endif()
