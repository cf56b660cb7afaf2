import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentFor, MockServer } from './mock_server.ts';
import { address, browser, options, server } from './with_mock.ts';

async function opened(hash = '') {
  const page = await browser.page();
  await page.goto(address + hash);
  await page.waitForSelector('.live');
  server.asked.length = 0;
  return page;
}
const field = '.live textarea';

test('typing shows the prediction as it grows, and what it attends to', options, async () => {
  const page = await opened();
  assert.ok(
    await page.locator(field).evaluate((element) => element === document.activeElement),
    'the text field has the focus',
  );
  // The page itself notes what it shows: a busy machine may be slow to ask.
  await page.evaluate(() => {
    const seen = { outputs: new Set<string>(), pictures: new Set<string>() };
    Object.assign(window, { seen });
    new MutationObserver(() => {
      seen.outputs.add(document.querySelector('.live-output')!.textContent!);
      seen.pictures.add(document.querySelector('.stage-window')?.getAttribute('aria-label') ?? '');
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await page.keyboard.type('hello world');
  await page.locator('[data-explains="HELLO WORLD"]').waitFor();
  const seen = await page.evaluate(() => {
    const { outputs, pictures } = (window as unknown as { seen: Record<string, Set<string>> }).seen;
    return { outputs: [...outputs!].filter(Boolean), pictures: [...pictures!].filter(Boolean) };
  });
  assert.ok(
    seen.outputs.length > 4 && seen.outputs.every((text) => 'HELLO WORLD'.startsWith(text)),
    seen.outputs.join(' | '),
  );
  assert.ok(seen.pictures.length > 1, `pictures of the growing output: ${seen.pictures.join(' | ')}`);
  assert.match(
    (await page.locator('.stage-window').getAttribute('aria-label')) ?? '',
    /11 queries \(output\), 11 keys \(source\)/,
  );
  assert.ok(
    server.asked.some(
      ({ path, body }) => path === '/v1/predict' && body!.stream === true && body!.input === 'hello world',
    ),
  );
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the text field keeps the focus and what was typed while pictures come', options, async () => {
  const page = await opened();
  await page.keyboard.type('ab');
  await page.locator('[data-explains="AB"]').waitFor();
  await page.keyboard.type('cd');
  await page.locator('[data-explains="ABCD"]').waitFor();
  assert.equal(await page.locator(field).inputValue(), 'abcd');
  await page.close();
});

test('beam, temperature, model and a given output go to the server', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  await page.locator(field).fill('abc');
  await page.getByLabel('Beam').fill('4');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Search tree' }).waitFor();
  assert.equal(server.asked.at(-1)!.body!.beam, 4);
  await page.getByLabel('Beam').fill('1');
  await page.getByLabel('Temperature').fill('0.8');
  await page.locator(field).press('Enter');
  await page.locator('[data-explains="ABC!!"]').waitFor();
  for (const path of ['/v1/predict', '/v1/attention']) {
    const last = () => server.asked.filter((one) => one.path === path).at(-1)!.body!;
    // A picture of the text while it grew shows the same words: it may stand there a moment before the one of the sample.
    for (let wait = 0; wait < 100 && !last().sample; ++wait) await page.waitForTimeout(50);
    const { sample, temperature, seed } = last();
    assert.deepEqual({ sample, temperature, seed }, { sample: true, temperature: 0.8, seed: 1 }, path);
  }
  await page.getByRole('button', { name: 'Another sample' }).click();
  await page.locator('[data-explains="ABC!!!"]').waitFor();
  await page.waitForURL(/seed=2/);
  assert.equal(await page.locator('.live-output').innerText(), 'ABC!!!', 'the shown sample is the explained one');
  await page.getByLabel('Temperature').fill('0');
  assert.ok(await page.getByLabel('Seed').isHidden());
  await page.getByLabel('Model', { exact: true }).selectOption('reverse');
  await page.locator('[data-explains="cba"]').waitFor();
  await page.getByLabel('Output to explain').fill('xyz');
  await page.locator(field).press('Enter');
  await page.locator('[data-explains="xyz"]').waitFor();
  assert.equal(server.asked.at(-1)!.body!.target, 'xyz');
  await page.close();
});

test('errors show the reason of the server, and go away', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  const ask = async (text: string) => {
    await page.locator(field).fill(text);
    await page.locator(field).press('Enter');
  };
  await ask('too long');
  await page
    .locator('[role=alert]', { hasText: 'The text has 9000 characters; at most 5000 are allowed. Shorten the text.' })
    .waitFor();
  assert.match(await page.locator('[role=alert]').innerText(), /text_too_long/);
  await ask('too many');
  await page.locator('[role=alert]', { hasText: 'Too many requests at once. Try again in 7 s.' }).waitFor();
  await ask('overload');
  await page.locator('[role=alert]', { hasText: 'Too many requests wait. Try again in 2 s.' }).waitFor();
  await ask('too slow');
  await page.locator('[role=alert]', { hasText: 'Shorten the text, or choose a smaller beam.' }).waitFor();
  await ask('crash');
  await page.locator('[role=alert]', { hasText: 'The server answered 500' }).waitFor();
  await ask('half');
  await page.locator('[role=alert]', { hasText: 'The server is shutting down.' }).waitFor();
  server.contents.attention = (body) => ({ ...documentFor(body), version: 7 });
  await ask('abc');
  await page.locator('[role=alert]', { hasText: 'version: expected 1' }).waitFor();
  server.contents.attention = documentFor;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('[data-explains="ABC"]').waitFor();
  assert.ok(await page.locator('.live [role=alert]').isHidden());
  await ask('too long');
  await page.locator('[role=alert]', { hasText: 'Shorten the text.' }).waitFor();
  assert.equal(await page.locator('.live-output').innerText(), '', 'no output of another text');
  assert.match(await page.locator('.facts').innerText(), /in\s+abc\s+out\s+ABC/, 'the picture says what it is of');
  await page.close();
});

test('a new question cancels the one before, and Stop cancels the last', options, async () => {
  const page = await opened();
  server.abandoned.length = 0;
  server.pause = 200;
  await page.getByText('As I type').click();
  const ask = async (text: string) => {
    await page.locator(field).fill(text);
    await page.locator(field).press('Enter');
    await page.locator('.live-output', { hasText: text[0]!.toUpperCase() }).waitFor();
  };
  const abandoned = async (text: string) => {
    for (let i = 0; i < 100 && !server.abandoned.some((body) => body.input === text); ++i)
      await page.waitForTimeout(50);
    assert.deepEqual(
      server.abandoned.map((body) => body.input).filter((input) => input === text),
      [text],
    );
  };
  await ask('first question');
  await ask('second question');
  await abandoned('first question');
  await page.getByRole('button', { name: 'Stop' }).click();
  server.pause = 60;
  await abandoned('second question');
  assert.ok(await page.getByRole('button', { name: 'Stop' }).isHidden());
  assert.ok(await page.locator('.live [role=alert]').isHidden(), 'stopping is no error');
  await ask('x');
  await page.locator('[data-explains="X"]').waitFor();
  await page.close();
});

test('the first screen says what the model is and offers texts to try', options, async () => {
  const page = await opened();
  const about = page.locator('header .live-head');
  assert.equal(await page.getByLabel('Model', { exact: true }).inputValue(), 'upper');
  assert.match(await about.innerText(), /transformer, capital letters\s+a text in capital letters: 'heed' to 'HEED'/i);
  assert.match(await page.locator('.live').innerText(), /a row for each token that it wrote/);
  await page.getByRole('button', { name: 'Try: hello' }).click();
  await page.locator('[data-explains="HELLO"]').waitFor();
  assert.equal(await page.locator(field).inputValue(), 'hello');
  assert.doesNotMatch(await page.locator('.live').innerText(), /a row for each token/, 'said once');
  await page.getByLabel('Model', { exact: true }).selectOption('reverse');
  await page.locator('[data-explains="olleh"]').waitFor();
  assert.match(await about.innerText(), /rnn, backwards/);
  assert.equal(await page.locator('.sample').count(), 0, 'that model has none');
  await page.close();
});

test('a step of the search tree shows what it looked at, by pointer and by keys', options, async () => {
  const page = await opened('#view=beam&model=upper&input=abc&beam=4');
  await page.locator('.beam-words').waitFor();
  const strongest = () =>
    page.locator('.beam-words .word').evaluateAll((words) => {
      const weights = words.map((word) => Number(word.getAttribute('title')));
      return words[weights.indexOf(Math.max(...weights))]!.textContent;
    });
  assert.equal(await strongest(), 'c', 'of the best hypothesis, to begin with');
  const box = (await page.locator('.stage-window').boundingBox())!;
  await page.mouse.move(box.x + 110, box.y + 20); // the second node
  await page.getByText('To write A, it looked at the source, most at').waitFor();
  assert.equal(await strongest(), 'a');
  await page.mouse.move(0, 0);
  assert.equal(await strongest(), 'c');
  await page.locator('.stage-window').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  assert.equal(await strongest(), 'b');
  const spoken = (await page.locator('.spoken').innerText()).replace(/[\u2068\u2069]/g, '');
  assert.match(spoken, /^<s> A B: score -0.200, kept; looked at b 0.9006, a 0.0\d+, c 0.0\d+$/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.getByText('For <s> it looked at nothing.').waitFor();
  await page.close();
});

test('two models get the same text and stand side by side', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  await page.locator(field).fill('abc');
  await page.locator(field).press('Enter');
  await page.locator('[data-explains="ABC"]').waitFor();
  await page.getByLabel('Compare with').selectOption('reverse');
  await page.locator('[data-panel="1"] .facts', { hasText: /cba/ }).waitFor();
  assert.match(await page.locator('[data-panel="0"] .facts').innerText(), /ABC/);
  assert.equal(await page.getByLabel('Output of upper').innerText(), 'ABC');
  assert.equal(await page.getByLabel('Output of reverse').innerText(), 'cba');
  await page.locator(field).fill('xyz');
  await page.locator(field).press('Enter');
  await page.locator('[data-panel="1"] .facts', { hasText: /zyx/ }).waitFor();
  await page.locator('[data-panel="0"] .facts', { hasText: /XYZ/ }).waitFor();
  await page.waitForURL(/compare=reverse.*input=xyz/);
  const link = page.url();
  // One of them fails: the other is shown, and the message says which.
  server.contents.attention = (body) => ({ ...documentFor(body), version: body.model === 'reverse' ? 7 : 1 });
  await page.locator(field).fill('abc');
  await page.locator(field).press('Enter');
  await page.locator('[role=alert]', { hasText: /^reverse: .*version: expected 1/ }).waitFor();
  await page.locator('[data-panel="0"][data-explains="ABC"]').waitFor();
  assert.equal(await page.locator('[data-panel]').count(), 1);
  server.contents.attention = documentFor;
  await page.getByLabel('Compare with').selectOption('');
  await page.locator('.live [role=alert]').waitFor({ state: 'hidden' });
  assert.equal(await page.locator('[data-panel]').count(), 1);
  await page.close();

  const other = await browser.page();
  await other.goto(link);
  await other.locator('[data-panel="1"] .facts', { hasText: /zyx/ }).waitFor();
  assert.equal(await other.getByLabel('Compare with').inputValue(), 'reverse');
  await other.close();
});

test('pinned examples stay beside the next one', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  for (const text of ['one', 'two']) {
    await page.locator(field).fill(text);
    await page.locator(field).press('Enter');
    await page.locator(`[data-explains="${text.toUpperCase()}"]`).waitFor();
    if (text === 'one') await page.getByRole('button', { name: 'Pin' }).click();
  }
  await page.getByRole('button', { name: 'Two examples side by side' }).click();
  assert.equal(await page.locator('[data-panel="0"]').getAttribute('data-explains'), 'TWO');
  assert.equal(await page.locator('[data-panel="1"]').getAttribute('data-explains'), 'ONE');
  assert.equal(await page.locator('.pins li').count(), 1);
  await page.getByRole('button', { name: 'Unpin one → ONE' }).click();
  assert.equal(await page.locator('.pins li').count(), 0);
  assert.equal(await page.locator('[data-explains="ONE"]').count(), 0, 'it is gone from the picture too');
  await page.close();
});

test('labels come with their probabilities, and nothing of a search', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  await page.getByLabel('Model', { exact: true }).selectOption('mood');
  assert.ok(await page.getByLabel('Beam').isHidden());
  await page.locator(field).fill('so glad');
  await page.locator(field).press('Enter');
  await page.locator('.label-bars li').nth(2).waitFor();
  assert.deepEqual(await page.locator('.label-bars li').allInnerTexts(), ['glad\n90.0 %', 'sad\n9.9 %', 'bored\n< 0.1 %']);
  assert.equal(await page.locator('.live-output').innerText(), 'glad', 'the output once');
  assert.equal(await page.locator('.facts').count(), 0);
  const asked = server.asked.filter((one) => one.path === '/v1/predict').at(-1)!.body!;
  assert.deepEqual([asked.nbest, asked.beam], [5, undefined]);
  await page.close();
});

