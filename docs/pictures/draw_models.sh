#!/usr/bin/env bash
# The pictures of docs/models: what small models look at.
#   docs/pictures/draw_models.sh build/cli/heed FOLDER [LABELS MASKED]
# FOLDER holds a Transformer, trained there if it is not there yet. LABELS and MASKED are models of texts with labels and of masked
# tokens: those of `experiments/run.py pretraining`, for example. The sentences that they are asked about are made up.
set -euo pipefail
heed=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
mkdir -p "$2"

look() {  # PICTURE MODEL LINE ARGUMENTS...
  "$heed" look "$2" "$3" --svg "$here/$1" "${@:4}"
}

"$heed" explain self_attention --set position=alibi --svg "$here/positions.svg"

if [ ! -d "$2/transformer" ]; then
  printf '[data]\ntask = "dates"\n' > "$2/dates.toml"
  "$heed" train "$2/dates.toml" --set model.kind=transformer --set model.encoder_layers=2 --set model.decoder_layers=2 \
    --set model.width=128 --set attention.heads=4 --set train.warmup=50 --set train.learning_rate=0.002 \
    --set train.batch_tokens=2048 --set stop.steps=400 --output "$2/transformer"
fi
look transformer_encoder.svg "$2/transformer" "3 March 1998" --attention encoder.1.self
look transformer_decoder.svg "$2/transformer" "3 March 1998" --attention decoder.1.self
if [ $# -ge 4 ]; then
  look document_classifier.svg "$3" "oil prices rose after the company said that its profit fell in the third quarter"
  look masked_language_model.svg "$4" "the company said its [MASK] rose in the third quarter"
fi
