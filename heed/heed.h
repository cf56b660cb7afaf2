// All of heed in one header, for programs that do not mind the second it takes to compile. Each part can also be
// included by itself; docs/cpp.md shows how to use them.
#pragma once

#include "heed/attend/all.h"               // every kind of attention, by name
#include "heed/attend/attend.h"            // attention on plain arrays, as one call
#include "heed/attend/score/score.h"       // for user-defined scores
#include "heed/base/error.h"               // what is thrown
#include "heed/base/memory.h"              // and thrown when out of memory
#include "heed/checkpoint/weights.h"       // saves and loads parameters
#include "heed/kernels/attention.h"        // the fused loop itself, on plain memory
#include "heed/layer/convolution.h"        // layers: parameters by name
#include "heed/layer/embedding.h"          //
#include "heed/layer/feed_forward.h"       //
#include "heed/layer/linear.h"             //
#include "heed/layer/norm.h"               //
#include "heed/layer/recurrent.h"          //
#include "heed/model/decode/all.h"         // decoders, by name
#include "heed/model/encode/all.h"         // encoders, by name
#include "heed/model/search/batches.h"     // searches over any model that says what comes next
#include "heed/predict/predictor.h"        // uses a trained model on lines of text
#include "heed/tensor/ops.h"               // operations on a tape
#include "heed/text/metric/all.h"          // BLEU, chrF, TER, error rates
#include "heed/text/tokeniser.h"           // from text to ids and back
#include "heed/train/optimise/adam.h"      // the optimiser
#include "heed/train/optimise/clip.h"      //
#include "heed/train/optimise/schedule.h"  //
#include "heed/train/recipe/data_files.h"  // a recipe for files of data, which says what they are taken for
#include "heed/train/session.h"            // a complete training run from a recipe
#include "heed/train/train.h"              // the same from pairs and structs
#include "heed/version.h"
