#!/usr/bin/env python3
"""Writes metrics.json: BLEU, chrF and TER of invented texts, as sacreBLEU has them.

usage: make_metrics.py > metrics.json

Needs the package sacrebleu (made with 2.6.0). All sentences were invented for this file or are made of invented words.
"""
import json
import logging
import sys

import numpy
from sacrebleu import significance
from sacrebleu.metrics import BLEU, CHRF, TER

logging.disable(logging.WARNING)

# name: (class, options). The test makes the same ones from the same names and options.
SETTINGS = {
    "bleu": (BLEU, {}),
    "bleu-none": (BLEU, {"tokenize": "none"}),
    "bleu-char": (BLEU, {"tokenize": "char"}),
    "bleu-intl": (BLEU, {"tokenize": "intl"}),
    "bleu-small": (BLEU, {"lowercase": True}),
    "bleu-small-intl": (BLEU, {"lowercase": True, "tokenize": "intl"}),
    "bleu-unsmoothed": (BLEU, {"smooth_method": "none"}),
    "bleu-floor": (BLEU, {"smooth_method": "floor"}),
    "bleu-add": (BLEU, {"smooth_method": "add-k"}),
    "bleu-effective": (BLEU, {"effective_order": True}),
    "bleu-bigrams": (BLEU, {"max_ngram_order": 2}),
    "chrf": (CHRF, {}),
    "chrf-small": (CHRF, {"lowercase": True}),
    "chrf-blanks": (CHRF, {"whitespace": True}),
    "chrf-eps": (CHRF, {"eps_smoothing": True}),
    "chrf-short": (CHRF, {"char_order": 3, "beta": 1}),
    "chrf++": (CHRF, {"word_order": 2}),
    "chrf++-eps": (CHRF, {"word_order": 2, "eps_smoothing": True}),
    "ter": (TER, {}),
    "ter-case": (TER, {"case_sensitive": True}),
    "ter-normalised": (TER, {"normalized": True}),
    "ter-unpointed": (TER, {"no_punct": True}),
    "ter-asian": (TER, {"normalized": True, "asian_support": True}),
    "ter-asian-unpointed": (TER, {"normalized": True, "no_punct": True, "asian_support": True}),
}

