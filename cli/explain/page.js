// The page's own part: sliders and a query that can be dragged; whatever moves is computed by attention.compute().
(() => {
  const facts = JSON.parse(document.getElementById('facts').textContent);
  const SVG = 'http://www.w3.org/2000/svg';
  const number = (x) => (Math.abs(x) < 0.005 ? 0 : x).toFixed(2);
  const pair = (x) => `(${x.map(number).join(', ')})`;

  const make = (tag, properties = {}, children = []) => {
    const svg = ['svg', 'g', 'line', 'circle', 'text', 'rect', 'path', 'title'].includes(tag);
    const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name === 'text') node.textContent = value;
      else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };

  /** Weights as squares: keys across, queries down. `mark`: a row with a frame. */
  function matrix(rows, columns, weights, mark = -1, cell = 22) {
    const left = 8 + 7.5 * Math.max(...rows.map((w) => w.length)), top = 8 + 7.5 * Math.max(...columns.map((w) => w.length));
    const width = left + cell * columns.length + 4, height = top + cell * rows.length + 4;
    const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' });
    columns.forEach((word, c) => svg.append(make('text', {
      transform: `translate(${left + cell * (c + 0.5) + 4} ${top - 5}) rotate(-90)`, text: word })));
    rows.forEach((word, r) => {
      svg.append(make('text', { x: left - 6, y: top + cell * (r + 0.5) + 4, 'text-anchor': 'end', text: word }));
      columns.forEach((_, c) => {
        const w = weights[r][c];
        svg.append(make('rect', { x: left + cell * c, y: top + cell * r, width: cell - 1, height: cell - 1,
          fill: 'var(--line)', 'fill-opacity': 0.4 }));
        if (Math.abs(w) > 0.005) svg.append(make('rect', { x: left + cell * c, y: top + cell * r, width: cell - 1,
          height: cell - 1, fill: w > 0 ? 'var(--on)' : 'var(--off)', 'fill-opacity': Math.sqrt(Math.min(Math.abs(w), 1)) },
          [make('title', { text: `${word} → ${columns[c]}: ${number(w)}` })]));
      });
    });
    if (mark >= 0) svg.append(make('rect', { x: left - 1, y: top + cell * mark - 1, width: cell * columns.length + 1,
      height: cell + 1, fill: 'none', stroke: 'var(--query)', 'stroke-width': 2 }));
    return svg;
  }

  const SIZE = 300, REACH = 2.2;
  const px = (x) => SIZE / 2 + (x / REACH) * (SIZE / 2), py = (y) => SIZE / 2 - (y / REACH) * (SIZE / 2);
  /** The name of a key stands outside, that of the query beside its line, so that they do not hide each other. */
  const arrow = ([x, y], kind, label) => [
    make('line', { class: kind, x1: px(0), y1: py(0), x2: px(x), y2: py(y), 'stroke-width': kind === 'query' ? 3 : 1.5 }),
    make('circle', { class: kind, cx: px(x), cy: py(y), r: kind === 'query' ? 7 : 4 }),
    kind === 'query'
      ? make('text', { class: kind, x: px(x / 2) + (x < 0 ? 8 : -8), y: py(y / 2) + 4, text: label,
        'text-anchor': x < 0 ? 'start' : 'end' })
      : make('text', { class: kind, x: px(x) + (x < 0 ? -8 : 8), y: py(y) + (y < 0 ? 15 : -9), text: label,
        'text-anchor': x < 0 ? 'end' : 'start' }),
  ];
  const axes = () => [
    make('line', { class: 'axis', x1: 0, x2: SIZE, y1: SIZE / 2, y2: SIZE / 2 }),
    make('line', { class: 'axis', y1: 0, y2: SIZE, x1: SIZE / 2, x2: SIZE / 2 }),
  ];

  const others = document.getElementById('others');
  if (others) for (const other of facts.others ?? []) {
    const figure = make('figure', { class: other.name === facts.name ? 'this' : '' }, [
      make('figcaption', { text: `${other.name}: ${other.title}` }),
      matrix(other.queries, other.keys, other.weights, -1, 16)]);
    others.append(figure);
  }

  const place = document.getElementById('lab');
  if (!place) return;
  if (!attention.compute(facts)) {
    const heads = facts.weights ?? [];
    if (!heads.length) return document.getElementById('try').remove();
    document.querySelector('#try h2').textContent = 'What it looks at';
    place.className = 'heads';
    heads.forEach((weights, h) => place.append(make('figure', {}, [
      make('figcaption', { class: 'faint', text: heads.length > 1 ? `head ${h + 1} of ${heads.length}` : 'weights, as the library computes them' }),
      matrix(facts.queries, facts.keys, weights)])));
    return;
  }

  const start = JSON.stringify({ options: facts.options, query_rows: facts.query_rows });
  let row = Math.min(1, facts.query_rows.length - 1), temperature = 1;
  const reads = (option) => facts.reads.includes(option);
  const sliders = [
    { label: 'query x', least: -REACH, most: REACH, step: 0.1, get: () => facts.query_rows[row][0], set: (v) => { facts.query_rows[row][0] = v; } },
    { label: 'query y', least: -REACH, most: REACH, step: 0.1, get: () => facts.query_rows[row][1], set: (v) => { facts.query_rows[row][1] = v; } },
    { label: 'temperature', least: 0.1, most: 4, step: 0.1, get: () => temperature, set: (v) => { temperature = v; } },
  ];
  if (reads('window')) sliders.push({ label: 'window', least: 1, most: 5, step: 1, get: () => facts.options.window, set: (v) => { facts.options.window = v; } });
  if (reads('sigma')) sliders.push({ label: 'sigma', least: 0.2, most: 4, step: 0.1, set: (v) => { facts.options.sigma = v; },
    get: () => facts.options.sigma || facts.options.window / 2 });
  if (reads('sinks')) sliders.push({ label: 'sinks', least: 1, most: 5, step: 1, get: () => facts.options.sinks, set: (v) => { facts.options.sinks = v; } });

  const plane = make('svg', { class: 'plane', viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: 'img',
    'aria-label': 'keys and the query as arrows; drag to move the query' });
  const result = make('svg', { class: 'plane', viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: 'img',
    'aria-label': 'values, and the context among them', style: 'cursor: default' });
  const controls = make('div', { class: 'controls' });
  const words = make('select', { 'aria-label': 'query', onchange: (event) => { row = Number(event.target.value); show(); } },
    facts.queries.map((word, n) => make('option', { value: n, text: `${n + 1}: ${word}` })));
  words.value = row;
  const inputs = sliders.map((slider, n) => {
    const input = make('input', { type: 'range', min: slider.least, max: slider.most, step: slider.step, id: `slider${n}`,
      oninput: (event) => { slider.set(Number(event.target.value)); show(); } });
    const output = make('output', { for: `slider${n}` });
    controls.append(make('label', { for: `slider${n}`, text: slider.label }), input, output);
    return { slider, input, output };
  });
  const numbers = make('div'), sum = make('p'), heat = make('div');
  const back = make('button', { text: 'as at first', onclick: () => { Object.assign(facts, JSON.parse(start)); temperature = 1; show(); } });
  place.append(
    make('div', {}, [make('p', { class: 'faint', text: 'Keys, and the query: drag it.' }), plane, controls,
      make('p', {}, ['query of ', words, ' ', back])]),
    make('div', {}, [numbers, sum, make('div', { style: 'display:flex;flex-wrap:wrap;gap:1.2rem;align-items:flex-start' }, [
      make('div', {}, [make('p', { class: 'faint', text: 'Values, and the context.' }), result]),
      make('div', {}, [make('p', { class: 'faint', text: 'Weights of all queries.' }), heat])])]));

  let dragging = false;
  const move = (event) => {
    const box = plane.getBoundingClientRect();
    const at = [event.clientX - box.left, event.clientY - box.top].map((v, n) => (n ? -1 : 1) * ((2 * v) / box.width - 1) * REACH);
    facts.query_rows[row] = at.map((v) => Math.round(Math.max(-REACH, Math.min(REACH, v)) * 10) / 10);
    show();
  };
  plane.addEventListener('pointerdown', (event) => { dragging = true; plane.setPointerCapture(event.pointerId); move(event); });
  plane.addEventListener('pointermove', (event) => { if (dragging) move(event); });
  plane.addEventListener('pointerup', () => { dragging = false; });

  function show() {
    const found = attention.compute(facts, temperature);
    const [e, a, c] = [found.scores[row], found.weights[row], found.context[row]];
    plane.replaceChildren(...axes(), ...facts.key_rows.flatMap((k, n) => arrow(k, 'key', facts.keys[n])),
      ...arrow(facts.query_rows[row], 'query', 'query'));
    const values = found.values;
    result.replaceChildren(...axes(), ...values.flatMap(([x, y], n) => [
      make('circle', { class: 'key', cx: px(x), cy: py(y), r: 3 + 15 * Math.sqrt(Math.min(Math.abs(a[n]), 1)), 'fill-opacity': 0.35 }),
      make('text', { x: px(x) + 8, y: py(y) - 8, text: facts.keys[n] })]),
      make('circle', { class: 'context', cx: px(c[0]), cy: py(c[1]), r: 6 }),
      make('text', { class: 'query', x: px(c[0]) + 9, y: py(c[1]) + 16, text: 'context' }));
    const head = make('tr', {}, ['key', 'k', 'v', 'score e', 'weight a', ''].map((text) => make('th', { text })));
    numbers.replaceChildren(make('table', { class: 'numbers' }, [head, ...facts.keys.map((word, n) => make('tr',
      { class: a[n] === 0 ? 'hidden' : '' }, [word, pair(facts.key_rows[n]), pair(values[n]), number(e[n]), number(a[n])]
        .map((text) => make('td', { text })).concat(make('td', { class: 'bars' }, [make('span', {
          class: a[n] < 0 ? 'bar below' : 'bar', style: `width:${Math.min(Math.abs(a[n]), 1) * 100}%` })]))))]));
    const near = found.places.length ? ` The place it predicts: ${number(found.places[row])} (words are counted from 0).` : '';
    sum.textContent = `context = sum of weights times values = ${pair(c)}.${near}`;
    heat.replaceChildren(matrix(facts.queries, facts.keys, found.weights, row));
    for (const { slider, input, output } of inputs) {
      input.value = slider.get();
      output.textContent = Number(slider.get()).toFixed(slider.step < 1 ? 1 : 0);
    }
    words.value = row;
  }
  show();
})();