test('a text goes on with some chance in it, unless somebody says otherwise', options, async () => {
  const page = await opened();
  await page.getByText('As I type').click();
  await page.getByLabel('Model', { exact: true }).selectOption('story');
  assert.equal(await page.getByLabel('Temperature').inputValue(), '0.8');
  await page.getByLabel('Model', { exact: true }).selectOption('upper');
  assert.equal(await page.getByLabel('Temperature').inputValue(), '0');
  await page.getByLabel('Temperature').fill('0.3');
  await page.getByLabel('Model', { exact: true }).selectOption('story');
  assert.equal(await page.getByLabel('Temperature').inputValue(), '0.3');
  await page.close();
});

test('on a wide screen the picture stands beside the text, on a narrow one below', options, async () => {
  const page = await opened();
  await page.locator(field).fill('abc');
  await page.locator('[data-explains="ABC"]').waitFor();
  const places = async (width: number) => {
    await page.setViewportSize({ width, height: 860 });
    const [text, picture] = [page.locator('.live'), page.locator('.panel')];
    return [(await text.boundingBox())!, (await picture.boundingBox())!] as const;
  };
  const [text, picture] = await places(1280);
  assert.ok(picture.x >= text.x + text.width && picture.y < text.y + text.height, JSON.stringify([text, picture]));
  const [above, below] = await places(800);
  assert.ok(below.y >= above.y + above.height, JSON.stringify([above, below]));
  await page.close();
});

