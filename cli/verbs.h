// The commands. Each adds itself to the command line, and runs when chosen.
#pragma once

namespace heed::cli {

class Program;

void add_demo(Program& program);
void add_train(Program& program);
void add_compare(Program& program);
void add_predict(Program& program);
void add_look(Program& program);
void add_score(Program& program);
void add_serve(Program& program);
void add_evaluate(Program& program);
void add_distill(Program& program);
void add_average(Program& program);
void add_export(Program& program);
void add_info(Program& program);
void add_mechanisms(Program& program);
void add_scenes(Program& program);

// Not listed: for packagers.
void add_completions(Program& program);
void add_manual(Program& program);
void add_openapi(Program& program);

}  // namespace heed::cli
