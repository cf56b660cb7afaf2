// All of heed in one header: what a program includes that does not mind the second it takes to compile. Everything in
// it can also be included by itself; docs/cpp.md shows what it is good for.
#pragma once

#include "heed/attend/all.h"          // every kind of attention, by its name
#include "heed/attend/score/score.h"  // what a score of one's own is made of
#include "heed/file/weights.h"        // parameters to a file and back
#include "heed/kernels/attention.h"   // the fused loop below them all, on plain memory
#include "heed/layer/convolution.h"   // layers: parameters by name
#include "heed/layer/embedding.h"     //
#include "heed/layer/feed_forward.h"  //
#include "heed/layer/linear.h"        //
#include "heed/layer/norm.h"          //
#include "heed/layer/recurrent.h"     //
#include "heed/metric/all.h"          // BLEU, chrF, TER, error rates
#include "heed/optimise/adam.h"       // the optimiser
#include "heed/optimise/clip.h"       //
#include "heed/optimise/schedule.h"   //
#include "heed/predict/predictor.h"   // a trained model that answers lines of text
#include "heed/tensor/error.h"        // what is thrown
#include "heed/tensor/memory.h"       // and where the memory is too small
#include "heed/tensor/ops.h"          // operations on a tape
#include "heed/text/tokeniser.h"      // from text to ids and back
#include "heed/train/session.h"       // a whole training, by a recipe
#include "heed/version.h"
