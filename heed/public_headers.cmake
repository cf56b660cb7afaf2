# The public headers of heed: one list, from which three things follow.
#
#   - They are installed, and no other header is.
#   - What they declare is exported by the shared libraries; all else is hidden (cmake/HeedPublic.cmake).
#   - docs/stable_api.md promises to keep them.
#
# tests/install checks that each compiles alone and includes only others of the list; tests/exports, that the shared
# libraries export what they declare and nothing else.
#
# heed_public(folder header... [INTERNAL header...]): INTERNAL are those that a program never includes by itself. They are
# there because others include them, and may change with any version.
heed_public(heed heed.h version.h)
heed_public(heed/kernels attention.h custom.h interrupt.h isa.h problem.h status.h)
heed_public(heed/base dtype.h error.h memory.h
  INTERNAL choice.h list.h nearest.h renamed.h)
heed_public(heed/tensor off_tape_matrix.h ops.h parameter.h profile.h tape.h tensor.h
  INTERNAL packed_weight.h parameter_storage.h tape_arena.h)
heed_public(heed/tensor/op activation.h arithmetic.h arrange.h attention.h convolution.h cross_entropy.h dropout.h
  linear.h norm.h output_loss.h pool.h recurrent.h reduce.h rotary.h softmax.h windows.h)
heed_public(heed/layer convolution.h embedding.h feed_forward.h initialise.h linear.h norm.h parameters.h recurrent.h)
heed_public(heed/attend all.h attend.h attention.h call.h entry.h mechanism.h options.h parts.h reinforce.h state.h
  INTERNAL choices.h)
heed_public(heed/attend/normalise normalise.h)
heed_public(heed/attend/region region.h)
heed_public(heed/attend/score score.h)
heed_public(heed/attend/time time.h)
heed_public(heed/text tokeniser.h tokens.h)
heed_public(heed/text/metric all.h bleu.h calibration.h chrf.h confusion.h edit_distance.h error_rate.h exact.h f1.h
  metric.h resample.h ter.h tokenise.h)
heed_public(heed/data options.h pairs.h ragged.h report.h source.h)
heed_public(heed/model generator.h options.h parallel_generator.h)
heed_public(heed/model/decode all.h decoder.h state.h)
heed_public(heed/model/embed embed.h)
heed_public(heed/model/encode all.h attention_places.h encoder.h own_options.h)
heed_public(heed/model/search batches.h ensemble_mean.h phrases.h rules.h search.h search_tree.h tape_pool.h)
heed_public(heed/task decoding_option.h decoding_table.h predict_options.h prediction.h suggestion.h)
heed_public(heed/checkpoint safetensors.h weights.h)
heed_public(heed/predict predictor.h)
heed_public(heed/train evaluation.h event_file.h event_lines.h log.h observer.h session.h step_report.h train.h)
heed_public(heed/train/objective options.h reward.h)
heed_public(heed/train/optimise adam.h clip.h moving_average.h schedule.h)
heed_public(heed/train/recipe data_files.h options.h recipe.h)

# Where public headers were once: heed_formerly(old new). An installation has a header at the old path that includes the
# new one.
heed_formerly(heed/file/safetensors.h heed/checkpoint/safetensors.h)
heed_formerly(heed/file/weights.h heed/checkpoint/weights.h)
heed_formerly(heed/metric/all.h heed/text/metric/all.h)
heed_formerly(heed/metric/bleu.h heed/text/metric/bleu.h)
heed_formerly(heed/metric/calibration.h heed/text/metric/calibration.h)
heed_formerly(heed/metric/chrf.h heed/text/metric/chrf.h)
heed_formerly(heed/metric/confusion.h heed/text/metric/confusion.h)
heed_formerly(heed/metric/edit_distance.h heed/text/metric/edit_distance.h)
heed_formerly(heed/metric/error_rate.h heed/text/metric/error_rate.h)
heed_formerly(heed/metric/exact.h heed/text/metric/exact.h)
heed_formerly(heed/metric/f1.h heed/text/metric/f1.h)
heed_formerly(heed/metric/metric.h heed/text/metric/metric.h)
heed_formerly(heed/metric/resample.h heed/text/metric/resample.h)
heed_formerly(heed/metric/ter.h heed/text/metric/ter.h)
heed_formerly(heed/metric/tokenise.h heed/text/metric/tokenise.h)
heed_formerly(heed/objective/options.h heed/train/objective/options.h)
heed_formerly(heed/objective/reward.h heed/train/objective/reward.h)
heed_formerly(heed/optimise/adam.h heed/train/optimise/adam.h)
heed_formerly(heed/optimise/clip.h heed/train/optimise/clip.h)
heed_formerly(heed/optimise/moving_average.h heed/train/optimise/moving_average.h)
heed_formerly(heed/optimise/schedule.h heed/train/optimise/schedule.h)
heed_formerly(heed/recipe/data_files.h heed/train/recipe/data_files.h)
heed_formerly(heed/recipe/options.h heed/train/recipe/options.h)
heed_formerly(heed/recipe/recipe.h heed/train/recipe/recipe.h)
heed_formerly(heed/search/search_tree.h heed/model/search/search_tree.h)
heed_formerly(heed/tensor/dtype.h heed/base/dtype.h)
heed_formerly(heed/tensor/error.h heed/base/error.h)
heed_formerly(heed/tensor/memory.h heed/base/memory.h)

# What the library `heed` takes from heed-kernels beside its public headers: exported, but not installed.
set(HEED_SHARED_HEADERS heed/kernels/one_thread.h heed/kernels/threads.h)
