// What the program does where memory ends and no exception can say so.
#pragma once

namespace heed::cli {

/// Call it first in main(). ICU and OpenSSL crash in some places if an allocation fails, and none of heed's code is
/// there to notice: their allocations first wait a moment for memory, use a reserve, and then end the program with a
/// message and its exit code. An exception that nobody can catch, because it left a destructor or a thread, ends it in
/// the same way.
void prepare_for_the_end_of_memory();

}  // namespace heed::cli
