# heed_wants(result option package...): finds every package by find_package. Where one is missing, an option that is ON
# stops the configuration and an option that is AUTO sets result to OFF and says what to install.
function(heed_wants result option)
  set(missing "")
  foreach(package IN LISTS ARGN)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      list(APPEND missing ${package})
    endif()
  endforeach()
  set(${result} ON PARENT_SCOPE)
  if(missing)
    list(JOIN missing ", " names)
    set(text "${option}: not found: ${names}. scripts/setup.sh build test bench installs what is missing.")
    if("${${option}}" STREQUAL "AUTO")
      message(STATUS "${text} Left out.")
      set(${result} OFF PARENT_SCOPE)
    else()
      message(FATAL_ERROR "${text}")
    endif()
  endif()
endfunction()

# Sets HEED_PYTHON. The system's own interpreter comes first: it is the one that sees Debian's python3-numpy and
# python3-torch, even where another python3 stands earlier in PATH.
function(heed_find_python)
  find_program(HEED_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH DOC "Python with numpy (tests) and torch (benchmarks)")
  find_program(HEED_PYTHON python3)
endfunction()