test('a link asks the same again', options, async () => {
  const page = await opened();
  await page.locator(field).fill('again');
  await page.getByLabel('Model', { exact: true }).selectOption('reverse');
  await page.locator('[data-explains="niaga"]').waitFor();
  await page.waitForURL(/input=again/);
  const link = page.url();
  await page.close();
  const other = await browser.page();
  await other.goto(link.replace('view=matrix', 'view=lines') + '&cell=5,5');
  await other.locator('[data-explains="niaga"]').waitFor();
  await other.waitForURL(/view=lines.*cell=5%2C5.*input=again/);
  assert.equal(await other.locator(field).inputValue(), 'again');
  assert.equal(await other.getByLabel('Model', { exact: true }).inputValue(), 'reverse');
  await other.close();
});

test('a link to a model that the server does not have says so', options, async () => {
  const page = await opened('#model=gone&input=abc');
  await page.locator('[role=alert]', { hasText: 'The link asks for gone, which this server does not have.' }).waitFor();
  assert.equal(server.count('/v1/predict'), 0);
  await page.close();
});

test('a server that went away is said to be away', options, async () => {
  const gone = new MockServer();
  const page = await browser.page();
  await page.goto(await gone.start());
  await page.waitForSelector('.live');
  await gone.stop();
  await page.locator(field).fill('abc');
  await page.locator('[role=alert]', { hasText: 'The server does not answer' }).waitFor();
  await page.close();
});
