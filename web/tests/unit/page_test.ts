import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanOfHeads } from '../../src/document/weights.ts';
import { EventParser, readEvents } from '../../src/live/events.ts';
import { csv } from '../../src/page/files.ts';
import { sameInput } from '../../src/page/panel.ts';
import { readLink, writeLink, type Link } from '../../src/page/link.ts';
import { firstState, fitted, mapOf, type PageState } from '../../src/page/state.ts';
import { smallDocument } from '../documents.ts';

test('a link holds all of the state', () => {
  const links: Link[] = [
    { state: firstState, question: null },
    {
      state: {
        view: 'lines',
        panels: [
          { example: 2, map: 'decoder.0.cross', head: 3, query: 4, key: 0 },
          { example: 0, map: 'a&b=c#d', head: meanOfHeads, query: -1, key: -1 },
        ],
        eachRow: true,
        showSmall: true,
        zoom: 4,
      },
      question: {
        model: 'en-de',
        compare: 'en-de (old)',
        input: 'Ein Hund & "zwei" #3\n你好',
        target: 'x y',
        beam: 5,
        temperature: 0.7,
        seed: 12,
      },
    },
  ];
  for (const link of links) assert.deepEqual(readLink(writeLink(link)), link);
});

test('a link that means nothing shows the start', () => {
  for (const hash of ['', '#', '#view=nothing&example=-3&head=x&cell=1&zoom=77', '#example=99999999999', '#%E0%A4%A'])
    assert.deepEqual(readLink(hash).state, firstState, hash);
  const { question } = readLink('#input=a&beam=-1&temperature=many&seed=x');
  const start = { model: '', compare: '', input: 'a', target: '', beam: 1, temperature: 0, seed: 1 };
  assert.deepEqual(question, start);
});

test('a state from another document becomes one that can be shown', () => {
  const document = smallDocument();
  const state: PageState = {
    ...firstState,
    panels: [
      { example: 70, map: 'gone', head: 11, query: 500, key: 1 },
      { example: 0, map: 'gone', head: 11, query: 2, key: 1 },
    ],
  };
  const [first, second] = fitted(state, document).panels;
  assert.equal(first!.example, 3);
  assert.deepEqual([first!.map, first!.head, first!.query], ['decoder.cross', 0, -1]);
  assert.deepEqual([second!.map, second!.head, second!.query], ['decoder.1.cross', meanOfHeads, 2]);
  assert.equal(mapOf(document.examples[0]!, 'encoder.1.self')!.layer, 1);
});

test('CSV quotes what must be quoted', () => {
  assert.equal(
    csv([
      ['a', 'b,c', 'd"e', null, 1.5],
      ['line\nend', true],
    ]),
    'a,"b,c","d""e",,1.5\r\n"line\nend",true\r\n',
  );
});

test('events arrive whole, whatever pieces their bytes come in', async () => {
  const text =
    ': hello\n\ndata: {"token":"ä","text":"ä"}\r\n\r\nevent: x\ndata:one\ndata: two\n\ndata: last\r\rdata: end';
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size < 12; ++size) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const events: string[] = [];
    for await (const event of readEvents(body)) events.push(event);
    assert.deepEqual(events, ['{"token":"ä","text":"ä"}', 'one\ntwo', 'last', 'end'], `pieces of ${size}`);
  }
});

test('an event is not complete before its empty line', () => {
  const parser = new EventParser();
  assert.deepEqual(parser.feed('data: a\n'), []);
  assert.deepEqual(parser.feed('\ndata: b'), ['a']);
});

test('the checkpoints of a training are examples of one input by several models', () => {
  const [first] = smallDocument().examples;
  const by = (model: number, input: string) => ({ ...first!, model, input });
  const examples = [by(0, 'a'), by(0, 'b'), by(1, 'a'), by(1, 'b'), by(2, 'a')];
  assert.deepEqual(sameInput(examples, 2), [0, 2, 4]);
  assert.deepEqual(sameInput(examples, 1), [1, 3]);
  assert.deepEqual(sameInput([by(0, 'a'), by(0, 'a')], 0), [], 'the same model twice is no training');
  assert.deepEqual(sameInput([by(0, 'a')], 0), []);
  assert.deepEqual(sameInput([], 0), []);
});