# name: [(hypothesis, [references])]
WRITTEN = {
    "punctuation": [
        ("The baker, who woke early, sold 12 loaves.", ["The baker, who got up early, sold twelve loaves."]),
        ("It cost 1,000.5 crowns - or 3-4 goats!", ["It cost 1,000.50 crowns, or 3-4 goats."]),
        ('"Well," said Ida, "that\'s the miller\'s hat."', ["\"Well\", Ida said, 'that is the miller's hat'."]),
        ("(so) they [all] {left} at 7:45; why?", ["So they all left (at 7:45); why not?"]),
        ("an e-mail to a.b@c.example costs $5.00 & 20%", ["an email to a.b@c.example costs 5.00 $ & 20 %"]),
        ("In 2019.", ["In 2019 ."]),
        ("wait... what?!  ,.,. no", ["wait ... what ?! ,. no"]),
        ("so ,.1 or .,2 &amp;amp;lt; 5", ["so ,.1 or .,2 &amp;amp;lt; 5"]),
        ("the years 1990-1999, pp.3-7.", ["the years 1990 - 1999, pp. 3-7."]),
        ("a/b|c~d^e_f`g\\h<i>j=k+l*m#n", ["a / b | c ~ d ^ e _ f ` g \\ h <i> j = k + l * m # n"]),
    ],
    "entities": [
        ("&quot;A &amp; B&quot; &lt;b&gt;", ['"A & B" <b>']),
        ("&amp;lt; stays &apos;odd&apos;", ["&lt; stays 'odd'"]),
        ("<skipped> this one", ["this one"]),
        ("two-\nline hyphen\nand another", ["two line hyphen and another"]),
        ("one\n-two\nthree", ["one two three"]),
    ],
    "german": [
        ("Der alte Müller ging über die Straße zum Bäcker.", ["Der alte Müller lief über die Strasse zum Bäcker."]),
        ("„Morgen“, sagte sie, „wird’s schöner.“", ["„Morgen wird es schöner“, sagte sie."]),
        ("ÄPFEL UND BIRNEN KOSTEN 3,50 €.", ["Äpfel und Birnen kosten 3,50 €."]),
        ("Zug um Zug fuhr der Zug nach Süden", ["Der Zug fuhr Zug um Zug nach Süden"]),
    ],
    "other scripts": [
        ("老面包师今天早上卖了十二个面包。", ["老面包师早上卖了十二个面包。", "今天早上,老面包师卖出12个面包。"]),
        ("ここはとても静かな村です、ね。", ["ここは静かな村ですね。"]),
        ("ﾃｽﾄ・テスト（全角！）", ["テスト・テスト(全角!)"]),
        ("باع الخباز اثني عشر رغيفا اليوم، أليس كذلك؟", ["باع الخبّاز اليوم اثني عشر رغيفًا؛ أليس كذلك؟"]),
        ("Старый мельник купил ٣٫٥ килограмма муки…", ["Старый мельник купил 3,5 кг муки."]),
        ("ΟΔΟΣ ΣΟΦΟΣ Ο ΜΥΛΩΝΑΣ", ["οδος σοφος ο μυλωνας"]),
        ("İstanbul’da IŞIK var", ["istanbul'da ışık var"]),
        ("गाँव का बूढ़ा चक्कीवाला हँसा।", ["गाँव का चक्कीवाला हँस पड़ा।"]),
        ("노인은 오늘 빵 열두 개를 팔았다.", ["노인은 빵 열두 개를 오늘 팔았다."]),
        ("smile 🙂🙂 ok 👍🏽 ½ ² ₤5", ["smile 🙂 ok 👍 1/2 2 ₤ 5"]),
        ("wide\u3000blank\u00a0and\u2003more\u2028lines", ["wide blank and more lines"]),
        ("odd\x1cascii\x1fseparators\x0bhere\x85too", ["odd ascii separators here too"]),
        ("〈山〉の上、㈱〇〇㌔ 豈", ["山の上 ㈱ 〇〇 ㌔ 豈"]),
    ],
    "empty": [
        ("", ["something was said"]),
        ("nothing was asked", [""]),
        ("", [""]),
        ("  ", ["a"]),
        ("right", ["right"]),
    ],
    "only empty hypotheses": [("", ["a b c"]), ("", ["d"])],
    "only empty references": [("a b", [""]), ("c", [""])],
    "nothing at all": [("", [""])],
    "identical": [
        ("The same words, in the same order, again.", ["The same words, in the same order, again."]),
        ("short one", ["short one"]),
        ("x", ["x"]),
    ],
    "all different": [("one two three four five", ["alpha beta gamma delta"]), ("six", ["epsilon zeta"])],
    "short": [("cat", ["cat"]), ("a cat", ["the cat"]), ("a dog ran", ["a dog ran"])],
    "shifts": [
        ("in the evening the miller slept", ["the miller slept in the evening"]),
        ("e f g a b c d", ["a b c d e f g"]),
        ("a b a b a b c a b", ["c a b a b a b a b"]),
        ("b a d c f e", ["a b c d e f"]),
        ("the the the cat", ["the cat the the cat the"]),
        ("one two three four five six seven eight nine ten eleven twelve",
         ["seven eight nine ten eleven twelve one two three four five six"]),
        ("x y z w", ["w z y x"]),
        ("a b c d e", ["c x d e a b"]),
        ("p q q p q", ["q p p q q p"]),
    ],
    "references": [
        ("the goat ate the hat", ["the goat has eaten the hat", "a goat ate the hat", "the hat was eaten by the goat"]),
        ("it rains", ["rain falls", "it is raining", "it rains today", "it rains"]),
        ("as near as this", ["as near as this is to you now", "as near"]),
        ("one two three", ["one two three four", "one two"]),  # as near: 4 and 2
        ("one two three", ["one two", "one two three four"]),
        ("abc", ["uvw", "klmnopq"]),  # as bad
        ("many a day went by , slowly", ["many days passed slowly", "slowly , many a day went by"]),
    ],
    "differing numbers of references": [
        ("the goat ate the hat", ["the goat has eaten the hat", "a goat ate the hat"]),
        ("it rains", ["it is raining"]),
        ("nobody knows why the bell rang", ["no one knows why the bell rang", "", "why the bell rang is not known"]),
    ],
}


