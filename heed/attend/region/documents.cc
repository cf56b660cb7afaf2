// R6 documents: packed documents that do not see each other.
#include "heed/attend/region/region.h"
#include "heed/base/error.h"

namespace heed::attend {

namespace {
class Documents final : public Region {
 public:
  explicit Documents(const Options&) {}
  void configure(CallContext& c) const override {
    const bool grows = c.prepared.capacity > 0;  // step by step: what is being written is one document
    if (grows && !c.queries.documents && !c.prepared.memory.documents) return;
    expect(c.queries.documents != nullptr && c.prepared.memory.documents != nullptr,
           "documents: every query row and every key row needs a document id (Queries::documents, Memory::documents)");
    c.call.problem.region.query_documents = c.queries.documents;
    c.call.problem.region.key_documents = c.prepared.memory.documents;
  }
};

std::unique_ptr<Region> make_documents(const Scope&, const Options& options) {
  return std::make_unique<Documents>(options);
}

std::string refuse_queries_without_document(const Options&, const Parts& parts) {
  if (!parts.any(&Entry::own_queries)) return "";
  return "documents needs a document for every query; learned and static queries have none";
}
}  // namespace

const Entry documents_entry = {
    .id = "R6",
    .name = "documents",
    .part = Part::region,
    .title = "documents packed in one sequence",
    .formula = "document(i) = document(j)",
    .paper =
        "Krell et al. 2021, Efficient Sequence Packing without Cross-contamination: Accelerating Large Language "
        "Models without Impacting Performance",
    .time = "the pairs inside each document",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour",
    .page =
        "Several documents are packed one after another in a sequence, and none may see its neighbours. The ids are "
        "passed with the call (Memory::documents, Queries::documents); blocks of pairs between two documents are never "
        "visited.",
    .options = "",
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .not_to_source = "needs a document id for every token, and a pair of sequences is one document",
    .reads_documents = true,
    .refuses = refuse_queries_without_document,
    .make_region = make_documents,
};

}  // namespace heed::attend
