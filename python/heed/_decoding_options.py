"""The keywords of predict(), for type checkers. Written by `make docs` from heed/task/decoding_table.h."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from ._trained import TrainedModel


class DecodingOptions(TypedDict, total=False):
    beam: Optional[int]
    num_beams: Optional[int]
    beam_size: Optional[int]
    nbest: int
    num_return_sequences: int
    num_hypotheses: int
    length_penalty: float
    mean_score: bool
    coverage: float
    coverage_penalty: float
    max_length: Optional[int]
    max_new_tokens: Optional[int]
    max_decoding_length: Optional[int]
    stride: Optional[int]
    iterations: Optional[int]
    lengths: Optional[int]
    length: Optional[int]
    length_factor: Optional[float]
    groups: int
    num_beam_groups: int
    diversity: float
    diversity_penalty: float
    must: Union[str, Sequence[str], Sequence[Sequence[str]]]
    must_not: Union[str, Sequence[str], Sequence[Sequence[str]]]
    prefix: Union[str, Sequence[str]]
    no_repeat_ngram: Optional[int]
    no_repeat_ngram_size: Optional[int]
    mbr: Optional[str]
    candidates: Optional[int]
    rerank_weight: float
    sample: bool
    do_sample: bool
    temperature: float
    sampling_temperature: float
    top_k: Optional[int]
    sampling_topk: Optional[int]
    top_p: float
    sampling_topp: float
    distinct: bool
    seed: int
    layer: Optional[int]
    head: Optional[int]
    allow_unknown: bool
    copy_unknown: bool
    replace_unknowns: bool
    rerank_reverse: Optional["TrainedModel"]
    first_line: int
    alignments: bool
