#!/usr/bin/env bash
# The pictures of docs/models: small models, trained in a few minutes, and what they look at.
#   docs/pictures/draw_models.sh build/cli/heed [FOLDER for the models]
set -euo pipefail
heed=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
work=${2:-$(mktemp -d)}
mkdir -p "$work"
cd "$work"

train() {  # NAME ARGUMENTS...: a training that is there already is not done again
  [ -d "$1" ] || "$heed" train "${@:2}" --output "$1" --threads 1 > "$1.log" 2>&1
}
look() {  # PICTURE MODEL LINE ARGUMENTS...
  "$heed" look "$2" "$3" --svg "$here/$1" "${@:4}"
}

"$heed" explain self_attention --set position=alibi --svg "$here/positions.svg"
printf '[data]\ntask = "dates"\n' > dates.toml
small=(--set model.width=128 --set attention.heads=4 --set train.warmup=50 --set train.learning_rate=0.002
       --set train.batch_tokens=2048 --set stop.steps=300)
line="3 March 1998"
train transformer dates.toml --set model.kind=transformer --set model.encoder_layers=2 --set model.decoder_layers=2 "${small[@]}"
look transformer_encoder.svg transformer "$line" --attention encoder.1.self
look transformer_decoder.svg transformer "$line" --attention decoder.1.self
look transformer_source.svg transformer "$line" --attention decoder.1.source
train mix dates.toml --set model.kind=transformer --set model.encoder_layers=2 --set model.decoder_layers=2 --set model.wiring=mix "${small[@]}"
look wiring.svg mix "$line" --attention decoder.0.source

# Texts that are made up: what happened, and whether anybody liked it.
python3 - > texts.tsv <<'PYTHON'
import random
rng = random.Random(1)
things = "the film", "the soup", "the room", "our train", "this book", "the garden", "her song", "the meeting"
facts = "was long", "was on Monday", "came from Prague", "had two parts", "was near the river", "began at nine", "was blue"
judged = {"good": ("we loved it", "it was wonderful", "I would come again", "nothing could be better"),
          "bad": ("we hated it", "it was terrible", "I left early", "nothing could be worse")}
for _ in range(1500):
    label = rng.choice(list(judged))
    parts = [f"{rng.choice(things)} {rng.choice(facts)}" for _ in range(3)] + [rng.choice(judged[label])]
    rng.shuffle(parts)
    print(", ".join(parts), label, sep="\t")
PYTHON
train labels texts.tsv --set model.task=classification --set model.width=32 --set attention.structure=feed_forward --set attention.score=self_scored --set stop.steps=150
look document_classifier.svg labels "the film was long, our train was near the river, we loved it, the soup began at nine"
cut -f1 texts.tsv > texts.txt
train language texts.txt --set model.task=language_model --set data.text_tokens=words --set data.documents=line --set model.kind=transformer --set model.width=64 --set attention.heads=1 --set stop.steps=200
look language_model.svg language "the film was on Monday,"
train masked texts.txt --set model.task=masked_language_model --set data.text_tokens=words --set data.documents=line --set model.width=64 --set attention.heads=1 --set stop.steps=300
look masked_language_model.svg masked "the film was [MASK] Monday, we loved it"
