# heed_test(name COMMAND ...): as add_test(NAME ...), with a label and a time-out, and what it runs is built by `make test`.
# A test is `quick`, and part of `make quick`, unless it is listed here as slow or long.

# Tests of three seconds and more: those that train models, compile, or go through every combination, with about the
# seconds they take on one core of a release build (ctest shows them). ctest starts the longest first, so that none runs
# alone at the end.
set(HEED_SLOW_TESTS
  cli.first_hour=60 cli.label=5 cli.recipe_snippets=5 kernels.backward=40 learn.seq2seq=50 learn.local_p=15 learn.picture=15 data.picture=4 cli.picture=10 install=30 kernels.gradient=12 kernels.forward=9 cli.train=9 file.run_folder=8
  kernels.extreme=7 attend.gradient=7 kernels.shapes=6 kernels.bias=6 data.dates=6 python.threads=5 kernels.property=5
  cli.evaluate=4 kernels.packed=3 kernels.weights=3 kernels.memory=3 cli.predict=3 python.load=3 search.exhaustive=3
  example.compare=3 train.resume=20 python.torch=20
  faults.disk=10 faults.files=10 faults.kill=10 faults.together=10 cli.limits=25 cli.streams=5 cli.events=5 cli.terminal=6 cli.pipes=5
  faults.memory=25)

# Whole trainings of a minute and more. `make test` leaves them out; `make clang`, a part of `make check-long`, runs them.
set(HEED_LONG_TESTS learn.objective=150 learn.wiring=80)

# A sanitizer makes everything ten times slower, a build without optimisation three times.
set(HEED_PATIENCE 1)
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
  set(HEED_PATIENCE 10)
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(HEED_PATIENCE 3)
endif()

# What `make test` builds. The benchmarks are no part of it.
add_custom_target(heed-tests)

function(heed_test name)
  add_test(NAME ${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY HEED_KNOWN_TESTS ${name})
  foreach(word IN LISTS ARGN)
    string(REGEX REPLACE "^.*\\$<TARGET_FILE:([^>]*)>.*$" "\\1" word "${word}")
    if(TARGET "${word}")
      add_dependencies(heed-tests "${word}")
    endif()
  endforeach()
  set(seconds 2)
  set(label quick)
  if(";${HEED_SLOW_TESTS};" MATCHES ";${name}=([0-9]+);")
    set(seconds ${CMAKE_MATCH_1})
    set(label slow)
  elseif(";${HEED_LONG_TESTS};" MATCHES ";${name}=([0-9]+);")
    set(seconds ${CMAKE_MATCH_1})
    set(label long)
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
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
      "LSAN_OPTIONS=set:suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_others.txt:print_suppressions=0")
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
