// Attention on a few words, as the page computes it while its sliders move. The same formulas as heed/attend; the test
// tests/cli/test_explain.py compares every number with the library's.
'use strict';

const attention = (() => {
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const norm = (a) => Math.sqrt(dot(a, a));
  const plus = (a, b) => a.map((x, i) => x + b[i]);
  const times = (factor, a) => a.map((x) => factor * x);

  /** The parameter as rows; a vector is one row. */
  const rowsOf = (p) => {
    const columns = p.shape[p.shape.length - 1];
    return Array.from({ length: p.values.length / columns }, (_, r) => p.values.slice(r * columns, (r + 1) * columns));
  };
  const product = (matrix, x) => matrix.map((row) => dot(row, x));

  const activations = {
    tanh: Math.tanh,
    relu: (x) => Math.max(x, 0),
    silu: (x) => x / (1 + Math.exp(-x)),
  };

  /** v^T h of hidden layers on the pair. */
  function network(p, q, k, depth, activation) {
    const act = activations[activation];
    if (!act) return null;
    let h = plus(plus(product(p['score.query.weight'], q), product(p['score.key.weight'], k)), p['score.bias'][0]);
    h = h.map(act);
    for (let layer = 1; layer < depth; ++layer)
      h = plus(product(p[`score.layer.${layer}.weight`], h), p[`score.layer.${layer}.bias`][0]).map(act);
    return dot(p['score.v'][0], h);
  }

  const dense = (p, q) => {
    const at = (name) => p[`score.${name}`];
    const [first, second] = ['hidden', 'row'];
    if (!at(`${first}.weight`) || !at(`${second}.weight`)) return null;
    const h = plus(product(at(`${first}.weight`), q), at(`${first}.bias`)[0]).map((x) => Math.max(x, 0));
    return plus(product(at(`${second}.weight`), h), at(`${second}.bias`)[0]);
  };

  const softmax = (e) => {
    const most = Math.max(...e);
    const exps = e.map((x) => Math.exp(x - most));
    const sum = exps.reduce((a, b) => a + b, 0);
    return exps.map((x) => x / sum);
  };

  /** Each: (p, q, k, i, j, options) -> e_ij; null where it is not known. */
  const scores = {
    dot: (p, q, k) => dot(q, k),
    scaled_dot: (p, q, k) => dot(q, k) / Math.sqrt(q.length),
    cosine: (p, q, k, i, j, o) => {
      const length = norm(q) * norm(k);
      const temperature = p['score.temperature'] ? p['score.temperature'][0][0] : o.temperature;
      return length > 0 ? (temperature * dot(q, k)) / length : 0;
    },
    general: (p, q, k) => dot(q, product(p['score.weight'], k)),
    intra: (p, q, k) => dot(q, product(p['score.weight'], k)),
    additive: (p, q, k) => network(p, q, k, 1, 'tanh'),
    mlp: (p, q, k, i, j, o) => network(p, q, k, o.depth, o.activation),
    projected: (p, q, k) =>
      dot(product(p['score.query.weight'], q), product(p['score.key.weight'] ?? p['score.query.weight'], k)) +
      p['score.bias'][0][0],
    self_scored: (p, q, k) => {
      const h = product(p['score.weight'], k);
      return p['score.v'] ? dot(p['score.v'][0], h.map(Math.tanh)) : Math.tanh(h[0] + p['score.bias'][0][0]);
    },
    synthesizer_random: (p, q, k, i, j) => p['score.table']?.[i]?.[j] ?? null,
    synthesizer_dense: (p, q, k, i, j) => dense(p, q)?.[j] ?? null,
    synthesizer_mixture: (p, q, k, i, j) => {
      const row = dense(p, q), table = p['score.table'];
      if (!row || !table) return null;
      const share = softmax(p['score.mix'][0]);
      return (share[0] * dot(q, k)) / Math.sqrt(q.length) + share[1] * row[j] + share[2] * table[i][j];
    },
  };

  const sorted = (e) => [...e].sort((a, b) => b - a);

  /** Each: scores of the visible keys -> weights. */
  const normalisers = {
    softmax,
    hard_sampled: (e, o) => (o.at_test === 'argmax' ? normalisers.hard(e) : softmax(e)),
    relu: (e, o) => e.map((x) => Math.max(x, 0) / (o.divide_by_visible ? e.length : 1)),
    sigmoid: (e, o) => e.map((x) => 1 / (1 + Math.exp(-x)) / (o.divide_by_visible ? e.length : 1)),
    identity: (e, o) => e.map((x) => x / (o.divide_by_visible ? e.length : 1)),
    hard: (e) => {
      const best = e.indexOf(Math.max(...e));
      return e.map((_, j) => (j === best ? 1 : 0));
    },
    sparsemax: (e) => {
      let sum = 0, threshold = 0;
      sorted(e).forEach((x, n) => {
        sum += x;
        if (1 + (n + 1) * x > sum) threshold = (sum - 1) / (n + 1);
      });
      return e.map((x) => Math.max(x - threshold, 0));
    },
    entmax15: (e) => {
      const half = times(0.5, e);
      let mean = 0, square = 0, threshold = 0;
      sorted(half).forEach((x, n) => {
        mean = (mean * n + x) / (n + 1);
        square = (square * n + x * x) / (n + 1);
        const rest = (1 - (n + 1) * (square - mean * mean)) / (n + 1);
        if (rest < 0) return;
        const candidate = mean - Math.sqrt(rest);
        if (candidate <= x) threshold = candidate;
      });
      return half.map((x) => Math.max(x - threshold, 0) ** 2);
    },
  };

  /** Each: (i, j, facts) -> whether query i sees key j. */
  const regions = {
    global: () => true,
    masked: (i, j, f) => f.name !== 'masked' || j !== 2,
    causal: (i, j, f) => (f.options.strict ? j < i : j <= i),
    local_m: (i, j, f) => Math.abs(j - i) <= f.options.window,
    sliding_window: (i, j, f) => j <= i && j >= i - f.options.window,
    not_self: (i, j) => j !== i,
    documents: (i, j, f) => i < f.keys.length / 2 === j < f.keys.length / 2,
    local_p: (i, j, f) => Math.abs(j - f.places[i]) <= f.options.window,
    local_h: (i, j, f) => Math.abs(j - f.best[i]) <= f.options.window,
    sinks: () => true,
  };

  const times_ = { dynamic: true, guided: true, forced_forward: true, forward_only: true };

  /**
   * A document of `heed explain NAME --json`, with its options and rows perhaps changed -> {scores, weights, context,
   * places}, or null where only the library can compute it. `temperature` divides the scores.
   */
  function compute(f, temperature = 1) {
    const o = f.options;
    const known = scores[o.score] && normalisers[o.normalise] && times_[o.time] &&
      o.region.split('+').every((name) => regions[name]);
    const plain = o.structure === 'single' && o.heads === 1 && o.position === 'none' &&
      !o.softcap && !(o.region.includes('sinks') && o.learned_sink) && !(o.region.includes('local_h') && o.straight_through);
    if (!known || !plain || !f.query_rows.length || f.refused) return null;

    const p = Object.fromEntries(Object.entries(f.parameters).map(([name, value]) => [name, rowsOf(value)]));
    /** W x + b, if there are such parameters. */
    const projected = (name, rows) => rows.map((x) => {
      const y = p[`${name}.weight`] ? product(p[`${name}.weight`], x) : x;
      return p[`${name}.bias`] ? plus(y, p[`${name}.bias`][0]) : y;
    });
    const [queries, keys] = [projected('query', f.query_rows), projected('key', f.key_rows)];
    const values = projected('value', f.plain ? f.key_rows : f.value_rows);
    const e = queries.map((q, i) => keys.map((k, j) => scores[o.score](p, q, k, i, j, o)));
    if (e.some((row) => row.some((x) => x === null || Number.isNaN(x)))) return null;

    const names = o.region.split('+');
    const facts = { ...f, best: e.map((row) => row.indexOf(Math.max(...row))), places: [] };
    if (names.includes('local_p'))
      facts.places = queries.map((q) => {
        const h = dot(p['region.v'][0], product(p['region.weight'], q).map(Math.tanh));
        return f.key_rows.length / (1 + Math.exp(-h));
      });
    const onlyBack = names.includes('sliding_window') || names.includes('causal');
    const sees = (i, j) => (names.includes('sinks') && j < o.sinks && (!onlyBack || j <= i)) ||
      names.every((name) => regions[name](i, j, facts));

    const weights = [];
    const before = f.key_rows.map(() => 0); // forced_forward: of each key, the sum of exp of its earlier scores
    let from = 0; // forward_only: the first key that is still visible
    e.forEach((row, i) => {
      const visible = f.key_rows.map((_, j) => j).filter((j) => sees(i, j) && (o.time !== 'forward_only' || j >= from));
      const effective = visible.map((j) => row[j] / temperature -
        (o.time === 'forced_forward' && i > 0 && before[j] > 0 ? Math.log(before[j]) : 0));
      const a = visible.length ? normalisers[o.normalise](effective, o) : [];
      const all = f.key_rows.map(() => 0);
      visible.forEach((j, n) => { all[j] = a[n]; });
      if (names.includes('local_p')) {
        const sigma = o.sigma > 0 ? o.sigma : o.window / 2;
        visible.forEach((j) => { all[j] *= Math.exp(-((j - facts.places[i]) ** 2) / (2 * sigma * sigma)); });
      }
      visible.forEach((j) => { before[j] += Math.exp(row[j] / temperature); });
      if (visible.length) from = all.indexOf(Math.max(...all));
      weights.push(all);
    });
    const context = projected('output', weights.map((row) => row.reduce((sum, w, j) => plus(sum, times(w, values[j])), [0, 0])));
    return { scores: e, weights, context, places: facts.places, values };
  }

  return { compute };
})();

if (typeof module !== 'undefined') module.exports = attention;
