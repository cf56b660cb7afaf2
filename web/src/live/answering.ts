// One model's answer to a question: the text while it grows, pictures of it on the way, and the whole picture at last.
import type { AttentionDocument } from '../document/types.ts';
import type { Client, LiveQuestion, Prediction } from './client.ts';

const pictureEvery = 200; // milliseconds between pictures of an output that is still growing

export interface Progress {
  text(text: string): void;
  picture(document: AttentionDocument): void;
  predicted(prediction: Prediction): void; // the whole, with as many outputs as were asked for
}

export async function answer(
  client: Client,
  question: LiveQuestion,
  progress: Progress,
  signal: AbortSignal,
  nbest = 1,
): Promise<AttentionDocument> {
  if (question.target) return client.attention(question, signal); // there is nothing to predict
  let busy = false;
  let done = false;
  let last = 0;
  const growing = async (text: string) => {
    progress.text(text);
    if (busy || text === '' || performance.now() - last < pictureEvery) return;
    busy = true;
    last = performance.now();
    // A picture that fails on the way is no matter: the final one says why.
    const partial = await client.attention({ ...question, target: text }, signal).catch(() => null);
    busy = false;
    if (partial && !done && !signal.aborted) progress.picture(partial);
  };
  const prediction = await client.predict(question, (text) => void growing(text), signal, nbest);
  done = true;
  progress.predicted(prediction);
  progress.text(prediction.output);
  const document = await client.attention(question, signal);
  // The seed makes it the same sample, unless the model was loaded anew in between: then what was shown is explained.
  const same = document.examples[0]?.output === prediction.output;
  if (question.temperature === 0 || same || prediction.output === '') return document;
  return client.attention({ ...question, target: prediction.output }, signal);
}
