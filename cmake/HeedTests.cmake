# heed_test(name COMMAND ...): as add_test(NAME ...), with a label and a time-out, and what it runs is built by `make test`.
# A test is `quick`, and part of `make quick`, unless it is listed here.

# Tests that train models, search by force, compile, or start the program or Python many times, with about the seconds they
# take on one core of a release build. ctest starts the longest first, so that none runs alone at the end.
set(HEED_SLOW_TESTS
  learn.mechanisms=60 learn.seq2seq=60 install=60
  kernels.gradient=20 kernels.property=20 kernels.random=20 kernels.shapes=20
  attend.golden=10 attend.gradient=20 attend.property=20 attend.refusal=10 attend.steps=10
  model.catalogue=20 model.gradient=10 model.steps=10 search.exhaustive=10
  train.resume=10 train.session=10 train.trainer=10 predict.predictor=10
  cli.average=10 cli.evaluate=10 cli.info=10 cli.mechanisms=10 cli.pages=10 cli.predict=20 cli.program=10 cli.score=10
  cli.train=30
  python.attend=20 python.docs=20 python.golden=20 python.load=20 python.modules=20 python.onnx=10 python.package=30
  python.pages=10 python.ragged=10 python.threads=10 python.torch=20)

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
  endif()
  # Ten times what it takes, and some minutes more: the machine may be slow, and busy.
  math(EXPR timeout "(180 + 10 * ${seconds}) * ${HEED_PATIENCE}")
  set_tests_properties(${name} PROPERTIES LABELS ${label} COST ${seconds} TIMEOUT ${timeout})
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
