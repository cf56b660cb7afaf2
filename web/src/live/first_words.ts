// What somebody who sees the page for the first time is told, by what the model does (its task).
import type { Model } from '../document/types.ts';

interface FirstWords {
  placeholder: string;
  what: string;
}

const byTask: Record<string, FirstWords> = {
  seq2seq: {
    placeholder: 'Type a text for the model to translate or rewrite',
    what: 'The model writes its output below. Then a picture shows where it looked: a row for each token that it wrote, a column for each token that it read, stronger in colour where it looked more.',
  },
  classification: {
    placeholder: 'Type a text for the model to label',
    what: 'The model gives the text a label. Then its words are shaded by how much they counted.',
  },
  language_model: {
    placeholder: 'Type the beginning of a text',
    what: 'The model goes on writing. Then a picture shows what each token looked back at: a row for each token, a column for each token before it, stronger in colour where it looked more.',
  },
  image: {
    placeholder: 'Name a picture, and ask a question about it',
    what: 'The model answers below. Then the picture is lit where the model looked for each word of its answer.',
  },
};

export function firstWords(model: Model | undefined): FirstWords {
  return byTask[model?.task ?? ''] ?? { ...byTask.seq2seq!, placeholder: 'Type a text for the model' };
}
