// The attention document, version 1: docs/attention_document.md explains every field.

export interface AttentionDocument {
  format: 'heed.attention';
  version: 1;
  title?: string;
  models: Model[];
  examples: Example[];
  training?: TrainingRun[];
  comparison?: Comparison;
}

export interface Model {
  name: string;
  task?: string;
  kind?: string;
  about?: string;
}

export interface Example {
  model: number; // index in models
  input: string;
  output: string;
  log_probability?: number | null;
  reference?: string | null;
  sequences: Record<string, Sequence>;
  maps: AttentionMap[];
  text?: NestedText;
  picture?: Picture;
  beam?: Beam;
}

export interface Sequence {
  label: string;
  tokens: string[];
}

// weights[heads, rows, cols]: how much each query (row) took from each key (column).
export interface AttentionMap {
  name: string;
  label: string;
  group?: string;
  layer?: number;
  queries: string; // name of a sequence of `rows` tokens
  keys: string; // name of a sequence of `cols` tokens
  heads: number;
  rows: number;
  cols: number;
  weights: EncodedWeights;
}

// sqrt_u8: one byte each, weight = scale * (byte / 255)^2. f32: four bytes each, little-endian, may be negative.
export interface EncodedWeights {
  encoding: 'sqrt_u8' | 'f32';
  scale?: number;
  data: string; // base64
}

export interface NestedText {
  sentences: Sentence[];
}

export interface Sentence {
  weight: number;
  words: Word[];
}

export interface Word {
  text: string;
  weight: number;
  space?: boolean; // a space follows (default true)
}

// A map whose keys are the sequence "cells" is laid over the picture, row by row.
export interface Picture {
  data: string; // data:image/png;base64,..
  rows: number;
  cols: number;
}

export interface Beam {
  nodes: BeamNode[];
  keys?: string; // name of a sequence
  weights?: EncodedWeights; // [nodes, keys]: what the step that wrote each node's token attended to
}

export interface BeamNode {
  id: number;
  parent: number; // id of another node; -1: the root
  token: string;
  score: number;
  kept: boolean;
  final: boolean;
  ranked_by?: number | null; // of outputs: what they are ranked by, such as the score with a length penalty
  rank?: number | null; // of outputs: the place, from 1
}

export interface TrainingRun {
  name: string;
  points: TrainingPoint[];
}

export interface TrainingPoint {
  step: number;
  loss?: number | null;
  valid_loss?: number | null;
  metric?: number | null;
}

export interface Comparison {
  columns: string[];
  rows: (string | number | null)[][];
  best?: number; // index of the row to mark
}
