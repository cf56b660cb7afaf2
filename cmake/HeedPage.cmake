# heed_page(target): embeds the page (web/) in the target, as `std::string_view heed::view::page_html()`.
#
# The page is built by npm when the program is built, and again only after web/ has changed. npm's packages stay in the
# build folder. C++ needs no npm: where there is none, or it cannot install its packages, the page is the one that was
# built last, in the build folder or by `make web`. Where there is none either, page_html() is empty, and the program
# tells whoever asks for the page. The build says which of these it is. HEED_PAGE=FILE embeds a page that was built elsewhere.
set(HEED_PAGE "" CACHE FILEPATH "A built page to embed; empty: build it by npm")

function(heed_page target)
  set(folder "${PROJECT_BINARY_DIR}/page")
  set(source "${folder}/page_html.cc")
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/src/*")
  foreach(name package.json package-lock.json .npmrc build.mjs page.html)
    list(APPEND inputs "${PROJECT_SOURCE_DIR}/web/${name}")
  endforeach()
  find_program(HEED_NPM npm)
  find_program(HEED_NODE NAMES node nodejs)
  file(GLOB built CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/dist/page.html")  # by make web
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DWEB=${PROJECT_SOURCE_DIR}/web" "-DFOLDER=${folder}" "-DPAGE=${HEED_PAGE}"
            "-DNPM=${HEED_NPM}" "-DNODE=${HEED_NODE}" "-DSOURCE=${source}"
            -P "${PROJECT_SOURCE_DIR}/cmake/build_page.cmake"
    DEPENDS ${inputs} ${HEED_PAGE} ${built} "${PROJECT_SOURCE_DIR}/cmake/build_page.cmake"
    COMMENT "Building the page"
    VERBATIM)
  target_sources(${target} PRIVATE "${source}")
  # It includes nothing of heed: a precompiled header would only cost time.
  set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