class Numbers:
    """The same on every machine: Knuth's linear congruences."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def invented_words(numbers, count):
    return ["".join("bdfgklmnprst"[numbers.below(12)] + "aeiou"[numbers.below(5)] for _ in range(1 + numbers.below(3)))
            for _ in range(count)]


def garbled(numbers, words, vocabulary, percent):
    """Replaces, adds and removes words, and moves runs of them."""
    words = list(words)
    for i in range(len(words) - 1, -1, -1):
        if numbers.below(100) >= percent:
            continue
        kind = numbers.below(4)
        if kind == 0:
            words[i] = vocabulary[numbers.below(len(vocabulary))]
        elif kind == 1:
            words.insert(i, vocabulary[numbers.below(len(vocabulary))])
        elif kind == 2:
            del words[i]
        else:
            run = words[i:i + 1 + numbers.below(6)]
            del words[i:i + len(run)]
            at = numbers.below(len(words) + 1)
            words[at:at] = run
    return words


def generated(seed, segments, longest, vocabulary_size, percent):
    numbers = Numbers(seed)
    vocabulary = invented_words(numbers, vocabulary_size)
    made = []
    for _ in range(segments):
        reference = [vocabulary[numbers.below(vocabulary_size)] for _ in range(1 + numbers.below(longest))]
        made.append((" ".join(garbled(numbers, reference, vocabulary, percent)), [" ".join(reference)]))
    return made


def far():
    """Beyond the limits of the search for shifts: far, long, many; and lengths that do not fit."""
    numbers = Numbers(7)
    words = [f"w{i}" for i in range(130)]
    few = [f"v{numbers.below(3)}" for _ in range(80)]
    begins, ends = [f"b{i}" for i in range(27)], [f"e{i}" for i in range(27)]
    return [
        (" ".join(words[10:40] + words[:10]), [" ".join(words[:40])]),
        (" ".join(words[11:40] + words[:11]), [" ".join(words[:40])]),
        (" ".join(begins[:23] + words[:60]), [" ".join(words[:60] + ends[:23])]),
        (" ".join(begins + words[:60]), [" ".join(words[:60] + ends)]),
        (" ".join(words[60:] + words[:60]), [" ".join(words)]),
        (" ".join(words[12:40] + words[:12]), [" ".join(words[:40])]),
        (" ".join(few[40:] + few[:40]), [" ".join(few)]),
        ("w5", [" ".join(words)]),
        ("w90 w5", [" ".join(words)]),
        (" ".join(words), ["w64 w63"]),
        (" ".join(reversed(words)), [" ".join(words)]),
    ]


def streams(segments):
    """References as sacreBLEU wants them: the first of all segments, the second of all; None where there is none."""
    count = max(len(references) for _, references in segments)
    return [[references[k] if k < len(references) else None for _, references in segments] for k in range(count)]


def scores_of(segments, with_lines):
    hypotheses = [hypothesis for hypothesis, _ in segments]
    scores = {}
    for name, (kind, options) in SETTINGS.items():
        metric = kind(**options)
        result = metric.corpus_score(hypotheses, streams(segments))
        statistics = metric._extract_corpus_statistics(hypotheses, streams(segments))
        single = BLEU(**{**options, "effective_order": True}) if kind is BLEU else metric
        signature = [part for part in str(metric.get_signature()).split("|") if part.split(":")[0] not in ("nrefs", "version")]
        scores[name] = {"value": result.score, "total": [sum(column) for column in zip(*statistics)],
                        "settings": "|".join(signature)}
        if with_lines:
            scores[name]["line"] = str(result)
            scores[name]["segments"] = [single.sentence_score(h, r).score for h, r in segments]
    return scores


def reached(by_chance, found):
    """The p of heed, which counts differences by chance that are as large as the one found, too."""
    return (numpy.sum(by_chance >= found - 1e-9).item() + 1) / (len(by_chance) + 1)


def comparisons():
    """Three systems on the same references; the p of each against the first, by both rules."""
    exceeded = significance._compute_p_value
    references = generated(21, 200, 14, 60, 0)
    numbers = Numbers(22)
    vocabulary = invented_words(Numbers(21), 60)
    systems = [[" ".join(garbled(numbers, r[0].split(), vocabulary, percent)) for _, r in references]
               for percent in (20, 21, 28)]
    right = [[r[0] for _, r in references]]
    result = {"references": right[0], "systems": systems, "exceeded": {}, "reached": {}, "mean": {}, "half": {}}
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())):
        for test, samples in (("bs", 4000), ("ar", 10000)):
            for rule, function in (("exceeded", exceeded), ("reached", reached)):
                significance._compute_p_value = function
                paired = significance.PairedTest([(str(i), system) for i, system in enumerate(systems)], {name: metric},
                                                 right, test_type=test, n_samples=samples)
                table = list(paired()[1].values())[1]
                result[rule][f"{name}-{test}"] = [one.p_value for one in table[1:]]
            if test == "bs":
                result["mean"][name] = [float(one.mean) for one in table]
                result["half"][name] = [float(one.ci) for one in table]
    return result


def main():
    cases = [{"name": name, "segments": segments, "scores": scores_of(segments, True)}
             for name, segments in WRITTEN.items()]
    for name, segments in (("generated", generated(1, 60, 25, 40, 25)), ("generated, few words", generated(2, 40, 30, 6, 40)),
                           ("generated, three words", generated(4, 60, 45, 3, 50)),
                           ("generated, long", generated(3, 8, 120, 90, 20)), ("far", far())):
        cases.append({"name": name, "segments": segments, "scores": scores_of(segments, False)})
    settings = {name: {"metric": kind.__name__, **options} for name, (kind, options) in SETTINGS.items()}
    json.dump({"settings": settings, "cases": cases, "comparisons": comparisons()}, sys.stdout, ensure_ascii=False,
              indent=0, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
