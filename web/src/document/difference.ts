// Places in `words` of a longest common subsequence with `others`.
export function commonWords(words: string[], others: string[]): Set<number> {
  const width = others.length + 1;
  // length[i, j]: of the longest one of words[i..] and others[j..]. Long texts are not compared: it would take too long.
  if (words.length * others.length > 1e6) return new Set();
  const length = new Uint16Array((words.length + 1) * width);
  for (let i = words.length - 1; i >= 0; --i)
    for (let j = others.length - 1; j >= 0; --j)
      length[i * width + j] =
        words[i] === others[j]
          ? length[(i + 1) * width + j + 1]! + 1
          : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
  const common = new Set<number>();
  for (let i = 0, j = 0; i < words.length && j < others.length;) {
    if (words[i] === others[j]) {
      common.add(i);
      ++i;
      ++j;
    } else if (length[(i + 1) * width + j]! >= length[i * width + j + 1]!) ++i;
    else ++j;
  }
  return common;
}
