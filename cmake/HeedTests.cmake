# heed_test(name [SOURCE file] COMMAND ...): as add_test(NAME ...), with a label and a time-out, and what it runs is built
# by `make test`.
#
# A test is `quick`, and part of `make quick`, unless one of the first lines of its source says otherwise, as a comment:
#
#   slow: 40 s    It takes three seconds and more, because it trains models, compiles, or goes through every combination.
#                 The number is about the seconds that it takes on one core of a release build (ctest shows them): ctest
#                 starts the longest first, so that none runs alone at the end.
#   long: 150 s   A whole training of a minute and more. `make test` leaves it out; `make clang`, a part of
#                 `make check-long`, runs it.

# A sanitizer makes everything ten times slower, a build without optimisation three times.
set(HEED_PATIENCE 1)
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  set(HEED_PATIENCE 10)
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(HEED_PATIENCE 3)
endif()

# What `make test` builds. The benchmarks are no part of it.
add_custom_target(heed-tests)
# What `make tsan` builds: the tests of what runs on several threads.
add_custom_target(tsan-tests)

# Sets `label` and `seconds` to what the source says of itself.
function(heed_test_marks source label seconds)
  set(${label} quick PARENT_SCOPE)
  set(${seconds} 2 PARENT_SCOPE)
  if(NOT source)
    return()
  endif()
  file(STRINGS "${source}" lines LIMIT_COUNT 10)
  foreach(line IN LISTS lines)
    if(line MATCHES "^(//|#) (slow|long): ([0-9]+) s$")
      set(${label} ${CMAKE_MATCH_2} PARENT_SCOPE)
      set(${seconds} ${CMAKE_MATCH_3} PARENT_SCOPE)
    elseif(line MATCHES "^(//|#) *(slow|long):")
      message(FATAL_ERROR "${source}: expected a mark like '// slow: 40 s', not '${line}'")
    endif()
  endforeach()
endfunction()

function(heed_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "")
  set(programs "")
  add_test(NAME ${name} ${arg_UNPARSED_ARGUMENTS})
  set_property(GLOBAL APPEND PROPERTY HEED_KNOWN_TESTS ${name})
  foreach(word IN LISTS arg_UNPARSED_ARGUMENTS)
    string(REGEX REPLACE "^.*\\$<TARGET_FILE:([^>]*)>.*$" "\\1" word "${word}")
    if(TARGET "${word}")
      list(APPEND programs "${word}")
      add_dependencies(heed-tests "${word}")
    endif()
  endforeach()
  heed_test_marks("${arg_SOURCE}" label seconds)
  if(name MATCHES "^(kernels|model\\.search|serve)\\.")
    list(APPEND label tsan)
    add_dependencies(tsan-tests ${programs})
  endif()
  # Whole trainings, which show that a model learns. With a sanitizer they would take an hour, in code that the other tests
  # run too: `make asan` leaves them out.
  if(name MATCHES "^learn\\.")
    list(APPEND label learning)
  endif()
  # Ten times what it takes, and some minutes more: the machine may be slow, and busy.
  math(EXPR timeout "(180 + 10 * ${seconds}) * ${HEED_PATIENCE}")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" COST ${seconds} TIMEOUT ${timeout})
  if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    # A child process of a program with threads starts some of its own: die_after_fork=0.
    set_property(TEST ${name} PROPERTY ENVIRONMENT_MODIFICATION
      "LSAN_OPTIONS=set:suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_others.txt:print_suppressions=0"
      "TSAN_OPTIONS=set:die_after_fork=0")
  endif()
endfunction()

# To be called last. A test that was added by another way would lack all that, and fail where nobody built its program.
function(heed_check_tests folder)
  get_property(known GLOBAL PROPERTY HEED_KNOWN_TESTS)
  get_property(tests DIRECTORY "${folder}" PROPERTY TESTS)
  foreach(test IN LISTS tests)
    if(NOT test IN_LIST known)
      message(FATAL_ERROR "The test ${test} of ${folder} was added by add_test(). Use heed_test() instead.")
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS folders)
    heed_check_tests("${each}")
  endforeach()
endfunction()
