# cmake -DPROGRAM=which-isa -P forced.cmake
# Every instruction set that the program lists can be forced by HEED_ISA; one that does not exist is refused by name.
unset(ENV{HEED_ISA})
execute_process(COMMAND "${PROGRAM}" --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")
if(NOT names)
  message(FATAL_ERROR "no instruction set is listed")
endif()

execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE best OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET names 0 first)
if(NOT best STREQUAL first)
  message(FATAL_ERROR "ran on ${best} without being asked; the best is ${first}")
endif()

foreach(name IN LISTS names)
  set(ENV{HEED_ISA} "${name}")
  execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE failed OUTPUT_VARIABLE ran OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed OR NOT ran STREQUAL name)
    message(FATAL_ERROR "HEED_ISA=${name}: ${ran}")
  endif()
  message(STATUS "HEED_ISA=${name}: ${ran}")
endforeach()

set(ENV{HEED_ISA} "abacus")
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE failed OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT failed OR NOT said MATCHES "HEED_ISA" OR NOT said MATCHES "abacus" OR NOT said MATCHES "${first}"
    OR said MATCHES "disagree")
  message(FATAL_ERROR "HEED_ISA=abacus must be refused, naming it and what there is. It said: ${said}")
endif()
message(STATUS "HEED_ISA=abacus: ${said}")
