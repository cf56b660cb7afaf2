// Every operation on a tape. One file each in op/, forward and backward together. Shapes are given at each declaration;
// n is a number of rows (tokens).
#pragma once

#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/attention.h"
#include "heed/tensor/op/convolution.h"
#include "heed/tensor/op/cross_entropy.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/linear.h"
#include "heed/tensor/op/norm.h"
#include "heed/tensor/op/pool.h"
#include "heed/tensor/op/recurrent.h"
#include "heed/tensor/op/reduce.h"
#include "heed/tensor/op/softmax.h"
#include "heed/tensor/op/windows.h"
